"""Shares of facts: faithfulness and completeness of an answer (UniDoc-Bench), context recall of a retrieval (MRAMG)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.scorers.base import SCORERS, LabelledParameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.verdicts import (
    VerdictLabels,
    Verdicts,
    by_source,
    claims_of,
    each_from_its_own,
    settled_source,
    sources_wanted,
)


class FactParameters(LabelledParameters):
    """Whose verdicts are taken."""

    verdicts_from: str = Field(
        "auto", description="source: people, adjudicated, a judge's name, or the first of these that there is"
    )

    def label_sources(self) -> tuple[str, ...]:
        """The one that the parameter names, else the final labels."""
        return sources_wanted(self.verdicts_from)


class _ShareOfFacts(Scorer[FactParameters]):
    """What the three have in common: `of` whose facts, `against` what they are held, in words what that is.

    Unscored while any fact has no verdict: a share of those that happen to have one would be another thing.
    """

    version = "1"
    needs = frozenset({Part.CLAIMS, Part.EVIDENCE, Part.METADATA})
    parameters = FactParameters
    of: ClassVar[str]
    against: ClassVar[str]

    def score(self, items: Sequence[ItemContent], parameters: FactParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item; its details name the source and count the facts."""
        return [[self._one(item, parameters)] for item in items]

    def _one(self, item: ItemContent, parameters: FactParameters) -> ScoreValue:
        facts = claims_of(item, self.of)
        if not facts:
            return ScoreValue(self.name, None, f"the {self.of} has no claims")
        sources = {name: verdicts for name, verdicts in by_source(item).items() if self._labels(verdicts, facts)}
        if parameters.labels_by and sources:
            verdicts, source = each_from_its_own(sources)
        else:
            taken = settled_source(sources, parameters.verdicts_from)
            if taken is None:
                wanted = parameters.verdicts_from
                whose = "" if wanted == "auto" else f" from {wanted}"
                return ScoreValue(self.name, None, f"its claims have no verdicts{whose} against {self.against}")
            verdicts, source = sources[taken], taken
        labels = self._labels(verdicts, facts)
        missing = [fact for fact in facts if fact not in labels]
        if missing:
            reason = f"{source} gave no verdict on {len(missing)} of {len(facts)} claims ({missing[0]} …)"
            return ScoreValue(self.name, None, reason)
        found = sum(label == "entailment" for label in labels.values())
        return ScoreValue(
            self.name,
            found / len(facts),
            details={"verdicts_from": source, "facts": len(facts), "found": found, "missing": len(facts) - found},
        )

    def _labels(self, verdicts: Verdicts, facts: Sequence[str]) -> dict[str, str]:
        """Fact → its verdict, of those that have one."""
        given = {fact: self._label(verdicts, fact) for fact in facts}
        return {fact: label for fact, label in given.items() if label is not None}

    def _label(self, verdicts: Verdicts, fact: str) -> str | None:
        """What a fact is to all of the evidence: said of all at once, else by precedence over its units."""
        return verdicts.label(fact)


_BY_EVIDENCE = VerdictLabels((TargetKind.CLAIM_CONTEXT, TargetKind.CLAIM_EVIDENCE))


class Faithfulness(_ShareOfFacts):
    """Facts of the answer that the evidence bears out / facts of the answer."""

    name = "faithfulness"
    title = "Faithfulness (UniDoc-Bench)"
    summary = "The share of the answer's facts that are grounded in the evidence, taken all together."
    source = "UniDoc-Bench, section 4.2."
    values = (ValueKind("faithfulness", "Faithfulness"),)
    labels = _BY_EVIDENCE
    of, against = "answer", "the evidence"


class Completeness(_ShareOfFacts):
    """Facts of the reference that the answer has / facts of the reference."""

    name = "completeness"
    title = "Completeness (UniDoc-Bench)"
    summary = "The share of the reference's facts that are in the answer."
    source = "UniDoc-Bench, section 4.2."
    values = (ValueKind("completeness", "Completeness"),)
    labels = VerdictLabels((TargetKind.CLAIM_ANSWER,))
    of, against = "reference", "the answer"

    def _label(self, verdicts: Verdicts, fact: str) -> str | None:
        return verdicts.of_answer.get(fact)


class ContextRecall(_ShareOfFacts):
    """Statements of the reference that what was retrieved has / statements of the reference."""

    name = "context_recall"
    title = "Context recall"
    summary = "The share of the reference's statements that are in what was retrieved."
    source = "MRAMG-Bench, section 6.2.1, as RAGAS computes it."
    values = (ValueKind("context_recall", "Context recall"),)
    labels = _BY_EVIDENCE
    of, against = "reference", "what was retrieved"


for _scorer in (Faithfulness(), Completeness(), ContextRecall()):
    SCORERS.register(_scorer)
