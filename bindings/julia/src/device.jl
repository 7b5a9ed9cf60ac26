# SPDX-License-Identifier: Apache-2.0

"A device. It is valid until the process ends, needs no closing, and compares with `==`."
struct Device
    handle::Ptr{Cvoid}
end

Base.cconvert(::Type{Ptr{Cvoid}}, device::Device) = device.handle

"Properties of a device. Sizes are in bytes, -1 if unknown."
struct DeviceInfo
    device_type::Int32
    device_id::Int64
    name::String
    vendor::String
    backend::String
    uuid::NTuple{16,UInt8}
    total_memory::Int64
    buffer_alignment::Int64
    flags::UInt64
end

"Returns the device with a name, such as \"cpu\", \"opencl:0\" or \"cuda:1\"."
function find(name::AbstractString)
    device = Ref{Ptr{Cvoid}}(C_NULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_find_by_name(name::Cstring, device::Ref{Ptr{Cvoid}}, error::Ref{CError})::Cint
    check("arrowdevice_device_find_by_name", code, error)
    return Device(device[])
end

"Returns all devices of all backends, ordered by type, then id."
function devices()
    room = 16
    while true
        found = fill(Ptr{Cvoid}(C_NULL), room)
        count = Ref{Int64}(0)
        error = Ref{CError}()
        code = @ccall libarrowdevice.arrowdevice_device_list(found::Ptr{Ptr{Cvoid}}, room::Int64, count::Ref{Int64},
                                                             error::Ref{CError})::Cint
        check("arrowdevice_device_list", code, error)
        if count[] <= room
            return [Device(found[i]) for i in 1:count[]]
        end
        room = count[]
    end
end

# Returns a zeroed struct with its `struct_size`, which the library fills.
function sized(::Type{T}) where {T}
    zeroed = zeros(UInt8, sizeof(T))
    GC.@preserve zeroed begin
        start = pointer(zeroed)
        unsafe_store!(Ptr{UInt32}(start), UInt32(sizeof(T)))
        return Ref{T}(unsafe_load(Ptr{T}(start)))
    end
end

"Returns the properties of a device. Calls no driver."
function info(device::Device)
    out = sized(CDeviceInfo)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_get_info(device::Ptr{Cvoid}, out::Ref{CDeviceInfo}, error::Ref{CError})::Cint
    check("arrowdevice_device_get_info", code, error)
    c = out[]
    return DeviceInfo(c.device_type, c.device_id, text(c.name), text(c.vendor), text(c.backend), c.uuid, c.total_memory,
                      c.buffer_alignment, c.flags)
end

"Returns the counters of a device since the process began: the fields of `struct arrowdevice_device_counters`."
function counters(device::Device)
    out = sized(CDeviceCounters)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_get_counters(device::Ptr{Cvoid}, out::Ref{CDeviceCounters},
                                                             error::Ref{CError})::Cint
    check("arrowdevice_device_get_counters", code, error)
    return out[]
end

"Returns the name of a device type, such as \"opencl\". Returns its number if the type has no name."
function device_type_name(device_type::Int32)
    known = @ccall libarrowdevice.arrowdevice_device_type_get_name(device_type::Int32)::Cstring
    return known == C_NULL ? string("device type ", device_type) : unsafe_string(known)
end

"Returns the name that `find` takes."
function name(device::Device)
    known = info(device)
    return string(device_type_name(known.device_type), ":", max(known.device_id, 0))
end

# Shows an invalid device as a pointer, because the message of an error about it may contain the device.
function Base.show(io::IO, device::Device)
    shown = try
        repr(name(device))
    catch e
        e isa ArrowDeviceError || rethrow()
        string(device.handle)
    end
    return print(io, "Device(", shown, ")")
end
