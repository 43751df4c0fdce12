"""The report of ambiguity, and the split: ambiguous items with as many clear ones of the same kind, drawn by seed."""

from __future__ import annotations

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from db.engine import Database
from db.projects import find_project
from db.studies.revisions import revise_item
from exports.results.ambiguity import ambiguity_split
from exports.results.base import Figure
from exports.results.document import Results
from exports.results.labels import StudyLabels
from tests.exports.results.verified import Made, labelled

ITEM = ("ambiguity", "item")
CLEAR, AMBIGUOUS = ("clear",) * 3, ("ambiguous",) * 3


def ambiguous_and_clear(db: Database) -> Made:
    """Ten items of two categories: 3 ambiguous, 5 clear, on 2 people differ."""
    split = ("clear", "clear", "ambiguous")
    given = {f"i{number}": {ITEM: AMBIGUOUS if number < 3 else CLEAR} for number in range(8)}
    given |= {"i8": {ITEM: split}, "i9": {ITEM: split}}
    return labelled(db, given, protocol="ambiguity", categories=("Tables", "Text"))


def figures(results: Results) -> dict[str, Figure]:
    return {figure.name: figure for figure in results.figures if figure.name != "share" and figure.group is None}


def test_agreement_is_that_before_anything_was_resolved(sqlite_database: Database) -> None:
    study = ambiguous_and_clear(sqlite_database)
    found = Results.of_study(sqlite_database, study.researcher, study.study_id)
    rows = [
        (f"i{n}", who, "ambiguous" if n < 3 or (n > 7 and who == 2) else "clear") for n in range(10) for who in range(3)
    ]
    expected = measure(Ratings.from_triples(*zip(*rows, strict=True), None, "nominal"), resamples=0)
    alpha = next(figure for figure in expected if figure.name == "krippendorff_alpha_nominal")
    assert figures(found)["krippendorff_alpha_nominal"].value == pytest.approx(alpha.value)
    pairs = [figure for figure in found.figures if figure.name == "cohen_kappa"]
    assert len(pairs) == 3
    assert found.tables()[0].caption == "Ambiguity"


def test_what_differed_and_what_was_settled_are_shares_of_items(sqlite_database: Database) -> None:
    study = ambiguous_and_clear(sqlite_database)
    found = figures(Results.of_study(sqlite_database, study.researcher, study.study_id))
    assert (found["share_differing"].value, found["share_differing"].n) == (0.2, 10)
    assert (found["share_resolved"].value, found["share_resolved"].n) == (0.0, 2)
    assert (found["share_ambiguous"].value, found["share_ambiguous"].n) == (3 / 8, 8)


def test_the_clear_set_has_the_size_and_the_kinds_of_the_ambiguous_one(sqlite_database: Database) -> None:
    study = ambiguous_and_clear(sqlite_database)
    labels = StudyLabels.of(sqlite_database, study.researcher, study.study_id)
    split = ambiguity_split(labels, match=("category",), seed=4)
    by_set = {name: [row for row in split.table.rows if row[1] == name] for name in ("ambiguous", "clear")}
    assert [row[0] for row in by_set["ambiguous"]] == ["i0", "i2", "i1"]
    assert sorted(row[3] for row in by_set["clear"]) == sorted(row[3] for row in by_set["ambiguous"])
    for row in by_set["clear"]:
        assert (row[2], "clear", row[0], row[3]) in {(a, "clear", b, c) for a, _, b, c, *_ in by_set["ambiguous"]}
    assert ambiguity_split(labels, match=("category",), seed=4) == split
    others = {ambiguity_split(labels, match=("category",), seed=seed).table.rows for seed in range(6)}
    assert len(others) > 1
    assert not split.notes


def test_too_few_clear_items_of_a_kind_are_said(sqlite_database: Database) -> None:
    given = {"a": {ITEM: AMBIGUOUS}, "b": {ITEM: AMBIGUOUS}, "c": {ITEM: CLEAR}}
    study = labelled(sqlite_database, given, protocol="ambiguity")
    labels = StudyLabels.of(sqlite_database, study.researcher, study.study_id)
    split = ambiguity_split(labels, match=("system",))
    assert [row[2] for row in split.table.rows] == ["c", "", "a"]
    assert split.notes == ["1 ambiguous item has no clear partner of system 'reference'."]


def test_what_was_rewritten_is_counted_and_stands_in_the_split_beside_the_original(sqlite_database: Database) -> None:
    study = ambiguous_and_clear(sqlite_database)
    before = figures(Results.of_study(sqlite_database, study.researcher, study.study_id))["share_rewritten"]
    assert (before.value, before.n) == (0.0, 3)
    fields = {"question": "Which of the two in 2023?", "answer": "Evidence inconclusive."}
    revise = {"i0": fields, "i1": {"category": "Other"}, "i5": fields}  # of these one is ambiguous and asked otherwise
    project_id = find_project(sqlite_database, study.researcher, study.project).project_id
    for external_id, given in revise.items():
        revise_item(
            sqlite_database, study.researcher, project_id, external_id=external_id, fields=given, reason="vague"
        )
    found = figures(Results.of_study(sqlite_database, study.researcher, study.study_id))["share_rewritten"]
    assert (found.value, found.n) == (1 / 3, 3)
    labels = StudyLabels.of(sqlite_database, study.researcher, study.study_id)
    table = ambiguity_split(labels, match=("category",)).table
    assert table.columns[-2:] == ("rewritten_question", "rewritten_answer")
    assert {row[0]: row[-2:] for row in table.rows}["i0"] == tuple(fields.values())
    assert {row[0]: row[-2:] for row in table.rows}["i1"] == ("", "")


def test_nothing_ambiguous_has_no_share_that_is_rewritten(sqlite_database: Database) -> None:
    study = labelled(sqlite_database, {"a": {ITEM: CLEAR}}, protocol="ambiguity")
    found = figures(Results.of_study(sqlite_database, study.researcher, study.study_id))["share_rewritten"]
    assert (found.value, found.reason) == (None, "no question is settled as ambiguous")


def test_a_field_that_no_item_has_and_another_protocol_are_refused(sqlite_database: Database) -> None:
    study = ambiguous_and_clear(sqlite_database)
    labels = StudyLabels.of(sqlite_database, study.researcher, study.study_id)
    with pytest.raises(InvalidInput, match=r"No item has a field 'colour' to match on\. Known: category, system"):
        ambiguity_split(labels, match=("colour",))
    other = labelled(sqlite_database, {"z": {}})
    with pytest.raises(InvalidInput, match="does not ask whether"):
        ambiguity_split(StudyLabels.of(sqlite_database, other.researcher, other.study_id))
