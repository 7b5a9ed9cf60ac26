# SPDX-License-Identifier: Apache-2.0
"""libarrowdevice through ctypes: the structs, every function, and owners over them.

The demo and the interoperability tests use it; it is not a binding to build programs on. Needs the standard library only: whatever speaks
the Arrow C interface by address (pyarrow's `_export_to_c`) meets it at `owner.address`.

    lib = load()
    device = lib.device("ext_dev:0")
    array, schema = HostArray(lib), Schema(lib)
    batch._export_to_c(array.address, schema.address)
    there = DeviceArray.from_host(array).move_to(device, schema)
    back = there.to_host(schema)
    same = pa.RecordBatch._import_from_c(back.address, schema.address)
"""

import ctypes as C
import errno
import os

P = C.POINTER

DEVICE_CPU = 1
DEVICE_EXT_DEV = 12

DEVICE_ADDRESSES, DEVICE_HOST_READABLE, DEVICE_EVENTS, DEVICE_WAIT_BLOCKS, DEVICE_WRAPPED = 1, 2, 4, 8, 16
PEER_ACCESS, PEER_COPY = 1, 2
COPY_ASYNC, COPY_ALWAYS, COPY_NEVER, COPY_NO_TRIM = 1, 2, 4, 8
IMPORT_RESOLVE_SIZES = 1
STREAM_READ_AHEAD = 1
VALIDATE_STRUCTURE, VALIDATE_FULL, VALIDATE_STRICT = 0, 1, 2

# -- the structs of the Arrow C interfaces --------------------------------------------------------------------------


class ArrowSchema(C.Structure):
    pass


ArrowSchema._fields_ = [
    ("format", C.c_char_p), ("name", C.c_char_p),
    ("metadata", C.c_void_p),  # not text: it holds zero bytes
    ("flags", C.c_int64), ("n_children", C.c_int64),
    ("children", P(P(ArrowSchema))), ("dictionary", P(ArrowSchema)),
    ("release", C.c_void_p), ("private_data", C.c_void_p)]


class ArrowArray(C.Structure):
    pass


ArrowArray._fields_ = [
    ("length", C.c_int64), ("null_count", C.c_int64), ("offset", C.c_int64),
    ("n_buffers", C.c_int64), ("n_children", C.c_int64),
    ("buffers", P(C.c_void_p)), ("children", P(P(ArrowArray))), ("dictionary", P(ArrowArray)),
    ("release", C.c_void_p), ("private_data", C.c_void_p)]


class ArrowDeviceArray(C.Structure):
    _fields_ = [("array", ArrowArray), ("device_id", C.c_int64), ("device_type", C.c_int32),
                ("sync_event", C.c_void_p), ("reserved", C.c_int64 * 3)]


class ArrowDeviceArrayStream(C.Structure):
    _fields_ = [("device_type", C.c_int32), ("get_schema", C.c_void_p), ("get_next", C.c_void_p),
                ("get_last_error", C.c_void_p), ("release", C.c_void_p), ("private_data", C.c_void_p)]


class ArrowArrayStream(C.Structure):
    _fields_ = ArrowDeviceArrayStream._fields_[1:]


# -- the structs of arrowdevice.h -----------------------------------------------------------------------------------


class _Sized(C.Structure):
    """A struct that starts with its own size."""

    def __init__(self, **values):
        super().__init__(**values)
        self.struct_size = C.sizeof(self)


class Error(C.Structure):
    _fields_ = [("code", C.c_int32), ("native_code", C.c_int32), ("backend", C.c_char * 16), ("message", C.c_char * 488)]


class DeviceInfo(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("device_type", C.c_int32), ("device_id", C.c_int64),
                ("name", C.c_char * 128), ("vendor", C.c_char * 64), ("backend", C.c_char * 16),
                ("uuid", C.c_uint8 * 16), ("total_memory", C.c_int64),
                ("buffer_alignment", C.c_int64), ("sub_buffer_alignment", C.c_int64),
                ("flags", C.c_uint64), ("staging_type", C.c_int32), ("reserved", C.c_int32)]


