"""What pages share: who looks and in which project, errors in words, empty states, tables to take away, links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any, NoReturn
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import streamlit as st

from annotators.errors import AssayError, NotSignedIn
from app import navigation, wording
from app.server.refusals import note_refused
from app.server.routes import downloads
from app.server.web import COOKIE
from app.state import app_state
from app.style import style
from app.worker.reports import Reports
from db.engine import Database
from db.people.sign_in import session_actor
from db.permissions import READERS, Actor, Role
from db.projects import ProjectRow, my_projects
from exports.drawing.tables import TextTable, as_html

_PROJECT = "assay_project"
_GO = "assay_go"


# Who and where --------------------------------------------------------------------------------------------------------


def db() -> Database:
    """The database of this process."""
    return app_state().db


def reports() -> Reports:
    """The processes of this installation that measure."""
    return app_state().reports


def token() -> str | None:
    """The session token that this browser sent when it connected."""
    return st.context.cookies.get(COOKIE)


def actor() -> Actor:
    """Who looks at the page, asked anew in every run: a session that was revoked ends here (NotSignedIn)."""
    found = session_actor(db(), token())
    if found is None:
        raise NotSignedIn("Your session has ended. Sign in again; what you have submitted is saved.")
    return found


def choose_project(rows: Sequence[ProjectRow]) -> ProjectRow | None:
    """The project of this run: the one in the address (`?project=ID`), else the one chosen last, else the first."""
    by_id = {row.project_id: row for row in rows}
    wanted = integer_parameter("project")
    chosen = by_id.get(wanted if wanted is not None else -1)
    chosen = chosen or by_id.get(st.session_state.get(_PROJECT, -1)) or next(iter(rows), None)
    if chosen is not None:
        st.session_state[_PROJECT] = chosen.project_id
    return chosen


def project() -> ProjectRow:
    """The chosen project, for pages that need one. Without any project the page ends with an empty state."""
    chosen = choose_project(my_projects(db(), actor()))
    if chosen is None:
        empty("There is no project yet.", "An administrator creates one on the page Home.")
        st.stop()
    return chosen


def base_url() -> str:
    """The address of this installation as the reader's browser sees it, without a slash at its end."""
    public = app_state().settings.public_url
    if public:
        return public
    seen = urlsplit(st.context.url or "")
    return f"{seen.scheme}://{seen.netloc}" if seen.netloc else f"http://{st.context.headers.get('host', 'localhost')}"


def integer_parameter(name: str) -> int | None:
    """A whole number from the page's address; None when it is missing or is none."""
    text = st.query_params.get(name, "")
    return int(text) if re.fullmatch(r"\d{1,18}", text) else None


def may(role: Role, roles: frozenset[Role] = READERS) -> bool:
    """Whether to offer something to this role. What is done with it is checked by the operation."""
    return role in roles


# Errors and empty pages -----------------------------------------------------------------------------------------------


@contextmanager
def problems(after: Callable[[], None] | None = None, *, say: Callable[[str], str] = str) -> Iterator[None]:
    """Show a domain error in words and go on after the block; anything else is a bug and keeps its traceback.

    Around every page (app/main.py); a page puts it around a form's operation too, so that the rest stays on screen,
    and a fragment around its body. `after` is drawn below the words, `say` puts them as a page has to.
    """
    try:
        yield
    except NotSignedIn as error:
        signed_out(str(error))
        st.stop()
    except AssayError as error:
        note_refused(error)
        st.error(lines(say(str(error))))
        if after is not None:
            after()


def signed_out(text: str) -> None:
    """Says that the session has ended, with the way back."""
    st.html(style(st.context.theme.type))
    heading("Signed out")
    st.write(plain(text))
    st.html('<a class="assay-button" href="/sign-in" target="_self">Sign in</a>')


@contextmanager
def progress(words: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with words from the first moment of long work, moved by calling what is given with (done, of)."""
    bar = st.progress(0.0, text=f"{words} …")

    def move(done: int, of: int) -> None:
        share = min(1.0, done / of) if of else 0.0
        bar.progress(share, text=f"{words}: {round(100 * share)} %")

    try:
        yield move
    finally:
        bar.empty()


def lines(text: str) -> str:
    """A message for Streamlit's Markdown that shows as it is written, line by line; what is in backticks as code."""
    return "\n\n".join(wording.markdown(line) for line in text.splitlines())


def empty(text: str, first: str) -> None:
    """An empty page: what is missing, and what to do first."""
    st.html(f'<div class="assay-empty"><strong>{escape(text)}</strong><br>{escape(first)}</div>')


def heading(title: str, about: str = "") -> None:
    """The page's title and one line about what is shown."""
    line = f'<p class="assay-about">{escape(about)}</p>' if about else ""
    st.html(f'<h1 class="assay-title">{escape(title)}</h1>{line}')


plain = wording.plain


# Links ----------------------------------------------------------------------------------------------------------------


def link(label: str, name: str, *, key: str | None = None, primary: bool = False, **parameters: Any) -> None:
    """A link to a page of ours by its name, with its parameters; `primary` draws it as the page's main button."""
    where = {key_: str(value) for key_, value in parameters.items()}
    with st.container(key=f"{'go' if primary else 'to'}-{key or name}-{'-'.join(where.values())}", width="content"):
        st.page_link(navigation.find(name), label=label, query_params=where or None)


def go(name: str, **parameters: Any) -> NoReturn:
    """Open a page of ours by its name, with its parameters; a project among them is the chosen one from then on."""
    where = {key: str(value) for key, value in parameters.items()}
    project_id = parameters.get("project")
    if project_id is not None and project_id != st.session_state.get(_PROJECT):
        # Which pages there are depends on the project: the next run knows those of this one.
        st.session_state[_PROJECT] = project_id
        st.session_state[_GO] = (name, where)
        st.query_params["project"] = str(project_id)
        st.rerun()
    st.switch_page(navigation.find(name), query_params=where)


def go_on() -> None:
    """Open the page that `go` was asked for in the run before, if it was."""
    wanted = st.session_state.pop(_GO, None)
    if wanted is not None:
        st.switch_page(navigation.find(wanted[0]), query_params=wanted[1])


# Figures and tables ---------------------------------------------------------------------------------------------------


def zone() -> ZoneInfo:
    """Where the browser's clock is."""
    return ZoneInfo(st.context.timezone or "UTC")


def when(at: Any) -> str:
    """A time in the reader's own time zone."""
    return wording.moment(at, st.context.timezone)


def table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    name: str | None = None,
    seen: tuple[str, Sequence[str], Sequence[Sequence[object]]] | None = None,
) -> TextTable:
    """Draw a table in a box of its own, which scrolls where the page is narrower; `name` offers it as files.

    A cell that has `html` (`app.widgets.blocks.Html`) is drawn with that, any other as text. `seen` (caption, columns,
    rows) is drawn in place of what goes into the files: the same in words for people.
    """
    made = TextTable.of(caption, columns, rows)
    shown_caption, shown_columns, shown_rows = seen or (caption, columns, rows)
    drawn = [[getattr(cell, "html", None) for cell in row] for row in shown_rows]
    st.html(
        f'<div class="assay-scroll" role="region" tabindex="0" aria-label="{escape(shown_caption)}">'
        f"{as_html(TextTable.of(shown_caption, shown_columns, shown_rows), drawn)}</div>"
    )
    if name and made.rows:
        downloads.menu(name, downloads.of_table(made, name), caption)
    return made
