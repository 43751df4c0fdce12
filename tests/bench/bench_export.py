"""Exporting 10,000 annotated items (native, labels, adjudicated), against the csv module writing the same tables.

    python -m tests.bench.bench_export [ITEMS]

Three annotators give three labels each on every item. Two baselines: `csv.writer` with the rows of labels.csv and
adjudicated.csv in memory already, and the same fed by one plain SELECT of the joined rows. Target: at most 3 times
the second; what the export does besides (items with their parts, settling, pseudonyms, hashes, manifest) is included.
"""

from __future__ import annotations

import csv
import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.designing.design import StudyDesign
from annotators.protocols import Material, Protocol, Step
from db.designing.making import create_study
from db.engine import Database, insert_many
from db.models import AnnotationKind, AssignmentState, Study, now
from db.query import database_time
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from tests.bench.bench_import import fresh, write_items
from tests.makers import make_member, make_person, make_project

TARGET = 3.0

PLAIN = """
SELECT i.external_id, v.number, q.key, i.system, s.person_id, l.criterion, l.target, l.value, l.cannot_judge, l.reason,
       l.comment, l.rationale, s.created_at, s.seconds, n.kind, s.shown, s.step, s.uid, s.comment, s.flag
FROM label l JOIN submission s ON s.id = l.submission_id JOIN assignment a ON a.id = s.assignment_id
JOIN study_item x ON x.id = a.study_item_id JOIN item_version v ON v.id = x.item_version_id
JOIN item i ON i.id = v.item_id JOIN question q ON q.id = i.question_id
JOIN annotation n ON n.assignment_id = a.id AND n.sitting = s.sitting
"""


def protocol() -> Protocol:
    """One step of three criteria."""
    yes_no = [Label(value="yes"), Label(value="no")]
    grades = [Label(value=value) for value in range(1, 6)]
    return Protocol(
        name="bench",
        title="Bench",
        guidelines="Judge the answer.",
        criteria=[
            Choice(name="correct", title="Correct", labels=yes_no),
            Choice(name="grounded", title="Grounded", labels=yes_no),
            Grade(name="clarity", title="Clarity", labels=grades),
        ],
        steps=[
            Step(
                name="judge",
                title="Judge",
                shows=[Material.QUESTION, Material.ANSWER, Material.REFERENCES],
                criteria=["correct", "grounded", "clarity"],
            )
        ],
    )


def annotate(db: Database, study_id: int, people: list[int]) -> None:
    """Give every slot of the study its annotation, by plain SQL."""
    with db.write() as session:
        connection, at = session.connection(), database_time(session, now())
        slots = connection.exec_driver_sql(
            "SELECT id, study_item_id, queue FROM assignment WHERE study_id = ? ORDER BY id", (study_id,)
        ).fetchall()
        overlap = session.get_one(Study, study_id).overlap
        submissions, annotations, labels, taken = [], [], [], []
        for number, (assignment, study_item, queue) in enumerate(slots, 1):
            person = people[queue % overlap]
            taken.append((AssignmentState.SUBMITTED, person, 1, assignment))
            submissions.append(
                (number, f"u{number}", assignment, 1, 0, person, '["answer","question","references"]', 12.5, at)
            )
            annotations.append((study_id, study_item, assignment, 1, person, AnnotationKind.REGULAR, 12.5, at))
            odd = '"no"' if (study_item * 7 + queue) % 5 == 0 else '"yes"'
            comment = "see the second table, not the first" if number % 10 == 0 else None
            labels += [
                (number, assignment, 1, "correct", "item", odd, False, comment),
                (number, assignment, 1, "grounded", "item", '"yes"', False, None),
                (number, assignment, 1, "clarity", "item", str(study_item % 5 + 1), False, None),
            ]
        connection.exec_driver_sql("UPDATE assignment SET state = ?, person_id = ?, steps_done = ? WHERE id = ?", taken)
        submission = ["id", "uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at"]
        insert_many(connection, "submission", submission, submissions)
        annotation = ["study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "seconds"]
        insert_many(connection, "annotation", [*annotation, "created_at"], annotations)
        label = ["submission_id", "assignment_id", "sitting", "criterion", "target", "value", "cannot_judge", "comment"]
        insert_many(connection, "label", label, labels)


def from_memory(folder: Path, out: Path) -> float:
    """Seconds to write the exported tables with csv.writer, their rows in memory."""
    tables: list[tuple[str, list[list[str]]]] = []
    for name in ("labels.csv", "adjudicated.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            tables.append((name, list(csv.reader(file))))
    began = time.perf_counter()
    for name, rows in tables:
        with (out / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    return time.perf_counter() - began


def from_database(path: Path, folder: Path, out: Path) -> float:
    """Seconds to write labels.csv from one SELECT, and adjudicated.csv from memory."""
    with (folder / "adjudicated.csv").open(encoding="utf-8", newline="") as file:
        settled = list(csv.reader(file))
    began = time.perf_counter()
    connection = sqlite3.connect(path)
    with (out / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(connection.execute(PLAIN))
    with (out / "adjudicated.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(settled)
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


def main(n: int = 10_000) -> float:
    """Print the times and ratios; the ratio to the second baseline."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        write_items(folder / "items.jsonl", n)
        db = fresh(folder, "assay.db")
        project, researcher = make_project(db), make_person(db, admin=True)
        import_paths(db, researcher, project, paths=[folder / "items.jsonl"])
        people = [make_person(db) for _ in range(3)]
        for person in people:
            make_member(db, project, person, "annotator")
        design = StudyDesign(
            name="bench", annotators=tuple(person.name for person in people), overlap=3, rule="majority"
        )
        study = create_study(db, researcher, project, protocol=protocol(), design=design)
        annotate(db, study.study_id, [person.person_id for person in people])
        seconds: dict[str, float] = {}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        manifest: Any = None
        for formats in (["native", "labels", "adjudicated"], ["native"], ["labels"], ["adjudicated"]):
            to = folder / "-".join(formats)
            began = time.perf_counter()
            made = export_project(db, researcher, project, to=to, study_id=study.study_id, formats=formats)
            seconds[" ".join(formats)] = time.perf_counter() - began
            manifest = manifest or made
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        whole = folder / "native-labels-adjudicated"
        assert manifest.counts["labels"] == 9 * n and manifest.counts["adjudicated"] == 3 * n
        (folder / "plain").mkdir()
        memory_rows = from_memory(whole, folder / "plain")
        database_rows = from_database(folder / "assay.db", whole, folder / "plain")
        db.dispose()
    ours = seconds["native labels adjudicated"]
    for what, taken in seconds.items():
        print(f"{what + ':':<28} {taken:.2f} s")
    print(f"more memory:                 {memory / 1024:.0f} MB")
    print(f"csv.writer, rows in memory:  {memory_rows:.2f} s; ratio {ours / memory_rows:.2f}")
    ratio = ours / database_rows
    print(f"csv.writer from one SELECT:  {database_rows:.2f} s; ratio {ratio:.2f} (target: at most {TARGET:g})")
    return ratio


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000) > TARGET)
