# SPDX-License-Identifier: Apache-2.0
import ctypes
import gc
import types
import weakref

import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad
from arrowdevice import _dlpack


class Legacy:
    """A producer or consumer that is older than versions."""

    def __init__(self, obj):
        self.obj = obj

    def __dlpack__(self, *, stream=None):
        return self.obj.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.obj.__dlpack_device__()


def address(array):
    return array.__array_interface__["data"][0]


def data_of(array):
    return next(b.address for b in array.buffers() if b.role == "data")


def test_array_imports_a_tensor_without_a_copy():
    values = np.arange(12, dtype=np.int32).reshape(3, 4)
    array = ad.Array(values)
    assert array.type == "fixed_size_list<item: int32>[4]" and len(array) == 3
    assert data_of(array) == address(values)
    assert array.to_pyarrow().to_pylist() == values.tolist()


def test_from_dlpack_imports_an_array_without_a_copy():
    array = ad.Array(pa.array([1.5, 2.5, 3.5]))
    tensor = np.from_dlpack(array[1:])
    assert tensor.tolist() == [2.5, 3.5]
    assert address(tensor) == data_of(array) + 8
    assert not tensor.flags.writeable


def test_legacy_tensors_are_imported_and_exported():
    values = np.arange(5, dtype=np.float64)
    array = ad.Array(Legacy(values))
    assert data_of(array) == address(values)
    again = np.from_dlpack(Legacy(array))
    assert again.tolist() == values.tolist() and address(again) == address(values)


def test_the_capsule_kind_follows_max_version():
    array = ad.Array(pa.array([1, 2]))
    assert '"dltensor"' in repr(array.__dlpack__())
    assert '"dltensor"' in repr(array.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(2, 5)))


def test_a_tensor_holds_its_memory_until_its_deletion():
    values = np.arange(100)
    gone = weakref.ref(values)
    for wrap in (lambda x: x, Legacy):
        array = ad.Array(wrap(values))
    del values
    tensor = np.from_dlpack(array)
    del array
    gc.collect()
    assert gone() is not None and tensor[99] == 99
    del tensor
    gc.collect()
    assert gone() is None


def test_unconsumed_tensor_capsules_release_their_memory():
    before = pa.total_allocated_bytes()
    array = ad.to_device(pa.array(range(1000)), "cpu", copy=True)
    array.__dlpack__(), array.__dlpack__(max_version=(1, 0))
    used = ad.device("cpu").pool().used_bytes
    del array
    ad.wait_idle(10)
    assert ad.device("cpu").pool().used_bytes < used or used == 0
    assert pa.total_allocated_bytes() == before


def test_array_refuses_a_consumed_tensor_capsule():
    capsule = np.arange(3).__dlpack__()

    class Given:
        def __dlpack__(self, **kwargs):
            return capsule

        def __dlpack_device__(self):
            return 1, 0

    assert len(ad.Array(Given())) == 3
    with pytest.raises(TypeError, match="unconsumed"):
        ad.Array(Given())


def test_dlpack_device_reports_the_device_of_an_array(accelerator):
    array = ad.to_device(pa.array([1, 2, 3]), accelerator)
    assert ad.Array(pa.array([1])).__dlpack_device__() == (1, 0)
    assert array.__dlpack_device__() == (accelerator.device_type, accelerator.device_id)


def test_array_shares_a_tensor_on_the_same_device(accelerator):
    array = ad.to_device(pa.array([1, 2, 3]), accelerator)
    again = ad.Array(Gives(array))
    assert again.device == accelerator and data_of(again) == data_of(array)
    assert again.to_pyarrow().to_pylist() == [1, 2, 3]


