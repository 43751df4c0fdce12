"""What the page Agreement is made of: units behind a number, annotators, models, comparisons, plans."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotators.agreement.annotators import agreement_with_rest, similarity
from annotators.agreement.measure import measure
from annotators.agreement.pace import drifts
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.annotating.annotations import reopen
from db.batches import withdraw_batch
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.items.imports import staged
from db.people.accounts import erase_person
from db.scores.write import run_scorer
from db.studies.ratings import alignment_stamp, ratings, ratings_stamp, scores_stamp
from exports.agreement.annotators import (
    beside_table,
    bias_table,
    item_pace,
    shares_table,
    similarity_table,
    speed_table,
)
from exports.agreement.compare import (
    between_annotators,
    between_parts,
    between_studies,
    comparable_statistics,
    criteria_at_once,
    difference_table,
)
from exports.agreement.counts import Wanted, confusions, shares_by_rater, units_behind
from exports.agreement.models import hard_table, posterior_table, rater_models, raters_table, uncertain_units
from exports.agreement.parts import by_part, over_time
from exports.agreement.planning import criterion_plan, plan_words, study_plan
from exports.agreement.quality import annotator_quality
from exports.agreement.study import AgreementReport, agreement_report, unmeasured
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.db.items.test_imports import Rows
from tests.db.items.test_imports import row as item_row
from tests.exports.labelled import PEOPLE, Labelled, every_scale, labelled, labelled_study, labels_of
from tests.makers import StudyInUse, make_member, make_person

ALPHA = "krippendorff_alpha_nominal"


@pytest.fixture
def study(sqlite_database: Database) -> Labelled:
    return labelled_study(sqlite_database)


@pytest.fixture
def report(sqlite_database: Database, study: Labelled) -> AgreementReport:
    return agreement_report(sqlite_database, study.researcher, study.study_id, resamples=50)


def given(criterion: str) -> dict[str, dict[str, str]]:
    """Item → annotator → label, from the rows that were imported."""
    found: dict[str, dict[str, str]] = {}
    for row in labels_of(60):
        if row.criterion == criterion:
            found.setdefault(row.item, {})[row.annotator] = row.value
    return found


# Reading --------------------------------------------------------------------------------------------------------------


def test_columns_hold_what_was_imported(database: Database) -> None:
    made = labelled_study(database, items=20)
    found = ratings(database, made.researcher, made.study_id)
    column = found.criteria[1]
    read = [
        (found.items.external_id[column.item[unit]], found.names[column.people[rater]], column.distinct[value],
         float(found.annotations.time[annotation]))
        for unit, rater, value, annotation in zip(
            column.unit, column.rater, column.value, column.annotation, strict=True)
    ]  # fmt: skip
    wanted = [
        (row.item, row.annotator, int(row.value), row.time.timestamp() if row.time else 0.0)
        for row in labels_of(20) if row.criterion == "clarity"
    ]  # fmt: skip
    assert sorted(read) == sorted(wanted)
    assert np.isnan(found.annotations.seconds).all()
    assert [found.items.category[place] for place in (0, 1, 2)] == ["Tables", "Text", None]


def test_the_stamp_changes_with_every_label_and_only_then(database: Database) -> None:
    made = StudyInUse(database, items=2)
    stamps = [ratings_stamp(database, made.researcher, made.study_id)]
    made.submit(0, made.work(0)["items"][0], {"right": "yes"})
    stamps.append(ratings_stamp(database, made.researcher, made.study_id))
    made.submit(0, reopen(database, made.annotators[0], made.study_id), {"right": "no"})
    stamps.append(ratings_stamp(database, made.researcher, made.study_id))
    assert len(set(stamps)) == 3
    assert ratings_stamp(database, made.researcher, made.study_id) == stamps[-1]


def test_the_stamp_of_alignment_changes_with_all_that_it_is_measured_on(database: Database, tmp_path: Path) -> None:
    made = StudyInUse(database, items=2)
    other = StudyInUse(database, items=1)
    admin = make_person(database, admin=True)
    stamps = [alignment_stamp(database, made.researcher, made.study_id)]

    def changed(what: str) -> None:
        now = alignment_stamp(database, made.researcher, made.study_id)
        assert now not in stamps, what
        assert alignment_stamp(database, made.researcher, made.study_id) == now
        stamps.append(now)

    for who, value in enumerate(("yes", "no", "yes")):
        made.submit(who, made.work(who)["items"][0], {"right": value})
        changed("a label")
    made.submit(0, reopen(database, made.annotators[0], made.study_id), {"right": "no"})
    changed("a correction")
    [disputed] = disputes(database, admin, made.study_id)
    decision = UnitDecision("right", "item", "no")
    adjudicate(database, admin, disputed.study_item_id, uid="d1", decisions=[decision])
    changed("an adjudication")
    run_scorer(database, made.researcher, made.project_id, scorer="exact_match")
    changed("scores")
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,criterion,value\ni00001,eve,right,yes\n")
    imported = import_label_table(database, admin, made.project_id, study="study", path=table)
    changed("imported labels")
    withdraw_batch(database, admin, made.project_id, imported.labels.batch, reason="by mistake")
    changed("a withdrawal")
    import_paths(database, admin, made.project_id, paths=[another_item(tmp_path)])
    changed("a new item")
    run_scorer(database, made.researcher, made.project_id, scorer="exact_match")
    changed("scores of the new item")
    erase_person(database, admin, made.annotators[0].name)
    changed("a name that is gone")
    before = stamps[-1]
    other.label_all(0)
    run_scorer(database, other.researcher, other.project_id, scorer="exact_match")
    assert alignment_stamp(database, made.researcher, made.study_id) == before


def test_the_stamp_changes_when_an_import_that_was_under_way_is_published(database: Database) -> None:
    made = StudyInUse(database, items=2)
    admin = make_person(database, admin=True)
    with staged(database, admin, made.project_id, reading=Rows(item_row(1), item_row(2))) as ready:
        before = alignment_stamp(database, made.researcher, made.study_id)
        with database.write() as session:
            ready.publish(session)
    assert alignment_stamp(database, made.researcher, made.study_id) != before


def test_the_stamp_of_alignment_costs_the_same_however_many_scores_there_are(sqlite_database: Database) -> None:
    def steps(made: StudyInUse) -> int:
        """Instructions that SQLite carries out for what the stamp asks of scores and items."""
        taken = 0

        def stepped() -> int:
            nonlocal taken
            taken += 1
            return 0

        with sqlite_database.read() as session:
            connection = session.connection()
            raw: Any = connection.connection.driver_connection
            raw.set_progress_handler(stepped, 1)
            connection.execute(scores_stamp(made.project_id)).one()
            raw.set_progress_handler(None, 1)
        return taken

    few, many = StudyInUse(sqlite_database, items=5), StudyInUse(sqlite_database, items=500)
    for made in (few, many):
        run_scorer(sqlite_database, made.researcher, made.project_id, scorer="exact_match")
    assert 0 < steps(many) < 1.5 * steps(few)


def another_item(folder: Path) -> Path:
    """A file with an item that the project does not have."""
    path = folder / "more.jsonl"
    path.write_text('{"id": "new", "question_key": "n", "question": "Which?", "answer": "This.", "system": "s0"}\n')
    return path


# Counts and units -----------------------------------------------------------------------------------------------------


def test_confusions_and_shares_count_what_was_given(report: AgreementReport) -> None:
    labels, criterion = given("right"), report.criteria[0]
    assert criterion.ratings is not None
    for (first, second), counts in confusions(criterion.ratings):
        both = [(said[first], said[second]) for said in labels.values() if {first, second} <= set(said)]
        assert counts == {cell: both.count(cell) for cell in set(both)}
    ada = [said["ada"] for said in labels.values()]
    assert shares_by_rater(criterion.ratings)["ada"] == {"yes": ada.count("yes") / 60, "no": ada.count("no") / 60}


@pytest.mark.parametrize("criterion", ["right", "clarity", "problems", "words", "ranking"])
def test_the_units_on_which_people_differ_are_found_on_every_scale(report: AgreementReport, criterion: str) -> None:
    measured = next(entry for entry in report.criteria if entry.criterion.name == criterion)
    labels = given(criterion)
    differing = [item for item, said in labels.items() if len(set(said.values())) > 1]
    found = units_behind(measured, Wanted())
    assert [unit.item for unit in found.units] == differing
    assert found.total == len(differing)
    assert all(unit.labels == labels[unit.item] for unit in found.units)
    assert len(units_behind(measured, Wanted(), 3).units) == 3
    assert units_behind(measured, Wanted(differing=False)).total == 60


def test_units_of_two_annotators_and_their_labels_are_found(report: AgreementReport) -> None:
    labels, criterion = given("right"), report.criteria[0]
    both = {item: said for item, said in labels.items() if {"ada", "dan"} <= set(said)}
    cell = [item for item, said in both.items() if (said["ada"], said["dan"]) == ("yes", "no")]
    found = units_behind(criterion, Wanted(between=("ada", "dan"), gave=("yes", "no")))
    assert [unit.item for unit in found.units] == cell
    differing = units_behind(criterion, Wanted(between=("ada", "dan")))
    assert differing.total == sum(said["ada"] != said["dan"] for said in both.values())
    assert units_behind(criterion, Wanted(differing=False, between=("ada", "dan"))).total == len(both)
    assert units_behind(criterion, Wanted(between=("ada", "nobody"))).total == 0
    none = units_behind(criterion, Wanted(differing=False, category=""))
    assert [unit.item for unit in none.units] == [item for item in labels if int(item[1:]) % 3 == 0]


# Annotators -----------------------------------------------------------------------------------------------------------


def test_each_annotator_has_a_row_in_every_table(report: AgreementReport) -> None:
    criterion = report.criteria[1]
    assert criterion.ratings is not None
    rest = agreement_with_rest(criterion.ratings, resamples=50)
    tables = [beside_table("t", rest), bias_table("t", rest), shares_table("t", criterion.ratings)]
    tables.append(similarity_table("t", similarity(criterion.ratings, "cohen_kappa")))
    for table in tables:
        assert table is not None
        assert {row[0] for row in table.rows} >= set(PEOPLE)
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert "Mean difference" in tables[0].columns if tables[0] else False


def test_time_an_item_counts_an_annotation_once_whatever_the_criteria(sqlite_database: Database) -> None:
    made = StudyInUse(sqlite_database, items=9)
    for who, seconds in enumerate((2.0, 4.0, 8.0)):
        while items := made.work(who)["items"]:
            made.submit(who, items[0], {"right": "yes"}, seconds=seconds)
    found = ratings(sqlite_database, made.researcher, made.study_id)
    speeds, drifts = item_pace(found)
    assert [(speed.median.value, speed.median.n) for speed in speeds] == [(2.0, 9), (4.0, 9), (8.0, 9)]
    assert speeds[0].relative.value == pytest.approx(2 / 6)
    assert [row[2][:5] for row in speed_table("s", speeds, drifts).rows] == ["2.0 s", "4.0 s", "8.0 s"]


def test_rater_models_say_how_they_went_or_why_there_is_none(report: AgreementReport) -> None:
    right, share, problems = report.criteria[0], report.criteria[2], report.criteria[3]
    assert right.ratings is not None
    models = rater_models("Right", right.ratings, seed=0, resamples=20)
    assert models.converged
    assert models.glad is not None
    assert any("starts reached this maximum" in note for note in models.notes)
    assert all("[" in cell for row in raters_table(models).rows for cell in row[1:])
    uncertain = uncertain_units(models)
    assert [unit.bits for unit in uncertain] == sorted((unit.bits for unit in uncertain), reverse=True)
    names = [(f"i{n}", "item") for n in range(60)]
    assert len(posterior_table(models, names).rows) == 60
    named = right.unit_names()
    hard = hard_table(models, named, 10)
    assert [row[0] for row in hard.rows] == [named[unit] for unit in models.glad.hardest[:10]]
    assert [float(row[2]) for row in hard.rows] == sorted(float(row[2]) for row in hard.rows)
    assert "the 20 hardest units" in models.in_words(named)
    assert {model["model"] for model in models.to_json(named)["models"]} == {"dawid_skene", "mace", "glad"}
    for pair, why in ((share, "labels"), (problems, "sets")):
        assert pair.ratings is not None
        none = rater_models("t", pair.ratings, seed=0)
        assert none.skene is None
        assert why in (none.reason or "")


# Parts ----------------------------------------------------------------------------------------------------------------


def test_parts_are_measured_on_their_own_units(report: AgreementReport) -> None:
    criterion = report.criteria[0]
    assert criterion.ratings is not None
    found = {group.group: group for group in by_part(criterion, "category", resamples=0, seed=0)}
    assert {name: group.n_units for name, group in found.items()} == {"Tables": 20, "Text": 20, None: 20}
    labels = [said for item, said in given("right").items() if int(item[1:]) % 3 == 1]
    raw = [
        np.mean([a == b for i, a in enumerate(said.values()) for j, b in enumerate(said.values()) if i != j])
        for said in labels if len(said) > 1
    ]  # fmt: skip
    assert found["Tables"].statistics[0].value == pytest.approx(np.mean(raw))
    stretches = over_time(criterion, resamples=0, seed=0)
    assert sum(group.n_units for group in stretches) == 60
    assert all(a.last is not None and b.first is not None and a.last <= b.first
               for a, b in pairwise(stretches))  # fmt: skip


def test_labels_without_times_have_no_order_that_anything_is_measured_over(
    sqlite_database: Database, study: Labelled
) -> None:
    db, actor = sqlite_database, study.researcher
    for name in PEOPLE:
        make_member(db, study.project_id, make_person(db, f"{name}.undated"), "annotator")
    rows = [row._replace(time=None, annotator=f"{row.annotator}.undated") for row in labels_of(60)]
    people = tuple(f"{name}.undated" for name in PEOPLE)
    design = StudyDesign(name="undated", annotators=people, overlap=1, order="given")
    made = create_study(db, actor, study.project_id, protocol=every_scale(), design=design)
    import_labels(db, actor, made.study_id, rows=rows, source="table.csv")
    criterion = agreement_report(db, actor, made.study_id, resamples=0).criteria[0]
    assert over_time(criterion, resamples=0, seed=0) == ()
    assert criterion.ratings is not None
    assert [change.n_ratings for change in drifts(criterion.ratings, criterion.times)] == [0, 0, 0, 0]
    team = [one for one in annotator_quality(db, actor, made.study_id) if one.member.submitted]
    assert len(team) == len(PEOPLE)
    for annotator in team:
        assert annotator.with_rest.n > 50
        assert (annotator.quarters, annotator.remarks) == ([], [])
    # Those that have a time are measured over it, whatever the others lack.
    rows = [row._replace(time=None) if row.item > "i00045" else row for row in labels_of(60)]
    design = design.model_copy(update={"name": "some"})
    made = create_study(db, actor, study.project_id, protocol=every_scale(), design=design)
    import_labels(db, actor, made.study_id, rows=rows, source="table.csv")
    some = over_time(agreement_report(db, actor, made.study_id, resamples=0).criteria[0], resamples=0, seed=0)
    assert [part.n_units for part in some] == [23, 22]


# Comparisons ----------------------------------------------------------------------------------------------------------


def test_two_studies_of_the_same_items_are_paired_and_of_some_of_them_clustered(
    sqlite_database: Database, study: Labelled, report: AgreementReport
) -> None:
    db, criterion = sqlite_database, report.criteria[0]
    for n, paired, note in ((60, True, 0), (40, True, 1)):
        other = labelled(db, study.researcher, study.project_id, items=n, name=f"other {n}", noise=0.6)
        theirs = unmeasured(ratings(db, study.researcher, other), "right")
        found = between_studies(criterion, theirs, ("first", "other"), ALPHA, seed=0, resamples=100)
        assert (found.found.paired, len(found.notes)) == (paired, note), n
        assert theirs.ratings is not None
        assert criterion.ratings is not None
        values = [measure(table, ALPHA, 0)[0].value for table in (criterion.ratings, theirs.ratings)]
        assert (found.found.a.value, found.found.b.value) == pytest.approx(values)
        assert "difference is +0." in found.sentence
    with pytest.raises(NotFound, match=r"no criterion 'colour'\. It has: right"):
        unmeasured(criterion.found, "colour")


def test_groups_of_annotators_are_compared_on_the_same_units(report: AgreementReport) -> None:
    criterion = report.criteria[0]
    asked = {"seed": 0, "resamples": 50}
    groups = (("ada", "ben"), ("chloe", "dan"))
    found = between_annotators(criterion, groups, ("a", "b"), ALPHA, **asked)  # type: ignore[arg-type]
    labels = given("right")
    for side, (first, second) in zip((found.found.a, found.found.b), groups, strict=True):
        assert side.n_units == sum({first, second} <= set(said) for said in labels.values())
    assert [row[0] for row in difference_table(found).rows] == ["a", "b", "a − b"]
    with pytest.raises(InvalidInput, match="'ada' is in both groups"):
        between_annotators(criterion, (("ada", "ben"), ("ada", "dan")), ("a", "b"), ALPHA, **asked)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="b has fewer than two"):
        between_annotators(criterion, (("ada", "ben"), ("dan",)), ("a", "b"), ALPHA, **asked)  # type: ignore[arg-type]


def test_categories_are_compared_and_an_unknown_one_is_named(report: AgreementReport) -> None:
    criterion = report.criteria[0]
    found = between_parts(criterion, "category", ("Tables", ""), ALPHA, seed=0, resamples=50)
    assert found.names == ("Tables", "no category")
    assert not found.found.paired
    with pytest.raises(InvalidInput, match="'Maps'"):
        between_parts(criterion, "category", ("Tables", "Maps"), ALPHA, seed=0, resamples=50)


def test_criteria_are_measured_on_the_same_items(report: AgreementReport) -> None:
    found = criteria_at_once(report.criteria, seed=0, resamples=50, by_question=False)
    assert [member.criterion for member in found.members] == [
        "right", "clarity", "share", "problems", "words", "ranking",
    ]  # fmt: skip
    assert [member.value for member in found.members] == [
        criterion.headline.value for criterion in report.criteria if criterion.headline
    ]
    with pytest.raises(InvalidInput, match="Choose two"):
        criteria_at_once(report.criteria[:1], seed=0, resamples=50, by_question=False)


def test_only_coefficients_with_one_value_that_fit_the_scale_are_offered(report: AgreementReport) -> None:
    offered = {
        criterion.criterion.name: comparable_statistics(criterion.ratings)
        for criterion in report.criteria
        if criterion.ratings
    }
    assert offered["right"][0] == ALPHA
    assert not {"cohen_kappa", "specific_agreement", "gwet_ac2_linear", "icc_1_1"} & set(offered["right"])
    assert {"krippendorff_alpha_ordinal", "gwet_ac2_ordinal"} <= set(offered["clarity"])
    assert offered["problems"][0] == "krippendorff_alpha_masi"


# Plans ----------------------------------------------------------------------------------------------------------------


def test_a_plan_says_how_many_items_or_why_there_is_none(report: AgreementReport) -> None:
    right, problems, ranking = report.criteria[0], report.criteria[3], report.criteria[5]
    assert right.ratings is not None
    found = study_plan(right.ratings, ALPHA, items=(50, 200), simulations=40)
    assert {study.n_annotators for study in found.studies} == {3, 4, 5}
    wide, narrow, tiny = (plan_words(found, width)[0] for width in (0.9, 0.25, 0.01))
    assert "fewer than 50 items" in wide
    assert "about" in narrow
    assert "beyond what was simulated" in tiny
    assert criterion_plan("t", problems.ratings, 0.2).reason == "labels of the scale set cannot be planned with"
    assert criterion_plan("t", ranking.ratings, 0.2).to_json()["studies"] == []
