"""What was measured, as a notebook shows it: tables, plots, LaTeX; the same figures as the page and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotators.errors import NotFound
from annotators.later import Later
from exports.checks import place_at
from exports.drawing.latex import latex_table, marked
from exports.drawing.report_files import ReportDocument, slug, write_report
from exports.drawing.shown import shown_html, shown_text
from exports.drawing.tables import TextTable
from exports.notebook.given import checked

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt, pd = Later("altair"), Later("pandas")

SHOWN = 3
"""Tables that a notebook shows of itself; `tables()` has all."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Figures with the report that they are shown by.

    `rows` are the statistics as the command's JSON has them, one each; `document` makes the report's tables and plots.
    """

    document: ReportDocument
    rows: Sequence[Mapping[str, Any]]
    json: Mapping[str, Any]

    @checked
    def table(self) -> pd.DataFrame:
        """The statistics, a row each: name, what it is about, value, interval, method, or the reason why none.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> figures.table()[["criterion", "name", "value"]].head(2).round(3)
          criterion                        name  value
        0     right           percent_agreement  0.778
        1     right  krippendorff_alpha_nominal  0.563
        """
        frame = pd.DataFrame(list(self.rows))
        if "label" in frame:  # of some statistics only: beside those that have none, -2 would become -2.0
            frame["label"] = pd.Series([row.get("label") for row in self.rows], dtype=object)
        return frame

    @checked
    def tables(self) -> list[TextTable]:
        """Every table of the report, as it prints them: caption, columns, rows of texts.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> figures.tables()[0].caption
        'Agreement by criterion'
        """
        return [table for section in self.document.sections() for table in section.tables]

    @checked
    def plots(self) -> dict[str, Any]:
        """Name → Altair chart of every plot of the report.

        Plots show themselves as SVG, for what Altair does of itself fetches its scripts from the network. Who wants the
        plots to move sets a renderer: `altair.renderers.enable("html")`.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> "coefficients" in figures.plots()
        True
        """
        if alt.renderers.active == "default":
            alt.renderers.enable("svg")
        return {name: chart for section in self.document.sections() for name, _, chart in section.plots}

    @checked
    def plot(self, name: str | None = None) -> Any:
        """One plot, the first where none is named; NotFound lists the names.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> type(figures.plot("coefficients")).__name__
        'LayerChart'
        >>> figures.plot("pie")
        Traceback (most recent call last):
        annotators.errors.NotFound: There is no plot 'pie'. There are: coefficients, ...
        """
        found = self.plots()
        if not found:
            raise NotFound("There is no plot: nothing is defined that could be drawn.")
        if name is None:
            return next(iter(found.values()))
        if name not in found:
            raise NotFound(f"There is no plot {name!r}. There are: {', '.join(found)}.")
        return found[name]

    @checked
    def to_latex(self, *, all_tables: bool = False) -> str:
        r"""The first table as booktabs LaTeX between its marks, or every table.

        It needs booktabs, graphicx, longtable and array, and with pdfLaTeX also `\usepackage[T1]{fontenc}`.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> print(figures.to_latex().splitlines()[0])
        %%% begin agreement-by-criterion
        >>> figures.to_latex().count(r"\begin{tabular}")
        1
        """
        tables = self.tables() if all_tables else self.tables()[:1]
        return "\n".join(line for table in tables for line in marked(slug(table.caption), [latex_table(table)]))

    @checked
    def to_json(self) -> dict[str, Any]:
        """The document that the command prints with `--json`.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> sorted(figures.to_json())
        ['criteria', 'level', 'protocol', 'resamples', 'seed', 'study']
        """
        return dict(self.json)

    @checked
    def write(self, path: str | Path) -> list[Path]:
        """Write the report with its plots, as .html, .md or .tex; the files that were written.

        >>> figures = open_home(home).project("finance").study("grading").agreement(seed=1)
        >>> [file.name for file in figures.write(folder / "agreement.html")]
        ['agreement.html']
        """
        return write_report(self.document, place_at(path))

    def __repr__(self) -> str:
        """The first table in columns of text."""
        return shown_text(self.document, self.tables()[:1])

    def _repr_html_(self) -> str:
        """What a notebook shows: title, facts, the first tables, notes."""
        tables = self.tables()
        more = f"{SHOWN} of {len(tables)} tables; tables() has all." if len(tables) > SHOWN else ""
        return shown_html(self.document, tables[:SHOWN], more)
