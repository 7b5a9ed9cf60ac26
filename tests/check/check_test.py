# SPDX-License-Identifier: Apache-2.0
"""Runs `arrowdevice check` on correct and on wrong backends: check_test.py TOOL FOLDER_OF_WRONG_PLUGINS"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

TOOL, WRONG = sys.argv.pop(1), sys.argv.pop(1)
COLUMNS = 100

# Cases that say much about a backend and take little time.
BYTES = ["--only=bytes copied", "--only=regions are copied", "--only=a copy to the device and back"]

REGIONS = "regions are copied from and to their offsets"
LEFT = "what a program has left is released as it exits"
ENDS_WELL = "the process ends well after the cases"
BYTES_ARE_THE_SAME = "bytes copied to a buffer and back are the same"

# The second device is so slow that the first finishes earlier if it does not wait.
SLOW_PEER = "addresses,addresses:latency_us=500000"


def check(*arguments, devices="addresses,addresses", **more):
    environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": devices} | more
    return subprocess.run([TOOL, "check", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300, check=False)


def plugin(name):
    return os.path.join(WRONG, f"libarrowdevice-{name}.so")


def results(done):
    """Outcome and message by case, of the first device."""
    return {one["case"]: (one["outcome"], one["message"]) for one in json.loads(done.stdout)["devices"][0]["results"]}


def failures(name, *options, **more):
    done = check("--json", *options, plugin(name), **more)
    found = {case: message for case, (outcome, message) in results(done).items() if outcome == "failed"}
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return found


class Copy(unittest.TestCase):
    def test_other_bytes_of_a_file_are_found(self):
        rows = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool", "rows.arrows")
        environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": "addresses", "ARROWDEVICE_BACKEND_PATH": WRONG}
        done = subprocess.run([TOOL, "copy", rows, "ext_dev:0"], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"rows\.arrows: batch 0: batch\.\w: (other bytes of buffer \d came back|the offsets run)")


class Check(unittest.TestCase):
    def test_a_correct_backend_passes(self):
        done = check(plugin("right"), "--only=a device", "--only=a pool", *BYTES)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn("ext_dev:0, backend right", done.stdout)
        self.assertIn("ext_dev:1, backend right", done.stdout)
        self.assertRegex(done.stdout, r"\n\d\d passed, 0 failed, \d+ unsupported\n$")
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), COLUMNS, line)

    def test_list_names_the_cases_and_runs_none(self):
        done = check("--list")
        self.assertEqual(done.returncode, 0)
        self.assertGreater(len(done.stdout.splitlines()), 80)
        some = check("--list", "--only=a pool").stdout.splitlines()
        self.assertEqual(some, [line for line in done.stdout.splitlines() if "a pool" in line])

    def test_devices_are_checked_by_name(self):
        done = check("--json", "cpu", "ext_dev:1", "--only=bytes copied")
        self.assertEqual(done.returncode, 0)
        answer = json.loads(done.stdout)
        self.assertEqual([(one["device"], one["backend"], one["missing"], len(one["results"])) for one in answer["devices"]],
                         [("cpu:0", "cpu", None, 1), ("ext_dev:1", "sim", None, 1)])

    def test_a_missing_device_is_a_failure_only_if_it_is_required(self):
        for options, code in ([], 0), (["--require-device"], 1):
            done = check("ext_dev:7", *options)
            self.assertEqual(done.returncode, code)
            self.assertIn("is not checked: there is no ext_dev:7", done.stdout)

    def test_wrong_usage_is_exit_code_2(self):
        for arguments in (["--lst"], ["--list", "--junit=x"], ["--timeout=0"], ["--only=no case has this"], [""]):
            done = check(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertNotEqual(done.stderr, "")

    def test_an_unusable_plugin_is_a_failure_with_the_reason(self):
        done = check("/nowhere/libarrowdevice-none.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/nowhere/libarrowdevice-none.so", done.stderr)

    def known(self, text, name, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return check(f"--known={file.name}", *arguments, plugin(name))

    def test_expected_failures_pass_and_unsupported_cases_do_not_run(self):
        lines = (f"# the odd offsets\n\nodd_offsets | expected to fail | {REGIONS} | to be | mended\n"
                 f"odd_offsets|unsupported|{BYTES_ARE_THE_SAME}|no bytes\n")
        done = self.known(lines, "odd_offsets", "--json", f"--only={REGIONS}", f"--only={BYTES_ARE_THE_SAME}")
        self.assertEqual(done.returncode, 0, done.stdout)
        outcome, message = results(done)[REGIONS]
        self.assertEqual(outcome, "failed as expected")
        self.assertRegex(message, r"^to be \| mended: .*buffer_cases")
        self.assertEqual(results(done)[BYTES_ARE_THE_SAME], ("unsupported", "no bytes"))

    def test_an_expected_hang_is_not_a_failure(self):
        done = self.known(f"never | expected to fail | {BYTES_ARE_THE_SAME} | so it is", "never", "--timeout=2", BYTES[0])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("so it is: it did not end within 2 seconds", done.stdout)

    def test_an_unexpected_pass_is_a_failure(self):
        done = self.known(f"right | expected to fail | {REGIONS} | once broken", "right", "--json", *BYTES)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(results(done)[REGIONS], ("passed unexpectedly", "it was expected to fail: once broken"))
        other = self.known(f"odd_offsets | expected to fail | {REGIONS} | once broken", "right", *BYTES)
        self.assertEqual(other.returncode, 0, other.stdout)

    def test_a_wrong_line_of_the_known_list_is_reported(self):
        for line in ("right", f"right | fails | {REGIONS} | why", "right | unsupported | no such case | why",
                     f"right | unsupported | {REGIONS} |", f" | unsupported | {REGIONS} | why"):
            done = self.known("# first\n" + line, "right")
            self.assertEqual((done.returncode, done.stdout), (2, ""), line)
            self.assertRegex(done.stderr, r"\.txt:2: ", line)
        done = check("--known=/nowhere/at/all", "cpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/at/all", done.stderr)

    def run_with(self, name, *arguments, **more):
        """Runs the tool with one of the wrong plugins in the place of the simulated device's."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(plugin(name), folder)
            environment = os.environ | {"ARROWDEVICE_SIM_DEVICES": "addresses", "ARROWDEVICE_BACKEND_PATH": folder} | more
            return subprocess.run([TOOL, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=60, check=False)

    def test_bench_finds_lost_bytes(self):
        done = self.run_with("does_nothing", "bench", "--json", "--bytes=4K", "cpu", "ext_dev")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        errors = {(pair["from"], pair["to"]): pair["sizes"][0]["error"] for pair in json.loads(done.stdout)["pairs"]}
        lost = "other bytes arrived"
        self.assertEqual(errors, {("cpu:0", "cpu:0"): None, ("cpu:0", "ext_dev:0"): lost, ("ext_dev:0", "cpu:0"): lost,
                                  ("ext_dev:0", "ext_dev:0"): lost})

    def test_explain_names_the_backend_that_drives_a_type(self):
        done = self.run_with("right", "explain", ARROWDEVICE_SIM_FAIL="device_count:1+")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^ext_dev +none \(right\): device_count: a failure that was asked for")

    def junit(self, *arguments, **more):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results.xml")
            done = check(f"--junit={path}", *arguments, **more)
            return done, ElementTree.parse(path).getroot()

    def test_junit_has_the_outcome_of_each_case(self):
        done, root = self.junit("cpu", "ext_dev:0", "--only=bytes copied", "--only=a device is opened", ARROWDEVICE_SIM_FAIL="queue_copy:1+")
        self.assertEqual(done.returncode, 1, done.stdout)
        printed = [(device, outcome, name) for device, text in re.findall(r"(?ms)^(\S+), backend \w+\n(.*?)(?=^\S+, backend|^\d+ passed)", done.stdout)
                   for outcome, name in re.findall(r"(?m)^(passed|failed|unsupported) +(.*)", text)]
        words = {None: "passed", "failure": "failed", "skipped": "unsupported"}
        written = [(case.get("classname"), words[case[0].tag if len(case) else None], case.get("name")) for case in root.iter("testcase")]
        self.assertEqual(written, printed)
        self.assertIn(("ext_dev:0", "failed", BYTES_ARE_THE_SAME), written)
        self.assertIn("a failure that was asked for", root.find(".//failure").get("message"))
        self.assertEqual([suite.get("name") for suite in root], ["cpu:0", "ext_dev:0"])
        for one in (root, *root):
            counts = [len(list(one.iter(tag))) for tag in ("testcase", "failure", "skipped")]
            self.assertEqual([one.get(name) for name in ("tests", "failures", "skipped")], [str(count) for count in counts])

    def test_junit_escapes_messages(self):
        odd = "<&\"'> ]]> \x01 \t \udcff \ufffe ü"
        with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
            file.write(f"right | unsupported | {BYTES_ARE_THE_SAME} | {odd}\n".encode("utf-8", "surrogateescape"))
            file.flush()
            done, root = self.junit(f"--known={file.name}", "--only=bytes copied", plugin("right"))
        self.assertEqual(done.returncode, 0, done.stdout)
        message = root.find(".//skipped").get("message")
        self.assertEqual(message, "unsupported: <&\"'> ]]> \ufffd \t \ufffd \ufffd ü")

    def test_junit_has_missing_devices(self):
        for options, tag, code in ([], "skipped", 0), (["--require-device"], "failure", 1):
            done, root = self.junit("ext_dev:7", *options)
            self.assertEqual(done.returncode, code)
            case, = root.iter("testcase")
            self.assertEqual((case.get("classname"), case.get("name"), case[0].tag), ("ext_dev:7", "the device is there", tag))
            self.assertIn("there is no ext_dev:7", case[0].get("message"))

    def test_junit_that_cannot_be_written_is_a_failure(self):
        done = check("--junit=/nowhere/results.xml", "cpu")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("/nowhere/results.xml cannot be written: No such file", done.stderr)
        done = check("--junit=/dev/full", "--only=bytes copied", "cpu")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full cannot be written: No space left", done.stderr)

    def test_list_as_json_has_the_cases(self):
        done = check("--list", "--json", "--only=a pool")
        self.assertEqual(json.loads(done.stdout)["cases"], check("--list", "--only=a pool").stdout.splitlines())

    # -- mistakes, each found by a case with a matching name

    def test_the_check_finds_lost_bytes(self):
        self.assertIn(REGIONS, failures("odd_offsets", *BYTES))

    def test_the_check_finds_success_without_work(self):
        self.assertIn(BYTES_ARE_THE_SAME, failures("does_nothing", *BYTES))

    def test_the_check_finds_events_that_fire_too_early(self):
        found = failures("too_early", *BYTES, devices="addresses:latency_us=100000")
        self.assertIn(BYTES_ARE_THE_SAME, found)

    def test_the_check_finds_events_that_never_fire(self):
        found = failures("never", "--timeout=2", "--only=bytes copied")
        self.assertEqual(found, {BYTES_ARE_THE_SAME: "it did not end within 2 seconds"})

    def test_the_check_finds_work_out_of_order(self):
        self.assertIn("a queue does its work in order", failures("order", "--only=a queue does its work"))

    def test_the_check_finds_memory_that_is_not_freed(self):
        self.assertIn("memory that is freed can be allocated again", failures("leak", "--only=memory that is"))

    def test_the_check_finds_a_queue_that_does_not_wait(self):
        found = failures("no_wait", "--only=held up", devices=SLOW_PEER)
        self.assertIn("a queue is held up by a pending array", found)

    def test_the_check_finds_memory_that_is_too_small(self):
        self.assertIn(BYTES_ARE_THE_SAME, failures("size", *BYTES))

    def test_the_check_finds_state_that_threads_share(self):
        self.assertIn("several threads copy to one device and back", failures("one_thread", "--only=several threads"))

    def test_the_check_finds_a_crash_at_exit(self):
        found = failures("at_exit", "--only=bytes copied")
        self.assertEqual(list(found), [ENDS_WELL])
        self.assertIn("signal 6", found[ENDS_WELL])

    def test_the_check_finds_memory_that_is_freed_too_late(self):
        found = failures("books", "--only=bytes copied")
        self.assertEqual(list(found), [LEFT])
        self.assertIn("signal 6", found[LEFT])

    def test_the_check_finds_events_that_are_destroyed_too_late(self):
        found = failures("event_books", "--only=bytes copied")
        self.assertEqual(list(found), [LEFT])
        self.assertIn("signal 6", found[LEFT])

    def test_the_check_does_not_call_an_unloaded_backend(self):
        self.assertEqual(failures("early_books", "--only=bytes copied"), {})

    def test_correct_backends_have_no_findings(self):
        for arguments in ["--only=a queue does its work"], ["--only=memory that is"], ["--only=several threads"]:
            self.assertEqual(failures("right", *arguments), {})
        self.assertEqual(failures("right", "--only=held up", devices=SLOW_PEER), {})


if __name__ == "__main__":
    unittest.main()
