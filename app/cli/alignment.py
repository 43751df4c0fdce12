"""`assay alignment`: metrics and judges against people, of a study or of a table that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import (
    INTERVAL_KINDS,
    AsJson,
    Delimiter,
    Each,
    Empty,
    Encoded,
    FoldCase,
    LeaveOut,
    Level,
    Missing,
    OfTable,
    PeopleNamed,
    Records,
    ReportFile,
    Resamples,
    Seed,
    Sheet,
    SomeProject,
    SomeStudy,
    TableFile,
    check_names,
    column,
    command,
    mapped_columns,
    one_of,
    opened,
    option,
    study_id_of,
    table_mapping,
    table_or_study,
)
from app.cli.mappings import with_kept
from app.cli.output import emit, progress, say_aside, working
from exports.checks import check_report
from exports.columns.columns import check_columns

if TYPE_CHECKING:
    from annotators.intervals.result import Aligned
    from exports.alignment.study import AlignmentReport, Labels
    from exports.alignment.table import TableAlignment

LABELS: tuple[Labels, ...] = ("item", "each", "settled")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "alignment",
        "assay --home ./assay-home alignment finance verification",
        "assay --home ./assay-home alignment finance grading --scorer phrase_recall --scorer token_f1 --json",
        "assay --home ./assay-home alignment finance grading --by group --report alignment.html",
        "assay alignment --table judged.csv --human grade --metric rouge_l --metric token_f1 --cluster question",
        "assay alignment --table judged.csv --human grade --metric rouge_l --metric token_f1 --equivalent 0.05",
    )(alignment)


def alignment(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: SomeProject = None,
    study: SomeStudy = None,
    scorer: Annotated[
        list[str] | None, option("NAME", "Only the scores of this scorer or judge; repeatable.  [default: all]")
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="L", help="Which labels: item (one value a unit), each, or settled.")
    ] = "item",
    by: Annotated[
        str | None, option("FIELD", "Group by this field of the items' metadata, besides system and category.")
    ] = None,
    table: TableFile = None,
    human: Annotated[str | None, column("With --table: what people said.")] = None,
    metric: Annotated[list[str] | None, column("With --table: what a metric gave; repeatable.")] = None,
    group: Annotated[str | None, column("With --table: what rows are grouped by.")] = None,
    cluster: Annotated[
        str | None,
        column("With --table: what rows are drawn together by; '' for nothing.  [default: question, or item]"),
    ] = None,
    unit: Annotated[str | None, column("With --table and --rater: what was judged.")] = None,
    rater: Annotated[str | None, column("With --table and --unit: who judged.")] = None,
    positive: Annotated[str | None, option("VALUE", "With --table: the human value that counts as yes.")] = None,
    threshold: Annotated[
        float | None, option("X", "With --table: the metric says yes from here on.  [default: 0.5 for metrics in 0..1]")
    ] = None,
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="What an annotator's cost is worth in the alternative annotator test.")
    ] = 0.2,
    human_scale: Annotated[
        str | None,
        option(
            "LOW,HIGH",
            "With --table: the ends of the people's scale.  [default: the lowest and highest value there is]",
        ),
    ] = None,
    mapping: OfTable = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    missing: Missing = None,
    empty: Empty = None,
    fold_case: FoldCase = False,
    delimiter: Delimiter = None,
    leave_out: LeaveOut = None,
    plan: Annotated[
        float | None, option("WIDTH", "Also how many labels an interval of this width takes, for each coefficient.")
    ] = None,
    equivalent: Annotated[
        float | None,
        option("MARGIN", "Also whether two metrics are equivalent: whether they differ by less than this."),
    ] = None,
    names: PeopleNamed = False,
    report: ReportFile = None,
    interval: Annotated[str, typer.Option(metavar="K", help="Kind of interval: BCa or percentile.")] = "BCa",
    level: Level = 0.95,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure how far metrics and judges agree with people.

    Of a study, or with --table of columns of a file. Correlations, AUROC, decisions at thresholds, calibration, the
    human ceiling, the ranking of systems, metrics against each other; each with an interval, or the reason why not.
    """
    kind = one_of(interval, INTERVAL_KINDS[:2], "--interval")
    of_tables = {
        "human": human, "metric": metric, "group": group, "cluster": cluster, "unit": unit, "rater": rater,
        "positive": positive, "threshold": threshold, "human_scale": human_scale, "map": mapping, "encoding": encoding,
        "sheet": sheet, "records": records, "each": each, "missing": missing,
        "fold-case": fold_case, "delimiter": delimiter, "empty": empty, "leave-out": leave_out,
    }  # fmt: skip
    what = table_or_study(table, project, study, of_tables, names=names)
    which = one_of(labels, LABELS, "--labels")
    scale = None if human_scale is None else two_ends(human_scale, "--human-scale")
    if isinstance(what, Path):
        if scorer or by:
            raise typer.BadParameter("A table has no --scorer and no --by. Leave them out.", param_hint="--table")
        single = {"human": human, "group": group, "cluster": cluster, "unit": unit, "rater": rater}
        fields, kept = with_kept(context, mapping, files=[what])
        said = mapped_columns(fields, {**single, "metric": list(metric or ())})
        human, metric = said["human"], said.pop("metric")
        mapped = kept | table_mapping(
            encoding=encoding, sheet=sheet, records=records, each=each, missing=missing,
            fold_case=fold_case, delimiter=delimiter, empty=empty, leave_out=leave_out,
        )  # fmt: skip
        if human is None or not metric:
            raise typer.BadParameter("Name the columns with --human and --metric.", param_hint="--table")
        # Before anything large is imported: a wrong name is refused at once.
        columns = {name: f"--{option}" for option, name in said.items() if name}
        check_columns(what, columns | dict.fromkeys(metric or (), "--metric"), mapped.opening)
    else:
        check_names(context, *what)
    if report is not None:
        check_report(report)
    _check_numbers(plan, equivalent)
    from annotators.intervals.bootstrap import Resampling
    from exports.alignment.study import alignment_report
    from exports.alignment.table import MetricColumns, align_table

    asked = Resampling(resamples, seed, level, "percentile" if kind == "percentile" else "BCa")
    found: AlignmentReport | TableAlignment
    if isinstance(what, Path):
        assert human is not None
        assert metric
        named = MetricColumns(metrics=tuple(metric), **said)
        with working("Measuring"):
            found = align_table(
                what, named, asked, threshold=threshold, positive=positive, epsilon=epsilon, scale=scale, mapping=mapped
            )
    else:
        with opened(context) as here, progress("Measuring") as move:
            found = alignment_report(
                here.db, here.actor, study_id_of(here, *what),
                scorers=tuple(scorer or ()), labels=which, by=by, asked=asked, epsilon=epsilon, named=names,
                progress=move,
            )  # fmt: skip
    found = _with_equivalences(found, equivalent)
    if report is not None:
        from exports.alignment.report import AlignmentDocument
        from exports.alignment.table import TableAlignment as OfATable
        from exports.drawing.report_files import write_report

        document = AlignmentDocument
        made = document.of_table(found) if isinstance(found, OfATable) else document.of_study(found)
        written = write_report(made, report)
        say_aside(f"Report: {', '.join(str(path) for path in written)}")
    _emit(found, plan, as_json=as_json)


