// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"syscall"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

func ExampleFindByName() {
	_, err := arrowdevice.FindByName("cpu:7")
	fmt.Println(errors.Is(err, syscall.ENODEV))
	// Output: true
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
