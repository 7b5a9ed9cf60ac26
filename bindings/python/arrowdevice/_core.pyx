# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3, embedsignature=False
"""The library's structs and functions, one to one. What a program uses is in the modules beside this one.

An array that lies in an `Array` is touched with the GIL held only: every call works on a co-owner of its own, so that it may
run without the GIL while other threads use, slice or release the same Python object.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.errno cimport EINVAL, ENOENT
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .library cimport *

cdef extern from "<errno.h>":
    const int ECANCELED

from . import errors as _errors

COPY_ASYNC, COPY_ALWAYS, COPY_NEVER, COPY_WHOLE = 1, 2, 4, 8
STREAM_READ_AHEAD = 1


cdef int fail(int code, error_t* error) except -1:
    """Raises what a function of the library answered."""
    raise _errors.from_library(code or error.code, error.message.decode("utf-8", "replace"),
                               error.backend.decode("utf-8", "replace"), error.native_code)


cdef int refuse(int code, str message) except -1:
    raise _errors.from_library(code, message, "", 0)


cdef str text(const char* value):
    return None if value is NULL else value.decode("utf-8", "replace")


def version():
    """The library's own version."""
    return text(arrowdevice_version())


def device_type_name(ArrowDeviceType device_type):
    """The name of a device type, None if the format names no such type."""
    return text(arrowdevice_device_type_name(device_type))


def explain():
    """(status, name, path, reason) of every place where a backend was looked for."""
    cdef backend_report_t report
    cdef error_t error
    cdef int64_t index = 0
    cdef int code
    found = []
    while True:
        memset(&report, 0, sizeof(report))
        report.struct_size = sizeof(report)
        with nogil:
            code = arrowdevice_backend_explain(index, &report, &error)
        if code == ENOENT:
            return found
        if code != 0:
            fail(code, &error)
        found.append((report.status, text(report.name), text(report.path), text(report.reason)))
        index += 1


def quiesce(int64_t timeout_ns):
    """Waits until nothing is deferred or in flight."""
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_quiesce(timeout_ns, &error)
    if code != 0:
        fail(code, &error)


def close_guard(int64_t timeout_ns):
    """The end of calls into producers, see guard.h."""
    cdef int64_t left
    with nogil:
        left = guard_close(timeout_ns)
    return left


# -- devices -----------------------------------------------------------------------------------------------------------

cdef class Device:
    """A device. Equal where it is the same one."""

    cdef arrowdevice_device* pointer

    @staticmethod
    cdef Device of(arrowdevice_device* pointer):
        cdef Device device = Device.__new__(Device)
        device.pointer = pointer
        return device

    def __eq__(self, other):
        return isinstance(other, Device) and (<Device>other).pointer == self.pointer

    def __hash__(self):
        return hash(<size_t>self.pointer)

    def describe(self):
        cdef device_info_t info
        cdef error_t error
        memset(&info, 0, sizeof(info))
        info.struct_size = sizeof(info)
        cdef int code = arrowdevice_device_describe(self.pointer, &info, &error)
        if code != 0:
            fail(code, &error)
        return {
            "device_type": info.device_type, "device_id": info.device_id, "name": text(info.name),
            "vendor": text(info.vendor), "backend": text(info.backend), "uuid": bytes(info.uuid[:16]),
            "total_memory": info.total_memory, "buffer_alignment": info.buffer_alignment,
            "sub_buffer_alignment": info.sub_buffer_alignment, "flags": info.flags, "staging_type": info.staging_type}

    def memory(self):
        """Bytes (free, in all); -1 where the driver does not say."""
        cdef int64_t free_bytes = -1, total_bytes = -1
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_memory(self.pointer, &free_bytes, &total_bytes, &error)
        if code != 0:
            fail(code, &error)
        return free_bytes, total_bytes

    def counters(self):
        cdef device_counters_t counters
        cdef error_t error
        memset(&counters, 0, sizeof(counters))
        counters.struct_size = sizeof(counters)
        cdef int code = arrowdevice_device_counters(self.pointer, &counters, &error)
        if code != 0:
            fail(code, &error)
        return (counters.buffers, counters.submissions, counters.regions, counters.events, counters.host_waits,
                counters.readbacks, counters.bytes_in, counters.bytes_out, counters.staged_bytes)

    def pool_stats(self):
        """(used, kept, peak, allocations, driver_allocations) of the default pool."""
        cdef arrowdevice_pool* pool = NULL
        cdef pool_stats_t stats
        cdef error_t error
        memset(&stats, 0, sizeof(stats))
        stats.struct_size = sizeof(stats)
        cdef int code = arrowdevice_device_pool(self.pointer, &pool, &error)
        if code == 0:
            code = arrowdevice_pool_stats(pool, &stats, &error)
        if code != 0:
            fail(code, &error)
        return stats.used, stats.kept, stats.peak, stats.allocations, stats.driver_allocations

    def pool_trim(self):
        cdef arrowdevice_pool* pool = NULL
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_pool(self.pointer, &pool, &error)
            if code == 0:
                code = arrowdevice_pool_trim(pool, &error)
        if code != 0:
            fail(code, &error)

    def reach(self, Device to not None):
        """What `to` can do with memory of this device."""
        cdef uint32_t out = 0
        cdef error_t error
        cdef int code
        with nogil:
            code = arrowdevice_device_reach(self.pointer, to.pointer, &out, &error)
        if code != 0:
            fail(code, &error)
        return out


