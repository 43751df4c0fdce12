"""Agreed items that adjudicators decide as well: which, how they come, and what is overturned."""

from __future__ import annotations

import pytest

from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.items.sampling import falls_among
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes
from db.adjudicating.listed import listed_disputes
from db.adjudicating.reviewed import reviewed_items
from db.engine import Database
from exports.results.base import REPORTS
from exports.results.labels import StudyLabels
from tests.db.adjudicating.test_adjudications import adjudicator, final, voted

AGREED, DISPUTED = ("yes", "yes", "yes"), ("yes", "yes", "no")


def drawn(n: int, share: float, seed: int) -> list[str]:
    names = [f"i{number + 1:05}" for number in range(n)]
    return [name for name in names if falls_among(name, share, "review", seed)]


def say(value: str, reason: str | None = None) -> list[UnitDecision]:
    return [UnitDecision("right", "item", value, reason)]


def test_a_share_of_the_agreed_items_comes_among_the_disputed_and_nothing_tells_them_apart(database: Database) -> None:
    study = voted(database, *[AGREED] * 20, *[DISPUTED] * 4, review_agreed=0.4, seed=3)
    actor = adjudicator(study)
    expected = drawn(20, 0.4, 3)
    assert 2 < len(expected) < 14
    listed = listed_disputes(database, actor, study.study_id)
    disputed = [f"i{number:05}" for number in range(21, 25)]
    assert sorted(row.item for row in listed) == sorted(expected + disputed)
    assert [row.item for row in listed][-len(expected) :] != expected  # they stand among the others
    assert {row.stage for row in listed} == {"first"}
    queue = disputes(database, actor, study.study_id)
    assert {row.n_disputed for row in queue} == {1}
    seen = [disputed_item(database, actor, row.study_item_id) for row in queue]
    assert {(item.state, unit.outcome, unit.value, unit.needs_decision) for item in seen for unit in item.units} == {
        ("disputed", "open", None, True)
    }
    # Until they are decided their labels stand.
    assert [state for _, state, _ in final(study)] == ["unanimous"] * 20 + ["open"] * 4


def test_what_is_overturned_is_reported_with_an_interval(database: Database) -> None:
    study = voted(database, *[AGREED] * 12, DISPUTED, review_agreed=1)
    actor = adjudicator(study)
    queue = [row.study_item_id for row in disputes(database, actor, study.study_id)]
    assert len(queue) == 13
    agreed = [place for place in queue if len(disputed_item(database, actor, place).units[0].counts) == 1]
    with pytest.raises(InvalidInput, match="Give a reason"):
        adjudicate(database, actor, agreed[0], uid="x", decisions=say("no"))
    with pytest.raises(InvalidInput, match="Not decided yet: Right"):
        adjudicate(database, actor, agreed[0], uid="x", decisions=[])
    for number, place in enumerate(agreed[:10]):
        value, why = ("no", "the page says otherwise") if number < 2 else ("yes", None)
        adjudicate(database, actor, place, uid=str(number), decisions=say(value, why))
    [other] = [place for place in queue if place not in agreed]
    adjudicate(database, actor, other, uid="disputed", decisions=say("no", "it does"))  # no agreed item
    found = reviewed_items(database, study.researcher, study.study_id)
    assert (found.drawn, len(found.decided)) == (12, 10)
    assert sum(any(item.overturned.values()) for item in found.decided) == 2
    labels = StudyLabels.of(database, study.researcher, study.study_id)
    results = REPORTS.get("reviewed").make(labels, Resampling())
    whole, right = results.figures
    for figure in (whole, right):
        assert (figure.value, figure.n) == (pytest.approx(0.2), 10)
        assert figure.low is not None and figure.high is not None and figure.low < 0.2 < figure.high
    assert (whole.criterion, right.criterion) == (None, "right")
    assert "12 so far, of which adjudicators have decided 10" in results.sections[0].words[0]


def test_without_a_share_agreed_items_stay_agreed_and_a_share_above_one_is_refused(database: Database) -> None:
    study = voted(database, AGREED)
    assert disputes(database, study.researcher, study.study_id) == []
    labels = StudyLabels.of(database, study.researcher, study.study_id)
    assert not REPORTS.get("reviewed").make(labels, Resampling()).figures
    with pytest.raises(InvalidInput, match="2 is no share of the agreed items"):
        voted(database, AGREED, review_agreed=2)


def test_two_decide_an_agreed_item_as_any_other(database: Database) -> None:
    study = voted(database, AGREED, review_agreed=1, adjudication="double")
    rosa, sam = adjudicator(study), adjudicator(study)
    [item] = [row.study_item_id for row in disputes(database, rosa, study.study_id)]
    adjudicate(database, rosa, item, uid="a", decisions=say("yes"))
    assert final(study) == [("i00001", "unanimous", "yes")]
    adjudicate(database, sam, item, uid="b", decisions=say("yes"))
    assert final(study) == [("i00001", "adjudicated", "yes")]
