"""Verdicts about claims by source: which source is taken for what, and what a claim is to all of its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotators.scorers.base import ItemView, VerdictView

PEOPLE = ("adjudicated", "people")
"""Sources that are people, the most settled first; every other source is a judge."""


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

    def entails(self, claim: str, evidence: str) -> bool:
        """Whether this unit of evidence entails the claim."""
        return self.of_evidence.get(claim, {}).get(evidence) == "entailment"

    def supported_by(self, claim: str, evidence: Iterable[str]) -> bool:
        """Whether any of these units entails the claim."""
        return any(self.entails(claim, key) for key in evidence)


def by_source(verdicts: Sequence[VerdictView]) -> dict[str, Verdicts]:
    """The verdicts of each source; of two on the same claim and thing the later one counts."""
    found: dict[str, Verdicts] = {}
    for verdict in verdicts:
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


def claims_of(item: ItemView, of: str) -> list[str]:
    """The keys of the claims of the answer or of the reference."""
    return [claim.key for claim in item.claims if claim.of == of]
