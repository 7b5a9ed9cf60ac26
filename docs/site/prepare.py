# SPDX-License-Identifier: Apache-2.0
"""Writes the input of Doxygen: prepare.py ROOT INPUT_FOLDER

The headers and pages are written for readers of the source, in an editor or at a code host. The script adds the
commands of Doxygen to a copy: groups, members' comments, the names of pages and headings, links between them.
"""

import html
import os
import re
import shutil
import sys

import highlight
import pages

# The headers that arrowdevice.h includes, each of which is a group, with its title.
GROUPS = {"base.h": "Basics, log and deferred work", "device.h": "Devices", "backend_registry.h": "Backends",
          "queue.h": "Queues", "buffer.h": "Pools and buffers", "array.h": "Arrays", "copy.h": "Copies", "view.h": "Views",
          "stream.h": "Streams", "async.h": "Async streams", "dlpack.h": "DLPack"}
CPP_HEADERS = [f"cpp/{name}.hpp" for name in ("owner", "library", "device", "array", "stream", "values", "view", "builder")]
HEADERS = ["arrowdevice.h", *GROUPS, "arrowdevice.hpp", *CPP_HEADERS, "backend.h", "abi.h"]
# Doxygen knows these; all others are highlight.py's.
DOXYGEN_CODE = {"c": "c", "h": "c", "cpp": "cpp", "c++": "cpp", "cc": "cpp", "hpp": "cpp", "python": "py", "py": "py"}
SOURCE_CODE = {".c": "c", ".h": "c", ".cc": "cpp", ".hpp": "cpp", ".py": "py", ".sh": "sh", ".rs": "rust", ".go": "go",
               ".jl": "julia", ".toml": "toml", ".build": "meson"}


class Mistake(Exception):
    pass


# -- headers ----------------------------------------------------------------------------------------------------------

# The list of `Errors:` begins on the line after it.
PARAGRAPHS = re.compile(r"(^\s*\*\s+|(?<=[.)]) |^\s*/\*\*\s*)(Errors|Implements|Thread-safety):(?: |\n\s*\* (?=- ))", re.M)
CONSTANT = re.compile(r"(?<![#\w`\"])ARROW[A-Z_]+\b(?![*(`\"])")
SECTION = re.compile(r"^/\* -- .+? -+ \*/$")


def group_name(title):
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def comments(text, constants):
    """In comments: `Errors: …` and its kin as paragraphs with a title, constants as links to what they are."""
    def comment(match):
        linked = CONSTANT.sub(lambda name: f"#{name.group(0)}" if name.group(0) in constants else name.group(0), match.group(0))
        titled = PARAGRAPHS.sub(lambda found: (found.group(1).rstrip(" ") if found.group(1).strip() else "\n *")
                                + f"\n * @par {found.group(2)}\n * ", linked)
        return re.sub(r"(\n \*)(?:\n \*)+(?=\n)", r"\1", titled)
    return re.sub(r"/\*\*.*?\*/", comment, text, flags=re.S)


def members(text):
    """Comments behind a field, and behind or over constants, as Doxygen's."""
    source = text.split("\n")
    lines, title, in_struct = [], None, False
    for number, line in enumerate(source):
        if re.match(r"^(struct|class|typedef struct) .*\{$", line):
            in_struct = True
        elif line.startswith("}"):
            in_struct = False
        if title is not None and not line.startswith("#define"):
            lines.append("/** @} */")
            title = None
        over = re.match(r"^/\* (?!SPDX|--)(.*) \*/$", line)
        if over and source[number + 1].startswith("#define"):
            title = over.group(1)
            lines += [f"/** @name {title}", " * @{ */"]
            continue
        if title is not None and "/*" not in line:
            line += f" /**< {title.split(':')[0]} */"
        elif line.startswith("#define") or (in_struct and re.match(r"^ {2}\S.*[;,]\s*/\* ", line)):
            line = re.sub(r"/\* (.*) \*/$", r"/**< \1 */", line)
        lines.append(line)
    return "\n".join(lines)


def groups(text, name, found):
    """The declarations of a header as a group; `found` gets (name, title)."""
    title = GROUPS[name]
    found.append((group_name(title), title))
    lines = [line for line in text.split("\n") if not SECTION.match(line)]
    first = max(number for number, line in enumerate(lines) if line.startswith('#include "'))
    last = max(number for number, line in enumerate(lines) if line == "#ifdef __cplusplus")
    opening = ["/**", f" * @defgroup {group_name(title)} {title}", f" * {brief(text)}", " * @{ */"]
    return "\n".join([*lines[:first + 1], *opening, *lines[first + 1:last], "/** @} */", *lines[last:]])


