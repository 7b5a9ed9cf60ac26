# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pyarrow as pa
import pytest

import arrowdevice as ad
from arrowdevice.durations import nanoseconds

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_a_batch_reports_its_type_device_and_columns(device, batch):
    moved = ad.to_device(batch, device)
    assert isinstance(moved, ad.RecordBatch)
    assert (len(moved), moved.num_rows, moved.num_columns, moved.column_names) == (5, 5, 3, ["n", "text", "list"])
    assert (moved.format, moved.device, moved.device_type) == ("+s", device, device.device_type)
    assert moved.null_count == 0
    assert [(c.type, c.null_count, len(c)) for c in moved.columns] == [
        ("int32", 1, 5), ("string", 1, 5), ("list<item: double>", 1, 5),
    ]  # fmt: skip
    first_line = repr(moved).split("\n")[0]
    assert first_line == (
        f"<arrowdevice.RecordBatch n: int32, text: string, list: list<item: double>; 5 rows on {device.name}>"
    )
    assert repr(moved["n"]).startswith(f"<arrowdevice.Array int32, 5 rows on {device.name}")


def test_nbytes_counts_the_bytes_that_the_rows_use(device):
    array = ad.to_device(pa.array(["abc", "de", None, ""]), device)
    # One byte of validity, five offsets, five letters.
    assert array.nbytes == 1 + 20 + 5
    assert {b.role: b.size for b in array.buffers(sizes=True)} == {"validity": 1, "offsets": 20, "data": 5}


def test_buffers_reports_the_path_of_each_buffer(batch):
    moved = ad.to_device(batch, "ext_dev:0")
    assert [(b.path, b.role) for b in moved.buffers()] == [
        ("", "validity"), ("n", "validity"), ("n", "data"), ("text", "validity"), ("text", "offsets"), ("text", "data"),
        ("list", "validity"), ("list", "offsets"), ("list.item", "validity"), ("list.item", "data"),
    ]  # fmt: skip


def test_to_device_shares_on_the_cpu(batch):
    array = ad.Array(batch["n"])
    moved = ad.to_device(array, "cpu", copy=False)
    assert [b.address for b in moved.buffers()] == [b.address for b in array.buffers()]
    assert array.buffers()[1].address == batch["n"].buffers()[1].address


def test_to_device_with_copy_true_does_not_share_on_the_cpu(batch):
    array = ad.Array(batch["n"])
    assert array.buffers()[1].address != ad.to_device(array, "cpu", copy=True).buffers()[1].address
    assert ad.to_device(batch, "cpu", copy=True).to_pyarrow().equals(batch)


@pytest.mark.parametrize("rows", [slice(1, 4), slice(None), slice(3, 1), slice(-2, None), slice(2, 100), slice(5, 5)])
def test_slices_follow_pythons_rules(device, batch, rows):
    moved = ad.to_device(batch, device)
    expected = pa.RecordBatch.from_pylist(batch.to_pylist()[rows], schema=batch.schema)
    assert moved[rows].to_pyarrow().equals(expected)
    assert moved["text"][rows].to_pyarrow().equals(expected["text"])


def test_a_slice_shares_memory(accelerator, batch):
    moved = ad.to_device(batch, accelerator)
    used = accelerator.pool().used_bytes
    part = moved[1:3]
    assert accelerator.pool().used_bytes == used
    moved.release()
    ad.wait_idle(10)
    assert accelerator.pool().used_bytes == used
    assert part.to_pyarrow().to_pylist() == batch.to_pylist()[1:3]


def test_a_slice_of_a_slice_has_the_right_rows(device, batch):
    assert ad.to_device(batch, device)[1:5][1:3][1:].to_pyarrow().to_pylist() == batch.to_pylist()[3:4]


def test_slice_refuses_rows_outside_the_array(batch):
    array = ad.RecordBatch(batch)
    for offset, length in [(0, 6), (-1, 2), (6, 0), (2, -1)]:
        with pytest.raises(ValueError):
            array.slice(offset, length)
    with pytest.raises(ValueError, match="slice step 2"):
        array[::2]
    with pytest.raises(TypeError, match="to_pylist"):
        array["n"][2]
    with pytest.raises(TypeError):
        iter(array)


def test_columns_are_found_by_name_and_position(device, batch):
    moved = ad.to_device(batch, device)
    assert moved["text"].to_pyarrow().equals(batch["text"])
    assert moved[-1].to_pyarrow().equals(batch["list"])
    assert moved.select(["list", 0, -2]).column_names == ["list", "n", "text"]
    assert moved.select(["text", "text"]).to_pyarrow().column(1).equals(batch["text"])
    assert moved.select([]).num_columns == 0 and len(moved.select([])) == 5


def test_column_access_refuses_a_missing_column(batch):
    array = ad.RecordBatch(batch)
    with pytest.raises(KeyError, match="'n', 'text', 'list'"):
        array["price"]
    for use in (array.column, lambda key: array[key], lambda key: array.select([0, key])):
        for key in (3, -4, 2**70):
            with pytest.raises(IndexError, match=rf"invalid column {key} \(the batch has 3\)$"):
                use(key)
    with pytest.raises(TypeError, match="list"):
        array.select("n")
    twice = ad.RecordBatch(pa.RecordBatch.from_arrays([batch["n"], batch["n"]], ["n", "n"]))
    with pytest.raises(KeyError, match="several"):
        twice["n"]


@pytest.mark.parametrize("copy", ["always", 2, ()])
def test_to_device_refuses_an_invalid_copy_value(batch, copy):
    with pytest.raises(TypeError, match=r"invalid copy .* \(expected None, True or False\)"):
        ad.to_device(batch, "cpu", copy=copy)


