# SPDX-License-Identifier: Apache-2.0
"""Runs commands as steps, each under a time limit, and records their checks in a folder:

    log                each command with its output
    results.json       the outcomes so far, rewritten after each step
    verification.md    the same as a section for docs/verification.md, written at the end

A step that exceeds its limit is killed with its children, and counts as failed.
"""

import datetime
import json
import os
import re
import signal
import subprocess
import time

KILL_AFTER = 5  # seconds between the request to end and the kill, and from there until the process is left behind
SHOWN_LINES = 30  # of the output of a step that failed

# Lines of the programs, see tests/drivers/cuda/hardware/report.h.
LINES = re.compile(r"^(passed|FAILED|not run|measured): (.*)$", re.M)
# Lines of `arrowdevice check`: a case, and below it the failure or the reason.
CASES = re.compile(r"^(passed|failed|unsupported) {3,}(.*)((?:\n {14}.*)*)", re.M)


class Steps:
    """The steps of a run. `seconds` limits all steps together. A step that finds no time left does not run."""

    def __init__(self, folder, seconds):
        self.folder, self.ends_at = folder, time.monotonic() + seconds
        self.facts = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "versions": {}}
        self.steps, self.not_run = [], []
        os.makedirs(folder, exist_ok=True)
        for name in ("log", "results.json", "verification.md"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        self.write()

    def path(self, name):
        return os.path.join(self.folder, name)

    def count(self, outcome):
        return sum(len(step[outcome]) for step in self.steps)

    def line(self):
        return f"{self.count('passed')} passed, {self.count('failed')} failed"

    def skip(self, name, reason):
        print(f"not run: {name}: {reason}", flush=True)
        self.not_run.append({"name": name, "reason": reason})
        self.write()

    def fail(self, name, message):
        """Records a failure that is no step of its own."""
        self.steps.append({"name": name, "limit": 0, "seconds": 0, "passed": [], "not_run": [], "measured": [],
                           "failed": [{"name": name, "message": message}]})
        self.write()

    def execute(self, command, limit, env=None):
        """Returns the exit code, or None after the limit, and the output. The log receives both."""
        with open(self.path("log"), "a+", encoding="utf-8", errors="replace") as log:
            print(f"$ {' '.join(command)}", file=log, flush=True)
            begin = log.tell()
            try:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                           env={**os.environ, **(env or {})}, start_new_session=True)
            except OSError as error:
                print(error, file=log, flush=True)
                return 127, str(error)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:  # also if this script is told to end; children of the command end with it
                end_group(process)
            log.seek(begin)
            output = log.read()
            log.seek(0, os.SEEK_END)
            end = f"killed after {limit:.0f} s" if code is None else f"exit code {code}"
            print(f"[{end}]", file=log, flush=True)
        return code, output

    def run(self, name, command, limit, env=None, is_single=False):
        """Runs a step. The output lists its checks, or the exit code is its only check. Returns True if all passed."""
        left = self.ends_at - time.monotonic()
        if left < 1:
            self.skip(name, "no time is left")
            return False
        limit = min(limit, left)
        step = {"name": name, "limit": round(limit, 1), "passed": [], "failed": [], "not_run": [], "measured": []}
        begin = time.monotonic()
        code, output = self.execute(command, limit, env)
        step["seconds"] = round(time.monotonic() - begin, 2)
        if not is_single:
            read_checks(output, step)
        is_told = bool(step["failed"])
        if code is None:
            step["failed"].append({"name": name, "message": f"killed after {limit:.0f} s"})
        elif code != 0 and not step["failed"]:
            step["failed"].append({"name": name, "message": f"exit code {code}"})
        elif code == 0 and is_single:
            step["passed"].append(name)
        elif code == 0 and not step["passed"]:
            step["failed"].append({"name": name, "message": "no check ran"})
        self.steps.append(step)
        self.write()
        self.show(step, output, is_told and code is not None)
        return not step["failed"]

    def show(self, step, output, is_told):
        """Prints a step. Prints the end of its output too, unless the output has told the failures."""
        counts = f"{len(step['passed'])} passed, {len(step['failed'])} failed"
        print(f"{step['name']}: {counts}, {step['seconds']:.1f} s", flush=True)
        for one in step["measured"]:
            print(f"  {measured_text(one)}")
        for one in step["not_run"]:
            print(f"  not run: {one['name']}: {one['reason']}")
        for one in step["failed"]:
            print(f"  FAILED: {one['name']}: {one['message']}")
        if step["failed"] and not is_told:
            print("\n".join("  | " + line for line in output.splitlines()[-SHOWN_LINES:]), flush=True)

    def write(self, is_finished=False):
        everything = {**self.facts, "finished": is_finished, "passed": self.count("passed"),
                      "failed": self.count("failed"), "steps": self.steps, "not_run": self.not_run}
        temporary = self.path("results.json.new")
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(everything, file, indent=1)
            file.write("\n")
        os.replace(temporary, self.path("results.json"))

    def finish(self):
        self.write(is_finished=True)
        with open(self.path("verification.md"), "w", encoding="utf-8") as file:
            file.write(section(self))


