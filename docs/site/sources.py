# SPDX-License-Identifier: Apache-2.0
"""Gives links to files and folders of the repository a target in the site: a page with the source, a header's reference,
or a folder's README. A link to another folder becomes text.
"""

import os

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform


def reference_of(path):
    """Returns the page of a header, or None."""
    folder, name = os.path.split(path)
    kind = {".h": "c", ".hpp": "cpp"}.get(os.path.splitext(name)[1])
    return f"reference/{kind}/{name}" if kind and folder.startswith("include/arrowdevice") else None


class FileLinks(SphinxTransform):
    """Replaces downloads, which are MyST's links to files. Runs before Sphinx collects the files to copy."""

    default_priority = 500

    def apply(self, **kwargs):
        for link in list(self.document.findall(addnodes.download_reference)):
            path, _ = self.env.relfn2path(link["reftarget"], self.env.docname)
            page = reference_of(path)
            if page is None:
                page = f"source/{path}"
                self.env.app.source_pages[path] = page
            uri = self.env.app.builder.get_relative_uri(self.env.docname, page)
            link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))


class FolderLinks(SphinxPostTransform):
    """Runs before the transform of MyST, which knows no folders."""

    default_priority = 5

    def run(self, **kwargs):
        for link in list(self.document.findall(addnodes.pending_xref)):
            if link["reftype"] != "myst" or "/" not in link["reftarget"]:  # An anchor has no slash.
                continue
            path, whole = self.env.relfn2path(link["reftarget"], self.env.docname)
            if not os.path.isdir(whole):
                continue
            page = f"{path}/README"
            if page in self.env.found_docs:
                uri = self.app.builder.get_relative_uri(self.env.docname, page)
                link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))
            else:
                link.replace_self(link.children)


def lexer(path, text):
    try:
        return get_lexer_for_filename(path, text).aliases[0]
    except ClassNotFound:
        return "text"


def pages(app):
    for path, page in app.source_pages.items():
        with open(os.path.join(app.srcdir, path), encoding="utf-8") as file:
            text = file.read()
        code = app.builder.highlighter.highlight_block(text, lexer(path, text))
        yield page, {"title": path, "body": f"<h1>{path}</h1>\n{code}"}, "page.html"


def setup(app):
    app.source_pages = {}
    app.add_transform(FileLinks)
    app.add_post_transform(FolderLinks)
    app.connect("html-collect-pages", pages)
