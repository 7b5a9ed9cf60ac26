# SPDX-License-Identifier: Apache-2.0
"""Long calls release the GIL, and many threads may use an object at once.

The tests measure no time. The switch interval is hours, so that a thread gets the GIL only when another thread releases
it. A counting thread therefore counts during a call only if that call releases the GIL.
"""

import threading
from pathlib import Path

import pyarrow as pa
import pytest

import arrowdevice as ad

COUNTING = """
    import sys, threading, time
    import arrowdevice as ad, pyarrow as pa

    batch = pa.record_batch({"n": pa.array(range(1000)), "t": [f"text {i}" for i in range(1000)]})
    device = ad.device("ext_dev:0")
    there = ad.to_device(batch, device)
    stream = ad.to_device(pa.Table.from_batches([batch]), device).to_host()
    count, over = 0, False

    def counting():
        global count
        while not over:
            count += 1
            time.sleep(0)  # releases the GIL

    sys.setswitchinterval(1e5)
    thread = threading.Thread(target=counting)
    thread.start()
    while count == 0:
        time.sleep(0)
    def use():
        CALL
    pending = ad.to_device(batch, device, wait=False)
    before = count
    use()
    counted = count - before
    over = True
    thread.join()
    print(counted > 0)
"""


@pytest.mark.parametrize("call", [
    "ad.to_device(batch, device)",
    "there.to_host()",
    "pending.wait()",
    "there.validate('full')",
    "there.nbytes",
    "ad.wait_idle()",
    "next(stream)",
])  # fmt: skip
def test_long_calls_release_the_gil(run_python, call):
    # Each copy of the simulated device takes 0.1 seconds.
    out = run_python(COUNTING.replace("CALL", call), ARROWDEVICE_SIM_DEVICES="addresses:latency_us=100000")
    assert out.split() == ["True"]


def test_short_calls_hold_the_gil(run_python):
    # Shows that the test above can fail.
    call = "len(there), there.schema.names"
    out = run_python(COUNTING.replace("CALL", call), ARROWDEVICE_SIM_DEVICES="addresses:latency_us=100000")
    assert out.split() == ["False"]


def in_threads(work, count=8):
    failed = []

    def run(i):
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_many_threads_use_one_batch(device, batch, nothing_left):
    there = ad.to_device(batch, device)

    def work(i):
        for _ in range(10):
            part = there[i % 3 : 4]
            assert part.to_pyarrow().equals(batch[i % 3 : 4])
            assert there["text"].to_host().to_pyarrow().equals(batch["text"])
            there.wait()
            there.validate()
            assert ad.RecordBatch(there).select(["n"]).to_pyarrow().equals(batch.select(["n"]))

    in_threads(work)


def test_a_release_during_a_call_is_safe(device, batch, nothing_left):
    for _ in range(10):
        there = ad.to_device(batch, device)

        def work(i):
            if i == 0:
                there.release()
            else:
                try:
                    assert there.to_host().to_pyarrow().equals(batch)
                except ValueError as error:
                    assert "released" in str(error)

        in_threads(work, 4)


def test_many_threads_transfer_streams_at_once(accelerator, batch, nothing_left):
    table = pa.Table.from_batches([batch] * 5)

    def work(i):
        for _ in range(5):
            stream = ad.to_device(table, accelerator, interface=("pull", "async")[i % 2]).to_host()
            assert stream.to_pyarrow().read_all().equals(table)

    in_threads(work, 4)


