# SPDX-License-Identifier: Apache-2.0
"""The costs of calls are compared with the recorded costs. Run as: costs_test.py SCRIPTS."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = sys.argv.pop(1)

# Stands for valgrind. Each repetition costs as many instructions as COSTS says. The calls of a plugin by the library
# cost PLUGIN of them. The warm call takes LOCKS locks, and its instructions are on two cache lines, and
# on those of the addresses in LINES.
VALGRIND = """#!/bin/sh
for last; do :; done
for option; do
  case $option in --log-file=*)
    cat "$TRACE" >"${option#*=}"
    echo 0x1000 0x2000
    exit ;;
  esac
  case $option in --callgrind-out-file=*)
    printf 'fn=call\\n0x1000 0 1\\n0x1004 0 1\\ncfn=pthread_mutex_lock@@GLIBC_2.2.5\\ncalls=90 0x1040 0\\n0x1000 0 0\\n' >"${option#*=}"
    printf 'fn=pthread_mutex_lock@@GLIBC_2.2.5\\n0x1040 0 %s\\n' $LOCKS >>"${option#*=}"
    for line in $LINES; do printf '%s 0 1\\n' $line; done >>"${option#*=}"
    printf 'ob=/lib/libarrowdevice.so.0\\nfn=copy\\n1 %s\\n' $((1000 + (COSTS - PLUGIN) * last)) >>"${option#*=}"
    printf 'cob=/lib/libarrowdevice-sim.so\\ncfn=f\\ncalls=1 1\\n1 %s\\n' $((PLUGIN * last)) >>"${option#*=}"
    printf 'calls=1 1\\n1 9\\nob=/lib/libarrowdevice-sim.so\\nfn=f\\n1 %s\\n' $((PLUGIN * last - 7)) >>"${option#*=}"
    printf 'cob=/lib/libc.so.6\\ncfn=g\\ncalls=1 1\\n1 7\\nob=/lib/libc.so.6\\nfn=g\\n1 7\\n' >>"${option#*=}"
  esac
