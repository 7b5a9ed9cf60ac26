# SPDX-License-Identifier: Apache-2.0
"""Finds the places in C++ files where one small change makes a plausible mistake, and draws from them.

The places are found line by line with patterns. Comments, strings, preprocessor lines, logging and
compile-time checks are left out.
"""

import os
import random
import re
from dataclasses import dataclass

# The replaced texts. Each pattern is searched in lines without comments and strings.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
IS_LEFT_OUT = re.compile(r"\b(log|log_set_handler|assert|static_assert|template|requires|using|namespace|friend|operator)\b")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXCHANGED = [  # kind, pattern, replacement
    ("bound", re.compile(r"(?<= )(?:<=|>=|<|>)(?= )"), COMPARISONS.get),
    ("condition", re.compile(r"(?<= )(?:==|!=)(?= )"), COMPARISONS.get),
    ("condition", re.compile(r"(?<= )(?:&&|\|\|)(?= )"), {"&&": "||", "||": "&&"}.get),
    ("bound", re.compile(r" [+-] 1\b(?![.'])"), lambda _: ""),
    ("bound", re.compile(r"(?<= )[+-](?= [\w(])"), {"+": "-", "-": "+"}.get),
    ("bound", re.compile(r"\bstd::(?:min|max)\b"), {"std::min": "std::max", "std::max": "std::min"}.get),
    ("value", re.compile(r"\b(?:true|false)\b"), {"true": "false", "false": "true"}.get),
    ("error code", re.compile(r"\bE(?:INVAL|NODEV|NOTSUP|IO|NOMEM|TIMEDOUT|BUSY|CANCELED|NOENT|FBIG|EXIST)\b"),
     lambda code: "EIO" if code == "EINVAL" else "EINVAL"),
]
IF = re.compile(r"^\s*(?:\} )?(?:else )?if (?=\()")
LOCK = re.compile(r"^(\s*)(?:const )?std::(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b[^;]*;\s*$")
CALL = re.compile(r"^(\s*)(?!return\b|throw\b|delete\b|if\b|for\b|while\b|switch\b|else\b|case\b)[\w*(][\w:.\->\[\]*()]*\([^;{}]*\);\s*$")
DECLARES = re.compile(r"\([^()]*(?<!\bsizeof)(?<!\bnew)(?<=[\w>&*]) \w+ ?[,)=]")  # "(Type name)"
CALL_IN_BODY = re.compile(r"(?<=\{ )(?!return\b|throw\b|delete\b)[\w:.\->]+\([^;{}]*\);(?= \})")
ASSIGNMENT = re.compile(r"^(\s*)[\w*][\w.\->\[\]]* (?:[-+|&]?=) [^;{}]*;\s*$")
CONTINUE = re.compile(r"^(\s*)(?:continue|return);\s*$")
WAITS = re.compile(r"wait|drain|flush|sync|fence|idle|join|notify|lock|order", re.I)
STARTS_STATEMENT = re.compile(r"[;{}):]\s*$|\belse\s*$|^\s*$")


@dataclass(frozen=True)
class Mutation:
    path: str  # from the root of the repository
    line: int  # of the first changed line, from 1
    kind: str
    before: str  # whole lines
    after: str

    @property
    def name(self):
        """The mutation as tests/mutations.txt has it: without the number of the line."""
        return f"{self.path}: {flat(self.before)} => {flat(self.after)}"

    @property
    def key(self):
        return f"{self.line} {self.name}"

    def apply(self, text):
        lines = text.split("\n")
        count = self.before.count("\n") + 1
        if "\n".join(lines[self.line - 1:self.line - 1 + count]) != self.before:
            raise ValueError(f"{self.path}:{self.line} is not {self.before!r}")
        lines[self.line - 1:self.line - 1 + count] = self.after.split("\n")
        return "\n".join(lines)


def flat(text):
    return " / ".join(line.strip() for line in text.split("\n"))


