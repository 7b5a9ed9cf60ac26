# SPDX-License-Identifier: Apache-2.0
"""Tables on devices, and pickles of arrays and tables."""

import pickle

import pandas
import polars
import pyarrow as pa
import pytest

import arrowdevice as ad

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def table(batch):
    return pa.Table.from_batches([batch, batch[1:3], batch])


def test_a_table_stays_on_its_device_and_is_used_again(table, device):
    there = ad.to_device(ad.Table(table), device)
    assert {batch.device for batch in there.batches} == {device}
    assert there.to_pyarrow().equals(table)
    assert there.to_host().to_pyarrow().equals(table)  # once more
    assert (len(there), there.num_rows, there.num_columns) == (12, 12, 3)
    assert there.column_names == table.column_names
    assert there.nbytes == sum(batch.nbytes for batch in there.batches)
    assert f"; 12 rows in 3 batches on {device.name}>" in repr(there)


def test_read_all_keeps_the_batches_where_they_are(table, accelerator):
    stream = ad.to_device(table, accelerator)
    there = stream.read_all()
    assert stream.closed
    assert {batch.device for batch in there.batches} == {accelerator}
    assert there.to_pyarrow().equals(table)


@pytest.mark.parametrize("rows", [slice(None), slice(3, 6), slice(4, 8), slice(-2, None), slice(7, 3), slice(12, 20)])
def test_slices_of_a_table_cross_batches(table, rows):
    first, end, _ = rows.indices(12)
    expected = table.slice(first, max(end - first, 0))
    assert ad.to_device(ad.Table(table), "ext_dev:0")[rows].to_pyarrow().equals(expected)


def test_columns_of_a_table_are_chosen_by_name_and_position(table):
    there = ad.to_device(ad.Table(table), "ext_dev:1")
    assert there.select(["text", 0]).to_pyarrow().equals(table.select(["text", "n"]))
    assert [array.to_pyarrow() for array in there["text"]] == table["text"].chunks
    assert there.column(-1)[2].to_pylist() == table["list"].chunks[2].to_pylist()
    for wrong, error in (("missing", KeyError), (3, IndexError), (-4, IndexError)):
        with pytest.raises(error):
            there.column(wrong)
    with pytest.raises(ValueError, match="step"):
        there[::2]


def test_a_table_without_batches_has_a_schema(table):
    empty = ad.to_device(ad.Table(table)[:0], "ext_dev:0")
    assert (len(empty), empty.batches) == (0, [])
    assert empty.to_pyarrow().equals(table[:0])
    assert empty.select(["text"]).column_names == ["text"]
    assert repr(empty).endswith("; 0 rows in 0 batches>")


def test_other_packages_read_a_table(table, device):
    there = ad.to_device(ad.Table(table), device)
    home = there.to_host()
    assert polars.DataFrame(home).equals(polars.DataFrame(table))
    assert pandas.DataFrame(pa.table(home).to_pandas()).equals(table.to_pandas())
    assert ad.Stream(there).to_pyarrow().read_all().equals(table)
    assert there.stream().read_all().to_pyarrow().equals(table)


def test_a_table_has_record_batches_of_one_type(batch):
    assert len(ad.Table.from_batches([batch, batch])) == 10
    with pytest.raises(ValueError, match="no table"):
        ad.Table(pa.chunked_array([[1, 2]]))
    with pytest.raises(ValueError, match="type"):
        ad.Table.from_batches([batch, pa.record_batch({"n": [1]})])
    with pytest.raises(TypeError):
        ad.Table(7)


def test_a_table_is_released_by_with(table):
    with ad.Table(table) as there:
        assert len(there) == 12
    assert repr(there) == "<arrowdevice.Table, released>"
    with pytest.raises(ValueError, match="released"):
        there.to_pyarrow()


def test_the_time_out_of_a_table_covers_all_batches(run_python):
    out = run_python(
        """
        import time
        import arrowdevice as ad, pyarrow as pa

        table = ad.Table.from_batches([pa.record_batch({"n": [1]})] * 5)
        begin = time.monotonic()
        try:
            ad.to_device(table, "ext_dev:0", timeout=0.3)
        except TimeoutError:
            print(time.monotonic() - begin < 0.9)
        there = ad.to_device(table, "ext_dev:0", wait=False)
        print(there.batches[4].is_ready())
        ad.wait_idle(30)
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=1000000",
    )
    assert out == "True\nFalse\n"


def test_all_batches_of_a_table_are_ready_unless_the_program_does_not_wait(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa

        table = ad.Table.from_batches([pa.record_batch({"n": range(rows)}) for rows in (1, 500_000)])
        for wait in (True, False):
            there = ad.to_device(table, "ext_dev:0", wait=wait)
            print(all(batch.is_ready() for batch in there.batches))
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:bandwidth=20m",  # the second batch takes 0.2 seconds
    )
    assert out == "True\nFalse\n"


def test_to_device_refuses_options_that_a_table_lacks(table):
    with pytest.raises(ValueError, match="timeout|time-out|duration|-1"):
        ad.to_device(ad.Table(table), "cpu", timeout=-1)
    for options in ({"depth": 2}, {"read_ahead": True}, {"interface": "async"}):
        with pytest.raises(TypeError, match="table"):
            ad.to_device(ad.Table(table), "cpu", **options)


def test_pickles_have_the_rows_and_the_type(batch, table, device):
    array = ad.to_device(batch, device)["text"][1:4]
    there = ad.to_device(batch, device)
    for value in (array, array[2:2], there[1:], there[5:], ad.to_device(ad.Table(table), device), ad.Table(table)[:0]):
        again = pickle.loads(pickle.dumps(value))
        assert type(again) is type(value)
        assert again.to_pyarrow().equals(value.to_pyarrow())
        assert again.schema.to_pyarrow().equals(value.schema.to_pyarrow(), check_metadata=True)


def test_a_pickle_of_a_slice_has_only_its_rows():
    array = ad.Array(pa.array(range(100_000)))
    assert len(pickle.dumps(array[5:8])) < 2000
