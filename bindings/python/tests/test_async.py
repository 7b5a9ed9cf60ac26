# SPDX-License-Identifier: Apache-2.0
"""Copies to the CPU that run while the program goes on, descriptors for event loops, and asynchronous iteration."""

import asyncio
import concurrent.futures
import os
import select
import threading

import pyarrow as pa
import pytest

import arrowdevice as ad

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_a_copy_to_the_cpu_is_a_future(batch, device):
    pending = ad.to_device(batch, device, wait=False)
    copies = [pending.to_host_async() for _ in range(3)]
    assert all(isinstance(copy, concurrent.futures.Future) for copy in copies)
    for copy in concurrent.futures.as_completed(copies, timeout=60):
        host = copy.result()
        assert isinstance(host, ad.RecordBatch)
        assert host.device_type == ad.DeviceType.CPU
        assert host.to_pyarrow().equals(batch)
    assert pending.to_pyarrow().equals(batch)  # stays usable


def test_a_copy_to_the_cpu_can_be_awaited(batch, accelerator):
    async def main():
        pending = [ad.to_device(batch, accelerator, wait=False) for _ in range(4)]
        return await asyncio.gather(*(array.to_host_async() for array in pending))

    for host in asyncio.run(main()):
        assert host.to_pyarrow().equals(batch)


def test_a_copy_to_the_cpu_follows_the_work_of_a_queue(batch):
    device = ad.device("ext_dev:0")
    with ad.Queue(device) as queue:
        there = ad.to_device(batch, device, wait=False, queue=queue)
        copy = there.to_host_async(queue=queue)
    assert copy.result(60).to_pyarrow().equals(batch)


def test_a_copy_to_the_cpu_that_cannot_start_raises(batch):
    there = ad.to_device(batch, "ext_dev:0")
    with ad.Queue("cpu") as queue, pytest.raises(ad.InvalidError, match="queue"):
        there.to_host_async(queue=queue)
    assert there.to_host_async().result(60).to_pyarrow().equals(batch)
    there.release()
    with pytest.raises(ValueError, match="released"):
        there.to_host_async()


SLOW = "addresses:latency_us=300000"


def test_a_copy_to_the_cpu_raises_after_its_time_out(run_python):
    out = run_python(
        """
        import asyncio
        import arrowdevice as ad, pyarrow as pa

        there = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0", wait=False)
        copy = there.to_host_async(timeout=0.01)
        assert not copy.cancel()
        print(type(copy.exception()).__name__)
        try:
            asyncio.run(asyncio.wait_for(there.to_host_async(), 0.01))
        except TimeoutError:
            print("the loop stopped waiting")
        print(there.to_host_async().result().to_pylist())
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out.split("\n")[:3] == ["DeviceTimeoutError", "the loop stopped waiting", "[1, 2, 3]"]


def test_the_interpreter_may_end_while_a_copy_to_the_cpu_runs(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        there = ad.to_device(pa.array([1, 2, 3]), "ext_dev:0", wait=False)
        copy = there.to_host_async()
        print(copy.done())
        """,
        ARROWDEVICE_SIM_DEVICES=SLOW,
    )
    assert out == "False\n"


def test_a_descriptor_becomes_readable_when_the_array_is_ready(batch, device):
    pending = ad.to_device(batch, device, wait=False)
    descriptor = pending.open_eventfd()
    try:
        assert select.select([descriptor], [], [], 60)[0] == [descriptor]
        assert pending.is_ready()
    finally:
        os.close(descriptor)


def test_async_for_reads_a_stream(batch, device):
    async def main():
        return [batch.to_pyarrow() async for batch in ad.to_device(pa.Table.from_batches([batch] * 3), device)]

    assert asyncio.run(main()) == [batch] * 3


def test_async_for_raises_the_error_of_the_producer(batch):
    def produced():
        yield batch
        raise OSError("the producer failed")

    async def main():
        stream = ad.Stream(pa.RecordBatchReader.from_batches(batch.schema, produced()))
        return [len(batch) async for batch in stream]

    with pytest.raises(ad.Error, match="the producer failed"):
        asyncio.run(main())


def test_cancelling_a_task_cancels_its_stream(batch):
    inside, finish = threading.Event(), threading.Event()

    def slow():
        inside.set()
        finish.wait(60)
        yield batch

    async def main():
        stream = ad.Stream(pa.RecordBatchReader.from_batches(batch.schema, slow()))
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.to_thread(inside.wait, 60)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        finish.set()
        with pytest.raises((ad.CanceledError, RuntimeError)):  # the thread may still use the stream
            await anext(stream)

    asyncio.run(main())


def test_a_forked_child_does_not_wait_for_copies_of_its_parent(run_python):
    """Only the CPU is used, because a child may not use the drivers of its parent."""
    out = run_python(
        """
        import os, threading, warnings
        import arrowdevice as ad, pyarrow as pa
        from arrowdevice.host_copies import HostCopy

        warnings.simplefilter("ignore")  # Python 3.12 warns of forks with threads
        array = ad.Array(pa.array([1, 2, 3]))
        inside, finish = threading.Event(), threading.Event()

        ended = HostCopy._finish

        def block(copy, core, error):
            inside.set()
            finish.wait(60)
            ended(copy, core, error)

        HostCopy._finish = block
        copy = array.to_host_async()
        HostCopy._finish = ended
        inside.wait(60)
        child = os.fork()
        if child == 0:
            ad.wait_idle(20)
            for _ in range(5):
                assert array.to_host_async().result(20).to_pylist() == [1, 2, 3]
            ad.wait_idle(20)
            os._exit(0)
        finish.set()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert out == "0\n"
