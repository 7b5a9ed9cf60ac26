# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the package's tests."""

import functools
import gc
import os
import pathlib
import subprocess
import sys
import textwrap

# The library reads this when it first searches for devices.
os.environ.setdefault("ARROWDEVICE_SIM_DEVICES", "addresses,handles")
# The folder has arrays of every type.
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "interop"))

import pyarrow as pa  # noqa: E402
import pytest  # noqa: E402

import arrowdevice as ad  # noqa: E402

def exists(name):
    try:
        ad.device(name)
    except ad.DeviceNotFoundError:
        return False
    return True


DEVICES = ["cpu:0", "ext_dev:0", "ext_dev:1", "opencl:0", "vulkan:0"]
# Few machines have such a GPU, so it is not missing elsewhere.
DEVICES += [name for name in ("cuda:0", "cuda_host:0", "cuda_managed:0") if exists(name)]


@pytest.fixture(params=DEVICES)
def device(request):
    if not exists(request.param):
        pytest.skip(f"{request.param} does not exist on this machine")
    return ad.device(request.param)


@pytest.fixture(params=DEVICES[1:])
def accelerator(request):
    if not exists(request.param):
        pytest.skip(f"{request.param} does not exist on this machine")
    return ad.device(request.param)


@pytest.fixture(scope="session")
def batch():
    return pa.record_batch(
        {
            "n": pa.array([1, 2, None, 4, 5], pa.int32()),
            "text": pa.array(["a", "bc", "", None, "defg"]),
            "list": pa.array([[1.5], [], None, [2.5, None], [3.5]], pa.list_(pa.float64())),
        }
    )


@functools.cache
def every_device():
    return ad.devices()


def bytes_used():
    ad.wait_idle(30)
    return {"pyarrow": pa.total_allocated_bytes()} | {d.name: d.pool().used_bytes for d in every_device()}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call":
        item.passed = report.passed


@pytest.fixture
def nothing_left(request):
    """Fails a test that leaves more memory of pyarrow or of a device in use than before."""
    before = bytes_used()
    yield
    if not getattr(request.node, "passed", False):
        return  # the report of a failure holds references to the test's objects

    def more():
        return {name: used for name, used in bytes_used().items() if used > before.get(name, 0)}

    if more():
        gc.collect()  # only now, because it takes longer than most tests
        assert more() == {}


@pytest.fixture
def run_python():
    """Runs a program in a new process, requires exit status 0, and returns its output."""

    def run(code, **environment):
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
            env=os.environ | environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert done.stderr == ""
        return done.stdout

    return run
