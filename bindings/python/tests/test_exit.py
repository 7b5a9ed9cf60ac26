# SPDX-License-Identifier: Apache-2.0
"""The interpreter ends while arrays are alive, exported, or being copied."""

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


def test_exit_succeeds_while_objects_are_alive(run_python):
    out = run(run_python, """
    kept = [ad.Array(values()), ad.to_device(values(), "ext_dev:0"), ad.Stream(pa.table({"n": [1]})),
            ad.to_device(pa.table({"n": range(1000)}), "ext_dev:1", read_ahead=True), ad.devices(),
            ad.RecordBatch(pa.record_batch({"n": [1]})).__arrow_c_array__(),
            ad.Array(values()).__dlpack__(), ad.Array(values()).__arrow_c_device_array__()]
    next(kept[3])
    sys.kept_until_the_end = kept
    print("over")
    """)  # fmt: skip
    assert out == "over\n"


def test_exit_succeeds_while_a_copy_runs(run_python):
    """The library releases the producer's memory when the copy has finished, after the interpreter has ended."""
    out = run(run_python, """
    there = ad.to_device(values(), "ext_dev:0", copy=True, wait=False)
    print(there.is_ready())
    """)  # fmt: skip
    assert out == "False\n"


def test_foreign_owners_do_not_call_python_after_exit(run_python):
    """nanoarrow releases its device array at exit. The memory belongs to a NumPy array."""
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
def test_exit_succeeds_while_a_thread_reads_a_stream(run_python, reader, turn):
    """A daemon thread and a thread of the library run a Python producer."""
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
        stream = ad.to_device(pa.RecordBatchReader.from_batches(batch.schema, slow()), "ext_dev:1", read_ahead=True)
        threading.Thread(target=read, args=(stream,), daemon=True).start()
    assert inside.wait(30)
    print("over")
    """)  # fmt: skip
    assert out == "over\n"


def test_a_signal_ends_the_wait_for_a_producer_at_exit(run_python):
    """The producer runs for longer than the exit waits."""
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
    atexit.register(ending.set)  # runs before the package's handler, which was registered earlier
    print("over", flush=True)
    """)  # fmt: skip
    assert out == "over\nKeyboardInterrupt\n"


def test_producers_are_not_called_after_exit_has_begun(run_python):
    """The exit handler closes the guard. Later releases do not call producers."""
    out = run(run_python, """
    class Freed(np.ndarray):
        def __del__(self):
            print("freed", flush=True)

    early = ad.Array(np.arange(5).view(Freed))
    del early
    gc.collect()
    late = ad.to_device(np.arange(5).view(Freed), "ext_dev:0", copy=True, wait=False)
    # The copy finishes after the guard is closed. The library then does not call the producer.
    import atexit
    atexit._run_exitfuncs()
    ad.wait_idle(30)
    print("over")
    """)  # fmt: skip
    assert out == "freed\nover\n"


def test_streams_raise_canceled_after_exit_has_begun(run_python):
    out = run(run_python, """
    stream = ad.Stream(pa.table({"n": [1]}))
    ad._core.close_guard(0)
    print([len(batch) for batch in stream])  # this thread may still call producers

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


def test_cpu_arrays_work_after_fork(run_python):
    out = run(run_python, """
    import os, warnings
    warnings.simplefilter("ignore")  # about forks with threads: the child makes only calls that the manual allows
    cpu = ad.RecordBatch(pa.record_batch({"n": [1, 2, 3]}))
    there = ad.to_device(cpu, "ext_dev:1")
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