def test_a_producer_release_runs_on_a_thread_of_the_library(run_python):
    """The release of a producer runs on a thread of the library and takes the GIL."""
    out = run_python(
        """
        import gc, threading, weakref
        import arrowdevice as ad, numpy as np

        class Values(np.ndarray):
            def __del__(self):
                print("freed by main:", threading.current_thread() is threading.main_thread(), flush=True)

        values = np.arange(100_000).view(Values)
        there = ad.to_device(values, "ext_dev:0", copy=True, wait=False)  # holds `values` until the device has read them
        del values
        print("ready:", there.is_ready())
        ad.wait_idle(30)
        assert there.to_pyarrow().to_pylist()[-1] == 99_999
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=100000",
    )
    assert out.splitlines() == ["ready: False", "freed by main: False"]


SETUP = """
import os, signal, threading, time
import arrowdevice as ad, pyarrow as pa

host = pa.array([str(i) for i in range(1000)])
queue = ad.Queue("ext_dev:0")
there = ad.to_device(pa.array(range(1000)), "ext_dev:0", copy=True, wait=False, queue=queue)
table = pa.table({"n": range(1000)})
"""

# Calls that wait for `there`, whose copy takes three seconds. `limit` is "" or the keyword argument.
WAITS = {
    "to_device": "ad.to_device(host, 'ext_dev:0', copy=True{limit})",
    "copy": "there.to_device('ext_dev:0', copy=True{limit})",
    "to_host": "there.to_host({limit})",
    "get_ipc_handle": "there.ipc_handle({limit})",
    "wait": "there.wait({limit})",
    "finish": "queue.finish({limit})",
    "wait_idle": "there = None; ad.wait_idle({limit})",
    "stream": "next(ad.to_device(ad.to_device(table, 'ext_dev:0'), 'cpu'{limit}))",
    "async stream": "next(ad.to_device(table, 'ext_dev:0', interface='async').to_host())",
    "validate": "there.validate()",
    "table": "ad.to_device(ad.Table(table), 'ext_dev:0', copy=True{limit})",
    "from_buffers": "ad.Array.from_buffers(pa.int64(), 1000, there.buffers())",
    "to_host_async": "there.to_host_async().result()",
    "dlpack": "there.__dlpack__(dl_device=(1, 0), copy=True)",
}


@pytest.mark.parametrize("name", WAITS)
def test_a_signal_ends_every_wait(run_python, name):
    call = WAITS[name].format(limit="")
    out = run_python(
        SETUP
        + f"""
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted:", time.monotonic() - begin < 0.7)
""",
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=3000000",
    )
    assert out == "interrupted: True\n"


def test_an_exception_of_a_handler_is_raised_by_the_call_that_it_ended(run_python):
    """The last owner of an array calls the package, while the interrupted call releases it."""
    out = run_python(
        """
        import os, signal, threading
        import arrowdevice as ad, numpy as np, pyarrow as pa

        class Owner:
            def __init__(self):
                self.values = np.arange(1000)

            @property
            def __array_interface__(self):
                return self.values.__array_interface__

            def __del__(self):
                ad.device("cpu").memory()

        def release(signal, frame):
            array.release()
            raise KeyboardInterrupt

        owner = Owner()
        array = ad.Array.from_buffers(pa.int64(), 1000, [None, owner.values.ctypes.data], device="cpu", owner=owner)
        del owner
        signal.signal(signal.SIGINT, release)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            array.to_device("ext_dev:0")
        except KeyboardInterrupt:
            print("interrupted")
        ad.wait_idle()
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=1000000",
    )
    assert out == "interrupted\n"


LIMITED = [name for name in WAITS if "{limit}" in WAITS[name]]


def test_each_listed_call_with_a_timeout_is_tested():
    """The list is the same for all languages. Python's imports read back no sizes, so they do not wait."""
    listed = (Path(__file__).parents[3] / "tests" / "support" / "limited_calls.txt").read_text().splitlines()
    assert {name for name in listed if not name.startswith("#")} - {"import"} <= set(LIMITED)


@pytest.mark.parametrize("name", LIMITED)
def test_a_timeout_limits_the_whole_call(run_python, name):
    lone = "({limit})" in WAITS[name]
    call = WAITS[name].format(limit="timeout=0.3" if lone else ", timeout=0.3")
    out = run_python(
        SETUP
        + f"""
begin = time.monotonic()
try:
    {call}
except TimeoutError:
    print("in time:", 0.25 < time.monotonic() - begin < 1)
host = there = table = None
ad.wait_idle(30)
""",
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=2000000",
    )
    assert out == "in time: True\n"


