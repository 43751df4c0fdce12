"""Table 2 of UniDoc-Bench: the share of positive labels, and the accuracy of the pipeline's flags against people."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.intervals.bootstrap import Resampling
from annotators.protocols import PROTOCOLS
from db.engine import Database
from exports.drawing.report_files import write_report
from exports.results.base import Figure, fitting
from exports.results.document import Results
from tests.exports.results.verified import Made, labelled

YES, NO = ("factual",) * 3, ("not_factual",) * 3
SPLIT = ("factual", "factual", "not_factual")


@pytest.fixture
def study(sqlite_database: Database) -> Made:
    """Two units an item, of which the pipeline used the first: people agree on the first of each, and on the second of
    two items; of the fourth item they do not agree on anything."""
    needed, not_needed = ("required",) * 3, ("not_required",) * 3
    first, second = ("grounding", "evidence:e1"), ("grounding", "evidence:e2")
    question, answer = ("question_factual", "item"), ("answer_factual", "item")
    return labelled(
        sqlite_database,
        {
            "one": {question: YES, answer: YES, first: needed, second: not_needed},
            "two": {question: YES, answer: NO, first: needed, second: not_needed},
            "three": {question: YES, answer: YES, first: needed, second: needed},
            "four": {question: YES, answer: SPLIT, first: needed, second: ("required", "required", "not_required")},
        },
        systems=("heron", "ibis"),
        used=(True, False),
    )


def figure(results: Results, name: str, labels: str = "settled", **about: object) -> Figure:
    wanted = {"group": None, "label": None, "labels": labels, **about}
    [found] = [
        figure
        for figure in results.figures
        if figure.name == name and all(getattr(figure, k) == v for k, v in wanted.items())
    ]
    return found


def test_each_column_is_the_share_of_the_positive_label(sqlite_database: Database, study: Made) -> None:
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    question = figure(results, "Fact.-Q")
    assert (question.value, question.n, question.high) == (1.0, 4, 1.0)
    assert question.low is not None
    assert 0.2 < question.low < 0.7  # four items that are all positive do not prove much
    answer = figure(results, "Fact.-R")
    assert (answer.value, answer.n) == (pytest.approx(2 / 3), 3)  # the fourth item is not settled
    each = figure(results, "Fact.-R", "each")
    assert (each.value, each.n) == (pytest.approx(8 / 12), 12)
    assert "12 labels count as" in (each.method or "")


def test_grounding_is_the_accuracy_of_the_pipelines_flags_against_people(
    sqlite_database: Database, study: Made
) -> None:
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    settled = figure(results, "Grounding")
    assert (settled.value, settled.n) == (pytest.approx(6 / 7), 7)  # the second unit of "three" is needed; one is open
    each = figure(results, "Grounding", "each")
    assert (each.value, each.n) == (pytest.approx((12 + 6 + 0 + 1) / 24), 24)


def test_every_figure_is_there_by_system_too(sqlite_database: Database, study: Made) -> None:
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    heron, ibis = (figure(results, "Fact.-R", group=name, by="system") for name in ("heron", "ibis"))
    assert (heron.value, heron.n, ibis.value, ibis.n) == (1.0, 2, 0.0, 1)
    assert ibis.low is None  # of one item
    captions = [table.caption for table in results.tables()]
    assert {"Verified quality", "Verified quality by system"} <= set(captions)
    assert not [caption for caption in captions if "category" in caption]


def test_units_without_a_flag_are_left_out_and_counted(sqlite_database: Database) -> None:
    said = {("grounding", "evidence:e1"): ("required",) * 3, ("grounding", "evidence:e2"): ("required",) * 3}
    study = labelled(sqlite_database, {"a": said, "b": said}, used=(True, None))
    results = Results.of_study(sqlite_database, study.researcher, study.study_id)
    assert (figure(results, "Grounding").value, figure(results, "Grounding").n) == (1.0, 2)
    assert any("6 labels are on units that no pipeline has flagged" in word for word in results.sections()[0].words)


def test_a_pipeline_that_flagged_nothing_leaves_a_reason(sqlite_database: Database) -> None:
    study = labelled(sqlite_database, {"a": {("grounding", "evidence:e1"): ("required",) * 3}}, used=(None,))
    found = figure(Results.of_study(sqlite_database, study.researcher, study.study_id), "Grounding")
    assert (found.value, found.reason) == (None, "no unit that was labelled has a used flag of the pipeline")


def test_a_researchers_own_variant_has_the_table_and_other_protocols_do_not() -> None:
    own = PROTOCOLS.get("qa_verification").model_copy(update={"name": "ours"})
    assert {"verification", "shares"} <= {report.name for report in fitting(own)}
    assert "verification" not in [report.name for report in fitting(PROTOCOLS.get("ambiguity"))]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", "md", "tex"])
def test_the_report_can_be_taken_away(sqlite_database: Database, study: Made, tmp_path: Path, ending: str) -> None:
    results = Results.of_study(sqlite_database, study.researcher, study.study_id, Resampling(50))
    path, *_plots = write_report(results.drawn(), tmp_path / f"results.{ending}")
    text = path.read_text()
    assert "Verified quality" in text
    assert "Fact." in text
    assert "66.7" in text
