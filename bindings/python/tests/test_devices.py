# SPDX-License-Identifier: Apache-2.0
import pickle
import re

import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad


def test_devices_contains_the_cpu():
    cpu = ad.device("cpu")
    assert cpu in ad.devices()
    assert (cpu.name, cpu.device_type, cpu.device_id, cpu.backend) == ("cpu:0", ad.DeviceType.CPU, cpu.device_id, "cpu")
    assert cpu.is_host_readable and cpu.has_addresses and not cpu.is_wrapped
    assert cpu.memory().total > cpu.memory().free > 0


def test_a_device_is_found_by_the_name_it_has(device):
    assert ad.device(device.name) == device
    assert hash(ad.device(device.name)) == hash(device)
    assert ad.device(device) is device
    assert device in ad.devices()
    assert pickle.loads(pickle.dumps(device)) == device
    assert device != device.name


def test_devices_report_their_properties(device):
    assert device.description and device.vendor is not None
    assert device.total_memory is None or device.total_memory > 0
    assert device.numa_node is None or device.numa_node >= 0
    assert device.buffer_alignment >= 1
    assert re.fullmatch(r"<arrowdevice\.Device \w+:\d+: .+>", repr(device))


def test_two_devices_of_one_type_are_not_equal():
    first, second = ad.device("ext_dev:0"), ad.device("ext_dev:1")
    assert first != second and first.uuid != second.uuid
    assert first.has_addresses and not second.has_addresses


@pytest.mark.parametrize("name, number", [
    ("CPU", 1), ("CUDA", 2), ("CUDA_HOST", 3), ("OPENCL", 4), ("VULKAN", 7), ("METAL", 8), ("VPI", 9), ("ROCM", 10),
    ("ROCM_HOST", 11), ("EXT_DEV", 12), ("CUDA_MANAGED", 13), ("ONEAPI", 14), ("WEBGPU", 15), ("HEXAGON", 16),
])  # fmt: skip
def test_device_type_has_the_numbers_of_the_format(name, number):
    assert ad.DeviceType[name] == number
    assert ad._core.device_type_name(number) == name.lower()


def test_can_access_and_can_copy_from_report_peer_access():
    cpu, other = ad.device("cpu"), ad.device("ext_dev:0")
    assert cpu.can_access("cpu") and cpu.can_copy_from(cpu)
    assert not cpu.can_access(other) and not other.can_access("cpu")
    assert other.can_copy_from(cpu)


def test_counters_and_pool_statistics_count_a_copy(accelerator, batch):
    before, used = accelerator.counters(), accelerator.pool().used_bytes
    array = ad.to_device(batch, accelerator, copy=True)
    after = accelerator.counters()
    assert after.bytes_in > before.bytes_in and after.submissions > before.submissions
    assert accelerator.pool().used_bytes > used
    array.release()
    ad.wait_idle(10)
    assert accelerator.pool().used_bytes == used
    accelerator.trim()
    assert accelerator.pool().cached_bytes == 0


def test_explain_lists_every_searched_place():
    ad.devices()
    loaded = {report.backend for report in ad.explain() if report.status == 0}
    assert {"cpu", "sim"} <= loaded
    assert any(report.reason for report in ad.explain())


@pytest.mark.parametrize("name", ["gpu", "opencl:x", "opencl:-1", "", "cpu:0:0"])
def test_device_refuses_a_name_of_another_form(name):
    with pytest.raises(ValueError):
        ad.device(name)


def test_device_refuses_a_name_that_is_not_a_str():
    with pytest.raises(TypeError, match="int"):
        ad.device(4)


def test_device_raises_device_not_found_for_a_missing_device():
    with pytest.raises(ad.DeviceNotFoundError, match="ext_dev:7"):
        ad.device("ext_dev:7")


def test_a_device_is_found_by_type_and_by_a_pair(device):
    assert ad.device((device.device_type, device.device_id)) == device
    if device.device_id == 0:
        assert ad.device(ad.DeviceType(device.device_type)) == device
    assert ad.device(device.name.upper()) == device
    for bad in (1.5, (1, 2, 3), ("cpu", 0), None):
        with pytest.raises(TypeError, match="invalid device"):
            ad.device(bad)
    with pytest.raises(ad.InvalidError, match='did you mean "opencl"'):
        ad.device("openlc:0")


def test_wrap_uses_a_context_of_the_program(run_python):
    out = run_python(
        """
        import weakref
        import arrowdevice as ad, pyarrow as pa

        class Context:
            pass

        owner = Context()
        gone = weakref.ref(owner)
        device = ad.Device.wrap(ad.DeviceType.EXT_DEV, context=0x1234, owner=owner, extensions=["VK_one", "VK_two"])
        del owner
        print(device.is_wrapped, device == ad.device("ext_dev:0"), gone() is not None)
        there = ad.to_device(pa.array([1, 2]), device)
        print(there.device == device, there.to_pylist())
        try:
            device.close()
        except ad.BusyError:
            print("in use")
        there.release()
        device.close()
        print(gone() is None)
        try:
            ad.to_device(pa.array([1, 2]), device)
        except ad.DeviceNotFoundError:
            print("closed")
        one, other = (ad.Device.wrap(12, 0, context=0x1234) for _ in range(2))
        one.close()
        one.close()
        print(other.memory().total > 0)
        other.close()
        with ad.Device.wrap(12, 0, context=0x1234) as again:
            print(ad.Array.from_buffers(pa.int64(), 2, [None, ad.Memory(again, 16)], device=again).device == again)
        """
    )
    assert out.split("\n")[:-1] == ["True False True", "True [1, 2]", "in use", "True", "closed", "True", "True"]


def test_wrap_refuses_a_context_that_the_backend_cannot_use():
    with pytest.raises(ad.InvalidError, match="context"):
        ad.Device.wrap(ad.DeviceType.EXT_DEV)
    with pytest.raises(ad.NotSupportedError):
        ad.Device.wrap(ad.DeviceType.CPU, context=1)


def test_wrap_puts_an_array_into_a_context_of_opencl():
    cl = pytest.importorskip("pyopencl")
    context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
    handles = {"context": context.int_ptr, "device": context.devices[0].int_ptr}
    with ad.Device.wrap(ad.DeviceType.OPENCL, owner=context, **handles) as device:
        there = ad.to_device(pa.array([5, 6, 7]), device)
        buffer = cl.Buffer.from_int_ptr(there.buffers()[1].address)
        assert buffer.context == context
        read = np.zeros(3, np.int64)
        cl.enqueue_copy(cl.CommandQueue(context), read, buffer)
        assert read.tolist() == [5, 6, 7]
        buffer.release()
        there.release()
