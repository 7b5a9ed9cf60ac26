# SPDX-License-Identifier: Apache-2.0
"""Streams between processes."""

import errno
import gc
import itertools
import multiprocessing
import os
import signal
import socket
import time

import pyarrow as pa
import pytest

import arrowdevice as ad

numbers = itertools.count()


@pytest.fixture
def uri():
    return f"unix:@arrowdevice-python-{os.getpid()}-{next(numbers)}"


def happens(condition):
    """Returns whether the condition becomes true within ten seconds."""
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def read_all(uri, results):
    """Runs in another process: reads a stream and sends its rows back."""
    with ad.connect(uri, copy=False, timeout=60) as stream:
        for batch in stream:
            batch.validate("full")
            results.put(batch.to_pylist())
    results.put(None)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_batches_in_shareable_memory_are_not_copied(method, batch, uri):
    pool = ad.Pool("cpu", shareable=True)
    context = multiprocessing.get_context(method)
    results = context.Queue()
    there = ad.to_device(batch, "cpu", copy=True, pool=pool)
    with ad.Server(uri, copy=False) as server:
        server.add("rows", there)
        process = context.Process(target=read_all, args=(f"{uri}?name=rows", results))
        process.start()
        assert results.get(timeout=60) == there.to_pylist()
        assert results.get(timeout=60) is None
        process.join(60)
        assert process.exitcode == 0
        assert server.stats[1:] == (1, server.stats.bytes, 0)
        assert happens(lambda: server.stats.clients == 0)
    there.release()
    gc.collect()
    assert happens(lambda: pool.stats().used_bytes == 0)


def test_tables_go_to_every_client(uri):
    table = pa.table({"n": [1, 2, 3], "text": ["a", None, "c"]})
    with ad.Server(uri) as server:
        server.add("rows", table)
        for _ in range(2):
            with ad.connect(uri) as stream:
                assert pa.table(stream) == table
        assert server.stats.copied_bytes == server.stats.bytes // 2  # `add` has copied the table once


def test_a_stream_goes_to_the_first_client(batch, uri):
    with ad.Server(uri) as server:
        stream = ad.Stream.from_batches([batch, batch])
        server.add("rows", stream)
        assert stream.closed
        with ad.connect(uri) as first:
            assert [pa.record_batch(one) for one in first] == [batch, batch]
        with pytest.raises(ad.BusyError, match="another client has taken the stream"):
            ad.connect(uri)


def test_a_function_is_called_for_each_client(uri):
    calls = []

    def source():
        calls.append(len(calls))
        if len(calls) > 2:
            raise RuntimeError("no more")
        return pa.table({"call": [len(calls)]})

    with ad.Server(uri) as server:
        server.add("calls", source)
        for expected in (1, 2):
            with ad.connect(uri) as stream:
                assert pa.table(stream).to_pydict() == {"call": [expected]}
        with pytest.raises(ad.Error, match="RuntimeError: no more"):
            ad.connect(uri)


def test_an_error_of_a_python_producer_reaches_the_client(uri):
    def batches():
        yield pa.record_batch({"n": [1]})
        raise ValueError("the tape broke")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"n": pa.int64()}), batches())
    with ad.Server(uri) as server:
        server.add("rows", ad.Stream(reader))
        with ad.connect(uri) as stream:
            assert next(stream).to_pylist() == [{"n": 1}]
            with pytest.raises(ad.Error, match="the tape broke"):
                next(stream)


def test_errors(uri, batch):
    with pytest.raises(ad.Error, match="no server at") as refused:
        ad.connect(uri)
    assert refused.value.errno == errno.ECONNREFUSED
    with pytest.raises(ad.NotSupportedError, match="is none of unix:/PATH"):
        ad.Server("prices")
    with ad.Server(uri) as server:
        with pytest.raises(ad.Error, match="Address already in use"):
            ad.Server(uri)
        server.add("rows", batch)
        with pytest.raises(ad.ExistsError, match="the server has a stream rows"):
            server.add("rows", batch)
        with pytest.raises(ad.NotFoundError, match="there is no stream other; the server has: rows"):
            ad.connect(f"{uri}?name=other")
        server.remove("rows")
        with pytest.raises(ad.NotFoundError, match="has no stream rows"):
            server.remove("rows")
        assert not server.closed
    assert server.closed
    assert "(closed)" in repr(server)
    with pytest.raises(ValueError, match="the server was closed"):
        server.add("rows", batch)


def test_copies_can_be_ruled_out(batch, uri):
    with ad.Server(uri) as server:
        server.add("rows", ad.Stream(batch))
        with ad.connect(uri, copy=False) as stream, pytest.raises(ad.NotShareableError, match="copying is ruled out"):
            next(stream)


def test_copies_of_an_isolated_client_are_limited(batch, uri):
    with ad.Server(uri, isolated=True, max_client_bytes=1) as server:
        server.add("rows", batch)
        with ad.connect(uri) as stream, pytest.raises(ad.OutOfMemoryError, match="limit is reached"):
            next(stream)
    with pytest.raises(ad.Error, match="expected 0 or COPY_NEVER"):
        ad.Server(uri, copy=True)


def test_a_read_waits_for_a_limited_time(uri):
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(ad.DeviceTimeoutError):
        ad.connect(f"fd:{ours.fileno()}", timeout=0.05)


def test_a_program_connects_processes_itself(batch):
    ours, theirs = socket.socketpair()
    with ours, theirs, ad.Server(f"fd:{ours.fileno()}") as server:
        server.add("rows", batch)
        with ad.connect(f"fd:{theirs.fileno()}", copy=True) as stream:
            assert [pa.record_batch(one) for one in stream] == [batch]


def serve_and_wait(uri, ready):
    with ad.Server(uri) as server:
        server.add("rows", pa.table({"n": range(1000)}))
        ready.put(True)
        signal.pause()


def test_batches_stay_when_the_server_is_killed(uri):
    context = multiprocessing.get_context("spawn")
    ready = context.Queue()
    process = context.Process(target=serve_and_wait, args=(uri, ready))
    process.start()
    assert ready.get(timeout=60)
    stream = ad.connect(uri, max_batches=1)
    batch = next(stream)
    process.kill()
    process.join(60)
    assert pa.record_batch(batch).to_pydict() == {"n": list(range(1000))}
    with pytest.raises((ad.Error, StopIteration)):
        next(stream)


def test_a_device_of_the_client_gets_the_batches(batch, uri):
    with ad.Server(uri) as server:
        server.add("rows", batch)
        with ad.connect(uri, "cpu") as stream:
            assert [pa.record_batch(one) for one in stream] == [batch]
