# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of examples/ that compute on a column."""

import pathlib
import subprocess
import sys

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
