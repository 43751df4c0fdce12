"""Marked stretches from the annotator's page to the tables: given, settled, compared, exported and read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database
from db.permissions import Actor
from db.studies.settlements import stream_settled
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.makers import make_member, make_person, make_project

PROTOCOL = PROTOCOLS.get("unsupported_spans")
ANSWERS = (
    "The pier of **Orsted** is 40 m long, as $l = 40$ says.",
    "بُني الرصيف عام ١٩٠٤، وطوله أربعون مترا.",
    "<script>alert(1)</script> \"quoted\", 'single'; a\tb, =1+1 𝄞 👩‍🔬 end.",
)


class Marking:
    """A study of three answers, and its annotators."""

    def __init__(self, db: Database, folder: Path, *, rule: str = "unanimous", annotators: int = 2) -> None:
        self.db, self.folder = db, folder
        self.project_id = make_project(db)
        self.researcher = make_person(db)
        make_member(db, self.project_id, self.researcher, "researcher")
        (folder / "in").mkdir()
        rows = [
            {
                "id": f"item-{n}",
                "question": f"What is said? {n}",
                "answer": answer,
                "evidence": [{"key": "e", "kind": "passage", "role": "gold", "text": "It is forty metres long."}],
            }
            for n, answer in enumerate(ANSWERS)
        ]
        (folder / "in/items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_paths(
            db,
            self.researcher,
            self.project_id,
            paths=[folder / "in"],
            format_name="native",
            data_folder=folder / "documents",
        )
        self.people = [make_person(db) for _ in range(annotators)]
        for actor in self.people:
            make_member(db, self.project_id, actor, "annotator")
        self.study_id = self.study("marked", rule=rule)

    def study(self, name: str, *, rule: str = "unanimous") -> int:
        people = tuple(actor.name for actor in self.people)
        design = StudyDesign(name=name, annotators=people, overlap=len(people), order="given", rule=rule)
        return create_study(self.db, self.researcher, self.project_id, protocol=PROTOCOL, design=design).study_id

    def say(self, who: int, value: Any) -> None:
        """One annotator's stretches in the next answer."""
        item = work(self.db, self.people[who], self.study_id)["items"][0]
        label = GivenLabel("unsupported", "item", value)
        step = StepSubmission(
            f"{who}-{item['assignment']}", item["assignment"], item["sitting"], 0, (label,), seconds=2.0
        )
        submit(self.db, self.people[who], self.study_id, step=step)

    def final(self) -> list[tuple[str, Any]]:
        with self.db.read() as session:
            return [(unit.state, unit.value) for unit in stream_settled(session, self.study_id)]

    def adjudicator(self) -> Actor:
        actor = make_person(self.db)
        make_member(self.db, self.project_id, actor, "adjudicator")
        return actor


def mark(n: int, words: str, label: str = "unfounded") -> dict[str, Any]:
    start = ANSWERS[n].index(words)
    return {"start": start, "end": start + len(words), "label": label, "text": words}


