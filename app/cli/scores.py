"""`assay score` and `assay scorers`: automatic scores, of a project or of files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count
from app.cli.base import (
    AsJson,
    Each,
    Encoded,
    FieldColumns,
    Records,
    Sheet,
    SomeProject,
    command,
    opened,
    option,
    project_id_of,
    table_mapping,
)
from app.cli.mappings import with_kept
from app.cli.output import as_lines, emit, progress, say_aside, table

if TYPE_CHECKING:
    from db.scores.gaps import ScoreGap
    from db.scores.summaries import ScoreSummary
    from exports.scoring.files import FileScores


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "score",
        "assay --home ./assay-home score finance --scorer phrase_recall",
        "assay --home ./assay-home score finance --scorer phrase_recall --param mode=paper --json",
        "assay --home ./assay-home score finance --scorer claim_metrics --labels-of claims",
        "assay --home ./assay-home score finance --scorer claim_metrics --labels-of claims --labels-by L=settled,s=GPT",
        "assay score --input items.jsonl --format native --scorer token_f1 --output scores.parquet",
        "assay score --input items.jsonl --scorer rouge_l --output scores.jsonl --engine dask",
        "assay score --input rows.json --map question=q --map answer=a --map references=gold --scorer token_f1 "
        "--output scores.jsonl",
    )(score)
    command(app, "scorers", "assay scorers")(scorers)


def score(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    scorer: Annotated[str, option("NAME", "One of `assay scorers`.")],
    project: SomeProject = None,
    param: Annotated[list[str] | None, option("NAME=VALUE", "A parameter of the scorer; repeatable.")] = None,
    labels_of: Annotated[
        list[str] | None,
        option("STUDY", "Take what was said in this study, in place of what came with the items; repeatable."),
    ] = None,
    labels_by: Annotated[
        list[str] | None,
        option(
            "WHO",
            "Whose labels: settled, people, a judge; or WHAT=WHO, commas between, for a side (L, s), a criterion or a "
            "study.  [default: settled, or the only judge]",
        ),
    ] = None,
    source: Annotated[
        list[Path] | None, option("FILE", "Score these files, without a database; repeatable.", "--input")
    ] = None,
    output: Annotated[Path | None, option("FILE", "Where the scores of --input go: .jsonl or .parquet.")] = None,
    format_name: Annotated[
        str | None, option("NAME", "Format of --input.  [default: the one that fits]", "--format")
    ] = None,
    mapping: FieldColumns = None,
    encoding: Encoded = None,
    sheet: Sheet = None,
    records: Records = None,
    each: Each = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad rows of --input out.")] = False,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where it is computed: local, or dask (the extra assay[dask]).")
    ] = "local",
    address: Annotated[
        str | None, option("URL", "Scheduler of a Dask cluster.  [default: a cluster on this machine]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compute automatic scores of a project or of files.

    Every current item is scored that has no score of this scorer, version and parameters; all are summed up. The work
    is a job: it shows on the page Jobs, and one that was interrupted, even killed, goes on where it stopped. A second
    run adds nothing. With --input and --output nothing but the files is read and written; there too an attempt that
    was cut short is continued when the command is given again.

    With --labels-of the labels of a study are read as they are now: when there are others, the same command is another
    run. Items that nobody labelled there are unscored, with the reason. --labels-by says whose they are: the final ones
    (settled), people's votes so far, or a judge's; each side of an equation may have its own.
    """
    if source or output:
        if project or not (source and output):
            raise typer.BadParameter("Give a PROJECT, or both --input and --output.", param_hint="--input")
        if labels_of or labels_by:
            raise typer.BadParameter("--labels-of names a study of a PROJECT. Leave it out.", param_hint="--labels-of")
        from exports.columns.mapping import columns_of
        from exports.reading.tables import opened_as

        fields, kept = with_kept(context, mapping, files=source)
        opening = (kept | table_mapping(encoding=encoding, sheet=sheet, records=records, each=each)).opening
        with opened_as(opening):
            columns = columns_of(fields)
            _score_files(source, output, scorer, param, format_name, skip_bad, engine, address, as_json, columns)
        return
    if project is None:
        raise typer.BadParameter("Give a PROJECT, or both --input and --output.", param_hint="PROJECT")
    if format_name or skip_bad or mapping or encoding or sheet or records:
        raise typer.BadParameter(
            "--format, --map, --encoding, --sheet, --records and --skip-bad are about --input. Leave them out.",
            param_hint="--format",
        )
    _check_scorer(scorer, param, engine, address)
    from annotators.scorers.shared.offered_models import offer
    from app.cli.working import carried_out
    from app.worker.kinds.score import SCORE
    from db.scores.gaps import score_gaps
    from db.scores.summaries import score_summary, unscored_reasons
    from db.scores.write import plan_scoring

    with opened(context) as here:
        offer(here.settings.models)
        project_id = project_id_of(here, project)
        complete, to_do = plan_scoring(
            here.db, here.actor, project_id,
            scorer=scorer, parameters=param or None, labels_of=labels_of or (), labels_by=labels_by or (),
        )  # fmt: skip
        added = 0
        if to_do:
            given: dict[str, Any] = {"scorer": scorer, "parameters": complete}
            if engine != "local":
                given |= {"engine": engine, "address": address}
            added = int(carried_out(here, project_id, SCORE, given).get("added", 0))
        summary = score_summary(here.db, here.actor, project_id, scorer=scorer, parameters=complete)
        gaps = score_gaps(here.db, here.actor, project_id, scorer=scorer, parameters=complete)
        reasons = unscored_reasons(here.db, here.actor, project_id, scorer=scorer, parameters=complete)
        document = summary.to_json() | ({"gaps": [gap.to_json() for gap in gaps]} if gaps else {})
        document |= {"unscored": [{"reason": reason, "n": n} for reason, n in reasons]}
        said = [in_words(summary, added), _unscored(reasons), _gaps(gaps)]
        emit(document, lambda: "\n\n".join(filter(None, said)), as_json=as_json)


