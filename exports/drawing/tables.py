"""A table as people take it away (CSV, Markdown, LaTeX), as a page draws it (HTML), and as text."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from unicodedata import bidirectional, category, combining, east_asian_width

from exports.cells import safe
from exports.drawing.terminal import in_columns

DASH = "–"
"""What a cell has in place of a figure that is not defined."""

_NUMERIC = re.compile(r"[−+-]?[,.]*\d[\d,.]*(\s?%)?( \[[^\]]*\])?( / [\d,.]+)*|\[[−+\d,. -]+\]").fullmatch
_MARKUP = re.compile(r"[\\`*<|]|(?<!\w)_|_(?!\w)|(?<=\])\(")
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "α": r"$\alpha$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "ω": r"$\omega$",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "–": r"\textendash{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "⇄": r"$\leftrightarrow$",
    "→": r"$\to$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "√": r"$\surd$",
    "<": "$<$",
    ">": "$>$",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{NO-BREAK SPACE}": "~",
    "\N{ZERO WIDTH SPACE}": r"\penalty200{}",
}


_NOT_PRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LIGATURE = re.compile(r"[-`',!?](?=[-`',])|^(?=[\[*])")
"""What TeX prints as one sign with what follows; and what at the start of a row would be an option of the last."""

_FIGURE = re.compile(
    r"(?<!\S)(?:[<>≤≥]\s)?[−+-]?\d[\d,.]*(?:\s(?:%|s|h|min)(?!\w)|%)?(?:\s\[[^\]\n]{1,40}\])?(?![^\s;,.)])"
)
_PLAIN_WORD = re.compile(r"[(\[\"'“„]*[^\W_]+[)\]\"'”.,;:!?]*")
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
LONGEST_WORD = 28
"""Characters of a word or an id beyond which its middle is hidden."""

_HEAD, _TAIL = 16, 10
_LONG_CELL = 40

STYLE = """
.assay-table :is(th, td) { overflow-wrap: normal; word-break: normal; hyphens: manual; }
.assay-table .n { text-align: right; white-space: nowrap; }
.assay-table .t { white-space: normal; min-width: 15ch; }
.assay-table td.tt { white-space: normal; min-width: 24ch; }
.assay-w, .assay-id { white-space: nowrap; }
.assay-id { user-select: all; }
.assay-id > span { font-size: 0; }
.assay-id > span::before { content: "…"; font-size: 0.94rem; }
"""
"""How the cells of `as_html` wrap: at spaces only, figures never, ids with their middle hidden (but copied)."""


@dataclass(frozen=True)
class TextTable:
    """Column titles and rows of cells as text. `caption` says what it shows, `words` which columns hold no numbers.

    A set of pages looks like a number where it has one page, and is none.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, words: Iterable[str] = ()
    ) -> TextTable:
        """A table of anything that has a text; None becomes an empty cell."""
        return cls(
            caption,
            tuple(columns),
            tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows),
            frozenset(words),
        )

    def without_empty(self) -> TextTable:
        """The table without the columns in which no row says anything."""
        kept = [at for at in range(len(self.columns)) if any(row[at] for row in self.rows)]
        columns = tuple(self.columns[at] for at in kept)
        rows = tuple(tuple(row[at] for at in kept) for row in self.rows)
        return replace(self, columns=columns, rows=rows, words=self.words & set(columns))

    def numeric(self, column: int) -> bool:
        """Whether the column holds numbers, which are aligned at the right; a dash stands for one that is not there."""
        cells = [row[column] for row in self.rows if row[column]] if self.columns[column] not in self.words else []
        figures = [cell for cell in cells if cell != DASH]
        return bool(cells) and (not figures or sum(bool(_NUMERIC(cell)) for cell in figures) * 2 > len(figures))


def as_csv(table: TextTable) -> str:
    """Comma-separated values with a title row; no cell runs as a formula (`exports.cells`)."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([safe(cell) for cell in row] for row in (table.columns, *table.rows))
    return out.getvalue()


def as_markdown(table: TextTable) -> str:
    """A pipe table, numbers aligned at the right."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(_MARKUP.sub(r"\\\g<0>", cell.replace("\n", " ")) for cell in cells) + " |"

    rule = ["---:" if table.numeric(column) else "---" for column in range(len(table.columns))]
    return "\n".join([line(table.columns), line(rule), *(line(row) for row in table.rows), ""])


_LONG_WORD = 14
_SIGNS = re.compile(r"(?:/|:|\\_)(?=[\w.]|\\penalty)")
_LONGER_THAN_LINES = re.compile(r"\S{31,}")
"""Words that may be wider than a column, or than the page in a heading."""
_JOINED = ("R", "AL")
_VIRAMA = 9


def latex_text(text: str) -> str:
    """A text as LaTeX prints it, letter for letter, on one line: what is markup is escaped, two signs are not one.

    A word of more than 30 letters may break between any two of them, where no break at a space would do.
    """
    plain = _LONGER_THAN_LINES.sub(_breaking, _NOT_PRINTED.sub(" ", text))
    return _LIGATURE.sub(r"\g<0>{}", "".join(_LATEX.get(letter, letter) for letter in plain))


def _breaking(found: re.Match[str]) -> str:
    """A word with a sign where it may break: not where two letters are drawn as one, nor where a script joins all."""
    word = found[0]
    if any(bidirectional(letter) in _JOINED for letter in word):
        return word
    return word[0] + "".join(
        after if _one(before, after) else f"\N{ZERO WIDTH SPACE}{after}" for before, after in pairwise(word)
    )


