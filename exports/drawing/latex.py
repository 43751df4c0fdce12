r"""LaTeX of reports: texts of any script escaped, tables that fit the page, and a preamble that compiles by itself.

What is written compiles with the smallest TeX there is (Debian: texlive-latex-recommended), by pdfLaTeX where all is in
Latin letters, and by LuaLaTeX (texlive-luatex) where it is not: the preamble then names a font for each script that
occurs, the first that is installed. Each block stands between two marks, `%%% begin NAME` and `%%% end NAME`, so that
it can be cut out; a block needs booktabs, graphicx and longtable, nothing else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from exports.drawing.tables import TextTable, as_latex, latex_cell, latex_text

MOST_ROWS = 28
"""Lines of a table beyond which it goes on over the next pages."""

WIDE = 92
"""Characters of a row that fit a line."""

_LONG = 24
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
\setcounter{topnumber}{20}\setcounter{totalnumber}{40}"""

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
    wrapped = [width > _LONG and not table.numeric(place) for place, width in enumerate(widths)]
    lines = sum(max((-(-len(cell) // 40) for cell in row), default=1) for row in table.rows)
    line = WIDE if lines <= MOST_ROWS else round(1.4 * WIDE)  # a long table is set in small letters
    narrow = sum(width + 2 for width, wraps in zip(widths, wrapped, strict=True) if not wraps)
    room = max(line - narrow, 20 * sum(wrapped))
    wanted = sum(min(width, 160) for width, wraps in zip(widths, wrapped, strict=True) if wraps)
    leasts = [_least(cells) for cells in zip(table.columns, *table.rows, strict=True)]
    share = [
        max(least, min(width, round(room * min(width, 160) / wanted))) if wraps else width
        for width, wraps, least in zip(widths, wrapped, leasts, strict=True)
    ]
    lines = sum(max(-(-len(cell) // max(1, share[place])) for place, cell in enumerate(row)) for row in table.rows)
    total = sum(chars + 2 for chars in share)
    if lines <= MOST_ROWS:
        columns = [
            rf">{{\raggedright\arraybackslash}}p{{{_LINE * chars / max(total, WIDE):.3f}\linewidth}}"
            if wraps
            else "r"
            if table.numeric(place)
            else "l"
            for place, (chars, wraps) in enumerate(zip(share, wrapped, strict=True))
        ]
        return _fitted(as_latex(table, columns, _heads(heads)))
    return _long(table, [chars / total for chars in share], wrapped, total, _heads(heads))


def _least(cells: Sequence[str]) -> int:
    """The characters that a column needs for what does not break, within bounds."""
    pieces = (piece for cell in cells for piece in _BREAKS.split(cell))
    return max(12, min(_LONG, max(map(len, pieces), default=0) + 1))


def _heading(table: TextTable, place: int) -> list[str]:
    """The lines of a column's heading: two where it is of several words and wider than its figures."""
    title = table.columns[place]
    widest = max((len(row[place]) for row in table.rows), default=0)
    if not table.numeric(place) or " " not in title or len(title) < widest + _SPARE:
        return [title]
    blanks = [at for at, letter in enumerate(title) if letter == " "]
    middle = min(blanks, key=lambda at: abs(at - len(title) / 2))
    return [title[:middle], title[middle + 1 :]]


def _heads(heads: Sequence[Sequence[str]]) -> list[str]:
    written = (r"\\".join(map(latex_text, lines)) for lines in heads)
    return [
        rf"\shortstack[r]{{{head}}}" if len(lines) > 1 else head for head, lines in zip(written, heads, strict=True)
    ]


def _fitted(written: str) -> str:
    """A table that shrinks to the width of the line where it is wider."""
    begin, end = "  \\begin{tabular}", "  \\end{tabular}"
    shrink = r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    written = written.replace(r"\begin{table}", r"\begin{table}[!htbp]", 1)
    head, body = written.split(begin, 1)
    body, tail = body.rsplit(end, 1)
    return f"{head}{shrink}\n{begin}{body}{end}}}{tail}"


def _long(table: TextTable, shares: Sequence[float], wrapped: Sequence[bool], total: int, heads: Sequence[str]) -> str:
    """A table over pages; where its columns are wider than the line, all of them wrap."""
    tight = total > 1.55 * WIDE
    size = r"\footnotesize" if total <= 1.15 * WIDE else r"\scriptsize"
    part = 1.0 if tight else _TEXT  # columns that do not wrap take what they need, which is a little more
    columns = []
    for place, share in enumerate(shares):
        side = r"\raggedleft" if table.numeric(place) else r"\raggedright"
        if tight or wrapped[place]:
            columns.append(rf">{{{side}\arraybackslash}}p{{\dimexpr {share * part:.4f}\linewidth-2\tabcolsep\relax}}")
        else:
            columns.append("r" if table.numeric(place) else "l")
    head = " & ".join(heads) + r" \\"
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
