# SPDX-License-Identifier: Apache-2.0
"""Plants mistakes in src/ and backends/, one at a time, and counts those that no test finds.

    scripts/mutate.py [--count=150] [--seed=1] [--only=PATH] [--list]

    --count  how many mistakes are planted; the same seed draws the same ones
    --only   draws only from files whose path contains PATH
    --list   prints the mistakes that would be planted, and plants none

The script works on a clone of HEAD in build-scripts/mutations, or in $ARROWDEVICE_BUILD/mutations. It first runs every test
once with gcov, to know which tests reach a line. For each mistake it then builds what the mistake touches, and runs the
tests that reach the line, the quickest first, until one fails or 45 seconds are over. A mistake about locks is built and run
with the thread sanitizer instead. Results are kept, so a run that was interrupted goes on.

A mistake that survives is a test to write. tests/mutations.txt says why a survivor changes nothing that a test could see.
The last line is `N found, N survived, N explained`. The exit code is 0 if at most 3 % survived without an explanation.
"""

import argparse
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(os.environ.get("ARROWDEVICE_BUILD", os.path.join(ROOT, "build-scripts")), "mutations")
TREE = os.path.join(WORK, "tree")
EXPLAINED = os.path.join(ROOT, "tests", "mutations.txt")
SUITES = {"unit", "loader", "faults", "drivers", "conformance", "stress", "opencl", "cpp", "tool"}
THREAD_SUITES = {"unit", "stress"}
TIME_LIMIT = 45  # seconds for the tests of one mistake
LONGEST_TEST = 30  # seconds; a test that takes longer is left out
MOST_SURVIVORS = 0.03

COMMON = ["-Ddebug=true", "-Dc_args=-g1", "-Db_pch=false", "-Dunity=off", "-Db_ndebug=false", "-Dtests=enabled",
          "-Dsim=enabled", "-Dbench=disabled", "-Dexamples=disabled", "-Darrow_cpp=disabled"]
BUILDS = {
    "coverage": ["-Doptimization=0", "-Db_coverage=true", "-Dcpp_args=-g1 -fprofile-update=atomic"],
    "plain": ["-Doptimization=1", "-Dcpp_args=-g1"],
    "thread": ["-Doptimization=g", "-Db_sanitize=thread", "-Dcpp_args=-g1", "-Dopencl=disabled", "-Dvulkan=disabled"],
}

Mutation = collections.namedtuple("Mutation", "path line kind before after")


def run(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **options)
    return done.returncode, done.stdout


def must(command, **options):
    code, output = run(command, **options)
    if code != 0:
        sys.exit(f"mutate.py: {' '.join(command)} failed:\n{output[-4000:]}")
    return output


# -- the catalogue

# (kind, what a line of code must match, replacement). Each match is one mutation of the line.
CATALOGUE = [
    ("condition", r"\bif \((?!constexpr)(.+)\)(?= [^=]|$)", r"if (!(\1))"),
    ("condition", r"(?<= )&&(?= )", "||"),
    ("condition", r"(?<= )\|\|(?= )", "&&"),
    ("condition", r"(?<= )==(?= )", "!="),
    ("condition", r"(?<= )!=(?= )", "=="),
    ("condition", r"(?<=[(& |])!(?=[a-z])", ""),
    ("condition", r"\bwhile \((.+)\)(?= [^=]|$)", r"while (false && (\1))"),
    ("condition", r"(?<= )\? (.+?) : (.+?)(?=[;,)])", r"? \2 : \1"),
    ("bound", r"(?<= )<(?= )", "<="),
    ("bound", r"(?<= )<=(?= )", "<"),
    ("bound", r"(?<= )>(?= )", ">="),
    ("bound", r"(?<= )>=(?= )", ">"),
    ("bound", r" [+] 1\b(?!')", ""),
    ("bound", r" - 1\b(?!')", ""),
    ("bound", r"(?<=\w) [+] (?=\w)", " - "),
    ("bound", r"\bstd::min\b", "std::max"),
    ("bound", r"\bstd::max\b", "std::min"),
    ("value", r"\btrue\b", "false"),
    ("value", r"\bfalse\b", "true"),
    ("value", r"(?<=return )0(?=;)", "EIO"),
    ("error code", r"\bEINVAL\b", "EIO"),
    ("error code", r"\bENOMEM\b", "EINVAL"),
    ("error code", r"\b(ENODEV|ENOSYS|EBUSY|ECANCELED|ETIMEDOUT|ENOTSUP)\b", "EINVAL"),
    ("error code", r"\bEIO\b", "EINVAL"),
    # A statement that is a call of its own: a wait, a flush, a notification, a release.
    ("missing call", r"^\s+(?!return\b|throw\b|delete\b|co_)[\w:]+(?:(?:\.|->)\w+|\[\w+\]|\(\))*\(.*\);$", ";"),
    ("missing assignment", r"^\s+[\w.>()*-]+ [|&+-]?= [^;{]+;$", ";"),
    ("missing lock", r"^\s+(?:const )?(?:std::(?:lock_guard|scoped_lock)|Lock) lock\(.*\);$", ";"),
]
CATALOGUE = [(kind, re.compile(pattern), replacement) for kind, pattern, replacement in CATALOGUE]
# Lines that are not statements of a function, or whose mutations cannot change what a test sees.
NOT_CODE = re.compile(r"^\s*(//|#|template\b|static_assert|using\b|namespace\b|typedef\b|\}|assert\(|log\()")


