"""The ASGI app: Streamlit's pages with our own routes, behind one sign-in; and how it is served."""

from __future__ import annotations

import ctypes
import gc
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from annotators.errors import AssayError, Conflict
from app.server.served import Served, address_of, note, withdraw
from app.settings import ROOT, Settings, apply_streamlit_options

if TYPE_CHECKING:
    from app.state import AppState

if str(ROOT) not in sys.path:  # Streamlit puts only the folder of app/main.py there
    sys.path.insert(0, str(ROOT))

log = logging.getLogger(__name__)

SCRIPT = ROOT / "app" / "main.py"

# An annotator thinks for half a minute between two submits: the connection should still be there.
KEEP_ALIVE_SECONDS = 75

# So long the first who ask are left alone with the processors: a browser, or whoever watches the health.
WARM_AFTER_SECONDS = 0.3

_M_ARENA_MAX = -8  # malloc.h


def create_app(settings: Settings | None = None, served: Served | None = None) -> ASGIApp:
    """The whole app for an ASGI server; once a process, because Streamlit allows one app.

    Puts Streamlit's options in force, opens and migrates the database, and mounts our routes before Streamlit's.
    `served` is known when it is started by `serve`: by it the health check says whether this server is still there.
    """
    settings = settings or Settings.load()
    gc.disable()  # until _WarmUp has frozen what is loaded: collecting while half a million objects come takes a tenth
    _share_arenas()
    apply_streamlit_options(settings)

    # After the options: what these modules import may read them.
    import streamlit as st  # noqa: PLC0415
    from streamlit.runtime.pages_manager import PagesManager  # noqa: PLC0415

    from app.server.drawing_ahead import DrawingAhead  # noqa: PLC0415
    from app.server.middleware import SecurityHeaders, Sessions  # noqa: PLC0415
    from app.server.upload_store import take_over  # noqa: PLC0415
    from app.server.web import handle_error  # noqa: PLC0415
    from app.state import AppState, open_state  # noqa: PLC0415
    from app.worker import jobs  # noqa: PLC0415

    # Streamlit would take the folder app/pages for pages of the old kind and, until somebody has opened the start page,
    # run its files as scripts by their address, without app/main.py. Pages are what app/navigation.py lists.
    PagesManager.uses_pages_directory = False

    state = open_state(settings)
    take_over(state.uploads)

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[dict[str, Any]]:
        warming = _WarmUp(state)
        jobs.start(settings)
        ahead = DrawingAhead(state)
        try:
            yield {}
        finally:
            await run_in_threadpool(ahead.stop)
            await run_in_threadpool(warming.stop)
            await run_in_threadpool(jobs.stop)
            await run_in_threadpool(AppState.close, state)

    return st.App(
        SCRIPT,
        routes=own_routes(state, served),
        middleware=[Middleware(SecurityHeaders, state=state), Middleware(Sessions, state=state)],
        exception_handlers={AssayError: handle_error},
        lifespan=lifespan,
    )


def own_routes(state: AppState, served: Served | None = None) -> list[BaseRoute]:
    """Every route of ours, which go before Streamlit's; `served` as in `create_app`."""
    from app.server import assets, front_page, health  # noqa: PLC0415 - after Streamlit's options, see create_app
    from app.server.routes import (  # noqa: PLC0415 - likewise
        adjudicate,
        annotate,
        downloads,
        join,
        page_images,
        page_text,
        preferences,
        revise,
        sign_in,
    )

    return [
        *health.routes(state, served),
        *sign_in.routes(state),
        *join.routes(state),
        *page_images.routes(state),
        *page_text.routes(state),
        *downloads.routes(state),
        *assets.routes(),
        *front_page.routes(),
        *annotate.routes(lambda: state.db, ahead=state.settings.look_ahead),
        *adjudicate.routes(lambda: state.db),
        *revise.routes(lambda: state.db, state.settings),
        *preferences.routes(lambda: state.db),
        Route("/home", _to_the_start),
    ]


