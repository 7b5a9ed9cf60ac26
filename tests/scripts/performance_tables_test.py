# SPDX-License-Identifier: Apache-2.0
"""The tables of the page on performance show the results of peers. Run as: performance_tables_test.py SCRIPTS."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True

import performance_tables as tables  # noqa: E402: its folder is known first


def case(name, microseconds, yardstick, peers, **more):
    return {"name": name, "real_time": microseconds, "time_unit": "us", "yardstick": yardstick,
            "ratio": microseconds / peers[yardstick], "peers_us": peers, **more}


COPY = case("copy 8 x 100 int64, warm", 0.5, "memcpy", {"memcpy": 0.125, "nanoarrow": 4, "Arrow C++": 1234.5}, bound=3)
IMPORT = case("import 8 columns, caches evicted", 15, "nanoarrow", {"nanoarrow": 30, "Arrow C++": 45}, bound_us=16)
POINT = case("columns/columns:10", 1, "memcpy", {"memcpy": 1, "nanoarrow": 1, "Arrow C++": 1})
VALIDATION = case("validate texts of 100 bytes, ASCII", 2000, "Arrow C++", {"memcpy": 1000, "Arrow C++": 5000}, bytes=16_000_000)


class PerformanceTables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def results(self, **programs):
        """Writes the results of programs, and returns the paths."""
        paths = []
        for program, cases in programs.items():
            paths.append(os.path.join(self.folder, program + ".json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump({"versions": {"nanoarrow": "0.9.0", "Arrow C++": "26.0.1"}, "benchmarks": cases}, file)
        return paths

    def test_a_case_has_the_times_of_all_peers(self):
        self.assertEqual(tables.peers(self.results(peers=[COPY, IMPORT, POINT, VALIDATION])).split("\n"), [
            "| us | libarrowdevice | memcpy | nanoarrow 0.9.0 | Arrow C++ 26.0.1 | times the yardstick | bound |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
            "| copy 8 x 100 int64, warm | 0.50 | 0.12 | 4.0 | 1,234 | 4.00 x memcpy | 3 **not kept** |",
            "| import 8 columns, caches evicted | 15.0 |  | 30.0 | 45.0 | 0.50 x nanoarrow | 16 us |"])

    def test_a_page_without_peers_is_an_error(self):
        for results in ({"host": [COPY]}, {"peers": [POINT, VALIDATION]}):
            with self.assertRaisesRegex(SystemExit, "peers were not measured"):
                tables.peers(self.results(**results))

    def test_validation_has_the_bytes_of_a_second(self):
        self.assertEqual(tables.validation(self.results(peers=[COPY, POINT, VALIDATION])).split("\n")[2:],
                         ["| texts of 100 bytes, ASCII | 8.00 | 3.20 | 16.00 | 2.5 |"])

    def test_other_programs_have_another_table(self):
        rows = tables.timed(self.results(host=[COPY], peers=[IMPORT], scale=[POINT])).split("\n")[2:]
        self.assertEqual(rows, ["| host: copy 8 x 100 int64, warm | 0.50 | 4.00 | 3 **not kept** |"])


if __name__ == "__main__":
    unittest.main()
