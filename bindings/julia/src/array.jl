# SPDX-License-Identifier: Apache-2.0

"""
The owner of an array on a device, and of its type. `close` gives it back to its producer and returns at once, twice is as
good as once; what is forgotten is closed by the garbage collector, which does not see how large it is.
"""
mutable struct DeviceArray
    # Both in C's memory, since the collector may move nothing that C points to; C_NULL once closed.
    array::Ptr{CDeviceArray}
    schema::Ptr{CSchema}

    function DeviceArray()
        array = Ptr{CDeviceArray}(Libc.calloc(1, sizeof(CDeviceArray)))
        schema = Ptr{CSchema}(Libc.calloc(1, sizeof(CSchema)))
        if array == C_NULL || schema == C_NULL
            Libc.free(array)
            Libc.free(schema)
            throw(OutOfMemoryError())
        end
        # Runs wherever the collector does: the library's releases never block on device work, and nothing here yields.
        return finalizer(close, new(array, schema))
    end
end

function Base.close(a::DeviceArray)
    array, schema = a.array, a.schema
    a.array, a.schema = C_NULL, C_NULL
    if array != C_NULL
        @ccall libarrowdevice.arrowdevice_array_release(array::Ptr{CDeviceArray})::Cvoid
        @ccall libarrowdevice.arrowdevice_schema_release(schema::Ptr{CSchema})::Cvoid
        Libc.free(array)
        Libc.free(schema)
    end
    return nothing
end

Base.isopen(a::DeviceArray) = a.array != C_NULL

# An array as an argument: kept alive during the call, and refused once it is closed.
Base.cconvert(::Type{Ptr{CDeviceArray}}, a::DeviceArray) = a
Base.cconvert(::Type{Ptr{CSchema}}, a::DeviceArray) = a

