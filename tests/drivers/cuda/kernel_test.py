# SPDX-License-Identifier: Apache-2.0
"""Compiles the CUDA kernel of examples/sum_cuda.py without a GPU: kernel_test.py LIBNVRTC EXAMPLE"""

import ast
import ctypes
import sys


def kernel_of(path):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    values = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "SUM"]
    return ast.literal_eval(values[0])


def compile_to_ptx(nvrtc, source):
    """Returns the PTX, or raises ValueError with the compiler's messages."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"sum.cu", 0, None, None) != 0:
        raise ValueError("nvrtcCreateProgram failed")
    failed = nvrtc.nvrtcCompileProgram(program, 0, None) != 0
    of_size, get = (nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog) if failed else (
        nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    of_size(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise ValueError(text.value.decode())
    return text.value.decode()


def main(library, example):
    nvrtc = ctypes.CDLL(library)
    source = kernel_of(example)
    if ".entry sum(" not in compile_to_ptx(nvrtc, source):
        raise ValueError("the PTX has no kernel")
    try:
        compile_to_ptx(nvrtc, source.replace("*out = 0;", "*out = nothing;"))
    except ValueError as error:
        if "nothing" in str(error):
            return
    raise ValueError("the compiler accepts a wrong kernel")


if __name__ == "__main__":
    main(*sys.argv[1:])
