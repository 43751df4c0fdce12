"""Evidence pages: what people changed of the pages that the import calls evidence, and the chain of sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotators.arrays import FloatArray
from annotators.criteria import Criterion
from annotators.criteria.derived.unit_set import UnitSet, in_order
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.items.page_labels import labelled_pages
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.items.rows import read_study_items
from db.models import Study
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import GROUPINGS, WHOSE, CriterionLabels, Grouping, StudyLabels, Whose
from exports.results.shares import cell, share_of

MOST_SETS = 100
"""Sets that the chain lists; the export has all."""

NOT_COMPARED = "no item that was labelled has evidence pages of the import"
NAMES = {
    "changed": "Labels changed",
    "precision": "Precision of the import",
    "recall": "Recall of the import",
    "sets_changed": "Sets changed",
}
_AT_ONCE = 500


class EvidencePages:
    """People's page labels against those of the import, which are a model's: CDocRAG-Bench, sections 3.2 and 3.4.

    For criteria about pages with a set of them (`how: set`); its label is what makes a page evidence. Over the pages
    that were judged, hop by hop: the share that is labelled otherwise than the import does (`changed`), of the pages
    that the import calls evidence the share that people do (`precision`), of those that people do the share that the
    import does (`recall`), and of the sets the share that is not the import's (`sets_changed`). Items of which the
    import names no evidence page, or pages without the hop that they are for, are left out and counted. Where no item
    (of the group) has hops, there is no row about the sets of hops: nobody could have given one.
    """

    name = "evidence_pages"
    order = 20
    of_judges = True

    def fits(self, protocol: Protocol) -> bool:
        """Protocols with sets of labelled pages."""
        return any(_sets(criterion) for criterion in protocol.criteria)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """The shares of all items, then of each system and category, and the chain of sets."""
        imported = _Imported(labels)
        figures: list[Figure] = []
        sections = []
        for criterion in labels.protocol.criteria:
            if not _sets(criterion):
                continue
            mine = [
                figure
                for whose in labels.whose
                for by, group in _groups(labels)
                for figure in _figures(labels, criterion, imported, asked, whose=whose, by=by, group=group)
            ]
            figures += mine
            tables = [table for by in (None, *GROUPINGS) if (table := _table(criterion, mine, by)) is not None]
            chains = (_chain(labels, derived, imported) for derived in _sets(criterion))
            tables += [table for table in chains if table is not None]
            words = [*imported.words(), *_seen(labels.study)]
            sections.append(Section(f"{criterion.title}: against the import", tables, words=words))
        return Findings(figures, sections)


REPORTS.register(EvidencePages())


def _sets(criterion: Criterion) -> list[UnitSet]:
    """The sets of labelled pages that a criterion amounts to."""
    if criterion.target != TargetKind.PAGE:
        return []
    return [derived for derived in criterion.derived if isinstance(derived, UnitSet)]


@dataclass(frozen=True)
class _Item:
    """An item of the study: its name, its hops in their order, and the pages that the import calls evidence."""

    name: str
    hops: tuple[str, ...]
    pages: frozenset[str]


class _Imported:
    """What the import says of the pages of a study's items, by the place of the item."""

    def __init__(self, labels: StudyLabels) -> None:
        self.items: dict[int, _Item] = {}
        self.with_hops: set[int] = set()
        self.silent = self.hopless = 0
        ids = labels.items.study_item.tolist()
        with labels.db.read() as session:
            for start in range(0, len(ids), _AT_ONCE):
                block = ids[start : start + _AT_ONCE]
                found = read_study_items(session, block, {"evidence"})
                for place, study_item in enumerate(block, start):
                    content = found[study_item].content
                    targets = labelled_pages(content)
                    hops = tuple(hop.key for hop in content.hops)
                    if hops:
                        self.with_hops.add(place)
                    self.silent += not targets
                    hopless = bool(hops) and any("|hop:" not in target for target in targets)
                    self.hopless += hopless
                    if targets and not hopless:
                        self.items[place] = _Item(content.id, hops, frozenset(targets))

    def split(self, labels: CriterionLabels) -> tuple[CriterionLabels, FloatArray]:
        """The labels of items that can be compared, and for each whether the import calls its page evidence (1, 0)."""
        kept = labels.chosen(np.flatnonzero(np.isin(labels.item, list(self.items))))
        units = zip(kept.item.tolist(), kept.about, strict=True)
        return kept, np.array([float(target in self.items[place].pages) for place, target in units], dtype=np.float64)

    def could_have(self, derived: UnitSet, places: Iterable[int]) -> bool:
        """Whether some item at these places has a unit that the set could be of."""
        return derived.of == "item" or not self.with_hops.isdisjoint(places)

    def set_of(self, place: int, target: str, derived: UnitSet) -> list[str]:
        """The import's set for a derived unit of an item."""
        pages = {page for page in self.items[place].pages if derived.target_of(page) == target}
        return sorted({page.partition("|hop:")[0] for page in pages}, key=in_order)

    def words(self) -> list[str]:
        """What was compared, and what was left out."""
        found = ["The import's evidence pages are its units of the role gold; they are held against what people say."]
        if self.silent:
            found.append(f"{count(self.silent, 'item has', 'items have')} no evidence page of the import: left out.")
        if self.hopless:
            words = count(self.hopless, "item has", "items have")
            found.append(f"{words} hops, and evidence pages of the import that do not say for which: left out.")
        return found


