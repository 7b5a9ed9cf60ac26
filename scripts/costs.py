# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions and allocations of single calls, and compares them with a baseline:

    costs.py PROGRAM [--baseline=FILE] [--update] [--json=FILE]

PROGRAM is bench-cost of a release build. valgrind counts the instructions, so that the machine's load does not matter.
They depend on compiler and C library. Each pair of those has its baseline, bench/costs/NAME.json; the first line of the
output shows NAME. The exit code is 1 if a case costs 5% more instructions than in the baseline, or one allocation more.
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
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST_GROWTH = 1.05


def toolchain(program):
    """Returns the name of the baseline: the compiler in the program's comment section, and the C library here."""
    comment = subprocess.run(["readelf", "-p", ".comment", program], check=True, capture_output=True, text=True).stdout
    # Programs of clang name GCC too, whose start files they are linked with.
    compiler = re.search(r"(clang) version (\d+)", comment) or re.search(r"(GCC): (?:\([^)]*\) )?(\d+)", comment)
    if compiler is None:
        raise SystemExit(f"{program}: which compiler made it?")
    library, version = platform.libc_ver()
    return f"{compiler[1].lower()}-{compiler[2]}-{library}-{version}-{platform.machine()}"


def instructions(program, name, times):
    done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program,
                           name, str(times)], capture_output=True, text=True, check=False)
    counted = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode != 0 or counted is None:
        raise SystemExit(f"{name}: {done.stderr.strip()}")
    return int(counted[1].replace(",", "")), done.stdout.strip()


def measure(program, case):
    name, times = case["name"], case["times"]
    few, _ = instructions(program, name, times)
    many, allocations = instructions(program, name, 2 * times)
    return {**case, "instructions": round((many - few) / times), "allocations": int(allocations)}


def list_cases(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, times, instruction_bound, allocation_bound = line.split("\t")
        yield {"name": name, "times": int(times),
               "instruction_bound": None if instruction_bound == "-" else int(instruction_bound),
               "allocation_bound": None if allocation_bound == "-" else int(allocation_bound)}


def judge(case, before):
    """Returns the mistake of a case, or an empty text."""
    if before is not None and case["instructions"] > before["instructions"] * MOST_GROWTH:
        return f"grew by {case['instructions'] / before['instructions'] - 1:.0%}"
    if before is not None and case["allocations"] > before["allocations"]:
        return "allocates more"
    return ""


def over_bound(case):
    return any(case[f"{kind}_bound"] is not None and case[f"{kind}s"] > case[f"{kind}_bound"]
               for kind in ("instruction", "allocation"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--baseline")
    parser.add_argument("--update", action="store_true", help="write the baseline")
    parser.add_argument("--json", help="write the counts to a file, too")
    options = parser.parse_args()

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
    print(f"{'':<{width}} {'instructions':>12} {'before':>9} {'bound':>7} {'allocations':>11} {'bound':>6}")
    for case in cases:
        old = before.get(case["name"])
        problem = judge(case, old) or ("not in the baseline" if before and old is None else "")
        if problem:
            failures.append(f"{case['name']}: {problem}")
        show = lambda value: "" if value is None else str(value)
        print(f"{case['name']:<{width}} {case['instructions']:>12} {show(old and old['instructions']):>9} "
              f"{show(case['instruction_bound']):>7} {case['allocations']:>11} {show(case['allocation_bound']):>6}"
              f"{'  over its bound' if over_bound(case) else ''}{'  ' + problem if problem else ''}".rstrip())
    counts = {case["name"]: {"instructions": case["instructions"], "allocations": case["allocations"]} for case in cases}
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
