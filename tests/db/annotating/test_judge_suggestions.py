"""A judge that suggests: its labels before or after people's own, as they were when the study was made; anchoring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import default_prompt
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import StepSubmission, submit, work
from db.designing.making import StudyMade, create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import Sample, run_judge
from db.studies.design import study_facts
from exports.importing.items import import_paths
from exports.results.base import Figure
from exports.results.document import Results
from tests.judging.answering import AnsweringServer, Habits
from tests.makers import (
    StudyInUse,
    first_administrator,
    make_item,
    make_member,
    make_person,
    make_project,
    tiny_protocol,
)

NAME = "tiny-judge plain@1"


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with AnsweringServer(Habits(error=0.5), seed=3) as opened:
        yield opened


class Suggested:
    """Four items that a judge has judged in a study of its own, and a study of people without suggestions."""

    def __init__(self, db: Database, server: AnsweringServer, *, judged: int | None = None) -> None:
        self.people = StudyInUse(db, items=4, annotators=2, overlap=2)
        self.db, self.actor, self.project = db, self.people.researcher, self.people.project_id
        alone = study_for_judges(db, self.actor, self.project, protocol=tiny_protocol())
        judge = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
        assert run_judge(db, self.actor, alone, judge=judge, sample=Sample(judged))["judge"] == NAME

    def design(self, when: str | None, **more: Any) -> StudyDesign:
        names = tuple(actor.name for actor in self.people.annotators)
        given = {"annotators": names, "overlap": 2, "order": "given", "suggested_by": NAME, **more}
        return StudyDesign(name=f"shown {when}", suggestions=when, **given)

    def study(self, when: str, **more: Any) -> StudyMade:
        made = create_study(
            self.db, self.actor, self.project, protocol=tiny_protocol(), design=self.design(when, **more)
        )
        self.people.study_id = made.study_id
        return made

    def item(self, who: int = 0) -> dict[str, Any]:
        return dict(self.people.work(who)["items"][0])

    def figures(self, study: int) -> dict[str, Figure]:
        made = Results.of_study(self.db, self.actor, study)
        return {figure.name: figure for figure in made.figures if figure.by is None and figure.name != "share"}


def test_what_a_judge_said_is_suggested_before_and_nothing_of_it_is_given(
    database: Database, server: AnsweringServer
) -> None:
    place = Suggested(database, server)
    made = place.study("before")
    item = place.item()
    [suggested] = item["suggestions"]
    assert (suggested["criterion"], suggested["target"], suggested["source"]) == ("right", "item", "judge")
    assert suggested["value"] in ("yes", "no")
    assert item["previous"] == []
    assert NAME not in json.dumps(work(database, place.people.annotators[0], made.study_id)["items"])
    settings = study_facts(database, place.actor, made.study_id).settings
    assert settings["suggested_judge"]["name"] == NAME
    assert written_design(database, place.actor, made.study_id).design.suggested_by == NAME


def test_after_ones_own_label_it_comes_and_what_it_changes_is_measured(
    database: Database, server: AnsweringServer
) -> None:
    place = Suggested(database, server)
    study = place.study("after").study_id
    said = []
    for _ in range(4):
        item = place.item()
        assert "suggest" not in json.dumps(item)
        again = place.people.submit(0, item, {"right": "yes"}).item
        assert again is not None
        [suggested] = again["suggestions"]
        said.append(suggested["value"])
        place.people.submit(0, again, {"right": suggested["value"]})
    n_no = said.count("no")
    assert 0 < n_no < 4
    found = place.figures(study)
    assert found["changed_after_suggestion"].value == pytest.approx(n_no / 4)
    assert found["suggestion_followed"].value == 1
    assert found["suggestion_anchoring"].value == pytest.approx(n_no / 4)
    assert found["suggestion_anchoring"].low is not None
    assert found["suggestion_anchoring"].low <= n_no / 4 <= (found["suggestion_anchoring"].high or 0)


def test_anchoring_is_held_against_people_who_did_not_see_it(database: Database, server: AnsweringServer) -> None:
    place = Suggested(database, server)
    without, study = place.people.study_id, place.study("before").study_id
    said = {}
    for _ in range(4):
        item = place.item()
        said[item["question"]] = item["suggestions"][0]["value"]
        place.people.submit(0, item, {"right": said[item["question"]]})
    alone = place.figures(study)
    assert alone["agreed_unseen"].reason == alone["suggestion_anchoring"].reason
    assert "without seeing" in (alone["suggestion_anchoring"].reason or "")
    place.people.study_id = without
    for _ in range(2):
        item = place.item()
        assert "suggestions" not in item
        other = "no" if said[item["question"]] == "yes" else "yes"
        place.people.submit(0, item, {"right": other})
    found = place.figures(study)
    assert (found["agreed_unseen"].value, found["agreed_unseen"].n) == (0, 2)
    assert (found["suggestion_followed"].value, found["suggestion_followed"].n) == (1, 4)
    assert (found["suggestion_anchoring"].value, found["suggestion_anchoring"].n) == (1, 2)


def test_it_is_frozen_and_what_has_no_suggestion_is_counted(sqlite_database: Database, server: AnsweringServer) -> None:
    place = Suggested(sqlite_database, server, judged=3)
    design = place.design("before")
    planned = plan_study(sqlite_database, place.actor, place.project, protocol=tiny_protocol(), design=design)
    assert "1 item has nothing that is suggested" in " ".join(planned.notes)
    study = place.study("before").study_id
    judge = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
    run_judge(sqlite_database, place.actor, study, judge=judge)
    shown = [len(place.people.work(0)["items"])]
    suggested = 0
    for _ in range(4):
        item = place.item()
        suggested += len(item.get("suggestions", []))
        place.people.submit(0, item, {"right": "yes"})
    assert (shown, suggested) == ([4], 3)


# Pairs ----------------------------------------------------------------------------------------------------------------

PREFERENCE = PROTOCOLS.get("pairwise_preference")
CRITERIA = ("correctness", "completeness", "overall")


class SuggestedOfPairs(Suggested):
    """Six pairs of answers, one of which is better, that a judge who is always right has judged as harbour ⇄ quay."""

    def __init__(self, db: Database, folder: Path, server: AnsweringServer) -> None:
        rows = [
            {"id": f"q{number}:{system}", "question_key": f"q{number}", "question": f"Question {number}?",
             "system": system,
             "answer": f"What one says of {number}. quality={2 if (number % 2 == 0) == (system == 'harbour') else 0}"}
            for number in range(6) for system in ("harbour", "quay")
        ]  # fmt: skip
        path = folder / "pairs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.db, self.actor, self.project = db, first_administrator(db), make_project(db)
        assert import_paths(db, self.actor, self.project, paths=[path]).rejected == []
        self.ada = make_person(db)
        make_member(db, self.project, self.ada, "annotator")
        alone = study_for_judges(db, self.actor, self.project, protocol=PREFERENCE)
        judge = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
        assert run_judge(db, self.actor, alone, judge=judge)["items"] == 6

    def made(self, when: str, *pairs: str, **more: Any) -> int:
        """The study of these systems' pairs, by one annotator."""
        given = {"annotators": (self.ada.name,), "overlap": 1, "order": "given", "pairs": pairs, "seed": 8, **more}
        given |= {} if when == "never" else {"suggestions": when, "suggested_by": NAME}
        design = StudyDesign(name=f"pairs {when}", **given)
        return create_study(self.db, self.actor, self.project, protocol=PREFERENCE, design=design).study_id

    def open_items(self, study: int) -> Iterator[dict[str, Any]]:
        """Each item that ada has to do, one after the other, as long as there is one."""
        while items := work(self.db, self.ada, study)["items"]:
            yield items[0]

    def label(self, study: int, item: dict[str, Any], value: int) -> dict[str, Any] | None:
        """Say the same of all criteria; what comes back of the item."""
        labels = tuple(GivenLabel(criterion, "pair", value) for criterion in CRITERIA)
        step = StepSubmission(uuid4().hex, item["assignment"], item["sitting"], item["step"], labels, seconds=2.0)
        return submit(self.db, self.ada, study, step=step).item


