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


def test_two_judges_by_majority_compare_nothing_and_the_report_says_what_does(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """A majority of two has a label where both say the same, which is what each of them says."""
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.2, "b": 0.2})
    about = (sqlite_database, admin, made.study_id)
    for rule in ("majority", "dawid_skene"):
        found = panel_report(*about, judges=["a", "b"], rule=rule, asked=FEW)  # type: ignore[arg-type]
        assert (found.statistics, found.panels) == ([], [])
        assert [note.rpartition(": ")[2] for note in found.notes] == [
            "name a third judge", "name a third judge, or take the mean"
        ]  # fmt: skip
    mean = panel_report(*about, judges=["a", "b"], rule="mean", asked=FEW)
    assert {entry.criterion for entry in mean.statistics} == {"quality"}
    assert any("majority of three judges" in note for note in mean.notes), "yes and no have no mean"
    [(labels, panel)] = mean.panels
    assert panel.labels.keys() == labels.judges["a"].keys() | labels.judges["b"].keys(), "no unit is left out"


def test_a_panel_says_on_how_many_units_it_is_compared_and_why_not_on_the_rest(
    sqlite_database: Database, tmp_path: Path
) -> None:
    admin = first_administrator(sqlite_database)
    made = panelled(sqlite_database, admin, tmp_path, {"a": 0.3, "b": 0.3, "c": 0.3, "d": 0.3})
    found = panel_report(sqlite_database, admin, made.study_id, judges=list("abcd"), asked=FEW)
    [(labels, panel)] = [pair for pair in found.panels if pair[0].name == "right"]
    n = next(entry.n for entry in found.statistics if entry.criterion == "right")
    units = len({unit for given in labels.people.values() for unit in given})
    assert 0 < panel.ties < units and n < units
    [said] = [note for note in found.notes if note.startswith(f"{labels.title}: compared on")]
    assert f"compared on {n:,} of {units:,} units; the rest: " in said
    assert "on which the judges tie" in said
    assert any("an odd number of judges leaves fewer" in note for note in found.notes)


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
