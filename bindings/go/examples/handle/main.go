// SPDX-License-Identifier: Apache-2.0

// Gives a column of numbers to another process, without a copy. examples/handle.c does the same in C. The two
// programs can exchange handles.
//
//	go run . give SOCKET   # waits for one process, gives it the column, and waits until the memory is free again
//	go run . take SOCKET   # takes the column and adds it up
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"syscall"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	rows            = 1000000
	mostBytes       = 1 << 16
	mostDescriptors = 32
)

func main() {
	log.SetFlags(0)
	actions := map[string]func(context.Context, *net.UnixAddr) error{"give": give, "take": take}
	if len(os.Args) != 3 || actions[os.Args[1]] == nil {
		log.Fatal("usage: handle give|take SOCKET")
	}
	if err := actions[os.Args[1]](context.Background(), &net.UnixAddr{Name: os.Args[2], Net: "unixpacket"}); err != nil {
		log.Fatal(err)
	}
}

func give(ctx context.Context, socket *net.UnixAddr) error {
	listener, err := net.ListenUnix("unixpacket", socket)
	if err != nil {
		return err
	}
	defer listener.Close()
	peer, err := listener.AcceptUnix()
	if err != nil {
		return err
	}
	defer peer.Close()
	cpu, err := arrowdevice.FindByName("cpu")
	if err != nil {
		return err
	}
	pool, err := cpu.NewPool(arrowdevice.PoolOptions{Shareable: true})
	if err != nil {
		return err
	}
	defer pool.Release()
	if err := giveColumn(ctx, peer, cpu, pool); err != nil {
		return err
	}
	// The memory stays in use until the other process has released its array, or has ended.
	for {
		stats, err := pool.Stats()
		if err != nil {
			return err
		}
		if stats.UsedBytes == 0 {
			fmt.Println("the memory is free again")
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

func giveColumn(ctx context.Context, peer *net.UnixConn, cpu arrowdevice.Device, pool *arrowdevice.Pool) error {
	numbers := column()
	defer numbers.Release()
	host, err := arrowdevice.FromArrow(numbers)
	if err != nil {
		return err
	}
	defer host.Release()
	shareable, err := host.Copy(ctx, cpu, &arrowdevice.CopyOptions{Pool: pool})
	if err != nil {
		return err
	}
	defer shareable.Release()
	// [give]
	handle, err := shareable.IPCHandle(ctx, nil)
	if err != nil {
		return err
	}
	defer handle.Release()
	fmt.Println(handle.CopiedBytes(), "bytes were copied")
	return handle.Use(func(data []byte, descriptors []int) error {
		_, _, err := peer.WriteMsgUnix(data, syscall.UnixRights(descriptors...), nil)
		return err
	})
	// [end]
}

func column() arrow.Array {
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	for row := range int64(rows) {
		builder.Append(row)
	}
	return builder.NewArray()
}

func take(ctx context.Context, socket *net.UnixAddr) error {
	peer, err := net.DialUnix("unixpacket", nil, socket)
	if err != nil {
		return err
	}
	defer peer.Close()
	shared, err := receive(ctx, peer)
	if err != nil {
		return err
	}
	defer shared.Release()
	field, err := shared.Field()
	if err != nil {
		return err
	}
	numbers, err := shared.ToArrow(ctx)
	if err != nil {
		return err
	}
	defer numbers.Release()
	var sum int64
	for _, number := range numbers.(*array.Int64).Int64Values() {
		sum += number
	}
	fmt.Printf("the sum of %q is %d\n", field.Name, sum)
	return nil
}

// receive receives the bytes and descriptors of a handle, and opens it.
func receive(ctx context.Context, peer *net.UnixConn) (*arrowdevice.Array, error) {
	data, control := make([]byte, mostBytes), make([]byte, syscall.CmsgSpace(mostDescriptors*4))
	size, controlSize, flags, _, err := peer.ReadMsgUnix(data, control)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controlSize])
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, fmt.Errorf("%d control messages came (expected 1)", len(messages))
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	if flags&(syscall.MSG_TRUNC|syscall.MSG_CTRUNC) != 0 {
		for _, descriptor := range descriptors {
			syscall.Close(descriptor)
		}
		return nil, errors.New("the message is longer than the space for it")
	}
	// [open]
	shared, err := arrowdevice.OpenIPCHandle(ctx, data[:size], descriptors, nil)
	for _, descriptor := range descriptors {
		syscall.Close(descriptor) // the array has its own
	}
	return shared, err
	// [end]
}
