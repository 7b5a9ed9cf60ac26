# SPDX-License-Identifier: Apache-2.0
"""The written pages show code that the tests compile and run: pages_test.py ROOT

A comment above code in C and C++ names its source: `<!-- examples/cookbook.c [share] -->` is the text between
`/* [share] */` and `/* [end] */` of that file. Code that only an application can have is under `<!-- sketch: why -->`.
Code in other languages may name its source too. The marks are then comments of that language.
"""

import os
import re
import sys
import tempfile
import textwrap

sys.dont_write_bytecode = True
from markdown import blocks, pages, read  # noqa: E402: it is beside this file

COMPILED = {"c", "h", "cpp", "c++", "cc", "hpp"}
ORIGIN = re.compile(r"^<!-- (?:sketch: .+|(?P<path>\S+) \[(?P<name>[\w-]+)\]) -->$")


def region(text, name):
    """Returns the lines between the marks without their common indentation. Returns None unless there is one pair."""
    def mark(word):
        return rf"^[ \t]*(?:/\* \[{word}\] \*/|(?://|#) \[{word}\])"
    found = re.findall(mark(re.escape(name)) + r"\n(.*?)" + mark("end") + "$", text, re.M | re.S)
    return textwrap.dedent(found[0]).strip("\n") if len(found) == 1 else None


def wrong_code(root, path):
    for number, language, code, above in blocks(read(root, path)):
        origin = ORIGIN.match(above)
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


def wrong(root):
    for path in pages(root):
        yield from wrong_code(root, path)


def prove():
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
    ]
    with tempfile.TemporaryDirectory() as root:
        for name, text in (("program.c", program), ("program.py", "  # [part]\n  y = 1\n  # [end]\n"),
                           ("program.rs", "// [part]\nlet y = 1;\n// [end]\n")):
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        for text, mistake in cases:
            with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            found = list(wrong(root))
            if (mistake is None and found) or (mistake is not None and not any(mistake in line for line in found)):
                sys.exit(f"in {text!r} this was found: {found}, and not {mistake}")


def main(root):
    prove()
    found = list(wrong(root))
    if found:
        sys.exit("\n".join(found))
    count = sum(ORIGIN.match(above) is not None for path in pages(root) for _, _, _, above in blocks(read(root, path)))
    if not count:
        sys.exit("no page shows any code")
    print(f"{count} pieces of code")


main(sys.argv[1])
