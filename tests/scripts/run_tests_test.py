# SPDX-License-Identifier: Apache-2.0
"""The test runner must not lose a failure: run_tests_test.py SCRIPTS_DIR"""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, sys.argv[1])
import run_tests  # noqa: E402


def state_of(process):
    """Returns the state of a process. Z means that it has ended and its parent has not read the exit code."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(") ")[2][0]
    except FileNotFoundError:
        return "ended"


class Running(unittest.TestCase):
    def limited(self, script):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code, lines = run_tests.run_limited(["sh", "-c", script])
        self.assertEqual(printed.getvalue(), "".join(lines))
        return code, lines

    def test_the_exit_code_is_that_of_the_program(self):
        for _ in range(20):  # it may outlive its output a little
            self.assertEqual(self.limited("echo said; echo more >&2; exit 3"), (3, ["said\n", "more\n"]))
        self.assertEqual(self.limited("true"), (0, []))

    def test_a_time_out_ends_a_program_and_its_children(self):
        self.addCleanup(setattr, run_tests, "TIME_LIMIT", run_tests.TIME_LIMIT)
        run_tests.TIME_LIMIT = "1"
        code, lines = self.limited("sleep 600 & echo $!; wait")
        self.assertEqual(code, 124)
        started = lines[0].strip()
        end = time.monotonic() + 60
        while state_of(started) not in ("ended", "Z") and time.monotonic() < end:
            time.sleep(0.01)  # a killed process does not end at once
        self.assertIn(state_of(started), ("ended", "Z"))


class Counting(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text):
        path = os.path.join(self.folder.name, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def meson(self, result, report=None, **more):
        entry = {"name": "suite / some test", "result": result, "env": {}} | more
        if report is not None:
            entry["env"] = {run_tests.REPORT: self.file(report)}
        return run_tests.count_meson_test(entry)

    def test_a_meson_test_counts_as_one(self):
        self.assertEqual(self.meson("OK").line(), "1 passed, 0 failed")
        self.assertEqual(self.meson("FAIL").line(), "0 passed, 1 failed")
        self.assertEqual(self.meson("TIMEOUT").line(), "0 passed, 1 failed")
        self.assertEqual(self.meson("ERROR").line(), "0 passed, 1 failed")
        self.assertEqual(self.meson("UNEXPECTEDPASS").line(), "0 passed, 1 failed")
        self.assertEqual(self.meson("SKIP").line(), "0 passed, 0 failed, 1 skipped")

    def test_each_case_of_a_catch2_program_counts(self):
        counts = self.meson("FAIL", "passed one\nfailed two, with words\npassed three\n")
        self.assertEqual(counts.line(), "2 passed, 1 failed")
        self.assertEqual(counts.failed, ["suite / some test: two, with words"])

    def test_a_program_that_crashes_after_good_cases_failed(self):
        self.assertEqual(self.meson("FAIL", "passed one\n").line(), "1 passed, 1 failed")

    def test_a_program_that_ran_no_case_failed(self):
        self.assertEqual(self.meson("OK", "").line(), "0 passed, 1 failed")

    def told(self, counts):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            run_tests.report(counts)
        return printed.getvalue().splitlines()

    def test_a_failure_is_reported_with_the_lines_that_show_it(self):
        before, after = ["fine"] * 100, ["and so on"] * 100
        report = ["WARNING: ThreadSanitizer: data race (pid=1)", "  Read of size 1"]
        counts = self.meson("FAIL", stdout="\n".join(before), stderr="\n".join(report + after))
        self.assertEqual(self.told(counts)[1:4], ["FAILED: suite / some test (fail)", "    " + report[0], "    " + report[1]])
        self.assertEqual(len(self.told(counts)), 1 + 1 + run_tests.TOLD_LINES + 1)
        self.assertEqual(self.told(counts)[-1], "0 passed, 1 failed")

    def test_a_failure_without_such_lines_is_reported_with_the_last_lines(self):
        told = self.told(self.meson("FAIL", "passed one\nfailed two\nfailed three\n", stdout="\n".join(str(i) for i in range(100))))
        self.assertEqual(told[1:3], ["FAILED: suite / some test: two", f"    {100 - run_tests.TOLD_LINES}"])
        self.assertEqual(told[-3:], ["    99", "FAILED: suite / some test: three", "1 passed, 2 failed"])

    def test_a_sum_of_counts_has_the_reasons_of_failures(self):
        with open(self.file(""), "w", encoding="utf-8") as file:
            json.dump(self.meson("FAIL", stdout="it broke").__dict__, file)
        summed = run_tests.Counts()
        summed.merge(run_tests.read_counts(file.name))
        summed.merge(run_tests.read_counts(self.file('{"passed": ["a step"], "failed": [], "skipped": []}')))
        self.assertEqual(self.told(summed)[1:], ["FAILED: suite / some test (fail)", "    it broke", "1 passed, 1 failed"])

    def test_a_failure_of_pytest_is_reported_with_its_reason(self):
        counts = run_tests.count_junit(self.file('<testsuite><testcase classname="t" name="a"><failure message="E">def a():\n'
                                                 "&gt;   assert 1 == 2</failure></testcase></testsuite>"))
        self.assertEqual(self.told(counts)[1:3], ["FAILED: t.a", "    def a():"])

    def test_pytest_counts_by_its_own_report(self):
        counts = run_tests.count_junit(self.file(
            '<testsuites><testsuite><testcase classname="t" name="a"/><testcase classname="t" name="b"><failure/></testcase>'
            '<testcase classname="t" name="c"><error/></testcase><testcase classname="t" name="d"><skipped/></testcase>'
            "</testsuite></testsuites>"))
        self.assertEqual(counts.line(), "1 passed, 2 failed, 1 skipped")
        self.assertEqual(counts.skipped, ["t.d"])

    def test_skipped_cases_of_a_test_are_told_together_with_their_reason(self):
        case = '<testcase classname="t" name="{}"><skipped message="{}"/></testcase>'
        counts = run_tests.count_junit(self.file("<testsuite>" + case.format("a[1]", "no data") + case.format("a[2]", "no data") +
                                                 case.format("a[3]", "no torch") + case.format("b", "") + "</testsuite>"))
        counts.add("skipped", "bindings / julia")
        self.assertEqual(self.told(counts)[1:5], ["skipped: t.a: no data (2 cases)", "skipped: t.a: no torch", "skipped: t.b",
                                                  "skipped: bindings / julia"])

    def test_cargo_counts_by_its_output(self):
        counts = run_tests.count_cargo([
            "     Running unittests src/lib.rs (target/debug/deps/a-1)\n", "test error::says_where ... ok\n",
            "     Running tests/streams.rs (target/debug/deps/b-2)\n", "test ends ... FAILED\n", "test result: FAILED. 0 passed\n",
            "   Doc-tests arrowdevice\n", "test src/lib.rs - Device (line 3) ... ignored\n"])
        self.assertEqual(counts.passed, ["src/lib.rs: error::says_where"])
        self.assertEqual(counts.failed, ["tests/streams.rs: ends"])
        self.assertEqual(counts.skipped, ["documentation of arrowdevice: src/lib.rs - Device (line 3)"])

    def test_go_counts_by_its_output(self):
        counts = run_tests.count_go(["=== RUN   TestMove\n", "--- PASS: TestMove (0.00s)\n", "    --- FAIL: TestMove/cpu (0.00s)\n",
                                     "--- SKIP: TestGPU (0.00s)\n", "FAIL\n", "ok  \tpackage\t0.1s\n"])
        self.assertEqual((counts.passed, counts.failed, counts.skipped), (["TestMove"], ["TestMove/cpu"], ["TestGPU"]))

    def test_a_binding_fails_by_its_exit_code_too(self):
        def count(name, code, *lines):
            return run_tests.count_binding(name, code, lines, "/there/is/none.xml")

        passed = "test a ... ok\n"
        self.assertEqual(count("rust", 0, passed).line(), "1 passed, 0 failed")
        self.assertEqual(count("rust", 101, passed).line(), "1 passed, 1 failed")
        self.assertEqual(count("rust", 0).line(), "0 passed, 1 failed")
        self.assertEqual(count("go", 0).line(), "0 passed, 1 failed")
        self.assertEqual(count("rust", 77, passed).line(), "1 passed, 1 failed")
        self.assertEqual(count("julia", 77, "SKIP: julia is not installed\n").skipped, ["bindings / julia"])
        self.assertEqual(count("julia", 0).passed, ["bindings / julia"])
        self.assertEqual(count("julia", 1).line(), "0 passed, 1 failed")
        self.assertEqual(run_tests.count_binding("julia", 0, [], self.file(
            '<testsuites><testsuite><testcase classname="t" name="a"/></testsuite></testsuites>')).passed, ["t.a"])

    def test_only_listed_skips_with_a_reason_are_allowed(self):
        counts = run_tests.Counts()
        for name in ("t.listed", "t.unlisted", "t.without reason", "t.commented", "u.of_many[a-1]"):
            counts.add("skipped", name)
        run_tests.refuse_skips(counts, self.file("t.listed — needs a moon\nu.of_many* — needs stars\nt.without reason — \n# t.commented — no\n"))
        self.assertEqual(counts.line(), "0 passed, 3 failed, 2 skipped")

    def test_a_run_without_tests_fails(self):
        self.assertEqual(run_tests.report(run_tests.Counts()), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
