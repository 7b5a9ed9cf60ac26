# SPDX-License-Identifier: Apache-2.0
"""Measures copies and validation of the same arrays on the CPU by the library and by peers: peers.py [--json=FILE]

`memmove` of the same bytes into touched memory is the yardstick. The peer is Arrow C++ through pyarrow (`copy_to`, the copy of
its memory manager). nanoarrow's Python package has no function that copies an array to a device. ctypes calls the library, so
that Python takes a few microseconds of each call.

The yardstick of validation is pyarrow's `validate(full=True)` of the same texts.
"""

import argparse
import ctypes
import itertools
import json
import os
import statistics
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "support"))

import c_api as ffi  # noqa: E402

MILLION = 1_000_000
LEAST_SECONDS = 1.0
LEAST_RUNS = 5


def median_seconds(*works):
    """Returns the median of each work. Runs the works in turns, so that other load affects all of them."""
    for work in works:
        work()
    times = [[] for _ in works]
    begin = time.perf_counter()
    while len(times[0]) < LEAST_RUNS or time.perf_counter() - begin < LEAST_SECONDS:
        for work, taken in zip(works, times):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return [statistics.median(taken) for taken in times]


def columns(n, rows):
    return pa.record_batch([pa.array(np.arange(rows, dtype=np.int64)) for _ in range(n)],
                           names=[f"c{i}" for i in range(n)])


def texts(rows):
    offsets = np.arange(rows + 1, dtype=np.int32) * 10
    characters = np.full(rows * 10, ord("a"), dtype=np.uint8)
    array = pa.Array.from_buffers(pa.utf8(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(characters)])
    return pa.record_batch([array], names=["text"])


def texts_of(characters, size, type):
    """Returns 16 MB of texts, each as many of the characters in turn as fit into `size` bytes."""
    turn, texts = itertools.cycle(characters), []
    text = next_character = ""
    while len(texts) < 1000:
        text, next_character = text + next_character, next(turn)
        if len((text + next_character).encode()) > size:
            texts.append(text)
            text = ""
    return pa.array(texts * (16 * MILLION // sum(len(text.encode()) for text in texts)), type=type)


def pieces_of(batch):
    """Yields the address and size of each buffer range that a copy transfers."""
    for column in batch.columns:
        width = 8 if pa.types.is_int64(column.type) else None
        if width:
            yield column.buffers()[1].address + column.offset * width, len(column) * width
        else:
            for buffer in column.buffers()[1:]:
                yield buffer.address, buffer.size


def memmove(batch):
    pieces = list(pieces_of(batch))
    touched = np.ones(sum(size for _, size in pieces), dtype=np.uint8)

    def work():
        to = touched.ctypes.data
        for address, size in pieces:
            ctypes.memmove(to, address, size)
            to += size
    return work


def by_the_library(lib, batch):
    device = lib.device("cpu")
    host, schema = ffi.HostArray(lib), ffi.Schema(lib)
    batch._export_to_c(host.address, schema.address)
    array = ffi.DeviceArray.from_host(host)
    copied = array.copy(schema, device)
    back, its_schema = copied.to_host(schema), schema.copy()
    check(batch, pa.RecordBatch._import_from_c(back.address, its_schema.address))
    return lambda: array.copy(schema, device).release()


def by_arrow_cpp(batch):
    manager = pa.default_cpu_memory_manager()
    check(batch, batch.copy_to(manager))
    return lambda: batch.copy_to(manager)


def check(sent, arrived):
    if not sent.equals(arrived):
        raise SystemExit("a copy has other values")


CASES = {
    "8 columns of 1M int64": lambda: columns(8, MILLION),
    "1000 columns of 100 int64": lambda: columns(1_000, 100),
    "10M utf8": lambda: texts(10 * MILLION),
    "the last 10 rows of 8 x 1M int64": lambda: columns(8, MILLION).slice(MILLION - 10),
}


SCRIPTS = {
    "ASCII": "The quick brown fox jumps over the lazy dog. ",
    "Cyrillic": "Съешьжеещёэтихмягкихфранцузскихбулокдавыпейчаю",
    "Japanese": "いろはにほへとちりぬるを我々は文字の並びを検査する",
    "emoji": "😀😁😂🤣😃😄😅😆😉😊😋😎",
    "mixed": "Größe: 5 m², naïve café, 東京, привет 😀 and plain words ",
}
VALIDATED = [("texts", pa.utf8(), script, 100) for script in SCRIPTS] + [
    ("texts", pa.utf8(), "ASCII", 8), ("texts", pa.utf8(), "mixed", 8), ("views", pa.string_view(), "ASCII", 8),
    ("views", pa.string_view(), "mixed", 20), ("views", pa.string_view(), "ASCII", 100)]


def validation(lib, kind, type, script, size):
    texts = texts_of(SCRIPTS[script], size, type)
    host, schema = ffi.HostArray(lib), ffi.Schema(lib)
    texts._export_to_c(host.address, schema.address)
    array = ffi.DeviceArray.from_host(host)
    ours, theirs = median_seconds(lambda: array.validate(schema, ffi.VALIDATE_FULL), lambda: texts.validate(full=True))
    gigabytes = pc.sum(pc.binary_length(texts.cast(pa.utf8()))).as_py() / 1e9
    return {"name": f"validation of {kind} of {size} bytes, {script}", "real_time": ours * 1e6, "time_unit": "us",
            "ratio": ours / theirs, "bound": 1, "gb_per_s": gigabytes / ours, "gb_per_s_of_peer": gigabytes / theirs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    options = parser.parse_args()
    lib = ffi.Library()
    results = []
    for name, make in CASES.items():
        batch = make()
        raw, ours, theirs = median_seconds(memmove(batch), by_the_library(lib, batch), by_arrow_cpp(batch))
        # Python takes most of the time for many ranges or few bytes.
        is_yardstick = sum(size for _, size in pieces_of(batch)) > MILLION and batch.num_columns <= 8
        for peer, seconds in (("libarrowdevice", ours), ("Arrow C++ " + pa.cpp_version, theirs)):
            results.append({"name": f"{name}, {peer}", "real_time": seconds * 1e6, "time_unit": "us",
                            **({"ratio": seconds / raw} if is_yardstick else {})})
            if not options.json:
                print(f"{name + ', ' + peer:<60} {seconds * 1e6:>12.1f} us" +
                      (f" {seconds / raw:>9.2f} x memmove" if is_yardstick else ""))
    for case in VALIDATED:
        results.append(validation(lib, *case))
        if not options.json:
            print("{name:<60} {gb_per_s:>9.2f} GB/s, pyarrow {gb_per_s_of_peer:>6.2f}".format(**results[-1]))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"benchmarks": results}, file, indent=1)


if __name__ == "__main__":
    main()
