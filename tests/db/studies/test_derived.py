"""Derived units of a study: what people's page labels amount to, measured, settled, aligned and exported."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotators.criteria.choice import Choice
from annotators.criteria.number import Number
from annotators.designing.design import StudyDesign
from annotators.intervals.bootstrap import Resampling
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Material, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.studies.ratings import CriterionRatings, decided_labels, ratings, unit_name
from db.studies.settlements import SettledUnit, stream_settled
from exports.agreement.study import agreement_report
from exports.alignment.data import study_data
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import alignment_report
from exports.bundles.bundle import export_project
from exports.dataset.document import dataset_report
from tests.annotators.criteria.test_derived import OF_HOP, OF_ITEM, VERDICT, of_pages, out_of_ten
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

HOPS = ("h1", "h2")

# (item, person) → the pages that are evidence, hop by hop; None: nothing is said of the last page of the last hop.
FOUND: dict[tuple[str, str], Any] = {
    ("i1", "ada"): ([1], [2, 3]),
    ("i1", "ben"): ([1], [2, 3]),
    ("i2", "ada"): ([1, 2], []),
    ("i2", "ben"): ([2], []),
    ("i3", "ada"): ([3], [1]),
    ("i3", "ben"): ([3], None),
}
GRADES = {("i1", "ada"): 8, ("i1", "ben"): 10, ("i2", "ada"): 3, ("i2", "ben"): 3, ("i3", "ada"): 6, ("i3", "ben"): 7}


class Pages:
    """Three items of three pages and two hops, labelled by two people, and graded."""

    def __init__(self, db: Database, page: Choice, grade: Number) -> None:
        self.db = db
        project = make_project(db)
        self.researcher = make_person(db, role="researcher")
        for name in ("ada", "ben"):
            make_member(db, project, make_person(db, name), "annotator")
        for item in ("i1", "i2", "i3"):
            make_item(db, project, item)
        shows = [Material.QUESTION, Material.ANSWER, Material.HOPS, Material.DOCUMENTS]
        step = Step(name="all", title="All", shows=shows, criteria=[page.name, grade.name])
        protocol = tiny_protocol(criteria=[page, grade], steps=[step], overlap=2)
        design = StudyDesign(name="study", annotators=("ada", "ben"), overlap=2)
        self.project = project
        self.study = create_study(db, self.researcher, project, protocol=protocol, design=design).study_id
        import_labels(db, self.researcher, self.study, rows=list(self.rows()), source="labels.csv")

    def rows(self) -> Any:
        line = 1
        for (item, person), hops in FOUND.items():
            for hop, pages in zip(HOPS, hops, strict=True):
                for number in (1, 2, 3):
                    if pages is None and number == 3:
                        continue
                    given = "evidence" if number in (pages or ()) else "not_evidence"
                    line += 1
                    yield ForeignLabel(line, item, person, "page", f"page:d:{number}|hop:{hop}", given, None, None)
            line += 1
            yield ForeignLabel(line, item, person, "grade", None, str(GRADES[item, person]), None, None)

    def column(self, name: str) -> CriterionRatings:
        found = ratings(self.db, self.researcher, self.study)
        return next(column for column in found.criteria if column.criterion.name == name)

    def given(self, name: str) -> dict[tuple[str, str, str], Any]:
        """(item, target, person) → value."""
        found = ratings(self.db, self.researcher, self.study)
        column = self.column(name)
        items = [column.items.external_id[place] for place in column.item.tolist()]
        return {
            (items[unit], column.target_of(unit), found.names[person]): value
            for unit, person, value in zip(column.unit.tolist(), column.raters, column.values, strict=True)
        }

    def settled(self, name: str) -> dict[tuple[str, str], SettledUnit]:
        with self.db.read() as session:
            units = list(stream_settled(session, self.study))
        return {(unit.external_id, unit.target): unit for unit in units if unit.criterion == name}


@pytest.fixture
def pages(database: Database) -> Pages:
    return Pages(database, of_pages(OF_ITEM, OF_HOP), out_of_ten(VERDICT))


def test_each_person_s_labels_amount_to_sets_and_a_gap_leaves_theirs_open(pages: Pages) -> None:
    hops = pages.given("hop_pages")
    assert hops["i1", "hop:h2", "ada"] == ["page:d:2", "page:d:3"]
    assert hops["i2", "hop:h1", "ben"] == ["page:d:2"]
    assert hops["i2", "hop:h2", "ada"] == []
    assert ("i3", "hop:h2", "ben") not in hops  # somebody else judged page 3 of that hop
    assert len(hops) == 11
    assert pages.column("hop_pages").cannot_judge == 1
    items = pages.given("pages")
    assert items["i1", "item", "ben"] == ["page:d:1", "page:d:2", "page:d:3"]
    assert items["i3", "item", "ada"] == ["page:d:1", "page:d:3"]
    assert len(items) == 5
    assert pages.given("verdict")["i3", "item", "ben"] == "right"


def test_the_report_counts_what_was_given_and_calls_what_is_derived_by_its_title(pages: Pages) -> None:
    asked = Resampling(0, 0)
    numbers = dataset_report(pages.db, pages.researcher, pages.project, asked=asked).numbers
    # Of 6 pages (2 hops of 3) of each of 3 items, by 2 people, one was not judged; and each item has 2 grades.
    assert numbers["labels"] == 6 * 3 * 2 - 1 + 3 * 2
    assert numbers["cannot_judge"] == 0
    report = alignment_report(pages.db, pages.researcher, pages.study, asked=asked)
    titles = AlignmentDocument.of_study(report).titles
    assert (titles["grade"], titles["verdict"]) == ("Grade", "Verdict")


def test_sets_are_measured_beside_their_pages(pages: Pages) -> None:
    report = agreement_report(pages.db, pages.researcher, pages.study, resamples=20)
    assert [criterion.criterion.name for criterion in report.criteria] == [
        "page",
        "pages",
        "hop_pages",
        "grade",
        "verdict",
    ]
    hops = report.criteria[2]
    assert (hops.criterion.scale, hops.to_json()["target"], hops.n_units, hops.n_ratings) == ("set", "hop", 6, 11)
    # Five hops that both judged: {1} {1}, {2, 3} {2, 3}, {1, 2} {2}, {} {}, {3} {3}.
    mean, f1 = hops.find("mean_jaccard"), hops.find("pairwise_f1")
    assert mean and mean.value == pytest.approx((1 + 1 + 1 / 2 + 1 + 1) / 5)
    assert f1 and f1.value == pytest.approx(2 * 5 / 11)
    assert all(found.interval is not None for found in (mean, f1))
    alpha = hops.find("krippendorff_alpha_masi")
    assert alpha and alpha.value is not None and alpha.interval is not None
    bands = report.criteria[4].find("percent_agreement")
    assert bands and bands.value == pytest.approx(2 / 3)  # 8 and 10, 3 and 3 are in one band; 6 and 7 are not


def test_final_sets_follow_from_final_pages_and_bands_may_agree_where_grades_do_not(pages: Pages) -> None:
    hops = {place: (unit.state, unit.value) for place, unit in pages.settled("hop_pages").items()}
    assert hops["i1", "hop:h2"] == ("unanimous", ["page:d:2", "page:d:3"])
    assert hops["i2", "hop:h1"] == ("open", None)
    assert hops["i2", "hop:h2"] == ("unanimous", [])
    assert hops["i3", "hop:h2"] == ("open", None)
    assert pages.settled("pages")["i1", "item"].votes == {'["page:d:1", "page:d:2", "page:d:3"]': 2}
    assert (pages.settled("grade")["i1", "item"].state, pages.settled("verdict")["i1", "item"].state) == (
        "open", "unanimous",
    )  # fmt: skip
    assert pages.settled("verdict")["i3", "item"].state == "open"


def test_bands_are_set_against_metrics_as_ranks_and_sets_say_why_they_are_not(pages: Pages) -> None:
    data = study_data(pages.db, pages.researcher, pages.study)
    verdict = data.human("verdict")
    assert verdict.scale == (0, 2)
    assert sorted(verdict.people["ada"].values()) == [0, 1, 2]
    assert set(verdict.settled.values()) == {2.0, 0.0}
    assert "scale set" in (data.human("pages").reason or "")


def test_the_export_has_each_person_s_and_the_final_ones(pages: Pages, tmp_path: Path) -> None:
    to = tmp_path / "out"
    export_project(
        pages.db, pages.researcher, pages.project, to=to, study_id=pages.study, formats=["derived", "adjudicated"],
        names=True,
    )  # fmt: skip
    rows = list(csv.DictReader((to / "derived.csv").open()))
    assert len(rows) == 6 + 12 + 6
    row = next(r for r in rows if (r["item"], r["annotator"], r["target"]) == ("i1", "ada", "hop:h2"))
    assert (row["criterion"], json.loads(row["value"])) == ("hop_pages", ["page:d:2", "page:d:3"])
    assert (row["made_from"], row["how"], row["question"]) == ("page", "set", "q-i1")
    assert [r["criterion"] for r in rows if not r["value"]] == ["pages", "hop_pages"]  # of ben, who left a page out
    final = list(csv.DictReader((to / "adjudicated.csv").open()))
    verdicts = {r["item"]: r["how"] for r in final if r["criterion"] == "verdict"}
    assert verdicts == {"i1": "unanimous", "i2": "unanimous", "i3": "open"}
    assert all(r["criterion"] == "page" for r in final if r["target"].startswith("page:"))


def test_what_is_derived_from_a_decision_counts_as_decided(pages: Pages) -> None:
    adjudicator = make_person(pages.db)
    make_member(pages.db, pages.project, adjudicator, "adjudicator")
    places = {dispute.study_item_id for dispute in disputes(pages.db, adjudicator, pages.study)}
    with pages.db.read() as session:
        unit = next(u for u in stream_settled(session, pages.study) if (u.external_id, u.criterion) == ("i1", "grade"))
    assert unit.study_item_id in places
    assert decided_labels(pages.db, adjudicator, pages.study) == {}
    decision = UnitDecision("grade", "item", 3)
    adjudicate(pages.db, adjudicator, unit.study_item_id, uid="d", decisions=[decision], reason="Read again.")
    name = unit_name(unit.study_item_id, "item")
    assert decided_labels(pages.db, adjudicator, pages.study) == {"grade": {name: 3}, "verdict": {name: "wrong"}}


def test_without_any_the_tables_are_as_they_were(database: Database, tmp_path: Path) -> None:
    plain = Pages(database, of_pages(), out_of_ten())
    with database.read() as session:
        assert {unit.criterion for unit in stream_settled(session, plain.study)} == {"page", "grade"}
    export_project(database, plain.researcher, plain.project, to=tmp_path / "out", formats=["derived"])
    table = (tmp_path / "out" / "studies" / "study" / "derived.csv").read_text()
    assert table.count("\n") == 1
