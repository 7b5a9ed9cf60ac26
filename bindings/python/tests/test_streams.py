# SPDX-License-Identifier: Apache-2.0
import threading

import pyarrow as pa
import pytest

import arrowdevice as ad

pytestmark = pytest.mark.usefixtures("nothing_left")

INTERFACES = ["pull", "async"]


@pytest.fixture(scope="session")
def table(batch):
    return pa.Table.from_batches([batch, batch.slice(1, 3), batch.slice(0, 0), batch])


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_table_survives_the_round_trip_as_a_stream(device, table, interface):
    there = ad.to_device(table, device, depth=3, interface=interface)
    assert there.device_type == device.device_type
    assert there.to_host().to_pyarrow().read_all().equals(table)


def test_a_stream_returns_batches_on_the_device(accelerator, table):
    with ad.to_device(table, accelerator, read_ahead=True) as stream:
        assert stream.schema.names == table.column_names
        seen = list(stream)
    assert all(type(batch) is ad.RecordBatch and batch.device == accelerator for batch in seen)
    assert pa.Table.from_batches([batch.to_pyarrow() for batch in seen]).equals(table)


def test_a_stream_is_read_once(table):
    stream = ad.Stream(table)
    assert len(list(stream)) == len(table.to_batches())
    assert list(stream) == []


def test_a_stream_returns_arrays_when_its_type_is_not_a_struct(device):
    chunks = pa.chunked_array([["a", "b"], [], ["c"]])
    there = ad.to_device(chunks, device)
    assert there.schema.format == "u"
    arrays = list(there)
    assert all(type(array) is ad.Array for array in arrays)
    assert [array.to_pyarrow().to_pylist() for array in arrays if len(array)] == [["a", "b"], ["c"]]


def test_stream_accepts_one_array(batch):
    assert [b.to_pyarrow().equals(batch) for b in ad.Stream(batch)] == [True]


def test_from_batches_returns_a_stream_of_the_batches(accelerator, batch):
    there = ad.to_device(batch, accelerator)
    stream = ad.Stream.from_batches([there, there[1:2]])
    assert stream.device_type == accelerator.device_type
    assert [len(b) for b in stream.to_host()] == [5, 1]
    assert ad.Stream.from_batches([], batch.schema).to_pyarrow().read_all().num_rows == 0
    with pytest.raises(ValueError, match="schema"):
        ad.Stream.from_batches([])


def test_from_batches_refuses_batches_of_different_types(batch):
    with pytest.raises(ValueError):
        ad.Stream.from_batches([batch, batch.select(["n"])])
    with pytest.raises(ValueError):
        ad.Stream.from_batches([batch, ad.to_device(batch, "ext_dev:0")])
    integers, doubles = pa.record_batch({"n": [1, 2]}), pa.record_batch({"n": [1.5, 2.5]})
    with pytest.raises(ValueError, match=r"batch 1 has type struct<n: double> \(the stream has struct<n: int64>\)"):
        ad.Stream.from_batches([integers, doubles])
    with pytest.raises(ValueError, match="batch 0"):
        ad.Stream.from_batches([integers], schema=pa.schema({"n": pa.timestamp("s")}))
    one, other = (pa.record_batch({"d": pa.array(values).dictionary_encode()}) for values in (["a"], [1.5]))
    with pytest.raises(ValueError, match="batch 1"):
        ad.Stream.from_batches([one, other])
    assert len(list(ad.Stream.from_batches([integers, integers.rename_columns(["m"])]))) == 2


def test_a_closed_stream_refuses_a_read(accelerator, table):
    with ad.to_device(table, accelerator) as stream:
        first = next(stream)
    assert stream.closed and repr(stream) == "<arrowdevice.Stream, closed>"
    assert first.num_rows == 5
    with pytest.raises(ValueError, match="closed"):
        next(stream)
    stream.close()
    stream.cancel()


def test_a_moved_stream_refuses_a_read(table):
    stream = ad.Stream(table)
    other = ad.to_device(stream, "ext_dev:0")
    assert stream.closed
    with pytest.raises(ValueError, match="moved"):
        next(stream)
    assert next(other).num_rows == 5


def test_a_producer_error_keeps_its_message(device, batch):
    def fail():
        yield batch
        raise ValueError("the disk is on fire")

    stream = ad.to_device(pa.RecordBatchReader.from_batches(batch.schema, fail()), device)
    assert next(stream).to_pyarrow().equals(batch)
    with pytest.raises(ad.Error, match="the disk is on fire"):
        next(stream)
    with pytest.raises(ad.Error, match="the disk is on fire"):
        next(stream)


