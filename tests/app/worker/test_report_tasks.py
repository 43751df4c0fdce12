"""Reports as files that pages give: nobody's name is in them, whoever looks at the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotators.intervals.bootstrap import Resampling
from app.worker.report_tasks import (
    Agreement,
    AgreementFile,
    Alignment,
    CheckedJudge,
    CheckFile,
    alignment_file,
    measured_alignment,
)
from db.engine import Database
from tests.exports.judging.makers import panelled
from tests.makers import make_person

NAMES = re.compile(r"\b(ada|ben|chloe)\b")
FEW = Resampling(20)


@pytest.mark.parametrize("kind", ["agreement", "alignment", "judge"])
def test_a_report_that_a_page_gives_calls_people_as_exports_do(
    sqlite_database: Database, tmp_path: Path, kind: str
) -> None:
    admin = make_person(sqlite_database, admin=True)
    made = panelled(sqlite_database, admin, tmp_path, {"A": 0.15}, questions=8, labelled=6)
    if kind == "agreement":
        agreement = Agreement(admin, made.study_id, True, {"resamples": 20})
        parts = list(agreement(sqlite_database))
        assert "ada" in Agreement.report(parts).raters
        file = AgreementFile(agreement, ".html")(sqlite_database)
    elif kind == "alignment":
        alignment = Alignment(admin, made.study_id, (), True, "item", None, FEW, 0.2)
        statistics, notes = measured_alignment(list(alignment(sqlite_database)))
        assert "ada" in {found.against for found in statistics}
        file = alignment_file(sqlite_database, alignment.unmeasured(sqlite_database), ".html", statistics, notes)
    else:
        checked = CheckedJudge(admin, made.study_id, (), "A", "majority", 0.2, (), FEW)
        assert NAMES.search(str(checked(sqlite_database).to_json()))
        file = CheckFile(checked, ".html")(sqlite_database)
    assert not NAMES.search(file.decode())
    assert re.search(r"\bA2\b", file.decode())
