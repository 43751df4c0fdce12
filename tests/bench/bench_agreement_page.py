"""One million labels from the database to the drawn page Agreement, against SQL alone and a plain pandas groupby.

    python -m tests.bench.bench_agreement_page [LABELS] [--profile]

Three annotators give three labels each on LABELS / 9 items. Timed are: the page's first drawing (database, decoding,
coefficients with intervals, table, plot); its own statements run again by the bare driver, which is the time in SQL;
and one pandas groupby of those rows, the raw agreement of each criterion. The figure is (page - SQL) / groupby. Times
are processor seconds of this process, so that others on the machine do not change them.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import resource
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from time import process_time as clock
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import event

from annotators.designing.design import StudyDesign
from app import state
from db.designing.making import create_study
from db.engine import Database, insert_many
from db.models import AnnotationKind, AssignmentState, now
from db.query import database_time
from exports.agreement.study import agreement_report
from tests.app.pages import installation
from tests.bench.bench_export import protocol
from tests.bulk import make_items
from tests.makers import make_member, make_person, make_project

ROWS = """
SELECT l.criterion, l.target, l.value, l.cannot_judge, n.study_item_id, n.person_id
FROM annotation n JOIN label l ON l.assignment_id = n.assignment_id AND l.sitting = n.sitting WHERE n.study_id = ?
"""


def filled(db: Database, n_items: int) -> tuple[int, int, int]:
    """A project with a study of ten labelled items and one of all of them; the ids."""
    project_id, researcher = make_project(db), make_person(db)
    make_member(db, project_id, researcher, "researcher")
    people = [make_person(db) for _ in range(3)]
    for actor in people:
        make_member(db, project_id, actor, "annotator")
    make_items(db, project_id, n_items)
    ids = []
    for n in (10, None):
        names = tuple(actor.name for actor in people)
        design = StudyDesign(name=f"bench {n}", annotators=names, overlap=3, order="given", sample=n)
        ids.append(create_study(db, researcher, project_id, protocol=protocol(), design=design).study_id)
        annotate(db, ids[-1], [actor.person_id for actor in people])
    return project_id, ids[0], ids[1]


def annotate(db: Database, study_id: int, people: list[int]) -> None:
    """Give every slot its annotation, by plain SQL: people see the truth, or in one case of five anything."""
    rng = np.random.default_rng(0)
    with db.write() as session:
        connection, began = session.connection(), now()
        slots = connection.exec_driver_sql(
            "SELECT id, study_item_id FROM assignment WHERE study_id = ? ORDER BY study_item_id, id", (study_id,)
        ).fetchall()
        truth = np.repeat(rng.random((len(slots) // 3, 3)), 3, axis=0)
        seen = np.where(rng.random((len(slots), 3)) < 0.8, truth, rng.random((len(slots), 3)))
        first = connection.exec_driver_sql("SELECT coalesce(max(id), 0) FROM submission").scalar_one()
        submissions, annotations, labels = [], [], []
        rows = zip(slots, seen.tolist(), strict=True)
        for number, ((assignment, item), (right, grounded, clear)) in enumerate(rows, first + 1):
            person, at = people[number % 3], database_time(session, began + timedelta(seconds=5 * number))
            submissions.append((number, f"u{number}", assignment, 1, 0, person, "[]", 5 + 20 * right, at))
            annotations.append((study_id, item, assignment, 1, person, AnnotationKind.REGULAR, 5 + 20 * right, at))
            labels += [
                (number, assignment, 1, "correct", "item", '"yes"' if right > 0.4 else '"no"', False),
                (number, assignment, 1, "grounded", "item", '"yes"' if grounded > 0.1 else '"no"', False),
                (number, assignment, 1, "clarity", "item", str(1 + int(5 * clear)), False),
            ]
        taken = [(AssignmentState.SUBMITTED, submission[5], 1, submission[2]) for submission in submissions]
        connection.exec_driver_sql("UPDATE assignment SET state = ?, person_id = ?, steps_done = ? WHERE id = ?", taken)
        columns = ["id", "uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at"]
        insert_many(connection, "submission", columns, submissions)
        columns = ["study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "seconds"]
        insert_many(connection, "annotation", [*columns, "created_at"], annotations)
        columns = ["submission_id", "assignment_id", "sitting", "criterion", "target", "value", "cannot_judge"]
        insert_many(connection, "label", columns, labels)


Statement = tuple[str, Any]


@contextmanager
def statements_of(db: Database) -> Iterator[list[Statement]]:
    """Every statement that is run in the block, with its parameters."""
    found: list[Statement] = []

    def heard(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        found.append((statement, parameters))

    event.listen(db.engine, "before_cursor_execute", heard)
    try:
        yield found
    finally:
        event.remove(db.engine, "before_cursor_execute", heard)


def driver_alone(path: Path, statements: list[Statement]) -> float:
    """Seconds in which the driver runs these statements and fetches their rows, nothing else."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA temp_store=MEMORY")
    began = clock()
    for statement, parameters in statements:
        if statement.lstrip().startswith("SELECT"):
            connection.execute(statement, parameters).fetchall()
    seconds = clock() - began
    connection.close()
    return seconds


