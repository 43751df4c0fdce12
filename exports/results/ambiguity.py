"""Ambiguity: agreement, how it was resolved, the share that is ambiguous, and the split with a matched clear set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import aliased
from sqlmodel import col

from annotators.agreement.report import criterion_agreement
from annotators.agreement.statistics.base import title_of
from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.items.sampling import in_drawn_order
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.models import ItemVersion, Purpose, Revision, StudyItem
from db.query import pick
from exports.agreement.study import unmeasured
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import CriterionLabels, StudyLabels
from exports.results.shares import cell, share_of

CRITERION, AMBIGUOUS, CLEAR = "ambiguity", "ambiguous", "clear"
COEFFICIENTS = ("percent_agreement", "cohen_kappa", "krippendorff_alpha_nominal")


class Ambiguity:
    """What MRAG-Suite reports of its ambiguity annotation (section 3.4, appendix A.1).

    Cohen's κ of each pair of annotators before anything was resolved; of the questions on which they differed, how
    many were resolved together (adjudicated); and of all that are settled, the share that is ambiguous.
    """

    name = "ambiguity"
    order = 30
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Protocols that ask whether the item is clear or ambiguous."""
        return asks_ambiguity(protocol)

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """One table: coefficients, then shares."""
        figures = [*_agreement(labels, asked), *_resolution(labels, asked)]
        titles = {**{name: title_of(name) for name in COEFFICIENTS}, **_TITLES}
        rows = [
            [titles[figure.name], figure.group or "", cell(figure), f"{figure.n:,}", figure.reason or ""]
            for figure in figures
        ]
        table = TextTable.of("Ambiguity", ["What", "Annotators", "Value", "Items", "Why not"], rows)
        words = [
            "Agreement is that of the annotators before anything was resolved. `assay results --split FILE` writes the "
            "ambiguous items with as many clear ones that match them."
        ]
        return Findings(figures, [Section("Ambiguity", [table], words=words)])


REPORTS.register(Ambiguity())

_TITLES = {
    "share_differing": "Questions on which annotators differed",
    "share_resolved": "Of these, resolved together",
    "share_ambiguous": "Ambiguous questions, of those settled",
    "share_rewritten": "Of these, rewritten since",
}
_WITHOUT_ITEMS = {
    "share_differing": "no question was judged by two",
    "share_resolved": "annotators differed on no question",
    "share_rewritten": "no question is settled as ambiguous",
}


def asks_ambiguity(protocol: Protocol) -> bool:
    """Whether a protocol asks of the item if it is clear or ambiguous."""
    return any(
        criterion.name == CRITERION
        and criterion.target == TargetKind.ITEM
        and {AMBIGUOUS, CLEAR} <= {str(label.value) for label in criterion.label_list()}
        for criterion in protocol.criteria
    )


def _agreement(labels: StudyLabels, asked: Resampling) -> Iterator[Figure]:
    report = unmeasured(labels.found, CRITERION)
    if report.ratings is None or not report.n_ratings:
        return
    measured = criterion_agreement(
        CRITERION,
        TargetKind.ITEM.value,
        report.ratings,
        statistics=list(COEFFICIENTS),
        clusters=report.clusters(),
        over="questions",
        resamples=asked.resamples,
        seed=asked.seed,
        level=asked.level,
        kind=asked.kind,
    )
    for found in measured.statistics:
        yield Figure(
            name=found.name,
            value=found.value,
            interval=found.interval,
            method=found.method,
            reason=found.reason,
            n=found.n_units,
            criterion=CRITERION,
            group=" and ".join(map(str, found.raters)) if found.raters else None,
            is_share=found.name == "percent_agreement",
        )


def _resolution(labels: StudyLabels, asked: Resampling) -> Iterator[Figure]:
    """On how many questions annotators differed, how many of these are adjudicated, and the share that is ambiguous."""
    each = labels.labels(CRITERION, "each")
    votes: dict[int, set[int]] = defaultdict(set)
    for item, value in zip(each.item.tolist(), each.value.tolist(), strict=True):
        votes[item].add(value)
    given = np.bincount(each.item, minlength=len(labels.items.item))
    judged = [item for item in votes if given[item] > 1]
    differing = [item for item in judged if len(votes[item]) > 1]
    place = dict(zip(labels.items.study_item.tolist(), range(len(labels.items.item)), strict=True))
    resolved = {place[unit[0]] for unit in labels.settled.get(CRITERION, ()) if unit[2] == "adjudicated"}
    yield _share_of_items(labels, each, judged, set(differing), asked, name="share_differing")
    yield _share_of_items(labels, each, differing, resolved, asked, name="share_resolved")
    settled = labels.labels(CRITERION, "settled")
    yield share_of(labels, settled, settled.hits(AMBIGUOUS), asked, name="share_ambiguous")
    ambiguous = settled.item[settled.hits(AMBIGUOUS) > 0].tolist()
    yield _share_of_items(labels, settled, ambiguous, set(_rewritten(labels)), asked, name="share_rewritten")


