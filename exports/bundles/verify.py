"""Whether an export is still what was exported: by the hashes of its manifest, and by deriving it again.

The hashes find a file that was changed by accident; somebody who changes a file and its hash is found by the second
way, which makes the export again from the database as it was at the manifest's event and compares every byte. Labels
that came later do not disturb it (`db.items.as_of`).
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

import orjson
from sqlmodel import Session, col

from annotators.errors import InvalidInput, NotFound, shown
from db.engine import Database
from db.items.as_of import Marks, look_back, marks
from db.models import Project, Study
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.releasing.releases import release_named
from db.upkeep.export_log import is_logged
from exports.bundles.bundle import COUNTED_LATER, Selection, derive
from exports.bundles.contents import REPORT, exported
from exports.bundles.manifest import NAME, Manifest, read_manifest
from exports.bundles.typed import check_typed
from exports.checks import REPORT_NUMBERS, check_utf8
from exports.garbage import seldom_collected
from exports.reading.sources import walked
from exports.sinks import ComparingSink, FileFacts

_BLOCK = 1 << 20


@dataclass
class VerifyReport:
    """What differs: files that are missing, changed (with the first line that differs, where known), or extra.

    `unreadable` are those of the changed ones that are damaged so that their rows cannot be read. `against` says what
    was compared with: `manifest` or `database`. `notes` says in words what else is amiss.
    """

    folder: str
    against: str
    n_files: int
    event: int
    missing: list[str] = field(default_factory=list)
    changed: dict[str, int | None] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    extra: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether everything is as it was exported."""
        return not (self.missing or self.changed or self.extra or self.notes)

    def to_json(self) -> dict[str, Any]:
        """As `assay verify --json` prints it."""
        return {
            "folder": self.folder,
            "against": self.against,
            "ok": self.ok,
            "files": self.n_files,
            "event": self.event,
            "missing": self.missing,
            "changed": [
                {"file": name, "line": line, "unreadable": name in self.unreadable}
                for name, line in self.changed.items()
            ],
            "extra": self.extra,
            "notes": self.notes,
        }


def verify_folder(folder: Path) -> VerifyReport:
    """Compare the files of an export with the hashes of its manifest; InvalidInput when it has none, or has links."""
    _check_plain(folder)
    manifest = read_manifest(folder)
    report = _report(folder, manifest, "manifest")
    listed = {NAME}
    for file in manifest.files:
        name = file["path"]
        listed.add(name)
        path = _inside(folder, name)
        if path is None or not path.is_file():
            report.missing.append(name)
        elif _sha256(path) != file["sha256"]:
            report.changed[name] = None
    report.extra = sorted(_names(folder) - listed)
    return report


def verify_against(db: Database, actor: Actor, folder: Path, *, documents: Path | None = None) -> VerifyReport:
    """Derive the export again from the database as of the manifest's event, and compare.

    `documents` is the folder of documents' bytes, of which pictures of pages are drawn again; nothing else needs it.
    Raises InvalidInput without a manifest and for links, NotFound when the database does not have the project or study.
    """
    _check_plain(folder)
    manifest = read_manifest(folder)
    return _verify(db, actor, _project_id(db, manifest), folder=folder, manifest=manifest, documents=documents)


