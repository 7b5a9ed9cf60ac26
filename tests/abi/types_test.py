# SPDX-License-Identifier: Apache-2.0
"""scripts/check-abi.sh passes what the library was, and more, and refuses anything else: types_test.py SCRIPT LIBRARY"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT, LIBRARY = sys.argv.pop(1), sys.argv.pop(1)
DESCRIPTION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libarrowdevice.abixml")

SYMBOL = r"    <elf-symbol name='arrowdevice_version' .*/>\n"
FUNCTION = r"    <function-decl name='arrowdevice_version' (?:.*\n)*?    </function-decl>\n"
STRUCT = r"    <class-decl name='arrowdevice_pool_stats' (?:.*\n)*?    </class-decl>\n"


def check(*arguments):
    return subprocess.run([SCRIPT, *arguments, LIBRARY], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100, check=False)


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(DESCRIPTION, encoding="utf-8") as file:
            cls.description = file.read()

    def against(self, description):
        """How the library is found when that was the description of an earlier one."""
        self.assertNotEqual(description, self.description)
        with tempfile.NamedTemporaryFile("w", suffix=".abixml") as file:
            file.write(description)
            file.flush()
            return check("--against=" + file.name)

    def part(self, pattern):
        found = re.findall(pattern, self.description)
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def refused(self, description, *words):
        done = self.against(description)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("this is not the ABI of", done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)

    def test_functions_and_types_have_not_changed(self):
        done = check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^\d+ functions are what they were$")

    def test_a_missing_function_is_found(self):
        symbol, function = self.part(SYMBOL), self.part(FUNCTION)
        gone = [part.replace("arrowdevice_version", "arrowdevice_vision") for part in (symbol, function)]
        self.refused(self.description.replace(symbol, symbol + gone[0]).replace(function, function + gone[1]),
                     "1 Removed", "arrowdevice_vision")

    def test_a_result_of_another_type_is_found(self):
        function = self.part(FUNCTION)
        other = self.part(r"<type-decl name='int' .* id='(\w+)'/>")
        changed = re.sub(r"<return type-id='\w+'/>", f"<return type-id='{other}'/>", function)
        self.refused(self.description.replace(function, changed), "arrowdevice_version", "return type changed")

    def test_a_parameter_of_another_type_is_found(self):
        function = self.part(FUNCTION.replace("arrowdevice_version", "arrowdevice_wait_idle"))
        other = self.part(r"<type-decl name='int' .* id='(\w+)'/>")
        changed = re.sub(r"(<parameter type-id=)'\w+'", rf"\1'{other}'", function, count=1)
        self.refused(self.description.replace(function, changed), "arrowdevice_wait_idle", "parameter 1")

    def test_a_member_that_has_moved_is_found(self):
        struct = self.part(STRUCT)
        swapped = re.sub(r"name='used_bytes'(.*\n(?:.*\n)*?.*)name='cached_bytes'", r"name='cached_bytes'\1name='used_bytes'", struct)
        self.refused(self.description.replace(struct, swapped), "arrowdevice_pool_stats", "cached_bytes")

    def test_a_struct_of_another_size_is_found(self):
        struct = self.part(STRUCT)
        size = int(re.search(r"size-in-bits='(\d+)'", struct)[1])
        larger = struct.replace(f"size-in-bits='{size}'", f"size-in-bits='{size + 64}'", 1)
        self.refused(self.description.replace(struct, larger), "arrowdevice_pool_stats", "type size changed")

    def test_a_new_function_is_reported(self):
        symbol, function = self.part(SYMBOL), self.part(FUNCTION)
        done = self.against(self.description.replace(symbol, "").replace(function, ""))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("new: arrowdevice_version\n", done.stdout)


if __name__ == "__main__":
    missing = [tool for tool in ("abidw", "abidiff") if shutil.which(tool) is None]
    if missing:
        print(f"{' and '.join(missing)} are not installed (Debian and Ubuntu: abigail-tools)")
        sys.exit(1 if os.environ.get("CI") else 77)
    unittest.main()
