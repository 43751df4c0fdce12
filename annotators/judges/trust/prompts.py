"""How much hangs on the prompt: several prompts on the same units, their spread, and the best one of each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.alignment.tables.labels import first_seen
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray, np, ratio
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampled, Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.judges.trust.base import Clusters, declare, numbered

RIGHT = declare("prompt_right", "Agreement with people by a prompt", "a resample has none of these units")
SPREAD = declare("prompt_spread", "Spread of prompts: best less worst")
GAP = declare("prompt_gap", "Agreement by a prompt: first mode less second", "a resample lacks one of the two modes")

Modes = tuple[str, str]


@dataclass(frozen=True)
class PromptCell:
    """What a prompt is worth on a data set (None: on all): its figure, and how often (0..1) it is the best one.

    `best` marks the highest figure of the data set; `best_in` is the share of resamples in which it was the highest
    (ties are shared out), which says how sure that is.
    """

    prompt: str
    data_set: str | None
    right: Aligned
    best: bool
    best_in: float | None

    def to_json(self) -> dict[str, Any]:
        """The cell for JSON."""
        return {
            "prompt": self.prompt,
            "data_set": self.data_set,
            "value": self.right.value,
            "low": self.right.low,
            "high": self.right.high,
            "n": self.right.n,
            "best": self.best,
            "best_in": self.best_in,
        }


@dataclass(frozen=True)
class PromptTable:
    """All prompts on the same units: the cells, the spread of each data set, and the gap of each prompt on each.

    `gaps` has data set (None: all) → prompt → its gap, without any where there are no modes. `smallest_gaps` names, for
    each data set, the prompt whose figure depends least on the mode.
    """

    cells: tuple[PromptCell, ...]
    spread: tuple[Aligned, ...]
    gaps: Mapping[str | None, Mapping[str, Aligned]]

    @property
    def prompts(self) -> list[str]:
        """The prompts, in the order in which they were given."""
        return list(dict.fromkeys(cell.prompt for cell in self.cells))

    @property
    def data_sets(self) -> list[str | None]:
        """All units (None), and then the data sets."""
        return list(dict.fromkeys(cell.data_set for cell in self.cells))

    @property
    def smallest_gaps(self) -> dict[str | None, str]:
        """Data set (None: all) → the prompt that distractors move least, where any gap is known."""
        known = {
            data_set: {prompt: abs(gap.value) for prompt, gap in gaps.items() if gap.value is not None}
            for data_set, gaps in self.gaps.items()
        }
        return {data_set: min(gaps, key=gaps.__getitem__) for data_set, gaps in known.items() if gaps}

    @property
    def smallest_gap(self) -> str | None:
        """The prompt that distractors move least on all units; None without modes."""
        return self.smallest_gaps.get(None)

    def best(self, data_set: str | None) -> list[PromptCell]:
        """The prompts with the highest figure on a data set: one, or several that tie."""
        return [cell for cell in self.cells if cell.data_set == data_set and cell.best]

    @property
    def statistics(self) -> list[Aligned]:
        """All figures of it."""
        gaps = [gap for of_set in self.gaps.values() for gap in of_set.values()]
        return [*self.spread, *(cell.right for cell in self.cells), *gaps]


def prompt_table(
    errors: Mapping[str, Mapping[Any, float]],
    asked: Resampling | None = None,
    *,
    clusters: Clusters | None = None,
    data_sets: Mapping[Any, str] | None = None,
    modes: Mapping[Any, str] | None = None,
    compared: Modes | None = None,
    **about: Any,
) -> PromptTable:
    """How often each prompt agrees with people, on the units that all prompts have; `errors` is prompt → unit → 0..1.

    `prompt_right` (`group`: the prompt, or `DATA SET: PROMPT`) is 1 less the mean error. `prompt_spread` is the highest
    figure less the lowest: its interval is that of the largest of all differences between two prompts, from differences
    that hold together (the same reach for all of them, the quantile of the largest deviation: Romano & Wolf 2005,
    Journal of the American Statistical Association 100, 94-108), so that having looked for the best and the worst is
    paid for; it never leaves 0..1. `data_sets` is unit → data set. With `modes` (unit → how the evidence was retrieved)
    and the two that are `compared`, `prompt_gap` (`group` as of `prompt_right`) is a prompt's figure in the first less
    that in the second: the prompt with the smallest |gap| is the one that distractors move least. Raises InvalidInput
    for fewer than two prompts.
    """
    prompts = list(errors)
    if len(prompts) < 2:
        raise InvalidInput(f"{len(prompts)} prompt to compare: give two or more")
    shared = set.intersection(*(set(given) for given in errors.values()))
    units = sorted(shared, key=str)
    right = np.array([[1 - errors[prompt][unit] for unit in units] for prompt in prompts], dtype=np.float64)
    table = _Table(prompts, units, right, numbered(units, clusters), asked or Resampling(), about)
    given = data_sets or {}
    sets = [None, *sorted({given[unit] for unit in units if unit in given})]
    made = [table.of_set(name, [name is None or given.get(unit) == name for unit in units]) for name in sets]
    gaps: dict[str | None, dict[str, Aligned]] = {}
    if modes is not None and compared is not None:
        for name in sets:
            members = [name is None or given.get(unit) == name for unit in units]
            gaps[name] = dict(zip(prompts, table.gaps(name, members, modes, compared), strict=True))
    return PromptTable(tuple(cell for cells, _ in made for cell in cells), tuple(spread for _, spread in made), gaps)


@dataclass(frozen=True, eq=False)
class _Table:
    """How right each prompt is on each unit (P × n), and how figures of it are made."""

    prompts: Sequence[str]
    units: Sequence[Any]
    right: FloatArray
    cluster: IntArray
    asked: Resampling
    about: dict[str, Any]

    def of_set(self, data_set: str | None, members: Sequence[bool]) -> tuple[list[PromptCell], Aligned]:
        """The cells of one data set, and their spread."""
        here = np.flatnonzero(np.array(members, dtype=bool))
        n = len(here)
        spread = SPREAD.about(n, **{**self.about, "group": data_set})
        entries = [
            RIGHT.about(n, **{**self.about, "group": _of(prompt, data_set), "by": "prompt"}) for prompt in self.prompts
        ]
        if not n:
            why = "no unit has a label by every prompt and one of people"
            empty = zip(self.prompts, entries, strict=True)
            return [
                PromptCell(name, data_set, entry.undefined(why), False, None) for name, entry in empty
            ], spread.undefined(why)
        sample = DrawnRows.of(list(self.right[:, here]), first_seen(self.cluster[here]))
        columns = sample.columns.T
        found = sample.resampled(lambda weights: (columns @ weights) / weights.sum(axis=0), self.asked)
        best_in, highest = _best_in(found), float(found.values.max())
        cells = [
            PromptCell(
                prompt,
                data_set,
                RIGHT.measured(entry, found, place, self.asked),
                best=float(found.values[place]) >= highest,
                best_in=None if best_in is None else float(best_in[place]),
            )
            for place, (prompt, entry) in enumerate(zip(self.prompts, entries, strict=True))
        ]
        return cells, _spread(spread, found, self.asked)

    def gaps(
        self, data_set: str | None, members: Sequence[bool], modes: Mapping[Any, str], compared: Modes
    ) -> list[Aligned]:
        """Of each prompt its figure on one data set in the first mode less that in the second."""
        here = np.flatnonzero(np.array(members, dtype=bool))
        first, second = (
            np.array([float(modes.get(self.units[place]) == mode) for place in here.tolist()], dtype=np.float64)
            for mode in compared
        )
        n = int(first.sum() + second.sum())
        entries = [
            GAP.about(n, **{**self.about, "group": _of(prompt, data_set), "by": "prompt"}) for prompt in self.prompts
        ]
        missing = [mode for mode, there in zip(compared, (first, second), strict=True) if not there.sum()]
        if missing:
            return [entry.undefined(f"no unit is of the mode {missing[0]!r}") for entry in entries]
        sample = DrawnRows.of([first, second, *self.right[:, here]], first_seen(self.cluster[here]))
        ones, twos, *columns = sample.columns.T
        right = np.stack(columns)

        def mean_in(mode: FloatArray, weights: FloatArray) -> FloatArray:
            hits = (right * mode) @ weights
            return ratio(hits, np.broadcast_to(mode @ weights, hits.shape), cut=False)

        found = sample.resampled(lambda weights: mean_in(ones, weights) - mean_in(twos, weights), self.asked)
        note = f"{compared[0]} less {compared[1]}"
        return [GAP.measured(entry, found, place, self.asked, note=note) for place, entry in enumerate(entries)]


def _of(prompt: str, data_set: str | None) -> str:
    """What a figure of a prompt is about: `PROMPT`, or `DATA SET: PROMPT`."""
    return prompt if data_set is None else f"{data_set}: {prompt}"


def _best_in(found: Resampled) -> FloatArray | None:
    """Of each prompt the share of resamples in which its figure is the highest; ties count in equal parts."""
    if not len(found.replicates):
        return None
    highest = found.replicates >= found.replicates.max(axis=1, keepdims=True) - 1e-12
    shares: FloatArray = (highest / highest.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def _spread(entry: Aligned, found: Resampled, asked: Resampling) -> Aligned:
    """Best less worst, with the interval of the largest of all differences."""
    values, drawn = found.values, found.replicates
    value = float(values.max() - values.min())
    kind = f"simultaneous bootstrap over {found.over}"
    if not len(drawn):
        nothing = Interval(None, None, kind, asked.level, note="no resamples", over=found.over)
        return entry.measured(value, [nothing])
    moved = drawn - values
    reach = float(np.quantile(moved.max(axis=1) - moved.min(axis=1), asked.level))
    low, high = max(0.0, value - reach), min(1.0, value + reach)
    note = f"{len(drawn):,} resamples, seed {asked.seed}; {len(values)} prompts"
    return entry.measured(value, [Interval(low, high, kind, asked.level, note=note, over=found.over)])
