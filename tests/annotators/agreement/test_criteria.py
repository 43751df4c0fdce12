"""Tables from columns, the report of several criteria, and what is said beside the figures."""

from __future__ import annotations

import json

import numpy as np
import pytest

from annotators.agreement.measure import measure
from annotators.agreement.remarks import benchmarks, warnings_about
from annotators.agreement.report import agreement_report
from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.tables.columns import tables_of
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.errors import InvalidInput
from annotators.intervals.result import Interval, Statistic
from tests.annotators.agreement.makers import KRIPPENDORFF, random_matrix, rated, ratings_of, table_rows

NAMES = [coefficient.name for coefficient in all_coefficients()]


def test_a_long_table_becomes_one_table_a_criterion_and_kind_of_target() -> None:
    tables = tables_of(
        ["q1", "q1", "q1", "q1", "q2"],
        ["ann", "bob", "ann", "bob", "ann"],
        ["yes", "no", "3", "4", "yes"],
        criteria=["correct", "correct", "useful", "useful", "correct"],
        targets=["", "item", "evidence:e1", "evidence:e1", None],
        scale={"useful": "ordinal"},
        labels={"correct": ["no", "yes", "unsure"]},
    )
    assert [(table.criterion, table.target, table.ratings.scale) for table in tables] == [
        ("correct", "item", "nominal"),
        ("useful", "evidence", "ordinal"),
    ]
    assert tables[0].ratings.labels == ("no", "yes", "unsure")
    assert tables[0].ratings.units == ("q1", "q2")
    assert tables[1].ratings.units == (("q1", "evidence:e1"),)
    assert tables[1].items == ("q1",)


def test_only_our_kinds_of_target_make_tables_of_their_own() -> None:
    sentences = [f"Claim {place}: it rained on day {place}." for place in range(40)]
    tables = tables_of(
        [*["a"] * 80, "b", "b"],
        ["ann", "bob"] * 41,
        ["yes", "no"] * 20 + ["yes"] * 42,
        targets=[*(sentence for sentence in sentences for _ in range(2)), "", None],
    )
    assert [(table.criterion, table.target) for table in tables] == [("value", "item")]
    [table] = tables
    assert table.ratings.units[:2] == (("a", sentences[0]), ("a", sentences[1]))
    assert table.ratings.units[-1] == "b"
    assert table.items[:2] == ("a", "a")
    [report] = agreement_report(tables, resamples=20)
    assert "41 units" in (report.sentence or "")
    with pytest.raises(InvalidInput, match=r"line 3 rates item 'a', target 'so: it goes', by 'r' a second time"):
        tables_of(["a", "a"], ["r", "r"], ["x", "y"], targets=["so: it goes"] * 2, lines=[2, 3])


def test_empty_cells_are_missing_and_arrays_are_sets() -> None:
    tables = tables_of(["a", "a", "b", "b"], ["r", "s"] * 2, ["[1, 2]", "[2]", "", "[]"], scale="ordinal")
    assert tables[0].ratings.scale == "set"
    assert tables[0].ratings.n_ratings == 3


def test_a_repeated_cell_names_its_lines() -> None:
    with pytest.raises(
        InvalidInput, match=r"line 9 rates item 'q1' by 'ann' a second time for 'value' \(first on line 4"
    ):
        tables_of(["q1", "q2", "q1"], ["ann", "ann", "ann"], ["x", "y", "x"], lines=[4, 7, 9])


def test_a_value_that_is_not_declared_names_its_line_and_criterion() -> None:
    with pytest.raises(InvalidInput, match=r"criterion 'value': value 'maybe' is not among .* \(line 3\)"):
        tables_of(["a", "b"], ["r", "r"], ["yes", "maybe"], labels=["yes", "no"], lines=[2, 3])


@pytest.mark.parametrize(("items", "raters", "name"), [([""], ["r"], "item"), (["a"], [None], "rater")])
def test_a_row_without_item_or_rater_is_refused(items: list[object], raters: list[object], name: str) -> None:
    with pytest.raises(InvalidInput, match=f"line 1 names no {name}"):
        tables_of(items, raters, ["x"])


def test_numbers_of_a_file_are_the_labels_that_are_declared_as_words() -> None:
    tables = tables_of(["a", "a", "b", "b"], ["r", "s"] * 2, [1, 2.0, 2, 1], labels=["1", "2", "3"], scale="ordinal")
    assert tables[0].ratings.labels == ("1", "2", "3")
    assert tables[0].ratings.code.tolist() == [0, 1, 1, 0]


