"""The alignment of a study: what is set against what, in which rows, and what the report says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from annotators.assent import positive_of
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.designing.design import StudyDesign
from annotators.errors import NotAllowed, NotFound
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.designing.making import create_study
from db.engine import Database
from db.models import AnnotationKind, Run, Score, Study
from db.permissions import Actor
from exports.alignment.advice import advice
from exports.alignment.data import study_data
from exports.alignment.scores import project_items
from exports.alignment.study import AlignmentReport, alignment_report, pairs_of, rows_of
from tests.exports.judged import SYSTEMS, Judged, make_judged
from tests.makers import StudyInUse, make_person

QUICK = Resampling(resamples=200)
OVERLAP, LENGTH, FLAG = (f"imported:native: {name}" for name in ("overlap", "length", "hallucination"))


@pytest.fixture
def admin(sqlite_database: Database) -> Actor:
    return make_person(sqlite_database, admin=True)


@pytest.fixture
def judged(sqlite_database: Database, admin: Actor, tmp_path: Path) -> Judged:
    return make_judged(sqlite_database, admin, tmp_path)


@pytest.fixture
def report(sqlite_database: Database, admin: Actor, judged: Judged) -> AlignmentReport:
    return alignment_report(sqlite_database, admin, judged.study_id, asked=QUICK, by="group")


# Figures -------------------------------------------------------------------------------------------------------------


def test_every_metric_is_set_against_every_criterion(report: AlignmentReport) -> None:
    """Figures equal SciPy's on the mean of three people's grades, written out from the labels."""
    quality = report.data.human("quality")
    metric = next(metric for metric in report.data.metrics if metric.name == OVERLAP)
    means = {unit: np.mean(values) for unit, values in quality.by_unit().items()}
    units = sorted(unit for unit in means if unit in metric.values)
    x, y = [metric.values[unit] for unit in units], [means[unit] for unit in units]
    for name, oracle in (
        ("spearman", stats.spearmanr),
        ("pearson", stats.pearsonr),
        ("kendall_tau_b", stats.kendalltau),
    ):
        found = report.find(name, metric=OVERLAP, criterion="quality")
        assert found is not None
        assert found.value == pytest.approx(oracle(x, y).statistic)
        assert found.n == 60
        assert "over questions" in (found.method or "")
    there = {
        (statistic.metric, statistic.criterion)
        for statistic in report.statistics
        if statistic.name == "spearman" and statistic.group is None
    }
    assert there == {(metric, criterion) for metric in (OVERLAP, LENGTH, FLAG) for criterion in ("quality", "right")}


def test_two_labels_are_judged_as_decisions_and_the_flag_goes_the_other_way(report: AlignmentReport) -> None:
    values = {metric: report.find("auroc", metric=metric, criterion="right") for metric in (OVERLAP, LENGTH, FLAG)}
    assert all(value is not None for value in values.values())
    assert (values[OVERLAP].value or 0) > 0.8  # type: ignore[union-attr]
    assert (values[FLAG].value or 1) < 0.4  # type: ignore[union-attr]
    accuracy = report.find("accuracy", metric=OVERLAP, criterion="right")
    assert accuracy is not None
    assert "decided at 0.5" in (accuracy.method or "")
    assert 'right: "yes" counts as 1, any other label as 0' in report.notes
    # Whose error is left out is said of one label a unit that counts as right, and not of a mean.
    assert [note for note in report.notes if TAKEN_AS_RIGHT in note] == [f"right: {TAKEN_AS_RIGHT}"]


def test_groups_are_systems_categories_and_what_is_asked_for(report: AlignmentReport) -> None:
    groups = {
        (statistic.by, statistic.group, statistic.n)
        for statistic in report.statistics
        if statistic.name == "spearman"
        and statistic.criterion == "quality"
        and statistic.metric == LENGTH
        and statistic.group
    }
    assert groups == {
        *(("system", name, 20) for name in SYSTEMS), ("category", "Text", 30), ("category", "Tables", 30),
        ("group", "open", 40), ("group", "closed", 20),
    }  # fmt: skip


def test_the_human_ceiling_stands_beside_each_metric(report: AlignmentReport) -> None:
    ceiling = report.find("human_ceiling_spearman", criterion="quality")
    good = report.find("metric_to_rest_spearman", metric=OVERLAP, criterion="quality")
    poor = report.find("metric_to_rest_spearman", metric=LENGTH, criterion="quality")
    assert ceiling is not None
    assert good is not None
    assert poor is not None
    assert ceiling.n == 3
    assert (ceiling.value or 0) > (good.value or 0) > (poor.value or 0) + 0.3


def test_two_metrics_are_compared_once(report: AlignmentReport) -> None:
    pairs = [
        (statistic.metric, statistic.against)
        for statistic in report.statistics
        if statistic.name == "williams_t" and statistic.criterion == "quality"
    ]
    assert len(pairs) == 3
    assert len({frozenset(pair) for pair in pairs}) == 3
    difference = report.find("difference_pearson", metric=LENGTH, against=OVERLAP, criterion="quality")
    assert difference is not None
    assert (difference.high or 0) < 0


def test_the_human_mean_of_the_project_is_estimated_from_all_its_scores(
    sqlite_database: Database, admin: Actor, judged: Judged, report: AlignmentReport
) -> None:
    """60 of 90 items are labelled; of the others one has no overlap."""
    tuned = report.find("ppi_plus_plus_mean", metric=OVERLAP, criterion="quality")
    classical = report.find("classical_mean", metric=OVERLAP, criterion="quality")
    assert tuned is not None
    assert classical is not None
    assert (classical.n, tuned.n) == (60, 60)
    assert "29 units without a label" in (tuned.method or "")
    assert (tuned.high or 0) - (tuned.low or 0) < (classical.high or 0) - (classical.low or 0)
    items = project_items(sqlite_database, judged.project_id, report.data.metrics)
    assert len(items) == 90
    assert sum(OVERLAP in item.scores for item in items) == 89


def test_the_report_is_json_with_the_promised_fields(report: AlignmentReport) -> None:
    document = report.to_json()
    for statistic in document["statistics"]:
        assert {"name", "metric", "criterion", "group", "value", "low", "high", "method", "n", "reason"} <= set(
            statistic
        )
        assert (statistic["value"] is None) == (statistic["reason"] is not None), statistic
    assert document["labels"] == "item"


# Rows ----------------------------------------------------------------------------------------------------------------


def test_each_label_can_be_a_row_of_its_own(sqlite_database: Database, admin: Actor, judged: Judged) -> None:
    data = study_data(sqlite_database, admin, judged.study_id)
    human = data.human("quality")
    assert len(rows_of(data, human, "each")[0]) == 180
    metric = next(metric for metric in data.metrics if metric.name == OVERLAP)
    pairs = pairs_of(data, human, metric, "each")
    assert (pairs.n, pairs.n_clusters) == (180, 20)


def test_settled_labels_are_those_the_study_agreed_on(sqlite_database: Database, admin: Actor, judged: Judged) -> None:
    data = study_data(sqlite_database, admin, judged.study_id)
    human = data.human("right")
    settled = dict(rows_of(data, human, "settled")[0])
    unanimous = {
        unit: values[0] for unit, values in human.by_unit().items() if len(values) == 3 == values.count(values[0])
    }
    assert settled == unanimous
    assert 0 < len(settled) < 60


def test_a_tie_of_two_people_is_left_out_and_said(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=2, overlap=2)
    _score(sqlite_database, study, [0.1, 0.4, 0.6, 0.9])
    for who, values in enumerate((["yes", "yes", "no", "no"], ["yes", "no", "no", "yes"])):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": value})
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    assert "right: 2 units on which people split evenly left out" in found.notes


def test_scorers_can_be_chosen_and_an_unknown_one_is_named(
    sqlite_database: Database, admin: Actor, judged: Judged
) -> None:
    with pytest.raises(NotFound, match=r"no scores of 'rouge_l'.*assay score"):
        study_data(sqlite_database, admin, judged.study_id, scorers=["rouge_l"])
    with pytest.raises(NotFound, match="It has scores of: imported:native"):
        study_data(sqlite_database, admin, judged.study_id, scorers=["nobody"])
    assert len(study_data(sqlite_database, admin, judged.study_id, scorers=["imported:native"]).metrics) == 3


def test_under_pseudonyms_it_is_that_of_whoever_is_told_no_names(
    sqlite_database: Database, admin: Actor, judged: Judged
) -> None:
    asked = Resampling(20, seed=1)
    named, other = (
        alignment_report(sqlite_database, admin, judged.study_id, asked=asked, named=named) for named in (True, False)
    )
    assert {"ada", "ben", "chloe"} <= {found.against for found in named.statistics}
    assert {"A1", "A2", "A3"} <= {found.against for found in other.statistics}
    again = named.under_pseudonyms(sqlite_database)
    for found, expected in zip(again.statistics, other.statistics, strict=True):
        assert (found.name, found.metric, found.against) == (expected.name, expected.metric, expected.against)
        assert found.value == pytest.approx(expected.value, nan_ok=True), found.name
    twice = other.under_pseudonyms(sqlite_database)
    assert [found.against for found in twice.statistics] == [found.against for found in other.statistics]


def test_an_annotator_may_not_see_it(sqlite_database: Database, judged: Judged) -> None:
    with pytest.raises((NotAllowed, NotFound)):
        alignment_report(sqlite_database, make_person(sqlite_database, role="annotator"), judged.study_id)


def test_unscored_units_are_counted_with_their_reason(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=1, overlap=1)
    _score(sqlite_database, study, [0.1, None, 0.6, 0.9])
    study.label_all(0)
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    assert "native: 1 unscored and left out (no reference)" in found.notes


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["no", "yes"], "yes"), (["yes", "no"], "yes"), (["not_factual", "factual"], "factual"),
        (["complete", "incomplete"], "complete"), (["incomplete", "complete"], "complete"),
        (["statement", "abstention"], "statement"), (["fail", "pass"], "pass"),
    ],
)  # fmt: skip
def test_the_label_that_counts_as_one_is_the_one_that_assents(labels: list[str], positive: str) -> None:
    assert positive_of(labels) == positive


def test_labels_without_order_have_a_reason(sqlite_database: Database) -> None:
    labels = [Label(value=value) for value in ("plain", "pompous", "odd")]
    step = Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["tone"])
    protocol = Protocol(
        name="tone", title="Tone", guidelines="How does it sound?", steps=[step],
        criteria=[Choice(name="tone", title="Tone", labels=labels)],
    )  # fmt: skip
    study = StudyInUse(sqlite_database, items=3, annotators=1, overlap=1, protocol=protocol)
    _score(sqlite_database, study, [0.1, 0.4, 0.6])
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    [statistic] = found.statistics
    assert statistic.reason == "3 labels without order cannot be set against a number"


def test_a_judge_is_compared_on_the_criterion_that_it_filled_in(sqlite_database: Database) -> None:
    """A rater of kind model is one more metric, on the people's own scale."""
    study = StudyInUse(sqlite_database, items=6, annotators=3, overlap=2)
    for who in (0, 1):
        for value in ("yes", "no", "yes", "yes", "no", "no"):
            study.submit(who, study.work(who)["items"][0], {"right": value})
    judge = study.annotators[2]
    with sqlite_database.write() as session:
        for place, value in enumerate(("yes", "no", "yes", "no", "no", "no"), 1):
            model_says(session, study, judge, place, value)
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    accuracy = found.find("accuracy", metric=f"{judge.name}: right", criterion="right")
    assert accuracy is not None
    assert accuracy.value == pytest.approx(5 / 6)
    rate = found.find("alt_test_winning_rate", metric=f"{judge.name}: right", criterion="right")
    assert rate is not None
    assert rate.n == 2


