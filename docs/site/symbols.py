# SPDX-License-Identifier: Apache-2.0
"""Turns names of the API in prose into links to its references, and refuses C functions without a comment."""

import functools
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.domains.c import CDomain
from sphinx.domains.cpp import CPPDomain
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.nodes import make_refnode

WORD = re.compile(r"\b(ARROW(?:DEVICE)?_[A-Z0-9_]+|arrowdevice_\w+(?:\(\))?|Arrow[A-Z]\w+)")
# In these nodes a name stays as it is: they are links, targets of links, or code.
NO_PROSE = (nodes.reference, addnodes.pending_xref, addnodes.desc_signature, nodes.title, nodes.rubric, nodes.literal_block,
            nodes.literal, nodes.raw)
logger = logging.getLogger(__name__)


class WithoutParameters:
    """A domain whose parameters are in no index, so that a search finds the functions."""

    def get_objects(self):
        return (found for found in super().get_objects() if found[2] not in ("functionParam", "templateParam"))


class C(WithoutParameters, CDomain):
    pass


class Cpp(WithoutParameters, CPPDomain):
    pass


@functools.cache
def table(env):
    """Returns {name: (page, anchor)} of everything in C, and of everything in Python by its whole name.

    All pages have been read when the first link is made.
    """
    found = {name: (page, anchor) for name, _, _, page, anchor, _ in env.domains["c"].get_objects()}
    return found | {name: (page, anchor) for name, _, _, page, anchor, _ in env.domains["py"].get_objects() if "." in name}


def is_prose(node):
    while node is not None:
        if isinstance(node, NO_PROSE):
            return False
        node = node.parent
    return True


def resolve(app, env, node, shown):
    """Finds what C++ uses of C, and what the Python package re-exports from its modules."""
    name = re.sub(r"^arrowdevice\.\w+\.(?=\w+$)", "arrowdevice.", node["reftarget"])
    page, anchor = table(env).get(name, (None, None))
    return page and make_refnode(app.builder, node["refdoc"], page, anchor, shown, name)


class SymbolLinks(SphinxPostTransform):
    default_priority = 5

    def run(self, **kwargs):
        self.symbols = table(self.env)
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext().removeprefix("struct ").removesuffix("()")
            if name in self.symbols and is_prose(literal.parent):
                literal.replace_self(self.link(name, literal.deepcopy()))
        for text in list(self.document.findall(nodes.Text)):
            if WORD.search(text) and is_prose(text.parent):
                text.parent.replace(text, [self.word(piece) for piece in WORD.split(text) if piece])

    def word(self, piece):
        name = piece.removesuffix("()")
        return self.link(name, nodes.Text(piece)) if name in self.symbols else nodes.Text(piece)

    def link(self, name, shown):
        page, anchor = self.symbols[name]
        return make_refnode(self.app.builder, self.env.docname, page, anchor, shown, name)


def parameters_first(content):
    """Moves the parameters of a function above `Errors:` and its kin. Breathe has them last."""
    fields = [node for node in content if isinstance(node, nodes.field_list)]
    titled = [node for node in content if any(isinstance(child, nodes.definition_list) for child in node.children)]
    if fields and titled:
        content.remove(fields[0])
        content.insert(content.index(titled[0]), fields[0])


def check_functions(app, document):
    for description in document.findall(addnodes.desc):
        if description["domain"] != "c" or description["objtype"] != "function":
            continue
        signature, content = description[0], description[-1]
        parameters_first(content)
        if not content.astext().strip():
            logger.warning("a function has no comment: %s", signature.astext(), location=description)


def setup(app):
    app.add_domain(C, override=True)
    app.add_domain(Cpp, override=True)
    app.add_post_transform(SymbolLinks)
    app.connect("doctree-read", check_functions)
    app.connect("missing-reference", resolve)
