# SPDX-License-Identifier: Apache-2.0
"""Compares the backend's list of fatal errors with the comments of NVIDIA's header: fatal_codes.py PROGRAM cuda.h

PROGRAM prints a line `fatal CODE NAME` for each fatal error.
"""

import re
import subprocess
import sys

# The header says that the context or the process is unusable after the error.
UNUSABLE = re.compile(r"must be terminated|cannot be used any ?more")

# Fatal too, although the comments do not say so. The memory or the context of the error does not exist any more.
ALSO_FATAL = {
    "CUDA_ERROR_ECC_UNCORRECTABLE",
    "CUDA_ERROR_NVLINK_UNCORRECTABLE",
    "CUDA_ERROR_CONTEXT_IS_DESTROYED",
}


def fatal_in_header(text):
    results = re.search(r"typedef enum cudaError_enum \{(.*?)\} CUresult;", text, re.DOTALL).group(1)
    fatal = set()
    for comment, name in re.findall(r"/\*\*(.*?)\*/\s*(CUDA_\w+)\s*=", results, re.DOTALL):
        if UNUSABLE.search(" ".join(re.sub(r"\n\s*\*", " ", comment).split())):
            fatal.add(name)
    return fatal


def main(program, header):
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    ours = {line.split()[2] for line in output.splitlines() if line.startswith("fatal ")}
    with open(header, encoding="utf-8", errors="replace") as file:
        text = file.read()
    theirs = fatal_in_header(text)
    if len(theirs) < 10:
        sys.exit(f"only {len(theirs)} fatal errors were found in {header}: its comments have another form")
    missing = theirs - ours
    known = {name for name in ours if re.search(rf"\b{name}\b", text)}
    wrong = known - theirs - ALSO_FATAL
    for name in sorted(missing):
        print(f"{name} is fatal by {header}, but not in the backend")
    for name in sorted(wrong):
        print(f"{name} is fatal in the backend, but not by {header}")
    if missing or wrong:
        sys.exit(1)
    print(f"{len(theirs)} fatal errors are the same as in {header}")


if __name__ == "__main__":
    main(*sys.argv[1:])
