"""A report as files with its plots: self-contained HTML, Markdown, LaTeX."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Protocol

from annotators.version import program_version
from exports.checks import check_report
from exports.drawing.charts import drawn
from exports.drawing.tables import TextTable, as_html, as_latex, as_markdown


@dataclass(frozen=True)
class Section:
    """One part of a report: a title, tables, plots (name, caption, an Altair chart), and words."""

    title: str
    tables: Sequence[TextTable] = ()
    plots: Sequence[tuple[str, str, Any]] = ()
    words: Sequence[str] = field(default_factory=tuple)


class ReportDocument(Protocol):
    """What a report says: its title, facts about it, notes, and its sections."""

    @property
    def title(self) -> str:
        """The heading."""

    @property
    def facts(self) -> Sequence[tuple[str, str]]:
        """Name and value of what the report was made from."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know beside the figures."""

    def sections(self) -> list[Section]:
        """The parts, in their order."""


def write_report(report: ReportDocument, path: Path) -> list[Path]:
    """Write the report in the form that its ending says; the files that were written, the report first.

    .html holds everything in one file. .md and .tex have their plots (SVG, PDF) in a folder beside them that is named
    like the file, with "-plots". Raises InvalidInput for another ending.
    """
    ending = check_report(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".html":
        path.write_text(report_html(report), encoding="utf-8")
        return [path]
    text, files = report_markdown(report, path.stem) if ending == ".md" else report_latex(report, path.stem)
    path.write_text(text, encoding="utf-8")
    for name, content in files.items():
        place = path.parent / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content)
    return [path, *(path.parent / name for name in files)]


def report_file(report: ReportDocument, stem: str, ending: str) -> bytes:
    """The report as one file to take away: HTML, or (`.md`, `.tex`) a ZIP of the text with its plots."""
    if ending == ".html":
        return report_html(report).encode()
    text, files = (report_markdown if ending == ".md" else report_latex)(report, stem)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{stem}{ending}", text)
        for place, content in files.items():
            archive.writestr(place, content)
    return out.getvalue()


def made_by() -> tuple[str, str]:
    """The fact about a report that says by what, and when, it was made."""
    return "Made by", f"Assay {program_version()}, {datetime.now(UTC):%d %b %Y %H:%M} UTC"


def report_html(report: ReportDocument) -> str:
    """One page with its style and its plots in it; nothing is fetched from elsewhere, nothing in it runs."""
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.facts)
    body = []
    for section in report.sections():
        body.append(f"<h2>{escape(section.title)}</h2>")
        body += [
            f"<h3>{escape(table.caption)}</h3><div class=scroll>{as_html(table)}</div>" for table in section.tables
        ]
        body += [f"<p class=soft>{escape(line)}</p>" for line in section.words]
        figures = [
            f"<figure>{_inline(chart, name)}<figcaption>{escape(caption)}</figcaption></figure>"
            for name, caption, chart in section.plots
        ]
        body.append(f'<div class="plots">{"".join(figures)}</div>' if figures else "")
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    notes = f"<h2>Notes</h2><ul>{notes}</ul>" if notes else ""
    title = escape(report.title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
        f"<h1>{title}</h1><dl>{facts}</dl>{''.join(body)}{notes}</main></body></html>\n"
    )


def report_markdown(report: ReportDocument, stem: str) -> tuple[str, dict[str, bytes]]:
    """The report in Markdown, and its plots by the path that it names them with."""
    files: dict[str, bytes] = {}
    lines = [f"# {_md(report.title)}", "", *(f"- {_md(name)}: {_md(value)}" for name, value in report.facts), ""]
    for section in report.sections():
        lines += [f"## {_md(section.title)}", ""]
        for table in section.tables:
            lines += [f"**{_md(table.caption)}**", "", as_markdown(table)]
        lines += [line for word in section.words for line in (_md(word), "")]
        for name, caption, chart in section.plots:
            place = f"{stem}-plots/{name}.svg"
            files[place] = drawn(chart, "svg")
            lines += [f"![{_md(caption)}]({place})", "", _md(caption), ""]
    if report.notes:
        lines += ["## Notes", "", *(f"- {_md(note)}" for note in report.notes), ""]
    return "\n".join(lines), files


