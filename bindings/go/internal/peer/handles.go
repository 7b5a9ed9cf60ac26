// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	arrowdevice "libarrowdevice/arrowdevice"
)

// Handles go through standard input, which is a socket that keeps packets apart.
func socket() (*net.UnixConn, error) {
	connection, err := net.FileConn(os.Stdin)
	if err != nil {
		return nil, err
	}
	return connection.(*net.UnixConn), nil
}

// give answers requests for handles of the arrays until the socket ends. It returns the number of copied bytes.
func give(ctx context.Context, streams map[string][]*arrowdevice.Array) (int64, error) {
	requests, err := socket()
	if err != nil {
		return 0, err
	}
	defer requests.Close()
	var copied int64
	request := make([]byte, 512)
	for {
		n, _, _, _, err := requests.ReadMsgUnix(request, nil)
		if errors.Is(err, io.EOF) {
			return copied, nil
		}
		if err != nil {
			return copied, err
		}
		var name string
		var batch int
		if _, err := fmt.Sscan(string(request[:n]), &name, &batch); err != nil {
			return copied, err
		}
		if batch >= len(streams[name]) {
			return copied, fmt.Errorf("there is no batch %d of %s", batch, name)
		}
		handle, err := streams[name][batch].IPCHandle(ctx, &arrowdevice.CopyOptions{Never: true})
		if err != nil {
			return copied, err
		}
		copied += handle.CopiedBytes()
		err = handle.Use(func(data []byte, descriptors []int) error {
			_, _, err := requests.WriteMsgUnix(data, syscall.UnixRights(descriptors...), nil)
			return err
		})
		handle.Release()
		if err != nil {
			return copied, err
		}
	}
}

// takeAll returns the arrays of a stream, which come as handles.
func takeAll(ctx context.Context, name string, count int) ([]*arrowdevice.Array, error) {
	requests, err := socket()
	if err != nil {
		return nil, err
	}
	defer requests.Close()
	arrays := make([]*arrowdevice.Array, count)
	for batch := range arrays {
		if _, err := fmt.Fprintf(requests, "%s %d", name, batch); err != nil {
			return nil, err
		}
		if arrays[batch], err = take(ctx, requests); err != nil {
			return nil, err
		}
	}
	return arrays, nil
}

func take(ctx context.Context, requests *net.UnixConn) (*arrowdevice.Array, error) {
	data, control := make([]byte, 1<<20), make([]byte, syscall.CmsgSpace(32*4))
	n, nControl, flags, _, err := requests.ReadMsgUnix(data, control)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:nControl])
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 || flags&(syscall.MSG_TRUNC|syscall.MSG_CTRUNC) != 0 {
		return nil, errors.New("no whole handle came")
	}
	descriptors, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, descriptor := range descriptors {
			syscall.Close(descriptor)
		}
	}()
	return arrowdevice.OpenIPCHandle(ctx, data[:n], descriptors, nil)
}
