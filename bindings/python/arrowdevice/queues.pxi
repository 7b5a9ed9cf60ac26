# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: queues, pools and memory. One thread at a time calls the library with a queue.

@cython.no_gc
cdef class Queue:
    """A queue of the library, or one of the application."""

    cdef arrowdevice_queue* pointer
    cdef readonly Device device
    cdef bint wrapped
    cdef bint busy
    cdef bint closed
    cdef int64_t users  # live memory that is freed behind the queue's work

    @staticmethod
    def create(Device device not None):
        """Returns a new queue of the library."""
        cdef Queue queue = Queue.__new__(Queue)
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_queue_create(device.pointer, &queue.pointer, &error)
        check(code, &error)
        queue.device = device
        return queue

    @staticmethod
    def wrap(Device device not None, size_t native, uint32_t family):
        """Returns a native queue, given as an integer. 0 is the vendor's default stream."""
        cdef Queue queue = Queue.__new__(Queue)
        cdef native_queue_t handle
        cdef error_t error
        cdef int code
        memset(&handle, 0, sizeof(handle))
        handle.struct_size = sizeof(handle)
        handle.family = family
        handle.queue = <void*>native
        with nogil:
            code = arrowdevice_queue_wrap(device.pointer, &handle, &queue.pointer, &error)
        check(code, &error)
        queue.device = device
        queue.wrapped = True
        return queue

    def __dealloc__(self):
        self.destroy()

    cdef int destroy(self) noexcept:
        cdef arrowdevice_queue* pointer = self.pointer
        self.pointer = NULL
        if pointer is not NULL:
            with nogil:
                arrowdevice_queue_destroy(pointer)
        return 0

    cdef int begin(self) except -1:
        """Reserves the queue for a call of this thread."""
        if self.busy:
            raise RuntimeError("another thread or a stream uses the queue")
        if self.closed:
            raise ValueError("the queue was closed")
        self.busy = True
        return 0

    cdef int check_unused(self) except -1:
        if self.wrapped and self.users > 0:
            raise RuntimeError(f"{self.users} allocations for the queue are in use")
        return 0

    def close(self):
        """Ends the queue. Has no effect on a queue that was closed. The last memory ends a queue of the library."""
        if self.closed:
            return
        self.check_unused()
        self.begin()
        self.closed = True
        self.busy = False
        if self.users == 0:
            self.destroy()

    def native(self):
        """Returns (handle, family)."""
        cdef native_queue_t handle
        cdef error_t error
        cdef int code
        memset(&handle, 0, sizeof(handle))
        handle.struct_size = sizeof(handle)
        self.begin()
        with nogil:
            code = arrowdevice_queue_get_native(self.pointer, &handle, &error)
        self.busy = False
        check(code, &error)
        return <size_t>handle.queue, handle.family

    def finish(self, int64_t timeout_ns):
        """Waits for the work so far."""
        cdef error_t error
        cdef int code
        self.begin()
        with nogil:
            signals_begin()
            code = arrowdevice_queue_finish(self.pointer, timeout_ns, &error)
            signals_end()
        self.busy = False
        check(code, &error)

    def wait_array(self, Array array not None):
        """Makes later work run after the event of the array."""
        cdef ArrowDeviceArray own
        cdef error_t error
        cdef int code
        array.share(&own)
        try:
            self.begin()
        except:
            arrowdevice_array_release(&own)
            raise
        with nogil:
            signals_begin()
            code = arrowdevice_queue_wait_array(self.pointer, &own, NULL, &error)
            signals_end()
            arrowdevice_array_release(&own)
        self.busy = False
        check(code, &error)

    def release_after(self, Array array not None):
        """Holds a reference to the array until the work so far has finished."""
        cdef ArrowDeviceArray own
        cdef error_t error
        cdef int code
        array.share(&own)
        try:
            self.begin()
        except:
            arrowdevice_array_release(&own)
            raise
        with nogil:
            code = arrowdevice_array_release_after(&own, self.pointer, &error)
            if code != 0:
                arrowdevice_array_release(&own)
        self.busy = False
        check(code, &error)


cdef class Pool:
    """A pool of a device's memory."""

    cdef arrowdevice_pool* pointer
    cdef readonly Device device

    def __cinit__(self, Device device not None, int64_t max_cached_bytes, int64_t max_bytes, bint shareable):
        cdef pool_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.max_cached_bytes = max_cached_bytes
        options.max_bytes = max_bytes
        options.flags = ARROWDEVICE_POOL_SHAREABLE if shareable else 0
        with nogil:
            code = arrowdevice_pool_create(device.pointer, &options, &self.pointer, &error)
        check(code, &error)
        self.device = device

    def __dealloc__(self):
        if self.pointer is not NULL:
            with nogil:
                arrowdevice_pool_destroy(self.pointer)

    def stats(self):
        """Returns the members of the C struct."""
        return stats_of(self.pointer)

    def trim(self):
        """Returns the cached memory to the driver."""
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_pool_trim(self.pointer, &error)
        check(code, &error)


cdef stats_of(arrowdevice_pool* pool):
    """Returns (used_bytes, cached_bytes, peak_bytes, allocations, driver_allocations)."""
    cdef pool_stats_t stats
    cdef error_t error
    memset(&stats, 0, sizeof(stats))
    stats.struct_size = sizeof(stats)
    cdef int code = arrowdevice_pool_get_stats(pool, &stats, &error)
    check(code, &error)
    return stats.used_bytes, stats.cached_bytes, stats.peak_bytes, stats.allocations, stats.driver_allocations


@cython.no_gc
cdef class Memory:
    """Memory of a device. The work so far of its queue may still use it when it is freed."""

    cdef void* buffer
    cdef readonly Device device
    cdef readonly Queue queue
    cdef readonly int64_t size

    def __cinit__(self, Device device not None, int64_t size, Queue queue, Pool pool):
        cdef arrowdevice_queue* first = NULL
        cdef arrowdevice_pool* chosen = NULL if pool is None else pool.pointer
        cdef error_t error
        cdef int code
        if queue is not None:
            queue.begin()
            first = queue.pointer
        with nogil:
            code = arrowdevice_buffer_allocate(device.pointer, chosen, first, size, &self.buffer, &error)
        if queue is not None:
            queue.busy = False
        check(code, &error)
        self.device = device
        self.queue = queue
        self.size = size
        if queue is not None:
            queue.users += 1

    def __dealloc__(self):
        cdef arrowdevice_queue* last = NULL if self.queue is None else self.queue.pointer
        if self.buffer is not NULL:
            with nogil:
                arrowdevice_buffer_free(self.device.pointer, last, self.buffer)
            if self.queue is not None:
                self.queue.users -= 1
                if self.queue.closed and self.queue.users == 0:
                    self.queue.destroy()

    @property
    def address(self):
        return <size_t>self.buffer
