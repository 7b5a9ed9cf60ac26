# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/ that compute on a column."""

import importlib.util
import pathlib
import subprocess
import sys

import pyarrow as pa
import pytest

import arrowdevice as ad

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"


def require(name):
    try:
        return ad.device(name)
    except ad.DeviceNotFoundError:
        pytest.skip(f"{name} does not exist on this machine")


def printed(name, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_shader_of_vulkan_adds_up_a_slice_with_nulls(tmp_path):
    require("vulkan:0")
    words = tmp_path / "sum.spv"
    subprocess.run(["glslangValidator", "-V", "--quiet", "-o", words, EXAMPLES / "sum_vulkan.comp"], check=True)
    assert printed("sum_vulkan.py", words) == "<arrowdevice.Array int32, 1 rows on vulkan:0> [4]\n"


def test_a_kernel_of_opencl_makes_a_result_with_nulls():
    require("opencl:0")
    assert printed("divide_opencl.py") == "<arrowdevice.Array int32, 5 rows on opencl:0> [60, None, None, 20, 15]\n"


@pytest.mark.parametrize("with_nulls", [True, False])
def test_a_result_with_nulls_is_correct_for_every_slice(with_nulls):
    device = require("opencl:0")
    spec = importlib.util.spec_from_file_location("divide_opencl", EXAMPLES / "divide_opencl.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    values = [None if with_nulls and i % 5 == 0 else i % 3 for i in range(100)]
    column = ad.to_device(pa.array(values, pa.int32()), device)
    for begin, end in [(0, 100), (3, 96), (8, 16), (13, 14), (50, 50)]:
        expected = [60 // value if value else None for value in values[begin:end]]
        result = example.divide(column[begin:end])
        result.validate("full")
        assert result.to_pyarrow().to_pylist() == expected


def test_a_handle_goes_to_another_process():
    assert printed("handle.py") == "499500 0\n"


def test_a_table_goes_to_another_process():
    assert printed("link.py") == "[{'price': 1.5}, {'price': 2.5}] 0\n"
