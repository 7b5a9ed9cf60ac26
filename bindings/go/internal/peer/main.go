// SPDX-License-Identifier: Apache-2.0

// The program peer serves files to other processes, and fetches what they serve. tests/interop/test_processes.py has
// the manual.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

func main() {
	log.SetFlags(0)
	commands := map[string]func(ctx context.Context, uri string, devices []arrowdevice.Device, paths []string) error{
		"serve": serve, "fetch": fetch,
	}
	if len(os.Args) < 4 || commands[os.Args[1]] == nil {
		log.Fatal("usage: peer serve|fetch URI DEVICE,... FILE...")
	}
	var devices []arrowdevice.Device
	for _, name := range strings.Split(os.Args[3], ",") {
		device, err := arrowdevice.FindByName(name)
		if err != nil {
			log.Fatal(err)
		}
		devices = append(devices, device)
	}
	if err := commands[os.Args[1]](context.Background(), os.Args[2], devices, os.Args[4:]); err != nil {
		log.Fatal(err)
	}
}

func read(path string) (*arrow.Schema, []arrow.RecordBatch, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	reader, err := ipc.NewReader(file)
	if err != nil {
		return nil, nil, err
	}
	defer reader.Release()
	var batches []arrow.RecordBatch
	for reader.Next() {
		batch := reader.RecordBatch()
		batch.Retain()
		batches = append(batches, batch)
	}
	return reader.Schema(), batches, reader.Err()
}

func nameOf(path string, device arrowdevice.Device) string {
	return fmt.Sprintf("%s.%s", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), device)
}

func serve(ctx context.Context, uri string, devices []arrowdevice.Device, paths []string) error {
	server, err := arrowdevice.NewServer(uri, arrowdevice.ServerOptions{Never: true})
	if err != nil {
		return err
	}
	defer server.Close(ctx)
	streams := map[string][]*arrowdevice.Array{}
	for _, device := range devices {
		pool, err := device.NewPool(arrowdevice.PoolOptions{Shareable: true})
		if err != nil {
			return err
		}
		for _, path := range paths {
			name := nameOf(path, device)
			if streams[name], err = add(ctx, server, name, device, pool, path); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	fmt.Println("serving")
	copied, err := give(ctx, streams)
	if err != nil {
		return err
	}
	stats, err := server.Stats()
	fmt.Printf("%d bytes were copied\n", stats.CopiedBytes+copied)
	return err
}

// add serves the batches of a file, and returns their arrays.
func add(ctx context.Context, server *arrowdevice.Server, name string, device arrowdevice.Device, pool *arrowdevice.Pool, path string) ([]*arrowdevice.Array, error) {
	schema, batches, err := read(path)
	if err != nil {
		return nil, err
	}
	arrays := make([]*arrowdevice.Array, len(batches))
	for i, batch := range batches {
		host, err := arrowdevice.FromRecordBatch(batch)
		if err != nil {
			return nil, err
		}
		if arrays[i], err = host.Copy(ctx, device, &arrowdevice.CopyOptions{Pool: pool}); err != nil {
			return nil, err
		}
	}
	return arrays, server.AddArrays(ctx, name, schema, arrays...)
}

func fetch(ctx context.Context, uri string, devices []arrowdevice.Device, paths []string) error {
	for _, path := range paths {
		schema, batches, err := read(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, device := range devices {
			name := nameOf(path, device)
			before := copies(devices)
			var arrays []*arrowdevice.Array
			if uri == "-" {
				arrays, err = takeAll(ctx, name, len(batches))
			} else {
				arrays, err = receive(ctx, uri+"?name="+name, schema)
			}
			if err == nil && copies(devices) != before {
				err = fmt.Errorf("bytes were copied")
			}
			if err == nil {
				err = compare(ctx, device, arrays, schema, batches)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			var rows int64
			for _, batch := range batches {
				rows += batch.NumRows()
			}
			fmt.Printf("%s: %d rows in %d batches\n", name, rows, len(batches))
		}
	}
	return nil
}

// receive returns the arrays of a stream, which must have that schema.
func receive(ctx context.Context, uri string, want *arrow.Schema) ([]*arrowdevice.Array, error) {
	stream, err := arrowdevice.Connect(ctx, uri, arrowdevice.ConnectOptions{Never: true})
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	schema, err := stream.Schema(ctx)
	if err != nil {
		return nil, err
	}
	if err := compareSchemas(schema, want); err != nil {
		return nil, err
	}
	var arrays []*arrowdevice.Array
	for received, err := range stream.All(ctx) {
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, received)
	}
	return arrays, nil
}

func compareSchemas(schema, want *arrow.Schema) error {
	if !schema.Equal(want) || !schema.Metadata().Equal(want.Metadata()) {
		return fmt.Errorf("%v\nis not\n%v", schema, want)
	}
	return nil
}

func compare(ctx context.Context, device arrowdevice.Device, arrays []*arrowdevice.Array, schema *arrow.Schema, want []arrow.RecordBatch) error {
	if len(arrays) != len(want) {
		return fmt.Errorf("%d batches (expected %d)", len(arrays), len(want))
	}
	for i, received := range arrays {
		if on, err := received.Device(); err != nil || on != device {
			return fmt.Errorf("batch %d is on %v, %v", i, on, err)
		}
		batch, err := received.ToRecordBatch(ctx)
		if err != nil {
			return err
		}
		if err := compareSchemas(batch.Schema(), schema); err != nil {
			return err
		}
		if !array.RecordEqual(batch, want[i]) {
			return fmt.Errorf("batch %d: %v\nis not\n%v", i, batch, want[i])
		}
		batch.Release()
	}
	return nil
}

// copies returns the number of copies since the process began. Sizes that were read back to be checked do not count.
func copies(devices []arrowdevice.Device) int64 {
	var copies int64
	for _, device := range devices {
		counters, err := device.Counters()
		if err != nil {
			log.Fatal(err)
		}
		copies += counters.Submissions - counters.Readbacks
	}
	return copies
}