def long_columns(rows: list[list[int | None]]) -> tuple[list[object], list[object], list[object]]:
    cells = [(f"u{u}", f"r{r}", value) for r, row in enumerate(rows) for u, value in enumerate(row)]
    return [c[0] for c in cells], [c[1] for c in cells], [c[2] for c in cells]


def test_the_report_says_all_of_a_criterion_and_is_json() -> None:
    report = agreement_report(tables_of(*long_columns(KRIPPENDORFF), scale="ordinal"), resamples=200, seed=3)
    criterion = report[0]
    assert (criterion.criterion, criterion.target, criterion.scale) == ("value", "item", "ordinal")
    assert (criterion.n_units, criterion.n_raters, criterion.n_ratings) == (12, 4, 41)
    assert criterion.headline is criterion.find("krippendorff_alpha_ordinal")
    assert (criterion.headline.value if criterion.headline else None) == pytest.approx(0.815, abs=5e-4)
    assert criterion.shares[1] == pytest.approx(9 / 41)
    assert criterion.sentence is not None
    assert "Krippendorff's α (ordinal) = 0.82, 95 % CI [" in criterion.sentence
    written = criterion.to_json()
    assert list(written)[:8] == [
        "criterion", "target", "scale", "labels", "n_units", "n_raters", "n_ratings", "shares",
    ]  # fmt: skip
    assert written["labels"] == [1, 2, 3, 4, 5]
    assert json.loads(json.dumps(written)) == written


def test_a_report_without_the_headline_speaks_of_what_was_asked_for() -> None:
    report = agreement_report(tables_of(*long_columns(KRIPPENDORFF)), statistics=["gwet_ac1"], resamples=50)
    assert "Gwet's AC1 = 0.78" in (report[0].sentence or "")


def test_questions_are_resampled_together_on_demand() -> None:
    # Every unit stands thrice under one question: clustered, the interval is √3 times as wide.
    matrix = np.repeat(random_matrix(0, raters=3, units=60, labels=3), 3, axis=1)
    items, raters, values = long_columns(matrix.astype(int).tolist())
    questions = [f"q{int(str(item)[1:]) // 3}" for item in items]
    tables = tables_of(items, raters, values, questions=questions)
    names = ["krippendorff_alpha_nominal", "light_kappa", "cohen_kappa", "conger_kappa", "percent_agreement"]
    alone, together = (
        agreement_report(tables, statistics=names, kind="percentile", resamples=2000, clustered=clustered)[0].statistics
        for clustered in (False, True)
    )
    for a, b in zip(alone, together, strict=True):
        assert a.value == b.value
        assert ((b.high or 0) - (b.low or 0)) / ((a.high or 0) - (a.low or 0)) == pytest.approx(np.sqrt(3), rel=0.12)
        assert "bootstrap over questions" in (b.method or "")
        assert {other.kind for other in b.beside} == {"jackknife"}  # an analytic one would take units for independent


def test_a_unit_without_a_cluster_is_refused() -> None:
    ratings = ratings_of([[0, 1], [0, 1]])
    with pytest.raises(InvalidInput, match="unit 1 has no cluster"):
        measure(ratings, clusters={0: "q"})


def test_questions_are_the_clusters_where_some_have_several_units() -> None:
    matrix = random_matrix(1, raters=2, units=60, labels=2)
    items, raters, values = long_columns(matrix.astype(int).tolist())
    systems = [f"q{int(str(item)[1:]) % 15}" for item in items]

    def method(questions: list[str] | None, **asked: bool) -> str:
        table = tables_of(items, raters, values, questions=questions)
        criterion = agreement_report(table, resamples=100, statistics=["fleiss_kappa"], **asked)[0]
        return f"{criterion.statistics[0].method} {criterion.warnings}"

    assert "over questions" in method(systems)
    assert "rest on only 15 questions, each of which is drawn as a whole: with fewer than 20" in method(systems)
    assert "over units" in method(systems, clustered=False)
    assert "over units" in method(None)
    assert "over units" in method([str(item) for item in items])  # each item its own question
    assert "too narrow" not in method(systems, clustered=False)