def _seen(study: Study) -> list[str]:
    """What annotators saw of the import's pages, which is not to be taken for agreement with them."""
    match study.settings.get("suggestions"):
        case "before":
            return [
                "Annotators saw the import's pages as suggestions before they labelled: `changed` is what they did "
                "not follow."
            ]
        case "after":
            return [
                "Annotators labelled by themselves, then saw the import's pages as suggestions: these are the "
                "labels that they left it at. What they said before is in the export (`current` false)."
            ]
    return []


def _groups(labels: StudyLabels) -> list[tuple[Grouping | None, str | None]]:
    return [(None, None), *((by, name) for by in GROUPINGS for name in labels.groups(by))]


def _figures(
    study: StudyLabels,
    criterion: Criterion,
    imported: _Imported,
    asked: Resampling,
    *,
    whose: Whose,
    by: Grouping | None,
    group: str | None,
) -> Iterable[Figure]:
    """The four shares of one criterion, of all items or of a group."""

    def part(name: str) -> CriterionLabels:
        given = study.labels(name, whose)
        return study.of_group(given, by, group) if by is not None and group is not None else given

    def share(name: str, labels: CriterionLabels, hits: FloatArray) -> Figure:
        found = share_of(study, labels, hits, asked, name=name, group=group, by=by)
        return found if labels.n else found.undefined(_why_none[name])

    label = str(_sets(criterion)[0].label)
    kept, said = imported.split(part(criterion.name))
    given = kept.hits(label)
    yield share("changed", kept, (given != said).astype(np.float64))
    for name, chosen, hits in (("precision", said, given), ("recall", given, said)):
        places = np.flatnonzero(chosen == 1)
        yield share(name, kept.chosen(places), hits[places])
    items = study.places_of(by, group) if by is not None and group is not None else range(len(study.items.study_item))
    for derived in _sets(criterion):
        if not imported.could_have(derived, items):
            continue
        sets, _ = imported.split(part(derived.name))
        same = [
            imported.set_of(place, target, derived) == value
            for place, target, value in zip(sets.item.tolist(), sets.about, sets.values, strict=True)
        ]
        yield share("sets_changed", sets, 1 - np.array(same, dtype=np.float64))


_why_none: Mapping[str, str] = {
    "changed": NOT_COMPARED,
    "precision": "the import calls no page evidence that was judged",
    "recall": "people call no page evidence",
    "sets_changed": NOT_COMPARED,
}


def _table(criterion: Criterion, figures: Sequence[Figure], by: Grouping | None) -> TextTable | None:
    """A row a share (of all, or of a group); columns for settled and for single annotators' labels."""
    titles = {derived.name: derived.title for derived in _sets(criterion)} | {criterion.name: criterion.title}
    rows: dict[tuple[Any, ...], dict[str, Figure]] = {}
    for figure in figures:
        if figure.by == by:
            rows.setdefault((figure.group, figure.name, figure.criterion), {})[figure.labels or ""] = figure
    if not rows:
        return None
    there = [whose for whose in WHOSE if any(whose in cells for cells in rows.values())]
    lines = []
    for (group, name, about), cells in rows.items():
        line = [NAMES[name], titles[about]]
        for whose in there:
            line += [cell(cells[whose]), f"{cells[whose].n:,}"]
        lines.append([group or "", *line] if by else line)
    columns = ["Share", "Of", *(part for whose in there for part in (WHOSE[whose], "n"))]
    caption = "Page labels against the import" + (f" by {by}" if by else "")
    return TextTable.of(caption, [by.capitalize(), *columns] if by else columns, lines)


def _chain(study: StudyLabels, derived: UnitSet, imported: _Imported) -> TextTable | None:
    """The sets, of each item hop by hop: the import's, people's final one, and what they added and took away."""
    place_of = {study_item: place for place, study_item in enumerate(study.items.study_item.tolist())}
    given = [
        (place_of[study_item], target, state, value)
        for study_item, target, state, value in study.settled.get(derived.name, ())
        if place_of[study_item] in imported.items
    ]
    if not given:
        return None

    def step(unit: tuple[int, str, str, Any]) -> tuple[int, int]:
        hops = imported.items[unit[0]].hops
        hop = unit[1].removeprefix("hop:")
        return unit[0], hops.index(hop) if hop in hops else -1

    lines = []
    for place, target, state, value in sorted(given, key=step)[:MOST_SETS]:
        before, item = imported.set_of(place, target, derived), imported.items[place]
        after = value if state != "open" else []
        changes = [_pages(sorted(set(a) - set(b), key=in_order)) for a, b in ((after, before), (before, after))]
        final = [_pages(after) or "none", *changes] if state != "open" else ["not settled", "", ""]
        about = f"Hop {step((place, target, state, value))[1] + 1}" if target.startswith("hop:") else "all"
        lines.append([item.name, about, _pages(before) or "none", *final])
    which = "" if len(given) <= MOST_SETS else f", the first {MOST_SETS} of {len(given):,}"
    columns = ("Item", "Hop", "Import", "Final", "Added", "Taken away")
    return TextTable.of(f"{derived.title}: the sets{which}", columns, lines, words=columns[2:])


def _pages(targets: Sequence[str]) -> str:
    """The numbers of pages, with their documents where there are several."""
    parts = [target.removeprefix("page:").rpartition(":") for target in targets]
    several = len({document for document, _, _ in parts}) > 1
    return ", ".join(f"{document} {page}" if several else page for document, _, page in parts)
