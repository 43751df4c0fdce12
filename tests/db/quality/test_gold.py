"""Gold items and repeats among what annotators are given: unannounced, at their rates, and what the gold labels do."""

from __future__ import annotations

import csv
import itertools
import random
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.asking.planting import Planting
from annotators.errors import Conflict, InvalidInput
from db.annotating.amendments import StudyChange, amend_study, amendments_of, set_state
from db.annotating.annotations import reopen
from db.annotating.assignments import skip
from db.annotating.status import study_status
from db.designing.making import create_study
from db.engine import Database
from db.models import Annotation, Assignment, AssignmentState, StudyItem, StudyState
from db.quality.gold import GoldRow, GoldSet, gold_given, set_gold
from db.quality.omissions import leave_out
from db.studies import tallies
from db.studies.design import StudyDesign, list_studies
from db.studies.ratings import ratings
from db.studies.settlements import stream_settled
from db.upkeep.soundness import wrong_hashes
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_item, tiny_protocol


def gold(study: StudyInUse, n: int = 4, *, begin: int = 0, value: str = "yes", **rates: Any) -> GoldSet:
    """Give the study gold items `g0` and so on, whose right label is `value`."""
    names = [f"g{number}" for number in range(begin, begin + n)]
    for name in names:
        make_item(study.db, study.project_id, name)
    rows = [GoldRow(line, name, "right", "item", value) for line, name in enumerate(names, 2)]
    return set_gold(study.db, study.researcher, study.study_id, rows=rows, rates=rates, reason="to see who reads")


def given(study: StudyInUse, who: int) -> list[tuple[str, str]]:
    """(kind, item) of what somebody submitted, in the order in which they did."""
    with study.db.read() as session:
        rows = session.exec(
            select(Annotation.kind, Annotation.study_item_id)
            .where(Annotation.study_id == study.study_id, Annotation.person_id == study.annotators[who].person_id)
            .order_by(col(Annotation.id))
        )
        return [(kind, str(item)) for kind, item in rows]


def check_counts(study: StudyInUse) -> None:
    with study.db.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)


def test_everybody_gets_gold_items_besides_their_slots(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=2, overlap=2)
    done = gold(study, 8, gold_rate=0.2)
    assert (done.added, done.labels, done.items, done.planting.gold_rate) == (8, 8, 8, 0.2)
    submitted = [study.label_all(who) for who in (0, 1)]
    for who in (0, 1):
        kinds = [kind for kind, _ in given(study, who)]
        assert kinds.count("regular") == 30
        assert 2 <= kinds.count("gold") <= 8, "a fifth of what is given, as long as there are some"
        assert submitted[who] == len(kinds)
        golds = [item for kind, item in given(study, who) if kind == "gold"]
        assert len(set(golds)) == len(golds)
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["submitted"], status["items"]) == (True, 60, 30)
    check_counts(study)


def test_gold_items_come_at_other_places_for_each_and_at_no_even_distance(database: Database) -> None:
    study = StudyInUse(database, items=60, annotators=2, overlap=2)
    gold(study, 20, gold_rate=0.25)
    places = []
    for who in (0, 1):
        study.label_all(who)
        places.append([place for place, (kind, _) in enumerate(given(study, who)) if kind == "gold"])
    assert places[0] != places[1]
    for found in places:
        distances = {after - before for before, after in itertools.pairwise(found)}
        assert len(distances) > 2


def test_what_is_planted_counts_nowhere_but_for_its_annotator(database: Database) -> None:
    study = StudyInUse(database, items=12, annotators=1, overlap=1)
    gold(study, 4, gold_rate=0.3, repeat_rate=0.2, repeat_after=2)
    n = study.label_all(0, "no")
    kinds = [kind for kind, _ in given(study, 0)]
    assert (kinds.count("regular"), kinds.count("gold") > 0, kinds.count("repeat") > 0) == (12, True, True)
    [row] = list_studies(database, study.researcher, study.project_id)
    assert (row.submitted, row.slots, row.n_items) == (12, 12, 12)
    [mine] = list_studies(database, study.annotators[0], study.project_id)
    assert (mine.done, mine.of >= mine.done) == (n, True)
    found = ratings(database, study.researcher, study.study_id)
    assert (len(found.items.study_item), found.criteria[0].n_units, len(found.criteria[0].unit)) == (12, 12, 12)
    with database.read() as session:
        assert len(list(stream_settled(session, study.study_id))) == 12
    assert not any("sample" in wrong for wrong in wrong_hashes(database))
    check_counts(study)


