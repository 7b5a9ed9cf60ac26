# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of docs/performance.md, between its marks, and the plots beside it:

    performance_docs.py DOCS STOLEN COSTS.json RESULT.json...

STOLEN is the share of the processors' time that other machines on the same host had, of what this one wanted while it
was measured; empty where that is not known.
"""

import datetime
import json
import os
import platform
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
matplotlib.rcParams["svg.hashsalt"] = "performance"  # the same figures make the same file
import matplotlib.pyplot as plt  # noqa: E402: the backend is chosen first

from bench_table import rows_of  # noqa: E402: it is beside this file

KEPT, MISSED = "", " **not kept**"


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
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def timed(results):
    rows = []
    for path in results:
        for program, name, taken, ratio, bound in rows_of(path):
            if program in ("peers", "scale"):
                continue
            is_missed = ratio is not None and bound is not None and ratio > bound
            rows.append([f"{program}: {name}", microseconds(taken), "" if ratio is None else f"{ratio:.2f}",
                         "" if bound is None else f"{bound:g}" + (MISSED if is_missed else KEPT)])
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
    rows = []
    for path in results:
        for program, name, taken, ratio, _ in rows_of(path):
            if program == "peers" and not name.startswith("validation"):
                rows.append([name, microseconds(taken), "" if ratio is None else f"{ratio:.2f}"])
    return table(["case", "us", "times memmove"], rows)


def validation(results):
    return table(["GB/s", "library", "pyarrow", "times as fast"],
                 [[case["name"][len("validation of "):], f"{case['gb_per_s']:.2f}", f"{case['gb_per_s_of_peer']:.2f}",
                   f"{1 / case['ratio']:.1f}"]
                  for case in cases_of(results, "peers") if "gb_per_s" in case])


def calls(results):
    return table(["copy", "allocations", "copies submitted", "readbacks"],
                 [[re.sub(r"/iterations:.*", "", case["name"])[len("calls, "):],
                   *(f"{case[name]:.0f}" for name in ("allocations", "copies", "readbacks"))]
                  for case in cases_of(results, "scale") if case["name"].startswith("calls, ")])


def plot(path, title, across, down, curves, scale="log"):
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    for label, points in curves.items():
        axes.plot(*zip(*sorted(points)), marker="o", markersize=3, label=label)
    axes.set(xscale="log", yscale=scale, xlabel=across, ylabel=down, title=title)
    axes.grid(True, which="major", alpha=0.3)
    if len(curves) > 1:
        axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def cases_of(results, program):
    for path in results:
        if os.path.splitext(os.path.basename(path))[0] == program:
            with open(path, encoding="utf-8") as file:
                return json.load(file)["benchmarks"]
    return []


def curves(results, name, value):
    """The points of a curve: the one argument that the case has, and a value of its result."""
    found = []
    for case in cases_of(results, "scale"):
        argument = re.match(re.escape(name) + r"/\w+:(\d+)", case["name"])
        if argument:
            found.append((int(argument[1]), value(case)))
    return found


def depth_curves(results):
    found = {}
    for case in cases_of(results, "streams"):
        argument = re.match(r"depth (.*)/depth:(\d+)", case["name"])
        if argument:
            found.setdefault(argument[1], []).append((int(argument[2]), case["batches_per_s"]))
    return found


def plots(docs, results):
    os.makedirs(os.path.join(docs, "performance"), exist_ok=True)
    at = lambda name: os.path.join(docs, "performance", name)
    times = lambda name: {"library": curves(results, name, lambda case: case["library_us"]),
                          "memcpy of the same pieces": curves(results, name, lambda case: case["raw_us"])}
    plot(at("bytes.svg"), "A copy of one column on the CPU", "bytes", "us", times("bytes"))
    plot(at("columns.svg"), "A copy of columns of 800 bytes on the CPU", "columns", "us", times("columns"))
    plot(at("threads.svg"), "Copies to simulated devices that take 1 ms each", "threads", "times faster than one thread",
         {label: curves(results, "threads with " + label, lambda case: case["times_faster"])
          for label in ("a device each", "one device")})
    plot(at("depth.svg"), "Streams over a simulated link with latency", "depth", "batches a second", depth_curves(results))


def main():
    docs, stolen, costs, *results = sys.argv[1:]
    path = os.path.join(docs, "performance.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, made in {"machine": machine(stolen), "timed": timed(results), "counted": counted(costs),
                       "calls": calls(results), "peers": peers(results), "validation": validation(results)}.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, found = re.subn(pattern, lambda match: match[1] + made + "\n" + match[2], text, flags=re.DOTALL)
        if found != 1:
            raise SystemExit(f"{path}: there is no place for {name}")
    plots(docs, results)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
