# SPDX-License-Identifier: Apache-2.0
"""Why there is no Level Zero device, as `arrowdevice explain` says it: reasons_test.py TOOL DRIVER SECOND_DRIVER OLDER_LOADER

The drivers are stand-ins, loaded by the real loader; OLDER_LOADER is the folder of a loader that lacks what the backend calls.
"""

import os
import subprocess
import sys
import tempfile
import unittest

TOOL, DRIVER, SECOND_DRIVER, OLDER_LOADER = sys.argv[1:5]


def explain(name="level_zero", drivers=None, **machine):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("STANDIN_", "ZE_"))}
    # Meson puts the older loader's folder in front. A caller's folder with another real loader stays.
    folders = [folder for folder in environment.get("LD_LIBRARY_PATH", "").split(":") if folder != OLDER_LOADER]
    environment |= {"LD_LIBRARY_PATH": ":".join(folders), "NO_COLOR": "1"} | machine
    if drivers:
        environment["ZE_ENABLE_ALT_DRIVERS"] = drivers
    done = subprocess.run([TOOL, "explain", name], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)
    return done.returncode, " ".join(done.stdout.split()), done.stderr


class Reasons(unittest.TestCase):
    def assert_says(self, said, *parts):
        code, text, errors = said
        is_there = any(" is there: " in part for part in parts)
        self.assertEqual((code, errors), (0 if is_there else 1, ""), text)
        for part in parts:
            self.assertIn(part, text)

    def test_the_tool_explains_a_loader_that_cannot_be_opened(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "libze_loader.so.1"), "w", encoding="utf-8").close()
            self.assert_says(explain(LD_LIBRARY_PATH=folder), "The backend level_zero is loaded. oneapi cannot be used: no driver library: ",
                             "libze_loader.so.1: file too short")

    def test_the_tool_explains_an_old_loader(self):
        self.assert_says(explain(LD_LIBRARY_PATH=OLDER_LOADER), "oneapi cannot be used: libze_loader.so.1 is too old: it has no zeDriverGet, "
                         "which came with Level Zero 1.0")

    @unittest.skipIf(os.path.exists("/dev/dri"), "there may be a GPU, and a driver for it")
    def test_the_tool_explains_the_real_loader_without_a_driver(self):
        self.assert_says(explain(), "oneapi cannot be used: zeInit: ZE_RESULT_ERROR_UNINITIALIZED (0x78000001): libze_loader.so.1 is there, "
                         "but the kernel shows no GPU: there is no /dev/dri")

    def test_the_tool_explains_drivers_without_a_device(self):
        """Loader 1.20 takes a driver without any device for one that does not start."""
        for machine in ({"STANDIN_DEVICES": "0"}, {"STANDIN_ZE_DEVICE_TYPE": "vpu"}):
            for drivers in (DRIVER, f"{DRIVER},{SECOND_DRIVER}"):
                with self.subTest(machine=machine, drivers=drivers):
                    said = explain(drivers=drivers, **machine)
                    if "STANDIN_DEVICES" in machine and "zeInit: " in said[1]:
                        self.assert_says(said, "oneapi cannot be used: zeInit: ZE_RESULT_ERROR_UNINITIALIZED (0x78000001): libze_loader.so.1 is there, ")
                        continue
                    self.assert_says(said, "oneapi cannot be used: zeDeviceGet: the Level Zero drivers here have no GPU, or ZE_AFFINITY_MASK hides them")

    def test_the_tool_explains_a_driver_of_another_version(self):
        for version, age in (("0.91", "too old"), ("2.0", "too new")):
            with self.subTest(version=version):
                self.assert_says(explain(drivers=DRIVER, STANDIN_ZE_API_VERSION=version), "oneapi cannot be used: ",
                                 f"a driver is for Level Zero {version} and {age}: install one for 1.0 or newer")

    def test_the_tool_explains_a_driver_that_does_not_start(self):
        self.assert_says(explain(drivers=DRIVER, STANDIN_FAIL="zeInit:1+"), "oneapi cannot be used: zeInit: ZE_RESULT_ERROR_")

    # Not those that newer loaders call without a look, because these loaders crash before the backend gets a driver.
    def test_the_tool_explains_a_driver_without_an_entry_point(self):
        for name in ("zeDriverGetApiVersion", "zeDeviceGetMemoryProperties", "zeDeviceGetMemoryAccessProperties",
                     "zeDeviceGetCommandQueueGroupProperties", "zeContextCreate"):
            for version in ("1.9", "1.13"):
                for drivers in (DRIVER, f"{DRIVER},{SECOND_DRIVER}"):
                    with self.subTest(name=name, version=version, drivers=drivers):
                        said = explain(drivers=drivers, STANDIN_ZE_LACKS=name, STANDIN_ZE_API_VERSION=version)
                        self.assert_says(said, f"oneapi cannot be used: {name}: ZE_RESULT_ERROR_UN")

    def test_the_tool_lists_level_zero_devices(self):
        self.assert_says(explain(drivers=DRIVER), "The backend level_zero is loaded. oneapi is there: Stand-in for an Intel GPU 0")
        code, text, _ = explain("oneapi:3", drivers=f"{DRIVER},{SECOND_DRIVER}")
        self.assertEqual(code, 0, text)
        self.assertIn("oneapi:3 is there: Stand-in for an Intel GPU 1", text)

    def test_the_tool_explains_a_device_beyond_the_last(self):
        code, text, _ = explain("oneapi:7", drivers=DRIVER)
        self.assertEqual(code, 1, text)
        self.assertIn("there is no oneapi:7", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
