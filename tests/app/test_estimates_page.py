"""The page Fewer labels: empty, with one label, with figures and a stop rule, and a draw made on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update

from db.designing.draws import draws_of
from db.models import Study
from db.projects import create_project
from db.query import table_of
from tests.app.filled import no_problem
from tests.app.pages import Pages
from tests.db.designing.test_by_score import scored
from tests.exports.judged import make_judged
from tests.makers import StudyInUse

pytestmark = pytest.mark.slow


def opened(pages: Pages, study: StudyInUse, **more: str) -> str:
    given = {"project": str(study.project_id), "study": str(study.study_id), **more}
    return no_problem(pages.open(pages.token("admin"), "estimates", **given))


def test_it_says_what_to_do_first_and_grows_with_the_labels(pages: Pages) -> None:
    project = str(create_project(pages.db, pages.admin, "Empty"))
    assert "There is no study yet" in no_problem(pages.open(pages.token("admin"), "estimates", project=project))
    values = [place / 29 for place in range(30)]
    study = StudyInUse(
        pages.db, items=30, annotators=1, overlap=1, stop_at=0.4, prepare=lambda db: scored(db, list(values))
    )
    said = opened(pages, study)
    assert "only 0 labelled units" in said
    assert "The stop rule ±0.4 is part of the design" in said
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    assert "only 1 labelled unit;" in opened(pages, study)
    for number in range(24):
        study.submit(0, study.work(0)["items"][0], {"right": "yes" if number % 2 else "no"})
    said = opened(pages, study)
    for words in ("stop reached", "You may end", "Effective sample size", "What to label next", "Labels alone"):
        assert words in said, words


def test_what_to_label_next_is_drawn_with_a_button(pages: Pages) -> None:
    study = StudyInUse(pages.db, items=30, annotators=1, overlap=1)
    page = pages.open(pages.token("admin"), "estimates", project=str(study.project_id), study=str(study.study_id))
    assert "draw 1 of this study" in no_problem(page)
    next(button for button in page.button if button.label == "Label these 20 items next").click().run()
    said = no_problem(page)
    assert "20 items drawn. They come before all others." in said
    assert "draw 2 of this study" in said
    [draw] = draws_of(pages.db, pages.admin, study.study_id)
    assert len(draw.chances) == 20


def test_a_study_with_scores_says_what_they_saved(pages: Pages, tmp_path: Path) -> None:
    judged = make_judged(pages.db, pages.admin, tmp_path / "source", questions=30, labelled=20)
    with pages.db.write() as session:
        table = table_of(Study)
        session.execute(
            update(table).where(table.c.id == judged.study_id).values(settings={"foreign": True, "stop_at": 0.05})
        )
    given = {"project": str(judged.project_id), "study": str(judged.study_id), "criterion": "quality"}
    said = no_problem(pages.open(pages.token("admin"), "estimates", **given))
    for words in ("Quality", "not yet", "Effective sample size", "The mean of “Quality”"):
        assert words in said, words
