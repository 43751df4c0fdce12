"""Texts that people wrote in Markdown (guidelines, consent), as they stand in reports: HTML, LaTeX, and Markdown in it.

HTML in them is text, pictures are their words, and links lead nowhere: a report fetches nothing and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from annotators.later import Later
from exports.drawing.tables import latex_text

if TYPE_CHECKING:
    import markdown_it
    from markdown_it.token import Token
else:
    markdown_it = Later("markdown_it")

_LATEX = {
    "paragraph_open": "", "paragraph_close": "\n\n", "bullet_list_open": "\\begin{itemize}\n",
    "bullet_list_close": "\\end{itemize}\n\n", "ordered_list_open": "\\begin{enumerate}\n",
    "ordered_list_close": "\\end{enumerate}\n\n", "list_item_open": "  \\item{} ", "list_item_close": "\n",
    "blockquote_open": "\\begin{quote}\n", "blockquote_close": "\\end{quote}\n\n", "heading_open": "\\textbf{",
    "heading_close": "}\n\n", "strong_open": "\\textbf{", "strong_close": "}", "em_open": "\\emph{", "em_close": "}",
    "softbreak": "\n", "hardbreak": "\\newline\n", "hr": "\n\n", "table_close": "\\bottomrule\n\\end{tabular}\n\n",
    "thead_close": "\\midrule\n", "tr_close": " \\\\\n",
}  # fmt: skip
"""Token → what is written for it; those that are not here are written as nothing, or as their text."""

MOST_LISTS = 4
"""Lists within lists that LaTeX has; deeper ones are paragraphs."""


def _tokens(text: str) -> list[Token]:
    reader = markdown_it.MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                child.type, child.tag, child.content = "text", "", f"[{child.content or 'picture'}]"
            elif child.type in ("link_open", "link_close"):
                child.type, child.tag, child.attrs, child.hidden = "text", "", {}, True
                child.content = ""
    return tokens


def markdown_html(text: str) -> str:
    """The text as HTML, its headings below those of a report."""
    reader = markdown_it.MarkdownIt("commonmark", {"html": False})
    tokens = _tokens(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 3)}"
        if token.type in ("paragraph_open", "heading_open", "list_item_open", "td_open", "th_open"):
            token.attrSet("dir", "auto")
    return f'<div class="text">{reader.renderer.render(tokens, reader.options, {})}</div>'


def markdown_quoted(text: str) -> str:
    """The text within another Markdown text: quoted, so that its headings are not the other's; its HTML is text."""
    shown = text.replace("<", "&lt;").replace("![", "\\![")
    return "".join(f"> {line}".rstrip() + "\n" for line in shown.splitlines())


def markdown_latex(text: str) -> str:
    """The text as LaTeX; what is no Markdown of the usual sort stands as it was written."""
    return "".join(_latex(_tokens(text))).strip() + "\n"


def _latex(tokens: Sequence[Token]) -> Iterator[str]:
    depth = 0
    first = True
    for place, token in enumerate(tokens):
        if token.type in ("bullet_list_open", "ordered_list_open", "blockquote_open"):
            depth += 1
            yield _LATEX[token.type] if depth <= MOST_LISTS else ""
        elif token.type in ("bullet_list_close", "ordered_list_close", "blockquote_close"):
            yield _LATEX[token.type] if depth <= MOST_LISTS else ""
            depth -= 1
        elif token.type == "list_item_open" and depth > MOST_LISTS:
            yield "\n\n"
        elif token.type == "inline":
            yield from _latex(token.children or ())
        elif token.type == "table_open":
            yield f"\\begin{{tabular}}{{{'l' * _columns(tokens[place:])}}}\n\\toprule\n"
        elif token.type == "tr_open":
            first = True
        elif token.type in ("th_open", "td_open"):
            yield "" if first else " & "
            first = False
        elif token.type in ("fence", "code_block"):
            lines = [
                rf"\texttt{{{latex_text(line).replace(' ', '~')}}}" for line in token.content.rstrip().splitlines()
            ]
            yield "\\begin{quote}\n" + "\\newline\n".join(lines) + "\n\\end{quote}\n\n" if lines else ""
        elif token.type == "code_inline":
            yield rf"\texttt{{{latex_text(token.content)}}}"
        elif token.type == "text":
            yield latex_text(token.content)
        else:
            yield _LATEX.get(token.type, "")


def _columns(tokens: Sequence[Token]) -> int:
    n = 0
    for token in tokens:
        if token.type == "th_open":
            n += 1
        elif token.type == "tr_close":
            break
    return max(1, n)
