# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3, embedsignature=False
"""Binds the C library: ownership, the GIL, guards. The public API is in the modules beside this one."""

cimport cython
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.errno cimport EINVAL, EIO, ENOENT, ENOMEM
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from posix.fcntl cimport fcntl
from posix.unistd cimport close

from .library cimport *

cdef extern from "<errno.h>":
    const int ECANCELED
    const int ENOTSUP
    const int ETIMEDOUT

cdef extern from "<fcntl.h>":
    const int F_DUPFD_CLOEXEC

from . import errors as _errors

# Longest time that a signal waits for its handler while the interpreter ends.
cdef int64_t TURN_NS = 200_000_000

if not gil_is_supported():
    raise ImportError("arrowdevice needs a CPython that reports which thread holds the GIL")

COPY_ASYNC = ARROWDEVICE_COPY_ASYNC
COPY_ALWAYS = ARROWDEVICE_COPY_ALWAYS
COPY_NEVER = ARROWDEVICE_COPY_NEVER
STREAM_READ_AHEAD = ARROWDEVICE_STREAM_READ_AHEAD
LINK_ANY_USER = ARROWDEVICE_LINK_ANY_USER
LINK_ISOLATED = ARROWDEVICE_LINK_ISOLATED


cdef int fail(int code, error_t* error) except -1:
    """Raises the error of a function of the library."""
    raise error_from(code or error.code, error)


cdef object error_from(int code, error_t* error):
    """Returns the exception for an error of the library."""
    return _errors.from_library(code, error.message.decode("utf-8", "replace"),
                                error.backend.decode("utf-8", "replace"), error.native_code)


cdef inline int check(int code, error_t* error) except -1:
    """Raises the exception of a signal handler that ended the call, or the error of the call."""
    if signals_raise():
        return -1
    if code != 0:
        fail(code, error)
    return 0


cdef inline int check_sharing(int code, error_t* error, uint32_t copy_flags) except -1:
    """Raises NotShareableError instead of NotSupportedError if the caller forbade a copy."""
    if signals_raise():
        return -1
    if code == ENOTSUP and copy_flags & ARROWDEVICE_COPY_NEVER:
        raise _errors.NotShareableError(code, error.message.decode("utf-8", "replace"),
                                        error.backend.decode("utf-8", "replace"), error.native_code)
    return check(code, error)


cdef int refuse(int code, str message) except -1:
    """Raises an error that the binding itself detects."""
    raise _errors.from_library(code, message, "", 0)


cdef str text(const char* value):
    return None if value is NULL else value.decode("utf-8", "replace")


def version():
    """Returns the version of the library."""
    return text(arrowdevice_version())


def device_type_name(ArrowDeviceType device_type):
    """Returns the name of a device type, or None if the format has no such type."""
    return text(arrowdevice_device_type_get_name(device_type))


def backend_reports():
    """Returns (status, name, path, reason) for every place that the library searched for a backend."""
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


def wait_idle(int64_t timeout_ns):
    """Waits until submitted and deferred work has finished."""
    cdef error_t error
    cdef int code
    with nogil:
        signals_begin()
        code = arrowdevice_wait_idle(timeout_ns, &error)
        signals_end()
    check(code, &error)


def close_guard(int64_t timeout_ns):
    """Stops calls into producers, see guard.h. Runs signal handlers while it waits.

    The guard stays closed if a handler raises.
    """
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
include "queues.pxi"
include "handles.pxi"
include "streams.pxi"
include "links.pxi"
include "dlpack.pxi"
