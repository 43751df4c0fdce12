"""Which items a study takes: conditions, one item of a question, and only items with a document to look at."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Protocol
from db.annotating.annotations import work
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.items.read import metadata_fields
from db.models import Document, Study
from db.permissions import Actor
from db.studies.design import StudyPlan, study_facts
from db.studies.items import items_of_study
from db.studies.selection import strata_of
from exports.importing.items import import_paths
from tests.makers import make_person, make_project, tiny_protocol

QUESTION_ONLY = PROTOCOLS.get("ambiguity")


class Choosing:
    """A project with two systems' answers to three questions, and scores."""

    def __init__(self, db: Database, tmp_path: Path) -> None:
        self.db, self.admin = db, make_person(db, admin=True)
        self.project_id = make_project(db)
        rows = [
            {
                "id": f"q{number}:{system}", "question_key": f"q{number}", "question": f"Question {number}?",
                "answer": "An answer.", "system": system, "category": "Text" if number else "Tables",
                "evidence": [{"key": "e1", "role": "gold" if number else "retrieved", "text": "A passage."}],
                "year": 2000 + number, "tags": ["long", system],
                "scores": [
                    {"scorer": "imported:native", "name": "quality", "value": number / 2},
                    {"scorer": "imported:other", "name": "quality", "value": 1.0},
                ][: 1 + (number == 2)],
            }
            for number in range(3)
            for system in ("harbour", "lantern")
        ]  # fmt: skip
        path = tmp_path / "items.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.take([path], "native", tmp_path)

    def take(self, paths: Any, name: str, folder: Any) -> None:
        report = import_paths(
            self.db, self.admin, self.project_id, paths=paths, format_name=name, data_folder=folder / "data"
        )
        assert not report.rejected, report.rejected[:2]

    def plan(self, protocol: Protocol | None = None, **choice: Any) -> StudyPlan:
        return plan(self.db, self.admin, self.project_id, protocol or tiny_protocol(), **choice)

    def taken(self, *where: str) -> int:
        return self.plan(where=where).n_items


def plan(db: Database, actor: Actor, project_id: int, protocol: Protocol, **choice: Any) -> StudyPlan:
    design = StudyDesign(name="study", annotators=(actor.name,), overlap=1, **choice)
    return plan_study(db, actor, project_id, protocol=protocol, design=design)


@pytest.fixture
def there(database: Database, tmp_path: Path) -> Choosing:
    return Choosing(database, tmp_path)


