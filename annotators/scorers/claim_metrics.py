"""Claim metrics of MM-RAGChecker: what supports the claims of an answer, and in which modality (MRAG-Suite)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from annotators.items.item import ItemContent, ItemEvidence
from annotators.items.targets import TargetKind
from annotators.scorers.base import SCORERS, LabelledParameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.study_labels import Side
from annotators.scorers.shared.verdicts import (
    VerdictLabels,
    Verdicts,
    by_source,
    claims_of,
    each_from_its_own,
    judging_source,
    settled_source,
    sources_wanted,
)

Modality = Literal["image", "text"]

SAME_SOURCE = "same source: labels and support from the same verdicts make it degenerate"


class ClaimMetricsParameters(LabelledParameters):
    """Which verdicts are taken for what, and what counts as an image."""

    labels_from: str = Field(
        "auto", description="source of the claims' labels L: people, adjudicated, a judge's name, or the first of them"
    )
    support_from: str = Field(
        "auto", description="source of the support s: a judge's name, people, adjudicated, or another than the labels'"
    )
    k: int = Field(5, ge=1, le=1000, description="evidence units a modality that VIS-Hit@k and TXT-MissRate look at")
    divisor: Literal["k", "available"] = Field(
        "k", description="divide by k as equations 12 and 13 do, or by the units there are, when they are fewer"
    )
    pages: Modality = Field("image", description="whether a page counts as an image or as text")
    tables: Modality = Field("text", description="whether a table counts as an image or as text")

    def label_sources(self) -> tuple[str, ...]:
        """Those that the parameters name, else the final labels."""
        return sources_wanted(self.labels_from, self.support_from)


class ClaimMetrics(Scorer[ClaimMetricsParameters]):
    """Equations 1 to 16. What needs two sources is unscored where labels and support come from the same one."""

    name = "claim_metrics"
    version = "1"
    title = "Claim metrics (MM-RAGChecker)"
    summary = (
        "Shares of claims that the evidence entails, contradicts or leaves open, and which modality supports them."
    )
    source = "MRAG-Suite (MM-RAGChecker), section 4, equations 1 to 16; contradiction rate beside them."
    values = (
        ValueKind("hallucination_rate", "Hallucination rate", merit=False),
        ValueKind("faithfulness", "Faithfulness"),
        ValueKind("contradiction_rate", "Contradiction rate", merit=False),
        ValueKind("claim_recall", "Claim recall"),
        ValueKind("context_precision", "Context precision"),
        ValueKind("self_knowledge", "Self-knowledge", merit=False),
        ValueKind("cr_img", "CR, images"),
        ValueKind("cr_txt", "CR, text"),
        ValueKind("cp_img", "CP, images"),
        ValueKind("cp_txt", "CP, text"),
        ValueKind("delta_cr", "ΔCR", "number", low=-1.0, merit=False),
        ValueKind("delta_cp", "ΔCP", "number", low=-1.0, merit=False),
        ValueKind("vis_hit_at_k", "VIS-Hit@k"),
        ValueKind("txt_miss_rate", "TXT-MissRate", merit=False),
        ValueKind("cma", "Cross-modal agreement"),
        ValueKind("v_hr", "V-HR", merit=False),
        ValueKind("d_hr", "D-HR", merit=False),
    )
    needs = frozenset({Part.CLAIMS, Part.EVIDENCE, Part.METADATA})
    labels = VerdictLabels(
        (TargetKind.CLAIM_EVIDENCE, TargetKind.CLAIM_CONTEXT, TargetKind.CLAIM_ANSWER),
        least=(TargetKind.CLAIM_EVIDENCE, TargetKind.CLAIM_CONTEXT),
        sides={
            "L": Side("labels_from", frozenset(TargetKind), "what a claim is"),
            "s": Side("support_from", frozenset({TargetKind.CLAIM_EVIDENCE}), "which unit of evidence supports it"),
        },
    )
    parameters = ClaimMetricsParameters

    def score(self, items: Sequence[ItemContent], parameters: ClaimMetricsParameters) -> list[list[ScoreValue]]:
        """Seventeen values for each item; the first one's details name the sources and what had no verdict."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: ClaimMetricsParameters) -> list[ScoreValue]:
        judged = _judged(item, parameters)
        if isinstance(judged, str):
            return [ScoreValue(kind.name, None, judged) for kind in self.values]
        given = {**judged.core(), **judged.modalities()}
        found = []
        for position, kind in enumerate(self.values):
            value = given[kind.name]
            details = judged.details() if position == 0 else None
            number, reason = (None, value) if isinstance(value, str) else (value, None)
            found.append(ScoreValue(kind.name, number, reason, details=details))
        return found


SCORERS.register(ClaimMetrics())

Given = dict[str, float | str]
"""Values by name; a text is the reason why there is none."""