def test_gold_labels_leave_beside_the_right_ones_when_asked_for(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=30, annotators=2, overlap=2)
    gold(study, 6, gold_rate=0.3)
    study.label_all(0, "yes")
    study.label_all(1, "no")
    about = (database, study.researcher, study.project_id)
    manifest = export_project(*about, to=tmp_path / "asked", study_id=study.study_id, formats=("labels", "known"))
    n = [sum(kind == "gold" for kind, _ in given(study, who)) for who in (0, 1)]
    assert manifest.counts == {"labels": 60, "known": sum(n)}
    rows = list(csv.DictReader((tmp_path / "asked" / "known.csv").open()))
    said = Counter((row["annotator"], row["kind"], row["value"], row["right_value"], row["is_right"]) for row in rows)
    assert said == {("A1", "gold", "yes", "yes", "true"): n[0], ("A2", "gold", "no", "yes", "false"): n[1]}
    assert {row["item"] for row in rows} <= {f"g{number}" for number in range(6)}
    assert verify_against(database, study.researcher, tmp_path / "asked").ok
    plain = export_project(*about, to=tmp_path / "plain", study_id=study.study_id, formats=("labels",))
    assert "known" not in plain.counts
    assert "g0" not in (tmp_path / "plain" / "labels.csv").read_text()


def test_nothing_on_the_wire_says_what_is_planted(database: Database) -> None:
    study = StudyInUse(database, items=40, annotators=1, overlap=1)
    gold(study, 12, gold_rate=0.3, repeat_rate=0.1, repeat_after=3)
    seen: dict[int, dict[str, Any]] = {}
    order: list[int] = []
    while items := study.work(0)["items"]:
        seen |= {item["assignment"]: item for item in items}
        order.append(items[0]["assignment"])
        study.submit(0, items[0], {"right": "yes"})
    with database.read() as session:
        kinds = dict(session.exec(select(Assignment.id, Assignment.kind)).all())
    assert {kinds[number] for number in order} == {"slot", "gold", "repeat"}
    shapes = {
        kind: {tuple(sorted(item)) for number, item in seen.items() if kinds[number] == kind}
        for kind in set(kinds.values())
    }
    assert shapes["gold"] == shapes["slot"] == shapes["repeat"]
    assert not any("gold" in str(part) or "repeat" in str(part) for item in seen.values() for part in item.items())
    # Ids rise as with any freed slot: an id says only when the slot was opened.
    planted = [number for number in order if kinds[number] != "slot"]
    assert min(planted) < 41, "planted items have ids among those of the first slots"


def test_repeats_come_once_after_the_distance_with_nothing_filled_in(database: Database) -> None:
    study = StudyInUse(database, items=40, annotators=2, overlap=1)
    set_gold(
        database,
        study.researcher,
        study.study_id,
        rates={"repeat_rate": 0.3, "repeat_after": 5},
        reason="self-agreement",
    )
    while items := study.work(0)["items"]:
        assert not items[0].get("labels")
        study.submit(0, items[0], {"right": random.Random(len(items)).choice(["yes", "no"])})
    mine = given(study, 0)
    first = {item: place for place, (kind, item) in enumerate(mine) if kind == "regular"}
    again = [(place, item) for place, (kind, item) in enumerate(mine) if kind == "repeat"]
    assert len(again) > 3
    assert len({item for _, item in again}) == len(again)
    assert all(place - first[item] >= 5 for place, item in again)


def test_a_gold_item_that_is_skipped_or_given_back_is_gone_and_takes_no_slot(database: Database) -> None:
    study = StudyInUse(database, items=10, annotators=2, overlap=1)
    gold(study, 5, gold_rate=0.5)
    rng, skipped = random.Random(1), 0
    for _ in range(200):
        items = study.work(0)["items"]
        if not items:
            break
        if rng.random() < 0.4:
            skip(database, study.annotators[0], study.study_id, assignment_id=items[0]["assignment"], reason="unclear")
            skipped += 1
        else:
            study.submit(0, items[0], {"right": "yes"})
        check_counts(study)
    assert skipped
    study.label_all(1)
    assert study_status(database, study.researcher, study.study_id)["finished"]
    check_counts(study)
    amend_study(
        database,
        study.researcher,
        study.study_id,
        change=StudyChange(remove=(study.annotators[0].name,)),
        reason="left",
    )
    check_counts(study)


