# SPDX-License-Identifier: Apache-2.0
"""Export and import of DLPack tensors in versioned capsules between the library and NumPy."""

import ctypes as C
import errno
import gc
import threading
import weakref

import c_api as ad
import numpy as np
import pyarrow as pa
import pytest

pytestmark = pytest.mark.usefixtures("nothing_left")

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]

# -- capsules -------------------------------------------------------------------------------------------------------

FRESH, USED = b"dltensor_versioned", b"used_dltensor_versioned"


def _python(name, result, *parameters):
    function = C.PyDLL(None)[name]  # an own instance, because prototypes on ctypes.pythonapi would be global
    function.restype, function.argtypes = result, parameters
    return function


_Deleter = C.CFUNCTYPE(None, C.c_void_p)
_new = _python("PyCapsule_New", C.py_object, C.c_void_p, C.c_char_p, _Deleter)
_pointer = _python("PyCapsule_GetPointer", C.c_void_p, C.py_object, C.c_char_p)
_set_name = _python("PyCapsule_SetName", C.c_int, C.py_object, C.c_char_p)
# These take a capsule in destruction, which must get no new reference.
_is_dying = _python("PyCapsule_IsValid", C.c_int, C.c_void_p, C.c_char_p)
_pointer_of_dying = _python("PyCapsule_GetPointer", C.c_void_p, C.c_void_p, C.c_char_p)


class Managed(C.Structure):
    """The first members of a DLManagedTensorVersioned and its tensor."""

    _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32), ("context", C.c_void_p), ("deleter", C.c_void_p),
                ("flags", C.c_uint64), ("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32),
                ("ndim", C.c_int32), ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16),
                ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64)]


def managed(address):
    return C.cast(address, C.POINTER(Managed)).contents


def delete(address):
    _Deleter(managed(address).deleter)(address)


@_Deleter
def _destroy(capsule):
    if _is_dying(capsule, FRESH):  # no consumer has moved the tensor
        delete(_pointer_of_dying(capsule, FRESH))


class Tensor:
    """Exports a tensor of the library once."""

    def __init__(self, address):
        self.device = managed(address).device_type, managed(address).device_id
        self._capsule = _new(address, FRESH, _destroy)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert max_version >= (1, 0)
        given, self._capsule = self._capsule, None
        return given


def numbers_of_pyarrow(lib):
    """Returns an array that is the only owner of some memory of pyarrow."""
    array, schema = from_pyarrow(lib, pa.array(range(1000), type=pa.int64()))
    copied = schema.copy()  # pyarrow's schema also uses its memory
    schema.release()
    return array, copied


def export(array, schema):
    out = C.c_void_p()
    array.lib.dlpack_export(C.byref(array.c), C.byref(schema.c), None, C.byref(out))
    return out.value


def take(lib, source):
    """Imports a tensor of NumPy."""
    capsule = source.__dlpack__(max_version=(1, 0))
    array, schema = ad.DeviceArray(lib), ad.Schema(lib)
    lib.dlpack_import(_pointer(capsule, FRESH), None, C.byref(array.c), C.byref(schema.c))
    assert _set_name(capsule, USED) == 0
    return array, schema


def message(function, *arguments):
    """Returns the error message of a call. pytest.raises() would hold references to the arguments."""
    try:
        function(*arguments)
    except OSError as error:
        return f"{errno.errorcode[error.errno]}: {error.strerror}"
    pytest.fail("the call succeeded")


def refusal(lib, source):
    """Returns the error message of an import. The capsule is unchanged and still deletes the tensor."""
    capsule = source.__dlpack__(max_version=(1, 0))
    address = _pointer(capsule, FRESH)
    before = bytes(managed(address))
    array, schema = ad.DeviceArray(lib), ad.Schema(lib)
    why = message(lib.dlpack_import, address, None, C.byref(array.c), C.byref(schema.c))
    assert array.released and schema.released
    assert bytes(managed(address)) == before
    return why


