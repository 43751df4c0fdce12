"""Agreement on rankings, such as the right order of an answer's images: Kendall's W and Spearman's ρ, within each unit.

Every unit orders things of its own, so that coefficients are found for each unit and averaged over units.
"""

from __future__ import annotations

from functools import partial

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import register
from annotators.agreement.statistics.of_units import MeanOfUnits, of_pairs
from annotators.agreement.tables.patterns import Rows
from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, np


def ranks(label: Label) -> dict[object, float]:
    """The rank of each thing that was ordered, from 1; what is tied shares the mean of its ranks."""
    found: dict[object, float] = {}
    for part in label if isinstance(label, tuple) else ():
        tied = part if isinstance(part, tuple) else (part,)
        found |= dict.fromkeys(tied, len(found) + (len(tied) + 1) / 2)
    return found


def spearman(a: Label, b: Label) -> float:
    """Spearman's ρ of two rankings of the same things (-1..1): Pearson's correlation of their ranks.

    NaN where they do not order the same things, or one of them ties all.
    """
    left, right = ranks(a), ranks(b)
    if left.keys() != right.keys() or not left:
        return np.nan
    x, y = np.array([(left[thing], right[thing]) for thing in left]).T
    x, y = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread > 0 else np.nan


def concordance(rankings: list[Label]) -> float:
    """Kendall's W of m rankings of the same n things (0..1): 12 S / (m² (n³ - n) - m T), S = Σ (R_i - mean)².

    R_i is the sum of the ranks of thing i, T = Σ (t³ - t) over all groups of t tied things of all rankings. NaN where
    they do not order the same things, or all tie all. Kendall & Gibbons (1990), Rank Correlation Methods, chapter 6.
    """
    found = [ranks(ranking) for ranking in rankings]
    m, n = len(found), len(found[0])
    if any(other.keys() != found[0].keys() for other in found):
        return np.nan
    sums = np.array([sum(ranking[thing] for ranking in found) for thing in found[0]])
    tied = [
        len(part) for ranking in rankings if isinstance(ranking, tuple) for part in ranking if isinstance(part, tuple)
    ]
    most = m**2 * (n**3 - n) - m * sum(t**3 - t for t in tied)
    return float(12 * ((sums - sums.mean()) ** 2).sum()) / most if most > 0 else np.nan


def _concordances(ratings: Ratings, rows: Rows) -> FloatArray:
    ends = np.cumsum(rows.lengths)
    given = (rows.code[end - n : end].tolist() for end, n in zip(ends.tolist(), rows.lengths.tolist(), strict=True))
    return np.array([concordance([ratings.labels[code] for code in codes]) for codes in given], dtype=np.float64)


register(
    96,
    MeanOfUnits(
        name="mean_spearman",
        title="mean pairwise Spearman's ρ",
        short="mean ρ",
        needs="rankings",
        headline_of="ranking",
        figure=partial(of_pairs, spearman),
        nowhere=reasons.NOTHING_ORDERED,
    ),
    MeanOfUnits(
        name="kendall_w",
        title="Kendall's W",
        needs="rankings",
        figure=_concordances,
        nowhere=reasons.NOTHING_ORDERED,
    ),
)
