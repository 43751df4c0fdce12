"""A part of the items with more annotations, and more where people disagree: exactly so many, under races too."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError, InvalidInput
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.status import study_status
from db.designing.making import plan_study
from db.engine import Database
from db.models import Annotation, Assignment, Settlement, Study, StudyItem
from db.studies import tallies
from db.studies.design import list_studies
from db.studies.ratings import ratings
from db.studies.settlements import stream_settled
from exports.agreement.study import agreement_report
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, tiny_protocol


def given(study: StudyInUse) -> dict[int, int]:
    """Study item → counting annotations, of all items."""
    with study.db.read() as session:
        items = session.exec(select(StudyItem.id)).all()
        rows = session.exec(
            select(Annotation.study_item_id).where(
                Annotation.kind == "regular", col(Annotation.supersedes_id).is_(None)
            )
        ).all()
    found = Counter(rows)
    return {item: found[item] for item in items if item is not None}


def own_overlaps(study: StudyInUse) -> dict[int, int | None]:
    with study.db.read() as session:
        return dict(session.exec(select(StudyItem.id, StudyItem.overlap)).all())  # type: ignore[arg-type]


def states(study: StudyInUse) -> Counter[str]:
    with study.db.read() as session:
        return Counter(session.exec(select(Settlement.state)).all())


def kept_counts_hold(study: StudyInUse) -> None:
    with study.db.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)


def label(study: StudyInUse, who: int, values: dict[int, str] | None = None) -> int:
    """Submit all there is for this annotator: by study item what `values` say, else yes; how many."""
    done = 0
    while items := study.work(who)["items"]:
        with study.db.read() as session:
            item = session.get_one(Assignment, items[0]["assignment"]).study_item_id
        study.submit(who, items[0], {"right": (values or {}).get(item, "yes")})
        done += 1
    return done


def test_a_stratified_part_has_more_annotations_and_all_else_has_one(database: Database) -> None:
    study = StudyInUse(database, items=40, annotators=3, overlap=1, part=0.1, part_overlap=3, per="system")
    assert study.made.n_slots == 40 + 4 * 2
    own = own_overlaps(study)
    assert Counter(own.values()) == {None: 36, 3: 4}
    # The items alternate between two systems: a tenth of each of them is two.
    with database.read() as session:
        positions = session.exec(select(StudyItem.position).where(StudyItem.overlap == 3)).all()
    assert Counter(position % 2 for position in positions) == {0: 2, 1: 2}
    [row] = list_studies(database, study.researcher, study.project_id)
    assert row.slots == 48
    for who in (0, 1, 2):
        assert states(study)["agreed"] < 40
        label(study, who)
    assert given(study) == {item: overlap or 1 for item, overlap in own.items()}
    assert states(study) == {"agreed": 40}
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["stuck"]) == (True, 0)
    kept_counts_hold(study)


def test_an_item_of_the_part_waits_until_it_has_its_own(database: Database) -> None:
    study = StudyInUse(database, items=10, annotators=3, overlap=1, part=0.2, part_overlap=3)
    label(study, 0)
    assert states(study) == {"agreed": 8, "pending": 2}
    with database.read() as session:
        assert Counter(unit.state for unit in stream_settled(session, study.study_id)) == {"unanimous": 8, "open": 2}
    label(study, 1)
    label(study, 2)
    assert states(study) == {"agreed": 10}


def test_where_two_disagree_a_third_is_asked_and_settles_it(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=4, overlap=2, most_overlap=3, rule="majority")
    first, second = sorted(given(study))[:2]
    label(study, 0, {first: "no", second: "no"})
    label(study, 1)
    assert states(study) == {"agreed": 4, "pending": 2}
    status = study_status(database, study.researcher, study.study_id)
    assert (status["states"]["open"], status["finished"]) == (2, False)
    assert label(study, 2) == 2
    assert given(study) == {item: 3 if item in (first, second) else 2 for item in given(study)}
    assert states(study) == {"agreed": 6}
    assert study.work(3)["items"] == []
    with database.read() as session:
        settled = {unit.study_item_id: (unit.value, unit.n) for unit in stream_settled(session, study.study_id)}
    assert settled[first] == ("yes", 3)
    kept_counts_hold(study)


def test_agreement_is_measured_without_what_was_asked_for_because_people_disagreed(database: Database) -> None:
    """Of six items two are contested. Of three annotations two agree, so that raw agreement would be .78 for .67."""
    study = StudyInUse(database, items=6, annotators=4, overlap=2, most_overlap=3, rule="majority")
    first, second = sorted(given(study))[:2]
    label(study, 0, {first: "no", second: "no"})
    label(study, 1)
    assert label(study, 2) == 2
    # Who is asked to look again keeps their place before who was asked for more.
    with database.read() as session:
        of = select(Assignment.id).where(Assignment.study_item_id == first)
        mine = session.exec(of.where(Assignment.person_id == study.annotators[0].person_id)).one()
    return_to_annotator(database, study.researcher, mine or 0, reason="look again")
    label(study, 0, {first: "no"})
    report = agreement_report(database, study.researcher, study.study_id, resamples=0)
    [criterion] = report.criteria
    raw = criterion.find("percent_agreement")
    assert raw is not None
    assert (raw.value, raw.n_units, raw.n_ratings) == (pytest.approx(4 / 6), 6, 12)
    assert any(words.startswith("2 more annotations were asked for") for words in criterion.warnings)
    # All of them are there for what is not agreement.
    assert criterion.all_ratings is not None
    assert (criterion.n_ratings, criterion.all_ratings.n_ratings, report.found.added.sum()) == (14, 14, 2)


def test_agreement_counts_all_annotations_of_a_part_that_is_to_have_more(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=4, overlap=2, part=0.5, part_overlap=3, most_overlap=4)
    for who in range(3):
        label(study, who)
    [criterion] = agreement_report(database, study.researcher, study.study_id, resamples=0).criteria
    assert criterion.ratings is not None
    assert criterion.ratings.n_ratings == 10
    assert not any("asked for because" in words for words in criterion.warnings)


def test_more_are_asked_up_to_the_limit_and_then_it_is_disputed(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=5, overlap=2, most_overlap=4)
    item = min(given(study))
    for who, value in enumerate(("no", "yes", "yes", "no")):
        assert states(study)["disputed"] == 0
        label(study, who, {item: value})
    assert given(study)[item] == 4
    assert states(study) == {"agreed": 1, "disputed": 1}
    assert study.work(4)["items"] == []
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_where_nobody_is_left_to_ask_it_goes_to_an_adjudicator(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=3, overlap=2, most_overlap=3)
    last = study.annotators[2].name
    change = StudyChange(remove=(last,))
    amend_study(database, study.researcher, study.study_id, change=change, reason="has left")
    [item] = given(study)
    label(study, 0, {item: "no"})
    label(study, 1)
    assert states(study) == {"disputed": 1}
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_a_correction_that_disagrees_asks_one_more(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=3, overlap=2, most_overlap=3)
    item = study.work(0)["items"][0]
    study.submit(0, item, {"right": "yes"})
    label(study, 1)
    assert states(study) == {"agreed": 1}
    return_to_annotator(database, study.researcher, item["assignment"], reason="look again")
    study.submit(0, study.work(0)["items"][0], {"right": "no"})
    assert states(study) == {"pending": 1}
    assert label(study, 2) == 1
    assert states(study) == {"disputed": 1}
    kept_counts_hold(study)


def test_a_lowered_overlap_leaves_the_part_and_what_is_disputed_its_slots(database: Database) -> None:
    study = StudyInUse(
        database, items=10, annotators=4, overlap=2, part=0.2, part_overlap=3, most_overlap=4, rule="majority"
    )
    own = own_overlaps(study)
    plain = sorted(item for item, overlap in own.items() if overlap is None)
    label(study, 0, {plain[0]: "no"})
    label(study, 1)
    change = StudyChange(overlap=1)
    amend_study(database, study.researcher, study.study_id, change=change, reason="enough")
    label(study, 2)
    label(study, 3)
    assert given(study) == {item: overlap or (3 if item == plain[0] else 2) for item, overlap in own.items()}
    assert states(study) == {"agreed": 10}
    kept_counts_hold(study)


def test_ratings_have_as_many_labels_of_an_item_as_were_given(database: Database) -> None:
    study = StudyInUse(database, items=20, annotators=3, overlap=1, part=0.3, part_overlap=3)
    for who in (0, 1, 2):
        label(study, who)
    [criterion] = ratings(database, study.researcher, study.study_id).criteria
    assert Counter(Counter(criterion.units).values()) == {1: 14, 3: 6}


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"part": 0.1}, "`part` says nothing without `part_overlap`"),
        ({"part_overlap": 2}, "`part_overlap` says nothing without `part`"),
        ({"part": 1.5, "part_overlap": 2}, "A part of 1.5 is no share"),
        ({"part": 0.1, "part_overlap": 1}, "1 annotations an item, all items have 1. Give more"),
        ({"part": 0.1, "part_overlap": 4}, "An overlap of 4 needs as many different annotators; 2 are named"),
        ({"most_overlap": 1}, "items have up to 1 anyway"),
        ({"most_overlap": 3}, "An overlap of 3 needs as many different annotators; 2 are named"),
    ],
)
def test_what_nobody_could_carry_out_says_which_number(
    sqlite_database: Database, choice: dict[str, float], said: str
) -> None:
    study = StudyInUse(sqlite_database, items=3, annotators=2, overlap=1)
    names = tuple(actor.name for actor in study.annotators)
    design = StudyDesign.model_validate({"name": "x", "annotators": names, "overlap": 1, **choice})
    with pytest.raises(InvalidInput, match=said):
        plan_study(sqlite_database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)


def test_races_leave_exactly_what_is_wanted_of_each_item(database: Database) -> None:
    """Eight people label, disagree and skip at once: each item has its overlap, or what disagreement asked for."""
    study = StudyInUse(
        database, items=40, annotators=8, overlap=2, part=0.2, part_overlap=3, most_overlap=5, rule="majority"
    )
    errors: list[BaseException] = []

    def labour(who: int) -> None:
        chance, skipped = random.Random(who), 0
        try:
            while items := study.work(who)["items"]:
                if who == 1 and skipped < 3:
                    skipped += 1
                    me, assignment = study.annotators[who], items[0]["assignment"]
                    skip(database, me, study.study_id, assignment_id=assignment, reason="no")
                    continue
                study.submit(who, items[0], {"right": chance.choice(("yes", "yes", "no"))})
        except AssayError as error:
            errors.append(error)

    threads = [threading.Thread(target=labour, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for who in range(8):
        labour(who)
    assert errors == []
    with database.read() as session:
        pairs = session.exec(select(Annotation.study_item_id, Annotation.person_id)).all()
        wanted = dict(session.exec(select(Settlement.study_item_id, Settlement.wanted)).all())
        overlap = session.get_one(Study, study.study_id).overlap
    assert len(pairs) == len(set(pairs))
    own = own_overlaps(study)
    assert given(study) == {item: max(own[item] or overlap, wanted[item] or 0) for item in own}
    assert max(given(study).values()) <= 5
    assert any(wanted.values())
    # Five votes of two labels have a majority: nothing is left to an adjudicator, and nothing waits.
    assert states(study) == {"agreed": 40}
    assert study_status(database, study.researcher, study.study_id)["finished"]
    kept_counts_hold(study)
