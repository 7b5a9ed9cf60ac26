# SPDX-License-Identifier: Apache-2.0
"""The manual page of the tool says what its help says: manual_test.py TOOL PAGE"""

import re
import subprocess
import sys

tool, page = sys.argv[1:]


def help_of(*command):
    return subprocess.run([tool, *command, "--help"], check=True, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True).stdout


def options_in_help(text):
    """"--bytes=SIZES" and its like, from the lines that explain options."""
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+(?:=[A-Z]+)?)  ", text, re.M))


def options_in_page(text):
    """The tags of its lists: `.B \\-\\-json`, `.BI \\-\\-bytes= SIZES`, or `.BR \\-v ", " \\-\\-verbose`."""
    tags = re.findall(r'^\.TP\n\.B[IR]? (?:-\w ", " )?(--\S+)(?: ([A-Z]+))?$', text, re.M)
    return {option + value for option, value in tags}


with open(page, encoding="utf-8") as file:
    source = file.read().replace("\\-", "-")
sections = dict(re.findall(r"^\.SH ([A-Z ]+)\n(.*?)(?=^\.SH |\Z)", source, re.M | re.S))
in_page = {name: options_in_page(text)
           for name, text in re.findall(r"^\.SS (\w+)\n(.*?)(?=^\.SS |\Z)", sections["COMMANDS"], re.M | re.S)}
in_page[""] = options_in_page(sections["OPTIONS"])

usage = help_of()
commands = re.findall(r"^  ([a-z]+) +\S", usage, re.M)
in_help = {command: options_in_help(help_of(command)) for command in commands}
in_help[""] = options_in_help(usage)

if not commands or any("--help" not in options for options in in_help.values()):
    sys.exit(f"the help of the tool was not understood: {in_help}")
for command in sorted(in_help.keys() | in_page.keys()):
    ours, theirs = in_page.get(command, set()), in_help.get(command, set())
    if ours != theirs:
        sys.exit(f"arrowdevice {command}: only in {page}: {sorted(ours - theirs)}; only in the help: {sorted(theirs - ours)}")
