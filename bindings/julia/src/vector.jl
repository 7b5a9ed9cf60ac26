# SPDX-License-Identifier: Apache-2.0

# Number types of both Arrow and Julia, with Arrow's format strings.
const FORMATS = Dict{DataType,String}(
    Int8 => "c", UInt8 => "C", Int16 => "s", UInt16 => "S", Int32 => "i", UInt32 => "I", Int64 => "l", UInt64 => "L",
    Float16 => "e", Float32 => "f", Float64 => "g")
const NUMBERS = Dict{String,DataType}(format => number for (number, format) in FORMATS)

"""
    from_vector(values, to=find("cpu"))

Copies a vector of numbers to an array on a device. The vector may contain `missing` if its type allows it. The library
reads the vector only during the call. So no Julia code runs when a thread releases the array.
"""
function from_vector(values::AbstractVector{T}, to::Device=find("cpu")) where {T}
    number = nonmissingtype(T)
    haskey(FORMATS, number) || throw(ArgumentError("invalid element type $T (expected numbers of a fixed width, or missing)"))
    data = number[ismissing(value) ? zero(number) : value for value in values]
    validity = T === number ? UInt8[] : bitmap(values)
    nulls = count(ismissing, values)
    # Structs in memory of Julia, which exist during the copy. The collector frees them. The library never calls `release`,
    # but requires an address there, because NULL marks a released struct.
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

# Returns the validity bitmap: one bit for each value, lowest bit first, 0 for `missing`.
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

Copies an array of numbers from any device to a vector. The vector's type allows `missing` if the array has null rows. `a`
stays usable.
"""
function to_vector(a::DeviceArray)
    type_name = format(a)
    haskey(NUMBERS, type_name) || refuse("to_vector", "invalid format \"$type_name\" (expected an array of numbers)")
    loaded(a)[2].dictionary == C_NULL || refuse("to_vector", "the array has a dictionary (expected an array of numbers)")
    host = to_device(share(a), find("cpu"))
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
