# SPDX-License-Identifier: Apache-2.0
"""Conan 2 packages the tree that this file is in: `conan create packaging/conan`. Meson, Ninja,
pkg-config and the headers of flatbuffers are the system's."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, load, rmdir
from conan.tools.layout import basic_layout
from conan.tools.meson import Meson, MesonToolchain

BACKENDS = ["sim", "cuda", "hip", "opencl", "vulkan", "level_zero"]


class Libarrowdevice(ConanFile):
    name = "libarrowdevice"
    description = "Arrow data on any device: export, import, move, copy, release"
    license = "Apache-2.0"
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    # The last three need headers of the system, so they are not built by default.
    options = {name: [True, False] for name in BACKENDS}
    default_options = {name: name in ("sim", "cuda", "hip") for name in BACKENDS}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"^  version: '(.*)',$", load(self, os.path.join(self._root, "meson.build")), re.M).group(1)

    def export_sources(self):
        for pattern in ("meson*", "pyproject.toml", "LICENSE", "include/*", "src/*", "backends/*", "cmake/*", "bench/*"):
            copy(self, pattern, self._root, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libarrowdevice needs Linux")

    def configure(self):
        # The interface is C, and the library is C++20 whatever the program is.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self):
        basic_layout(self)

    def generate(self):
        toolchain = MesonToolchain(self)
        for part in ("tests", "tools", "examples", "bench"):
            toolchain.project_options[part] = "disabled"
        for name in BACKENDS:
            toolchain.project_options[name] = "enabled" if self.options.get_safe(name) else "disabled"
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        Meson(self).install()
        # Conan writes these files for each program.
        for name in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", name))

    def package_info(self):
        self.cpp_info.libs = ["arrowdevice"]
        self.cpp_info.set_property("cmake_file_name", "arrowdevice")
        self.cpp_info.set_property("cmake_target_name", "arrowdevice::arrowdevice")
        self.cpp_info.set_property("pkg_config_name", "arrowdevice")
