# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of references that no tool writes as a whole, and adds the navigation to the first page."""

import os
import re
import subprocess
import textwrap

DECLARATION = r"(?:function )?((?:mutable struct |struct |module )?(\w+)[^\n]*?)(?: =[^\n]*)?$"
DOCSTRING = re.compile(r'^"""\n(.*?)^"""\n' + DECLARATION, re.M | re.S)


GO_NAME = re.compile(r"(?:type|func(?: \(\w+ \*?(\w+)\))?) (\w+)")


def go_sections(text):
    """Makes a section of each declaration in the output of `go doc -all`. The comments below them are indented."""
    text = re.sub(r"(?m)^([A-Z]+|package .*)$", "", text)  # titles, such as FUNCTIONS
    package, *parts = re.split(r"(?m)^(?=(?:type|func|const|var) )", text)
    yield package
    for part in parts:
        declaration, *comment = re.split(r"(?m)^(?= {4})", part, maxsplit=1)
        names = GO_NAME.match(declaration)
        if names:
            yield f"## {'.'.join(filter(None, names.groups()))}"
        yield f"```go\n{declaration.strip()}\n```\n\n{textwrap.dedent(''.join(comment))}"


class Writer:
    def __init__(self, source):
        self.source, self.build = source, os.path.dirname(source)

    def read(self, path):
        with open(os.path.join(self.source, path), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        path = os.path.join(self.source, "reference", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def headers(self, folder, title, main, names, said=""):
        """A page for each header, the one that includes all others first."""
        entries = sorted(names, key=lambda name: (name != main, name))
        for name in entries:
            self.write(f"{folder}/{name}.md", f"# {name}\n\n{said}\n\n```{{doxygenfile}} {name}\n```\n")
        listed = "\n".join(entries)
        self.write(f"{folder}/index.md", f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n{listed}\n```\n")

    def tool(self):
        """The manual page."""
        manual = os.path.join(self.source, "tools", "arrowdevice", "arrowdevice.1")
        command = ["mandoc", "-T", "html", "-O", "fragment", manual]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        shown = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", shown, flags=re.S)
        # The page's title has the first level.
        shown = re.sub(r"(</?h)([12])", lambda tag: f"{tag[1]}{int(tag[2]) + 1}", shown)
        self.write("tool.md", f"# arrowdevice(1)\n\n```{{raw}} html\n{shown}```\n")

    def rust(self):
        if os.path.isdir(os.path.join(self.build, "html", "rust")):
            crates = ("arrowdevice", "arrowdevice_sys")
            text = "These pages of rustdoc have their own search:\n\n"
            text += "\n".join(f'- <a href="../rust/{crate}/index.html">{crate}</a>' for crate in crates)
        else:
            text = "`DOCS_RS=1 cargo doc --no-deps --open` in `bindings/rust` shows the reference."
        self.write("rust.md", f"# Rust\n\n{text}\n")

    def go(self):
        path = os.path.join(self.build, "go.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = "\n\n".join(go_sections(file.read()))
        else:
            text = "`go doc -all` in `bindings/go` shows the reference."
        self.write("go.md", f"# Go\n\n{text}\n")

    def julia(self):
        """The docstrings, which are Markdown. Some begin with a declaration. For others it is the next line."""
        folder = "bindings/julia/src"
        parts = ["# Julia"]
        for path in sorted(os.listdir(os.path.join(self.source, folder))):
            for text, declaration, name in DOCSTRING.findall(self.read(f"{folder}/{path}")):
                shown = [] if text.startswith("    ") else [f"```julia\n{declaration}\n```"]
                parts += [f"## {name}", *shown, text]
        self.write("julia.md", "\n\n".join(parts))


def write(app):
    writer = Writer(app.srcdir)
    folder = os.path.join(app.srcdir, "include", "arrowdevice")
    names = os.listdir(folder)
    writer.headers("c", "C", "arrowdevice.h", [name for name in names if name.endswith(".h")])
    writer.headers("cpp", "C++", "arrowdevice.hpp", ["arrowdevice.hpp", *os.listdir(os.path.join(folder, "cpp"))],
                   "The names are in the namespace `arrowdevice::cpp`.")
    writer.tool()
    writer.rust()
    writer.go()
    writer.julia()


def add_navigation(app, name, content):
    if name == app.config.root_doc:
        with open(os.path.join(app.confdir, "navigation.md"), encoding="utf-8") as file:
            content[0] += file.read()


def skip_member(app, what, name, obj, skip, options):
    """Skips modules, because the package re-exports all that is public, and special methods without a docstring."""
    is_special = obj.short_name.startswith("__") and not obj.docstring
    return True if what == "module" or is_special else None


def setup(app):
    app.connect("builder-inited", write)
    app.connect("source-read", add_navigation)
    app.connect("autoapi-skip-member", skip_member)
