"""A study's own agreement weights: how far each label agrees with each other one, from 0 (not at all) to 1 (fully)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotators.agreement.tables.distances import Distance, TableDistance
from annotators.agreement.tables.ratings import Label
from annotators.arrays import FloatArray, IntArray, np
from annotators.errors import InvalidInput


@dataclass(frozen=True)
class OwnWeights:
    """A row and a column for each label; `labels` None: the rows are in the order of the declared labels."""

    rows: tuple[tuple[float, ...], ...]
    labels: tuple[Label, ...] | None = None

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]], labels: Sequence[Label] | None = None) -> OwnWeights:
        """Check the weights; InvalidInput names the first cell that is wrong.

        There are as many columns as rows, 1 on the diagonal, 0 to 1 elsewhere, and the same on either side of the
        diagonal: Cohen (1968) does not ask for that, but then κ would depend on which rater is called the first.
        """
        table = tuple(tuple(float(weight) for weight in row) for row in rows)
        if any(len(row) != len(table) for row in table):
            columns = ", ".join(map(str, sorted({len(row) for row in table})))
            raise InvalidInput(f"weights have {len(table)} rows of {columns} columns: give one of each for each label")
        names = [repr(str(label)) for label in labels] if labels else [str(place + 1) for place in range(len(table))]
        for i, row in enumerate(table):
            for j, weight in enumerate(row):
                cell = f"weight {weight:g} in row {names[i]}, column {names[j]}"
                if i == j and weight != 1:
                    raise InvalidInput(f"{cell} stands on the diagonal: the same label agrees fully, so write 1")
                if not 0 <= weight <= 1:
                    raise InvalidInput(f"{cell} is not between 0 (no agreement) and 1 (full agreement)")
                if weight != table[j][i]:
                    raise InvalidInput(f"{cell} is {table[j][i]:g} the other way round: write the same in both cells")
        return cls(table, None if labels is None else tuple(labels))

    def lacks(self, labels: Iterable[Label]) -> list[Label]:
        """Those of these labels for which there is no row; none when the rows have no labels."""
        if self.labels is None:
            return []
        known = set(map(_key, self.labels))
        return [label for label in labels if _key(label) not in known]

    def distance(self, labels: Sequence[Label], codes: IntArray | None = None) -> Distance:
        """1 - weight of each pair of these labels (or of those with these codes); InvalidInput for one without."""
        table = 1 - self._of_labels(labels)
        return TableDistance(table if codes is None else table[np.ix_(codes, codes)])

    def _of_labels(self, labels: Sequence[Label]) -> FloatArray:
        if self.labels is None:
            if len(self.rows) != len(labels):
                raise InvalidInput(
                    f"weights have {len(self.rows)} rows for {len(labels)} labels: give one a declared label"
                )
            return np.array(self.rows, dtype=np.float64)
        if missing := self.lacks(labels):
            there = ", ".join(map(str, self.labels))
            raise InvalidInput(f"the weights have no row for the label {str(missing[0])!r}. They have: {there}.")
        place = {_key(label): number for number, label in enumerate(self.labels)}
        chosen = [place[_key(label)] for label in labels]
        return np.array(self.rows, dtype=np.float64)[np.ix_(chosen, chosen)]


def _key(label: Label) -> float | str:
    """A label by its number if it is one, so that 1, 1.0 and "1" are the same."""
    try:
        return float(str(label))
    except ValueError:
        return str(label)
