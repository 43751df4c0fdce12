"""`assay init`, `serve`, `demo`, `doctor`, `backup` and `restore`: the home folder and the server."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.errors import Conflict
from app.cli.base import AsJson, DryRun, Here, command, database_of, opened, option, settings_of
from app.cli.output import emit, say, say_aside, working
from app.cli.people import sign_in_address

if TYPE_CHECKING:
    from app.settings import Settings
    from db.engine import Database

Host = Annotated[str | None, option("ADDRESS", "Address to listen on.  [default: 127.0.0.1]")]
Port = Annotated[int | None, option("N", "Port to listen on; 0 takes a free one.  [default: 8501]")]

OpenBrowser = Annotated[
    bool | None,
    typer.Option(
        "--open/--no-open",
        help="Open the address in a browser.  [default: where there is a display]",
        show_default=False,
    ),
]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(app, "init", "assay --home ./assay-home init")(init)
    command(
        app, "serve", "assay --home ./assay-home serve", "assay --home ./assay-home serve --host 0.0.0.0 --port 80"
    )(serve)
    command(app, "demo", "assay --home ./assay-home demo --serve", "assay --home ./assay-home demo --serve --no-open")(
        demo
    )
    command(app, "doctor", "assay --home ./assay-home doctor", "assay --home ./assay-home doctor --deep")(doctor)
    command(app, "backup", "assay --home ./assay-home backup", "assay --home ./assay-home backup --to monday.db")(
        backup
    )
    command(app, "restore", "assay --home ./assay-home restore monday.db")(restore)


# Beginning ------------------------------------------------------------------------------------------------------------


def init(context: typer.Context, as_json: AsJson = False) -> None:
    """Make the home folder, its database and first administrator.

    A database of an earlier version is brought up to date, after a copy of it was made. The first time an address is
    printed that signs the administrator in once.
    """
    with begun(context) as (here, is_new):
        address = sign_in_address(here, here.actor.name, at_once=True) if is_new else None
        document = {
            "home": str(here.settings.home),
            "database": here.db.url.render_as_string(hide_password=True),
            "created": is_new,
            "administrator": here.actor.name,
            "sign_in": address,
            "passed_over": here.settings.passed_over,
        }
        emit(document, lambda: _init_in_words(here, address), as_json=as_json)
        if said := here.settings.passed_over:
            say_aside(said)


def _init_in_words(here: Here, address: str | None) -> str:
    call = here.settings.call
    if address is None:
        return (
            f"{here.settings.home} is ready; its first administrator is {here.actor.name}.\n"
            f"An address to sign in once: {call} user sign-in-address {here.actor.name}"
        )
    return (
        f"{here.settings.home} is ready. Start the server:\n  {call} serve\n"
        f"and sign in as {here.actor.name} (once, within {here.settings.one_time_minutes / 60:g} hours):\n  {address}"
    )


@contextmanager
def begun(context: typer.Context, **given: Any) -> Iterator[tuple[Here, bool]]:
    """The home folder with its folders, database and first administrator, made where missing; whether they are new."""
    from app.copies import clear_left
    from db.people.accounts import begin_administration

    settings = settings_of(context, **given).prepare()
    clear_left(settings)
    with database_of(settings, create=True) as db:
        for folder in (settings.documents_folder, settings.pages_folder, settings.backups_folder):
            folder.mkdir(parents=True, exist_ok=True)
        actor, is_new = begin_administration(db)
        yield Here(settings, db, actor), is_new


# Serving --------------------------------------------------------------------------------------------------------------


def serve(
    context: typer.Context,
    host: Host = None,
    port: Port = None,
    sign_in: Annotated[
        bool, typer.Option("--sign-in", help="Print an address that signs the first administrator in once.")
    ] = False,
) -> None:
    """Serve the app until it is stopped (Ctrl-C)."""
    from concurrent.futures import ThreadPoolExecutor

    gc.disable()  # as app/server/application.py does until everything is loaded
    try:
        with opened(context, host=host, port=port) as here, ThreadPoolExecutor(1) as beside:
            settings = here.settings
            checked = beside.submit(_check_a_moment, here.db)
            import_module("app.server.application")  # while SQLite reads its file
            checked.result()
    except BaseException:
        gc.enable()
        raise
    serve_until_stopped(settings, sign_in=sign_in, open_browser=False)


def _check_a_moment(db: Database) -> None:
    """Raise DatabaseDamaged for what is found within half a second; the server itself checks the rest."""
    from db.faults import damage_in, damaged

    if db.is_sqlite:
        path = Path(str(db.url.database))
        if said := damage_in(path, seconds=0.5):
            raise damaged(path.name, said)


def serve_until_stopped(settings: Settings, *, sign_in: bool, open_browser: bool | None) -> None:
    """Serve; with `sign_in` the one address that is printed signs the first administrator in.

    With `open_browser` a browser is opened at it as well; None does so where there is a display.
    """
    import webbrowser

    from app.server.application import serve as serve_app
    from app.settings import has_display

    def announce(message: str) -> None:
        address = message.rpartition(" ")[2]
        if sign_in:
            address = _administrators_address(settings, address)
            message = f"Open {address}"
        say(message)
        if has_display() if open_browser is None else open_browser:
            # In a thread of its own: some platforms wait for the program, and requests are to be answered meanwhile.
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve_app(settings, announce=announce)


def _administrators_address(settings: Settings, base: str) -> str:
    from db.people.accounts import local_administrator

    with database_of(settings) as db:
        administrator = local_administrator(db)
        return sign_in_address(Here(settings, db, administrator), administrator.name, base, at_once=True)


def demo(
    context: typer.Context,
    serve_it: Annotated[
        bool,
        typer.Option(
            "--serve", help="Then serve it, on a free port if 8501 is taken, print an address to sign in, and open it."
        ),
    ] = False,
    host: Host = None,
    port: Port = None,
    *,
    open_browser: OpenBrowser = None,
    as_json: AsJson = False,
) -> None:
    """Make a sample project, so that every page shows something.

    It has documents, items of two systems, scores, people, and four studies in which simulated annotators have labelled
    and an adjudicator has decided. A second run adds nothing.
    """
    from app.sample.project import make_sample_project

    if serve_it and as_json:
        raise typer.BadParameter("A server prints no JSON document. Leave one of the two out.", param_hint="--json")
    with begun(context, host=host, port=port) as (here, is_new):
        settings = here.settings
        if serve_it:
            say_aside("Making the sample project, unless it is there …")
        made = make_sample_project(here.db, here.actor, settings.home / "sample", settings.documents_folder)
        if not serve_it:
            new = ([here.actor.name] if is_new else []) + made.new_people
            addresses = {name: sign_in_address(here, name) for name in new}
            document = {**made.to_json(), "sign_in": addresses}
            emit(document, lambda: f"{made.in_words()}\n{_demo_addresses(settings, addresses)}", as_json=as_json)
            return
    say_aside(made.in_words())
    if port is None and not _is_free(settings.host, settings.port):
        settings = settings_of(context, host=host, port=0)
    serve_until_stopped(settings, sign_in=True, open_browser=open_browser)


def _demo_addresses(settings: Settings, addresses: dict[str, str]) -> str:
    call = settings.call
    if not addresses:
        return f"Start the server with: {call} serve --sign-in; another address with: {call} user sign-in-address NAME"
    lines = [f"Start the server with: {call} serve", "Then each of these signs somebody in once:"]
    width = max(map(len, addresses))
    return "\n".join([*lines, *(f"  {name.ljust(width)}  {address}" for name, address in addresses.items())])


def _is_free(host: str, port: int) -> bool:
    """Whether nobody listens there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError:
            return False
        return True


