# SPDX-License-Identifier: Apache-2.0
"""Captures a graph of CuPy or PyTorch while another thread streams arrays: graph_capture.py cupy|torch

The last line is `N passed, N failed`.
"""

import os
import sys
import threading

import numpy
import pyarrow as pa

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import c_api as ad  # noqa: E402

ROWS = 100_003
BATCHES = 50
PATIENCE = 60  # seconds


class Streaming(threading.Thread):
    """Copies arrays to the GPU and back until the capture has ended, at least BATCHES of them."""

    def __init__(self, lib):
        super().__init__()
        self.lib, self.problem = lib, None
        self.enough, self.may_end = threading.Event(), threading.Event()

    def run(self):
        try:
            device, numbers, done = self.lib.device("cuda:0"), numpy.arange(ROWS, dtype=numpy.int64), 0
            while done < BATCHES or not self.may_end.is_set():
                array, schema = ad.HostArray(self.lib), ad.Schema(self.lib)
                pa.array(numbers)._export_to_c(array.address, schema.address)
                there = ad.DeviceArray.from_host(array).copy(schema, device, flags=ad.COPY_ASYNC)
                host = there.to_host(schema)
                back = pa.Array._import_from_c(host.address, schema.address)
                if not numpy.array_equal(back.to_numpy(), numbers):
                    raise ValueError(f"batch {done} came back changed")
                done += 1
                if done == BATCHES:
                    self.enough.set()
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error
        finally:
            self.enough.set()


def capture_cupy(beside):
    import cupy
    source, target = cupy.full(ROWS, 21, dtype=cupy.int64), cupy.zeros(ROWS, dtype=cupy.int64)
    cupy.multiply(source, 2, out=target)  # compiles the kernel
    target.fill(0)
    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        cupy.multiply(source, 2, out=target)
        beside()
        graph = stream.end_capture()
    graph.launch(stream)
    stream.synchronize()
    return bool((target == 42).all())


def capture_torch(beside):
    import torch
    source, target = torch.full((ROWS,), 21, device="cuda"), torch.zeros(ROWS, dtype=torch.int64, device="cuda")
    torch.mul(source, 2, out=target)  # loads the kernel
    target.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="global"):
        torch.mul(source, 2, out=target)
        beside()
    graph.replay()
    torch.cuda.synchronize()
    return bool((target == 42).all())


def main(framework):
    counts = {True: 0, False: 0}

    def check(holds, what):
        counts[bool(holds)] += 1
        print(f"{'passed' if holds else 'FAILED'}: {what}", flush=True)

    lib = ad.Library()
    lib.device("cuda:0")
    streaming = Streaming(lib)

    def beside():
        streaming.start()
        if not streaming.enough.wait(PATIENCE):
            raise TimeoutError("the arrays are stuck during the capture")

    try:
        is_right, problem = {"cupy": capture_cupy, "torch": capture_torch}[framework](beside), ""
    except Exception as error:  # pylint: disable=broad-except
        is_right, problem = False, f": {error}"
    check(is_right, f"a graph of {framework} survives streams of arrays in another thread{problem}")
    streaming.may_end.set()
    if streaming.ident is not None:
        streaming.join(PATIENCE)
        check(streaming.problem is None and not streaming.is_alive(),
              f"arrays are right beside a capture of {framework}" + (f": {streaming.problem}" if streaming.problem else ""))
    print(f"{counts[True]} passed, {counts[False]} failed", flush=True)
    os._exit(1 if counts[False] else 0)  # a thread that is stuck must not keep the process


if __name__ == "__main__":
    main(sys.argv[1])
