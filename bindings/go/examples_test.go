// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"syscall"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func ExampleFindByName() {
	_, err := arrowdevice.FindByName("cpu:7")
	fmt.Println(errors.Is(err, syscall.ENODEV))
	// Output: true
}

func ExampleArray_ToHost() {
	type result struct {
		host *arrowdevice.Array
		err  error
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	device, err := arrowdevice.FindByName("opencl:0")
	if err != nil {
		log.Fatal(err)
	}
	batch, err := arrowdevice.FromRecordBatch(prices())
	if err != nil {
		log.Fatal(err)
	}
	there, err := batch.ToDevice(ctx, device, nil)
	if err != nil {
		batch.Release()
		log.Fatal(err)
	}
	home := make(chan result, 1)
	go func() {
		host, err := there.ToHost(ctx, nil)
		home <- result{host, err}
	}()
	fmt.Println("other work")
	came := <-home
	if came.err != nil {
		there.Release() // the failed call did not take ownership
		log.Fatal(came.err)
	}
	defer came.host.Release()
	fmt.Println(came.host.Len(), "rows")
	// Output:
	// other work
	// 4 rows
}

func ExampleConnect() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cpu, err := arrowdevice.FindByName("cpu")
	if err != nil {
		log.Fatal(err)
	}
	pool, err := cpu.NewPool(arrowdevice.PoolOptions{Shareable: true})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Release()
	rows := prices()
	made, err := arrowdevice.FromRecordBatch(rows)
	if err != nil {
		log.Fatal(err)
	}
	defer made.Release()
	shareable, err := made.Copy(ctx, cpu, &arrowdevice.CopyOptions{Pool: pool})
	if err != nil {
		log.Fatal(err)
	}
	defer shareable.Release()

	uri := fmt.Sprintf("unix:@example-%d", os.Getpid())
	server, err := arrowdevice.NewServer(uri, arrowdevice.ServerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close(ctx)
	if err := server.AddArrays(ctx, "prices", rows.Schema(), shareable); err != nil {
		log.Fatal(err)
	}

	// This part is usually in another process.
	stream, err := arrowdevice.Connect(ctx, uri+"?name=prices", arrowdevice.ConnectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Release()
	for batch, err := range stream.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		got, err := batch.ToRecordBatch(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(got.Column(0))
		got.Release()
	}

	stats, err := server.Stats()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.CopiedBytes, "bytes were copied to send them")
	// Output:
	// [5 7 9 11]
	// 0 bytes were copied to send them
}

func ExampleStream_All() {
	ctx := context.Background()
	device, err := arrowdevice.FindByName("opencl:0")
	if err != nil {
		log.Fatal(err)
	}
	batch := prices()
	reader, err := array.NewRecordReader(batch.Schema(), []arrow.RecordBatch{batch, batch.NewSlice(0, 3)})
	if err != nil {
		log.Fatal(err)
	}
	stream, err := arrowdevice.FromReader(reader)
	if err != nil {
		log.Fatal(err)
	}
	moving, err := stream.ToDevice(device, &arrowdevice.StreamOptions{ReadAhead: true})
	if err != nil {
		stream.Release()
		log.Fatal(err)
	}
	defer moving.Release()
	for batch, err := range moving.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch.Len(), "rows")
		batch.Release()
	}
	// Output:
	// 4 rows
	// 3 rows
}
