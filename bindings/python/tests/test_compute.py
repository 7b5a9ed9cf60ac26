# SPDX-License-Identifier: Apache-2.0
"""Work of the program on arrays: queues, memory for results, arrays of buffers, and buffers as tensors."""

import ctypes
import gc
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad

SLOW = "addresses:latency_us=300000"


def test_a_queue_has_a_device_and_finishes(device):
    with ad.Queue(device) as queue:
        assert queue.device == device
        queue.finish()
        array = ad.to_device(pa.array(range(1000)), device, copy=True, wait=False)
        with queue.use(array):
            pass
        queue.finish(30)
    with pytest.raises(ValueError, match="closed"):
        queue.finish()


def test_use_holds_the_memory_until_the_work_has_finished(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        device = ad.device("ext_dev:0")
        queue = ad.Queue(device)
        array = ad.to_device(pa.array(range(1000)), device)
        with queue.use(array):
            # This copy stands for a kernel of the program. It writes memory of the queue for 0.3 seconds.
            busy = ad.to_device(pa.array(range(1000)), device, copy=True, wait=False, queue=queue)
        used = device.pool().used_bytes
        array.release()
        print("held:", device.pool().used_bytes == used)
        queue.finish()
        ad.wait_idle()
        del busy
        print("free:", device.pool().used_bytes)
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.splitlines() == ["held: True", "free: 0"]


def test_use_holds_arrays_that_are_released_in_the_block(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        device = ad.device("ext_dev:0")
        queue = ad.Queue(device)
        one, two = (ad.to_device(pa.array(range(1000)), device) for _ in range(2))
        with queue.use(one, two):
            busy = ad.to_device(pa.array(range(1000)), device, copy=True, wait=False, queue=queue)
            one.release()
        used = device.pool().used_bytes
        del two
        print("held:", device.pool().used_bytes == used)
        queue.finish()
        ad.wait_idle()
        del busy
        print("free:", device.pool().used_bytes)
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.splitlines() == ["held: True", "free: 0"]


def test_use_holds_arrays_if_another_thread_uses_the_queue_at_its_end(run_python):
    out = run_python(
        """
        import threading, time
        import arrowdevice as ad, pyarrow as pa

        device = ad.device("ext_dev:0")
        queue = ad.Queue(device)
        array = ad.to_device(pa.array(range(1000)), device)
        try:
            with queue.use(array):
                busy = ad.to_device(pa.array(range(1000)), device, copy=True, wait=False, queue=queue)
                finishing = threading.Thread(target=queue._core.finish, args=(0,))
                finishing.start()
                time.sleep(0.1)  # the thread waits for the copy, which takes 0.3 seconds
        except RuntimeError as error:
            print(error)
        used = device.pool().used_bytes
        del array
        print("held:", device.pool().used_bytes == used)
        finishing.join()
        queue.finish()
        del busy
        print("free:", device.pool().used_bytes)
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.splitlines() == ["another thread or a stream uses the queue", "held: True", "free: 0"]


def test_use_holds_arrays_if_the_program_forgets_the_queue(run_python):
    out = run_python(
        """
        import gc
        import arrowdevice as ad, pyarrow as pa

        device = ad.device("ext_dev:0")
        array = ad.to_device(pa.array(range(1000)), device)
        queue = ad.Queue(device)
        try:
            with queue.use(array):
                queue._core.close()  # so the block cannot release the array behind the work
        except ValueError as error:
            print(error)
        used = device.pool().used_bytes
        del array, queue
        gc.collect()
        print("held:", device.pool().used_bytes == used)
        """
    )
    assert out.splitlines()[1:] == ["held: True"]


def test_work_of_a_queue_runs_after_the_arrays_that_it_uses(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        array = ad.to_device(pa.array(range(1000)), "ext_dev:0", copy=True, wait=False)
        queue = ad.Queue("ext_dev:1")
        queue.wait_array(array)
        print("ready:", array.is_ready())
        queue.finish()
        print("ready:", array.is_ready())
        """,
        ARROWDEVICE_SIM_DEVICES=f"{SLOW},addresses",
    )
    assert out.splitlines() == ["ready: False", "ready: True"]


def test_an_array_of_buffers_has_their_values_and_keeps_them():
    memory = ad.Memory("cpu", 64)
    array = ad.Array.from_buffers(pa.int64(), 8, [None, memory])
    values = np.arange(8)
    ctypes.memmove(memory.address, values.ctypes.data, values.nbytes)
    assert array.buffers()[1].address == memory.address
    used = ad.device("cpu").pool().used_bytes
    del memory
    gc.collect()
    assert ad.device("cpu").pool().used_bytes == used
    assert array.to_pyarrow().to_pylist() == list(range(8))
    moved = array.to_device("ext_dev:0")
    del array
    gc.collect()
    assert ad.device("cpu").pool().used_bytes < used
    assert moved.to_pyarrow().to_pylist() == list(range(8))


def test_an_array_of_buffers_of_another_array_and_of_children():
    texts = ad.to_device(pa.array(["a", None, "bcd"]), "ext_dev:0")
    same = ad.Array.from_buffers(pa.string(), 3, texts.buffers())
    numbers = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0")
    type = pa.struct([pa.field("t", pa.string()), pa.field("n", pa.int64())])
    batch = ad.Array.from_buffers(type, 3, [None], children=[same, numbers])
    del texts, same, numbers
    gc.collect()
    batch.validate("strict")
    assert isinstance(batch, ad.RecordBatch)
    assert batch.to_pyarrow().to_pydict() == {"t": ["a", None, "bcd"], "n": [1, 2, 3]}


def test_an_array_of_buffers_outlives_a_release_of_their_array():
    source = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0")
    array = ad.Array.from_buffers(pa.int64(), 3, source.buffers())
    source.release()
    other = ad.to_device(pa.array([7, 8, 9]), "ext_dev:0")
    assert array.to_pylist() == [1, 2, 3]
    assert other.to_pylist() == [7, 8, 9]


def test_an_array_of_buffers_waits_for_their_array(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        source = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0", copy=True, wait=False)
        array = ad.Array.from_buffers(pa.int64(), 3, source.buffers())
        print("ready:", source.is_ready(), array.is_ready())
        source = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0", copy=True, wait=False)
        with ad.Queue("ext_dev:0") as queue:
            array = ad.Array.from_buffers(pa.int64(), 3, source.buffers(), queue=queue)
        print("ready:", array.is_ready())
        array.wait()
        print("ready:", source.is_ready())
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.splitlines() == ["ready: True True", "ready: False", "ready: True"]


def test_an_array_of_an_address_keeps_its_owner():
    values = np.arange(4, dtype=np.int32)
    array = ad.Array.from_buffers(pa.int32(), 3, [None, values.ctypes.data], device="cpu", owner=values, offset=1)
    del values
    gc.collect()
    assert array.to_pyarrow().to_pylist() == [1, 2, 3]
    with pytest.raises(TypeError, match="owner"):
        ad.Array.from_buffers(pa.int32(), 3, [None, 4096], device="cpu")
    with pytest.raises(TypeError, match="device"):
        ad.Array.from_buffers(pa.int32(), 3, [None, None])
    with pytest.raises(ad.InvalidError):
        ad.Array.from_buffers(pa.int32(), 3, [None], device="cpu")
    with pytest.raises(ValueError, match="on ext_dev:1"):
        ad.Array.from_buffers(pa.int32(), 3, [None, ad.Memory("ext_dev:1", 64)], device="ext_dev:0")
    with pytest.raises(ValueError, match="8 bytes .expected at least 400"):
        ad.Array.from_buffers(pa.int32(), 100, [None, ad.Memory("cpu", 8)])


def test_a_result_is_ready_after_the_work_of_its_queue(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        queue = ad.Queue("ext_dev:0")
        memory = ad.Memory("ext_dev:0", 64, queue=queue)
        busy = ad.to_device(pa.array(range(1000)), "ext_dev:0", copy=True, wait=False, queue=queue)
        array = ad.Array.from_buffers(pa.int64(), 8, [None, memory], queue=queue)
        print("ready:", array.is_ready())
        used = ad.device("ext_dev:0").pool().used_bytes
        del memory, array
        print("held:", ad.device("ext_dev:0").pool().used_bytes == used)
        queue.finish()
        ad.wait_idle()
        del busy
        print("free:", ad.device("ext_dev:0").pool().used_bytes)
        queue.close()
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.splitlines() == ["ready: False", "held: True", "free: 0"]


def test_memory_may_outlive_its_queue():
    with ad.Queue("ext_dev:0") as queue:
        memory = ad.Memory("ext_dev:0", 64, queue=queue)
    del queue
    assert memory.size == 64


def test_a_wrapped_queue_with_memory_in_use_is_not_closed(accelerator):
    with ad.Queue(accelerator) as own:
        try:
            queue = ad.Queue.wrap(accelerator, own.native.handle, family=own.native.family)
        except ad.NotSupportedError:
            return  # the device has no native queues
        memory = ad.Memory(accelerator, 64, queue=queue)
        with pytest.raises(RuntimeError, match="1 allocations"):
            queue.close()
        del memory
        queue.close()


def test_a_pool_limits_memory():
    pool = ad.Pool("ext_dev:0", max_bytes=4096)
    array = ad.to_device(pa.array(range(10)), "ext_dev:0", pool=pool)
    assert pool.stats().used_bytes >= 80
    with pytest.raises(ad.OutOfMemoryError):
        ad.to_device(pa.array(range(10_000)), "ext_dev:0", pool=pool)
    del array
    pool.trim()
    assert pool.stats().cached_bytes == 0
    before = pool.stats().allocations
    stream = ad.to_device(pa.table({"n": [1]}), "ext_dev:0", pool=pool)
    assert next(stream).to_pylist() == [{"n": 1}] and pool.stats().allocations == before + 1
    with pytest.raises(TypeError, match="pool and queue need interface='pull'"):
        ad.to_device(pa.table({"n": [1]}), "ext_dev:0", pool=pool, interface="async")


def test_buffers_with_nulls_and_texts_are_tensors():
    array = ad.Array(pa.array(["a", None, "bcd"]))
    validity, offsets, data = array.buffers()
    assert np.from_dlpack(validity).tolist() == [0b101]
    assert np.from_dlpack(offsets).tolist() == [0, 1, 1, 4]
    assert bytes(np.from_dlpack(data)) == b"abcd"
    seen = np.from_dlpack(ad.Array(pa.array([1.5, None])).buffers()[1])
    assert seen.dtype == np.float64
    assert seen[0] == 1.5
    with pytest.raises(BufferError, match="no validity"):
        np.from_dlpack(ad.Array(pa.array([1])).buffers()[0])


def test_buffers_have_the_array_interface_where_the_cpu_reads(accelerator):
    array = ad.Array(pa.array(["ab", None, "cd"]))
    validity, offsets, data = (np.asarray(buffer) for buffer in array.buffers())
    assert validity.dtype == np.uint8 and validity.tolist() == [0b101]
    assert offsets.dtype == np.int32 and offsets.tolist() == [0, 2, 2, 4]
    assert not data.flags.writeable
    del array
    assert bytes(data) == b"abcd"
    with pytest.raises(BufferError, match="no validity buffer"):
        np.asarray(ad.Array(pa.array([1])).buffers()[0])
    there = ad.to_device(pa.array([1, 2]), accelerator).buffers()[1]
    assert hasattr(there, "__array_interface__") == accelerator.is_host_readable
    assert hasattr(there, "__cuda_array_interface__") == accelerator.name.startswith("cuda")


def test_a_view_by_the_array_interface_outlives_a_release_of_the_array():
    with ad.to_device(pa.array(range(1000)), "cpu", copy=True) as array:
        seen = np.asarray(array.buffers()[1])
    others = [ad.to_device(pa.array([7] * 1000), "cpu", copy=True) for _ in range(4)]
    assert seen.tolist() == list(range(1000)) and len(others) == 4


def test_sizes_of_variadic_buffers_are_in_host_memory():
    texts = pa.array(["a text that is longer than twelve bytes", None], pa.string_view())
    there = ad.to_device(texts, "ext_dev:0")
    *others, sizes = there.buffers()
    assert [buffer.device.name for buffer in others] == ["ext_dev:0"] * len(others)
    assert sizes.device.name == "cpu:0"
    assert np.from_dlpack(sizes).tolist() == [39]
    same = ad.Array.from_buffers(pa.string_view(), 2, there.buffers())
    assert same.device.name == "ext_dev:0"
    assert same.to_pylist() == texts.to_pylist()


def test_a_tensor_of_a_buffer_survives_the_release_of_its_array():
    array = ad.to_device(pa.array([1, 2, None]), "cpu", copy=True)
    data = array.buffers()[1]
    tensor = np.from_dlpack(data)
    array.release()
    assert tensor[:2].tolist() == [1, 2]
    with pytest.raises(ValueError, match="released"):
        np.from_dlpack(data)


def test_buffers_on_a_device_reach_the_cpu_by_dlpack(accelerator):
    for values in (pa.array([1, None, 3]), pa.array([b"ab", b"c"], pa.large_binary())):
        array = ad.to_device(values, accelerator)
        here = ad.Array(values)
        for there, own in zip(array.buffers(), here.buffers(), strict=True):
            if own.size:
                capsule = there.__dlpack__(dl_device=(1, 0), copy=True, max_version=(1, 0))
                assert capsule is not None
                assert there.__dlpack_device__()[0] == array.device_type


# Keeps one thread of OpenCL busy for some time, and then adds up the numbers.
SLOW_SUM = """
kernel void sum(global const uchar* validity, global const long* data, long offset, long length, long turns,
                global long* out) {
  long total = 0;
  volatile long busy = 0;
  for (long i = 0; i < turns; ++i) busy += i;
  for (long i = offset; i < offset + length; ++i) {
    if (validity == 0 || (validity[i / 8] >> (i % 8) & 1)) total += data[i];
  }
  *out = total;
}
"""


def summed(array, queue, turns=0):
    """Returns the sum of an array as an array on its device, which may not be ready yet."""
    cl = pytest.importorskip("pyopencl")

    def handle(part):
        return cl.Buffer.from_int_ptr(part.address) if part.address else None

    kernel = cl.Program(cl.Context.from_int_ptr(queue.device.native.context), SLOW_SUM).build().sum
    with queue.use(array):
        result = ad.Memory(queue.device, 8, queue=queue)
        validity, data = array.buffers()
        long = cl.cltypes.long
        kernel.set_args(
            handle(validity), handle(data), long(array.offset), long(len(array)), long(turns), handle(result)
        )
        cl.enqueue_nd_range_kernel(cl.CommandQueue.from_int_ptr(queue.native.handle), kernel, (1,), None)
    return ad.Array.from_buffers(pa.int64(), 1, [None, result], queue=queue)


@pytest.fixture
def opencl():
    try:
        return ad.device("opencl:0")
    except ad.DeviceNotFoundError:
        pytest.skip("opencl:0 does not exist on this machine")


def test_a_kernel_adds_up_a_slice_with_nulls(opencl):
    array = ad.to_device(pa.array([10, 1, None, 3, 100]), opencl)[1:4]
    with ad.Queue(opencl) as queue:
        total = summed(array, queue)
    assert total.device == opencl
    assert total.to_pyarrow().to_pylist() == [4]


def test_a_kernel_may_run_on_when_its_array_is_released(opencl):
    n = 1 << 20
    ones = pa.array(np.ones(n, np.int64))
    with ad.Queue(opencl) as queue:
        array = ad.to_device(ones, opencl, copy=True)
        total = summed(array, queue, turns=100_000_000)
        assert not total.is_ready()
        del array
        # Without the hold on the array, this copy reuses its memory.
        other = ad.to_device(pa.array(np.full(n, 7, np.int64)), opencl, copy=True)
        assert total.to_pyarrow().to_pylist() == [n]
        del other


def test_the_lock_of_a_queue_admits_one_thread_at_a_time():
    inside, most = [], []

    def submit(native):
        with ad.Queue.wrap("vulkan:0", native.handle, family=native.family) as queue:
            for _ in range(500):
                with queue.lock():
                    inside.append(None)
                    time.sleep(0)  # another thread may run
                    most.append(len(inside))
                    inside.pop()

    with ad.Queue("vulkan:0") as own:
        threads = [threading.Thread(target=submit, args=(own.native,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(most) == 2000 and max(most) == 1


def test_a_failed_block_unlocks_the_queue(accelerator):
    try:
        queue = ad.Queue(accelerator)
        queue.native
    except ad.NotSupportedError:
        return  # the device has no native queues
    with queue:
        with pytest.raises(KeyError), queue.lock() as native:
            assert native == queue.native
            assert not gc.isenabled()  # it could free memory, which needs the lock
            raise KeyError("the submitter's own")
        assert gc.isenabled()
        array = ad.to_device(pa.array([1, 2]), accelerator, queue=queue, copy=True)  # hangs if the queue is locked
        assert array.to_pylist() == [1, 2]


def test_native_handles(accelerator):
    device = accelerator
    if device.device_type != ad.DeviceType.OPENCL:
        return
    assert device.native.context != 0
    with ad.Queue(device) as queue:
        with ad.Queue.wrap(device, queue.native.handle) as wrapped:
            assert wrapped.native.handle == queue.native.handle
            array = ad.to_device(pa.array([1, 2]), device, queue=wrapped, copy=True)
            assert array.to_pyarrow().to_pylist() == [1, 2]
