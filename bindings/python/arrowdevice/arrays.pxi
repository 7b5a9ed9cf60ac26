# SPDX-License-Identifier: Apache-2.0
# Part of _core.pyx: arrays. The code reads and writes the struct in an `Array` only with the GIL held. Each call uses a
# shared owner of its own. The call may then run without the GIL while other threads use or release the Python object.

cdef int fill_copy_options(copy_options_t* options, uint32_t flags, int64_t timeout_ns) except -1:
    """Sets the options of a copy."""
    memset(options, 0, sizeof(options[0]))
    options.struct_size = sizeof(options[0])
    options.flags = flags
    options.timeout_ns = timeout_ns
    return 0


cdef str element_of(const node_t* node, uint32_t role):
    """Returns the format of the elements of a buffer. Bits, views and values of other widths are bytes."""
    cdef str format = text(node.format)
    if role == ARROWDEVICE_ROLE_DATA and node.layout == ARROWDEVICE_LAYOUT_FIXED:
        if len(format) == 1 and format in "cCsSiIlLefg":
            return format
        return {32: "i", 64: "l"}.get(node.bit_width, "C")
    if role == ARROWDEVICE_ROLE_OFFSETS or role == ARROWDEVICE_ROLE_SIZES:
        large = (ARROWDEVICE_LAYOUT_LARGE_BINARY, ARROWDEVICE_LAYOUT_LARGE_LIST, ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW)
        return "l" if node.layout in large else "i"
    return {ARROWDEVICE_ROLE_TYPE_IDS: "c", ARROWDEVICE_ROLE_VARIADIC_SIZES: "l"}.get(role, "C")


cdef list buffers_of(const node_t* node, str path, list found):
    """Appends (path, role, address, size, element, on_host) for each buffer of a node and its children."""
    cdef int32_t i
    cdef int64_t child
    for i in range(node.n_buffers):
        found.append((path, node.buffers[i].role, <size_t>node.buffers[i].data,
                      node.buffers[i].size if node.buffers[i].flags & ARROWDEVICE_BUFFER_SIZE_KNOWN else None,
                      element_of(node, node.buffers[i].role), (node.buffers[i].flags & ARROWDEVICE_BUFFER_HOST) != 0))
    for child in range(node.n_children):
        name = text(node.children[child].name) or str(child)
        buffers_of(node.children[child], f"{path}.{name}" if path else name, found)
    if node.dictionary is not NULL:
        buffers_of(node.dictionary, f"{path}.dictionary" if path else "dictionary", found)
    return found


cdef int64_t nulls_in(const uint8_t* bits, int64_t offset, int64_t length) noexcept nogil:
    """Counts the zero bits in a range."""
    cdef int64_t nulls = 0
    cdef int64_t i
    for i in range(offset, offset + length):
        nulls += not (bits[i >> 3] >> (i & 7)) & 1
    return nulls


cdef void host_copy_done(void* user, ArrowArray* array, ArrowDeviceArray* source,
                         const error_t* error) noexcept nogil:
    """Passes the result of a copy to Python, on a thread of the library. Does nothing after the guard is closed."""
    if guard_enter():
        finish_host_copy(user, array, error)
        guard_leave()


cdef void finish_host_copy(void* user, ArrowArray* array, const error_t* error) noexcept with gil:
    cdef Array out
    schema, finish = <object>user
    Py_DECREF(<object>user)
    if error is not NULL:
        finish(None, error_from(error.code, <error_t*>error))
        return
    try:
        out = Array.__new__(Array)
    except MemoryError as failure:
        finish(None, failure)
        return
    out.schema = schema
    out.own.array = array[0]
    out.own.device_type = 1
    out.own.device_id = -1
    out.own.sync_event = NULL
    array.release = NULL
    finish(out, None)


