# SPDX-License-Identifier: Apache-2.0
"""Compares the Julia sources with the C headers, without Julia.

    declarations_test.py ROOT [JULIA_FOLDER] [-- COMPILER...]

- Every @ccall names a function of the C headers and has its number and types of arguments.
- Every struct has the fields of the header, in the same order and with the same types. The asserted size is the header's.
- Every constant has the header's value.
- The README shows the code that the tests run.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap

arguments = sys.argv[1:]
compiler = ["cc"]
if "--" in arguments:
    compiler = arguments[arguments.index("--") + 1:]
    arguments = arguments[:arguments.index("--")]
root = arguments[0]
package = arguments[1] if len(arguments) > 1 else os.path.join(root, "bindings", "julia")
include = os.path.join(root, "include")
wrong = []

# -- the headers ----------------------------------------------------------------------------------------------------

STRUCTS = {
    "CError": "arrowdevice_error", "CDeviceInfo": "arrowdevice_device_info",
    "CDeviceCounters": "arrowdevice_device_counters", "CCopyOptions": "arrowdevice_copy_options",
    "CSchema": "ArrowSchema", "CArray": "ArrowArray", "CDeviceArray": "ArrowDeviceArray"}
CONSTANTS = {"DEVICE_CPU": "ARROW_DEVICE_CPU", "FLAG_NULLABLE": "ARROW_FLAG_NULLABLE"}


sys.path.insert(0, os.path.join(root, "scripts"))
import c_api  # noqa: E402

header = c_api.header_text(include)
wrong += c_api.check_declared(header, root)


def split(text):
    """Splits a list at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in parts + [text[start:]] if part.strip()]


def c_parameter(text):
    """Returns (type, stars) of a parameter or member, without its name."""
    if "(*" in text:
        return "function", 1
    text = re.sub(r"\bconst\b", " ", text)
    stars = text.count("*")
    words = text.replace("*", " ").split()
    kept = 2 if words[0] == "struct" else 1
    return " ".join(words[:kept]), stars


def c_fields(name):
    body = re.search(r"struct " + name + r"\s*\{(.*?)\n\};", header, re.S)
    if body is None:
        return None
    fields = []
    for declaration in body.group(1).split(";"):
        declaration = declaration.strip()
        if not declaration:
            continue
        function = re.match(r".*?\(\s*\*\s*(\w+)\)", declaration, re.S)
        if function:
            fields.append((function.group(1), ("function", 1), 1))
            continue
        first, *others = split(declaration)
        base = re.match(r"((?:const\s+)?(?:struct\s+)?\w+)", first).group(1)
        for declarator in [first[len(base):]] + others:
            member = re.search(r"(\w+)\s*(?:\[(\d+)\])?\s*$", declarator)
            fields.append((member.group(1), c_parameter(base + " " + declarator), int(member.group(2) or 1)))
    return fields


prototypes = {}
for match in re.finditer(r"ARROWDEVICE_API\s+([^;(]*?)\b(arrowdevice_\w+)\(((?:[^()]|\([^()]*\))*)\)\s*;", header):
    parameters = [] if match.group(3).strip() == "void" else [c_parameter(part) for part in split(match.group(3))]
    prototypes[match.group(2)] = (c_parameter(match.group(1)), parameters)

# -- the Julia sources ----------------------------------------------------------------------------------------------

VALUES = {
    "Cvoid": "void", "Cint": "int", "Int32": "int32_t", "UInt32": "uint32_t", "Int64": "int64_t", "UInt64": "uint64_t",
    "UInt8": "byte"} | {name: "struct " + c_name for name, c_name in STRUCTS.items()}
SAME = {"ArrowDeviceType": "int32_t", "char": "byte", "uint8_t": "byte", "function": "void"}
# Julia has only pointers to these structs, as Ptr{Cvoid}.
OPAQUE = ["struct arrowdevice_" + name for name in ("device", "queue", "pool", "view")]


def julia_type(text):
    """Returns (type, stars) of a Julia type, as c_parameter() does."""
    if text == "Cstring":
        return "byte", 1
    stars = 0
    while match := re.fullmatch(r"(?:Ptr|Ref)\{(.*)\}", text):
        stars, text = stars + 1, match.group(1)
    return VALUES.get(text, "unknown type " + text), stars


def agree(c, julia):
    kind, stars = c
    if kind in OPAQUE:
        kind = "void"
    return (SAME.get(kind, kind), stars) == julia