def report_latex(report: ReportDocument, stem: str) -> tuple[str, dict[str, bytes]]:
    """The report as a LaTeX document (booktabs, graphicx), and its plots by the path that it names them with."""
    files: dict[str, bytes] = {}
    facts = " \\\\\n".join(f"{_tex(name)}: {_tex(value)}" for name, value in report.facts)
    lines = [*_PREAMBLE, rf"\title{{{_tex(report.title)}}}", r"\date{}", r"\begin{document}", r"\maketitle", facts, ""]
    for section in report.sections():
        lines += [rf"\section{{{_tex(section.title)}}}", ""]
        lines += [_wide(as_latex(table)) for table in section.tables]
        lines += [line for word in section.words for line in (_tex(word), "")]
        for name, caption, chart in section.plots:
            place = f"{stem}-plots/{name}.pdf"
            files[place] = drawn(chart, "pdf")
            lines += [
                r"\begin{figure}[htbp]", r"  \centering", rf"  \includegraphics[width=.7\linewidth]{{{place}}}",
                rf"  \caption{{{_tex(caption)}}}", r"\end{figure}", "",
            ]  # fmt: skip
    if report.notes:
        notes = [rf"  \item {_tex(note)}" for note in report.notes]
        lines += [r"\section{Notes}", r"\begin{itemize}", *notes, r"\end{itemize}"]
    return "\n".join([*lines, r"\end{document}", ""]), files


# Parts --------------------------------------------------------------------------------------------------------------

_PREAMBLE = [
    r"\documentclass{article}",
    r"\usepackage[margin=2cm]{geometry}",
    r"\usepackage{booktabs,graphicx,adjustbox}",
]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #17212b; background: #fff; margin: 0; }
main { max-width: 1100px; margin: 0 auto; padding: 28px 22px 60px; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 34px 0 6px; } h3 { font-size: .95rem; margin: 18px 0 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; } dt, .soft { color: #59656f; }
dd { margin: 0; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { display: none; } th { text-align: left; border-bottom: 1.5px solid #17212b; padding: 5px 9px; }
td { border-bottom: 1px solid #d8dee3; padding: 5px 9px; vertical-align: top; }
.n { text-align: right; white-space: nowrap; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 18px; }
figure { margin: 12px 0; } figure svg { max-width: 100%; height: auto; }
figcaption { color: #59656f; font-size: .87rem; }
"""


def _inline(chart: Any, name: str) -> str:
    """An SVG that can stand in a page beside others: ids get the plot's name."""
    text = drawn(chart, "svg").decode()
    text = text[text.index("<svg") :]
    prefix = f"{slug(name)}-"
    for before in ('id="', "url(#", 'href="#'):
        text = text.replace(before, before + prefix)
    return text


def _wide(table: str) -> str:
    """A LaTeX table that shrinks to the width of the page."""
    begin, end = "  \\begin{tabular}", "  \\end{tabular}"
    table = table.replace(begin, f"  \\begin{{adjustbox}}{{max width=\\textwidth}}\n{begin}")
    return table.replace(end, f"{end}\n  \\end{{adjustbox}}")


def slug(text: str) -> str:
    """A name for a file or an element from any text."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
    return plain.strip("-").lower() or "x"


def _md(text: str) -> str:
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>#|" else letter for letter in text.replace("\n", " "))


def _tex(text: str) -> str:
    table = TextTable.of("", [text], [])
    line = as_latex(table).split(r"\toprule" + "\n")[1].split("\n")[0]
    return line.strip().removesuffix(r"\\").strip()
