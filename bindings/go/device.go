// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"fmt"
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

// Device is a vendor's context with a published pair of type and id. It is a value that compares
// with ==, owns nothing and stays valid as long as the process. The zero Device names no device,
// and every call refuses it.
type Device struct {
	c *C.struct_arrowdevice_device
}

// DeviceFlags are properties of a device.
type DeviceFlags uint64

const (
	// DeviceAddresses means that buffers are addresses. Otherwise they are handles.
	DeviceAddresses DeviceFlags = C.ARROWDEVICE_DEVICE_ADDRESSES
	// DeviceHostReadable means that the CPU reads and writes the device's memory in place.
	DeviceHostReadable DeviceFlags = C.ARROWDEVICE_DEVICE_HOST_READABLE
	// DeviceEvents means that arrays on the device can carry events.
	DeviceEvents DeviceFlags = C.ARROWDEVICE_DEVICE_EVENTS
	// DeviceWaitBlocks means that a wait of a queue may block the CPU.
	DeviceWaitBlocks DeviceFlags = C.ARROWDEVICE_DEVICE_WAIT_BLOCKS
	// DeviceCopyBlocks means that copies of pageable host memory may wait for a queue's work.
	DeviceCopyBlocks DeviceFlags = C.ARROWDEVICE_DEVICE_COPY_BLOCKS
	// DeviceStreamOrdered means that memory allocated for a queue is there after the queue's work so far.
	DeviceStreamOrdered DeviceFlags = C.ARROWDEVICE_DEVICE_STREAM_ORDERED
	// DeviceShareable means that the device has memory that other processes can open.
	DeviceShareable DeviceFlags = C.ARROWDEVICE_DEVICE_SHAREABLE
	// DeviceWrapped means that the application owns the context.
	DeviceWrapped DeviceFlags = C.ARROWDEVICE_DEVICE_WRAPPED
)

// DeviceInfo describes a device.
type DeviceInfo struct {
	Type               DeviceType
	ID                 int64
	Name               string // the driver's name of the device
	Vendor             string
	Backend            string   // the backend that drives the device
	UUID               [16]byte // zeros if unknown; equal if two APIs name the same GPU
	TotalMemory        int64    // bytes, -1 if unknown
	BufferAlignment    int64    // bytes
	SubBufferAlignment int64    // bytes
	Flags              DeviceFlags
	StagingType        DeviceType // type of the device's pinned host memory, 0 if none
	NUMANode           int        // the host's NUMA node that is nearest to the device, -1 if unknown
}

// FindByName finds a device by its type's name and its id: "cuda:0", "opencl:1", "cpu". It loads
// the backend if necessary. It fails with ENODEV if there is no driver or no such device, and the
// message gives the reason.
func FindByName(name string) (Device, error) {
	const function = "device_find_by_name"
	text, free, err := cString(function, "name", name)
	if err != nil {
		return Device{}, err
	}
	defer free()
	var device Device
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_find_by_name(text, &device.c, &e)
	return device, result(function, code, &e)
}

// Devices lists all devices of all backends, ordered by type, then id. It omits a backend that
// fails. BackendReports gives the reason.
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

// Info describes the device. It calls no driver.
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
		NUMANode:           int(info.numa_node),
	}, nil
}

// String returns the name that FindByName takes: "opencl:0".
func (d Device) String() string {
	info, err := d.Info()
	if err != nil {
		return "no device"
	}
	return fmt.Sprintf("%v:%d", info.Type, max(0, info.ID))
}

// PeerFlags are what a device can do with another device's memory. The zero PeerFlags means that
// data between them goes through host memory.
type PeerFlags uint32

const (
	// PeerAccess means that the device uses the memory in place.
	PeerAccess PeerFlags = C.ARROWDEVICE_PEER_ACCESS
	// PeerCopy means that the device copies the memory directly.
	PeerCopy PeerFlags = C.ARROWDEVICE_PEER_COPY
	// PeerRemote means that each use of the memory in place goes over the bus.
	PeerRemote PeerFlags = C.ARROWDEVICE_PEER_REMOTE
)

// PeerFlags returns what the other device can do with memory of this device.
func (d Device) PeerFlags(to Device) (PeerFlags, error) {
	var flags C.uint32_t
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_get_peer_flags(d.c, to.c, &flags, &e)
	return PeerFlags(flags), result("device_get_peer_flags", code, &e)
}

// MemoryInfo returns the free and the total bytes, as the driver reports them now. It returns -1
// for a number that the driver does not report.
func (d Device) MemoryInfo() (free, total int64, err error) {
	var freeBytes, totalBytes C.int64_t
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_device_get_memory_info(d.c, &freeBytes, &totalBytes, &e)
	return int64(freeBytes), int64(totalBytes), result("device_get_memory_info", code, &e)
}

// DeviceCounters count what the library has requested from a device since the process began. They
// count calls of the driver, not allocations that a pool served.
type DeviceCounters struct {
	DriverAllocations int64 // allocations by the driver
	Submissions       int64 // submitted batches of copies
	Regions           int64 // regions in these batches
	Events            int64 // recorded events
	HostWaits         int64 // waits of the CPU for an event of this device
	Readbacks         int64 // batches that were submitted only to read sizes and ranges
	BytesIn           int64 // bytes copied to the device
	BytesOut          int64 // bytes copied from the device
	StagedBytes       int64 // bytes that went through staging memory to or from the device
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
