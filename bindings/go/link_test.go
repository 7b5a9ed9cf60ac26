// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var addresses atomic.Int64

// newAddress returns an address that no other server has.
func newAddress() string {
	return fmt.Sprintf("unix:@arrowdevice-go-%d-%d", os.Getpid(), addresses.Add(1))
}

// serverAt makes a server that the test closes at its end. A test makes the memory that the server
// uses before it, so that the server is closed before the memory is checked.
func serverAt(t *testing.T, uri string, options arrowdevice.ServerOptions) *arrowdevice.Server {
	t.Helper()
	server, err := arrowdevice.NewServer(uri, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return server
}

func newServer(t *testing.T) (*arrowdevice.Server, string) {
	t.Helper()
	uri := newAddress()
	return serverAt(t, uri, arrowdevice.ServerOptions{}), uri
}

func connect(t *testing.T, uri string, options arrowdevice.ConnectOptions) *arrowdevice.Stream {
	t.Helper()
	stream, err := arrowdevice.Connect(context.Background(), uri, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stream.Release)
	return stream
}

func fromRecords(t *testing.T, batch arrow.RecordBatch) *arrowdevice.Array {
	t.Helper()
	made, err := arrowdevice.FromRecordBatch(batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Release)
	return made
}

// copiesIn returns copies of the record batches in a pool.
func copiesIn(t *testing.T, of arrowdevice.Device, pool *arrowdevice.Pool, batches []arrow.RecordBatch) []*arrowdevice.Array {
	t.Helper()
	copies := make([]*arrowdevice.Array, len(batches))
	for i, batch := range batches {
		made, err := fromRecords(t, batch).Copy(context.Background(), of, &arrowdevice.CopyOptions{Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(made.Release)
		copies[i] = made
	}
	return copies
}

// mustSend fails the test if the stream has other record batches, or an error.
func mustSend(t *testing.T, stream *arrowdevice.Stream, want []arrow.RecordBatch) {
	t.Helper()
	ctx := context.Background()
	n := 0
	for one, err := range stream.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.ToRecordBatch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) || !array.RecordEqual(got, want[n]) {
			t.Errorf("batch %d: got %v", n, got)
		}
		got.Release()
		n++
	}
	if n != len(want) {
		t.Errorf("%d batches (expected %d)", n, len(want))
	}
}

func statsOf(t *testing.T, server *arrowdevice.Server) arrowdevice.ServerStats {
	t.Helper()
	stats, err := server.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// numbersIn returns a record batch with thousand() in a pool.
func numbersIn(t *testing.T, pool *arrowdevice.Pool) (*arrow.Schema, *arrowdevice.Array) {
	t.Helper()
	values := thousand(checked(t))
	defer values.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "number", Type: values.DataType()}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{values}, int64(values.Len()))
	defer batch.Release()
	return schema, copiesIn(t, device(t, "cpu"), pool, []arrow.RecordBatch{batch})[0]
}

// mustFetch sends an address of the numbers, and fails the test if the answer is not their sum.
func (p peer) mustFetch(t *testing.T, uri string) {
	t.Helper()
	if _, err := p.Write([]byte(uri)); err != nil {
		t.Fatal(err)
	}
	p.mustAnswer(t)
}

func TestMemoryComesBackFromClientsThatAreKilled(t *testing.T) {
	pool := shareablePool(t)
	server, uri := newServer(t)
	other := startPeer(t)
	func() {
		schema, batch := numbersIn(t, pool)
		stream, err := arrowdevice.NewStream(arrowdevice.CPU, schema, batch)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.AddStream("numbers", stream); err != nil {
			t.Fatal(err)
		}
	}()
	other.mustFetch(t, uri) // keeps the batch
	mustBeUsed(t, pool)
	other.kill()
	mustComeBack(t, pool)
	eventually(t, func() error {
		if stats := statsOf(t, server); stats.Clients != 0 {
			return fmt.Errorf("%d clients are left", stats.Clients)
		}
		return nil
	})
}

