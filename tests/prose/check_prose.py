# SPDX-License-Identifier: Apache-2.0
"""Checks the countable rules of language for comments and test names: check_prose.py ROOT

 - No comment begins with a word of FRAGMENTS, because such a comment is no sentence. In Python, shell and Meson files
   this holds for each sentence of a comment or docstring.
 - The name of a test has at most LONGEST_NAME characters.
 - A sentence in a public header has at most LONGEST words.
 - Few words of a comment leave the actor or the condition open; LIMITS has the most per 10,000 words.
 - No file uses a name that the C API had before its names were noun and verb.
"""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize

FRAGMENTS = ("Of", "What", "Where", "Whether", "Who", "Whoever", "Nobody", "Nothing", "Somebody")
HASH_FRAGMENTS = FRAGMENTS + ("Also",)
LONGEST = 30
LONGEST_NAME = 80
OPEN_WORDS = {"what": ("what",), "who": ("who", "whoever", "nobody", "somebody", "anybody")}
# By folder: the most per 10,000 words.
LIMITS = {"include": {"what": 10, "who": 2}, "src": {"what": 15, "who": 3}, "backends": {"what": 15, "who": 3}}
FORMER_NAMES = re.compile(
    r"\barrowdevice_(?:(?:array|stream|async)_move_to|device_(?:adopt|retire|reach|get|find|describe|memory|native|pool"
    r"|type_name)|backend_explain|queue_native|array_(?:wait_on|ready|device)|buffer_(?:copy|sub|sub_free)"
    r"|view_(?:root|array|device)|stream_(?:schema|next)|quiesce|set_log_handler|set_manual_reaping|reap)\b"
    r"|\bARROWDEVICE_(?:DEVICE_ADOPTED|REACH_\w+|COPY_WHOLE|IMPORT_SIZES|ASYNC_LAYOUT_(?:SHIPPED|PUBLISHED))\b")

SOURCES = (".c", ".cc", ".go", ".h", ".hpp", ".inc", ".rs")
HASH_SOURCES = (".py", ".sh", ".build", ".ci/run", "meson_options.txt")
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BETWEEN_LINES = re.compile(r"\n[ \t]*")
# In a line of shell or Meson: a quoted text, an escaped character, or a # that may begin a comment.
HASHES = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(?<!\S)\#""")
LITERALS = r'((?:"(?:\\.|[^"\\])*"\s*)+)'
# By ends of paths: the expressions that find the names of tests. Group 1 is a name, or literals that form one.
NAMES = (
    ((".cc", ".h"), re.compile(r"\b(?:TEST_CASE|SECTION|DYNAMIC_SECTION|TEMPLATE_TEST_CASE)\(\s*" + LITERALS)),
    (("_cases.cc",), re.compile(r"\{\s*" + LITERALS + r",\s*kNeeds")),
    ((".py",), re.compile(r"\bdef (test_\w+)")),
    ((".py",), re.compile(r"\bid=" + LITERALS)),
    ((".rs",), re.compile(r"#\[test\]\s*fn (\w+)")),
    (("_test.go",), re.compile(r"\bfunc (Test\w+)")),
    (("_test.go",), re.compile(r"\bt\.Run\(" + LITERALS)),
    ((".jl",), re.compile(r"@testset " + LITERALS)),
    # Meson files also keep names in lists and dictionaries. A literal of three words there is a name.
    (("meson.build",), re.compile(r"(?:\btest\(\s*f?|\[\s*|(?<=\n)\s+|\{)'(?=[^']* [^']* )([A-Za-z](?:\\.|[^'*=\\])*)'")),
)


def comments(text):
    """Yields (line, text) of each comment. Lines of // that follow each other are one comment."""
    found = []
    end = None
    for match in TOKENS.finditer(text):
        token = match.group(0)
        if token[0] in "\"'":
            end = None
            continue
        line = text.count("\n", 0, match.start()) + 1
        if token.startswith("//"):
            words = token[2:].lstrip("/!").strip()  # Rust's documentation has a third character
            if end is not None and BETWEEN_LINES.fullmatch(text, end, match.start()):
                found[-1][1] += " " + words
            else:
                found.append([line, words])
            end = None if words.startswith("SPDX") else match.end()
        else:
            found.append([line, re.sub(r"\s*\n[ \t]*\*?[ \t]?", "\n", token.strip("/*")).strip()])
            end = None
    return found


