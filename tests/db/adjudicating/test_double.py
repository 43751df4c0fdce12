"""Double adjudication: two decide blind to each other, what they decide alike is final, a third decides the rest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed
from annotators.intervals.bootstrap import Resampling
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import (
    UnitDecision,
    adjudicate,
    count_disputed,
    desk_counts,
    disputed_item,
    disputes,
    latest_decisions,
    settlement_counts,
)
from db.adjudicating.causes import cause_counts, guideline_notes
from db.adjudicating.leases import held_by_others, take_item
from db.adjudicating.listed import listed_disputes
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.events import project_events
from db.items.as_of import look_back, marks
from db.models import Adjudication
from db.permissions import Actor
from db.studies.settlements import stream_settled
from db.studies.why import explain_label
from exports.importing.decisions import import_decisions
from exports.results.base import REPORTS
from exports.results.labels import StudyLabels
from tests.db.adjudicating.test_adjudications import adjudicator, final, set_role, voted
from tests.db.adjudicating.test_listed_and_tables import table
from tests.makers import StudyInUse, tiny_protocol

DOUBLE = {"adjudication": "double"}


def say(value: str, **besides: str) -> list[UnitDecision]:
    return [UnitDecision("right", "item", value, **besides)]


def queue(study: StudyInUse, actor: Actor) -> list[int]:
    return [row.study_item_id for row in disputes(study.db, actor, study.study_id)]


def stages(study: StudyInUse, actor: Actor) -> list[str]:
    return [row.stage for row in listed_disputes(study.db, actor, study.study_id)]


def listed(study: StudyInUse, actor: Actor) -> list[str]:
    return [unit.criterion for row in listed_disputes(study.db, actor, study.study_id) for unit in row.units]


def three(study: StudyInUse) -> tuple[Actor, Actor, Actor]:
    """Two adjudicators and a third."""
    return adjudicator(study), adjudicator(study), adjudicator(study)


def two_criteria() -> Protocol:
    """Is the answer right, and is it whole?"""
    labels = [Label(value="yes"), Label(value="no")]
    return tiny_protocol(
        criteria=[
            Choice(name="right", title="Right", labels=labels),
            Choice(name="whole", title="Whole", labels=labels),
        ],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["right", "whole"])],
    )


def come_in(study: StudyInUse, who: str, **values: str) -> None:
    given = [ForeignLabel(2, "i00001", who, criterion, "item", value) for criterion, value in values.items()]
    import_labels(study.db, study.researcher, study.study_id, rows=given, source="late.csv")


@pytest.mark.parametrize("design", [{}, DOUBLE], ids=["one adjudicator", "two"])
def test_what_later_labels_dispute_and_nobody_decided_is_decided_anew(
    database: Database, design: dict[str, str]
) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=two_criteria(), **design)
    for who, right in enumerate(("yes", "no")):
        study.submit(who, study.work(who)["items"][0], {"right": right, "whole": "yes"})
    for number, actor in enumerate(three(study)[: 2 if design else 1]):
        [place] = queue(study, actor)
        adjudicate(database, actor, place, uid=f"first {number}", decisions=say("no"))
    settled = [("i00001", "adjudicated", "no"), ("i00001", "unanimous", "yes")]
    assert final(study) == settled
    come_in(study, "late", right="yes", whole="yes")
    assert final(study) == settled
    assert settlement_counts(database, study.researcher, study.study_id)["adjudicated"] == 1
    come_in(study, "later", right="yes", whole="no")
    assert final(study) == [settled[0], ("i00001", "open", None)]
    assert settlement_counts(database, study.researcher, study.study_id)["disputed"] == 1
    third = adjudicator(study)
    assert queue(study, third) == [place]
    assert "whole" in listed(study, third)
    decided = [*say("no", reason="still"), UnitDecision("whole", "item", "yes")]
    wanted = [one for one in decided if one.criterion in listed(study, third)]
    adjudicate(database, third, place, uid="again", decisions=wanted)
    assert final(study) == [("i00001", "adjudicated", "no"), ("i00001", "adjudicated", "yes")]
    assert settlement_counts(database, study.researcher, study.study_id)["adjudicated"] == 1
    come_in(study, "last", right="yes", whole="no")
    assert settlement_counts(database, study.researcher, study.study_id)["adjudicated"] == 1, "all of it was decided"


def test_what_both_decide_alike_is_final(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, tia = three(study)
    [item] = queue(study, rosa)
    assert stages(study, rosa) == ["first"]
    adjudicate(database, rosa, item, uid="a", decisions=say("no", reason="page 3"))
    assert (queue(study, rosa), queue(study, sam), stages(study, tia)) == ([], [item], ["second"])
    assert final(study) == [("i00001", "open", None)]
    assert settlement_counts(database, rosa, study.study_id)["disputed"] == 1
    adjudicate(database, sam, item, uid="b", decisions=say("no"))
    assert final(study) == [("i00001", "adjudicated", "no")]
    assert [queue(study, actor) for actor in (rosa, sam, tia)] == [[], [], []]
    assert settlement_counts(database, rosa, study.study_id)["adjudicated"] == 1
    with database.read() as session:
        [unit] = stream_settled(session, study.study_id)
    assert unit.reason == "page 3"


def test_nobody_sees_the_others_decision_before_both_are_done(database: Database) -> None:
    study = voted(database, ("yes", "yes", "no"), **DOUBLE)
    rosa, sam, _ = three(study)
    [item] = queue(study, rosa)
    told = say("no", reason="SECRET", cause="slip", note="SECRET")
    adjudicate(database, rosa, item, uid="a", decisions=told, reason="SECRET")

    def seen_by(actor: Actor) -> str:
        parts = (
            disputed_item(database, actor, item),
            disputes(database, actor, study.study_id),
            listed_disputes(database, actor, study.study_id),
            latest_decisions(database, actor, study.study_id),
            cause_counts(database, actor, study.study_id),
            guideline_notes(database, actor, study.study_id),
            explain_label(database, actor, study.study_id, item="i00001", criterion="right"),
            project_events(database, study.researcher, study.project_id),
        )
        return repr(parts)

    for other in (sam, study.researcher):
        assert "SECRET" not in seen_by(other)
        assert "overruled" not in seen_by(other).replace("overruled=", "")
        found = disputed_item(database, other, item)
        assert (found.units[0].decided, found.units[0].rounds, found.again, found.stage) == (None, [], False, "second")
        assert latest_decisions(database, other, study.study_id) == []
    own = disputed_item(database, rosa, item)
    assert (own.units[0].decided, own.again, own.stage, own.allowed) == ("no", True, "first", None)
    assert "SECRET" in repr(latest_decisions(database, rosa, study.study_id))
    adjudicate(database, sam, item, uid="b", decisions=say("yes"))
    assert "SECRET" in seen_by(sam)


def test_where_they_differ_a_third_decides_what_is_left(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=two_criteria(), **DOUBLE)
    for who, values in enumerate(({"right": "yes", "whole": "yes"}, {"right": "no", "whole": "no"})):
        study.submit(who, study.work(who)["items"][0], values)
    rosa, sam, tia = three(study)
    [item] = queue(study, rosa)

    def both(right: str, whole: str) -> list[UnitDecision]:
        return [UnitDecision("right", "item", right), UnitDecision("whole", "item", whole, f"it is {whole}")]

    adjudicate(database, rosa, item, uid="a", decisions=both("yes", "yes"))
    assert listed(study, tia) == ["right", "whole"]
    adjudicate(database, sam, item, uid="b", decisions=both("yes", "no"))
    assert final(study) == [("i00001", "adjudicated", "yes"), ("i00001", "open", None)]
    assert listed(study, tia) == ["whole"]
    assert (queue(study, rosa), queue(study, sam), queue(study, tia), stages(study, tia)) == ([], [], [item], ["final"])
    for one in (rosa, sam):
        with pytest.raises(NotAllowed, match="for a third person"):
            adjudicate(database, one, item, uid="c", decisions=both("yes", "no"))
        assert "third person" in str(disputed_item(database, one, item).allowed)
    found = disputed_item(database, tia, item)
    right, whole = found.units
    assert (right.needs_decision, right.outcome, right.value) == (False, "alike", "yes")
    assert (whole.needs_decision, whole.outcome, whole.value, whole.decided) == (True, "open", None, None)
    said = [(each.by, each.value, each.reason) for each in whole.rounds]
    assert said == [("First", "yes", "it is yes"), ("Second", "no", "it is no")]
    with pytest.raises(InvalidInput, match="Not decided yet: Whole"):
        adjudicate(database, tia, item, uid="d", decisions=[])
    with pytest.raises(InvalidInput, match="two adjudicators decided it alike"):
        adjudicate(database, tia, item, uid="d", decisions=both("no", "no"))
    adjudicate(database, tia, item, uid="d", decisions=[UnitDecision("whole", "item", "no")])
    assert final(study) == [("i00001", "adjudicated", "yes"), ("i00001", "adjudicated", "no")]
    assert queue(study, tia) == []
    acts = [
        (act.stage, act.label, act.stands)
        for act in explain_label(database, study.researcher, study.study_id, item="i00001", criterion="whole").steps
        if act.did == "item adjudicated"
    ]
    assert acts == [("first", "yes", "superseded"), ("second", "no", "superseded"), ("final", "no", "counts")]
    alike = explain_label(database, study.researcher, study.study_id, item="i00001", criterion="right").steps
    assert [act.stands for act in alike if act.did == "item adjudicated"] == ["counts", "counts"]


def test_where_nobody_else_may_the_two_decide_together(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam = adjudicator(study), adjudicator(study)
    set_role(study, study.researcher, "viewer")
    set_role(study, study.annotators[0], "adjudicator")  # who annotated the item may not decide it, and is nobody else
    [item] = queue(study, rosa)
    adjudicate(database, rosa, item, uid="a", decisions=say("yes"))
    adjudicate(database, sam, item, uid="b", decisions=say("no"))
    assert (queue(study, rosa), queue(study, sam)) == ([item], [item])
    assert [each.by for each in disputed_item(database, sam, item).units[0].rounds] == ["First", None]
    late = adjudicator(study)  # as soon as a third person is there, it is theirs
    assert (queue(study, rosa), queue(study, late)) == ([], [item])
    set_role(study, late, "viewer")
    adjudicate(database, sam, item, uid="c", decisions=say("yes"))
    assert final(study) == [("i00001", "adjudicated", "yes")]


def test_ones_own_blind_decision_is_made_anew_until_the_other_is_there(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, _ = three(study)
    [item] = queue(study, rosa)
    adjudicate(database, rosa, item, uid="a", decisions=say("yes"))
    with pytest.raises(Conflict, match="for somebody else"):
        adjudicate(database, rosa, item, uid="b", decisions=say("no"))
    adjudicate(database, rosa, item, uid="b", decisions=say("no"), again=True)
    adjudicate(database, sam, item, uid="c", decisions=say("no"))
    assert final(study) == [("i00001", "adjudicated", "no")]
    adjudicate(
        database, rosa, item, uid="d", decisions=say("yes"), again=True
    )  # what is settled is decided anew openly
    assert final(study) == [("i00001", "adjudicated", "yes")]


def test_a_settled_unit_that_one_of_them_overrules_goes_to_the_final_round(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=two_criteria(), **DOUBLE)
    for who, whole in enumerate(("yes", "no")):
        study.submit(who, study.work(who)["items"][0], {"right": "yes", "whole": whole})
    rosa, sam, tia = three(study)
    [item] = queue(study, rosa)
    whole = UnitDecision("whole", "item", "yes")
    overruled = UnitDecision("right", "item", "no", "the source says otherwise")
    adjudicate(database, rosa, item, uid="a", decisions=[overruled, whole])
    adjudicate(database, sam, item, uid="b", decisions=[whole])
    assert final(study) == [("i00001", "open", None), ("i00001", "adjudicated", "yes")]
    assert listed(study, tia) == ["right"]
    right = disputed_item(database, tia, item).units[0]
    assert (right.needs_decision, [each.value for each in right.rounds]) == (True, ["no", None])
    adjudicate(database, tia, item, uid="c", decisions=[overruled])
    assert final(study) == [("i00001", "adjudicated", "no"), ("i00001", "adjudicated", "yes")]


def test_two_may_have_an_item_before_them_at_once_and_no_third(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, tia = three(study)
    [item] = queue(study, rosa)
    assert take_item(database, rosa, item).mine
    assert queue(study, sam) == [item]
    assert take_item(database, sam, item).mine
    assert take_item(database, rosa, item).mine
    assert queue(study, tia) == []
    refused = take_item(database, tia, item)
    assert (refused.mine, refused.by in (rosa.name, sam.name)) == (False, True)
    assert {lease.by for lease in held_by_others(database, tia, study.study_id)} == {rosa.name, sam.name}
    adjudicate(database, rosa, item, uid="a", decisions=say("yes"))
    assert queue(study, tia) == []  # sam is at it
    assert not take_item(database, tia, item).mine
    assert held_by_others(database, rosa, study.study_id) == []  # it is not hers to decide
    adjudicate(database, sam, item, uid="b", decisions=say("no"))
    assert (queue(study, tia), take_item(database, tia, item).mine) == ([item], True)


def test_counts_are_those_of_the_person(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"), **DOUBLE)
    rosa, sam, _ = three(study)

    def counts(actor: Actor) -> tuple[int, int, int, int]:
        found = desk_counts(database, actor, study.study_id)
        return found.adjudicated, found.disputed, found.others, count_disputed(database, actor, study.project_id)

    first, _ = queue(study, rosa)
    assert (counts(rosa), counts(sam)) == ((0, 2, 0, 2), (0, 2, 0, 2))
    adjudicate(database, rosa, first, uid="a", decisions=say("yes"))
    assert (counts(rosa), counts(sam)) == ((1, 1, 1, 1), (0, 2, 0, 2))
    adjudicate(database, sam, first, uid="b", decisions=say("yes"))
    assert (counts(rosa), counts(sam)) == ((1, 1, 0, 1), (1, 1, 0, 1))


def test_tables_of_two_people_are_two_rounds(database: Database, tmp_path: Path) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, tia = three(study)
    path = table(tmp_path / "d.csv", ("i00001", "right", "item", "no", ""))
    other = table(tmp_path / "e.csv", ("i00001", "right", "item", "yes", ""))

    def take(actor: Actor, file: Path, *, again: bool = False) -> tuple[int, int]:
        done = import_decisions(database, actor, study.study_id, path=file, again=again)
        return done.items, done.unchanged

    assert (take(rosa, path), take(rosa, path)) == ((1, 0), (0, 1))
    with pytest.raises(Conflict, match="line 2: You have decided this item"):
        take(rosa, other)
    assert take(sam, other) == (1, 0)
    assert (take(rosa, path), take(sam, other)) == ((0, 1), (0, 1))
    with pytest.raises(NotAllowed, match=r"line 2.*third person"):
        take(rosa, other)
    assert take(tia, other) == (1, 0)
    assert final(study) == [("i00001", "adjudicated", "yes")]


def test_an_old_export_sees_the_rounds_that_were_there(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, tia = three(study)
    [item] = queue(study, rosa)
    moments = []
    for number, (actor, value) in enumerate(((rosa, "yes"), (sam, "no"), (tia, "no"))):
        with database.read() as session:
            moments.append(marks(session))
        adjudicate(database, actor, item, uid=str(number), decisions=say(value))
    assert final(study) == [("i00001", "adjudicated", "no")]
    for moment in moments:
        with database.read() as session:
            look_back(session, moment)
            assert [unit.state for unit in stream_settled(session, study.study_id)] == ["open"]


def test_causes_of_two_are_counted_once_and_notes_of_both_gathered(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, sam, _ = three(study)
    [item] = queue(study, rosa)
    adjudicate(database, rosa, item, uid="a", decisions=say("yes", cause="slip", note="Say when."))
    assert cause_counts(database, rosa, study.study_id) == []
    adjudicate(database, sam, item, uid="b", decisions=say("yes", note="Say how."))
    [row] = cause_counts(database, study.researcher, study.study_id)
    assert (row.units, row.causes["slip"]) == (1, 1)
    assert [note.note for note in guideline_notes(database, sam, study.study_id)] == ["Say when.", "Say how."]


def test_single_adjudication_stays_as_it_was_and_another_word_is_refused(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    rosa, sam, _ = three(study)
    [item] = queue(study, rosa)
    adjudicate(database, rosa, item, uid="a", decisions=say("yes"))
    assert (final(study), queue(study, sam)) == ([("i00001", "adjudicated", "yes")], [])
    with pytest.raises(InvalidInput, match="'triple' says not how disputed items are decided"):
        voted(database, ("yes", "no"), adjudication="triple")


def test_who_annotated_the_item_decides_in_no_round(database: Database) -> None:
    study = voted(database, ("yes", "no"), **DOUBLE)
    rosa, _, _ = three(study)
    own = study.annotators[0]
    set_role(study, own, "adjudicator")
    [item] = queue(study, rosa)
    with pytest.raises(AssayError, match="annotated this item yourself"):
        adjudicate(database, own, item, uid="a", decisions=say("yes"))


def test_the_agreement_of_two_adjudicators_is_a_result(database: Database) -> None:
    """Ten units, ten labels each way, two differ: raw .8, α = 1 - .2 × (20 × 19) / (2 × 10 × 10)."""
    study = voted(database, *[("yes", "no")] * 11, **DOUBLE)
    rosa, sam, _ = three(study)
    items = queue(study, rosa)
    said = [("yes", "yes")] * 4 + [("no", "no")] * 4 + [("yes", "no"), ("no", "yes")]
    for number, (item, (first, second)) in enumerate(zip(items, said, strict=False)):
        adjudicate(database, rosa, item, uid=f"a{number}", decisions=say(first))
        adjudicate(database, sam, item, uid=f"b{number}", decisions=say(second))
    adjudicate(database, rosa, items[-1], uid="alone", decisions=say("yes"))  # what one decided counts when both have
    labels = StudyLabels.of(database, study.researcher, study.study_id)
    found = REPORTS.get("adjudicators").make(labels, Resampling(resamples=200))
    figures = {figure.name: figure for figure in found.figures}
    raw, alpha = figures["adjudicators_percent_agreement"], figures["adjudicators_krippendorff_alpha_nominal"]
    assert (raw.value, raw.n, raw.criterion) == (pytest.approx(0.8), 10, "right")
    assert alpha.value == pytest.approx(1 - 0.2 * 19 / 10)
    assert alpha.low is not None and alpha.low < alpha.value < (alpha.high or 0)
    [section] = found.sections
    assert "decided 10 items blind" in section.words[0]
    single = voted(database, ("yes", "no"))
    assert (
        not REPORTS.get("adjudicators")
        .make(StudyLabels.of(database, single.researcher, single.study_id), Resampling())
        .figures
    )


def test_decisions_at_once_are_two_blind_ones_and_never_two_of_one_stage(database: Database) -> None:
    study = voted(database, *[("yes", "no")] * 6, **DOUBLE)
    people = three(study)
    items = queue(study, people[0])

    def decide(who: int) -> int:
        done = 0
        for item in items if who % 2 else reversed(items):
            with suppress(Conflict, NotAllowed):
                adjudicate(database, people[who], item, uid=f"{who}-{item}", decisions=say("yes"))
                done += 1
        return done

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(decide, range(3)))
    assert sum(done) == 12
    with database.read() as session:
        rows = session.execute(select(Adjudication.study_item_id, Adjudication.stage, Adjudication.person_id)).all()
    stages_of = {item: sorted(stage for found, stage, _ in rows if found == item) for item in items}
    assert stages_of == {item: ["first", "second"] for item in items}
    assert all(len({person for found, _, person in rows if found == item}) == 2 for item in items)
    assert {state for _, state, _ in final(study)} == {"adjudicated"}
