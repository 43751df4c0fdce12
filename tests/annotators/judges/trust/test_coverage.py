"""How often 95 % intervals of figures about judges hold the truth, in simulated studies as users have them.

A study has 60 to 150 units of 30 questions, answered by up to five systems; questions differ in how hard they are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from annotators.alignment.tables.pairs import Pairs
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.as_rater import one_more_rater
from annotators.judges.trust.contradicting import FLIP_ORDER, flip_rate, self_agreement
from annotators.judges.trust.errors import (
    SYSTEM_BIAS,
    SYSTEM_LEAN,
    Errors,
    error_rate,
    family_bias,
    length_bias,
    pair_bias,
    system_bias,
)
from annotators.judges.trust.panel import combined, panel_value
from annotators.judges.trust.prompts import prompt_table
from annotators.judges.trust.saving import labels_still_needed
from annotators.judges.trust.sureness import sureness

FEW, MANY = 120, 2000
RESAMPLES = 300
Rng = np.random.Generator


def covers(found: Aligned, truth: float) -> bool:
    assert found.low is not None, found
    assert found.high is not None
    return found.low - 1e-9 <= truth <= found.high + 1e-9


def clustered(rng: Rng, rate: float, questions: int = 30, systems: int = 5) -> tuple[np.ndarray, dict[int, int]]:
    """Events with this rate, more alike within a question: a beta with as many as 8 units' worth of knowledge."""
    hard = rng.beta(8 * rate, 8 * (1 - rate), size=questions)
    question = np.repeat(np.arange(questions), systems)
    events = rng.random(len(question)) < hard[question]
    return events, dict(enumerate(question.tolist()))


def flips(rng: Rng, seed: int) -> dict[str, bool]:
    found = {}
    for rate in (0.05, 0.2):
        events, clusters = clustered(rng, rate)
        after = dict(enumerate(events.astype(int).tolist()))
        entry = flip_rate(FLIP_ORDER, dict.fromkeys(after, 0), after, clusters=clusters)
        found[f"flip_rate {rate}"] = covers(entry, rate)
    p = rng.beta(9, 1, size=80)  # each unit's own chance of the first label: E[p² + (1 - p)²] = 1 - 2 E[p (1 - p)]
    samples = {i: (rng.random(5) < chance).tolist() for i, chance in enumerate(p.tolist())}
    found["self_agreement"] = covers(self_agreement(samples), 1 - 2 * 9 / 110)
    return found


