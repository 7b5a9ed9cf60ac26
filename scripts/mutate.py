# SPDX-License-Identifier: Apache-2.0
"""Plants one mistake after another into src/ and backends/ and runs the tests that reach it: mutate.py [options] [PATH...]

A mutation that no test notices shows a missing test. The mutations are drawn over all files with a fixed seed.
They are planted into a copy in build-scripts/mutation/, or in $ARROWDEVICE_BUILD/mutation. The copy has a build
with counters, where each test runs alone once, so that the tests of each line are known. A mutation rebuilds only
what it touches. Its tests run until the first failure, the tests that are short and reach few files first.
The outcomes are kept, and a later run continues after the last one. A survivor needs a test, or a reason in
tests/mutations.txt. The last line is `N mutations, N killed, N survived, of which N are explained`.
The exit code is 0 only if all survivors are explained.
"""

import argparse
import bisect
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import mutation_catalogue

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXPLANATIONS = os.path.join(ROOT, "tests", "mutations.txt")
WORK = os.path.join(os.environ.get("ARROWDEVICE_BUILD", os.path.join(ROOT, "build-scripts")), "mutation")
SOURCE, BUILD = os.path.join(WORK, "source"), os.path.join(WORK, "build")
TESTS, COVERAGE = os.path.join(WORK, "tests.json"), os.path.join(WORK, "coverage.json")
PROGRESS = os.path.join(WORK, "progress.jsonl")

LIMIT = 45  # seconds that the tests of a mutation may take
SLOWEST = LIMIT / 1.5  # seconds; a test that takes longer alone would rarely end in time
REPORT = "ARROWDEVICE_TEST_REPORT"  # programs of Catch2 have it, and one that is none
NOT_CATCH = "allocations"
MEMORY = 16 << 30  # bytes; a mutation can ask for any amount
WITHOUT_SUITES = {"headers", "architecture", "prose", "scripts", "install", "abi", "examples", "fuzz"}
BACKENDS = ("sim", "cuda", "hip", "opencl", "vulkan", "level_zero")
COMPILED = ("src/", "backends/", "include/", "tests/", "tools/", "meson.build")
INSTRUMENT = "-g0 -fprofile-filter-files=/(src|backends)/"
SETUP = ["-Db_coverage=true", "-Ddebug=false", "-Doptimization=0", "-Db_ndebug=false", "-Db_pch=false", "-Dunity=on",
         "-Dunity_size=6", "-Dtests=enabled", "-Dbench=disabled", "-Dexamples=disabled", "-Darrow_cpp=disabled",
         f"-Dcpp_args={INSTRUMENT}", f"-Dc_args={INSTRUMENT}", *(f"-D{name}=enabled" for name in BACKENDS)]


def write_json(path, value):
    """Writes a file that is complete or absent."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def copy_source():
    """Makes the copy the same as the tree. Files that are the same keep their times. Returns true if the recorded
    tests may be out of date."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in names if name and os.path.isfile(os.path.join(ROOT, name))}
    present = {os.path.relpath(os.path.join(place, name), SOURCE) for place, _, files in os.walk(SOURCE) for name in files}
    changed = set()
    for name in present - wanted:
        os.remove(os.path.join(SOURCE, name))
    for name in wanted:
        here, there = os.path.join(ROOT, name), os.path.join(SOURCE, name)
        with open(here, "rb") as file:
            content = file.read()
        if name in present:
            with open(there, "rb") as file:
                if file.read() == content:
                    continue
        os.makedirs(os.path.dirname(there), exist_ok=True)
        shutil.copy(here, there)
        os.utime(there)
        changed.add(name)
    return any(name.startswith(COMPILED) and name.endswith((".c", ".cc", ".h", ".hpp", ".inc", ".build")) for name in changed)


