// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// isPeer is set in the other process of a test, which is this program too.
const isPeer = "ARROWDEVICE_TEST_IS_PEER"

func TestMain(m *testing.M) {
	if os.Getenv(isPeer) == "" {
		os.Exit(m.Run())
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "the other process:", err)
		os.Exit(1)
	}
}

// serve opens each handle that comes to descriptor 3, and connects to each address. It answers with
// the sum of the numbers. It keeps the last array until the next message comes.
func serve() error {
	file := os.NewFile(3, "socket")
	conn, err := net.FileConn(file)
	if err != nil {
		return err
	}
	socket := conn.(*net.UnixConn)
	file.Close()
	var held *arrowdevice.Array
	for {
		data, descriptors, err := receive(socket)
		if err != nil || len(data) == 0 {
			return err
		}
		held.Release()
		var sum int64
		if len(descriptors) == 0 {
			held, sum, err = fetch(string(data))
		} else {
			held, sum, err = open(data, descriptors)
		}
		if err != nil {
			return err
		}
		if _, err := socket.Write(binary.NativeEndian.AppendUint64(nil, uint64(sum))); err != nil {
			return err
		}
	}
}

func open(data []byte, descriptors []int) (*arrowdevice.Array, int64, error) {
	defer closeAll(descriptors)
	made, err := arrowdevice.OpenIPCHandle(context.Background(), data, descriptors, nil)
	if err != nil {
		return nil, 0, err
	}
	sum, err := sumOf(made)
	return made, sum, err
}

// fetch reads a stream without copies, and returns the last batch and the sum of all numbers.
func fetch(uri string) (last *arrowdevice.Array, sum int64, err error) {
	ctx := context.Background()
	stream, err := arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{Never: true})
	if err != nil {
		return nil, 0, err
	}
	defer stream.Release()
	for batch, err := range stream.All(ctx) {
		if err != nil {
			return nil, 0, err
		}
		one, err := sumOf(batch)
		if err != nil {
			return nil, 0, err
		}
		sum += one
		last.Release()
		last = batch
	}
	return last, sum, nil
}

// sumOf adds up a column, or the first column of a record batch.
func sumOf(column *arrowdevice.Array) (int64, error) {
	ctx := context.Background()
	if err := column.Validate(ctx, arrowdevice.Full); err != nil {
		return 0, err
	}
	shared, err := column.Share()
	if err != nil {
		return 0, err
	}
	defer shared.Release()
	rows, err := shared.ToArrow(ctx)
	if err != nil {
		return 0, err
	}
	defer rows.Release()
	if batch, ok := rows.(*array.Struct); ok {
		rows = batch.Field(0)
	}
	var sum int64
	for _, value := range rows.(*array.Int64).Int64Values() {
		sum += value
	}
	return sum, nil
}

func send(to *net.UnixConn, handle *arrowdevice.IPCHandle) error {
	return handle.Use(func(data []byte, descriptors []int) error {
		_, _, err := to.WriteMsgUnix(data, syscall.UnixRights(descriptors...), nil)
		return err
	})
}

// receive returns one message, which is empty if the other end is closed.
func receive(from *net.UnixConn) ([]byte, []int, error) {
	data, control := make([]byte, 1<<16), make([]byte, syscall.CmsgSpace(32*4))
	size, controlSize, _, _, err := from.ReadMsgUnix(data, control) // descriptors close on exec
	if err != nil || controlSize == 0 {
		return data[:size], nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controlSize])
	if err != nil {
		return nil, nil, err
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	return data[:size], descriptors, err
}

func closeAll(descriptors []int) {
	for _, descriptor := range descriptors {
		syscall.Close(descriptor)
	}
}

// opened opens a handle in this process.
func opened(handle *arrowdevice.IPCHandle) (made *arrowdevice.Array, err error) {
	return openedWith(context.Background(), handle, nil)
}

func openedWith(ctx context.Context, handle *arrowdevice.IPCHandle, options *arrowdevice.CopyOptions) (made *arrowdevice.Array, err error) {
	err = handle.Use(func(data []byte, descriptors []int) error {
		made, err = arrowdevice.OpenIPCHandle(ctx, data, descriptors, options)
		return err
	})
	return made, err
}

// shareablePool makes a pool and fails the test if the pool is not empty at the end.
func shareablePool(t *testing.T) *arrowdevice.Pool {
	t.Helper()
	return poolWith(t, device(t, "cpu"), arrowdevice.PoolOptions{Shareable: true})
}

