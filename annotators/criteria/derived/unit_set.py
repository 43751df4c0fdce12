"""`set`: the parts of an item, or of each hop of its question, that got one label, such as its evidence pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal

from annotators.criteria.base import Criterion, Misfit, Scale, Value
from annotators.criteria.derived.base import Derived
from annotators.criteria.labels import LabelValue
from annotators.items.targets import TargetKind, Units

_HOP = "|hop:"


class SetOfUnits(Criterion):
    """Any number of an item's parts, as a list of their targets (set). It is measured and never asked."""

    kind: Literal["set_of_units"]
    scale: ClassVar[Scale] = "set"
    about: ClassVar[str] = "any number of the item's parts"

    def check(self, value: object, units: Units | None = None) -> Value:
        """The targets, sorted, each once."""
        if not isinstance(value, list) or not all(isinstance(target, str) for target in value):
            raise self._reject(value, "a list of targets")
        return sorted(set(value), key=in_order)

    def parse(self, text: str) -> Value:
        """A JSON array of targets."""
        return self.check(self._json_list(text))


class UnitSet(Derived):
    """The set of the units that got `label`, of the item (`of: item`) or of each hop of its question (`of: hop`).

    Where 95 of 100 pages are no evidence, agreement page by page says little: two people who find nothing in common
    agree on nine pages of ten. Sets are compared by what is in them (Jaccard, MASI, F1). The set of an item whose pages
    are judged hop by hop has the pages of all hops. A set follows only when every unit has a label: one who could not
    judge a page has none.
    """

    how: Literal["set"] = "set"
    about: ClassVar[str] = "the set of units with one label"
    label: LabelValue
    of: Literal["item", "hop"] = "item"

    def check_source(self, source: Criterion) -> None:
        """See `Derived`: a criterion of several units, with this label; hops need one that is asked of each hop."""
        known = [str(label.value) for label in source.label_list()]
        if str(self.label) not in known:
            raise Misfit(
                f"{self.name!r} is the set of units with the label {self.label!r}, which is none of those of "
                f"{source.name!r}: {', '.join(known) or 'none'}",
                "label",
            )
        if source.target in (TargetKind.ITEM, TargetKind.PAIR):
            raise Misfit(
                f"{self.name!r} is a set of units, but {source.name!r} is asked of the whole {source.target}; give it "
                "another target, or leave the set out",
                "how",
            )
        if self.of == "hop" and not source.per_hop:
            raise Misfit(
                f"{self.name!r} is a set for each hop, but {source.name!r} is not asked of each; add `per_hop: true` "
                "to it, or take `of: item`",
                "of",
            )

    def in_words(self) -> str:
        """The label, and of what."""
        return f"the set of units labelled {self.label}, of {'each hop' if self.of == 'hop' else 'the item'}"

    def target_of(self, target: str) -> str | None:
        """The hop of a target, or the item."""
        if self.of == "item":
            return TargetKind.ITEM.value
        _, _, hop = target.partition(_HOP)
        return f"hop:{hop}" if hop else None

    def value(self, labels: Mapping[str, Any], missing: Collection[str]) -> Any:
        """The targets with the label, each once and without their hop."""
        if missing:
            return None
        wanted = str(self.label)
        return sorted(
            {target.partition(_HOP)[0] for target, given in labels.items() if str(given) == wanted}, key=in_order
        )

    def criterion(self, source: Criterion) -> Criterion:
        """A set of parts."""
        target = TargetKind.HOP if self.of == "hop" else TargetKind.ITEM
        return SetOfUnits(kind="set_of_units", name=self.name, title=self.title, help=self.help, target=target)


def in_order(target: str) -> tuple[str, int, str]:
    """A key to sort targets by: pages of a document by their number, anything else by its letters."""
    head, _, last = target.rpartition(":")
    return (head, int(last), "") if last.isdecimal() and last.isascii() else (head, 0, last)
