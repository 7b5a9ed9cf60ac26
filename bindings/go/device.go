// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdlib.h>
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// DeviceType is an ArrowDeviceType of the Arrow C Device data interface.
type DeviceType int32

// The device types of the format.
const (
	CPU         DeviceType = C.ARROW_DEVICE_CPU
	CUDA        DeviceType = C.ARROW_DEVICE_CUDA
	CUDAHost    DeviceType = C.ARROW_DEVICE_CUDA_HOST
	OpenCL      DeviceType = C.ARROW_DEVICE_OPENCL
	Vulkan      DeviceType = C.ARROW_DEVICE_VULKAN
	Metal       DeviceType = C.ARROW_DEVICE_METAL
	VPI         DeviceType = C.ARROW_DEVICE_VPI
	ROCm        DeviceType = C.ARROW_DEVICE_ROCM
	ROCmHost    DeviceType = C.ARROW_DEVICE_ROCM_HOST
	ExtDev      DeviceType = C.ARROW_DEVICE_EXT_DEV
	CUDAManaged DeviceType = C.ARROW_DEVICE_CUDA_MANAGED
	OneAPI      DeviceType = C.ARROW_DEVICE_ONEAPI
	WebGPU      DeviceType = C.ARROW_DEVICE_WEBGPU
	Hexagon     DeviceType = C.ARROW_DEVICE_HEXAGON
)

// String is the type's name: "opencl".
func (t DeviceType) String() string {
	if name := C.arrowdevice_device_type_get_name(C.ArrowDeviceType(t)); name != nil {
		return C.GoString(name)
	}
	return fmt.Sprintf("device type %d", int32(t))
}

// Device is a vendor's context with a published pair of type and id. It is a value that compares with ==, owns nothing
// and stays valid as long as the process. The zero Device is none, and refused wherever one is needed.
type Device struct {
	c *C.struct_arrowdevice_device
}

// DeviceFlags say what can be done with a device.
type DeviceFlags uint64

const (
	// DeviceAddresses: buffers are addresses, else handles.
	DeviceAddresses DeviceFlags = C.ARROWDEVICE_DEVICE_ADDRESSES
	// DeviceHostReadable: the CPU reads and writes its memory in place.
	DeviceHostReadable DeviceFlags = C.ARROWDEVICE_DEVICE_HOST_READABLE
	// DeviceEvents: arrays on it can carry events.
	DeviceEvents DeviceFlags = C.ARROWDEVICE_DEVICE_EVENTS
	// DeviceWaitBlocks: waits of a queue may block the CPU.
	DeviceWaitBlocks DeviceFlags = C.ARROWDEVICE_DEVICE_WAIT_BLOCKS
	// DeviceWrapped: an application's own context.
	DeviceWrapped DeviceFlags = C.ARROWDEVICE_DEVICE_WRAPPED
)

// DeviceInfo is what is known of a device.
type DeviceInfo struct {
	Type               DeviceType
	ID                 int64
	Name               string // as the driver calls it
	Vendor             string
	Backend            string   // that drives it
	UUID               [16]byte // zeros if unknown; two APIs may name one GPU
	TotalMemory        int64    // bytes, -1 if unknown
	BufferAlignment    int64    // bytes
	SubBufferAlignment int64    // bytes
	Flags              DeviceFlags
	StagingType        DeviceType // of its pinned host memory, 0 if none
}

// FindByName finds a device by the name of its type and its id: "cuda:0", "opencl:1", "cpu". It loads the backend that drives
// it if need be; ENODEV where there is no driver or no such device, and the message says why.
func FindByName(name string) (Device, error) {
	if strings.ContainsRune(name, 0) {
		return Device{}, newError("device_find_by_name", int(syscall.EINVAL), "a zero byte in the name "+strconv.Quote(name))
	}
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var device Device
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_find_by_name(text, &device.c, &e)
	return device, result("device_find_by_name", code, &e)
}

