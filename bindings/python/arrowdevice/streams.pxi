# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: streams.

cdef class Stream:
    """A device stream, of one consumer. It is used by one thread at a time; cancel() and close() come from any."""

    cdef ArrowDeviceArrayStream own
    cdef Schema known_schema
    cdef bint of_library  # else a guarded producer's
    cdef bint busy
    cdef bint cancelled
    cdef bint closing
    cdef bint handing_over
    cdef int cancelling  # threads that do; the stream is not released meanwhile

    def __cinit__(self):
        self.own.release = NULL

    def __dealloc__(self):
        self.let_go()

    cdef int let_go(self) except -1:
        cdef ArrowDeviceArrayStream gone = self.own
        self.own.release = NULL
        if gone.release is not NULL:
            with nogil:
                arrowdevice_stream_release(&gone)
        return 0

    cdef int begin(self) except -1:
        if self.busy:
            raise RuntimeError("the stream is being used by another thread")
        if self.own.release is NULL or self.closing:
            raise ValueError("the stream has been closed, or handed over")
        self.busy = True
        return 0

    cdef int begin_handing_over(self) except -1:
        if self.cancelled:
            refuse(ECANCELED, "the stream has been cancelled")
        self.begin()
        self.handing_over = True
        return 0

    cdef int end(self) except -1:
        self.busy = self.handing_over = False
        return self.let_go_if_closing()

    cdef int let_go_if_closing(self) except -1:
        if self.closing and not self.busy and not self.cancelling:
            self.let_go()
        return 0

    @staticmethod
    def take_device(capsule):
        """From `__arrow_c_device_stream__`."""
        cdef ArrowDeviceArrayStream* source = \
            <ArrowDeviceArrayStream*>in_capsule(capsule, "arrow_device_array_stream", "an ArrowDeviceArrayStream")
        cdef Stream stream = Stream.__new__(Stream)
        if source.release is NULL:
            raise ValueError("the producer's device stream has been released")
        stream.own = source[0]
        source.release = NULL
        if guard_stream(&stream.own) != 0:
            raise MemoryError()
        return stream

    @staticmethod
    def take_host(capsule):
        """From `__arrow_c_stream__`."""
        cdef ArrowArrayStream* source = <ArrowArrayStream*>in_capsule(capsule, "arrow_array_stream",
                                                                      "an ArrowArrayStream")
        cdef Stream stream = Stream.__new__(Stream)
        cdef error_t error
        cdef int code = arrowdevice_stream_from_host(source, &stream.own, &error)
        check(code, &error)
        if guard_stream(&stream.own) != 0:
            raise MemoryError()
        return stream

    @staticmethod
    def from_arrays(Schema schema not None, list arrays not None, ArrowDeviceType device_type):
        """A stream of co-owners of arrays, all of one type and on one device type."""
        cdef Stream stream = Stream.__new__(Stream)
        cdef int64_t n = len(arrays), i
        cdef Schema given = Schema.copy_of(schema.pointer)
        cdef ArrowDeviceArray* moved = <ArrowDeviceArray*>zeroed(<size_t>(n or 1) * sizeof(ArrowDeviceArray))
        cdef error_t error
        cdef int code
        try:
            for i in range(n):
                (<Array?>arrays[i]).share(&moved[i])
            with nogil:
                code = arrowdevice_stream_from_arrays(&given.own, moved, n, device_type, &stream.own, &error)
            check(code, &error)
        finally:
            for i in range(n):
                arrowdevice_array_release(&moved[i])
            free(moved)
        stream.of_library = True
        stream.known_schema = schema
        return stream

    @property
    def closed(self):
        return self.own.release is NULL or self.closing

    @property
    def device_type(self):
        if self.own.release is NULL:
            raise ValueError("the stream has been closed, or handed over")
        return self.own.device_type

    def schema(self):
        cdef Schema schema
        cdef error_t error
        cdef int code
        if self.known_schema is None:
            schema = Schema.__new__(Schema)
            self.begin()
            try:
                with nogil:
                    code = arrowdevice_stream_get_schema(&self.own, &schema.own, &error)
                check(code, &error)
                self.known_schema = schema
            finally:
                self.end()
        return self.known_schema

    def next(self):
        """The next array, None at the end."""
        cdef Array out = Array.__new__(Array)
        cdef error_t error
        cdef int code
        if self.cancelled:
            refuse(ECANCELED, "the stream has been cancelled")
        out.schema = self.schema()
        self.begin()
        try:
            with nogil:
                code = arrowdevice_stream_get_next(&self.own, &out.own, &error)
                if code == 0 and out.own.array.release is not NULL and not self.of_library:
                    code = arrowdevice_array_validate(&out.own, out.schema.pointer, NULL, 0, &error)
            check(code, &error)
        finally:
            self.end()
        return None if out.own.array.release is NULL else out

    def move_to(self, Device device not None, uint32_t flags, int32_t depth, uint32_t copy_flags, int64_t timeout_ns):
        """The same on a device. This one is handed over."""
        cdef Stream out = Stream.__new__(Stream)
        cdef stream_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.flags = flags
        options.depth = depth
        options.copy_flags = copy_flags
        options.timeout_ns = timeout_ns
        self.begin_handing_over()
        try:
            with nogil:
                code = arrowdevice_stream_to_device(&self.own, device.pointer, &options, &out.own, &error)
            check(code, &error)
        finally:
            self.end()
        out.of_library = True
        out.known_schema = self.known_schema
        return out

    def push_to(self, Device device not None, ArrowDeviceType device_type, int32_t depth, uint32_t copy_flags):
        """The same through the async interface: this one is produced, moved, and collected again."""
        cdef Stream out = Stream.__new__(Stream)
        cdef ArrowAsyncDeviceStreamHandler* collector = NULL
        cdef ArrowAsyncDeviceStreamHandler* mover = NULL
        cdef async_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.depth = depth
        self.begin_handing_over()
        try:
            with nogil:
                code = arrowdevice_async_collect(device_type, &options, &collector, &out.own, &error)
                if code == 0:
                    options.copy_flags = copy_flags
                    code = arrowdevice_async_to_device(collector, device.pointer, &options, &mover, &error)
                    if code != 0:
                        collector.release(collector)
                if code == 0:
                    code = arrowdevice_async_produce(&self.own, mover, NULL, &error)
                    if code != 0:
                        mover.release(mover)
            check(code, &error)
        finally:
            self.end()
        out.of_library = True
        out.known_schema = self.known_schema
        return out

    def device_capsule(self):
        """For `__arrow_c_device_stream__`. This one is handed over."""
        cdef ArrowDeviceArrayStream* out
        self.begin_handing_over()
        try:
            out = <ArrowDeviceArrayStream*>zeroed(sizeof(ArrowDeviceArrayStream))
            try:
                capsule = PyCapsule_New(out, "arrow_device_array_stream", end_device_stream)
            except:
                free(out)
                raise
            if outgoing_device_stream(&self.own) != 0:
                raise MemoryError()
            out[0] = self.own
            self.own.release = NULL
            return capsule
        finally:
            self.end()

    def host_capsule(self):
        """For `__arrow_c_stream__`, of a stream on the CPU. This one is handed over."""
        cdef ArrowArrayStream* out
        cdef error_t error
        cdef int code
        self.begin_handing_over()
        try:
            out = <ArrowArrayStream*>zeroed(sizeof(ArrowArrayStream))
            try:
                capsule = PyCapsule_New(out, "arrow_array_stream", end_stream)
            except:
                free(out)
                raise
            with nogil:
                code = arrowdevice_stream_to_host(&self.own, NULL, out, &error)
            check(code, &error)
            if outgoing_host_stream(out) != 0:
                raise MemoryError()
            return capsule
        finally:
            self.end()

    def cancel(self):
        """From any thread. Does not block."""
        cdef error_t error
        cdef int code
        self.cancelled = True
        # What is being handed over is somebody else's already. Without the GIL: a release of the stream's may wait for it.
        if not self.of_library or self.own.release is NULL or self.handing_over:
            return
        self.cancelling += 1
        with nogil:
            code = arrowdevice_stream_cancel(&self.own, &error)
        self.cancelling -= 1
        self.let_go_if_closing()
        check(code, &error)

    def close(self):
        """From any thread: one that is in the stream lets it go when it comes back."""
        self.closing = True
        if self.busy:
            self.cancel()
        else:
            self.let_go_if_closing()
