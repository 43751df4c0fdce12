"""A table as people take it away (CSV, Markdown, LaTeX), as a page draws it (HTML), and as a terminal shows it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from exports.cells import safe

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
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "<": "$<$",
    ">": "$>$",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{NO-BREAK SPACE}": "~",
}


@dataclass(frozen=True)
class TextTable:
    """Column titles and rows of cells as text. `caption` says what the table shows."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> TextTable:
        """A table of anything that has a text; None becomes an empty cell."""
        return cls(
            caption,
            tuple(columns),
            tuple(tuple("" if cell is None else str(cell) for cell in row) for row in rows),
        )

    def numeric(self, column: int) -> bool:
        """Whether the column holds numbers, which are aligned at the right."""
        cells = [row[column] for row in self.rows if row[column]]
        return bool(cells) and sum(bool(_NUMERIC(cell)) for cell in cells) * 2 > len(cells)


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


def as_latex(table: TextTable) -> str:
    """A booktabs table with its caption."""

    def line(cells: Sequence[str]) -> str:
        return "    " + " & ".join("".join(_LATEX.get(letter, letter) for letter in cell) for cell in cells) + r" \\"

    align = "".join("r" if table.numeric(column) else "l" for column in range(len(table.columns)))
    caption = "".join(_LATEX.get(letter, letter) for letter in table.caption)
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            f"  \\caption{{{caption}}}",
            f"  \\begin{{tabular}}{{{align}}}",
            r"    \toprule",
            line(table.columns),
            r"    \midrule",
            *(line(row) for row in table.rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def as_html(table: TextTable) -> str:
    """The table as a page draws it: titles, rules and aligned figures, everything escaped."""
    right = [table.numeric(column) for column in range(len(table.columns))]

    def cells(tag: str, row: Sequence[str]) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return "".join(
            f"<{tag}{scope}{' class=n' if number else ''}>{escape(cell)}</{tag}>"
            for cell, number in zip(row, right, strict=True)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    head = f"<caption>{escape(table.caption)}</caption><thead><tr>{cells('th', table.columns)}</tr></thead>"
    return f'<table class="assay-table">{head}<tbody>{body}</tbody></table>'


def as_text(table: TextTable) -> str:
    """The table in columns of text."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    right = [table.numeric(place) for place in range(len(widths))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if end else cell.ljust(width)
            for cell, width, end in zip(cells, widths, right, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(table.columns), line(["-" * width for width in widths]), *map(line, table.rows)])
