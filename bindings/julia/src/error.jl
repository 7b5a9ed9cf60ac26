# SPDX-License-Identifier: Apache-2.0

"""
Error of a function of the library. `code` is an errno value such as `Libc.EINVAL`. `native_code` is the vendor's code, 0 if
there is none. `backend` is the backend that failed, "" if the library itself failed.
"""
struct ArrowDeviceError <: Exception
    called::String
    code::Int32
    native_code::Int32
    backend::String
    message::String
end

function Base.showerror(io::IO, e::ArrowDeviceError)
    print(io, "ArrowDeviceError: ", e.called, ": ")
    isempty(e.backend) || print(io, e.backend, ": ")
    print(io, isempty(e.message) ? Libc.strerror(e.code) : e.message)
    e.native_code == 0 || print(io, " (code ", e.native_code, ")")
    return nothing
end

# Throws if the code is not 0. The library does not write `filled` on success.
function check(called::String, code::Cint, filled::Ref{CError})
    code == 0 && return nothing
    e = filled[]
    throw(ArrowDeviceError(called, Int32(code), e.native_code, text(e.backend), text(e.message)))
end

# Throws an error that the package itself detects.
refuse(called::String, message::String) = throw(ArrowDeviceError(called, Int32(Libc.EINVAL), Int32(0), "", message))