def test_their_labels_are_held_against_the_right_ones(database: Database) -> None:
    study = StudyInUse(database, items=20, annotators=1, overlap=1)
    gold(study, 5, gold_rate=0.4)
    while items := study.work(0)["items"]:
        study.submit(0, items[0], {"right": "no"})
    found = gold_given(database, study.researcher, study.study_id)
    n = sum(kind == "gold" for kind, _ in given(study, 0))
    protocol = ratings(database, study.researcher, study.study_id).protocol
    assert [(label.right, label.value, label.is_right(protocol)) for label in found] == [("yes", "no", False)] * n
    item = reopen(database, study.annotators[0], study.study_id, assignment_id=_gold_assignment(study))
    study.submit(0, item, {"right": "yes"})
    found = gold_given(database, study.researcher, study.study_id)
    assert sorted(label.value for label in found) == ["no"] * (n - 1) + ["yes"], "the correction is what counts"
    leave_out(
        database, study.researcher, study.study_id, annotator=study.annotators[0].name,
        since=datetime(2020, 1, 1, tzinfo=UTC), reason="a trial",
    )  # fmt: skip
    assert gold_given(database, study.researcher, study.study_id) == []
    check_counts(study)


def _gold_assignment(study: StudyInUse) -> int:
    with study.db.read() as session:
        query = select(Assignment.id).where(Assignment.kind == "gold", Assignment.state == AssignmentState.SUBMITTED)
        return session.exec(query.limit(1)).one() or 0


@pytest.mark.parametrize("below", ["warn", "pause", "stop"])
def test_below_the_mark_happens_what_the_study_says(database: Database, below: str) -> None:
    study = StudyInUse(database, items=60, annotators=2, overlap=2)
    gold(study, 20, gold_rate=0.3, mark=0.5, mark_after=4, below=below)
    right = study.label_all(0, "yes")
    wrong = study.label_all(1, "no")
    assert right >= 60
    state = study_status(database, study.researcher, study.study_id)["annotators"][1]
    if below == "warn":
        assert (wrong >= 60, state["paused"], state["left"]) == (True, None, None)
        return
    assert wrong < 60
    assert (
        len(gold_given(database, study.researcher, study.study_id)) - sum(kind == "gold" for kind, _ in given(study, 0))
        == 4
    )
    found = study.work(1)
    assert (found["items"], found["finished"], bool(found["halted"])) == ([], False, True)
    assert "gold" not in found["halted"]
    assert (state["paused"] is not None, state["left"] is not None) == (below == "pause", below == "stop")
    if below == "stop":
        last = amendments_of(database, study.researcher, study.study_id)[-1]
        assert (last.by, last.what, len(last.before), len(last.after)) == (None, "annotators", 2, 1)
        assert "0 of 4 gold labels right" in last.reason
    name = study.annotators[1].name
    words = amend_study(database, study.researcher, study.study_id, change=StudyChange(add=(name,)), reason="we talked")
    assert words == [f"{name} {'goes on' if below == 'pause' else 'joined'}"]
    assert study.work(1)["items"]
    check_counts(study)


def test_exactly_k_annotations_an_item_under_many_at_once(database: Database) -> None:
    study = StudyInUse(database, items=40, annotators=6, overlap=3)
    gold(study, 10, gold_rate=0.2, repeat_rate=0.1, repeat_after=4)
    problems: list[BaseException] = []

    def work_on(who: int) -> None:
        rng, actor = random.Random(who), study.annotators[who]
        try:
            while items := study.work(who)["items"]:
                if rng.random() < 0.05:
                    skip(database, actor, study.study_id, assignment_id=items[0]["assignment"], reason="unclear")
                else:
                    study.submit(who, items[0], {"right": rng.choice(["yes", "no"])})
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work_on, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    for who in range(6):
        study.label_all(who)
    with database.read() as session:
        rows = session.exec(select(Annotation.study_item_id, Annotation.person_id, Annotation.kind)).all()
        sample = set(session.exec(select(StudyItem.id).where(StudyItem.purpose == "sample")).all())
    regular = [(item, person) for item, person, kind in rows if kind == "regular"]
    assert len(set(regular)) == len(regular), "nobody twice"
    assert {item for item, _ in regular} == sample
    status = study_status(database, study.researcher, study.study_id)
    assert len(regular) == 40 * 3 - status["states"]["open"], "what is open, everybody who is left has skipped"
    golds = [(item, person) for item, person, kind in rows if kind == "gold"]
    assert len(set(golds)) == len(golds) and golds
    check_counts(study)