function Base.unsafe_convert(::Type{Ptr{CDeviceArray}}, a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or handed over")
    return a.array
end

function Base.unsafe_convert(::Type{Ptr{CSchema}}, a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or handed over")
    return a.schema
end

# The structs as they are now.
function loaded(a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or handed over")
    GC.@preserve a begin
        return unsafe_load(a.array), unsafe_load(a.schema)
    end
end

# An empty owner with a copy of another's type.
function typed_as(a::DeviceArray)
    out = DeviceArray()
    copy_schema(out, a)
    return out
end

function copy_schema(out::DeviceArray, from)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_schema_copy(from::Ptr{CSchema}, out::Ptr{CSchema}, error::Ref{CError})::Cint
    check("arrowdevice_schema_copy", code, error)
    return nothing
end

"The number of rows."
Base.length(a::DeviceArray) = Int(loaded(a)[1].array.length)

"The format string of the array's type, as the Arrow C data interface writes it."
format(a::DeviceArray) = GC.@preserve a unsafe_string(loaded(a)[2].format)

"The device that an array is on."
function device(a::DeviceArray)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_get_device(a::Ptr{CDeviceArray}, found::Ref{Ptr{Cvoid}}, error::Ref{CError})::Cint
    check("arrowdevice_array_get_device", code, error)
    return Device(found[])
end

"Whether the array's event has fired."
function Base.isready(a::DeviceArray)
    ready = Ref{Cint}(0)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_is_ready(a::Ptr{CDeviceArray}, C_NULL::Ptr{Cvoid}, ready::Ref{Cint},
                                                         error::Ref{CError})::Cint
    check("arrowdevice_array_is_ready", code, error)
    return ready[] != 0
end

"Wait for the array's event, at most `timeout` seconds: `ETIMEDOUT` then."
function Base.wait(a::DeviceArray; timeout::Union{Real,Nothing}=nothing)
    timeout_ns = nanoseconds(timeout, Int64(-1))
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_wait(a::Ptr{CDeviceArray}, C_NULL::Ptr{Cvoid}, timeout_ns::Int64,
                                                        error::Ref{CError})::Cint
    check("arrowdevice_array_wait", code, error)
    return nothing
end

# In options 0 nanoseconds are for ever: no time at all is the least there is.
function copy_options(flags::UInt32, timeout)
    timeout_ns = timeout === nothing ? Int64(0) : max(nanoseconds(timeout, Int64(0)), Int64(1))
    return Ref(CCopyOptions(UInt32(sizeof(CCopyOptions)), flags, C_NULL, C_NULL, C_NULL, timeout_ns))
end

"A copy of an array on a device, complete on return. `timeout`: seconds that it may wait for the source."
function copy_to(a::DeviceArray, to::Device; timeout::Union{Real,Nothing}=nothing)
    out = typed_as(a)
    options = copy_options(UInt32(0), timeout)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_copy(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, to::Ptr{Cvoid},
                                                        options::Ref{CCopyOptions}, out::Ptr{CDeviceArray},
                                                        error::Ref{CError})::Cint
    check("arrowdevice_array_copy", code, error)
    return out
end

"""
Hand an array over to a device: by sharing where that device can use the memory, by a copy where not or where `always`. `a` is
closed by it; on failure it is as it was.
"""
function move_to(a::DeviceArray, to::Device; always::Bool=false, timeout::Union{Real,Nothing}=nothing)
    out = typed_as(a)
    options = copy_options(always ? COPY_ALWAYS : UInt32(0), timeout)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_to_device(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, to::Ptr{Cvoid},
                                                           options::Ref{CCopyOptions}, out::Ptr{CDeviceArray},
                                                           error::Ref{CError})::Cint
    check("arrowdevice_array_to_device", code, error)
    close(a)
    return out
end

"A second owner of the same memory."
function share(a::DeviceArray)
    out = typed_as(a)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_share(a::Ptr{CDeviceArray}, out::Ptr{CDeviceArray}, error::Ref{CError})::Cint
    check("arrowdevice_array_share", code, error)
    return out
end

"Some rows of an array, counted from 1, as an owner of the same memory. `a[2:3]` is the same."
function slice(a::DeviceArray, rows::AbstractUnitRange{<:Integer})
    out = typed_as(a)
    offset = Int64(first(rows)) - 1
    rows_in_it = Int64(length(rows))
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_slice(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, offset::Int64, rows_in_it::Int64,
                                                         out::Ptr{CDeviceArray}, error::Ref{CError})::Cint
    check("arrowdevice_array_slice", code, error)
    return out
end

Base.getindex(a::DeviceArray, rows::AbstractUnitRange{<:Integer}) = slice(a, rows)
Base.lastindex(a::DeviceArray) = length(a)

"Some columns of a record batch, counted from 1, in the order given, as an owner of the same memory."
function select(a::DeviceArray, columns::AbstractVector{<:Integer})
    out = DeviceArray()
    indices = Int64[column - 1 for column in columns]
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_select(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, indices::Ptr{Int64},
                                                          length(indices)::Int64, out::Ptr{CDeviceArray}, out::Ptr{CSchema},
                                                          error::Ref{CError})::Cint
    check("arrowdevice_array_select", code, error)
    return out
end

"Check an array against its type, to a level `ArrowDevice.VALIDATE_*`."
function validate(a::DeviceArray, level::Cint=VALIDATE_FULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_validate(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, C_NULL::Ptr{Cvoid}, level::Cint,
                                                            error::Ref{CError})::Cint
    check("arrowdevice_array_validate", code, error)
    return nothing
end

"""
Take over an array that another library hands out in C: pointers of any type to its `struct ArrowDeviceArray` and `struct
ArrowSchema`, both marked released by it; on failure they are as they were.
"""
import_c(array::Ptr, schema::Ptr) = import_c(Ptr{CDeviceArray}(array), Ptr{CSchema}(schema))

function import_c(array::Ptr{CDeviceArray}, schema::Ptr{CSchema})
    out = DeviceArray()
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_validate(array::Ptr{CDeviceArray}, schema::Ptr{CSchema}, C_NULL::Ptr{Cvoid},
                                                            VALIDATE_STRUCTURE::Cint, error::Ref{CError})::Cint
    check("arrowdevice_array_validate", code, error)
    copy_schema(out, schema)
    @ccall libarrowdevice.arrowdevice_array_move(array::Ptr{CDeviceArray}, out::Ptr{CDeviceArray})::Cvoid
    @ccall libarrowdevice.arrowdevice_schema_release(schema::Ptr{CSchema})::Cvoid
    return out
end
