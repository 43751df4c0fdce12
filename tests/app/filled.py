"""A project with everything in it, for tests of pages, and small steps that they share."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from streamlit.testing.v1 import AppTest

from db.people.accounts import set_member
from db.people.sign_in import session_actor
from db.permissions import Actor, Role
from tests.app.pages import Pages, words
from tests.makers import StudyInUse


class Filled:
    """A project with a study that three annotators have labelled, and somebody in each role with a password."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.study = StudyInUse(pages.db, items=4, n_evidence=2)
        self.project_id, self.study_id = self.study.project_id, self.study.study_id
        for name, role in (("rosa", Role.RESEARCHER), ("vera", Role.VIEWER), ("adam", Role.ADJUDICATOR)):
            pages.person(name)
            set_member(pages.db, pages.admin, self.project_id, name=name, role=role)
        for who, value in enumerate(("yes", "no", "yes")):
            self.study.label_all(who, value)

    def open(self, who: str, name: str, **parameters: object) -> AppTest:
        """A page of this project as one of its people sees it."""
        given = {"project": str(self.project_id), **{key: str(value) for key, value in parameters.items()}}
        return self.pages.open(self.pages.token(who), name, **given)


def press(page: AppTest, label: str) -> AppTest:
    """Press the button with this label."""
    [button] = [button for button in page.button if button.label == label]
    return button.click().run()


def no_problem(page: AppTest) -> str:
    """What the page says, after checking that nothing went wrong on it."""
    assert not page.exception, page.exception
    assert not page.error, [error.value for error in page.error]
    return words(page)


def actor_named(pages: Pages, name: str) -> Actor:
    """Who this is, by a session of theirs."""
    actor = session_actor(pages.db, pages.token(name))
    assert actor is not None
    return actor


def picture() -> bytes:
    """A small picture."""
    out = io.BytesIO()
    Image.new("RGB", (60, 80), "white").save(out, "PNG")
    return out.getvalue()


def uploads(pages: Pages) -> list[Path]:
    """What lies in the folder of uploads of this process."""
    return list(pages.state.uploads.own_folder().glob("*"))