# Agreement with scores ------------------------------------------------------------------------------------------------


def test_table_i_of_a_metric_agreement_study(sqlite_database: Database, admin: Actor, tmp_path: Path) -> None:
    """Mean agreement by group with n, and the unweighted mean; of the frozen scores, by a field of the metadata."""
    study_id, _ = _graded(sqlite_database, admin, tmp_path, "metric_agreement")
    found = alignment_report(sqlite_database, admin, study_id, by="group", asked=QUICK)
    by_group = {
        statistic.group: statistic
        for statistic in found.statistics
        if statistic.by == "group" and statistic.criterion == "correctness_agreement"
    }
    grades = {"closed": [5, 4, 5, 4], "open": [3, 2, 3, 2, 3, 2, 3, 2]}
    for name, given in grades.items():
        assert by_group[name].value == pytest.approx(np.mean(given))
        assert by_group[name].n == len(given)
    assert by_group[None].name == "macro_mean_agreement"
    assert by_group[None].value == pytest.approx((4.5 + 2.5) / 2)
    overall = found.find("mean_agreement", criterion="correctness_agreement", metric="correctness")
    assert overall is not None
    assert overall.value == pytest.approx(38 / 12)


def test_the_blind_arm_shows_what_anchoring_does(sqlite_database: Database, admin: Actor, tmp_path: Path) -> None:
    """The same items, graded one lower by those who judged blind first: the effect is one grade."""
    protocol = PROTOCOLS.get("metric_agreement_blind")
    _, project_id = first = _graded(sqlite_database, admin, tmp_path, "metric_agreement")
    blind = _grade(sqlite_database, admin, project_id, protocol, lower=1)
    for study_id in (first[0], blind):
        found = alignment_report(sqlite_database, admin, study_id, asked=QUICK)
        effect = next(
            statistic
            for statistic in found.statistics
            if statistic.name == "anchoring_effect" and statistic.criterion == "correctness_agreement"
        )
        assert effect.value == pytest.approx(1.0)
        assert effect.n == 12


