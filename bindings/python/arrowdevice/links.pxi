# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: servers, which offer streams to other processes.

cdef int open_source(void* user, ArrowDeviceArrayStream* out, error_t* error) noexcept nogil:
    """Opens a stream for a client, on a thread of the library."""
    cdef int code
    if not guard_enter():
        return ECANCELED
    code = call_source(user, out, error)
    guard_leave()
    return code


cdef int call_source(void* user, ArrowDeviceArrayStream* out, error_t* error) noexcept with gil:
    cdef Stream stream
    cdef bytes text
    try:
        stream = (<object>user)()
        stream.begin_moving()
        try:
            stream.close_queues()
            out[0] = stream.own
            stream.own.release = NULL
        finally:
            stream.end()
        return 0
    except MemoryError:
        return ENOMEM
    except BaseException as failure:
        text = f"{type(failure).__name__}: {failure}".encode()[:sizeof(error.message) - 1]
        memcpy(error.message, <const char*>text, len(text))
        error.message[len(text)] = 0
        number = getattr(failure, "errno", None)
        return number if isinstance(number, int) and number > 0 else EIO


cdef void release_source(void* user) noexcept nogil:
    # After the interpreter has ended, the process frees the memory.
    if guard_enter():
        drop_source(user)
        guard_leave()


cdef void drop_source(void* user) noexcept with gil:
    Py_DECREF(<object>user)


cdef class Server:
    """A server. Any thread may use it."""

    cdef arrowdevice_server* pointer

    def __dealloc__(self):
        self.close()

    @staticmethod
    def create(str uri not None, uint32_t flags, uint32_t copy_flags, int32_t max_clients, int64_t max_client_bytes):
        cdef Server out = Server.__new__(Server)
        cdef bytes address = uri.encode()
        cdef const char* c_uri = address
        cdef server_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.flags = flags
        options.copy_flags = copy_flags
        options.max_clients = max_clients
        options.max_client_bytes = max_client_bytes
        with nogil:
            code = arrowdevice_server_create(c_uri, &options, &out.pointer, &error)
        check(code, &error)
        return out

    cdef int check_open(self) except -1:
        if self.pointer is NULL:
            raise ValueError("the server was closed")
        return 0

    def add_stream(self, str name not None, Stream stream not None):
        """Moves the stream."""
        cdef bytes encoded = name.encode()
        cdef const char* c_name = encoded
        cdef error_t error
        cdef int code
        self.check_open()
        stream.begin_moving()
        try:
            stream.close_queues()
            with nogil:
                code = arrowdevice_server_add_stream(self.pointer, c_name, &stream.own, &error)
            check(code, &error)
        finally:
            stream.end()

    def add_arrays(self, str name not None, Schema schema not None, list arrays not None):
        cdef bytes encoded = name.encode()
        cdef const char* c_name = encoded
        cdef int64_t n = len(arrays), i
        cdef error_t error
        cdef int code
        self.check_open()
        cdef ArrowDeviceArray* shared = <ArrowDeviceArray*>zeroed(<size_t>(n or 1) * sizeof(ArrowDeviceArray))
        try:
            for i in range(n):
                (<Array?>arrays[i]).share(&shared[i])
            with nogil:
                signals_begin()
                code = arrowdevice_server_add_arrays(self.pointer, c_name, schema.pointer, shared, n, &error)
                signals_end()
            check(code, &error)
        finally:
            for i in range(n):
                arrowdevice_array_release(&shared[i])
            free(shared)

    def add_source(self, str name not None, source not None):
        """Calls `source`, which returns a core stream, for each client."""
        cdef bytes encoded = name.encode()
        cdef const char* c_name = encoded
        cdef void* user = <void*>source
        cdef error_t error
        cdef int code
        self.check_open()
        Py_INCREF(source)
        with nogil:
            code = arrowdevice_server_add_source(self.pointer, c_name, open_source, user, release_source, &error)
        if code != 0:
            Py_DECREF(source)
        check(code, &error)

    def remove(self, str name not None):
        cdef bytes encoded = name.encode()
        cdef const char* c_name = encoded
        cdef error_t error
        cdef int code
        self.check_open()
        with nogil:
            code = arrowdevice_server_remove(self.pointer, c_name, &error)
        check(code, &error)

    def stats(self):
        cdef server_stats_t stats
        cdef error_t error
        self.check_open()
        memset(&stats, 0, sizeof(stats))
        stats.struct_size = sizeof(stats)
        check(arrowdevice_server_get_stats(self.pointer, &stats, &error), &error)
        return stats.clients, stats.batches, stats.bytes, stats.copied_bytes

    def close(self):
        """Waits for calls of streams and sources. Has no effect on a closed server."""
        cdef arrowdevice_server* closed = self.pointer
        self.pointer = NULL
        with nogil:
            arrowdevice_server_destroy(closed)

    @property
    def closed(self):
        return self.pointer is NULL


def connect(str uri not None, Device device, uint32_t flags, uint32_t copy_flags, int32_t max_batches,
            int64_t max_bytes, int64_t timeout_ns):
    """Returns a stream of a server in another process."""
    cdef Stream out = Stream.__new__(Stream)
    cdef bytes address = uri.encode()
    cdef const char* c_uri = address
    cdef arrowdevice_device* to = NULL if device is None else device.pointer
    cdef connect_options_t options
    cdef error_t error
    cdef int code
    memset(&options, 0, sizeof(options))
    options.struct_size = sizeof(options)
    options.flags = flags
    options.copy_flags = copy_flags
    options.max_batches = max_batches
    options.max_bytes = max_bytes
    options.timeout_ns = timeout_ns
    with nogil:
        signals_begin()
        code = arrowdevice_stream_connect(c_uri, to, &options, &out.own, &error)
        signals_end()
    check_sharing(code, &error, copy_flags)
    out.of_library = True
    out.copy_flags = copy_flags
    return out
