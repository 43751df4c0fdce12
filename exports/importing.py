"""The way in: paths of whatever format, read and imported in one go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from db.engine import Database
from db.imports import ImportReport, Progress, import_items, preview_import
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.formats import FORMATS, recognise
from exports.sources import open_sources


@operation(On.PROJECT, RESEARCHERS)
def import_paths(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    paths: Sequence[Path | str],
    format_name: str | None = None,
    data_folder: Path | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files, folders and archives; with `dry_run` only say what that would do.

    `format_name` None takes the format that recognises the files. Documents' bytes go to `data_folder`
    (`Settings.documents_folder`). `progress` is called with (bytes read, of how many). The report lists
    every bad row; unless `skip_bad`, one bad row leaves the project as it was. Raises InvalidInput (or NotFound) for
    paths that cannot be opened at all; see `exports.sources`.
    """
    with open_sources(paths) as sources:
        chosen = FORMATS.get(format_name) if format_name else recognise(sources)
        reading = chosen.read(sources)
        if dry_run:
            return preview_import(db, actor, project_id, reading=reading, progress=progress)
        return import_items(
            db,
            actor,
            project_id,
            reading=reading,
            data_folder=data_folder,
            skip_bad=skip_bad,
            progress=progress,
        )
