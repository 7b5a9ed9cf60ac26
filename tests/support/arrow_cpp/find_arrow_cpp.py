# SPDX-License-Identifier: Apache-2.0
"""Prints of the Arrow C++ in this Python's pyarrow: the version, the folder of the headers, the library."""

import glob
import os
import sys

try:
    import pyarrow
except ImportError as error:
    sys.exit(str(error))

libraries = [path for folder in pyarrow.get_library_dirs() for path in sorted(glob.glob(os.path.join(folder, "libarrow.so*")))]
if not libraries:
    sys.exit(f"pyarrow {pyarrow.__version__} brings no libarrow.so")
with open(libraries[0], "rb") as file:
    if b"__cxx11" not in file.read():
        sys.exit(f"pyarrow {pyarrow.__version__} is built for the older C++ ABI (_GLIBCXX_USE_CXX11_ABI=0)")
print(pyarrow.__version__, pyarrow.get_include(), libraries[0], sep="\n")
