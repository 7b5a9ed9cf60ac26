# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3, embedsignature=False
"""The library behind Python objects: ownership, the GIL, guards. What a program uses is in the modules beside this one."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.errno cimport EINVAL, ENOENT
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .library cimport *

cdef extern from "<errno.h>":
    const int ECANCELED
    const int ETIMEDOUT

from . import errors as _errors

# How long a signal waits for its handler, at most.
cdef int64_t TURN_NS = 200_000_000

if not gil_can_be_asked():
    raise ImportError("this Python does not tell which thread has the GIL: arrowdevice needs a CPython that does")

COPY_ASYNC, COPY_ALWAYS, COPY_NEVER, COPY_WHOLE = 1, 2, 4, 8
STREAM_READ_AHEAD = 1


cdef int fail(int code, error_t* error) except -1:
    """Raises what a function of the library answered."""
    raise _errors.from_library(code or error.code, error.message.decode("utf-8", "replace"),
                               error.backend.decode("utf-8", "replace"), error.native_code)


cdef inline int check(int code, error_t* error) except -1:
    if code != 0:
        fail(code, error)
    return 0


cdef int refuse(int code, str message) except -1:
    raise _errors.from_library(code, message, "", 0)


cdef str text(const char* value):
    return None if value is NULL else value.decode("utf-8", "replace")


def version():
    """The library's own version."""
    return text(arrowdevice_version())


def device_type_name(ArrowDeviceType device_type):
    """The name of a device type, None if the format names no such type."""
    return text(arrowdevice_device_type_get_name(device_type))


def explain():
    """(status, name, path, reason) of every place where a backend was looked for."""
    cdef backend_report_t report
    cdef error_t error
    cdef int64_t index = 0
    cdef int code
    found = []
    while True:
        memset(&report, 0, sizeof(report))
        report.struct_size = sizeof(report)
        with nogil:
            code = arrowdevice_backend_get_report(index, &report, &error)
        if code == ENOENT:
            return found
        check(code, &error)
        found.append((report.status, text(report.name), text(report.path), text(report.reason)))
        index += 1


def quiesce(int64_t timeout_ns):
    """Waits until nothing is deferred or in flight."""
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_wait_idle(timeout_ns, &error)
    check(code, &error)


def close_guard(int64_t timeout_ns):
    """The end of calls into producers, see guard.h. Signals get through, as in `Array.wait()`; the door stays closed."""
    cdef int64_t turn_ns, left
    while True:
        turn_ns = min(timeout_ns, TURN_NS)
        with nogil:
            left = guard_close(turn_ns)
        timeout_ns -= turn_ns
        if left == 0 or timeout_ns == 0:
            return left
        PyErr_CheckSignals()


include "devices.pxi"
include "capsules.pxi"
include "schemas.pxi"
include "arrays.pxi"
include "streams.pxi"
include "dlpack.pxi"