sources = {}
for folder, _, names in os.walk(package):
    for name in sorted(names):
        if name.endswith(".jl"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                sources[os.path.relpath(os.path.join(folder, name), package)] = file.read()
code = {path: re.sub(r"^\s*#.*$", "", text, flags=re.M) for path, text in sources.items()}

calls = 0
for path, text in code.items():
    for match in re.finditer(r"@ccall\b", text):
        line = text.count("\n", 0, match.start()) + 1
        call = re.match(r"@ccall\s+libarrowdevice\.(\w+)\(", text[match.start():])
        if call is None:
            wrong.append(f"{path}:{line}: invalid @ccall (expected libarrowdevice.name(...))")
            continue
        calls += 1
        name, start = call.group(1), match.start() + call.end()
        end, depth = start, 1
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        passed = split(text[start:end - 1])
        result = re.match(r"::([\w{}]+)", text[end:])
        if name not in prototypes:
            wrong.append(f"{path}:{line}: the headers have no function {name}")
            continue
        c_result, parameters = prototypes[name]
        if result is None or not agree(c_result, julia_type(result.group(1))):
            wrong.append(f"{path}:{line}: {name} returns {c_result}")
        if len(passed) != len(parameters):
            wrong.append(f"{path}:{line}: {name} has {len(passed)} arguments (expected {len(parameters)})")
            continue
        for place, (argument, parameter) in enumerate(zip(passed, parameters), 1):
            type_name = argument.rpartition("::")[2]
            if not agree(parameter, julia_type(type_name)):
                wrong.append(f"{path}:{line}: argument {place} of {name} is {type_name} (expected {parameter})")
    for match in re.finditer(r"\(:(arrowdevice_\w+),", text):
        if match.group(1) not in prototypes:
            wrong.append(f"{path}: the headers have no function {match.group(1)}")
if calls < 15:
    wrong.append(f"found {calls} calls (expected at least 15)")

structs_source = code.get(os.path.join("src", "structs.jl"), "")
checks = ["#include <stddef.h>", "#include <arrowdevice/arrowdevice.h>"]
julia_structs = dict(re.findall(r"^struct (\w+)\n(.*?)^end$", structs_source, re.M | re.S))
for missing in STRUCTS.keys() ^ julia_structs.keys():
    wrong.append(f"src/structs.jl: {missing} is missing, either there or in STRUCTS of this test")
for name, body in julia_structs.items():
    c_name = STRUCTS.get(name)
    fields = c_fields(c_name) if c_name else None
    if fields is None:
        wrong.append(f"src/structs.jl: the headers have no struct for {name}")
        continue
    declared = []
    for line in body.split("\n"):
        if line.strip():
            field, _, type_name = line.strip().partition("::")
            many = re.fullmatch(r"NTuple\{(\d+),(\w+)\}", type_name)
            declared.append((field, many.group(2) if many else type_name, int(many.group(1)) if many else 1))
    if [field for field, *_ in declared] != [field for field, *_ in fields]:
        wrong.append(f"{name}: has {[field for field, *_ in declared]} (expected {[field for field, *_ in fields]})")
        continue
    for (field, type_name, many), (_, c_type, c_many) in zip(declared, fields):
        if not agree(c_type, julia_type(type_name)) or many != c_many:
            wrong.append(f"{name}.{field}: is {type_name} times {many} (expected {c_type} times {c_many})")
    size = re.search(r"@assert sizeof\(" + name + r"\) == (\d+)", structs_source)
    if size is None:
        wrong.append(f"src/structs.jl: has no assertion of the size of {name}")
    else:
        checks.append(f'_Static_assert(sizeof(struct {c_name}) == {size.group(1)}, "size of {name}");')
    # Julia guarantees the layout of C for such structs. The sizes alone are asserted.
for name, kind, value in re.findall(r"^const (\w+) = (Int32|UInt32|Int64|Cint)\((-?\d+)\)$", structs_source, re.M):
    checks.append(f'_Static_assert({CONSTANTS.get(name, "ARROWDEVICE_" + name)} == {value}, "{name}");')
with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "one.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(checks) + "\n")
    compiled = subprocess.run(compiler + ["-std=c11", "-fsyntax-only", "-I", include, source]).returncode
if compiled:
    wrong.append("sizes or constants differ, see above")

with open(os.path.join(package, "README.md"), encoding="utf-8") as file:
    shown = re.findall(r"```julia\nusing ArrowDevice\n\n(.*?)```", file.read(), re.S)
run = re.search(r" *# README begins\n(.*?) *# README ends", sources.get(os.path.join("test", "runtests.jl"), ""), re.S)
if run is None or shown != [textwrap.dedent(run.group(1))]:
    wrong.append("README.md: the Julia code differs from the code between the README marks of test/runtests.jl")

print("\n".join(wrong))
print(f"{calls} calls, {len(julia_structs)} structs, {len(checks) - 2} sizes and constants: {len(wrong)} differ")
sys.exit(1 if wrong else 0)
