"""The units that an estimate is of: few with a human value, many with predictions, and how the few were chosen."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.errors import InvalidInput
from annotators.estimates.combined import Combined, combined
from annotators.estimates.parts import places
from annotators.estimates.raters import FEWEST_OF_A_GROUP, LabelsByRater, Leniency, Noise, least_step
from annotators.intervals.result import Result

ITEMS, POPULATION = "items", "population"
OF = (ITEMS, POPULATION)
"""What an estimate is about: the finite set of these units, or the population that they stand for."""


@dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """One estimate: from how many labels and how many predictions, and how many labels alone would be as narrow.

    `group` is one group of units, or two as "A - B" for their difference; None is all. `metric` is what a coefficient
    is of.
    """

    group: str | None = None
    metric: str | None = None
    n_labelled: int = 0
    n_predicted: int = 0
    effective_n: float | None = None

    @property
    def half_width(self) -> float | None:
        """Half the width of its interval; None without one."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_json(self) -> dict[str, object]:
        """As `assay estimate --json` has it; `metric` where there is one."""
        found: dict[str, object] = {
            "name": self.name,
            "group": self.group,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "n_labelled": self.n_labelled,
            "n_predicted": self.n_predicted,
            "effective_n": self.effective_n,
            "reason": self.reason,
        }
        return found if self.metric is None else found | {"metric": self.metric}


