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


def test_where_nothing_predicts_the_page_says_so_and_corrects_nothing(pages: Pages) -> None:
    study = StudyInUse(pages.db, items=30, annotators=1, overlap=1)
    for number in range(12):
        study.submit(0, study.work(0)["items"][0], {"right": "yes" if number % 3 else "no"})
    said = opened(pages, study)
    for words in (
        "no score or judge predicts it",
        "nothing saved: there are no predictions",
        "30 items, 12 labelled by",
    ):
        assert words in said, words
    for words in ("labels corrected", "predictions are poor"):
        assert words not in said, words


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


def test_designs_of_equal_cost_lead_to_the_form_of_a_study(pages: Pages) -> None:
    """Two raters of each of 20 items say what one buys; the button fills the form with one and a drawn part."""
    study = StudyInUse(pages.db, items=40, annotators=3, overlap=2, order="shuffled")
    for who in (0, 1):
        for number in range(20):
            study.submit(who, study.work(who)["items"][0], {"right": "yes" if (number + who) % 3 else "no"})
    page = pages.open(pages.token("admin"), "estimates", project=str(study.project_id), study=str(study.study_id))
    said = no_problem(page)
    for words in ("One rater or several", "The shortest interval of 40 labels", "intraclass correlation"):
        assert words in said, words
    next(field for field in page.number_input if field.label == "Wanted width of the interval").set_value(0.55).run()
    said = no_problem(page)
    assert "The fewest labels for an interval 0.55 wide: 1 rater" in said
    chosen = next(box for box in page.selectbox if box.label == "Design")
    three = next(option for option in chosen.options if option.startswith("1 rater, a drawn 10 % with 3, "))
    chosen.select(three).run()
    next(button for button in page.button if button.label == "Make this study").click().run()
    form = page.session_state["assay-form"]["study", study.project_id]
    items = int(three.removesuffix(" items").rpartition(" ")[2])
    assert (form["study-overlap-tiny"], form["study-part"], form["study-part-overlap"]) == (1, 10.0, 3)
    assert form["study-sample-size"] == items
    assert len(form["study-annotators"]) == 3
