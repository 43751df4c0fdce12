"""What `assay doctor` finds: versions, settings, and what is amiss, each with its remedy."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shlex
import shutil
import stat
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from annotators.errors import AssayError
from annotators.files import refusal
from annotators.version import program_version
from app.settings import ROOT, STREAMLIT_CONFIG, Settings
from db import schema
from db.engine import Database
from db.faults import DatabaseDamaged, DatabaseUnavailable, check_for_loss
from db.items.unpublished import clear_all_broken_off
from db.people.accounts import local_administrator
from db.projects import takes_writing
from db.revisions import head_revision
from db.upkeep import protection, soundness

PACKAGES = (
    "streamlit", "sqlmodel", "sqlalchemy", "alembic", "psycopg", "pymupdf", "pillow", "numpy", "scipy", "krippendorff",
    "pandas", "altair", "typer", "uvicorn", "orjson",
)  # fmt: skip

_COMPONENT = ROOT / "app" / "widgets" / "annotate"


_LEAST_FREE = 64 << 20
_MOST_LISTED = 5


def examine(settings: Settings, *, deep: bool = False) -> dict[str, Any]:
    """Everything as one JSON document. `problems` are what has to be put right, each with its remedy.

    `deep` reads everything: the whole database, the bytes of all documents, and what hashes are kept of.
    """
    database, problems = _database(settings, deep=deep)
    return {
        "version": program_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "home": str(settings.home),
        "database": database,
        "settings": [asdict(setting) for setting in settings.describe()],
        "deep": deep,
        "problems": [*problems, *_missing(), *_home(settings)],
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


# The database ---------------------------------------------------------------------------------------------------------


def _database(settings: Settings, *, deep: bool) -> tuple[dict[str, Any], list[str]]:
    facts: dict[str, Any] = {"kind": None, "version": None, "revision": None, "needs_revision": head_revision()}
    try:
        db = Database(settings.database)
    except AssayError as error:
        return facts, [str(error)]
    facts["kind"] = "SQLite" if db.is_sqlite else "PostgreSQL"
    facts["version"] = db.library_version
    facts["address"] = db.url.render_as_string(hide_password=True)
    try:
        db.enter()
        check_for_loss(db.url, documents=settings.documents_folder, backups=settings.backups_folder)
        if db.is_sqlite and not Path(str(db.url.database)).exists():
            return facts, [f"There is no database yet. Make one with: {settings.call} init"]
        problems = _state(db, facts, settings, deep=deep)
        if not problems:
            facts["cleared_imports"] = clear_all_broken_off(db, data_folder=settings.documents_folder)
        facts["version"] = db.library_version
        return facts, problems
    except DatabaseDamaged as error:
        return facts, [f"{error} {_remedy(settings, db)}"]
    except DatabaseUnavailable as error:
        return facts, [str(error)]
    finally:
        db.dispose()


@lru_cache(1)
def _remedy(settings: Settings, db: Database) -> str:
    if db.is_sqlite:
        return settings.restore_advice
    return "Restore a dump with pg_restore."


def _state(db: Database, facts: dict[str, Any], settings: Settings, *, deep: bool) -> list[str]:
    if said := soundness.damage_of(db, deep=deep):
        return [f"The database is damaged ({said}). {_remedy(settings, db)}"]
    facts["revision"] = schema.current_revision(db)
    try:
        found = schema.usable_revision(db)
    except schema.NewerDatabase as error:
        return [f"{error} {_remedy(settings, db)}" if db.is_sqlite else str(error)]
    except schema.ForeignDatabase as error:
        return [str(error)]
    if found is None:
        return [f"The database is empty. Make its tables with: {settings.call} init"]
    if found != facts["needs_revision"]:
        kept = " (a copy is made before)" if db.is_sqlite else ", after a backup of it was made with pg_dump"
        return [f"{schema.out_of_date(found)} Bring it up to date with: {settings.call} init{kept}"]
    missing = schema.missing_tables(db)
    if missing:
        return [f"The database lacks the tables {', '.join(missing)}. {_remedy(settings, db)}"]
    problems = [
        f"The database {said}, as if somebody had changed it: its rows may be others than Assay wrote. "
        f"{_remedy(settings, db)}"
        for said in protection.amiss(db)
    ]
    try:
        facts["administrator"] = local_administrator(db).name
    except DatabaseUnavailable:
        raise
    except AssayError:
        problems.append(f"There is no administrator. Make one with: {settings.call} init")
    if refusal := takes_writing(db):
        problems.append(str(refusal))
    if deep:
        problems += [
            f"The database has rows that point at rows which are not there: {row}. {_remedy(settings, db)}"
            for row in soundness.dangling(db)
        ]
        problems += _shortened(
            [
                f"The database does not say what it did: {what} is not what its hash says. {_remedy(settings, db)}"
                for what in soundness.wrong_hashes(db)
            ]
        )
    return problems + document_problems(settings, db, deep=deep)


# Documents and folders ------------------------------------------------------------------------------------------------


def document_problems(settings: Settings, db: Database, *, deep: bool = False) -> list[str]:
    """A sentence for each document whose bytes are missing, or (with `deep`) not what they were, and its remedy."""
    return _shortened(
        [
            f"The bytes of {_listed(document.keys)} are {document.what} ({document.path}). Copy this file from your "
            "copy of the home folder, or import the document again, which puts its bytes back: "
            f"{settings.call} import PROJECT SOURCE"
            for document in soundness.documents_amiss(db, settings.documents_folder, deep=deep)
        ]
    )


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
    return ", ".join(repr(key) for key in keys[:3]) + more


def _shortened(problems: list[str]) -> list[str]:
    """The first ones, and how many more there are of the kind."""
    more = len(problems) - _MOST_LISTED
    return problems[:_MOST_LISTED] + ([f"And {more:,} more of the kind."] if more > 0 else [])


def _missing() -> list[str]:
    problems = [f"The package {name} is not installed. Install Assay again." for name in PACKAGES if not _version(name)]
    parts = (STREAMLIT_CONFIG, _COMPONENT)
    return problems + [f"{path} is missing. Install Assay again." for path in parts if not path.exists()]


def _home(settings: Settings) -> Iterator[str]:
    """What is amiss with the home folder: who may read it, and whether it takes files."""
    if not settings.home.is_dir():
        return
    if said := settings.passed_over:
        yield said
    if os.name == "posix" and (mode := stat.S_IMODE(settings.home.stat().st_mode)) & 0o077:
        yield (
            f"Other people of this machine may look into {settings.home} (its permissions are {mode:o}), where the "
            f"database and the documents are. Keep them out: chmod go-rwx {shlex.quote(str(settings.home))}"
        )
    free = shutil.disk_usage(settings.home).free
    if free < _LEAST_FREE:
        yield (
            f"The disk of {settings.home} is nearly full ({free >> 20} MB are left). Free some space, or move the home "
            "folder to another disk."
        )
    for folder in (settings.home, settings.documents_folder, settings.pages_folder, settings.backups_folder):
        if folder.is_dir() and (said := refusal(folder)):
            yield (
                f"{folder} takes no files ({said}). Free some space, mount its disk for writing, change its owner or "
                "permissions, or choose another --home."
            )


def in_lines(found: dict[str, Any]) -> str:
    """The same for people."""
    database = found["database"]
    packages = ", ".join(f"{name} {version or 'missing'}" for name, version in found["packages"].items())
    lines = [
        f"Assay {found['version']}, Python {found['python']}, {found['platform']}",
        packages,
        f"Home folder: {found['home']}",
        f"Database: {database['kind']} {database['version'] or ''}, revision {database['revision'] or 'none'} "
        f"(this version needs {database['needs_revision']})",
        "",
        "Settings (environment variable, or a line in assay.toml in the home folder):",
    ]
    for setting in found["settings"]:
        origin = "" if setting["source"] == "default" else f", from {setting['source']}"
        lines.append(f"  {setting['name']} = {setting['value'] or '(empty)'}{origin}")
        lines.append(f"      {setting['variable']}, default {setting['default'] or '(empty)'}: {setting['help']}")
    for source in database.get("cleared_imports", ()):
        lines += ["", f"Removed what an import of {source} that was broken off had left; nobody had seen it."]
    problems = [f"  {problem}" for problem in found["problems"]]
    return "\n".join([*lines, "", *(["What is amiss:", *problems] if problems else ["Nothing is amiss."])])
