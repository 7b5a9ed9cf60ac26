# SPDX-License-Identifier: Apache-2.0

"""
What a function of the library answered: `code` is an errno value (`Libc.EINVAL`, ...), `native_code` the vendor's own (0 if
none), `backend` the backend that failed ("" when the library itself did).
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

# `filled` is untouched on success, and holds anything then.
function check(called::String, code::Cint, filled::Ref{CError})
    code == 0 && return nothing
    e = filled[]
    throw(ArrowDeviceError(called, Int32(code), e.native_code, text(e.backend), text(e.message)))
end

refuse(called::String, message::String) = throw(ArrowDeviceError(called, Int32(Libc.EINVAL), Int32(0), "", message))