def better_side(item: dict[str, Any]) -> int:
    """-1 where the better answer stands left, else 1."""
    return -1 if "quality=2" in item["answers"][0]["answer"] else 1


@pytest.fixture
def right() -> Iterator[AnsweringServer]:
    with AnsweringServer(seed=1) as opened:
        yield opened


@pytest.mark.parametrize("pairs", [("harbour", "quay"), ("quay", "harbour")])
def test_a_preference_is_suggested_for_the_answer_that_the_judge_preferred_whichever_stands_left_or_comes_first(
    database: Database, tmp_path: Path, right: AnsweringServer, pairs: tuple[str, str]
) -> None:
    place = SuggestedOfPairs(database, tmp_path, right)
    study, sides = place.made("before", *pairs), []
    for item in place.open_items(study):
        side = better_side(item)
        suggested = {one["criterion"]: int(one["value"]) for one in item["suggestions"]}
        assert set(suggested) == set(CRITERIA)
        assert all(value * side > 0 for value in suggested.values())
        assert {(one["target"], one["source"]) for one in item["suggestions"]} == {("pair", "judge")}
        sides.append(side)
        place.label(study, item, 2 * side)
    assert {-1, 1} == set(sides)


def test_a_preference_comes_after_ones_own_and_both_are_counted(
    sqlite_database: Database, tmp_path: Path, right: AnsweringServer
) -> None:
    place = SuggestedOfPairs(sqlite_database, tmp_path, right)
    study, changed, n = place.made("after", "quay", "harbour"), 0, 0
    for item in place.open_items(study):
        assert "suggest" not in json.dumps(item)
        again = place.label(study, item, -2)
        assert again is not None
        suggested = {one["criterion"]: int(one["value"]) for one in again["suggestions"]}
        value = suggested["overall"]
        assert value * better_side(again) > 0
        assert better_side(again) == better_side(item)
        changed, n = changed + (value != -2), n + 1
        place.label(study, again, value)
    figures = {
        one.name: one
        for one in Results.of_study(sqlite_database, place.actor, study).figures
        if one.by is None and one.criterion == "overall"
    }
    assert figures["changed_after_suggestion"].value == pytest.approx(changed / n)
    assert (figures["suggestion_followed"].value, figures["suggestion_followed"].n) == (1, 6)
    assert figures["suggestion_anchoring"].value == pytest.approx(changed / n)


