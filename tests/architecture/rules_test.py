# SPDX-License-Identifier: Apache-2.0
"""Each rule must let a tidy tree pass and name the place in an untidy one."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402

TIDY = {
    "include/arrowdevice/arrowdevice.h": '#include <stdint.h>\n#include "abi.h"\n',
    "include/arrowdevice/abi.h": "#include <stdint.h>\n",
    "include/arrowdevice/backend.h": '#include "arrowdevice.h"\n',
    "src/base/error.h": "#include <arrowdevice/arrowdevice.h>\n#include <transfer>\n",
    "src/base/environment.cc": 'const char* v = std::getenv("X");\n',
    "src/base/condition_variable.h": "class ConditionVariable : private std::condition_variable {};\n",
    "src/schema/tree.h": '#include "base/error.h"\n',
    "src/backend/registry.cc": '#include "base/error.h"\n#include "cpu/cpu.h"\n#include <dlfcn.h>\n',
    "src/device/device.h": '#include "backend/registry.h"\n',
    "src/backend/registry.h": "#include <arrowdevice/backend.h>\n",
    "src/array/plan.cc": '#include "plan.h"\n#include "schema/tree.h"\n#include "device/device.h"\n',
    "src/array/plan.h": "#pragma once\n",
    "src/transfer/copy.h": '#include "array/plan.h"\n',
    "src/api/transfer.cc": '#include "transfer/copy.h"\n// #include "../../nowhere.h"\n/* getenv("X") */\n',
    "backends/cpu/cpu.h": "#include <arrowdevice/backend.h>\n",
    "backends/sim/sim.cc": '#include "sim/engine.h"\n#include "base/error.h"\n',
    "backends/sim/engine.h": "#pragma once\n",
    "backends/opencl/opencl.cc": "#include <CL/cl.h>\n",
    "tools/arrowdevice/main.cc": '#include "table.h"\n#include <arrowdevice/arrowdevice.h>\n',
    "tools/arrowdevice/table.h": "#include <string>\n",
    "examples/move.c": "#include <arrowdevice/arrowdevice.h>\n",
    "tests/drivers/opencl/stand_in.cc": "#include <CL/cl.h>\n",
}


class Rules(unittest.TestCase):
    def broken(self, rule, changes):
        with tempfile.TemporaryDirectory() as root:
            for path, text in (TIDY | changes).items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return rule(root)

    def refuses(self, rule, path, text, reason, line=1):
        """Only that place is named, with that reason."""
        found = self.broken(rule, {path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:{line}: "), found)
        self.assertIn(reason, found[0])

    def test_a_tidy_tree_passes_every_rule(self):
        for rule in rules.RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(self.broken(rule, {}), [])

    def test_every_layer_of_the_design_is_known(self):
        self.assertEqual(sorted(rules.LAYERS), sorted(
            ["api", "stream", "inspect", "transfer", "array", "interop", "ipc", "link", "device", "backend", "schema", "base"]))

    def test_no_layer_includes_one_above_it(self):
        for position, lower in enumerate(rules.LAYERS):
            for upper in rules.LAYERS[position + 1:]:
                with self.subTest(lower=lower, upper=upper):
                    found = self.broken(rules.layers, {f"src/{lower}/new.cc": f'#include "{upper}/new.h"\n',
                                                       f"src/{upper}/new.h": "\n"})
                    self.assertEqual(len(found), 1, found)
                    self.assertIn(f"{lower} stands below {upper}", found[0])

    def test_an_upward_include_is_found_in_any_spelling(self):
        for text in ('#include "../transfer/copy.h"\n', '#include <transfer/copy.h>\n', '  #  include "transfer/copy.h"\n',
                     '#include "../array/../transfer/copy.h"\n', '#include /* up */ "transfer/copy.h"\n'):
            with self.subTest(text=text):
                self.refuses(rules.layers, "src/array/new.cc", text, "array stands below transfer")

    def test_the_report_has_the_line_of_the_include(self):
        self.refuses(rules.layers, "src/base/new.h", '/* two\nlines */\n\n#include "schema/tree.h"\n',
                     "base stands below schema", line=4)

    def test_devices_and_backends_do_not_include_schema(self):
        for layer in ("device", "backend"):
            with self.subTest(layer=layer):
                self.refuses(rules.layers, f"src/{layer}/new.cc", '#include "schema/tree.h"\n',
                             f"{layer} knows nothing of Arrow's types")

    def test_schema_does_not_include_devices_and_backends(self):
        self.refuses(rules.layers, "src/schema/new.cc", '#include "device/device.h"\n', "schema stands below device")
        self.refuses(rules.layers, "src/schema/new.cc", '#include "backend/registry.h"\n', "schema stands below backend")
        self.refuses(rules.layers, "src/schema/new.cc", '#include "cpu/cpu.h"\n', "only src/backend/ may name a backend")

    def test_only_the_registering_layer_names_a_backend(self):
        self.refuses(rules.layers, "src/transfer/new.cc", '#include "cpu/cpu.h"\n', "only src/backend/ may name a backend")

    def test_a_new_folder_needs_a_layer(self):
        found = self.broken(rules.layers, {"src/utils/new.cc": "\n"})
        self.assertEqual(len(found), 1, found)
        self.assertIn("utils is not a layer", found[0])

    def test_an_include_of_a_missing_file_is_found(self):
        self.refuses(rules.layers, "src/base/new.cc", '#include "transfer/generated.h"\n', "there is no such file")

    def test_a_computed_include_is_refused(self):
        self.refuses(rules.layers, "src/base/new.cc", "#include UPPER\n", "must name its file")
        self.refuses(rules.backends, "backends/sim/new.cc", "#include UPPER\n", "must name its file")

    def test_a_backend_uses_the_lowest_layer_only(self):
        for header in ("schema/tree.h", "device/device.h", "backend/registry.h", "../../src/transfer/copy.h"):
            with self.subTest(header=header):
                self.refuses(rules.backends, "backends/sim/new.cc", f'#include "{header}"\n', "no other part of the library")

    def test_a_backend_does_not_use_another(self):
        self.refuses(rules.backends, "backends/sim/new.cc", '#include "cpu/cpu.h"\n', "sim and cpu are two backends")
        self.assertEqual(self.broken(rules.backends, {"backends/cuda/new.cc": '#include "cuda_like/queue.h"\n',
                                                      "backends/cuda_like/queue.h": "\n"}), [])

    def test_vendor_headers_stay_in_backends(self):
        for header in ("cuda.h", "cuda_runtime.h", "hip/hip_runtime_api.h", "CL/cl.h", "CL/opencl.h", "vulkan/vulkan.h",
                       "level_zero/ze_api.h", "ze_api.h"):
            for path in ("src/device/new.cc", "include/arrowdevice/new.h", "tools/arrowdevice/new.cc",
                         "tests/unit/new.cc"):
                with self.subTest(header=header, path=path):
                    self.refuses(rules.vendor_headers, path, f"#include <{header}>\n", "vendor headers stay in backends/")
        self.assertEqual(self.broken(rules.vendor_headers, {"examples/new.c": "#include <CL/cl.h>\n"}), [])

    def test_programs_use_public_headers_only(self):
        self.refuses(rules.programs, "tools/arrowdevice/new.cc", '#include "base/error.h"\n', "not a public header")
        self.assertEqual(self.broken(rules.programs, {"src/ipc/file_reader.h": "", "tools/arrowdevice/new.cc": '#include "ipc/file_reader.h"\n'}), [])
        self.refuses(rules.programs, "examples/new.c", '#include "../src/base/error.h"\n', "not a public header")
        self.refuses(rules.programs, "include/arrowdevice/new.h", '#include "base/error.h"\n', "not a public header")

    def test_the_environment_is_read_in_one_place(self):
        for text in ('auto v = getenv("X");\n', 'auto v = std::getenv("X");\n', 'auto v = secure_getenv("X");\n',
                     "extern char** environ;\n", "auto* read = &getenv;\n"):
            for path in ("src/base/log.cc", "src/backend/new.cc", "backends/sim/new.cc"):
                with self.subTest(text=text, path=path):
                    self.refuses(rules.environment, path, text, "reads the environment")

    def test_condition_variables_of_the_standard_library_are_used_in_one_place(self):
        for text in ("std::condition_variable changed_;\n", "std::condition_variable_any changed_;\n"):
            for path in ("src/device/new.h", "backends/sim/new.cc"):
                with self.subTest(text=text, path=path):
                    self.refuses(rules.condition_variables, path, text, "use its ConditionVariable")

    def test_a_word_in_a_comment_or_string_is_not_a_call(self):
        self.assertEqual(self.broken(rules.environment, {
            "src/base/new.cc": '// getenv\nauto t = "getenv";\nint my_getenv_count;\n'}), [])


if __name__ == "__main__":
    unittest.main()