def _check_scorer(scorer: str, param: list[str] | None, engine: str, address: str | None) -> None:
    """NotFound or InvalidInput for what is wrong with these words, before anything large is imported."""
    from annotators.scorers.base import SCORERS, parameters_of
    from exports.checks import check_engine

    check_engine(engine, address)
    parameters_of(SCORERS.get(scorer), param or None)


def _score_files(  # noqa: PLR0917 - the command's options
    source: list[Path] | None,
    output: Path | None,
    scorer: str,
    param: list[str] | None,
    format_name: str | None,
    skip_bad: bool,
    engine: str,
    address: str | None,
    as_json: bool,
    mapping: dict[str, list[str]],
) -> None:
    from exports.checks import check_scores_file
    from exports.formats.base import check_files

    assert source
    assert output
    check_scores_file(output)
    check_files(source, format_name, mapping)
    _check_scorer(scorer, param, engine, address)
    from annotators.items.parsed import faults_in
    from exports.columns.columns import at_lines
    from exports.scoring.engines import scoring_engine
    from exports.scoring.files import score_files

    with scoring_engine(engine, address) as computed_by, progress("Scoring") as move:
        found = score_files(
            source,
            output,
            scorer=scorer,
            parameters=param or None,
            format_name=format_name,
            columns=mapping,
            engine=computed_by,
            skip_bad=skip_bad,
            progress=move,
        )
    for (file, reason), lines in faults_in(found.rejected).items():
        say_aside(as_lines([f"{file}, {at_lines(lines)}: {reason}"]))
    for note in found.notes:
        say_aside(note)
    main = found.summaries[0]
    emit(main.to_json(), lambda: _files_in_words(found, output), as_json=as_json)


def _files_in_words(found: FileScores, output: Path) -> str:
    written = f"{count(found.rows, 'score')} written to {output}"
    earlier = f", those of {count(found.earlier, 'item')} by an earlier attempt" if found.earlier else ""
    return "\n\n".join([*(in_words(summary, 0) for summary in found.summaries), written + earlier])


def in_words(summary: ScoreSummary, added: int) -> str:
    """A summary of scores as a table, with what it is a summary of."""
    from annotators.scorers.base import readable

    parameters = " ".join(readable(summary.parameters)) or "no parameters"
    everything = ("all", "", summary.n_scored, summary.mean, summary.macro_mean)
    rows = [everything, *((group.by, group.group, group.n, group.mean, group.macro_mean) for group in summary.groups)]
    unscored = f", {summary.n_unscored:,} unscored" if summary.n_unscored else ""
    new = f"; {count(added, 'new score')}" if added else ""
    return "\n".join(
        [
            f"{summary.scorer} {summary.version} ({parameters}), value {summary.value}: "
            f"{count(summary.n_scored, 'item')} scored{unscored}{new}",
            "",
            table(("by", "group", "n", "mean", "macro mean"), rows),
        ]
    )


_REASONS = 10
"""Reasons that are listed, the most frequent ones."""


def _unscored(reasons: Sequence[tuple[str, int]]) -> str:
    """Why items have no value, as a table; empty where all have one."""
    if not reasons:
        return ""
    shown = table(("unscored because", "items"), [(reason, f"{n:,}") for reason, n in reasons[:_REASONS]])
    others = sum(n for _, n in reasons[_REASONS:])
    return shown + (f"\nand {count(others, 'item')} for other reasons" if others else "")


def _gaps(gaps: Sequence[ScoreGap]) -> str:
    """The differences between a scorer's values as a table; empty when it defines none."""
    if not gaps:
        return ""
    rows = [
        (gap.difference.name, gap.system or "all", *gap.means, gap.gap.value, gap.gap.low, gap.gap.high, gap.gap.n)
        for gap in gaps
    ]
    first = gaps[0].difference
    reasons = [f"{gap.system or 'all'}: {gap.gap.reason}" for gap in gaps if gap.gap.reason]
    shown = table(("gap, paired by question", "system", first.of, first.minus, "gap", "low", "high", "questions"), rows)
    return "\n".join([shown, *reasons])


def scorers(context: typer.Context, as_json: AsJson = False) -> None:
    """List the scorers with their values and parameters."""
    from annotators.scorers.base import SCORERS, allowed_values, settable

    del context  # the list needs no home folder
    document = [
        {
            "scorer": scorer.name,
            "version": scorer.version,
            "title": scorer.title,
            "summary": scorer.summary,
            "source": scorer.source,
            "values": [kind.name for kind in scorer.values],
            "parameters": {name: allowed_values(scorer, name) for name in settable(scorer)},
            "labels": scorer.labels.needs if scorer.labels else None,
            "sides": {name: side.words for name, side in scorer.labels.sides.items()} if scorer.labels else {},
        }
        for scorer in SCORERS
    ]
    lines = []
    for entry in document:
        parameters = entry["parameters"]
        assert isinstance(parameters, dict)
        lines.append(f"{entry['scorer']} {entry['version']}: {entry['summary']}")
        lines += [f"  --param {name}=…   {allowed}" for name, allowed in parameters.items()]
        lines += [f"  --labels-of STUDY   {entry['labels']}"] if entry["labels"] else []
        sides = entry["sides"]
        assert isinstance(sides, dict)
        lines += [f"  --labels-by {name}=WHO   {words}" for name, words in sides.items()]
    emit(document, "\n".join(lines), as_json=as_json)
