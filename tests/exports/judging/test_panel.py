"""A panel of judges over a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.errors import InvalidInput, NotFound
from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from exports.judging.panel import panel_report
from tests.exports.judging.makers import panelled
from tests.makers import first_administrator

FEW = Resampling(resamples=200)


def test_a_panel_beats_its_members(sqlite_database: Database, tmp_path: Path) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2, "b": 0.2, "c": 0.2})
    found = panel_report(sqlite_database, admin, made.study_id, judges=["a", "b", "c"], asked=FEW)
    values = {(s.name, s.group): s.value for s in found.statistics if s.criterion == "right"}
    assert {name for name, _ in values} == {"panel_right", "member_right", "best_member_right", "panel_gain"}
    assert (values["panel_right", None] or 0) > max(values["member_right", name] or 0 for name in "abc")
    written = found.to_json()
    assert [one["criterion"] for one in written["criteria"]] == ["right", "quality"]
    assert {one["label"] for one in written["labels"] if one["criterion"] == "quality"} <= {1, 2, 3, 4, 5}
    modelled = panel_report(
        sqlite_database, admin, made.study_id, judges=["a", "b", "c"], rule="dawid_skene", asked=FEW
    )
    assert "Dawid–Skene" in modelled.to_json()["criteria"][0]["method"]


def test_what_no_panel_is_made_of_is_refused(sqlite_database: Database, tmp_path: Path) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2, "b": 0.2})
    about = (sqlite_database, admin, made.study_id)
    with pytest.raises(NotFound, match=r"No judge 'ada'.*Judges of it: 'a', 'b'"):
        panel_report(*about, judges=["a", "ada"])
    with pytest.raises(InvalidInput, match="name two judges or more"):
        panel_report(*about, judges=["a"])
    with pytest.raises(InvalidInput, match="named twice"):
        panel_report(*about, judges=["a", "a"])
