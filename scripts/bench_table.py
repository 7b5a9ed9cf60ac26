# SPDX-License-Identifier: Apache-2.0
"""Prints results of the benchmarks as a table: bench_table.py [--without-bounds] FILE.json...

A row for each case: the time of one, its ratio to the raw call where the case has one, and the bound of that ratio.
The exit code is 1 where a bound is not kept.
"""

import json
import os
import sys

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}  # in microseconds


def short(name):
    """Without what Google Benchmark adds for itself."""
    parts = [part for part in name.split("/") if part and not part.startswith(("iterations:", "manual_time", "real_time"))]
    return ", ".join(part.replace("_", " ") for part in parts)


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.strip():  # the filter left nothing of this program
        return
    program = os.path.splitext(os.path.basename(path))[0]
    for case in json.loads(text)["benchmarks"]:
        if case.get("error_occurred"):
            raise SystemExit(f"{program}: {case['name']}: {case['error_message']}")
        microseconds = case["real_time"] * UNITS[case["time_unit"]]
        if "us_a_batch" in case:
            microseconds = case["us_a_batch"]
        yield program, short(case["name"]), microseconds, case.get("ratio"), case.get("bound")


def main():
    paths = sys.argv[1:]
    with_bounds = paths[:1] != ["--without-bounds"]
    rows = [row for path in paths[not with_bounds:] for row in rows_of(path)]
    if not rows:
        raise SystemExit("no benchmark was run")
    width = max(len(name) for _, name, *_ in rows)
    missed = 0
    print(f"{'':<8} {'case':<{width}} {'us':>12} {'ratio':>7} {'bound':>7}")
    for program, name, microseconds, ratio, bound in rows:
        bound = bound if with_bounds else None
        is_missed = ratio is not None and bound is not None and ratio > bound
        missed += is_missed
        print(f"{program:<8} {name:<{width}} {microseconds:>12.2f} {'' if ratio is None else f'{ratio:.3f}':>7} "
              f"{'' if bound is None else f'{bound:g}':>7}{'  not kept' if is_missed else ''}".rstrip())
    print(f"{len(rows)} cases, {missed} over their bound" if with_bounds else f"{len(rows)} cases")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
