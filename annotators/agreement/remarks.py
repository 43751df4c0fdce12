"""Agreement in words: the sentence for a paper, what a reader must know beside the figures, and verbal benchmarks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from annotators.agreement.catalogue import headline
from annotators.agreement.statistics.base import LANDIS_KOCH, coefficient_named, title_of
from annotators.agreement.tables.ratings import COMPOSED, Ratings, Scale
from annotators.arrays import np
from annotators.errors import InvalidInput
from annotators.figures import ends, number, percent
from annotators.intervals.remarks import FEW_UNITS, cluster_warning, few_units_warning
from annotators.intervals.result import BOOTSTRAPS, F_TEST, GENERALIZED, TWO_WAY, TWO_WAY_JACKKNIFE, WALD, Statistic

NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"]
HIGH_AGREEMENT = 0.8
LOW_COEFFICIENT = 0.667  # below this even tentative conclusions are unsafe: Krippendorff (2004), Content Analysis
DOMINANT_SHARE = 0.75
CORRECTED = (
    "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal", "fleiss_kappa", "light_kappa", "light_kappa_linear",
    "cohen_kappa", "cohen_kappa_linear",
)  # fmt: skip
BOUNDED = ("gwet_ac1", "gwet_ac2_ordinal")
"""What raw agreement is compared with where one label dominates, the first that was measured: what falls with it, and
what does not."""

SHORT_OF_THE_REST = ((2, "half"), (4, "80 %"), (6, "90 %"))
"""With up to so many units that carry any label but the commonest, 95 % intervals of α and κ covered the truth in about
this share of simulated studies (three raters, two labels, 30 to 200 units); with seven and more they covered as they
say. docs/statistics.md has the figures."""

FEW_RATERS = 5
"""Up to so many raters the two-way bootstrap covers less often than it says: docs/statistics.md has the figures."""

LONG_TAILS = 1.0
"""Excess kurtosis of units' means from which intervals that take them for normal cover less often than they say."""

