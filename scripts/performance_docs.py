# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of docs/performance.md, between its marks, and the plots beside it:

    performance_docs.py DOCS STOLEN COSTS.json RESULT.json...

STOLEN is the share of the processors' time that other machines on the same host had, of what this one wanted while it
was measured; empty if that is not known.
"""

import os
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text
matplotlib.rcParams["svg.hashsalt"] = "performance"  # the same figures make the same file
import matplotlib.pyplot as plt  # noqa: E402: the backend is chosen first

import performance_tables as tables  # noqa: E402: it is beside this file

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


def curves(results, name, value, program="scale"):
    """The points of a curve: the one argument that the case has, and a value of its result."""
    found = []
    for case in tables.cases_of(results, program):
        argument = re.match(re.escape(name) + r"/\w+:(\d+)", case["name"])
        if argument:
            found.append((int(argument[1]), value(case)))
    return found


def depth_curves(results):
    found = {}
    for case in tables.cases_of(results, "streams"):
        argument = re.match(r"depth (.*)/depth:(\d+)", case["name"])
        if argument:
            found.setdefault(argument[1], []).append((int(argument[2]), case["batches_per_s"]))
    return found


def plots(docs, results):
    os.makedirs(os.path.join(docs, "performance"), exist_ok=True)
    at = lambda name: os.path.join(docs, "performance", name)
    plot(at("bytes.svg"), "A copy of one column on the CPU", "bytes", "us",
         {"library": curves(results, "bytes", lambda case: case["library_us"]),
          "memcpy": curves(results, "bytes", lambda case: case["raw_us"])})
    points = lambda value: curves(results, "columns", value, "peers")
    plot(at("columns.svg"), "A copy of columns of 100 int64 on the CPU", "columns", "us",
         {"memcpy": points(lambda case: case["peers_us"]["memcpy"]), "libarrowdevice": points(lambda case: case["real_time"]),
          **{peer: points(lambda case, peer=peer: case["peers_us"][peer]) for peer in tables.PEERS[1:]}})
    plot(at("threads.svg"), "Copies to simulated devices that take 1 ms each", "threads", "times faster than one thread",
         {label: curves(results, "threads with " + label, lambda case: case["times_faster"])
          for label in ("a device each", "one device")})
    plot(at("depth.svg"), "Streams over a simulated link with latency", "depth", "batches a second", depth_curves(results))


def main():
    docs, stolen, costs, *results = sys.argv[1:]
    path = os.path.join(docs, "performance.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, made in {"machine": tables.machine(stolen), "timed": tables.timed(results), "counted": tables.counted(costs),
                       "calls": tables.calls(results), "peers": tables.peers(results),
                       "validation": tables.validation(results)}.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text, found = re.subn(pattern, lambda match: match[1] + made + "\n" + match[2], text, flags=re.DOTALL)
        if found != 1:
            raise SystemExit(f"{path}: there is no place for {name}")
    plots(docs, results)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
