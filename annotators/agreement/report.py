"""The agreement report of several criteria: the one entry point that the command line, the pages and files share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.agreement.catalogue import headline
from annotators.agreement.measure import measure
from annotators.agreement.remarks import sentence, warnings_about
from annotators.agreement.statistics.base import LEAST_SHARED
from annotators.agreement.statistics.spans import stretches
from annotators.agreement.tables.columns import ITEM, CriterionTable
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import COMPOSED, Label, Ratings, Scale
from annotators.intervals.result import IntervalKind, Raters, Statistic
from annotators.intervals.together import Together, drawn_together


@dataclass(frozen=True)
class CriterionAgreement:
    """One criterion: its numbers, the share of each label, its statistics, and the words for them.

    `labels` are the declared ones; of sets they are the elements that occur, of stretches their labels, and of rankings
    and texts there are none to list. `together` says which column of a table units were drawn together by.
    """

    criterion: str
    target: str
    scale: Scale
    labels: tuple[Hashable, ...]
    n_units: int
    n_raters: int
    n_ratings: int
    shares: dict[Label, float]
    statistics: list[Statistic]
    sentence: str | None
    warnings: list[str]
    weights: OwnWeights | None = None
    together: Together | None = None

    def find(self, name: str, **about: Any) -> Statistic | None:
        """The first statistic of this name (and `label`, or `raters`)."""
        for statistic in self.statistics:
            if statistic.name == name and all(getattr(statistic, key) == value for key, value in about.items()):
                return statistic
        return None

    @property
    def headline(self) -> Statistic | None:
        """The coefficient that stands for agreement on this scale, when it was measured."""
        return self.find(headline(self.scale))

    def to_json(self) -> dict[str, Any]:
        """The entry of the criterion in `agreement` JSON."""
        found = {
            "criterion": self.criterion,
            "target": self.target,
            "scale": self.scale,
            "labels": [_plain(label) for label in self.labels],
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
            "shares": [{"label": _plain(label), "share": share} for label, share in self.shares.items()],
            "statistics": [statistic.to_json() for statistic in self.statistics],
            "warnings": self.warnings,
        }
        if self.together is not None:
            found["together"] = self.together.column
        if self.weights is not None:
            found["weights"] = {"labels": self.weights.labels or found["labels"], "rows": self.weights.rows}
        return found


def agreement_report(
    tables: Iterable[CriterionTable],
    *,
    statistics: Sequence[str] | str | None = "default",
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    kind: IntervalKind = "BCa",
    clustered: bool | None = None,
    own_weights: Mapping[str, OwnWeights] | None = None,
    units: str = "items",
    raters: Raters = "fixed",
    least_shared: int = LEAST_SHARED,
) -> list[CriterionAgreement]:
    """Agreement on each criterion; arguments as of `measure`, which does the work.

    `clustered` resamples questions instead of units, or the items of the units where a table says no questions; None
    does so where some question, or some item, has several units (`drawn_together`). `units` is what units are called in
    the sentence, in the plural, where the target is the item. `own_weights` are those of each criterion that has some.
    """
    return [
        criterion_agreement(
            table.criterion,
            table.target,
            table.ratings,
            statistics=statistics,
            resamples=resamples,
            seed=seed,
            level=level,
            kind=kind,
            **_clusters(table, together := _together(table, clustered)),
            together=together,
            raters=raters,
            least_shared=least_shared,
            own_weights=(own_weights or {}).get(table.criterion),
            units=units if table.target == ITEM and len(set(table.items)) == len(table.items) else "units",
        )
        for table in tables
    ]


def criterion_agreement(
    criterion: str,
    target: str,
    ratings: Ratings,
    *,
    title: str | None = None,
    units: str = "items",
    together: Together | None = None,
    **asked: Any,
) -> CriterionAgreement:
    """Agreement on one criterion; `asked` are arguments of `measure`, `title` is its name in the sentence."""
    statistics = measure(ratings, **asked)
    measured = {statistic.name for statistic in statistics}
    name = headline(ratings.scale)
    said = (
        name
        if name in measured
        else next((statistic.name for statistic in statistics if statistic.label is None), None)
    )
    return CriterionAgreement(
        criterion=criterion,
        target=target,
        scale=ratings.scale,
        labels=_labels(ratings),
        n_units=int((ratings.sizes > 0).sum()),
        n_raters=len(set(ratings.rater.tolist())),
        n_ratings=ratings.n_ratings,
        shares={} if ratings.scale in COMPOSED else ratings.label_shares(),
        statistics=statistics,
        sentence=sentence(statistics, coefficient=said, criterion=title or criterion, units=units) if said else None,
        warnings=warnings_about(ratings, statistics, asked.get("clusters"), asked.get("over", "questions")),
        weights=asked.get("own_weights"),
        together=together,
    )


def _together(table: CriterionTable, clustered: bool | None) -> Together | None:
    """By which column the units of a table are drawn together, unless units are asked for."""
    if clustered is False:
        return None
    units, items = table.ratings.units, table.items
    said: dict[str, Sequence[Hashable]] = {"item": items}
    if table.questions is not None:
        said = {"question": [table.questions[unit] for unit in units], **said}
    found = drawn_together(said, units)
    return found or (Together(next(iter(said))) if clustered else None)


def _clusters(table: CriterionTable, together: Together | None) -> dict[str, Any]:
    """What is resampled together, and what it is called, as arguments of `measure`."""
    if together is None:
        return {}
    if together.column == "question":
        said = table.questions or {}
        alone = {unit: said.get(unit) or (unit,) for unit in table.ratings.units}  # without a question: by itself
        return {"clusters": alone, "over": "questions"}
    return {"clusters": dict(zip(table.ratings.units, table.items, strict=True)), "over": "items"}


def share_clusters(clusters: Mapping[Hashable, Hashable]) -> bool:
    """Whether some cluster has several units."""
    return len(set(clusters.values())) < len(clusters)


def _labels(ratings: Ratings) -> tuple[Hashable, ...]:
    if ratings.scale in ("ranking", "text"):
        return ()
    if ratings.scale == "spans":
        return tuple(sorted({stretch.label for label in ratings.labels for stretch in stretches(label)}))
    if ratings.scale == "set":
        elements = {element for label in ratings.labels if isinstance(label, frozenset) for element in label}
        return tuple(sorted(elements, key=lambda element: (str(type(element)), element)))
    return ratings.labels


def _plain(label: Hashable) -> Any:
    """A label as JSON can write it."""
    return label if isinstance(label, str | int | float | bool) or label is None else str(label)
