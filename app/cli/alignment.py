"""`assay alignment`: metrics and judges against people, of a study or of a table that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import AsJson, command, opened, study_id_of
from app.cli.output import emit, progress

if TYPE_CHECKING:
    from annotators.alignment import Aligned


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "alignment",
        "assay --home ./assay-home alignment finance verification",
        "assay --home ./assay-home alignment finance grading --scorer phrase_recall --scorer token_f1 --json",
        "assay --home ./assay-home alignment finance grading --by group --report alignment.html",
        "assay alignment --table judged.csv --human grade --metric rouge_l --metric token_f1 --cluster question",
    )(alignment)


def alignment(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: Annotated[
        str | None, typer.Argument(metavar="[PROJECT]", help="Name of the project.", show_default=False)
    ] = None,
    study: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="Name of the study.", show_default=False)
    ] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only the scores of this scorer or judge; repeatable.  [default: all]",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="L", help="Which labels: item (one value a unit), each, or settled.")
    ] = "item",
    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Group by this field of the items' metadata, besides system and category.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Measure this table (.csv, .tsv, .jsonl, .parquet) instead of a study; no database.",
            show_default=False,
        ),
    ] = None,
    human: Annotated[
        str | None, typer.Option(metavar="COL", help="With --table: what people said.", show_default=False)
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="With --table: what a metric gave; repeatable.", show_default=False),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COL", help="With --table: what rows are grouped by.", show_default=False)
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="With --table: rows that are drawn together, such as the question.", show_default=False
        ),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COL", help="With --table and --rater: what was judged.", show_default=False),
    ] = None,
    rater: Annotated[
        str | None, typer.Option(metavar="COL", help="With --table and --unit: who judged.", show_default=False)
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="With --table: the human value that counts as yes.", show_default=False),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="With --table: the metric says yes from here on.  [default: 0.5 for metrics in 0..1]",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="What an annotator's cost is worth in the alternative annotator test.")
    ] = 0.2,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a report with plots: .html, .md or .tex.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resamples behind the intervals.")] = 0,
    resamples: Annotated[int, typer.Option(help="Resamples behind each interval; 0 leaves the intervals out.")] = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure how far metrics and judges agree with people.

    Of a study, or with --table of columns of a file. Correlations, AUROC, decisions at thresholds, calibration, the
    human ceiling, the ranking of systems, metrics against each other; each with an interval, or the reason why not.
    """
    from annotators.alignment import Resampling
    from exports.alignment import LABELS, AlignmentReport, alignment_report
    from exports.alignment_table import Named, TableAlignment, align_table

    asked = Resampling(resamples, seed)
    found: AlignmentReport | TableAlignment
    if table is not None:
        if project or study or scorer or by:
            raise typer.BadParameter(
                "A table needs no PROJECT, --scorer or --by. Leave them out.", param_hint="--table"
            )
        if human is None or not metric:
            raise typer.BadParameter("Name the columns with --human and --metric.", param_hint="--table")
        named = Named(human, tuple(metric), group, cluster, unit, rater)
        found = align_table(table, named, asked, threshold=threshold, positive=positive, epsilon=epsilon)
    else:
        if project is None or study is None:
            raise typer.BadParameter("Give PROJECT and STUDY, or --table FILE.", param_hint="PROJECT STUDY")
        columns = {
            "--human": human, "--metric": metric, "--group": group, "--cluster": cluster, "--unit": unit,
            "--rater": rater, "--positive": positive, "--threshold": threshold,
        }  # fmt: skip
        if given := [name for name, value in columns.items() if value is not None]:
            raise typer.BadParameter("It is about the columns of a --table.", param_hint=given[0])
        if labels not in LABELS:
            raise typer.BadParameter(f"{labels!r} is none of {', '.join(LABELS)}.", param_hint="--labels")
        with opened(context) as here, progress("Measuring") as move:
            found = alignment_report(
                here.db, here.actor, study_id_of(here, project, study),
                scorers=tuple(scorer or ()), labels=labels, by=by, asked=asked, epsilon=epsilon, progress=move,
            )  # fmt: skip
    if report is not None:
        from exports.alignment_report import Report
        from exports.report_files import write_report

        made = Report.of_table(found) if isinstance(found, TableAlignment) else Report.of_study(found)
        written = write_report(made, report)
        typer.echo(f"Report: {', '.join(str(path) for path in written)}", err=True)
    emit(found.to_json(), lambda: in_words(found.statistics, found.notes), as_json=as_json)


def in_words(statistics: Sequence[Aligned], notes: Sequence[str]) -> str:
    """The tables of the report one below the other."""
    from exports.alignment_sections import sections
    from exports.tables import as_text

    lines = []
    for section in sections(statistics):
        for one in section.tables:
            lines += [one.caption, as_text(one), ""]
        lines += [*section.words, ""] if section.words else []
    return "\n".join([*lines, *notes]).rstrip()
