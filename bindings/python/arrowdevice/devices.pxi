# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: devices.

cdef class Device:
    """A device of the library. Compares equal to other handles of the same device."""

    cdef arrowdevice_device* pointer
    cdef object extensions  # bytes, to which the next member points
    cdef readonly bint unwrapped  # unwrap() has succeeded
    cdef const char** extension_names  # used until unwrap() has succeeded, else until the process ends

    @staticmethod
    cdef Device of(arrowdevice_device* pointer):
        cdef Device device = Device.__new__(Device)
        device.pointer = pointer
        return device

    @staticmethod
    def wrap(ArrowDeviceType device_type, int64_t device_id, dict handles not None, list extensions not None):
        """Returns the device of a native context, whose handles are integers. `extensions` are bytes."""
        cdef native_device_t native
        cdef arrowdevice_device* device = NULL
        cdef const char** names = <const char**>zeroed((len(extensions) or 1) * sizeof(char*))
        cdef error_t error
        cdef int code
        memset(&native, 0, sizeof(native))
        native.struct_size = sizeof(native)
        native.platform = <void*><size_t>handles["platform"]
        native.physical_device = <void*><size_t>handles["physical_device"]
        native.device = <void*><size_t>handles["device"]
        native.context = <void*><size_t>handles["context"]
        native.queue = <void*><size_t>handles["queue"]
        native.queue_family = handles["queue_family"]
        native.api_version = handles["api_version"]
        native.get_proc_addr = <void*><size_t>handles["get_proc_addr"]
        native.features = <const void*><size_t>handles["features"]
        native.n_extensions = <uint32_t>len(extensions)
        native.extensions = names
        for i, extension in enumerate(extensions):
            names[i] = <const char*>extension
        with nogil:
            code = arrowdevice_device_wrap(device_type, device_id, &native, &device, &error)
        if code != 0:
            free(names)
        check(code, &error)
        cdef Device out = Device.of(device)
        out.extensions = extensions
        out.extension_names = names
        Py_INCREF(extensions)
        return out

    def unwrap(self, int64_t timeout_ns):
        """Undoes one wrap()."""
        cdef error_t error
        cdef int code
        with nogil:
            signals_begin()
            code = arrowdevice_device_unwrap(self.pointer, timeout_ns, &error)
            signals_end()
        if code == 0:
            self.unwrapped = True
            if self.extension_names is not NULL:
                Py_DECREF(self.extensions)
                free(self.extension_names)
                self.extension_names = NULL
        check(code, &error)

    def __eq__(self, other):
        return isinstance(other, Device) and (<Device>other).pointer == self.pointer

    def __hash__(self):
        return hash(<size_t>self.pointer)

    def info(self):
        """Returns the members of the device info. Calls no driver."""
        cdef device_info_t info
        cdef error_t error
        memset(&info, 0, sizeof(info))
        info.struct_size = sizeof(info)
        cdef int code = arrowdevice_device_get_info(self.pointer, &info, &error)
        check(code, &error)
        return {
            "device_type": info.device_type, "device_id": info.device_id, "name": text(info.name),
            "vendor": text(info.vendor), "backend": text(info.backend), "uuid": bytes(info.uuid[:16]),
            "total_memory": info.total_memory, "buffer_alignment": info.buffer_alignment,
            "sub_buffer_alignment": info.sub_buffer_alignment, "flags": info.flags, "staging_type": info.staging_type,
            "numa_node": info.numa_node}

    def memory_info(self):
        """Returns the bytes (free, total). A number is -1 if the driver does not report it."""
        cdef int64_t free_bytes = -1, total_bytes = -1
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_get_memory_info(self.pointer, &free_bytes, &total_bytes, &error)
        check(code, &error)
        return free_bytes, total_bytes

    def counters(self):
        """Returns the counters in the order of the C struct."""
        cdef device_counters_t counters
        cdef error_t error
        memset(&counters, 0, sizeof(counters))
        counters.struct_size = sizeof(counters)
        cdef int code = arrowdevice_device_get_counters(self.pointer, &counters, &error)
        check(code, &error)
        return (counters.driver_allocations, counters.submissions, counters.regions, counters.events, counters.host_waits,
                counters.readbacks, counters.bytes_in, counters.bytes_out, counters.staged_bytes)

    def pool_stats(self):
        """Returns (used_bytes, cached_bytes, peak_bytes, allocations, driver_allocations) of the default pool."""
        cdef arrowdevice_pool* pool = NULL
        cdef error_t error
        cdef int code = arrowdevice_device_get_pool(self.pointer, &pool, &error)
        check(code, &error)
        return stats_of(pool)

    def set_pool(self, Pool pool):
        """Makes a pool the default, or the library's own if it is None."""
        cdef arrowdevice_pool* chosen = NULL if pool is None else pool.pointer
        cdef error_t error
        cdef int code = arrowdevice_device_set_pool(self.pointer, chosen, &error)
        check(code, &error)

    cdef int handles(self, native_device_t* out) except -1:
        cdef error_t error
        memset(out, 0, sizeof(out[0]))
        out.struct_size = sizeof(out[0])
        cdef int code = arrowdevice_device_get_native(self.pointer, out, &error)
        check(code, &error)
        return 0

    def native(self):
        """Returns the vendor's handles in the order of the C struct: platform to queue, and the queue's family."""
        cdef native_device_t handles
        self.handles(&handles)
        return (<size_t>handles.platform, <size_t>handles.physical_device, <size_t>handles.device,
                <size_t>handles.context, <size_t>handles.queue, handles.queue_family)

    def pool_trim(self):
        """Returns the cached memory of the default pool to the driver."""
        cdef arrowdevice_pool* pool = NULL
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_get_pool(self.pointer, &pool, &error)
            if code == 0:
                code = arrowdevice_pool_trim(pool, &error)
        check(code, &error)

    def peer_flags(self, Device to not None):
        """Returns the flags that say what `to` can do with memory of this device."""
        cdef uint32_t out = 0
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_get_peer_flags(self.pointer, to.pointer, &out, &error)
        check(code, &error)
        return out