func TestEveryClientGetsTheArraysOfAServer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	forEachShareableDevice(t, func(t *testing.T, on arrowdevice.Device) {
		pool := poolWith(t, on, arrowdevice.PoolOptions{Shareable: true})
		want := batches(t, checked(t), 5)
		server, uri := newServer(t)
		arrays := copiesIn(t, on, pool, want)
		if err := server.AddArrays(ctx, "rows", want[0].Schema(), arrays...); err != nil {
			t.Fatal(err)
		}
		if arrays[0].Len() == 0 {
			t.Error("the array was released")
		}
		for range 2 {
			stream := connect(t, uri, arrowdevice.ConnectOptions{Never: true, MaxBatches: 2, MaxBytes: 1})
			if schema, err := stream.Schema(ctx); err != nil || !schema.Equal(want[0].Schema()) {
				t.Errorf("%v, %v", schema, err)
			}
			first, err := stream.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if of, err := first.Device(); err != nil || of != on {
				t.Errorf("the batch is on %v, %v", of, err)
			}
			if err := first.Validate(ctx, arrowdevice.Full); err != nil {
				t.Error(err)
			}
			first.Release()
			mustSend(t, stream, want[1:])
		}
		if stats := statsOf(t, server); stats.Batches != 10 || stats.CopiedBytes != 0 {
			t.Errorf("the statistics are %+v", stats)
		}
	})
}

func TestTheDeviceOfTheClientGetsTheBatches(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 3)
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		server, uri := newServer(t)
		if err := server.AddArrays(ctx, "rows", want[0].Schema(), fromRecords(t, want[0])); err != nil {
			t.Fatal(err)
		}
		stream := connect(t, uri, arrowdevice.ConnectOptions{Device: to, Always: true})
		info, err := to.Info()
		if err != nil || stream.DeviceType() != info.Type {
			t.Errorf("a stream on %v, %v", stream.DeviceType(), err)
		}
		mustSend(t, stream, want[:1])
	})
}

func TestTheFirstClientGetsAStream(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 3)
	server, uri := newServer(t)
	stream := fromReader(t, readerOf(t, want))
	for name, refused := range map[string]error{
		"":     server.AddStream("", stream),
		"\x00": server.AddStream("\x00", stream),
	} {
		if !errors.Is(refused, syscall.EINVAL) {
			t.Errorf("name %q: %v", name, refused)
		}
	}
	if err := server.AddStream("rows", stream); err != nil {
		t.Fatal(err)
	}
	if err := server.AddStream("other rows", stream); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a moved stream: %v", err)
	}
	mustSend(t, connect(t, uri+"?name="+url.PathEscape("rows"), arrowdevice.ConnectOptions{}), want)
	_, err := arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{})
	mustBe(t, "a second client", err, syscall.EBUSY)
	if stats := statsOf(t, server); stats.Batches != 3 || stats.CopiedBytes == 0 || stats.CopiedBytes != stats.Bytes {
		t.Errorf("memory of arrow-go was shared: %+v", stats)
	}
}

func TestASourceOpensAStreamForEachClient(t *testing.T) {
	want := batches(t, checked(t), 3)
	server, uri := newServer(t)
	calls := 0 // the clients come one after the other
	if err := server.AddSource("rows", func() (*arrowdevice.Stream, error) {
		calls++
		reader := readerOf(t, want[:calls])
		defer reader.Release()
		return arrowdevice.FromReader(reader)
	}); err != nil {
		t.Fatal(err)
	}
	for n := range want {
		mustSend(t, connect(t, uri, arrowdevice.ConnectOptions{}), want[:n+1])
	}
	if calls != len(want) {
		t.Errorf("%d calls", calls)
	}
}

