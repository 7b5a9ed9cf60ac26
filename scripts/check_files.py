# SPDX-License-Identifier: Apache-2.0
"""Lets a compiler check every file of a build, with the build's options, and write nothing: check_files.py BUILD

Exits with 1 if the compiler prints an error or a warning for a file.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
# Each is followed by the name of an output.
OUTPUT_OPTIONS = ("-o", "-MF", "-MQ")


def command_of(entry):
    """Returns the build's command without its outputs and without ccache."""
    arguments = shlex.split(entry["command"])
    if os.path.basename(arguments[0]) == "ccache":
        arguments = arguments[1:]
    kept = []
    skips = False
    for argument in arguments:
        if skips:
            skips = False
        elif argument in OUTPUT_OPTIONS:
            skips = True
        elif argument not in ("-c", "-MD"):
            kept.append(argument)
    return [*kept, "-fsyntax-only"]


def check(entry):
    done = subprocess.run(command_of(entry), cwd=entry["directory"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return entry["file"], done.returncode, done.stdout


def main():
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    if not entries:
        sys.exit(f"check_files.py: {BUILD} compiles nothing")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for name, code, text in pool.map(check, entries):
            if code != 0 or text:
                failed += 1
                print(f"{name}: exit code {code}\n{text}", flush=True)
    print(f"{len(entries)} files, {failed} with warnings or errors")
    sys.exit(1 if failed else 0)


main()