@cython.no_gc
cdef class QueueLock:
    """Locks a native queue in a `with` block, if its API requires it. No exception comes between lock and unlock."""

    cdef native_device_t handles
    cdef object native
    cdef size_t queue
    cdef object around  # a context manager
    cdef bint is_locked

    def __init__(self, Device device not None, native, around):
        device.handles(&self.handles)
        self.native = native
        self.queue = native[0]
        self.around = around

    def __enter__(self):
        if self.is_locked:
            raise RuntimeError("the lock is held already")
        self.around.__enter__()
        if self.handles.lock is not NULL:
            with nogil:
                self.handles.lock(self.handles.lock_user, <void*>self.queue)
        self.is_locked = True
        return self.native

    def __exit__(self, *exception):
        self.is_locked = False
        if self.handles.unlock is not NULL:
            self.handles.unlock(self.handles.lock_user, <void*>self.queue)
        self.around.__exit__(*exception)


def device_list():
    """Returns every device of every backend."""
    cdef int64_t count = 0, room = 0
    cdef arrowdevice_device** found = NULL
    cdef error_t error
    cdef int code
    try:
        while True:
            with nogil:
                code = arrowdevice_device_list(found, room, &count, &error)
            check(code, &error)
            if count <= room:
                return [Device.of(found[i]) for i in range(count)]
            free(found)
            room = count
            found = <arrowdevice_device**>malloc(<size_t>room * sizeof(void*))
            if found is NULL:
                room = 0
                raise MemoryError()
    finally:
        free(found)


def device_find_by_name(bytes name not None):
    """Returns the device that has a name."""
    cdef const char* c_name = name
    cdef arrowdevice_device* device = NULL
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_device_find_by_name(c_name, &device, &error)
    check(code, &error)
    return Device.of(device)


def device_find_by_id(ArrowDeviceType device_type, int64_t device_id):
    """Returns the device that has a type and id."""
    cdef arrowdevice_device* device = NULL
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_device_find_by_id(device_type, device_id, &device, &error)
    check(code, &error)
    return Device.of(device)