class DeviceCounters(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("reserved", C.c_uint32)] + [
        (name, C.c_int64) for name in ("driver_allocations", "submissions", "regions", "events", "host_waits", "readbacks",
                                       "bytes_in", "bytes_out", "staged_bytes")]


class BackendReport(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("status", C.c_int32), ("name", C.c_char * 16),
                ("path", C.c_char * 1024), ("reason", C.c_char * 488)]


class NativeDevice(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("queue_family", C.c_uint32), ("api_version", C.c_uint32),
                ("n_extensions", C.c_uint32)] + [
        (name, C.c_void_p) for name in ("platform", "physical_device", "device", "context", "queue", "get_proc_addr",
                                        "extensions", "features", "lock", "unlock", "lock_user")]


class NativeQueue(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("family", C.c_uint32), ("queue", C.c_void_p)]


class PoolOptions(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("flags", C.c_uint32), ("max_cached_bytes", C.c_int64), ("max_bytes", C.c_int64),
                ("allocate", C.c_void_p), ("deallocate", C.c_void_p), ("destroy", C.c_void_p), ("user", C.c_void_p)]


class PoolStats(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("reserved", C.c_uint32)] + [
        (name, C.c_int64) for name in ("used_bytes", "cached_bytes", "peak_bytes", "allocations", "driver_allocations")]


class CopyRegion(C.Structure):
    _fields_ = [("dst_device", C.c_void_p), ("dst", C.c_void_p), ("dst_offset", C.c_int64),
                ("src_device", C.c_void_p), ("src", C.c_void_p), ("src_offset", C.c_int64),
                ("size", C.c_int64), ("reserved", C.c_uint64)]


class CopyOptions(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("flags", C.c_uint32), ("queue", C.c_void_p), ("pool", C.c_void_p),
                ("source_device", C.c_void_p), ("timeout_ns", C.c_int64)]


class ImportOptions(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("flags", C.c_uint32), ("queue", C.c_void_p),
                ("source_device", C.c_void_p), ("validate", C.c_int32), ("reserved", C.c_int32),
                ("timeout_ns", C.c_int64)]


class StreamOptions(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("flags", C.c_uint32), ("depth", C.c_int32), ("copy_flags", C.c_uint32),
                ("queue", C.c_void_p), ("pool", C.c_void_p), ("source_device", C.c_void_p), ("timeout_ns", C.c_int64)]


class AsyncOptions(_Sized):
    _fields_ = [("struct_size", C.c_uint32), ("flags", C.c_uint32), ("depth", C.c_int32), ("upstream_layout", C.c_int32),
                ("copy_flags", C.c_uint32), ("reserved", C.c_uint32), ("queue", C.c_void_p), ("pool", C.c_void_p),
                ("source_device", C.c_void_p), ("submit", C.c_void_p), ("user", C.c_void_p)]


class NodeBuffer(C.Structure):
    _fields_ = [("data", C.c_void_p), ("size", C.c_int64), ("role", C.c_uint32), ("flags", C.c_uint32),
                ("reserved", C.c_uint64)]


class Node(C.Structure):
    pass


Node._fields_ = [
    ("name", C.c_char_p), ("format", C.c_char_p), ("metadata", C.c_void_p), ("extension_name", C.c_char_p),
    ("extension_metadata", C.c_void_p), ("extension_metadata_size", C.c_int64),
    ("length", C.c_int64), ("offset", C.c_int64), ("null_count", C.c_int64), ("flags", C.c_int64),
    ("layout", C.c_int32), ("n_buffers", C.c_int32), ("n_children", C.c_int64),
    ("bit_width", C.c_int64), ("list_size", C.c_int64),
    ("buffers", P(NodeBuffer)), ("children", P(P(Node))), ("dictionary", P(Node)), ("array", P(ArrowArray)),
    ("reserved", C.c_uint64 * 4)]

# -- the functions --------------------------------------------------------------------------------------------------

_handle, _out_handle, _int64, _error = C.c_void_p, P(C.c_void_p), C.c_int64, P(Error)
_array, _schema, _device_array = P(ArrowArray), P(ArrowSchema), P(ArrowDeviceArray)
_stream, _host_stream = P(ArrowDeviceArrayStream), P(ArrowArrayStream)

