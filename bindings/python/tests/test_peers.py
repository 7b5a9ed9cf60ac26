# SPDX-License-Identifier: Apache-2.0
"""Other libraries as producers and consumers. Each compares its data after a round trip to every device."""

import duckdb
import nanoarrow
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import arrowdevice as ad

COLUMNS = {"n": [1, 2, None, 4], "x": [1.5, None, float("inf"), -0.0], "text": ["a", "bc", None, "déf" * 9],
           "list": [[1, 2], [], None, [3]]}  # fmt: skip


def test_a_polars_data_frame_survives_the_round_trip(device):
    frame = polars.DataFrame(COLUMNS)
    there = ad.to_device(frame, device)
    assert isinstance(there, ad.Stream) and there.schema.names == frame.columns
    assert polars.DataFrame(there.to_host()).equals(frame)


def test_a_polars_series_survives_the_round_trip(device):
    for name, values in COLUMNS.items():
        series = polars.Series(name, values)
        back = polars.Series(ad.to_device(series, device).to_host())
        assert back.rename(name).equals(series)


def test_polars_reads_a_batch(device):
    batch = ad.to_device(pa.record_batch(COLUMNS), device)
    assert polars.DataFrame(batch.to_host()).to_dict(as_series=False) == COLUMNS


def test_polars_categories_survive_the_round_trip(device):
    frame = polars.DataFrame({"c": polars.Series(["x", "y", "x", None], dtype=polars.Categorical)})
    assert polars.DataFrame(ad.to_device(frame, device).to_host())["c"].to_list() == ["x", "y", "x", None]


def test_a_duckdb_relation_survives_the_round_trip(device):
    relation = duckdb.connect().sql("select i as n, 'text ' || i as t, [i, i + 1] as l from range(5000) r(i)")
    stream = ad.to_device(relation, device).to_host()
    assert duckdb.connect().sql("select count(*), sum(n), max(t), sum(l[2]) from stream").fetchall() == [
        (5000, sum(range(5000)), "text 999", sum(range(1, 5001)))
    ]


def test_duckdb_reads_a_batch(device):
    batch = ad.to_device(pa.record_batch(COLUMNS), device).to_host()
    assert duckdb.sql("select count(n), max(text) from batch").fetchall() == [(3, "déf" * 9)]


def test_a_pandas_data_frame_survives_the_round_trip(device):
    frame = pandas.DataFrame({"n": [1, 2, 3], "t": ["a", "b", "c"]})
    back = ad.to_device(frame, device).to_host().to_pyarrow().read_all().to_pandas()
    assert back.to_dict() == frame.to_dict()


def test_a_nanoarrow_array_survives_the_round_trip(device):
    theirs = nanoarrow.c_array([1, None, 3], nanoarrow.int64())
    there = ad.to_device(theirs, device)
    assert (type(there), there.type, there.null_count) == (ad.Array, "int64", 1)
    assert nanoarrow.Array(there.to_host()).to_pylist() == [1, None, 3]


def test_a_nanoarrow_stream_survives_the_round_trip(device):
    theirs = nanoarrow.Array.from_chunks([["a", "b"], ["c"]], nanoarrow.string())
    with pytest.raises(ValueError, match="non-contiguous"):
        ad.to_device(theirs, device)  # it has the methods of one array
    stream = ad.to_device(ad.Stream(theirs), device).to_host()
    assert nanoarrow.ArrayStream(stream).read_all().to_pylist() == ["a", "b", "c"]


def test_pyarrow_readers_and_tables_survive_the_round_trip(device):
    table = pa.table(COLUMNS)
    assert pa.table(ad.to_device(table, device).to_host()).equals(table)
    assert pa.RecordBatchReader.from_stream(ad.to_device(table.to_reader(), device).to_host()).read_all().equals(table)
    chunked = pa.chunked_array(ad.to_device(table["list"], device).to_host())
    assert chunked.equals(table["list"])


def test_numpy_arrays_survive_the_round_trip(device):
    for kind in (np.int8, np.uint16, np.int32, np.uint64, np.float16, np.float32, np.float64):
        for shape in ((7,), (3, 4), (2, 3, 2), (0,), (0, 3)):
            values = np.arange(np.prod(shape)).reshape(shape).astype(kind)
            there = ad.to_device(values, device)
            back = np.from_dlpack(there.to_host())
            assert back.dtype == kind and back.shape == shape and (back == values).all()


@pytest.mark.parametrize("module", ["torch", "jax.numpy"])
def test_tensors_survive_the_round_trip(module, device):
    tensors = pytest.importorskip(module, reason=f"{module} is not installed")
    make = tensors.arange
    there = ad.to_device(make(12.0).reshape(3, 4), device)
    assert there.type == "fixed_size_list<item: float>[4]"
    back = tensors.from_dlpack(there.to_host())
    assert back.tolist() == make(12.0).reshape(3, 4).tolist()


def test_tensors_of_cupy_survive_the_round_trip():
    cupy = pytest.importorskip("cupy", reason="cupy is not installed")
    there = ad.Array(cupy.arange(12.0).reshape(3, 4))
    assert there.device_type == ad.DeviceType.CUDA
    assert np.from_dlpack(there.to_host()).tolist() == cupy.from_dlpack(there).tolist()
