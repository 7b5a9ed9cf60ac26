# SPDX-License-Identifier: Apache-2.0
"""The pages show the output of the tool and the examples: console_test.py ROOT TOOL EXAMPLES PLUGINS

Blocks of `console` under `<!-- run -->` are run, with the simulated device as the only plugin. Numbers, paths and names of
processors are this machine's: beyond them, what a page shows must be in the output, word by word and in that order. More
may be there, such as another folder that was looked at.
"""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from markdown import blocks, pages, read  # noqa: E402: it is beside this file

EXPECTED_COMMANDS = 13  # a page that loses its marks loses its test
MAY_VARY = (
    (r"(?m)^(\w+ +\d+ +)\S.*?( +[\d.]+ [KMGT]iB)", r"\1NAME\2"),  # a device's name, in a list
    (r"/[\w./+-]*", "PATH"),
    (r"\d+(\.\d+)?", "N"),
    (r"\b[KMGT]iB\b", "BYTES"),
)


def words(text):
    for pattern, replacement in MAY_VARY:
        text = re.sub(pattern, replacement, text)
    return text.split()


def first_missing(shown, printed):
    """The first word of `shown` that is not in `printed` behind those before it; None where all are."""
    rest = iter(printed)
    return next((" ".join(shown[max(0, number - 3):number + 1]) for number, word in enumerate(shown)
                 if not any(word == other for other in rest)), None)


def commands(block):
    """Yields (command, expected output) of a block. An `export` applies to the commands after it."""
    kept, command, output = "", None, []
    for line in [*block.split("\n"), "$ "]:
        if not line.startswith("$ "):
            output.append(line)
            continue
        if command is not None:
            if command.startswith("export "):
                kept += command + "; "
            elif not command.startswith(("cc ", "c++ ")):  # the tests have built what these build
                yield kept + command, "\n".join(output)
        command, output = line[2:], []


def main(root, tool, examples, plugins):
    assert first_missing(words("a 1\nb  /x/y"), words("a 2 more b /z")) is None
    assert first_missing(words("a b"), words("b a")) == "a b"

    environment = {name: value for name, value in os.environ.items() if not name.startswith("ARROWDEVICE_")}
    environment |= {"PATH": os.path.dirname(os.path.abspath(tool)) + os.pathsep + environment["PATH"], "ARROWDEVICE_BACKEND_PATH": plugins}
    wrong, count = [], 0
    for page in pages(root):
        for _, language, code, above in blocks(read(root, page)):
            for command, shown in commands(code) if (language, above) == ("console", "<!-- run -->") else ():
                done = subprocess.run(command, shell=True, cwd=examples, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
                count += 1
                missing = first_missing(words(shown), words(done.stdout))
                if missing is not None or not shown.strip():
                    wrong.append(f"{page}: $ {command}\n... {missing}\nis not what it prints:\n{done.stdout}")
    if wrong:
        sys.exit("\n".join(wrong))
    if count < EXPECTED_COMMANDS:
        sys.exit(f"{count} commands in the pages were run, of {EXPECTED_COMMANDS} that there were")
    print(f"{count} commands")


main(*sys.argv[1:])