def errors(rng: Rng, seed: int) -> dict[str, bool]:
    asked = Resampling(RESAMPLES, seed)
    n, questions = 150, 30
    question = np.repeat(np.arange(questions), n // questions)
    clusters: dict[Any, int] = dict(enumerate(question.tolist()))
    system = np.tile(np.arange(5), questions)
    words = rng.gamma(4, 40, size=n).clip(10, 600)
    chance = 0.05 + 0.06 * words / 100 + 0.12 * (system == 0)
    people = dict.fromkeys(range(n), 0.0)
    judge = dict(enumerate((rng.random(n) < chance).astype(float).tolist()))
    table = Errors.of(judge, people, scale=(0, 1), clusters=clusters)
    slope = length_bias(table, dict(enumerate(words.tolist())), asked)[0]
    own = family_bias(table, dict(enumerate((system == 0).tolist())), asked)[0]
    of_system = system_bias(table, {i: f"s{s}" for i, s in enumerate(system.tolist())}, asked)[0]
    assert of_system.group == "s0"
    events, of = clustered(rng, 0.15)
    said = dict(enumerate(events.astype(float).tolist()))
    rate = error_rate(Errors.of(said, dict.fromkeys(said, 0.0), scale=(0, 1), clusters=of), asked)
    return {
        "length_bias": covers(slope, 0.06),
        "family_bias": covers(own, 0.12),
        "system_bias": covers(of_system, 0.12),
        "judge_error": covers(rate, 0.15),
    }


def prompts(rng: Rng, seed: int) -> dict[str, bool]:
    found = {}
    for name, rates in {"apart": (0.1, 0.15, 0.3, 0.2), "alike": (0.2,) * 6}.items():
        shared = rng.random(100)  # what is hard for one prompt is hard for the others
        wrong = {
            f"p{i}": dict(
                enumerate(np.where(rng.random(100) < 0.6, shared < rate, rng.random(100) < rate).astype(float))
            )
            for i, rate in enumerate(rates)
        }
        spread = prompt_table(wrong, Resampling(RESAMPLES, seed)).spread[0]
        found[f"prompt_spread {name}"] = covers(spread, max(rates) - min(rates))
    return found


def others(rng: Rng, seed: int) -> dict[str, bool]:
    asked = Resampling(RESAMPLES, seed)
    truth = rng.integers(2, size=150)
    people = dict(enumerate(truth.tolist()))
    members = {
        name: dict(enumerate(np.where(rng.random(150) < rate, 1 - truth, truth).tolist()))
        for name, rate in zip("ABC", (0.15, 0.25, 0.25), strict=True)
    }
    panel = combined(members, "majority", [0, 1])
    by_name = {entry.name: entry for entry in panel_value(members, panel.labels, people, asked)}
    # Two of three right: .85 · .75² + 2 · .85 · .75 · .25 + .15 · .75² = .88125.
    p = rng.uniform(0.5, 1.0, size=150)
    said = {i: {"x": chance, "y": 1 - chance} for i, chance in enumerate(p.tolist())}
    is_x = {i: "x" if hit else "y" for i, hit in enumerate((rng.random(150) < p).tolist())}
    brier = sureness(said, is_x, asked)[0][1]
    # E[p (1 - p)] of a uniform on .5..1 is 1/6.
    return {
        "panel_right": covers(by_name["panel_right"], 0.88125),
        "panel_gain": covers(by_name["panel_gain"], 0.88125 - 0.85),
        "brier_score": covers(brier, 1 / 6),
    }


def beside(rng: Rng, seed: int) -> dict[str, bool]:
    """A judge that is one more person, errors of pairs as to a system, and what a correlation saves."""
    asked = Resampling(RESAMPLES, seed)
    n = 120
    truth, question = rng.integers(2, size=n), np.repeat(np.arange(n // 3), 3)
    clusters: dict[Any, int] = dict(enumerate(question.tolist()))
    raters = {
        name: dict(enumerate(np.where(rng.random(n) < 0.15, 1 - truth, truth).tolist()))
        for name in ("a", "b", "c", "j")
    }
    judge = raters.pop("j")
    scale: Any = "nominal"
    change = one_more_rater(raters, judge, scale=scale, labels=[0, 1], asked=asked, clusters=clusters)[2]
    sides = rng.integers(3, size=n)  # the system stands first, second, or is not there
    signs = np.array([-1, 1, 0])[sides]
    people = rng.integers(-1, 2, size=n)
    said = np.where((rng.random(n) < 0.3) & (signs != 0), people + signs, people)
    errors_of = Errors.of(
        dict(enumerate(said.tolist())), dict(enumerate(people.tolist())), scale=(-2, 2), clusters=clusters
    )
    of_system = {i: (side == 0, side == 1) for i, side in enumerate(sides.tolist())}
    bias, lean = pair_bias(errors_of, of_system, (SYSTEM_BIAS, SYSTEM_LEAN), "it", asked)
    human = rng.normal(size=n)
    still = {}
    for r in (0.0, 0.7):
        metric = r * human + np.sqrt(1 - r * r) * rng.normal(size=n)
        entry, _ = labels_still_needed(Pairs.of(human, metric, binary=False), asked=asked)
        still[f"labels_still_needed {r}"] = covers(entry, 1 - r * r)
    return {
        "agreement_change": covers(change, 0.0),
        "system_bias of pairs": covers(bias, 0.3 / 4),
        "system_lean of pairs": covers(lean, 0.3 / 4),
        **still,
    }


def coverage(simulate: Any, times: int) -> dict[str, float]:
    """The share of so many simulated studies in which each interval holds the truth."""
    hits: Counter[str] = Counter()
    rng = np.random.default_rng(15)
    for seed in range(times):
        hits.update({name: int(hit) for name, hit in simulate(rng, seed).items()})
    return {name: n / times for name, n in hits.items()}


@pytest.mark.slow
@pytest.mark.parametrize("simulate", [flips, errors, prompts, others, beside])
def test_few_simulated_studies_do_not_speak_against_the_intervals(simulate: Any) -> None:
    assert {name: rate for name, rate in coverage(simulate, FEW).items() if rate < 0.88} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("simulate", [flips, errors, prompts, others, beside])
def test_intervals_cover_as_often_as_they_say(simulate: Any) -> None:
    found = coverage(simulate, MANY)
    assert {name: rate for name, rate in found.items() if not 0.92 <= rate <= 0.995} == {}
