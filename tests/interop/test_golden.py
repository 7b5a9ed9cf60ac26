# SPDX-License-Identifier: Apache-2.0
"""Sends Arrow's golden files on every trip and compares the results."""

import glob
import os

import c_api as ad
import pyarrow as pa
import pytest

from trips import ROUTES, Route, copy_to, export, import_back, make_trips, problem, same, share, take_back

pytestmark = pytest.mark.usefixtures("nothing_left")

FILES = """binary_view custom_metadata datetime decimal decimal256 decimal32 decimal64 dictionary dictionary_unsigned
duplicate_fieldnames duration extension interval interval_mdn large_binary list_view map map_non_canonical nested
nested_dictionary nested_large_offsets null null_trivial primitive primitive_large_offsets primitive_no_batches
primitive_zerolength recursive_nested run_end_encoded union""".split()

# Steps that pyarrow alone fails, with the reason: (file, step of STEPS).
PYARROW_CANNOT = {
    ("datetime", "validate"): "its date64 values are not whole days",
    ("decimal", "validate"): "its values have more digits than their types",
    ("decimal256", "validate"): "its values have more digits than their types",
    ("binary_view", "validate_no_rows"): "it takes the views of an array without rows for 0 bytes, whatever the offset",
}

FOLDER = os.environ.get("ARROWDEVICE_GOLDEN_DATA", "")


def path_of(name):
    return os.path.join(FOLDER, f"generated_{name}.stream")


def batches_of(name):
    if not os.path.isdir(FOLDER):
        reason = "the golden files are missing (ARROWDEVICE_GOLDEN_DATA names their folder)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with pa.ipc.open_stream(path_of(name)) as reader:
        return reader.schema, list(reader)


def test_every_golden_file_is_tested():
    batches_of(FILES[0])
    found = {os.path.basename(path) for path in glob.glob(os.path.join(FOLDER, "*.stream"))}
    assert found == {os.path.basename(path_of(name)) for name in FILES}


def read(name):
    assert batches_of(name)[0] is not None


def compare(name):
    # Reads twice, because an object is equal to itself by its address.
    for one, other in zip(batches_of(name)[1], batches_of(name)[1], strict=True):
        assert same(one, other)


def validate(name):
    for batch in batches_of(name)[1]:
        assert problem(batch) is None


def export_and_import(name):
    for batch in batches_of(name)[1]:
        assert same(import_back(batch), batch)


def validate_no_rows(name):
    for batch in batches_of(name)[1]:
        assert problem(import_back(batch.slice(2, 0))) is None


STEPS = {step.__name__: step for step in (read, compare, validate, export_and_import, validate_no_rows)}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", FILES)
def test_pyarrow_alone_passes_every_step_that_is_not_listed(name, step):
    if (name, step) in PYARROW_CANNOT:
        with pytest.raises((pa.ArrowException, AssertionError)):
            STEPS[step](name)
    else:
        STEPS[step](name)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_survives_every_trip(machine, name, route):
    schema, batches = batches_of(name)
    # A file without batches has a schema, which an empty batch tests.
    cannot = {step for file, step in PYARROW_CANNOT if file == name}
    for batch in batches or [pa.RecordBatch.from_pylist([], schema=schema)]:
        make_trips(machine, batch, ROUTES[route], cannot)


@pytest.mark.parametrize(
    "route",
    [Route(share), Route(copy_to("sim0")), Route(copy_to("sim0"), copy_to("sim1"))],
    ids=["shared", "one device", "two devices"],
)
@pytest.mark.parametrize("name", FILES)
def test_selected_columns_survive_the_trip(machine, name, route):
    for batch in batches_of(name)[1]:
        backwards = list(range(batch.num_columns))[::-1]
        for columns in (backwards, backwards[1::2], [0, 0], []):
            array, schema = export(machine.lib, batch)
            there = ad.DeviceArray.from_host(array)
            for hop in route.hops:
                there = hop(machine, there, schema)
            chosen, chosen_schema = there.select(schema, columns)
            there.release()
            received = take_back(chosen.to_host(chosen_schema), chosen_schema, pa.RecordBatch)
            expected = batch.select(columns)
            assert received.num_rows == batch.num_rows
            assert problem(received) == problem(expected)
            assert same(received, expected)


@pytest.mark.parametrize("name", FILES)
def test_a_copied_schema_is_equal(machine, name):
    expected = batches_of(name)[0]
    schema = ad.Schema(machine.lib)
    expected._export_to_c(schema.address)
    copied = schema.copy()
    schema.release()
    assert pa.Schema._import_from_c(copied.address).equals(expected, check_metadata=True)
