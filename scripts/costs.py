# SPDX-License-Identifier: Apache-2.0
"""Counts what single calls cost, and compares the counts with a baseline:

    costs.py PROGRAM [--baseline=FILE] [--update] [--json=FILE]

PROGRAM is bench-cost of a release build. The counts are instructions, calls of operator new, locks of a mutex, and the
cache lines and pages of code that a warm call executes. If a case has a bound on it, the cache lines of data are counted that two
threads share: one writes them in a warm call, and the other uses them in its own. valgrind counts, so that the
machine's load does not matter. Instructions and lines depend on compiler and C library, so each pair of those has its
baseline, bench/costs/NAME.json. The exit code is 1 if a case costs 5% more instructions than in the baseline, 5% and
four more lines, two more pages, more than four more shared lines, or one allocation or lock more. If a plugin takes part in a case,
neither its instructions nor those of what it calls are counted. Its threads make locks, lines and pages vary, so that the
baseline does not have them.
--update writes the baseline. Without a baseline for this compiler and C library the script compares nothing, and the
last line says so.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE_LINE = 64
PAGE = 4096
# The growth that is no failure, as a factor and a number. Code moves by a few cache lines with every change, and a line
# of data may be shared in one environment only.
KINDS = {"instructions": (1.05, 0), "allocations": (1, 0), "locks": (1, 0), "lines": (1.05, 4), "shared": (1, 4),
         "pages": (1, 2)}


def toolchain(program):
    """Returns the name of the baseline: the compiler in the program's comment section, and the C library here."""
    comment = subprocess.run(["readelf", "-p", ".comment", program], check=True, capture_output=True, text=True).stdout
    # Programs of clang name GCC too, whose start files they are linked with.
    compiler = re.search(r"(clang) version (\d+)", comment) or re.search(r"(GCC): (?:\([^)]*\) )?(\d+)", comment)
    if compiler is None:
        raise SystemExit(f"{program}: which compiler made it?")
    library, version = platform.libc_ver()
    return f"{compiler[1].lower()}-{compiler[2]}-{library}-{version}-{platform.machine()}"


