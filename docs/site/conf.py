# SPDX-License-Identifier: Apache-2.0
"""The configuration of Sphinx. scripts/docs.sh runs it.

The source folder is a copy of the repository's folders, so that the relative links of the pages are right in it. The
folder `reference` of the copy gets the pages of references.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
build = os.environ["ARROWDEVICE_DOCS"]
source = os.path.join(build, "input")
with open(os.path.join(source, "meson.build"), encoding="utf-8") as file:
    version = release = re.search(r"version: '(.*?)'", file.read())[1]

project = "libarrowdevice"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "backends/**/README.md", "bindings/**/README.md", "examples/**/README.md",
                    "tests/**/README.md", "reference/**"]
exclude_patterns = ["bindings/rust/arrowdevice/README.md"]  # a copy of bindings/rust/README.md
extensions = ["myst_parser", "breathe", "autoapi.extension", "sphinx_copybutton", "references", "symbols", "sources"]
nitpicky = True
# Types of the languages and of other libraries, structs that are only declared, and private names.
nitpick_ignore_regex = [
    ("c(pp)?:identifier", r"u?int\d*_t|size_t|uintptr_t|std(::.*)?|DLManagedTensorVersioned|detail(::.*)?"),
    ("c(pp)?:identifier", r"arrowdevice_(device|queue|pool|server|buffer|sub_buffer|view|node)"),
    ("py:class", r"pyarrow\..*|uuid\.UUID|(arrowdevice\.devices\.)?DeviceLike"),
    ("py:class", r"AnyArray|NativeQueue|arrowdevice\.host_copies\.HostCopy"),
]
show_warning_types = True

myst_heading_anchors = 6  # the anchors of code hosts

breathe_projects = {"arrowdevice": os.path.join(build, "xml")}
breathe_default_project = "arrowdevice"
breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
breathe_show_include = False
highlight_language = "text"
smartquotes_action = "D"  # quotes stay as they are written
toc_object_entries_show_parents = "hide"
default_role = "literal"  # in docstrings

# The sources are read, not run, so that nothing has to be built.
autoapi_dirs = [os.path.join(source, "bindings", "python")]
autoapi_root = "reference/python"
autoapi_ignore = ["*/tests/*"]
autoapi_options = ["members", "undoc-members", "imported-members", "special-members"]
autoapi_own_page_level = "class"
autoapi_add_toctree_entry = False
autoapi_member_order = "bysource"
autoapi_python_class_content = "both"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"libarrowdevice {version}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
