# SPDX-License-Identifier: Apache-2.0
"""The ranges of a program, as a profiler gets them through NVTX: profiler_test.py PROGRAM PROFILER"""

import collections
import os
import subprocess
import sys
import tempfile
import unittest

PROFILER, PROGRAM = os.path.abspath(sys.argv.pop(2)), sys.argv.pop(1)
DOMAIN = "libarrowdevice"
DEVICES = "addresses,addresses,addresses:latency_us=1000"


class Profiler(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = os.path.join(folder.name, "ranges")

    def run_program(self, scenario, profiler=PROFILER, **more):
        """Returns the standard error of the program, and the lines of each thread."""
        environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": DEVICES, "ARROWDEVICE_SIM_PEERS": "none",
                                    "NVTX_INJECTION64_PATH": profiler, "PROFILER_OUTPUT": self.output} | more
        done = subprocess.run([PROGRAM, scenario], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        threads = collections.defaultdict(list)
        if os.path.exists(self.output):
            with open(self.output, encoding="utf-8") as file:
                for line in file.read().splitlines():
                    thread, text = line.split(" ", 1)
                    threads[thread].append(text)
        return done.stderr, list(threads.values())

    def paths(self, lines):
        """Returns each range with the ranges around it, in the order in which they begin."""
        names, paths = [], []
        for line in lines:
            if line == f"pop {DOMAIN}":
                names.pop()
                continue
            self.assertTrue(line.startswith(f"push {DOMAIN}: "), line)
            names.append(line.removeprefix(f"push {DOMAIN}: "))
            paths.append("/".join(names))
        self.assertEqual(names, [], "ranges do not end")
        return paths

    def test_copies_and_waits_are_nested_ranges(self):
        _, (lines,) = self.run_program("waits")
        paths = self.paths(lines)
        self.assertEqual([path for path in paths if "/" not in path and path != "load backend"],
                         ["copy", "copy", "array_wait", "copy", "wait_idle"])
        self.assertIn("copy/pool growth", paths)
        self.assertIn("copy/wait for an event", paths)

    def test_a_range_ends_if_the_work_fails(self):
        _, (lines,) = self.run_program("failure")
        paths = self.paths(lines)
        self.assertEqual(paths[-2:], ["copy", "copy/pool growth"])

    def test_each_thread_has_its_ranges(self):
        _, threads = self.run_program("threads")
        counts = [self.paths(lines).count("copy") for lines in threads]
        self.assertEqual(counts, [50] * 4)

    def test_profiler_and_trace_get_the_same_names(self):
        trace = self.output + ".json"
        _, (lines,) = self.run_program("everything", ARROWDEVICE_TRACE=trace)
        names = {path.split("/")[-1] for path in self.paths(lines)}
        with open(trace, encoding="utf-8") as file:
            text = file.read()
        self.assertLessEqual({"copy", "move", "pool growth", "load backend"}, names)
        for name in ("copy", "move", "pool growth", "load backend"):
            self.assertIn(f'"name":"{name}"', text)

    def test_a_profiler_that_takes_no_ranges_gets_none(self):
        self.assertEqual(self.run_program("everything", PROFILER_MODE="idle"), ("", []))

    def test_a_profiler_that_cannot_be_used_is_a_warning(self):
        for profiler, mode, why in ((PROFILER, "refuses", f"{PROFILER}: InitializeInjectionNvtx2 failed"),
                                    ("libm.so.6", "", "libm.so.6 has no InitializeInjectionNvtx2"),
                                    ("/absent.so", "", "/absent.so: cannot open shared object file: No such file or directory")):
            with self.subTest(profiler=profiler, mode=mode):
                said, threads = self.run_program("copy", profiler, PROFILER_MODE=mode, ARROWDEVICE_LOG="warning")
                self.assertEqual(said, f"arrowdevice: NVTX_INJECTION64_PATH: {why}\n")
                self.assertEqual(threads, [])


if __name__ == "__main__":
    unittest.main()
