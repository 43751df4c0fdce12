"""A report as files with its plots: self-contained HTML, Markdown, LaTeX."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any, Literal, Protocol

from annotators.files import naming
from annotators.version import program_version
from exports.checks import check_report
from exports.drawing.charts import as_file, as_svg, drawn
from exports.drawing.latex import LONG, ROOM, latex_table, marked, preamble
from exports.drawing.markdown import markdown_html, markdown_latex, markdown_quoted
from exports.drawing.tables import TextTable, as_html, as_markdown, latex_text

_FIGURE = r"width=.7\linewidth,height=.38\textheight,keepaspectratio"
"""The size of a plot in LaTeX: two of the tallest, radars with many lines in their legends, share a page."""

_BREAK = r"\vskip 0pt plus .15\textheight\penalty-200\vskip 0pt plus -.15\textheight"
"""Before a section: a new page where little is left of this one, so that no heading stands alone at its end."""


@dataclass(frozen=True)
class Section:
    """One part of a report: a title, tables, plots (name, caption, an Altair chart), and words.

    `text` is what somebody wrote in Markdown, and stands before all of these. `name` is what its block is called in
    LaTeX; without one it is made of the title.
    """

    title: str
    tables: Sequence[TextTable] = ()
    plots: Sequence[tuple[str, str, Any]] = ()
    words: Sequence[str] = field(default_factory=tuple)
    text: str = ""
    name: str = ""


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


@dataclass(frozen=True)
class _Kept:
    """A report whose sections are made once, whatever forms it is written in."""

    title: str
    facts: Sequence[tuple[str, str]]
    notes: Sequence[str]
    made: list[Section]

    def sections(self) -> list[Section]:
        """The parts, in their order."""
        return self.made


def write_report(report: ReportDocument, path: Path) -> list[Path]:
    """Write the report in the form that its ending says; the files that were written, the report first.

    .html holds everything in one file. .md and .tex have their plots (SVG, PDF) in a folder beside them that is named
    like the file, with "-plots". Raises InvalidInput for another ending.
    """
    return write_reports(report, path.parent, path.stem, [check_report(path)])


def write_reports(report: ReportDocument, folder: Path, stem: str, endings: Iterable[str]) -> list[Path]:
    """Write the report in each of these forms, as `write_report` does one; the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    files = report_files(report, stem, endings)
    for name, content in files.items():
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        with naming(place):
            place.write_bytes(content)
    return [folder / name for name in files]


Draw = Callable[[Any, Literal["svg", "pdf"]], bytes]
"""A chart and the form → the plot."""


def _drawn_once() -> Draw:
    """Draws the charts of one report, which stay where they are: each is laid out once for all forms."""
    laid_out: dict[int, str] = {}

    def draw(chart: Any, ending: Literal["svg", "pdf"]) -> bytes:
        if id(chart) not in laid_out:
            laid_out[id(chart)] = as_svg(chart)
        return as_file(laid_out[id(chart)], ending)

    return draw


def report_files(
    report: ReportDocument, stem: str, endings: Iterable[str], *, draw: Draw | None = None
) -> dict[str, bytes]:
    """Path → content of the report in each of these forms: after its text the plots that it names, by `draw`."""
    report = _Kept(report.title, report.facts, report.notes, report.sections())
    draw = draw or _drawn_once()
    found: dict[str, bytes] = {}
    for ending in endings:
        if ending == ".html":
            found[f"{stem}.html"] = report_html(report, draw).encode()
            continue
        text, plots = (report_markdown if ending == ".md" else report_latex)(report, stem, draw)
        found[f"{stem}{ending}"] = text.encode()
        found |= plots
    return found