def test_whoever_agrees_with_a_score_unlike_their_own_has_yielded(sqlite_database: Database, tmp_path: Path) -> None:
    """One person grades blind in quarters, sees the score, and says how far they agree."""
    admin = make_person(sqlite_database, admin=True)
    base = PROTOCOLS.get("metric_agreement")
    quarters = [Label(value=f"{place / 4:g}") for place in range(5)]
    criteria = [Grade(name="correctness", title="Correctness", labels=quarters), *base.criteria]
    material = [Material.QUESTION, Material.REFERENCES, Material.ANSWER]
    steps = [Step(name="blind", title="Blind", shows=material, criteria=["correctness"]), *base.steps]
    protocol = base.model_copy(update={"name": "own_blind", "criteria": criteria, "steps": steps})
    protocol = Protocol.model_validate(protocol.model_dump())
    _, project_id = _graded(sqlite_database, admin, tmp_path, "metric_agreement")
    study_id = _grade(sqlite_database, admin, project_id, protocol, blind="0.5")
    found = alignment_report(sqlite_database, admin, study_id, asked=QUICK)
    apart = found.find("blind_distance", criterion="correctness_agreement", metric="correctness")
    gave_in = found.find("yielding", criterion="correctness_agreement", metric="correctness")
    assert apart is not None
    assert gave_in is not None
    assert apart.value == pytest.approx(0.5)  # every score is 0 or 1
    assert gave_in.value == pytest.approx(4 / 12)  # grades of 4 and 5
    assert found.find("spearman", criterion="correctness", metric="imported:native: correctness") is not None


