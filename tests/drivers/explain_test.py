# SPDX-License-Identifier: Apache-2.0
"""`arrowdevice explain` reports drivers that are missing, broken, old or without a device:
explain_test.py TOOL CUDA OLDER_CUDA HIP OLDER_HIP CLASS

The folders hold stand-ins for the drivers' libraries. CLASS is one of the classes below. The script exits with 77 if the
machine does not fit the class.
"""

import os
import subprocess
import sys
import unittest

TOOL, CUDA, OLDER_CUDA, HIP, OLDER_HIP, CLASS = sys.argv[1:7]


def explain(name, folder="", **machine):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("STANDIN_")}
    environment |= {"LD_LIBRARY_PATH": folder, "NO_COLOR": "1"} | machine
    done = subprocess.run([TOOL, "explain", name], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)
    return done.returncode, " ".join(done.stdout.split()), done.stderr


def is_installed(library):
    """On the machine: the stand-ins of the build, which the test's own LD_LIBRARY_PATH may lead to, do not count."""
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    return subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


class Explanation(unittest.TestCase):
    def assert_refused(self, said, *parts):
        code, text, errors = said
        self.assertEqual((code, errors), (1, ""), text)
        for part in parts:
            self.assertIn(part, text)


class StandIns(Explanation):
    def test_the_tool_explains_cuda_without_a_driver_or_device(self):
        for machine in ({"STANDIN_DEVICES": "0"}, {"STANDIN_FAIL": "cuInit:1+=100"}):
            with self.subTest(machine=machine):
                loaded = os.path.exists("/proc/driver/nvidia/version")
                self.assert_refused(explain("cuda", CUDA, **machine), "cuInit: CUDA_ERROR_NO_DEVICE (100): ",
                                    "it has no GPU" if loaded else "the kernel's driver (nvidia.ko) is not loaded")

    def test_the_tool_explains_the_stub_of_the_toolkit(self):
        self.assert_refused(explain("cuda", CUDA, STANDIN_FAIL="cuInit:1+=34"), "CUDA_ERROR_STUB_LIBRARY (34)", "the toolkit's stub")

    def test_the_tool_explains_library_and_kernel_of_two_versions(self):
        self.assert_refused(explain("cuda", CUDA, STANDIN_FAIL="cuInit:1+=803"), "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)",
                            "of different versions")

    def test_the_tool_explains_an_old_cuda_driver(self):
        self.assert_refused(explain("cuda", CUDA, STANDIN_DRIVER_VERSION="9020"),
                            "libcuda.so.1 is a driver for CUDA 9.2, which is too old; install a driver for CUDA 10.2 or newer")

    def test_the_tool_lists_cuda_devices(self):
        for folder, machine in ((CUDA, {}), (OLDER_CUDA, {"STANDIN_DRIVER_VERSION": "10020"})):
            for name in ("cuda", "cuda:1", "cuda_host", "cuda_managed"):
                with self.subTest(folder=folder, name=name):
                    code, text, _ = explain(name, folder, **machine)
                    self.assertEqual(code, 0, text)
                    self.assertIn(f"{name} is there: Stand-in for an NVIDIA GPU", text)

    def test_the_tool_explains_a_device_beyond_the_last(self):
        self.assert_refused(explain("cuda:7", CUDA), "there is no cuda:7", "2 devices of this type")

    def test_the_tool_explains_an_old_hip_runtime(self):
        self.assert_refused(explain("rocm", OLDER_HIP, STANDIN_HIP_VERSION="40500000"),
                            "libamdhip64.so.5 is HIP 4.5 and too old: it has no ", "install ROCm 5.2 or newer")

    def test_the_tool_explains_hip_without_a_device(self):
        self.assert_refused(explain("rocm", HIP, STANDIN_DEVICES="0"), "hipGetDeviceCount: hipErrorNoDevice (100): ")

    def test_the_tool_accepts_the_name_of_the_hip_backend(self):
        code, text, _ = explain("hip", HIP)
        self.assertEqual(code, 0, text)
        self.assertIn("The backend hip is loaded. rocm is there: Stand-in for an AMD GPU 0.", text)
        code, text, _ = explain("hip", HIP, STANDIN_DEVICES="0")
        self.assertIn("The backend hip is loaded. rocm cannot be used: hipGetDeviceCount: ", text)


class NoCudaLibrary(Explanation):
    """without NVIDIA's library"""

    @staticmethod
    def is_here():
        return not is_installed("libcuda.so.1")

    def test_the_tool_explains_a_missing_cuda_library(self):
        self.assert_refused(explain("cuda"), "cuda cannot be used: no driver library: libcuda.so.1: cannot open shared object file")


class RealHipRuntime(Explanation):
    """with AMD's library, and without a GPU of AMD's"""

    @staticmethod
    def is_here():
        return is_installed("libamdhip64.so.5") and not os.path.exists("/dev/kfd")

    def test_the_tool_explains_the_real_hip_runtime_without_a_device(self):
        self.assert_refused(explain("rocm"), "rocm cannot be used: hip", "libamdhip64.so.5 is there, but the kernel's driver (amdgpu) is not "
                            "loaded: there is no /dev/kfd")


if __name__ == "__main__":
    chosen = {"StandIns": StandIns, "NoCudaLibrary": NoCudaLibrary, "RealHipRuntime": RealHipRuntime}[CLASS]
    if chosen is not StandIns and not chosen.is_here():
        print("This is another machine: it is for one", chosen.__doc__)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], defaultTest=CLASS)
