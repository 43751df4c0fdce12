"""Why a label is what it is: every step to it, whose it was, what they had before them, and what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.text import Text
from annotators.errors import InvalidInput, NotAllowed, NotFound
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.annotations import reopen
from db.annotating.assignments import return_to_annotator, skip
from db.batches import withdraw_batch
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Event, Membership, StudyItem
from db.people.accounts import erase_person
from db.permissions import Actor
from db.studies.revisions import revise_item
from db.studies.settlements import stream_settled
from db.studies.why import Act, Explanation, explain_label
from tests.annotators.criteria.test_derived import OF_HOP, OF_ITEM, VERDICT, of_pages, out_of_ten
from tests.db.annotating.test_submit_cost import heard
from tests.db.studies.test_derived import Pages
from tests.db.studies.test_pairs import Pairs
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol

LABELS = [Label(value="yes"), Label(value="no")]


def why(study: StudyInUse, criterion: str = "right", *, item: str = "i00001", **more: Any) -> Explanation:
    return explain_label(
        study.db, more.pop("actor", study.researcher), study.study_id, item=item, criterion=criterion, **more
    )


def did(found: Explanation) -> list[str]:
    return [act.did for act in found.steps]


def acts(found: Explanation, what: str) -> list[Act]:
    return [act for act in found.steps if act.did == what]


def voted(db: Database, *votes: str, **design: Any) -> StudyInUse:
    """A study of one item to which the annotators give these votes."""
    study = StudyInUse(db, items=1, annotators=len(votes), overlap=len(votes), **design)
    for who, vote in enumerate(votes):
        study.submit(who, study.work(who)["items"][0], {"right": vote})
    return study


def first_place(study: StudyInUse) -> int:
    with study.db.read() as session:
        found = session.exec(select(StudyItem.id).order_by(StudyItem.id)).first()  # type: ignore[arg-type]
    assert found is not None
    return found


def kinds(study: StudyInUse, found: Explanation) -> list[str | None]:
    """The kinds of the events that the steps name, None for those that name none."""
    with study.db.read() as session:
        return [session.get_one(Event, act.event).kind if act.event else None for act in found.steps]


def test_a_label_says_who_gave_it_having_seen_what_and_by_which_votes_it_was_settled(database: Database) -> None:
    study = voted(database, "yes", "yes", "no", rule="majority")
    found = why(study)
    assert (found.label, found.how, found.votes, found.n, found.rule) == (
        "yes",
        "majority",
        {"yes": 2, "no": 1},
        3,
        "majority",
    )
    assert did(found) == ["items imported", "study created", "labelled", "labelled", "labelled"]
    assert kinds(study, found) == [None, "study created", None, None, None]
    given = acts(found, "labelled")
    assert [(act.who, act.label, act.stands) for act in given] == [
        (actor.name, vote, "counts") for actor, vote in zip(study.annotators, ("yes", "yes", "no"), strict=True)
    ]
    assert {act.saw for act in given} == {("answer", "question")}
    assert [act.at for act in found.steps] == sorted(act.at for act in found.steps)
    stored = found.to_json()
    assert list(stored)[:3] == ["label", "how", "steps"]
    assert {"at", "who", "did", "saw", "event"} <= set(stored["steps"][0])


def test_what_was_returned_corrected_and_decided_twice_says_what_superseded_what(database: Database) -> None:
    study = voted(database, "yes", "no")
    mine = reopen(database, study.annotators[1], study.study_id)
    return_to_annotator(database, study.researcher, mine["assignment"], reason="read it again")
    study.submit(1, study.work(1)["items"][0], {"right": "no"}, comment="still")
    place = first_place(study)
    for uid, value, reason in (("a", "yes", "the page says so"), ("b", "no", "it does not")):
        decision = UnitDecision("right", "item", value, reason)
        adjudicate(database, study.researcher, place, uid=uid, decisions=[decision], again=uid == "b")
    found = why(study)
    assert (found.label, found.how) == ("no", "adjudicated")
    assert did(found)[2:] == [
        "labelled",
        "labelled",
        "item returned",
        "labelled",
        "item adjudicated",
        "item adjudicated",
    ]
    assert kinds(study, found)[4:] == ["item returned", None, "item adjudicated", "item adjudicated"]
    _, first, second = acts(found, "labelled")
    assert (first.stands, second.stands) == ("superseded", "counts")
    assert first.superseded_at is not None
    assert first.superseded_at >= second.at  # when the correction was completed
    [back] = acts(found, "item returned")
    assert (back.who, back.reason) == (study.researcher.name, "read it again")
    before, after = acts(found, "item adjudicated")
    assert (before.stands, before.superseded_at, before.reason) == ("superseded", after.at, "the page says so")
    assert (after.stands, after.label, after.who, after.overrules) == ("counts", "no", study.researcher.name, False)


def test_surplus_skipped_and_uncompleted_work_is_told_and_does_not_count(database: Database) -> None:
    steps = [
        Step(name="one", title="One", shows=[Material.QUESTION], criteria=["right"]),
        Step(name="two", title="Two", shows=[Material.ANSWER], criteria=["clear"]),
    ]
    criteria = [Choice(name=name, title=name, labels=LABELS) for name in ("right", "clear")]
    protocol = tiny_protocol(criteria=criteria, steps=steps)
    study = StudyInUse(database, items=1, annotators=3, overlap=2, protocol=protocol)
    skipped = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=skipped["assignment"], reason="not my field")
    for who, values in ((1, {"right": "yes"}), (2, {"right": "no"}), (2, {"clear": "no"})):
        study.submit(who, study.work(who)["items"][0], values)
    found = why(study)
    assert (found.label, found.how, found.n_annotations, found.overlap) == (None, "open", 1, 2)
    assert [(act.label, act.stands, act.saw) for act in acts(found, "labelled")] == [
        ("yes", "incomplete", ("question",)), ("no", "counts", ("question",)),
    ]  # fmt: skip
    [left] = acts(found, "item skipped")
    assert (left.who, left.reason) == (study.annotators[0].name, "not my field")
    assert [act.saw for act in acts(why(study, "clear"), "labelled")] == [("answer", "question")]


def test_labels_of_an_import_fall_with_it_and_come_back_with_it(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    rows = [
        ForeignLabel(2, "i00001", "x", "right", "item", "yes"),
        ForeignLabel(3, "i00001", "y", "right", "item", "yes"),
    ]
    batch = import_labels(database, study.researcher, study.study_id, rows=rows, source="table.csv").batch
    assert (why(study).label, why(study).how) == ("yes", "unanimous")
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="wrong file")
    found = why(study)
    assert (found.label, {act.stands for act in acts(found, "labelled")}) == (None, {"withdrawn"})
    assert [act.reason for act in acts(found, "batch withdrawn")] == ["wrong file"]
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="right after all", reinstates=True)
    found = why(study)
    assert did(found)[2:] == ["labels imported", "labelled", "labelled", "batch withdrawn", "batch reinstated"]
    assert kinds(study, found)[2:] == ["labels imported", None, None, "batch withdrawn", "batch reinstated"]
    assert [(act.source, act.batch) for act in acts(found, "labels imported")] == [("table.csv", batch)]
    assert [(act.who, act.stands, act.saw) for act in acts(found, "labelled")] == [
        ("x", "counts", ()),
        ("y", "counts", ()),
    ]


def test_a_revision_between_says_whether_labels_fall_with_it(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol="qa_verification", n_evidence=1)
    study.submit(0, study.work(0)["items"][0], {"self_contained": "true", "human_like": "true"})
    values = {
        "question_factual": "factual",
        "answer_factual": "factual",
        "complete": "complete",
        "grounding": "required",
    }
    study.submit(0, study.work(0)["items"][0], values)
    fields = {"answer": "New."}
    revise_item(database, study.researcher, study.project_id, external_id="i00001", fields=fields, reason="wrong")
    for criterion, falls in (("complete", True), ("self_contained", False)):
        found = why(study, criterion)
        [revised] = acts(found, "item revised")
        assert (revised.falls, revised.version, revised.reason, revised.who) == (
            falls,
            2,
            "wrong",
            study.researcher.name,
        )
        assert kinds(study, found)[-1] == "item revised"
        assert found.version == 1


def asked_of_those_who_say_no() -> Protocol:
    dependent = Choice(name="why", title="Why", labels=LABELS, when=Condition(criterion="right", values=["no"]))
    return tiny_protocol(
        criteria=[
            Choice(name="right", title="Right", labels=LABELS),
            dependent,
            Text(name="words", title="Words", required=False),
        ],
        steps=[Step(name="all", title="All", shows=[Material.ANSWER], criteria=["right", "why", "words"])],
    )


def test_what_a_condition_left_nothing_to_ask_of_has_no_label_and_says_on_what_it_rests(database: Database) -> None:
    study = StudyInUse(
        database, items=1, annotators=3, overlap=3, protocol=asked_of_those_who_say_no(), rule="majority"
    )
    for who, values in enumerate(
        ({"right": "yes"}, {"right": "no", "why": "yes"}, {"right": "yes", "words": "because"})
    ):
        study.submit(who, study.work(who)["items"][0], values)
    found = why(study, "why")
    assert (found.label, found.how) == (None, "not asked")
    assert [(rest.criterion, rest.label, rest.how) for rest in found.rests_on] == [("right", "yes", "majority")]
    assert [act.did for act in found.steps[2:]] == ["gave no label", "labelled", "gave no label"]
    assert why(study, "words").how == "not compared"
    assert [act.label for act in acts(why(study, "words"), "labelled")] == ["because"]


@pytest.fixture
def pages(database: Database) -> Pages:
    return Pages(database, of_pages(OF_ITEM, OF_HOP), out_of_ten(VERDICT))


def test_every_label_of_an_export_is_explained_as_it_was_settled(pages: Pages) -> None:
    with pages.db.read() as session:
        units = list(stream_settled(session, pages.study))
    assert {unit.criterion for unit in units} == {"page", "pages", "hop_pages", "grade", "verdict"}
    for unit in units:
        about = {"item": unit.external_id, "criterion": unit.criterion, "target": unit.target}
        found = explain_label(pages.db, pages.researcher, pages.study, **about)
        assert (found.label, found.how, found.votes, found.n) == (unit.value, unit.state, unit.votes, unit.n)
        assert sum(act.did == "labelled" for act in found.steps) == unit.n


def test_a_derived_label_says_from_which_it_follows(pages: Pages) -> None:
    found = explain_label(pages.db, pages.researcher, pages.study, item="i1", criterion="hop_pages", target="hop:h2")
    assert (found.derived, found.label) == ("set", ["page:d:2", "page:d:3"])
    assert [(rest.target, rest.label) for rest in found.rests_on] == [
        ("page:d:1|hop:h2", "not_evidence"), ("page:d:2|hop:h2", "evidence"), ("page:d:3|hop:h2", "evidence"),
    ]  # fmt: skip
    assert [act.label for act in acts(found, "labelled")] == [["page:d:2", "page:d:3"]] * 2


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"item": "nowhere"}, "no item 'nowhere'. It has: i1, i2, i3"),
        ({"criterion": "tone"}, "no criterion 'tone'. It has: page, grade, pages, hop_pages, verdict"),
        ({"criterion": "page"}, "each page of 'i1'; 'item' has no label. Those that have: page:d:1|hop:h1"),
        ({"criterion": "grade", "target": "claim:c1"}, "'claim:c1' has no label. Those that have: item"),
        ({"criterion": "hop_pages", "target": "hop:h9"}, "Those that have: hop:h1, hop:h2"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(pages: Pages, about: dict[str, str], words: str) -> None:
    with pytest.raises(NotFound) as refused:
        explain_label(pages.db, pages.researcher, pages.study, **{"item": "i1", "criterion": "grade", **about})
    assert words in str(refused.value)


def test_of_a_pair_both_are_named_in_either_order(database: Database, tmp_path: Path) -> None:
    there = Pairs(database, tmp_path)
    study = there.make("harbour", "lantern")
    for who in range(2):
        list(there.prefer(study, who, "lantern"))
    with database.read() as session:
        unit = next(
            unit
            for unit in stream_settled(session, study)
            if unit.pair and "q1:harbour" in (unit.external_id, unit.pair[0])
        )
    for item, other in (("q1:harbour", "q1:lantern"), ("q1:lantern", "q1:harbour")):
        found = explain_label(database, there.admin, study, item=item, other=other, criterion=unit.criterion)
        assert (found.label, found.how, found.target) == (unit.value, "unanimous", "pair")
        assert {act.item for act in found.steps if act.did == "items imported"} == {"q1:harbour", "q1:lantern"}
    for item, partner in (("q1:harbour", "q1:lantern"), ("q1:lantern", "q1:harbour")):
        with pytest.raises(InvalidInput, match=f"other item of '{item}': {partner}"):
            explain_label(database, there.admin, study, item=item, criterion=unit.criterion)
    with pytest.raises(NotFound, match="no pair of 'q1:harbour' and 'q2:lantern'"):
        explain_label(database, there.admin, study, item="q1:harbour", other="q2:lantern", criterion=unit.criterion)


def adjudicator(study: StudyInUse) -> Actor:
    actor = make_person(study.db)
    make_member(study.db, study.project_id, actor, "adjudicator")
    return actor


def test_an_adjudicator_is_told_no_annotator_s_name_and_nobody_an_erased_one(database: Database) -> None:
    study = voted(database, "yes", "no")
    actor = adjudicator(study)
    adjudicate(database, actor, first_place(study), uid="a", decisions=[UnitDecision("right", "item", "yes", None)])
    found = why(study, actor=actor)
    assert sorted(str(act.who) for act in found.steps[2:4]) == ["R1", "R2"]
    assert [act.who for act in found.steps[4:]] == [actor.name]
    assert not any(annotator.name in str(found.to_json()) for annotator in study.annotators)
    gone = study.annotators[0]
    erase_person(database, make_person(database, admin=True), gone.name)
    assert [act.who for act in acts(why(study), "labelled")] == [
        f"erased person {gone.person_id}", study.annotators[1].name,
    ]  # fmt: skip


def test_an_annotator_who_has_yet_to_judge_the_item_is_not_told(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    with database.write() as session:
        session.get_one(Membership, (study.project_id, study.annotators[1].person_id)).role = "adjudicator"
    with pytest.raises(NotAllowed, match="Annotate it first"):
        why(study, actor=study.annotators[1])
    study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    assert why(study, actor=study.annotators[1]).label == "yes"


def test_nothing_but_the_rows_of_the_item_is_read(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=2)
    for who in range(2):
        study.label_all(who)
    with heard(sqlite_database) as statements:
        why(study)
    wide: set[str] = set()
    with sqlite_database.glance() as connection:
        for text, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", parameters)
            wide |= {row[3] for row in plan if row[3].startswith("SCAN ") or row[3].endswith("(study_id=?)")}
    # Withdrawn and unpublished batches are few, however much is judged.
    assert {line for line in wide if "CONSTANT ROW" not in line} <= {"SCAN withdrawal", "SCAN unpublished_batch"}, wide
