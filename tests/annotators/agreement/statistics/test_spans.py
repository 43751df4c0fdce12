"""Agreement on stretches: against sums by hand, and against the formulas written out character by character."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of

NAMES = (
    "krippendorff_alpha_unitizing", "krippendorff_alpha_unitizing_binary", "pairwise_f1_characters",
    "pairwise_f1_boundaries",
)  # fmt: skip
Marks = list[tuple[int, int, str]]


def spans(marks: Marks) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": label} for start, end, label in marks]


def table(texts: list[tuple[int, list[Marks | None]]]) -> Ratings:
    """One text a row: its length, and what each rater marked in it (None: nothing was asked of them)."""
    cells = [
        (text, rater, spans(marks))
        for text, (_, people) in enumerate(texts)
        for rater, marks in enumerate(people)
        if marks is not None
    ]
    units, raters, values = zip(*cells, strict=True)
    lengths = {text: length for text, (length, _) in enumerate(texts)}
    return Ratings.from_triples(units, raters, values, scale="spans", lengths=lengths)


def values(ratings: Ratings) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for statistic in measure(ratings, NAMES, resamples=0):
        found.setdefault(statistic.name, statistic.value)
    return found


def test_the_example_by_hand() -> None:
    """See docs/statistics.md, example D."""
    found = values(table([(20, [[(0, 5, "a"), (10, 14, "b")], [(0, 5, "a"), (12, 16, "b")]])]))
    assert list(found.values()) == pytest.approx([1 - 8 * 1496 / (40 * 952), 1 - 8 * 1496 / (40 * 792), 14 / 18, 4 / 8])


def by_character(texts: list[tuple[int, list[Marks | None]]], *, binary: bool) -> float:
    """Krippendorff et al. (2016), equations 1, 4 and 5 as they stand, over every character of every pair of raters."""
    observed: dict[tuple[str, str], float] = {}
    own: dict[str, float] = {}
    for length, everybody in texts:
        people = [marks for marks in everybody if marks is not None]
        if len(people) < 2:
            continue
        said = [
            [next(("x" if binary else c for a, b, c in marks if a <= i < b), "") for i in range(length)]
            for marks in people
        ]
        for one, other in permutations(said, 2):
            for c, k in zip(one, other, strict=True):
                observed[c, k] = observed.get((c, k), 0) + 1 / (len(people) - 1)
        for marks, line in zip(people, said, strict=True):
            own[""] = own.get("", 0) + line.count("")  # a gap is as many characters as it has
            for a, b, c in marks:
                label = "x" if binary else c
                own[label] = own.get(label, 0) + (b - a) ** 2
    total = sum(observed.values())
    margins = {c: sum(n for (row, _), n in observed.items() if row == c) for c, _ in observed}
    below = total**2 - sum(own.values())
    expected = {c: total * (margin**2 - own.get(c, 0)) / below for c, margin in margins.items()}
    apart = total - sum(n for (c, k), n in observed.items() if c == k)
    return 1 - apart / (total - sum(expected.values()))


@st.composite
def some_texts(draw: st.DrawFn) -> list[tuple[int, list[Marks | None]]]:
    found = []
    for _ in range(draw(st.integers(1, 4))):
        length = draw(st.integers(4, 25))
        people: list[Marks | None] = []
        for _ in range(3):
            places = sorted(draw(st.lists(st.integers(0, length), max_size=6, unique=True)))
            marks = [(a, b, draw(st.sampled_from("ab"))) for a, b in zip(places[::2], places[1::2], strict=False)]
            people.append(draw(st.sampled_from([marks, marks, marks, None])))
        found.append((length, people))
    return found


@settings(deadline=None, max_examples=150)
@given(some_texts())
def test_alpha_is_that_of_the_formulas_written_out(texts: list[tuple[int, list[Marks | None]]]) -> None:
    if not any(marks is not None for _, people in texts for marks in people):
        return
    found = {one.name: one for one in measure(table(texts), NAMES[:2], resamples=0)}
    for name, binary in ((NAMES[0], False), (NAMES[1], True)):
        if found[name].value is not None:
            assert found[name].value == pytest.approx(by_character(texts, binary=binary))
        else:
            assert found[name].reason


def test_it_is_one_for_the_same_stretches_and_near_nought_for_stretches_put_anywhere() -> None:
    same: Marks = [(0, 4, "a"), (9, 12, "b")]
    assert list(values(table([(20, [same, same, same])] * 2)).values()) == pytest.approx([1] * 4)
    # One rater marks the first ten characters, the other the last ten: worse than chance.
    worst = values(table([(20, [[(0, 10, "a")], [(10, 20, "a")]])]))
    assert worst["krippendorff_alpha_unitizing"] is not None
    assert worst["krippendorff_alpha_unitizing"] < -0.7


def test_labels_count_for_alpha_and_characters_and_not_for_what_is_marked_or_for_boundaries() -> None:
    found = values(table([(30, [[(0, 6, "a")], [(0, 6, "b")]]), (30, [[(2, 9, "a")], [(2, 9, "a")]])]))
    assert found["krippendorff_alpha_unitizing_binary"] == pytest.approx(1)
    assert found["pairwise_f1_boundaries"] == pytest.approx(1)
    assert found["krippendorff_alpha_unitizing"] is not None
    assert found["krippendorff_alpha_unitizing"] < 0.8
    assert found["pairwise_f1_characters"] == pytest.approx(14 / 26)


def test_what_is_not_defined_says_why() -> None:
    nothing = {one.name: one.reason for one in measure(table([(9, [[], []])] * 3), NAMES, resamples=0)}
    assert all("nothing is marked" in (nothing[name] or "") for name in NAMES[:2])
    assert all(nothing[name] == "nobody marked anything, so that there is nothing to find" for name in NAMES[2:])
    lengthless = Ratings.from_triples([1, 1], "ab", [spans([(0, 3, "a")])] * 2, scale="spans")
    [alpha] = measure(lengthless, NAMES[:1], resamples=0)
    assert alpha.reason == "the lengths of the texts are not known: they are where the labels belong to a study"
    [jaccard] = measure(lengthless, ["mean_jaccard"], resamples=0)
    assert jaccard.reason == "the labels are not sets"
    [kappa] = measure(ratings_of([[1, 2], [1, 2]]), NAMES[:1], resamples=0)
    assert kappa.reason == "the labels are not stretches of a text"


@pytest.mark.parametrize(
    "value", ["x", [{"start": 3, "end": 3, "label": "a"}], [{"start": "0", "end": 3, "label": "a"}], [4]]
)
def test_what_is_no_list_of_stretches_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match="stretch"):
        Ratings.from_triples([1], ["a"], [value], scale="spans")


def test_every_figure_has_an_interval_over_texts_and_each_pair_of_raters_its_f1() -> None:
    texts: list[tuple[int, list[Marks | None]]] = [
        (40, [[(0, 5 + n % 4, "a")], [(n % 3, 6, "a")], [(0, 6, "ab"[n % 2])]]) for n in range(24)
    ]
    found = measure(table(texts), NAMES, resamples=200)
    assert [one.name for one in found].count("pairwise_f1_characters") == 1 + 3
    for one in found:
        assert one.interval is not None, one.name
        assert one.interval.kind == "BCa"
        assert one.low is not None and one.high is not None and one.value is not None
        assert one.low <= one.value <= one.high
