"""`assay agreement`: how far people agree, in a study or in a table that stands alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base import (
    INTERVAL_KINDS,
    RATERS,
    AsJson,
    Delimiter,
    Each,
    Empty,
    Encoded,
    FoldCase,
    IntervalKindName,
    LeaveOut,
    Level,
    Missing,
    OfRatings,
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
    one_of,
    opened,
    option,
    study_id_of,
    table_mapping,
    table_or_study,
)
from app.cli.mappings import with_kept
from app.cli.output import emit, say_aside, working
from exports.checks import SAID, check_report, check_scale, check_weights

if TYPE_CHECKING:
    from annotators.agreement.report import CriterionAgreement
    from exports.agreement.models import RaterModels
    from exports.agreement.planning import CriterionPlan
    from exports.agreement.rating_tables import RatingTables
    from exports.agreement.report import Report


MODEL_RESAMPLES = 100
"""Rater models are fitted anew for each resample: more than these take long and change little."""


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "agreement",
        "assay --home ./assay-home agreement finance verification --seed 1 --resamples 2000",
        "assay --home ./assay-home agreement finance verification --judges 'some-model plain@1'",
        "assay agreement --table labels.csv --scale ordinal --labels poor,fair,good --statistics all --json",
        "assay agreement --table wide.csv --wide --scale interval --report agreement.html",
        "assay agreement --table labels.csv --scale nominal --scale clarity=ordinal --plan 0.2",
        "assay agreement --table labels.csv --weights clarity=weights.csv",
        "assay agreement --table labels.csv --rater-models",
    )(agreement)


def agreement(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: SomeProject = None,
    study: SomeStudy = None,
    table: TableFile = None,
    scale: Annotated[
        list[str] | None,
        option(
            "S",
            f"With --table: {', '.join(SAID[:-1])} or {SAID[-1]}; CRITERION=S for one criterion; "
            "repeatable.  [default: nominal]",
        ),
    ] = None,
    labels: Annotated[
        list[str] | None,
        option(
            "A,B,C", "With --table: the labels that there are, in their order; CRITERION=A,B,C for one; repeatable."
        ),
    ] = None,
    unit: Annotated[str | None, column("With --table: what was rated.  [default: item]")] = None,
    rater: Annotated[
        str | None,
        column("With --table: who rated (with --wide: the columns of the raters, A,B,C).  [default: annotator]"),
    ] = None,
    value: Annotated[str | None, column("With --table: the rating.  [default: value]")] = None,
    criterion: Annotated[str | None, column("With --table: what was asked.  [default: criterion]")] = None,
    target: Annotated[str | None, column("With --table: the part of the unit.  [default: target]")] = None,
    question: Annotated[str | None, column("With --table: what is drawn together.  [default: question]")] = None,
    added: Annotated[
        str | None,
        column("With --table: whether the rating was asked for because people disagreed; it does not count then."),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="With --table: one row a unit, one column a rater, empty means missing.")
    ] = False,
    mapping: OfRatings = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    missing: Missing = None,
    empty: Empty = None,
    fold_case: FoldCase = False,
    delimiter: Delimiter = None,
    leave_out: LeaveOut = None,
    statistics: Annotated[
        str, typer.Option(metavar="NAMES", help="default (those of the scale), all, or names with commas between them.")
    ] = "default",
    weights: Annotated[
        list[str] | None,
        option(
            "FILE",
            "Own weights for κ: a table with a row and a column a label, 1 for full agreement, 0 for none; "
            "CRITERION=FILE for one criterion; repeatable.",
        ),
    ] = None,
    judges: Annotated[
        str | None, option("A,B", "Of a study: judges that are raters beside the people, with commas between them.")
    ] = None,
    clustered: Annotated[
        bool | None,
        typer.Option(
            "--clustered/--no-clustered",
            help="Resample questions, or units.  [default: questions where some question has several units]",
            show_default=False,
        ),
    ] = None,
    raters: Annotated[
        str | None,
        option(
            "R",
            "Which raters all intervals are about: fixed (these) or random (raters like these: units and raters are "
            "resampled).  [default: fixed]",
        ),
    ] = None,
    shared: Annotated[
        int, typer.Option(metavar="N", min=2, help="Units that two of several raters must share for a κ.")
    ] = 10,
    interval: IntervalKindName = "BCa",
    level: Level = 0.95,
    names: PeopleNamed = False,
    report: ReportFile = None,
    plan: Annotated[
        float | None,
        option(
            "WIDTH",
            "Also plan: how many items and annotators give an interval of this width (upper minus lower end).",
            min=0.0,
        ),
    ] = None,
    rater_models: Annotated[
        bool,
        typer.Option("--rater-models", help="Also fit models of how good each rater is, and how hard each unit."),
    ] = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Measure how far people agree, in a study or a table.

    Every criterion has the coefficients of its scale, each with an interval, or the reason why there is none. With
    --table no database is needed: a long table has the columns item, annotator and value (and criterion, target,
    question where there are several); each cell may be there once.
    """
    kind = one_of(interval, INTERVAL_KINDS, "--interval")
    about = RATERS[0] if raters is None else one_of(raters, RATERS, "--raters")
    of_tables = {
        "scale": scale, "labels": labels, "unit": unit, "rater": rater, "value": value, "criterion": criterion,
        "target": target, "question": question, "added": added, "wide": wide, "map": mapping, "encoding": encoding,
        "sheet": sheet, "records": records, "each": each, "missing": missing,
        "fold-case": fold_case, "delimiter": delimiter, "empty": empty, "leave-out": leave_out,
    }  # fmt: skip
    what = table_or_study(table, project, study, of_tables, names=names)
    named = [name.strip() for name in statistics.split(",") if name.strip()]
    # Before anything large is imported: a wrong word is refused at once.
    if statistics not in ("default", "all"):
        from annotators.agreement.statistics.base import named as coefficients_named

        coefficients_named(named)
    for word in scale or ():
        if "=" not in word:
            check_scale(word)
    if report is not None:
        check_report(report)
    if plan is not None and plan <= 0:
        raise typer.BadParameter(f"{plan:g} is no width. Give one such as 0.2.", param_hint="--plan")
    check_weights(weights or ())
    from exports.agreement.rating_tables import RatingColumns, check_ratings

    columns = RatingColumns(unit, rater, value, criterion, target, question, added)
    fields, kept = with_kept(context, mapping, files=[what] if isinstance(what, Path) else [])
    mapped = kept | table_mapping(
        fields, encoding=encoding, sheet=sheet, records=records, each=each, missing=missing, fold_case=fold_case,
        delimiter=delimiter, empty=empty, leave_out=leave_out,
    )  # fmt: skip
    if isinstance(what, Path):
        _check_table(of_tables, judges)
        check_ratings(what, columns, wide=wide, mapping=mapped)
    else:
        check_names(context, *what)
    from annotators.agreement.report import agreement_report as report_of
    from exports.agreement.own_weights import named_weights, weights_for
    from exports.agreement.rating_tables import read_ratings
    from exports.agreement.report import Report
    from exports.agreement.study import agreement_report
    from exports.drawing.report_files import write_report

    chosen: str | list[str] = statistics if statistics in ("default", "all") else named
    own = named_weights(weights or ())
    if isinstance(what, Path):
        with working("Measuring agreement"):
            found = read_ratings(what, columns, wide=wide, scales=scale or (), labels=labels or (), mapping=mapped)
            criteria = report_of(
                found.tables,
                statistics=chosen,
                resamples=resamples,
                seed=seed,
                level=level,
                kind=kind,
                raters=about,
                least_shared=shared,
                clustered=clustered,
                units="units",
                own_weights=weights_for(own, [(table.criterion, table.ratings) for table in found.tables]),
            )
        document = _document(found, criteria, seed, resamples, level)
        made = Report.of_table(found, criteria, seed=seed, resamples=resamples, level=level)
    else:
        with opened(context) as here, working("Measuring agreement"):
            study_id = study_id_of(here, *what)
            of_study = agreement_report(
                here.db,
                here.actor,
                study_id,
                seed=seed,
                resamples=resamples,
                judges=[name.strip() for name in (judges or "").split(",") if name.strip()],
                statistics=chosen,
                clustered=clustered is not False,
                weights=own,
                level=level,
                kind=kind,
                raters=about,
                least_shared=shared,
                named=names,
            )
        document, made = of_study.to_json(), Report.of_study(of_study)
    parts = _besides(made, document, plan, seed, min(resamples, MODEL_RESAMPLES) if rater_models else None)
    if report is not None:
        written = write_report(made, report)
        say_aside(f"Report: {', '.join(str(path) for path in written)}")
    emit(document, lambda: "\n\n".join([made.in_words(), *(part.in_words() for part in parts)]), as_json=as_json)


