# SPDX-License-Identifier: Apache-2.0
"""Gives the buffers of a column of texts to CuPy, PyTorch and Numba: buffers_exchange.py

It uses those of the packages that are installed. The last line is `N passed, N failed`.
"""

import importlib
import sys

import arrowdevice
import numpy
import pyarrow as pa

TEXTS = ["a", None, "bcd", ""] * 1000
counts = {True: 0, False: 0}


def check(what, values, expected):
    holds = numpy.array_equal(values, expected)
    counts[holds] += 1
    print(f"{'passed' if holds else 'FAILED'}: {what}")


def ways():
    """Returns functions from a buffer to a NumPy array, by name."""
    found = {}
    for name in ("cupy", "torch", "numba.cuda"):
        try:
            package = importlib.import_module(name)
        except ImportError:
            print(f"not run: {name}: it is not installed")
            continue
        if name == "cupy":
            found["CuPy by DLPack"] = lambda buffer, cupy=package: cupy.from_dlpack(buffer).get()
            found["CuPy by the CUDA array interface"] = lambda buffer, cupy=package: cupy.asarray(buffer).get()
        elif name == "torch":
            found["PyTorch by DLPack"] = lambda buffer, torch=package: torch.from_dlpack(buffer).cpu().numpy()
        else:
            found["Numba by the CUDA array interface"] = lambda buffer, cuda=package: cuda.as_cuda_array(buffer).copy_to_host()
    return found


def main():
    host = arrowdevice.Array(pa.array(TEXTS))
    expected = {part.role: numpy.from_dlpack(part) for part in host.buffers()}
    there = host.to_device("cuda:0")
    for name, read in ways().items():
        for part in there.buffers(sizes=True):
            try:
                check(f"{name} reads the {part.role} of a column of texts", read(part), expected[part.role])
            except Exception as error:  # pylint: disable=broad-except
                counts[False] += 1
                print(f"FAILED: {name}, {part.role}: {type(error).__name__}: {error}")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