def from_pyarrow(lib, data):
    array, schema = ad.HostArray(lib), ad.Schema(lib)
    data._export_to_c(array.address, schema.address)
    return ad.DeviceArray.from_host(array), schema


def to_pyarrow(array, schema):
    host, given_away = array.to_host(schema), schema.copy()
    received = pa.Array._import_from_c(host.address, given_away.address)
    received.validate(full=True)
    return received


# -- to numpy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_shares_the_numbers_of_an_array(machine, dtype):
    numbers = np.arange(67).astype(dtype)
    for data in [pa.array(numbers), pa.array(numbers)[5:25], pa.array(numbers)[:0]]:
        array, schema = from_pyarrow(machine.lib, data)
        seen = np.from_dlpack(Tensor(export(array, schema)))
        assert seen.dtype == numbers.dtype
        assert np.array_equal(seen, data.to_numpy())
        if len(data):
            assert not seen.flags.writeable
            assert seen.ctypes.data == data.buffers()[1].address + data.offset * numbers.itemsize


def test_numpy_shares_nested_lists_of_fixed_size(machine):
    numbers = pa.array(np.arange(2 * 3 * 4 * 5, dtype="float32"))
    pairs = pa.FixedSizeListArray.from_arrays(numbers[8:], 4)
    data = pa.FixedSizeListArray.from_arrays(pairs[1:], 3)[2:7]
    array, schema = from_pyarrow(machine.lib, data)
    seen = np.from_dlpack(Tensor(export(array, schema)))
    first = 8 + 4 + 2 * 12
    assert np.array_equal(seen, np.arange(first, first + 60).reshape(5, 3, 4))
    assert seen.tolist() == data.to_pylist()


def test_numpy_shares_a_tensor_column_of_pyarrow(machine):
    numbers = np.arange(24, dtype="int16").reshape(4, 2, 3)
    array, schema = from_pyarrow(machine.lib, pa.FixedShapeTensorArray.from_numpy_ndarray(numbers).storage)
    seen = np.from_dlpack(Tensor(export(array, schema)))
    assert np.array_equal(seen.reshape(numbers.shape), numbers)


def test_a_tensor_outlives_its_array(machine):
    before = pa.total_allocated_bytes()
    array, schema = numbers_of_pyarrow(machine.lib)
    seen = np.from_dlpack(Tensor(export(array, schema)))
    array.release()
    assert pa.total_allocated_bytes() > before
    assert seen.sum() == 499500
    del seen
    assert pa.total_allocated_bytes() == before


def test_another_thread_may_delete_a_tensor(machine):
    before = pa.total_allocated_bytes()
    array, schema = numbers_of_pyarrow(machine.lib)
    address = export(array, schema)
    array.release()
    ending = threading.Thread(target=delete, args=(address,))
    ending.start()
    ending.join()
    assert pa.total_allocated_bytes() == before


def test_an_unconsumed_capsule_deletes_its_tensor(machine):
    before = pa.total_allocated_bytes()
    array, schema = numbers_of_pyarrow(machine.lib)
    tensor = Tensor(export(array, schema))
    array.release()
    assert pa.total_allocated_bytes() > before
    del tensor
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize(
    "data, reason",
    [
        (pa.array([1, None, 3]), "array: 1 slot is null"),
        (pa.array([[1, 2], [3, None]], type=pa.list_(pa.int8(), 2)), "array.item: 1 slot is null"),
        (pa.array([True, False]), "array: booleans are bits in Arrow"),
        (pa.array(["words"]), "array: its layout is binary"),
        (pa.array([1], type=pa.timestamp("us")), 'array: DLPack has no dtype for "tsu:"'),
        (pa.array([1.5]).cast(pa.decimal128(5, 2)), 'array: DLPack has no dtype for "d:5,2"'),
        (pa.array(["a", "b"]).dictionary_encode(), "array: it is dictionary-encoded"),
    ],
    ids=["null", "null item", "booleans", "strings", "timestamps", "decimals", "dictionary"],
)
def test_export_refuses_an_array_that_is_not_a_tensor(machine, data, reason):
    array, schema = from_pyarrow(machine.lib, data)
    why = message(export, array, schema)
    assert "ENOTSUP" in why and reason in why
    assert to_pyarrow(array, schema).equals(data)


