"""The web process: the ASGI app, its layers around every request, and what its routes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def __getattr__(name: str) -> ASGIApp:
    """`app`, built when an ASGI server asks for it (`uvicorn app.server:app`) and not when a test imports this."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from app.server.application import create_app  # noqa: PLC0415 - whoever imports a module of this room needs no app

    app = create_app()
    globals()["app"] = app
    return app
