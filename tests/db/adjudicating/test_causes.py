"""Causes of disagreement are said of one's own accord, counted by criterion, and notes gathered for the guidelines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotators.asking.asides import CONFIDENCES
from annotators.errors import InvalidInput
from app.widgets import adjudicate as widget
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.adjudicating.causes import CAUSES, LONGEST_NOTE, cause_counts, guideline_notes
from db.engine import Database
from exports.results.document import Results
from tests.db.adjudicating.test_adjudications import adjudicator, voted
from tests.db.adjudicating.test_listed_and_tables import table, take


def test_causes_are_counted_of_the_decisions_that_stand(database: Database, tmp_path: Path) -> None:
    study = voted(database, *[("yes", "no")] * 4)
    actor = adjudicator(study)
    assert cause_counts(database, actor, study.study_id) == []
    heading = ("item", "criterion", "value", "cause", "confidence", "note")
    rows = [
        ("i00001", "right", "yes", "guideline_gap", "high", "Say what right means."),
        ("i00002", "right", "no", "slip", "low", ""),
        ("i00003", "right", "no", "slip", "", ""),
        ("i00004", "right", "no", "", "", ""),
    ]
    assert take(study, actor, table(tmp_path / "d.csv", *rows, heading=heading))["items"] == 4
    again = table(tmp_path / "e.csv", ("i00002", "right", "yes", "true_difference", "low", ""), heading=heading)
    take(study, actor, again, again=True)
    [row] = cause_counts(database, actor, study.study_id)
    assert (row.criterion, row.units) == ("right", 4)
    assert row.causes == {"item_unclear": 0, "guideline_gap": 1, "slip": 1, "true_difference": 1}
    assert row.confidences == {"low": 1, "medium": 0, "high": 1}
    [note] = guideline_notes(database, actor, study.study_id)
    assert (note.criterion, note.item, note.note, note.by) == ("right", "i00001", "Say what right means.", actor.name)
    # The same row with another cause is another decision.
    changed = table(tmp_path / "f.csv", ("i00003", "right", "no", "item_unclear", "", ""), heading=heading)
    assert take(study, actor, changed, again=True)["unchanged"] == 0
    found = Results.of_study(database, study.researcher, study.study_id).to_json()
    shares = {row["label"]: row for row in found["rows"] if row["name"] == "cause"}
    assert [(label, round(row["value"], 4), row["n"]) for label, row in shares.items()] == [
        ("item_unclear", 0.3333, 3),
        ("guideline_gap", 0.3333, 3),
        ("slip", 0.0, 3),
        ("true_difference", 0.3333, 3),
    ]
    assert all(row["low"] <= row["value"] <= row["high"] for row in shares.values())
    [shown] = [table for table in found["tables"] if "Causes" in table["caption"]]
    assert shown["rows"] == [["Right", "4", "1", "1", "0", "1", "1", "0", "1"]]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"cause": "bad luck"}, "'bad luck' is no cause. Take one of: item_unclear"),
        ({"confidence": "very"}, "'very' is no confidence. Take one of: low, medium, high"),
        ({"note": "x" * (LONGEST_NOTE + 1)}, "The note has 2,001 characters"),
    ],
)
def test_what_is_no_cause_is_refused(database: Database, said: dict[str, str], words: str) -> None:
    study = voted(database, ("yes", "no"))
    actor = adjudicator(study)
    with database.read() as session:
        from sqlmodel import select

        from db.models import StudyItem

        place = session.exec(select(StudyItem.id).where(StudyItem.study_id == study.study_id)).one() or 0
    with pytest.raises(InvalidInput, match=words):
        adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "item", "yes", **said)])


def test_without_causes_results_say_nothing_of_them(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    found = Results.of_study(database, study.researcher, study.study_id).to_json()
    assert not [row for row in found["rows"] if row["name"] == "cause"]
    assert not [table for table in found["tables"] if "Causes" in table["caption"]]


def test_the_page_has_a_word_for_each() -> None:
    words = (Path(widget.__file__).parent / "text.js").read_text(encoding="utf-8")
    for name, known in (("causes", CAUSES), ("confidences", CONFIDENCES)):
        [listed] = re.findall(rf"^  {name}: {{ (.*) }},$", words, re.MULTILINE)
        assert dict(re.findall(r"(\w+): '([^']+)'", listed)) == known