# Functions that answer with a code and take an error last (which is left out here).
_CHECKED = {
    "device_find_by_id": [C.c_int32, _int64, _out_handle],
    "device_count": [C.c_int32, P(_int64)],
    "device_list": [_out_handle, _int64, P(_int64)],
    "device_get_info": [_handle, P(DeviceInfo)],
    "device_get_peer_flags": [_handle, _handle, P(C.c_uint32)],
    "device_find_by_name": [C.c_char_p, _out_handle],
    "device_get_memory_info": [_handle, P(_int64), P(_int64)],
    "device_get_counters": [_handle, P(DeviceCounters)],
    "device_wrap": [C.c_int32, _int64, P(NativeDevice), _out_handle],
    "device_unwrap": [_handle, _int64],
    "device_get_native": [_handle, P(NativeDevice)],
    "backend_load": [C.c_char_p],
    "backend_register": [C.c_void_p],
    "backend_get_report": [_int64, P(BackendReport)],
    "queue_create": [_handle, _out_handle],
    "queue_wrap": [_handle, P(NativeQueue), _out_handle],
    "queue_get_native": [_handle, P(NativeQueue)],
    "queue_finish": [_handle, _int64],
    "pool_create": [_handle, P(PoolOptions), _out_handle],
    "pool_get_stats": [_handle, P(PoolStats)],
    "pool_trim": [_handle],
    "device_set_pool": [_handle, _handle],
    "device_get_pool": [_handle, _out_handle],
    "buffer_allocate": [_handle, _handle, _handle, _int64, _out_handle],
    "sub_buffer_create": [_handle, C.c_void_p, _int64, _int64, _out_handle],
    "queue_copy": [_handle, P(CopyRegion), _int64],
    "array_export": [_handle, _array, _handle, _device_array],
    "array_export_event": [_handle, _array, C.c_void_p, C.c_void_p, C.c_void_p, _device_array],
    "array_get_device": [_device_array, _out_handle],
    "array_import": [_device_array, _schema, P(ImportOptions), _out_handle],
    "view_share": [_handle, _device_array],
    "view_release_after": [_handle, _handle],
    "array_release_after": [_device_array, _handle],
    "array_is_ready": [_device_array, _handle, P(C.c_int)],
    "array_wait": [_device_array, _handle, _int64],
    "queue_wait_array": [_handle, _device_array, _handle],
    "array_copy": [_device_array, _schema, _handle, P(CopyOptions), _device_array],
    "array_to_device": [_device_array, _schema, _handle, P(CopyOptions), _device_array],
    "array_from_host": [_array, _device_array],
    "array_to_host": [_device_array, _schema, P(CopyOptions), _array],
    "array_share": [_device_array, _device_array],
    "array_slice": [_device_array, _schema, _int64, _int64, _device_array],
    "array_select": [_device_array, _schema, P(_int64), _int64, _device_array, _schema],
    "array_validate": [_device_array, _schema, _handle, C.c_int],
    "deferred_set_manual": [C.c_int],
    "deferred_run": [_int64, P(_int64)],
    "wait_idle": [_int64],
    "schema_copy": [_schema, _schema],
    "stream_get_schema": [_stream, _schema],
    "stream_get_next": [_stream, _device_array],
    "stream_from_arrays": [_schema, _device_array, _int64, C.c_int32, _stream],
    "stream_from_host": [_host_stream, _stream],
    "stream_to_host": [_stream, P(StreamOptions), _host_stream],
    "stream_to_device": [_stream, _handle, P(StreamOptions), _stream],
    "stream_cancel": [_stream],
    # Handlers are handles here: nothing in Python calls or fills them.
    "async_produce": [_stream, _handle, P(AsyncOptions)],
    "async_collect": [C.c_int32, P(AsyncOptions), _out_handle, _stream],
    "async_to_device": [_handle, _handle, P(AsyncOptions), _out_handle],
    # Tensors are handles here: they travel in capsules.
    "dlpack_export": [_device_array, _schema, _handle, _out_handle],
    "dlpack_import": [_handle, _handle, _device_array, _schema],
}

