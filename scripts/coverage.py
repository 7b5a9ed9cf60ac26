# SPDX-License-Identifier: Apache-2.0
"""Prints the share of src/ that the tests reach, and the lines that they do not reach: coverage.py COVERAGE.json

The file is what gcovr writes. A line that is not reached and not explained in tests/not-covered.txt
is a failure. An explanation without such a line is a failure too.
"""

import fnmatch
import json
import os
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXPLANATIONS = os.path.join(ROOT, "tests", "not-covered.txt")


class Part:
    """Counts of a folder."""

    def __init__(self):
        self.lines = self.lines_reached = self.branches = self.branches_reached = 0

    def add(self, line):
        self.lines += 1
        self.lines_reached += line["count"] > 0
        self.branches += len(line["branches"])
        self.branches_reached += sum(branch["count"] > 0 for branch in line["branches"])

    def row(self, name):
        return (f"| {name} | {self.lines} | {percent(self.lines_reached, self.lines)} | {self.branches} "
                f"| {percent(self.branches_reached, self.branches)} |")


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def read_explanations(path=EXPLANATIONS):
    """Patterns of "path: text of the line", each with its reason."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            pattern, dash, reason = line.rstrip("\n").partition(" — ")
            if dash and reason.strip() and not line.startswith("#"):
                found[pattern.strip()] = reason.strip()
    return found


def matches(text, pattern):
    """With * for anything, and nothing else that is special."""
    return fnmatch.fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        coverage = json.load(file)
    explanations = read_explanations()
    used, parts, unexplained, explained = set(), defaultdict(Part), [], 0
    for one in coverage["files"]:
        with open(os.path.join(ROOT, one["file"]), encoding="utf-8") as file:
            source = file.read().splitlines()
        for line in one["lines"]:
            if line.get("gcovr/noncode"):
                continue
            parts[os.path.dirname(one["file"])].add(line)
            parts["all"].add(line)
            if line["count"] > 0:
                continue
            number = line["line_number"]
            text = f"{one['file']}: {source[number - 1].strip()}"
            pattern = next((pattern for pattern in explanations if matches(text, pattern)), None)
            if pattern is None:
                unexplained.append(f"{one['file']}:{number}: {source[number - 1].strip()}")
            else:
                used.add(pattern)
                explained += 1
    print("| folder | lines | reached | branches | taken |\n| --- | ---: | ---: | ---: | ---: |")
    for name in sorted(parts, key=lambda name: (name == "all", name)):
        print(parts[name].row(name))
    print(f"\n{explained} lines are not reached for a reason that {os.path.relpath(EXPLANATIONS, ROOT)} has, "
          f"{len(unexplained)} for none.")
    for line in unexplained:
        print(f"not reached: {line}")
    unneeded = [pattern for pattern in explanations if pattern not in used]
    for pattern in unneeded:
        print(f"explained, and reached or gone: {pattern}")
    return 1 if unexplained or unneeded else 0


if __name__ == "__main__":
    sys.exit(main())