def groupby(frame: pd.DataFrame) -> float:
    """Seconds of one groupby: raw agreement of each criterion by the plain way of counting labels in each unit."""
    began = clock()
    counts = frame.groupby(["criterion", "study_item", "target", "value"]).size()
    units = counts.groupby(level=["criterion", "study_item", "target"])
    n = units.sum()
    agreed = (counts * (counts - 1)).groupby(level=["criterion", "study_item", "target"]).sum() / (n * (n - 1))
    found = agreed.groupby(level="criterion").mean()
    seconds = clock() - began
    print("raw agreement by pandas:", {name: round(value, 4) for name, value in found.items()})
    return seconds


def main(labels: int, *, profile: bool) -> float:
    """Print the times and the ratio, and give the ratio."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name, pytest.MonkeyPatch.context() as patch:
        with installation(Path(name) / "home", patch) as pages:
            began = clock()
            project_id, small, study_id = filled(pages.db, labels // 9)
            path = Path(str(pages.db.url.database))
            print(f"{labels:,} labels made in {clock() - began:.0f} s, {path.stat().st_size >> 20} MB")
            assert state.app_state().db is pages.db
            token = pages.token("admin")
            # Imports, and the search for components that each AppTest begins with, are not what is measured.
            page = pages.open(token, "agreement", project=str(project_id), study=str(small))
            choice = page.selectbox(key=f"agreement-study-{project_id}").set_value(study_id)
            with statements_of(pages.db) as statements:
                began = clock()
                choice.run()
                drawn = clock() - began
            assert not page.exception, page.exception
            assert "Agreement by criterion" in "".join(str(block.value) for block in page.get("html"))
            in_sql = driver_alone(path, statements)
            with sqlite3.connect(path) as connection:
                began = clock()
                rows = connection.execute(ROWS, (study_id,)).fetchall()
                one_by_one = clock() - began
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            began = clock()
            page.run()
            again = clock() - began
            if profile:  # the page runs in a thread of its own, so the report alone
                with cProfile.Profile() as profiler:
                    agreement_report(pages.db, pages.admin, study_id)
                pstats.Stats(profiler).sort_stats("cumulative").print_stats(45)
            columns = ["criterion", "target", "value", "cannot", "study_item", "person"]
            plain = groupby(pd.DataFrame(rows, columns=columns))
        outside = drawn - in_sql
        print(
            f"page {drawn:.2f} s (again {again:.2f} s), in SQL {in_sql:.2f} s; the rows one by one {one_by_one:.2f} s"
        )
        print(f"outside SQL {outside:.2f} s, groupby {plain:.2f} s, ratio {outside / plain:.2f}; {memory:.0f} MB")
    return outside / plain


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    main(asked.labels, profile=asked.profile)
