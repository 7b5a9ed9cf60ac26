# SPDX-License-Identifier: Apache-2.0
"""The text of an object on the CPU has its first and last values."""

import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad

ROWS = "[0, 1, 2, 3, 4, ..., 995, 996, 997, 998, 999]"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array([1, 2, None], pa.int32()), "int32, 3 rows on cpu:0: [1, 2, None]"),
        (pa.array([], pa.string()), "string, 0 rows on cpu:0: []"),
        (pa.array(range(1000)), f"int64, 1,000 rows on cpu:0: {ROWS}"),
        (pa.array(["x" * 100]), "string, 1 rows on cpu:0: ['xxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxx']"),
        (pa.array([{"a": [1]}]), "struct<a: list<item: int64>>, 1 rows on cpu:0: [{'a': [1]}]"),
        (pa.array([2**62], pa.timestamp("s")), "timestamp[s], 1 rows on cpu:0: [4611686018427387904]"),
        (pa.array([[2**62]], pa.list_(pa.timestamp("s"))), "list<item: timestamp[s]>, 1 rows on cpu:0: [<list<item: timestamp[s]>>]"),
        (pa.StructArray.from_arrays([[1], [2]], ["a", "a"]), "struct<a: int64, a: int64>, 1 rows on cpu:0: [<struct<a: int64, a: int64>>]"),
    ],
)  # fmt: skip
def test_an_array_shows_its_first_and_last_values(values, text):
    assert repr(ad.Array(values)) == f"<arrowdevice.Array {text}>"


def test_batches_and_tables_show_a_line_for_each_column():
    batch = pa.record_batch({"n": range(1000), "t": pa.array(range(1000)).cast(pa.string())})
    texts = "['0', '1', '2', '3', '4', ..., '995', '996', '997', '998', '999']"
    columns = f"\n  n: {ROWS}\n  t: {texts}"
    assert repr(ad.RecordBatch(batch)) == f"<arrowdevice.RecordBatch n: int64, t: string; 1,000 rows on cpu:0>{columns}"
    parts = pa.Table.from_batches([batch[:3], batch[3:997], batch[997:]])
    assert repr(ad.Table(parts)) == f"<arrowdevice.Table n: int64, t: string; 1,000 rows in 3 batches on cpu:0>{columns}"


def test_values_that_need_a_copy_are_not_shown(accelerator):
    there = ad.to_device(pa.array([1, 2]), accelerator)
    assert repr(there) == f"<arrowdevice.Array int64, 2 rows on {accelerator.name}>"


def test_only_the_batches_that_are_shown_are_read(monkeypatch):
    column = ad.RecordBatch.column
    read = []
    monkeypatch.setattr(ad.RecordBatch, "column", lambda batch, key: read.append(len(batch)) or column(batch, key))
    table = ad.Table(pa.Table.from_batches([pa.record_batch({"n": [n, n]}) for n in range(100)]))
    assert repr(table).endswith("\n  n: [0, 0, 1, 1, 2, ..., 97, 98, 98, 99, 99]")
    assert read == [2, 2, 1, 1, 2, 2]


def test_invalid_values_are_not_read():
    offsets = np.array([0, 1_000_000, 4], np.int32)
    array = ad.Array.from_buffers(pa.string(), 2, [None, offsets.ctypes.data, offsets.ctypes.data], device="cpu", owner=offsets)
    assert repr(array) == "<arrowdevice.Array string, 2 rows on cpu:0: [invalid, validate() says why]>"


def test_without_pyarrow_there_are_no_values(run_python):
    out = run_python(
        """
        import sys
        import numpy as np
        sys.modules["pyarrow"] = None
        import arrowdevice as ad
        print(ad.Array(np.arange(3)))
        """
    )
    assert out == "<arrowdevice.Array int64, 3 rows on cpu:0>\n"
