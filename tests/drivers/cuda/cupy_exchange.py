# SPDX-License-Identifier: Apache-2.0
"""Shares memory with CuPy by raw pointers: cupy_exchange.py. The last line is `N passed, N failed`."""

import os
import sys

import cupy
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import c_api as ad  # noqa: E402

ROWS = 1_000_003
counts = {True: 0, False: 0}


def check(holds, what):
    holds = bool(holds)
    counts[holds] += 1
    print(f"{'passed' if holds else 'FAILED'}: {what}")


def main():
    import pyarrow as pa
    lib = ad.Library()
    device = lib.device("cuda:0")
    numbers = numpy.arange(ROWS, dtype=numpy.int64)
    array, schema = ad.HostArray(lib), ad.Schema(lib)
    pa.array(numbers)._export_to_c(array.address, schema.address)
    there = ad.DeviceArray.from_host(array).copy(schema, device)
    there.wait()

    address = there.c.array.buffers[1]
    memory = cupy.cuda.MemoryPointer(cupy.cuda.UnownedMemory(address, ROWS * 8, there), 0)
    seen = cupy.ndarray((ROWS,), dtype=cupy.int64, memptr=memory)
    check(int(seen.sum()) == int(numbers.sum()), "CuPy sums an array of this library on the GPU")

    seen *= 3
    cupy.cuda.get_current_stream().synchronize()
    host = there.to_host(schema)
    back = pa.Array._import_from_c(host.address, schema.address)
    check(numpy.array_equal(back.to_numpy(), numbers * 3), "the library reads the values that CuPy wrote")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
