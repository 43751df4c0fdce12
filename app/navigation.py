"""Every page of the app in one table: its file, its title, its address, and who sees it.

A page is a module in app/pages with a function `page()` that draws it. An entry whose file is not there is left out.
What a person sees here is a matter of order, not of permission: permission is checked by the operations a page calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec

import streamlit as st
from streamlit.navigation.page import Page

from annotators.errors import NotFound
from db.permissions import ADJUDICATORS, ANNOTATORS, EVERYBODY, READERS, RESEARCHERS, Actor, Role


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
    Entry("adjudicate", "Adjudicate", ADJUDICATORS, Group.WORK),
    Entry("revise", "Revise", EVERYBODY, Group.WORK, from_="adjudicate"),
    Entry("data", "Items and documents", READERS, Group.DATA),
    Entry("item", "Item", READERS, Group.DATA, from_="data"),
    Entry("imports", "Import", RESEARCHERS, Group.DATA),
    Entry("agreement", "Agreement", READERS, Group.RESULTS),
    Entry("scores", "Scores", READERS, Group.RESULTS),
    Entry("alignment", "Alignment", READERS, Group.RESULTS),
    Entry("exports", "Export", RESEARCHERS, Group.RESULTS),
    Entry("people", "People", RESEARCHERS, Group.ADMINISTRATION, without_project=True),
    Entry("jobs", "Jobs", RESEARCHERS, Group.ADMINISTRATION),
    Entry("audit", "Audit", RESEARCHERS, Group.ADMINISTRATION, without_project=True),
    Entry("help", "Help", EVERYBODY, None, without_project=True),
    Entry("account", "Account", EVERYBODY, None, from_="home", without_project=True),
)


@cache
def load_pages() -> dict[str, Callable[[], None]]:
    """The `page` functions of all pages that are there, by name. Imports them."""
    loaded = {}
    for entry in ENTRIES:
        module_name = f"app.pages.{entry.name}"
        if find_spec(module_name) is not None:
            loaded[entry.name] = importlib.import_module(module_name).page
    return loaded


def entries_for(actor: Actor, role: Role | None) -> Iterator[Entry]:
    """The pages for somebody with this role in the chosen project (None: there is no project to choose)."""
    there = load_pages()
    for entry in ENTRIES:
        if entry.name not in there:
            continue
        if role is None and not entry.without_project:
            continue
        if actor.is_admin or role in entry.roles or (role is None and entry.roles == EVERYBODY):
            yield entry


def find(name: str) -> Page:
    """The page of that name, for st.page_link and st.switch_page; NotFound when there is none."""
    functions = load_pages()
    for entry in ENTRIES:
        if entry.name == name and name in functions:
            return st.Page(
                functions[name],
                title=entry.title,
                url_path=entry.name,
                default=entry.name == "home",
            )
    raise NotFound(f"There is no page {name!r}. Known: {', '.join(functions)}.")


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