// Devices lists all devices of all backends, ordered by type, then id. A backend that fails is left out; BackendReports says
// why.
func Devices() ([]Device, error) {
	var e C.struct_arrowdevice_error
	for room := C.int64_t(16); ; {
		found := make([]*C.struct_arrowdevice_device, room)
		var count C.int64_t
		if code := C.arrowdevice_device_list(&found[0], room, &count, &e); code != 0 {
			return nil, result("device_list", code, &e)
		}
		if count > room {
			room = count
			continue
		}
		devices := make([]Device, count)
		for i := range devices {
			devices[i].c = found[i]
		}
		return devices, nil
	}
}

// Info tells what is known of the device. It calls no driver.
func (d Device) Info() (DeviceInfo, error) {
	var info C.struct_arrowdevice_device_info
	info.struct_size = C.sizeof_struct_arrowdevice_device_info
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_device_get_info(d.c, &info, &e); code != 0 {
		return DeviceInfo{}, result("device_get_info", code, &e)
	}
	return DeviceInfo{
		Type:               DeviceType(info.device_type),
		ID:                 int64(info.device_id),
		Name:               C.GoString(&info.name[0]),
		Vendor:             C.GoString(&info.vendor[0]),
		Backend:            C.GoString(&info.backend[0]),
		UUID:               *(*[16]byte)(unsafe.Pointer(&info.uuid)),
		TotalMemory:        int64(info.total_memory),
		BufferAlignment:    int64(info.buffer_alignment),
		SubBufferAlignment: int64(info.sub_buffer_alignment),
		Flags:              DeviceFlags(info.flags),
		StagingType:        DeviceType(info.staging_type),
	}, nil
}

// String is the name that FindByName takes: "opencl:0".
func (d Device) String() string {
	info, err := d.Info()
	if err != nil {
		return "no device"
	}
	return fmt.Sprintf("%v:%d", info.Type, max(0, info.ID))
}

// PeerFlags says what a device can do with another's memory; the zero PeerFlags is that data between them is staged through the
// host.
type PeerFlags uint32

const (
	// PeerAccess: use it where it is.
	PeerAccess PeerFlags = C.ARROWDEVICE_PEER_ACCESS
	// PeerCopy: copy it directly.
	PeerCopy PeerFlags = C.ARROWDEVICE_PEER_COPY
)

// PeerFlags says what another device can do with memory of this one.
func (d Device) PeerFlags(to Device) (PeerFlags, error) {
	var flags C.uint32_t
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_get_peer_flags(d.c, to.c, &flags, &e)
	return PeerFlags(flags), result("device_get_peer_flags", code, &e)
}

// MemoryInfo tells the bytes free and in all, as the driver says now; -1 where it does not say.
func (d Device) MemoryInfo() (free, total int64, err error) {
	var freeBytes, totalBytes C.int64_t
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_get_memory_info(d.c, &freeBytes, &totalBytes, &e)
	return int64(freeBytes), int64(totalBytes), result("device_get_memory_info", code, &e)
}

// DeviceCounters are what the library has asked of a device since the process began: calls of the driver, not hits of a
// pool.
type DeviceCounters struct {
	DriverAllocations int64 // allocations made by the driver
	Submissions       int64 // batches of copies submitted
	Regions           int64 // regions in these batches
	Events            int64 // events recorded
	HostWaits         int64 // times that the CPU waited for an event of this device
	Readbacks         int64 // batches submitted only to learn sizes and ranges
	BytesIn           int64 // bytes copied to the device
	BytesOut          int64 // bytes copied from it
	StagedBytes       int64 // bytes that went through staging memory on the way to or from it
}

// Counters reads the device's counters.
func (d Device) Counters() (DeviceCounters, error) {
	var counters C.struct_arrowdevice_device_counters
	counters.struct_size = C.sizeof_struct_arrowdevice_device_counters
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_get_counters(d.c, &counters, &e)
	return DeviceCounters{
		DriverAllocations: int64(counters.driver_allocations),
		Submissions:       int64(counters.submissions),
		Regions:           int64(counters.regions),
		Events:            int64(counters.events),
		HostWaits:         int64(counters.host_waits),
		Readbacks:         int64(counters.readbacks),
		BytesIn:           int64(counters.bytes_in),
		BytesOut:          int64(counters.bytes_out),
		StagedBytes:       int64(counters.staged_bytes),
	}, result("device_get_counters", code, &e)
}