func TestAnErrorOfASourceReachesTheClient(t *testing.T) {
	server, uri := newServer(t)
	released := fromReader(t, readerOf(t, batches(t, checked(t), 1)))
	released.Release()
	umlauts := strings.Repeat("ä", 1000)
	for name, source := range map[string]struct {
		open func() (*arrowdevice.Stream, error)
		code syscall.Errno
		text string
	}{
		"error":    {func() (*arrowdevice.Stream, error) { return nil, errors.New("the tape broke") }, syscall.EIO, "the tape broke"},
		"errno":    {func() (*arrowdevice.Stream, error) { return nil, fmt.Errorf("a tape: %w", syscall.ENXIO) }, syscall.ENXIO, "a tape: no such device"},
		"panic":    {func() (*arrowdevice.Stream, error) { panic("a bug") }, syscall.EIO, "the source panicked: a bug"},
		"nil":      {func() (*arrowdevice.Stream, error) { return nil, nil }, syscall.EINVAL, "the source returned a nil stream"},
		"released": {func() (*arrowdevice.Stream, error) { return released, nil }, syscall.EINVAL, "the stream was released"},
		"long":     {func() (*arrowdevice.Stream, error) { return nil, errors.New(umlauts) }, syscall.EIO, umlauts[:400]},
	} {
		t.Run(name, func(t *testing.T) {
			if err := server.AddSource(name, source.open); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err := arrowdevice.Connect(context.Background(), uri+"?name="+name, arrowdevice.ConnectOptions{})
				mustBe(t, name, err, source.code)
				if !strings.Contains(err.Error(), source.text) || strings.ContainsRune(err.Error(), '?') {
					t.Errorf("the text is %v", err)
				}
			}
		})
	}
}

func TestAnErrorOfAReaderReachesTheClient(t *testing.T) {
	ctx := context.Background()
	server, uri := newServer(t)
	want := batches(t, memory.NewGoAllocator(), 3)
	failed := fromReader(t, &failing{RecordReader: readerOf(t, want), err: errors.New("the file ends too early")})
	if err := server.AddStream("rows", failed); err != nil {
		t.Fatal(err)
	}
	stream := connect(t, uri, arrowdevice.ConnectOptions{})
	first, err := stream.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first.Release()
	_, err = stream.Next(ctx)
	mustBe(t, "Next", err, syscall.EIO)
	if !strings.Contains(err.Error(), "the file ends too early") {
		t.Errorf("the text is %v", err)
	}
}

func TestNamesAreRefusedIfTheyAreUnknownOrTaken(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 1)
	server, uri := newServer(t)
	_, err := arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{})
	mustBe(t, "a server without streams", err, syscall.ENOENT)
	add := map[string]func(name string) error{
		"AddArrays": func(name string) error { return server.AddArrays(ctx, name, want[0].Schema(), fromRecords(t, want[0])) },
		"AddSource": func(name string) error {
			return server.AddSource(name, func() (*arrowdevice.Stream, error) { return nil, errors.New("not called") })
		},
		"AddStream": func(name string) error {
			stream := fromReader(t, readerOf(t, want))
			err := server.AddStream(name, stream)
			if err != nil {
				if next, err := stream.Next(ctx); err != nil {
					t.Errorf("the stream was released: %v", err)
				} else {
					next.Release()
				}
			}
			return err
		},
	}
	if err := add["AddArrays"]("rows"); err != nil {
		t.Fatal(err)
	}
	for function, call := range add {
		mustBe(t, function+" with a name that is taken", call("rows"), syscall.EEXIST)
		mustBe(t, function+" without a name", call(""), syscall.EINVAL)
		mustBe(t, function+" with a zero byte", call("a\x00"), syscall.EINVAL)
	}
	_, err = arrowdevice.Connect(ctx, uri+"?name=other", arrowdevice.ConnectOptions{})
	mustBe(t, "an unknown name", err, syscall.ENOENT)
	if !strings.Contains(err.Error(), "the server has: rows") {
		t.Errorf("the text is %v", err)
	}
	stream := connect(t, uri, arrowdevice.ConnectOptions{})
	if err := server.Remove("rows"); err != nil {
		t.Fatal(err)
	}
	mustBe(t, "Remove", server.Remove("rows"), syscall.ENOENT)
	mustSend(t, stream, want) // a client that has the arrays keeps them
	if err := add["AddStream"]("rows"); err != nil {
		t.Error(err)
	}
}

func TestCopiesCanBeRuledOut(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 1)
	for name, never := range map[string]bool{"server": true, "client": false} {
		t.Run(name, func(t *testing.T) {
			uri := newAddress()
			server := serverAt(t, uri, arrowdevice.ServerOptions{Never: never})
			if err := server.AddStream("rows", fromReader(t, readerOf(t, want))); err != nil {
				t.Fatal(err)
			}
			stream := connect(t, uri, arrowdevice.ConnectOptions{Never: !never})
			_, err := stream.Next(ctx)
			mustBe(t, "Next", err, syscall.ENOTSUP)
			if never {
				err := server.AddArrays(ctx, "arrays", want[0].Schema(), fromRecords(t, want[0]))
				mustBe(t, "AddArrays", err, syscall.ENOTSUP)
			}
		})
	}
}

