"""What an export says of final labels and of versions: how it was reached, and which version an item is in."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pytest

from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.engine import Database
from db.releasing.releases import make_release
from exports.bundles import bundle
from exports.bundles.bundle import export_project
from exports.bundles.manifest import Manifest
from exports.bundles.verify import verify_against
from tests.db.releasing.test_recheck import answer, judged, revise, send
from tests.db.releasing.test_states import accepting, label, two_by
from tests.exports.bundles.test_export_bytes import study_items
from tests.makers import StudyInUse


def export(study: StudyInUse, to: Path, *formats: str, whole: bool = False, release: str | None = None) -> Manifest:
    study_id = None if whole or release else study.study_id
    about = (study.db, study.researcher, study.project_id)
    made = export_project(*about, to=to, study_id=study_id, formats=formats, release=release)
    assert verify_against(study.db, study.researcher, to).ok
    return made


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def decided(db: Database) -> StudyInUse:
    """Items of three votes: one decided, one unanimous, one by a majority, one open as a vote is missing."""
    study = StudyInUse(db, items=5, annotators=3, overlap=3, rule="majority")
    for who, values in enumerate(["yyyny", "ynyn", "yyy"]):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": {"y": "yes", "n": "no"}[value]})
    return study


def test_final_labels_are_counted_by_how_they_were_reached(database: Database, tmp_path: Path) -> None:
    study = decided(database)
    made = export(study, tmp_path / "out", "adjudicated")
    assert "adjudicated" not in made.counts
    assert made.counts == {
        "final_labels_decided_by_adjudicators": 0, "final_labels_unanimous": 2, "final_labels_by_majority": 1,
        "units_open": 2,
    }  # fmt: skip
    assert sum(made.counts.values()) == len(table(tmp_path / "out/adjudicated.csv"))


def test_what_adjudicators_decided_is_counted_apart_from_what_votes_settled(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    for who, values in enumerate([("yes", "yes", "no"), ("yes", "no", "yes")]):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": value})
    decisions = [UnitDecision("right", "item", "no")]
    second = study_items(database, study)[1]
    adjudicate(database, study.researcher, second, decisions=decisions, reason="page 3", uid="a" * 8)
    whole = export(study, tmp_path / "whole", "adjudicated", whole=True)
    assert whole.counts == {
        "final_labels_decided_by_adjudicators": 1, "final_labels_unanimous": 1, "final_labels_by_majority": 0,
        "units_open": 1,
    }  # fmt: skip


def test_a_release_counts_its_final_labels_in_the_same_words(database: Database, tmp_path: Path) -> None:
    study = two_by(database, 2)
    label(study, "yy", "yy")
    make_release(database, study.researcher, study.project_id, name="v1")
    counts = export(study, tmp_path / "v1", "adjudicated", release="v1").counts
    assert counts["final_labels_unanimous"] == len(table(tmp_path / "v1/adjudicated.csv")) == 4
    assert "units_open" in counts and "adjudicated" not in counts


def test_final_labels_of_an_earlier_version_say_whether_they_hold(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    export(study, tmp_path / "out", "adjudicated")
    found = {
        (row["item"], row["criterion"], row["item_version"]): row["fell"]
        for row in table(tmp_path / "out/adjudicated.csv")
    }
    assert found == {
        ("i00001", "right", "1"): "true", ("i00001", "clear", "1"): "false",
        ("i00002", "right", "1"): "false", ("i00002", "clear", "1"): "false",
    }  # fmt: skip
    send(study)
    answer(study, 2, "yes")
    answer(study, 3, "yes")
    export(study, tmp_path / "again", "adjudicated")
    right = [row for row in table(tmp_path / "again/adjudicated.csv") if row["criterion"] == "right"]
    assert [(row["item"], row["item_version"], row["label"], row["fell"]) for row in right] == [
        ("i00001", "1", "no", "true"), ("i00002", "1", "yes", "false"), ("i00001", "2", "yes", "false"),
    ]  # fmt: skip


def test_an_export_after_revisions_says_which_version_each_item_is_in(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "nn", "yy")
    for number, item in enumerate(("i00001", "i00001", "i00002")):
        revise(study, item, answer=f"Better by {number}.")
    for whole in (True, False):
        folder = tmp_path / f"whole-{whole}"
        made = export(study, folder, "native", "adjudicated", whole=whole)
        assert [tuple(row.values()) for row in table(folder / "versions.csv")] == [
            ("i00001", "3", "3"), ("i00002", "2", "2"),
        ]  # fmt: skip
        assert made.counts["items_revised"] == 2
        assert made.counts["items_labelled_in_an_earlier_version"] == 2
        assert "items_with_a_later_version" not in made.counts
        revised, earlier = made.said_of_versions()
        assert revised.startswith("2 items were revised: the files of items have the current version")
        assert earlier.startswith("2 items have labels that were given for an earlier version")


def test_an_export_of_a_release_says_of_which_items_there_is_a_later_version(
    database: Database, tmp_path: Path
) -> None:
    study = two_by(database, 2)
    label(study, "yy", "yy")
    revise(study, "i00002", question="Which of them, then?")
    made = make_release(database, study.researcher, study.project_id, name="v1")
    assert made.items >= 1
    revise(study, "i00001")
    told = export(study, tmp_path / "v1", "native", "adjudicated", release="v1")
    rows = {row["item"]: (row["item_version"], row["latest_version"]) for row in table(tmp_path / "v1/versions.csv")}
    assert rows["i00001"] == ("1", "2")
    assert told.counts["items_with_a_later_version"] == 1
    [words] = told.said_of_versions()
    assert words.startswith("1 item of the release has a later version now")
    revise(study, "i00001", answer="And better still.")
    assert verify_against(database, study.researcher, tmp_path / "v1").ok, "what came later is none of its business"


def test_nothing_is_said_of_versions_where_no_item_was_revised(database: Database, tmp_path: Path) -> None:
    study = judged(database, "yy", protocol=accepting())
    made = export(study, tmp_path / "out", "native", "labels", "adjudicated")
    assert made.said_of_versions() == []
    assert not (tmp_path / "out/versions.csv").exists()
    assert "fell" not in table(tmp_path / "out/adjudicated.csv")[0]


@pytest.mark.parametrize("formats", [("native", "labels", "adjudicated"), ("adjudicated",), ("table",)])
def test_an_export_that_was_made_before_it_said_so_is_verified_as_it_was(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, formats: tuple[str, ...]
) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    with monkeypatch.context() as earlier:
        earlier.setattr(bundle, "Selection", partial(bundle.Selection, says_how=False, says_versions=False))
        about = (database, study.researcher, study.project_id)
        made = export_project(*about, to=tmp_path / "out", formats=formats)
    assert {"says_how", "says_versions"}.isdisjoint(made.filters)
    assert made.counts.get("adjudicated") == (4 if "adjudicated" in formats else None)
    assert not (tmp_path / "out/versions.csv").exists()
    assert verify_against(database, study.researcher, tmp_path / "out").ok


def test_a_count_that_somebody_changed_is_found(database: Database, tmp_path: Path) -> None:
    study = decided(database)
    made = export(study, tmp_path / "out", "adjudicated")
    path = tmp_path / "out/manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"units_open": 2', b'"units_open": 0'))
    assert made.counts["units_open"] == 2
    assert any("`counts`" in note for note in verify_against(database, study.researcher, tmp_path / "out").notes)