def _share_of_items(
    labels: StudyLabels, given: CriterionLabels, items: Sequence[int], hits: set[int], asked: Resampling, *, name: str
) -> Figure:
    """The share of some items (by their places) that are hits."""
    first = dict(zip(reversed(given.item.tolist()), reversed(range(given.n)), strict=True))
    chosen = given.chosen(np.array([first[item] for item in items], dtype=np.int64))
    found = share_of(labels, chosen, np.array([float(item in hits) for item in items]), asked, name=name)
    return found if items else found.undefined(_WITHOUT_ITEMS[name])


def _rewritten(labels: StudyLabels) -> dict[int, tuple[str, str]]:
    """Place of an item → question and answer as they stand now, where a revision came after the study's version."""
    later, newer = aliased(ItemVersion), aliased(ItemVersion)
    with labels.db.read() as session:
        rows = session.execute(
            pick(StudyItem.id, later.question, later.answer)
            .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
            .join(later, (col(later.item_id) == ItemVersion.item_id) & (col(later.number) > ItemVersion.number))
            .where(
                col(StudyItem.study_id) == labels.study_id,
                col(StudyItem.purpose) == Purpose.SAMPLE,
                pick(Revision.id).where(col(Revision.to_version_id) == later.id).exists(),
                ~pick(newer.id).where(col(newer.item_id) == later.item_id, col(newer.number) > later.number).exists(),
                col(later.question) != ItemVersion.question,
            )
        ).all()
    place = dict(zip(labels.items.study_item.tolist(), range(len(labels.items.item)), strict=True))
    return {place[study_item]: (question, answer) for study_item, question, answer in rows}


# The split ------------------------------------------------------------------------------------------------------------


REWRITTEN = ("rewritten_question", "rewritten_answer")
"""Columns of the split: question and answer as a revision has them, empty where there is none; the original stays."""


@dataclass(frozen=True)
class AmbiguitySplit:
    """The ambiguous items and as many clear ones, matched, as a table; `notes` say where there were too few."""

    table: TextTable
    notes: Sequence[str]


def ambiguity_split(labels: StudyLabels, *, match: Sequence[str] = ("category",), seed: int = 0) -> AmbiguitySplit:
    """All items that are settled as ambiguous, and for each a clear one that is the same in the fields of `match`.

    Fields are `system`, `category`, or those of the items' metadata. Of the clear items of a kind those with the lowest
    ranks for the seed are taken (`annotators.items.sampling`), so that the same labels and seed give the same set.
    Raises InvalidInput for a protocol that asks nothing of the sort, and a field that no item has.
    """
    if not asks_ambiguity(labels.protocol):
        raise InvalidInput(
            f"Protocol {labels.protocol.name!r} does not ask whether a question is ambiguous: there is no split. "
            "Leave --split out, or name a study of `ambiguity`."
        )
    settled = labels.labels(CRITERION, "settled")
    fields = _fields(labels, match)
    kinds: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(lambda: {AMBIGUOUS: [], CLEAR: []})
    rewritten = {labels.items.external_id[item]: texts for item, texts in _rewritten(labels).items()}
    for item, value in zip(settled.item.tolist(), settled.values, strict=True):
        kinds[tuple(column[item] for column in fields)][value].append(labels.items.external_id[item])
    rows, notes = [], []
    for kind in sorted(kinds):
        ambiguous = sorted(kinds[kind][AMBIGUOUS])
        clear = in_drawn_order(kinds[kind][CLEAR], f"clear {' '.join(kind)}", seed)[: len(ambiguous)]
        partners = [*clear, *[""] * (len(ambiguous) - len(clear))]
        pairs = [(name, AMBIGUOUS, partner) for name, partner in zip(ambiguous, partners, strict=True)]
        pairs += [(name, CLEAR, partner) for name, partner in zip(clear, ambiguous, strict=False)]
        rows += [[*pair, *kind, *rewritten.get(pair[0], ("", ""))] for pair in pairs]
        if missing := len(ambiguous) - len(clear):
            about = ", ".join(f"{field} {value!r}" for field, value in zip(match, kind, strict=True)) or "any kind"
            notes.append(f"{count(missing, 'ambiguous item has', 'ambiguous items have')} no clear partner of {about}.")
    caption = f"Ambiguous items and a clear set matched on {', '.join(match) or 'nothing'}, seed {seed}"
    return AmbiguitySplit(TextTable.of(caption, ["item", "set", "partner", *match, *REWRITTEN], rows), notes)


def _fields(labels: StudyLabels, match: Sequence[str]) -> list[list[str]]:
    """The value of each field of each item, as text."""
    known: dict[str, list[str]] = {
        "system": labels.items.system,
        "category": [category or "" for category in labels.items.category],
    }
    others = [field for field in match if field not in known]
    if others:
        with labels.db.read() as session:
            rows = session.execute(
                pick(ItemVersion.extra)
                .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
                .where(col(StudyItem.study_id) == labels.study_id, col(StudyItem.purpose) == Purpose.SAMPLE)
                .order_by(col(StudyItem.id))
            ).all()
        extras: list[dict[str, Any]] = [row[0] or {} for row in rows]
        for field in others:
            if not any(field in extra for extra in extras):
                names = sorted({*known, *(name for extra in extras for name in extra)})
                raise InvalidInput(f"No item has a field {field!r} to match on. Known: {', '.join(names)}.")
            known[field] = [str(extra.get(field, "")) for extra in extras]
    return [known[field] for field in match]