async def _to_the_start(request: Request) -> Response:
    """The page Home stands at /; Streamlit knows no /home, and would say over it that there is no such page."""
    return RedirectResponse(f"/?{request.url.query}" if request.url.query else "/", 303)


def _share_arenas() -> None:
    """Have glibc's threads share two memory arenas, before there are threads.

    By default each of some forty worker threads fills an arena of its own, whose holes are never given back: the
    process then grows by megabytes a minute under load (tests/bench/bench_load.py). Elsewhere there is no such knob.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").mallopt(_M_ARENA_MAX, 2)


class _WarmUp:
    """Loads what the first requests would otherwise wait for, while the server answers already.

    The pages come with libraries for plots and numbers that take longer to import than everything else at start
    (tests/bench/bench_start.py). A page that is asked for before its turn is loaded at once.
    """

    def __init__(self, state: AppState) -> None:
        self._state, self._stopped = state, Event()
        self._thread = Thread(target=self._run, name="warming up", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Leave out what is not loaded yet, and wait for the end of what is being loaded."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        """Load; then take what is there out of the garbage collector's way.

        What is loaded at start (Streamlit, pandas, SQLAlchemy: some hundred thousand objects) lives as long as the
        process. Frozen, it is not walked again by every full collection, each of which would hold up everybody for
        77 ms; with Streamlit's collection after each script run switched off (streamlit_config/config.toml) a rerun
        takes 14 ms instead of 80. Cycles that are made later are still collected.
        """
        from app.navigation import load_pages  # noqa: PLC0415

        try:
            if not self._stopped.wait(WARM_AFTER_SECONDS):
                self._state.renderer.warm()
            load_pages(lambda: not self._stopped.is_set())
            if not self._stopped.is_set():
                self._state.reports.warm()
                gc.collect()
                gc.freeze()
        finally:
            gc.enable()
        self._check()

    def _check(self) -> None:
        """Say in the log when the database is damaged; of a large one this is known only after the start."""
        from db.upkeep.soundness import damage_of  # noqa: PLC0415

        with suppress(AssayError):
            if said := damage_of(self._state.db):
                log.error("The database is damaged (%s). %s", said, self._state.settings.restore_advice)


# Serving --------------------------------------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    """uvicorn's server that says when it has started and when it stops."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None], on_stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started, self._on_stopping = on_started, on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell, then stop. After it the signal is raised again, and nothing more of us runs."""
        self._on_stopping()
        await super().shutdown(sockets=sockets)


def serve(settings: Settings, *, announce: Callable[[str], None] = print) -> None:
    """Serve until the process is told to stop (Ctrl-C, SIGTERM); `announce` gets the address once it answers.

    While it runs, a note in the home folder says where (app/server/served.py). Raises Conflict when the port is taken.
    """
    from app.server.connections import PatientProtocol  # noqa: PLC0415 - uvicorn loads its protocols when it serves

    bound = _bind(settings.host, settings.port)
    host, port = bound.getsockname()[:2]
    local = address_of(host, port)
    served = Served(settings.public_url or local, local)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=settings.log_level.upper())
    config = uvicorn.Config(
        create_app(settings, served),
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        http=PatientProtocol,
        ws="websockets-sansio",
        ws_ping_interval=30,
        ws_ping_timeout=30,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.stop_seconds,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=settings.proxies,
    )
    notes: list[Path] = []

    def started() -> None:
        notes.append(note(settings, served, port))
        announce(f"Assay is running at {served.address}")

    def stopping() -> None:
        for path in notes:
            withdraw(path, served)

    server = _Server(config, started, stopping)
    try:
        server.run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # uvicorn has stopped in good order and repeats the signal
    finally:
        bound.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio switches Nagle's algorithm off only for sockets that say TCP; otherwise each
    # answer on a kept-alive connection waits 44 ms for the browser's delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise Conflict(
            f"The server cannot listen on {host} port {port}: {error.strerror}. Stop the program that uses it, or "
            "choose another port (--port, ASSAY_PORT)."
        ) from error
    bound.set_inheritable(True)
    return bound