def hash_comments(path, text):
    """Returns (line, text) of each comment that begins with #, and of each docstring. Lines that follow are joined."""
    lines = text.split("\n")
    if path.endswith(".py"):
        marks = [(token.start[0], token.start[1]) for token in tokenize.generate_tokens(io.StringIO(text).readline)
                 if token.type == tokenize.COMMENT]
    else:
        marks = [(number, next((match.start() for match in HASHES.finditer(line) if match.group(0) == "#"), None))
                 for number, line in enumerate(lines, 1)]
        marks = [(number, column) for number, column in marks if column is not None]
    found, last = [], None
    for number, column in marks:
        words = lines[number - 1][column:].lstrip("#!").strip()
        place = None if lines[number - 1][:column].strip() else (number, column)
        if last and place == (last[0] + 1, last[1]):
            found[-1][1] += "\n" + words
        else:
            found.append([number, words])
        last = None if words.startswith("SPDX") else place
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                docstring = ast.get_docstring(node)
                if docstring:
                    found.append([node.body[0].lineno, docstring])
    return found


def test_names(path, text):
    """Returns (line, name) of each test that the file names."""
    found = []
    for ends, expression in NAMES:
        if path.endswith(ends):
            for match in expression.finditer(text):
                name = match.group(1)
                if name.startswith('"'):
                    name = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', name))
                found.append((text.count("\n", 0, match.start(1)) + 1, name.replace("\\'", "'")))
    return found


def sentences(comment):
    """Splits a comment at ends of sentences, list items, tags and empty lines."""
    parts = re.split(r"\n\s*\n|\n\s*(?=- |\* |@|\|)|(?<=[.:;!?])\s+", comment)
    return [part for part in parts if part]


def problems(path, text):
    """Returns the places of one file that break a rule, a line for each."""
    broken = [f"{path}: it uses {match.group(0)}, a former name" for match in FORMER_NAMES.finditer(text)]
    if path.startswith(("tests/", "bindings/")):
        broken += [f"{path}:{line}: a test name has {len(name)} characters: {name[:50]!r}"
                   for line, name in test_names(path, text) if len(name) > LONGEST_NAME]
    if path.endswith(HASH_SOURCES):
        for line, comment in hash_comments(path, text):
            for sentence in sentences(comment):
                first = re.match(r"[A-Za-z]+", sentence)
                if first and first.group(0) in HASH_FRAGMENTS:
                    broken.append(f"{path}:{line}: a sentence of a comment begins with {first.group(0)}")
    if not path.endswith(SOURCES):
        return broken
    for line, comment in comments(text):
        first = re.match(r"[A-Za-z]+", comment)
        if first and first.group(0) in FRAGMENTS:
            broken.append(f"{path}:{line}: a comment begins with {first.group(0)}")
        if path.startswith("include/"):
            for sentence in sentences(comment):
                length = len(re.findall(r"[A-Za-z_0-9'`]+", sentence))
                if length > LONGEST:
                    broken.append(f"{path}:{line}: a sentence has {length} words: {sentence[:50]!r}")
    return broken


def too_many(folder, texts):
    """Returns a line for each kind of open word that the comments of a folder use too often."""
    words = [word.lower() for text in texts for _, comment in comments(text)
             for word in re.findall(r"[A-Za-z']+", comment)]
    broken = []
    for kind, most in LIMITS[folder].items():
        used = sum(word in OPEN_WORDS[kind] for word in words)
        if used * 10_000 > most * len(words):
            broken.append(f"{folder}: {used} of {len(words)} words are {' or '.join(OPEN_WORDS[kind])}")
    return broken


def files_of(root):
    """Returns the paths of the tracked files, or of all files if git cannot list them."""
    if shutil.which("git") is not None:
        listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            return listed.stdout.split("\n")
    return [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names]


def main(root):
    paths = files_of(root)
    broken = []
    texts = {folder: [] for folder in LIMITS}
    for path in paths:
        if not path.startswith(("include/", "src/", "backends/", "tests/", "tools/", "bench/", "examples/", "bindings/",
                                "docs/", "scripts/", "cmake/", ".ci/", "meson", "README")) or path.startswith("tests/prose/"):
            continue
        if not path.endswith(SOURCES + HASH_SOURCES + (".md", ".pyx", ".pxi", ".rs", ".go", ".jl")):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        broken += problems(path, text)
        folder = path.split("/")[0]
        if folder in texts and path.endswith(SOURCES):
            texts[folder].append(text)
    for folder, found in texts.items():
        broken += too_many(folder, found)
    print("\n".join(broken))
    print(f"{len(broken)} places")
    return 1 if broken or not all(texts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