def end_group(process):
    """Ends all processes of the step: asks them first if the command still runs. A process that hangs in the kernel is left
    behind."""
    for number in (signal.SIGTERM, signal.SIGKILL) if process.poll() is None else (signal.SIGKILL,):
        try:
            os.killpg(process.pid, number)
            process.wait(KILL_AFTER)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def read_checks(output, step):
    for outcome, text in LINES.findall(output):
        name, _, message = text.partition(": ")
        if outcome == "passed":
            step["passed"].append(text)
        elif outcome == "FAILED":
            step["failed"].append({"name": name, "message": message})
        elif outcome == "not run":
            step["not_run"].append({"name": name, "reason": message})
        else:
            step["measured"].append(json.loads(text))
    for outcome, name, text in CASES.findall(output):
        message = " ".join(text.split())
        if outcome == "passed":
            step["passed"].append(name)
        elif outcome == "failed":
            step["failed"].append({"name": name, "message": message})


def seconds_text(seconds):
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def measured_text(one, separator=", "):
    words = [one["name"], seconds_text(one["seconds"]), seconds_text(one["driver_seconds"]),
             f"{one['driver_seconds'] / one['seconds']:.2f}" if one["seconds"] else "-",
             f"{one['bytes'] / one['seconds'] / 1e9:.1f} GB/s" if one["bytes"] and one["seconds"] else "-"]
    return separator.join(words)


def section(steps):
    facts = steps.facts
    lines = [f"### {facts['date'][:10]}: {facts.get('gpu', 'no GPU')}", "",
             f"`scripts/gpu-check.sh` at {facts.get('commit', 'an unknown commit')}: {steps.line()}.", "",
             "| | version |", "|---|---|"]
    lines += [f"| {name} | {text} |" for name, text in facts["versions"].items()]
    lines += ["", "| step | passed | failed | seconds |", "|---|---:|---:|---:|"]
    lines += [f"| {step['name']} | {len(step['passed'])} | {len(step['failed'])} | {step['seconds']:.1f} |"
              for step in steps.steps]
    failed = [f"- {one['name']}: {one['message']}" for step in steps.steps for one in step["failed"]]
    left_out = [f"- {one['name']}: {one['reason']}"
                for one in [one for step in steps.steps for one in step["not_run"]] + steps.not_run]
    measured = [f"| {measured_text(one, ' | ')} |" for step in steps.steps for one in step["measured"]]
    if failed:
        lines += ["", "Failed:", "", *failed]
    if left_out:
        lines += ["", "Not run:", "", *left_out]
    if measured:
        lines += ["", "| measured | library | plain driver calls | their ratio | rate of the library |",
                  "|---|---:|---:|---:|---:|", *measured]
    return "\n".join(lines) + "\n"
