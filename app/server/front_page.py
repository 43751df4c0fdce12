"""The page that Streamlit's front end starts from, which is told where its server is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from app.navigation import ENTRIES

_WHERE = "<script>window.__streamlit = { BACKEND_BASE_URL: location.origin }</script>"
"""Without it the front end takes /annotate for the folder of another app, asks there first, and is told 404 twice."""


@cache
def front_page() -> str:
    """Streamlit's own index.html, with what it reads before it asks anybody."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    before, first, after = page.partition("<script")
    return f"{before}{_WHERE}\n    {first}{after}"


def routes() -> list[Route]:
    """The address of every page but Home, which stands where the front end looks first."""

    async def page(_request: Request) -> Response:
        return HTMLResponse(front_page(), headers={"Cache-Control": "no-cache"})

    return [Route(f"/{entry.name}", page) for entry in ENTRIES if entry.name != "home"]