class Gives:
    """Has only the DLPack methods of an array."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_dlpack_exports_to_the_cpu_when_the_consumer_asks(accelerator):
    array = ad.to_device(pa.array([1, 2, 3]), accelerator)
    assert np.from_dlpack(array, device="cpu").tolist() == [1, 2, 3]
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))
    # Some consumers also pass the stream of __dlpack_device__. It does not matter, because the copy is complete.
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0), dl_device=(1, 0), stream=1))
    if accelerator.is_host_readable and not accelerator.name.startswith("ext_dev"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    else:
        with pytest.raises(ad.NotShareableError, match="cop") as raised:
            array.__dlpack__(dl_device=(1, 0), copy=False)
        assert isinstance(raised.value, BufferError)
    with pytest.raises(BufferError, match="invalid dl_device"):
        array.__dlpack__(dl_device=(8, 0))


def test_dlpack_copies_when_copy_is_true():
    array = ad.Array(pa.array([1, 2, 3]))
    assert address(np.from_dlpack(array, copy=True)) != data_of(array)
    assert address(np.from_dlpack(array, copy=False)) == data_of(array)
    assert np.from_dlpack(array, copy=True).flags.writeable
    assert not np.from_dlpack(array).flags.writeable


class Driven:
    """A device with the properties that streams need."""

    _core, name = None, "some:0"

    def __init__(self, device_type):
        self.device_type = device_type


CUDA, MANAGED, ROCM = map(Driven, (ad.DeviceType.CUDA, ad.DeviceType.CUDA_MANAGED, ad.DeviceType.ROCM))


@pytest.mark.parametrize("device, stream, queue", [
    (CUDA, None, 0), (CUDA, 1, 0), (CUDA, 2, 2), (CUDA, 4096, 4096), (CUDA, -1, None), (CUDA, 0, ValueError),
    (CUDA, -2, ValueError), (MANAGED, None, None), (MANAGED, 1, 0), (MANAGED, -1, None), (ROCM, None, 0), (ROCM, 0, 0),
    (ROCM, 4096, 4096), (ROCM, -1, None), (ROCM, 1, ValueError), (ROCM, 2, ValueError),
    (Driven(ad.DeviceType.OPENCL), None, None), (Driven(ad.DeviceType.OPENCL), 1, ValueError),
])  # fmt: skip
def test_queues_follow_the_stream_table_of_the_array_api(monkeypatch, device, stream, queue):
    """Follows the table of streams in the array API standard. None means that the CPU waits."""
    monkeypatch.setattr(_dlpack._core, "Queue", types.SimpleNamespace(wrap=lambda _, native, family: native))
    if queue is ValueError:
        with pytest.raises(ValueError):
            _dlpack._queue(device, stream)
    else:
        assert _dlpack._queue(device, stream) == queue


def test_dlpack_refuses_a_stream_on_a_device_without_streams(device):
    if device.device_type in (ad.DeviceType.CUDA, ad.DeviceType.CUDA_MANAGED):
        pytest.skip("the device has streams")
    array = ad.to_device(pa.array([1, 2]), device)
    array.__dlpack__(stream=-1)
    with pytest.raises(ValueError, match="stream"):
        array.__dlpack__(stream=5)


@pytest.mark.parametrize("values", [
    pa.array([1, None]), pa.array(["a"]), pa.array([True]), pa.array([[1], [2, 3]]), pa.array([{"a": 1}]),
])  # fmt: skip
def test_from_dlpack_raises_buffer_error_for_an_array_that_is_not_a_tensor(values):
    with pytest.raises(BufferError):
        np.from_dlpack(ad.Array(values))


@pytest.mark.parametrize("values", [np.array([True]), np.arange(4)[::2], np.arange(6).reshape(2, 3).T, np.array([1j])])
def test_array_refuses_a_tensor_that_is_not_an_array(values):
    with pytest.raises(NotImplementedError):
        ad.Array(values)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_consumer_may_call_the_deleter_of_a_tensor_that_it_refuses(version):
    class Head(ctypes.Structure):  # of either struct, up to the deleter
        _fields_ = [("words", ctypes.c_uint64 * (2 if version else 7)), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]

    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for _ in range(100):
        array = ad.to_device(pa.array([1, 2, 3], pa.int32()), "cpu", copy=True)
        capsule = array.__dlpack__(max_version=version)
        pointer = pointer_of(capsule, b"dltensor_versioned" if version else b"dltensor")
        Head.from_address(pointer).deleter(pointer)
        del capsule  # calls it once more
        assert pa.array(array).to_pylist() == [1, 2, 3]
