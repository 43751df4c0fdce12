"""What the κ of pairs of raters needs of each kind of unit, so that a resample is a weighted sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotators.agreement.tables.distances import Distance, Matrix
from annotators.agreement.tables.patterns import Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, IntArray, np, sparse

Incidences = Iterable[tuple[IntArray, IntArray, IntArray, IntArray]]
DENSE_CELLS = 16_000_000  # a matrix of up to 128 MB is kept dense when it is not mostly empty
INCIDENCES = 200_000  # so many pairs of ratings are quick to sum as a sparse matrix, too
BLOCKS = 1_000


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums for J pairs of raters over P patterns of units.

    `multiplicity` (P) is how many units show the pattern. `shared` and `agreed` (P × J) count the units that both
    raters of a pair rated, and rated alike. `left` and `right` (P × C) count, for each pair and label, the use of the
    label by the one and by the other, on shared units; the columns of a pair stand together, from `starts` on, and
    `owner` says whose they are. With a `distance`, `agreed` sums the distances of the two labels instead, and the
    columns are complete: J × K. `of_unit` (U) is the pattern of each unit of the table of ratings (-1: none), and
    `blocked` says that a pattern is a block of units, or of clusters of them, instead of one kind of unit.
    """

    multiplicity: IntArray
    shared: Matrix
    agreed: Matrix
    left: Matrix
    right: Matrix
    starts: IntArray
    owner: IntArray
    of_unit: IntArray
    blocked: bool = False
    distance: Distance | None = None

    @property
    def width(self) -> int:
        """The length of the longest array that one resample needs."""
        return max(int(self.left.shape[1]), int(self.shared.shape[1]))

    @classmethod
    def of_ratings(
        cls,
        ratings: Ratings,
        pairs: IntArray,
        seed: int,
        *,
        distance: Distance | None = None,
        clusters: IntArray | None = None,
        blocks: bool = True,
    ) -> PairSums:
        """Many pairs of raters at once: a pattern is a kind of unit or, with many raters and units, a block of units.

        The 1,000 blocks are formed at random. Units being a random sample, so are blocks of units, and resampling
        blocks gives the same interval but for the error of estimating a spread from 1,000 values (2 %).
        `pairs` are the wanted pairs as a * n_raters + b with a < b, sorted. `clusters` (U) keeps the units of a cluster
        in one block; without `blocks` there are none, whatever the size.
        """
        rows = Rows.of(ratings)
        small = len(rows.lengths) * len(pairs) * rows.n_labels <= DENSE_CELLS or rows.n_pairs <= INCIDENCES
        blocked = blocks and not small and len(rows.lengths) > BLOCKS
        multiplicity, of_unit = rows.multiplicity, rows.of_unit
        block = np.arange(len(multiplicity))
        if blocked:
            rows = Rows.of(ratings, grouped=False)
            random = np.random.default_rng([seed, 2])
            counting = rows.of_unit >= 0
            if clusters is None:
                block = random.permutation(len(rows.lengths)) % BLOCKS
            else:
                block = random.permutation(int(clusters.max()) + 1)[clusters[counting]] % BLOCKS
                block = np.unique(block, return_inverse=True)[1]
            multiplicity = np.ones(int(block.max()) + 1, dtype=np.int64)
            of_unit = np.full(len(rows.of_unit), -1, dtype=np.int64)
            of_unit[counting] = block
        wanted = (
            (block[pattern[use]], np.searchsorted(pairs, pair[use]), a[use], b[use])
            for pattern, pair, a, b in rows.incidences()
            for use in [np.flatnonzero(np.isin(pair, pairs))]
        )
        return _summed(
            multiplicity,
            wanted,
            (len(pairs), rows.n_labels),
            n_entries=rows.n_pairs,
            of_unit=of_unit,
            blocked=blocked,
            distance=distance,
        )


def _summed(
    multiplicity: IntArray,
    incidences: Incidences,
    size: tuple[int, int],
    *,
    n_entries: int,
    of_unit: IntArray,
    blocked: bool = False,
    distance: Distance | None = None,
) -> PairSums:
    """Add the incidences (pattern, pair, code, code) up into dense or sparse matrices, whichever is smaller.

    `size` is how many pairs and labels there are.
    """
    n_pairs, n_labels = size
    p, columns = len(multiplicity), n_pairs * n_labels
    if p * columns <= DENSE_CELLS and 20 * n_entries >= p * n_pairs:
        shared, agreed, left, right = (np.zeros((p, width)) for width in (n_pairs, n_pairs, columns, columns))
        for row, pair, a, b in incidences:
            alike = (a == b).astype(np.float64) if distance is None else distance.between(a, b)
            for matrix, at, amount in (
                (shared, row * n_pairs + pair, 1.0),
                (agreed, row * n_pairs + pair, alike),
                (left, row * columns + pair * n_labels + a, 1.0),
                (right, row * columns + pair * n_labels + b, 1.0),
            ):
                np.add.at(matrix.reshape(-1), at, amount)
        owner = np.arange(n_pairs)
        starts = owner * n_labels
        return PairSums(multiplicity, shared, agreed, left, right, starts, owner, of_unit, blocked, distance)
    row, pair, a, b = (np.concatenate(parts) for parts in zip(*incidences, strict=True))
    used_left, used_right = pair * n_labels + a, pair * n_labels + b
    alike = (a == b).astype(np.float64) if distance is None else distance.between(a, b)
    # A label that only one of the two used adds nothing to chance, unless it is near one that the other used.
    used = np.intersect1d(used_left, used_right) if distance is None else np.arange(columns)
    owner, starts = np.unique(used // n_labels, return_index=True)

    def use_of_labels(at: IntArray) -> sparse.csr_array:
        kept = np.isin(at, used)
        return _sparse(row[kept], np.searchsorted(used, at[kept]), (p, len(used)))

    return PairSums(
        multiplicity,
        _sparse(row, pair, (p, n_pairs)),
        _sparse(row, pair, (p, n_pairs), alike),
        use_of_labels(used_left),
        use_of_labels(used_right),
        starts,
        owner,
        of_unit,
        blocked,
        distance,
    )


def _sparse(
    row: IntArray, column: IntArray, shape: tuple[int, int], amount: FloatArray | None = None
) -> sparse.csr_array:
    """The matrix that counts how often (row, column) occurs, or sums the amounts that are given for it."""
    return sparse.csr_array((np.ones(len(row)) if amount is None else amount, (row, column)), shape=shape)
