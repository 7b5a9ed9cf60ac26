# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/c_api.py on small made-up trees and on this one: c_api_test.py ROOT"""

import os
import sys
import tempfile
import unittest

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import c_api  # noqa: E402

SOURCE = 'extern "C" {\nARROWDEVICE_API int arrowdevice_a(int x) { return x; }\nARROWDEVICE_API void arrowdevice_b(void) {}\n}\n'


class Headers(unittest.TestCase):
    def checked(self, headers):
        with tempfile.TemporaryDirectory() as root:
            files = {f"include/arrowdevice/{name}": text for name, text in headers.items()} | {"src/api/all.cc": SOURCE}
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return c_api.check_declared(c_api.header_text(os.path.join(root, "include")), root)

    def test_functions_may_be_declared_in_several_headers(self):
        self.assertEqual(self.checked({"a.h": "ARROWDEVICE_API int arrowdevice_a(int x);\n",
                                       "b.h": "ARROWDEVICE_API void\narrowdevice_b(void);\n"}), [])

    def test_an_exported_function_without_a_declaration_is_found(self):
        self.assertEqual(self.checked({"a.h": "ARROWDEVICE_API int arrowdevice_a(int x);\n"}),
                         ["arrowdevice_b: exported, but no header declares it"])

    def test_a_declaration_in_a_comment_does_not_count(self):
        found = self.checked({"a.h": "ARROWDEVICE_API int arrowdevice_a(int x);\n/* ARROWDEVICE_API void arrowdevice_b(void); */\n"})
        self.assertEqual(found, ["arrowdevice_b: exported, but no header declares it"])

    def test_a_declaration_without_a_definition_is_found(self):
        found = self.checked({"a.h": "ARROWDEVICE_API int arrowdevice_a(int x);\nARROWDEVICE_API void arrowdevice_b(void);\n"
                                     "ARROWDEVICE_API int arrowdevice_c(void);\n"})
        self.assertEqual(found, ["arrowdevice_c: declared, but not defined in src/api"])

    def test_this_tree_declares_all_functions(self):
        text = c_api.header_text(os.path.join(ROOT, "include"))
        self.assertEqual(c_api.check_declared(text, ROOT), [])
        self.assertGreater(len(c_api.declared(text)), 60)

    def test_frozen_headers_declare_the_same_without_comments(self):
        with tempfile.TemporaryDirectory() as folder:
            c_api.freeze(os.path.join(ROOT, "include"), folder)
            frozen = c_api.header_text(folder)
            with open(os.path.join(folder, "arrowdevice", "queue.h"), encoding="utf-8") as file:
                self.assertEqual(file.read().count("/*"), 1)
        self.assertEqual(c_api.declared(frozen), c_api.declared(c_api.header_text(os.path.join(ROOT, "include"))))

    def test_every_function_that_returns_a_code_lists_its_errors(self):
        missing = []
        for path in c_api.header_paths(os.path.join(ROOT, "include")):
            text = c_api.read(path)
            for part in text.split("\nARROWDEVICE_API int ")[:-1]:
                comment = part[part.rindex("/**"):]
                if "\n * Errors:" not in comment:
                    missing.append(os.path.basename(path) + ": " + comment[:80])
        self.assertEqual(missing, [])


unittest.main()
