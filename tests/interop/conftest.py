# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the interoperability tests. ARROWDEVICE_LIBRARY names the library, see scripts/run_tests.py."""

import os
import sys

import pyarrow as pa
import pytest

# The library reads this when it first searches for devices.
os.environ["ARROWDEVICE_SIM_DEVICES"] = "addresses,addresses"
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

pytest.register_assert_rewrite("trips")
from trips import Machine  # noqa: E402


@pytest.fixture(scope="session")
def machine():
    return Machine()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        item.passed = report.passed


@pytest.fixture
def nothing_left(machine, request):
    """Fails a test that leaves more memory of pyarrow or of a device in use than before."""
    before = machine.bytes_used() | {"pyarrow": pa.total_allocated_bytes()}
    yield
    if not getattr(request.node, "passed", False):
        return  # the report of a failure holds references to the test's objects
    machine.wait_idle()
    after = machine.bytes_used() | {"pyarrow": pa.total_allocated_bytes()}
    assert {name: used for name, used in after.items() if used > before[name]} == {}
