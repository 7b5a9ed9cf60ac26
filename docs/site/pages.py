# SPDX-License-Identifier: Apache-2.0
"""Lists the written pages of the site, their names and their order."""

import os
import re

# The navigation, in this order. A page of docs/ that is in no part comes last, so that a new page needs no line here.
# A line without its page is ignored.
PARTS = [
    ("Begin", ["docs/index.md", "docs/getting-started.md", "docs/concepts.md", "docs/cookbook.md",
               "docs/compute.md", "docs/troubleshooting.md"]),
    ("Use", ["docs/streams.md", "docs/dlpack.md", "docs/reference.md"]),
    ("Languages", ["bindings/*"]),
    ("API", []),  # the groups of the headers: prepare.py
    ("Backends", ["docs/writing-a-backend.md", "backends/*"]),
    ("Evidence", ["docs/verification.md", "docs/performance.md", "SECURITY.md"]),
    ("Project", ["docs/internals.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]),
]
MORE = "More"


def written(root):
    """The Markdown files that are pages, as paths from the root of the repository."""
    pages = [name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
             if os.path.exists(os.path.join(root, name))]
    pages += sorted(f"docs/{name}" for name in os.listdir(os.path.join(root, "docs")) if name.endswith(".md"))
    for folder in ("backends", "bindings"):
        if os.path.isdir(os.path.join(root, folder)):
            pages += sorted(path for path in (f"{folder}/{name}/README.md" for name in os.listdir(os.path.join(root, folder)))
                            if os.path.exists(os.path.join(root, path)))
    return pages


def label(path):
    """The name of a page in the site, that of its .html too."""
    name = path.removesuffix("/README.md") if "/" in path else path.removesuffix(".md")
    return name.removeprefix("docs/").removesuffix(".md").replace("backends/", "backend-").replace(
        "bindings/", "language-").lower()


def parts(pages):
    """[(title, pages)]: the navigation."""
    left = list(pages)
    result = []
    for title, patterns in PARTS:
        mine = [page for pattern in patterns for page in pages
                if page == pattern or (pattern.endswith("/*") and page.startswith(pattern[:-1]))]
        left = [page for page in left if page not in mine]
        result.append((title, mine))
    return result + ([(MORE, left)] if left else [])


FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\S*).*$")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")


def lines(text):
    """(number, line, language): every line; `language` is None outside of code, and the fences are code too."""
    language, fence = None, None
    for number, line in enumerate(text.split("\n"), 1):
        match = FENCE.match(line)
        if fence is None and match:
            fence, language = match.group(2), match.group(3)
            yield number, line, language
        elif fence is not None:
            yield number, line, language
            if match and match.group(2).startswith(fence) and not match.group(3):
                fence, language = None, None
        else:
            yield number, line, None


def plain(heading):
    """A heading's text without its Markdown."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[`*]", "", heading)


def anchors(text):
    """{line number: (level, text, anchor)} of the headings, with the anchors that code hosts give them."""
    result, seen = {}, {}
    for number, line, language in lines(text):
        match = HEADING.match(line) if language is None else None
        if match:
            words = plain(match.group(2))
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            seen[anchor] = seen.get(anchor, -1) + 1
            if seen[anchor]:
                anchor += f"-{seen[anchor]}"
            result[number] = (len(match.group(1)), words, anchor)
    return result


def title(text):
    return next((words for level, words, _ in anchors(text).values() if level == 1), None)


LINK = re.compile(r"(!?)\[((?:[^\[\]])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(.+?)\1(?!`)", re.S)


def without_code(text):
    """The text, as long as it was, with everything that is code blanked out."""
    prose = "\n".join(line if language is None else " " * len(line) for _, line, language in lines(text))
    return CODE.sub(lambda code: re.sub(r"[^\n]", "`", code.group(0)), prose)


def links(text):
    """(line number, target) of every link and picture that is not in code. A link may go on in the next line."""
    prose = without_code(text)
    for match in LINK.finditer(prose):
        yield prose.count("\n", 0, match.start(3)) + 1, match.group(3)
