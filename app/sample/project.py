"""The sample project of `assay demo`: items, people, studies, labels and decisions, made by the ordinary operations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from app.sample.judgements import (
    FLAGS,
    Judge,
    Verifier,
    chance,
    hallucination_flags,
    judge_of_ambiguity,
    judge_of_scores,
)
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes, settlement_counts
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.annotating.status import study_status
from db.designing.making import create_study
from db.engine import Database
from db.people.accounts import actor_named, add_person, list_people, set_member
from db.permissions import Actor, Role
from db.projects import create_project, my_projects
from db.quality.gold import GoldRow
from db.quality.qualification import qualifications, set_qualification
from db.scores.write import run_scorer
from db.studies.design import list_studies
from exports.importing.items import import_paths
from exports.sample import ANNOTATORS, qualification_labels, simulated_labels, write_sample

PROJECT = "sample"
SIMULATED = tuple(f"demo-{name}" for name in ANNOTATORS)
ANNOTATOR = "demo-annotator"
ADJUDICATOR = "demo-adjudicator"
_LAST = "practice"
"""The study that is made last: with it the sample project is complete."""

PEOPLE = {**dict.fromkeys((*SIMULATED, ANNOTATOR), Role.ANNOTATOR), ADJUDICATOR: Role.ADJUDICATOR}


@dataclass
class MadeSample:
    """What one run has added to the sample project; all zero when it was there."""

    new_people: list[str] = field(default_factory=list)
    items: int = 0
    documents: int = 0
    scores: int = 0
    studies: int = 0
    annotations: int = 0
    adjudications: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `assay demo --json` prints it."""
        return {
            "project": PROJECT,
            "added": {
                "people": len(self.new_people),
                "documents": self.documents,
                "items": self.items,
                "scores": self.scores,
                "studies": self.studies,
                "annotations": self.annotations,
                "adjudications": self.adjudications,
            },
        }

    def in_words(self) -> str:
        """The same for people."""
        added = [f"{n} {what}" for what, n in self.to_json()["added"].items() if n]
        if not added:
            return f"The project {PROJECT!r} is there already; nothing was added."
        return f"Added to the project {PROJECT!r}: {', '.join(added)}."


def make_sample_project(db: Database, administrator: Actor, folder: Path, data_folder: Path) -> MadeSample:
    """Make the sample project, or what is missing of it after an interruption; a second run adds nothing.

    `folder` gets the sample in the native format; documents are stored in `data_folder`.
    """
    return _Maker(db, administrator, folder, data_folder).make()


