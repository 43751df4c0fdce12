"""Quotas: so many items one person judges at most; the queue stops politely, and what is left is said."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, RightLabel
from annotators.errors import InvalidInput, NotFound
from db.annotating.amendments import StudyChange, amend_study, amendments_of
from db.annotating.my_progress import my_progress
from db.annotating.status import study_status
from db.designing.making import create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.inviting.invitations import InvitationTerms, invite
from db.inviting.joining import invited
from db.studies.design import list_studies
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol


def amend(study: StudyInUse, **change: Any) -> list[str]:
    about: dict[str, Any] = {"change": StudyChange(**change), "reason": "more is left"}
    return amend_study(study.db, study.researcher, study.study_id, **about)


def status(study: StudyInUse) -> dict[str, Any]:
    return study_status(study.db, study.researcher, study.study_id)


def test_nobody_is_given_more_than_their_quota_and_the_rest_waits_for_others(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=3, overlap=1, quota=2)
    assert study.work(0)["progress"]["of"] == 2
    assert study.label_all(0) == 2
    seen = study.work(0)
    assert (seen["finished"], seen["halted"]) == (True, None)
    assert seen["enough"] == "You have done 2 items, as many as are asked of you. What is left waits for others."
    now = status(study)
    assert (now["finished"], now["states"]["open"], now["stuck"]) == (False, 4, 0)
    assert [row["quota"] for row in now["annotators"]] == [2, 2, 2]
    assert [(row.done, row.of) for row in my_progress(database, study.annotators[0])] == [(2, 2)]
    [row] = list_studies(database, study.annotators[1], study.project_id)
    assert (row.done, row.of, row.left_for_me) == (0, 2, 2)
    assert [study.label_all(who) for who in (1, 2)] == [2, 2]
    assert status(study)["finished"]
    assert study.work(2)["enough"] is not None


def test_a_quota_by_name_is_of_that_person_alone(database: Database) -> None:
    study = StudyInUse(database, items=5, annotators=2, overlap=1)
    first = study.annotators[0].name
    assert amend(study, quotas={first: 1}) == [f"quota of {first} 1"]
    assert [study.label_all(0), study.work(1)["enough"], study.label_all(1)] == [1, None, 4]
    design = written_design(database, study.researcher, study.study_id).design
    assert (design.quota, design.quotas) == (None, {first: 1})


def test_what_nobody_can_give_any_more_as_quotas_are_reached_is_counted_and_a_raise_gives_it_out(
    database: Database,
) -> None:
    """Two items, two labels each: the first two people take both slots of one item, the third has one of the other."""
    study = StudyInUse(database, items=2, annotators=3, overlap=2, quota=2)
    a, b, _ = (actor.name for actor in study.annotators)
    amend(study, quotas={a: 1, b: 1})
    for who in (0, 1, 2):
        study.label_all(who)
    now = status(study)
    assert (now["finished"], now["states"]["open"], now["stuck"]) == (False, 1, 1)
    assert amend(study, quotas={a: 2}) == [f"quota of {a} 2"]
    assert (status(study)["stuck"], study.label_all(0), status(study)["finished"]) == (0, 1, True)
    [*_, last] = amendments_of(database, study.researcher, study.study_id)
    assert (last.what, last.before, last.after, last.reason) == ("quota", {a: 1}, {a: 2}, "more is left")


def test_quotas_that_leave_slots_open_are_refused_with_numbers(database: Database) -> None:
    study = StudyInUse(database, items=10, annotators=3, overlap=2)
    team = tuple(actor.name for actor in study.annotators)

    def told(**changes: Any) -> list[tuple[Any, str]]:
        design = StudyDesign(name="other", annotators=team, **{"overlap": 2, **changes})
        with pytest.raises(InvalidInput) as raised:
            about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
            create_study(database, study.researcher, study.project_id, **about)
        return [(problem.path, f"{problem.problem} {problem.remedy}") for problem in raised.value.problems]

    assert told(quota=6) == [
        (
            ("quota",),
            "The quotas allow 18 annotations; 10 items need 20. Raise them to 7 for each, name more annotators, or "
            "take fewer items.",
        )
    ]
    assert told(quota=50, quotas={team[0]: 3, team[1]: 3})[0][0] == ("quota",)
    assert told(quota=0)[0][0] == ("quota",)
    assert told(quotas={"zoe": 3, team[0]: -1}) == [
        (("quotas", "zoe"), "'zoe' has a quota and is no annotator. Name them, or leave it out."),
        (("quotas", team[0]), f"A quota of -1 gives {team[0]!r} no item. Give at least 1, or leave it out."),
    ]
    gold = Gold(settled_in="study", rate=0.5)
    planned = {"gold": gold, "repeats": None, "quota": 8}
    assert "The quotas allow 12 annotations besides what is planted; 10 items need 20" in told(**planned)[0][1]
    enough = StudyDesign(name="other", annotators=team, overlap=2, quota=7)
    assert (
        plan_study(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=enough).n_slots == 20
    )


def test_an_amendment_that_leaves_slots_nobody_may_give_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=3, overlap=1, quota=2)
    a, b, _ = (actor.name for actor in study.annotators)
    with pytest.raises(InvalidInput, match=r"4 annotations are still wanted.* allow 2"):
        amend(study, remove=(a, b))
    amend(study, remove=(a, b), quota=4)
    assert study.label_all(2) == 4
    with pytest.raises(InvalidInput, match="A quota of 0"):
        amend(study, quota=0)
    with pytest.raises(NotFound, match="'zoe' is no annotator"):
        amend(study, quotas={"zoe": 3})
    with pytest.raises(InvalidInput, match="Nothing would change"):
        amend(study, quota=4)
    assert amend(study, no_quota=True) == ["quota taken away"]


def test_who_joins_later_and_who_comes_from_outside_has_the_quota_of_the_study(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=2, overlap=1, quota=3)
    joined = make_person(database)
    make_member(database, study.project_id, joined, "annotator")
    amend(study, add=(joined.name,))
    assert [row["quota"] for row in status(study)["annotators"]] == [3, 3, 3]
    for terms, quota in ((InvitationTerms(), 3), (InvitationTerms(quota=1), 1)):
        token = invite(database, study.researcher, study.study_id, terms=terms)
        assert invited(database, token, None).quota == quota


def test_gold_counts_in_a_quota_as_nothing_may_tell_it_apart(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=1, overlap=1)
    for who in (0,):
        study.label_all(who)
    design = StudyDesign(
        name="second",
        annotators=(study.annotators[0].name,),
        overlap=1,
        items=("i00001", "i00002"),
        quota=4,
        gold=Gold(labels=tuple(RightLabel(item=f"i0000{n}", criterion="right", value="yes") for n in (3, 4)), rate=0.4),
    )
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    study.study_id = create_study(database, study.researcher, study.project_id, **about).study_id
    assert study.label_all(0) <= 4