def test_gold_from_what_another_study_settled(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    study.label_all(0, "yes"), study.label_all(1, "yes")
    make_item(database, study.project_id, "new")
    people = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(name="later", annotators=people, overlap=1, items=("new", "i00001"))
    later = create_study(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design).study_id
    done = set_gold(database, study.researcher, later, settled_in=study.study_id, reason="from the pilot")
    assert (done.added, done.labels, done.planting.gold_rate) == (2, 2, 0.1), "not the one that both have"
    with pytest.raises(InvalidInput, match="gives no gold items"):
        set_gold(database, study.researcher, study.study_id, settled_in=later, reason="none are settled")


def test_all_that_is_wrong_with_a_file_is_said_at_once_and_nothing_is_stored(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    for name in ("g0", "g1"):
        make_item(database, study.project_id, name)
    rows = [
        GoldRow(2, "nobody", "right", "item", "yes"),
        GoldRow(3, "i00001", "right", "item", "yes"),
        GoldRow(4, "g0", "wrong", "item", "yes"),
        GoldRow(5, "g0", "right", "evidence:e9", "yes"),
        GoldRow(6, "g0", "right", "item", "perhaps"),
        GoldRow(7, "g1", "right", "item", "yes"),
        GoldRow(8, "g1", "right", "item", "no"),
        GoldRow(9, "g1", "right", "item", "no", other="g0"),
    ]
    with pytest.raises(InvalidInput) as refused:
        set_gold(database, study.researcher, study.study_id, rows=rows, reason="all wrong")
    assert [problem.line for problem in refused.value.problems] == [2, 3, 4, 5, 6, 8, 9]
    assert all(problem.remedy for problem in refused.value.problems)
    with database.read() as session:
        assert session.exec(select(StudyItem).where(StudyItem.purpose == "gold")).all() == []
    # What was refused leaves nothing behind that the next file, whose items get the same ids, could meet.
    assert set_gold(database, study.researcher, study.study_id, rows=[rows[5]], reason="right").items == 1
    with pytest.raises(InvalidInput, match="is a gold item already"):
        set_gold(database, study.researcher, study.study_id, rows=[rows[5]], reason="twice")


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ({"gold_rate": 0.7}, "A rate of 0.7"),
        ({"gold_rate": 0.3, "repeat_rate": 0.3}, "more than half"),
        ({"gold_rate": 0.1}, "the study has none"),
        ({"repeat_after": 0}, "Give at least 1"),
        ({"mark": 70.0}, "A mark of 70"),
        ({"mark_after": 0}, "Give at least 1"),
        ({"below": "fire"}, "warn, pause, stop"),
        ({}, "Nothing would change"),
    ],
)
def test_rates_that_cannot_be_are_refused(database: Database, rates: dict[str, Any], words: str) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    with pytest.raises(InvalidInput, match=words):
        set_gold(database, study.researcher, study.study_id, rates=rates, reason="at random")


def test_a_closed_study_stays_as_it_is(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    with pytest.raises(Conflict, match="closed"):
        set_gold(database, study.researcher, study.study_id, rates={"repeat_rate": 0.1}, reason="too late")


def test_the_rates_are_met_in_the_long_run() -> None:
    planting = Planting(gold_rate=0.1, repeat_rate=0.05)
    turns = [planting.turn(seed, person, number) for seed in range(4) for person in range(25) for number in range(400)]
    assert turns.count("gold") / len(turns) == pytest.approx(0.1, abs=0.006)
    assert turns.count("repeat") / len(turns) == pytest.approx(0.05, abs=0.005)
    assert planting.added_to(85, 1000) == 15
    assert planting.added_to(85, 3) == 8
