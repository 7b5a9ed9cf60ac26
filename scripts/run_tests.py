# SPDX-License-Identifier: Apache-2.0
"""Runs everything that tests a build, and counts: run_tests.py [options] BUILD, or --sum FILE...

Counts each case of a Catch2 program, of pytest, of cargo and of go, and every other Meson test as one.
A program that fails without a failed case, because it crashed or timed out, counts as one failure.
A skip that is not on the list tests/allowed-skips.txt counts as a failure.
The end of the output repeats each failure with the lines that show it. The last line is `N passed, N failed`, with
`, N skipped` if any. The exit code is 0 only if nothing failed.
"""

import argparse
import collections
import fnmatch
import glob
import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIME_LIMIT = "1800"  # seconds; Meson has limits of its own
ALLOWED_SKIPS = os.path.join(ROOT, "tests", "allowed-skips.txt")
REPORT = "ARROWDEVICE_TEST_REPORT"  # where tests/unit/main.cc writes its cases
# Marks the lines of an output that show a failure. Without such a line, the last lines show it.
SAYS_WHY = re.compile(r"WARNING: ThreadSanitizer|ERROR: \w+Sanitizer|: runtime error: |: FAILED:|^FAIL: |^FAILED|^Traceback|Assertion .* failed")
TOLD_LINES = 30  # of one test


class Counts:
    """Outcomes by name, and why some of them failed or were skipped. Names of skips are what the list of allowed ones has."""

    def __init__(self):
        self.passed, self.failed, self.skipped, self.why = [], [], [], {}

    def add(self, outcome, name):
        {"passed": self.passed, "failed": self.failed, "skipped": self.skipped}[outcome].append(name)

    def merge(self, other):
        for outcome in ("passed", "failed", "skipped"):
            getattr(self, outcome).extend(getattr(other, outcome))
        self.why.update(other.why)

    def line(self):
        text = f"{len(self.passed)} passed, {len(self.failed)} failed"
        return text + (f", {len(self.skipped)} skipped" if self.skipped else "")


def tell_why(output):
    lines = output.splitlines()
    begin = next((i for i, line in enumerate(lines) if SAYS_WHY.search(line)), max(0, len(lines) - TOLD_LINES))
    return lines[begin:begin + TOLD_LINES]


def count_cases(report, name):
    """Counts the report of a Catch2 program: "outcome name" a line."""
    counts = Counts()
    with open(report, encoding="utf-8", errors="replace") as file:
        for line in file:
            outcome, _, case = line.rstrip("\n").partition(" ")
            counts.add(outcome, f"{name}: {case}")
    return counts


def count_meson_test(entry):
    """One line of Meson's testlog.json."""
    # The name is "libarrowdevice:suite / name". The project is left out.
    name, result = entry["name"].split(":", 1)[-1], entry["result"]
    counts = Counts()
    report = entry.get("env", {}).get(REPORT)
    if report and os.path.exists(report):
        counts = count_cases(report, name)
    if result == "SKIP":
        counts.add("skipped", name)
    elif result not in ("OK", "EXPECTEDFAIL"):
        if not counts.failed:  # it did not fail in one of its cases
            counts.add("failed", f"{name} ({result.lower()})")
    elif report and not counts.passed:
        counts.add("failed", f"{name} (ran no test case)")
    elif not report:
        counts.add("passed", name)
    if counts.failed:
        counts.why[counts.failed[0]] = tell_why("\n".join(entry.get(one) or "" for one in ("stdout", "stderr")))
    return counts


def run_meson(build, suites, without_suites):
    reports = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True,
                                        text=True).stdout)
    for test in reports:  # reports of an earlier run must not count
        report = test["env"].get(REPORT)
        if report and os.path.exists(report):
            os.remove(report)
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    command = ["meson", "test", "-C", build, "--print-errorlogs"]  # builds the needs of these tests
    command += [word for suite in suites for word in ("--suite", suite)]
    command += [word for suite in without_suites for word in ("--no-suite", suite)]
    code = subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    counts = Counts()
    if os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            for line in file:
                counts.merge(count_meson_test(json.loads(line)))
    if code and not counts.failed:
        counts.add("failed", f"meson test (exit code {code})")
    if not counts.passed and not counts.failed:
        counts.add("failed", "meson test (ran no test)")
    return counts


