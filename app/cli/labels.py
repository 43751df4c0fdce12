"""`assay labels import`: judgements that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.base import AsJson, ProjectName, StudyName, command, group, opened, project_id_of
from app.cli.output import count, emit

if TYPE_CHECKING:
    from exports.label_import import LabelTableImport

labels = group("labels", "Labels that were made elsewhere: import them.")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(labels)


@command(
    labels,
    "import",
    "assay --home ./assay-home labels import finance verification labels.csv",
    "assay --home ./assay-home labels import published raters ratings.csv --infer --scale ordinal",
)
def import_labels(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="Columns item, annotator, criterion, target, value.", show_default=False
        ),
    ],
    infer: Annotated[
        bool,
        typer.Option(
            "--infer",
            help="Make the study if there is none: protocol and items from the table; unknown items are added bare.",
        ),
    ] = False,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="With --infer: nominal, ordinal or interval, or CRITERION=S for one; repeatable.  [default: nominal]",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a table of labels into a study; annotators that are not known become people without a login.

    The columns target, time and comment may be missing. A repeated cell, or a label that the protocol does not have, is
    refused with its line, and nothing is imported.
    """
    from exports.label_import import import_label_table

    if scale and not infer:
        raise typer.BadParameter("Only a protocol that is inferred takes scales: add --infer.", param_hint="--scale")
    with opened(context) as here:
        done = import_label_table(
            here.db,
            here.actor,
            project_id_of(here, project),
            study=study,
            path=file,
            infer=infer,
            scales=tuple(scale or ()),
        )
        emit({**done.to_json(), "study": study}, lambda: _in_words(done, study), as_json=as_json)


def _in_words(done: LabelTableImport, study: str) -> str:
    made = done.labels
    lines = [
        f"Imported {count(made.labels, 'label')} in {count(made.annotations, 'annotation')} by "
        f"{', '.join(made.annotators)} into {study} (batch {made.batch})."
    ]
    if done.inferred:
        criteria = ", ".join(f"{one.name} ({one.scale})" for one in done.inferred.criteria)
        lines.append(f"The study was made with a protocol inferred from the table: {criteria}.")
    if done.items_added:
        lines.append(
            f"{count(done.items_added, 'item')} that the project lacked: added bare, with the id as the question."
        )
    lines += [f"Left out: {count(n, 'row')} ({reason})." for reason, n in done.left_out.items()]
    return "\n".join(lines)
