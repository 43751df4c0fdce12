"""Studies of pairs: drawn with their sides, shown without names, kept from the first system to the second."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import col, select

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.parsed import ForeignLabel
from annotators.items.targets import TargetKind
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.adjudicating.adjudications import disputed_item, disputes
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.annotating.disclosure import may_see_page
from db.designing.making import create_study, plan_study
from db.elsewhere.handed_over import items_elsewhere
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Document, ItemVersion, Study, StudyItem
from db.people.pseudonyms import raters_of
from db.studies.design import StudyPlan
from db.studies.remarks import item_labels
from db.studies.revisions import revise_item
from db.studies.settlements import stream_settled
from exports.bundles.adjudicated_table import write_adjudicated
from exports.bundles.labels.table import write_labels
from exports.importing.items import import_paths
from exports.label_studio.files import push_to_files
from exports.label_studio.labelling import labelling_of
from exports.label_studio.pull import pull_from_files
from exports.label_studio.tasks import results_of
from exports.results.document import Results
from exports.sinks import Out
from tests.makers import make_member, make_person, make_project, read_guidelines, tiny_protocol

PROTOCOL = PROTOCOLS.get("pairwise_preference")
SYSTEMS = ("harbour", "lantern", "quay")


class Pairs:
    """Answers of three systems to six questions, the last two of harbour alone; and studies of them."""

    def __init__(self, db: Database, folder: Path, *, people: int = 2) -> None:
        self.db, self.admin = db, make_person(db, admin=True)
        self.project_id = make_project(db)
        self.people = [make_person(db) for _ in range(people)]
        for person in self.people:
            make_member(db, self.project_id, person, "annotator")
        rows = [
            {
                "id": f"q{number}:{system}", "question_key": f"q{number}", "question": f"Question {number}?",
                "answer": f"What {['first', 'second', 'third'][SYSTEMS.index(system)]} says of {number}.",
                "system": system, "references": ["So it is."],
                "evidence": [
                    {"key": "gold", "role": "gold", "text": "A passage of both."},
                    {"key": "found", "role": "retrieved", "document": f"{system}.pdf", "pages": [number + 1]},
                ],
            }
            for number in range(6)
            for system in (SYSTEMS if number < 4 else SYSTEMS[:1])
        ]  # fmt: skip
        path = folder / "items.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_paths(db, self.admin, self.project_id, paths=[path], format_name="native", data_folder=folder / "data")

    def design(self, *pairs: str, **more: Any) -> StudyDesign:
        more = {"name": "duel", "order": "given", **more}
        return StudyDesign(annotators=tuple(person.name for person in self.people), overlap=2, pairs=pairs, **more)

    def plan(self, *pairs: str, protocol: Protocol = PROTOCOL, **more: Any) -> StudyPlan:
        design = self.design(*pairs, **more)
        return plan_study(self.db, self.admin, self.project_id, protocol=protocol, design=design)

    def make(self, *pairs: str, protocol: Protocol = PROTOCOL, **more: Any) -> int:
        design = self.design(*pairs, **more)
        made = create_study(self.db, self.admin, self.project_id, protocol=protocol, design=design)
        read_guidelines(self.db, made.study_id)
        return made.study_id

    def sides(self, study_id: int) -> list[bool]:
        with self.db.read() as session:
            found = select(StudyItem).where(StudyItem.study_id == study_id).order_by(col(StudyItem.position))
            return [row.other_left for row in session.exec(found)]

    def prefer(self, study_id: int, who: int, system: str, strength: int = 1) -> Iterator[dict[str, Any]]:
        """Label every pair so that the answer of `system` wins (else the left), as somebody who sees only the sides."""
        says = f" {['first', 'second', 'third'][SYSTEMS.index(system)]} "
        while items := work(self.db, self.people[who], study_id)["items"]:
            item = items[0]
            at = next((place for place, side in enumerate(item["answers"]) if says in side["answer"]), 0)
            value = strength if at else -strength
            labels = tuple(GivenLabel(name, "pair", value) for name in item["units"])
            step = StepSubmission(uuid.uuid4().hex, item["assignment"], item["sitting"], 0, labels, seconds=1.0)
            submit(self.db, self.people[who], study_id, step=step)
            yield item


@pytest.fixture
def there(database: Database, tmp_path: Path) -> Pairs:
    return Pairs(database, tmp_path)


def table(write: Any, db: Database, study_id: int, **options: Any) -> list[dict[str, str]]:
    written = io.BytesIO()
    out = Out(written)
    with db.read() as session:
        write(session, session.get_one(Study, study_id), out, **options)
    out.flush()
    return list(csv.DictReader(io.StringIO(written.getvalue().decode())))


def test_each_question_with_both_sides_is_a_pair_and_the_others_are_counted(there: Pairs) -> None:
    found = there.plan("harbour", "lantern")
    assert (found.n_items, found.n_slots) == (4, 8)
    assert found.reasons == {"other_systems": 4, "one_side": 2}
    assert found.notes[0] == "2 questions have answers of only one of these systems, such as 'q4'. Left out."
    assert there.plan(*SYSTEMS).n_items == 12


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (("harbour",), r"only 'harbour' is named\. Name two or more, as in A,B\. Known: harbour, lantern, quay"),
        ((), "none is named"),
        (("harbour", "harbour"), "only 'harbour' is named"),
        (("harbour", "lantern", "harbour"), "named twice"),
        (("harbour", "port"), r"No item is by the system 'port'\. Known: harbour"),
    ],
)
def test_a_pair_needs_two_systems_that_are_there(there: Pairs, pairs: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        there.plan(*pairs)


def test_items_by_themselves_have_no_pairs(there: Pairs) -> None:
    with pytest.raises(InvalidInput, match="is about items by themselves"):
        there.plan("harbour", "lantern", protocol=tiny_protocol())


def test_a_pair_is_asked_nothing_about_its_parts(there: Pairs) -> None:
    of_evidence = PROTOCOL.criterion("correctness").model_copy(update={"target": TargetKind.EVIDENCE})
    wrong = tiny_protocol(
        criteria=[PROTOCOL.criterion("overall"), of_evidence],
        steps=[
            Step(
                name="all", title="All", shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.USED],
                criteria=["overall", "correctness"],
            )
        ],
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=r"'correctness' is about evidence(.|\n)*shows used"):
        there.plan("harbour", "lantern", protocol=wrong)


def test_sides_are_drawn_by_the_seed_and_part_of_the_sample(there: Pairs) -> None:
    sides = {seed: there.sides(there.make(*SYSTEMS, name=f"s{seed}", seed=seed)) for seed in range(4)}
    assert there.sides(there.make(*SYSTEMS, name="again", seed=0)) == sides[0]
    assert len({tuple(some) for some in sides.values()}) > 1
    assert {True, False} == {left for some in sides.values() for left in some}


def test_nothing_of_the_systems_is_sent(there: Pairs) -> None:
    study_id = there.make(*SYSTEMS)
    sent = json.dumps(work(there.db, there.people[0], study_id))
    for name in SYSTEMS:
        assert name not in sent
    item = work(there.db, there.people[0], study_id)["items"][0]
    assert set(item["answers"][0]) == {"answer"}
    assert "answer" not in item
    assert "evidence" not in item


def test_a_value_is_kept_for_the_system_whichever_side_it_stood_on(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    left = [item["answers"][0]["answer"] for item in there.prefer(study_id, 0, "lantern", 2)]
    assert len({"second" in answer for answer in left}) == 2, "both sides occur with this seed"
    list(there.prefer(study_id, 1, "lantern", 2))
    rows = table(write_labels, there.db, study_id, names=False)
    assert len(rows) == 4 * 2 * 3
    assert {row["value"] for row in rows} == {"2"}
    assert {(row["system"], row["other_system"], row["target"]) for row in rows} == {("harbour", "lantern", "pair")}
    assert {row["left"] for row in rows} == {"item", "other_item"}
    assert {row["other_item"] for row in rows} == {f"q{number}:lantern" for number in range(4)}
    settled = table(write_adjudicated, there.db, study_id, reached=Counter())
    assert {(row["label"], row["how"], row["other_system"]) for row in settled} == {("2", "unanimous", "lantern")}
    with there.db.read() as session:
        assert {unit.value for unit in stream_settled(session, study_id)} == {2}


def left_preferred(there: Pairs, study_id: int) -> dict[str, Any]:
    rows = Results.of_study(there.db, there.admin, study_id).to_json()["rows"]
    [found] = [
        row
        for row in rows
        if (row["criterion"], row["name"], row.get("labels")) == ("overall", "left preferred", "each")
    ]
    return found


def test_a_position_effect_is_in_the_table_of_labels_as_in_the_results(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    list(there.prefer(study_id, 0, "lantern"))
    items = {item["answers"][0]["answer"]: item for item in work(there.db, there.people[1], study_id)["items"]}
    for item in items.values():  # somebody who takes the left one, whoever it is by
        labels = tuple(GivenLabel(name, "pair", -1) for name in item["units"])
        step = StepSubmission(uuid.uuid4().hex, item["assignment"], item["sitting"], 0, labels, seconds=1.0)
        submit(there.db, there.people[1], study_id, step=step)
    rows = [row for row in table(write_labels, there.db, study_id, names=True) if row["criterion"] == "overall"]
    for_left = [(int(row["value"]) > 0) == (row["left"] == "other_item") for row in rows]
    mine = [hit for row, hit in zip(rows, for_left, strict=True) if row["annotator"] == there.people[1].name]
    assert mine == [True] * len(items)
    found = left_preferred(there, study_id)
    assert (found["n"], found["value"]) == (len(for_left), pytest.approx(sum(for_left) / len(for_left)))


def test_of_labels_made_elsewhere_it_is_not_known_which_stood_left(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    rows = [ForeignLabel(2, "q0:harbour", "zoe", "overall", "pair", "1", other="q0:lantern")]
    import_labels(there.db, there.admin, study_id, rows=rows, source="elsewhere.csv")
    assert "not known which answer stood left" in left_preferred(there, study_id)["reason"]
    list(there.prefer(study_id, 0, "lantern"))
    lines = table(write_labels, there.db, study_id, names=True)
    assert {(row["annotator"] == "zoe", row["left"] == "") for row in lines} == {(True, True), (False, False)}
    assert {row["other_system"] for row in lines} == {"lantern"}
    assert left_preferred(there, study_id)["n"] == 3


def test_of_labels_from_the_studys_own_project_in_label_studio_it_is_known_which_stood_left(
    there: Pairs, tmp_path: Path
) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    push_to_files(there.db, there.admin, study_id, folder=tmp_path / "out")
    tasks = orjson.loads((tmp_path / "out" / "tasks.json").read_bytes())
    labelling = labelling_of(PROTOCOL)
    items = {item.token: item for item in items_elsewhere(there.db, there.admin, study_id)}
    left = []
    for number, task in enumerate(tasks, 1):  # somebody who takes the left one, but once the right one
        left.append("lantern" if " second " in task["data"]["left"] else "harbour")
        item = items[task["data"]["assay_item"]]
        labels = [GivenLabel(one.name, "pair", 1 if number == 1 else -1) for one in PROTOCOL.criteria]
        results = results_of(labelling, task["data"], labels, item.materials)
        task |= {"id": number, "annotations": [{"id": number, "completed_by": 1, "result": results}]}
    assert len(set(left)) == 2, "both sides occur with this seed"
    (tmp_path / "export.json").write_bytes(orjson.dumps(tasks))
    pulled = pull_from_files(
        there.db, there.admin, study_id, paths=[tmp_path / "export.json"], people={"1": "zoe"}
    ).to_json()
    assert pulled["new"] == len(tasks)
    rows = [row for row in table(write_labels, there.db, study_id, names=True) if row["criterion"] == "overall"]
    assert [row["system"] if row["left"] == "item" else row["other_system"] for row in rows] == left
    found = left_preferred(there, study_id)
    assert (found["n"], found["value"]) == (len(tasks), pytest.approx(1 - 1 / len(tasks)))


def test_adjudicators_see_the_sides_and_the_votes_as_they_were_given(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    list(there.prefer(study_id, 0, "lantern"))
    list(there.prefer(study_id, 1, "harbour"))
    for dispute in disputes(there.db, there.admin, study_id):
        found = disputed_item(there.db, there.admin, dispute.study_item_id)
        votes = {vote.rater: vote.value for vote in found.units[0].votes}
        second_left = "second" in found.presentation["answers"][0]["answer"]
        assert sorted(votes.values()) == [-1, 1]
        with there.db.read() as session:
            study = session.get_one(Study, study_id)
            called = raters_of(study, dispute.study_item_id, [there.people[0].person_id, there.people[1].person_id])
        assert votes[called[there.people[0].person_id]] == (-1 if second_left else 1)


def test_an_item_page_lists_a_pair_under_both_its_items(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern", seed=3)
    list(there.prefer(study_id, 0, "lantern"))
    for name in ("q0:harbour", "q0:lantern"):
        (found,) = item_labels(there.db, there.admin, there.project_id, external_id=name)
        assert {label.value for label in found.labels} == {1}


def test_pages_of_both_answers_are_disclosed_with_the_evidence(there: Pairs) -> None:
    shown = PROTOCOL.model_copy(
        update={
            "name": "with_pages",
            "steps": [PROTOCOL.steps[0].model_copy(update={"shows": [*PROTOCOL.steps[0].shows, Material.EVIDENCE]})],
        }
    )
    study_id = there.make("harbour", "lantern", protocol=shown)
    item = work(there.db, there.people[0], study_id)["items"][0]
    assert [unit["key"] for unit in item["evidence"]] == ["E1", "E2", "E3"], "what both cite is there once"
    assert sorted(unit["pages"] for unit in item["evidence"]) == [[], [1], [1]]
    with there.db.read() as session:
        ids = {row.key: row.id or 0 for row in session.exec(select(Document))}
    for name in SYSTEMS[:2]:
        assert may_see_page(there.db, there.people[0], document_id=ids[f"{name}.pdf"], page=1)
    with pytest.raises(Exception, match="There is no page"):
        may_see_page(there.db, there.people[0], document_id=ids["quay.pdf"], page=1)


def rows_of(values: Sequence[tuple[str, str, str]]) -> list[ForeignLabel]:
    return [
        ForeignLabel(line, item, "grace", "overall", "pair", value, other=other)
        for line, (item, other, value) in enumerate(values, 2)
    ]


def test_a_revised_answer_makes_another_comparison(there: Pairs) -> None:
    there.make(*SYSTEMS[:2])
    about = (there.db, there.admin, there.project_id)
    revise_item(*about, external_id="q0:harbour", fields={"answer": "Another."}, reason="wrong")
    later = there.make(*SYSTEMS[:2], name="later")
    with there.db.read() as session:
        version = select(ItemVersion.id).where(ItemVersion.number == 2)
        query = select(StudyItem.study_id).where(
            col(StudyItem.item_version_id).in_(version) | col(StudyItem.other_version_id).in_(version)
        )
        assert session.exec(query).all() == [later]


def test_labels_made_elsewhere_are_taken_either_way_round(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern")
    rows = rows_of([("q0:harbour", "q0:lantern", "-2"), ("q1:lantern", "q1:harbour", "-2")])
    import_labels(there.db, there.admin, study_id, rows=rows, source="t.csv")
    found = {row["item"]: row["value"] for row in table(write_labels, there.db, study_id, names=False)}
    assert found == {"q0:harbour": "-2", "q1:harbour": "2"}


def test_a_pair_that_the_study_lacks_is_named(there: Pairs) -> None:
    study_id = there.make("harbour", "lantern")
    with pytest.raises(InvalidInput, match="line 2: pair of 'q0:harbour' and 'q0:quay' is not in the study"):
        import_labels(there.db, there.admin, study_id, rows=rows_of([("q0:harbour", "q0:quay", "1")]), source="t.csv")


def test_pairs_have_no_score_to_be_ordered_by(there: Pairs) -> None:
    with pytest.raises(InvalidInput, match=r"A pair has no score of its own .* Take another order"):
        there.plan("harbour", "lantern", order="by_score", order_score="token_f1", order_first="low")