def _one(before: str, after: str) -> bool:
    """Whether two letters are drawn as one."""
    return category(after)[0] == "M" or "\N{ZERO WIDTH JOINER}" in (before, after) or combining(before) == _VIRAMA


_INTERVAL = re.compile(r"(\[[^\s\[\]]*\d,) ([^\s\[\]]*\d\])")


def latex_cell(text: str) -> str:
    """A text as a cell: a long word, such as the name of a model, may break behind its signs, and no interval does."""
    words = " ".join(
        word if len(word) <= _LONG_WORD else _SIGNS.sub(r"\g<0>\\allowbreak{}", word)
        for word in latex_text(text).split(" ")
    )
    return _INTERVAL.sub(r"\1~\2", words)


def as_latex(table: TextTable, columns: Sequence[str] | None = None, heads: Sequence[str] | None = None) -> str:
    """A booktabs table with its caption; columns and headings, as LaTeX writes them, may be given."""

    def line(cells: Sequence[str]) -> str:
        return "    " + " & ".join(cells) + r" \\"

    align = "".join(columns or ("r" if table.numeric(column) else "l" for column in range(len(table.columns))))
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{latex_text(table.caption)}}}",
            f"  \\begin{{tabular}}{{{align}}}",
            r"    \toprule",
            line(heads or [latex_text(name) for name in table.columns]),
            r"    \midrule",
            *(line([latex_cell(cell) for cell in row]) for row in table.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def as_html(table: TextTable, drawn: Sequence[Sequence[str | None]] | None = None) -> str:
    """The table as a page draws it: titles, rules and aligned figures, everything escaped.

    `drawn` has the HTML of cells that are more than their text (links, bars), by row and column; None is the text.
    """
    columns = range(len(table.columns))
    blocks = {place for row in drawn or () for place in columns if (row[place] or "").startswith("<div")}
    right = [table.numeric(column) and column not in blocks for column in columns]

    def kind(text: str, *, number: bool) -> str:
        whole = number and len(text) <= _LONG_CELL
        names = ["n"] if number else []
        if not whole and len(text) > _LONG_CELL:
            names.append("tt" if len(text) > 2 * _LONG_CELL else "t")
        return f' class="{" ".join(names)}"' if len(names) > 1 else f" class={names[0]}" if names else ""

    def cells(row: Sequence[str], html: Sequence[str | None]) -> str:
        return "".join(
            f"<td{kind(text, number=number)}>{cell_html(text) if own is None else own}</td>"
            for text, own, number in zip(row, html, right, strict=True)
        )

    titles = "".join(
        f'<th scope="col"{" class=n" if number else ""}>{cell_html(title)}</th>'
        for title, number in zip(table.columns, right, strict=True)
    )
    nothing = [None] * len(table.columns)
    rows = (cells(row, drawn[place] if drawn else nothing) for place, row in enumerate(table.rows))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    head = f"<caption>{escape(table.caption)}</caption><thead><tr>{titles}</tr></thead>"
    return f'<table class="assay-table">{head}<tbody>{body}</tbody></table>'


def cell_html(text: str) -> str:
    """A cell's text as HTML that wraps at spaces only: a figure stays with its unit and interval, a long id is short.

    Text of a script that has no spaces wraps as that script does; text from right to left gets a line of its own.
    """
    parts, last = [], 0
    for found in _FIGURE.finditer(text):
        parts += [
            _words_html(text[last : found.start()]),
            _whole(found[0]) if " " in found[0] else _words_html(found[0]),
        ]
        last = found.end()
    html = "".join([*parts, _words_html(text[last:])])
    if any(bidirectional(letter) in ("R", "AL") for letter in text):
        return f'<span dir="auto" style="display:block">{html}</span>'
    return html


def identifier_html(text: str) -> str:
    """A name or an id on one line: one that is long has its middle hidden, which stays in what is copied and read."""
    if len(text) <= LONGEST_WORD:
        return _whole(text) if _breaks(text) or " " in text else escape(text)
    head, middle, tail = text[:_HEAD], text[_HEAD:-_TAIL], text[-_TAIL:]
    shown = f"{escape(head)}<span>{escape(middle)}</span>{escape(tail)}"
    return f'<span class="assay-id" title="{escape(text)}">{shown}</span>'


def _words_html(text: str) -> str:
    """The words of a text, those that a browser would break kept whole."""
    return "".join(word if not word or word.isspace() else _word_html(word) for word in re.split(r"([ \t\n]+)", text))


def _word_html(word: str) -> str:
    if _WITHOUT_SPACES.search(word) or any(east_asian_width(letter) in "WF" for letter in word):
        return escape(word)
    if len(word) > LONGEST_WORD and (len(word) > 2 * LONGEST_WORD or not word.isalpha()):
        return identifier_html(word)
    return _whole(word) if _breaks(word) else escape(word)


def _breaks(word: str) -> bool:
    """Whether a browser may begin a new line within the word."""
    return not _PLAIN_WORD.fullmatch(word) and len(word) > 1


def _whole(text: str) -> str:
    return f'<span class="assay-w">{escape(text)}</span>'


def as_text(table: TextTable) -> str:
    """The table in columns of text."""
    return in_columns(table.columns, table.rows, [table.numeric(place) for place in range(len(table.columns))])
