"""What may be a name; and whether a project and a study of a name are there, asked of a SQLite file alone.

A command that is given a wrong name is to be told at once, and everything that reads a database otherwise takes longer
to import than to ask. What cannot be known this way is left to the operations, which say it in the same words.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from annotators.errors import InvalidInput, NotFound, listed, shown
from db.revisions import head_revision

_WAIT_SECONDS = 1.0
_JOINERS = "\u200c\u200d"
"""Characters that are not seen, and without which some scripts are misspelt."""


def visible_name(name: str, what: str, most: int) -> str:
    """A name as it is kept: composed, without space around it.

    InvalidInput where nothing or more than `most` characters are left, or one that is not seen: it stands in lists, in
    sentences and on command lines, which a line break or a change of direction would tear apart.
    """
    clean = unicodedata.normalize("NFC", name).strip()
    unseen = (letter for letter in clean if unicodedata.category(letter)[0] == "C" and letter not in _JOINERS)
    if not clean or len(clean) > most or next(unseen, None) is not None:
        raise InvalidInput(f"The {what} {shown(name)} does not fit: it needs 1 to {most} visible characters.")
    return clean


def no_project(name: str, seen_by: str, known: Sequence[str]) -> NotFound:
    """The error for a project that this person does not see; `known` are those they do."""
    there = listed(known, "none yet; create one with `assay project create NAME`")
    return NotFound(f"There is no project named {shown(name)} that {seen_by!r} can see. Known: {there}.")


def no_study(name: str, known: Sequence[str]) -> NotFound:
    """The error for a study that a project does not have; `known` are those that it has."""
    return NotFound(f"There is no study named {shown(name)}. Known: {listed(sorted(known), 'none yet')}.")


def check_names_in(path: Path, project: str, study: str | None = None) -> bool:
    """Whether it is known that the first administrator sees the project and its study; NotFound when they do not.

    False where the file does not tell: it is not there, is damaged, of another version, or has no administrator.
    Nothing is written.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT_SECONDS)) as file:
            if file.execute("SELECT version_num FROM alembic_version").fetchone() != (head_revision(),):
                return False
            first = file.execute(
                "SELECT account.name FROM account JOIN person ON person.id = account.person_id "
                "WHERE person.is_admin AND person.kind = 'human' ORDER BY person.id LIMIT 1"
            ).fetchone()
            projects = dict(file.execute("SELECT name, id FROM project ORDER BY name"))
            of_project = (
                "SELECT name FROM study WHERE project_id = ?1 UNION SELECT name FROM study_draft WHERE project_id = ?1"
            )
            found = projects.get(project.strip())
            studies = [name for (name,) in file.execute(of_project, (found,))]
    except sqlite3.Error:
        return False
    if first is None:
        return False
    if found is None:
        raise no_project(project, first[0], list(projects))
    if study is not None and study not in studies:
        raise no_study(study, studies)
    return True
