"""Exports of items that were revised: the labels that hold for them as they are now, and how many fell."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from annotators.agreement.report import agreement_report as report_of
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.elsewhere.labels import import_labels
from db.engine import Database
from exports.agreement.rating_tables import RatingColumns, read_ratings
from exports.agreement.study import agreement_report
from exports.bundles import bundle
from exports.bundles.bundle import export_project
from exports.bundles.labels.table import COLUMNS, FELL
from exports.bundles.manifest import Manifest
from exports.bundles.verify import verify_against
from exports.formats._writing import Unit
from exports.formats.labels import read_labels
from exports.formats.qrels import Qrels
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.db.releasing.test_pairs import HARBOUR, LANTERN, Duel
from tests.db.releasing.test_recheck import answer, judged, revise, send
from tests.db.releasing.test_states import accepting
from tests.makers import StudyInUse, make_member, make_project, tiny_protocol

OTHERS = ("huggingface", "argilla", "potato")
LICENCE = {"licence": "cc-by-4.0"}


def export(study: StudyInUse | Duel, to: Path, *formats: str, **options: Any) -> Manifest:
    researcher = study.researcher if isinstance(study, StudyInUse) else study.admin
    options = {"study_id": study.study_id, "options": LICENCE if "huggingface" in formats else {}} | options
    made = export_project(study.db, researcher, study.project_id, to=to, formats=formats, **options)
    if not options.get("dry_run"):
        assert verify_against(study.db, researcher, to).ok
    return made


def rows(folder: Path, config: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "huggingface" / config / "test.parquet").to_pylist()
    return found


def said(folder: Path) -> list[tuple[str, str, str]]:
    return sorted((row["item"], row["criterion"], row["value"]) for row in rows(folder, "labels"))


def settled(folder: Path) -> dict[tuple[str, str], str | None]:
    return {(row["item"], row["criterion"]): row["label"] for row in rows(folder, "adjudicated")}


def card(folder: Path) -> str:
    return " ".join((folder / "huggingface/README.md").read_text().split())


def responses(folder: Path) -> list[str]:
    records = orjson.loads((folder / "argilla/item/records.json").read_bytes())
    return sorted(name for record in records for name, given in record["responses"].items() for _ in given)


STANDS = [("i00001", "clear", "no")] * 2
AS_IT_WAS = [*[("i00002", "clear", "no")] * 2, *[("i00002", "right", "yes")] * 2]


def test_labels_that_hold_for_the_later_version_go_along_and_those_that_fell_are_counted(
    database: Database, tmp_path: Path
) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    told = export(study, tmp_path / "told", *OTHERS, dry_run=True)
    for name in OTHERS:
        assert told.counts[f"{name}_labels_fell"] == 2
        [fell] = [lost for lost in told.lost[name] if lost.path == "labels.fell"]
        assert (fell.n, fell.of) == (2, 8)
    export(study, tmp_path / "out", *OTHERS)
    assert said(tmp_path / "out") == sorted([*STANDS, *AS_IT_WAS])
    assert settled(tmp_path / "out") == {
        ("i00001", "clear"): "no", ("i00002", "clear"): "no", ("i00002", "right"): "yes",
    }  # fmt: skip
    assert "2 annotators gave 6 labels" in card(tmp_path / "out")
    assert "2 labels of earlier versions fell when items were revised, and are not here." in card(tmp_path / "out")
    assert responses(tmp_path / "out") == ["clear"] * 4 + ["right"] * 2
    [item] = [row for row in rows(tmp_path / "out", "items") if row["id"] == "i00001"]
    assert item["answer"] == "Better than before, i00001."


def test_what_was_asked_again_is_that_of_the_later_version(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes")
    export(study, tmp_path / "half", "huggingface")
    assert said(tmp_path / "half") == sorted([*STANDS, *AS_IT_WAS, ("i00001", "right", "yes")])
    assert settled(tmp_path / "half")["i00001", "right"] is None, "one of two has been asked"
    answer(study, 3, "yes")
    made = export(study, tmp_path / "out", *OTHERS)
    assert said(tmp_path / "out") == sorted([*STANDS, *AS_IT_WAS, *[("i00001", "right", "yes")] * 2])
    assert settled(tmp_path / "out")["i00001", "right"] == "yes"
    assert made.counts["huggingface_labels_fell"] == 2, "those of the first version"
    revise(study, "i00001", question="Which of them?")
    made = export(study, tmp_path / "later", "huggingface")
    assert said(tmp_path / "later") == said(tmp_path / "out"), "nothing falls with this question"
    revise(study, "i00001", answer="Best.")
    made = export(study, tmp_path / "again", "huggingface")
    assert said(tmp_path / "again") == sorted([*STANDS, *AS_IT_WAS])
    assert made.counts["huggingface_labels_fell"] == 4


def test_nothing_is_said_of_a_fall_where_nothing_fell(database: Database, tmp_path: Path) -> None:
    study = judged(database, "yy", protocol=accepting(question=["right"]))
    revise(study, "i00001")
    [lost] = export(study, tmp_path / "told", *OTHERS, dry_run=True).lost["huggingface"]
    assert (lost.path, lost.n, lost.of) == ("labels.seconds", 4, 4)
    made = export(study, tmp_path / "out", "huggingface")
    assert "huggingface_labels_fell" not in made.counts
    assert len(said(tmp_path / "out")) == 4
    assert "earlier versions" not in card(tmp_path / "out")


def test_final_labels_that_hold_stand_in_the_items_of_a_project(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    told = export(study, tmp_path / "told", "ragas", study_id=None, labels_of=["study"], dry_run=True)
    assert [(lost.n, lost.of) for lost in told.lost["ragas"] if lost.path == "labels.fell"] == [(1, 4)]
    made = export(study, tmp_path / "out", "ragas", study_id=None, labels_of=["study"])
    assert made.counts["ragas_final_labels_fell"] == 1
    made = export(study, tmp_path / "no place", "fathoms", study_id=None, labels_of=["study"])
    assert made.counts == {"fathoms": 2, "items_revised": 1}, "it has no place for labels of this criterion"
    made = export(study, tmp_path / "no judgements", "qrels", study_id=None, labels_of=["study"])
    assert "qrels_final_labels_fell" not in made.counts, "labels of items are no judgements"
    [file] = (tmp_path / "out/ragas").glob("*.jsonl")
    found = {row["user_input"]: row for row in map(orjson.loads, file.read_bytes().splitlines())}
    first, second = (found[f"Question of {item}?"] for item in ("i00001", "i00002"))
    assert (first["human_clear"], first.get("human_right")) == ("no", None)
    assert (second["human_clear"], second["human_right"]) == ("no", "yes")


def labels(folder: Path) -> list[dict[str, str]]:
    with (folder / "labels.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def holding(folder: Path) -> list[tuple[str, str, str]]:
    """Item, criterion and value of the labels that are read where the table is imported."""
    return sorted((row.item, row.criterion, row.value) for row in read_labels(folder / "labels.csv").checked())


def test_a_table_of_labels_says_which_fell_where_an_item_was_revised(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "yy")
    assert export(study, tmp_path / "before", "labels").filters["says_fell"] is True
    revise(study, "i00001")
    export(study, tmp_path / "out", "labels", "huggingface", typed=["parquet"])
    assert list(labels(tmp_path / "before")[0]) == list(COLUMNS)
    found = labels(tmp_path / "out")
    assert list(found[0]) == [*COLUMNS, FELL]
    assert [(row["item"], row["criterion"], row["fell"]) for row in found if row["annotator"] == "A1"] == [
        ("i00001", "right", "true"), ("i00001", "clear", "false"),
        ("i00002", "right", "false"), ("i00002", "clear", "false"),
    ]  # fmt: skip
    assert pq.read_table(tmp_path / "out/labels.parquet")["fell"].to_pylist() == [
        row["fell"] == "true" for row in found
    ]
    assert ["labels", "fell", "true or false"] in [
        line.split(",")[:3] for line in (tmp_path / "out/data_dictionary.csv").read_text().splitlines()
    ]
    read = read_labels(tmp_path / "out/labels.csv")
    assert (len(read.rows), dict(read.left_out)) == (6, {"fell with a revision": 2})
    assert holding(tmp_path / "out") == said(tmp_path / "out")
    assert verify_against(study.db, study.researcher, tmp_path / "before").ok


def test_what_was_asked_again_takes_the_place_of_what_fell_where_the_table_is_imported(
    database: Database, tmp_path: Path
) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes"), answer(study, 3, "yes")
    export(study, tmp_path / "out", "labels", "huggingface")
    assert holding(tmp_path / "out") == said(tmp_path / "out")
    revise(study, "i00001", answer="Best.")
    export(study, tmp_path / "again", "labels", "huggingface")
    assert holding(tmp_path / "again") == said(tmp_path / "again") == sorted([*STANDS, *AS_IT_WAS])
    made = import_label_table(
        database, study.researcher, study.project_id, study="again", path=tmp_path / "again/labels.csv", infer=True
    )
    assert (made.labels.labels, made.left_out) == (6, {"fell with a revision": 4})


def test_nothing_is_marked_where_a_later_version_leaves_all_labels_standing(database: Database, tmp_path: Path) -> None:
    study = judged(database, "yy", protocol=accepting(question=["right"]))
    revise(study, "i00001")
    export(study, tmp_path / "out", "labels")
    assert {row["fell"] for row in labels(tmp_path / "out")} == {"false"}


def test_what_fell_counts_in_statistics_of_the_table_as_in_those_of_the_study(
    database: Database, tmp_path: Path
) -> None:
    study = judged(database, "nn", "yy", "ny")
    revise(study, "i00001")
    export(study, tmp_path / "out", "labels")
    asked: dict[str, Any] = {"resamples": 0, "statistics": ["krippendorff_alpha_nominal"]}
    of_study = agreement_report(database, study.researcher, study.study_id, **asked).criteria[0]
    read = read_ratings(tmp_path / "out/labels.csv", RatingColumns())
    of_table = next(one for one in report_of(read.tables, **asked) if one.criterion == "right")
    values = [one.find("krippendorff_alpha_nominal").value for one in (of_study, of_table)]
    # Values of units nn, yy, ny: alpha = 1 - 5 * 2 / (2 * 3 * 3) = 4 / 9; without the unit that fell it is 0.
    assert values == [pytest.approx(4 / 9)] * 2
    assert read.left_out == {}


def test_an_export_that_was_made_before_labels_said_so_is_verified_as_it_was(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    with monkeypatch.context() as earlier:
        earlier.setattr(bundle, "Selection", partial(bundle.Selection, says_fell=False))
        made = export_project(database, study.researcher, study.project_id, to=tmp_path / "out", formats=["labels"])
    assert "says_fell" not in made.filters
    assert b"fell" not in (tmp_path / "out/studies/study/labels.csv").read_bytes()
    assert verify_against(database, study.researcher, tmp_path / "out").ok


def test_seconds_and_places_that_a_format_does_not_carry_are_counted(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    places = [{"document": "d.pdf", "page": 1, "box": [0.1, 0.1, 0.2, 0.2]}]
    row = ForeignLabel(2, "i00001", "x", "right", "item", "yes", rationale=places)
    import_labels(database, study.researcher, study.study_id, rows=[row], source="t.csv")
    study.label_all(0)
    lost = export(study, tmp_path / "told", *OTHERS, dry_run=True).lost
    for name in OTHERS:
        found = {one.path: (one.n, one.of) for one in lost[name]}
        assert (found["labels.seconds"], found["labels.rationale"]) == ((2, 2), (1, 1))


POINTING = tiny_protocol(
    criteria=[
        {"name": "right", "title": "Right", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "helps", "title": "Helps", "target": "evidence", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "padding", "title": "Padding", "kind": "spans", "labels": [{"value": "empty"}]},
    ],
    steps=[{
        "name": "all", "title": "All", "shows": ["question", "answer", "evidence"],
        "criteria": ["right", "helps", "padding"],
    }],
)  # fmt: skip
"""It does not say what falls."""


@pytest.mark.parametrize("form", OTHERS)
def test_labels_about_what_a_revision_took_away_are_not_exported_and_the_rest_comes_back(
    database: Database, tmp_path: Path, form: str
) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2, protocol=POINTING, n_evidence=2)
    marked = [{"start": 10, "end": 16, "label": "empty"}]
    for who in range(2):
        for _ in range(2):
            study.submit(who, study.work(who)["items"][0], {"right": "yes", "helps": "yes", "padding": marked})
    revise(study, "i00001", answer="Ok.", evidence=[{"key": "gold-1", "document": "i00001.pdf", "pages": [1]}])
    made = export(study, tmp_path / "out", form)
    assert made.counts[f"{form}_labels_fell"] == 2 * 3
    into = make_project(database)
    make_member(database, into, study.researcher, "researcher")
    about: dict[str, Any] = {"paths": [tmp_path / "out" / form], "labels_into": "back"}
    assert import_paths(database, study.researcher, into, dry_run=True, **about).labels.obstacles == []
    report = import_paths(database, study.researcher, into, **about)
    assert (report.labels.n, report.labels.annotations) == (2 * (1 + 4), 4)


@pytest.mark.parametrize("revised", [HARBOUR, LANTERN])
def test_of_pairs_what_fell_with_either_item_stays_out(sqlite_database: Database, tmp_path: Path, revised: str) -> None:
    duel = Duel(sqlite_database, tmp_path, "harbour", "lantern")
    duel.labelled((0, 1))
    export(duel, tmp_path / "before", "huggingface", "labels")
    assert FELL not in labels(tmp_path / "before")[0]
    before = said(tmp_path / "before")
    assert before
    duel.revise(revised, category="other")
    export(duel, tmp_path / "stands", "huggingface")
    assert said(tmp_path / "stands") == before, "no label falls with a category"
    duel.revise(revised)
    made = export(duel, tmp_path / "fell", *OTHERS, "labels")
    assert {row["fell"] for row in labels(tmp_path / "fell")} == {"true"}
    assert not (tmp_path / "fell/huggingface/labels/test.parquet").exists() or said(tmp_path / "fell") == []
    assert made.counts["huggingface_labels_fell"] == len(before)
    duel.send()
    duel.labelled((2, 3))
    made = export(duel, tmp_path / "again", "huggingface", "labels")
    assert [row["fell"] for row in labels(tmp_path / "again")].count("false") == len(before)
    assert [row[:2] for row in said(tmp_path / "again")] == [row[:2] for row in before]
    assert made.counts["huggingface_labels_fell"] == len(before)


def test_final_labels_of_pages_are_judgements_and_others_are_none() -> None:
    asked = PROTOCOLS.get("evidence_pages")
    [page, *_] = [criterion for criterion in asked.criteria if str(criterion.target) == "page"]
    label = page.label_list()[0].value
    about = Unit(page.name, "page:d.pdf:1", label, "unanimous", {})
    assert Qrels().takes(about, asked)
    assert not Qrels().takes(about._replace(criterion="right"), asked)
