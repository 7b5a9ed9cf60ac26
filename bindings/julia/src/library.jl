# SPDX-License-Identifier: Apache-2.0

const libarrowdevice = "libarrowdevice.so.0"

# A library that is loaded from a path of its own answers to its name from then on.
function __init__()
    path = get(ENV, "ARROWDEVICE_LIBRARY", "")
    if !isempty(path)
        Libdl.dlopen(path)
    end
    return nothing
end

"The version of the library, \"major.minor.patch\"."
version() = unsafe_string(@ccall libarrowdevice.arrowdevice_version()::Cstring)

"Text of a C struct, up to its first zero."
function text(bytes::NTuple{N,UInt8}) where {N}
    characters = collect(UInt8, bytes)
    zero_at = findfirst(iszero, characters)
    return String(characters[1:(zero_at === nothing ? N : zero_at - 1)])
end

"A number of seconds as the library's nanoseconds, at most as many as it counts; `nothing` is for ever."
nanoseconds(::Nothing, forever::Int64) = forever

function nanoseconds(seconds::Real, ::Int64)
    asked = ceil(Float64(seconds) * 1.0e9)
    isnan(asked) && throw(ArgumentError("a timeout of NaN seconds"))
    asked >= 2.0^63 && return typemax(Int64)
    return Int64(max(asked, 0.0))
end
