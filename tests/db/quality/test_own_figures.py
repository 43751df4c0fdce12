"""What annotators see of their own figures: where the study says so, of themselves, and not of today."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from annotators.errors import InvalidInput
from db.annotating.amendments import StudyChange, amend_study, amendments_of
from db.annotating.annotations import reopen
from db.annotating.my_progress import my_progress
from db.engine import Database
from db.models import now
from db.quality.gold import GoldRow, set_gold
from db.quality.own_figures import my_figures
from tests.makers import StudyInUse, make_item


def study_of(db: Database, **changes: Any) -> StudyInUse:
    """Twelve items that three people labelled: the first says no of the first three, where both others say yes."""
    study = StudyInUse(db, **{"items": 12, "annotators": 3, "overlap": 3, **changes})
    for who in (0, 1, 2):
        for number in range(12):
            value = "no" if who == 0 and number < 3 else "yes"
            study.submit(who, study.work(who)["items"][0], {"right": value})
    return study


@pytest.mark.parametrize("seen", ["none", "progress"])
def test_figures_are_told_only_where_the_study_says_so(database: Database, seen: str) -> None:
    study = study_of(database, own_figures=seen)
    assert my_figures(database, study.annotators[0], before=now() + timedelta(days=1)) == []
    assert [row.told for row in my_progress(database, study.annotators[0])] == [seen != "none"]


def test_somebody_sees_how_often_they_gave_what_most_of_the_rest_gave(database: Database) -> None:
    study = study_of(database, own_figures="quality")
    [found] = my_figures(database, study.annotators[0], before=now() + timedelta(days=1))
    assert (found.with_rest.hits, found.with_rest.n, found.with_rest.share, found.gold) == (9, 12, 0.75, None)
    # Of the second the first three are a tie among the two others.
    [other] = my_figures(database, study.annotators[1], before=now() + timedelta(days=1))
    assert (other.with_rest.hits, other.with_rest.n, other.with_rest.share) == (9, 9, None)
    assert found.self_agreement.share is None


def test_what_is_submitted_or_corrected_today_moves_nothing(database: Database) -> None:
    study = study_of(database, own_figures="quality")
    assert my_figures(database, study.annotators[0])[0].with_rest.n == 0
    until = now()
    before = my_figures(database, study.annotators[0], before=until)
    item = study.work(0)["last"]
    again = reopen(database, study.annotators[0], study.study_id, assignment_id=item)
    study.submit(0, again, {"right": "no"})
    assert my_figures(database, study.annotators[0], before=until) == before


def test_gold_is_told_where_the_study_says_so_and_never_of_few(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=1, overlap=1, own_figures="gold")
    names = [f"g{number:02}" for number in range(10)]
    for name in names:
        make_item(database, study.project_id, name)
    rows = [GoldRow(line, name, "right", "item", "yes") for line, name in enumerate(names, 2)]
    set_gold(database, study.researcher, study.study_id, rows=rows, rates={"gold_rate": 0.5}, reason="to see")
    study.label_all(0)
    [found] = my_figures(database, study.annotators[0], before=now() + timedelta(days=1))
    assert found.gold is not None and found.gold.hits == found.gold.n == 10 and found.gold.share == 1.0


def test_an_amendment_changes_what_is_seen(database: Database) -> None:
    study = study_of(database)
    change = StudyChange(own_figures="quality")
    said = amend_study(database, study.researcher, study.study_id, change=change, reason="they asked")
    assert said == ["own figures progress → quality"]
    assert len(my_figures(database, study.annotators[0])) == 1
    [row] = amendments_of(database, study.researcher, study.study_id)
    assert (row.what, row.before, row.after) == ("own_figures", "progress", "quality")
    with pytest.raises(InvalidInput, match="'all' says not what"):
        amend_study(
            database, study.researcher, study.study_id, change=StudyChange(own_figures="all"), reason="they asked"
        )