def mask(text):
    """The text with blanks for comments, strings and preprocessor lines."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def closing(line, begin):
    """The index behind the parenthesis that closes the one at `begin`, or None if that is on another line."""
    depth = 0
    for i in range(begin, len(line)):
        depth += (line[i] == "(") - (line[i] == ")")
        if depth == 0:
            return i + 1
    return None


def is_statement(pattern, code, i):
    """Returns true if line `i` is a whole statement that the pattern matches."""
    return bool(pattern.match(code[i]) and code[i].count("(") == code[i].count(")")
                and (i == 0 or STARTS_STATEMENT.search(code[i - 1]))
                and not IS_LEFT_OUT.search(code[i]) and not DECLARES.search(code[i]))


def may_change_places(code, i):
    """Returns true if lines `i` and `i + 1` are statements whose order can matter."""
    both = code[i:i + 2]
    if not all(is_statement(CALL, code, j) or is_statement(ASSIGNMENT, code, j) for j in (i, i + 1)) or both[0] == both[1]:
        return False
    targets = [re.match(r"(\s*)([^=]*[^=\s])", line) for line in both]
    if targets[0][1] != targets[1][1]:
        return False  # another depth
    calls = any("(" in line for line in both)
    return calls or targets[0][2].rstrip("+-|& ") in both[1] or targets[1][2].rstrip("+-|& ") in both[0]


def find(path, text):
    """All mutations of a file, in the order of its lines."""
    lines, code, found = text.split("\n"), mask(text).split("\n"), []

    def add(i, kind, after, count=1):
        found.append(Mutation(path, i + 1, kind, "\n".join(lines[i:i + count]), after))

    for i, line in enumerate(code):
        if not line.strip() or IS_LEFT_OUT.search(line):
            continue
        for kind, pattern, exchange in EXCHANGED:
            for one in pattern.finditer(line):
                if one[0] in "+-" and '"' in lines[i]:
                    continue  # joins texts
                add(i, kind, lines[i][:one.start()] + exchange(one[0]) + lines[i][one.end():])
        begin = IF.match(line)
        end = begin and closing(line, begin.end())
        if end and ";" not in line[:end] and " = " not in line[:end]:
            condition = lines[i][begin.end():end]
            add(i, "condition", lines[i][:begin.end()] + f"(!{condition})" + lines[i][end:])
            add(i, "condition", lines[i][:begin.end()] + f"(false && {condition})" + lines[i][end:])
        for kind, pattern in (("missing lock", LOCK), ("missing call", CALL), ("missing value", ASSIGNMENT), ("missing exit", CONTINUE)):
            if is_statement(pattern, code, i):
                waits = kind == "missing call" and WAITS.search(line)
                add(i, "missing wait" if waits else kind, pattern.match(line)[1] + ";")
        for one in CALL_IN_BODY.finditer(line):
            add(i, "missing wait" if WAITS.search(one[0]) else "missing call", lines[i][:one.start()] + ";" + lines[i][one.end():])
        if i + 1 < len(code) and may_change_places(code, i):
            add(i, "order", lines[i + 1] + "\n" + lines[i], 2)
    return found


def shuffled(path, mutations, seed):
    """All mutations of a file in a drawn order. The kinds take turns, so that the rare kinds come early."""
    chance = random.Random(f"{seed} {path}")
    kinds = {}
    for one in mutations:
        kinds.setdefault(one.kind, []).append(one)
    for members in kinds.values():
        chance.shuffle(members)
    turns = list(kinds.values())
    chance.shuffle(turns)
    return [members[i] for i in range(max(map(len, turns), default=0)) for members in turns if i < len(members)]


def draw(root, seed, folders=("src", "backends")):
    """All mutations of the folders. The order depends only on the seed and the files. Any first part of it has a
    share of each file, which grows with the root of the file's mutations."""
    drawn = []
    for folder in folders:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".cc", ".h")):
                    path = os.path.relpath(os.path.join(place, name), root)
                    with open(os.path.join(root, path), encoding="utf-8") as file:
                        mutations = shuffled(path, find(path, file.read()), seed)
                    start = random.Random(f"{seed} start {path}").random()
                    drawn += [((i + start) / len(mutations) ** 0.5, path, one) for i, one in enumerate(mutations)]
    return [one for _, _, one in sorted(drawn, key=lambda entry: entry[:2])]
