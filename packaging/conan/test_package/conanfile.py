# SPDX-License-Identifier: Apache-2.0
"""Builds examples/consumer with the package, and runs it on the CPU and on a simulated device."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain


class Consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        self.folders.root = os.path.join("..", "..", "..")
        self.folders.source = os.path.join("examples", "consumer")
        self.folders.build = "build-conan"
        self.folders.generators = os.path.join("build-conan", "generators")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # no file in the sources
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            program = os.path.join(self.build_folder, "accept")
            self.run(f"{program} cpu", env="conanrun")
            self.run(f"ARROWDEVICE_SIM_DEVICES=addresses {program} ext_dev:0", env="conanrun")
