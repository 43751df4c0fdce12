"""`adjudicated.csv`: one row an item, criterion and target, with the final label and how it was reached."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

import orjson
from sqlmodel import Session

from db.items.rows import StoredItem, read_items
from db.models import Release, Study
from db.releasing.releases import FinalLabel, ReleasedPair, released_labels, released_pairs, released_versions
from db.releasing.what_holds import units_that_fell
from db.studies.design import protocol_of
from db.studies.settlements import SettledUnit, stream_settled
from exports.bundles.columns import names_of
from exports.bundles.labels.table import FELL, OF_PAIRS, pair_cells
from exports.cells import safe, value_cell, vote_text
from exports.csv_file import CsvFile, csv_cells
from exports.sinks import Out

COLUMNS = names_of("adjudicated")
AT_ONCE = 5_000

Posteriors = Mapping[tuple[int, str, str], bytes]
"""Study item (its id), criterion, target → label and how probable it is, as JSON."""


def write_adjudicated(
    session: Session,
    study: Study,
    out: Out,
    reached: Counter[str],
    posteriors: Posteriors | None = None,
    *,
    says_fell: bool = True,
) -> int:
    """Write the final labels of a study; how many rows. A unit that is not settled has an empty label and is `open`.

    `reached` counts the rows by how they were settled. With posteriors (of `exports.bundles.statistics_tables`) they
    stand behind each unit, and its votes as shares. Where an item has a later version than the one that was labelled,
    `fell` says which rows say nothing of it, unless `says_fell` is off.
    """
    assert study.id is not None
    pairs = protocol_of(study).about_pairs
    probable = OF_POSTERIORS if posteriors is not None else ()
    fell = units_that_fell(session, study) if says_fell else None
    table = CsvFile(out, (*COLUMNS, *(OF_PAIRS if pairs else ()), *probable, *((FELL,) if fell else ())))
    n = 0
    units = stream_settled(session, study.id, rechecks=True)
    while block := list(islice(units, AT_ONCE)):
        table.add_lines(list(_lines(block, posteriors, fell, pairs=pairs)), len(block))
        reached.update(unit.state for unit in block)
        n += len(block)
    return n


OF_POSTERIORS = ("soft_label", "posterior")
"""Further columns on request."""

OF_RELEASES = ("study", "label_version")
"""Further columns of a release: whose label it is, and the version of the item that it was given for."""


OF_RELEASED_PAIRS = (*OF_PAIRS, *OF_RELEASES, "other_label_version")
"""Further columns of a release with pairs."""


def write_released(session: Session, release_id: int, out: Out, reached: Counter[str]) -> int:
    """Write the final labels of a release in the same columns, and some more, pairs behind their first; how many.

    `reached` counts them by how they were settled.
    """
    pairs = session.get_one(Release, release_id).n_pairs > 0
    table = CsvFile(out, (*COLUMNS, *(OF_RELEASED_PAIRS if pairs else OF_RELEASES)))
    n = 0
    for block in released_versions(session, release_id):
        labels = released_labels(session, release_id, block)
        compared = released_pairs(session, release_id, block) if pairs else []
        items = read_items(session, list({*block, *(pair.other_version_id for pair in compared)}), ())
        of_first: dict[int, list[ReleasedPair]] = defaultdict(list)
        for pair in compared:
            of_first[pair.version_id].append(pair)
        rows = []
        for version_id in block:
            about = items[version_id]
            alone = ("",) * len(OF_PAIRS) if pairs else ()
            rows += [
                (*_cells(about, label), *alone, *_given(label, pairs=pairs)) for label in labels.get(version_id, ())
            ]
            reached.update(label.how for label in labels.get(version_id, ()))
            for pair in of_first[version_id]:
                second = items[pair.other_version_id]
                said = (safe(second.content.id), safe(second.content.system), str(second.number))
                sides = (*said, "other_item" if pair.other_left else "item")
                rows += [(*_cells(about, label), *sides, *_given(label, pairs=True)) for label in pair.labels]
                reached.update(label.how for label in pair.labels)
        table.add(rows, len(rows))
        n += len(rows)
    return n


def _cells(item: StoredItem, label: FinalLabel) -> tuple[str, ...]:
    """The cells of `COLUMNS`."""
    return (
        *(safe(about) for about in (item.content.id, str(item.number), item.content.question_key)),
        *(safe(item.content.system), label.criterion, label.target, value_cell(label.value), label.how),
        *(_votes(label.votes), str(sum(label.votes.values())), ""),
    )


def _given(label: FinalLabel, *, pairs: bool) -> tuple[str, ...]:
    """Whose label it is, and for which version it was given."""
    other = "" if label.other_version is None else str(label.other_version)
    return (safe(label.study), str(label.version), *((other,) if pairs else ()))


def _lines(
    block: list[SettledUnit],
    posteriors: Posteriors | None,
    fell: Callable[[SettledUnit], bool] | None,
    *,
    pairs: bool,
) -> Iterator[str]:
    last, about, pair = None, "", ""
    for unit in block:
        if unit.study_item_id != last:
            last = unit.study_item_id
            about = csv_cells(
                safe(unit.external_id), str(unit.item_version), safe(unit.question_key), safe(unit.system)
            )
            pair = pair_cells(*(unit.pair or (None, None, None, False))) if pairs else ""
        label = value_cell(unit.value) if unit.state != "open" else ""
        outcome = _outcome(unit.criterion, unit.target, label, unit.state, _votes(unit.votes))
        reason = f"{unit.n},{csv_cells(safe(unit.reason), '')[:-1]}" if unit.reason else f"{unit.n},"
        line = f"{about},{outcome},{reason}{pair}"
        if posteriors is not None:
            found = posteriors.get((unit.study_item_id, unit.criterion, unit.target), b"")
            line += "," + csv_cells(_shares(_votes(unit.votes)), found.decode())
        if fell is not None:
            line += ",true" if fell(unit) else ",false"
        yield line


def _votes(votes: Mapping[str, int]) -> str:
    """Votes as a JSON object by label, each written as the label is."""
    return orjson.dumps({vote_text(vote): n for vote, n in votes.items()}).decode()


@lru_cache(10_000)
def _shares(votes: str) -> str:
    """Votes as a soft label: each label's share of them."""
    given = orjson.loads(votes)
    return orjson.dumps({label: round(n / sum(given.values()), 6) for label, n in given.items()}).decode()


@lru_cache(10_000)
def _outcome(criterion: str, target: str, label: str, how: str, votes: str) -> str:
    """The cells of an outcome; few outcomes differ."""
    return csv_cells(criterion, target, label, how, votes)
