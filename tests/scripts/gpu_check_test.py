# SPDX-License-Identifier: Apache-2.0
"""The steps of the hardware check have limits, and leave results in any case. Run as: gpu_check_test.py SCRIPTS."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = sys.argv.pop(1)
sys.path.insert(0, SCRIPTS)
import limited_steps  # noqa: E402

limited_steps.KILL_AFTER = 0.5

PROGRAM = r"""
echo 'passed: a queue waits'
echo 'FAILED: an array is ready: code 110'
echo 'not run: a second GPU goes on: there is one GPU only'
echo 'measured: {"name": "1 x 2 B", "seconds": 0.5, "driver_seconds": 1.0, "bytes": 2000000000}'
echo 'passed        a case of the conformance suite'
echo 'unsupported   another case'
echo '              the device publishes no events'
echo 'failed        a third case'
echo '              it was ended by'
echo '              a signal'
echo '2 passed, 1 failed'
exit 1
"""


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "results")
        self.steps = limited_steps.Steps(self.folder, 60)

    def run_step(self, script, limit=30.0, **options):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            good = self.steps.run("a step", ["sh", "-c", script], limit, **options)
        return good, output.getvalue()

    def read(self, name="results.json"):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file) if name.endswith(".json") else file.read()

    def test_results_are_there_before_the_first_step(self):
        self.assertEqual(self.read()["steps"], [])
        self.assertFalse(self.read()["finished"])

    def test_every_line_of_a_program_counts(self):
        good, output = self.run_step(PROGRAM)
        self.assertFalse(good)
        step = self.read()["steps"][0]
        self.assertEqual(step["passed"], ["a queue waits", "a case of the conformance suite"])
        self.assertEqual(step["failed"], [{"name": "an array is ready", "message": "code 110"},
                                          {"name": "a third case", "message": "it was ended by a signal"}])
        self.assertEqual(step["not_run"], [{"name": "a second GPU goes on", "reason": "there is one GPU only"}])
        self.assertEqual(step["measured"][0]["driver_seconds"], 1.0)
        self.assertIn("FAILED: an array is ready: code 110", output)
        self.assertEqual(self.steps.line(), "2 passed, 2 failed")

    def test_a_step_that_hangs_is_killed_with_its_children_and_fails(self):
        mark = os.path.join(self.folder, "mark")
        begin = time.monotonic()
        good, _ = self.run_step(f"echo 'passed: one'; trap '' TERM; (trap '' TERM; sleep 3; touch {mark}) & sleep 100", 1)
        self.assertFalse(good)
        self.assertLess(time.monotonic() - begin, 30)
        results = self.read()
        self.assertEqual(results["failed"], 1)
        self.assertEqual(results["steps"][0]["failed"][0]["message"], "killed after 1 s")
        self.assertEqual(results["steps"][0]["passed"], ["one"])
        self.assertIn("[killed after 1 s]", self.read("log"))
        time.sleep(3)
        self.assertFalse(os.path.exists(mark), "a child went on")

    def test_a_crash_without_a_failed_check_fails(self):
        self.run_step("echo 'passed: one'; kill -SEGV $$")
        self.assertEqual(self.read()["steps"][0]["failed"], [{"name": "a step", "message": "exit code -11"}])

    def test_a_program_that_checks_nothing_fails(self):
        self.assertFalse(self.run_step("true")[0])
        self.assertEqual(self.read()["steps"][0]["failed"][0]["message"], "no check ran")

    def test_a_missing_program_fails(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(self.steps.run("a step", ["/nowhere/program"], 5))

    def test_a_single_check_is_the_exit_code(self):
        self.assertTrue(self.run_step("true", is_single=True)[0])
        self.assertFalse(self.run_step("exit 3", is_single=True)[0])
        self.assertEqual(self.steps.line(), "1 passed, 1 failed")

    def test_a_step_without_time_left_does_not_run(self):
        self.steps.ends_at = time.monotonic()
        self.assertFalse(self.run_step("touch " + os.path.join(self.folder, "mark"))[0])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "mark")))
        self.assertEqual(self.read()["not_run"], [{"name": "a step", "reason": "no time is left"}])

    def test_the_section_for_the_page_has_everything(self):
        self.run_step(PROGRAM)
        self.steps.facts["gpu"] = "A GPU"
        self.steps.finish()
        self.assertTrue(self.read()["finished"])
        text = self.read("verification.md")
        for part in (": A GPU", "2 passed, 2 failed", "| a step | 2 | 2 |", "- an array is ready: code 110",
                     "- a second GPU goes on: there is one GPU only", "| 1 x 2 B | 500 ms | 1 s | 2.00 | 4.0 GB/s |"):
            self.assertIn(part, text)


class Script(unittest.TestCase):
    def start(self, folder, **env):
        script = os.path.join(SCRIPTS, "gpu-check.sh")
        return subprocess.Popen([script, "--stand-in"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**os.environ, "ARROWDEVICE_BUILD": os.path.join(folder, "build"),
                                     "ARROWDEVICE_GPU_CHECK_RESULTS": os.path.join(folder, "results"), **env})

    def programs(self, folder, **scripts):
        """Makes programs that the script finds before the machine's."""
        os.makedirs(os.path.join(folder, "bin"))
        for name, text in scripts.items():
            path = os.path.join(folder, "bin", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text + "\n")
            os.chmod(path, 0o755)
        return os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]

    def results(self, folder):
        with open(os.path.join(folder, "results", "results.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_build_that_fails_leaves_results(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.programs(folder, meson="echo cannot; exit 3")
            output = self.start(folder, PATH=path).communicate(timeout=120)[0]
            self.assertEqual(output.splitlines()[-1], "0 passed, 1 failed", output)
            self.assertTrue(self.results(folder)["finished"])
            self.assertTrue(os.path.exists(os.path.join(folder, "results", "verification.md")))

    def test_results_survive_the_end_of_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.programs(folder, meson=f'[ "$1" = --version ] || {{ touch {folder}/hangs; sleep 300; }}')
            process = self.start(folder, PATH=path)
            until = time.monotonic() + 100
            while not os.path.exists(os.path.join(folder, "hangs")) and time.monotonic() < until:
                time.sleep(0.05)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1)
            self.assertIn("kernel", self.results(folder)["versions"])

    def test_an_unknown_option_is_refused(self):
        done = subprocess.run([os.path.join(SCRIPTS, "gpu-check.sh"), "--fast"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no option --fast", done.stderr)


if __name__ == "__main__":
    unittest.main()
