"""Verdicts about claims by source: which source is taken for what, and what a claim is to all of its evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from annotators.errors import InvalidInput
from annotators.items.checks import called
from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.scorers.shared.study_labels import LabelUse, Side, UnitLabel, is_yes, is_yes_or_no

if TYPE_CHECKING:
    from annotators.criteria import Criterion

PEOPLE = ("adjudicated", "people")
"""Sources that are people, the most settled first; every other source is a judge."""

LABELS = ("entailment", "neutral", "contradiction")
"""What a claim can be to what it is held against."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one source says of one claim.

    `against` is what the claim was held against, written as a target: `evidence:K` (one unit), `context` (all evidence
    at once), `answer`, `reference`. `label` is one of `LABELS`. `source` says who judged: `people`, `adjudicated`, or
    the name of a judge.
    """

    claim: str
    against: str
    label: str
    source: str = ""


def verdicts_of(item: ItemContent) -> Iterator[Verdict]:
    """The verdicts that came with an item, which its metadata keeps (docs/metrics.md).

    InvalidInput for one of the wrong form, an unknown label, or what no claim is held against.
    """
    return map(_verdict, _rows(item))


def _rows(item: ItemContent) -> Iterator[Mapping[str, Any]]:
    given = item.metadata.get("verdicts") or ()
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"Field 'verdicts' is {called(given)}. It has to be a list.")
    for row in given:
        if not isinstance(row, Mapping):
            raise InvalidInput(f"Field 'verdicts' has {called(row)}. It has to be a list of objects.")
        yield row


def _verdict(row: Mapping[str, Any]) -> Verdict:
    label = _text(row, "label").strip().lower()
    if label not in LABELS:
        raise InvalidInput(f"{label!r} is not the label of a verdict. Allowed: {', '.join(LABELS)}.")
    evidence = row.get("evidence")
    against = f"evidence:{evidence}" if evidence is not None else _text(row, "against")
    if against not in ("answer", "reference", "context") and not against.startswith("evidence:"):
        raise InvalidInput(
            f"{against!r} is nothing to hold a claim against. Allowed: evidence:KEY, context, answer, reference."
        )
    return Verdict(_text(row, "claim"), against, label, _text(row, "source"))


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"Field {name!r} is {called(value)}. It has to be a text.")
    return value or ""


@dataclass
class Verdicts:
    """One source's verdicts on an item: what each claim is to each evidence unit, to all at once, and to a text."""

    source: str
    of_evidence: dict[str, dict[str, str]] = field(default_factory=dict)
    of_context: dict[str, str] = field(default_factory=dict)
    of_answer: dict[str, str] = field(default_factory=dict)
    of_reference: dict[str, str] = field(default_factory=dict)

    def label(self, claim: str) -> str | None:
        """The claim's label: the one given for the whole context, else by precedence; None without a verdict.

        Precedence (MRAG-Suite, section 4.1): entailment if any evidence entails, else contradiction if any contradicts,
        else neutral.
        """
        if claim in self.of_context:
            return self.of_context[claim]
        given = set(self.of_evidence.get(claim, {}).values())
        return next((label for label in ("entailment", "contradiction", "neutral") if label in given), None)

    def has(self, sort: str) -> bool:
        """Whether there is any verdict on a claim held against "evidence", "the answer" or "the reference"."""
        match sort:
            case "evidence":
                return bool(self.of_evidence or self.of_context)
            case "the answer":
                return bool(self.of_answer)
            case _:
                return bool(self.of_reference)

    def entails(self, claim: str, evidence: str) -> bool:
        """Whether this unit of evidence entails the claim."""
        return self.of_evidence.get(claim, {}).get(evidence) == "entailment"

    def supported_by(self, claim: str, evidence: Iterable[str]) -> bool:
        """Whether any of these units entails the claim."""
        return any(self.entails(claim, key) for key in evidence)


def by_source(item: ItemContent) -> dict[str, Verdicts]:
    """The verdicts of each source on an item; of two on the same claim and thing the later one counts."""
    found: dict[str, Verdicts] = {}
    for verdict in verdicts_of(item):
        of = found.setdefault(verdict.source, Verdicts(verdict.source))
        match verdict.against.split(":", 1):
            case ["evidence", key]:
                of.of_evidence.setdefault(verdict.claim, {})[key] = verdict.label
            case ["context"]:
                of.of_context[verdict.claim] = verdict.label
            case ["answer"]:
                of.of_answer[verdict.claim] = verdict.label
            case ["reference"]:
                of.of_reference[verdict.claim] = verdict.label
    return found


def judged_verdicts(item: ItemContent) -> dict[tuple[str, str], str]:
    """(claim, what it was held against) → the verdict of one judge, the first by name; people's are none."""
    try:
        verdicts = [verdict for verdict in verdicts_of(item) if verdict.source not in PEOPLE]
    except InvalidInput:
        return {}
    judge = min((verdict.source for verdict in verdicts), default="")
    return {(verdict.claim, verdict.against): verdict.label for verdict in verdicts if verdict.source == judge}


