# SPDX-License-Identifier: Apache-2.0
"""Exchange of ArrowDeviceArray with pyarrow and nanoarrow: structs by address, and capsules."""

import itertools

import c_api as ad
import nanoarrow as na
import nanoarrow.device
import pyarrow as pa
import pytest

from all_types import TYPES, rng_of
from capsules import DeviceOffer, taken_from_device
from trips import ROUTES, kind_of, problem, same, take_back

pytestmark = pytest.mark.usefixtures("nothing_left")

ROWS = 67
SLICES = [(0, ROWS), (5, 20), (ROWS - 3, 3)]


def make(name):
    return TYPES[name](rng_of(name), ROWS)


def batch():
    return pa.record_batch({"numbers": [1, None, 3] * 20, "words": ["x", None, "a word of some length"] * 20})


def export_device(lib, data):
    array, schema = ad.DeviceArray(lib), ad.Schema(lib)
    data._export_to_c_device(array.address, schema.address)
    return array, schema


def take_device_back(array, schema, kind):
    copied = schema.copy()
    return kind._import_from_c_device(array.address, copied.address)


def check_host(array):
    """Checks the device members of an array in host memory."""
    assert (array.c.device_type, array.c.device_id, array.c.sync_event) == (ad.DEVICE_CPU, -1, None)


def travel(machine, array, schema, route, rows):
    """Runs a route that ends with a device array in host memory."""
    for hop in ROUTES[route].hops:
        array = hop(machine, array, schema)
    array = array.slice(schema, *rows).to_device(schema, machine.cpu)
    check_host(array)
    assert list(array.c.reserved) == [0, 0, 0]  # pyarrow does not write them
    return array


@pytest.mark.parametrize("name", TYPES)
def test_a_device_array_of_pyarrow_survives_every_route(machine, name):
    data = make(name)
    for route, rows in itertools.product(ROUTES, SLICES):
        array, schema = export_device(machine.lib, data)
        received = take_device_back(travel(machine, array, schema, route, rows), schema, pa.Array)
        # pyarrow refuses some of its own arrays, see test_generated.py.
        assert problem(received) in (None, problem(data.slice(*rows))), (route, rows)
        assert same(received, data.slice(*rows)), (route, rows)


@pytest.mark.parametrize("route", ROUTES)
def test_a_device_batch_of_pyarrow_survives_every_route(machine, route):
    for rows in [(0, 60), (5, 20), (57, 3), (60, 0)]:
        array, schema = export_device(machine.lib, batch())
        received = take_device_back(travel(machine, array, schema, route, rows), schema, pa.RecordBatch)
        assert problem(received) is None
        assert same(received, batch().slice(*rows))


@pytest.mark.parametrize(
    "data",
    [batch(), batch()["words"], pa.StructArray.from_arrays(batch().columns, ["a", "b"])],
    ids=["batch", "array", "structs"],
)
def test_a_device_array_survives_the_transfer_in_capsules(machine, data):
    array, schema = taken_from_device(machine.lib, data)
    check_host(array)
    offer = DeviceOffer(array.to_device(schema, machine.sim0).to_device(schema, machine.cpu), schema)
    received = pa.record_batch(offer) if kind_of(data) is pa.RecordBatch else pa.array(offer)
    assert problem(received) is None
    assert same(received, data)


@pytest.mark.parametrize("device_id", [-1, 0])
def test_the_library_accepts_both_ids_of_the_cpu(machine, device_id):
    array, schema = export_device(machine.lib, batch())
    array.c.device_id = device_id
    for there in (array.share(), array.copy(schema, machine.sim0), array.copy(schema, machine.cpu), array):
        assert same(take_back(there.to_host(schema), schema, pa.RecordBatch), batch())


def test_an_array_that_pyarrow_refuses_stays_usable(machine):
    array, schema = export_device(machine.lib, batch())
    there = array.to_device(schema, machine.sim0)
    with pytest.raises(pa.ArrowKeyError, match="12"):
        take_device_back(there, schema, pa.RecordBatch)
    assert not there.released
    assert same(take_back(there.to_host(schema), schema, pa.RecordBatch), batch())


def test_nanoarrow_imports_a_device_array_in_host_memory(machine):
    array, schema = export_device(machine.lib, pa.array([1, None, 3], pa.int32()))
    received = na.device.c_device_array(DeviceOffer(array.copy(schema, machine.cpu), schema))
    assert (received.device_type, received.device_id) == (na.device.DeviceType.CPU, -1)
    assert na.Array(received.array).to_pylist() == [1, None, 3]


@pytest.mark.parametrize("rows", [(0, 5), (1, 3), (4, 1), (5, 0)])
@pytest.mark.parametrize("route", ROUTES)
def test_a_device_array_of_nanoarrow_survives_every_route(machine, route, rows):
    words = ["a", None, "ccc", "", "ü"]
    made = na.device.c_device_array(na.c_array(words, na.string()))
    array, schema = taken_from_device(machine.lib, made)
    received = na.device.c_device_array(DeviceOffer(travel(machine, array, schema, route, rows), schema))
    assert na.Array(received.array).to_pylist() == words[rows[0] : sum(rows)]


@pytest.mark.parametrize("flags", [0, ad.COPY_ASYNC], ids=["ready", "pending"])
def test_nanoarrow_forwards_an_array_on_another_device(machine, flags):
    """nanoarrow cannot read the array. It must forward it with its event."""
    data = pa.record_batch(
        {name: make(name) for name in ("string", "lists", "bool", "structs", "dictionaries by int8", "maps")}
    )
    array, schema = export_device(machine.lib, data)
    there = array.copy(schema, machine.sim0, flags=flags)
    event = there.c.sync_event
    assert bool(event) == bool(flags)
    carried = na.device.c_device_array(DeviceOffer(there, schema))
    assert (carried.device_type, carried.device_id) == (na.device.DeviceType.EXT_DEV, 0)
    back, back_schema = taken_from_device(machine.lib, carried)
    assert (back.c.device_type, back.c.device_id, back.c.sync_event) == (ad.DEVICE_EXT_DEV, 0, event)
    received = take_back(back.to_host(back_schema), back_schema, pa.RecordBatch)
    assert problem(received) is None
    assert same(received, data)
