// SPDX-License-Identifier: Apache-2.0

// These tests end waits, streams and servers between processes.

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

func TestAContextEndsTheWaitForAServer(t *testing.T) {
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		made := batches(t, checked(t), 1)
		server, uri := newServer(t)
		resume := make(chan struct{})
		if err := server.AddSource("connecting", func() (*arrowdevice.Stream, error) {
			<-resume
			return nil, errors.New("the test has ended")
		}); err != nil {
			t.Fatal(err)
		}
		source := &waiting{RecordReader: readerOf(t, made), called: make(chan struct{}), resume: resume}
		if err := server.AddStream("reading", fromReader(t, source)); err != nil {
			t.Fatal(err)
		}
		defer close(resume)
		_, err := arrowdevice.Connect(ctx(), uri+"?name=connecting", arrowdevice.ConnectOptions{})
		mustBe(t, "Connect", err, want...)
		stream := connect(t, uri+"?name=reading", arrowdevice.ConnectOptions{})
		_, err = stream.Next(ctx())
		mustBe(t, "Next", err, want...)
		_, err = stream.Next(context.Background())
		mustBe(t, "Next after it", err, syscall.ECANCELED)
	})
}

func TestACallThatItsContextHasEndedClosesItsConnection(t *testing.T) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	answer := make(chan error)
	go func() {
		_, err := arrowdevice.Connect(ctx, fmt.Sprintf("fd:%d", ends[0]), arrowdevice.ConnectOptions{})
		answer <- err
	}()
	server := os.NewFile(uintptr(ends[1]), "server")
	defer server.Close()
	if _, err := server.Read(make([]byte, 1)); err != nil { // the client waits for an answer
		t.Fatal(err)
	}
	cancel()
	mustBe(t, "Connect", <-answer, context.Canceled)
	syscall.Close(ends[0])
	if _, err := io.Copy(io.Discard, server); err != nil { // returns when the duplicate is closed
		t.Error(err)
	}
}

func TestAContextEndsTheWaitForTheArraysOfAServer(t *testing.T) {
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		server, err := arrowdevice.NewServer(newAddress(), arrowdevice.ServerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		// Not from checked(), because the copy is still pending when the test ends.
		rows := records(t, memory.NewGoAllocator())
		pending, err := fromRecords(t, rows).ToDevice(context.Background(), pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
		if err != nil {
			t.Fatal(err)
		}
		defer pending.Release()
		mustBe(t, "AddArrays", server.AddArrays(ctx(), "rows", rows.Schema(), pending), want...)
		if pending.Len() == 0 {
			t.Error("the array was released")
		}
		ended, end := context.WithCancel(context.Background())
		end()
		if err := server.Close(ended); err != nil { // AddArrays still uses the server, except if it did not begin
			mustBe(t, "Close", err, context.Canceled)
		}
	})
}

func TestProgramsConnectProcessesThemselves(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	server := serverAt(t, fmt.Sprintf("fd:%d", ends[0]), arrowdevice.ServerOptions{})
	want := batches(t, checked(t), 2)
	if err := server.AddStream("rows", fromReader(t, readerOf(t, want))); err != nil {
		t.Fatal(err)
	}
	stream, err := arrowdevice.Connect(ctx, fmt.Sprintf("fd:%d?name=rows", ends[1]), arrowdevice.ConnectOptions{})
	closeAll(ends[:])
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Release()
	mustSend(t, stream, want)
}

func TestCloseEndsStreamsAndLeavesBatches(t *testing.T) {
	ctx := context.Background()
	pool := shareablePool(t)
	server, uri := newServer(t)
	schema, batch := numbersIn(t, pool)
	if err := server.AddArrays(ctx, "numbers", schema, batch, batch); err != nil {
		t.Fatal(err)
	}
	batch.Release()
	stream := connect(t, uri, arrowdevice.ConnectOptions{MaxBatches: 1})
	got, err := stream.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	for range 2 {
		if err := server.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	_, stats := server.Stats()
	for function, err := range map[string]error{"Stats": stats, "Remove": server.Remove("numbers")} {
		mustBe(t, function+" after Close", err, syscall.EINVAL)
	}
	if sum, err := sumOf(got); err != nil || sum != 499500 {
		t.Errorf("the sum is %d, %v", sum, err)
	}
	mustBeUsed(t, pool)
	again := serverAt(t, uri, arrowdevice.ServerOptions{}) // the address is free
	if _, err := again.Stats(); err != nil {
		t.Error(err)
	}
	for state, s := range map[string]*arrowdevice.Server{"nil": nil, "zero": {}} {
		mustBe(t, "Remove of a "+state+" server", s.Remove("numbers"), syscall.EINVAL)
		if err := s.Close(ctx); err != nil {
			t.Errorf("a %s server: %v", state, err)
		}
	}
}

func TestCloseWaitsForASourceOrItsContext(t *testing.T) {
	ctx := context.Background()
	server, uri := newServer(t)
	called, resume := make(chan struct{}), make(chan struct{})
	if err := server.AddSource("rows", func() (*arrowdevice.Stream, error) {
		close(called)
		<-resume
		return nil, errors.New("the test has ended")
	}); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		_, err := arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{})
		failed <- err
	}()
	<-called
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		mustBe(t, "Close", server.Close(ctx()), want...)
	})
	close(resume)
	if err := server.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("the client got a stream")
	}
}

func TestGarbageCollectorEndsForgottenServers(t *testing.T) {
	uri := newAddress()
	want := batches(t, checked(t), 1) // fails the test if the stream is not released
	var released atomic.Bool
	func() {
		used := new([100]string) // by the source
		runtime.AddCleanup(used, func(released *atomic.Bool) { released.Store(true) }, &released)
		server, err := arrowdevice.NewServer(uri, arrowdevice.ServerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.AddStream("stream", fromReader(t, readerOf(t, want))); err != nil {
			t.Fatal(err)
		}
		if err := server.AddSource("source", func() (*arrowdevice.Stream, error) { return nil, errors.New(used[0]) }); err != nil {
			t.Fatal(err)
		}
	}()
	eventually(t, func() error {
		if !released.Load() {
			return errors.New("the source is still used")
		}
		again, err := arrowdevice.NewServer(uri, arrowdevice.ServerOptions{})
		if err != nil {
			return err
		}
		return again.Close(context.Background())
	})
}