def brief(text):
    """The first paragraph of the comment on the file."""
    found = re.search(r"@file \S+\n((?: \* .*\n)+)", text)
    if found is None:
        raise Mistake("a header has no comment with @file")
    return " ".join(line.strip(" *") for line in found.group(1).splitlines())


def arrow_structs(text):
    """The comments of abi.h, all of which stand over what they are of."""
    return re.sub(r"(?m)^(\s*)/\* (?!SPDX)(.*) \*/$", r"\1/** \2 */", text)


def undocumented(text):
    return re.findall(r"(?m)(?<!\*/\n)^ARROWDEVICE_API [^;]*?(arrowdevice_\w+)\(", text)


def header(root, name, found, constants):
    with open(os.path.join(root, "include", "arrowdevice", name), encoding="utf-8") as file:
        text = file.read()
    missing = undocumented(text)
    if missing:
        raise Mistake(f"include/arrowdevice/{name}: no comment says what these do: {', '.join(missing)}")
    if name == "abi.h":
        return arrow_structs(text)
    text = members(text)
    if name in GROUPS:
        text = groups(text, name, found)
    return comments(text, constants)


def symbols(root):
    """Returns the names that the headers define, for links from prose: {name: "" or "#"}."""
    result = {}
    for name in HEADERS:
        path = os.path.join(root, "include", "arrowdevice", name)
        if not os.path.exists(path) or name.endswith(".hpp"):
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        result.update({f"{function}()": "" for function in re.findall(r"ARROWDEVICE_API [^;]*?(arrowdevice_\w+)\(", text)})
        result.update({struct: "" for struct in re.findall(r"(?m)^struct (\w+) \{", text)})
        result.update({constant: "#" for constant in re.findall(r"(?m)^#define (ARROW\w+) \S", text)})
    return result


# -- pages ------------------------------------------------------------------------------------------------------------


