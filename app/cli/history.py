"""`assay why` and `assay events`: what led to a label, and what was done in a project."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.times import time_of
from app.cli.base import (
    AsJson,
    Here,
    ProjectName,
    StudyName,
    check_names,
    command,
    one_of,
    opened,
    option,
    project_id_of,
    study_id_of,
)
from app.cli.output import as_lines, emit, say

if TYPE_CHECKING:
    from db.events import EventRow
    from db.studies.why import Act, Explanation

FORMATS = ("jsonl", "csv")
COLUMNS = ("event", "at", "who", "via", "project", "kind", "about", "details")
AT_ONCE = 1_000
"""Events that are read at a time: a log has as many as it has."""


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "why",
        "assay --home ./assay-home why finance verification q7:reference answer_factual",
        "assay --home ./assay-home --as rosa why finance claims q7:reference supported claim:c2 --json",
        "assay --home ./assay-home why finance preferences q7:harbour better --other q7:lantern",
    )(why)
    command(
        app,
        "events",
        "assay --home ./assay-home events finance",
        'assay --home ./assay-home events finance --kind "item " --since 2026-11-20 --format csv > events.csv',
        "assay --home ./assay-home events finance --since 2026-11-20T14:05:00+01:00 --json",
    )(events)


def why(  # noqa: PLR0917 - the command's arguments
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Id of the item.", show_default=False)],
    criterion: Annotated[
        str,
        typer.Argument(metavar="CRITERION", help="Name of the criterion, or of a derived unit.", show_default=False),
    ],
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="What of the item the label is about, as in exports; without it the item, or the pair, as a whole.",
            show_default=False,
        ),
    ] = None,
    other: Annotated[str | None, option("ITEM", "Of a study of pairs: the other item of the pair.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a label is what it is.

    Who labelled what, when, having seen what, and how it was settled. In the order of time: the versions of the item,
    the study, every label with what became of it (superseded, surplus, withdrawn), skips and returns, and what
    adjudicators decided.
    """
    check_names(context, project, study)
    from db.studies.why import explain_label

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        found = explain_label(
            here.db, here.actor, study_id, item=item, criterion=criterion, target=target, other=other
        )  # fmt: skip
        emit(found.to_json(), lambda: _story(found, study), as_json=as_json)


def _story(found: Explanation, study: str) -> str:
    about = "" if found.target in {"item", "pair"} else f" of {found.target}"
    lines = [f"{found.title} ({found.criterion}){about}, {found.item} in {study}", f"  {_outcome(found)}"]
    lines += [f"  It rests on {rest.criterion} of {rest.target}: {_rest(rest)}." for rest in found.rests_on]
    lines += ["", *(f"{_moment(act.at)}  {_sentence(act, found)}" for act in found.steps)]
    return as_lines(lines)


def _rest(rest: Any) -> str:
    return "open" if rest.how == "open" else f"{_words(rest.label)} ({rest.how})"


def _outcome(found: Explanation) -> str:
    votes = ", ".join(f"{_words(value)} {n}" for value, n in found.votes.items())
    given = f" Labels that count: {votes}." if votes else ""
    if found.how == "not compared":
        return "Texts are not settled: what each person wrote stands by itself."
    if found.how == "not asked":
        return f"It has no final label: the final labels leave nothing to ask of.{given}"
    if found.how == "open":
        missing = found.overlap - found.n_annotations
        why_open = (
            f"{count(found.n_annotations, 'annotation')} of {found.overlap} are there"
            if missing > 0
            else f"the rule is {found.rule}, and nobody has decided"
        )
        return f"It is open: {why_open}.{given}"
    made = f" (derived: {found.derived})" if found.derived else ""
    reached = "decided by an adjudicator" if found.how == "adjudicated" else f"{found.how}, by the rule {found.rule}"
    return f"The final label is {_words(found.label)}{made}: {reached}.{given}"


def _sentence(act: Act, found: Explanation) -> str:
    who = act.who or "nobody known"
    version = f"version {act.version}"
    said = {
        "labelled": lambda: f"{who} labelled {_words(act.label)}",
        "could not judge": lambda: f"{who} could not judge",
        "gave no label": lambda: f"{who} gave it no label",
        "items imported": lambda: f"{who} imported {act.item} ({version})" + _from(act),
        "item revised": lambda: f"{who} revised {act.item} ({version})",
        "study created": lambda: f"{who} made the study, of {version}",
        "labels imported": lambda: f"{who} imported labels" + _from(act),
        "item skipped": lambda: f"{who} skipped the item",
        "item returned": lambda: f"{who} sent it back to its annotator",
        "item adjudicated": lambda: f"{who} decided {_words(act.label)}" + _of_part(act, found),
        "batch withdrawn": lambda: f"{who} withdrew the labels of batch {act.batch}",
        "batch reinstated": lambda: f"{who} put the labels of batch {act.batch} back",
        "labels left out": lambda: f"{who} left out what {act.annotator} submitted",
        "labels restored": lambda: f"{who} put back what {act.annotator} submitted",
    }[act.did]()
    return ". ".join([said + _saw(act), *_besides(act)]) + "."