@operation(On.PROJECT, READERS)
def _verify(
    db: Database, actor: Actor, project_id: int, *, folder: Path, manifest: Manifest, documents: Path | None
) -> VerifyReport:
    report = _report(folder, manifest, "database")
    sink = ComparingSink(folder)
    of_report = [file for file in manifest.files if str(file["path"]).startswith(f"{REPORT}/")]
    with_report = any(file["path"] == REPORT_NUMBERS for file in of_report)
    numbers = str(PurePosixPath(REPORT_NUMBERS).with_suffix(""))
    typed_report = sum(PurePosixPath(file["path"]).with_suffix("").as_posix() == numbers for file in of_report) > 1
    if not with_report:  # it was made before its numbers were exported: its hashes are all there is
        sink.files += map(_listed, of_report)
    with seldom_collected(), db.read() as session:
        says = partial(_says, manifest)
        moved = _without_events(marks(session)) != _without_events(manifest.marks)
        look_back(session, manifest.marks)
        selection = replace(
            _selection(session, project_id, manifest), with_report=with_report, typed_report=typed_report, moved=moved,
            says_kept=says("says_kept"), says_fell=says("says_fell"), says_how=says("says_how"),
            says_added=says("says_added"),
            says_versions=says("says_versions"),
        )  # fmt: skip
        selection = _with_pictures(selection, manifest, documents)
        derived = derive(db, actor, session, selection, sink)
    there, digest = _names(folder), cache(lambda name: _sha256(folder / name))
    for file in derived.files:
        name, sha256 = str(file["path"]), file["sha256"]
        if name not in there:
            report.missing.append(name)
        elif name in sink.differs or digest(name) != sha256:
            report.changed[name] = sink.differs.get(name)
    report.unreadable = sink.unreadable
    report.extra = sorted(there - {str(file["path"]) for file in derived.files} - {NAME})
    logged = is_logged(db, actor, project_id, manifest_sha256=_sha256(folder / NAME), after=manifest.event)
    if (
        logged
    ):  # its hashes are right: what says the same in other bytes, or of which only a part is compared, was changed
        for file in manifest.files:
            name = str(file["path"])
            if name in there and digest(name) != file["sha256"]:
                report.changed.setdefault(name, None)
                sink.made_anew.add(name)
    report.notes += _compared(manifest, derived, sink)
    if not logged:
        report.notes.append(
            f"The event log has no export with this {NAME}: it was changed, or made from another copy of the database."
        )
    return report


def _says(manifest: Manifest, what: str) -> bool:
    """Whether an export says this, which exports of earlier versions do not: they are derived as they were made."""
    return bool(manifest.filters.get(what))


def _without_events(past: Marks) -> Marks:
    return {table: mark for table, mark in past.items() if table != "event"}


def _listed(file: dict[str, Any]) -> FileFacts:
    return FileFacts(file["path"], file["sha256"], file.get("bytes", 0), file.get("rows"))


def _report(folder: Path, manifest: Manifest, against: str) -> VerifyReport:
    return VerifyReport(str(folder), against, len(manifest.files), manifest.event)


def _project_id(db: Database, manifest: Manifest) -> int:
    name = manifest.project.get("name")
    with db.read() as session:
        project_id: int | None = session.execute(
            pick(Project.id).where(col(Project.name) == str(name))
        ).scalar_one_or_none()
    if project_id is None:
        raise NotFound(f"The database has no project {shown(name)}. Give the one it was exported from.")
    return project_id


def _selection(session: Session, project_id: int, manifest: Manifest) -> Selection:
    """What the export was made of, from the manifest's filters."""
    filters = manifest.filters
    formats, study, study_id = filters.get("formats"), filters.get("study"), None
    release = filters.get("release")
    if not isinstance(formats, list) or not formats or not all(isinstance(name, str) for name in formats):
        raise InvalidInput(f"The manifest names the formats {formats!r}. Take the one that was exported.")
    if unknown := sorted(set(formats) - set(exported())):
        raise InvalidInput(
            f"The export has the format {unknown[0]!r}, which is not here. Install the package that adds it, or verify "
            "the folder without the database."
        )
    if study is not None:
        if not isinstance(study, str):
            raise InvalidInput(f"The manifest names the study {shown(study)}. Take the one that was exported.")
        study_id = session.execute(
            pick(Study.id).where(col(Study.project_id) == project_id, col(Study.name) == study)
        ).scalar_one_or_none()
        if study_id is None:
            raise NotFound(f"The project has no study {study!r}, of which this is an export.")
    # The bytes of documents are known by their digests; no folder has to be there to compare them.
    folder = Path() if filters.get("documents") else None
    names = bool(filters.get("names"))
    typed = check_typed(_texts(filters, "typed"))
    kept = _texts(filters, "kept")
    if release is None:
        labels_of = _texts(filters, "labels_of")
        return Selection(
            project_id,
            study_id,
            tuple(formats),
            names,
            folder,
            typed=typed,
            labels_of=labels_of,
            options=_options(filters),
            kept=kept,
        )
    row = release_named(session, project_id, str(release))
    assert row.id is not None
    return Selection(
        project_id, None, tuple(formats), names, folder, (row.id, row.name), typed, options=_options(filters), kept=kept
    )