class Writer:
    """Turns pages into what Doxygen reads."""

    def __init__(self, root, output):
        self.root, self.output = root, output
        self.paths = pages.written(root)
        self.symbols = symbols(root)
        self.constants = {name for name, link in self.symbols.items() if link}
        self.sources, self.drawings = {}, set()
        self.now = None  # the page that is being written

    def read(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def write(self, path, text):
        path = os.path.join(self.output, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def target(self, page, link):
        """Returns the label of a link in the site, or None if the link has no target."""
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        whole = os.path.join(self.root, path)
        if os.path.isdir(whole) and f"{path}/README.md" in self.paths:
            path = f"{path}/README.md"
        if path in self.paths:
            return f"{pages.label(path)}--{anchor}" if anchor else pages.label(path)
        if path.startswith("include/arrowdevice/") and os.path.basename(path) in HEADERS:
            return os.path.basename(path)
        if os.path.isfile(whole):
            return self.sources.setdefault(path, "source-" + re.sub(r"\W+", "-", path).strip("-").lower())
        if os.path.isdir(whole):
            return None
        raise Mistake(f"{page}: a link to {link}, which is not there")

    def link(self, page, match):
        bang, text, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        if bang:
            path = os.path.normpath(os.path.join(os.path.dirname(page), target))
            self.drawings.add(path)
            return (f'@htmlonly <span class="drawing"><img src="{os.path.basename(path)}" alt="{html.escape(text)}"></span> '
                    "@endhtmlonly")
        label = self.target(page, target)
        if label is None:
            return text
        return f"[{text.replace('`', '')}](@ref {label})"

    def code_span(self, match):
        text = match.group(2)
        name = text if text in self.symbols else f"{text}()"
        if name in self.symbols:
            return f"<code>{self.symbols[name]}{name}</code>"
        return match.group(0)

    def prose(self, page, text):
        """Links and names. Code and links do not overlap."""
        kept = []

        def keep(piece):
            kept.append(piece)
            return f"\x01{len(kept) - 1}\x02"

        text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment.group(0).count("\n"), text, flags=re.S)
        text = pages.LINK.sub(lambda match: keep(self.link(page, match)), text)
        text = pages.CODE.sub(lambda match: keep(self.code_span(match)), text)
        text = CONSTANT.sub(lambda name: f"#{name.group(0)}" if name.group(0) in self.constants else name.group(0), text)
        # Doxygen's own commands are none in prose.
        text = re.sub(r"([@\\])(?=[A-Za-z])", r"\\\1", text)
        while "\x01" in text:
            text = re.sub(r"\x01(\d+)\x02", lambda match: kept[int(match.group(1))], text)
        return text

    def block(self, code, name):
        if name.lower() in DOXYGEN_CODE:
            return f"```{{.{DOXYGEN_CODE[name.lower()]}}}\n{code}\n```"
        known = highlight.language(name)
        if known is None:
            raise Mistake(f"{self.now}: " + ("a drawing in Mermaid, which the site cannot show: make it an SVG in docs/drawings"
                          if name == "mermaid" else f"code in {name}, which highlight.py does not know"))
        return f"@htmlonly[block]\n{highlight.fragment(code, known)} @endhtmlonly"

    def page(self, path):
        self.now = path
        text = self.read(path)
        anchors = pages.anchors(text)
        label = pages.label(path)
        if pages.title(text) is None:
            raise Mistake(f"{path}: a page begins with its title")
        contents = "[TOC]" if sum(level == 2 for level, _, _ in anchors.values()) > 2 and path != "docs/index.md" else ""
        out, prose, code, language = [], [], [], None

        def flush():
            if prose:
                out.append(self.prose(path, "\n".join(prose)))
                prose.clear()

        for number, line, fence in pages.lines(text):
            if fence is None and code:
                out.append(self.block("\n".join(code[1:-1]), language))
                code = []
            if fence is not None:
                if not code:
                    flush()
                    language = fence
                code.append(line)
                if len(code) > 1 and pages.FENCE.match(line):
                    out.append(self.block("\n".join(code[1:-1]), language))
                    code = []
                continue
            if number in anchors:
                flush()
                level, words, anchor = anchors[number]
                if level == 1:
                    out.append(f"# {words}" + ("" if label == "index" else f" {{#{label}}}"))
                else:
                    out.append(f"{'#' * level} {words} {{#{label}--{anchor}}}")
                continue
            if not line and contents:  # in the place of the empty line under the title, so that no line is moved by it
                line, contents = contents, ""
            prose.append(line)
        flush()
        self.write(path, "\n".join(out) + "\n")

    def source(self, path, label):
        """A file that a page links to, as a page."""
        text = self.read(path).rstrip("\n")
        language = SOURCE_CODE.get(os.path.splitext(path)[1], "")
        self.write(f"sources/{label}.md", f"# {path} {{#{label}}}\n\n{self.block(text, language)}\n")

    def navigation(self, groups):
        titles = {path: pages.title(self.read(path)) for path in self.paths}
        titles |= {path: path.split("/")[1].capitalize() for path in titles if path.startswith("bindings/")}
        titles["docs/index.md"] = "Home"
        titles["README.md"] = "README"
        out = []
        for title, paths in pages.parts(self.paths):
            entries = [("index" if path == "docs/index.md" else pages.label(path), titles[path]) for path in paths]
            if title == "API":
                entries = [("arrowdevice_8h", "Conventions"), *((f"group__{name.replace('_', '__')}", words) for name, words in groups),
                           ("arrowdevice_8hpp", "arrowdevice.hpp"),
                           *((os.path.basename(name).replace(".", "_8"), name) for name in CPP_HEADERS), ("backend_8h", "backend.h"), ("abi_8h", "abi.h")]
            if entries:
                out.append(f"<h2>{html.escape(title)}</h2>\n<ul>")
                out += [f'<li><a href="$relpath^{name}.html">{html.escape(words)}</a></li>' for name, words in entries]
                out.append("</ul>")
        return "\n".join(out)


def main(root, output):
    shutil.rmtree(output, ignore_errors=True)
    writer = Writer(root, output)
    groups_found = []
    for name in HEADERS:
        writer.write(f"include/arrowdevice/{name}", header(root, name, groups_found, writer.constants))
    for path in writer.paths:
        writer.page(path)
    for path, label in writer.sources.items():
        writer.source(path, label)
    for name in ("header.html", "footer.html"):
        text = writer.read(f"docs/site/{name}").split("\n", 1)[1]  # without the license of this file
        writer.write(f"site/{name}", text.replace("@NAVIGATION@", writer.navigation(groups_found)))
    for name in ("layout.xml", "style.css", "search.js"):
        shutil.copy(os.path.join(root, "docs", "site", name), os.path.join(output, "site"))
    os.makedirs(os.path.join(output, "drawings"), exist_ok=True)
    for drawing in writer.drawings:
        shutil.copy(os.path.join(root, drawing), os.path.join(output, "drawings"))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Mistake as mistake:
        sys.exit(f"prepare.py: {mistake}")
