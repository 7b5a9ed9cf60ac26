# SPDX-License-Identifier: Apache-2.0
"""Elsewhere than on Debian and Ubuntu the README's two commands print what to install: install_deps_test.py SCRIPTS

They run with a PATH that has the shell's own tools, but no compiler, no Python and no apt-get.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.abspath(sys.argv.pop(1))

SHELL_TOOLS = ("sh", "cat", "dirname", "env", "grep", "id", "ls", "mkdir", "mktemp", "rm", "tr")


class WithoutAptGet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tools = os.path.join(self.folder.name, "tools")
        os.mkdir(self.tools)
        for name in SHELL_TOOLS:
            os.symlink(shutil.which(name), os.path.join(self.tools, name))

    def run_script(self, name):
        return subprocess.run([os.path.join(SCRIPTS, name)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env={"PATH": self.tools, "ARROWDEVICE_BUILD": os.path.join(self.folder.name, "build")})

    def expect_names(self, text):
        for package in ("gcc", "g++", "meson", "ninja-build", "pkg-config", "python3"):
            self.assertIn(f" {package} ", text, text)
        for part in ("C++20", "Meson 1.0", "flatbuffers", "Catch2", "OpenCL", "Vulkan", "Level Zero"):
            self.assertIn(part, text)

    def test_demo_says_what_to_install(self):
        done = self.run_script("demo.sh")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.expect_names(done.stderr)

    def test_test_says_what_to_install_and_counts_a_failure(self):
        done = self.run_script("test.sh")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.expect_names(done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed")


unittest.main()