@dataclass(frozen=True, eq=False)
class Units:
    """N units: `human` (NaN: no label), `predictions` (N × K, NaN: missing) with their K `names`.

    `cluster` and `stratum` (N) are numbers from 0, `strata` and `groups` are names, `group` (N) indexes `groups` (-1:
    none). `probability` (N) is that with which a labelled unit was drawn, None where all were drawn alike within
    strata; `open` (N) what of its variance is left where weights are made of several draws. `beyond` (0..1) is the
    share of the population that is not among the units. `scale` has the ends of human values. `by_rater` is what each
    rater said, where that is known: `human` is then the mean of a unit's labels, and an estimate is of what raters say
    of a unit on average. `beside` are the predictions that are no scores, such as lengths: they are combined with the
    others, and nothing else is made of them.
    """

    human: FloatArray
    predictions: FloatArray
    names: tuple[str, ...]
    cluster: IntArray
    stratum: IntArray
    strata: tuple[str, ...]
    group: IntArray
    groups: tuple[str, ...]
    probability: FloatArray | None = None
    open: FloatArray | None = None
    beyond: float = 0.0
    scale: tuple[float, float] | None = None
    seed: int = field(default=0)
    by_rater: LabelsByRater | None = None
    beside: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        human: FloatArray | LabelsByRater,
        predictions: dict[str, FloatArray],
        *,
        n: int | None = None,
        clusters: Sequence[Hashable] | None = None,
        strata: Sequence[Hashable] | None = None,
        groups: Sequence[str | None] | None = None,
        probability: FloatArray | None = None,
        open_: FloatArray | None = None,
        population: float | None = None,
        scale: tuple[float, float] | None = None,
        seed: int = 0,
        beside: Sequence[str] = (),
    ) -> Units:
        """From columns of one length (N); `population` is how many units there are in all (None: these; inf: no end).

        What people said is one value a unit, or every rater's labels of `n` units.

        Raises InvalidInput for columns that do not line up, infinite values, a labelled unit without a probability
        above 0 up to 1, and a population smaller than the units.
        """
        by_rater = human if isinstance(human, LabelsByRater) else None
        if isinstance(human, LabelsByRater):
            if n is None:
                raise InvalidInput("labels by rater do not say how many units there are: give n")
            human = human.means(n)
        n = len(human)
        columns: dict[str, Sequence[object] | FloatArray | None] = {
            **predictions, "clusters": clusters, "strata": strata, "groups": groups, "probabilities": probability,
        }  # fmt: skip
        for name, column in columns.items():
            if column is not None and len(column) != n:
                raise InvalidInput(f"{n} units and {len(column)} of {name!r} do not line up: give one for every unit")
        for name, values in {"the human values": human, **predictions}.items():
            if np.isinf(values).any():
                raise InvalidInput(f"{name} hold an infinite value: leave it out, or give a number")
        labelled = ~np.isnan(human)
        if probability is not None:
            chance = probability[labelled]
            if not ((chance > 0) & (chance <= 1)).all():
                raise InvalidInput("a labelled unit has no probability above 0 up to 1 with which it was drawn")
        if population is not None and population < n:
            raise InvalidInput(f"a population of {population:,g} is smaller than the {n:,} units: give at least {n:,}")
        every = np.arange(n)
        beyond = 0.0 if population is None or not n else 1 - n / population
        strata_names: dict[Hashable, None] = dict.fromkeys(strata or ())
        known = sorted({group for group in groups or () if group is not None})
        place = {name: code for code, name in enumerate(known)}
        return cls(
            human,
            np.stack(list(predictions.values()), axis=1) if predictions else np.zeros((n, 0)),
            tuple(predictions),
            places(every, clusters) if clusters is not None else every,
            places(every, strata) if strata is not None else np.zeros(n, dtype=np.int64),
            tuple(map(str, strata_names)) or ("",),
            np.array([-1 if g is None else place[g] for g in groups or [None] * n], dtype=np.int64),
            tuple(known),
            probability,
            open_,
            beyond if not math.isinf(population or 0) else 1.0,
            scale,
            seed,
            by_rater,
            tuple(beside),
        )

    @property
    def n(self) -> int:
        """How many units there are."""
        return len(self.human)

    @cached_property
    def labelled(self) -> BoolArray:
        """Which units have a label (N)."""
        return ~np.isnan(self.human)

    @property
    def n_labelled(self) -> int:
        """How many have one."""
        return int(self.labelled.sum())

    @cached_property
    def n_predicted(self) -> int:
        """How many units have a score or the word of a judge."""
        return int(self.scored.sum())

    @cached_property
    def scored(self) -> BoolArray:
        """Which units have a prediction, besides what is known of every unit (N)."""
        scores = [place for place, name in enumerate(self.names) if name not in self.beside]
        return np.asarray(~np.isnan(self.predictions[:, scores]).all(axis=1), dtype=np.bool_)

    @cached_property
    def labels(self) -> LabelsByRater | None:
        """What each rater said of the labelled units."""
        return None if self.by_rater is None else self.by_rater.among(self.labelled)

    @cached_property
    def n_ratings(self) -> int:
        """How many labels people gave: each rater's counts; one a unit where it is not known who gave them."""
        return self.n_labelled if self.labels is None else len(self.labels.value)

    @cached_property
    def n_several(self) -> int:
        """How many labelled units have labels of several raters."""
        return 0 if self.labels is None else int((self.labels.counts(self.n) > 1).sum())

    @cached_property
    def binary(self) -> bool:
        """Whether every label is 0 or 1."""
        said = self.human[self.labelled] if self.labels is None else self.labels.value
        return bool(np.isin(said, (0.0, 1.0)).all())

    @cached_property
    def noise(self) -> Noise | None:
        """The variance of one label within its unit; None where nobody's label can be set beside another's."""
        return self.noise_in(self.labels)

    @cached_property
    def leniency(self) -> Leniency | None:
        """How far raters differ in how high they label; None where no two share units."""
        return None if self.labels is None or not len(self.labels.value) else self.labels.leniency()

    def noise_in(self, labels: LabelsByRater | None) -> Noise | None:
        """The same of some of the labels."""
        if labels is None:
            return None
        step = self.scale[1] - self.scale[0] if self.binary and self.scale else least_step(labels.value)
        return labels.noise(self.n, step)

    def noise_of(self, here: BoolArray) -> tuple[FloatArray, float]:
        """The variance of each unit's label about what raters say of it (N), and its degrees of freedom.

        That of the units `here` (N), where enough of them have several labels; else that of all.
        """
        if self.labels is None or self.noise is None:
            return np.zeros(self.n), math.inf
        own = None if here.all() else self.noise_in(self.labels.among(here))
        found = own if own is not None and own.units >= FEWEST_OF_A_GROUP else self.noise
        counts = self.labels.counts(self.n)
        return np.where(counts > 0, found.variance / np.maximum(counts, 1), 0.0), found.freedom

    @cached_property
    def weights(self) -> FloatArray | None:
        """What a label stands for (N): one over its probability; None where all were drawn alike."""
        if self.probability is None:
            return None
        return np.where(self.labelled, 1 / np.where(self.labelled, self.probability, 1.0), 0.0)

    @cached_property
    def predicted(self) -> Combined:
        """The predictions combined for the human value, cross-fitted."""
        return self.combined_for(self.human, self.predictions)

    def combined_for(self, human: FloatArray, predictions: FloatArray) -> Combined:
        """Predictions (N × K) combined for any value (N) of the labelled units."""
        return combined(
            human, predictions, cluster=self.cluster, stratum=self.stratum, weights=self.weights, seed=self.seed
        )

    @property
    def whom(self) -> str:
        """What the estimates are about, in words."""
        if self.beyond == 0:
            return f"these {self.n:,} items"
        if self.beyond == 1:
            return f"the population that these {self.n:,} items stand for"
        return f"the {self.n / (1 - self.beyond):,.0f} items that these {self.n:,} are drawn from"

    def only(self, labelled: BoolArray) -> Units:
        """The same units with only these labels (N)."""
        return replace(self, human=np.where(labelled, self.human, np.nan))