# The others: result, then parameters.
_PLAIN = {
    "version": (C.c_char_p, []),
    "device_type_get_name": (C.c_char_p, [C.c_int32]),
    "queue_destroy": (None, [_handle]),
    "pool_destroy": (None, [_handle]),
    "buffer_free": (None, [_handle, _handle, C.c_void_p]),
    "sub_buffer_destroy": (None, [_handle, C.c_void_p]),
    "view_get_root": (P(Node), [_handle]),
    "view_get_array": (_device_array, [_handle]),
    "view_get_device": (_handle, [_handle]),
    "view_detach": (None, [_handle, _device_array]),
    "view_release": (None, [_handle]),
    "array_move": (None, [_device_array, _device_array]),
    "array_release": (None, [_device_array]),
    "schema_release": (None, [_schema]),
    "host_array_release": (None, [_array]),
    "stream_release": (None, [_stream]),
}


class ArrowDeviceError(Exception):
    """A function of the library failed."""

    def __init__(self, function, error):
        self.function = function
        self.code = error.code
        self.native_code = error.native_code
        self.backend = error.backend.decode()
        self.message = error.message.decode()
        super().__init__(f"{function}: {errno.errorcode.get(self.code, self.code)}: {self.message}")


class Library:
    """The shared library: `lib.array_copy(...)` is arrowdevice_array_copy() that raises instead of answering a code."""

    def __init__(self, path=None):
        self.c = C.CDLL(path or os.environ.get("ARROWDEVICE_LIBRARY") or "libarrowdevice.so.0")
        for name, (result, parameters) in _PLAIN.items():
            function = getattr(self.c, "arrowdevice_" + name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)
        for name, parameters in _CHECKED.items():
            setattr(self, name, self._checked("arrowdevice_" + name, parameters))

    def _checked(self, name, parameters):
        function = getattr(self.c, name)
        function.restype, function.argtypes = C.c_int, parameters + [_error]

        def call(*arguments):
            error = Error()
            code = function(*arguments, C.byref(error))
            if code:
                error.code = error.code or code
                raise ArrowDeviceError(name, error)

        call.__name__ = name
        return call

    def device(self, name):
        """The device of that name: "cpu", "ext_dev:1"."""
        out = C.c_void_p()
        self.device_find(name.encode(), C.byref(out))
        return Device(self, out.value)

    def devices(self):
        """All devices of all backends."""
        count = C.c_int64()
        self.device_list(None, 0, C.byref(count))
        handles = (C.c_void_p * count.value)()
        self.device_list(handles, count.value, C.byref(count))
        return [Device(self, handle) for handle in handles[:count.value]]


def load(path=None):
    """The library at `path`, else the one named by ARROWDEVICE_LIBRARY, else the one that the loader finds."""
    return Library(path)


class Device:
    """A device; there is nothing to free."""

    def __init__(self, lib, handle):
        self.lib, self.handle = lib, handle
        self.info = DeviceInfo()
        lib.device_get_info(handle, C.byref(self.info))

    @property
    def id(self):
        """The name that `Library.device()` finds it by."""
        kind = self.lib.device_type_get_name(self.info.device_type)
        return f"{kind.decode() if kind else self.info.device_type}:{self.info.device_id}"

    @property
    def is_cpu(self):
        return self.info.device_type == DEVICE_CPU

    def counters(self):
        out = DeviceCounters()
        self.lib.device_get_counters(self.handle, C.byref(out))
        return out


class _Owner:
    """A struct with a release callback, released with its owner. What was moved away, or was imported by somebody else, is left alone."""

    _struct = _release = None

    def __init__(self, lib):
        self.lib = lib
        self.c = self._struct()

    @property
    def address(self):
        return C.addressof(self.c)

    def release(self):
        getattr(self.lib, self._release)(C.byref(self.c))

    def __del__(self):
        self.release()


class Schema(_Owner):
    """Owns an ArrowSchema."""

    _struct, _release = ArrowSchema, "schema_release"

    @property
    def released(self):
        return not self.c.release

    def copy(self):
        out = Schema(self.lib)
        self.lib.schema_copy(C.byref(self.c), C.byref(out.c))
        return out


class HostArray(_Owner):
    """Owns an ArrowArray in host memory."""

    _struct, _release = ArrowArray, "host_array_release"

    @property
    def released(self):
        return not self.c.release


