"""Arms: sibling studies over one sample, people or items dealt out evenly by the seed, made together or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.designing.arms import Arm
from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.status import study_status
from db.designing.arms import arms_of
from db.designing.drafts import save_draft, start_draft
from db.designing.making import create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.models import Study
from db.studies.design import StudyMade, study_facts
from db.studies.items import items_of_study
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol

TWO = (Arm(name="a"), Arm(name="b", overlap=1, order="shuffled"))


class InArms:
    """A project with ten items and five people, and the arms of a study that is made in it."""

    def __init__(self, database: Database, **changes: Any) -> None:
        self.study = StudyInUse(database, items=10, annotators=5, overlap=1)
        self.db, self.researcher, self.project_id = database, self.study.researcher, self.study.project_id
        self.names = tuple(actor.name for actor in self.study.annotators)
        self.design = StudyDesign(name="tone", annotators=self.names, **{"overlap": 2, "arms": TWO, **changes})

    def make(self) -> StudyMade:
        about: dict[str, Any] = {"protocol": tiny_protocol(), "design": self.design}
        return create_study(self.db, self.researcher, self.project_id, **about)

    def team(self, study_id: int | None) -> set[str]:
        return {row["annotator"] for row in study_status(self.db, self.researcher, study_id or 0)["annotators"]}

    def items(self, study_id: int | None) -> list[str]:
        with self.db.read() as session:
            return sorted(items_of_study(session, study_id or 0))

    def told(self) -> list[tuple[Any, str]]:
        with pytest.raises((InvalidInput, Conflict)) as raised:
            self.make()
        with self.db.read() as session:
            assert session.exec(select(Study.name)).all() == ["study"], "nothing is made"
        return [(problem.path, problem.problem) for problem in raised.value.problems]


def test_people_are_dealt_out_evenly_and_every_arm_has_the_whole_sample(database: Database) -> None:
    there = InArms(database)
    made = there.make()
    teams = [there.team(arm.study_id) for arm in made.arms]
    assert sorted(map(len, teams)) == [2, 3]
    assert not teams[0] & teams[1]
    assert teams[0] | teams[1] == set(there.names)
    first, second = (there.items(arm.study_id) for arm in made.arms)
    assert set(first) == set(second)
    assert len(first) == 10
    facts = [study_facts(database, there.researcher, arm.study_id or 0) for arm in made.arms]
    assert [(row.name, row.overlap) for row in facts] == [("tone / a", 2), ("tone / b", 1)]
    assert (made.n_items, made.n_slots, [arm.n_slots for arm in made.arms]) == (10, 30, [20, 10])
    listed = arms_of(database, there.researcher, made.arms[1].study_id or 0)
    assert [(arm.arm, arm.study, arm.allot) for arm in listed] == [
        ("a", "tone / a", "people"),
        ("b", "tone / b", "people"),
    ]
    assert arms_of(database, there.researcher, there.study.study_id) == []


def test_items_are_dealt_out_evenly_within_systems_and_everybody_is_in_each_arm(database: Database) -> None:
    there = InArms(database, allot="items")
    made = there.make()
    parts = [set(there.items(arm.study_id)) for arm in made.arms]
    assert not parts[0] & parts[1]
    assert len(parts[0]) == len(parts[1]) == 5
    odd = [sum(int(name[1:]) % 2 for name in part) for part in parts]
    assert sorted(odd) == [2, 3], "ten items of two systems, five of each"
    assert all(there.team(arm.study_id) == set(there.names) for arm in made.arms)
    again = written_design(database, there.researcher, made.arms[0].study_id or 0).design
    assert set(again.items) == parts[0]


def test_the_seed_deals_and_a_plan_says_what_will_be(database: Database) -> None:
    there = InArms(database, seed=3)
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": there.design}
    planned = plan_study(database, there.researcher, there.project_id, **about)
    assert [(arm.name, arm.n_items, arm.n_slots, arm.study_id) for arm in planned.arms] == [
        ("a", 10, 20, None),
        ("b", 10, 10, None),
    ]
    made = there.make()
    teams = [there.team(arm.study_id) for arm in made.arms]
    there.design = there.design.model_copy(update={"name": "again"})
    assert [there.team(arm.study_id) for arm in there.make().arms] == teams


def test_who_was_dealt_to_one_arm_may_not_join_another(database: Database) -> None:
    there = InArms(database)
    first, second = (arm.study_id or 0 for arm in there.make().arms)
    somebody = sorted(there.team(first))[0]
    about: dict[str, Any] = {"change": StudyChange(add=(somebody,)), "reason": "one more"}
    with pytest.raises(InvalidInput, match=r"is of another arm \(tone / a\)"):
        amend_study(database, there.researcher, second, **about)
    fresh = make_person(database)
    make_member(database, there.project_id, fresh, "annotator")
    about = {"change": StudyChange(add=(fresh.name,)), "reason": "one more"}
    assert amend_study(database, there.researcher, second, **about) == [f"{fresh.name} joined"]


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"overlap": 3}, ("arms", 0), "5 people in 2 arms leave 2 in one"),
        ({"arms": (Arm(name="a"),)}, ("arms",), "One arm has nothing to be compared with"),
        ({"arms": (Arm(name="a"), Arm(name="a"))}, ("arms", 1, "name"), "Two arms are called 'a'"),
        ({"arms": (Arm(name="a"), Arm(name="b", order="odd"))}, ("arms", 1, "order"), "'odd' is not an order"),
        ({"arms": (Arm(name="a"), Arm(name="b", protocol="none"))}, ("arms", 1, "protocol"), "none"),
        ({"allot": "rooms"}, ("allot",), "'rooms' cannot be dealt out"),
        ({"outside": 2}, ("outside",), "`outside` does not go with arms"),
        ({"allot": "items", "pairs": ("s0", "s1")}, ("pairs",), "`pairs` does not go with arms"),
    ],
)
def test_arms_that_cannot_be_are_told_by_their_place(
    database: Database, changes: dict[str, Any], path: tuple[Any, ...], words: str
) -> None:
    told = dict(InArms(database, **changes).told()) if "protocol" not in path else None
    if told is None:
        there = InArms(database, **changes)
        with pytest.raises(Exception, match=words) as raised:
            there.make()
        assert [problem.path for problem in raised.value.problems] == [path]  # type: ignore[attr-defined]
        return
    assert path in told, told
    assert words in told[path]


def test_an_arm_whose_name_is_taken_makes_none(database: Database) -> None:
    there = InArms(database)
    there.make()
    with pytest.raises(InvalidInput, match="has a study named 'tone / a' already"):
        there.make()


def test_a_draft_with_arms_starts_all_of_them(database: Database) -> None:
    there = InArms(database)
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": there.design}
    assert len(save_draft(database, there.researcher, there.project_id, **about).arms) == 2
    made = start_draft(database, there.researcher, there.project_id, name="tone")
    assert [arm.name for arm in made.arms] == ["a", "b"]
    assert len(there.items(made.arms[1].study_id)) == 10
