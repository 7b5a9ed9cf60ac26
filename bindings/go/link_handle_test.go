// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

func serverOfTest(t *testing.T) (*Server, string) {
	t.Helper()
	uri := fmt.Sprintf("unix:@arrowdevice-go-%d-%s", os.Getpid(), t.Name())
	server, err := NewServer(uri, ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	return server, uri
}

// until returns when the condition is true. It fails the test after a minute.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition did not become true")
		}
	}
}

func TestASourceMayBeTheLastUserOfItsServer(t *testing.T) {
	server, uri := serverOfTest(t)
	called := make(chan struct{})
	if err := server.AddSource("rows", func() (*Stream, error) {
		_, leave, err := server.h.share("test")
		close(called)
		if err != nil {
			return nil, err
		}
		defer leave()
		until(t, func() bool { return server.h.users.Load()&releasedFlag != 0 })
		return nil, errors.New("the server has ended")
	}); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error)
	go func() {
		_, err := Connect(context.Background(), uri, ConnectOptions{})
		answer <- err
	}()
	<-called
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err == nil {
		t.Error("the client got a stream")
	}
}

func TestArraysOfACallThatItsContextEndedAreRemoved(t *testing.T) {
	server, _ := serverOfTest(t)
	schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, leave, err := server.h.change("test")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	answer := make(chan error)
	go func() { answer <- server.AddArrays(ctx, "rows", schema) }()
	until(t, func() bool { return server.h.users.Load() == 2 })
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	leave()
	if _, leave, err = server.h.change("test"); err != nil { // comes behind the call
		t.Fatal(err)
	}
	leave()
	until(t, func() bool {
		err := server.AddArrays(context.Background(), "rows", schema)
		if err != nil && !errors.Is(err, syscall.EEXIST) {
			t.Fatal(err)
		}
		return err == nil
	})
}
