"""Every page of the app in one table: its file, its title, its address, and who sees it.

A page is a module in app/pages with a function `page()` that draws it, or a folder with such a module named `page`. It
is imported when it is drawn first, or by `load_pages` in the background of a server that has started: some draw plots,
whose libraries take seconds to load.
What a person sees here is a matter of order, not of permission: permission is checked by the operations a page calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from threading import RLock

import streamlit as st
from streamlit.navigation.page import Page

from annotators.errors import NotFound
from db.permissions import ADJUDICATORS, ANNOTATORS, EVERYBODY, READERS, RESEARCHERS, REVISERS, Actor, Role


class Group(StrEnum):
    """The groups of pages in the top bar, in their order. Pages of no group stand beside them."""

    WORK = "Work"
    DATA = "Data"
    RESULTS = "Results"
    ADMINISTRATION = "Administration"


@dataclass(frozen=True)
class Entry:
    """One page. `name` is its module and its address; `roles` those that see it, in the chosen project.

    An entry without roles is for administrators. A page that is reached `from_` another one is not listed itself.
    """

    name: str
    title: str
    roles: frozenset[Role]
    group: Group | None
    from_: str | None = None
    without_project: bool = False

    @property
    def listed(self) -> bool:
        """Whether the top bar leads to it."""
        return self.from_ is None


ENTRIES = (
    Entry("home", "Home", EVERYBODY, Group.WORK, without_project=True),
    Entry("my_work", "My work", ANNOTATORS, Group.WORK),
    Entry("annotate", "Annotate", ANNOTATORS, Group.WORK, from_="my_work"),
    Entry("studies", "Studies", READERS, Group.WORK),
    Entry("study", "Study", READERS, Group.WORK, from_="studies"),
    Entry("annotators", "Annotators", RESEARCHERS, Group.WORK, from_="studies"),
    Entry("protocols", "Protocols", READERS, Group.WORK),
    Entry("prompts", "Prompts", READERS, Group.WORK, from_="protocols"),
    Entry("adjudicate", "Adjudicate", ADJUDICATORS, Group.WORK),
    Entry("revise", "Revise", REVISERS, Group.WORK),
    Entry("data", "Items and documents", READERS, Group.DATA),
    Entry("item", "Item", READERS, Group.DATA, from_="data"),
    Entry("claims", "Claims", RESEARCHERS, Group.DATA, from_="data"),
    Entry("imports", "Import", RESEARCHERS, Group.DATA),
    Entry("agreement", "Agreement", READERS, Group.RESULTS),
    Entry("scores", "Scores", READERS, Group.RESULTS),
    Entry("alignment", "Alignment", READERS, Group.RESULTS),
    Entry("judges", "Judges", RESEARCHERS, Group.RESULTS),
    Entry("estimates", "Fewer labels", READERS, Group.RESULTS),
    Entry("releases", "Releases", READERS, Group.RESULTS),
    Entry("exports", "Export", RESEARCHERS, Group.RESULTS),
    Entry("people", "People", RESEARCHERS, Group.ADMINISTRATION, without_project=True),
    Entry("jobs", "Jobs", RESEARCHERS, Group.ADMINISTRATION),
    Entry("audit", "Audit", RESEARCHERS, Group.ADMINISTRATION, without_project=True),
    Entry("help", "Help", EVERYBODY, None, without_project=True),
    Entry("account", "Account", EVERYBODY, None, from_="home", without_project=True),
)


_NAMES = frozenset(entry.name for entry in ENTRIES)
_loading = RLock()


def load_pages(go_on: Callable[[], bool] = lambda: True) -> dict[str, Callable[[], None]]:
    """Import the pages, in the order of the table, as long as `go_on()`; their `page` functions by name."""
    return {entry.name: _function(entry.name) for entry in ENTRIES if go_on()}


def _function(name: str) -> Callable[[], None]:
    # One thread at a time: of two that import modules which import each other, Python lets one see half of a module.
    with _loading:
        found = importlib.import_module(f"app.pages.{name}")
        if hasattr(found, "__path__"):
            found = importlib.import_module(f"app.pages.{name}.page")
        page: Callable[[], None] = found.page
        return page


def _draw(name: str) -> None:
    _function(name)()


def entries_for(actor: Actor, role: Role | None) -> Iterator[Entry]:
    """The pages for somebody with this role in the chosen project (None: there is no project to choose)."""
    for entry in ENTRIES:
        if role is None and not entry.without_project:
            continue
        if actor.is_admin or role in entry.roles or (role is None and entry.roles == EVERYBODY):
            yield entry


def find(name: str) -> Page:
    """The page of that name, for st.page_link and st.switch_page; NotFound when there is none."""
    if name not in _NAMES:
        raise NotFound(f"There is no page {name!r}. Known: {', '.join(entry.name for entry in ENTRIES)}.")
    title = next(entry.title for entry in ENTRIES if entry.name == name)
    return st.Page(partial(_draw, name), title=title, url_path=name, default=name == "home")


def name_of(page: Page) -> str:
    """The name of a page of ours."""
    return page.url_path or "home"


def places() -> list[Page]:
    """Every page's address with nothing in it, for somebody who is not signed in (any more)."""
    return [
        st.Page(_nothing, title=entry.title, url_path=entry.name, default=entry.name == "home") for entry in ENTRIES
    ]


def _nothing() -> None:
    """Draws nothing."""
