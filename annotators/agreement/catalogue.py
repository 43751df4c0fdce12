"""Which statistics of agreement a scale reports: by default, when all are asked for, and in one figure."""

from __future__ import annotations

from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.tables.ratings import COMPOSED, Ratings, Scale

MOST_LABELS = 20  # specific agreement is reported by default up to so many labels
MOST_RATERS = 10  # statistics of each pair, and their means, are made unasked up to so many raters (45 pairs)


def headline(scale: Scale) -> str:
    """The name of the coefficient that stands for agreement on this scale: Krippendorff's α for it, if there is one."""
    return next(coefficient.name for coefficient in all_coefficients() if coefficient.headline_of == scale)


def default_statistics(ratings: Ratings, *, own_weights: bool = False) -> tuple[str, ...]:
    """The names of the statistics that are reported for this scale when nothing else is asked for, in their order.

    With own weights, weighted κ is one of them.
    """
    if ratings.scale == "set":
        return ("mean_jaccard", "krippendorff_alpha_masi", "exact_match", "pairwise_f1")
    if ratings.scale == "ranking":
        return ("percent_agreement", "mean_spearman", "kendall_w")
    if ratings.scale == "spans":
        return (
            "percent_agreement",
            "krippendorff_alpha_unitizing",
            "krippendorff_alpha_unitizing_binary",
            "pairwise_f1_characters",
            "pairwise_f1_boundaries",
        )
    if ratings.scale == "text":
        return ("text_identical", "text_similarity")
    alpha = headline(ratings.scale)
    pairs, several = len(ratings.raters) <= MOST_RATERS, 2 < len(ratings.raters) <= MOST_RATERS
    specific = ("specific_agreement",) if len(ratings.labels) <= MOST_LABELS else ()
    own = ("cohen_kappa_weighted",) * pairs + ("light_kappa_weighted",) * several if own_weights else ()
    if ratings.scale == "nominal":
        cohen: tuple[str, ...] = ("cohen_kappa",) if pairs else ()
        light: tuple[str, ...] = ("light_kappa",) if several else ()
        return ("percent_agreement", alpha, *cohen, *light, *own, "fleiss_kappa", "gwet_ac1", *specific)
    if ratings.scale == "ordinal":
        cohen = ("cohen_kappa_linear", "cohen_kappa_quadratic") if pairs else ()
        light = ("light_kappa_linear", "light_kappa_quadratic") if several else ()
        return ("percent_agreement", alpha, *cohen, *light, *own, "gwet_ac2_ordinal", *specific)
    return ("percent_agreement", alpha, *own, "icc_1_1", "icc_a_1", "icc_a_k", *specific)


def all_statistics(ratings: Ratings, *, own_weights: bool = False) -> tuple[str, ...]:
    """Every name that can be measured on labels of this kind; those of own weights only when there are some."""
    if ratings.scale in COMPOSED:
        return default_statistics(ratings)
    return tuple(
        coefficient.name
        for coefficient in all_coefficients()
        if coefficient.needs not in ("sets", "rankings", "spans", "texts")
        and (own_weights or not coefficient.own_weights)
    )
