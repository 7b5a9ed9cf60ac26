# SPDX-License-Identifier: Apache-2.0
"""Why there is no Vulkan device, as the tool says it: reasons_test.py TOOL"""

import os
import subprocess
import sys
import unittest

TOOL = sys.argv[1]


def run(*arguments, **environment):
    done = subprocess.run([TOOL, *arguments], env=os.environ | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, " ".join(done.stdout.split())


class Reasons(unittest.TestCase):
    def check(self, reason, **environment):
        _, text = run("explain", "vulkan", **environment)
        self.assertIn(reason, text)
        code, text = run("list", **environment)
        self.assertEqual(code, 0, text)
        self.assertNotRegex(text, r"vulkan +0 ")

    def test_the_tool_lists_vulkan_devices(self):
        _, text = run("list")
        self.assertRegex(text, "vulkan 0 .*vulkan 1 ")
        _, text = run("explain", "vulkan")
        self.assertIn("vulkan is there", text)

    def test_the_tool_explains_a_missing_loader(self):
        self.check("there is no Vulkan loader: /nonexistent/libvulkan.so.1: cannot open shared object file",
                   ARROWDEVICE_VULKAN_LIBRARY="/nonexistent/libvulkan.so.1")

    def test_the_tool_explains_a_library_that_is_not_a_loader(self):
        plugin = os.path.join(os.environ["VULKAN_PLUGIN_FOLDER"], "libarrowdevice-vulkan.so")
        self.check("is not a Vulkan loader: it has no vkGetInstanceProcAddr", ARROWDEVICE_VULKAN_LIBRARY=plugin)

    def test_the_tool_explains_a_relative_path_of_a_loader(self):
        self.check("ARROWDEVICE_VULKAN_LIBRARY=libvulkan.so.1: not an absolute path",
                   ARROWDEVICE_VULKAN_LIBRARY="libvulkan.so.1")

    def test_the_tool_explains_a_missing_driver(self):
        self.check("vkCreateInstance: VK_ERROR_INCOMPATIBLE_DRIVER (-9), the loader finds no Vulkan driver",
                   VK_ICD_FILENAMES="/nonexistent/driver.json", ARROWDEVICE_VULKAN_LIBRARY="")

    def test_the_tool_explains_unknown_options(self):
        self.check('ARROWDEVICE_VULKAN_WITHOUT: "timelines" is none of timeline_semaphores, external_memory_host',
                   ARROWDEVICE_VULKAN_WITHOUT="timelines")
        self.check('ARROWDEVICE_VULKAN_FORCE: "staging" is none of noncoherent', ARROWDEVICE_VULKAN_FORCE="staging")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
