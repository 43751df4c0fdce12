"""What people did with suggestions: kept, changed after they saw one, and nothing where none was shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.annotating.annotations import reopen
from db.engine import Database
from exports.results.base import Figure
from exports.results.document import Results
from tests.db.annotating.test_suggestions import of_pages
from tests.exports.results.test_evidence_pages import LONG

SUGGESTED = {f"page:ferrand.pdf:{page}|hop:{hop}" for hop, pages in LONG.items() for page in pages}
N = 60 * len(LONG)
NAMES = {"agreed_before_suggestion", "changed_after_suggestion", "changed_to_suggestion", "suggestion_followed"}


def figures(results: Results) -> dict[str, Figure]:
    return {figure.name: figure for figure in results.figures if figure.name in NAMES and figure.by is None}


def test_of_suggestions_seen_before_the_share_that_was_followed(database: Database, tmp_path: Path) -> None:
    asked = of_pages(database, tmp_path, "before")
    kept = set(sorted(SUGGESTED)[:2])
    asked.give(asked.item(), lambda _, target: "evidence" if target in kept else "not_evidence")
    results = Results.of_study(database, asked.admin, asked.study)
    [(name, figure)] = figures(results).items()
    assert (name, figure.criterion, figure.n, figure.labels) == ("suggestion_followed", "evidence_page", N, "each")
    assert figure.value == pytest.approx((N - len(SUGGESTED) + 2) / N)
    table = next(table for table in results.tables() if table.caption == "Labels and suggestions")
    assert [list(row)[1] for row in table.rows] == ["Label is the one suggested"]


def test_of_suggestions_seen_after_what_was_changed_and_what_became_the_suggested(
    database: Database, tmp_path: Path
) -> None:
    asked = of_pages(database, tmp_path, "after")
    again = asked.give(asked.item(), "not_evidence")
    assert again is not None
    alone = figures(Results.of_study(database, asked.admin, asked.study))
    assert alone["changed_after_suggestion"].value == 0, "what is left as it was is not changed"
    again = reopen(database, asked.ada, asked.study, assignment_id=again["assignment"])
    became, other = set(sorted(SUGGESTED)[:2]), {"page:ferrand.pdf:1|hop:h1"}
    asked.give(again, lambda _, target: "evidence" if target in became | other else "not_evidence")
    found = figures(Results.of_study(database, asked.admin, asked.study))
    assert {name: (figure.value, figure.n) for name, figure in found.items()} == {
        "agreed_before_suggestion": (pytest.approx((N - len(SUGGESTED)) / N), N),
        "changed_after_suggestion": (pytest.approx(3 / N), N),
        "changed_to_suggestion": (pytest.approx(2 / len(SUGGESTED)), len(SUGGESTED)),
        "suggestion_followed": (pytest.approx((N - len(SUGGESTED) + 2 - 1) / N), N),
    }


def test_where_no_suggestion_is_shown_nothing_is_said_of_them(sqlite_database: Database, tmp_path: Path) -> None:
    asked = of_pages(sqlite_database, tmp_path, "never")
    asked.give(asked.item(), "not_evidence")
    assert figures(Results.of_study(sqlite_database, asked.admin, asked.study)) == {}


def test_before_anybody_has_labelled_the_shares_say_so(sqlite_database: Database, tmp_path: Path) -> None:
    asked = of_pages(sqlite_database, tmp_path, "after")
    found = figures(Results.of_study(sqlite_database, asked.admin, asked.study))
    assert set(found) == NAMES
    assert {figure.value for figure in found.values()} == {None}
    assert all("nobody" in (figure.reason or "") for figure in found.values())
