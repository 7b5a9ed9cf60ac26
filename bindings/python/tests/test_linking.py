# SPDX-License-Identifier: Apache-2.0
"""Programs and extension modules in C and C++ use the headers and the library of the installed wheel."""

import os
import pathlib
import subprocess
import sysconfig

import pytest

import arrowdevice

PROGRAMS = pathlib.Path(__file__).resolve().parents[3] / "examples" / "consumer"
LIBRARY = os.path.realpath(os.path.join(os.path.dirname(arrowdevice.__file__), "lib", "libarrowdevice.so.0"))
COMPILERS = {"accept.c": ["cc", "-std=c11"], "accept.cc": ["c++", "-std=c++17"]}
FLAGS = ["-Wall", "-Wextra", "-Werror", f"-I{arrowdevice.get_include()}"]
LIBRARIES = [
    *(f"-L{folder}" for folder in arrowdevice.get_library_dirs()),
    *(f"-l{name}" for name in arrowdevice.get_libraries()),
]

# Returns the version of the C library.
EXTENSION = """
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <arrowdevice/arrowdevice.h>
static PyObject* version(PyObject* self, PyObject* none) {
  (void)self, (void)none;
  return PyUnicode_FromString(arrowdevice_version());
}
static PyMethodDef methods[] = {{"version", version, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "small", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_small(void) { return PyModule_Create(&module); }
"""


def compile(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("source", COMPILERS)
def test_a_program_is_linked_with_the_wheel_and_finds_its_plugins(source, tmp_path):
    program = tmp_path / "accept"
    rpath = [f"-Wl,-rpath,{folder}" for folder in arrowdevice.get_library_dirs()]
    compile(*COMPILERS[source], *FLAGS, PROGRAMS / source, "-o", program, *LIBRARIES, *rpath)
    done = subprocess.run([program, "ext_dev:0"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the sum on ext_dev:0 is 4321\n", "")


def test_an_extension_module_shares_the_library_of_the_package(tmp_path, run_python):
    source = tmp_path / "small.c"
    source.write_text(EXTENSION)
    compile("cc", *FLAGS, f"-I{sysconfig.get_path('include')}", "-shared", "-fPIC", source,
            "-o", tmp_path / "small.abi3.so", *LIBRARIES)  # fmt: skip
    out = run_python(
        """
        import arrowdevice, small
        print(small.version())
        print(*{line.split()[-1] for line in open("/proc/self/maps") if "libarrowdevice.so" in line})
        """,
        PYTHONPATH=str(tmp_path),
    )
    assert out == f"{arrowdevice.__version__}\n{LIBRARY}\n"
