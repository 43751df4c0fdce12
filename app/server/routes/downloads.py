"""What is taken away: tables and plots by a menu of their files, exports packed on disk and sent from there.

Files of a menu are made when they are asked for. Streamlit's download button holds a file in memory as often as it is
offered; exports never are in memory as a whole.
"""

from __future__ import annotations

import re
import secrets
import shutil
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from urllib.parse import quote

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from annotators.errors import NotFound
from app import wording
from app.packed import find_packed, making, remove_old
from app.server.threads import Threads
from app.server.web import actor_of
from app.state import AppState
from db.permissions import Actor
from db.upkeep.export_log import check_may_export
from exports.bundles.bundle import export_project
from exports.bundles.manifest import Manifest
from exports.drawing.tables import TextTable, as_csv, as_latex, as_markdown


@dataclass(frozen=True)
class File:
    """A file of a menu: what the menu calls it, its name, its media type, and what makes it when it is asked for."""

    label: str
    name: str
    media_type: str
    make: Callable[[], str | bytes]


def of_table(shown: TextTable, name: str) -> list[File]:
    """A table as CSV, Markdown and LaTeX."""
    forms = (
        ("CSV", "csv", "text/csv", as_csv),
        ("Markdown", "md", "text/markdown", as_markdown),
        ("LaTeX", "tex", "text/x-tex", as_latex),
    )
    return [File(label, f"{name}.{ending}", media, partial(made, shown)) for label, ending, media, made in forms]


def menu(name: str, files: Sequence[File], about: str, *, label: str = "Download") -> None:
    """One quiet menu with the files of a table or a plot; `about` says of what, for those who cannot see that."""
    with (
        st.container(key=f"downloads-{name}", width="content"),
        st.popover(label, type="tertiary", help=wording.plain(f"Download: {about}")),
    ):
        for file in files:
            st.download_button(
                file.label,
                data=file.make,
                file_name=file.name,
                mime=file.media_type,
                on_click="ignore",
                type="tertiary",
                key=f"download-{name}-{file.label}",
            )


# Exports --------------------------------------------------------------------------------------------------------------

AT_ONCE = 4
_TOKEN = re.compile(r"(\d{1,18})-[\w-]{20,}", re.ASCII)
_BLOCK = 1 << 20
_STORED = (".pdf", ".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")
"""Files that do not get smaller by packing."""


@dataclass(frozen=True)
class Packed:
    """An export that is ready to be fetched: its address, its file's name and size in bytes, and its manifest."""

    address: str
    name: str
    bytes: int
    manifest: Manifest


def routes(state: AppState) -> list[Route]:
    """The route /downloads/{token}: the file that this person had made, for as long as it is kept and they may."""

    threads = Threads(AT_ONCE)
    downloads = state.settings.downloads_folder
    remove_old(downloads)

    async def download(request: Request) -> Response:
        actor, token = actor_of(request), request.path_params["token"]
        found = _TOKEN.fullmatch(token)
        await threads.run(remove_old, downloads)
        file = find_packed(downloads / f"{actor.person_id}-{token}") if found else None
        if found is None or file is None:
            raise NotFound("This download is not there any more. Make the export again on the page Export.")
        # Once more: the role may have been taken away since the export was made.
        await threads.run(check_may_export, state.db, actor, int(found[1]))
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
        }
        return FileResponse(file, media_type="application/zip", headers=headers)

    return [Route("/downloads/{token}", download, methods=["GET"])]


@dataclass(frozen=True)
class Asked:
    """What an export is to hold: the arguments of `export_project`; with `documents` their bytes."""

    study_id: int | None
    formats: Sequence[str]
    names: bool
    documents: bool
    release: str | None = None
    typed: Sequence[str] = ()
    labels_of: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    pictures: bool = False

    def export(self, state: AppState, actor: Actor, project_id: int, to: Path, *, dry_run: bool = False) -> Manifest:
        """Write it into a folder, or with `dry_run` only say what would be in it; errors are `export_project`'s."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "documents"}
        folder = state.settings.documents_folder if self.documents else None
        return export_project(state.db, actor, project_id, to=to, data_folder=folder, dry_run=dry_run, **given)


def pack_export(state: AppState, actor: Actor, project_id: int, *, name: str, asked: Asked) -> Packed:
    """Make an export and pack it as `name`.zip for this person; the errors are those of `export_project`."""
    remove_old(state.settings.downloads_folder)
    token = f"{project_id}-{secrets.token_urlsafe(24)}"
    plain = re.sub(r"[^\w.() -]", "_", name).strip(". ")[:80] or "export"
    with making(state.settings.downloads_folder / f"{actor.person_id}-{token}") as folder:
        to = folder / plain
        manifest = asked.export(state, actor, project_id, to)
        file = folder / f"{plain}.zip"
        _pack(to, file)
        shutil.rmtree(to)
        size = file.stat().st_size
    return Packed(f"/downloads/{token}", file.name, size, manifest)


def look_at_export(state: AppState, actor: Actor, project_id: int, *, asked: Asked) -> Manifest:
    """The manifest that an export would have, with what its formats lose; nothing is kept of it."""
    return asked.export(state, actor, project_id, state.settings.downloads_folder / "none", dry_run=True)


def _pack(folder: Path, file: Path) -> None:
    """Pack a folder, a block of bytes at a time."""
    with zipfile.ZipFile(file, "x", compresslevel=6) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = zipfile.ZipInfo.from_file(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
            packed = path.suffix.lower() not in _STORED
            info.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _BLOCK)
