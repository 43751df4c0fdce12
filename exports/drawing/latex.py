r"""LaTeX of reports: texts of any script escaped, tables that fit the page, and a preamble that compiles by itself.

What is written compiles with the smallest TeX there is (Debian: texlive-latex-recommended), by pdfLaTeX where all is in
Latin letters, and by LuaLaTeX (texlive-luatex) where it is not: the preamble then names a font for each script that
occurs, the first that is installed. Each block stands between two marks, `%%% begin NAME` and `%%% end NAME`, so that
it can be cut out; a block needs booktabs, graphicx, longtable and array, with pdfLaTeX also fontenc (T1), nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from exports.drawing.tables import TextTable, as_latex, latex_cell, latex_text

MOST_ROWS = 28
"""Lines of a table beyond which it goes on over the next pages."""

WIDE = 92
"""Characters of a row that fit a line."""

_LONG = 24
_LONGEST_PIECE = 66
"""Characters of a word that is not broken: a hash of 64 is none of those that are longer."""

_LONG_FIGURE = 30
"""Characters of a cell beyond which a column wraps; one of figures has their intervals in it."""

_SMALL, _SMALLEST = 1.15, 1.4
"""How many times as many characters fit a line in small letters, and in the smallest."""
_SAVES = 0.75
"""Part of the lines that are left in the smallest letters, for which they are worth while."""

_FITS = r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
_COUNT = "n"
_STEPS = (1, 2, 4, 8, 16)
_LOOKED_AT = 100
_RAGGED = 1.1
_A_BIT = 0.05
_SPARE = 6
_TEXT = 0.94
_LINE = 0.94
_BREAKS = re.compile(r"[\s/:_]")

PREAMBLE = r"""% !TeX program = lualatex
\documentclass{article}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,graphicx,longtable,array,textcomp}
\usepackage{iftex}
\ifluatex
\usepackage{fontspec}
\usepackage[english,bidi=basic]{babel}
@FALLBACKS@\setmainfont{Latin Modern Roman}[@FEATURES@]
\setsansfont{Latin Modern Sans}[@FEATURES@]
\setmonofont{Latin Modern Mono}[@FEATURES@]
@SCRIPTS@\else
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\fi
\setlength{\parindent}{0pt}\setlength{\parskip}{.5em}\emergencystretch=3em
\renewcommand{\topfraction}{.95}\renewcommand{\textfraction}{.03}\renewcommand{\floatpagefraction}{.8}
\setlength{\abovecaptionskip}{0pt}\setlength{\belowcaptionskip}{5pt}
\makeatletter\setlength{\@fptop}{0pt}\setlength{\@fpsep}{14pt}
% Here tables and figures stand where they are written, below their heading; cut out they float as everywhere.
\newcommand{\standing}[1]{\renewenvironment{#1}[1][]{\par\medskip\noindent
\begin{minipage}{\linewidth}\def\@captype{#1}}{\end{minipage}\par\medskip}}
\standing{table}\standing{figure}\makeatother
\setcounter{topnumber}{20}\setcounter{totalnumber}{40}
% Before a table over pages: a new page where this one has room for its head and a line or two only.
\newcommand{\room}{\par\ifdim\pagegoal<\maxdimen\dimen0=\pagegoal\advance\dimen0-\pagetotal
\ifdim\dimen0<.18\textheight\newpage\fi\fi}"""

LONG = r"\begin{longtable}"
"""How a table that goes on over pages is written."""

ROOM = r"\room"
"""A command of the preamble before a table over pages that is not the first of its section, outside of its block."""

SCRIPTS = {
    "ARABIC": ("arabic", ("Noto Naskh Arabic", "Amiri", "Noto Sans Arabic", "DejaVu Sans")),
    "HEBREW": ("hebrew", ("Noto Serif Hebrew", "Noto Sans Hebrew", "DejaVu Sans", "FreeSerif")),
}
"""Scripts that run from right to left: the language that babel gives their letters, and fonts, the best first."""

FALLBACKS = {
    "": ("DejaVu Sans",),
    "CJK": ("Noto Serif CJK SC", "Noto Sans CJK SC"),
    "HIRAGANA": ("Noto Serif CJK SC", "Noto Sans CJK SC"),
    "KATAKANA": ("Noto Serif CJK SC", "Noto Sans CJK SC"),
    "HANGUL": ("Noto Serif CJK SC", "Noto Sans CJK SC"),
    "DEVANAGARI": ("Noto Sans Devanagari",),
    "BENGALI": ("Noto Sans Bengali",),
    "TAMIL": ("Noto Sans Tamil",),
    "THAI": ("Noto Sans Thai",),
    "MATHEMATICAL": ("Noto Sans Math",),
}
"""Script → fonts that letters are taken from which the text's own font lacks; "" is of whatever else there is."""


def preamble(text: str) -> list[str]:
    """The lines before the document, for what `text` (the whole document) is written in."""
    found = {name.split()[0] for name in (unicodedata.name(letter, "") for letter in set(text)) if name}
    scripts = []
    for script, (language, fonts) in SCRIPTS.items():
        if script in found:
            scripts.append(rf"\babelprovide[import,onchar=ids fonts]{{{language}}}")
            scripts.append(_first(fonts, rf"\babelfont[{language}]{{rm}}{{@}}\babelfont[{language}]{{sf}}{{@}}"))
    beyond = any(ord(letter) > 0x24F and letter not in "–—‘’“”„…•−" for letter in set(text))
    fallbacks = []
    if beyond:
        fallbacks.append(r"\directlua{assayfonts = {}}")
        fallbacks += [
            rf'\IfFontExistsTF{{{font}}}{{\directlua{{table.insert(assayfonts, "{font}:mode=harf;")}}}}{{}}'
            for font in dict.fromkeys(
                font for script, some in FALLBACKS.items() if script in ("", *found) for font in some
            )
        ]
        fallbacks.append(r'\directlua{luaotfload.add_fallback("assay", assayfonts)}')
    features = "Ligatures=TeXOff" + ",RawFeature={fallback=assay}" * beyond
    written = PREAMBLE.replace("@FALLBACKS@", "".join(f"{line}\n" for line in fallbacks))
    written = written.replace("@SCRIPTS@", "".join(f"{line}\n" for line in scripts)).replace("@FEATURES@", features)
    return written.splitlines()


def _first(fonts: Sequence[str], used: str) -> str:
    r"""`used` with the first of these fonts that is installed in place of @."""
    written = ""
    for font in reversed(fonts):
        written = rf"\IfFontExistsTF{{{font}}}{{{used.replace('@', font)}}}{{{written}}}"
    return written


def marked(name: str, lines: Iterable[str]) -> list[str]:
    """A block between its marks."""
    return [f"%%% begin {name}", *lines, f"%%% end {name}", ""]


def latex_table(table: TextTable) -> str:
    """A booktabs table with its caption: long texts wrap, no wider than the line, over pages where it is long."""
    heads = [_heading(table, place) for place in range(len(table.columns))]
    widths = [
        max((len(cell) for cell in (*lines, *cells)), default=0)
        for lines, *cells in zip(heads, *table.rows, strict=True)
    ]
    wrapped = [width > (_LONG_FIGURE if table.numeric(place) else _LONG) for place, width in enumerate(widths)]
    share = _shares(table, widths, wrapped, WIDE)
    if _lines(table.rows, share) <= MOST_ROWS:
        parts = _parts(table, share)
        return _under_each_other([_one_page(part, heads, share, wrapped, places) for part, places in parts])
    share, smaller = (_shares(table, widths, wrapped, round(size * WIDE)) for size in (_SMALL, _SMALLEST))
    if sum(share) + 2 * len(share) > _SMALL * WIDE or _lines(table.rows, smaller) < _SAVES * _lines(table.rows, share):
        share = smaller
    total = sum(chars + 2 for chars in share)
    return _long(table, [(chars + 2) / total for chars in share], wrapped, total, heads)


def _one_page(
    table: TextTable, heads: Sequence[Sequence[str]], share: Sequence[int], wrapped: Sequence[bool], places: list[int]
) -> str:
    """A table of these columns (`places`) of a whole one, of which the others say so much."""
    total = sum(share[place] + 2 for place in places)
    columns = [
        rf">{{{_side(table, at)}\arraybackslash}}p{{{_LINE * share[place] / max(total, WIDE):.3f}\linewidth}}"
        if wrapped[place]
        else "r"
        if table.numeric(at)
        else "l"
        for at, place in enumerate(places)
    ]
    return _fitted(as_latex(table, columns, _heads(heads, wrapped, places)))


def _parts(table: TextTable, share: Sequence[int]) -> list[tuple[TextTable, list[int]]]:
    """A table with its columns' places; one too wide to be read where it is shrunk in parts, as wide as a line is.

    Each part begins with the first column. A count (`n`) stays beside what it is of.
    """
    every = list(range(len(share)))
    if sum(share) + 2 * len(share) <= _SMALLEST * WIDE:
        return [(table, every)]
    groups: list[list[int]] = []
    for place in every[1:]:
        if groups and table.columns[place] == _COUNT:
            groups[-1].append(place)
        else:
            groups.append([place])
    parts: list[list[int]] = [[0]]
    for group in groups:
        if len(parts[-1]) > 1 and sum(share[place] + 2 for place in [*parts[-1], *group]) > _SMALL * WIDE:
            parts.append([0])
        parts[-1] += group
    return [(_of_columns(table, part), part) for part in parts]


def _of_columns(table: TextTable, places: Sequence[int]) -> TextTable:
    return replace(
        table,
        columns=tuple(table.columns[place] for place in places),
        rows=tuple(tuple(row[place] for place in places) for row in table.rows),
    )


def _under_each_other(written: Sequence[str]) -> str:
    """The parts of a table in one float, below the caption of the first."""
    first, *others = written
    end = "\\end{table}"
    bodies = [other[other.index(_FITS) : other.index(end)] for other in others]
    return first.replace(end, "".join(f"\n  \\par\\medskip\n{body}" for body in bodies) + end, 1)


def _side(table: TextTable, place: int) -> str:
    return r"\raggedleft" if table.numeric(place) else r"\raggedright"


def _shares(table: TextTable, widths: Sequence[int], wrapped: Sequence[bool], line: int) -> list[int]:
    """Characters of each column on a line of so many: what does not wrap has what it needs.

    Those that wrap begin with what does not break, and get the rest where it saves the most lines.
    """
    share = [
        min(width, _least(cells)) if wraps else width
        for width, wraps, cells in zip(widths, wrapped, zip(table.columns, *table.rows, strict=True), strict=True)
    ]
    left = line - sum(share) - 2 * len(share)
    if left < 0:  # it is made smaller all the same
        return [min(width, _LONG) if wraps else width for width, wraps in zip(widths, wrapped, strict=True)]
    rows = table.rows[:: max(1, len(table.rows) // _LOOKED_AT)]
    while left > 0:
        now = _lines(rows, share, every=True)
        gains = [
            (
                (now - _lines(rows, [*share[:place], share[place] + more, *share[place + 1 :]], every=True)) / more,
                -place,
                more,
            )
            for place, wraps in enumerate(wrapped)
            if wraps
            for more in {min(step, left, widths[place] - share[place]) for step in _STEPS}
            if more > 0
        ]
        gain, place, more = max(gains, default=(0.0, 0, 0))
        if gain <= 0:
            break
        share[-place] += more
        left -= more
    return share


def _lines(rows: Sequence[Sequence[str]], share: Sequence[int], *, every: bool = False) -> float:
    """How many lines rows take in columns of so many characters; with `every`, those of shorter cells count a bit."""
    n = 0.0
    for row in rows:
        lines = [
            1 if len(cell) <= chars else -(-len(cell) * _RAGGED // max(1, chars))
            for cell, chars in zip(row, share, strict=True)
        ]
        n += max(lines, default=1) + (_A_BIT * sum(lines) if every else 0)
    return n


def _least(cells: Sequence[str]) -> int:
    """The characters that a column needs for what does not break, within bounds."""
    pieces = (len(piece) for cell in cells for piece in _BREAKS.split(cell))
    return max(12, max((length for length in pieces if length < _LONGEST_PIECE), default=0) + 1)


def _heading(table: TextTable, place: int) -> list[str]:
    """The lines of a column's heading: two where it is of several words and wider than its figures."""
    title = table.columns[place]
    widest = max((len(row[place]) for row in table.rows), default=0)
    if not table.numeric(place) or " " not in title or len(title) < widest + _SPARE:
        return [title]
    blanks = [at for at, letter in enumerate(title) if letter == " "]
    middle = min(blanks, key=lambda at: abs(at - len(title) / 2))
    return [title[:middle], title[middle + 1 :]]


def _heads(heads: Sequence[Sequence[str]], wrapped: Sequence[bool], places: Iterable[int]) -> list[str]:
    """The headings of these columns; one that wraps needs no lines of its own, within which no word could break."""
    return [_head([" ".join(heads[place])] if wrapped[place] else heads[place]) for place in places]


def _head(lines: Sequence[str]) -> str:
    written = r"\\".join(map(latex_text, lines))
    return rf"\shortstack[r]{{{written}}}" if len(lines) > 1 else written


def _fitted(written: str) -> str:
    """A table that shrinks to the width of the line where it is wider."""
    begin, end = "  \\begin{tabular}", "  \\end{tabular}"
    shrink = _FITS
    written = written.replace(r"\begin{table}", r"\begin{table}[!htbp]", 1)
    head, body = written.split(begin, 1)
    body, tail = body.rsplit(end, 1)
    return f"{head}{shrink}\n{begin}{body}{end}}}{tail}"


def _long(
    table: TextTable, shares: Sequence[float], wrapped: Sequence[bool], total: int, heads: Sequence[Sequence[str]]
) -> str:
    """A table over pages; where its columns are wider than the line, all of them wrap."""
    tight = total > 1.55 * WIDE
    size = r"\footnotesize" if total <= _SMALL * WIDE else r"\scriptsize"
    part = 1.0 if tight else _TEXT  # columns that do not wrap take what they need, which is a little more
    wrapped = [tight or wraps for wraps in wrapped]
    columns = []
    for place, share in enumerate(shares):
        if wrapped[place]:
            side = _side(table, place)
            columns.append(rf">{{{side}\arraybackslash}}p{{\dimexpr {share * part:.4f}\linewidth-2\tabcolsep\relax}}")
        else:
            columns.append("r" if table.numeric(place) else "l")
    head = " & ".join(_heads(heads, wrapped, range(len(heads)))) + r" \\"
    rows = [" & ".join(map(latex_cell, row)) + r" \\" for row in table.rows]
    return "\n".join(
        [
            rf"{{{size}",
            rf"\begin{{longtable}}{{{''.join(columns)}}}",
            rf"  \caption{{{latex_text(table.caption)}}}\\",
            r"  \toprule",
            f"  {head}",
            r"  \midrule\endfirsthead",
            r"  \toprule",
            f"  {head}",
            r"  \midrule\endhead",
            r"  \bottomrule\endfoot",
            *(f"  {row}" for row in rows),
            r"\end{longtable}}",
            "",
        ]
    )
