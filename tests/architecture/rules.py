# SPDX-License-Identifier: Apache-2.0
"""The rules of the structure, as functions over a source tree. Each returns a line for each place that breaks it.

Used by check_sources.py on this tree and by rules_test.py on small made-up ones.
"""

import os
import re

# The layers, lowest first. A file may include its own layer and what stands before it here, nothing else.
LAYERS = ["base", "schema", "backend", "device", "array", "transfer", "inspect", "ipc", "interop", "stream", "link", "api"]

# The two walls: what drives devices knows nothing of Arrow's types. (schema/ stands below devices, so that the order of the
# layers keeps it from knowing them.)
WALLED_OFF_FROM_SCHEMA = {"backend", "device"}

# The layers of the library's source that a plugin may use.
USABLE_BY_BACKENDS = {"base"}

VENDOR_HEADER = re.compile(
    r"^(cuda|cuda_runtime|cuda_runtime_api|driver_types|nvml)\.h$|^hip/|^hsa/|^CL/|^OpenCL/|^vulkan/|^vk_\w+\.h$|"
    r"^level_zero/|^z(e|es|et)_\w+\.h$|^sycl/|^Metal/|^webgpu/|^AEEStd")

SOURCE_SUFFIXES = (".h", ".hh", ".hpp", ".c", ".cc", ".cpp", ".inc")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>|(\S+))', re.M)
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _sources(root, folder):
    for path, folders, files in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith(SOURCE_SUFFIXES):
                yield os.path.relpath(os.path.join(path, name), root)


def _without_comments(text):
    """Comments become blanks, lines stay; literals stay, since an #include is one."""
    def blank(match):
        token = match.group(0)
        return token if token[0] in "\"'" else re.sub(r"[^\n]", " ", token)
    return TOKENS.sub(blank, text)


def _read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return _without_comments(file.read())


def _includes(root, path):
    """(line, name as written, path inside the tree or None) of every include of a file."""
    text = _read(root, path)
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        name = match.group(1) or match.group(2)
        if name is None:
            yield line, match.group(3), "(computed)"
            continue
        found = None
        beside = [os.path.dirname(path)] if match.group(1) else []
        for folder in beside + ["src", "backends", "include"]:
            candidate = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(os.path.join(root, candidate)):  # <array> is no folder
                found = candidate
                break
        yield line, name, found


def _layer(path):
    parts = path.split(os.sep)
    return parts[1] if len(parts) > 2 else None


def layers(root):
    """Files under src/ include downwards only, and backends are no part of the library's source but for their tables."""
    broken = []
    for path in _sources(root, "src"):
        layer = _layer(path)
        if layer not in LAYERS:
            broken.append(f"{path}: {layer or 'src'} is not a layer: name its place among them in tests/architecture/rules.py")
            continue
        for line, name, target in _includes(root, path):
            where = f"{path}:{line}: #include \"{name}\""
            if target == "(computed)":
                broken.append(f"{path}:{line}: an include must name its file, not {name}")
            elif target is None:
                if "/" in name and name.split("/")[0] in LAYERS:
                    broken.append(f"{where}: there is no such file")
            elif target.startswith("backends" + os.sep):
                # Only the layer that registers backends may include the table of a linked backend.
                if layer != "backend":
                    broken.append(f"{where}: only src/backend/ may name a backend")
            elif target.startswith("src" + os.sep):
                used = _layer(target)
                if used not in LAYERS:
                    broken.append(f"{where}: {used} is not a layer")
                elif LAYERS.index(used) > LAYERS.index(layer):
                    broken.append(f"{where}: {layer} stands below {used}")
                elif used == "schema" and layer in WALLED_OFF_FROM_SCHEMA:
                    broken.append(f"{where}: {layer} knows nothing of Arrow's types")
    return broken


def backends(root):
    """A backend includes its own folder, the public headers and the lowest layer."""
    broken = []
    for path in _sources(root, "backends"):
        for line, name, target in _includes(root, path):
            where = f"{path}:{line}: #include \"{name}\""
            if target is None or target.startswith("include" + os.sep):
                if target is None and "/" in name and name.split("/")[0] in LAYERS:
                    broken.append(f"{where}: there is no such file")
            elif target == "(computed)":
                broken.append(f"{path}:{line}: an include must name its file, not {name}")
            elif target.startswith("src" + os.sep):
                if _layer(target) not in USABLE_BY_BACKENDS:
                    broken.append(f"{where}: a backend uses backend.h and src/base/, no other part of the library")
            elif target.startswith("backends" + os.sep):
                ours, theirs = _layer(path), _layer(target)
                # cuda and hip are two symbol tables over one folder, cuda_like, which then drives no device by itself.
                if ours != theirs and not (theirs or "").startswith("cuda_like"):
                    broken.append(f"{where}: {ours} and {theirs} are two backends")
            else:
                broken.append(f"{where}: outside of backends/")
    return broken


def vendor_headers(root):
    """Only backends, tests of their drivers, benchmarks and some examples may include vendor headers."""
    broken = []
    for folder in ("include", "src", "tools", "tests"):
        for path in _sources(root, folder):
            if path.startswith(os.path.join("tests", "drivers") + os.sep):
                continue
            for line, name, _ in _includes(root, path):
                if VENDOR_HEADER.search(name):
                    broken.append(f"{path}:{line}: #include <{name}>: vendor headers stay in backends/")
    return broken


def programs(root):
    """The public headers include each other, the tool and the examples nothing but them: they are what a user can write.
    The tool reads files too, for which users have an Arrow library."""
    file_reader = os.path.join("src", "ipc", "file_reader.h")
    broken = []
    for folder in ("include", "tools", "examples"):
        for path in _sources(root, folder):
            for line, name, target in _includes(root, path):
                if target is None or target.split(os.sep)[0] in ("include", folder):
                    continue
                if folder == "tools" and target == file_reader:
                    continue
                broken.append(f"{path}:{line}: #include \"{name}\": not a public header")
    return broken


def _only_in(root, allowed, words, reason):
    """Code of the library and of the backends has the words in one file."""
    broken = []
    allowed = os.path.join("src", "base", allowed)
    for folder in ("src", "backends"):
        for path in _sources(root, folder):
            if path == allowed:
                continue
            text = TOKENS.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), _read(root, path))
            for match in re.finditer(words, text):
                line = text.count("\n", 0, match.start()) + 1
                broken.append(f"{path}:{line}: {match.group(0)}: only {allowed} {reason}")
    return broken


def environment(root):
    """The process environment is read in one place."""
    return _only_in(root, "environment.cc", r"\b(?:secure_)?getenv\b|\benviron\b", "reads the environment")


def condition_variables(root):
    """The wait() of the standard library needs a symbol that systems of manylinux_2_34 lack."""
    return _only_in(root, "condition_variable.h", r"\bstd::condition_variable(?:_any)?\b",
                    "uses those of the standard library; use its ConditionVariable")


RULES = [layers, backends, vendor_headers, programs, environment, condition_variables]
