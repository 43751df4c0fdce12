"""Projects made of the real data beside the project (../shared/data), to look at pages and to walk through them."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS, Protocol
from app.sample.judgements import chance
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.people.accounts import actor_named
from db.projects import create_project
from exports.importing.items import import_paths
from tests.servers import RunningServer

PEOPLE = ("ada", "ben", "chloe")
REPORTS = ("Independents-Report.pdf", "PIP_Seniors-and-Tech-Use_040314.pdf")
"""The documents of MMLongBench that the verification study is about."""

Judge = Callable[[str, str, str, int], bool]
"""(annotator, criterion, target, item) → whether this label is another one than the first."""


@dataclass(frozen=True)
class RealProjects:
    """The ids of what was made."""

    fathoms: int
    metrics: int
    reports: int
    verification: int


def make_real_projects(server: RunningServer, shared: Path, folder: Path, *, labelled: int = 12) -> RealProjects:
    """FATHOMS' results with a study of metrics, and reports of MMLongBench with a study of questions and answers.

    The first has `labelled` items with simulated labels of three people who mostly agree, the second half as many.
    """
    for name in PEOPLE:
        server.person(name, default_role="annotator")
    server.person("dora", default_role="adjudicator")
    fathoms = create_project(server.db, server.admin, "FATHOMS, ten systems")
    bring(server, fathoms, [shared / "fathoms" / "results", shared / "fathoms" / "papers"], "fathoms")
    metrics = make_study(server, fathoms, "Metrics", "metric_agreement", sample=3, per="system", order="given")
    label(server, metrics, PROTOCOLS.get("metric_agreement"), labelled)
    reports = create_project(server.db, server.admin, "Reports, MMLongBench")
    bring(server, reports, [native_reports(shared, folder)], "native")
    verification = make_study(server, reports, "Verification", "qa_verification", order="given")
    label(server, verification, PROTOCOLS.get("qa_verification"), labelled // 2)
    return RealProjects(fathoms, metrics, reports, verification)


def bring(server: RunningServer, project_id: int, paths: list[Path], format_name: str) -> None:
    """Import, without a rejected row."""
    report = import_paths(
        server.db,
        server.admin,
        project_id,
        paths=paths,
        format_name=format_name,
        data_folder=server.home / "data" / "documents",
    ).to_json()
    assert not report["rejected"], report["rejected"][:3]


def make_study(server: RunningServer, project_id: int, name: str, protocol: str, **design: Any) -> int:
    """A study of all three people with an overlap of three."""
    made = create_study(
        server.db,
        server.admin,
        project_id,
        protocol=PROTOCOLS.get(protocol),
        design=StudyDesign(name=name, annotators=PEOPLE, overlap=3, **design),
    )
    return made.study_id


def native_reports(shared: Path, folder: Path) -> Path:
    """The questions about REPORTS in the native format, each with its evidence pages as units, and the PDFs."""
    source = shared / "mmlongbench"
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    for name in REPORTS:
        shutil.copy(source / "documents" / name, folder / "documents" / name)
    rows = []
    for number, row in enumerate(json.loads((source / "samples.json").read_text(encoding="utf-8"))):
        pages = json.loads(row["evidence_pages"])
        if row["doc_id"] not in REPORTS or not pages:
            continue
        rows.append(
            {
                "id": f"mmlb-{number:02}",
                "question": row["question"],
                "answer": str(row["answer"]),
                "category": row["evidence_sources"],
                "documents": [row["doc_id"]],
                "references": [str(row["answer"])],
                "evidence": [
                    {"key": f"p{page}", "kind": "page", "role": "gold", "document": row["doc_id"], "pages": [page]}
                    for page in pages
                ],
            }
        )
    (folder / "items.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return folder


def label(server: RunningServer, study_id: int, protocol: Protocol, n: int, differs: Judge | None = None) -> None:
    """Each person labels n items: everybody the first label of each criterion, but for what `differs` says."""
    differs = differs or (lambda *about: chance(*about) < 0.15)
    for name in PEOPLE:
        actor = actor_named(server.db, name)
        for number in range(n):
            items = work(server.db, actor, study_id)["items"]
            step: Mapping[str, Any] | None = items[0] if items else None
            while step is not None:
                labels = _labels(protocol, step, lambda *about, who=name, item=number: differs(who, *about, item))
                given = StepSubmission(
                    uuid.uuid4().hex, step["assignment"], step["sitting"], step["step"], tuple(labels), seconds=31.0
                )
                step = submit(server.db, actor, study_id, step=given).item


def _labels(protocol: Protocol, step: Mapping[str, Any], differs: Callable[[str, str], bool]) -> list[GivenLabel]:
    labels, values = [], {}
    for criterion in protocol.step_criteria(step["step"]):
        for target in step["units"][criterion.name]:
            if criterion.when and str(values.get((criterion.when.criterion, target))) not in map(
                str, criterion.when.values
            ):
                continue
            known = criterion.label_list()
            value: Any = known[-2 if differs(criterion.name, target) else -1].value if known else "It is so."
            for rule in protocol.consequences:
                given = values.get((rule.when.criterion, target))
                if rule.then.criterion == criterion.name and given in rule.when.values:
                    value = rule.then.values[0]
            values[criterion.name, target] = value
            labels.append(GivenLabel(criterion.name, target, value))
    return labels
