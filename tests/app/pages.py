"""Pages without a server: the main script in Streamlit's AppTest, for a person who has signed in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime import context
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from app import state
from app.server.web import COOKIE
from app.settings import Settings
from app.state import AppState
from app.worker import reports
from db.people.accounts import add_person
from db.people.sign_in import sign_in
from db.permissions import Actor, Role
from tests.databases import put_database
from tests.makers import first_administrator
from tests.server_mother import forked_child
from tests.servers import PASSWORD


@dataclass
class Browser:
    """What Streamlit keeps of the browser that has connected: here, its cookies."""

    cookies: dict[str, str]
    headers: tuple[tuple[str, str], ...] = (("host", "assay.test"),)
    remote_ip: str | None = "203.0.113.7"


class Pages:
    """An installation whose pages can be opened as one person after the other."""

    def __init__(self, opened: AppState, monkeypatch: pytest.MonkeyPatch) -> None:
        self.state = opened
        self.db = opened.db
        self.admin: Actor = first_administrator(opened.db, password=PASSWORD)
        self._monkeypatch = monkeypatch

    def person(self, name: str, role: Role | str | None = None) -> None:
        """Add a person; `role` is their default role."""
        add_person(self.db, self.admin, name, password=PASSWORD, default_role=role)

    def token(self, name: str) -> str:
        """A session of this person."""
        return sign_in(self.db, name, PASSWORD, None)

    def open(self, token: str | None, name: str = "home", **parameters: str) -> AppTest:
        """The page `name` as the browser with this session sees it, after its first run."""
        browser = Browser({COOKIE: token} if token else {})
        # AppTest has no browser: this is where Streamlit would look for it.
        self._monkeypatch.setattr(context, "_get_client_context", lambda: browser)
        page = AppTest.from_function(_main_script, default_timeout=90)
        page.query_params.update(parameters)
        if name != "home":
            page._page_hash = calc_hash(name)
        return page.run()


def _main_script() -> None:
    import runpy

    runpy.run_path("app/main.py", run_name="__main__")


@contextmanager
def installation(home: Path, monkeypatch: pytest.MonkeyPatch, **given: object) -> Iterator[Pages]:
    """A new installation in `home`, as the state of this process."""
    put_database(home / "assay.db")
    # Each AppTest would read the metadata of every package that is installed, which takes longer than our page.
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", _manifests)
    monkeypatch.setattr(reports, "Child", forked_child)
    # The tests' own processes are what reports would step back for.
    opened = state.open_state(Settings.load({}, home=home, **{"report_niceness": 0, **given}))
    try:
        yield Pages(opened, monkeypatch)
    finally:
        opened.close()
        state._current.clear()


_manifests = cache(manifest_scanner.scan_component_manifests)


def words(page: AppTest) -> str:
    """Everything the page says, as text and as HTML."""
    kinds = ("html", "markdown", "error", "success", "title", "subheader", "caption", "code")
    return "\n".join(str(element.value) for kind in kinds for element in page.get(kind))


def tables(page: AppTest) -> dict[str, list[list[str]]]:
    """Caption → rows of cells, of every table on the page."""
    found = {}
    for block in page.get("html"):
        for caption, body in re.findall(r"<caption>(.*?)</caption>.*?<tbody>(.*?)</tbody>", str(block.value)):
            rows = re.findall(r"<tr>(.*?)</tr>", body)
            found[unescape(caption)] = [
                [unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
                for row in rows
            ]
    return found