def mutations_of(path, text):
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("  // ")[0].rstrip()
        if not code.startswith(" ") or NOT_CODE.match(code) or '"' in code and "(" not in code:
            continue
        for kind, pattern, replacement in CATALOGUE:
            for match in pattern.finditer(code):
                if code.count('"', 0, match.start()) % 2 == 1:
                    continue  # inside a text
                mutated = code[:match.start()] + match.expand(replacement) + code[match.end():]
                if mutated != code:
                    found.append(Mutation(path, number, kind, code, mutated))
    # Two calls in a row, the other way round.
    lines = text.split("\n")
    call = CATALOGUE[[kind for kind, _, _ in CATALOGUE].index("missing call")][1]
    for number in range(1, len(lines)):
        first, second = lines[number - 1], lines[number]
        if call.match(first) and call.match(second) and first != second:
            found.append(Mutation(path, number, "order", first + "\n" + second, second + "\n" + first))
    return found


def draw(count, seed, only):
    """Returns `count` mutations, one file after the other, so that each file gets its share."""
    by_file = {}
    for folder in ("src", "backends"):
        for place, _, names in sorted(os.walk(os.path.join(TREE, folder))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), TREE)
                if not name.endswith((".cc", ".h")) or only not in path:
                    continue
                with open(os.path.join(TREE, path), encoding="utf-8") as file:
                    found = mutations_of(path, file.read())
                if found:
                    by_file[path] = found
    total = sum(len(found) for found in by_file.values())
    print(f"{total} mutations of {len(by_file)} files", file=sys.stderr)
    chance = random.Random(seed)
    every = [mutation for path in sorted(by_file) for mutation in by_file[path]]
    chance.shuffle(every)
    drawn, taken = [], collections.Counter()
    # A file may have no more than three times its even share, because the longest files would have most otherwise.
    most = max(1, 3 * count // len(by_file)) if by_file else 0
    for mutation in every:
        if len(drawn) < count and taken[mutation.path] < most:
            taken[mutation.path] += 1
            drawn.append(mutation)
    return drawn


# -- builds and tests


class Build:
    def __init__(self, name):
        self.folder = os.path.join(WORK, name)
        if not os.path.exists(os.path.join(self.folder, "build.ninja")):
            print(f"Configuring {self.folder}", file=sys.stderr)
            must(["meson", "setup", *COMMON, *BUILDS[name], self.folder, TREE])
        self.targets = {target["id"]: target["filename"] for target in self.introspect("--targets")}
        self.tests = {}
        for test in self.introspect("--tests"):
            suites = {suite.split(":")[-1] for suite in test["suite"]}
            if suites & SUITES and not suites & {"headers", "scripts", "install"}:
                self.tests[test["name"]] = test | {"suites": suites}

    def introspect(self, what):
        return json.loads(must(["meson", "introspect", what, self.folder]))

    def make(self, names=None):
        """Builds everything, or what the tests of these names need. Returns Ninja's exit code and output."""
        files = []
        for name in names or []:
            test = self.tests[name]
            programs = [test["cmd"][0]] + [file for target in test["depends"] for file in self.targets.get(target, [])]
            files += [os.path.relpath(file, self.folder) for file in programs if file.startswith(self.folder)]
        return run(["ninja", "-C", self.folder, *sorted(set(files))])

    def run_test(self, name, limit, environment=None):
        """Returns whether the test passed, and the seconds that it took."""
        test = self.tests[name]
        begin = time.monotonic()
        process = subprocess.Popen(test["cmd"], cwd=test["workdir"] or self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   env=os.environ | test["env"] | (environment or {}))
        try:
            code = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # also what the test started
            except ProcessLookupError:
                pass
            process.wait()
        return code in (0, 77), time.monotonic() - begin


def lines_reached(build, prefix):
    """Yields (path, line) for each line of src/ and backends/ that the counters below `prefix` say was reached."""
    for folder, _, names in os.walk(prefix):
        counters = [name for name in names if name.endswith(".gcda")]
        if not counters:
            continue
        beside = os.path.join(build.folder, os.path.relpath(folder, prefix + build.folder))
        for name in counters:
            notes = name[:-len("gcda")] + "gcno"
            os.symlink(os.path.join(beside, notes), os.path.join(folder, notes))
        output = must(["gcov", "--json-format", "--stdout", *counters], cwd=folder)
        for report in output.splitlines():
            if not report.startswith("{"):
                continue
            for file in json.loads(report)["files"]:
                path = os.path.relpath(os.path.normpath(os.path.join(build.folder, file["file"])), TREE)
                if path.startswith(("src/", "backends/")):
                    for line in file["lines"]:
                        if line["count"] > 0:
                            yield path, line["line_number"]


def reach_of_tests(build):
    """Returns {test: {"seconds": S, "lines": {path: [line]}}}. Kept, because it takes long."""
    kept = os.path.join(WORK, "reach.json")
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            return json.load(file)
    code, output = build.make()
    if code != 0:
        sys.exit(output[-4000:])
    reach = {}
    for name in sorted(build.tests):
        prefix = os.path.join(WORK, "counters")
        shutil.rmtree(prefix, ignore_errors=True)
        passed, seconds = build.run_test(name, LONGEST_TEST * 4, {"GCOV_PREFIX": prefix})
        if not passed:
            print(f"left out, because it fails with counters: {name}", file=sys.stderr)
            continue
        lines = collections.defaultdict(set)
        for path, line in lines_reached(build, prefix):
            lines[path].add(line)
        reach[name] = {"seconds": seconds, "lines": {path: sorted(found) for path, found in lines.items()}}
        print(f"{seconds:6.1f} s  {name}", file=sys.stderr)
    with open(kept, "w", encoding="utf-8") as file:
        json.dump(reach, file)
    return reach


# -- one mutation


def plant(mutation):
    """Changes the file and returns its former text."""
    path = os.path.join(TREE, mutation.path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    before = mutation.before.split("\n")
    here = lines[mutation.line - 1:mutation.line - 1 + len(before)]
    if any(not line.startswith(code) for line, code in zip(here, before)):
        sys.exit(f"mutate.py: {mutation.path}:{mutation.line} is another line now: remove {WORK}")
    lines[mutation.line - 1:mutation.line - 1 + len(before)] = mutation.after.split("\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return text


def try_out(mutation, build, reach):
    """Returns (outcome, detail)."""
    suites = THREAD_SUITES if mutation.kind == "missing lock" else SUITES
    tests = [name for name in reach if name in build.tests and build.tests[name]["suites"] & suites and
             reach[name]["seconds"] <= LONGEST_TEST and mutation.line in reach[name]["lines"].get(mutation.path, ())]
    if not tests:
        return "not reached", ""
    tests.sort(key=lambda name: reach[name]["seconds"])
    text = plant(mutation)
    try:
        left = TIME_LIMIT
        for number, name in enumerate(tests):
            code, output = build.make([name])
            if code != 0:
                if number == 0:
                    return "does not compile", ""
                sys.exit(output[-4000:])
            passed, seconds = build.run_test(name, max(left, 10))
            left -= seconds
            if not passed:
                return "found", name
            if left <= 0:
                return "survived", f"{number + 1} of {len(tests)} tests that reach it, in {TIME_LIMIT} s"
        return "survived", f"{len(tests)} tests reach it"
    finally:
        with open(os.path.join(TREE, mutation.path), "w", encoding="utf-8") as file:
            file.write(text)


def text_of(mutation):
    """Names the mutation in tests/mutations.txt: without its line, which moves."""
    return f"{mutation.path}: {' '.join(mutation.before.split())} -> {' '.join(mutation.after.split())}"


def explanations():
    found = {}
    if os.path.exists(EXPLAINED):
        with open(EXPLAINED, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    name, separator, why = line.rstrip("\n").partition(" | ")
                    if not separator or not why:
                        sys.exit(f"{EXPLAINED}: no explanation after ` | `: {line}")
                    found[name] = why
    return found


def make_tree():
    head = must(["git", "-C", ROOT, "rev-parse", "HEAD"]).strip()
    mark = os.path.join(WORK, "head")
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            if file.read() == head:
                must(["git", "-C", TREE, "checkout", "--quiet", "."])
                return
        for name in ("reach.json", "results.jsonl"):
            if os.path.exists(os.path.join(WORK, name)):
                os.remove(os.path.join(WORK, name))
        must(["git", "-C", TREE, "fetch", "--quiet", ROOT, "HEAD"])
        must(["git", "-C", TREE, "checkout", "--quiet", "--force", "FETCH_HEAD"])
    else:
        os.makedirs(WORK, exist_ok=True)
        shutil.rmtree(TREE, ignore_errors=True)
        must(["git", "clone", "--quiet", "--shared", ROOT, TREE])
        must(["git", "-C", TREE, "checkout", "--quiet", head])
    with open(mark, "w", encoding="utf-8") as file:
        file.write(head)


def main():
    parser = argparse.ArgumentParser(description="Plants mistakes and counts those that no test finds.")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    make_tree()
    # More are drawn than are wanted, because some do not compile and some lines are not reached.
    drawn = draw(4 * options.count, options.seed, options.only)
    if options.list:
        for mutation in drawn[:options.count]:
            print(f"{mutation.kind}: {text_of(mutation)}")
        return 0

    reach = reach_of_tests(Build("coverage"))
    builds = {}
    results = os.path.join(WORK, "results.jsonl")
    done = {}
    if os.path.exists(results):
        with open(results, encoding="utf-8") as file:
            for line in file:
                result = json.loads(line)
                done[(tuple(result["mutation"]))] = result
    explained = explanations()
    counts = collections.Counter()
    survivors = []
    for mutation in drawn:
        if counts["found"] + counts["survived"] + counts["explained"] >= options.count:
            break
        if tuple(mutation) not in done:
            name = "thread" if mutation.kind == "missing lock" else "plain"
            if name not in builds:
                builds[name] = Build(name)
                code, output = builds[name].make()
                if code != 0:
                    sys.exit(output[-4000:])
            begin = time.monotonic()
            outcome, detail = try_out(mutation, builds[name], reach)
            result = {"mutation": mutation, "outcome": outcome, "detail": detail}
            done[tuple(mutation)] = result
            with open(results, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
            print(f"{time.monotonic() - begin:5.1f} s  {outcome}: {mutation.kind}: {mutation.path}:{mutation.line}  {detail}",
                  file=sys.stderr, flush=True)
        outcome = done[tuple(mutation)]["outcome"]
        if outcome == "survived" and text_of(mutation) in explained:
            outcome = "explained"
        counts[outcome] += 1
        if outcome == "survived":
            survivors.append(mutation)
    for mutation in survivors:
        print(f"survived: {mutation.kind}: {mutation.path}:{mutation.line}\n    {mutation.before.strip()}\n    "
              f"{mutation.after.strip()}\n    {done[tuple(mutation)]['detail']}")
    tried = counts["found"] + counts["survived"] + counts["explained"]
    print(f"{counts['not reached']} on lines that no test reaches, {counts['does not compile']} did not compile")
    print(f"{counts['found']} found, {counts['survived']} survived, {counts['explained']} explained")
    return 0 if tried and counts["survived"] <= MOST_SURVIVORS * tried else 1


if __name__ == "__main__":
    sys.exit(main())
