# SPDX-License-Identifier: Apache-2.0
"""The parts of the site that need no Doxygen: site_test.py ROOT

Dead links are found, every page can be prepared, and code in other languages loses nothing by its colors.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import unittest

root = os.path.abspath(sys.argv.pop(1))
site = os.path.join(root, "docs", "site")
sys.path.insert(0, site)
sys.dont_write_bytecode = True
import check_links  # noqa: E402
import highlight  # noqa: E402
import pages  # noqa: E402


class Links(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("index.html", text), ("other.html", '<h2 id="here">Here</h2>'), ("a.svg", "")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            return list(check_links.dead(folder, check_links.read(folder)))

    def test_links_that_lead_somewhere_pass(self):
        self.assertEqual(self.found('<a href="other.html#here"></a><a href="#"></a><img src="a.svg"><a href="https://x.y/z">'), [])

    def test_a_page_that_is_not_there_is_found(self):
        self.assertEqual(len(self.found('<a href="none.html">')), 1)

    def test_an_anchor_that_is_not_there_is_found(self):
        self.assertEqual(len(self.found('<a href="other.html#there"></a><a href="#there"></a>')), 2)

    def test_a_picture_that_is_not_there_is_found(self):
        self.assertEqual(len(self.found('<img src="b.svg">')), 1)


class Pages(unittest.TestCase):
    def test_every_page_and_header_can_be_prepared(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", os.path.join(site, "prepare.py"), root, folder], check=True)
            for path in pages.written(root):
                self.assertTrue(os.path.exists(os.path.join(folder, path)), path)
            with open(os.path.join(folder, "header.html"), encoding="utf-8") as file:
                header = file.read()
            for path in pages.written(root):
                name = "index" if path == "docs/index.md" else pages.label(path)
                self.assertIn(f"{name}.html", header, "a page is not in the navigation")

    def test_no_two_pages_have_one_name(self):
        names = [pages.label(path) for path in pages.written(root)]
        self.assertEqual(len(names), len(set(names)))

    def test_a_new_page_is_in_the_navigation_without_a_line_for_it(self):
        self.assertEqual(pages.parts(["docs/something-new.md"])[-1], (pages.MORE, ["docs/something-new.md"]))

    def test_headings_have_the_anchors_that_code_hosts_give_them(self):
        text = "# A `b` (c), d_e\n## A\n## A\n```\n# no heading\n```\n"
        self.assertEqual([anchor for _, _, anchor in pages.anchors(text).values()], ["a-b-c-d_e", "a", "a-1"])


class Colors(unittest.TestCase):
    def test_code_is_the_same_without_them(self):
        codes = {"sh": "a=\"b # c\" # d 'e'\nif x; then y $#; fi\n", "rust": "fn f<'a>(x: &'a str) { /* c\n d */ }",
                 "go": "s := `a\nb` // c", "julia": "A' * \"x\" # y", "console": "$ a < b\nc & d", "": "<>&\"'"}
        for language, code in codes.items():
            shown = highlight.fragment(code, language)
            lines = re.findall(r'<div class="line">(.*?)</div>\n', shown, re.S)
            self.assertEqual(html.unescape(re.sub("<[^>]*>", "", "\n".join(lines))), code, language)

    def test_what_is_colored(self):
        self.assertIn('<span class="comment"># b</span>', highlight.fragment("a # b", "sh"))
        self.assertIn('<span class="keyword">fn</span>', highlight.fragment("fn f()", "rust"))
        self.assertIn('<span class="stringliteral">"a # b"</span>', highlight.fragment('"a # b"', "sh"))


unittest.main()