@cython.no_gc  # it refers to a Schema only, so that it is in no cycle
cdef class Array:
    """A device array and its type."""

    cdef ArrowDeviceArray own
    cdef readonly Schema schema
    cdef shared_tensor* tensor  # the array as a tensor of exchange functions, or NULL

    def __cinit__(self):
        self.own.array.release = NULL
        self.tensor = NULL

    def __dealloc__(self):
        self.release_own()

    def release(self):
        """Releases the array. Has no effect on a released array."""
        self.release_own()

    cdef void release_own(self) noexcept:
        cdef ArrowDeviceArray own = self.own
        cdef shared_tensor* tensor = self.tensor
        self.own.array.release = NULL
        self.tensor = NULL
        if tensor is not NULL:
            with nogil:
                drop_shared(tensor)
        if own.array.release is not NULL:
            with nogil:
                arrowdevice_array_release(&own)

    cdef int check_not_released(self) except -1:
        """Raises ValueError if the array was released."""
        if self.own.array.release is NULL:
            raise ValueError("the array was released")
        return 0

    cdef int share(self, ArrowDeviceArray* out) except -1:
        """Makes a shared owner for one call. The caller holds the GIL, so that no other thread changes the array."""
        cdef error_t error
        self.check_not_released()
        cdef int code = arrowdevice_array_share(&self.own, out, &error)
        check(code, &error)
        return 0

    cdef Array like(self, Schema schema):
        """Returns an empty array of a type."""
        cdef Array array = Array.__new__(Array)
        array.schema = schema
        return array

    @staticmethod
    cdef Array imported(Schema schema, ArrowDeviceArray* moved):
        """Moves a foreign array into a guard and validates its structure."""
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
        """Moves the array out of the pair of capsules of `__arrow_c_device_array__`."""
        cdef Schema schema = Schema.take(schema_capsule)
        cdef ArrowDeviceArray* source = \
            <ArrowDeviceArray*>in_capsule(array_capsule, "arrow_device_array", "an ArrowDeviceArray")
        if source.array.release is NULL:
            raise ValueError("the producer's device array was released")
        return Array.imported(schema, source)

    @staticmethod
    def take_host(schema_capsule, array_capsule):
        """Moves the array out of the pair of capsules of `__arrow_c_array__`."""
        cdef Schema schema = Schema.take(schema_capsule)
        cdef ArrowArray* source = <ArrowArray*>in_capsule(array_capsule, "arrow_array", "an ArrowArray")
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code = arrowdevice_array_from_host(source, &array, &error)
        check(code, &error)
        try:
            return Array.imported(schema, &array)
        finally:
            arrowdevice_array_release(&array)  # empty if the import succeeded

    @staticmethod
    def from_parts(Schema schema not None, Device device not None, int64_t length, int64_t null_count, int64_t offset,
                   list addresses not None, list children not None, owner, Queue queue):
        """Returns an array of buffers and children, whose owner it keeps. It is ready after the work of the queue."""
        cdef ArrowArray parts
        cdef ArrowDeviceArray child
        cdef Array out = Array.__new__(Array)
        cdef arrowdevice_queue* producer = NULL
        cdef error_t error
        cdef int code
        cdef int64_t i
        if parts_array(owner, len(addresses), len(children), &parts) != 0:
            raise MemoryError()
        try:
            parts.length = length
            parts.null_count = null_count
            parts.offset = offset
            for i in range(len(addresses)):
                parts.buffers[i] = <const void*><size_t>(addresses[i])
            for i in range(len(children)):
                (<Array?>children[i]).share(&child)
                parts.children[i][0] = child.array
            if queue is not None:
                queue.begin()
                producer = queue.pointer
            with nogil:
                signals_begin()
                code = arrowdevice_array_export(device.pointer, &parts, producer, &out.own, &error)
                if code == 0:
                    code = arrowdevice_array_validate(&out.own, schema.pointer, NULL, 0, &error)
                signals_end()
            if queue is not None:
                queue.busy = False
            check(code, &error)
        finally:
            arrowdevice_host_array_release(&parts)  # empty if the export succeeded
        out.schema = schema
        return out

    def bytes_of(self, Schema schema not None, size_t address, int64_t length, bint on_host):
        """Returns a buffer of this array as an array without nulls, which has the event of this one.

        A buffer on the host becomes an array of the CPU, without an event.
        """
        cdef Array held = self.like(self.schema)
        cdef Array out = Array.__new__(Array)
        cdef ArrowArray parts
        self.share(&held.own)
        if parts_array(held, 2, 0, &parts) != 0:
            raise MemoryError()
        parts.length = length
        parts.buffers[1] = <const void*>address
        out.own = held.own
        if on_host:
            out.own.device_type = 1
            out.own.device_id = -1
            out.own.sync_event = NULL
        out.own.array = parts
        out.schema = schema
        return out

    @property
    def released(self):
        return self.own.array.release is NULL

    @property
    def length(self):
        self.check_not_released()
        return self.own.array.length

    @property
    def offset(self):
        self.check_not_released()
        return self.own.array.offset

    @property
    def has_validity(self):
        self.check_not_released()
        return self.own.array.n_buffers > 0 and self.own.array.buffers[0] is not NULL

    @property
    def declared_null_count(self):
        """The null count of the producer, -1 if the producer did not count."""
        self.check_not_released()
        return self.own.array.null_count

    def count_nulls(self):
        """Counts the nulls in the validity buffer, which must be in host memory."""
        cdef ArrowDeviceArray array
        cdef int64_t nulls
        self.share(&array)
        with nogil:
            nulls = nulls_in(<const uint8_t*>array.array.buffers[0], array.array.offset, array.array.length)
            arrowdevice_array_release(&array)
        return nulls

    @property
    def device_type(self):
        self.check_not_released()
        return self.own.device_type

    @property
    def device_id(self):
        self.check_not_released()
        return self.own.device_id

    def device(self):
        """Returns the device of the array."""
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

    def is_ready(self):
        """Returns whether the event of the array has fired."""
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
        """Waits for the event of the array. 0 waits without limit, a negative time polls."""
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            signals_begin()
            code = arrowdevice_array_wait(&array, NULL, timeout_ns, &error)
            signals_end()
            arrowdevice_array_release(&array)
        check(code, &error)

    def validate(self, int level):
        """Validates the array against its type."""
        cdef ArrowDeviceArray array
        cdef arrowdevice_view* view
        cdef error_t error
        cdef int code
        if level == 0:
            self.share(&array)
            with nogil:
                code = arrowdevice_array_validate(&array, self.schema.pointer, NULL, level, &error)
                arrowdevice_array_release(&array)
            check(code, &error)
            return
        # An import may release its array at once if a signal ends the call. A validation may not.
        view = self.imported_view(0, level)
        with nogil:
            arrowdevice_view_release(view)

    cdef arrowdevice_view* imported_view(self, uint32_t flags, int32_t level) except NULL:
        """Imports a shared owner. The caller releases the view."""
        cdef ArrowDeviceArray array
        cdef arrowdevice_view* view = NULL
        cdef import_options_t options
        cdef error_t error
        cdef int code
        memset(&options, 0, sizeof(options))
        options.struct_size = sizeof(options)
        options.flags = flags
        options.validate = level
        self.share(&array)
        with nogil:
            signals_begin()
            code = arrowdevice_array_import(&array, self.schema.pointer, &options, &view, &error)
            signals_end()
            if code != 0:
                arrowdevice_array_release(&array)
        check(code, &error)
        return view

    def to_device(self, Device device not None, uint32_t flags, int64_t timeout_ns, Queue queue, Pool pool):
        """Returns the array on a device: shared or copied, as the flags allow. This array stays usable."""
        cdef ArrowDeviceArray array
        cdef Array out = self.like(self.schema)
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        fill_copy_options(&options, flags, timeout_ns)
        options.pool = NULL if pool is None else pool.pointer
        self.share(&array)
        if queue is not None:
            try:
                queue.begin()
            except:
                arrowdevice_array_release(&array)
                raise
            options.queue = queue.pointer
        with nogil:
            signals_begin()
            code = arrowdevice_array_to_device(&array, self.schema.pointer, device.pointer, &options, &out.own, &error)
            signals_end()
            arrowdevice_array_release(&array)
        if queue is not None:
            queue.busy = False
        check_sharing(code, &error, flags)
        return out

    def to_host_async(self, int64_t timeout_ns, Queue queue, finish not None):
        """Copies the array to the CPU while the caller goes on. Then calls `finish(array or None, exception or None)`."""
        cdef ArrowDeviceArray array
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        user = (self.schema, finish)
        fill_copy_options(&options, 0, timeout_ns)
        self.share(&array)
        if queue is not None:
            try:
                queue.begin()
            except:
                arrowdevice_array_release(&array)
                raise
            options.queue = queue.pointer
        Py_INCREF(user)
        with nogil:
            code = arrowdevice_array_to_host_async(&array, self.schema.pointer, &options, host_copy_done, <void*>user,
                                                   &error)
            arrowdevice_array_release(&array)  # empty if the call succeeded
        if queue is not None:
            queue.busy = False
        if code != 0:
            Py_DECREF(user)
        check(code, &error)

    def open_eventfd(self):
        """Returns a file descriptor that becomes readable when the array is ready."""
        cdef ArrowDeviceArray array
        cdef int descriptor = -1
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_open_eventfd(&array, NULL, &descriptor, &error)
            arrowdevice_array_release(&array)
        check(code, &error)
        return descriptor

    def slice(self, int64_t offset, int64_t length):
        """Returns a shared owner of a range of rows."""
        cdef Array out = self.like(self.schema)
        cdef error_t error
        self.check_not_released()
        cdef int code = arrowdevice_array_slice(&self.own, self.schema.pointer, offset, length, &out.own, &error)
        check(code, &error)
        return out

    def select(self, list indices not None):
        """Returns a shared owner of some columns of a struct."""
        cdef int64_t* children = <int64_t*>zeroed((len(indices) or 1) * sizeof(int64_t))
        cdef Array out
        cdef error_t error
        cdef int code
        try:
            for i, index in enumerate(indices):
                children[i] = index
            self.check_not_released()
            out = self.like(Schema.__new__(Schema))
            code = arrowdevice_array_select(&self.own, self.schema.pointer, children, len(indices), &out.own,
                                            &out.schema.own, &error)
            check(code, &error)
            return out
        finally:
            free(children)

    def child(self, int64_t index):
        """Returns a shared owner of a column of a struct. Ignores the validity of the struct."""
        cdef ArrowDeviceArray whole
        cdef Array column
        self.share(&whole)
        try:
            if not 0 <= index < whole.array.n_children:
                raise IndexError(f"invalid column {index} (the array has {whole.array.n_children})")
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
        """Returns (path, role, address, size, element, on_host) of each buffer. `sizes` also reads back sizes that are on the device."""
        cdef arrowdevice_view* view = self.imported_view(1 if sizes else 0, 0)
        try:
            return buffers_of(arrowdevice_view_get_root(view), "", [])
        finally:
            with nogil:
                arrowdevice_view_release(view)

    def device_capsule(self):
        """Returns a shared owner in a capsule, for `__arrow_c_device_array__`."""
        cdef ArrowDeviceArray* out = <ArrowDeviceArray*>zeroed(sizeof(ArrowDeviceArray))
        try:
            self.share(out)
            return PyCapsule_New(out, "arrow_device_array", destroy_device_array)
        except:
            arrowdevice_array_release(out)
            free(out)
            raise

    def host_capsule(self):
        """Returns a shared owner of a CPU array in a capsule, for `__arrow_c_array__`."""
        cdef ArrowDeviceArray array
        cdef ArrowArray* out = <ArrowArray*>zeroed(sizeof(ArrowArray))
        try:
            self.share(&array)
            out[0] = array.array
            if array.sync_event is not NULL:
                refuse(EINVAL, "the CPU array has a sync_event (expected NULL)")
            return PyCapsule_New(out, "arrow_array", destroy_array)
        except:
            arrowdevice_host_array_release(out)
            free(out)
            raise
