# SPDX-License-Identifier: Apache-2.0
"""docs/site/headers.sed turns the comments of the headers into those of Doxygen: site_test.py ROOT"""

import glob
import os
import subprocess
import sys
import unittest

root = os.path.abspath(sys.argv.pop(1))


def filtered(text):
    script = os.path.join(root, "docs", "site", "headers.sed")
    return subprocess.run(["sed", "-E", "-f", script], input=text, check=True, capture_output=True, text=True).stdout


class Headers(unittest.TestCase):
    def test_comments_behind_fields_describe_them(self):
        self.assertEqual(filtered("struct a {\n  int b; /* rows */\n};\n"), "struct a {\n  int b; /**< rows */\n};\n")
        self.assertEqual(filtered("#define A 1 /* one */\n"), "#define A 1 /**< one */\n")
        self.assertEqual(filtered("  f(); /* NOLINT: why */\n"), "  f(); /* NOLINT: why */\n")

    def test_constants_below_a_title_are_a_group(self):
        self.assertEqual(filtered("/* Flags */\n#define A 1 /* one */\n/* Two. */\n#define B 2\n\nint c;\n"),
                         "/** @name Flags *//** @{ */\n#define A 1 /**< one */\n/** Two. */\n#define B 2\n/** @} */\nint c;\n")

    def test_other_comments_stay(self):
        for text in ("/* SPDX-License-Identifier: Apache-2.0 */\n", "/* -- sources ---- */\n", "/* IWYU pragma: begin_exports */\n",
                     "/** Does. */\nint a(void);\n"):
            self.assertEqual(filtered(text), text)

    def test_errors_and_their_kin_get_a_title(self):
        self.assertEqual(filtered(" * Errors:\n * - EIO if it fails.\n * Thread-safety: free.\n"),
                         " * @titled{Errors} \n * - EIO if it fails.\n * @titled{Thread-safety} free.\n")

    def test_no_line_of_a_header_moves(self):
        paths = glob.glob(os.path.join(root, "include", "arrowdevice", "**", "*.h*"), recursive=True)
        self.assertGreater(len(paths), 20)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            shown = filtered(text)
            self.assertEqual(shown.count("\n"), text.count("\n"), path)
            self.assertEqual(shown.count("@{"), shown.count("@}"), path)


unittest.main()
