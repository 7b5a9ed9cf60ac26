# SPDX-License-Identifier: Apache-2.0

"A device: stays valid as long as the process, needs no closing, compares with `==`."
struct Device
    handle::Ptr{Cvoid}
end

Base.cconvert(::Type{Ptr{Cvoid}}, device::Device) = device.handle

"What is known of a device. Sizes are in bytes, -1 if unknown."
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

"The device of a name: \"cpu\", \"opencl:0\", \"cuda:1\"."
function find(name::AbstractString)
    device = Ref{Ptr{Cvoid}}(C_NULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_find_by_name(name::Cstring, device::Ref{Ptr{Cvoid}}, error::Ref{CError})::Cint
    check("arrowdevice_device_find_by_name", code, error)
    return Device(device[])
end

"All devices of all backends, ordered by type, then id."
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

# A struct of zeros that says how large it is, for the library to fill.
function sized(::Type{T}) where {T}
    zeros_of_it = zeros(UInt8, sizeof(T))
    GC.@preserve zeros_of_it begin
        start = pointer(zeros_of_it)
        unsafe_store!(Ptr{UInt32}(start), UInt32(sizeof(T)))
        return Ref{T}(unsafe_load(Ptr{T}(start)))
    end
end

"What is known of a device. Calls no driver."
function info(device::Device)
    out = sized(CDeviceInfo)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_get_info(device::Ptr{Cvoid}, out::Ref{CDeviceInfo}, error::Ref{CError})::Cint
    check("arrowdevice_device_get_info", code, error)
    c = out[]
    return DeviceInfo(c.device_type, c.device_id, text(c.name), text(c.vendor), text(c.backend), c.uuid, c.total_memory,
                      c.buffer_alignment, c.flags)
end

"What the library has asked of a device since the process began, as the fields of `struct arrowdevice_device_counters`."
function counters(device::Device)
    out = sized(CDeviceCounters)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_device_get_counters(device::Ptr{Cvoid}, out::Ref{CDeviceCounters},
                                                             error::Ref{CError})::Cint
    check("arrowdevice_device_counters", code, error)
    return out[]
end

"The name of a type of device, \"opencl\"; its number where it has none."
function device_type_get_name(device_type::Int32)
    known = @ccall libarrowdevice.arrowdevice_device_type_get_name(device_type::Int32)::Cstring
    return known == C_NULL ? string("device type ", device_type) : unsafe_string(known)
end

"The name that `find` takes."
function name(device::Device)
    known = info(device)
    return string(device_type_get_name(known.device_type), ":", max(known.device_id, 0))
end

# What is none, or is no more, is shown too: where it is shown may be the message of an error about it.
function Base.show(io::IO, device::Device)
    shown = try
        repr(name(device))
    catch e
        e isa ArrowDeviceError || rethrow()
        string(device.handle)
    end
    return print(io, "Device(", shown, ")")
end
