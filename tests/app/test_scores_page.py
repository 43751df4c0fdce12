"""The pages Scores and Jobs: what is run, compared and looked behind; the review of abstention examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotators.items.parsed import ForeignLabel
from annotators.scorers.shared.abstaining.training_sets import starting_set
from app.worker.jobs import work
from db.elsewhere.labels import import_labels
from db.jobs import list_jobs, queue_job
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from db.scores.write import plan_scoring, run_scorer
from db.studies.design import list_studies
from exports.importing.items import import_paths
from tests.abstention_study import DECLINES, Labelled
from tests.app.filled import no_problem, press
from tests.app.pages import Pages, words
from tests.bulk import make_items

pytestmark = pytest.mark.slow


class ScoredPages:
    """A project with 60 items of two systems and three categories, and a researcher and a viewer."""

    def __init__(self, pages: Pages) -> None:
        self.pages, self.db, self.admin = pages, pages.db, pages.admin
        self.project_id = create_project(pages.db, pages.admin, "harbour")
        make_items(pages.db, self.project_id, 60)
        for name, role in (("rosa", Role.RESEARCHER), ("vera", Role.VIEWER)):
            pages.person(name)
            set_member(pages.db, pages.admin, self.project_id, name=name, role=role)

    def open(self, name: str = "scores", who: str = "rosa", **parameters: Any) -> AppTest:
        given = {"project": str(self.project_id), **{key: str(value) for key, value in parameters.items()}}
        return self.pages.open(self.pages.token(who), name, **given)

    def score(self, **parameters: Any) -> None:
        run_scorer(self.db, self.admin, self.project_id, scorer="phrase_recall", parameters=parameters or None)

    def jobs(self) -> list[Any]:
        return list_jobs(self.db, self.admin, self.project_id)


@pytest.fixture
def scored(pages: Pages) -> ScoredPages:
    return ScoredPages(pages)


# Running --------------------------------------------------------------------------------------------------------------


def test_running_a_scorer_queues_a_job_that_a_worker_does(scored: ScoredPages) -> None:
    page = scored.open()
    assert "no scores yet" in no_problem(page)
    page.selectbox(key="scores-scorer").select("phrase_recall").run()
    page = press(page, "Run")
    said = no_problem(page)
    assert "Scoring: phrase_recall (mode=fathoms_code)" in said
    assert "Waiting for a worker" in said
    [job] = scored.jobs()
    assert (job.state, job.kind, job.who) == ("waiting", "score", "rosa")
    assert work(scored.db, "one") == 1
    assert "by system and category" in no_problem(scored.open())


def test_a_scorer_takes_the_labels_of_a_study_that_is_chosen(scored: ScoredPages, tmp_path: Path) -> None:
    """One claim of one answer is labelled: that item has a score, the others say that nobody labelled them."""
    triplets = [{"triplet": ["pier", "is", "red"], "human_label": "Entailment"}]
    source = tmp_path / "port_a_answers.json"
    source.write_text(json.dumps([{"id": "7", "response": "It is red.", "model9_response_kg": triplets}]))
    page = scored.open()
    page.selectbox(key="scores-scorer").select("claim_metrics").run()
    assert "no study of the project asks for that yet" in no_problem(page)
    import_paths(scored.db, scored.admin, scored.project_id, paths=[source], labels_into="people")
    page = scored.open()
    page.selectbox(key="scores-scorer").select("claim_metrics").run()
    [labels_of] = [field for field in page.multiselect if field.label == "Labels of"]
    assert labels_of.options == ["people"]
    labels_of.select("people").run()
    whose = [field for field in page.selectbox if field.label.startswith("Whose, for ")]
    assert [field.label for field in whose] == [
        "Whose, for L: what a claim is", "Whose, for s: which unit of evidence supports it",
    ]  # fmt: skip
    assert whose[0].options[1:] == ["Final labels (settled)", "People’s votes so far (people)"]
    page = press(page, "Run")
    assert "labels_of=people, labels_state=" in no_problem(page)
    assert work(scored.db, "one") == 1
    [job] = scored.jobs()
    assert (job.result["n_scored"], job.result["n_unscored"]) == (1, 60)
    assert "nobody has labelled it in people" in no_problem(scored.open(show="Distributions"))
    assert "up to date" in no_problem(scored.open())
    [study] = list_studies(scored.db, scored.admin, scored.project_id)
    label = ForeignLabel(2, "port/7:a", "ben", "claim_label", "claim:c1|context", "entailment")
    import_labels(scored.db, scored.admin, study.study_id, rows=[label], source="more.csv")
    assert "newest run, labels changed since" in no_problem(scored.open())


def test_pressing_run_twice_queues_one_job(scored: ScoredPages) -> None:
    page = scored.open()
    page.selectbox(key="scores-scorer").select("phrase_recall").run()
    press(press(page, "Run"), "Run")
    assert len(scored.jobs()) == 1


def test_when_every_item_has_its_score_nothing_is_queued(scored: ScoredPages) -> None:
    scored.score()
    page = scored.open()
    page.selectbox(key="scores-scorer").select("phrase_recall").run()
    assert "every item has its score already" in no_problem(press(page, "Run")).replace("\\", "")
    assert scored.jobs() == []


def test_a_viewer_sees_scores_and_runs_nothing(scored: ScoredPages) -> None:
    scored.score()
    page = scored.open(who="vera")
    assert "by system and category" in no_problem(page)
    assert "Run" not in [button.label for button in page.button]


# Looking --------------------------------------------------------------------------------------------------------------


def test_the_table_has_a_row_a_system_and_every_cell_leads_to_its_items(scored: ScoredPages) -> None:
    scored.score()
    said = no_problem(scored.open())
    # Three of four answers have their word: alpha has the even numbers, of which those divisible by four lack it.
    assert "<td class=n>30</td>" in said
    assert "0.500 [" in said
    assert "system=alpha&amp;category=Tables" in said
    items = no_problem(
        scored.open(show="Items", of="phrase_recall (mode=fathoms_code)", system="alpha", category="Text")
    )
    assert "i0000000" in items
    assert "i0000006" in items
    assert "i0000001" not in items
    assert "missing: copper" in items


def test_the_gap_that_distractors_make_is_shown_with_its_interval_or_why_there_is_none(
    scored: ScoredPages, tmp_path: Path
) -> None:
    rows = [
        {
            "id": f"{number}:{system}:{mode}", "question_key": f"q{number}", "question": f"What of {number}?",
            "answer": "copper" if mode == "gold_only" or number % 2 else "lead", "references": ["copper"],
            "system": system, "metadata": {"retrieval_mode": mode},
        }
        for number in range(8)
        for system, modes in (("gamma", ("gold_only", "gold_and_distractors")), ("delta", ("gold_only",)))
        for mode in modes
    ]  # fmt: skip
    source = tmp_path / "modes.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_paths(scored.db, scored.admin, scored.project_id, paths=[source])
    run_scorer(scored.db, scored.admin, scored.project_id, scorer="retrieval_mode")
    said = no_problem(scored.open())
    assert "Distractor susceptibility by system" in said
    assert "0.500 [" in said  # gamma is right on all eight, and with distractors on four
    assert "not defined: no question has a score in both conditions" in said  # delta
    assert "paired by question" in said


def test_radar_distribution_and_two_scorers_are_drawn(scored: ScoredPages) -> None:
    scored.score()
    scored.score(mode="word_boundary")
    for show, says in (
        ("Radar", "a line for each system"),
        ("Distributions", "how many items have which score"),
        ("Two scorers", "Mean difference"),
    ):
        page = scored.open(show=show)
        assert says in no_problem(page), show
        assert len(page.get("vega_lite_chart")) == 1, show
    same = no_problem(page)
    assert "0.000 [0.000, 0.000]" in same
    assert "1.000" in same


def test_one_value_alone_says_that_another_is_needed(scored: ScoredPages) -> None:
    scored.score()
    assert "There is one value only" in no_problem(scored.open(show="Two scorers"))


# Jobs -----------------------------------------------------------------------------------------------------------------


def test_jobs_are_cancelled_and_resumed_from_their_page(scored: ScoredPages) -> None:
    assert "There has been no long work yet" in no_problem(scored.open("jobs"))
    complete, _ = plan_scoring(scored.db, scored.admin, scored.project_id, scorer="phrase_recall")
    given = {"scorer": "phrase_recall", "parameters": complete}
    queue_job(scored.db, scored.admin, scored.project_id, kind="score", parameters=given)
    press(scored.open("jobs"), "Cancel it")
    assert scored.jobs()[0].state == "cancelled"
    page = scored.open("jobs")
    assert "It was cancelled." in no_problem(page)
    press(page, "Resume")
    assert scored.jobs()[0].state == "waiting"
    work(scored.db, "one")
    assert "60 of 60" in no_problem(scored.open("jobs"))


def test_a_job_that_failed_says_why(scored: ScoredPages) -> None:
    queue_job(scored.db, scored.admin, scored.project_id, kind="fortune", parameters={})
    work(scored.db, "one")
    said = no_problem(scored.open("jobs"))
    assert "does not know jobs of kind" in said
    assert "Resume" in [button.label for button in scored.open("jobs").button]


# Abstention examples --------------------------------------------------------------------------------------------------


def test_without_labels_the_examples_that_ship_are_shown(scored: ScoredPages) -> None:
    scored.score()
    said = no_problem(scored.open(show="Abstention examples"))
    assert "shipped" in said
    assert f"{starting_set().count('abstention'):,}" in said
    assert "No label waits" in said


def test_what_people_labelled_is_compared_shown_and_accepted(pages: Pages) -> None:
    labelled = Labelled(pages.db)
    run_scorer(pages.db, pages.admin, labelled.project_id, scorer="phrase_recall")
    token = pages.token("admin")

    def opened() -> AppTest:
        return pages.open(token, "scores", project=str(labelled.project_id), show="Abstention examples")

    page = press(opened(), "Compare with 2 new examples")
    assert "Review of a training set: 2 new examples" in no_problem(page)
    assert work(pages.db, "one") == 1
    page = opened()
    said = no_problem(page)
    for part in ("Present", "Proposed", "statement → abstention", "other hallucination flag", DECLINES):
        assert part in said
    page.text_input(key=f"training-reason-{labelled.last_job()}").input("two clear cases")
    said = no_problem(press(page, "Accept"))
    assert "Version 1 is accepted" in said.replace("\\", "")
    assert "two clear cases" in said
    assert "No label waits" in said


def test_words_of_the_page_are_escaped(scored: ScoredPages) -> None:
    scored.score()
    assert "<script>" not in words(scored.open(show="Items", of="<script>alert(1)</script>"))