@dataclass(frozen=True)
class _Judged:
    """An item's claims and evidence with the verdicts of the two sources; `images` and `texts` are the first k."""

    claims: list[str]
    labels: dict[str, str]
    gold: list[str]
    label_verdicts: Verdicts
    labels_from: str
    support: Verdicts
    images: list[str]
    texts: list[str]
    unjudged_evidence: int
    parameters: ClaimMetricsParameters

    @property
    def same_source(self) -> bool:
        return self.label_verdicts.source == self.support.source

    def core(self) -> Given:
        """Equations 1 to 5."""
        entailed = [claim for claim in self.claims if self.labels[claim] == "entailment"]
        evidence = [*self.images, *self.texts]
        used = [key for key in evidence if any(self.support.entails(claim, key) for claim in self.claims)]
        gold = [claim for claim in self.gold if claim in self.label_verdicts.of_answer]
        found = [claim for claim in gold if self.label_verdicts.of_answer[claim] == "entailment"]
        unsupported = [claim for claim in entailed if not self.support.supported_by(claim, evidence)]
        return {
            "hallucination_rate": self._share_labelled("neutral"),
            "faithfulness": self._share_labelled("entailment"),
            "contradiction_rate": self._share_labelled("contradiction"),
            "claim_recall": _ratio(len(found), len(gold), "no claim of a reference has been looked for in the answer"),
            "context_precision": _ratio(len(used), len(evidence), "no evidence has a verdict"),
            "self_knowledge": self._two_sources(_ratio(len(unsupported), len(entailed), "no claim is entailed")),
        }

    def modalities(self) -> Given:
        """Equations 6 to 16."""
        by_image = {claim for claim in self.claims if self.support.supported_by(claim, self.images)}
        by_text = {claim for claim in self.claims if self.support.supported_by(claim, self.texts)}
        entailed = {claim for claim in self.claims if self.labels[claim] == "entailment"}
        others = set(self.claims) - entailed
        either, both = by_image | by_text, by_image & by_text
        none_entailed, none_supported = "no claim is entailed", "no evidence entails a claim"
        all_entailed = "every claim is entailed"
        cr = [_ratio(len(entailed & modality), len(entailed), none_entailed) for modality in (by_image, by_text)]
        cp = [_ratio(len(modality), len(either), none_supported) for modality in (by_image, by_text)]
        return {
            "cr_img": self._two_sources(cr[0]),
            "cr_txt": self._two_sources(cr[1]),
            "cp_img": cp[0],
            "cp_txt": cp[1],
            "delta_cr": self._two_sources(_difference(*cr)),
            "delta_cp": _difference(*cp),
            "vis_hit_at_k": self._hits(self.images, "image"),
            "txt_miss_rate": _complement(self._hits(self.texts, "text")),
            "cma": _ratio(len(both), len(either), none_supported),
            "v_hr": self._two_sources(_ratio(len(others & by_image), len(others), all_entailed)),
            "d_hr": self._two_sources(_ratio(len(others & by_text), len(others), all_entailed)),
        }

    def details(self) -> dict[str, object]:
        """Where the verdicts are from, and what was left out for want of one."""
        return {
            "labels_from": self.labels_from,
            "support_from": self.support.source,
            "claims": len(self.claims),
            "images": len(self.images),
            "texts": len(self.texts),
            "evidence_without_verdict": self.unjudged_evidence,
        }

    def _share_labelled(self, label: str) -> float:
        return sum(self.labels[claim] == label for claim in self.claims) / len(self.claims)

    def _hits(self, keys: list[str], modality: str) -> float | str:
        first = keys[: self.parameters.k]
        if not first:
            return f"no {modality} evidence has a verdict"
        hits = sum(any(self.support.entails(claim, key) for claim in self.claims) for key in first)
        return hits / (self.parameters.k if self.parameters.divisor == "k" else len(first))

    def _two_sources(self, value: float | str) -> float | str:
        return SAME_SOURCE if self.same_source else value


def _judged(item: ItemContent, parameters: ClaimMetricsParameters) -> _Judged | str:
    claims = claims_of(item, "answer")
    if not claims:
        return "the answer has no claims"
    sources = by_source(item)
    if not sources:
        return "the claims have no verdicts"
    labels_from = settled_source(sources, parameters.labels_from)
    support_from = judging_source(sources, parameters.support_from, labels_from)
    if labels_from is None or support_from is None:
        wanted = parameters.labels_from if labels_from is None else parameters.support_from
        return f"there are no verdicts from {wanted}"
    settled, support, said = sources[labels_from], sources[support_from], labels_from
    if parameters.labels_by:
        settled, said = each_from_its_own(sources, labels_from)
        open_claims = [claim for claim in claims if not support.of_evidence.get(claim)]
        if support.of_evidence and open_claims:
            return _left_open(support_from, open_claims, claims)
    labels = {claim: label for claim in claims if (label := settled.label(claim)) is not None}
    if len(labels) < len(claims):
        return _left_open(labels_from, [claim for claim in claims if claim not in labels], claims)
    seen = {key for claim in claims for key in support.of_evidence.get(claim, {})}
    ordered = sorted(item.evidence, key=lambda unit: (unit.rank is None, unit.rank or 0))
    judged = [unit for unit in ordered if unit.key in seen]
    return _Judged(
        claims=claims,
        labels=labels,
        gold=claims_of(item, "reference"),
        label_verdicts=settled,
        labels_from=said,
        support=support,
        images=[unit.key for unit in judged if _modality(unit, parameters) == "image"],
        texts=[unit.key for unit in judged if _modality(unit, parameters) == "text"],
        unjudged_evidence=len(item.evidence) - len(judged),
        parameters=parameters,
    )


def _left_open(source: str, missing: Sequence[str], claims: Sequence[str]) -> str:
    """Why an item is unscored of whose claims a source said nothing, or not all."""
    return f"{source or 'the source'} gave no verdict on {len(missing)} of {len(claims)} claims ({missing[0]} …)"


def _modality(evidence: ItemEvidence, parameters: ClaimMetricsParameters) -> Modality:
    kinds: dict[str, Modality] = {"figure": "image", "page": parameters.pages, "table": parameters.tables}
    return kinds.get(evidence.kind, "text")


def _ratio(part: int, whole: int, otherwise: str) -> float | str:
    return part / whole if whole else otherwise


def _difference(value: float | str, less: float | str) -> float | str:
    if isinstance(value, str):
        return value
    return less if isinstance(less, str) else value - less


def _complement(value: float | str) -> float | str:
    return value if isinstance(value, str) else 1.0 - value