class DeviceArray(_Owner):
    """Owns an ArrowDeviceArray."""

    _struct, _release = ArrowDeviceArray, "array_release"

    @property
    def released(self):
        return not self.c.array.release

    @classmethod
    def from_host(cls, array):
        out = cls(array.lib)
        array.lib.array_from_host(C.byref(array.c), C.byref(out.c))
        return out

    def _options(self, flags):
        return C.byref(CopyOptions(flags=flags)) if flags else None

    def copy(self, device, schema, flags=0):
        out = DeviceArray(self.lib)
        self.lib.array_copy(C.byref(self.c), C.byref(schema.c), device.handle, self._options(flags), C.byref(out.c))
        return out

    def move_to(self, device, schema, flags=0):
        out = DeviceArray(self.lib)
        self.lib.array_to_device(C.byref(self.c), C.byref(schema.c), device.handle, self._options(flags), C.byref(out.c))
        return out

    def to_host(self, schema, flags=0):
        out = HostArray(self.lib)
        self.lib.array_to_host(C.byref(self.c), C.byref(schema.c), self._options(flags), C.byref(out.c))
        return out

    def share(self):
        out = DeviceArray(self.lib)
        self.lib.array_share(C.byref(self.c), C.byref(out.c))
        return out

    def slice(self, schema, offset, length):
        out = DeviceArray(self.lib)
        self.lib.array_slice(C.byref(self.c), C.byref(schema.c), offset, length, C.byref(out.c))
        return out

    def select(self, schema, children):
        out, out_schema = DeviceArray(self.lib), Schema(self.lib)
        indices = (C.c_int64 * len(children))(*children)
        self.lib.array_select(C.byref(self.c), C.byref(schema.c), indices, len(children), C.byref(out.c),
                              C.byref(out_schema.c))
        return out, out_schema

    def wait(self, timeout_ns=0):
        self.lib.array_wait(C.byref(self.c), None, timeout_ns)

    def validate(self, schema, level=VALIDATE_STRUCTURE):
        self.lib.array_validate(C.byref(self.c), C.byref(schema.c), None, level)


class HostStream(_Owner):
    """Owns an ArrowArrayStream, of the CPU."""

    _struct = ArrowArrayStream

    def release(self):
        if self.c.release:
            C.CFUNCTYPE(None, C.c_void_p)(self.c.release)(self.address)


class DeviceStream(_Owner):
    """Owns an ArrowDeviceArrayStream."""

    _struct, _release = ArrowDeviceArrayStream, "stream_release"

    @classmethod
    def from_host(cls, stream):
        out = cls(stream.lib)
        stream.lib.stream_from_host(C.byref(stream.c), C.byref(out.c))
        return out

    def move_to(self, device, depth=0, flags=0):
        """The same batches on a device, while they flow. This one is taken over."""
        out = DeviceStream(self.lib)
        options = StreamOptions(depth=depth, flags=flags)
        self.lib.stream_to_device(C.byref(self.c), device.handle, C.byref(options), C.byref(out.c))
        return out

    def async_to_device(self, device, depth=0):
        """The same through the async interface: this one is produced, moved, and collected again."""
        out, handler, options = DeviceStream(self.lib), C.c_void_p(), AsyncOptions(depth=depth)
        self.lib.async_collect(device.info.device_type, C.byref(options), C.byref(handler), C.byref(out.c))
        self.lib.async_to_device(handler, device.handle, C.byref(options), C.byref(handler))
        self.lib.async_produce(C.byref(self.c), handler, None)
        return out

    def to_host(self, depth=0):
        out = HostStream(self.lib)
        self.lib.stream_to_host(C.byref(self.c), C.byref(StreamOptions(depth=depth)), C.byref(out.c))
        return out


def buffer_addresses(array):
    """The buffers of an array, of its children and of its dictionary, in one flat list, as they stand in the struct."""
    found = [array.buffers[i] for i in range(array.n_buffers)]
    for i in range(array.n_children):
        found += buffer_addresses(array.children[i].contents)
    if array.dictionary:
        found += buffer_addresses(array.dictionary.contents)
    return found