# -- from numpy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_import_shares_the_numbers_of_numpy(machine, dtype):
    numbers = np.arange(67).astype(dtype)
    for given in [numbers, numbers[5:25], numbers[:0], numbers[3:4]]:
        array, schema = take(machine.lib, given)
        received = to_pyarrow(array, schema)
        assert received.type == pa.from_numpy_dtype(numbers.dtype)
        assert np.array_equal(received.to_numpy(), given)
        if len(given):
            assert received.buffers()[1].address == given.ctypes.data  # shared memory


def test_import_makes_nested_lists_of_a_tensor(machine):
    numbers = np.arange(4 * 3 * 5, dtype="uint16").reshape(4, 3, 5)
    for given in [numbers, numbers[1:3], numbers[:0], numbers[:, :, :0], numbers.reshape(4, 1, 15)[:, :1]]:
        array, schema = take(machine.lib, given)
        received = to_pyarrow(array, schema)
        assert received.type == pa.list_(pa.list_(pa.uint16(), given.shape[2]), given.shape[1])
        assert received.to_pylist() == given.tolist()


def test_import_makes_one_row_of_a_scalar(machine):
    array, schema = take(machine.lib, np.array(2.5))
    assert to_pyarrow(array, schema).equals(pa.array([2.5]))


def test_import_accepts_a_read_only_tensor(machine):
    numbers = np.arange(5)
    numbers.flags.writeable = False
    array, schema = take(machine.lib, numbers)
    assert to_pyarrow(array, schema).to_pylist() == [0, 1, 2, 3, 4]


def test_a_tensor_lives_until_its_array_is_released(machine):
    class Numbers(np.ndarray):
        """Allows weak references, unlike np.ndarray."""

    numbers = np.arange(100).view(Numbers)
    alive = weakref.ref(numbers)
    array, schema = take(machine.lib, numbers)
    other = array.share()
    del numbers
    array.release()
    gc.collect()
    assert alive() is not None
    assert to_pyarrow(other, schema).to_pylist() == list(range(100))
    other.release()
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "given, reason",
    [
        (np.array([True, False]), "booleans are bytes in DLPack"),
        (np.array([1 + 2j]), "Arrow has no type for complex128"),
        (np.arange(6)[::2], "dimension 0 has stride 2, and in compact row-major order has 1"),
        (np.arange(6)[::-1], "dimension 0 has stride -1"),
        (np.arange(6).reshape(2, 3).T, "dimension 1 has stride 3"),
        (np.arange(6).reshape(2, 3)[:, :2], "dimension 0 has stride 3, and in compact row-major order has 2"),
        (np.broadcast_to(np.arange(3), (2, 3)), "dimension 0 has stride 0"),
    ],
    ids=["booleans", "complex", "steps", "backward", "transposed", "columns", "broadcast"],
)
def test_import_refuses_a_tensor_that_is_not_an_array(machine, given, reason):
    why = refusal(machine.lib, given)
    assert "ENOTSUP" in why and reason in why


# -- devices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["sim0", "sim1"])
def test_tensors_on_a_device_survive_the_round_trip(machine, device):
    data = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(30, dtype="float16")), 3)[2:9]
    array, schema = from_pyarrow(machine.lib, data)
    there = array.copy(schema, getattr(machine, device), flags=ad.COPY_NO_TRIM)
    tensor = Tensor(export(there, schema))
    there.release()
    kind, number = tensor.__dlpack_device__()
    assert (kind, number) == (ad.DEVICE_EXT_DEV, int(device[-1]))
    back, back_schema = take(machine.lib, tensor)
    assert to_pyarrow(back, back_schema).equals(data)