def run(tool, *command):
    done = subprocess.run(["valgrind", *tool, *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[1]}: {done.stderr.strip()}")
    return done


def instructions(program, name, times):
    done = run(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"], program, name, str(times))
    return int(re.search(r"I +refs: +([\d,]+)", done.stderr)[1].replace(",", "")), done.stdout.strip()


def is_plugin(path):
    return os.path.basename(path).startswith("libarrowdevice-")


def instructions_without_plugin(program, name, times):
    """Does the same without the calls of a plugin. The threads of a plugin begin with such a call, too."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = os.path.join(folder, "calls")
        done = run(["--tool=callgrind", "--compress-pos=no", "--compress-strings=no",
                    f"--callgrind-out-file={recorded}"], program, name, str(times))
        count = 0
        caller = callee = ""
        is_call = False
        with open(recorded, encoding="utf-8") as file:
            for line in map(str.strip, file):
                key, _, value = line.partition("=")
                if key == "ob":
                    caller = value
                elif key == "cob":
                    callee = value
                elif key == "calls":
                    is_call = True
                elif cost := re.fullmatch(r"(?:0x[0-9a-f]+ )?\d+ (\d+)", line):
                    if not is_call:
                        count += int(cost[1])
                    elif is_plugin(callee) and not is_plugin(caller):
                        count -= int(cost[1])
                    if is_call:
                        is_call, callee = False, ""
    return count, done.stdout.strip()


def locks_and_code(program, name):
    """Returns how many locks one warm call takes, and how many cache lines and pages of code it executes, on all threads."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = os.path.join(folder, "calls")
        run(["--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no", "--collect-atstart=no",
             "--toggle-collect=bench_cost_measured_calls", f"--callgrind-out-file={recorded}"], program, name, "1")
        with open(recorded, encoding="utf-8") as file:
            text = file.read()
    # The numbers of calls in the record are those of the whole program, unlike how often an instruction ran.
    entries = set(re.findall(r"^cfn=_*pthread_mutex_lock\b.*\ncalls=\d+ (0x[0-9a-f]+)", text, re.M))
    ran = [(address, int(times)) for address, times in re.findall(r"^(0x[0-9a-f]+) \d+ (\d+)$", text, re.M)]
    locks = sum(times for address, times in ran if address in entries)
    code = {int(address, 16) for address, _ in ran}
    return {"locks": locks, "lines": len({address // CACHE_LINE for address in code}),
            "pages": len({address // PAGE for address in code})}


def shared_lines(program, name):
    """Returns how many cache lines of data one of two threads writes in a warm call, and the other uses in its call.
    The least number of several threads counts, because two threads may share a place of the library by chance."""
    with tempfile.TemporaryDirectory() as folder:
        recorded = os.path.join(folder, "accesses")
        done = run(["--tool=lackey", "--trace-mem=yes", f"--log-file={recorded}"], program, name, "shared")
        begin, end = (int(address, 16) for address in done.stdout.split())
        calls = []  # for each call, the lines that it writes and the lines that it uses
        is_in_call = False
        with open(recorded, encoding="utf-8") as file:
            for line in file:
                kind = line[:2]
                if kind not in ("I ", " L", " S", " M"):
                    continue
                address = int(line[3:line.index(",")], 16)
                if kind == "I ":
                    if address == begin:
                        calls.append((set(), set()))
                    is_in_call = address != end and (is_in_call or address == begin)
                elif is_in_call:
                    written, used = calls[-1]
                    used.add(address // CACHE_LINE)
                    if kind != " L":
                        written.add(address // CACHE_LINE)
    (written, used), *others = calls
    return min(len(written & used_too | used & written_too) for written_too, used_too in others)


def measure(program, case):
    name, times = case["name"], case["times"]
    count = instructions_without_plugin if case["varies"] else instructions
    few, _ = count(program, name, times)
    many, allocations = count(program, name, 2 * times)
    code = locks_and_code(program, name)
    shared = {"shared": shared_lines(program, name)} if "shared" in case["bounds"] else {}
    return {**case, "counts": {"instructions": round((many - few) / times), "allocations": int(allocations),
                               **code, **shared}}


def list_cases(program):
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        name, times, *bounds = line.split("\t")
        yield {"name": name, "times": int(times), "varies": ("locks", "lines", "pages") if bounds[-1] == "plugin" else (),
               "bounds": {kind: int(bound) for kind, bound in zip(KINDS, bounds) if bound.isdigit()}}


def judge(case, before):
    """Returns the mistakes of a case."""
    for kind, count in case["counts"].items():
        old = before.get(kind)
        factor, more = KINDS[kind]
        if old is not None and count > old * factor + more:
            yield f"{kind} grew from {old} to {count}"


def over_bound(case):
    return [kind for kind, bound in case["bounds"].items() if case["counts"][kind] > bound]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--baseline")
    parser.add_argument("--update", action="store_true", help="write the baseline")
    parser.add_argument("--json", help="write the counts to a file, too")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)

    os.environ |= {"ARROWDEVICE_BACKEND_PATH": os.path.join(os.path.dirname(options.program), "../backends/sim"),
                   "ARROWDEVICE_SIM_DEVICES": "addresses"}
    name = toolchain(options.program)
    baseline = options.baseline or os.path.join(ROOT, "bench", "costs", name + ".json")
    before = {}
    if os.path.exists(baseline) and not options.update:
        with open(baseline, encoding="utf-8") as file:
            before = json.load(file)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = list(pool.map(lambda case: measure(options.program, case), list_cases(options.program)))

    width = max(len(case["name"]) for case in cases)
    failures = []
    print(f"{'':<{width}}" + "".join(f" {kind:>12} {'before':>7} {'bound':>7}" for kind in KINDS))
    for case in cases:
        old = before.get(case["name"])
        problems = list(judge(case, old or {})) if old or not before else ["not in the baseline"]
        failures += [f"{case['name']}: {problem}" for problem in problems]
        show = lambda value: "" if value is None else str(value)
        columns = "".join(f" {show(case['counts'].get(kind)):>12} {show((old or {}).get(kind)):>7}"
                          f" {show(case['bounds'].get(kind)):>7}"
                          for kind in KINDS)
        over = over_bound(case)
        remarks = ["over its bound: " + ", ".join(over)] * bool(over) + problems
        print(f"{case['name']:<{width}}{columns}  {'; '.join(remarks)}".rstrip())
    counts = {case["name"]: {kind: count for kind, count in case["counts"].items() if kind not in case["varies"]}
              for case in cases}
    if options.update:
        os.makedirs(os.path.dirname(baseline), exist_ok=True)
        with open(baseline, "w", encoding="utf-8") as file:
            json.dump(counts, file, indent=1)
            file.write("\n")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(cases, file, indent=1)
    if not before and not options.update:
        print(f"nothing to compare with: there is no {os.path.relpath(baseline, ROOT)}")
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
