# SPDX-License-Identifier: Apache-2.0
"""Colors for code in the languages that Doxygen does not know, with the classes that it uses for those it does."""

import html
import re

STRING = r'"(?:\\.|[^"\\])*"'
HASH = r"(?<![\w$])#[^\n]*"
WORDS = {
    "rust": "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move "
            "mut pub ref return self Self static struct super trait true type unsafe use where while",
    "go": "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil "
          "package range return select struct switch true type var",
    "julia": "abstract baremodule begin break catch ccall const continue do else elseif end export false finally for function "
             "global if import in let local macro module nothing quote return struct true try using while",
    "sh": "case do done elif else esac exec export fi for if in set then unset while",
    "meson": "and elif else endforeach endif false foreach if not or true",
    "cmake": "",
    "toml": "false true",
    "dockerfile": "CMD COPY ENV FROM RUN WORKDIR",
}
ALIASES = {"bash": "sh", "shell": "sh", "rs": "rust", "jl": "julia", "docker": "dockerfile", "ini": "toml"}
SLASHES = {"rust", "go"}


def language(name):
    name = name.strip("{}.").lower()
    name = ALIASES.get(name, name)
    return name if name in WORDS or name in ("console", "text", "") else None


def fragment(code, name):
    """The code as HTML, one element a line as Doxygen has it."""
    if name == "console":
        shown = re.sub(r"(?m)^(\$ )(.*)$", r'<span class="prompt">\1</span><span class="command">\2</span>',
                       html.escape(code, quote=False))
    elif name in ("text", ""):
        shown = html.escape(code, quote=False)
    else:
        comment = r"//[^\n]*|/\*.*?\*/" if name in SLASHES else HASH
        # An apostrophe is a string in a shell, a lifetime in Rust and a transpose in Julia.
        string = STRING if name in ("rust", "julia") else STRING + r"|'[^'\n]*'" + (r"|`[^`]*`" if name == "go" else "")
        token = re.compile(rf"(?P<comment>{comment})|(?P<stringliteral>{string})|(?P<keyword>\b[A-Za-z_]\w*\b)", re.S)
        keywords = set(WORDS[name].split())
        shown, end = "", 0
        for match in token.finditer(code):
            text = html.escape(match.group(0), quote=False)
            if match.lastgroup != "keyword" or match.group(0) in keywords:
                text = "\n".join(f'<span class="{match.lastgroup}">{part}</span>' for part in text.split("\n"))
            shown += html.escape(code[end:match.start()], quote=False) + text
            end = match.end()
        shown += html.escape(code[end:], quote=False)
    return '<div class="fragment">' + "".join(f'<div class="line">{line}</div>\n' for line in shown.split("\n")) + "</div>"
