"""The statistics of agreement by name: which there are, and what each needs. Nothing large is imported for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from annotators.errors import InvalidInput

Needs = Literal["nothing", "order", "numbers", "ratio", "sets", "texts"]
Family = Literal["counts", "conger", "icc", "pairs", "light", "sets", "texts"]


@dataclass(frozen=True)
class Entry:
    """What a statistic is.

    `family` says how it is computed; `needs` what the labels must be; `smallest` how many ratings a unit needs to
    count; `estimated` that it is corrected for a chance agreement that is estimated from the labels, so that it needs
    two units and two labels; `declared` that the declared labels count in it, used or not; `by_label`, `by_pair` that
    it has one entry a label or a pair of raters.
    """

    family: Family
    needs: Needs = "nothing"
    smallest: int = 2
    estimated: bool = True
    declared: bool = False
    by_label: bool = False
    by_pair: bool = False


CATALOGUE: dict[str, Entry] = {
    "percent_agreement": Entry("counts", estimated=False),
    "krippendorff_alpha_nominal": Entry("counts"),
    "krippendorff_alpha_ordinal": Entry("counts", "order"),
    "krippendorff_alpha_interval": Entry("counts", "numbers"),
    "krippendorff_alpha_ratio": Entry("counts", "ratio"),
    "cohen_kappa": Entry("pairs", by_pair=True),
    "cohen_kappa_linear": Entry("pairs", "order", by_pair=True),
    "cohen_kappa_quadratic": Entry("pairs", "order", by_pair=True),
    "cohen_kappa_weighted": Entry("pairs", by_pair=True),
    "light_kappa": Entry("light"),
    "light_kappa_linear": Entry("light", "order"),
    "light_kappa_quadratic": Entry("light", "order"),
    "light_kappa_weighted": Entry("light"),
    "scott_pi": Entry("pairs", by_pair=True),
    "fleiss_kappa": Entry("counts", smallest=1),
    "conger_kappa": Entry("conger", smallest=1),
    "gwet_ac1": Entry("counts", smallest=1, declared=True),
    "gwet_ac2_linear": Entry("counts", "order", smallest=1, declared=True),
    "gwet_ac2_quadratic": Entry("counts", "order", smallest=1, declared=True),
    "gwet_ac2_ordinal": Entry("counts", "order", smallest=1, declared=True),
    "gwet_ac2_weighted": Entry("counts", smallest=1, declared=True),
    "brennan_prediger": Entry("counts", smallest=1, estimated=False, declared=True),
    "brennan_prediger_linear": Entry("counts", "order", smallest=1, estimated=False, declared=True),
    "brennan_prediger_quadratic": Entry("counts", "order", smallest=1, estimated=False, declared=True),
    "brennan_prediger_ordinal": Entry("counts", "order", smallest=1, estimated=False, declared=True),
    "brennan_prediger_weighted": Entry("counts", smallest=1, estimated=False, declared=True),
    "icc_1_1": Entry("icc", "numbers"),
    "icc_a_1": Entry("icc", "numbers"),
    "icc_c_1": Entry("icc", "numbers"),
    "icc_1_k": Entry("icc", "numbers"),
    "icc_a_k": Entry("icc", "numbers"),
    "icc_c_k": Entry("icc", "numbers"),
    "pearson": Entry("pairs", "numbers", by_pair=True),
    "spearman": Entry("pairs", "order", by_pair=True),
    "kendall": Entry("pairs", "order", by_pair=True),
    "specific_agreement": Entry("counts", estimated=False, by_label=True),
    "mean_jaccard": Entry("counts", "sets", estimated=False),
    "krippendorff_alpha_masi": Entry("counts", "sets"),
    "exact_match": Entry("counts", "sets", estimated=False),
    "pairwise_f1": Entry("sets", "sets", estimated=False, by_pair=True),
    "text_identical": Entry("texts", "texts", estimated=False),
    "text_similarity": Entry("texts", "texts", estimated=False),
}
STATISTICS = tuple(CATALOGUE)

TITLES = {
    "percent_agreement": "raw agreement",
    "krippendorff_alpha_nominal": "Krippendorff's α",
    "krippendorff_alpha_ordinal": "Krippendorff's α (ordinal)",
    "krippendorff_alpha_interval": "Krippendorff's α (interval)",
    "krippendorff_alpha_ratio": "Krippendorff's α (ratio)",
    "cohen_kappa": "Cohen's κ",
    "cohen_kappa_linear": "Cohen's κ (linear weights)",
    "cohen_kappa_quadratic": "Cohen's κ (quadratic weights)",
    "cohen_kappa_weighted": "Cohen's κ (own weights)",
    "light_kappa": "Light's κ (mean of Cohen's κ over pairs)",
    "light_kappa_linear": "Light's κ (mean over pairs, linear weights)",
    "light_kappa_quadratic": "Light's κ (mean over pairs, quadratic weights)",
    "light_kappa_weighted": "Light's κ (mean over pairs, own weights)",
    "scott_pi": "Scott's π",
    "fleiss_kappa": "Fleiss' κ",
    "conger_kappa": "Conger's κ",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2_linear": "Gwet's AC2 (linear weights)",
    "gwet_ac2_quadratic": "Gwet's AC2 (quadratic weights)",
    "gwet_ac2_ordinal": "Gwet's AC2 (ordinal weights)",
    "gwet_ac2_weighted": "Gwet's AC2 (own weights)",
    "brennan_prediger": "Brennan-Prediger coefficient",
    "brennan_prediger_linear": "Brennan-Prediger coefficient (linear weights)",
    "brennan_prediger_quadratic": "Brennan-Prediger coefficient (quadratic weights)",
    "brennan_prediger_ordinal": "Brennan-Prediger coefficient (ordinal weights)",
    "brennan_prediger_weighted": "Brennan-Prediger coefficient (own weights)",
    "icc_1_1": "ICC(1,1)",
    "icc_a_1": "ICC(A,1)",
    "icc_c_1": "ICC(C,1)",
    "icc_1_k": "ICC(1,k)",
    "icc_a_k": "ICC(A,k)",
    "icc_c_k": "ICC(C,k)",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "specific_agreement": "specific agreement",
    "mean_jaccard": "mean Jaccard similarity",
    "krippendorff_alpha_masi": "Krippendorff's α (MASI distance)",
    "exact_match": "share of equal sets",
    "pairwise_f1": "F1 between raters",
    "text_identical": "share of identical texts",
    "text_similarity": "mean text similarity",
}


def check_statistics(names: Iterable[str]) -> None:
    """InvalidInput for the first name that no statistic has."""
    unknown = next((name for name in names if name not in CATALOGUE), None)
    if unknown is not None:
        raise InvalidInput(f"statistic {unknown!r} is unknown: use some of {', '.join(STATISTICS)}")
