# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: arrays. One that lies in an `Array` is touched with the GIL held only: every call works on a co-owner of
# its own, so that it may run without the GIL while other threads use, slice or release the same Python object.

cdef int fill_copy_options(copy_options_t* options, uint32_t flags, int64_t timeout_ns) except -1:
    memset(options, 0, sizeof(options[0]))
    options.struct_size = sizeof(options[0])
    options.flags = flags
    options.timeout_ns = timeout_ns
    return 0


cdef list buffers_of(const node_t* node, str path, list found):
    cdef int32_t i
    cdef int64_t child
    for i in range(node.n_buffers):
        found.append((path, node.buffers[i].role, <size_t>node.buffers[i].data,
                      node.buffers[i].size if node.buffers[i].flags & 1 else None))
    for child in range(node.n_children):
        name = text(node.children[child].name) or str(child)
        buffers_of(node.children[child], f"{path}.{name}" if path else name, found)
    if node.dictionary is not NULL:
        buffers_of(node.dictionary, f"{path}.dictionary" if path else "dictionary", found)
    return found


cdef int64_t nulls_in(const uint8_t* bits, int64_t offset, int64_t length) noexcept nogil:
    cdef int64_t nulls = 0
    cdef int64_t i
    for i in range(offset, offset + length):
        nulls += not (bits[i >> 3] >> (i & 7)) & 1
    return nulls