def _of_part(act: Act, found: Explanation) -> str:
    """What was decided, where it is not the unit itself but one that it is derived from."""
    return "" if found.derived is None else f" for {act.criterion} of {act.target}"


def _from(act: Act) -> str:
    return "" if act.batch is None else f" in batch {act.batch}, from {_words(act.source)}"


def _saw(act: Act) -> str:
    if act.saw is None:
        return ""
    if act.saw:
        return f", having seen {', '.join(act.saw)}"
    return ", elsewhere" if act.batch is not None else ""


def _besides(act: Act) -> list[str]:
    at = _moment(act.superseded_at) if act.superseded_at else ""
    stands = {
        "superseded": f"Superseded at {at}",
        "surplus": "Surplus: the item had all its annotations, or the study was closed",
        "withdrawn": f"Withdrawn with batch {act.batch}",
        "left_out": "Left out by a decision",
        "incomplete": "The item was not completed",
        "one of two": "One of two that were made blind to each other",
    }
    found = [stands.get(act.stands, f"Does not count: {act.stands}")] if act.stands not in (None, "counts") else []
    found += ["It goes against a majority"] if act.overrules else []
    found += [f"Labels of this criterion {'fall' if act.falls else 'stay'}"] if act.falls is not None else []
    found += [f"Reason: {_words(act.reason).rstrip('.')}"] if act.reason else []
    found += [f"Confidence: {act.confidence}"] if act.confidence else []
    if act.same is not None:
        from annotators.asking.asides import OTHERS

        found.append(f"{act.same} of {OTHERS} others were expected to say the same")
    return [*found, *([f"Comment: {_words(act.comment).rstrip('.')}"] if act.comment else [])]


def _words(value: Any) -> str:
    """A value, or what somebody wrote, on one line."""
    from annotators.criteria.base import written

    return " ".join(written(value).split())


def _moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S")


# Events ---------------------------------------------------------------------------------------------------------------


def events(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    kind: Annotated[
        str | None, option("K", "Only events whose kind begins so, such as `item` or `study created`.")
    ] = None,
    since: Annotated[
        str | None,
        option("T", "Only events from this time on: 2026-11-20, or 2026-11-20T14:05:00Z; UTC without a zone."),
    ] = None,
    format_name: Annotated[
        str | None, option("F", "jsonl, one event a line, or csv.  [default: jsonl]", "--format")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the audit log of a project, oldest first.

    Who did what to which thing, when, and from where. What annotators commit is no event: exports have it, and `assay
    why` tells it.
    """
    format_ = None if format_name is None else one_of(format_name, FORMATS, "--format")
    if as_json and format_ is not None:
        raise typer.BadParameter(
            "With --json all of it is one document. Leave one of the two out.", param_hint="--format"
        )
    from_then = None if since is None else _time(since)
    from db.events import event_kinds

    with opened(context) as here:
        project_id = project_id_of(here, project)
        blocks = _blocks(here, project_id, kind, from_then)
        first = next(blocks, [])
        if not first and kind is not None:
            kinds = event_kinds(here.db, here.actor, project_id)
            if not any(known.startswith(kind) for known in kinds):
                raise InvalidInput(
                    f"No event of {project} is of a kind that begins with {kind!r}. There are: {', '.join(kinds)}."
                )
        written_as = "json" if as_json else format_ or "jsonl"
        for lines in _written(chain([first], blocks), written_as):
            say(lines, as_it_is=written_as != "csv" or not sys.stdout.isatty())


def _time(text: str) -> datetime:
    try:
        return time_of(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is no time. Give a date (2026-11-20), or date and time (2026-11-20T14:05, "
            "2026-11-20T14:05:00Z, 2026-11-20T14:05:00+01:00); without a zone it is UTC.",
            param_hint="--since",
        ) from None


def _blocks(here: Here, project_id: int, kind: str | None, since: datetime | None) -> Iterator[list[EventRow]]:
    """The events, some at a time."""
    from db.events import events_after

    after = 0
    while True:
        rows = events_after(here.db, here.actor, project_id, after=after, kind=kind, since=since, limit=AT_ONCE)
        if not rows:
            return
        yield rows
        after = rows[-1].event_id


def _written(blocks: Iterator[list[EventRow]], format_name: str) -> Iterator[str]:
    """What is printed of each block, without the last line break."""
    import orjson

    if format_name == "csv":
        yield ",".join(COLUMNS)
        yield from ("\n".join(map(_csv_line, rows)) for rows in blocks if rows)
    elif format_name == "jsonl":
        yield from ("\n".join(orjson.dumps(row.to_json()).decode() for row in rows) for rows in blocks if rows)
    else:
        before = "["
        for rows in blocks:
            for row in rows:
                yield before + orjson.dumps(row.to_json()).decode()
                before = ","
        yield "]" if before == "," else "[]"


def _csv_line(row: EventRow) -> str:
    import orjson

    from exports.cells import safe
    from exports.csv_file import csv_cells

    cells = {**row.to_json(), "at": row.at.isoformat(), "details": orjson.dumps(row.details).decode()}
    return csv_cells(*("" if cells[name] is None else safe(str(cells[name])) for name in COLUMNS))
