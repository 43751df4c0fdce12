"""A judge that suggests: its labels before or after people's own, as they were when the study was made; anchoring."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import default_prompt
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import work
from db.designing.making import StudyMade, create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import Sample, run_judge
from db.studies.design import study_facts
from exports.results.base import Figure
from exports.results.document import Results
from tests.judging.answering import AnsweringServer, Habits
from tests.makers import StudyInUse, make_item, tiny_protocol

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
