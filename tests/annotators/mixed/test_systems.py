"""Systems compared: the guide's example, what an interval is about, cautions, refusals, and how often they cover."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from annotators.errors import InvalidInput
from annotators.intervals.result import Aligned
from annotators.mixed.systems import SystemComparison, SystemLabels, compare_systems
from tests.bench.coverage_of_systems import DESIGNS, FEW, Design, drawn, row_of

GUIDE = Path(__file__).parents[3] / "docs" / "statistics.md"


def made(how: Design, seed: int = 0) -> SystemLabels:
    return drawn(how, np.random.default_rng(seed))[0]


def mean_of(found: SystemComparison, system: str) -> Aligned:
    return next(entry for entry in found.means if entry.group == system)


def paired(first: list[float], other: list[float], scale: tuple[float, float] | None = None) -> SystemLabels:
    """One label of each answer, by one rater."""
    n = len(first)
    return SystemLabels.of(
        [*first, *other], ["a"] * n + ["b"] * n, [*range(n), *range(n)], ["ann"] * (2 * n), scale=scale
    )


def test_the_example_of_the_guide_gives_its_figures() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    part = text[text.index("### Systems compared") :]
    rows = re.findall(r"^\| (A|B) \| ([0-9 ]+) \|$", part, re.M)
    labels = {name: [float(grade) for grade in grades.split()] for name, grades in rows}
    found = compare_systems(paired(labels["A"], labels["B"], (1, 5)))
    [entry] = found.differences
    said = re.search(r"difference is (\d\.\d\d) \[(−?\d\.\d\d), (\d\.\d\d)\], p = (\.\d+)", part)
    assert said is not None
    assert (entry.value, entry.low, entry.high, entry.p_value) == pytest.approx(
        [float(number.replace("−", "-")) for number in said.groups()], abs=0.006
    )
    assert entry.p_value == pytest.approx(stats.ttest_rel(labels["B"], labels["A"]).pvalue, rel=1e-3)


def test_systems_come_best_first_and_a_difference_is_the_better_less_the_other() -> None:
    found = compare_systems(made(Design(5, 40, 4, 2)))
    values = [entry.value or 0.0 for entry in found.means]
    assert values == sorted(values, reverse=True)
    assert len(found.differences) == 6
    order = [entry.group for entry in found.means]
    for entry in found.differences:
        assert order.index(entry.group) < order.index(entry.against)
        assert entry.p_holm is not None
        assert entry.p_value is not None
        assert entry.p_holm >= entry.p_value


def test_rows_may_come_in_any_order_and_raters_and_questions_be_called_anything() -> None:
    labels = made(Design(4, 20, 2, 2))
    n = len(labels.value)
    order = np.random.default_rng(1).permutation(n).tolist()
    systems = [labels.systems[place] for place in labels.system.tolist()]
    columns = (labels.value.tolist(), systems, labels.question.tolist(), labels.rater.tolist())
    straight, mixed = (
        compare_systems(SystemLabels.of(*([column[place] for place in rows] for column in columns)))
        for rows in (range(n), order)
    )
    for one, other in zip((*straight.means, *straight.differences), (*mixed.means, *mixed.differences), strict=True):
        assert one.group == other.group
        assert [one.value, one.low] == pytest.approx([other.value, other.low], abs=1e-3)


def test_raters_like_these_give_wider_intervals_than_these_raters_where_they_see_systems_differently() -> None:
    labels = made(Design(5, 100, 2, 2, view=0.8), seed=3)
    random, fixed = (compare_systems(labels, raters=which) for which in ("random", "fixed"))  # type: ignore[arg-type]
    [one], [other] = random.differences, fixed.differences
    assert None not in (one.high, one.low, other.high, other.low)
    assert one.high - one.low > 2 * (other.high - other.low)
    assert "raters like these" in (one.method or "")
    assert "these raters" in (other.method or "")


def test_means_within_a_scale_stay_in_it_and_have_a_width_where_all_labels_are_alike() -> None:
    labels = paired([1.0] * 20, [0.0] * 10 + [1.0] * 10, (0.0, 1.0))
    found = compare_systems(labels)
    best = mean_of(found, "a")
    assert (best.value, best.high) == (1.0, 1.0)
    assert best.low is not None
    assert best.low == pytest.approx(1 - stats.t.ppf(0.975, 19) ** 2 / (20 + stats.t.ppf(0.975, 19) ** 2))
    assert found.differences[0].value == pytest.approx(0.5)


def test_equivalence_goes_by_the_error_of_the_difference() -> None:
    rng = np.random.default_rng(4)
    first = rng.normal(size=60)
    found = compare_systems(paired(first.tolist(), (first + 0.1 * rng.normal(size=60)).tolist()), margin=0.1)
    [entry] = found.equivalences
    assert entry.verdict == "equivalent within ±0.1"
    assert entry.p_value == pytest.approx(
        max(
            stats.t.sf((0.1 - abs(found.differences[0].value or 0)) / found.differences[0].interval.error, 59)  # type: ignore[union-attr,operator]
            for _ in range(1)
        ),
        rel=1e-2,
    )
    with pytest.raises(InvalidInput, match="margin"):
        compare_systems(paired([1.0] * 9, [2.0] * 9), margin=0.0)


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (SystemLabels.of([1.0, 2.0], ["a", "a"], [0, 1], ["r", "r"]), "only 'a' is named"),
        (paired([1.0] * 12, [1.0] * 12), "every label is 1.00"),
        (SystemLabels.of([], [], [], []), "no system is named"),
    ],
)
def test_what_says_nothing_of_systems_has_a_reason(labels: SystemLabels, why: str) -> None:
    found = compare_systems(labels)
    assert why in (found.reason or "")
    assert not found.differences
    assert json.dumps(found.to_json())


def test_few_questions_give_a_value_without_an_interval() -> None:
    found = compare_systems(paired([1.0, 2.0, 4.0, 3.0], [2.0, 2.0, 5.0, 5.0]))
    [entry] = found.differences
    assert entry.value == pytest.approx(1.0)
    assert entry.low is None
    assert entry.p_value is None
    assert "8 answers of two systems are too few" in (entry.method or "")


def test_what_limits_the_figures_is_said() -> None:
    one = " ".join(compare_systems(paired(list(np.arange(12.0)), list(np.arange(12.0)[::-1] * 1.1))).warnings)
    assert "there is one rater" in one
    few = " ".join(compare_systems(made(Design(3, 30, 2, 2))).warnings)
    assert "3 raters are few" in few
    apart = made(Design(6, 30, 2, 2))
    elsewhere = SystemLabels(**{**vars(apart), "question": apart.question + 100 * apart.system})
    assert "no question in common" in " ".join(compare_systems(elsewhere).warnings)
    rare = " ".join(compare_systems(made(Design(5, 60, 2, 2, share=0.01), seed=2)).warnings)
    assert "at most 6 answers have the rarer label" in rare
    alike = compare_systems(made(Design(5, 100, 2, 2, view=0.0), seed=1))
    assert "a singular fit" in " ".join(alike.warnings)


def test_what_labels_differ_by_adds_up_and_is_found() -> None:
    found = compare_systems(made(Design(10, 200, 2, 2, view=0.3), seed=7))
    parts = {component.name: component for component in found.components}
    assert set(parts) == {"question", "answer", "rater", "rater × system", "error"}
    assert sum(part.share for part in parts.values()) == pytest.approx(1)
    for name, truth in (("question", 1.0), ("answer", 0.25), ("error", 0.49)):
        low, high = parts[name].low, parts[name].high
        assert low is not None
        assert high is not None
        assert low < truth < high
    few = compare_systems(made(Design(3, 50, 2, 2), seed=1))
    assert all(part.low is None and part.reason for part in few.components if part.name.startswith("rater"))


@pytest.mark.slow
def test_few_simulations_do_not_speak_against_what_is_documented() -> None:
    row = row_of("3 raters, 50 questions, 2 systems, all by all, yes .04", 40)
    assert row.difference >= 82
    assert row.mean >= 85


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_systems_cover_as_documented(design: str) -> None:
    begins = f"| {design} | "
    [line] = [line for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith(begins)]
    plain, *documented = line.removeprefix(begins).strip(" |").split(" | ")
    row = row_of(design)
    assert row.difference >= (80 if design in FEW else 90)
    # Another run of as many studies may differ by this much.
    assert [row.difference, row.mean] == pytest.approx([float(cell) for cell in documented], abs=5)
    assert plain == "–" or row.plain == pytest.approx(float(plain), abs=7)
