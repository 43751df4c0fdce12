"""What a model proposes for a label before or after a person gives it: from where, and what it amounts to.

A suggestion comes with an item: the pages that its import calls evidence, the pipeline's used flags, a judge's verdicts
about its claims, or a scorer's value. A criterion says which it is with `suggested_by`; where it says nothing, those
whose labels are made for one of them have it. Or a study names a judge, whose labels of the same items by the same
protocol are suggested in place of all these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotators.criteria.base import Criterion
from annotators.criteria.derived.unit_set import UnitSet
from annotators.errors import InvalidInput
from annotators.items.targets import OF_CLAIMS, TargetKind, target_kind

WHEN = ("before", "after", "never")
"""When a study shows suggestions: with what is asked, once the annotator's own labels are committed, or never."""

PAGE_LABELS = "page_labels"
USED = "used"
VERDICTS = "verdicts"
JUDGE = "judge"
OF_TARGET: Mapping[str, frozenset[TargetKind]] = {
    PAGE_LABELS: frozenset({TargetKind.PAGE}),
    USED: frozenset({TargetKind.EVIDENCE}),
    VERDICTS: OF_CLAIMS - {TargetKind.CLAIM},
}
"""What `suggested_by` may name besides a score, and the targets that it says something of."""

_ENTAILMENT = ("entailment", "neutral", "contradiction")
_REQUIRED = frozenset({"required", "not_required"})


@dataclass(frozen=True)
class Proposals:
    """What models say of one item.

    `pages` are the targets of the pages that its import calls evidence; `used` has the flag of each evidence unit that
    has one, by its target; `verdicts` has claim and what it is held against (`evidence:K`, `context`, `answer`,
    `reference`) → label, of one judge; `scores` has criterion → the value of the score that it is suggested by. Where
    a study names a judge, `judged` has (criterion, target) → its label, and nothing else is proposed.
    """

    pages: frozenset[str] = frozenset()
    used: Mapping[str, bool] = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Any] | None = None


def suggested_by(criterion: Criterion) -> str | None:
    """Where a criterion's suggestions are from: `page_labels`, `used`, `verdicts`, the name of a score, or nowhere."""
    if criterion.suggested_by is not None:
        return criterion.suggested_by
    labels = {str(label.value) for label in criterion.label_list()}
    if criterion.target == TargetKind.PAGE and _set_label(criterion) is not None:
        return PAGE_LABELS
    if criterion.target == TargetKind.EVIDENCE and labels == _REQUIRED:
        return USED
    if criterion.target in OF_TARGET[VERDICTS] and labels == set(_ENTAILMENT):
        return VERDICTS
    return None


def source_of(criterion: Criterion, proposals: Proposals) -> str | None:
    """Where a criterion's suggestions about an item are from: the study's judge, or as `suggested_by` says."""
    return JUDGE if proposals.judged is not None else suggested_by(criterion)


def suggestion(criterion: Criterion, target: str, proposals: Proposals) -> Any:
    """The label that is suggested for a target of a criterion, as it is stored; None where there is none."""
    if proposals.judged is not None:
        return proposals.judged.get((criterion.name, target))
    match suggested_by(criterion):
        case None:
            return None
        case "page_labels":
            known = {page.partition("|hop:")[0] for page in proposals.pages}
            hops = {page for page in proposals.pages if "|hop:" in page}
            if not proposals.pages or (criterion.per_hop and "|hop:" in target and not hops):
                return None
            return _yes_or_no(criterion, target in (proposals.pages if "|hop:" in target else known))
        case "used":
            flag = proposals.used.get(target)
            return None if flag is None else _yes_or_no(criterion, flag)
        case "verdicts":
            claim, _, against = target.partition("|")
            label = proposals.verdicts.get((claim.removeprefix("claim:"), against))
            known = {str(label.value) for label in criterion.label_list()}
            if label is None or label in known:
                return label
            return _yes_or_no(criterion, label == _ENTAILMENT[0])
    value = proposals.scores.get(criterion.name) if criterion.target == TargetKind.ITEM else None
    return None if value is None else _of_score(criterion, value)


def is_anything_suggested(criterion: Criterion, proposals: Proposals) -> bool:
    """Whether there is a suggestion for some label of a criterion, whatever an item's units are."""
    if proposals.judged is not None:
        return any(name == criterion.name for name, _ in proposals.judged)
    source = suggested_by(criterion)
    targets: Mapping[str, Iterable[str]] = {
        PAGE_LABELS: proposals.pages,
        USED: proposals.used,
        VERDICTS: (f"claim:{claim}|{against}" for claim, against in proposals.verdicts),
    }
    return source is not None and any(
        suggestion(criterion, target, proposals) is not None
        for target in targets.get(source, ("item",))
        if target_kind(target) == criterion.target
    )


def _of_score(criterion: Criterion, value: float) -> Any:
    """The label that a score amounts to: of two labels by 1 and 0, else the number itself where it is one of them."""
    if len(criterion.label_list()) == 2 and criterion.as_numbers([criterion.suggested_by or ""]).binary:
        return _yes_or_no(criterion, value == 1) if value in (0, 1) else None
    try:
        return criterion.check(int(value) if float(value).is_integer() else value)
    except InvalidInput:
        return None


def _yes_or_no(criterion: Criterion, yes: bool) -> Any:
    """The positive label, or the other one where there is just one other."""
    labels = [str(label.value) for label in criterion.label_list()]
    positive = _set_label(criterion) or criterion.as_numbers([criterion.suggested_by or ""]).positive
    if positive not in labels:
        return None
    others = [label for label in labels if label != positive]
    return positive if yes else others[0] if len(others) == 1 else None


def _set_label(criterion: Criterion) -> str | None:
    """The label whose units make a set."""
    return next((str(derived.label) for derived in criterion.derived if isinstance(derived, UnitSet)), None)
