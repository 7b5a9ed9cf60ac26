# SPDX-License-Identifier: Apache-2.0
"""The interpreter ends while arrays are alive, exported, and on their way."""

import pytest

START = """
    import gc, sys, threading, time
    import arrowdevice as ad, numpy as np, pyarrow as pa, nanoarrow, nanoarrow.device

    class Values(np.ndarray):
        pass

    def values(n=100_000):
        return np.arange(n).view(Values)
"""


def run(run_python, code, **environment):
    return run_python(START + code, **{"ARROWDEVICE_SIM_DEVICES": "addresses:latency_us=300000,handles"} | environment)


def test_with_everything_alive(run_python):
    out = run(run_python, """
    kept = [ad.Array(values()), ad.move(values(), "ext_dev:0"), ad.Stream(pa.table({"n": [1]})),
            ad.move(pa.table({"n": range(1000)}), "ext_dev:1", read_ahead=True), ad.devices(),
            ad.RecordBatch(pa.record_batch({"n": [1]})).__arrow_c_array__(),
            ad.Array(values()).__dlpack__(), ad.Array(values()).__arrow_c_device_array__()]
    next(kept[3])
    sys.kept_until_the_end = kept
    print("over")
    """)  # fmt: skip
    assert out == "over\n"


def test_with_a_copy_under_way(run_python):
    """The reaper gives the producer's memory back when the copy is done: after the interpreter has gone."""
    out = run(run_python, """
    there = ad.copy(values(), "ext_dev:0", wait=False)
    print(there.ready())
    """)  # fmt: skip
    assert out == "False\n"


def test_what_others_hold_is_not_touched_after_the_end(run_python):
    """nanoarrow releases its device array when it goes, and that is a NumPy array's, by way of this package."""
    out = run(run_python, """
    theirs = nanoarrow.device.c_device_array(ad.Array(values()))
    sys.kept_until_the_end = theirs
    other = pa.array(ad.Array(values()))
    pa.kept_until_the_end = other
    print("over")
    """)  # fmt: skip
    assert out == "over\n"


@pytest.mark.parametrize("turn", [0.01, 1.5])
@pytest.mark.parametrize("reader", ["next(stream)", "list(stream)"])
def test_with_a_thread_in_a_stream(run_python, reader, turn):
    """A daemon thread is inside a producer that is Python, and a thread of the library too."""
    out = run(run_python, f"""
    batch = pa.record_batch({{"n": [1, 2]}})
    inside = threading.Event()

    def slow():
        while True:
            inside.set()
            time.sleep({turn})
            yield batch

    def read(stream):
        try:
            {reader}
        except ad.Error:
            pass

    for _ in range(3):
        stream = ad.move(pa.RecordBatchReader.from_batches(batch.schema, slow()), "ext_dev:1", read_ahead=True)
        threading.Thread(target=read, args=(stream,), daemon=True).start()
    assert inside.wait(30)
    print("over")
    """)  # fmt: skip
    assert out == "over\n"


def test_waiting_for_a_producer_at_the_end_can_be_interrupted(run_python):
    """The producer stays where it is for longer than the end waits for it."""
    out = run(run_python, """
    import atexit, faulthandler, os, signal
    faulthandler.dump_traceback_later(40, exit=True)
    sys.unraisablehook = lambda raised: print(raised.exc_type.__name__, flush=True)
    inside, ending, main = threading.Event(), threading.Event(), threading.get_ident()

    def stuck():
        inside.set()
        time.sleep(300)
        yield

    def interrupt():
        ending.wait()
        while main in sys._current_frames():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    stream = ad.Stream(pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), stuck()))
    threading.Thread(target=next, args=(stream,), daemon=True).start()
    threading.Thread(target=interrupt, daemon=True).start()
    assert inside.wait(30)
    atexit.register(ending.set)  # what is registered last runs first: the package's own comes after it
    print("over", flush=True)
    """)  # fmt: skip
    assert out == "over\nKeyboardInterrupt\n"


def test_producers_are_let_alone_once_the_end_has_begun(run_python):
    """The door is closed by the first thing that happens when the interpreter ends; later releases call nobody."""
    out = run(run_python, """
    class Freed(np.ndarray):
        def __del__(self):
            print("freed", flush=True)

    early = ad.Array(np.arange(5).view(Freed))
    del early
    gc.collect()
    late = ad.copy(np.arange(5).view(Freed), "ext_dev:0", wait=False)
    # What is registered first runs last, when the door is closed: the reaper comes to its work, and leaves it.
    import atexit
    atexit._run_exitfuncs()
    ad.quiesce(30)
    print("over")
    """)  # fmt: skip
    assert out == "freed\nover\n"


def test_streams_say_so_once_the_end_has_begun(run_python):
    out = run(run_python, """
    stream = ad.Stream(pa.table({"n": [1]}))
    ad._core.close_guard(0)
    print([len(batch) for batch in stream])  # this thread still may

    stream = ad.Stream(pa.table({"n": [1]}))
    def read():
        try:
            next(stream)
        except ad.CanceledError as error:
            print(error.strerror)
    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    """)  # fmt: skip
    assert out.splitlines() == ["[1]", "the Python interpreter is ending"]


def test_after_fork(run_python):
    out = run(run_python, """
    import os, warnings
    warnings.simplefilter("ignore")  # of forks with threads: a child that only uses what is said to work is all right
    cpu = ad.RecordBatch(pa.record_batch({"n": [1, 2, 3]}))
    there = ad.move(cpu, "ext_dev:1")
    child = os.fork()
    if child == 0:
        ok = cpu[1:].to_pyarrow().to_pydict() == {"n": [2, 3]}
        try:
            there.to_host()
            ok = False
        except ad.DeviceNotFoundError:
            pass
        del cpu, there
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert there.to_pyarrow().to_pydict() == {"n": [1, 2, 3]}
    print("over")
    """)  # fmt: skip
    assert out == "over\n"
