# SPDX-License-Identifier: Apache-2.0
"""Export and import of the library's structs through the Arrow PyCapsule protocol."""

import ctypes as C

import c_api as ad

# Each function has its own instance, because prototypes on ctypes.pythonapi would be global.
_destructor = C.CFUNCTYPE(None, C.c_void_p)
_new = C.PyDLL(None).PyCapsule_New
_new.restype, _new.argtypes = C.py_object, [C.c_void_p, C.c_char_p, _destructor]
_pointer = C.PyDLL(None).PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]

_name_of = {ad.Schema: b"arrow_schema", ad.HostArray: b"arrow_array", ad.DeviceArray: b"arrow_device_array"}
_offered = {}  # the owners of the structs in live capsules, by address
_dying = C.PyDLL(None).PyCapsule_GetPointer  # for a capsule in destruction, which must get no new reference
_dying.restype, _dying.argtypes = C.c_void_p, [C.c_void_p, C.c_char_p]


def _destructor_of(name):
    def destroy(capsule):
        del _offered[_dying(capsule, name)]  # the owner releases a struct that is still there

    return _destructor(destroy)


_destructors = {name: _destructor_of(name) for name in _name_of.values()}


def capsule_of(owner):
    """Returns a capsule that holds an owner."""
    name = _name_of[type(owner)]
    _offered[owner.address] = owner
    return _new(owner.address, name, _destructors[name])


def owner_of(lib, capsule, kind):
    """Moves a struct out of a capsule into an owner."""
    owner = kind(lib)
    source = C.cast(_pointer(capsule, _name_of[kind]), C.POINTER(kind._struct)).contents
    assert (source.array if kind is ad.DeviceArray else source).release, "the capsule was empty"
    C.memmove(owner.address, C.addressof(source), C.sizeof(source))
    (source.array if kind is ad.DeviceArray else source).release = None
    return owner


class _Offered:
    def __init__(self, array, schema):
        self._array, self._schema = array, schema

    def __arrow_c_schema__(self):
        return capsule_of(self._schema.copy())

    def _give(self):
        given, self._array = self._array, None
        return capsule_of(self._schema.copy()), capsule_of(given)


class HostOffer(_Offered):
    """Exports an array of the library once."""

    def __arrow_c_array__(self, requested_schema=None):
        return self._give()


class DeviceOffer(_Offered):
    """Exports a device array of the library once."""

    def __arrow_c_device_array__(self, requested_schema=None, **more):
        return self._give()


def taken(lib, data):
    """Returns the array and schema that an object exports."""
    schema, array = data.__arrow_c_array__()
    return owner_of(lib, array, ad.HostArray), owner_of(lib, schema, ad.Schema)


def taken_from_device(lib, data):
    """Returns the device array and schema that an object exports."""
    schema, array = data.__arrow_c_device_array__()
    return owner_of(lib, array, ad.DeviceArray), owner_of(lib, schema, ad.Schema)
