"""The script and style files of our own components, served from memory under addresses that change with them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import NotFound
from app.palette import full_screen
from app.server.formulas import RENDERER, formula_renderer

WIDGETS = Path(__file__).parent.parent / "widgets"
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}

KINDS = "criteria/all.js"
"""What is written here from the folder: it imports every kind of criterion, each of which registers itself."""

PALETTE = "shared/palette.css"
"""The colours of the full-screen pages (app/palette.py)."""

KEEP = "private, max-age=31536000, immutable"
ASK_AGAIN = "private, no-cache"


@dataclass(frozen=True)
class Asset:
    """One file. `version` is a digest of its bytes; `tree` of all files, since modules import each other's folders."""

    data: bytes
    media_type: str
    version: str
    tree: str


@cache
def assets() -> dict[str, Asset]:
    """Every file that may be served, by its path under /assets/: read once, so that nothing else can be reached."""
    files = sorted(path for path in WIDGETS.rglob("*") if path.suffix in TYPES and path.is_file())
    contents = {path.relative_to(WIDGETS).as_posix(): path.read_bytes() for path in files}
    contents[KINDS] = "".join(f"import './{path.name}';\n" for path in files if path.match("criteria/*.js")).encode()
    contents[PALETTE] = full_screen().encode()
    renderer = formula_renderer()
    if renderer is not None:
        contents[RENDERER] = renderer
    tree = _digest(*(path.encode() + b"\0" + data for path, data in contents.items()))
    return {path: Asset(data, TYPES[Path(path).suffix], _digest(data), tree) for path, data in contents.items()}


def asset_url(path: str) -> str:
    """The address of an asset (`annotate/main.js`) that a browser may keep for ever; NotFound lists all."""
    asset = assets().get(path)
    if asset is None:
        raise NotFound(f"There is no asset {path!r}. Known: {', '.join(sorted(assets()))}.")
    return f"/assets/{asset.tree}/{path}"


def routes() -> list[Route]:
    """The routes /assets/VERSION/FOLDER/FILE and /assets/FOLDER/FILE.

    The version stands in the path, so that a module that imports its neighbour by a relative address gets the same
    version of it. An address without a version, or with an old one, is asked for again each time.
    """

    async def asset(request: Request) -> Response:
        path, version = request.path_params["path"], request.query_params.get("v")
        found = assets().get(path)
        if found is None:
            version, _, rest = path.partition("/")
            found = assets().get(rest)
        if found is None:
            raise NotFound(f"There is no file {path!r} here.")
        etag = f'"{found.version}"'
        keep = KEEP if version in (found.version, found.tree) else ASK_AGAIN
        headers = {"ETag": etag, "Cache-Control": keep}
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(found.data, media_type=found.media_type, headers=headers)

    return [Route("/assets/{path:path}", asset, methods=["GET"])]


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()[:16]
