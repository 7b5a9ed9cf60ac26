# SPDX-License-Identifier: Apache-2.0
"""The written pages show code that the tests compile and run, and their links work: pages_test.py ROOT

A comment above code in C and C++ names its source: `<!-- examples/cookbook.c [share] -->` is the text between
`/* [share] */` and `/* [end] */` of that file. Code that only an application can have is under `<!-- sketch: why -->`.
Code in other languages may name its source too. The marks are then comments of that language.
"""

import os
import re
import sys
import tempfile
import textwrap

COMPILED = {"c", "h", "cpp", "c++", "cc", "hpp"}
ORIGIN = re.compile(r"^<!-- (?:sketch: .+|(?P<path>\S+) \[(?P<name>[\w-]+)\]) -->$")


def markdown(root):
    for folder, folders, files in os.walk(root):
        # Files of others have links of their own: environments, crates and modules that a build has fetched.
        folders[:] = sorted(name for name in folders if not name.startswith((".", "build")) and name not in (
            "subprojects", "node_modules", "target", "vendor", "carry-gpu-check"))
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(files) if name.endswith(".md"))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def region(text, name):
    """Returns the lines between the marks without their common indentation. Returns None unless there is one pair."""
    def mark(word):
        return rf"^[ \t]*(?:/\* \[{word}\] \*/|(?://|#) \[{word}\])"
    found = re.findall(mark(re.escape(name)) + r"\n(.*?)" + mark("end") + "$", text, re.M | re.S)
    return textwrap.dedent(found[0]).strip("\n") if len(found) == 1 else None


def blocks(pages, text):
    """(line, language, code, the line above) of every block of code."""
    above, begin, code, language = "", 0, [], None
    for number, line, fence in pages.lines(text):
        if fence is None:
            above = line if line.strip() else above
        elif not code:
            begin, language, code = number, fence, [line]
        else:
            code.append(line)
            if pages.FENCE.match(line):
                yield begin, language.lower(), textwrap.dedent("\n".join(code[1:-1])), above
                code, above = [], ""


def wrong_code(pages, root, path, text):
    for number, language, code, above in blocks(pages, text):
        origin = ORIGIN.match(above.strip())
        if language not in COMPILED and not origin:
            continue
        if not origin:
            yield f"{path}:{number}: code in {language} without the line over it that says where it is from"
        elif origin["path"]:
            if not os.path.isfile(os.path.join(root, origin["path"])):
                yield f"{path}:{number}: there is no {origin['path']}"
                continue
            shown = region(read(root, origin["path"]), origin["name"])
            if shown is None:
                yield f"{path}:{number}: {origin['path']} has no [{origin['name']}], or several"
            elif shown != code:
                yield f"{path}:{number}: the code is not what {origin['path']} has between its marks [{origin['name']}]"


def dead_links(pages, root, path, text):
    for number, link in pages.links(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.exists(os.path.join(root, to)):
            yield f"{path}:{number}: {link}: there is no {to}"
        elif anchor and to.endswith(".md"):
            if anchor not in {found for _, _, found in pages.anchors(read(root, to)).values()}:
                yield f"{path}:{number}: {link}: {to} has no heading of that name"


def wrong(pages, root):
    for path in markdown(root):
        text = read(root, path)
        yield from wrong_code(pages, root, path, text)
        yield from dead_links(pages, root, path, text)


def prove(pages):
    """Each mistake is found in a small tree, and correct pages pass."""
    program = "int x;\n  /* [part] */\n  int y;\n  /* [end] */\n"
    shown = "<!-- program.c [part] -->\n\n```c\nint y;\n```\n"
    cases = [
        (shown, None), ("<!-- sketch: no program has it -->\n```c\nint z;\n```\n", None),
        ("```c\nint y;\n```\n", "without the line"), (shown.replace("int y", "int z"), "is not what"),
        (shown.replace("program", "none"), "there is no none.c"), (shown.replace("part", "other"), "has no [other]"),
        (shown + "```cpp\nint z;\n```\n", "without the line"), ("```python\nint z\n```\n", None),
        ("<!-- program.py [part] -->\n```python\ny = 1\n```\n", None),
        ("<!-- program.py [part] -->\n```python\nz = 1\n```\n", "is not what"),
        ("<!-- program.rs [part] -->\n```rust\nlet y = 1;\n```\n", None),
        ("[a](other.md#some-words) [b](#here) [c](folder) [d](https://x.y)\n## Here\n", None), ("`[a](none.md)`\n", None),
        ("```\n[a](none.md)\n```\n", None), ("[a\nb](none.md)\n", ":2: none.md: there is no"),
        ("![a](none.svg)\n", "there is no none.svg"), ("[a](other.md#words)\n", "has no heading"), ("[b](#there)\n", "has no heading"),
    ]
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "folder"))
        for name, text in (("program.c", program), ("program.py", "  # [part]\n  y = 1\n  # [end]\n"),
                           ("program.rs", "// [part]\nlet y = 1;\n// [end]\n"), ("other.md", "# Other\n## Some `words`!\n")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        for text, mistake in cases:
            with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            found = list(wrong(pages, root))
            if (mistake is None and found) or (mistake is not None and not any(mistake in line for line in found)):
                sys.exit(f"in {text!r} this was found: {found}, and not {mistake}")


def main(root):
    sys.path.insert(0, os.path.join(root, "docs", "site"))
    sys.dont_write_bytecode = True
    import pages
    prove(pages)
    found = list(wrong(pages, root))
    if found:
        sys.exit("\n".join(found))
    count = sum(ORIGIN.match(above.strip()) is not None for path in markdown(root)
                for _, _, _, above in blocks(pages, read(root, path)))
    if not count:
        sys.exit("no page shows any code")
    print(f"{count} pieces of code")


main(sys.argv[1])
