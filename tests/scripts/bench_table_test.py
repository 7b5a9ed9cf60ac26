# SPDX-License-Identifier: Apache-2.0
"""The table of the benchmarks says which bounds are kept. Run as: bench_table_test.py SCRIPTS."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = sys.argv.pop(1)


class BenchTable(unittest.TestCase):
    def table(self, *cases, options=()):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "host.json")
            with open(path, "w", encoding="utf-8") as file:
                if cases:
                    json.dump({"benchmarks": list(cases)}, file)
            done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "bench_table.py"), *options, path],
                                  capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_a_limit_that_holds_passes(self):
        code, out, _ = self.table({"name": "copy_texts/rows:10/iterations:5/manual_time", "real_time": 2.5,
                                   "time_unit": "ms", "ratio": 1.1, "bound": 1.25})
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^host +copy texts, rows:10 +2500\.00 +1\.100 +1\.25$")
        self.assertIn("1 cases, 0 over their bound", out)

    def test_a_limit_that_does_not_hold_fails(self):
        code, out, _ = self.table({"name": "a", "real_time": 1, "time_unit": "us", "ratio": 1.3, "bound": 1.25},
                                  {"name": "b", "real_time": 1, "time_unit": "us"})
        self.assertEqual(code, 1)
        self.assertRegex(out, r"(?m)^host +a +1\.00 +1\.300 +1\.25  not kept$")
        self.assertIn("2 cases, 1 over their bound", out)

    def test_a_limit_of_the_time_is_checked(self):
        case = {"name": "a", "real_time": 13, "time_unit": "us", "ratio": 3.5, "bound_us": 12}
        code, out, _ = self.table(case)
        self.assertEqual(code, 1)
        self.assertRegex(out, r"(?m)^host +a +13\.00 +3\.500 +12 us  not kept$")
        code, out, _ = self.table(case | {"bound_us": 14})
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^host +a +13\.00 +3\.500 +14 us$")

    def test_the_times_of_peers_follow(self):
        _, out, _ = self.table({"name": "a", "real_time": 1, "time_unit": "us",
                                "peers_us": {"memcpy": 0.5, "nanoarrow": 12}})
        self.assertRegex(out, r"(?m)^host +a +1\.00 +memcpy 0\.50, nanoarrow 12\.00$")

    def test_without_limits_none_is_checked(self):
        code, out, _ = self.table({"name": "a", "real_time": 1, "time_unit": "us", "ratio": 1.3, "bound": 1.25},
                                  options=["--without-bounds"])
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^host +a +1\.00 +1\.300$")
        self.assertRegex(out, r"(?m)^1 cases$")

    def test_a_failed_case_fails(self):
        code, _, err = self.table({"name": "a", "error_occurred": True, "error_message": "no device"})
        self.assertEqual(code, 1)
        self.assertIn("host: a: no device", err)

    def test_an_empty_result_fails(self):
        code, _, err = self.table()
        self.assertEqual(code, 1)
        self.assertIn("no benchmark was run", err)


if __name__ == "__main__":
    unittest.main()
