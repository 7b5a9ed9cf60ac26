# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/performance.md from results of the benchmarks."""

import datetime
import json
import os
import platform
import re

from bench_table import rows_of  # it is beside this file

KEPT, MISSED = "", " **not kept**"
PEERS = ("memcpy", "nanoarrow", "Arrow C++")
VALIDATE = "validate "


def result_of(results, program):
    """Returns the whole result of a program. It has no cases if the program was not run."""
    for path in results:
        if os.path.splitext(os.path.basename(path))[0] == program:
            with open(path, encoding="utf-8") as file:
                return json.load(file)
    return {"benchmarks": []}


def cases_of(results, program):
    return result_of(results, program)["benchmarks"]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*: (.*)", file.read())
    return model[1] if model else platform.machine()


def table(heading, rows):
    align = ["---"] + ["---:"] * (len(heading) - 1)
    return "\n".join("| " + " | ".join(row) + " |" for row in [heading, align, *rows])


def machine(stolen):
    return (f"Measured on {datetime.date.today()}: {processor()}, {os.cpu_count()} cores; "
            f"{platform.libc_ver()[0]} {platform.libc_ver()[1]}."
            + (f" Other machines on the same host took {float(stolen):.0%} of the wanted processor time (steal)."
               if stolen else ""))


def microseconds(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def bound_of(row):
    return row.bound_text() + (MISSED if row.is_missed() else KEPT)


def timed(results):
    rows = []
    for path in results:
        for row in rows_of(path):
            if row.program not in ("links", "peers", "scale"):
                rows.append([f"{row.program}: {row.name}", microseconds(row.microseconds),
                             "" if row.ratio is None else f"{row.ratio:.2f}", bound_of(row)])
    return table(["case", "us", "times the yardstick", "bound"], rows)


def counted(path):
    if not os.path.exists(path):
        raise SystemExit("instructions were not counted: install valgrind")
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)

    kinds = list(dict.fromkeys(kind for case in cases for kind in case["counts"]))

    def bound(case, kind):
        value = case["bounds"].get(kind)
        return "" if value is None else f"{value:,}" + (MISSED if case["counts"][kind] > value else KEPT)

    def cells(case, kind):
        return f"{case['counts'][kind]:,}" if kind in case["counts"] else "", bound(case, kind)
    return table(["case", *(column for kind in kinds for column in (kind, "bound"))],
                 [[case["name"], *(text for kind in kinds for text in cells(case, kind))] for case in cases])


def peers(results):
    """A row for each case, and a column for each library."""
    rows = [[row.name, microseconds(row.microseconds),
             *(microseconds(row.peers_us[peer]) if peer in row.peers_us else "" for peer in PEERS),
             f"{row.ratio:.2f} x {row.yardstick}", bound_of(row)]
            for path in results for row in rows_of(path)
            if row.program == "peers" and not row.name.startswith(("columns", VALIDATE))]
    if not rows:
        raise SystemExit("peers were not measured: see the first lines of scripts/bench.sh's output")
    versions = result_of(results, "peers")["versions"]
    return table(["us", "libarrowdevice", *(f"{peer} {versions.get(peer, '')}".strip() for peer in PEERS),
                  "times the yardstick", "bound"], rows)


def validation(results):
    """A row for each kind of text."""
    rows = []
    for case in cases_of(results, "peers"):
        if case["name"].startswith(VALIDATE):
            times = [case["real_time"], case["peers_us"]["Arrow C++"], case["peers_us"]["memcpy"]]
            rows.append([case["name"][len(VALIDATE):], *(f"{case['bytes'] / taken / 1e3:.2f}" for taken in times),
                         f"{1 / case['ratio']:.1f}"])
    return table(["GB/s", "libarrowdevice", "Arrow C++", "memcpy", "times as fast as Arrow C++"], rows)


def calls(results):
    return table(["copy", "allocations", "copies submitted", "readbacks"],
                 [[re.sub(r"/iterations:.*", "", case["name"])[len("calls, "):],
                   *(f"{case[name]:.0f}" for name in ("allocations", "copies", "readbacks"))]
                  for case in cases_of(results, "scale") if case["name"].startswith("calls, ")])
