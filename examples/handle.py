# SPDX-License-Identifier: Apache-2.0
"""Gives a column to another process, which adds it up: prints "499500 0"."""

# [program]
import multiprocessing

import arrowdevice
import pyarrow


def add_up(handles, sums):
    array = handles.get().open()  # an arrowdevice.Array over the memory of the other process
    sums.put(sum(array.to_pylist()))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    handles, sums = context.Queue(), context.Queue()
    process = context.Process(target=add_up, args=(handles, sums))
    process.start()

    pool = arrowdevice.Pool("cpu", shareable=True)
    array = arrowdevice.to_device(pyarrow.array(range(1000)), "cpu", copy=True, pool=pool)
    with array.ipc_handle() as handle:
        handles.put(handle)
        print(sums.get(), handle.copied_bytes)
    # [end]
    process.join()