// inPool returns a handle of a copy in the pool. The handle needs no further copy.
func inPool(t *testing.T, pool *arrowdevice.Pool, values arrow.Array) *arrowdevice.IPCHandle {
	t.Helper()
	return inPoolOf(t, device(t, "cpu"), pool, values)
}

func inPoolOf(t *testing.T, of arrowdevice.Device, pool *arrowdevice.Pool, values arrow.Array) *arrowdevice.IPCHandle {
	t.Helper()
	ctx := context.Background()
	copied, err := fromArrow(t, values).Copy(ctx, of, &arrowdevice.CopyOptions{Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Release()
	handle, err := copied.IPCHandle(ctx, &arrowdevice.CopyOptions{Never: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(handle.Release)
	if copied := handle.CopiedBytes(); copied != 0 {
		t.Errorf("%d bytes were copied", copied)
	}
	return handle
}

func thousand(allocator memory.Allocator) arrow.Array {
	builder := array.NewInt64Builder(allocator)
	defer builder.Release()
	for i := range int64(1000) {
		builder.Append(i)
	}
	return builder.NewArray()
}

// peer is another process and the socket to it.
type peer struct {
	*net.UnixConn
	process *exec.Cmd
}

func startPeer(t *testing.T) peer {
	t.Helper()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "theirs")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), isPeer+"=1")
	process.ExtraFiles = []*os.File{theirs}
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	made := peer{conn.(*net.UnixConn), process}
	t.Cleanup(made.kill)
	return made
}

// kill ends the process by SIGKILL. A second call does nothing.
func (p peer) kill() {
	p.process.Process.Kill()
	p.process.Wait()
	p.Close()
}

// mustSum sends a handle of the numbers, and fails the test if the answer is not their sum.
func (p peer) mustSum(t *testing.T, handle *arrowdevice.IPCHandle) {
	t.Helper()
	if err := send(p.UnixConn, handle); err != nil {
		t.Fatal(err)
	}
	p.mustAnswer(t)
}

// mustAnswer fails the test if the other process does not answer with the sum of thousand().
func (p peer) mustAnswer(t *testing.T) {
	t.Helper()
	p.SetReadDeadline(time.Now().Add(time.Minute))
	answer, _, err := receive(p.UnixConn)
	if err != nil || len(answer) != 8 {
		t.Fatalf("no answer came: %d bytes, %v", len(answer), err)
	}
	if sum := binary.NativeEndian.Uint64(answer); sum != 499500 {
		t.Errorf("the sum is %d", sum)
	}
}

func mustBeUsed(t *testing.T, pool *arrowdevice.Pool) {
	t.Helper()
	if stats, err := pool.Stats(); err != nil || stats.UsedBytes == 0 {
		t.Errorf("the memory is free too early: %+v, %v", stats, err)
	}
}

func mustComeBack(t *testing.T, pool *arrowdevice.Pool) {
	t.Helper()
	eventually(t, func() error {
		stats, err := pool.Stats()
		if err == nil && stats.UsedBytes != 0 {
			err = fmt.Errorf("%d bytes are still used", stats.UsedBytes)
		}
		return err
	})
}

func TestAnotherProcessOpensHandlesWithoutACopy(t *testing.T) {
	pool := shareablePool(t)
	values := thousand(checked(t))
	defer values.Release()
	other := startPeer(t)
	for range 2 {
		handle := inPool(t, pool, values)
		other.mustSum(t, handle)
		handle.Release()
		mustBeUsed(t, pool)
	}
}

func TestMemoryComesBackFromProcessesThatAreKilled(t *testing.T) {
	pool := shareablePool(t) // fails the test if the memory does not come back
	values := thousand(checked(t))
	defer values.Release()
	holder, idle := startPeer(t), startPeer(t)
	if err := idle.process.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	handle, unread := inPool(t, pool, values), inPool(t, pool, values)
	holder.mustSum(t, handle)
	if err := send(idle.UnixConn, unread); err != nil {
		t.Fatal(err)
	}
	handle.Release()
	unread.Release()
	mustBeUsed(t, pool)
	holder.kill()
	idle.kill()
	mustComeBack(t, pool)
}

func TestEveryTypeSurvivesAHandle(t *testing.T) {
	forEachShareableDevice(t, func(t *testing.T, on arrowdevice.Device) {
		pool := poolWith(t, on, arrowdevice.PoolOptions{Shareable: true})
		for name, sample := range samples {
			t.Run(name, func(t *testing.T) {
				want := sample.make(t, checked(t))
				defer want.Release()
				handle := inPoolOf(t, on, pool, want)
				made, err := opened(handle)
				if err != nil {
					t.Fatal(err)
				}
				handle.Release()
				if of, err := made.Device(); err != nil || of != on {
					t.Errorf("the array is on %v, %v", of, err)
				}
				got := toArrow(t, made)
				defer got.Release()
				mustEqual(t, got, want)
			})
		}
	})
}

func TestAnArrayThatIsCopiedWhenItIsOpenedDoesNotDependOnItsOwner(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	values := thousand(checked(t))
	defer values.Release()
	pool, own := shareablePool(t), poolOf(t, device(t, "cpu"))
	handle := inPool(t, pool, values)
	for range 20 { // while goroutines of earlier calls still run
		made, err := openedWith(ctx, handle, &arrowdevice.CopyOptions{Always: true, Pool: own})
		if err != nil {
			t.Fatal(err)
		}
		made.Release()
	}
	made, err := openedWith(ctx, handle, &arrowdevice.CopyOptions{Always: true, Pool: own})
	if err != nil {
		t.Fatal(err)
	}
	mustBeUsed(t, own)
	handle.Release()
	mustComeBack(t, pool)
	got := toArrow(t, made)
	mustEqual(t, got, values)
	got.Release()
	cancel()
	handle = inPool(t, pool, values)
	_, err = openedWith(ctx, handle, nil)
	mustBe(t, "OpenIPCHandle", err, context.Canceled)
	// The duplicates of the call are closed, so the memory comes back at the end of the test.
}

func TestMemoryThatIsNotShareableIsCopiedOrRefused(t *testing.T) {
	ctx := context.Background()
	want := records(t, checked(t))
	defer want.Release()
	made, err := arrowdevice.FromRecordBatch(want)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Release()
	for code, options := range map[syscall.Errno]*arrowdevice.CopyOptions{
		syscall.ENOTSUP: {Never: true}, syscall.EINVAL: {Pool: poolOf(t, device(t, "cpu"))},
	} {
		if _, err := made.IPCHandle(ctx, options); !errors.Is(err, code) {
			t.Errorf("%v: %v", code, err)
		}
	}
	for _, options := range []*arrowdevice.CopyOptions{nil, {Pool: shareablePool(t)}} {
		handle, err := made.IPCHandle(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		if handle.CopiedBytes() == 0 {
			t.Error("memory of arrow-go was shared")
		}
		again, err := opened(handle)
		handle.Release()
		if err != nil {
			t.Fatal(err)
		}
		got, err := again.ToRecordBatch(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		got.Release()
	}
}

func TestHandlesThatAreReleasedOrCutAreRefused(t *testing.T) {
	values := thousand(checked(t))
	defer values.Release()
	handle := inPool(t, shareablePool(t), values)
	err := handle.Use(func(data []byte, descriptors []int) error {
		for name, refused := range map[string]struct {
			data        []byte
			descriptors []int
		}{
			"half of the bytes": {data[:len(data)/2], descriptors},
			"no bytes":          {nil, descriptors},
			"no descriptors":    {data, nil},
			"one descriptor":    {data, descriptors[:1]},
			"bad descriptors":   {data, []int{-1, -1}},
		} {
			_, err := arrowdevice.OpenIPCHandle(context.Background(), refused.data, refused.descriptors, nil)
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return context.Canceled
	})
	if err != context.Canceled {
		t.Errorf("Use returned %v", err)
	}
	handle.Release()
	handle.Release()
	for state, released := range map[string]*arrowdevice.IPCHandle{"released": handle, "nil": nil, "zero": {}} {
		if _, err := opened(released); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("a %s handle: %v", state, err)
		}
		if released.CopiedBytes() != 0 {
			t.Errorf("a %s handle has bytes", state)
		}
	}
}

func TestAContextEndsTheWaitForAHandle(t *testing.T) {
	endings(t, func(t *testing.T, ctx func() context.Context, want ...error) {
		// Not from checked(), because the copy is still pending when the test ends.
		made := fromArrow(t, thousand(memory.NewGoAllocator()))
		pending, err := made.ToDevice(context.Background(), pendingDevice(t), &arrowdevice.CopyOptions{Async: true})
		if err != nil {
			t.Fatal(err)
		}
		defer pending.Release()
		_, err = pending.IPCHandle(ctx(), nil)
		mustBe(t, "IPCHandle", err, want...)
	})
}
