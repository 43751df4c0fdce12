"""Every page of the app in one table: its file, its title, its address, and who sees it.

A page is a module in app/pages with a function `page()` that draws it. An entry whose file is not there is left out.
What a person sees here is a matter of order, not of permission: permission is checked by the operations a page calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import streamlit as st
from streamlit.navigation.page import Page

from annotators.errors import NotFound
from db.permissions import ADJUDICATORS, ANNOTATORS, EVERYBODY, READERS, RESEARCHERS, Actor, Role


@dataclass(frozen=True)
class Entry:
    """One page. `name` is its module and its address; `roles` those that see it, in the chosen project.

    An entry without roles is for administrators. A page that is not `listed` is reached from another one.
    """

    name: str
    title: str
    roles: frozenset[Role]
    listed: bool = True
    without_project: bool = False


ENTRIES = (
    Entry("home", "Home", EVERYBODY, without_project=True),
    Entry("annotate", "Annotate", ANNOTATORS, listed=False),
    Entry("my_work", "My work", ANNOTATORS),
    Entry("data", "Data", READERS),
    Entry("item", "Item", READERS, listed=False),
    Entry("imports", "Import", RESEARCHERS),
    Entry("studies", "Studies", READERS),
    Entry("study", "Study", READERS, listed=False),
    Entry("adjudicate", "Adjudicate", ADJUDICATORS),
    Entry("revise", "Revise", EVERYBODY, listed=False),
    Entry("agreement", "Agreement", READERS),
    Entry("scores", "Scores", READERS),
    Entry("alignment", "Alignment", READERS),
    Entry("exports", "Export", RESEARCHERS),
    Entry("jobs", "Jobs", RESEARCHERS),
    Entry("people", "People", RESEARCHERS, without_project=True),
    Entry("audit", "Audit", RESEARCHERS, without_project=True),
    Entry("help", "Help", EVERYBODY, without_project=True),
    Entry("account", "Account", EVERYBODY, listed=False, without_project=True),
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
                visibility="visible" if entry.listed else "hidden",
            )
    raise NotFound(f"There is no page {name!r}. Known: {', '.join(functions)}.")


def places() -> list[Page]:
    """Every page's address with nothing in it, for somebody who is not signed in (any more)."""
    return [
        st.Page(_nothing, title=entry.title, url_path=entry.name, default=entry.name == "home") for entry in ENTRIES
    ]


def _nothing() -> None:
    """Draws nothing."""
