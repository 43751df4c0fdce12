"""What is said of a judge from the labels that are stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.errors import InvalidInput, NotFound
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from db.engine import Database
from exports.judging.check import CheckReport, check_report, tables
from exports.judging.data import judged_study
from tests.exports.judging.makers import judge_labels, panelled
from tests.makers import first_administrator

FEW = Resampling(resamples=200)


@pytest.fixture
def found(sqlite_database: Database, tmp_path: Path) -> CheckReport:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2, "b": 0.2})
    return check_report(sqlite_database, admin, made.study_id, judge="a", asked=FEW, family=["quay"])


def test_every_figure_has_its_rows_and_an_interval_or_a_reason(found: CheckReport) -> None:
    assert {criterion.criterion for criterion in found.criteria} == {"right", "quality"}
    for entry in found.statistics:
        assert entry.metric == "a" or entry.name.startswith("human_ceiling")
        assert (entry.value is None) == (entry.reason is not None), entry
        assert entry.value is None or entry.method, entry
    error = found.find("judge_error", criterion="right")
    assert error is not None
    assert error.low is not None
    assert error.high is not None
    assert error.low <= 0.2 <= error.high
    assert "against the label that most people gave" in (error.method or "")
    assert [note for note in found.notes if TAKEN_AS_RIGHT in note] == [f"Right: {TAKEN_AS_RIGHT}"]


def test_a_judge_by_chance_lowers_agreement_as_one_more_rater(found: CheckReport) -> None:
    change = found.find("agreement_change", criterion="quality")
    assert change is not None
    assert change.high is not None
    assert change.high < 0
    of_people, with_judge = (
        found.find(name, criterion="quality") for name in ("agreement_people", "agreement_with_judge")
    )
    assert of_people is not None
    assert with_judge is not None
    assert with_judge.value == pytest.approx((of_people.value or 0) + (change.value or 0))


def test_its_own_family_is_known_by_words_in_the_names_of_systems(found: CheckReport) -> None:
    bias = found.find("family_bias", criterion="right")
    assert bias is not None
    assert "20 by its own family, 40 by others" in (bias.method or "") or bias.n < 60
    assert "systems with 'quay' in their name" in (bias.method or "")


def test_confusions_are_in_all_and_by_system_and_category(found: CheckReport) -> None:
    (right,) = [criterion for criterion in found.criteria if criterion.criterion == "right"]
    whole, *groups = right.confusions
    error = found.find("judge_error", criterion="right")
    assert error is not None
    assert int(whole.counts.sum()) == error.n
    assert {table.group for table in groups} == {"harbour", "lantern", "quay", "Text", "Tables"}
    by_system = [table for table in groups if table.by == "system"]
    assert sum(int(table.counts.sum()) for table in by_system) == error.n


def test_a_confusion_says_how_many_units_it_holds_of_how_many_and_why_not_the_rest(
    sqlite_database: Database, tmp_path: Path
) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2})
    judge_labels(
        sqlite_database, made.study_id, "half",
        lambda item: {"quality": 3, **({"right": "yes"} if sum(map(ord, item)) % 2 else {})},
    )  # fmt: skip
    found = check_report(sqlite_database, admin, made.study_id, judge="half", asked=FEW)
    study = judged_study(sqlite_database, admin, made.study_id, ["half"]).criterion("right")
    people, tied = study.majority
    unlabelled = len(people.keys() - study.judges["half"].keys())
    [right] = [criterion for criterion in found.criteria if criterion.criterion == "right"]
    whole = right.confusions[0]
    assert whole.left_out == {"without a label of the judge": unlabelled} and not tied
    n = int(whole.counts.sum())
    held = f"{n:,} of {n + unlabelled:,} units; the rest: {unlabelled:,} without a label of the judge"
    assert whole.held.startswith(held)
    by_system = [table for table in right.confusions if table.by == "system"]
    assert sum(sum(table.left_out.values()) for table in by_system) == unlabelled
    captions = [table.caption for table in tables(found)]
    assert any(held in caption for caption in captions), "it stands beside the table, in files as well"


def test_what_was_never_asked_says_how_to_ask(found: CheckReport) -> None:
    again = found.find("self_agreement", criterion="right")
    assert again is not None
    assert "--repeats" in (again.reason or "")
    cost = found.find("cost_of_label", criterion="right")
    assert cost is not None
    assert "no request of this judge is in the ledger" in (cost.reason or "")


def test_its_tables_have_a_cell_for_every_column(found: CheckReport) -> None:
    made = list(tables(found))
    assert {table.caption.partition(": ")[2] for table in made} >= {
        "beside people",
        "on what it errs",
        "against itself",
    }
    assert all(len(row) == len(table.columns) for table in made for row in table.rows)


def test_settled_labels_may_stand_for_people(sqlite_database: Database, tmp_path: Path) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2})
    found = check_report(sqlite_database, admin, made.study_id, judge="a", by="settled", asked=FEW)
    error = found.find("judge_error", criterion="right")
    assert error is not None
    assert error.value is not None
    assert "against the settled label" in (error.method or "")


def test_a_judge_that_is_not_there_is_refused_with_those_that_are(sqlite_database: Database, tmp_path: Path) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2})
    with pytest.raises(NotFound, match=r"No judge 'ada'.*Judges of it: 'a'"):
        check_report(sqlite_database, admin, made.study_id, judge="ada")
    with pytest.raises(InvalidInput, match="ε is 1"):
        check_report(sqlite_database, admin, made.study_id, judge="a", epsilon=1.0)


def test_a_judge_that_says_one_label_saves_nothing_and_the_label_is_named(
    sqlite_database: Database, tmp_path: Path
) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2})
    judge_labels(sqlite_database, made.study_id, "nodder", lambda _: {"right": "yes"})
    found = check_report(sqlite_database, admin, made.study_id, judge="nodder", asked=FEW)
    still = found.find("labels_still_needed", criterion="right")
    assert still is not None
    assert (still.reason or "").startswith("the judge gave every unit the label Yes, so that there is nothing to")
