# SPDX-License-Identifier: Apache-2.0
"""A small ctypes binding for tests that need the C structs by address. Programs use the package `arrowdevice`."""

import ctypes as C
import os

DEVICE_CPU, DEVICE_EXT_DEV = 1, 12
COPY_ASYNC, COPY_NO_TRIM, IMPORT_RESOLVE_SIZES, VALIDATE_STRUCTURE, VALIDATE_FULL, VALIDATE_STRICT = 1, 8, 1, 0, 1, 2


def _struct(struct_name, **fields):
    return type(struct_name, (C.Structure,), {"_fields_": list(fields.items())})


_text, _ptr, _i32, _u32, _i64 = C.c_char_p, C.c_void_p, C.c_int32, C.c_uint32, C.c_int64
_tail = dict.fromkeys(("children", "dictionary", "release", "private_data"), _ptr)
_head = {"struct_size": _u32, "flags": _u32}
ArrowSchema = _struct("ArrowSchema", format=_text, name=_text, metadata=_ptr, flags=_i64, n_children=_i64, **_tail)
ArrowArray = _struct("ArrowArray", length=_i64, null_count=_i64, offset=_i64, n_buffers=_i64, n_children=_i64,
                     buffers=C.POINTER(_ptr), **_tail)
ArrowDeviceArray = _struct("ArrowDeviceArray", array=ArrowArray, device_id=_i64, device_type=_i32, sync_event=_ptr,
                           reserved=_i64 * 3)
Error = _struct("Error", code=_i32, native_code=_i32, backend=C.c_char * 16, message=C.c_char * 488)
PoolStats = _struct("PoolStats", struct_size=_u32, reserved=_u32, used_bytes=_i64, cached_bytes=_i64, peak_bytes=_i64,
                    allocations=_i64, driver_allocations=_i64)
CopyOptions = _struct("CopyOptions", **_head, queue=_ptr, pool=_ptr, source_device=_ptr, timeout_ns=_i64)
ImportOptions = _struct("ImportOptions", **_head, queue=_ptr, source_device=_ptr, validate=_i32, reserved=_i32,
                        timeout_ns=_i64)


class Library:
    """The functions of the library that ARROWDEVICE_LIBRARY names. Each raises OSError if it fails."""
    def __init__(self):
        self._c = C.CDLL(os.environ.get("ARROWDEVICE_LIBRARY") or "libarrowdevice.so.0")

    def __getattr__(self, name):
        function = getattr(self._c, "arrowdevice_" + name)
        # A function without a result ignores the error, which is an additional argument then.
        function.restype = None if name.endswith(("_release", "_detach")) else C.c_int

        def call(*arguments):
            error = Error()
            # An `int` parameter reads the low bits of a 64-bit argument.
            given = [_i64(one) if isinstance(one, int) else getattr(one, "pointer", one) for one in arguments]
            if code := function(*given, C.byref(error)):
                raise OSError(code, f"{function.__name__}: {error.message.decode()}")
        setattr(self, name, call)
        return call

    def device(self, name):
        out = C.c_void_p()
        self.device_find_by_name(name.encode(), C.byref(out))
        return out


def _method(function, out="DeviceArray", has_options=False):
    """Makes a method that calls a function of the library and returns its output."""
    def method(self, *arguments, flags=0):
        made, options = globals()[out](self.lib), CopyOptions(struct_size=C.sizeof(CopyOptions), flags=flags)
        getattr(self.lib, function)(self, *arguments, *([C.byref(options) if flags else None] * has_options), made)
        return made
    return method


class _Owner:
    """Owns a struct, and releases it if no call has moved it."""
    def __init__(self, lib):
        self.lib, self.c = lib, self._struct()
        self.address, self.pointer = C.addressof(self.c), C.byref(self.c)

    def release(self):
        getattr(self.lib, self._release)(self)
    __del__ = release
    released = property(lambda self: not getattr(self.c, "array", self.c).release)


class Schema(_Owner):
    _struct, _release = ArrowSchema, "schema_release"
    copy = _method("schema_copy", "Schema")


class HostArray(_Owner):
    _struct, _release = ArrowArray, "host_array_release"


class DeviceArray(_Owner):
    _struct, _release = ArrowDeviceArray, "array_release"
    from_host, share, slice = staticmethod(_method("array_from_host")), _method("array_share"), _method("array_slice")
    copy, to_device = _method("array_copy", has_options=True), _method("array_to_device", has_options=True)
    to_host, _select = _method("array_to_host", "HostArray", True), _method("array_select", "Schema")

    def select(self, schema, children):
        out, indices = DeviceArray(self.lib), (C.c_int64 * len(children))(*children)
        return out, self._select(schema, indices, len(children), out)

    def wait(self, timeout_ns=0):
        self.lib.array_wait(self, None, timeout_ns)

    def validate(self, schema, level=VALIDATE_STRUCTURE):
        self.lib.array_validate(self, schema, None, level)
