# SPDX-License-Identifier: Apache-2.0
"""Checks that docs/reference.md lists the environment variables that the sources read, and no others:

    environment_test.py ROOT
"""

import os
import re
import sys

ROOT = sys.argv[1]
PAGE = "docs/reference.md"

# Which parts of the sources each section of the page is about. Variables of the library are read in both first folders.
SECTIONS = {
    ("The library", "Backends"): ("src", "backends"),
    ("The tool",): ("tools",),
    ("Scripts",): ("scripts", ".ci"),
    ("Bindings",): ("bindings",),
}

# Every shell sets these, so the page does not list them.
OF_THE_SHELL = {"PATH", "HOME", "PWD"}

# Output of cargo in the source folders is not a source.
BUILT = {"target", "__pycache__"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def read_by_c(text):
    """getenv("NAME"), environment::text("NAME") and similar calls. The name may be a constant or come from a caller."""
    names = set(re.findall(r'\bgetenv\("(\w+)"\)', text)) | set(re.findall(r'"(ARROWDEVICE_\w+)"', text))
    for argument in re.findall(r"\benvironment::(?:text|number|list)\(([^,)]+)", text):
        names |= set(re.findall(r'^"(\w+)"$', argument))
        names |= set(re.findall(rf'\b{re.escape(argument)} = "(\w+)"', text))
    return names


def read_by_python(text):
    return (set(re.findall(r'\bos\.(?:environ\.get|getenv)\("(\w+)"', text)) |
            set(re.findall(r'\bos\.environ\["(\w+)"\](?!\s*=[^=])', text))) - OF_THE_SHELL


def read_by_shell(text):
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return set(re.findall(r"\$\{?([A-Z][A-Z0-9_]*)\b", text)) - OF_THE_SHELL


def read_by_rust(text):
    """env::var("NAME") and env::var_os(NAME). The name may be a constant. The page does not list variables of cargo."""
    names = set()
    for argument in re.findall(r'\benv::var(?:_os)?\(([^()]+)\)', text):
        names |= set(re.findall(r'^"(\w+)"$', argument))
        names |= set(re.findall(rf'\b{re.escape(argument)}: &str = "(\w+)"', text))
    return {name for name in names if not name.startswith("CARGO_")}


def read_by_go(text):
    return set(re.findall(r'\bos\.(?:Getenv|LookupEnv)\("(\w+)"\)', text))


def read_by_julia(text):
    return set(re.findall(r'\bget\(ENV, "(\w+)"', text)) | set(re.findall(r'\bENV\["(\w+)"\](?!\s*=[^=])', text))


def read_in(folder):
    names = {}
    for where, folders, files in os.walk(os.path.join(ROOT, folder)):
        folders[:] = [name for name in folders if name not in BUILT]
        for file in files:
            path = os.path.relpath(os.path.join(where, file), ROOT)
            reader = {".cc": read_by_c, ".c": read_by_c, ".h": read_by_c, ".py": read_by_python,
                      ".rs": read_by_rust, ".go": read_by_go, ".jl": read_by_julia, ".sh": read_by_shell, "": read_by_shell}.get(os.path.splitext(file)[1])
            for name in reader(read(path)) if reader else ():
                names.setdefault(name, path)
    return names


documented = {}
for title, text in re.findall(r"^### ([^\n]+)\n(.*?)(?=^##|\Z)", read(PAGE), re.M | re.S):
    documented[title] = set(re.findall(r"^\| `(\w+)` \|", text, re.M))

problems = []
for titles, folders in SECTIONS.items():
    in_sources = {name: path for folder in folders for name, path in read_in(folder).items()}
    in_page = set().union(*(documented.get(title, set()) for title in titles))
    if not in_sources:
        problems.append(f"nothing in {folders} reads a variable: this test does not see how")
    problems += [f"{path} reads {name}, which {PAGE} does not have under {titles}"
                 for name, path in sorted(in_sources.items()) if name not in in_page]
    problems += [f"{PAGE} has {name} under {titles}, and nothing in {folders} reads it"
                 for name in sorted(in_page - in_sources.keys())]
if problems:
    sys.exit("\n".join(problems))
