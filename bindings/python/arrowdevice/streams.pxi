# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: streams.

@cython.no_gc
cdef class Stream:
    """A device stream with one consumer. One thread at a time uses it. Any thread may call cancel() and close()."""

    cdef ArrowDeviceArrayStream own
    cdef Schema known_schema
    cdef bint of_library  # False if a guarded producer made the stream
    cdef uint32_t copy_flags
    cdef bint busy
    cdef bint cancelled
    cdef bint closing
    cdef bint moving
    cdef list queues  # queues that this stream and those behind it use alone
    cdef int cancelling  # number of threads in cancel(), which delay the release

    def __cinit__(self):
        self.own.release = NULL
        self.queues = []

    def __dealloc__(self):
        self.release_own()

    cdef int release_own(self) except -1:
        """Releases the stream. Has no effect on a stream that was released or moved."""
        cdef ArrowDeviceArrayStream own = self.own
        self.own.release = NULL
        if own.release is not NULL:
            with nogil:
                arrowdevice_stream_release(&own)
        for queue in self.queues:
            (<Queue>queue).busy = False
        self.queues = []
        return 0

    cdef int close_queues(self) except -1:
        """Ends queues that no object of Python could free any more. The stream goes on without them."""
        for queue in self.queues:
            (<Queue>queue).check_unused()
        for queue in self.queues:
            (<Queue>queue).busy = False
            (<Queue>queue).close()
        self.queues = []
        return 0

    cdef int begin(self) except -1:
        """Reserves the stream for this thread."""
        if self.busy:
            raise RuntimeError("another thread uses the stream")
        if self.own.release is NULL or self.closing:
            raise ValueError("the stream was closed or moved")
        self.busy = True
        return 0

    cdef int begin_moving(self) except -1:
        """Reserves the stream for a call that moves it."""
        if self.cancelled:
            refuse(ECANCELED, "the stream was cancelled")
        self.begin()
        self.moving = True
        return 0

    cdef int end(self) except -1:
        """Ends the reservation of this thread."""
        self.busy = self.moving = False
        return self.release_if_closing()

    cdef int release_if_closing(self) except -1:
        """Releases the stream if it was closed and no thread uses it."""
        if self.closing and not self.busy and not self.cancelling:
            self.release_own()
        return 0

    @staticmethod
    def take_device(capsule):
        """Moves the stream out of a capsule of `__arrow_c_device_stream__`."""
        cdef ArrowDeviceArrayStream* source = \
            <ArrowDeviceArrayStream*>in_capsule(capsule, "arrow_device_array_stream", "an ArrowDeviceArrayStream")
        cdef Stream stream = Stream.__new__(Stream)
        if source.release is NULL:
            raise ValueError("the producer's device stream was released")
        stream.own = source[0]
        source.release = NULL
        if guard_stream(&stream.own) != 0:
            raise MemoryError()
        return stream

    @staticmethod
    def take_host(capsule):
        """Moves the stream out of a capsule of `__arrow_c_stream__`."""
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
        """Returns a stream of shared owners of arrays. All arrays have one type and one device type."""
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
            raise ValueError("the stream was closed or moved")
        return self.own.device_type

    def schema(self):
        """Returns the type of the arrays. The first call asks the producer."""
        cdef Schema schema
        cdef error_t error
        cdef int code
        if self.known_schema is None:
            schema = Schema.__new__(Schema)
            self.begin()
            try:
                with nogil:
                    signals_begin()
                    code = arrowdevice_stream_get_schema(&self.own, &schema.own, &error)
                    signals_end()
                check(code, &error)
                self.known_schema = schema
            finally:
                self.end()
        return self.known_schema

    def next(self):
        """Returns the next array, or None at the end."""
        cdef Array out = Array.__new__(Array)
        cdef error_t error
        cdef int code
        if self.cancelled:
            refuse(ECANCELED, "the stream was cancelled")
        out.schema = self.schema()
        self.begin()
        try:
            with nogil:
                signals_begin()
                code = arrowdevice_stream_get_next(&self.own, &out.own, &error)
                signals_end()
                if code == 0 and out.own.array.release is not NULL and not self.of_library:
                    code = arrowdevice_array_validate(&out.own, out.schema.pointer, NULL, 0, &error)
            check_sharing(code, &error, self.copy_flags)
        finally:
            self.end()
        return None if out.own.array.release is NULL else out

    def to_device(self, Device device not None, uint32_t flags, int32_t depth, uint32_t copy_flags, int64_t timeout_ns,
                  Pool pool, Queue queue):
        """Returns a stream of the same arrays on a device. Moves this stream."""
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
        options.pool = NULL if pool is None else pool.pointer
        self.begin_moving()
        try:
            if queue is not None:
                queue.begin()
                options.queue = queue.pointer
            with nogil:
                code = arrowdevice_stream_to_device(&self.own, device.pointer, &options, &out.own, &error)
            if code != 0 and queue is not None:
                queue.busy = False
            check_sharing(code, &error, copy_flags)
            out.queues = self.queues if queue is None else [*self.queues, queue]
            self.queues = []
        finally:
            self.end()
        out.of_library = True
        out.copy_flags = copy_flags
        out.known_schema = self.known_schema
        return out

    def async_to_device(self, Device device not None, ArrowDeviceType device_type, int32_t depth, uint32_t copy_flags):
        """Returns a stream of the same arrays on a device, through the async interface. Moves this stream."""
        cdef Stream out = Stream.__new__(Stream)
        cdef ArrowAsyncDeviceStreamHandler* collector = NULL
        cdef ArrowAsyncDeviceStreamHandler* handler = NULL
        cdef async_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.depth = depth
        self.begin_moving()
        try:
            with nogil:
                code = arrowdevice_async_collect(device_type, &options, &collector, &out.own, &error)
                if code == 0:
                    options.copy_flags = copy_flags
                    code = arrowdevice_async_to_device(collector, device.pointer, &options, &handler, &error)
                    if code != 0:
                        collector.release(collector)
                if code == 0:
                    code = arrowdevice_async_produce(&self.own, handler, NULL, &error)
                    if code != 0:
                        handler.release(handler)
            check_sharing(code, &error, copy_flags)
        finally:
            self.end()
        out.of_library = True
        out.copy_flags = copy_flags
        out.known_schema = self.known_schema
        out.queues = self.queues
        self.queues = []
        return out

    def device_capsule(self):
        """Moves the stream into a capsule, for `__arrow_c_device_stream__`."""
        cdef ArrowDeviceArrayStream* out
        self.begin_moving()
        try:
            out = <ArrowDeviceArrayStream*>zeroed(sizeof(ArrowDeviceArrayStream))
            try:
                capsule = PyCapsule_New(out, "arrow_device_array_stream", destroy_device_stream)
            except:
                free(out)
                raise
            self.close_queues()
            if outgoing_device_stream(&self.own) != 0:
                raise MemoryError()
            out[0] = self.own
            self.own.release = NULL
            return capsule
        finally:
            self.end()

    def host_capsule(self):
        """Moves a CPU stream into a capsule, for `__arrow_c_stream__`."""
        cdef ArrowArrayStream* out
        cdef error_t error
        cdef int code
        self.begin_moving()
        try:
            out = <ArrowArrayStream*>zeroed(sizeof(ArrowArrayStream))
            try:
                capsule = PyCapsule_New(out, "arrow_array_stream", destroy_stream)
            except:
                free(out)
                raise
            self.close_queues()
            with nogil:
                code = arrowdevice_stream_to_host(&self.own, NULL, out, &error)
            check(code, &error)
            if outgoing_host_stream(out) != 0:
                raise MemoryError()
            return capsule
        finally:
            self.end()

    def cancel(self):
        """Cancels the stream from any thread. Does not block."""
        cdef error_t error
        cdef int code
        self.cancelled = True
        # A stream that is being moved may already have another owner. The call releases the GIL because a release in
        # the stream may wait for it.
        if not self.of_library or self.own.release is NULL or self.moving:
            return
        self.cancelling += 1
        with nogil:
            code = arrowdevice_stream_cancel(&self.own, &error)
        self.cancelling -= 1
        self.release_if_closing()
        check(code, &error)

    def close(self):
        """Closes the stream from any thread. A thread that uses the stream releases it when its call returns."""
        self.closing = True
        if self.busy:
            self.cancel()
        else:
            self.release_if_closing()
