"""`assay release` and `releases`: what is accepted is frozen under a name; two of them are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, check_names, command, opened, option, project_id_of, study_id_of
from app.cli.output import emit, table
from app.wording import said_of_lacks, state

if TYPE_CHECKING:
    from db.releasing.comparing import Comparison
    from db.releasing.releases import ReleasePlan, ReleaseRow

MOST_SHOWN = 20
"""Items and labels of each sort that are listed in words; with --json all are there."""


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "release",
        "assay --home ./assay-home release finance v1",
        "assay --home ./assay-home release finance v1 --dry-run",
        "assay --home ./assay-home release finance v1 --study verification --json",
    )(release)
    command(
        app,
        "releases",
        "assay --home ./assay-home releases finance",
        "assay --home ./assay-home releases finance --compare v1 v2 --json",
    )(releases)


def release(
    context: typer.Context,
    *,
    project: ProjectName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the release.", show_default=False)],
    study: Annotated[str | None, option("STUDY", "What this study accepts, with its labels alone.")] = None,
    keep: Annotated[
        str | None,
        option("A,B", "Also items accepted by hand that lack a final label: no_label, open. Else they are left out."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would hold.")] = False,
    as_json: AsJson = False,
) -> None:
    """Freeze the accepted items with their final labels.

    An item that was accepted by hand and lacks a final label is left out, and named, unless --keep says otherwise.
    Pairs come with theirs. A release never changes. Its hash follows from what is in it: two with the same items and
    labels have the same.
    """
    check_names(context, project, study)
    from db.releasing.releases import make_release, plan_release

    lacks = tuple(lack.strip() for lack in (keep or "").split(",") if lack.strip())
    with opened(context) as here:
        project_id = project_id_of(here, project)
        study_id = study_id_of(here, project, study) if study else None
        if dry_run:
            plan = plan_release(here.db, here.actor, project_id, study_id=study_id, keep=lacks)
            emit(plan.to_json(), lambda: "\n".join(_held(plan, f"Release {name} would hold")), as_json=as_json)
            return
        made = make_release(here.db, here.actor, project_id, name=name, study_id=study_id, keep=lacks)
        emit(made.to_json(), lambda: _made(made), as_json=as_json)


def _held(found: ReleasePlan | ReleaseRow, begins: str, *, pairs: bool = False) -> list[str]:
    states = ", ".join(f"{n:,} {state(name)}" for name, n in found.states.items())
    return [
        f"{begins}: {count(found.items, 'item')}, "
        + (f"{count(found.pairs, 'pair')}, " if found.pairs else "")
        + f"{count(found.labels, 'final label')}.",
        *said_of_lacks(found.holds, found.left_out),
        f"{'Pairs' if pairs else 'Items'} by state: {states}.",
    ]


def _made(made: ReleaseRow) -> str:
    lines = _held(made, f"Release {made.name}", pairs=bool(made.pairs and made.study))
    return "\n".join([*lines, f"SHA-256 {made.sha256}"])


def releases(
    context: typer.Context,
    *,
    project: ProjectName,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Say what release B has otherwise than A.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List a project's releases, latest first, or compare two."""
    with opened(context) as here:
        project_id = project_id_of(here, project)
        if compare is not None:
            from db.releasing.comparing import compare_releases

            found = compare_releases(here.db, here.actor, project_id, first=compare[0], second=compare[1])
            emit(found.to_json(), lambda: _compared(found), as_json=as_json)
            return
        from db.releasing.releases import list_releases

        rows = list_releases(here.db, here.actor, project_id)
        lines = (
            (
                *(row.name, f"{row.at.astimezone():%Y-%m-%d %H:%M}", row.by, row.study),
                *(row.items, row.pairs, row.labels, row.sha256),
            )
            for row in rows
        )
        headers = ("release", "made", "by", "study", "items", "pairs", "labels", "sha256")
        emit([row.to_json() for row in rows], lambda: table(headers, lines), as_json=as_json)


def _compared(found: Comparison) -> str:
    if found.same_hash:
        return f"{found.first} and {found.second} have the same items and labels."
    has_pairs = bool(found.pairs_in_both or found.added_pairs or found.removed_pairs)
    both = f"{count(found.in_both, 'item')}" + (f" and {count(found.pairs_in_both, 'pair')}" if has_pairs else "")
    lines = [f"{found.second} beside {found.first}: {both} in both."]
    for title, rows in (
        ("added", [item for _, item in found.added]),
        ("removed", [item for _, item in found.removed]),
        *(
            [
                ("pairs added", [row.name for row in found.added_pairs]),
                ("pairs removed", [row.name for row in found.removed_pairs]),
            ]
            if has_pairs
            else []
        ),
        ("changed", [f"{row.item}, {row.before} to {row.after}: {', '.join(row.fields)}" for row in found.changed]),
        (
            "labels",
            [
                f"{row.name}, {row.criterion}{'' if row.target in {'item', 'pair'} else f' ({row.target})'}: "
                f"{'none' if row.before is None else row.before} to {'none' if row.after is None else row.after}"
                for row in found.labels
            ],
        ),
    ):
        lines += [f"{title}: {len(rows):,}", *(f"  {row}" for row in rows[:MOST_SHOWN])]
        if len(rows) > MOST_SHOWN:
            lines.append(f"  … and {len(rows) - MOST_SHOWN:,} more (all with --json)")
    return "\n".join(lines)