def ninja(*targets):
    """Builds, and returns whether that succeeded."""
    done = subprocess.run(["ninja", "-C", BUILD, *targets], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    write(os.path.join(WORK, "ninja.log"), done.stdout + done.stderr)
    return done.returncode == 0


def build_all():
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        linker = {"CC_LD": "gold", "CXX_LD": "gold"} if shutil.which("ld.gold") else {}  # links in half of the time
        subprocess.run(["meson", "setup", BUILD, SOURCE, *SETUP], check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr,
                       env=os.environ | linker)
    print(f"Building in {BUILD}", file=sys.stderr)
    if not ninja():
        sys.exit(f"mutate.py: the build failed, see {WORK}/ninja.log")


def introspect(what):
    return json.loads(subprocess.run(["meson", "introspect", what, BUILD], check=True, capture_output=True, text=True).stdout)


def find_tests():
    """The tests by name, each with its command, environment, folder and what it needs built; and the plugins."""
    targets = introspect("--targets")
    built = {one["id"]: one["filename"] for one in targets}
    plugins = [os.path.relpath(one["filename"][0], BUILD) for one in targets if one["type"] == "shared module"]
    tests = {}
    for one in introspect("--tests"):
        if not WITHOUT_SUITES & {suite.split(":")[-1] for suite in one["suite"]}:
            needs = [os.path.relpath(path, BUILD) for target in one["depends"] for path in built[target]]
            # A run of the conformance suite with all layouts takes longer than a mutation may.
            environment = one["env"] | {"ARROWDEVICE_TEST_CASES": "few"}
            first_failure = ["--abort"] if REPORT in environment and os.path.basename(one["cmd"][0]) != NOT_CATCH else []
            tests[one["name"]] = {"cmd": one["cmd"] + first_failure, "env": environment, "workdir": one["workdir"], "needs": needs}
    return tests, [path for path in plugins if path.startswith("backends/")]


def limit_resources():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_test(test, seconds, counts=False):
    """Runs a test. Returns its exit code, or None if it was stopped after the time."""
    # Counters that nobody reads are written nowhere, and GCC's remarks about that too.
    nowhere = {} if counts else {"GCOV_PREFIX": "/dev/null", "GCOV_ERROR_FILE": "/dev/null"}
    with subprocess.Popen(test["cmd"], cwd=test["workdir"] or BUILD, env=os.environ | test["env"] | nowhere, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=limit_resources) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # all of it has ended


def counted_files():
    return glob.glob(os.path.join(BUILD, "**", "*.gcda"), recursive=True)


def read_counters():
    """The lines of src/ and backends/ that have run and those that have not, by file. Removes the counters."""
    reached, lines = {}, {}
    paths = counted_files()
    for begin in range(0, len(paths), 50):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *paths[begin:begin + 50]], cwd=BUILD, check=True,
                              capture_output=True, text=True)
        for document in filter(None, done.stdout.split("\n")):
            document = json.loads(document)
            for file in document["files"]:
                place = os.path.join(document["current_working_directory"], file["file"])
                path = os.path.relpath(os.path.realpath(place), os.path.realpath(SOURCE))
                if path.startswith(("src/", "backends/")):
                    for line in file["lines"]:
                        lines.setdefault(path, set()).add(line["line_number"])
                        if line["count"] > 0:
                            reached.setdefault(path, set()).add(line["line_number"])
    for path in paths:
        os.remove(path)
    return reached, lines


def record_tests():
    """Runs each test alone. Writes the tests that pass, how long they take, and which tests reach each line."""
    (tests, plugins), coverage = find_tests(), {}
    for path in counted_files():
        os.remove(path)
    for name, test in list(tests.items()):
        begin = time.monotonic()
        code = run_test(test, SLOWEST, counts=True)
        test["seconds"] = time.monotonic() - begin
        reached, lines = read_counters()
        print(f"{test['seconds']:7.1f} s  {name}" + ("" if code == 0 else f": left out, exit code {code}"), file=sys.stderr, flush=True)
        for path, numbers in lines.items():
            for number in numbers:
                coverage.setdefault(path, {}).setdefault(str(number), [])
        if code != 0:
            del tests[name]
            continue
        test["files"] = len(reached)
        # A test finds plugins at run time, so that Meson does not know all that it needs.
        folders = {os.path.dirname(path) for path in reached}
        test["needs"] = sorted(set(test["needs"]) | {path for path in plugins if os.path.dirname(path) in folders})
        for path, numbers in reached.items():
            for number in numbers:
                coverage[path][str(number)].append(name)
    write_json(COVERAGE, coverage)
    write_json(TESTS, tests)


def choose_tests(mutation, coverage, tests):
    """The tests that reach the mutated line, in the order to run them. A line without code of its own belongs to
    the line with code before it within a few lines, or else to the whole file."""
    lines = coverage.get(mutation.path, {})
    numbers = sorted(map(int, lines))
    last = bisect.bisect_right(numbers, mutation.line + mutation.before.count("\n"))
    if last and numbers[last - 1] > mutation.line - 4:
        names = set(lines[str(numbers[last - 1])])
    else:
        names = {name for names in lines.values() for name in names}
    return sorted(names & tests.keys(), key=lambda name: (tests[name]["seconds"] + 0.1) * tests[name]["files"])