def _check_numbers(plan: float | None, margin: float | None) -> None:
    """Refuse a width or a margin that is none, before anything is measured."""
    if plan is not None:
        from annotators.estimates.planning import check_width

        check_width(plan)
    if margin is not None:
        from annotators.intervals.equivalence import check_margin

        check_margin(margin)


def _with_equivalences(
    found: AlignmentReport | TableAlignment, margin: float | None
) -> AlignmentReport | TableAlignment:
    """The report with the tests of equivalence that were asked for."""
    if margin is None:
        return found
    from annotators.alignment import equivalences

    return replace(found, statistics=[*found.statistics, *equivalences(found.statistics, margin)])


def _emit(found: AlignmentReport | TableAlignment, plan: float | None, *, as_json: bool) -> None:
    """Print the report, with how many labels intervals of the planned width take."""
    from exports.alignment.planning import planned, planned_table
    from exports.drawing.tables import as_text

    needed = [] if plan is None else planned(found.statistics, plan)
    document = found.to_json()
    document["statistics"] += [entry.to_json() for entry in needed]

    def said() -> str:
        words = in_words(found.statistics, [*found.notes, *found.warnings, *_read(found)])
        if plan is None:
            return words
        table_of_plan = planned_table(needed, plan)
        return f"{words}\n\n{table_of_plan.caption}\n{as_text(table_of_plan)}"

    emit(document, said, as_json=as_json)


def _read(found: AlignmentReport | TableAlignment) -> list[str]:
    """What was read of a table, in lines."""
    read = getattr(found, "read", ())
    return ["", "What was read:", *(f"  {sentence}" for sentence in read)] if read else []


def two_ends(given: str, option: str) -> tuple[float, float]:
    """Two numbers with a comma between them, the lower one first; BadParameter for anything else."""
    low, comma, high = given.partition(",")
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (0.0, 0.0)
    if not comma or not ends[0] < ends[1]:
        raise typer.BadParameter(f"{given!r} is no scale. Write its ends, such as 1,5.", param_hint=option)
    return ends


def in_words(statistics: Sequence[Aligned], notes: Sequence[str]) -> str:
    """The tables of the report one below the other."""
    from exports.alignment.sections import sections
    from exports.drawing.tables import as_text

    lines = []
    for section in sections(statistics):
        for table in section.tables:
            lines += [table.caption, as_text(table), ""]
        lines += [*section.words, ""] if section.words else []
    return "\n".join([*lines, *notes]).rstrip()
