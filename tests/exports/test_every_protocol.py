"""Each built-in protocol from labels to results: through a table and back, and through adjudication."""

from __future__ import annotations

import csv
import json
import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel, broken_rules, is_asked
from annotators.criteria import Criterion
from annotators.designing.design import StudyDesign
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import PROTOCOLS, Protocol
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes, settlement_counts
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database
from db.people.accounts import actor_named
from db.permissions import Actor
from db.projects import create_project
from db.schema import migrate
from db.studies.ratings import decided_labels
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.dataset.document import dataset_report
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from exports.results.document import Results
from exports.results.preference import ELSEWHERE, LEFT
from tests.app.cli.command_line import write_items
from tests.makers import make_member, make_person, read_guidelines

PEOPLE = ("ana", "ben", "chloe")
SYSTEMS = ("harbour", "lantern")
QUESTIONS = 4


def item(number: int, system: str) -> dict[str, Any]:
    """An item with every kind of part, on a document of four pages without bytes."""
    document = f"d{number}"
    return {
        "id": f"q{number}:{system}", "question_key": f"q{number}", "question": f"What ran in {2020 + number}?",
        "answer": f"Line {number} ran, says {system}.\n\n<PIC>\n\nIt was on time.\n\n<PIC>", "system": system,
        "references": [f"Line {number} ran on time."], "documents": [document],
        "hops": [{"key": f"h{hop}", "question": f"Which line {hop}?", "answer": f"Line {hop}"} for hop in (1, 2)],
        "claims": [
            {"key": f"c{n}", "text": f"Claim {n} of {number}.", "of": side}
            for n, side in enumerate(("answer", "answer", "reference"))
        ],
        "images": [
            {"key": f"m{n}", "caption": f"Image {n}", "document": document, "page": n + 1, "of": side}
            for n, side in enumerate(("answer", "answer", "question"))
        ],
        "evidence": [
            {"key": f"e{page}", "document": document, "pages": [page], "text": f"Passage {page}.", "used": page == 1,
             "role": "gold" if page < 3 else "distractor", **({"hop": page} if page < 3 else {})}
            for page in (1, 2, 3)
        ],
        "scores": [{"name": "correctness", "value": 0.5}, {"name": "hallucination", "value": 0.0}],
    }  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Database, Actor, int]:
    folder = tmp_path_factory.mktemp("there-and-back")
    db = Database(f"sqlite:///{folder}/assay.db")
    migrate(db)
    admin = make_person(db, admin=True)
    project = create_project(db, admin, "There and back")
    for name in PEOPLE:
        make_member(db, project, make_person(db, name), "annotator")
    rows = [item(number, system) for number in range(QUESTIONS) for system in SYSTEMS]
    documents = folder / "documents.jsonl"
    documents.write_text("".join(f'{{"key": "d{number}", "n_pages": 4}}\n' for number in range(QUESTIONS)))
    assert import_paths(db, admin, project, paths=[documents, write_items(folder, *rows)]).rejected == []
    return db, admin, project


def chosen(draw: random.Random, criterion: Criterion, step: dict[str, Any]) -> Any:
    """A label of the criterion, of whatever kind, as the browser would send it."""
    labels = [label.value for label in criterion.label_list()]
    match type(criterion).__name__:
        case "Several":
            return [label for label in labels if draw.random() < 0.4]
        case "Order":
            keys = [image["key"] for image in step["images"] if image.get("of", "answer") == "answer"]
            return draw.sample(keys, len(keys))
        case "Place":
            return draw.choice(["nowhere", "block:1", "block:2"])
        case "Spans":
            marks = [{"start": 0, "end": 4}, {"start": 5, "end": 6}]
            return [{**mark, "label": draw.choice(labels)} for mark in marks if draw.random() < 0.6]
        case "Number":
            return draw.choice([criterion.minimum, criterion.maximum])  # type: ignore[attr-defined]
        case "Text":
            return "a year is missing"
    # Mostly the first: people agree, but not always.
    return labels[0] if draw.random() < 0.6 else draw.choice(labels)


