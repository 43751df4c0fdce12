"""`precedence`: what a claim is to all of its evidence, by what it is to each unit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from annotators.criteria._one_label import OneLabel
from annotators.criteria.base import Criterion, Misfit
from annotators.criteria.choice import Choice
from annotators.criteria.derived.base import Derived
from annotators.criteria.labels import LabelValue
from annotators.items.targets import AGAINST, TargetKind

_CONTEXT = AGAINST[TargetKind.CLAIM_CONTEXT]


class Precedence(Derived):
    """The label of a claim against all evidence: the first of `order` that any unit of the evidence has.

    With entailment, contradiction, neutral it is that of MRAG-Suite, section 4.1, stage 3. The first label of the order
    stands whatever the units without a label would have; another one follows only where every unit has one.
    """

    how: Literal["precedence"] = "precedence"
    about: ClassVar[str] = "the first of some labels that any evidence unit has"
    order: list[LabelValue] = Field(min_length=2)

    def check_source(self, source: Criterion) -> None:
        """See `Derived`: a choice or grade about claims against evidence, all of whose labels are in the order."""
        if source.target != TargetKind.CLAIM_EVIDENCE or not isinstance(source, OneLabel):
            raise Misfit(
                f"{self.name!r} is a claim's label by those of its evidence, but {source.name!r} is not one label for "
                "each claim and evidence unit; give it the target claim_evidence",
                "how",
            )
        known, order = [str(label.value) for label in source.label_list()], [str(value) for value in self.order]
        if sorted(known) != sorted(order):
            raise Misfit(
                f"the order of {self.name!r} is {', '.join(order)}; it has to have each label of {source.name!r} once: "
                f"{', '.join(known)}",
                "order",
            )

    def in_words(self) -> str:
        """The order."""
        return f"any {', else any '.join(str(value) for value in self.order[:-1])}, else {self.order[-1]}"

    def target_of(self, target: str) -> str | None:
        """The claim, held against all evidence."""
        return f"{target.partition('|')[0]}|{_CONTEXT}"

    def value(self, labels: Mapping[str, Any], missing: Collection[str]) -> Any:
        """The first label of the order that there is."""
        given = {str(label): label for label in labels.values()}
        found = next(value for value in self.order if str(value) in given)
        return given[str(found)] if found == self.order[0] or not missing else None

    def criterion(self, source: Criterion) -> Criterion:
        """A choice with the labels of the source, about each claim against all evidence."""
        return Choice(
            name=self.name,
            title=self.title,
            help=self.help,
            target=TargetKind.CLAIM_CONTEXT,
            of=source.of,
            labels=source.label_list(),
            positive=source.positive if isinstance(source, Choice) else None,
        )