def test_anchoring_of_preferences_is_held_against_the_same_pairs_the_other_way_round(
    sqlite_database: Database, tmp_path: Path, right: AnsweringServer
) -> None:
    place = SuggestedOfPairs(sqlite_database, tmp_path, right)
    study, without = place.made("before", "quay", "harbour"), place.made("never", "harbour", "quay")
    for item in place.open_items(study):
        [said] = {int(one["value"]) for one in item["suggestions"] if one["criterion"] == "overall"}
        place.label(study, item, said)
    for number, item in enumerate(place.open_items(without)):
        assert "suggestions" not in item
        place.label(without, item, 2 * better_side(item) * (-1 if number < 2 else 1))
    figures = {
        one.name: one
        for one in Results.of_study(sqlite_database, place.actor, study).figures
        if one.by is None and one.criterion == "overall"
    }
    assert (figures["agreed_unseen"].value, figures["agreed_unseen"].n) == (pytest.approx(4 / 6), 6)
    assert figures["suggestion_anchoring"].value == pytest.approx(2 / 6)


def test_pairs_that_the_judge_has_not_judged_are_counted_and_nothing_but_a_judge_proposes_preferences(
    sqlite_database: Database, tmp_path: Path, right: AnsweringServer
) -> None:
    place = SuggestedOfPairs(sqlite_database, tmp_path, right)
    more = tmp_path / "more.jsonl"
    rows = [{"id": f"q9:{of}", "question_key": "q9", "question": "?", "system": of, "answer": "No."}
            for of in ("harbour", "quay")]  # fmt: skip
    more.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_paths(place.db, place.actor, place.project, paths=[more])
    design = StudyDesign(
        name="told", annotators=(place.ada.name,), overlap=1, pairs=("harbour", "quay"), suggestions="after"
    )
    with pytest.raises(InvalidInput, match="of which only a judge proposes labels"):
        plan_study(place.db, place.actor, place.project, protocol=PREFERENCE, design=design)
    told = design.model_copy(update={"suggested_by": NAME})
    planned = plan_study(place.db, place.actor, place.project, protocol=PREFERENCE, design=told)
    assert "1 pair has nothing that is suggested (q9:harbour ⇄ q9:quay)" in " ".join(planned.notes)


# Refused --------------------------------------------------------------------------------------------------------------


def test_a_judge_that_has_not_labelled_by_the_protocol_is_refused(
    sqlite_database: Database, server: AnsweringServer
) -> None:
    place = Suggested(sqlite_database, server)
    make_item(sqlite_database, place.project, "more")

    def made(protocol: Any, design: StudyDesign) -> None:
        plan_study(sqlite_database, place.actor, place.project, protocol=protocol, design=design)

    with pytest.raises(NotFound, match="Judges that have: 'tiny-judge plain@1'"):
        made(tiny_protocol(), place.design("before", suggested_by="nobody"))
    with pytest.raises(NotFound, match="none yet: run one first"):
        made(PROTOCOLS.get("ambiguity"), place.design("after"))
    with pytest.raises(InvalidInput, match="before or after the label"):
        made(tiny_protocol(), place.design(None))