def test_a_column_of_a_sliced_struct_has_the_rows_of_the_slice():
    struct = pa.StructArray.from_arrays([pa.array([1, 2, 3, 4]), pa.array(["a", "b", "c", "d"])], ["n", "t"])
    batch = ad.RecordBatch(struct[1:3])
    assert batch["n"].to_pyarrow().to_pylist() == [2, 3]
    assert batch["t"].to_pyarrow().to_pylist() == ["b", "c"]


def test_a_column_outlives_its_batch(accelerator, batch):
    column = ad.to_device(batch, accelerator)["text"]
    assert column.to_pyarrow().equals(batch["text"])


def test_null_count_counts_nulls_when_the_producer_has_not():
    values = pa.array([1, None, 3, None, 5])
    uncounted = pa.Array.from_buffers(pa.int64(), 4, values.buffers(), null_count=-1, offset=1)
    array = ad.Array(uncounted)
    assert array.null_count == 2
    assert ad.Array(pa.nulls(3)).null_count == 3
    assert ad.Array(pa.array([1, 2])).null_count == 0


def test_record_batch_refuses_a_struct_with_nulls():
    struct = pa.array([{"a": 1}, None])
    assert type(ad.to_device(struct, "cpu")) is ad.Array
    with pytest.raises(ValueError, match="nulls of its own"):
        ad.RecordBatch(struct)
    with pytest.raises(ValueError, match="int64"):
        ad.RecordBatch(pa.array([1]))


def test_wait_returns_when_the_copy_has_finished(device, batch):
    moved = ad.to_device(batch, device, copy=True, wait=False)
    moved.wait(30)
    assert moved.is_ready()
    assert moved.to_pyarrow().equals(batch)


def test_wait_raises_a_timeout_when_the_copy_still_runs(run_python):
    out = run_python(
        """
        import arrowdevice as ad, pyarrow as pa
        batch = pa.record_batch({"n": [1, 2, 3]})
        moved = ad.to_device(batch, "ext_dev:0", wait=False)
        print(moved.is_ready())
        for kind, timeout in ((ad.Error, 0.001), (TimeoutError, 0), (TimeoutError, 0.25)):
            try:
                moved.wait(timeout)
            except kind as error:
                print(type(error).__name__)
        moved.wait()
        print(moved.is_ready(), moved.to_pyarrow().equals(batch))
        """,
        ARROWDEVICE_SIM_DEVICES="addresses:latency_us=700000",
    )
    assert out.split() == ["False", *["DeviceTimeoutError"] * 3, "True", "True"]


@pytest.mark.parametrize("timeout", [0, 0.5, 2**63, 1e300, float("inf"), None])
def test_wait_accepts_any_timeout_when_the_array_is_ready(timeout, batch):
    ad.Array(batch).wait(timeout)
    assert ad.Array(batch).to_host(timeout=timeout).to_pyarrow()


@pytest.mark.parametrize("seconds, expected", [
    (None, 0), (0, -1), (0.0, -1), (1e-10, -1), (1e-9, 1), (1.5, 1_500_000_000), (float("inf"), 2**63 - 1),
])  # fmt: skip
def test_nanoseconds_follow_the_librarys_convention(seconds, expected):
    assert nanoseconds(seconds) == expected


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_wait_refuses_an_invalid_timeout(timeout, batch):
    with pytest.raises(ValueError, match="seconds"):
        ad.Array(batch).wait(timeout)


@pytest.mark.parametrize("level", ["structure", "full", "strict"])
def test_validate_accepts_a_valid_batch(device, batch, level):
    ad.to_device(batch, device).validate(level)


def test_validate_names_the_field_of_invalid_data_on_any_device(device):
    # The text is not UTF-8. A copy does not check that.
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"]).buffers())
    moved = ad.to_device(pa.RecordBatch.from_arrays([bad], ["text"]), device)
    moved.validate("structure")
    with pytest.raises(ad.InvalidError, match="text.*UTF-8"):
        moved.validate("full")
    with pytest.raises(ValueError, match="'structure', 'full', 'strict'"):
        moved.validate("everything")


def test_a_released_array_refuses_every_use(batch):
    array = ad.RecordBatch(batch)
    array.release()
    array.release()
    assert repr(array) == "<arrowdevice.RecordBatch, released>"
    for use in (len, lambda a: a.null_count, lambda a: a[1:], lambda a: a["n"], lambda a: ad.to_device(a, "cpu"),
                lambda a: a.device, lambda a: a.buffers(), lambda a: a.__arrow_c_device_array__()):  # fmt: skip
        with pytest.raises(ValueError, match="released"):
            use(array)


def test_dictionaries_survive_a_transfer(device):
    values = pa.array(["x", "yy", "x", None]).dictionary_encode()
    moved = ad.to_device(values, device)
    assert moved.type == "dictionary<values=string, indices=int32>"
    assert ("dictionary", "data") in [(b.path, b.role) for b in moved.buffers()]
    assert moved.to_pyarrow().equals(values)


def test_values_as_python_objects_and_numpy(device):
    for values in (pa.array([1, 2, 3]), pa.array(["a", None]), pa.array([1.5, None])):
        there = ad.to_device(values, device)
        assert there.to_pylist() == values.to_pylist()
        expected = values.to_numpy(zero_copy_only=False)
        for seen in (there.to_numpy(), np.asarray(there)):
            assert seen.dtype == expected.dtype
            assert str(seen) == str(expected)
    assert np.asarray(ad.to_device(pa.array([1, 2]), device), dtype=np.float32).tolist() == [1.0, 2.0]


def test_an_array_is_a_context_manager():
    with ad.to_device(pa.array([1]), "cpu") as array:
        assert len(array) == 1
    with pytest.raises(ValueError, match="released"):
        len(array)
