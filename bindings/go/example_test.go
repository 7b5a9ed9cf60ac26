// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"fmt"
	"log"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func prices() arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64}}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	builder.Field(0).(*array.Int64Builder).AppendValues([]int64{5, 7, 9, 11}, nil)
	return builder.NewRecordBatch()
}

// The README shows this file as a program.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	gpu, err := arrowdevice.FindByName("opencl:0")
	if err != nil {
		log.Fatal(err) // names the missing driver
	}
	batch, err := arrowdevice.FromRecordBatch(prices()) // shares arrow-go's record batch, copies nothing
	if err != nil {
		log.Fatal(err)
	}
	onGPU, err := batch.ToDevice(ctx, gpu, nil)
	if err != nil {
		batch.Release() // the failed call did not take ownership
		log.Fatal(err)
	}
	defer onGPU.Release()

	middle, err := onGPU.Slice(1, 2) // copies nothing
	if err != nil {
		log.Fatal(err)
	}
	back, err := middle.ToRecordBatch(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer back.Release()
	fmt.Println(back.Column(0))
	// Output: [7 9]
}
