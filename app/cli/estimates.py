"""`assay estimate` and `assay next`: all items from few labels, and which to label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.alignment import two_ends
from app.cli.base import (
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
    ProjectName,
    Records,
    ReportFile,
    Sheet,
    SomeProject,
    SomeStudy,
    StudyName,
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
from app.cli.output import emit, say_aside, working
from app.cli.output import table as in_columns
from exports.checks import check_report
from exports.columns.columns import check_columns

if TYPE_CHECKING:
    from exports.estimates.report import EstimateReport

OF = ("items", "population")
BY = ("system", "category")
Dice = Annotated[int, typer.Option(min=0, help="Seed of the folds and of every draw.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "estimate",
        "assay --home ./assay-home estimate finance verification --criterion correct",
        "assay --home ./assay-home estimate finance grading --criterion complete --predict token_f1,judge:qwen --json",
        "assay --home ./assay-home estimate finance grading --criterion complete --plan 0.1 --labels 400",
        "assay estimate --table judged.csv --human grade --predict rouge_l,token_f1 --cluster question",
    )(estimate)
    command(app, "next", "assay --home ./assay-home next finance grading --n 50 --seed 7 --json")(next_items)


def estimate(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: SomeProject = None,
    study: SomeStudy = None,
    criterion: Annotated[
        str | None, option("C", "What people judge.  [default: the first whose labels are numbers]")
    ] = None,
    predict: Annotated[
        str | None,
        option("S1,S2,judge:J", "Scores and judges (or columns) that predict it.  [default: all that fit; none]"),
    ] = None,
    of: Annotated[
        str | None,
        option(
            "items|population",
            "Of the items themselves, or of what they stand for.  [default: items; of a table: population]",
        ),
    ] = None,
    by: Annotated[str | None, option("system|category", "Also each group, their differences and ranks.")] = None,
    plan: Annotated[
        float | None, option("WIDTH", "Also how many labels an interval of this width takes, and in which design.")
    ] = None,
    labels: Annotated[
        int | None,
        option("N", "Also what designs of so many labels give: how many items, how many raters an item.", min=2),
    ] = None,
    table: TableFile = None,
    human: Annotated[
        str | None,
        option("COL,COL", "With --table: what people said, a column a rater; empty where nobody did."),
    ] = None,
    weight: Annotated[str | None, column("With --table: one over the probability that a row was drawn with.")] = None,
    stratum: Annotated[str | None, column("With --table: what rows were drawn within.")] = None,
    cluster: Annotated[
        str | None,
        column("With --table: what rows are drawn together by; '' for nothing.  [default: question, or item]"),
    ] = None,
    group: Annotated[str | None, column("With --table: groups with means of their own, such as the system.")] = None,
    population: Annotated[
        int | None, option("N", "With --table: the rows are (of) a finite set of so many.", min=1)
    ] = None,
    positive: Annotated[str | None, option("VALUE", "With --table: the human value that counts as yes.")] = None,
    human_scale: Annotated[str | None, option("LOW,HIGH", "With --table: the ends of the people's scale.")] = None,
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
    report: ReportFile = None,
    level: Level = 0.95,
    seed: Dice = 0,
    as_json: AsJson = False,
) -> None:
    """Estimate all items from few labels and predictions.

    Scores and judges are combined, cross-fitted on the labels; each figure comes with its interval, what its labels are
    worth, or the reason why not: means, groups, differences, ranks, correlations, AUROC, F1, and an interval that holds
    at every look.
    """
    of_tables = {
        "human": human, "weight": weight, "stratum": stratum, "cluster": cluster, "group": group,
        "population": population,
        "positive": positive, "human_scale": human_scale, "map": mapping, "encoding": encoding, "sheet": sheet,
        "records": records, "each": each, "missing": missing,
        "fold-case": fold_case, "delimiter": delimiter, "empty": empty, "leave-out": leave_out,
    }  # fmt: skip
    what = table_or_study(table, project, study, of_tables)
    names = tuple(name.strip() for name in (predict or "").split(",") if name.strip())
    whom = None if of is None else one_of(of, OF, "--of")
    groups = None if by is None else one_of(by, BY, "--by")
    scale = None if human_scale is None else two_ends(human_scale, "--human-scale")
    if isinstance(what, Path):
        if criterion or by:
            raise typer.BadParameter("A table has no --criterion and no --by. Leave them out.", param_hint="--table")
        given = {"human": human, "weight": weight, "stratum": stratum, "cluster": cluster, "group": group}
        fields, kept = with_kept(context, mapping, files=[what])
        said = mapped_columns(fields, {**given, "predict": list(names)})
        human, names = said["human"], tuple(said.pop("predict"))
        mapped = kept | table_mapping(
            encoding=encoding, sheet=sheet, records=records, each=each, missing=missing,
            fold_case=fold_case, delimiter=delimiter, empty=empty, leave_out=leave_out,
        )  # fmt: skip
        if human is None:
            raise typer.BadParameter("Name the column of people's values with --human.", param_hint="--table")
        raters = tuple(name.strip() for name in said.pop("human").split(",") if name.strip())
        columns = {name: f"--{kind}" for kind, name in said.items() if name}
        named_columns = dict.fromkeys(raters, "--human") | columns | dict.fromkeys(names, "--predict")
        check_columns(what, named_columns, mapped.opening)
    else:
        check_names(context, *what)
    if report is not None:
        check_report(report)
    if plan is not None:
        from annotators.estimates.planning import check_width

        check_width(plan)
    if isinstance(what, Path):
        from exports.estimates.table import EstimateColumns, estimate_table

        named = EstimateColumns(raters, names, **said)
        with working("Estimating"):
            found = estimate_table(
                what, named, of=whom, population=population, positive=positive, scale=scale, width=plan,
                labels=labels, level=level, seed=seed, mapping=mapped,
            )  # fmt: skip
    else:
        from exports.estimates.report import estimate_report

        with opened(context) as here, working("Estimating"):
            found, _ = estimate_report(
                here.db, here.actor, study_id_of(here, *what),
                criterion=criterion, predict=names, of=whom or OF[0], by=groups, width=plan, labels=labels,
                level=level, seed=seed,
            )  # fmt: skip
    if report is not None:
        from exports.drawing.report_files import write_report

        written = write_report(found, report)
        say_aside(f"Report: {', '.join(str(path) for path in written)}")
    emit(found.to_json(), lambda: _in_words(found), as_json=as_json)


def _in_words(found: EstimateReport) -> str:
    from exports.drawing.tables import as_text
    from exports.estimates.raters import designs_in_words, designs_table, options_of, raters_part
    from exports.estimates.report import estimates_table, strata_table

    tables, words = [estimates_table(found), strata_table(found)], list[str]()
    if found.designs is not None:
        tables += [designs_table(found.designs, found.called)] if found.designs.rows else []
        words = designs_in_words(found.designs)
        chosen = found.designs.cheapest_with_agreement or found.designs.best_with_agreement
        if chosen is not None:
            items = chosen.items if found.designs.width is None else chosen.items_of_fewest
            words.append(f"A study of it: assay study create … {' '.join(options_of(chosen, items))}")
    lines = [line for made in tables for line in (made.caption, as_text(made), "")]
    whose = raters_part(found.units).in_words
    return "\n".join([*lines, found.sentence(), *found.notes, *whose, *words]).rstrip()


def next_items(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    n: Annotated[int, typer.Option("--n", metavar="N", min=1, help="How many items to draw.")] = 20,
    seed: Dice = 0,
    criterion: Annotated[
        str | None, option("C", "What people judge.  [default: the first whose labels are numbers]")
    ] = None,
    predict: Annotated[str | None, option("S1,S2,judge:J", "What predicts it.  [default: all that fit]")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw the items to label next, and put them before others.

    Drawn at random, more often where the predictions are likely to be wrong, never with probability zero. The draw is
    kept with its seed, time and probabilities, and every later estimate weighs by them.
    """
    check_names(context, project, study)
    from exports.estimates.drawing import draw_next

    names = tuple(name.strip() for name in (predict or "").split(",") if name.strip())
    with opened(context) as here, working("Drawing"):
        drawn = draw_next(
            here.db, here.actor, study_id_of(here, project, study), n=n, seed=seed, criterion=criterion, predict=names
        )
    rows = [{"item": item.item, "probability": item.probability} for item in drawn.items]
    words = "They come next." if drawn.first else "Everybody has an order of their own, so they stay where they are."

    def said() -> str:
        return f"{in_columns(('item', 'probability'), [list(row.values()) for row in rows])}\n{words}"

    emit(rows, said, as_json=as_json)