def device_list():
    """Every device of every backend."""
    cdef int64_t count = 0, room = 0
    cdef arrowdevice_device** found = NULL
    cdef error_t error
    cdef int code
    try:
        while True:
            with nogil:
                code = arrowdevice_device_list(found, room, &count, &error)
            if code != 0:
                fail(code, &error)
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


def device_find(bytes name not None):
    """The device of a name."""
    cdef const char* c_name = name
    cdef arrowdevice_device* device = NULL
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_device_find(c_name, &device, &error)
    if code != 0:
        fail(code, &error)
    return Device.of(device)


def device_get(ArrowDeviceType device_type, int64_t device_id):
    """The device of a published pair."""
    cdef arrowdevice_device* device = NULL
    cdef error_t error
    cdef int code
    with nogil:
        code = arrowdevice_device_get(device_type, device_id, &device, &error)
    if code != 0:
        fail(code, &error)
    return Device.of(device)


# -- capsules ----------------------------------------------------------------------------------------------------------
# The names and destructors of the Arrow PyCapsule interface. A destructor frees the struct, and releases what is in it
# where nobody has taken it.

cdef void end_schema(object capsule) noexcept:
    cdef ArrowSchema* schema = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    arrowdevice_schema_release(schema)
    free(schema)


cdef void end_array(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    with nogil:
        arrowdevice_host_array_release(array)
        free(array)


cdef void end_device_array(object capsule) noexcept:
    cdef ArrowDeviceArray* array = <ArrowDeviceArray*>PyCapsule_GetPointer(capsule, "arrow_device_array")
    with nogil:
        arrowdevice_array_release(array)
        free(array)


cdef void end_stream(object capsule) noexcept:
    cdef ArrowArrayStream* stream = <ArrowArrayStream*>PyCapsule_GetPointer(capsule, "arrow_array_stream")
    with nogil:
        if stream.release is not NULL:
            stream.release(stream)
        free(stream)


cdef void end_device_stream(object capsule) noexcept:
    cdef ArrowDeviceArrayStream* stream = \
        <ArrowDeviceArrayStream*>PyCapsule_GetPointer(capsule, "arrow_device_array_stream")
    with nogil:
        arrowdevice_stream_release(stream)
        free(stream)


cdef void* in_capsule(object capsule, const char* name, str kind) except NULL:
    """What a capsule of a producer points to."""
    if not PyCapsule_IsValid(capsule, name):
        raise TypeError(f"expected a capsule named {text(name)!r} with {kind}, got {capsule!r}")
    return PyCapsule_GetPointer(capsule, name)


cdef void* zeroed(size_t size) except NULL:
    cdef void* block = malloc(size)
    if block is NULL:
        raise MemoryError()
    memset(block, 0, size)
    return block


# -- schemas -----------------------------------------------------------------------------------------------------------

cdef class Schema:
    """A type, which never changes: an ArrowSchema of its own, or a part of another's."""

    cdef ArrowSchema own
    cdef ArrowSchema* pointer
    cdef Schema whole

    def __cinit__(self):
        self.own.release = NULL
        self.pointer = &self.own

    def __dealloc__(self):
        arrowdevice_schema_release(&self.own)

    @staticmethod
    def take(capsule):
        """Out of a capsule. What is kept is a copy: the producer's own may call back into Python."""
        cdef ArrowSchema* source = <ArrowSchema*>in_capsule(capsule, "arrow_schema", "an ArrowSchema")
        return Schema.copy_of(source)

    @staticmethod
    cdef Schema copy_of(const ArrowSchema* source):
        cdef Schema schema = Schema.__new__(Schema)
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(source, &schema.own, &error)
        if code != 0:
            fail(code, &error)
        return schema

    cdef Schema part(self, ArrowSchema* pointer):
        cdef Schema part = Schema.__new__(Schema)
        part.whole = self
        part.pointer = pointer
        return part

    def capsule(self):
        cdef ArrowSchema* out = <ArrowSchema*>zeroed(sizeof(ArrowSchema))
        cdef error_t error
        cdef int code = arrowdevice_schema_copy(self.pointer, out, &error)
        if code != 0:
            free(out)
            fail(code, &error)
        try:
            return PyCapsule_New(out, "arrow_schema", end_schema)
        except:
            arrowdevice_schema_release(out)
            free(out)
            raise

    @property
    def format(self):
        return text(self.pointer.format)

    @property
    def name(self):
        return text(self.pointer.name)

    @property
    def flags(self):
        return self.pointer.flags

    @property
    def metadata(self):
        """Pairs of bytes, None if there are none."""
        cdef const char* at = self.pointer.metadata
        if at is NULL:
            return None
        cdef int32_t count, size, i
        memcpy(&count, at, 4)
        at += 4
        texts = []
        for i in range(2 * count):
            memcpy(&size, at, 4)
            texts.append(at[4:4 + size])
            at += 4 + size
        return list(zip(texts[::2], texts[1::2]))

    @property
    def n_children(self):
        return self.pointer.n_children

    def child(self, int64_t index):
        if not 0 <= index < self.pointer.n_children:
            raise IndexError(f"child {index} of {self.pointer.n_children}")
        return self.part(self.pointer.children[index])

    @property
    def dictionary(self):
        return None if self.pointer.dictionary is NULL else self.part(self.pointer.dictionary)


# -- arrays ------------------------------------------------------------------------------------------------------------

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
        if code != 0:
            fail(code, &error)
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
        if code != 0:
            fail(code, &error)
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
        if code != 0:
            fail(code, &error)
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
            code = arrowdevice_array_device(&array, &device, &error)
            arrowdevice_array_release(&array)
        if code != 0:
            fail(code, &error)
        return Device.of(device)

    def ready(self):
        cdef ArrowDeviceArray array
        cdef int ready = 0
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_ready(&array, NULL, &ready, &error)
            arrowdevice_array_release(&array)
        if code != 0:
            fail(code, &error)
        return ready != 0

    def wait(self, int64_t timeout_ns):
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_wait(&array, NULL, timeout_ns, &error)
            arrowdevice_array_release(&array)
        if code != 0:
            fail(code, &error)

    def validate(self, int level):
        cdef ArrowDeviceArray array
        cdef error_t error
        cdef int code
        self.share(&array)
        with nogil:
            code = arrowdevice_array_validate(&array, self.schema.pointer, NULL, level, &error)
            arrowdevice_array_release(&array)
        if code != 0:
            fail(code, &error)

    def move_to(self, Device device not None, uint32_t flags, int64_t timeout_ns):
        cdef ArrowDeviceArray array
        cdef Array out = self.like(self.schema)
        cdef copy_options_t options
        cdef error_t error
        cdef int code
        fill_copy_options(&options, flags, timeout_ns)
        self.share(&array)
        with nogil:
            code = arrowdevice_array_move_to(&array, self.schema.pointer, device.pointer, &options, &out.own, &error)
            arrowdevice_array_release(&array)
        if code != 0:
            fail(code, &error)
        return out

    def slice(self, int64_t offset, int64_t length):
        cdef Array out = self.like(self.schema)
        cdef error_t error
        self.alive()
        cdef int code = arrowdevice_array_slice(&self.own, self.schema.pointer, offset, length, &out.own, &error)
        if code != 0:
            fail(code, &error)
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
            if code != 0:
                fail(code, &error)
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
        if code != 0:
            fail(code, &error)
        try:
            return buffers_of(arrowdevice_view_root(view), "", [])
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


# -- streams -----------------------------------------------------------------------------------------------------------

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
        if code != 0:
            fail(code, &error)
        if guard_stream(&stream.own) != 0:
            raise MemoryError()
        return stream

    @staticmethod
    def from_arrays(Schema schema not None, list arrays not None, ArrowDeviceType device_type):
        """A stream of co-owners of arrays, all of one type and on one device type."""
        cdef Stream stream = Stream.__new__(Stream)
        cdef int64_t n = len(arrays), i
        cdef ArrowDeviceArray* moved = <ArrowDeviceArray*>zeroed(<size_t>(n or 1) * sizeof(ArrowDeviceArray))
        cdef Schema given = Schema.copy_of(schema.pointer)
        cdef error_t error
        cdef int code
        try:
            for i in range(n):
                (<Array?>arrays[i]).share(&moved[i])
            with nogil:
                code = arrowdevice_stream_from_arrays(&given.own, moved, n, device_type, &stream.own, &error)
            if code != 0:
                fail(code, &error)
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
            self.begin()
            schema = Schema.__new__(Schema)
            try:
                with nogil:
                    code = arrowdevice_stream_schema(&self.own, &schema.own, &error)
                if code != 0:
                    fail(code, &error)
                # Nothing of a producer is kept: its release might come when there is no Python any more.
                self.known_schema = Schema.copy_of(&schema.own)
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
                code = arrowdevice_stream_next(&self.own, &out.own, &error)
                if code == 0 and out.own.array.release is not NULL and not self.of_library:
                    code = arrowdevice_array_validate(&out.own, out.schema.pointer, NULL, 0, &error)
            if code != 0:
                fail(code, &error)
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
                code = arrowdevice_stream_move_to(&self.own, device.pointer, &options, &out.own, &error)
            if code != 0:
                fail(code, &error)
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
                    code = arrowdevice_async_move_to(collector, device.pointer, &options, &mover, &error)
                    if code != 0:
                        collector.release(collector)
                if code == 0:
                    code = arrowdevice_async_produce(&self.own, mover, NULL, &error)
                    if code != 0:
                        mover.release(mover)
            if code != 0:
                fail(code, &error)
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
            out[0] = self.own
            try:
                capsule = PyCapsule_New(out, "arrow_device_array_stream", end_device_stream)
            except:
                free(out)
                raise
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
            if code != 0:
                fail(code, &error)
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
        if code != 0:
            fail(code, &error)

    def close(self):
        """From any thread: one that is in the stream lets it go when it comes back."""
        self.closing = True
        if self.busy:
            self.cancel()
        else:
            self.let_go_if_closing()


include "dlpack.pxi"