@pytest.mark.parametrize(
    ("where", "n"),
    [
        (("system=harbour",), 3),
        (("system=harbour", "system=lantern"), 6),
        (("system=harbour", "category=Text"), 2),
        (("category!=Text",), 2),
        (("role=gold",), 4),
        (("role!=gold",), 2),
        (("year=2001",), 2),
        (("year>=2001", "year<2002"), 2),
        (("tags=lantern",), 3),
        (("metadata:year=2000",), 2),
        (("score:imported:native/quality>=0.5",), 4),
        (("score:imported:native>0.5",), 2),
        (("language=",), 6),
    ],
)
def test_only_items_of_which_the_conditions_hold_are_taken(there: Choosing, where: tuple[str, ...], n: int) -> None:
    found = there.plan(where=where)
    assert found.n_items == n
    assert (found.reasons.get("where", 0), found.left_out) == (6 - n, 6 - n)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("colour=red", r"field 'colour'.*Known: system, category, language, role, kind, score:quality, tags, year"),
        ("system=port", r"No item has system 'port'\. Known: harbour, lantern"),
        (
            "score:quality>=0.5",
            r"one of several scores\. Write one of: score:imported:native/quality, sc",
        ),
        ("score:nothing>1", r"field 'score:nothing'"),
        ("year>3000", r"No item is left for which all of this holds: year>3000"),
        ("year", r"'year' is no condition"),
    ],
)
def test_a_field_or_value_that_is_not_there_is_named_with_those_that_are(
    there: Choosing, where: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        there.plan(where=(where,))


def test_a_question_is_asked_once_where_only_the_question_is_shown(there: Choosing) -> None:
    found = there.plan(QUESTION_ONLY)
    assert (found.n_items, found.reasons) == (3, {"same_question": 3})
    assert "Only the question is shown" in found.notes[0]
    assert there.plan(QUESTION_ONLY, one_per_question=False).n_items == 6
    assert there.plan(one_per_question=True).n_items == 3
    assert there.plan(QUESTION_ONLY, items=("q0:harbour", "q0:lantern")).n_items == 2, "who names items means these"
    assert there.plan().n_items == 6


def test_which_item_stands_for_a_question_is_drawn_by_the_seed(there: Choosing) -> None:
    hashes = [there.plan(QUESTION_ONLY, seed=seed, order="given").sample_hash for seed in range(20)]
    assert len(set(hashes)) > 3
    assert hashes == [there.plan(QUESTION_ONLY, seed=seed, order="given").sample_hash for seed in range(20)]


def test_items_without_a_readable_document_are_warned_of_or_left_out(there: Choosing, tmp_path: Path) -> None:
    path = tmp_path / "more.jsonl"
    evidence = [{"key": "e1", "document": "a.pdf", "pages": [1]}]
    rows = [{"id": name, "question": "Which?", "answer": "This.", "evidence": evidence} for name in ("x", "y")]
    rows.append(
        {
            "id": "z",
            "question": "Which?",
            "answer": "This.",
            "documents": ["b.pdf"],
            "evidence": [evidence[0] | {"document": "b.pdf"}],
        }
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    there.take([path], "native", tmp_path)
    with there.db.write() as session:
        document = session.exec(select(Document).where(Document.key == "b.pdf")).one()
        document.sha256, document.n_pages = "0" * 64, 3
    shown = PROTOCOLS.get("qa_verification")
    found = there.plan(shown)
    assert (found.n_items, found.reasons) == (7, {"lacking": 2})
    assert found.notes == (
        "2 items have no evidence with a text or a page that can be shown (x, y), by which “Evidence needed for this "
        "answer” is judged. Left out.",
    )
    found = there.plan(shown, keep_lacking=True)
    assert (found.n_items, found.left_out) == (9, 0)
    assert found.notes == (
        "2 items have no evidence with a text or a page that can be shown (x, y), by which “Evidence needed for this "
        "answer” is judged: annotators read that it is missing.",
        "2 items have no readable document: annotators see no page of them. Supply the documents, or leave these items "
        "out.",
    )
    found = there.plan(shown, with_documents=True)
    assert (found.n_items, found.reasons) == (7, {"documents": 2})
    assert not there.plan().notes


def test_what_was_chosen_stands_in_the_settings_of_the_study(there: Choosing) -> None:
    design = StudyDesign(
        name="s", annotators=(there.admin.name,), overlap=1, where=("system=harbour",), with_documents=True
    )
    made = create_study(there.db, there.admin, there.project_id, protocol=tiny_protocol(), design=design)
    settings = study_facts(there.db, there.admin, made.study_id).settings
    assert settings == {
        "sample": None, "per": None, "where": ["system=harbour"], "with_documents": True,
        "left_out": 3, "left_out_by": {"where": 3},
    }  # fmt: skip


def test_fathoms_questions_are_asked_once_and_its_missing_papers_counted(
    database: Database, shared_data: Path, tmp_path: Path
) -> None:
    admin, project_id = make_person(database, admin=True), make_project(database)
    import_paths(
        database,
        admin,
        project_id,
        paths=[shared_data / "fathoms"],
        format_name="fathoms",
        data_folder=tmp_path / "data",
    )
    asked = plan(database, admin, project_id, QUESTION_ONLY)
    assert asked.n_items == 95, "93 questions, of which two are worded otherwise in some of the files"
    shown = plan(database, admin, project_id, PROTOCOLS.get("qa_verification"))
    assert shown.n_items == 1023
    left = plan(database, admin, project_id, PROTOCOLS.get("qa_verification"), with_documents=True)
    assert left.n_items + left.reasons["documents"] == shown.n_items
    assert shown.notes[0].startswith(f"{left.reasons['documents']:,} items have no readable document")


def test_unidoc_has_no_documents_at_all(database: Database, shared_data: Path, tmp_path: Path) -> None:
    admin, project_id = make_person(database, admin=True), make_project(database)
    import_paths(
        database, admin, project_id, paths=[shared_data / "unidoc"], format_name="unidoc", data_folder=tmp_path / "data"
    )
    protocol = PROTOCOLS.get("qa_verification")
    shown = plan(database, admin, project_id, protocol)
    assert shown.n_items == 664, "five of its six criteria are judged by the question and the answer"
    assert any(note.startswith("None of the 664 items has evidence with a text or a page") for note in shown.notes)
    assert any(note.startswith("664 items have no readable document") for note in shown.notes)
    with pytest.raises(InvalidInput, match="No item is left that has a readable document"):
        plan(database, admin, project_id, protocol, with_documents=True)
    with pytest.raises(InvalidInput, match="None of the 664 items has evidence with a text or a page"):
        plan(database, admin, project_id, PROTOCOLS.get("grounding"))


def test_a_sample_is_stratified_by_any_field(there: Choosing) -> None:
    assert there.plan(sample=1, per="year").n_items == 3
    assert there.plan(sample=1, per="system,year").n_items == 6
    assert there.plan(sample=1, per="tags").n_items == 2, "the values of a list together are one stratum"
    assert there.plan(sample=9, per="metadata:year").n_items == 6
    both = there.plan(sample=1, per="category,system").sample_hash
    assert both == there.plan(sample=1, per="system,category").sample_hash, "system and category come first, as ever"
    for per, wrong in (
        ("colour", "No item has anything in the field 'colour'. Known: system, category, language, role"),
        ("system,", "Cannot sample per 'system,': a field has no name."),
        ("year,year", "'year' is named twice"),
        ("score:quality", "Cannot sample per 'score:quality': nearly every item would be a stratum."),
    ):
        with pytest.raises(InvalidInput, match=re.escape(wrong)):
            there.plan(sample=1, per=per)
    assert metadata_fields(there.db, there.admin, there.project_id) == ["year"], "a list is no field of the form"


def test_the_strata_of_a_study_are_known_for_its_items_and_those_beside_them(there: Choosing) -> None:
    design = StudyDesign(name="study", annotators=(there.admin.name,), overlap=1, sample=1, per="year,system")
    made = create_study(there.db, there.admin, there.project_id, protocol=tiny_protocol(), design=design)
    with there.db.read() as session:
        found = strata_of(session, session.get_one(Study, made.study_id))
    years, systems = range(2000, 2003), ("harbour", "lantern")
    assert sorted(found.values()) == [f"{system} / {year}" for system in systems for year in years]
    plain = design.model_copy(update={"name": "plain", "per": "system"})
    made = create_study(there.db, there.admin, there.project_id, protocol=tiny_protocol(), design=plain)
    with there.db.read() as session:
        assert strata_of(session, session.get_one(Study, made.study_id)) == {}, "which everybody has at hand"


def test_the_order_as_given_is_that_of_the_list_of_items(there: Choosing) -> None:
    listed = ("q2:lantern", "q0:harbour", "q1:harbour")
    design = StudyDesign(name="listed", annotators=(there.admin.name,), overlap=1, order="given", items=listed)
    made = create_study(there.db, there.admin, there.project_id, protocol=tiny_protocol(), design=design)
    with there.db.read() as session:
        assert tuple(items_of_study(session, made.study_id)) == listed
    offered = [item["question"] for item in work(there.db, there.admin, made.study_id)["items"]]
    assert offered[0] == "Question 2?"
    turned = design.model_copy(update={"items": listed[::-1]})
    hashes = {plan(there.db, there.admin, there.project_id, tiny_protocol(), order="given", items=names).sample_hash
              for names in (listed, turned.items)}  # fmt: skip
    assert len(hashes) == 2, "the order is part of what the sample is known by"