def count_junit(path):
    """Counts the report of pytest's --junitxml."""
    counts = Counts()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        failures = case.findall("failure") + case.findall("error")
        if failures:
            counts.add("failed", name)
            counts.why[name] = (failures[0].text or failures[0].get("message", "")).splitlines()[-TOLD_LINES:]
        elif (skipped := case.find("skipped")) is not None:
            counts.add("skipped", name)
            counts.why[name] = skipped.get("message", "").splitlines()[:1]
        else:
            counts.add("passed", name)
    return counts


def run_limited(command, env=None):
    """Runs a command with the time limit. The command and its children are a process group. The group ends with
    the command or with this process. Prints the output, and returns the exit code and the lines."""
    lines = []
    with subprocess.Popen(["timeout", "--kill-after=30", TIME_LIMIT, *command], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", start_new_session=True) as process:
        try:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line)
            process.wait()
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # all of it has ended
    return process.returncode, lines


def run_pytest(python, build, folder, **more):
    report = os.path.join(build, "pytest.xml")
    if os.path.exists(report):
        os.remove(report)
    environment = os.environ | {
        "ARROWDEVICE_LIBRARY": os.path.join(build, "src", "libarrowdevice.so"),
        "ARROWDEVICE_BACKEND_PATH": ":".join(sorted(glob.glob(os.path.join(build, "backends", "*", "")))),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # Vulkan under its validation layer: any message ends the program.
    vulkan = os.path.join(build, "tests", "drivers", "vulkan", "libvulkan-test-driver.so")
    if os.path.exists(vulkan):
        environment |= {"ARROWDEVICE_VULKAN_LIBRARY": vulkan, "ARROWDEVICE_TEST_VULKAN_VALIDATION": "1"}
    environment |= more
    code, _ = run_limited([python, "-m", "pytest", "-q", "-rfEs", "-n", "auto", "-p", "no:cacheprovider", f"--rootdir={ROOT}",
                           f"--junitxml={report}", folder], env=environment)
    counts = count_junit(report) if os.path.exists(report) else Counts()
    # Exit codes beyond 1 mean that tests did not even run; a crash leaves no report.
    if code and not counts.failed:
        counts.add("failed", f"pytest {os.path.relpath(folder, ROOT)} (exit code {code})")
    return counts


def count_cargo(lines):
    """Counts the output of `cargo test`: the name of each program, then `test NAME ... ok` a line."""
    counts, program = Counts(), ""
    for line in lines:
        if runs := re.match(r"\s+(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))", line):
            program = runs[1] or f"documentation of {runs[2]}"
        elif case := re.match(r"test (.+) \.\.\. (ok|FAILED|ignored)", line):
            counts.add({"ok": "passed", "FAILED": "failed", "ignored": "skipped"}[case[2]], f"{program}: {case[1]}")
    return counts


def count_go(lines):
    """Counts the output of `go test -v`: `--- PASS: NAME (0.00s)` a line, then `ok` or `FAIL` for the package."""
    counts = Counts()
    for line in lines:
        if case := re.match(r"\s*--- (PASS|FAIL|SKIP): (\S+)", line):
            counts.add({"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}[case[1]], case[2])
    return counts


COUNTED_BY_OUTPUT = {"rust": count_cargo, "go": count_go}
SAYS_BY_EXIT_CODE = ("julia",)  # whose Test names no cases
IS_NOT_INSTALLED = 77  # exit code of a binding's tests where its language is missing


def run_binding(folder, build):
    """The tests of a binding: FOLDER/test.sh BUILD."""
    name = os.path.basename(folder)
    report = os.path.join(build, f"{name}.xml")
    if os.path.exists(report):
        os.remove(report)
    code, lines = run_limited([os.path.join(folder, "test.sh"), build])
    return count_binding(name, code, lines, report)


def count_binding(name, code, lines, report):
    if os.path.exists(report):
        counts = count_junit(report)
    else:
        found, counts = COUNTED_BY_OUTPUT.get(name, lambda _: Counts())(lines), Counts()
        for outcome in ("passed", "failed", "skipped"):
            for case in getattr(found, outcome):
                counts.add(outcome, f"bindings / {name}: {case}")
    if code == IS_NOT_INSTALLED and not counts.passed and not counts.failed:
        counts.add("skipped", f"bindings / {name}")
    elif code and not counts.failed:
        counts.add("failed", f"bindings / {name} (exit code {code})")
    elif not code and name in SAYS_BY_EXIT_CODE and not counts.passed:
        counts.add("passed", f"bindings / {name}")
    elif not code and not counts.passed:
        counts.add("failed", f"bindings / {name} (ran no test)")
    return counts


def refuse_skips(counts, path=ALLOWED_SKIPS):
    """Turns every skip that is not on the list into a failure."""
    allowed = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, dash, reason = line.partition(" — ")
            if dash and reason.strip() and not line.startswith("#"):
                allowed.append(name.strip())
    refused = [name for name in counts.skipped if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)]
    counts.skipped = [name for name in counts.skipped if name not in refused]
    counts.failed += [f"{name} (skipped, and not on {os.path.relpath(path, ROOT)})" for name in refused]


def report(counts):
    print()
    # The cases of one test are told together if they have the same reason.
    skips = collections.Counter((name.partition("[")[0], *counts.why.get(name, [])) for name in counts.skipped)
    for (name, *why), cases in skips.items():
        print(": ".join([f"skipped: {name}", *why]) + (f" ({cases} cases)" if cases > 1 else ""))
    for name in counts.failed:
        print(f"FAILED: {name}")
        for why in counts.why.get(name, []):
            print(f"    {why}")
    print(counts.line(), flush=True)
    return 1 if counts.failed or not counts.passed else 0


def read_counts(path):
    counts = Counts()
    with open(path, encoding="utf-8") as file:
        counts.__dict__.update(json.load(file))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?")
    parser.add_argument("--pytest", metavar="PATH", action="append", default=[], help="also run pytest on this folder or file")
    parser.add_argument("--binding", metavar="FOLDER[=BUILD]", action="append", default=[],
                        help="also run the tests of this binding, in a folder of its own or against the build")
    parser.add_argument("--python", default=sys.executable, help="the Python that has pytest and pyarrow")
    parser.add_argument("--no-meson", action="store_true", help="run none of the Meson tests")
    parser.add_argument("--suite", action="append", default=[], help="run this suite of Meson tests only")
    parser.add_argument("--no-suite", action="append", default=[], help="leave out a suite of Meson tests")
    parser.add_argument("--counts-to", metavar="FILE", help="write the counts there too")
    parser.add_argument("--sum", metavar="FILE", nargs="+", help="run nothing, add up such files of earlier runs")
    arguments = parser.parse_args()

    counts = Counts()
    if arguments.sum:
        for path in arguments.sum:
            counts.merge(read_counts(path))
        return report(counts)
    if not arguments.build:
        parser.error("which build?")
    build = os.path.abspath(arguments.build)
    os.environ["ARROWDEVICE_PYTHON"] = arguments.python
    if not arguments.no_meson:
        counts.merge(run_meson(build, arguments.suite, arguments.no_suite))
    for folder in arguments.pytest:
        counts.merge(run_pytest(arguments.python, build, os.path.abspath(folder)))
        golden = os.path.join(os.path.abspath(folder), "test_golden.py")
        lavapipe = [os.path.join(build, "tests", "drivers", "vulkan", f"lavapipe_{i}.json") for i in range(2)]
        if os.path.exists(golden) and os.path.exists(lavapipe[0]):
            counts.merge(run_pytest(arguments.python, build, golden, ARROWDEVICE_TEST_PAIR="vulkan:0,vulkan:1",
                                    VK_ICD_FILENAMES=":".join(lavapipe)))
    for binding in arguments.binding:
        folder, _, own_build = binding.partition("=")
        counts.merge(run_binding(os.path.abspath(folder), os.path.abspath(own_build or build)))
    refuse_skips(counts)
    if arguments.counts_to:
        with open(arguments.counts_to, "w", encoding="utf-8") as file:
            json.dump(counts.__dict__, file)
    return report(counts)


if __name__ == "__main__":
    sys.exit(main())
