"""Labels that were picked are told from labels that were drawn, and these are hardly ever suspected."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.estimates.chosen import unlike_a_draw
from annotators.estimates.sample import Units


def sample(seed: int, *, picked: bool, clusters: int | None = None) -> Units:
    rng = np.random.default_rng(seed)
    question = rng.integers(clusters, size=400) if clusters else np.arange(400)
    score = rng.normal(size=400) + (rng.normal(size=400)[question] if clusters else 0)
    chance = score > 0.5 if picked else rng.random(int(question.max()) + 1)[question] < 0.2
    human = np.where(chance, score + rng.normal(size=400), np.nan)
    other = rng.normal(size=400)
    return Units.of(human, {"score": score, "other": other}, clusters=question.tolist() if clusters else None)


def test_labels_that_were_picked_by_the_score_are_found() -> None:
    found = unlike_a_draw(sample(1, picked=True))
    assert found is not None
    assert found.prediction == "score"
    assert found.labelled > 0.5 > found.others
    assert found.in_words().startswith("The labels do not look drawn at random: score is ")


@pytest.mark.parametrize("clusters", [None, 40])
def test_labels_that_were_drawn_are_not_suspected(clusters: int | None) -> None:
    """Of 300 draws one would be no surprise."""
    suspected = [unlike_a_draw(sample(seed, picked=False, clusters=clusters)) is not None for seed in range(300)]
    assert sum(suspected) <= 2


def test_what_was_drawn_with_known_chances_or_labelled_in_full_is_not_compared() -> None:
    plain = sample(1, picked=True)
    known = Units.of(plain.human, {"score": plain.predictions[:, 0]}, probability=np.full(400, 0.5))
    full = Units.of(plain.predictions[:, 1], {"score": plain.predictions[:, 0]})
    strata = Units.of(plain.human, {"score": plain.predictions[:, 0]}, strata=["a", "b"] * 200)
    assert [unlike_a_draw(units) for units in (known, full, strata)] == [None, None, None]


def test_of_many_predictions_each_has_to_be_clearer() -> None:
    """A difference with p of .0006 says something by itself, and nothing as the clearest of six."""
    rng = np.random.default_rng(2)
    human = np.where(np.arange(400) < 80, rng.normal(size=400), np.nan)
    score = rng.normal(size=400)
    labelled = np.arange(400) < 80
    score -= np.where(labelled, score[labelled].mean(), score[~labelled].mean())
    apart = np.sqrt(score[labelled].var(ddof=1) / 80 + score[~labelled].var(ddof=1) / 320)
    score[labelled] += 3.55 * apart
    others = {f"other {place}": rng.normal(size=400) for place in range(5)}
    alone = unlike_a_draw(Units.of(human, {"score": score}))
    assert alone is not None
    assert 0.0004 < alone.p_value < 0.001
    assert unlike_a_draw(Units.of(human, {"score": score, **others})) is None