# Helpers -------------------------------------------------------------------------------------------------------------


def _score(db: Database, study: StudyInUse, values: list[float | None]) -> None:
    """Scores of the study's items by a scorer `native`, in their order."""
    with db.write() as session:
        run = Run(project_id=study.project_id, name="native", version="1", parameters_hash="none")
        session.add(run)
        session.flush()
        assert run.id is not None
        for version_id, value in enumerate(values, 1):
            reason = "no reference" if value is None else None
            score = Score(run_id=run.id, item_version_id=version_id, name="native", value=value, reason=reason)
            session.add(score)


def model_says(session: object, study: StudyInUse, judge: Actor, place: int, value: str) -> None:
    from db.models import Annotation, Assignment, AssignmentState, StoredLabel, Submission

    add, flush = session.add, session.flush  # type: ignore[attr-defined]
    assignment = Assignment(
        study_id=study.study_id, study_item_id=place, person_id=judge.person_id, kind="model",
        state=AssignmentState.SUBMITTED, queue=0, steps_done=1,
    )  # fmt: skip
    add(assignment)
    flush()
    submission = Submission(uid=f"judge-{place}", assignment_id=assignment.id, person_id=judge.person_id)
    add(submission)
    flush()
    add(
        Annotation(
            study_id=study.study_id, study_item_id=place, assignment_id=assignment.id, person_id=judge.person_id,
            kind=AnnotationKind.MODEL,
        )
    )  # fmt: skip
    add(StoredLabel(submission_id=submission.id, assignment_id=assignment.id, criterion="right", value=value))


