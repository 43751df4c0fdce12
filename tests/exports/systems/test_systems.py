"""Systems compared: of a table and of a study, as tables, sentences, JSON, and in the study's results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from annotators.errors import InvalidInput, NotAllowed, NotFound
from db.engine import Database
from db.permissions import Actor
from exports.drawing.report_files import report_html
from exports.results.document import Results
from exports.systems.study import systems_of_study
from exports.systems.table import SystemColumns, systems_of_table
from tests.exports.judged import make_judged
from tests.makers import make_person


@pytest.fixture
def admin(sqlite_database: Database) -> Actor:
    return make_person(sqlite_database, admin=True)


COLUMNS = SystemColumns("grade", "system", "question", "who")


def written(path: Path, rows: list[str], head: str = "grade,system,question,who") -> Path:
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def labels(apart: float = 1.0, words: tuple[str, str] | None = None) -> list[str]:
    """Three systems, 30 questions, two of four raters an answer."""
    rng = np.random.default_rng(8)
    rows = []
    for question in range(30):
        hard = rng.normal()
        for place, system in enumerate(("alpha", "beta", "gamma")):
            for who in rng.permutation(4)[:2].tolist():
                value = 3 + apart * (place == 2) + hard + 0.5 * rng.normal()
                said: object = round(value, 3) if words is None else words[int(value > 3)]
                rows.append(f"{said},{system},q{question},r{who}")
    return rows


def test_a_table_says_first_which_systems_differ(tmp_path: Path) -> None:
    found = systems_of_table(written(tmp_path / "t.csv", labels()), COLUMNS)
    [section] = found.sections()
    first, means, parts = section.tables
    assert first.caption.startswith("grade: 2 of 3 differences are clear of 0 after Holm's adjustment: gamma above ")
    assert means.rows[0][0] == "gamma"
    assert [row[0] for row in parts.rows] == [
        "Answer (question × system)", "Question", "Rater", "Rater × system", "Error"
    ]  # fmt: skip
    words = found.in_words()
    for said in ("about raters like these", "4 raters are few", "value = grade", "p (Holm)"):
        assert said in words, said
    assert json.loads(json.dumps(found.to_json()))["criteria"][0]["n"] == 180
    assert "differences are clear of 0" in report_html(found)


def test_words_count_as_1_and_0_and_what_is_missing_is_counted(tmp_path: Path) -> None:
    rows = [*labels(words=("no", "yes")), ",alpha,q1,r1", "yes,,q1,r1"]
    found = systems_of_table(written(tmp_path / "t.csv", rows), COLUMNS, margin=0.9)
    assert found.notes[:2] == [
        'grade: "yes" counts as 1, any other value as 0',
        "2 rows without a label, a system or a question left out",
    ]
    [(_, comparison)] = found.criteria
    assert all(0 <= (entry.low or 0) <= (entry.high or 0) <= 1 for entry in comparison.means)
    assert {entry.verdict for entry in comparison.equivalences} == {"equivalent within ±0.9"}
    assert "3 of 3 differences are shown to be within ±0.9." in found.in_words()


def test_a_table_without_raters_says_so_and_a_wrong_scale_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", labels())
    alone = systems_of_table(path, SystemColumns("grade", "system", "question"))
    assert "all labels count as of one rater" in " ".join(alone.notes)
    assert "there is one rater" in alone.in_words()
    with pytest.raises(InvalidInput, match="outside the scale 1 to 2"):
        systems_of_table(path, COLUMNS, scale=(1.0, 2.0))
    with pytest.raises(NotFound):
        systems_of_table(path, SystemColumns("grade", "system", "nothing"))


def test_one_system_is_compared_with_nothing(tmp_path: Path) -> None:
    rows = [row for row in labels() if ",alpha," in row]
    found = systems_of_table(written(tmp_path / "t.csv", rows), COLUMNS)
    assert "Systems are not compared: only 'alpha' is named" in found.in_words()


def test_a_study_is_compared_by_what_is_asked_of_whole_items(
    sqlite_database: Database, admin: Actor, tmp_path: Path
) -> None:
    judged = make_judged(sqlite_database, admin, tmp_path / "source", questions=24, labelled=22)
    found = systems_of_study(sqlite_database, admin, judged.study_id)
    assert found.criteria
    for _, comparison in found.criteria:
        assert comparison.reason is None or "nothing differs" in comparison.reason
    named = found.criteria[0][1].criterion
    one = systems_of_study(sqlite_database, admin, judged.study_id, criterion=named, raters="fixed", margin=0.5)
    assert [comparison.criterion for _, comparison in one.criteria] == [named]
    assert "these raters" in one.in_words()
    with pytest.raises(NotFound, match="They can by"):
        systems_of_study(sqlite_database, admin, judged.study_id, criterion="nothing")
    results = Results.of_study(sqlite_database, admin, judged.study_id)
    differences = [figure for figure in results.figures if figure.name == "system_difference"]
    again = [entry for _, comparison in found.criteria for entry in comparison.differences]
    assert [(figure.value, figure.low, figure.against_group) for figure in differences] == [
        (entry.value, entry.low, entry.against) for entry in again
    ]
    drawn = [figure for figure in differences if figure.low is not None]
    assert all({"against_group", "p_value"} <= set(figure.to_json()) for figure in drawn)


def test_who_may_not_read_labels_may_not_compare_systems(
    sqlite_database: Database, admin: Actor, tmp_path: Path
) -> None:
    judged = make_judged(sqlite_database, admin, tmp_path / "source", questions=4, labelled=2)
    with pytest.raises((NotAllowed, NotFound)):
        systems_of_study(sqlite_database, make_person(sqlite_database, role="annotator"), judged.study_id)