def _check_table(given: Mapping[str, Any], judges: str | None) -> None:
    """Refuse what a table has not: judges, and in a wide one what is said of a row."""
    if judges is not None:
        raise typer.BadParameter("A table has no judges: they are raters of a study.", param_hint="--judges")
    if given["wide"] and given["added"] is not None:
        raise typer.BadParameter("A wide table has no row a rating, of which it could say so.", param_hint="--added")


def _besides(
    made: Report, document: dict[str, Any], plan: float | None, seed: int, of_models: int | None
) -> list[CriterionPlan | _Models]:
    """The plans and the rater models (with so many resamples) that were asked for, entered in the document as well."""
    with working("Simulating studies") if plan is not None else nullcontext():
        plans = _plans(made, plan, seed) if plan is not None else []
    for entry, planned in zip(document["criteria"], plans, strict=False):
        entry["plan"] = planned.to_json()
    with working("Fitting rater models") if of_models is not None else nullcontext():
        models = _models(made, seed, of_models) if of_models is not None else []
    for entry, fitted in zip(document["criteria"], models, strict=False):
        entry["rater_models"] = fitted.of.to_json(fitted.names)
    return [*plans, *models]


def _plans(made: Report, width: float, seed: int) -> list[CriterionPlan]:
    """A plan for each criterion of the report; one that cannot be planned says why."""
    from exports.agreement.planning import criterion_plan

    return [criterion_plan(criterion.title, criterion.ratings, width, seed=seed) for criterion in made.measured]


@dataclass(frozen=True)
class _Models:
    """The rater models of one criterion, and what its units are called; None: by their key."""

    of: RaterModels
    names: Mapping[Hashable, str] | None

    def in_words(self) -> str:
        return self.of.in_words(self.names)


def _models(made: Report, seed: int, resamples: int) -> list[_Models]:
    """The rater models of each criterion of the report; one that has none says why."""
    from exports.agreement.models import rater_models

    found = []
    for criterion in made.measured:
        ratings = criterion.ratings if criterion.of is None else criterion.of.all_ratings
        names = None if criterion.of is None else criterion.of.unit_names()
        found.append(_Models(rater_models(criterion.title, ratings, seed=seed, resamples=resamples), names))
    return found


def _document(
    found: RatingTables, criteria: Sequence[CriterionAgreement], seed: int, resamples: int, level: float
) -> dict[str, Any]:
    return {
        "table": found.name,
        "seed": seed,
        "resamples": resamples,
        "level": level,
        "left_out": found.left_out,
        **found.said(),
        "criteria": [criterion.to_json() for criterion in criteria],
    }