class _Maker:
    """One run. Each part looks at what is there and adds what is missing."""

    def __init__(self, db: Database, administrator: Actor, folder: Path, data_folder: Path) -> None:
        self.db, self.administrator, self.folder, self.data_folder = db, administrator, folder, data_folder
        self.made = MadeSample()
        self.items: list[dict[str, Any]] = []

    def make(self) -> MadeSample:
        known = {row.name: row.project_id for row in my_projects(self.db, self.administrator)}
        self.project_id = known.get(PROJECT) or create_project(self.db, self.administrator, PROJECT)
        if _LAST in self._studies():
            return self.made
        self._people()
        self._verification()
        self._all_items()
        self._scores()
        self._ambiguity()
        self._metrics()
        self._newcomers()
        self._study(_LAST, "qa_verification", (self.administrator.name, ANNOTATOR), overlap=2, sample=20, seed=4)
        return self.made

    def _people(self) -> None:
        there = {row.name for row in list_people(self.db, self.administrator)}
        for name, role in PEOPLE.items():
            if name not in there:
                add_person(self.db, self.administrator, name)
                set_member(self.db, self.administrator, self.project_id, name=name, role=role)
                self.made.new_people.append(name)

    # Items ------------------------------------------------------------------------------------------------------------

    def _import(self, wanted: Callable[[Mapping[str, Any]], bool]) -> None:
        """Import the items that are wanted, with all documents, from the folder in the native format."""
        path = self.folder / "items.jsonl"
        if not self.items:
            write_sample(self.folder)
            rows = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
            self.items = [{**row, "scores": hallucination_flags(row)} for row in rows]
        lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in self.items if wanted(item))
        path.write_text("".join(lines), encoding="utf-8")
        report = import_paths(
            self.db,
            self.administrator,
            self.project_id,
            paths=[self.folder],
            format_name="native",
            data_folder=self.data_folder,
        )
        self.made.items += report.added
        self.made.documents += report.documents

    def _all_items(self) -> None:
        self._import(lambda _: True)

    def _scores(self) -> None:
        self.made.scores += run_scorer(self.db, self.administrator, self.project_id, scorer="phrase_recall").added

    # Studies ----------------------------------------------------------------------------------------------------------

    def _verification(self) -> None:
        """Three simulated annotators on the items they have labels for, most disputes decided."""
        judged = {row["item"] for row in simulated_labels()}
        self._import(lambda item: item["id"] in judged)
        study_id = self._study("verification", "qa_verification", SIMULATED, overlap=3, order="given")
        for name, annotator in zip(SIMULATED, ANNOTATORS, strict=True):
            self._label(study_id, name, Verifier(annotator, self.items), len(judged))
        self._adjudicate(study_id, 3)

    def _ambiguity(self) -> None:
        study_id = self._study("ambiguity", "ambiguity", (*SIMULATED, ANNOTATOR), overlap=2, sample=24, seed=7)
        for name, n in zip(SIMULATED, (14, 11, 6), strict=True):
            self._label(study_id, name, judge_of_ambiguity(name), n)
        self._adjudicate(study_id, 1)

    def _metrics(self) -> None:
        study_id = self._study(
            "metrics",
            "metric_agreement",
            (*SIMULATED[:2], ANNOTATOR),
            overlap=2,
            sample=12,
            per="system",
            show_scores=("phrase_recall", FLAGS),
        )
        for name, n in zip(SIMULATED[:2], (16, 13), strict=True):
            self._label(study_id, name, judge_of_scores(name, self.items), n)

    def _newcomers(self) -> None:
        """A study for which one has to qualify, of the items of the first one."""
        items = tuple(dict.fromkeys(row["item"] for row in simulated_labels()))
        study_id = self._study("newcomers", "qa_verification", SIMULATED[2:], overlap=1, items=items)
        if qualifications(self.db, self.administrator, study_id):
            return
        protocol = PROTOCOLS.get("qa_verification")
        rows = [
            GoldRow(None, row["item"], row["criterion"], row["target"], row["value"], row["explanation"])
            for row in qualification_labels({criterion.name for criterion in protocol.criteria})
        ]
        set_qualification(
            self.db, self.administrator, study_id, rows=rows, mark=0.8, tries=2, reason="to learn the guidelines"
        )

    def _studies(self) -> dict[str, int]:
        return {row.name: row.study_id for row in list_studies(self.db, self.administrator, self.project_id)}

    def _study(self, name: str, protocol: str, annotators: tuple[str, ...], **design: Any) -> int:
        known = self._studies()
        if name in known:
            return known[name]
        made = create_study(
            self.db,
            self.administrator,
            self.project_id,
            protocol=PROTOCOLS.get(protocol),
            design=StudyDesign(name=name, annotators=annotators, **design),
        )
        self.made.studies += 1
        return made.study_id

    def _label(self, study_id: int, name: str, judge: Judge, n: int) -> None:
        """Have somebody submit until they have n annotations in the study, or there is nothing left for them."""
        status = study_status(self.db, self.administrator, study_id)
        done = next(annotator["submitted"] for annotator in status["annotators"] if annotator["annotator"] == name)
        actor = actor_named(self.db, name)
        while done < n:
            items = work(self.db, actor, study_id, about=False)["items"]
            if not items:
                return
            step: dict[str, Any] | None = items[0]
            while step is not None:
                place = (step["assignment"], step["sitting"], step["step"])
                submission = StepSubmission(
                    "-".join(map(str, ("demo", *place))),
                    *place,
                    labels=tuple(judge(step)),
                    seconds=round(12 + 50 * chance(name, *place), 1),
                )
                step = submit(self.db, actor, study_id, step=submission).item
            done += 1
            self.made.annotations += 1

    def _adjudicate(self, study_id: int, n: int) -> None:
        """Have the adjudicator decide until n items are, with the majority, or the first label where there is none."""
        actor = actor_named(self.db, ADJUDICATOR)
        n -= settlement_counts(self.db, actor, study_id)["adjudicated"]
        for dispute in disputes(self.db, actor, study_id, limit=n) if n > 0 else ():
            item = disputed_item(self.db, actor, dispute.study_item_id)
            decisions = [
                UnitDecision(
                    unit.criterion,
                    unit.target,
                    unit.votes[0].value if unit.majority is None else unit.majority,
                    "Decided from the pages, after reading both comments.",
                )
                for unit in item.units
                if unit.needs_decision
            ]
            place, uid = dispute.study_item_id, f"demo-{dispute.study_item_id}"
            adjudicate(self.db, actor, place, uid=uid, decisions=decisions, from_browser=True)
            self.made.adjudications += 1
