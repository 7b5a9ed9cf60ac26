# SPDX-License-Identifier: Apache-2.0
"""Checks what can be counted of the language of comments: check_prose.py ROOT

 - No comment begins with a word of FRAGMENTS, because such a comment is no sentence.
 - A sentence in a public header has at most LONGEST words.
 - Few words of a comment leave the actor or the condition open; LIMITS has the most per 10,000 words.
 - No file uses a name that the C API had before its names were noun and verb.
"""

import os
import re
import shutil
import subprocess
import sys

FRAGMENTS = ("Of", "What", "Where", "Whether", "Who", "Whoever", "Nobody", "Nothing", "Somebody")
LONGEST = 30
OPEN_WORDS = {"what": ("what",), "who": ("who", "whoever", "nobody", "somebody", "anybody")}
# By folder: the most per 10,000 words.
LIMITS = {"include": {"what": 10, "who": 2}, "src": {"what": 15, "who": 3}, "backends": {"what": 15, "who": 3}}
FORMER_NAMES = re.compile(
    r"\barrowdevice_(?:(?:array|stream|async)_move_to|device_(?:adopt|retire|reach|get|find|describe|memory|native|pool"
    r"|type_name)|backend_explain|queue_native|array_(?:wait_on|ready|device)|buffer_(?:copy|sub|sub_free)"
    r"|view_(?:root|array|device)|stream_(?:schema|next)|quiesce|set_log_handler|set_manual_reaping|reap)\b"
    r"|\bARROWDEVICE_(?:DEVICE_ADOPTED|REACH_\w+|COPY_WHOLE|IMPORT_SIZES|ASYNC_LAYOUT_(?:SHIPPED|PUBLISHED))\b")

SOURCES = (".c", ".cc", ".h", ".hpp", ".inc")
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
BETWEEN_LINES = re.compile(r"\n[ \t]*")


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
            words = token[2:].strip()
            if end is not None and BETWEEN_LINES.fullmatch(text, end, match.start()):
                found[-1][1] += " " + words
            else:
                found.append([line, words])
            end = None if words.startswith("SPDX") else match.end()
        else:
            found.append([line, re.sub(r"\s*\n[ \t]*\*?[ \t]?", "\n", token.strip("/*")).strip()])
            end = None
    return found


def sentences(comment):
    """Splits a comment at ends of sentences, list items, tags and empty lines."""
    parts = re.split(r"\n\s*\n|\n\s*(?=- |\* |@|\|)|(?<=[.:;!?])\s+", comment)
    return [part for part in parts if part]


def problems(path, text):
    """Returns the places of one file that break a rule, a line for each."""
    broken = [f"{path}: it uses {match.group(0)}, a former name" for match in FORMER_NAMES.finditer(text)]
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
                                "docs/", "scripts/", "README")) or path.startswith("tests/prose/"):
            continue
        if not path.endswith(SOURCES + (".md", ".py", ".pyx", ".pxi", ".rs", ".go", ".jl", ".sh", ".build")):
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
