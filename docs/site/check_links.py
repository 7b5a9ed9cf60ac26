# SPDX-License-Identifier: Apache-2.0
"""Refuses a site in which a link, a picture or a script leads nowhere: check_links.py HTML_FOLDER"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.anchors, self.links = {"", "top"}, []

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if value is None:
                continue
            if key == "id" or (key == "name" and tag == "a"):
                self.anchors.add(value)
            elif key in ("href", "src", "data"):
                self.links.append((self.getpos()[0], value))


def read(folder):
    pages = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".html"):
            pages[name] = Page()
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                pages[name].feed(file.read())
    return pages


def dead(folder, pages):
    for name, page in pages.items():
        for line, link in page.links:
            if link.startswith(("https:", "http:", "mailto:")):
                continue
            path, _, anchor = unquote(link).partition("#")
            path = path or name
            if not os.path.exists(os.path.join(folder, path)):
                yield f"{name}:{line}: {link}: there is no {path}"
            elif path in pages and anchor not in pages[path].anchors:
                yield f"{name}:{line}: {link}: {path} has no anchor {anchor}"


def main(folder):
    pages = read(folder)
    if "index.html" not in pages:
        sys.exit(f"{folder} has no index.html")
    found = list(dead(folder, pages))
    if found:
        sys.exit("\n".join(found))
    print(f"{sum(len(page.links) for page in pages.values())} links in {len(pages)} pages, none dead")


if __name__ == "__main__":
    main(sys.argv[1])
