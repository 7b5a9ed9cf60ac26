# SPDX-License-Identifier: Apache-2.0
"""The installed package is complete and does not depend on its path."""

import importlib.metadata
import pathlib
import platform
import re
import subprocess
import sys
import sysconfig

import pytest

import arrowdevice

FOLDER = pathlib.Path(arrowdevice.__file__).parent
ROOT = pathlib.Path(__file__).resolve().parents[3]
WHEEL = importlib.metadata.distribution("arrowdevice").read_text("WHEEL")

# The newest versions of symbols in systems of manylinux_2_34.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)}


def is_binary(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


BINARIES = sorted(path for path in FOLDER.rglob("*") if path.is_file() and is_binary(path))


def test_the_installed_package_is_tested():
    assert FOLDER.parent == pathlib.Path(sysconfig.get_path("platlib"))
    assert (FOLDER / "py.typed").exists() and (FOLDER / "_core.pyi").exists()


def test_the_package_contains_the_library_its_plugins_and_the_tool():
    names = {str(path.relative_to(FOLDER)) for path in BINARIES}
    plugins = {f"lib/arrowdevice-1/libarrowdevice-{name}.so"
               for name in ("cuda", "hip", "level_zero", "opencl", "sim", "vulkan")}  # fmt: skip
    assert {"_core.abi3.so", "bin/arrowdevice", "lib/libarrowdevice.so.0"} | plugins == names


def test_the_package_contains_the_public_headers():
    def headers(folder):
        return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.h*")}

    assert headers(pathlib.Path(arrowdevice.get_include())) == headers(ROOT / "include")


def test_the_wheel_installs_only_the_package_and_its_command():
    files = [str(file) for file in importlib.metadata.files("arrowdevice")]
    assert [file for file in files if not file.startswith(("arrowdevice/", "arrowdevice-"))] == ["../../../bin/arrowdevice"]


def test_plugins_are_found_beside_the_library():
    arrowdevice.devices()
    paths = {report.path for report in arrowdevice.explain() if report.status == 0 and report.path}
    assert paths and all(pathlib.Path(path).is_relative_to(FOLDER) for path in paths)


def test_the_package_loads_its_own_library():
    mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libarrowdevice.so" in line}
    assert mapped == {str((FOLDER / "lib" / "libarrowdevice.so.0").resolve())}


def dynamic(path):
    text = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\((NEEDED|RPATH|RUNPATH|SONAME)\).*\[(.*)\]", text)


@pytest.mark.parametrize("path", BINARIES, ids=lambda path: path.name)
def test_binaries_contain_no_build_path(path):
    entries = dynamic(path)
    folders = [folder for key, value in entries if key in ("RPATH", "RUNPATH") for folder in value.split(":")]
    assert [folder for folder in folders if not folder.startswith("$ORIGIN")] == []
    system = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libdl.so.2", "libpthread.so.0",
              "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libarrowdevice.so.0"}  # fmt: skip
    assert {value for key, value in entries if key == "NEEDED"} <= system
    assert str(ROOT).encode() not in path.read_bytes()


def symbols_newer_than_manylinux_2_34(path):
    command = ["nm", "-D", "--undefined-only", "--with-symbol-versions", path]
    symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    versions = re.findall(r"(\S+@(\w+)_([\d.]+))$", symbols, re.MULTILINE)
    assert versions
    return [symbol for symbol, name, version in versions if tuple(map(int, version.split("."))) > NEWEST[name]]


def test_the_wheel_serves_the_systems_of_its_tag():
    tags = re.findall(r"^Tag: cp311-abi3-(.*)$", WHEEL, re.MULTILINE)
    newer = {path.name: symbols_newer_than_manylinux_2_34(path) for path in BINARIES}
    newer = {name: symbols for name, symbols in newer.items() if symbols}
    # The functions that the wheel calls have newer versions in the glibc of newer systems.
    if tuple(map(int, platform.libc_ver()[1].split("."))) <= (2, 36):
        assert (tags, newer) == ([f"manylinux_2_34_{platform.machine()}"], {})
    else:
        assert len(tags) == 1 and ("manylinux_2_34" not in tags[0] or newer == {})


def test_one_wheel_serves_all_pythons():
    undefined = subprocess.run(
        ["nm", "-D", "--undefined-only", FOLDER / "_core.abi3.so"], capture_output=True, text=True, check=True
    ).stdout
    assert "PyCapsule_New" in undefined
    # Names with a leading underscore are private, except a few that are in the stable ABI.
    private = re.findall(r"\b_Py\w+", undefined)
    assert [name for name in private if not re.search(r"Struct$|_SizeT$|^_PyObject_GC_|^_Py_Dealloc$", name)] == []


def test_the_package_and_the_library_have_one_version():
    assert importlib.metadata.version("arrowdevice") == arrowdevice.__version__


def test_the_package_imports_without_pyarrow_and_numpy(run_python):
    out = run_python(
        """
        import sys
        for name in ("pyarrow", "numpy"):
            sys.modules[name] = None
        import arrowdevice
        print(arrowdevice.device("cpu").name)
        """
    )
    assert out == "cpu:0\n"


def test_mypy_accepts_the_package_in_strict_mode():
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