func TestAddArraysRefusesArraysOfAnotherType(t *testing.T) {
	ctx := context.Background()
	want := batches(t, checked(t), 1)
	server, _ := newServer(t)
	other := fromRecords(t, recordOf(t, arrow.PrimitiveTypes.Int8, `[1, 2]`))
	for name, err := range map[string]error{
		"type":     server.AddArrays(ctx, "rows", want[0].Schema(), fromRecords(t, want[0]), other),
		"schema":   server.AddArrays(ctx, "rows", nil, other),
		"released": server.AddArrays(ctx, "rows", want[0].Schema(), nil),
	} {
		mustBe(t, name, err, syscall.EINVAL)
	}
	if other.Len() != 2 {
		t.Error("the array was released")
	}
	if err := server.AddArrays(ctx, "rows", want[0].Schema()); err != nil {
		t.Errorf("no arrays: %v", err)
	}
}

func TestOptionsOfAServerLimitAndIsolateItsClients(t *testing.T) {
	ctx := context.Background()
	schema, batch := numbersIn(t, shareablePool(t))
	uri := newAddress()
	server := serverAt(t, uri, arrowdevice.ServerOptions{AnyUser: true, Isolated: true, MaxClients: 1})
	if err := server.AddArrays(ctx, "numbers", schema, batch); err != nil {
		t.Fatal(err)
	}
	stream := connect(t, uri, arrowdevice.ConnectOptions{AnyUser: true})
	got, err := stream.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if sum, err := sumOf(got); err != nil || sum != 499500 {
		t.Errorf("the sum is %d, %v", sum, err)
	}
	if stats := statsOf(t, server); stats.Clients != 1 || stats.CopiedBytes < 8000 {
		t.Errorf("the statistics are %+v", stats)
	}
	_, err = arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{})
	mustBe(t, "a second client", err, syscall.EBUSY)

	uri = newAddress()
	limited := serverAt(t, uri, arrowdevice.ServerOptions{Isolated: true, MaxClientBytes: 1})
	if err := limited.AddArrays(ctx, "numbers", schema, batch); err != nil {
		t.Fatal(err)
	}
	_, err = connect(t, uri, arrowdevice.ConnectOptions{}).Next(ctx)
	mustBe(t, "a copy beyond the limit", err, syscall.ENOMEM)
}

func TestAddressesAndNumbersThatAreNotValidAreRefused(t *testing.T) {
	ctx := context.Background()
	_, uri := newServer(t)
	for address, code := range map[string]syscall.Errno{
		uri: syscall.EADDRINUSE, "prices": syscall.ENOTSUP, "unix:": syscall.EINVAL, "unix:@a\x00b": syscall.EINVAL, "fd:x": syscall.EINVAL,
	} {
		_, err := arrowdevice.NewServer(address, arrowdevice.ServerOptions{})
		mustBe(t, "NewServer at "+address, err, code)
	}
	for address, code := range map[string]syscall.Errno{
		newAddress(): syscall.ECONNREFUSED, "unix:/no/such/socket": syscall.ENOENT, "prices": syscall.ENOTSUP,
		uri + "?title=a": syscall.EINVAL, uri + "\x00": syscall.EINVAL, "fd:x": syscall.EINVAL, "fd:1048575": syscall.EINVAL,
	} {
		_, err := arrowdevice.Connect(ctx, address, arrowdevice.ConnectOptions{})
		mustBe(t, "Connect to "+address, err, code)
	}
	for _, number := range []int{-1, 1 << 32} {
		_, err := arrowdevice.NewServer(newAddress(), arrowdevice.ServerOptions{MaxClients: number})
		mustBe(t, "NewServer", err, syscall.EINVAL)
		_, err = arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{MaxBatches: number})
		mustBe(t, "Connect", err, syscall.EINVAL)
	}
}
