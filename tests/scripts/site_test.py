# SPDX-License-Identifier: Apache-2.0
"""The parts of the site that need no Doxygen: site_test.py ROOT

Dead links are found, every page can be prepared, and code in other languages loses nothing by its colors.
"""

import glob
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
import finish  # noqa: E402
import highlight  # noqa: E402
import pages  # noqa: E402
import prepare  # noqa: E402


class Links(unittest.TestCase):
    def found(self, text):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("index.html", text), ("other.html", '<h2 id="here">Here</h2>'), ("a.svg", "")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            return list(check_links.dead(folder, check_links.read(folder)))

    def test_working_links_pass(self):
        self.assertEqual(self.found('<a href="other.html#here"></a><a href="#"></a><img src="a.svg"><a href="https://x.y/z">'), [])

    def test_a_link_to_a_missing_page_is_found(self):
        self.assertEqual(len(self.found('<a href="none.html">')), 1)

    def test_a_link_to_a_missing_anchor_is_found(self):
        self.assertEqual(len(self.found('<a href="other.html#there"></a><a href="#there"></a>')), 2)

    def test_a_missing_picture_is_found(self):
        self.assertEqual(len(self.found('<img src="b.svg">')), 1)


class Pages(unittest.TestCase):
    def test_every_page_and_header_can_be_prepared(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", os.path.join(site, "prepare.py"), root, folder], check=True)
            for path in pages.written(root):
                self.assertTrue(os.path.exists(os.path.join(folder, path)), path)
            with open(os.path.join(folder, "site", "header.html"), encoding="utf-8") as file:
                header = file.read()
            for path in pages.written(root):
                name = "index" if path == "docs/index.md" else pages.label(path)
                self.assertIn(f"{name}.html", header, "a page is not in the navigation")

    def test_each_page_has_its_own_name(self):
        names = [pages.label(path) for path in pages.written(root)]
        self.assertEqual(len(names), len(set(names)))

    def test_the_navigation_finds_a_new_page(self):
        self.assertEqual(pages.parts(["docs/something-new.md"])[-1], (pages.MORE, ["docs/something-new.md"]))

    def test_headings_have_the_anchors_of_code_hosts(self):
        text = "# A `b` (c), d_e\n## A\n## A\n```\n# no heading\n```\n"
        self.assertEqual([anchor for _, _, anchor in pages.anchors(text).values()], ["a-b-c-d_e", "a", "a-1"])


class Headers(unittest.TestCase):
    def test_every_public_function_has_a_comment(self):
        self.assertEqual(prepare.undocumented("/** Does. */\nARROWDEVICE_API int arrowdevice_a(void);\n"), [])
        self.assertEqual(prepare.undocumented("int x;\n\nARROWDEVICE_API int arrowdevice_a(void);\n"), ["arrowdevice_a"])
        self.assertEqual(prepare.undocumented("int x;\nARROWDEVICE_API int arrowdevice_a(void);\n"), ["arrowdevice_a"])

    def test_comments_become_doxygen_comments(self):
        fields = prepare.members("struct a {\n  int b; /* rows */\n};\n\n/* Flags */\n#define C 1 /* one */\n#define D 2\n\nint e;\n")
        self.assertIn("int b; /**< rows */", fields)
        self.assertRegex(fields, r"@name Flags\n \* @\{ \*/\n#define C 1 /\*\*< one \*/\n#define D 2 /\*\*< Flags \*/\n/\*\* @\} \*/")
        said = prepare.comments("/** Does.\n *\n * Errors: EIO. Thread-safety: free. ARROWDEVICE_A and ARROWDEVICE_B*. */", {"ARROWDEVICE_A"})
        self.assertRegex(said, r"\* @par Errors\n \* EIO\.[\s*]+@par Thread-safety\n \* free\. #ARROWDEVICE_A and ARROWDEVICE_B\*")

    def test_headers_become_groups(self):
        found = []
        text = prepare.groups('/**\n * @file queue.h\n * They run\n * work.\n *\n * More.\n */\n#include "base.h"\n'
                              "/* -- sources ---- */\nint a;\n#ifdef __cplusplus\n#endif\n", "queue.h", found)
        self.assertEqual(found, [("queues", "Queues")])
        self.assertEqual(text.count("@{"), text.count("@}"))
        self.assertIn(" * @defgroup queues Queues\n * They run work.\n", text)
        self.assertNotIn("sources", text)

    def test_the_site_shows_every_header(self):
        folder = os.path.join(root, "include", "arrowdevice")
        shown = {os.path.join(folder, name) for name in prepare.HEADERS}
        self.assertEqual({path for path in glob.glob(os.path.join(folder, "**"), recursive=True) if os.path.isfile(path)}, shown)

    def test_lists_of_errors_stay_lists(self):
        said = prepare.comments("/**\n * Does.\n *\n * Errors:\n * - EIO if it fails.\n * Thread-safety: free.\n */", {})
        self.assertIn("\n * @par Errors\n * - EIO if it fails.\n", said)
        self.assertIn("\n * @par Thread-safety\n * free.\n", said)

    def test_declarations_match_the_header(self):
        cells = ("<td class=\"memname\">int f </td><td>(</td><td class=\"paramtype\">struct a *&#160;</td><td class=\"paramname\">"
                 "<em>b</em>, </td><td class=\"paramtype\">void(*)(void *user)&#160;</td><td class=\"paramname\"><em>c</em>&#160;</td>"
                 "<td>)</td>")
        self.assertEqual(finish.prototype(cells), '<div class="prototype">int f(struct a *b, void (*c)(void *user))</div>')

    def test_a_summary_names_the_content(self):
        links = '<div class="summary">\n<a href="#a">A</a> &#124;\n<a href="#b">B</a></div>'
        self.assertEqual(finish.summary(links, 'id="b"'), '<div class="summary"><a href="#b">B</a></div>')
        self.assertEqual(finish.summary(links, ""), "")


class Colors(unittest.TestCase):
    def test_colors_do_not_change_the_code(self):
        codes = {"sh": "a=\"b # c\" # d 'e'\nif x; then y $#; fi\n", "rust": "fn f<'a>(x: &'a str) { /* c\n d */ }",
                 "go": "s := `a\nb` // c", "julia": "A' * \"x\" # y", "console": "$ a < b\nc & d", "": "<>&\"'"}
        for language, code in codes.items():
            shown = highlight.fragment(code, language)
            lines = re.findall(r'<div class="line">(.*?)</div>\n', shown, re.S)
            self.assertEqual(html.unescape(re.sub("<[^>]*>", "", "\n".join(lines))), code, language)

    def test_comments_keywords_and_strings_have_colors(self):
        self.assertIn('<span class="comment"># b</span>', highlight.fragment("a # b", "sh"))
        self.assertIn('<span class="keyword">fn</span>', highlight.fragment("fn f()", "rust"))
        self.assertIn('<span class="stringliteral">"a # b"</span>', highlight.fragment('"a # b"', "sh"))


unittest.main()
