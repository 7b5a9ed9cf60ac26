# SPDX-License-Identifier: Apache-2.0
"""Sends arrays of every type of pyarrow on every trip and compares the results."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pytest

from all_types import TYPES, rng_of
from trips import ROUTES, Machine, import_back, make_trips, problem, same, travel

pytestmark = pytest.mark.usefixtures("nothing_left")

ROWS = 67
VIEWS_WITHOUT_ROWS = "pyarrow takes the views of an imported array without rows for 0 bytes, whatever the offset"

# Steps that pyarrow alone fails, with the reason: (type, step of STEPS).
PYARROW_CANNOT = {
    (name, "validate_no_rows"): VIEWS_WITHOUT_ROWS
    for name in TYPES
    if "_views of" in name or "views joined" in name or name == "structs of views"
}
PYARROW_CANNOT["list views with garbage", "validate"] = "it also wants offsets under nulls to be in bounds"

# Types that have only one value.
ALL_ALIKE = {"null", "all null"}


def make(name, n=ROWS, seed=""):
    return TYPES[name](rng_of(name + seed), n)


def validate(name):
    assert problem(make(name)) is None


def validate_no_rows(name):
    data = make(name)
    if pa.types.is_struct(data.type):  # a batch is sliced in its columns
        data = pa.record_batch(
            [data.field(i) for i in range(data.type.num_fields)], [field.name for field in data.type]
        )
    assert problem(import_back(data.slice(3, 0))) is None


def export_and_import(name):
    assert same(import_back(make(name)), make(name))


STEPS = {step.__name__: step for step in (validate, validate_no_rows, export_and_import)}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", TYPES)
def test_pyarrow_alone_passes_every_step_that_is_not_listed(name, step):
    if (name, step) in PYARROW_CANNOT:
        with pytest.raises((pa.ArrowException, AssertionError)):
            STEPS[step](name)
    else:
        STEPS[step](name)


@pytest.mark.parametrize("name", TYPES)
def test_same_distinguishes_arrays_of_other_values(name):
    assert same(make(name), make(name))
    assert same(make(name), make(name, seed="another")) == (name in ALL_ALIKE)


def test_types_has_every_type_of_pyarrow():
    made = set()

    def note(kind):
        made.add(kind.id)
        for i in range(kind.num_fields):
            note(kind.field(i).type)

    for name in TYPES:
        note(make(name, 1).type)
    known = {value for name, value in vars(pa.lib).items() if name.startswith("Type_")}
    # pyarrow reads these from files, see the golden files, but has no class for them.
    assert known - made == {pa.lib.Type_INTERVAL_MONTHS, pa.lib.Type_INTERVAL_DAY_TIME}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", TYPES)
def test_an_array_survives_every_trip(machine, name, route):
    cannot = {step for listed, step in PYARROW_CANNOT if listed == name}
    for rows in (ROWS, 1, 0):
        make_trips(machine, make(name, rows), ROUTES[route], cannot)


@pytest.mark.parametrize("route", ROUTES)
def test_a_batch_of_all_types_survives_every_trip(machine, route):
    names = [name for name in TYPES if (name, "validate") not in PYARROW_CANNOT]
    batch = pa.record_batch([make(name, 203) for name in names], names=names)
    # Each column has a different offset.
    moved = pa.record_batch([make(name, 220).slice(i % 17, 203) for i, name in enumerate(names)], names=names)
    for data in (batch, moved):
        make_trips(machine, data, ROUTES[route], {"validate_no_rows"})


# Types with offsets or indices. The library does not rebase such buffers above 64 KiB between devices. It copies them
# from their start.
MANY_ROWS = [
    "string",
    "large string",
    "lists",
    "lists of booleans",
    "large lists",
    "list views",
    "large list views",
    "maps",
    "dense unions",
    "sparse unions",
    "dictionaries by int64",
    "run ends of 64 bits",
    "run ends of 32 bits",
    "lists of lists",
    "structs of structs",
    "bool",
]


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", MANY_ROWS)
def test_many_rows_survive_every_trip(machine, name, route):
    array = make(name, 40_000)
    for rows in ((0, 40_000), (5, 39_990), (30_003, 9_990)):
        for place in range(len(ROUTES[route].hops) + 1):
            received = travel(machine, array, ROUTES[route], (place, rows))
            assert problem(received) is None
            assert same(received, array.slice(*rows))


def tour():
    """Sends every type on every route once. The next test runs this in a new process."""
    machine = Machine()
    for name in TYPES:
        for route in ROUTES.values():
            for cut in (None, (0, (3, 41)), (len(route.hops), (5, 0))):
                travel(machine, make(name), route, cut)
    machine.wait_idle()


def test_the_simulated_devices_refuse_no_call(tmp_path):
    """Reads the statistics of the simulated devices, because some calls cannot return an error."""
    statistics = tmp_path / "sim.json"
    code = f"import sys; sys.path[:] = {sys.path!r}; import test_generated; test_generated.tour()"
    subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ARROWDEVICE_SIM_STATS": str(statistics)},
        check=True,
        stdin=subprocess.DEVNULL,
    )
    counted = json.loads(statistics.read_text())
    assert counted["refused"] == 0, counted["refusals"]
    assert len(counted["devices"]) == 2
    for device in counted["devices"]:
        assert device["copies"] > len(TYPES) * len(ROUTES) / 4
        # The library may cache a few events, but not one for every trip.
        assert device["events_live"] < 10 and device["sub_buffers_live"] == 0