# Keeping --------------------------------------------------------------------------------------------------------------


def doctor(
    context: typer.Context,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Read everything: the whole database, the bytes of all documents, and every hash that is kept.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print versions, settings, the database, and what is amiss.

    What is missing, damaged, full, read-only or open to others: each finding says what to do, and the exit code is 1.
    """
    from app.cli.doctor import examine, in_lines

    with working("Reading everything") if deep else nullcontext():
        found = examine(settings_of(context), deep=deep)
    emit(found, lambda: in_lines(found), as_json=as_json)
    if found["problems"]:
        raise typer.Exit(1)


def backup(
    context: typer.Context,
    to: Annotated[Path | None, option("FILE", "New file to write.  [default: one in the folder backups]")] = None,
    as_json: AsJson = False,
) -> None:
    """Copy the SQLite database, which may be in use.

    The copy is checked. The documents (the folder data/ in the home folder) are not in it: copy them as well; documents
    whose bytes are missing are listed, and the exit code is then 1.
    """
    from app.cli.doctor import document_problems
    from db.upkeep.backups import back_up

    with opened(context) as here:
        target = to or here.settings.backups_folder / f"assay-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
        path = back_up(here.db, here.actor, target=target, backups=here.settings.backups_folder)
        problems = document_problems(here.settings, here.db)
    document = {"backup": str(path), "bytes": path.stat().st_size, "problems": problems}
    emit(document, lambda: "\n".join([f"Wrote {path}", *problems]), as_json=as_json)
    if problems:
        raise typer.Exit(1)


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup.", show_default=False)],
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup of the SQLite database back.

    How old the backup is and what it lacks is said before; --dry-run says only that. The backup is checked before
    anything is replaced. What was there is kept: in the folder backups, or, when it is damaged or of a newer version,
    beside the database. Stop the server first: nobody else may have the database open. Documents whose bytes are
    not in the home folder are listed.
    """
    from app.cli.doctor import document_problems
    from app.server.served import running
    from db.engine import Database
    from db.upkeep.backups import DAMAGE, compared, replace_unusable, why_unusable
    from db.upkeep.backups import restore as put_back

    settings = settings_of(context).prepare()
    database = Database(settings.database)
    try:
        if dry_run:
            holds = compared(file, database)
            emit(holds.to_json(), f"{file} {holds.in_words()}", as_json=as_json)
            return
        if served := running(settings):
            raise Conflict(f"A server is running at {served.address}. Stop it, then restore.")
        why = why_unusable(database) if database.is_sqlite else None
        if why is not None:
            acting_as = context.find_root().obj.acting_as
            done = replace_unusable(database, source=file, why=why, acting_as=acting_as, tell=say_aside)
    finally:
        database.dispose()
    if why is None:
        with opened(context) as here:
            done = put_back(here.db, here.actor, source=file, backups=settings.backups_folder, tell=say_aside)
    problems = document_problems(settings, database)
    database.dispose()
    damaged, kept = why == DAMAGE, None if done.before is None else str(done.before)
    document = {
        "restored": str(file),
        "revision": done.revision,
        "before": kept,
        "was_damaged": damaged,
        **done.holds.to_json(),
        "problems": problems,
    }
    what = "The damaged database that was there before" if damaged else "What was there before"
    words = f"Restored {file}. " + ("There was no database before." if kept is None else f"{what} is in {kept}")
    emit(document, "\n".join([words, *problems]), as_json=as_json)
