# SPDX-License-Identifier: Apache-2.0

const libarrowdevice = "libarrowdevice.so.0"

# Loads the library from $ARROWDEVICE_LIBRARY. Later calls find it by its name.
function __init__()
    path = get(ENV, "ARROWDEVICE_LIBRARY", "")
    if !isempty(path)
        Libdl.dlopen(path)
    end
    return nothing
end

"Returns the version of the library, \"major.minor.patch\"."
version() = unsafe_string(@ccall libarrowdevice.arrowdevice_version()::Cstring)

"Returns the text in a C array, up to its first zero."
function text(bytes::NTuple{N,UInt8}) where {N}
    characters = collect(UInt8, bytes)
    zero_at = findfirst(iszero, characters)
    return String(characters[1:(zero_at === nothing ? N : zero_at - 1)])
end

"""
Returns the nanoseconds for a number of seconds, at most the largest Int64. `nothing` waits without limit. A time of 0 or less
polls.
"""
nanoseconds(::Nothing) = NO_TIMEOUT

function nanoseconds(seconds::Real)
    asked = ceil(Float64(seconds) * 1.0e9)
    isnan(asked) && throw(ArgumentError("invalid timeout NaN (expected a number of seconds)"))
    asked >= 2.0^63 && return typemax(Int64)
    return asked > 0.0 ? Int64(asked) : POLL
end

"Waits until submitted and deferred work has finished. Fails with `ETIMEDOUT` after `timeout` seconds."
function wait_idle(; timeout::Union{Real,Nothing}=nothing)
    timeout_ns = nanoseconds(timeout)
    error = Ref{CError}()
    code = @ccall libarrowdevice.arrowdevice_wait_idle(timeout_ns::Int64, error::Ref{CError})::Cint
    check("arrowdevice_wait_idle", code, error)
    return nothing
end
