# SPDX-License-Identifier: Apache-2.0
"""Runs every example of the manual and of the docstrings."""

import doctest
import importlib
import importlib.util
import pathlib
import pkgutil
import re
import sys

import numpy as np
import pytest

import arrowdevice

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
PROJECT = (pathlib.Path(__file__).parents[3] / "README.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PROJECT + README, re.MULTILINE | re.DOTALL)
MODULES = ["arrowdevice"] + [f"arrowdevice.{module.name}" for module in pkgutil.iter_modules(arrowdevice.__path__)]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=[snippet.split("\n\n")[1].splitlines()[0] for snippet in SNIPPETS])
def test_readme_snippets_run(snippet, monkeypatch):
    if "import torch" in snippet and importlib.util.find_spec("torch") is None:
        monkeypatch.setitem(sys.modules, "torch", np)  # NumPy has the same functions
    exec(compile(snippet, "README.md", "exec"), {"__name__": "readme"})


def test_readme_has_snippets():
    assert len(SNIPPETS) >= 9


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_public_names_have_docstrings():
    examples = doctest.DocTestFinder().find(arrowdevice.to_device) + doctest.DocTestFinder().find(arrowdevice.RecordBatch)
    assert any(test.examples for test in examples)
    for name in arrowdevice.__all__:
        thing = getattr(arrowdevice, name)
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member}"


def test_readme_names_every_public_name():
    helpers = {"BackendReport", "Buffer", "Counters", "MemoryInfo", "PoolStats", "Device", "NativeDevice"}
    assert [name for name in arrowdevice.__all__ if name not in helpers and f"`{name}" not in README] == []