def _with_pictures(selection: Selection, manifest: Manifest, documents: Path | None) -> Selection:
    """The selection with pictures of pages, where the export has some."""
    if not manifest.filters.get("pictures"):
        return selection
    if documents is None:
        raise InvalidInput("The export has pictures of pages, which are drawn again. Give the folder of documents.")
    return replace(selection, pictures=True, data_folder=documents)


def _texts(filters: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = filters.get(name) or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidInput(f"The manifest's {name!r} are {shown(found)}. Take the one that was exported.")
    return tuple(found)


def _options(filters: Mapping[str, Any]) -> dict[str, str]:
    found = filters.get("options") or {}
    if not isinstance(found, dict):
        raise InvalidInput(f"The manifest's 'options' are {shown(found)}. Take the one that was exported.")
    return {str(name): str(value) for name, value in found.items()}


def _compared(manifest: Manifest, derived: Manifest, sink: ComparingSink) -> list[str]:
    """What the manifest says otherwise than the database, apart from the files themselves."""
    notes = []
    bytes_of = {file["path"]: file for file in manifest.files}
    for file in derived.files:
        listed = bytes_of.get(str(file["path"]))
        if file["path"] in sink.made_anew:
            continue
        if listed is not None and listed["sha256"] != file["sha256"]:
            notes.append(f"{NAME} gives a hash of {file['path']} that the database does not.")
    new = {name for name in derived.counts if name.endswith(COUNTED_LATER)} - manifest.counts.keys()
    derived = replace(derived, counts={name: n for name, n in derived.counts.items() if name not in new})
    notes += [
        f"{NAME} says otherwise of `{name}` than the database."
        for name in ("event", "counts", "studies")
        if _canonical(getattr(manifest, name)) != _canonical(getattr(derived, name))
    ]
    if sink.differs and manifest.assay != derived.assay:
        notes.append(f"The export was written by Assay {manifest.assay}; this is {derived.assay}.")
    if manifest.filters.get("names") and sink.differs:
        notes.append("The export has names of people. Somebody may have been erased or renamed since.")
    return notes


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _check_plain(folder: Path) -> None:
    """InvalidInput where a folder has anything but folders and files: a link leads out of it, a pipe has no end."""
    if not os.path.lexists(folder / NAME):
        return  # it is no export, as the reader of manifests says
    for here, folders, names in walked(folder, str(folder)):
        for path in (here / name for name in (*folders, *names)):
            kind = stat.S_IFMT(path.lstat().st_mode)
            if kind not in (stat.S_IFREG, stat.S_IFDIR):
                what = "a link" if kind == stat.S_IFLNK else "no file"
                name = path.relative_to(folder).as_posix()
                raise InvalidInput(
                    f"{shown(name)} in {folder} is {what}, and is not followed: an export has files only. Remove it, "
                    "or put the file itself there."
                )


def _inside(folder: Path, name: str) -> Path | None:
    """The place of a listed file; None for a name that leads out of the folder."""
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        return None
    return folder / name


def _names(folder: Path) -> set[str]:
    found = set()
    for here, folders, names in walked(folder, str(folder)):
        paths = [here / name for name in (*folders, *names)]
        found |= {path.relative_to(folder).as_posix() for path in paths if path.is_file()}
    check_utf8(found)
    return found


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
