# SPDX-License-Identifier: Apache-2.0
# The structs of arrowdevice/abi.h and arrowdevice.h. test/declarations_test.py compares them with the headers. Function
# pointers and handles are Ptr{Cvoid}.

struct CError
    code::Int32
    native_code::Int32
    backend::NTuple{16,UInt8}
    message::NTuple{488,UInt8}
end

struct CDeviceInfo
    struct_size::UInt32
    device_type::Int32
    device_id::Int64
    name::NTuple{128,UInt8}
    vendor::NTuple{64,UInt8}
    backend::NTuple{16,UInt8}
    uuid::NTuple{16,UInt8}
    total_memory::Int64
    buffer_alignment::Int64
    sub_buffer_alignment::Int64
    flags::UInt64
    staging_type::Int32
    numa_node::Int32
end

struct CDeviceCounters
    struct_size::UInt32
    reserved::UInt32
    driver_allocations::Int64
    submissions::Int64
    regions::Int64
    events::Int64
    host_waits::Int64
    readbacks::Int64
    bytes_in::Int64
    bytes_out::Int64
    staged_bytes::Int64
end

struct CCopyOptions
    struct_size::UInt32
    flags::UInt32
    queue::Ptr{Cvoid}
    pool::Ptr{Cvoid}
    source_device::Ptr{Cvoid}
    timeout_ns::Int64
end

struct CSchema
    format::Ptr{UInt8}
    name::Ptr{UInt8}
    metadata::Ptr{UInt8}
    flags::Int64
    n_children::Int64
    children::Ptr{Ptr{CSchema}}
    dictionary::Ptr{CSchema}
    release::Ptr{Cvoid}
    private_data::Ptr{Cvoid}
end

struct CArray
    length::Int64
    null_count::Int64
    offset::Int64
    n_buffers::Int64
    n_children::Int64
    buffers::Ptr{Ptr{Cvoid}}
    children::Ptr{Ptr{CArray}}
    dictionary::Ptr{CArray}
    release::Ptr{Cvoid}
    private_data::Ptr{Cvoid}
end

struct CDeviceArray
    array::CArray
    device_id::Int64
    device_type::Int32
    sync_event::Ptr{Cvoid}
    reserved::NTuple{3,Int64}
end

# Stops the package from loading if the sizes differ from the library's.
@assert sizeof(CError) == 512
@assert sizeof(CDeviceInfo) == 280
@assert sizeof(CDeviceCounters) == 80
@assert sizeof(CCopyOptions) == 40
@assert sizeof(CSchema) == 72
@assert sizeof(CArray) == 80
@assert sizeof(CDeviceArray) == 128

const DEVICE_CPU = Int32(1)
const NO_TIMEOUT = Int64(0)
const POLL = Int64(-1)
const COPY_ALWAYS = UInt32(2)
const COPY_NEVER = UInt32(4)
const VALIDATE_STRUCTURE = Cint(0)
const VALIDATE_FULL = Cint(1)
const VALIDATE_STRICT = Cint(2)
const FLAG_NULLABLE = Int64(2)
