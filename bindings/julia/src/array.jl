# SPDX-License-Identifier: Apache-2.0

"""
Owner of an array on a device and of its type. `close` releases the array without waiting. A second `close` has no effect.
The garbage collector closes a forgotten array, but it does not know the size of the array.
"""
mutable struct DeviceArray
    # Both are in memory of C, because the collector must not move structs that C points to. C_NULL after `close`.
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
        # The finalizer runs on the collector's thread. It may do so, because releases do not wait for device work and
        # `close` does not yield.
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

# Passes an array to C. `@ccall` keeps it alive during the call. A closed array is refused.
Base.cconvert(::Type{Ptr{CDeviceArray}}, a::DeviceArray) = a
Base.cconvert(::Type{Ptr{CSchema}}, a::DeviceArray) = a

function Base.unsafe_convert(::Type{Ptr{CDeviceArray}}, a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or moved")
    return a.array
end

function Base.unsafe_convert(::Type{Ptr{CSchema}}, a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or moved")
    return a.schema
end

# Returns copies of both structs.
function loaded(a::DeviceArray)
    isopen(a) || refuse("DeviceArray", "the array was closed or moved")
    GC.@preserve a begin
        return unsafe_load(a.array), unsafe_load(a.schema)
    end
end

# Returns an empty owner with a copy of the type.
function typed_as(a::DeviceArray)
    out = DeviceArray()
    copy_schema(out, a)
    return out
end

# Copies a type into an owner.
function copy_schema(out::DeviceArray, from)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_schema_copy(from::Ptr{CSchema}, out::Ptr{CSchema}, error::Ref{CError})::Cint
    check("arrowdevice_schema_copy", code, error)
    return nothing
end

"Returns the number of rows."
Base.length(a::DeviceArray) = Int(loaded(a)[1].array.length)

"Returns the format string of the type in the Arrow C data interface."
format(a::DeviceArray) = GC.@preserve a unsafe_string(loaded(a)[2].format)

"Returns the device of an array."
function device(a::DeviceArray)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_get_device(a::Ptr{CDeviceArray}, found::Ref{Ptr{Cvoid}}, error::Ref{CError})::Cint
    check("arrowdevice_array_get_device", code, error)
    return Device(found[])
end

"Returns whether the array's event has fired."
function Base.isready(a::DeviceArray)
    ready = Ref{Cint}(0)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_is_ready(a::Ptr{CDeviceArray}, C_NULL::Ptr{Cvoid}, ready::Ref{Cint},
                                                         error::Ref{CError})::Cint
    check("arrowdevice_array_is_ready", code, error)
    return ready[] != 0
end

"Waits for the array's event. Fails with `ETIMEDOUT` after `timeout` seconds. `nothing` waits without limit."
function Base.wait(a::DeviceArray; timeout::Union{Real,Nothing}=nothing)
    timeout_ns = nanoseconds(timeout)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_wait(a::Ptr{CDeviceArray}, C_NULL::Ptr{Cvoid}, timeout_ns::Int64,
                                                        error::Ref{CError})::Cint
    check("arrowdevice_array_wait", code, error)
    return nothing
end

# Returns the options of a copy.
function copy_options(flags::UInt32, timeout)
    return Ref(CCopyOptions(UInt32(sizeof(CCopyOptions)), flags, C_NULL, C_NULL, C_NULL, nanoseconds(timeout)))
end

"""
Copies an array to a device. The copy is complete on return. After `timeout` seconds it fails with `ETIMEDOUT`. The copy holds
a reference to the source until it has finished.
"""
function copy_to(a::DeviceArray, to::Device; timeout::Union{Real,Nothing}=nothing)
    source = share(a)
    try
        return to_device(source, to; copy=true, timeout=timeout)
    finally
        close(source)
    end
end

"""
    to_device(a, device; copy=nothing, timeout=nothing)

Puts an array on a device and closes `a`. `copy=nothing` shares the memory if the device can use it, and copies otherwise.
`copy=true` always copies. `copy=false` never copies and fails with `ENOTSUP` if a copy is needed. A failure leaves `a`
unchanged.
"""
function to_device(a::DeviceArray, to::Device; copy::Union{Bool,Nothing}=nothing, timeout::Union{Real,Nothing}=nothing)
    out = typed_as(a)
    flags = copy === nothing ? UInt32(0) : copy ? COPY_ALWAYS : COPY_NEVER
    options = copy_options(flags, timeout)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_to_device(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, to::Ptr{Cvoid},
                                                           options::Ref{CCopyOptions}, out::Ptr{CDeviceArray},
                                                           error::Ref{CError})::Cint
    check("arrowdevice_array_to_device", code, error)
    close(a)
    return out
end

"Returns a shared owner of the same memory."
function share(a::DeviceArray)
    out = typed_as(a)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_share(a::Ptr{CDeviceArray}, out::Ptr{CDeviceArray}, error::Ref{CError})::Cint
    check("arrowdevice_array_share", code, error)
    return out
end

"Returns a shared owner of a range of rows, counted from 1. `a[2:3]` does the same."
function slice(a::DeviceArray, rows::AbstractUnitRange{<:Integer})
    out = typed_as(a)
    offset = Int64(first(rows)) - 1
    n_rows = Int64(length(rows))
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_slice(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, offset::Int64, n_rows::Int64,
                                                         out::Ptr{CDeviceArray}, error::Ref{CError})::Cint
    check("arrowdevice_array_slice", code, error)
    return out
end

Base.getindex(a::DeviceArray, rows::AbstractUnitRange{<:Integer}) = slice(a, rows)
Base.lastindex(a::DeviceArray) = length(a)

"Returns a shared owner of some columns of a record batch, counted from 1, in the given order."
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

"Validates an array against its type. The level is one of `ArrowDevice.VALIDATE_*`."
function validate(a::DeviceArray, level::Cint=VALIDATE_FULL)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_array_validate(a::Ptr{CDeviceArray}, a::Ptr{CSchema}, C_NULL::Ptr{Cvoid}, level::Cint,
                                                            error::Ref{CError})::Cint
    check("arrowdevice_array_validate", code, error)
    return nothing
end

"""
Moves an array out of C structs of another library. The pointers may have any type. They point to a `struct ArrowDeviceArray`
and a `struct ArrowSchema`. Marks both structs as released. A failure leaves them unchanged.
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
