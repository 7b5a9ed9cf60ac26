# SPDX-License-Identifier: Apache-2.0

# The numbers that Arrow and Julia both have, and how Arrow writes their types.
const FORMATS = Dict{DataType,String}(
    Int8 => "c", UInt8 => "C", Int16 => "s", UInt16 => "S", Int32 => "i", UInt32 => "I", Int64 => "l", UInt64 => "L",
    Float16 => "e", Float32 => "f", Float64 => "g")
const NUMBERS = Dict{String,DataType}(format => number for (number, format) in FORMATS)

"""
    from_vector(values, to=find("cpu"))

An array on a device with a copy of the values: numbers, and `missing` where the vector's type allows it. The vector is read
during the call only, so that no code of Julia's has to run when, and on the thread where, the array is released.
"""
function from_vector(values::AbstractVector{T}, to::Device=find("cpu")) where {T}
    number = nonmissingtype(T)
    haskey(FORMATS, number) || throw(ArgumentError("a vector of $T: only of numbers of a fixed width, and missing"))
    data = number[ismissing(value) ? zero(number) : value for value in values]
    validity = T === number ? UInt8[] : bitmap(values)
    nulls = count(ismissing, values)
    # Structs of Julia's for the time of the copy. Nobody releases them but the collector; `release` only says that they
    # are alive, by an address of a function that is never called.
    alive = cglobal((:arrowdevice_host_array_release, libarrowdevice), Cvoid)
    name = UInt8[0x00]
    type_name = vcat(Vector{UInt8}(codeunits(FORMATS[number])), 0x00)
    out = DeviceArray()
    GC.@preserve data validity name type_name begin
        buffers = Ptr{Cvoid}[nulls == 0 ? C_NULL : Ptr{Cvoid}(pointer(validity)), Ptr{Cvoid}(pointer(data))]
        GC.@preserve buffers begin
            array = CArray(length(data), nulls, 0, 2, 0, pointer(buffers), C_NULL, C_NULL, alive, C_NULL)
            source = Ref(CDeviceArray(array, -1, DEVICE_CPU, C_NULL, (0, 0, 0)))
            flags = T === number ? Int64(0) : FLAG_NULLABLE
            schema = Ref(CSchema(pointer(type_name), pointer(name), C_NULL, flags, 0, C_NULL, C_NULL, alive, C_NULL))
            copy_schema_of(out, schema)
            error = Ref{CError}()
            code = @ccall libarrowdevice.arrowdevice_array_copy(source::Ref{CDeviceArray}, schema::Ref{CSchema}, to::Ptr{Cvoid},
                                                                C_NULL::Ptr{CCopyOptions}, out::Ptr{CDeviceArray},
                                                                error::Ref{CError})::Cint
            check("arrowdevice_array_copy", code, error)
        end
    end
    return out
end

function copy_schema_of(out::DeviceArray, schema::Ref{CSchema})
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_schema_copy(schema::Ref{CSchema}, out::Ptr{CSchema}, error::Ref{CError})::Cint
    check("arrowdevice_schema_copy", code, error)
    return nothing
end

# One bit a value, the first in the lowest bit: 1 where there is one.
function bitmap(values::AbstractVector)
    bits = zeros(UInt8, cld(length(values), 8))
    for (row, value) in enumerate(values)
        if !ismissing(value)
            bits[(row - 1) >> 3 + 1] |= 0x01 << ((row - 1) & 7)
        end
    end
    return bits
end

"""
    to_vector(a)

The values of an array of numbers, wherever it is, as a vector of Julia's own: with `missing` in its type where the array has
rows that are null. `a` stays as it is.
"""
function to_vector(a::DeviceArray)
    type_name = format(a)
    haskey(NUMBERS, type_name) || refuse("to_vector", "format \"$type_name\": only arrays of numbers become vectors")
    loaded(a)[2].dictionary == C_NULL || refuse("to_vector", "a dictionary: only arrays of numbers become vectors")
    host = move_to(share(a), find("cpu"))
    try
        return read_numbers(NUMBERS[type_name], host)
    finally
        close(host)
    end
end

function read_numbers(::Type{T}, host::DeviceArray) where {T}
    GC.@preserve host begin
        array = loaded(host)[1].array
        rows, first_row = Int(array.length), Int(array.offset)
        rows == 0 && return T[]
        validity = Ptr{UInt8}(unsafe_load(array.buffers, 1))
        data = Ptr{T}(unsafe_load(array.buffers, 2))
        values = T[unsafe_load(data, first_row + row) for row in 1:rows]
        if validity == C_NULL || array.null_count == 0
            return values
        end
        valid(row) = (unsafe_load(validity, (first_row + row - 1) >> 3 + 1) >> ((first_row + row - 1) & 7)) & 0x01 == 0x01
        return Union{T,Missing}[valid(row) ? values[row] : missing for row in 1:rows]
    end
end
