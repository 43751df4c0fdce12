"""What follows from a label: rules between criteria that a submission keeps, or is refused with a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from annotators.criteria import Condition, Criterion, Misfit
from annotators.items.targets import TargetKind


class Consequence(BaseModel):
    """When one criterion has one of some values, another one can only have one of others; `says` is why.

    Both are looked at for the same target, or the first for the item. Nothing is changed for the annotator: a label
    that breaks the rule is refused, and *cannot judge* breaks none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: Condition
    then: Condition
    says: str = ""

    def check(self, criteria: Sequence[Criterion], asked: Sequence[str]) -> None:
        """Raise Misfit where it names what these criteria, in the order they are asked, do not have."""
        known = {criterion.name: criterion for criterion in criteria}
        for field in ("when", "then"):
            condition: Condition = getattr(self, field)
            if condition.criterion not in known:
                raise Misfit(
                    f"a consequence names {condition.criterion!r}, which is no criterion; known: {', '.join(known)}",
                    *(field, "criterion"),
                )
            labels = [str(label.value) for label in known[condition.criterion].label_list()]
            for value in condition.values:
                if str(value) not in labels:
                    raise Misfit(
                        f"a consequence names the value {value!r} of {condition.criterion!r}, which is none of its "
                        f"labels: {', '.join(labels) or 'none'}",
                        *(field, "values"),
                    )
        first, second = known[self.when.criterion], known[self.then.criterion]
        if asked.index(first.name) >= asked.index(second.name):
            raise Misfit(
                f"{second.name!r} is to follow from {first.name!r}, which is not asked before it; ask it earlier",
                *("then", "criterion"),
            )
        if first.target not in (TargetKind.ITEM, second.target):
            raise Misfit(
                f"{second.name!r} is to follow from {first.name!r}, which has another target; it may follow from a "
                "criterion of the item or of its own target",
                *("when", "criterion"),
            )

    def sentence(self, first: Criterion, second: Criterion) -> str:
        """What is said to who breaks it."""
        had, allowed = _titles(first, self.when), _titles(second, self.then)
        why = f" {self.says}" if self.says else ""
        return f"“{second.title}” can only be {allowed} where “{first.title}” is {had}.{why} Change one of the two."


def _titles(criterion: Criterion, condition: Condition) -> str:
    wanted = {str(value) for value in condition.values}
    return " or ".join(label.title for label in criterion.label_list() if str(label.value) in wanted)
