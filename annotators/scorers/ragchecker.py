"""RAGChecker: metrics of claims held against the reference answer and against each retrieved passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.later import Later
from annotators.scorers.base import SCORERS, LabelledParameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import f_measure
from annotators.scorers.shared.verdicts import (
    VerdictLabels,
    Verdicts,
    by_source,
    claims_of,
    each_from_its_own,
    settled_source,
    sources_wanted,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

Flags: TypeAlias = "npt.NDArray[np.bool_]"

_NO_ANSWER_CLAIMS = "the answer has no claims with verdicts"
_NO_GOLD_CLAIMS = "the reference has no claims with verdicts"
_NO_EVIDENCE = "no evidence has a verdict"


class RagCheckerParameters(LabelledParameters):
    """Whose verdicts are taken."""

    verdicts_from: str = Field(
        "auto", description="source: people, adjudicated, a judge's name, or the first of these that there is"
    )

    def label_sources(self) -> tuple[str, ...]:
        """The one that the parameter names, else the final labels."""
        return sources_wanted(self.verdicts_from)


class RagChecker(Scorer[RagCheckerParameters]):
    """Precision, recall and F1 of the answer's claims, two metrics of the retriever and six of the generator."""

    name = "ragchecker"
    version = "1"
    title = "RAGChecker"
    summary = "Claims of answer and reference held against each other and the evidence: what is right, found and used."
    source = "RAGChecker (Ru et al. 2024), section 3.3, as its computation.py; MRAG-Suite builds on it."
    values = (
        ValueKind("ragchecker_f1", "F1", measures="correctness"),
        ValueKind("ragchecker_precision", "Precision"),
        ValueKind("ragchecker_recall", "Recall"),
        ValueKind("retriever_claim_recall", "Claim recall"),
        ValueKind("retriever_context_precision", "Context precision"),
        ValueKind("context_utilization", "Context utilisation"),
        ValueKind("noise_sensitivity_in_relevant", "Noise sensitivity, relevant", merit=False),
        ValueKind("noise_sensitivity_in_irrelevant", "Noise sensitivity, irrelevant", merit=False),
        ValueKind("unsupported_and_wrong", "Hallucination", merit=False),
        ValueKind("unsupported_and_right", "Self-knowledge", merit=False),
        ValueKind("supported", "Faithfulness"),
    )
    needs = frozenset({Part.CLAIMS, Part.EVIDENCE, Part.METADATA})
    labels = VerdictLabels((TargetKind.CLAIM_EVIDENCE, TargetKind.CLAIM_ANSWER, TargetKind.CLAIM_REFERENCE))
    parameters = RagCheckerParameters

    def score(self, items: Sequence[ItemContent], parameters: RagCheckerParameters) -> list[list[ScoreValue]]:
        """Eleven values (shares, 0 to 1) for each item; the first one's details name the source of the verdicts."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: RagCheckerParameters) -> list[ScoreValue]:
        sources = by_source(item)
        if parameters.labels_by and sources:
            verdicts, source = each_from_its_own(sources)
        else:
            taken = settled_source(sources, parameters.verdicts_from)
            if taken is None:
                wanted = f"there are no verdicts from {parameters.verdicts_from}"
                return [
                    ScoreValue(kind.name, None, wanted if sources else "the claims have no verdicts")
                    for kind in self.values
                ]
            verdicts, source = sources[taken], taken
        given = ragchecker(item, verdicts)
        found = []
        for position, kind in enumerate(self.values):
            value = given[kind.name]
            details = {"verdicts_from": source} if position == 0 else None
            if isinstance(value, str):
                found.append(ScoreValue(kind.name, None, value, details=details))
            else:
                found.append(ScoreValue(kind.name, value, details=details))
        return found


SCORERS.register(RagChecker())


def ragchecker(item: ItemContent, verdicts: Verdicts) -> dict[str, float | str]:
    """All metrics by name; a text is the reason why one is undefined.

    An answer's claim is right if the reference entails it; a reference's claim is recalled if the answer entails it,
    retrieved if any passage entails it. A passage is relevant if it entails any reference claim. A claim is
    supported if any passage entails it. Claims without the verdict that a metric needs are left out of it.
    """
    evidence = _judged_evidence(item, verdicts)
    of_answer = [claim for claim in claims_of(item, "answer") if claim in verdicts.of_reference]
    of_reference = [claim for claim in claims_of(item, "reference") if claim in verdicts.of_answer]
    right = np.array([verdicts.of_reference[claim] == "entailment" for claim in of_answer], dtype=bool)
    recalled = np.array([verdicts.of_answer[claim] == "entailment" for claim in of_reference], dtype=bool)
    found: dict[str, float | str] = {
        "ragchecker_precision": _mean(right, _NO_ANSWER_CLAIMS),
        "ragchecker_recall": _mean(recalled, _NO_GOLD_CLAIMS),
    }
    precision, recall = found["ragchecker_precision"], found["ragchecker_recall"]
    if isinstance(precision, str):
        found["ragchecker_f1"] = precision
    else:
        found["ragchecker_f1"] = recall if isinstance(recall, str) else f_measure(precision, recall)
    return {**found, **_retriever(verdicts, item, evidence), **_generator(verdicts, of_answer, item, evidence, right)}


def _retriever(verdicts: Verdicts, item: ItemContent, evidence: list[str]) -> dict[str, float | str]:
    gold = [claim for claim in claims_of(item, "reference") if claim in verdicts.of_evidence]
    entails = _matrix(verdicts, gold, evidence)
    retrieved = entails.any(axis=1)
    if not evidence or not gold:
        reason = _NO_GOLD_CLAIMS if evidence else _NO_EVIDENCE
        return dict.fromkeys(("retriever_claim_recall", "retriever_context_precision", "context_utilization"), reason)
    used = np.array([verdicts.of_answer.get(claim) == "entailment" for claim in gold])
    return {
        "retriever_claim_recall": _mean(retrieved, _NO_GOLD_CLAIMS),
        "retriever_context_precision": _mean(entails.any(axis=0), _NO_EVIDENCE),
        "context_utilization": _mean(used[retrieved], "no reference claim was retrieved"),
    }


def _generator(
    verdicts: Verdicts, claims: list[str], item: ItemContent, evidence: list[str], right: Flags
) -> dict[str, float | str]:
    names = [kind.name for kind in RagChecker.values[6:]]
    judged = np.array([claim in verdicts.of_evidence for claim in claims], dtype=bool)
    if not evidence or not judged.any():
        return dict.fromkeys(names, _NO_ANSWER_CLAIMS if evidence else _NO_EVIDENCE)
    entails = _matrix(verdicts, [claim for claim, is_judged in zip(claims, judged, strict=True) if is_judged], evidence)
    right = right[judged]
    relevant = _matrix(verdicts, claims_of(item, "reference"), evidence).any(axis=0)
    by_relevant = entails[:, relevant].any(axis=1)
    by_irrelevant = entails[:, ~relevant].any(axis=1) & ~by_relevant
    supported = entails.any(axis=1)
    flags = [by_relevant & ~right, by_irrelevant & ~right, ~supported & ~right, ~supported & right, supported]
    return {name: float(flag.mean()) for name, flag in zip(names, flags, strict=True)}


def _judged_evidence(item: ItemContent, verdicts: Verdicts) -> list[str]:
    seen = {key for of in verdicts.of_evidence.values() for key in of}
    return [unit.key for unit in item.evidence if unit.key in seen]


def _matrix(verdicts: Verdicts, claims: list[str], evidence: list[str]) -> Flags:
    """claims × evidence: which unit entails which claim."""
    rows = [[verdicts.entails(claim, key) for key in evidence] for claim in claims]
    return np.array(rows, dtype=bool).reshape(len(claims), len(evidence))


def _mean(flags: npt.ArrayLike, otherwise: str) -> float | str:
    given = np.asarray(flags, dtype=bool)
    return float(given.mean()) if given.size else otherwise
