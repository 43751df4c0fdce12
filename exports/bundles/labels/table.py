"""`labels.csv`: one row a label, of every annotator, nothing merged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

import orjson
from sqlmodel import Session

from annotators.asking.asides import ASIDES, asked_by
from db.models import Study
from db.people.pseudonyms import pseudonyms, real_names
from db.studies.design import protocol_of
from exports.bundles.columns import names_of
from exports.bundles.labels.block import LabelBlock, is_seen, label_blocks, words_shown
from exports.bundles.labels.typed import TypedLabels
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile, csv_cells
from exports.sinks import Out

COLUMNS = names_of("labels")
OF_PAIRS = ("other_item", "other_system", "other_version", "left")
"""The columns that a study of pairs has besides: the second item, its system and version, and which stood left."""

ASIDE_COLUMNS = tuple(ASIDES)
"""The columns that a study has besides that asks something beside labels; of those only what it asks."""

_REMEMBERED = 10_000


def write_labels(session: Session, study: Study, out: Out, *, names: bool) -> int:
    """Write the table of a study's labels; how many. Annotators are pseudonymous unless `names`."""
    assert study.id is not None
    pairs = protocol_of(study).about_pairs
    asks = asked_by(study.settings)
    columns = (*COLUMNS, *(OF_PAIRS if pairs else ()), *asks)
    table = CsvFile(out, columns)
    called = (real_names if names else pseudonyms)(session, study.id)
    lines, typed = Lines(study, called, pairs=pairs, asks=asks), TypedLabels(study, called, columns)
    n = 0
    for block in label_blocks(session, study):
        table.add_block(partial(lines.of, block), partial(typed.batch, block), len(block))
        n += len(block)
    return n


class Lines:
    """Labels as lines of CSV."""

    def __init__(self, study: Study, called: Mapping[int, str], *, pairs: bool, asks: Sequence[str]) -> None:
        self._begins = _beginnings({person_id: safe(name) for person_id, name in called.items()})
        self._ends, self._pairs, self._asks = _endings(study), pairs, asks

    def of(self, block: LabelBlock) -> list[str]:
        """The lines of a block."""
        given, said = block.submissions, block.labels
        around: list[_Around] = [("", "")] * len(given.id)
        before = list(zip(given.item, given.version, given.question, given.system, given.person, strict=True))
        after = list(zip(given.at, given.seconds, given.kind, given.current, given.shown, given.step, given.uid,
                         given.remark, given.flag, strict=True))  # fmt: skip
        for place in block.first.tolist():
            around[place] = (self._begins(before[place]), self._ends(after[place]))
        if self._pairs:
            sides = zip(given.shown, given.other_item, given.other_system, given.other_version, given.other_left,
                        strict=True)  # fmt: skip
            around = [(begun, end + _sides_seen(*side)) for (begun, end), side in zip(around, sides, strict=True)]
        value = _value_on_sqlite if block.is_sqlite else value_cell
        own = list(zip(said.criterion, said.target, said.value, said.cannot, said.reason, said.comment, said.rationale,
                       *(getattr(said, name) for name in self._asks), strict=True))  # fmt: skip
        places = zip(block.order.tolist(), block.of.tolist(), strict=True)
        return [_line(around[of], value, own[place]) for place, of in places]


def _sides_seen(shown: Any, *pair: Any) -> str:
    """The cells of `OF_PAIRS` of a label: of one that was made elsewhere it is not known which answer stood left."""
    cells = pair_cells(*pair)
    return cells if is_seen(shown) else cells[: cells.rindex(",") + 1]


def pair_cells(other: str | None, system: str | None, number: int | None, other_left: object) -> str:
    """The cells of `OF_PAIRS`, as a line goes on with them; empty where a table of labels did not say the second."""
    if other is None or system is None:
        return ",,,,"
    return "," + csv_cells(safe(other), safe(system), str(number), "other_item" if other_left else "item")


_Around = tuple[str, str]
"""What all lines of a submission share: the text before, and the text after a label's own cells."""


def _beginnings(called: dict[int, str]) -> Callable[[tuple[Any, ...]], str]:
    """Item, version, question, system and annotator as a line begins. An item's annotations come after each other."""
    last: tuple[tuple[Any, ...], str] = ((), "")
    names = {person_id: csv_cells(name, "") for person_id, name in called.items()}

    def begins(row: tuple[Any, ...]) -> str:
        nonlocal last
        if last[0] != row[:4]:
            external_id, number, key, system = row[:4]
            last = (row[:4], csv_cells(safe(external_id), str(number), safe(key), safe(system)))
        return f"{last[1]},{names[row[4]]}"

    return begins


def _endings(study: Study) -> Callable[[tuple[Any, ...]], str]:
    """Everything from the time on as a line ends; little of it differs but time, seconds and uid."""
    protocol = csv_cells(study.protocol_name, str(study.protocol_version))

    @lru_cache(_REMEMBERED)
    def stands(kind: str | None, current: bool, shown: str, step: int) -> str:
        counts = csv_cells(kind or "", "true" if current else "false", "false" if kind is None else "true")
        return f"{protocol},{counts},{csv_cells(shown, str(step + 1))}"

    def ends(row: tuple[Any, ...]) -> str:
        at, seconds, kind, current, shown, step, uid, remark, flag = row
        standing = stands(kind, bool(current), words_shown(shown), step)
        said = csv_cells(safe(uid), safe(remark or ""), safe(flag or ""))
        return f",{_time(at)},{'' if seconds is None else repr(seconds)},{standing},{said}"

    return ends


def _line(around: _Around, value_of: Any, label: tuple[Any, ...]) -> str:
    """The line of a label. Most labels are a value alone, and the same few: their cells are made once."""
    criterion, target, value, cannot, reason, comment, rationale, *said = label
    before, after = around
    cell = value_of(value)
    if cannot or reason or comment or rationale is not None:
        judged = csv_cells(
            criterion,
            target,
            cell,
            "true" if cannot else "false",
            safe(reason or ""),
            safe(comment or ""),
            _json_cell(rationale),
        )
    else:
        judged = _plain(criterion, target, cell)
    line = before + judged + after
    return line + "," + csv_cells(*("" if one is None else str(one) for one in said)) if said else line


@lru_cache(_REMEMBERED)
def _plain(criterion: str, target: str, cell: str) -> str:
    return csv_cells(criterion, target, cell, "false", "", "", "")


@lru_cache(_REMEMBERED)
def _value_on_sqlite(text: str | None) -> str:
    """The cell of a value that comes as JSON text."""
    return "" if text is None else value_cell(orjson.loads(text))


def _time(at: Any) -> str:
    """A time as the driver gives it, as ISO 8601 in UTC."""
    if isinstance(at, datetime):
        return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"{at[:10]}T{at[11:]}Z"


def _json_cell(value: Any) -> str:
    if value is None:
        return ""
    return safe(value if isinstance(value, str) else orjson.dumps(value).decode())
