"""What the rater models report: how the fit went, the label of every unit and how sure it is, and notes in words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotators.agreement.tables.ratings import Label
from annotators.arrays import FloatArray


@dataclass(frozen=True)
class Fit:
    """How a fit went, for honest reporting.

    `log_likelihood` is that of the observed ratings, `objective` is what was made as large as possible (the same
    without smoothing), `objective_name` what that is. `iterations`, `converged` and `change` (the last gain of the
    objective) are those of the start that was kept; `starts` has the objective at the end of every start, `reached`
    says how many of them are as good as the best. `trace` is the objective after each iteration of the start kept.
    """

    log_likelihood: float
    objective: float
    objective_name: str
    iterations: int
    converged: bool
    change: float
    starts: tuple[float, ...]
    reached: int
    seed: int
    trace: tuple[float, ...]

    def in_words(self) -> str:
        """One line, such as "converged after 23 iterations; 8 of 10 starts reached this maximum; seed 0"."""
        ended = "converged after" if self.converged else "NOT converged after"
        starts = "start" if len(self.starts) == 1 else "starts"
        return (
            f"{ended} {self.iterations:,} iterations; {self.reached} of {len(self.starts)} {starts} "
            f"reached this maximum; seed {self.seed}"
        )

    def to_json(self) -> dict[str, Any]:
        """The fit for JSON, without the trace."""
        return {
            "log_likelihood": self.log_likelihood,
            "objective": self.objective,
            "objective_name": self.objective_name,
            "iterations": self.iterations,
            "converged": self.converged,
            "change": self.change,
            "starts": list(self.starts),
            "reached": self.reached,
            "seed": self.seed,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class RaterModel:
    """What the fitted models of U units and K labels (all declared ones, in their order) have in common.

    `posterior` (U × K) says how probable each label is to be the true one; NaN for a unit without a rating. When
    nothing could be fitted, `reason` says why, `fit` is None and all numbers are NaN. `notes` are sentences that belong
    beside the figures. Intervals are at `level`, over `resamples` resamples of units.
    """

    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    labels: tuple[Label, ...]
    posterior: FloatArray
    fit: Fit | None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    resamples: int = 0
    level: float = 0.95

    @property
    def unit_labels(self) -> tuple[Label | None, ...]:
        """The most probable label of each unit; None for a unit without a rating, and for a tie."""
        return label_of_units(self.posterior, self.labels)

    @property
    def entropy(self) -> FloatArray:
        """The entropy of each unit's posterior in bits (U), NaN without a rating: the higher, the less is known."""
        return entropy_of_units(self.posterior)

    def in_words(self) -> str:
        """How the model was fitted, or why not, in one line."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """The model for JSON, with its units; None where there is no number."""
        return {
            "method": self.in_words(),
            "reason": self.reason,
            "notes": list(self.notes),
            "fit": self.fit and self.fit.to_json(),
            "labels": list(self.labels),
            "units": [
                {"unit": unit, "label": label, "posterior": plain(self.posterior[i])}
                for i, (unit, label) in enumerate(zip(self.units, self.unit_labels, strict=True))
            ],
        }


def label_of_units(posterior: FloatArray, labels: Sequence[Label]) -> tuple[Label | None, ...]:
    """The most probable label of each unit; None for a unit without a rating and where two labels are as probable."""
    if not posterior.size:
        return (None,) * len(posterior)
    best = posterior.argmax(axis=1)  # of a row of NaN: 0
    top = posterior[np.arange(len(best)), best]
    clear = (posterior >= top[:, None] - 1e-9).sum(axis=1) == 1  # never so for NaN
    return tuple(labels[i] if is_clear else None for i, is_clear in zip(best.tolist(), clear.tolist(), strict=True))


def entropy_of_units(posterior: FloatArray) -> FloatArray:
    """The entropy of each unit's posterior in bits, NaN without a rating: the higher, the less is known."""
    logs = np.log2(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    entropy: FloatArray = np.abs((posterior * logs).sum(axis=1))
    return entropy


def percentiles(draws: FloatArray, level: float) -> FloatArray:
    """The percentile interval (… × 2) of resampled values (B × …), undefined ones left out."""
    nowhere = np.isnan(draws).all(axis=0)
    ends = np.nanquantile(np.where(nowhere, 0.0, draws), [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.asarray(np.moveaxis(np.where(nowhere, np.nan, ends), 0, -1), dtype=np.float64)


def plain(numbers: FloatArray | np.float64 | None) -> Any:
    """Numbers as JSON has them: lists, with None for NaN."""

    def without_nan(value: Any) -> Any:
        if isinstance(value, list):
            return [without_nan(part) for part in value]
        return None if value != value else value  # noqa: PLR0124 - NaN is not itself

    return None if numbers is None else without_nan(np.asarray(numbers).tolist())
