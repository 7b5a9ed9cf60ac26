# SPDX-License-Identifier: Apache-2.0
"""Completes the output of Doxygen: finish.py BUILD_FOLDER

Marks where the reader is in the navigation, drops the scripts that nothing uses, copies the drawings, writes the index of
the search.
"""

import html
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree as xml

KINDS = {"function": "function", "define": "constant", "struct": "struct", "class": "class", "typedef": "type",
         "page": "page", "group": "page"}


def text_of(piece):
    return html.unescape(re.sub(r"<[^>]*>", "", piece)).replace("\xa0", " ").strip()


def symbols(path):
    """(text, kind, address) of all that the headers define, from Doxygen's tag file."""
    for compound in xml.parse(path).getroot():
        name, kind = compound.findtext("name"), compound.get("kind")
        if kind in ("struct", "class"):
            yield name.replace("arrowdevice::cpp::", ""), kind, compound.findtext("filename")
        if kind not in ("group", "class", "struct"):
            continue
        for member in compound.findall("member"):
            if member.get("kind") not in KINDS or (kind == "struct"):
                continue
            owner = name.replace("arrowdevice::cpp::", "") + "::" if kind == "class" else ""
            yield (owner + member.findtext("name"), KINDS[member.get("kind")],
                   f"{member.findtext('anchorfile')}#{member.findtext('anchor')}")


def headings(name, page):
    """(text, kind, address) of the title and the headings of a written page."""
    title = re.search(r'<div class="title">(.*?)</div>', page, re.S)
    if not title:
        return
    title = text_of(title.group(1))
    yield title, "page", name
    for anchor, words in re.findall(r'<h[234]><a class="anchor" id="([^"]+)"></a>\s*(.*?)</h[234]>', page, re.S):
        yield f"{text_of(words)} ({title})", "heading", f"{name}#{anchor}"


def declaration(kind, name):
    """A parameter as C has it: a function's name is within its type."""
    pointer = re.match(r"(.*?)\(\*\)(.*)$", kind)
    if pointer:
        return f"{pointer.group(1)} (*{name}){pointer.group(2)}"
    return f"{kind}{name}" if kind.endswith(("*", "&", "&amp;")) else f"{kind} {name}".strip()


def prototype(table):
    """A function's declaration as text that wraps, in place of Doxygen's table, which does not."""
    cells = [(kind, re.sub(r"\s+", " ", words.replace("&#160;", " ")).strip())
             for kind, words in re.findall(r'<td(?: class="(\w+)")?>(.*?)</td>', table, re.S)]
    name = next(words for kind, words in cells if kind == "memname")
    types = [words for kind, words in cells if kind == "paramtype"]
    names = [re.sub(r",$", "", re.sub(r"</?em>", "", words).strip()) for kind, words in cells if kind == "paramname"]
    closing = re.search(r"<td>\)(?:</td>\s*<td></td>\s*<td>)?([^<]*)", table)
    rest = (closing.group(1) if closing else "").replace("&#160;", " ")
    arguments = [declaration(kind, word) for kind, word in zip(types, names)]
    arguments = [word for word in arguments if word]
    if "<td>(</td>" not in table:
        return f'<div class="prototype">{name}</div>'
    if sum(len(text_of(word)) for word in arguments) + len(text_of(name)) > 70:
        joined = "".join(f'<span class="argument">{word}{"," if number + 1 < len(arguments) else ")" + rest}</span>'
                         for number, word in enumerate(arguments))
        return f'<div class="prototype">{name}({joined}</div>'
    return f'<div class="prototype">{name}({", ".join(arguments)}){rest}</div>'


def summary(links, page):
    """The links to the parts of a page that it has: Doxygen also names parts in which it then shows nothing."""
    there = [link for anchor, link in re.findall(r'(?s)(?=<a href="#([^"]+)">)(<a .*?</a>)', links) if f'id="{anchor}"' in page]
    return f'<div class="summary">{" &#124; ".join(there)}</div>' if there else ""


def one_list(page):
    """The fields of a struct once, with all that is said of them, in place of a list of beginnings before that."""
    page = re.sub(r'<table class="memberdecls">.*?</table>', "", page, flags=re.S)
    page = re.sub(r'<div class="summary">.*?</div>', "", page, flags=re.S)
    page = page.replace('<main id="content">', '<main id="content" class="fields">').replace("Field Documentation", "Fields")
    return re.sub(r'<div class="prototype">.*?</div>', lambda field: re.sub(r"\b\w+::(?=\w)", "", field.group(0)), page, flags=re.S)


def page_of(link, site):
    """A link that Doxygen made of a file's name as one to the page that the file is."""
    name = link.group("file").lower() + ".html"
    return f'<a class="el" href="{name}">{link.group("text")}</a>' if os.path.exists(os.path.join(site, name)) else link.group("text")


def main(build):
    site = os.path.join(build, "html")
    entries = []
    for name in sorted(os.listdir(site)):
        path = os.path.join(site, name)
        if not name.endswith(".html"):
            # Doxygen's own furniture: none of it is used by header.html.
            if name.endswith((".js", ".png", ".css", ".svg")) and name not in ("style.css", "search.js"):
                os.remove(path)
            continue
        with open(path, encoding="utf-8") as file:
            page = file.read()
        if name.endswith("_8md.html") or name.startswith("dir_") or name in ("pages.html", "modules.html", "topics.html"):
            os.remove(path)  # Lists that the navigation has, in an order of its own.
            continue
        page = re.sub(r'<div id="nav-path".*?</ul>\s*</div>\s*', "", page, flags=re.S)
        page = re.sub(r'<h2 class="groupheader">Detailed Description</h2>\s*', "", page)
        page = re.sub(r'<table class="memname">(.*?)</table>', lambda table: prototype(table.group(1)), page, flags=re.S)
        page = re.sub(r'<a class="el" href="(?P<file>\w+)_8md\.html">(?P<text>.*?)</a>',
                      lambda link: page_of(link, site), page, flags=re.S)
        page = re.sub(r'<a class="anchor" id="md_\w*"></a>', "", page)  # names the folder that it was built in
        page = re.sub(r'<div class="ttc".*?</div></div>\n', "", page, flags=re.S)  # tips that only a script can show
        page = re.sub(r"<script(?! defer).*?</script>\s*", "", page, flags=re.S)
        page = re.sub(r'<div class="summary">.*?</div>', lambda links: summary(links.group(0), page), page, flags=re.S)
        page = re.sub(r" (Struct|Class|File)( Template)? Reference", "", page)
        page = page.replace('<span class="mlabel">inline</span>', "")
        if name.startswith("struct"):
            page = one_list(page)
        page = page.replace(f'<li><a href="{name}">', f'<li><a href="{name}" aria-current="page">')
        page = re.sub(r"<title>libarrowdevice: (.*?)</title>", r"<title>\1 – libarrowdevice</title>", page)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
        if not name.startswith(("struct", "class", "dir_", "source-")):
            entries += headings(name, page)
    for drawing in os.listdir(os.path.join(build, "input", "drawings")):
        shutil.copy(os.path.join(build, "input", "drawings", drawing), site)
    entries += symbols(os.path.join(build, "symbols.xml"))
    with open(os.path.join(site, "search-index.js"), "w", encoding="utf-8") as file:
        file.write("const pages = " + json.dumps(sorted(set(entries)), ensure_ascii=False, separators=(",", ":")) + ";\n")


if __name__ == "__main__":
    main(sys.argv[1])