def _graded(db: Database, admin: Actor, folder: Path, protocol: str) -> tuple[int, int]:
    """Twelve items of three systems with a score each, graded by one person; the study and its project."""
    import json

    from exports.importing.items import import_paths
    from tests.makers import make_project

    rows = [
        {
            "id": f"q{question}:{system}",
            "question_key": f"q{question}",
            "question": f"What was measured in round {question}?",
            "answer": "About ten.",
            "references": ["ten"],
            "system": system,
            "scores": [
                {"scorer": "imported:native", "name": "correctness", "value": question % 2},
                {"scorer": "imported:native", "name": "hallucination", "value": (question + 1) % 2},
            ],
            "metadata": {"group": "closed" if system == SYSTEMS[0] else "open"},
        }
        for question in range(4)
        for system in SYSTEMS
    ]
    folder.mkdir(exist_ok=True)
    (folder / "graded.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    project_id = make_project(db)
    import_paths(db, admin, project_id, paths=[folder / "graded.jsonl"])
    return _grade(db, admin, project_id, PROTOCOLS.get(protocol)), project_id


def _grade(
    db: Database, admin: Actor, project_id: int, protocol: Protocol, *, lower: int = 0, blind: str | None = None
) -> int:
    """A study of all items, graded by the administrator: 5 or 4 for the first system, 3 or 2 for the others."""
    import uuid

    from annotators.asking.submissions import GivenLabel
    from db.annotating.annotations import StepSubmission, submit, work

    design = StudyDesign(name=f"study {uuid.uuid4().hex[:6]}", annotators=(admin.name,), overlap=1, order="given")
    study_id = create_study(db, admin, project_id, protocol=protocol, design=design).study_id
    for place in range(12):
        item = work(db, admin, study_id)["items"][0]
        for number, step in enumerate(protocol.steps):
            grade = (5 if place % 3 == 0 else 3) - place // 3 % 2 - lower
            labels = []
            for name in step.criteria:
                criterion = protocol.criterion(name)
                allowed = [str(label.value) for label in criterion.label_list()]
                if name.endswith("_agreement"):
                    labels.append(GivenLabel(name, "item", max(1, grade)))
                else:
                    labels.append(GivenLabel(name, "item", blind if blind in allowed else allowed[0]))
            given = StepSubmission(uuid.uuid4().hex, item["assignment"], item["sitting"], number, tuple(labels))
            submit(db, admin, study_id, step=given)
    return study_id


# What to label next ---------------------------------------------------------------------------------------------------


def test_labels_of_items_that_an_advice_drew_count_by_one_over_their_probability(
    sqlite_database: Database, admin: Actor, judged: Judged, report: AlignmentReport
) -> None:
    quality, metric = (
        report.data.human("quality"),
        next(metric for metric in report.data.metrics if metric.name == OVERLAP),
    )
    advised = advice(sqlite_database, report, quality, metric)
    assert len(advised.candidates) == 30  # of 90 items 60 have labels
    assert len(advised.labelled) == 60
    items, kept = advised.draw(8, seed=3)
    assert len(items) == 8
    assert set(kept["drawn_with"]) == set(items)
    assert advised.draw(8, seed=3) == (items, kept)

    # The study as one whose items were drawn: every third with a tenth, the others with a half.
    names = sorted({facts.item for facts in report.data.units.values()})
    drawn = {name: 0.1 if place % 3 == 0 else 0.5 for place, name in enumerate(names)}
    with sqlite_database.write() as session:
        study = session.get_one(Study, judged.study_id)
        study.settings = {**study.settings, "drawn_with": drawn, "not_drawn_from": list(items)}
        session.add(study)
    again = alignment_report(sqlite_database, admin, judged.study_id, asked=QUICK)
    means = {report.data.units[unit].item: np.mean(values) for unit, values in quality.by_unit().items()}
    weights = {name: 1 / drawn[name] for name in means}
    expected = sum(weights[name] * means[name] for name in means) / sum(weights.values())
    found = again.find("classical_mean", metric=OVERLAP, criterion="quality")
    assert found is not None
    assert found.value == pytest.approx(expected)
    before = report.find("classical_mean", metric=OVERLAP, criterion="quality")
    assert before is not None
    assert before.value != pytest.approx(expected)
    assert any("drawn by an advice" in words for words in again.warnings)
    assert not any("drawn by an advice" in words for words in report.warnings)
    assert again.to_json()["warnings"] == list(again.warnings)


def test_few_questions_and_few_of_a_label_are_warned_of(
    sqlite_database: Database, admin: Actor, tmp_path: Path
) -> None:
    made = make_judged(sqlite_database, admin, tmp_path / "few", questions=8, labelled=6)
    found = alignment_report(sqlite_database, admin, made.study_id, asked=QUICK)
    assert any("quality: The intervals rest on only 6 questions" in words for words in found.warnings)
    assert any("quality: Only 18 units have a human value" in words for words in found.warnings)


def test_without_scores_nothing_limits_what_is_not_measured(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=1, overlap=1)
    study.label_all(0)
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    assert {entry.reason for entry in found.statistics} == {"no metric or judge has values of these targets"}
    assert not found.warnings
    _score(sqlite_database, study, [0.1, 0.3, 0.6, 0.9])
    found = alignment_report(sqlite_database, study.researcher, study.study_id, asked=QUICK)
    assert any("Only 4 units have a human value" in words for words in found.warnings)
