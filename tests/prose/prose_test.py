# SPDX-License-Identifier: Apache-2.0
"""Shows that check_prose.py finds each kind of mistake in small made-up texts, and nothing in right ones."""

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