def labels_of(draw: random.Random, protocol: Protocol, step: dict[str, Any]) -> tuple[GivenLabel, ...]:
    """Labels for all that a step asks, which keep the conditions and the rules of the protocol."""
    while True:
        decided: dict[tuple[str, str], GivenLabel] = {}
        for criterion in protocol.step_criteria(step["step"]):
            for target in step["units"].get(criterion.name, ()):
                if is_asked(criterion, target, decided):
                    label = GivenLabel(criterion.name, target, chosen(draw, criterion, step))
                    decided[criterion.name, target] = label
        if not any(broken_rules(protocol, decided.values(), decided)):
            return tuple(decided.values())


def study_of(place: tuple[Database, Actor, int], protocol: Protocol, name: str) -> int:
    db, admin, project = place
    pairs = SYSTEMS if protocol.about_pairs else ()
    design = StudyDesign(name=name, annotators=PEOPLE, overlap=len(PEOPLE), order="given", pairs=pairs)
    made = create_study(db, admin, project, protocol=protocol, design=design)
    read_guidelines(db, made.study_id)
    return made.study_id


def label(place: tuple[Database, Actor, int], protocol: Protocol, study: int, person: Actor) -> None:
    """Everything that there is for somebody."""
    db, _, _ = place
    draw = random.Random(f"{protocol.name} {person.name}")
    while items := work(db, person, study)["items"]:
        where = [items[0][name] for name in ("assignment", "sitting", "step")]
        labels = labels_of(draw, protocol, items[0])
        submit(db, person, study, step=StepSubmission(uuid.uuid4().hex, *where, labels, seconds=1.0))


@pytest.mark.parametrize("protocol", list(PROTOCOLS), ids=lambda protocol: protocol.name)
def test_labels_as_a_file_give_the_same_shares_and_coefficients(
    place: tuple[Database, Actor, int], protocol: Protocol, tmp_path: Path
) -> None:
    db, admin, project = place
    given, taken = (study_of(place, protocol, f"{protocol.name} {word}") for word in ("given", "taken"))
    for name in PEOPLE:
        label(place, protocol, given, actor_named(db, name))
    export_project(db, admin, project, to=tmp_path / "out", study_id=given, formats=["labels"], names=True)
    import_label_table(db, admin, project, study=f"{protocol.name} taken", path=tmp_path / "out" / "labels.csv")

    def found(study: int) -> tuple[list[Any], list[Any], list[Any]]:
        report = agreement_report(db, admin, study, resamples=20, seed=1)
        shares = Results.of_study(db, admin, study).to_json()
        sides = [row for row in shares["rows"] if row["name"] == LEFT]
        rows = [row for row in shares["rows"] if row["name"] != LEFT]
        tables = [table for table in shares["tables"] if not table["caption"].endswith(": position")]
        return [criterion.to_json() for criterion in report.criteria], [rows, tables], sides

    coefficients, shares, sides = found(given)
    assert coefficients
    assert any(row["value"] is not None for row in shares[0])
    # Who labelled elsewhere saw the two of a pair on sides that a file does not tell.
    assert bool(sides) == protocol.about_pairs
    assert all(row["value"] is not None for row in sides if row["n"])
    coefficients_taken, shares_taken, sides_taken = found(taken)
    assert (coefficients_taken, shares_taken) == (coefficients, shares)
    if protocol.about_pairs:
        sections = Results.of_study(db, admin, taken).sections()
        about = [section for section in sections if section.title.startswith("Preference: ")]
        assert len(about) == len(protocol.criteria)
        assert all(len(section.tables) == 1 and ELSEWHERE in section.words[1] for section in about)
    assert {(row["value"], row["reason"]) for row in sides_taken if row["n"] or row["labels"] == "each"} <= {
        (None, ELSEWHERE)
    }


