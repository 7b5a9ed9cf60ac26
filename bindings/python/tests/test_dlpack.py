# SPDX-License-Identifier: Apache-2.0
import gc
import weakref

import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad
from arrowdevice import _dlpack


class Legacy:
    """A producer or consumer from before versions."""

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


def test_a_tensor_is_taken_without_a_copy():
    values = np.arange(12, dtype=np.int32).reshape(3, 4)
    array = ad.Array(values)
    assert array.type == "fixed_size_list<item: int32>[4]" and len(array) == 3
    assert data_of(array) == address(values)
    assert array.to_pyarrow().to_pylist() == values.tolist()


def test_a_tensor_is_given_without_a_copy():
    array = ad.Array(pa.array([1.5, 2.5, 3.5]))
    tensor = np.from_dlpack(array[1:])
    assert tensor.tolist() == [2.5, 3.5]
    assert address(tensor) == data_of(array) + 8
    assert not tensor.flags.writeable


def test_tensors_from_before_versions():
    values = np.arange(5, dtype=np.float64)
    array = ad.Array(Legacy(values))
    assert data_of(array) == address(values)
    again = np.from_dlpack(Legacy(array))
    assert again.tolist() == values.tolist() and address(again) == address(values)


def test_the_kind_of_capsule_follows_the_version():
    array = ad.Array(pa.array([1, 2]))
    assert '"dltensor"' in repr(array.__dlpack__())
    assert '"dltensor"' in repr(array.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(2, 5)))


def test_a_tensor_keeps_its_memory_and_lets_it_go():
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


def test_capsules_that_nobody_takes_let_the_memory_go():
    before = pa.total_allocated_bytes()
    array = ad.copy(pa.array(range(1000)), "cpu")
    array.__dlpack__(), array.__dlpack__(max_version=(1, 0))
    used = ad.device("cpu").pool().used
    del array
    ad.quiesce(10)
    assert ad.device("cpu").pool().used < used or used == 0
    assert pa.total_allocated_bytes() == before


def test_a_tensor_that_was_taken_is_not_taken_again():
    capsule = np.arange(3).__dlpack__()

    class Given:
        def __dlpack__(self, **kwargs):
            return capsule

        def __dlpack_device__(self):
            return 1, 0

    assert len(ad.Array(Given())) == 3
    with pytest.raises(TypeError, match="nobody has taken"):
        ad.Array(Given())


def test_where_it_is(accelerator):
    array = ad.move(pa.array([1, 2, 3]), accelerator)
    assert ad.Array(pa.array([1])).__dlpack_device__() == (1, 0)
    assert array.__dlpack_device__() == (accelerator.device_type, accelerator.device_id)


def test_a_tensor_on_a_device_is_shared_there(accelerator):
    array = ad.move(pa.array([1, 2, 3]), accelerator)
    again = ad.Array(Gives(array))
    assert again.device == accelerator and data_of(again) == data_of(array)
    assert again.to_pyarrow().to_pylist() == [1, 2, 3]


class Gives:
    """Only DLPack of an array."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


def test_a_consumer_may_ask_for_the_cpu(accelerator):
    array = ad.move(pa.array([1, 2, 3]), accelerator)
    assert np.from_dlpack(array, device="cpu").tolist() == [1, 2, 3]
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))
    # The stream of __dlpack_device__, which some consumers ask for all the same, does not matter to a complete copy.
    assert '"dltensor_versioned"' in repr(array.__dlpack__(max_version=(1, 0), dl_device=(1, 0), stream=1))
    with pytest.raises(BufferError, match="cop"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="not on"):
        array.__dlpack__(dl_device=(2, 0))


def test_a_copy_on_demand():
    array = ad.Array(pa.array([1, 2, 3]))
    assert address(np.from_dlpack(array, copy=True)) != data_of(array)
    assert address(np.from_dlpack(array, copy=False)) == data_of(array)
    assert np.from_dlpack(array, copy=True).flags.writeable
    assert not np.from_dlpack(array).flags.writeable


class Driven:
    """A device, as far as streams are concerned."""

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
def test_streams_of_consumers(monkeypatch, device, stream, queue):
    """By the array API standard's table of streams; None: the CPU waits."""
    monkeypatch.setattr(_dlpack._core, "Queue", lambda _, native: native)
    if queue is ValueError:
        with pytest.raises(ValueError):
            _dlpack._queue(device, stream)
    else:
        assert _dlpack._queue(device, stream) == queue


def test_streams_have_no_meaning_without_a_device_that_has_them(device):
    array = ad.move(pa.array([1, 2]), device)
    array.__dlpack__(stream=-1)
    with pytest.raises(ValueError, match="stream"):
        array.__dlpack__(stream=5)


@pytest.mark.parametrize("values", [
    pa.array([1, None]), pa.array(["a"]), pa.array([True]), pa.array([[1], [2, 3]]), pa.array([{"a": 1}]),
])  # fmt: skip
def test_what_is_no_tensor_is_a_buffer_error(values):
    with pytest.raises(BufferError):
        np.from_dlpack(ad.Array(values))


@pytest.mark.parametrize("values", [np.array([True]), np.arange(4)[::2], np.arange(6).reshape(2, 3).T, np.array([1j])])
def test_what_is_no_array_is_refused(values):
    with pytest.raises(NotImplementedError):
        ad.Array(values)
