"""Which units of a table were drawn together, by one rule for every figure of a table.

Units of one question (answers of several systems, parts of one item) are not independent, so that whole questions are
resampled. A table may say so in two columns: then the coarser one is taken, since it holds the other's units together
as well, and what was taken is said.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

BROADER = ("document", "conversation", "session")
"""Columns that hold several questions together: never taken unless they are named, but said."""


@dataclass(frozen=True)
class Together:
    """The column whose units are resampled together; `others` are columns by which they could be as well."""

    column: str
    others: tuple[str, ...] = ()

    def in_words(self, option: str) -> str:
        """What is resampled, and which option says otherwise, such as `--cluster`."""
        words = f"What has the same {self.column} counts as one cluster"
        if not self.others:
            return f"{words}; {option} names another column."
        also = " and ".join(self.others)
        return f"{words}. It could also be {also}: {option} names the column."


def drawn_together(
    columns: Mapping[str, Sequence[Hashable]],
    units: Sequence[Hashable],
    broader: Mapping[str, Sequence[Hashable]] | None = None,
) -> Together | None:
    """The column by which units belong together, or None where each stands alone.

    `columns` are those that may say it, each with an entry a row, and `units` has the unit of each row. A column says
    it if some entry has several units (None and "" stand alone). Of several the one with the fewest entries is taken,
    and of equals the first. `broader` are columns that are never taken but named among the others.
    """
    said = {name: count for name, column in columns.items() if (count := _groups(column, units))}
    if not said:
        return None
    taken = min(said, key=lambda name: said[name])
    beside = [name for name in said if name != taken and said[name] != said[taken]]
    beside += [name for name, column in (broader or {}).items() if _groups(column, units)]
    return Together(taken, tuple(beside))


def _groups(column: Sequence[Hashable], units: Sequence[Hashable]) -> int:
    """How many groups of units a column makes, 0 where no group has several."""
    pairs = {(group, unit) for group, unit in zip(column, units, strict=True) if group is not None and group != ""}
    groups = len({group for group, _ in pairs})
    alone = len(set(units)) - len({unit for _, unit in pairs})
    return groups + alone if groups < len(pairs) else 0