def report_file(report: ReportDocument, stem: str, ending: str) -> bytes:
    """The report as one file to take away: HTML, or (`.md`, `.tex`) a ZIP of the text with its plots."""
    files = report_files(report, stem, [ending])
    if ending == ".html":
        return files[f"{stem}.html"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, content in files.items():
            archive.writestr(place, content)
    return out.getvalue()


def made_by() -> tuple[str, str]:
    """The fact about a report that says by what, and when, it was made."""
    return "Made by", f"Assay {program_version()}, {datetime.now(UTC):%d %b %Y %H:%M} UTC"


def report_html(report: ReportDocument, draw: Draw = drawn) -> str:
    """One page with its style and its plots in it; nothing is fetched from elsewhere, nothing in it runs."""
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.facts)
    body = []
    for section in report.sections():
        body.append(f"<h2>{escape(section.title)}</h2>")
        if section.text:
            body.append(markdown_html(section.text))
        body += [
            f"<h3>{escape(table.caption)}</h3><div class=scroll>{as_html(table)}</div>" for table in section.tables
        ]
        body += [f"<p class=soft>{escape(line)}</p>" for line in section.words]
        figures = [
            f"<figure>{_inline(draw(chart, 'svg'), name)}<figcaption>{escape(caption)}</figcaption></figure>"
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


def report_markdown(report: ReportDocument, stem: str, draw: Draw = drawn) -> tuple[str, dict[str, bytes]]:
    """The report in Markdown, and its plots by the path that it names them with."""
    files: dict[str, bytes] = {}
    lines = [f"# {_md(report.title)}", "", *(f"- {_md(name)}: {_md(value)}" for name, value in report.facts), ""]
    for section in report.sections():
        lines += [f"## {_md(section.title)}", "", *([markdown_quoted(section.text)] if section.text else [])]
        for table in section.tables:
            lines += [f"**{_md(table.caption)}**", "", as_markdown(table)]
        lines += [line for word in section.words for line in (_md(word), "")]
        for name, caption, chart in section.plots:
            place = f"{stem}-plots/{name}.svg"
            files[place] = draw(chart, "svg")
            lines += [f"![{_md(caption)}]({place})", "", _md(caption), ""]
    if report.notes:
        lines += ["## Notes", "", *(f"- {_md(note)}" for note in report.notes), ""]
    return "\n".join(lines), files


def report_latex(report: ReportDocument, stem: str, draw: Draw = drawn) -> tuple[str, dict[str, bytes]]:
    """The report as a LaTeX document (`latex.py`), and its plots by the path that it names them with."""
    files: dict[str, bytes] = {}
    facts = " \\\\\n".join(f"{latex_text(name)}: {latex_text(value)}" for name, value in report.facts)
    lines: list[str] = []
    for section in report.sections():
        name = section.name or slug(section.title)
        lines += [_BREAK, rf"\section{{{latex_text(section.title)}}}", ""]
        if section.text:
            lines += marked(f"{name}/text", [markdown_latex(section.text)])
        for place, table in enumerate(section.tables, 1):
            written = latex_table(table)
            lines += [ROOM] if place > 1 and LONG in written else []
            lines += marked(f"{name}/table-{place}", [written])
        if section.words:
            lines += marked(f"{name}/words", [line for word in section.words for line in (latex_text(word), "")])
        for file, caption, chart in section.plots:
            place_of = f"{stem}-plots/{file}.pdf"
            files[place_of] = draw(chart, "pdf")
            figure = [
                r"\begin{figure}[!htbp]", r"  \centering", rf"  \includegraphics[{_FIGURE}]{{{place_of}}}",
                rf"  \caption{{{latex_text(caption)}}}", r"\end{figure}",
            ]  # fmt: skip
            lines += marked(f"{name}/{file}", figure)
    if report.notes:
        notes = [rf"  \item {latex_text(note)}" for note in report.notes]
        lines += marked("notes", [r"\section{Notes}", r"\begin{itemize}", *notes, r"\end{itemize}"])
    title = [rf"\title{{{latex_text(report.title)}}}", r"\date{}", r"\begin{document}", r"\maketitle", facts, ""]
    body = "\n".join([*title, *lines, r"\end{document}", ""])
    return "\n".join([*preamble(body), body]), files


# Parts --------------------------------------------------------------------------------------------------------------

_STYLE = """
:root { --ink: #17212b; --soft: #59656f; --line: #d8dee3; --bg: #fff; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--bg); margin: 0; }
main { max-width: 1100px; margin: 0 auto; padding: 28px 22px 60px; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 34px 0 6px; } h3 { font-size: .95rem; margin: 18px 0 2px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; } dt, .soft { color: var(--soft); }
dd { margin: 0; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { display: none; } th { text-align: left; border-bottom: 1.5px solid var(--ink); padding: 5px 9px; }
td { border-bottom: 1px solid var(--line); padding: 5px 9px; vertical-align: top; }
.n { text-align: right; white-space: nowrap; }
.text { border-left: 3px solid var(--line); padding-left: 14px; max-width: 46em; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 18px; }
figure { margin: 12px 0; } figure svg { max-width: 100%; height: auto; overflow: visible; }
figcaption { color: var(--soft); font-size: .87rem; }
@media screen and (prefers-color-scheme: dark) {
  :root { color-scheme: dark; --ink: #e7e9ec; --soft: #9aa3ad; --line: #3a4149; --bg: #16191d; }
  figure svg [fill="white"]:is(svg > *) { fill: var(--bg); }
  figure svg :is([fill="#000"], [fill="#31333f"]) { fill: var(--ink); }
  figure svg :is([stroke="#000"], [stroke="#31333f"]) { stroke: var(--ink); }
  figure svg [stroke="#ddd"] { stroke: var(--line); }
}
"""
"""Light and dark as the pages of the app are (their colours: streamlit_config/config.toml); paper is light.

Plots are drawn on white. In the dark their words, frames and background follow by the colours that they are drawn in
(`charts.PRINTED` and the drawing library's own); the colours of series are read on either ground."""


def _inline(svg: bytes, name: str) -> str:
    """An SVG that can stand in a page beside others: ids get the plot's name."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    prefix = f"{slug(name)}-"
    for before in ('id="', "url(#", 'href="#'):
        text = text.replace(before, before + prefix)
    return text


def slug(text: str) -> str:
    """A name for a file or an element from any text."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
    return plain.strip("-").lower() or "x"


def _md(text: str) -> str:
    return "".join(f"\\{letter}" if letter in r"\`*_{}[]<>#|" else letter for letter in text.replace("\n", " "))
