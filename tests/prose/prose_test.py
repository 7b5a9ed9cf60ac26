# SPDX-License-Identifier: Apache-2.0
"""Shows that check_prose.py finds each kind of mistake in small made-up texts, and none in correct ones."""

import unittest

import check_prose


class Prose(unittest.TestCase):
    def found(self, text, path="src/new.cc"):
        return check_prose.problems(path, text)

    def test_a_sentence_is_accepted(self):
        self.assertEqual(self.found("// Returns the size.\nint size();\n"), [])

    def test_each_fragment_is_found(self):
        for word in check_prose.FRAGMENTS:
            for text in (f"// {word} it is.\n", f"/* {word} it is. */\n", f"int a;\n/**\n * {word} it is.\n */\n"):
                with self.subTest(text=text):
                    self.assertEqual(len(self.found(text)), 1)

    def test_a_fragment_is_found_in_the_documentation_of_rust_and_go(self):
        for path, text in (("new.rs", "/// What it is.\n"), ("new.rs", "//! Of the crate.\n"), ("new.go", "// Who it is.\n")):
            with self.subTest(path=path, text=text):
                self.assertEqual(len(self.found(text, path)), 1)
        self.assertEqual(self.found("/// Returns the end\n/// Of the list.\n", "new.rs"), [])

    def test_a_word_that_only_begins_like_a_fragment_is_accepted(self):
        self.assertEqual(self.found("// Offsets are rows.\n"), [])

    def test_lines_of_one_comment_are_read_together(self):
        self.assertEqual(self.found("// Returns the end\n// Of the list.\n"), [])
        self.assertEqual(len(self.found("// Returns the end.\n\n// Of the list.\n")), 1)

    def test_the_comment_below_a_license_is_read_alone(self):
        self.assertEqual(len(self.found("// SPDX-License-Identifier: Apache-2.0\n// Of the list.\n")), 1)

    def test_literals_are_no_comments(self):
        self.assertEqual(self.found('auto a = "// Of a text";\nauto b = "/* What */";\n'), [])

    def test_a_long_sentence_is_found_in_headers_only(self):
        text = "/** " + "word " * 31 + "*/\n"
        self.assertEqual(len(self.found(text, "include/new.h")), 1)
        self.assertEqual(self.found(text), [])
        self.assertEqual(self.found("/** " + "word " * 30 + "*/\n", "include/new.h"), [])

    def test_list_items_are_sentences_of_their_own(self):
        text = "/**\n * Fails:\n *\n * - " + "word " * 20 + "\n * - " + "word " * 20 + "\n */\n"
        self.assertEqual(self.found(text, "include/new.h"), [])

    def test_each_fragment_is_found_in_python_shell_and_meson(self):
        for word in check_prose.HASH_FRAGMENTS:
            for path, text in (("scripts/new.sh", f"# {word} it is.\n"),
                               ("scripts/new.sh", f"run 'a'  # {word} it is.\n"),
                               ("tests/new/meson.build", f"x = 1\n# {word} it is.\n"),
                               (".ci/run", f"  # {word} it is.\n"),
                               ("scripts/new.py", f"x = 1  # {word} it is.\n"),
                               ("scripts/new.py", f'"""{word} it is."""\n'),
                               ("scripts/new.py", f'def f():\n    """Ends.\n\n    {word} it is."""\n'),
                               ("scripts/new.sh", f"# It ends. {word} it is.\n")):
                with self.subTest(path=path, text=text):
                    self.assertEqual(len(self.found(text, path)), 1)

    def test_sentences_in_python_shell_and_meson_are_accepted(self):
        for path, text in (("scripts/new.sh", "# Runs\n# What follows.\n"),
                           ("scripts/new.sh", 'echo "# What" \'# Of\'\n'),
                           ("scripts/new.sh", "echo ${x# Of}${x## What}$#What\n"),
                           ("scripts/new.sh", "#!/bin/sh\n# Offers it.\n"),
                           ("scripts/new.py", 'x = "# What"\ny = """\n# Of it\n"""\n'),
                           ("scripts/new.py", "# Runs\n# What follows.\n"),
                           ("meson.build", "x = '# What'\n# Alsoran is one word.\n")):
            with self.subTest(path=path, text=text):
                self.assertEqual(self.found(text, path), [])

    def test_a_long_test_name_is_found(self):
        for path, text in (("tests/unit/new.cc", 'TEST_CASE("{0}") {{\n'),
                           ("tests/unit/new.cc", 'TEST_CASE(\n    "{0}", "[sim]") {{\n'),
                           ("tests/unit/new.cc", '  SECTION("{0}") {{\n'),
                           ("tests/conformance/new_cases.cc", '  {{"{0}", kNeedsPeer, f}},\n'),
                           ("tests/new/meson.build", "test('{0}', x)\n"),
                           ("tests/new/meson.build", "  test(f'{0}', x)\n"),
                           ("tests/new/meson.build", "runs = [['{0}', x]]\n"),
                           ("tests/new/meson.build", "runs = {{\n  '{0}': x,\n}}\n"),
                           ("tests/new_test.py", "class A:\n    def test_{1}(self):\n        pass\n"),
                           ("bindings/python/tests/test_new.py", "def test_{1}():\n    pass\n"),
                           ("bindings/python/tests/test_new.py", 'p = pytest.param(1, id="{0}")\n'),
                           ("bindings/rust/new/tests/suite/new.rs", "#[test]\nfn {1}() {{\n"),
                           ("bindings/go/new_test.go", "func Test{1}(t *testing.T) {{\n"),
                           ("bindings/go/new_test.go", '\tt.Run("{0}", f)\n'),
                           ("bindings/julia/test/new.jl", '@testset "{0}" begin\n')):
            for length, places in ((check_prose.LONGEST_NAME - 5, 0), (check_prose.LONGEST_NAME + 1, 1)):
                name = ("copies " * 20)[:length]
                with self.subTest(path=path, text=text, length=length):
                    self.assertEqual(len(self.found(text.format(name, name.replace(" ", "_")), path)), places)

    def test_a_name_of_two_literals_is_read_together(self):
        for length, places in ((20, 0), (21, 1)):
            text = 'TEST_CASE("' + "a" * 60 + '"\n          "' + "b" * length + '") {\n'
            self.assertEqual(len(self.found(text, "tests/unit/new.cc")), places)

    def test_a_former_name_is_found_in_any_text(self):
        self.assertEqual(len(self.found("call arrowdevice_device_get(x)", "docs/new.md")), 1)
        self.assertEqual(self.found("call arrowdevice_device_get_info(x)", "docs/new.md"), [])

    def test_open_words_are_counted(self):
        right = "// " + "word " * 2_000 + "\n"
        self.assertEqual(check_prose.too_many("src", [right]), [])
        self.assertEqual(len(check_prose.too_many("src", [right, "// " + "what " * 4 + "\n"])), 1)
        self.assertEqual(len(check_prose.too_many("src", [right, "// nobody\n"])), 1)


if __name__ == "__main__":
    unittest.main()
