"""Items with parts of all kinds, and a protocol of twenty criteria that asks about all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pymupdf

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.protocols import Protocol
from db.designing.making import create_study
from db.engine import Database
from db.permissions import Actor
from exports.importing.items import import_paths
from tests.makers import first_administrator, make_member, make_person, make_project

HIDDEN = ("zeta-system", "hidden-item", "gold-", "distractor-", '"role"', "imported:zeta", "0.4242", "zeta.category")
"""What no task may have anywhere: system, ids, roles as keys, scores, categories."""


def labels(*values: object, prefix: str = "") -> list[dict[str, Any]]:
    return [{"value": value, "title": f"{prefix} {value}".strip()} for value in values]


def all_kinds() -> Protocol:
    """Twenty criteria: every kind, about the item and each part of it, with conditions."""
    criteria: list[dict[str, Any]] = [
        {"name": "right", "title": "Is it $right?", "help": "Costs $5", "labels": labels("yes", "no", prefix="R,<&")},
        {"name": "faults", "kind": "several", "title": "Faults", "labels": labels("a", "b", "c", prefix="Fault"),
         "when": {"criterion": "right", "values": ["no"]}},
        {"name": "grade", "kind": "grade", "title": "Grade", "labels": labels(1, 2, 3, prefix="Grade")},
        {"name": "words", "kind": "grade", "title": "In words", "labels": labels("low", "high", prefix="Words")},
        {"name": "score", "kind": "number", "title": "Score", "minimum": 0, "maximum": 1, "step": 0.5},
        {"name": "points", "kind": "number", "title": "Points", "minimum": -3, "maximum": 3},
        {"name": "why", "kind": "text", "title": "Why", "required": False},
        {"name": "marks", "kind": "spans", "title": "Marks", "labels": labels("bad", "good", prefix="Mark")},
        {"name": "supports", "target": "evidence", "title": "Supports", "labels": labels("yes", "no", prefix="Sup")},
        {"name": "why_not", "kind": "text", "target": "evidence", "title": "Why not",
         "when": {"criterion": "supports", "values": ["no"]}},
        {"name": "weight", "kind": "number", "target": "evidence", "title": "Weight", "maximum": 100},
        {"name": "form", "target": "claim", "kind": "grade", "title": "Form", "labels": labels(0, 1, prefix="Form")},
        {"name": "parts", "target": "claim", "kind": "several", "title": "Parts",
         "labels": labels("x", "y", prefix="Part")},
        {"name": "verdict", "target": "claim_evidence", "title": "Verdict",
         "labels": labels("for", "against", prefix="V")},
        {"name": "seen", "target": "image", "kind": "several", "title": "Seen",
         "labels": labels("chart", "map", prefix="See")},
        {"name": "place", "target": "image", "kind": "place", "title": "Place"},
        {"name": "clear", "target": "image", "title": "Clear", "labels": labels("clear", "blurred", prefix="It is")},
        {"name": "order", "kind": "order", "title": "Order of the images"},
        {"name": "tone", "target": "block", "title": "Tone", "labels": labels("calm", "loud", prefix="Tone")},
        {"name": "page", "target": "page", "title": "Page", "labels": labels("needed", "other", prefix="Page")},
    ]  # fmt: skip
    shows = ["question", "answer", "references", "evidence", "claims", "images", "documents"]
    return Protocol.model_validate(
        {
            "name": "all_kinds",
            "title": "All kinds",
            "guidelines": "# Read\n\nJudge **what is there**.",
            "criteria": criteria,
            "steps": [{"name": "all", "title": "All", "shows": shows, "criteria": [one["name"] for one in criteria]}],
        }
    )


def staged() -> Protocol:
    """Three steps that each show more: the answer, then what supports it and by whom, then the references."""
    criteria: list[dict[str, Any]] = [
        {"name": "right", "title": "Right?",
         "labels": [{"value": "yes", "title": "Yes"}, {"value": "no", "title": "No"}]},
        {"name": "supports", "target": "evidence", "title": "Supports", "labels": labels("yes", "no")},
        {"name": "why", "kind": "text", "title": "Why not", "when": {"criterion": "right", "values": ["no"]}},
        {"name": "sure", "title": "Still?", "labels": labels("sure", "unsure"),
         "when": {"criterion": "right", "values": ["no"]}},
    ]  # fmt: skip
    steps = [
        {"name": "alone", "title": "Alone", "shows": ["question", "answer"], "criteria": ["right"]},
        {
            "name": "units",
            "title": "Evidence",
            "shows": ["evidence", "roles", "system"],
            "criteria": ["supports", "why"],
        },
        {"name": "after", "title": "After", "shows": ["references"], "criteria": ["sure"]},
    ]
    return Protocol.model_validate(
        {"name": "staged", "title": "Staged", "guidelines": "Judge.", "criteria": criteria, "steps": steps}
    )


def said(material: dict[str, Any], turn: int) -> list[GivenLabel]:
    """Labels of every criterion, by the neutral names that the material has; they change with `turn`."""
    units, answer = material["units"], material["answer"]
    at = answer.index("bad")
    own: dict[str, Any] = {
        "right": ("no", "yes")[turn % 2], "faults": ["b", "c"], "grade": 1 + turn % 3,
        "words": ("low", "high")[turn % 2], "score": 0.5, "points": turn % 3 - 1, "why": "one line\nand another",
        "marks": [{"start": at, "end": at + 3, "label": "bad", "text": "bad"}] if turn % 3 else [],
        "order": [image["key"] for image in material["images"]][:: -1 if turn % 2 else 1],
    }  # fmt: skip
    of_units: dict[str, tuple[Any, ...]] = {
        "supports": ("yes", "no"), "weight": (0, 40), "form": (1, 0), "parts": (["x"], []),
        "verdict": ("for", "against"), "seen": (["map"], []), "place": ("nowhere", "block:2"),
        "clear": ("clear", "blurred"), "tone": ("calm", "loud"),
        "page": ("other", "needed"),
    }  # fmt: skip
    found = [GivenLabel(name, "item", value) for name, value in own.items() if name != "faults" or own["right"] == "no"]
    for name, values in of_units.items():
        for number, target in enumerate(units[name]):
            value = values[(number + turn) % 2]
            found.append(GivenLabel(name, target, value))
            if name == "supports" and value == "no":
                found.append(GivenLabel("why_not", target, f"reason {turn}"))
    return found


def make_items(folder: Path, n: int = 3) -> Path:
    """Native items with documents, whose ids, system, roles, scores and category are words of `HIDDEN`."""
    documents = folder / "documents"
    documents.mkdir(parents=True)
    for name in ("report", "other"):
        pdf = pymupdf.open()
        for number in (1, 2):
            pdf.new_page(width=300, height=200).insert_text((20, 50), f"{name}, page {number}")
        pdf.save(documents / f"{name}.pdf")
    rows = [
        {
            "id": f"hidden-item/{number}/{system}", "question_key": f"q{number}", "question": f"Question {number}?",
            "answer": f"An emoji 😀 in answer {number}.\n\nThe second paragraph is bad <b>&</b>.", "system": system,
            "category": "zeta.category", "references": ["the reference words"],
            "evidence": [
                {"key": "gold-1", "role": "gold", "document": "report.pdf", "pages": [1], "kind": "page"},
                {"key": "distractor-2", "role": "distractor", "document": "report.pdf", "pages": [2],
                 "text": "A <passage>"},
            ],
            "claims": [{"key": "claim-a", "text": "The claim's words."}],
            "images": [
                {"key": "image-a", "document": "other.pdf", "page": 1, "caption": "First"},
                {"key": "image-b", "document": "other.pdf", "page": 2, "caption": "Second"},
            ],
            "scores": [{"scorer": "imported:zeta", "name": "correctness", "value": 0.4242}],
        }
        for number in range(n)
        for system in ("zeta-system", "zeta-system-b")
    ]  # fmt: skip
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return folder


class Project:
    """A project with such items and two annotators, ada and ben."""

    def __init__(self, db: Database, folder: Path, n: int = 3) -> None:
        self.db, self.documents = db, folder / "kept"
        self.admin: Actor = first_administrator(db)
        self.id = make_project(db, "zeta project")
        self.people = [make_person(db, name) for name in ("ada", "ben")]
        for actor in self.people:
            make_member(db, self.id, actor, "annotator")
        import_paths(db, self.admin, self.id, paths=[make_items(folder / "in", n)], data_folder=self.documents)

    def study(self, name: str, protocol: Protocol, **design: Any) -> int:
        made = StudyDesign(**{"name": name, "annotators": ("ada", "ben"), "overlap": 2, "order": "given", **design})
        return create_study(self.db, self.admin, self.id, protocol=protocol, design=made).study_id
