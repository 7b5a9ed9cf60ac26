# SPDX-License-Identifier: Apache-2.0
"""Sends the cases of the C++ tests to pyarrow, and reads data of pyarrow with the reader of the C++ tests."""

import ctypes as C
import itertools
import os

import c_api as ad
import pyarrow as pa
import pytest

from all_types import TYPES, rng_of
from trips import ROUTES, export, problem, slices_of, take_back

pytestmark = pytest.mark.usefixtures("nothing_left")

PATH = os.path.join(
    os.path.dirname(os.environ.get("ARROWDEVICE_LIBRARY", "")), "..", "tests", "support", "libtest-cases.so"
)
REASON = "libtest-cases.so is missing beside ARROWDEVICE_LIBRARY (the build of the tests makes it)"


def load():
    if not os.path.exists(PATH):
        return None
    cases = C.CDLL(PATH)
    for name in ("count", "live", "mistakes"):
        getattr(cases, f"test_cases_{name}").restype = C.c_int64
    for name in ("name", "refused_by_arrow_cpp"):
        function = getattr(cases, f"test_cases_{name}")
        function.restype, function.argtypes = C.c_char_p, [C.c_int64]
    schema, array = C.POINTER(ad.ArrowSchema), C.POINTER(ad.ArrowArray)
    cases.test_cases_make.restype, cases.test_cases_make.argtypes = None, [C.c_int64, schema, array]
    cases.test_cases_difference.argtypes = [schema, array, schema, array, C.c_char_p, C.c_int64]
    cases.test_cases_problem.argtypes = [schema, array, C.c_char_p, C.c_int64]
    return cases


CASES = load()
NUMBERS = {CASES.test_cases_name(i).decode(): i for i in range(CASES.test_cases_count())} if CASES else {}


@pytest.fixture
def cases(request, machine):
    if CASES is None:
        pytest.fail(REASON) if os.environ.get("CI") else pytest.skip(REASON)
    live, mistakes = CASES.test_cases_live(), CASES.test_cases_mistakes()
    yield CASES
    if getattr(request.node, "passed", False):
        machine.wait_idle()  # the library releases a source when its copy has finished
        assert CASES.test_cases_live() <= live
        assert CASES.test_cases_mistakes() == mistakes


def make(cases, lib, name):
    array, schema = ad.HostArray(lib), ad.Schema(lib)
    cases.test_cases_make(NUMBERS[name], C.byref(schema.c), C.byref(array.c))
    return array, schema


def difference(cases, schema, array, other):
    text = C.create_string_buffer(1000)
    cases.test_cases_difference(
        C.byref(schema.c), C.byref(array.c), C.byref(schema.c), C.byref(other.c), text, len(text)
    )
    return text.value.decode()


def form_problem(cases, schema, array):
    text = C.create_string_buffer(1000)
    cases.test_cases_problem(C.byref(schema.c), C.byref(array.c), text, len(text))
    return text.value.decode()


def trouble(array, schema):
    """Imports an array into pyarrow. Returns the message of its error, or None if the array is valid."""
    try:
        return problem(take_back(array, schema, pa.Array))
    except (pa.ArrowException, NotImplementedError, ValueError) as error:
        return str(error)


def has_class(schema):
    """Returns whether pyarrow has a class for the type. It has none for two interval types."""
    return schema.c.format not in (b"tiM", b"tiD")


def test_all_cases_are_loaded(cases):
    assert len(NUMBERS) == cases.test_cases_count() > 100


@pytest.mark.parametrize("name", NUMBERS)
def test_pyarrow_imports_every_case_that_is_not_listed(machine, cases, name):
    array, schema = make(cases, machine.lib, name)
    if not has_class(schema):
        return
    found = trouble(array, schema)
    # pyarrow may accept a listed case. It ignores offsets of an array without rows, for example.
    assert found is None or cases.test_cases_refused_by_arrow_cpp(NUMBERS[name]) is not None


COPIES = [name for name in ROUTES if name not in ("moved to the CPU", "shared", "seen through a view")]


@pytest.mark.parametrize("name", NUMBERS)
def test_pyarrow_imports_the_copy_of_every_case(machine, cases, name):
    can_take = has_class(make(cases, machine.lib, name)[1]) and trouble(*make(cases, machine.lib, name)) is None
    for route in COPIES:
        array, schema = make(cases, machine.lib, name)
        original, _ = make(cases, machine.lib, name)
        back = ROUTES[route].run(machine, ad.DeviceArray.from_host(array), schema)
        assert form_problem(cases, schema, back) == "", route
        assert difference(cases, schema, back, original) == "", route
        if can_take:
            twin, _ = make(cases, machine.lib, name)
            received, expected, twin = (take_back(one, schema, pa.Array) for one in (back, original, twin))
            assert problem(received) is None, route
            assert received.equals(expected) == twin.equals(expected), route  # both False if there is NaN


@pytest.mark.parametrize("name", TYPES)
def test_the_reader_of_the_cpp_tests_finds_the_same_values(machine, cases, name):
    """The reader also checks the form of the structs and the buffers that pyarrow makes."""
    data = TYPES[name](rng_of(name), 67)
    for (route, way), rows in itertools.product(ROUTES.items(), slices_of(67)):
        for place in range(len(way.hops) + 1):
            array, schema = export(machine.lib, data)
            back = way.run(machine, ad.DeviceArray.from_host(array), schema, (place, rows))
            original, _ = export(machine.lib, data.slice(*rows))
            assert form_problem(cases, schema, back) == "", (route, place, rows)
            assert difference(cases, schema, back, original) == "", (route, place, rows)
