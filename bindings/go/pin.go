// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"runtime"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// pinned returns the same data in buffers that C may hold pointers to. Go memory is pinned as long
// as C uses it, whichever allocator it comes from. Extension arrays become their storage arrays,
// because C sees those and arrow-go's export omits the children of other extension arrays.
func pinned(data arrow.ArrayData) *array.Data {
	stored := data.DataType()
	if extension, ok := stored.(arrow.ExtensionType); ok {
		stored = extension.StorageType()
	}
	buffers := make([]*memory.Buffer, len(data.Buffers()))
	for i, buffer := range data.Buffers() {
		if buffer == nil || buffer.Len() == 0 {
			buffers[i] = buffer
			continue
		}
		buffers[i] = pinBuffer(buffer)
		defer buffers[i].Release()
	}
	if dictionary, ok := data.Dictionary().(*array.Data); ok && dictionary != nil {
		values := pinned(dictionary)
		defer values.Release()
		return array.NewDataWithDictionary(stored, data.Len(), buffers, data.NullN(), data.Offset(), values)
	}
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, child := range data.Children() {
		children[i] = pinned(child)
		defer children[i].Release()
	}
	return array.NewData(stored, data.Len(), buffers, children, data.NullN(), data.Offset())
}

// pin is the allocator of a buffer that shares another buffer's memory. Free unpins the memory.
type pin struct {
	buffer *memory.Buffer
	pinner runtime.Pinner
}

func pinBuffer(buffer *memory.Buffer) *memory.Buffer {
	p := &pin{buffer: buffer}
	buffer.Retain()
	p.pinner.Pin(unsafe.Pointer(unsafe.SliceData(buffer.Bytes())))
	return memory.NewBufferWithAllocator(buffer.Bytes(), p)
}

func (p *pin) Free([]byte) {
	p.pinner.Unpin()
	p.buffer.Release()
}

func (*pin) Allocate(int) []byte           { panic("a pinned buffer cannot allocate") }
func (*pin) Reallocate(int, []byte) []byte { panic("a pinned buffer cannot grow") }