def test_targets_of_one_item_are_resampled_with_it_when_no_question_is_given() -> None:
    matrix = random_matrix(1, raters=2, units=40, labels=2)
    items, raters, values = long_columns(matrix.astype(int).tolist())
    targets = [f"evidence:{item}" for item in items]
    grouped = [f"i{int(str(item)[1:]) // 4}" for item in items]
    found = agreement_report(tables_of(grouped, raters, values, targets=targets), clustered=True, resamples=100)[0]
    assert found.n_units == 40
    assert found.headline is not None
    assert "over items" in (found.headline.method or "")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("percentile", "percentile bootstrap over units"),
        ("jackknife", "jackknife over units (these raters), t with 10 degrees of freedom, 95 %"),
        ("analytic", "linearised (these raters), t with 10 degrees of freedom, 95 %"),
    ],
)
def test_the_interval_can_be_chosen_and_the_others_stand_beside(kind: str, words: str) -> None:
    ratings = ratings_of(KRIPPENDORFF)
    statistic = measure(ratings, ["krippendorff_alpha_nominal"], kind=kind)[0]  # type: ignore[arg-type]
    assert (statistic.method or "").startswith(words)
    assert {statistic.interval.kind if statistic.interval else "", *(other.kind for other in statistic.beside)} >= {
        "percentile", "jackknife", "linearised",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([[1, 0.5], [0.5, 0.9]], "weight 0.9 in row 2, column 2 stands on the diagonal"),
        ([[1, 2], [0.5, 1]], "weight 2 in row 1, column 2 is not between 0"),
        ([[1, -0.5], [-0.5, 1]], "weight -0.5 in row 1, column 2 is not between 0"),
        ([[1, 0.5], [0.2, 1]], "weight 0.5 in row 1, column 2 is 0.2 the other way round"),
        ([[1, float("nan")], [0.2, 1]], "weight nan in row 1, column 2 is not between 0"),
        ([[1, 0], [0, 1]], "2 rows for 3 labels"),
        ([[1, 0]], "1 rows of 2 columns: give one of each"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: list[list[float]], message: str) -> None:
    ratings = ratings_of([[0, 1, 2], [0, 1, 1]])
    with pytest.raises(InvalidInput, match=message):
        measure(ratings, ["cohen_kappa_weighted"], own_weights=OwnWeights.of(weights))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("_weighted")])
def test_what_is_named_after_own_weights_is_undefined_without_them(name: str) -> None:
    """Of several criteria some may have them: the others are measured all the same."""
    undefined, alpha = measure(ratings_of([[0, 1, 2], [0, 1, 1]]), [name, "krippendorff_alpha_nominal"])
    assert (undefined.name, undefined.value) == (name, None)
    assert "needs own weights for this criterion" in str(undefined.reason)
    assert alpha.value is not None


def statistic(name: str, value: float, low: float | None, high: float | None) -> Statistic:
    return Statistic(
        name=name, value=value, interval=Interval(low, high, "BCa", 0.95), n_units=10, n_raters=2, n_ratings=20
    )


def test_verbal_benchmarks_come_only_with_an_interval_and_name_its_ends() -> None:
    assert benchmarks(statistic("cohen_kappa", 0.7, 0.55, 0.82)) == [
        "substantial (Landis & Koch 1977); the interval reaches from moderate to almost perfect"
    ]
    assert benchmarks(statistic("krippendorff_alpha_ordinal", 0.9, 0.85, 0.95)) == [
        "reliable (Krippendorff 2004); the whole interval is reliable"
    ]
    assert benchmarks(statistic("krippendorff_alpha_nominal", 0.7, 0.6, 0.81)) == [
        "for tentative conclusions (Krippendorff 2004); the interval reaches from below what tentative "
        "conclusions need to reliable"
    ]
    assert benchmarks(statistic("cohen_kappa", 0.7, None, None)) == []
    assert benchmarks(statistic("gwet_ac1", 0.7, 0.6, 0.8)) == []


def test_few_units_and_rare_labels_are_warned_about() -> None:
    few = ratings_of([[0, 1] * 10, [0, 1] * 10])
    assert [words[:36] for words in warnings_about(few, measure(few, resamples=0))] == [
        "Only 20 units were rated twice or mo"
    ]
    rare = ratings_of(table_rows([[94, 2], [1, 3]]))
    found = warnings_about(rare, measure(rare, resamples=0))
    assert found[-1] == (
        'Only 6 units carry any label other than "0": with so few, 95 % intervals of α and κ covered the truth in only '
        "about 90 % of simulated studies."
    )
    fine = rated(random_matrix(2, units=60))
    assert warnings_about(fine, measure(fine, resamples=200)) == []


def test_undefined_resamples_are_warned_about() -> None:
    rows = [["a"] * 40 + ["b"], ["a"] * 39 + ["b", "b"]]
    ratings = ratings_of(rows)
    found = warnings_about(ratings, measure(ratings, ["krippendorff_alpha_nominal"], resamples=500))
    assert any("of the resamples Krippendorff's α could not be computed" in words for words in found)
