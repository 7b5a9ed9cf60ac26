# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: IPC handles. The code reads and writes the struct of a handle only with the GIL held. A call without
# the GIL has copies of its own, because another thread may close the handle meanwhile.

cdef void release_received(ipc_handle_t* handle) noexcept nogil:
    """Closes the descriptors of a handle that this process has received, and frees it."""
    cdef int32_t i
    for i in range(handle.n_descriptors):
        close(handle.descriptors[i])
    free(<void*>handle.descriptors)
    free(<void*>handle.bytes)
    handle.release = NULL


cdef int close_duplicates(int* numbers, int32_t n) except -1:
    cdef int32_t i
    for i in range(n):
        if numbers[i] >= 0:
            close(numbers[i])
    free(numbers)
    return 0


cdef class IpcHandle:
    """A handle that this process has made or received."""

    cdef ipc_handle_t own

    def __cinit__(self):
        memset(&self.own, 0, sizeof(self.own))

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

    @staticmethod
    def received(bytes data not None, list descriptors not None):
        """Returns a handle that owns the descriptors."""
        cdef IpcHandle out = IpcHandle.__new__(IpcHandle)
        cdef int32_t n = len(descriptors)
        cdef int64_t size = len(data)
        cdef uint8_t* message = <uint8_t*>malloc(<size_t>max(size, 1))
        cdef int* numbers = <int*>malloc(<size_t>max(n, 1) * sizeof(int))
        cdef int32_t i
        try:
            if message is NULL or numbers is NULL:
                raise MemoryError()
            for i in range(n):
                numbers[i] = descriptors[i]
        except:
            free(message)
            free(numbers)
            raise
        memcpy(message, <const char*>data, <size_t>size)
        out.own.bytes = message
        out.own.size = size
        out.own.descriptors = numbers
        out.own.n_descriptors = n
        out.own.release = release_received
        return out

    def open(self, uint32_t flags, int64_t timeout_ns, Pool pool):
        """Returns the array of the handle."""
        cdef Array out = Array.__new__(Array)
        cdef Schema schema = Schema.__new__(Schema)
        cdef bytes data = self.data
        cdef const uint8_t* message = data
        cdef int64_t size = len(data)
        cdef int32_t n = 0
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        fill_copy_options(&options, flags, timeout_ns)
        options.pool = NULL if pool is None else pool.pointer
        cdef int* numbers = <int*>malloc(<size_t>max(self.own.n_descriptors, 1) * sizeof(int))
        if numbers is NULL:
            raise MemoryError()
        try:
            while n < self.own.n_descriptors:
                # The library explains -1, which a child has instead of a descriptor of its parent.
                numbers[n] = self.own.descriptors[n]
                if numbers[n] >= 0:
                    numbers[n] = fcntl(numbers[n], F_DUPFD_CLOEXEC, 0)
                    if numbers[n] < 0:
                        PyErr_SetFromErrno(OSError)
                n += 1
            with nogil:
                signals_begin()
                code = arrowdevice_array_open_ipc_handle(message, size, numbers, n, &options, &out.own, &schema.own,
                                                         &error)
                signals_end()
        finally:
            close_duplicates(numbers, n)
        check(code, &error)
        out.schema = schema
        return out

    def release(self):
        """Closes the descriptors. Has no effect on a released handle."""
        cdef ipc_handle_t released = self.own
        self.own.release = NULL
        with nogil:
            arrowdevice_ipc_handle_release(&released)

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