def test_cancel_does_not_deadlock_with_a_release_that_needs_the_gil(run_python):
    """The release of a batch needs the GIL, and cancel() needs the stream that releases the batch."""
    out = run_python(
        """
        import time
        import arrowdevice as ad, numpy as np, pyarrow as pa

        schema = pa.schema([("n", pa.int64())])

        def batches():
            for i in range(6):
                yield pa.record_batch([pa.array(np.arange(1000) + i)], schema=schema)

        failed = 0
        for turn in range(100):
            stream = ad.to_device(pa.RecordBatchReader.from_batches(schema, batches()), "ext_dev:0", depth=4)
            try:
                next(stream)
            except ad.Error:
                failed += 1
                until = time.perf_counter() + turn % 40 * 0.0002
                while time.perf_counter() < until:  # holds the GIL
                    pass
                stream.cancel()
            stream.close()
        print("failed:", failed)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=3000",
        ARROWDEVICE_SIM_WITHOUT="event_publish",
        ARROWDEVICE_SIM_FAIL="event:1+",
    )
    assert out == "failed: 100\n"


# Ends a program that hangs, with a traceback.
WATCHDOG = """
    import faulthandler
    faulthandler.dump_traceback_later(60, exit=True)
    import arrowdevice as ad, nanoarrow, numpy as np, pyarrow as pa

    schema = pa.schema([("n", pa.int64())])

    def batches():
        for i in range(6):
            yield pa.record_batch([pa.array(np.arange(1000) + i)], schema=schema)

    def reader():
        return pa.RecordBatchReader.from_batches(schema, batches())
"""

# nanoarrow reads arrays and the schema while it holds the GIL.
HELD = {
    "read ahead": "ad.to_device(reader(), 'cpu', read_ahead=True)",
    "copied": "ad.to_device(reader(), 'cpu', copy=True)",
    "copied and read ahead": "ad.to_device(reader(), 'cpu', copy=True, read_ahead=True, depth=3)",
    "round trip": "ad.to_device(reader(), 'ext_dev:0', read_ahead=True).to_host()",
    "async": "ad.to_device(reader(), 'cpu', copy=True, interface='async')",
    "batches of Python": "ad.Stream.from_batches(list(batches()))",
}


@pytest.mark.parametrize("stream", HELD.values(), ids=HELD)
def test_a_stream_works_when_its_consumer_holds_the_gil(run_python, stream):
    out = run_python(WATCHDOG + f"""
    for _ in range(5):
        print(sum(len(batch) for batch in nanoarrow.c_array_stream({stream})))
    """)  # fmt: skip
    assert out.split() == ["6000"] * 5


DEVICE_STREAM = """
    import ctypes

    pointer = ctypes.c_void_p

    class DeviceArray(ctypes.Structure):
        _fields_ = [("numbers", ctypes.c_int64 * 5), ("pointers", pointer * 3), ("release", ctypes.PYFUNCTYPE(None,
        pointer)),
                    ("private_data", pointer), ("device", ctypes.c_int64 * 6)]

    class DeviceStream(ctypes.Structure):
        _fields_ = [("device_type", ctypes.c_int32),
                    ("get_schema", ctypes.PYFUNCTYPE(ctypes.c_int, pointer, pointer)),
                    ("get_next", ctypes.PYFUNCTYPE(ctypes.c_int, pointer, pointer)),
                    ("get_last_error", ctypes.PYFUNCTYPE(ctypes.c_char_p, pointer)),
                    ("release", ctypes.PYFUNCTYPE(None, pointer)), ("private_data", pointer)]

    address_in = ctypes.pythonapi.PyCapsule_GetPointer
    address_in.restype, address_in.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]

    def device_stream(capsule):
        return DeviceStream.from_address(address_in(capsule, b"arrow_device_array_stream"))

    def pull(stream):
        array = DeviceArray()
        code = stream.get_next(ctypes.addressof(stream), ctypes.addressof(array))
        if code != 0:
            raise OSError(code, stream.get_last_error(ctypes.addressof(stream)).decode())
        rows = array.numbers[0] if array.release else None
        if array.release:
            array.release(ctypes.addressof(array))
        return rows
"""


def test_a_device_stream_works_when_its_consumer_holds_the_gil(run_python):
    """PYFUNCTYPE calls while it holds the GIL."""
    out = run_python(WATCHDOG + DEVICE_STREAM + """
    for enough in (6, 1):
        for device in ("cpu", "ext_dev:0"):
            for interface in ({"read_ahead": True}, {"interface": "async"}):
                capsule = ad.to_device(reader(), device, copy=True, **interface).__arrow_c_device_stream__()
                stream = device_stream(capsule)
                print(stream.device_type, [pull(stream) for _ in range(enough)])
                if enough == 6:
                    assert pull(stream) is None
                    stream.release(ctypes.addressof(stream))
                    assert not stream.release
                del capsule

    def fail():
        yield from batches()
        raise ValueError("the disk is on fire")

    stream = device_stream(capsule := ad.to_device(pa.RecordBatchReader.from_batches(schema, fail()), "cpu",
                                              read_ahead=True).__arrow_c_device_stream__())
    try:
        while pull(stream):
            pass
    except OSError as error:
        print("on fire:", "the disk is on fire" in str(error))
    """)  # fmt: skip
    read = [f"{kind} {[1000] * enough}" for enough in (6, 1) for kind in (1, 12) for _ in range(2)]
    assert out.splitlines() == [*read, "on fire: True"]


def test_a_stream_calls_its_producer_from_one_thread_at_a_time(run_python):
    """The stream releases the GIL, so that two threads of a consumer can call it.

    A generator refuses a second thread.
    """
    out = run_python(WATCHDOG + DEVICE_STREAM + """
    import threading, time

    def slow():
        for batch in batches():
            time.sleep(0.02)  # releases the GIL to another thread
            yield batch

    capsule = ad.Stream(pa.RecordBatchReader.from_batches(schema, slow())).__arrow_c_device_stream__()
    stream = device_stream(capsule)
    together = threading.Barrier(3)

    def read():
        together.wait()
        while rows := pull(stream):
            print(rows, flush=True)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """)  # fmt: skip
    assert out.split() == ["1000"] * 6


def test_a_stream_works_without_the_gil_after_a_second_interpreter(run_python):
    """pyarrow reads without the GIL. PyGILState_Check() returns 1 on every thread after a second interpreter."""
    out = run_python(WATCHDOG + """
    try:
        import _interpreters as interpreters
    except ImportError:  # before Python 3.13
        import _xxsubinterpreters as interpreters

    interpreters.destroy(interpreters.create())
    for stream in (ad.to_device(reader(), "cpu", read_ahead=True), ad.to_device(reader(), "cpu", copy=True)):
        print(pa.RecordBatchReader.from_stream(stream).read_all().num_rows)
        del stream
    print(sum(len(batch) for batch in nanoarrow.c_array_stream(ad.to_device(reader(), "cpu", copy=True))))
    """)  # fmt: skip
    assert out.split() == ["6000"] * 3