def try_mutation(mutation, coverage, tests):
    """Plants a mutation, and returns its outcome and the test that failed."""
    names = choose_tests(mutation, coverage, tests)
    if not names:
        return "not reached", ""
    path = os.path.join(SOURCE, mutation.path)
    original = read(path)
    spent = 0.0
    try:
        write(path, mutation.apply(original))
        for name in names:
            test = tests[name]
            usual = test["seconds"]
            if spent + 1.5 * usual > LIMIT:
                continue
            if not ninja(*test["needs"]):
                return "does not compile", ""
            begin, limit = time.monotonic(), min(10 + 4 * usual, LIMIT - spent)
            code = run_test(test, limit)
            spent += time.monotonic() - begin
            if code is None and limit < 3 * usual:
                break  # it was only slow
            if code != 0:
                return "killed", name if code is not None else f"{name} (time-out)"
    finally:
        write(path, original)
    return "survived", ""


def read_progress():
    """The last outcome of each mutation."""
    found = {}
    if os.path.exists(PROGRESS):
        for line in read(PROGRESS).splitlines():
            one = json.loads(line)
            found[one["key"]] = one
    return found


def read_explanations(path):
    """The reasons of survivors by name."""
    found = {}
    for line in read(path).splitlines():
        name, dash, reason = line.partition(" — ")
        if dash and reason.strip() and not line.startswith("#"):
            found[name.strip()] = reason.strip()
    return found


def report(mutations, outcomes, explanations):
    counts = dict.fromkeys(("killed", "survived", "not reached", "does not compile"), 0)
    explained = 0
    for one in mutations:
        if one.key not in outcomes:
            continue
        outcome = outcomes[one.key]["outcome"]
        counts[outcome] += 1
        if outcome in ("survived", "not reached"):
            explained += one.name in explanations
            if one.name not in explanations:
                print(f"{outcome}: line {one.line} of {one.name}")
        elif one.name in explanations:
            print(f"explained, and {outcome}: {one.name}")
    survived = counts["survived"] + counts["not reached"]
    print(f"{counts['killed'] + survived} mutations, {counts['killed']} killed, {survived} survived, of which {explained} are explained")
    return 0 if survived == explained else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="only mutations of files whose paths begin so")
    parser.add_argument("--count", type=int, default=400, help="so many of the drawn mutations, those that do not compile included")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the drawn mutations and run nothing")
    parser.add_argument("--report", action="store_true", help="print the kept outcomes and run nothing")
    parser.add_argument("--again", action="store_true", help="run survivors without an explanation again")
    parser.add_argument("--keep-coverage", action="store_true", help="use the recorded tests although the tree has changed")
    arguments = parser.parse_args()

    drawn = [one for one in mutation_catalogue.draw(ROOT, arguments.seed)
             if not arguments.paths or one.path.startswith(tuple(arguments.paths))]
    drawn = drawn[:arguments.count]
    if arguments.list:
        for one in drawn:
            print(f"{one.kind}: line {one.line} of {one.name}")
        return 0
    explanations = read_explanations(EXPLANATIONS)
    if arguments.report:
        return report(drawn, read_progress(), explanations)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate.py: stopped"))  # the mutation is taken back
    os.makedirs(WORK, exist_ok=True)
    os.environ["CCACHE_DEPEND"] = "true"  # the original is compiled again after each mutation
    if copy_source() and not arguments.keep_coverage and os.path.exists(TESTS):
        os.remove(TESTS)
    build_all()
    if not os.path.exists(TESTS):
        record_tests()
    coverage, tests = read_json(COVERAGE), read_json(TESTS)
    outcomes = read_progress()
    with open(PROGRESS, "a", encoding="utf-8") as progress:
        # A header rebuilds many files, twice unless another header follows.
        for i, one in sorted(enumerate(drawn), key=lambda entry: entry[1].path.endswith(".h")):
            old = outcomes.get(one.key)
            if old and not (arguments.again and old["outcome"] in ("survived", "not reached") and one.name not in explanations):
                continue
            begin = time.monotonic()
            outcome, by = try_mutation(one, coverage, tests)
            outcomes[one.key] = {"key": one.key, "kind": one.kind, "outcome": outcome, "by": by,
                                 "seconds": round(time.monotonic() - begin, 1)}
            progress.write(json.dumps(outcomes[one.key]) + "\n")
            progress.flush()
            print(f"{i + 1}: {outcome}: {one.kind}: line {one.line} of {one.name}" + (f" [{by}]" if by else ""), file=sys.stderr, flush=True)
    return report(drawn, outcomes, explanations)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("mutate.py: interrupted")
