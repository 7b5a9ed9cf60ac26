# SPDX-License-Identifier: Apache-2.0
"""Arrays for other processes."""

import multiprocessing
import os
import pickle
import signal
import socket
import threading
import time

import pyarrow as pa
import pytest

import arrowdevice as ad


@pytest.fixture
def pool():
    return ad.Pool("cpu", shareable=True)


def in_pool(array, pool):
    return ad.to_device(array, "cpu", copy=True, pool=pool)


def comes_back(pool):
    """Returns whether the memory of the pool is unused within ten seconds."""
    end = time.monotonic() + 10
    while pool.stats().used_bytes > 0 and time.monotonic() < end:
        time.sleep(0.001)
    return pool.stats().used_bytes == 0


def send_rows(tasks, results):
    """Runs in another process: opens handles and sends their rows back as text."""
    while (handle := tasks.get()) is not None:
        with handle:
            array = handle.open()
        array.validate("full")
        results.put((type(array).__name__, repr(array.to_pylist())))
        array.release()


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_handles_go_through_queues(method, batch, pool):
    context = multiprocessing.get_context(method)
    tasks, results = context.Queue(), context.Queue()
    process = context.Process(target=send_rows, args=(tasks, results))
    process.start()
    for value in (batch, batch.column(2), pa.array(["a", None, "b"]).dictionary_encode()):
        array = in_pool(value, pool)
        with array.ipc_handle(copy=False) as handle:
            assert handle.copied_bytes == 0
            tasks.put(handle)
            kind, rows = results.get(timeout=60)
        assert kind == type(array).__name__
        assert rows == repr(array.to_pylist())
        array.release()
    tasks.put(None)
    process.join(60)
    assert process.exitcode == 0
    assert comes_back(pool)


def open_argument(handle):
    return handle.open().to_pylist()


def test_handles_go_as_arguments(pool):
    array = in_pool(pa.array([1, None, 3]), pool)
    with multiprocessing.get_context("spawn").Pool(1) as processes, array.ipc_handle() as handle:
        assert processes.apply(open_argument, (handle,)) == [1, None, 3]


def test_a_plain_pickle_of_a_handle_raises(pool):
    with in_pool(pa.array([1]), pool).ipc_handle() as handle, pytest.raises(TypeError, match="file descriptors"):
        pickle.dumps(handle)


def test_handles_go_through_a_socket(batch, pool):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    array = in_pool(batch, pool)
    with array.ipc_handle() as handle:
        socket.send_fds(ours, [handle.data], handle.descriptors)
    array.release()
    data, descriptors, _, _ = socket.recv_fds(theirs, 1 << 20, 32)
    with ad.IpcHandle(data, descriptors) as received:
        assert not any(os.get_inheritable(descriptor) for descriptor in descriptors)
        opened = received.open()
    assert isinstance(opened, ad.RecordBatch)
    assert opened.to_pyarrow().equals(batch)
    assert pool.stats().used_bytes > 0
    opened.release()
    assert comes_back(pool)
    for end in (ours, theirs):
        end.close()


def test_an_array_that_is_copied_when_it_is_opened_does_not_depend_on_its_owner(batch, pool):
    array = in_pool(batch, pool)
    own = ad.Pool("cpu")
    with array.ipc_handle(copy=False) as handle:
        opened = handle.open(copy=True, pool=own, timeout=60)
        with pytest.raises(ad.InvalidError, match="pool"):
            handle.open(copy=True, pool=ad.Pool("ext_dev:0"))
    array.release()
    assert comes_back(pool)
    assert own.stats().used_bytes > 0
    opened.validate("strict")
    assert opened.to_pyarrow().equals(batch)


def test_threads_may_open_a_handle_while_another_closes_it(pool):
    """A descriptor that is closed twice could be one that another thread has opened meanwhile."""
    array = in_pool(pa.array([1, 2, 3]), pool)
    wrong = []

    def use(handle):
        begin.wait()
        try:
            for _ in range(20):
                if handle.open().to_pylist() != [1, 2, 3]:
                    wrong.append("rows")
        except ValueError:  # closed
            pass
        except Exception as error:
            wrong.append(error)

    def close(handle):
        begin.wait()
        handle.close()

    for made_here in (True, False):
        for _ in range(50):
            handle = array.ipc_handle()
            if not made_here:
                with handle as made:
                    handle = ad.IpcHandle(made.data, [os.dup(number) for number in made.descriptors])
            begin = threading.Barrier(4)
            threads = [threading.Thread(target=what, args=(handle,)) for what in (use, use, close, close)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert wrong == []
    array.release()
    assert comes_back(pool)


def test_memory_that_is_not_shareable_is_copied_or_refused(batch):
    array = ad.Array(batch)
    with pytest.raises(ad.NotShareableError, match="is not in memory that other processes can open"):
        array.ipc_handle(copy=False)
    with array.ipc_handle() as handle:
        assert handle.copied_bytes > 0
        assert handle.open().to_pyarrow().equals(batch)
    with pytest.raises(ad.InvalidError, match="POOL_SHAREABLE"):
        array.ipc_handle(pool=ad.Pool("cpu"))


def test_a_closed_handle_raises(pool):
    array = in_pool(pa.array([1]), pool)
    handle = array.ipc_handle()
    handle.close()
    handle.close()
    for use in (handle.open, lambda: handle.data, lambda: handle.descriptors):
        with pytest.raises(ValueError, match="closed"):
            use()
    received = ad.IpcHandle(b"", [])
    received.close()
    for use in (received.open, lambda: received.data, lambda: received.descriptors):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(TypeError):
        ad.IpcHandle("text", [])


def test_bytes_that_are_no_handle_raise(pool):
    with in_pool(pa.array([1]), pool).ipc_handle() as handle:
        data = handle.data
        with pytest.raises(ad.InvalidError, match="at least 72 bytes"):
            ad.IpcHandle(b"abc", [os.dup(handle.descriptors[0])]).open()
    with pytest.raises(ad.InvalidError, match="no descriptors|refers to descriptor 0"):
        ad.IpcHandle(data, []).open()


def hold(tasks, results):
    array = tasks.get().open()
    results.put(len(array))
    signal.pause()


def test_the_memory_comes_back_from_a_process_that_is_killed(pool):
    context = multiprocessing.get_context("spawn")
    tasks, results = context.Queue(), context.Queue()
    process = context.Process(target=hold, args=(tasks, results))
    process.start()
    array = in_pool(pa.array(range(1000)), pool)
    with array.ipc_handle() as handle:
        tasks.put(handle)
        assert results.get(timeout=60) == 1000
    array.release()
    assert pool.stats().used_bytes > 0
    process.kill()
    process.join()
    assert comes_back(pool)
