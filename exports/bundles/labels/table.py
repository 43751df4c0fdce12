"""`labels.csv`: one row a label, of every annotator, nothing merged."""

from __future__ import annotations

from functools import partial

from sqlmodel import Session

from annotators.asking.asides import ASIDES, asked_by
from db.models import Study
from db.people.pseudonyms import pseudonyms, real_names
from db.releasing.what_holds import revised_places
from db.studies.design import protocol_of
from db.studies.ratings import added_assignments
from exports.bundles.columns import names_of
from exports.bundles.labels.block import label_blocks
from exports.bundles.labels.typed import TypedLabels
from exports.cells import safe
from exports.csv_file import CsvFile, csv_cells
from exports.sinks import Out

COLUMNS = names_of("labels")
OF_PAIRS = ("other_item", "other_system", "other_version", "left")
"""The columns that a study of pairs has besides: the second item, its system and version, and which stood left."""

ASIDE_COLUMNS = tuple(ASIDES)
"""The columns that a study has besides that asks something beside labels; of those only what it asks."""

FELL = "fell"
"""The column that a study has besides of whose items some have a later version."""

ADDED = "added"
"""The column that a study has besides that asks more people where they disagree."""


def write_labels(
    session: Session, study: Study, out: Out, *, names: bool, says_fell: bool = True, says_added: bool = True
) -> int:
    """Write the table of a study's labels; how many. Annotators are pseudonymous unless `names`.

    Where an item has a later version than the one that was labelled, `fell` says which labels a revision made fall,
    unless `says_fell` is off. Where more people are asked as they disagree, `added` says whose labels these are, unless
    `says_added` is off.
    """
    assert study.id is not None
    pairs = protocol_of(study).about_pairs
    revised = (revised_places(session, study) if says_fell else None) or None
    added = added_assignments(session, study) if says_added and "most_overlap" in study.settings else None
    besides = [*(OF_PAIRS if pairs else ()), *asked_by(study.settings)]
    besides += [name for name, said in ((FELL, revised), (ADDED, added)) if said is not None]
    columns = (*COLUMNS, *besides)
    table = CsvFile(out, columns)
    called = (real_names if names else pseudonyms)(session, study.id)
    made = TypedLabels(study, columns)
    n = 0
    for block in label_blocks(session, study, called, pairs=pairs, revised=revised, added=added):
        table.add_block(partial(made.lines, block), partial(made.batch, block), len(block))
        n += len(block)
    return n


def pair_cells(other: str | None, system: str | None, number: int | None, other_left: object) -> str:
    """The cells of `OF_PAIRS`, as a line goes on with them; empty where a table of labels did not say the second."""
    if other is None or system is None:
        return ",,,,"
    return "," + csv_cells(safe(other), safe(system), str(number), "other_item" if other_left else "item")
