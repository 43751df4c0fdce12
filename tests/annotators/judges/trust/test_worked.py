"""Figures about judges worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.alignment import Pairs
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.shares import wilson_ends
from annotators.judges.trust.confusing import confusion
from annotators.judges.trust.contradicting import FLIP_ORDER, flip_rate, self_agreement
from annotators.judges.trust.errors import (
    SYSTEM_BIAS,
    SYSTEM_LEAN,
    Errors,
    by_length,
    error_rate,
    family_bias,
    length_bias,
    pair_bias,
    system_bias,
)
from annotators.judges.trust.panel import combined, panel_value, why_not
from annotators.judges.trust.prompts import prompt_table
from annotators.judges.trust.saving import labels_still_needed
from annotators.judges.trust.sureness import shares_of_samples, sureness
from tests.annotators.alignment.makers import by_name

FEW = Resampling(resamples=200)


def test_a_flip_is_another_label_after_the_change() -> None:
    before = {"a": "yes", "b": "yes", "c": "no", "d": "no", "e": "no"}
    after = {"a": "yes", "b": "no", "c": "no", "d": "no", "f": "no"}
    found = flip_rate(FLIP_ORDER, before, after, FEW)
    assert (found.name, found.value, found.n) == ("flip_rate_order", 0.25, 4)
    # Wilson with t of 3 degrees of freedom, 3.1824, and 4 units.
    low, high = wilson_ends(0.25, 3.0, 3.182446)  # .1875 / (.1875 / 3): the ratio's variance divides by n - 1
    assert (found.low, found.high) == pytest.approx((low, high))
    assert "2 without one of the two labels left out" in (found.method or "")
    assert flip_rate(FLIP_ORDER, {}, after).reason == "no unit has a label both before and after the change"


def test_units_of_one_question_count_as_fewer() -> None:
    before = {(q, i): 0 for q in range(10) for i in range(5)}
    after = {(q, i): int(q < 3) for q, i in before}
    alone = flip_rate(FLIP_ORDER, before, after)
    together = flip_rate(FLIP_ORDER, before, after, clusters={unit: unit[0] for unit in before})
    assert alone.value == together.value == 0.3
    assert (together.high or 0) - (together.low or 0) > 1.8 * ((alone.high or 0) - (alone.low or 0))
    assert "over questions" in (together.method or "")


def test_self_agreement_is_over_pairs_of_one_call() -> None:
    found = self_agreement({"a": ["x", "x", "y"], "b": ["x", "x"], "c": ["y"]})
    assert found.value == pytest.approx(2 / 4)  # 1 of 3 pairs and 1 of 1
    assert found.n == 2
    assert "1 with fewer than two labels left out" in (found.method or "")
    assert self_agreement({"a": ["x"]}).value is None


def test_error_and_lean_on_a_scale() -> None:
    judge, people = {"a": 5.0, "b": 3.0, "c": 1.0}, {"a": 4.0, "b": 3.0, "c": 4.0, "d": 1.0}
    errors = Errors.of(judge, people, scale=(1, 5))
    assert errors.error.tolist() == [0.25, 0.0, 0.75]
    assert errors.lean is not None
    assert errors.lean.tolist() == [0.25, 0.0, -0.75]
    assert error_rate(errors, FEW).value == pytest.approx(1 / 3)
    of_labels = Errors.of({"a": "x", "b": "y"}, {"a": "x", "b": "x"})
    assert (of_labels.lean, error_rate(of_labels).value) == (None, 0.5)
    assert error_rate(Errors.of({}, people)).reason == "no unit has a label of the judge and one of people"


def test_the_error_grows_by_a_slope_for_every_hundred_words() -> None:
    words = {f"u{i}": 100.0 * i for i in range(5)}
    judge = {f"u{i}": 1.0 + 0.5 * i for i in range(5)}  # one more than people for 200 words, on a scale of 4
    found = by_name(length_bias(Errors.of(judge, dict.fromkeys(words, 1.0), scale=(1, 5)), words, FEW))
    assert found["length_bias"].value == pytest.approx(0.125)
    assert found["length_lean"].value == pytest.approx(0.125)
    same = length_bias(Errors.of(judge, dict.fromkeys(words, 1.0), scale=(1, 5)), dict.fromkeys(words, 40.0))
    assert {entry.reason for entry in same} == {"every answer has 40 words, so that there is no length to compare"}
    nominal = by_name(
        length_bias(Errors.of(dict.fromkeys(words, "x"), {u: "y" if u < "u3" else "x" for u in words}), words)
    )
    assert nominal["length_bias"].value == pytest.approx(-0.3)
    assert "no order" in (nominal["length_lean"].reason or "")


def test_family_and_system_are_set_against_the_others() -> None:
    judge = {f"u{i}": float(i < 6) for i in range(10)}
    people = {f"u{i}": float(i < 4) for i in range(10)}  # wrong, too high, on u4 and u5
    systems = {f"u{i}": "kin" if i in (4, 5, 6, 7) else "other" for i in range(10)}
    errors = Errors.of(judge, people, scale=(0, 1))
    family = by_name(family_bias(errors, {unit: name == "kin" for unit, name in systems.items()}, FEW))
    assert (family["family_bias"].value, family["family_lean"].value) == (0.5, 0.5)
    by_system = system_bias(errors, systems, FEW)
    assert {(s.name, s.group): s.value for s in by_system} == {
        ("system_bias", "kin"): 0.5,
        ("system_lean", "kin"): 0.5,
        ("system_bias", "other"): -0.5,
        ("system_lean", "other"): -0.5,
    }
    assert {s.reason for s in family_bias(errors, dict.fromkeys(systems, False))} == {
        "no answer is by a model of the judge's own family"
    }
    assert {s.reason for s in system_bias(errors, dict.fromkeys(systems, "one"))} == {
        "there is only one system, and nothing to compare it with"
    }


def test_a_preference_between_answers_of_two_kinds_leans_to_one_of_them() -> None:
    """On a scale of -2..2 the judge is one above people where the second answer is of the kind, below where the first.

    So it errs by a quarter on those pairs and not on others, and leans to the kind by a quarter.
    """
    kinds = [(False, True)] * 6 + [(True, False)] * 4 + [(False, False)] * 5 + [(True, True)] * 3
    sides = {f"p{place}": kind for place, kind in enumerate(kinds)}
    people = dict.fromkeys(sides, 0.0)
    judge = {unit: float(second) - float(first) for unit, (first, second) in sides.items()} | {"p17": 2.0}
    errors = Errors.of(judge, people, scale=(-2, 2))
    bias, lean = pair_bias(errors, sides, (SYSTEM_BIAS, SYSTEM_LEAN), "harbour", FEW)
    assert (bias.name, bias.value, bias.n) == ("system_bias", 0.25, 15)
    assert (lean.name, lean.value, lean.n) == ("system_lean", 0.25, 10)
    assert "10 pairs with one answer of harbour, 5 with none" in (bias.method or "")
    assert "mean over pairs with one answer of harbour" in (lean.method or "")
    nobody = pair_bias(errors, dict.fromkeys(sides, (False, False)), (SYSTEM_BIAS, SYSTEM_LEAN), "harbour", FEW)
    assert nobody[0].reason == "no pair has one answer of harbour"
    everybody = pair_bias(errors, dict.fromkeys(sides, (False, True)), (SYSTEM_BIAS, SYSTEM_LEAN), "harbour", FEW)
    assert everybody[0].reason == "every pair has one answer of harbour"
    assert everybody[1].value is not None
    unknown = pair_bias(errors, {}, (SYSTEM_BIAS, SYSTEM_LEAN), "harbour", FEW)
    assert [one.value for one in unknown] == [None, None]


def test_shares_of_samples_are_calibrated_by_the_likeliest_label() -> None:
    samples = {"a": ["x", "x", "x", "y"], "b": ["y", "x"], "c": ["x", "x"], "d": ["y"]}
    chances = shares_of_samples(samples)
    assert chances["a"] == {"x": 0.75, "y": 0.25}
    people = {"a": "x", "b": "x", "c": "y", "d": "y"}
    (ece, brier), curve = sureness(chances, people, FEW)
    # a: .75 and right; b: y (given first) with .5 and wrong; c: 1 and wrong, d: 1 and right.
    assert ece.value == pytest.approx((0.25 + 0.5 + 1.0) / 4)
    assert brier.value == pytest.approx((0.25**2 + 0.5**2 + 1 + 0) / 4)
    assert [(one.start, one.n) for one in curve] == [(0.5, 1), (0.7, 1), (0.9, 2)]
    (ece, brier), curve = sureness({}, people)
    assert (ece.value, brier.value, curve) == (None, None, [])


def test_confusion_in_all_and_by_group() -> None:
    judge, people = {"a": "x", "b": "y", "c": "z"}, {"a": "x", "b": "x", "c": "y", "d": "x"}
    found = confusion(judge, people, ["x", "y"], {"system": {"a": "s1", "b": "s2", "c": "s2"}})
    assert [(table.by, table.group) for table in found] == [(None, None), ("system", "s1"), ("system", "s2")]
    assert found[0].to_json()["labels"] == ["x", "y", "z"]
    assert found[0].counts.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert found[1].counts.sum() == 1


def test_a_table_of_prompts_names_the_best_and_the_smallest_gap() -> None:
    units = [f"u{i}" for i in range(8)]
    modes = {unit: "gold" if i < 4 else "mixed" for i, unit in enumerate(units)}
    sets = {unit: "A" if i % 2 else "B" for i, unit in enumerate(units)}
    errors = {
        "plain": {unit: float(i in (4, 5, 6)) for i, unit in enumerate(units)},  # 1 with gold, .25 mixed
        "steps": {unit: float(i in (0, 2, 4)) for i, unit in enumerate(units)},  # .5 and .75
        "extra": {**dict.fromkeys(units, 1.0), "elsewhere": 0.0},
    }
    table = prompt_table(errors, FEW, data_sets=sets, modes=modes, compared=("gold", "mixed"))
    values = {(cell.prompt, cell.data_set): cell.right.value for cell in table.cells}
    assert values["plain", None] == values["steps", None] == 5 / 8
    assert (values["plain", "A"], values["steps", "A"], values["steps", "B"]) == (0.75, 1.0, 0.25)
    assert {(cell.prompt, cell.data_set) for cell in table.cells if cell.best} == {
        ("plain", None), ("steps", None), ("steps", "A"), ("plain", "B"),
    }  # fmt: skip
    assert sum(cell.best_in or 0 for cell in table.cells if cell.data_set is None) == pytest.approx(1)
    assert table.spread[0].value == 5 / 8
    gaps = {name: {prompt: gap.value for prompt, gap in of_set.items()} for name, of_set in table.gaps.items()}
    assert gaps == {
        None: {"plain": 0.75, "steps": -0.25, "extra": 0.0},
        "A": {"plain": 0.5, "steps": 0.0, "extra": 0.0},
        "B": {"plain": 1.0, "steps": -0.5, "extra": 0.0},
    }
    assert table.gaps["A"]["plain"].group == "A: plain"
    assert table.smallest_gaps == {None: "extra", "A": "steps", "B": "extra"}
    assert table.smallest_gap == "extra"
    assert [cell.prompt for cell in table.best("A")] == ["steps"]
    with pytest.raises(InvalidInput, match="1 prompt to compare"):
        prompt_table({"plain": errors["plain"]})


def test_error_by_length_has_parts_of_about_as_many_units() -> None:
    people = {f"u{i}": "x" for i in range(12)}
    judge = {unit: "x" if i < 9 else "y" for i, unit in enumerate(people)}
    errors = Errors.of(judge, people)
    parts = by_length(errors, {unit: float(10 * i) for i, unit in enumerate(people)}, FEW, parts=4)
    assert [(part.shortest, part.longest, part.words, part.error.value) for part in parts] == [
        (0, 20, 10, 0), (30, 50, 40, 0), (60, 80, 70, 0), (90, 110, 100, 1),
    ]  # fmt: skip
    assert by_length(errors, dict.fromkeys(people, 5.0), FEW) == []
    assert by_length(errors, {"u1": 2.0, "u2": 3.0, "u3": 4.0}, FEW) == []
    few = by_length(errors, {unit: float(i > 2) for i, unit in enumerate(people)}, FEW)
    assert [(part.longest, part.error.n) for part in few] == [(0, 3), (1, 9)]


def test_a_majority_has_no_label_for_a_tie() -> None:
    members = {
        "A": {"a": "x", "b": "x", "c": "x"},
        "B": {"a": "x", "b": "y", "c": "y"},
        "C": {"a": "y", "b": "y"},
    }
    found = combined(members, "majority", ["x", "y"])
    assert (found.labels, found.ties) == ({"a": "x", "b": "y"}, 1)
    assert found.sure["a"] == pytest.approx(2 / 3)
    with pytest.raises(InvalidInput, match="name two judges or more"):
        combined({"A": members["A"]}, "majority", ["x", "y"])
    with pytest.raises(InvalidInput, match="no rule of a panel"):
        combined(members, "median", ["x", "y"])  # type: ignore[arg-type]


def test_a_mean_has_a_label_for_every_unit_and_leans_to_no_side() -> None:
    """Of -2, 1 the mean is -0.5: as near to -1 as to 0, and -1 is nearer to what the judge named first said."""
    members = {"A": {"a": -2, "b": 1, "c": 2, "d": 0}, "B": {"a": 1, "b": -2, "c": 2}}
    scale = {label: float(label) for label in range(-2, 3)}
    found = combined(members, "mean", list(scale), numbers=scale)
    assert (found.labels, found.ties) == ({"a": -1, "b": 0, "c": 2, "d": 0}, 0)
    assert (found.sure["c"], found.sure["a"]) == (1, pytest.approx(1 - 1.5 / 2))
    with pytest.raises(InvalidInput, match="no mean"):
        combined(members, "mean", list(scale))


def test_two_judges_are_not_combined_by_what_would_compare_nothing() -> None:
    scale = {label: float(label) for label in range(-2, 3)}
    assert "name a third judge, or take the mean" in (why_not("majority", 2, scale) or "")
    assert (why_not("majority", 2, None) or "").endswith("name a third judge")
    assert "would guess it" in (why_not("dawid_skene", 2, scale) or "")
    assert why_not("mean", 2, scale) is None
    assert "majority of three" in (why_not("mean", 5, None) or "")
    assert why_not("majority", 3, None) is why_not("dawid_skene", 3, scale) is None


def noisy(rng: np.random.Generator, truth: np.ndarray, error: float) -> dict[int, int]:
    wrong = rng.random(len(truth)) < error
    return dict(enumerate(np.where(wrong, 1 - truth, truth).tolist()))


def test_a_model_of_raters_believes_the_better_member() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=600)
    members = {name: noisy(rng, truth, error) for name, error in zip("ABCDE", (0.05, 0.35, 0.4, 0.4, 0.4), strict=True)}
    right = {}
    for rule in ("majority", "dawid_skene"):
        found = combined(members, rule, [0, 1])  # type: ignore[arg-type]
        right[rule] = np.mean([found.labels[unit] == truth[unit] for unit in found.labels])
    assert right["dawid_skene"] > 0.93
    assert right["majority"] < 0.85


def test_a_panel_is_set_against_the_member_that_is_best_elsewhere() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=300)
    people = dict(enumerate(truth.tolist()))
    members = {name: noisy(rng, truth, 0.25) for name in "ABCDE"}
    panel = combined(members, "majority", [0, 1]).labels
    found = panel_value(members, panel, people, FEW)
    named = by_name(found)
    best_of_all = max(entry.value or 0 for entry in found if entry.name == "member_right")
    assert (named["best_member_right"].value or 1) <= best_of_all
    assert found[-1].name == "panel_gain"
    assert named["panel_gain"].value == pytest.approx(
        (named["panel_right"].value or 0) - (named["best_member_right"].value or 0)
    )
    assert (named["panel_gain"].low or 0) > 0  # .90 against .75
    assert {entry.value for entry in panel_value(members, panel, {0: 1})} == {None}


def test_what_a_judge_saves_is_its_squared_correlation() -> None:
    human = np.tile([0.0, 0.0, 1.0, 1.0], 20)
    judge = np.tile([0.0, 1.0, 1.0, 1.0], 20)
    r2 = np.corrcoef(human, judge)[0, 1] ** 2  # 1/3
    found, plans = labels_still_needed(Pairs.of(human, judge), 0.01, FEW)
    assert found.value == pytest.approx(1 - r2)
    assert (found.low or 1) < 1 - r2 < (found.high or 0) <= 1
    # 160 judged: 1/80 = (2/3)/n + (1/3)/160  →  n = 64
    assert (plans[0].judged, plans[0].still, plans[0].cost) == (160, 64, pytest.approx(1.6))
    assert plans[-1].still < plans[0].still
    nothing, none = labels_still_needed(Pairs.of(human, np.ones(80)))
    assert (nothing.value, none) == (None, [])