@pytest.mark.parametrize("moved", [False, True])
def test_a_canceled_stream_raises_canceled_error(table, moved):
    stream = ad.to_device(table, "ext_dev:0") if moved else ad.Stream(table)
    next(stream)
    stream.cancel()
    with pytest.raises(ad.CanceledError):
        next(stream)


def test_cancel_ends_a_read_that_waits(batch):
    inside, finish = threading.Event(), threading.Event()

    def slow():
        yield batch
        inside.set()
        finish.wait(60)

    stream = ad.to_device(pa.RecordBatchReader.from_batches(batch.schema, slow()), "ext_dev:0", read_ahead=True)
    assert len(next(stream)) == 5
    raised = []

    def wait():
        try:
            next(stream)
        except ad.Error as error:
            raised.append(type(error))

    thread = threading.Thread(target=wait)
    thread.start()
    assert inside.wait(60)
    stream.cancel()
    thread.join(60)
    alive = thread.is_alive()
    finish.set()
    thread.join()
    assert not alive and raised == [ad.CanceledError]
    stream.close()


def test_a_stream_belongs_to_one_thread_at_a_time(batch):
    inside, finish = threading.Event(), threading.Event()

    def slow():
        inside.set()
        finish.wait(60)
        yield batch

    stream = ad.Stream(pa.RecordBatchReader.from_batches(batch.schema, slow()))
    got = []
    thread = threading.Thread(target=lambda: got.append(next(stream)))
    thread.start()
    assert inside.wait(60)
    with pytest.raises(RuntimeError, match="another thread"):
        next(stream)
    with pytest.raises(RuntimeError, match="another thread"):
        ad.to_device(stream, "cpu")
    stream.close()  # the release happens when the call of the other thread returns
    finish.set()
    thread.join()
    assert len(got[0]) == 5 and stream.closed


@pytest.mark.parametrize("arguments", [{"depth": -1}, {"interface": "push"}])
def test_to_device_refuses_invalid_stream_options(table, arguments):
    with pytest.raises(ValueError):
        ad.to_device(table, "cpu", **arguments)


@pytest.mark.parametrize("arguments", [{"depth": 2}, {"read_ahead": True}, {"interface": "async"}])
def test_to_device_refuses_stream_options_for_an_array(batch, arguments):
    with pytest.raises(TypeError, match="one array"):
        ad.to_device(batch, "cpu", **arguments)


def test_to_device_refuses_options_that_the_interface_lacks(table):
    for arguments in ({"read_ahead": True}, {"timeout": 1}, {"queue": ad.Queue("ext_dev:0")}):
        stream = ad.Stream(table)
        with pytest.raises(TypeError, match="async"):
            ad.to_device(stream, "ext_dev:0", interface="async", **arguments)
        assert not stream.closed
    with pytest.raises(TypeError, match="wait=False needs one array"):
        ad.to_device(table, "ext_dev:0", wait=False)


def test_to_device_refuses_a_canceled_stream(table):
    stream = ad.Stream(table)
    stream.cancel()
    with pytest.raises(ad.CanceledError):
        ad.to_device(stream, "ext_dev:0")


def test_a_stream_uses_a_queue_alone_until_it_is_closed(table, accelerator):
    with ad.Queue(accelerator) as queue:
        with ad.to_device(table, accelerator, queue=queue) as stream:
            with pytest.raises(RuntimeError, match="a stream uses the queue"):
                queue.finish()
            home = stream.to_host()  # passes the queue on
            with pytest.raises(RuntimeError, match="a stream uses the queue"):
                queue.finish()
            assert pa.Table.from_batches([batch.to_pyarrow() for batch in home]).equals(table)
            home.close()
        queue.finish(30)
        with ad.Queue("cpu") as other:
            with pytest.raises(ad.InvalidError, match="queue"):
                ad.to_device(table, accelerator, queue=other)
            other.finish()  # the failed call gave it back


def test_a_queue_is_closed_when_another_package_takes_its_stream(table, accelerator):
    queue = ad.Queue(accelerator)
    reader = ad.to_device(table, accelerator, queue=queue).to_pyarrow()
    with pytest.raises(ValueError, match="closed"):
        queue.finish()
    assert reader.read_all().equals(table)
