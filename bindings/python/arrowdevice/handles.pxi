# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: arrays of other processes.

cdef class IpcHandle:
    """A handle that this process has made."""

    cdef ipc_handle_t own

    def __cinit__(self):
        self.own.release = NULL

    def __dealloc__(self):
        self.release()

    @staticmethod
    def of(Array array not None, uint32_t flags, int64_t timeout_ns, Pool pool):
        """Returns a handle of an array, which stays usable."""
        cdef ArrowDeviceArray shared
        cdef IpcHandle out = IpcHandle.__new__(IpcHandle)
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        fill_copy_options(&options, flags, timeout_ns)
        options.pool = NULL if pool is None else pool.pointer
        array.share(&shared)
        with nogil:
            signals_begin()
            code = arrowdevice_array_get_ipc_handle(&shared, array.schema.pointer, &options, &out.own, &error)
            signals_end()
            arrowdevice_array_release(&shared)
        check_sharing(code, &error, flags)
        return out

    def release(self):
        """Closes the descriptors. Has no effect on a released handle."""
        with nogil:
            arrowdevice_ipc_handle_release(&self.own)

    cdef int check_not_released(self) except -1:
        if self.own.release is NULL:
            raise ValueError("the handle was closed")
        return 0

    @property
    def data(self):
        self.check_not_released()
        return (<const char*>self.own.bytes)[:self.own.size]

    @property
    def descriptors(self):
        cdef int32_t i
        self.check_not_released()
        return [self.own.descriptors[i] for i in range(self.own.n_descriptors)]

    @property
    def copied_bytes(self):
        self.check_not_released()
        return self.own.copied_bytes


def open_ipc_handle(bytes data not None, list descriptors not None):
    """Returns the array of a handle. Borrows the descriptors."""
    cdef Array out = Array.__new__(Array)
    cdef Schema schema = Schema.__new__(Schema)
    cdef const uint8_t* message = data
    cdef int64_t size = len(data)
    cdef int64_t n = len(descriptors)
    cdef int64_t i
    cdef error_t error
    cdef int code
    cdef int* numbers = <int*>malloc(<size_t>max(n, 1) * sizeof(int))
    if numbers is NULL:
        raise MemoryError()
    try:
        for i in range(n):
            numbers[i] = descriptors[i]
        with nogil:
            code = arrowdevice_array_open_ipc_handle(message, size, numbers, n, &out.own, &schema.own, &error)
    finally:
        free(numbers)
    check(code, &error)
    out.schema = schema
    return out
