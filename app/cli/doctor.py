"""What `assay doctor` finds: versions, settings, the database, and what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotators.errors import AssayError
from app.settings import ROOT, STREAMLIT_CONFIG, Settings
from db import schema
from db.engine import Database, DatabaseUnavailable
from db.people import local_administrator
from db.unpublished import clear_all_broken_off
from exports.manifest import program_version

PACKAGES = (
    "streamlit", "sqlmodel", "sqlalchemy", "alembic", "psycopg", "pymupdf", "pillow", "numpy", "scipy", "krippendorff",
    "pandas", "altair", "typer", "uvicorn", "orjson",
)  # fmt: skip

_COMPONENT = ROOT / "app" / "widgets" / "annotate"


def examine(settings: Settings) -> dict[str, Any]:
    """Everything as one JSON document. `problems` are what has to be put right, each with its remedy."""
    database, problems = _database(settings)
    return {
        "version": program_version(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "home": str(settings.home),
        "database": database,
        "settings": [asdict(one) for one in settings.describe()],
        "problems": [*problems, *_missing(settings)],
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _database(settings: Settings) -> tuple[dict[str, Any], list[str]]:
    facts: dict[str, Any] = {"kind": None, "version": None, "revision": None, "needs_revision": schema.head_revision()}
    call = f"assay --home {settings.home}"
    try:
        db = Database(settings.database)
    except AssayError as error:
        return facts, [str(error)]
    facts["kind"] = "SQLite" if db.is_sqlite else "PostgreSQL"
    facts["version"] = db.library_version
    facts["address"] = db.url.render_as_string(hide_password=True)
    try:
        if db.is_sqlite and not Path(str(db.url.database)).exists():
            return facts, [f"There is no database yet. Make one with: {call} init"]
        problems = _state(db, facts, call)
        if not problems:
            facts["cleared_imports"] = clear_all_broken_off(db, data_folder=settings.documents_folder)
        facts["version"] = db.library_version
        return facts, problems
    except DatabaseUnavailable as error:
        return facts, [str(error)]
    finally:
        db.dispose()


def _state(db: Database, facts: dict[str, Any], call: str) -> list[str]:
    facts["revision"] = schema.current_revision(db)
    if facts["revision"] is None:
        return [f"The database is empty. Make its tables with: {call} init"]
    if facts["revision"] != facts["needs_revision"]:
        return [
            f"The database is at revision {facts['revision']}, this version needs {facts['needs_revision']}. Bring it "
            f"up to date with: {call} init (a copy is made before)"
        ]
    missing = schema.missing_tables(db)
    if missing:
        return [f"The database lacks the tables {', '.join(missing)}. Restore a backup with: {call} restore FILE"]
    try:
        facts["administrator"] = local_administrator(db).name
    except AssayError:
        return [f"There is no administrator. Make one with: {call} init"]
    return []


def _missing(settings: Settings) -> list[str]:
    problems = [f"The package {name} is not installed. Install Assay again." for name in PACKAGES if not _version(name)]
    parts = (STREAMLIT_CONFIG, _COMPONENT)
    problems += [f"{path} is missing. Install Assay again." for path in parts if not path.exists()]
    folders = (settings.home, settings.documents_folder, settings.pages_folder, settings.backups_folder)
    remedy = "Change its owner or permissions, or choose another --home."
    return problems + [
        f"{folder} cannot be written to. {remedy}"
        for folder in folders
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK)
    ]


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
    for one in found["settings"]:
        origin = "" if one["source"] == "default" else f", from {one['source']}"
        lines.append(f"  {one['name']} = {one['value'] or '(empty)'}{origin}")
        lines.append(f"      {one['variable']}, default {one['default'] or '(empty)'}: {one['help']}")
    for source in database.get("cleared_imports", ()):
        lines += ["", f"Removed what an import of {source} that was broken off had left; nobody had seen it."]
    problems = [f"  {problem}" for problem in found["problems"]]
    return "\n".join([*lines, "", *(["What is missing:", *problems] if problems else ["Nothing is missing."])])