done
echo "==1== I   refs:      $((1000 + $COSTS * last))" >&2
echo $ALLOCATES
"""
# readelf says which compiler made a program, and this is what bench-cost prints about itself.
READELF = """#!/bin/sh
echo "  [     0]  GCC: (Debian 12.2.0-14) 12.2.0"
"""
PROGRAM = """#!/bin/sh
printf 'copy\\t10\\t400\\t2\\t-\\t2%s%s\\n' "${SHARED:+\t$SHARED}" "${PLUGIN:+\tplugin}"
"""


class Costs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, text in (("valgrind", VALGRIND), ("readelf", READELF), ("program", PROGRAM)):
            path = os.path.join(self.folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, stat.S_IRWXU)
        self.baseline = os.path.join(self.folder, "baseline.json")

    def costs(self, instructions, allocations, *options, locks=3, lines="", plugin="", shared="", trace=""):
        with open(os.path.join(self.folder, "trace"), "w", encoding="utf-8") as file:
            file.write(trace)
        environment = os.environ | {"PATH": self.folder + ":" + os.environ["PATH"], "COSTS": str(instructions),
                                    "ALLOCATES": str(allocations), "LOCKS": str(locks), "LINES": lines,
                                    "PLUGIN": plugin, "SHARED": shared, "TRACE": os.path.join(self.folder, "trace")}
        done = subprocess.run([sys.executable, os.path.join(SCRIPTS, "costs.py"), os.path.join(self.folder, "program"),
                               "--baseline=" + self.baseline, *options], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_costs_are_counted_for_each_repetition(self):
        self.assertEqual(self.costs(300, 2, "--update")[0], 0)
        with open(self.baseline, encoding="utf-8") as file:
            self.assertEqual(json.load(file),
                             {"copy": {"instructions": 300, "allocations": 2, "locks": 3, "lines": 2, "pages": 1}})

    def test_a_small_increase_is_not_a_failure(self):
        self.costs(300, 2, "--update")
        code, out = self.costs(315, 2)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"(?m)^copy +315 +300 +400 +2 +2 +2 +3 +3 +2 +2 +2 +1 +1$")

    def test_an_increase_above_five_percent_is_a_failure(self):
        self.costs(300, 2, "--update")
        code, out = self.costs(316, 2)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: instructions grew from 300 to 316", out)

    def test_one_more_allocation_is_a_failure(self):
        self.costs(300, 1, "--update")
        code, out = self.costs(300, 2)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: allocations grew from 1 to 2", out)

    def test_one_more_lock_is_a_failure(self):
        self.costs(300, 2, "--update")
        code, out = self.costs(300, 2, locks=4)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: locks grew from 3 to 4", out)

    def test_more_cache_lines_are_a_failure(self):
        self.costs(300, 2, "--update")
        self.assertEqual(self.costs(300, 2, lines="0x1048 0x1080 0x10c0 0x1100 0x1140")[0], 0)
        code, out = self.costs(300, 2, lines="0x1080 0x10c0 0x1100 0x1140 0x1180")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: lines grew from 2 to 7", out)

    def test_more_pages_are_a_failure(self):
        self.costs(300, 2, "--update")
        self.assertEqual(self.costs(300, 2, lines="0x2000 0x3000")[0], 0)
        code, out = self.costs(300, 2, lines="0x2000 0x3000 0x4000")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: pages grew from 1 to 4", out)

    def test_the_instructions_of_a_plugin_are_not_counted(self):
        self.assertEqual(self.costs(300, 2, "--update", plugin="120")[0], 0)
        with open(self.baseline, encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"copy": {"instructions": 180, "allocations": 2}})

    def test_locks_and_lines_of_a_case_with_a_plugin_may_vary(self):
        self.costs(300, 2, "--update", plugin="120")
        code, out = self.costs(300, 2, locks=9, lines="0x1080", plugin="120")
        self.assertEqual(code, 0, out)

    def test_cache_lines_that_two_threads_share_are_counted(self):
        begin, end = "I  00001000,1\n", "I  00002000,1\n"
        # The first thread writes lines 0x80 and 0xc0, and reads 0x100 and 0x140. The second reads 0x80 and 0x140, and
        # writes 0x100. The third shares more by chance. Accesses outside of the calls do not count.
        trace = (" S 00000180,8\n" + begin + " S 00000088,8\n M 000000c0,4\n L 00000100,8\n L 00000140,8\n" + end +
                 " S 00000140,8\n" + begin + "I  00001004,2\n L 000000bf,1\n L 00000140,8\n S 0000013f,1\n" + end +
                 " S 000000c0,8\n" + begin + " S 00000080,8\n S 000000c0,8\n S 00000100,8\n S 00000140,8\n" + end)
        code, out = self.costs(300, 2, "--update", shared="1", trace=trace)
        self.assertEqual(code, 0, out)
        self.assertIn("over its bound: shared", out)
        with open(self.baseline, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["copy"]["shared"], 2)
        four, five = ("".join(f" M 000{4 + i:x}00,4\n" for i in range(n)) for n in (4, 5))
        self.assertEqual(self.costs(300, 2, shared="3", trace=trace.replace(begin, begin + four))[0], 0)
        code, out = self.costs(300, 2, shared="3", trace=trace.replace(begin, begin + five))
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: shared grew from 2 to 7", out)

    def test_a_limit_is_reported_and_not_enforced(self):
        code, out = self.costs(401, 3, "--update")
        self.assertEqual(code, 0)
        self.assertIn("over its bound: instructions, allocations", out)

    def test_a_case_that_the_baseline_lacks_is_a_failure(self):
        with open(self.baseline, "w", encoding="utf-8") as file:
            json.dump({"another": {"instructions": 1, "allocations": 1}}, file)
        code, out = self.costs(300, 2)
        self.assertEqual(code, 1)
        self.assertIn("FAILED: copy: not in the baseline", out)

    def test_a_missing_baseline_is_reported(self):
        code, out = self.costs(300, 2)
        self.assertEqual(code, 0)
        self.assertIn("nothing to compare with", out)


if __name__ == "__main__":
    unittest.main()