cdef class Array:
    """A device array and its type."""

    cdef ArrowDeviceArray own
    cdef readonly Schema schema

    def __cinit__(self):
        self.own.array.release = NULL

    def __dealloc__(self):
        self.release()

    def release(self):
        cdef ArrowDeviceArray gone = self.own
        self.own.array.release = NULL
        if gone.array.release is not NULL:
            with nogil:
                arrowdevice_array_release(&gone)

    cdef int alive(self) except -1:
        if self.own.array.release is NULL:
            raise ValueError("the array has been released")
        return 0

    cdef int share(self, ArrowDeviceArray* out) except -1:
        """A co-owner for one call. The GIL is held: nobody else changes the array meanwhile."""
        cdef error_t error
        self.alive()
        cdef int code = arrowdevice_array_share(&self.own, out, &error)
        check(code, &error)
        return 0

    cdef Array like(self, Schema schema):
        cdef Array array = Array.__new__(Array)
        array.schema = schema
        return array

    @staticmethod
    cdef Array imported(Schema schema, ArrowDeviceArray* moved):
        """A foreign array, guarded and checked against its type."""
        cdef Array array = Array.__new__(Array)
        cdef error_t error
        cdef int code
        array.schema = schema
        code = guard_array(&moved.array)
        if code != 0:
            raise MemoryError()
        array.own = moved[0]
        moved.array.release = NULL
        with nogil:
            code = arrowdevice_array_validate(&array.own, schema.pointer, NULL, 0, &error)
        check(code, &error)
        return array

    @staticmethod
    def take_device(schema_capsule, array_capsule):
        """From the pair of `__arrow_c_device_array__`."""
        cdef Schema schema = Schema.take(schema_capsule)
        cdef ArrowDeviceArray* source = \
            <ArrowDeviceArray*>in_capsule(array_capsule, "arrow_device_array", "an ArrowDeviceArray")
        if source.array.release is NULL:
            raise ValueError("the producer's device array has been released")
        return Array.imported(schema, source)

    @staticmethod
    def take_host(schema_capsule, array_capsule):
        """From the pair of `__arrow_c_array__`."""
        cdef Schema schema = Schema.take(schema_capsule)
        cdef ArrowArray* source = <ArrowArray*>in_capsule(array_capsule, "arrow_array", "an ArrowArray")
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code = arrowdevice_array_from_host(source, &array, &error)
        check(code, &error)
        try:
            return Array.imported(schema, &array)
        finally:
            arrowdevice_array_release(&array)  # only what could not be imported is still in it

    @property
    def released(self):
        return self.own.array.release is NULL

    @property
    def length(self):
        self.alive()
        return self.own.array.length

    @property
    def offset(self):
        self.alive()
        return self.own.array.offset

    @property
    def has_validity(self):
        self.alive()
        return self.own.array.n_buffers > 0 and self.own.array.buffers[0] is not NULL

    @property
    def declared_null_count(self):
        """As the producer says; -1 if it did not count."""
        self.alive()
        return self.own.array.null_count

    def count_nulls(self):
        """Counts in a validity buffer, which must lie in host memory."""
        cdef ArrowDeviceArray array
        cdef int64_t nulls
        self.share(&array)
        with nogil:
            nulls = nulls_in(<const uint8_t*>array.array.buffers[0], array.array.offset, array.array.length)
            arrowdevice_array_release(&array)
        return nulls

    @property
    def device_type(self):
        self.alive()
        return self.own.device_type

    @property
    def device_id(self):
        self.alive()
        return self.own.device_id

    def device(self):
        cdef ArrowDeviceArray array
        cdef arrowdevice_device* device = NULL
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_get_device(&array, &device, &error)
            arrowdevice_array_release(&array)
        check(code, &error)
        return Device.of(device)

    def ready(self):
        cdef ArrowDeviceArray array
        cdef int ready = 0
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_is_ready(&array, NULL, &ready, &error)
            arrowdevice_array_release(&array)
        check(code, &error)
        return ready != 0

    def wait(self, int64_t timeout_ns):
        """Negative: for ever. Signals get through: it is waited for in turns, and handlers run between them."""
        cdef ArrowDeviceArray array
        cdef int64_t turn_ns
        cdef error_t error
        cdef int code
        self.share(&array)
        try:
            while True:
                turn_ns = TURN_NS if timeout_ns < 0 else min(timeout_ns, TURN_NS)
                with nogil:
                    code = arrowdevice_array_wait(&array, NULL, turn_ns, &error)
                if timeout_ns >= 0:
                    timeout_ns -= turn_ns
                if code != ETIMEDOUT or timeout_ns == 0:
                    break
                PyErr_CheckSignals()
        finally:
            with nogil:
                arrowdevice_array_release(&array)
        check(code, &error)

    def validate(self, int level):
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_validate(&array, self.schema.pointer, NULL, level, &error)
            arrowdevice_array_release(&array)
        check(code, &error)

    def move_to(self, Device device not None, uint32_t flags, int64_t timeout_ns):
        cdef ArrowDeviceArray array
        cdef Array out = self.like(self.schema)
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        fill_copy_options(&options, flags, timeout_ns)
        self.share(&array)
        with nogil:
            code = arrowdevice_array_to_device(&array, self.schema.pointer, device.pointer, &options, &out.own, &error)
            arrowdevice_array_release(&array)
        check(code, &error)
        return out

    def slice(self, int64_t offset, int64_t length):
        cdef Array out = self.like(self.schema)
        cdef error_t error
        self.alive()
        cdef int code = arrowdevice_array_slice(&self.own, self.schema.pointer, offset, length, &out.own, &error)
        check(code, &error)
        return out

    def select(self, list indices not None):
        cdef int64_t* children = <int64_t*>zeroed((len(indices) or 1) * sizeof(int64_t))
        cdef Array out
        cdef error_t error
        cdef int code
        try:
            for i, index in enumerate(indices):
                children[i] = index
            self.alive()
            out = self.like(Schema.__new__(Schema))
            code = arrowdevice_array_select(&self.own, self.schema.pointer, children, len(indices), &out.own,
                                            &out.schema.own, &error)
            check(code, &error)
            return out
        finally:
            free(children)

    def child(self, int64_t index):
        """A column of a struct: exactly its rows, whatever the struct's own validity says of them."""
        cdef ArrowDeviceArray whole
        cdef Array column
        self.share(&whole)
        try:
            if not 0 <= index < whole.array.n_children:
                raise IndexError(f"column {index} of {whole.array.n_children}")
            column = self.like(self.schema.child(index))
            column.own = whole
            column.own.array = whole.array.children[index][0]
            whole.array.children[index].release = NULL
            if whole.array.offset == 0 and whole.array.length == column.own.array.length:
                return column
            return column.slice(whole.array.offset, whole.array.length)
        finally:
            arrowdevice_array_release(&whole)

    def buffers(self, bint sizes):
        """(path, role, address, size) of every buffer. With sizes that lie on the device too, which are waited for."""
        cdef ArrowDeviceArray array
        cdef arrowdevice_view* view = NULL
        cdef import_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.flags = 1 if sizes else 0
        self.share(&array)
        with nogil:
            code = arrowdevice_array_import(&array, self.schema.pointer, &options, &view, &error)
            if code != 0:
                arrowdevice_array_release(&array)
        check(code, &error)
        try:
            return buffers_of(arrowdevice_view_get_root(view), "", [])
        finally:
            with nogil:
                arrowdevice_view_release(view)

    def device_capsule(self):
        """A co-owner for `__arrow_c_device_array__`."""
        cdef ArrowDeviceArray* out = <ArrowDeviceArray*>zeroed(sizeof(ArrowDeviceArray))
        try:
            self.share(out)
            return PyCapsule_New(out, "arrow_device_array", end_device_array)
        except:
            arrowdevice_array_release(out)
            free(out)
            raise

    def host_capsule(self):
        """A co-owner for `__arrow_c_array__`, of an array on the CPU."""
        cdef ArrowDeviceArray array
        cdef ArrowArray* out = <ArrowArray*>zeroed(sizeof(ArrowArray))
        try:
            self.share(&array)
            out[0] = array.array
            if array.sync_event is not NULL:
                refuse(EINVAL, "the array is on the CPU, whose arrays have no sync_event")
            return PyCapsule_New(out, "arrow_array", end_array)
        except:
            arrowdevice_host_array_release(out)
            free(out)
            raise
