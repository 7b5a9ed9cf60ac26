# SPDX-License-Identifier: Apache-2.0
"""Prints results of the benchmarks as a table: bench_table.py [--without-bounds] FILE.json...

A row for each case: its time, its ratio to that of the yardstick if it has one, and the bound of the ratio or of the time.
Then follow the times of peers, if the case has some. The exit code is 1 if a bound is not kept.
"""

import json
import os
import sys
from typing import NamedTuple, Optional

UNITS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}  # in microseconds


class Row(NamedTuple):
    program: str
    name: str
    microseconds: float
    ratio: Optional[float]  # to the time of the yardstick
    yardstick: Optional[str]  # one of several peers
    bound: Optional[float]  # of the ratio
    bound_us: Optional[float]  # of the time
    peers_us: dict

    def is_missed(self):
        """Returns true if a bound is not kept."""
        return any(value is not None and bound is not None and value > bound
                   for value, bound in ((self.ratio, self.bound), (self.microseconds, self.bound_us)))

    def bound_text(self):
        if self.bound_us is not None:
            return f"{self.bound_us:g} us"
        return "" if self.bound is None else f"{self.bound:g}"


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
        yield Row(program, short(case["name"]), microseconds, case.get("ratio"), case.get("yardstick"),
                  case.get("bound"), case.get("bound_us"), case.get("peers_us", {}))


def main():
    paths = sys.argv[1:]
    with_bounds = paths[:1] != ["--without-bounds"]
    rows = [row for path in paths[not with_bounds:] for row in rows_of(path)]
    if not rows:
        raise SystemExit("no benchmark was run")
    width = max(len(row.name) for row in rows)
    missed = 0
    print(f"{'':<8} {'case':<{width}} {'us':>12} {'ratio':>7} {'bound':>7}")
    for row in rows:
        is_missed = with_bounds and row.is_missed()
        missed += is_missed
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
        peers = ", ".join(f"{name} {microseconds:.2f}" for name, microseconds in row.peers_us.items())
        print(f"{row.program:<8} {row.name:<{width}} {row.microseconds:>12.2f} {ratio:>7} "
              f"{row.bound_text() if with_bounds else '':>7}{'  not kept' if is_missed else ''}"
              f"{'  ' + peers if peers else ''}".rstrip())
    print(f"{len(rows)} cases, {missed} over their bound" if with_bounds else f"{len(rows)} cases")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