def each_from_its_own(sources: Mapping[str, Verdicts], main: str | None = None) -> tuple[Verdicts, str]:
    """One set of verdicts, where each sort of them may be of another source; and which is of whom, in words.

    A sort (against the evidence, the answer, the reference) is of the source `main` where that has any, else of the
    first by name that has. It is called after the source of what is held against the evidence, else after all of them.
    """
    ordered = sorted(sources, key=lambda name: (name != main, PEOPLE.index(name) if name in PEOPLE else 9, name))
    whose = {}
    for sort in ("evidence", "the answer", "the reference"):
        found = next((name for name in ordered if sources[name].has(sort)), None)
        if found is not None:
            whose[sort] = found
    of = {sort: sources[name] for sort, name in whose.items()}
    nothing = Verdicts("")
    evidence = of.get("evidence", nothing)
    names = list(dict.fromkeys(whose.values()))
    together = Verdicts(
        whose.get("evidence") or ", ".join(names),
        evidence.of_evidence,
        evidence.of_context,
        of.get("the answer", nothing).of_answer,
        of.get("the reference", nothing).of_reference,
    )
    said = ", ".join(names) if len(names) < 2 else "; ".join(f"against {sort}: {name}" for sort, name in whose.items())
    return together, said


def settled_source(sources: Mapping[str, Verdicts], wanted: str) -> str | None:
    """The source for the claims' labels: `wanted`, or (auto) the adjudicated verdicts, people's, a judge's."""
    if wanted != "auto":
        return wanted if wanted in sources else None
    return next((source for source in PEOPLE if source in sources), None) or next(iter(sorted(sources)), None)


def judging_source(sources: Mapping[str, Verdicts], wanted: str, beside: str | None) -> str | None:
    """The source for what supports a claim: `wanted`, or (auto) a judge, people: another than `beside` if there is."""
    if wanted != "auto":
        return wanted if wanted in sources else None
    judges = [source for source in sorted(sources) if source not in PEOPLE]
    ordered = [*judges, *(source for source in reversed(PEOPLE) if source in sources)]
    return next((source for source in ordered if source != beside), beside)


def claims_of(item: ItemContent, of: str) -> list[str]:
    """The keys of the claims of the answer or of the reference."""
    return [claim.key for claim in item.claims if claim.of == of]


# Labels of studies ----------------------------------------------------------------------------------------------------


def sources_wanted(labels_from: str, *others: str) -> tuple[str, ...]:
    """Which of the sources that are people labels of studies have to be taken as: those named, else the final ones."""
    named = {"adjudicated" if labels_from == "auto" else labels_from, *others}
    return tuple(source for source in PEOPLE if source in named) or PEOPLE[:1]


class VerdictLabels(LabelUse):
    """Labels of claims, held against something, as verdicts; those of judges that came with the item stay beside them.

    Labels that are called as verdicts are, are these. Of two labels the positive one is an entailment (the answer says
    a claim of the reference: it entails it), the other one neutral. `against` is what the scorer reads claims held
    against; without one of `least` it can give nothing.
    """

    def __init__(
        self,
        against: Collection[TargetKind],
        least: Collection[TargetKind] = (),
        sides: Mapping[str, Side] | None = None,
    ) -> None:
        self._against, self._least = frozenset(against), frozenset(least or against)
        self.sides = sides or {}
        places = [_PLACES[target] for target in _PLACES if target in self._against]
        self.needs = (
            f"one label for each claim held against {', '.join(places[:-1])} or {places[-1]}: entailment, neutral, "
            "contradiction, or two labels of which one is positive"
        )

    def reads(self, criterion: Criterion) -> bool:
        """See `LabelUse`."""
        if criterion.target not in self._against:
            return False
        return is_yes_or_no(criterion) or (criterion.scale == "nominal" and _are_verdicts(criterion))

    def suffices(self, criteria: Sequence[Criterion]) -> bool:
        """See `LabelUse`."""
        return any(criterion.target in self._least for criterion in criteria)

    def alone(self, item: ItemContent) -> ItemContent:
        """See `LabelUse`: without any verdict that came with it."""
        return item._replace(metadata={name: value for name, value in item.metadata.items() if name != "verdicts"})

    def put(self, item: ItemContent, labels: Sequence[UnitLabel]) -> ItemContent | str:
        """See `LabelUse`.

        A claim's label by its evidence is not known while a unit is open, unless another one entails it. Such a claim
        has no verdict on any unit.
        """
        by_claim: dict[tuple[str, str], list[tuple[str, str | None]]] = defaultdict(list)
        for label in labels:
            claim, _, against = label.target.removeprefix("claim:").partition("|")
            by_claim[label.source, claim].append((against, _verdict_of(label)))
        rows: list[Mapping[str, Any]] = [
            {"claim": claim, "against": against, "label": verdict, "source": source}
            for (source, claim), given in by_claim.items()
            for against, verdict in given
            if verdict is not None and (not against.startswith("evidence:") or _is_known(given))
        ]
        if not rows:
            return "no label of its claims is settled"
        judged = [row for row in _rows(item) if _text(row, "source") not in PEOPLE]
        rows += judged
        return item._replace(metadata={**item.metadata, "verdicts": rows})


_PLACES = {
    TargetKind.CLAIM_EVIDENCE: "each unit of evidence",
    TargetKind.CLAIM_CONTEXT: "all evidence",
    TargetKind.CLAIM_ANSWER: "the answer",
    TargetKind.CLAIM_REFERENCE: "the reference",
}


def _are_verdicts(criterion: Criterion) -> bool:
    labels = [str(label.value).lower() for label in criterion.label_list()]
    return bool(labels) and set(labels) <= set(LABELS)


def _verdict_of(label: UnitLabel) -> str | None:
    if label.value is None:
        return None
    if _are_verdicts(label.criterion):
        return str(label.value).lower()
    return "entailment" if is_yes(label) else "neutral"


def _is_known(given: Sequence[tuple[str, str | None]]) -> bool:
    """Whether what a claim is to its evidence follows from the units that are settled."""
    units = {verdict for against, verdict in given if against.startswith("evidence:")}
    return None not in units or "entailment" in units
