"""Agreement in words: the sentence to paste into a paper, and the warning that one label dominates."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.agreement.catalogue import headline
from annotators.agreement.result import BOOTSTRAPS, Statistic
from annotators.agreement.table import Ratings, Scale
from annotators.coefficient_names import TITLES
from annotators.errors import InvalidInput

NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"]
HIGH_AGREEMENT = 0.8
LOW_COEFFICIENT = 0.667  # below this even tentative conclusions are unsafe: Krippendorff (2004), Content Analysis
DOMINANT_SHARE = 0.75


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
    parts = [f"{who} labelled {_count(chosen.n_units, units)}"]
    if chosen.left_out:
        parts[0] += f" ({chosen.left_out:,} more with a single label left out)"
    parts.append(about + _in_words(chosen, units))
    raw = next((statistic for statistic in statistics if statistic.name == "percent_agreement"), None)
    if raw is not None and raw.value is not None and raw is not chosen:
        parts.append(f"raw agreement {percent(raw.value)}")
    return "; ".join(parts) + "."


def prevalence_warning(ratings: Ratings, statistics: Sequence[Statistic]) -> str | None:
    """The prevalence problem in words, or None: raw agreement high, κ or α low, because one label dominates.

    It is said when raw agreement is 80 % or more, the coefficient (α, else Fleiss', Light's or Cohen's κ) below .667,
    and one label has three quarters of the ratings or more. Feinstein & Cicchetti (1990), Journal of Clinical
    Epidemiology 43, 543-549.
    """
    values = {statistic.name: statistic.value for statistic in reversed(statistics) if statistic.label is None}
    raw = values.get("percent_agreement")
    corrected = [f"krippendorff_alpha_{scale}" for scale in ("nominal", "ordinal")]
    corrected += [
        f"{kappa}{end}" for kappa in ("fleiss_kappa", "light_kappa", "cohen_kappa") for end in ("", "_linear")
    ]
    name = next((name for name in corrected if values.get(name) is not None), None)
    if raw is None or name is None:
        return None
    value, shares = values[name], ratings.label_shares()
    label = max(shares, key=lambda one: shares[one])
    if value is None or raw < HIGH_AGREEMENT or value >= LOW_COEFFICIENT or shares[label] < DOMINANT_SHARE:
        return None
    others = [
        f'on "{statistic.label}" ({percent(statistic.value, 0)})'
        for statistic in statistics
        if statistic.name == "specific_agreement" and statistic.label != label and statistic.value is not None
    ]
    beside = f" Read it beside the specific agreement {', '.join(others)}." if others else ""
    gwet = next((one for one in ("gwet_ac1", "gwet_ac2_ordinal") if values.get(one) is not None), None)
    other = f"; {TITLES[gwet]} is {_number(values[gwet] or 0.0)}" if gwet else ""
    return (
        f'{percent(shares[label], 0)} of the labels are "{label}", so chance agreement is high and '
        f"{TITLES[name]} is low ({_number(value)}) although raw agreement is {percent(raw)}{other}.{beside}"
    )


def _in_words(statistic: Statistic, units: str) -> str:
    """The coefficient with its interval, or why it is not defined."""
    title = TITLES[statistic.name]
    if statistic.raters is not None:
        title += f" of {statistic.raters[0]} and {statistic.raters[1]}"
    if statistic.value is None:
        return f"{title} is not defined: {statistic.reason}"
    words = f"{title} = {_number(statistic.value)}"
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
    else:
        how = made.in_words()
    return f"{words}, {100 * made.level:g} % CI [{_number(made.low)}, {_number(made.high)}] ({how})"


def _count(n: int, units: str) -> str:
    return f"{n:,} {units.removesuffix('s') if n == 1 else units}"


def _number(value: float) -> str:
    """Two decimals, with a true minus sign, and no minus before 0.00."""
    rounded = f"{value:.2f}"
    return "0.00" if rounded == "-0.00" else rounded.replace("-", "−")


def percent(share: float | None, decimals: int = 1) -> str:
    """A share as a percentage, such as "81.8 %"."""
    return f"{100 * (share or 0.0):.{decimals}f} %"
