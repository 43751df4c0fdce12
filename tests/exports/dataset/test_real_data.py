"""The tables of the papers come out of one report, of whatever study of whatever data asks what they asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.designing.design import StudyDesign
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.engine import Database
from exports.dataset.document import DatasetReport, dataset_report
from exports.importing.items import import_paths
from tests.exports.test_every_protocol import PEOPLE, label
from tests.makers import first_administrator, make_member, make_person, make_project, read_guidelines

ASKED = Resampling(40, 3)


def labelled(db: Database, path: Path, protocol: str, home: Path, *, sample: int = 9) -> DatasetReport:
    """The report of a study of real items that three people have labelled, each as it came."""
    actor, asked = first_administrator(db), PROTOCOLS.get(protocol)
    project = make_project(db, path.stem)
    assert import_paths(db, actor, project, paths=[path], data_folder=home).rejected == []
    people = [make_person(db, name) for name in PEOPLE]
    for person in people:
        make_member(db, project, person, "annotator")
    design = StudyDesign(name="pilot", annotators=PEOPLE, overlap=len(PEOPLE), sample=sample, seed=3, keep_lacking=True)
    study = create_study(db, actor, project, protocol=asked, design=design).study_id
    read_guidelines(db, study)
    for person in people:
        label((db, actor, project), asked, study, person)
    return dataset_report(db, actor, project, study_id=study, asked=ASKED)


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (  # FATHOMS-RAG, Table I and its radars, and the shape of MRAMG-Bench's Table 4
            ("fathoms/results", "metric_agreement"),
            (
                ["Mean agreement by group", "Mean agreement by system", "Mean agreement by category",
                 "Metrics over all items", "imported:fathoms: correctness: systems by category",
                 "Images: systems by metric"],
                ["results.mean_agreement.correctness_agreement",
                 "results.macro_mean_agreement.correctness_agreement.group",
                 "scores.imported:fathoms: correctness", "scores.imported:fathoms: correctness.macro"],
                ["correctness-agreement-radar", "hallucination-agreement-radar", "correctness-radar"],
            ),
        ),
        (  # UniDoc-Bench, Table 2
            ("unidoc/finance.json", "qa_verification"),
            (
                ["Verified quality"],
                ["results.Fact.-R.answer_factual.settled", "results.Grounding.grounding.settled"],
                ["verified-quality"],
            ),
        ),
        (  # CDocRAG-Bench, the share of changed pages
            ("mmlongbench", "evidence_pages"),
            (["Page labels against the import"], ["results.changed.evidence_page.settled"], []),
        ),
        (  # MRAG-Suite, how people see ambiguity
            ("mmlongbench/samples.json", "ambiguity"),
            (["Ambiguity"], ["results.share_ambiguous.ambiguity.settled", "results.percent_agreement.ambiguity"], []),
        ),
    ],
    ids=["fathoms", "unidoc", "cdocrag", "mrag"],
)  # fmt: skip
def test_the_tables_of_the_papers(
    sqlite_database: Database,
    shared_data: Path,
    tmp_path: Path,
    data: tuple[str, str],
    names: tuple[list[str], list[str], list[str]],
) -> None:
    (path, protocol), (tables, numbers, plots) = data, names
    report = labelled(sqlite_database, shared_data / path, protocol, tmp_path, sample=2 if path == "mmlongbench" else 9)
    captions = [table.caption for section in report.sections() for table in section.tables]
    assert [caption for caption in tables if caption not in captions] == [], captions
    assert [name for name in numbers if report.numbers.get(name) is None] == [], sorted(report.numbers)
    drawn = [name for section in report.sections() for name, _, _ in section.plots]
    assert [plot for plot in plots if not any(name.endswith(plot) for name in drawn)] == [], drawn