KAPPA_WORDS = ((0.0, "poor"), (0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
ALPHA_WORDS = ((0.667, "below what tentative conclusions need"), (0.8, "for tentative conclusions"))


def sentence(
    statistics: Sequence[Statistic],
    *,
    scale: Scale = "nominal",
    coefficient: str | None = None,
    criterion: str | None = None,
    units: str = "items",
) -> str:
    """What a paper says about the agreement: who labelled how much, the coefficient, its interval, raw agreement.

    `statistics` come from `measure`. `coefficient` is the one to report (default: α for `scale`), `criterion` is named
    when given, `units` is what the units are called, in the plural. An undefined coefficient gives its reason.

    Raises InvalidInput when the coefficient is not among the statistics.
    """
    name = coefficient or headline(scale)
    chosen = next((statistic for statistic in statistics if statistic.name == name), None)
    if chosen is None:
        there = ", ".join(dict.fromkeys(statistic.name for statistic in statistics)) or "none"
        raise InvalidInput(f"statistic {name!r} was not measured (measured: {there}): measure it first")
    about = f'for "{criterion}", ' if criterion else ""
    if not chosen.n_units:
        words = about + _in_words(chosen, units)
        return f"{words[0].upper()}{words[1:]}."
    n = chosen.n_raters
    who = f"{NUMBERS[n] if n < len(NUMBERS) else f'{n:,}'} annotator{'' if n == 1 else 's'}"
    all_of_them = chosen.n_ratings == n * chosen.n_units
    gave = "labelled" if all_of_them else f"gave {chosen.n_ratings:,} labels to"
    parts = [f"{who} {gave} {_count(chosen.n_units, units)}"]
    if chosen.left_out:
        parts[0] += f" ({chosen.left_out:,} more with a single label left out)"
    parts.append(about + _in_words(chosen, units))
    raw = next((statistic for statistic in statistics if statistic.name == "percent_agreement"), None)
    if raw is not None and raw.value is not None and raw is not chosen:
        parts.append(f"raw agreement {percent(raw.value)}")
    return "; ".join(parts) + "."


def _in_words(statistic: Statistic, units: str) -> str:
    """The coefficient with its interval, or why it is not defined."""
    called = title_of(statistic.name)
    if statistic.raters is not None:
        called += f" of {statistic.raters[0]} and {statistic.raters[1]}"
    if statistic.value is None:
        return f"{called} is not defined: {statistic.reason}"
    words = f"{called} = {number(statistic.value)}"
    made = statistic.interval
    if made is None or made.low is None or made.high is None:
        return f"{words} ({statistic.method})" if statistic.method else words
    if made.kind in BOOTSTRAPS:
        over = units if made.over == "units" else made.over
        how = f"{made.kind}, {made.resamples:,} bootstrap resamples over {over}, seed {made.seed}"
        if made.undefined:
            how += f"; {made.undefined:,} of them undefined"
        if made.note:
            how += f"; {made.note}"
    elif made.kind == "jackknife":
        over = units if made.over == "units" else made.over
        how = f"jackknife over {over}, t with {made.freedom:,.0f} degrees of freedom"
    else:
        how = made.in_words()
    return f"{words}, {100 * made.level:g} % CI{ends(made.low, made.high)} ({how})"


def _count(n: int, units: str) -> str:
    return f"{n:,} {units.removesuffix('s') if n == 1 else units}"


# Warnings -------------------------------------------------------------------------------------------------------------


def warnings_about(
    ratings: Ratings,
    statistics: Sequence[Statistic],
    clusters: Mapping[Hashable, Hashable] | None = None,
    over: str = "questions",
) -> list[str]:
    """Everything that limits what the figures say, in words: prevalence, small samples, undefined resamples.

    `clusters` has the cluster of each unit where clusters are resampled, and `over` is what they are called.
    """
    found = [_numbers_as_names(ratings), prevalence_warning(ratings, statistics), small_sample_warning(ratings)]
    if clusters is not None:
        counting = np.flatnonzero(ratings.sizes >= 2)
        found.append(cluster_warning(len({clusters[ratings.units[place]] for place in counting.tolist()}), over))
    found.append(_few_raters(ratings, statistics))
    found.append(_far_from_normal(ratings, statistics))
    undefined = [
        statistic
        for statistic in statistics
        if statistic.interval is not None
        and statistic.value is not None
        and 20 * statistic.interval.undefined > statistic.interval.resamples
    ]
    if undefined:
        worst = max(undefined, key=lambda statistic: statistic.interval.undefined if statistic.interval else 0)
        assert worst.interval is not None
        share = worst.interval.undefined / worst.interval.resamples
        names = ", ".join(dict.fromkeys(title_of(statistic.name) for statistic in undefined))
        found.append(
            f"In up to {percent(share, 0)} of the resamples {names} could not be computed; the intervals rest on the "
            "others and are too narrow."
        )
    return [words for words in found if words]


def _numbers_as_names(ratings: Ratings) -> str | None:
    """That labels which are numbers count as names: 2 is then as far from 1 as 5 is."""
    numbers = [label for label in ratings.labels if isinstance(label, int | float) and not isinstance(label, bool)]
    if ratings.scale != "nominal" or len(numbers) < max(3, len(ratings.labels)):
        return None
    return (
        f"The labels are numbers ({min(numbers):g} to {max(numbers):g}), but count as names without an order. If they "
        "are grades, say so: the scale ordinal or interval (--scale)."
    )


def added_where_disputed(n: int) -> str:
    """That labels which were asked for because people disagreed do not count for agreement.

    They are of contested units alone: a unit on which two of two disagreed becomes one on which two of three agree.
    """
    were = "annotation was" if n == 1 else "annotations were"
    return (
        f"{n:,} more {were} asked for because people disagreed. Agreement is measured without them: they are of "
        "contested items alone, and with them people would seem to agree more than they do."
    )


def small_sample_warning(ratings: Ratings) -> str | None:
    """That intervals are known to fall short here, or None.

    It is said below 30 units with two ratings, and when at most six of them carry any label but the commonest one: see
    `SHORT_OF_THE_REST`.
    """
    units = int((ratings.sizes >= 2).sum())
    rare = _rare(ratings)
    if rare is None:
        return _few_units(units) if 0 < units < FEW_UNITS else None
    commonest, others, covered = rare
    what = "No unit carries" if not others else f"Only {others} unit{'s carry' if others > 1 else ' carries'}"
    return (
        f'{what} any label other than "{commonest}": with so few, 95 % intervals of α and κ '
        f"covered the truth in only about {covered} of simulated studies."
    )


def _rare(ratings: Ratings) -> tuple[Any, int, str] | None:
    """The commonest label, how many units carry another one, and in how many studies so few do: None with more.

    None also where labels are numbers or composed, or every unit carries another one.
    """
    if ratings.scale in COMPOSED or ratings.scale in ("interval", "ratio"):
        return None
    counting = ratings.counting(2)
    shares = np.bincount(ratings.code[counting], minlength=len(ratings.labels))
    units = int((ratings.sizes >= 2).sum())
    if not units:
        return None
    commonest = int(shares.argmax())
    others = len(np.unique(ratings.unit[counting & (ratings.code != commonest)]))
    covered = next((share for most, share in SHORT_OF_THE_REST if others <= most), None)
    return (ratings.labels[commonest], others, covered) if covered and others < units else None


def _few_raters(ratings: Ratings, statistics: Sequence[Statistic]) -> str | None:
    n = len(ratings.raters)
    two_way = any(
        statistic.interval is not None
        and statistic.interval.low is not None
        and statistic.interval.kind in (TWO_WAY, TWO_WAY_JACKKNIFE)
        for statistic in statistics
    )
    if n > FEW_RATERS or not two_way:
        return None
    return (
        f"Only {n} raters: 95 % intervals about raters like these covered the truth in about 88 % of simulated studies "
        "with three to five."
    )


def _far_from_normal(ratings: Ratings, statistics: Sequence[Statistic]) -> str | None:
    """That intervals of an ICC that take numbers for normal fall short, or None.

    It is said when the excess kurtosis of the units' means is above 1 and above twice its standard error, √(24 / n).
    """
    taken = [
        title_of(statistic.name)
        for statistic in statistics
        if statistic.name.startswith("icc_")
        and statistic.low is not None
        and statistic.interval is not None
        and statistic.interval.kind in (F_TEST, WALD, GENERALIZED)
    ]
    there = ratings.sizes >= 2
    if not taken or not there.any():
        return None
    sums = np.bincount(ratings.unit, weights=ratings.numbers[ratings.code], minlength=len(ratings.units))
    means = sums[there] / ratings.sizes[there]
    squares = (means - means.mean()) ** 2
    if squares.max() <= 0:
        return None
    kurtosis = float((squares**2).mean() / squares.mean() ** 2 - 3)
    if kurtosis <= max(LONG_TAILS, 2 * (24 / len(means)) ** 0.5):
        return None
    return (
        f"A few units lie far from the others (excess kurtosis of their means: {number(kurtosis)}): the intervals of "
        f"{', '.join(dict.fromkeys(taken))} take units for normally distributed, and 95 % intervals covered the truth "
        "in about 80 % of simulated studies of this kind. The jackknife's, beside or by --interval, covers better."
    )


def _few_units(units: int) -> str:
    return few_units_warning(units, "was rated twice or more", "were rated twice or more")


def prevalence_warning(ratings: Ratings, statistics: Sequence[Statistic]) -> str | None:
    """The prevalence problem in words, or None: raw agreement high, κ or α low, because one label dominates.

    It is said when raw agreement is 80 % or more, the coefficient (α, else Fleiss', Light's or Cohen's κ) below .667,
    and one label has three quarters of the ratings or more. Feinstein & Cicchetti (1990), Journal of Clinical
    Epidemiology 43, 543-549.
    """
    values = {statistic.name: statistic.value for statistic in reversed(statistics) if statistic.label is None}
    raw = values.get("percent_agreement")
    name = next((name for name in CORRECTED if values.get(name) is not None), None)
    if raw is None or name is None:
        return None
    value, shares = values[name], ratings.label_shares()
    label = max(shares, key=lambda label: shares[label])
    if value is None or raw < HIGH_AGREEMENT or value >= LOW_COEFFICIENT or shares[label] < DOMINANT_SHARE:
        return None
    others = [
        f'on "{statistic.label}" ({percent(statistic.value, 0)})'
        for statistic in statistics
        if statistic.name == "specific_agreement" and statistic.label != label and statistic.value is not None
    ]
    beside = f" Read it beside the specific agreement {', '.join(others)}." if others else ""
    gwet = next((name for name in BOUNDED if values.get(name) is not None), None)
    other = f"; {title_of(gwet)} is {number(values[gwet] or 0.0)}" if gwet else ""
    return (
        f'{percent(shares[label], 0)} of the labels are "{label}", so chance agreement is high and '
        f"{title_of(name)} is low ({number(value)}) although raw agreement is {percent(raw)}{other}.{beside}"
    )


# Verbal benchmarks ----------------------------------------------------------------------------------------------------


def benchmarks(statistic: Statistic, ratings: Ratings | None = None) -> list[str]:
    """What authors call such a value, for the value and both ends of its interval; nothing without an interval.

    Nor where so few units of these `ratings` carry any label but the commonest that intervals are known to fall short.

    Landis & Koch (1977), Biometrics 33, 159-174, for κ and π; Krippendorff (2004), Content Analysis, chapter 11, for α.
    The cuts are conventions, not tests: show them only beside the interval. None for other statistics.
    """
    if statistic.value is None or statistic.low is None or statistic.high is None:
        return []
    if ratings is not None and _rare(ratings) is not None:
        return []
    values = (statistic.value, statistic.low, statistic.high)
    source = coefficient_named(statistic.name).benchmark
    if source is None:
        return []
    word = _landis_koch if source == LANDIS_KOCH else _krippendorff
    return [_spoken([word(value) for value in values], source)]


def _landis_koch(value: float) -> str:
    if value < 0:
        return "poor"
    return next((word for top, word in KAPPA_WORDS[1:] if value <= top), "almost perfect")


def _krippendorff(value: float) -> str:
    return next((word for top, word in ALPHA_WORDS if value < top), "reliable")


def _spoken(words: list[str], source: str) -> str:
    value, low, high = words
    reach = f"the whole interval is {value}" if low == high else f"the interval reaches from {low} to {high}"
    return f"{value} ({source}); {reach}"
