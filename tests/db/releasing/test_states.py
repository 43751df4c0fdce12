"""Where items stand: by their labels, by decisions, by revisions, and by hand."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import event, text
from sqlmodel import col, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.spans import Spans
from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.protocols import Protocol
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.amendments import set_state
from db.batches import withdraw_batch
from db.designing.making import create_study
from db.engine import Database, Within
from db.models import Event, Item, Settlement, StudyState
from db.releasing.counts import study_stages
from db.releasing.endings import end_item
from db.releasing.states import State, item_states, keep_failing, n_failing, standings
from db.studies.design import StudyDesign
from db.studies.revisions import revise_item
from tests.makers import StudyInUse, make_member, make_project, tiny_protocol


def accepting(**invalidates: list[str]) -> Protocol:
    """Two criteria, of which one accepts only yes."""
    labels = [Label(value="yes"), Label(value="no")]
    made = tiny_protocol()
    criteria = [
        Choice(name="right", title="Right", labels=labels, accept=["yes"]),
        Choice(name="clear", title="Clear", labels=labels),
    ]
    step = made.steps[0].model_copy(update={"criteria": ["right", "clear"]})
    return tiny_protocol(criteria=criteria, steps=[step], invalidates=invalidates or {"answer": ["right"]})


def states(study: StudyInUse) -> dict[str, str]:
    """External id → state."""
    with study.db.read() as session:
        ids = dict(session.execute(select(Item.id, Item.external_id)).all())
    found = item_states(study.db, study.researcher, study.project_id, item_ids=list(ids))
    return {ids[item_id]: state.value for item_id, state in found.items()}


def label(study: StudyInUse, *by_item: str, who: tuple[int, ...] = (0, 1)) -> None:
    """Annotators label the items in order; `ny` is a no of the first and a yes of the second."""
    words = {"y": "yes", "n": "no"}
    for place, person in enumerate(who):
        for values in by_item:
            study.submit(person, study.work(person)["items"][0], {"right": words[values[place]], "clear": "no"})


def two_by(db: Database, items: int, **changes: Any) -> StudyInUse:
    return StudyInUse(db, items=items, annotators=2, overlap=2, protocol=accepting(), **changes)


def decide(study: StudyInUse, item: str, value: str) -> None:
    with study.db.read() as session:
        [item_id] = session.execute(select(Item.id).where(col(Item.external_id) == item)).scalars()
        [place] = standings(session, [item_id])[item_id].studies[study.study_id].places
    decision = UnitDecision("right", "item", value, "so it is")
    adjudicate(study.db, study.researcher, place.study_item_id, uid=f"decided-{item}", decisions=[decision])


def test_a_state_follows_from_votes_decisions_and_what_is_accepted(database: Database) -> None:
    study = two_by(database, 5)
    label(study, "yy", "nn", "ny", "ny")
    expected = ["accepted", "in_revision", "disputed", "disputed", "in_study"]
    assert list(states(study).values()) == expected
    decide(study, "i00003", "yes")
    decide(study, "i00004", "no")
    assert list(states(study).values()) == ["accepted", "in_revision", "accepted", "in_revision", "in_study"]


def test_what_fell_with_a_revision_is_in_recheck_and_what_stands_is_carried_over(database: Database) -> None:
    study = two_by(database, 3)
    label(study, "nn", "yy", "nn")
    about = (database, study.researcher, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Better."}, reason="wrong")
    revise_item(*about, external_id="i00002", fields={"category": "a"}, reason="sorted")
    revise_item(*about, external_id="i00003", fields={"category": "a"}, reason="sorted")
    assert list(states(study).values()) == ["in_recheck", "accepted", "in_revision"]


def test_a_recheck_says_what_fell_and_the_first_labels_say_the_rest(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "nn")
    about = (database, study.researcher, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Better."}, reason="wrong")
    with database.write() as session:
        session.execute(
            text(
                "INSERT INTO study_item "
                "(study_id, item_version_id, position, other_left, purpose, criteria, earlier_id) "
                "SELECT x.study_id, v.id, 1, x.other_left, 'recheck', '[\"right\"]', x.id FROM study_item x "
                "JOIN item_version v ON v.number = 2"
            )
        )
    assert states(study) == {"i00001": "in_recheck"}
    for failing, state in (('["right"]', "in_revision"), ("[]", "accepted")):
        with database.write() as session:
            session.execute(text("DELETE FROM settlement WHERE study_item_id = (SELECT max(id) FROM study_item)"))
            session.execute(
                text(
                    "INSERT INTO settlement "
                    "(study_item_id, study_id, state, n_annotations, n_disputed, dispute, failing) "
                    f"SELECT id, study_id, 'agreed', 2, 0, 0, '{failing}' FROM study_item WHERE purpose = 'recheck'"
                )
            )
        assert states(study) == {"i00001": state}
    stages = {stage.stage: (stage.reached, stage.moved) for stage in stages_of(study).stages}
    assert stages["revision"] == (1, 1) and stages["recheck"] == (1, 1)


def stages_of(study: StudyInUse) -> Any:
    return study_stages(study.db, study.researcher, study.study_id)


def test_stages_of_a_view_from_before_they_were_counted_are_those_of_now(database: Database) -> None:
    study = two_by(database, 5)
    label(study, "yy", "nn", "nn", "ny")
    with database.read() as session:
        session.execute(text("SELECT count(*) FROM settlement"))
        seen = Within(database, session)
        first = study_stages(seen, study.researcher, study.study_id).to_json()
    assert (first["item_states"]["in_revision"], first["item_states"]["accepted"]) == (2, 1)
    assert first == stages_of(study).to_json()


def test_stages_count_who_reached_and_who_left_them_and_follow_every_change(database: Database) -> None:
    study = two_by(database, 5)
    label(study, "yy", "nn", "ny", "ny")
    found = stages_of(study).to_json()
    assert found["item_states"] == {
        "withdrawn": 0, "rejected": 0, "disputed": 2, "in_revision": 1, "in_recheck": 0, "in_study": 1, "accepted": 1,
    }  # fmt: skip
    of = {stage["stage"]: stage for stage in found["stages"]}
    assert of["labels"] == {"stage": "labels", "reached": 5, "moved": 4, "share_reached": 1, "share_moved": 0.8}
    assert (of["adjudication"]["reached"], of["adjudication"]["moved"]) == (2, 0)
    assert (of["recheck"]["reached"], of["recheck"]["share_moved"]) == (0, None)
    with database.read() as session:  # what was worked out is kept
        kept = session.execute(select(Settlement.failing).order_by(col(Settlement.study_item_id))).scalars().all()
        assert kept == [[], ["right"], None, None]
    decide(study, "i00003", "no")
    decide(study, "i00004", "yes")
    end_item(database, study.researcher, study.project_id, external_id="i00002", state="rejected", reason="hopeless")
    of = {stage.stage: (stage.reached, stage.moved) for stage in stages_of(study).stages}
    assert of == {
        "labels": (5, 4), "adjudication": (2, 2), "revision": (2, 1), "recheck": (0, 0),
        "accepted": (2, 0), "rejected": (1, 0), "withdrawn": (0, 0),
    }  # fmt: skip


def test_how_many_fail_is_worked_out_or_only_what_is_kept_of_it(sqlite_database: Database) -> None:
    study = two_by(sqlite_database, 4)
    label(study, "nn", "yy")

    def failing() -> tuple[int, int]:
        with sqlite_database.read() as session:
            return n_failing(session, study.study_id, kept=True), n_failing(session, study.study_id)

    assert failing() == (0, 1)
    assert keep_failing(sqlite_database, study.researcher, study.study_id) == 0
    assert failing() == (1, 1)
    label(study, "nn", "nn")
    assert failing() == (1, 3)


def test_states_are_those_of_the_items_that_are_asked_for(sqlite_database: Database) -> None:
    study = two_by(sqlite_database, 3)
    with sqlite_database.read() as session:
        first, second, _ = session.execute(select(Item.id).order_by(col(Item.id))).scalars()
    about = (sqlite_database, study.researcher, study.project_id)
    assert item_states(*about, item_ids=[second]) == {second: State.IN_STUDY}
    assert list(item_states(*about, item_ids=[first, 10**6])) == [first]
    other = make_project(sqlite_database, "other")
    make_member(sqlite_database, other, study.researcher, "researcher")
    assert item_states(sqlite_database, study.researcher, other, item_ids=[first]) == {}


def test_a_decision_again_forgets_what_was_kept(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "ny")
    decide(study, "i00001", "yes")
    assert stages_of(study).states["accepted"] == 1
    with database.read() as session:
        [settlement] = session.execute(select(Settlement)).scalars()
        assert settlement.failing == []
    decision = UnitDecision("right", "item", "no", "after all")
    adjudicate(database, study.researcher, settlement.study_item_id, uid="again", decisions=[decision], again=True)
    assert stages_of(study).states["in_revision"] == 1


def test_the_most_pressing_of_several_studies_counts_and_a_closed_one_without_labels_does_not(
    database: Database,
) -> None:
    study = two_by(database, 2)
    label(study, "yy", "yy")
    design = StudyDesign(name="second", annotators=tuple(actor.name for actor in study.annotators), overlap=1)
    made = create_study(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
    assert set(states(study).values()) == {"in_study"}
    set_state(database, study.researcher, made.study_id, state=StudyState.CLOSED, reason="done")
    assert set(states(study).values()) == {"accepted"}
    assert stages_of(study).states["accepted"] == 2


def test_an_item_is_ended_by_hand_and_taken_up_again(database: Database) -> None:
    study = two_by(database, 1)
    about = (database, study.researcher, study.project_id)
    label(study, "nn")
    made = end_item(*about, external_id="i00001", state="accepted", reason=" the rule is too strict ")
    assert made.to_json() == {"item": "i00001", "version": 1, "before": "in_revision", "state": "accepted"}
    with pytest.raises(Conflict, match="is accepted already"):
        end_item(*about, external_id="i00001", state="accepted", reason="x")
    assert end_item(*about, external_id="i00001", state="withdrawn", reason="x").before is State.ACCEPTED
    assert end_item(*about, external_id="i00001", state=None, reason="x").after is State.IN_REVISION
    with pytest.raises(Conflict, match="Nobody has ended"):
        end_item(*about, external_id="i00001", state=None, reason="x")
    for fields, error in (
        ({"external_id": "none", "state": "rejected", "reason": "x"}, NotFound),
        ({"external_id": "i00001", "state": "rejected", "reason": " "}, InvalidInput),
        ({"external_id": "i00001", "state": "disputed", "reason": "x"}, InvalidInput),
    ):
        with pytest.raises(error):
            end_item(*about, **fields)  # type: ignore[arg-type]
    with database.read() as session:
        kinds = session.execute(
            select(Event.kind, Event.details).where(col(Event.kind).startswith("item ")).order_by(col(Event.id))
        ).all()
    assert [kind for kind, _ in kinds][-3:] == ["item accepted", "item withdrawn", "item taken up again"]
    assert kinds[-3][1]["reason"] == "the rule is too strict"


def test_an_acceptance_by_hand_ends_with_a_revision_and_a_rejection_does_not(database: Database) -> None:
    study = two_by(database, 2)
    about = (database, study.researcher, study.project_id)
    label(study, "nn", "nn")
    for item, state in (("i00001", "accepted"), ("i00002", "rejected")):
        end_item(*about, external_id=item, state=state, reason="x")
        revise_item(*about, external_id=item, fields={"answer": "Better."}, reason="wrong")
    assert list(states(study).values()) == ["in_recheck", "rejected"]


def test_items_of_a_withdrawn_import_are_withdrawn(database: Database) -> None:
    study = two_by(database, 1)
    with database.write() as session:
        session.execute(
            text("INSERT INTO batch (project_id, format, source, created_at) VALUES (:p, 'native', 'x', '2026-01-01')"),
            {"p": study.project_id},
        )
        session.execute(text("UPDATE item SET batch_id = (SELECT max(id) FROM batch)"))
        batch = session.execute(text("SELECT max(id) FROM batch")).scalar_one()
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="wrong")
    assert states(study) == {"i00001": "withdrawn"}


def test_the_number_of_queries_does_not_grow_with_the_items(sqlite_database: Database) -> None:
    study = two_by(sqlite_database, 12)
    label(study, *["nn", "yy", "ny"] * 4)
    with sqlite_database.read() as session:
        ids = list(session.execute(select(Item.id)).scalars())

    def queries(some: list[int]) -> int:
        seen: list[str] = []
        event.listen(sqlite_database.engine, "before_cursor_execute", lambda *about: seen.append(about[2]))
        with sqlite_database.read() as session:
            assert len(standings(session, some)) == len(some)
        return len(seen)

    assert queries(ids) == queries(ids[:2]) > 4


def test_labels_pass_by_what_is_accepted_of_each_kind() -> None:
    labels = [Label(value="yes"), Label(value="no")]
    assert Choice(name="c", title="C", labels=labels).passes("no")
    assert not Choice(name="c", title="C", labels=labels, accept=["yes"]).passes("no")
    spans = Spans(name="s", title="S", labels=[Label(value="benign"), Label(value="evident")], accept=["benign"])
    mark = {"start": 0, "end": 1, "text": "x"}
    assert spans.passes([]) and spans.passes([{**mark, "label": "benign"}])
    assert not spans.passes([{**mark, "label": "benign"}, {**mark, "label": "evident"}])


def test_a_database_that_is_only_read_tells_the_stages_too(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = two_by(sqlite_database, 2)
    label(study, "nn", "yy")
    about = (study.db, study.researcher, study.study_id)
    with monkeypatch.context() as patched:
        patched.setattr(study.db, "only_read", True)
        patched.setattr(study.db, "write", lambda *_, **__: pytest.fail("it writes"))
        read = [study_stages(*about, most=most).to_json() for most in (None, 1)]
    assert read[0]["item_states"]["in_revision"] == 1
    assert [study_stages(*about).to_json()] * 2 == read