def test_stretches_settle_are_adjudicated_compared_exported_and_read_back(database: Database, tmp_path: Path) -> None:
    marking = Marking(database, tmp_path)
    for who in (0, 1):
        marking.say(who, [mark(0, "**Orsted**")] if who else [mark(0, "**Orsted**"), mark(0, "$l = 40$", "benign")])
        marking.say(who, [mark(1, "١٩٠٤", "contradicted")])
        marking.say(
            who, [mark(2, "𝄞 👩‍🔬 end")] if who else [mark(2, "👩‍🔬 end"), mark(2, "<script>alert(1)</script>")]
        )
    assert marking.final() == [
        ("open", None), ("unanimous", [mark(1, "١٩٠٤", "contradicted")]), ("open", None),
    ]  # fmt: skip

    report = agreement_report(marking.db, marking.researcher, marking.study_id, resamples=50)
    [found] = report.criteria
    values = {statistic.name: statistic.value for statistic in found.statistics}
    assert values["percent_agreement"] == pytest.approx(1 / 3)
    # Characters that both mark alike: 10, 4 and 7 of 18 + 10, 4 + 4 and 32 + 9. Boundaries: 2, 2 and 1 of 6, 4 and 6.
    both = 10 + 4 + len("👩‍🔬 end")
    sizes = (18 + 10) + (4 + 4) + (len("👩‍🔬 end") + 25 + len("𝄞 👩‍🔬 end"))
    assert values["pairwise_f1_characters"] == pytest.approx(2 * both / sizes)
    assert values["pairwise_f1_boundaries"] == pytest.approx(2 * (2 + 2 + 1) / (6 + 4 + 6))
    assert values["krippendorff_alpha_unitizing"] is not None  # the lengths of the answers are known
    assert found.measured is not None
    assert found.measured.labels == ("benign", "contradicted", "unfounded")

    actor = marking.adjudicator()
    first = disputes(marking.db, actor, marking.study_id)[0].study_item_id
    votes = [vote.value for unit in disputed_item(marking.db, actor, first).units for vote in unit.votes]
    assert len(votes) == 2
    with pytest.raises(InvalidInput, match="Not supported by the evidence: the answer has"):
        decision = UnitDecision("unsupported", "item", [{"start": 900, "end": 901, "label": "benign"}])
        adjudicate(marking.db, actor, first, uid="a", decisions=[decision], from_browser=True)
    text_left_out = [{"start": 0, "end": 3, "label": "benign"}]
    decision = UnitDecision("unsupported", "item", text_left_out)
    adjudicate(marking.db, actor, first, uid="b", decisions=[decision], from_browser=True)
    [decided] = [value for state, value in marking.final() if state == "adjudicated"]
    assert [one["text"] for one in decided] in (["The"], ["<sc"])

    export_project(marking.db, marking.researcher, marking.project_id, to=tmp_path / "out", study_id=marking.study_id)
    with (tmp_path / "out/labels.csv").open() as file:
        written = [(row["item"], json.loads(row["value"])) for row in csv.DictReader(file)]
    assert ("item-1", [mark(1, "١٩٠٤", "contradicted")]) in written
    marking.study("again")
    done = import_label_table(
        marking.db, marking.researcher, marking.project_id, study="again", path=tmp_path / "out/labels.csv"
    )
    again = agreement_report(marking.db, marking.researcher, done.study_id, resamples=50)
    assert {one.name: one.value for one in again.criteria[0].statistics} == pytest.approx(values)


def test_by_majority_the_characters_that_most_marked_are_final(database: Database, tmp_path: Path) -> None:
    marking = Marking(database, tmp_path, rule="majority", annotators=3)
    said = (["is 40 m long"], ["40 m"], ["Orsted"])
    for who, words in enumerate(said):
        marking.say(who, [mark(0, one) for one in words])
    assert marking.final()[0] == ("majority", [mark(0, "40 m")])


def test_a_table_of_stretches_that_are_not_in_the_answers_is_refused_by_line(
    database: Database, tmp_path: Path
) -> None:
    marking = Marking(database, tmp_path)
    wrong = [mark(0, "Orsted") | {"text": "Orstad"}]
    rows = [
        ("item-0", "ada", json.dumps([{"start": 0, "end": 3, "label": "benign"}])),
        ("item-0", "ben", json.dumps(wrong)),
        ("item-1", "ben", json.dumps([{"start": 0, "end": 999, "label": "benign"}])),
        ("item-2", "ben", "[{]"),
    ]
    table = tmp_path / "labels.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("item", "annotator", "criterion", "value"), *((i, a, "unsupported", v) for i, a, v in rows)])
    with pytest.raises(InvalidInput) as refused:
        import_label_table(marking.db, marking.researcher, marking.project_id, study="marked", path=table)
    first, second, third = str(refused.value).splitlines()
    assert "line 3: from 14 to 20 the answer says 'Orsted', not 'Orstad'" in first
    assert "line 4: the answer has 40 characters, so that there is no stretch from 0 to 999" in second
    assert "line 5" in third
    assert "is not a value of criterion 'unsupported'" in third