def votes_are_written_as_labels(folder: Path, asked: Sequence[str]) -> None:
    """In `adjudicated.csv` the votes of each unit are the values that `labels.csv` has of it."""
    rows: dict[str, list[dict[str, str]]] = {}
    for name in ("labels", "adjudicated"):
        with (folder / f"{name}.csv").open() as file:
            rows[name] = [row for row in csv.DictReader(file) if row["criterion"] in asked]
    given: dict[tuple[str, ...], set[str]] = {}
    for row in rows["labels"]:
        given.setdefault(unit_in(row), set()).add(row["value"])
    found = {unit_in(row): set(json.loads(row["votes"])) for row in rows["adjudicated"]}
    assert found and found == {unit: given[unit] for unit in found}


def unit_in(row: dict[str, str]) -> tuple[str, ...]:
    return row["item"], row.get("other_item", ""), row["criterion"], row["target"]


@pytest.mark.parametrize("protocol", list(PROTOCOLS), ids=lambda protocol: protocol.name)
def test_disputes_of_each_protocol_are_decided_as_the_browser_sends_them(
    place: tuple[Database, Actor, int], protocol: Protocol, tmp_path: Path
) -> None:
    db, admin, project = place
    study = study_of(place, protocol, f"{protocol.name} disputed")
    for name in PEOPLE:
        label(place, protocol, study, actor_named(db, name))
    waiting = disputes(db, admin, study)
    for number, dispute in enumerate(waiting):
        found = disputed_item(db, admin, dispute.study_item_id)
        first = found.raters[number % len(PEOPLE)]  # who is right about all of it, so that the rules are kept
        decisions = []
        for unit in found.units:
            own = next((vote for vote in unit.votes if vote.rater == first), None)
            # What is asked under a condition is decided with what makes it asked.
            criterion = protocol.criterion(unit.criterion)
            opened = own is not None and unit.outcome == "open" and criterion.when is not None and criterion.compared
            if unit.needs_decision or opened:
                decisions.append(UnitDecision(unit.criterion, unit.target, (own or unit.votes[0]).value))
        adjudicate(
            db, admin, dispute.study_item_id,
            uid=uuid.uuid4().hex, decisions=decisions, reason="Read again.", from_browser=True,
        )  # fmt: skip
    counts = settlement_counts(db, admin, study)
    assert (counts["disputed"], counts["pending"]) == (0, 0)
    assert counts["adjudicated"] == len(waiting) > 0
    export_project(db, admin, project, to=tmp_path / "out", study_id=study, formats=["labels", "adjudicated"])
    votes_are_written_as_labels(tmp_path / "out", [criterion.name for criterion in protocol.criteria])
    decided = decided_labels(db, admin, study)
    assert decided
    assert all(value is not None for units in decided.values() for value in units.values())
    assert Results.of_study(db, admin, study).figures


def test_the_report_of_a_study_of_pairs_counts_pairs_and_leaves_out_what_nothing_is_known_of(
    place: tuple[Database, Actor, int],
) -> None:
    db, admin, project = place
    protocol = PROTOCOLS.get("pairwise_preference")
    study_id = study_of(place, protocol, "pairs in the report")
    label(place, protocol, study_id, actor_named(db, "ana"))
    found = dataset_report(db, admin, project, study_id=study_id, asked=Resampling(20, 1))
    tables = {table.caption: table for section in found.sections() for table in section.tables}
    assert ("Items", str(2 * QUESTIONS)) in tables["Sizes"].rows
    assert ("Pairs of items", str(QUESTIONS)) in tables["Design"].rows
    stages = {row[0]: row[1:] for row in tables["Pairs by stage"].rows}
    assert stages["labels"] == (str(QUESTIONS), "100.0 %", "0", "0.0 %")
    assert stages["accepted"] == ("0", "0.0 %", "–", "–"), "nothing goes on from an end"
    assert tables["Annotators"].columns == (
        "Annotator",
        "Pairs",
        "Time an item",
        "With most of the rest",
        "State",
    )
