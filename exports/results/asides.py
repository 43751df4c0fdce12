"""What annotators said beside labels: how often those of each confidence are right, what is surprisingly popular."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sqlmodel import col

from annotators.agreement.popular import popular
from annotators.arrays import FloatArray, IntArray
from annotators.asking.asides import CONFIDENCES, OTHERS, asked_beside, asked_by
from annotators.criteria import Criterion
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import Protocol
from db.models import Annotation, Assignment, StoredLabel
from db.query import pick
from exports.agreement.quality import Beside
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.base import REPORTS, Figure, Findings
from exports.results.labels import CriterionLabels, StudyLabels
from exports.results.shares import cell, share_of

MOST_LISTED = 50
"""Units with a surprisingly popular label that are listed."""

_SAID = {
    "confident_and_settled": "is the settled one",
    "confident_and_rest": "is that of most of the rest",
}


class Asides:
    """In studies that ask beside labels: calibration of confidence, expected agreement, surprisingly popular labels.

    `confident_and_settled`: of the labels of each confidence (`label`) the share that is the settled label, which was
    settled with them; `confident_and_rest`: the share that is what most of the others gave. `expected_same` is the mean
    share of others whom people expect to say the same, `actual_same` the share of the others who did.
    `popular_is_most`: of the units with two annotators or more the share whose surprisingly popular label is what most
    gave. Of those that were adjudicated: how often most of the annotators (`most_right`), and the surprisingly popular
    label (`popular_right`), had what was decided.
    """

    name = "asides"
    order = 92
    of_judges = False

    def fits(self, protocol: Protocol) -> bool:
        """Protocols of which something can be asked beside labels."""
        return any(map(asked_beside, protocol.criteria))

    def make(self, labels: StudyLabels, asked: Resampling) -> Findings:
        """A table of confidences and one of what is expected of others; nothing where the study asks neither."""
        asks = asked_by(labels.study.settings)
        if not asks:
            return Findings()
        said = _said(labels)
        found = [
            _Answers.of(labels, criterion, said) for criterion in labels.protocol.criteria if asked_beside(criterion)
        ]
        figures, sections = [], []
        if "confidence" in asks:
            figures += [figure for answers in found for figure in answers.by_confidence(asked)]
            sections.append(_confidence(labels, figures))
        if "same" in asks:
            popularity = [figure for answers in found for figure in answers.popularity(asked)]
            sections.append(_popularity(labels, popularity, found))
            figures += popularity
        return Findings(figures, sections)


REPORTS.register(Asides())

_Said = dict[tuple[int, int, str], tuple[str | None, int | None]]


def _said(labels: StudyLabels) -> _Said:
    """(study item, person, criterion) → confidence and expectation of the label that holds."""
    query = (
        pick(
            Annotation.study_item_id,
            Annotation.person_id,
            StoredLabel.criterion,
            StoredLabel.confidence,
            StoredLabel.same,
        )
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .join(Assignment, col(Assignment.id) == Annotation.assignment_id)
        .where(
            col(Annotation.study_id) == labels.study_id,
            col(Assignment.kind) == "slot",
            col(StoredLabel.confidence).is_not(None) | col(StoredLabel.same).is_not(None),
        )
        .order_by(col(Annotation.id))
    )
    with labels.db.read() as session:
        return {
            (item, person, criterion): (sure, same) for item, person, criterion, sure, same in session.execute(query)
        }


@dataclass(frozen=True, eq=False)
class _Unit:
    """An item's labels of one criterion: the votes with expectations, and what is popular."""

    item: int
    most: str | None
    surprising: str | None
    settled: str | None
    adjudicated: bool


@dataclass(frozen=True, eq=False)
class _Answers:
    """What was said beside the labels of one criterion, one entry a label (n).

    `settled` and `rest` are 1 where the label is the settled one, or what most of the others gave, 0 where it is not,
    NaN where there is none. `confidence` is None, and `same` NaN, of labels made elsewhere.
    """

    study: StudyLabels
    labels: CriterionLabels
    confidence: list[str | None]
    same: FloatArray
    settled: FloatArray
    rest: FloatArray
    actual: FloatArray
    units: list[_Unit]

    @classmethod
    def of(cls, study: StudyLabels, criterion: Criterion, said: _Said) -> _Answers:
        """Of one criterion of the study."""
        labels = study.labels(criterion.name, "each")
        column = next(column for column in study.found.criteria if column.criterion.name == criterion.name)
        items = study.items.study_item[labels.item].tolist()
        told = [said.get((item, person, criterion.name), (None, None))
                for item, person in zip(items, column.raters, strict=True)]  # fmt: skip
        same = np.array([np.nan if same is None else same / OTHERS for _, same in told], dtype=np.float64)
        votes = [criterion.vote(value) for value in labels.values]
        final = {item: (criterion.vote(value), state == "adjudicated")
                 for item, _, state, value in study.settled.get(criterion.name, ()) if state != "open"}  # fmt: skip
        settled = [float(vote == final[item][0]) if item in final else np.nan
                   for item, vote in zip(items, votes, strict=True)]  # fmt: skip
        beside = Beside.of(column)
        rest = np.where(beside.rest < 0, np.nan, (beside.code == beside.rest).astype(np.float64))
        by_unit: dict[int, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            by_unit[item].append(place)
        actual = np.full(len(votes), np.nan)
        units = []
        known = [criterion.vote(value) for value in criterion.stored_labels()]
        for item, places in by_unit.items():
            for place in places:
                if len(places) > 1:
                    actual[place] = (sum(votes[other] == votes[place] for other in places) - 1) / (len(places) - 1)
            if len(places) > 1 and not np.isnan(same[places]).any():
                found = popular([votes[place] for place in places], same[places].tolist(), known)
                decided, adjudicated = final.get(item, (None, False))
                where = int(labels.item[places[0]])
                units.append(_Unit(where, found.most, found.surprising, decided, adjudicated))
        sure = [confidence for confidence, _ in told]
        return cls(study, labels, sure, same, np.array(settled, dtype=np.float64), rest, actual, units)

    def _share(
        self, name: str, places: IntArray, hits: FloatArray, asked: Resampling, label: str | None = None
    ) -> Figure:
        return share_of(self.study, self.labels.chosen(places), hits, asked, name=name, label=label)

    def by_confidence(self, asked: Resampling) -> Iterator[Figure]:
        """How often labels of each confidence are the settled one, and that of most of the rest."""
        for confidence in CONFIDENCES:
            mine = np.array([said == confidence for said in self.confidence], dtype=bool)
            for name, hits in zip(_SAID, (self.settled, self.rest), strict=True):
                places = np.flatnonzero(mine & ~np.isnan(hits)) if len(mine) else np.zeros(0, dtype=np.int64)
                yield self._share(name, places, hits[places], asked, confidence)

    def popularity(self, asked: Resampling) -> Iterator[Figure]:
        """What was expected of others beside what they did, and how the surprisingly popular label fares."""
        both = np.flatnonzero(~np.isnan(self.same) & ~np.isnan(self.actual))
        yield self._share("expected_same", both, self.same[both], asked)
        yield self._share("actual_same", both, self.actual[both], asked)
        compared = [unit for unit in self.units if unit.most is not None and unit.surprising is not None]
        yield self._of_units("popular_is_most", compared, [unit.most == unit.surprising for unit in compared], asked)
        decided = [unit for unit in self.units if unit.adjudicated]
        yield self._of_units("most_right", decided, [unit.most == unit.settled for unit in decided], asked)
        yield self._of_units("popular_right", decided, [unit.surprising == unit.settled for unit in decided], asked)

    def _of_units(self, name: str, units: list[_Unit], hits: list[bool], asked: Resampling) -> Figure:
        none = np.zeros(len(units), dtype=np.int64)
        item = np.array([unit.item for unit in units], dtype=np.int64)
        labels = CriterionLabels(self.labels.criterion, "settled", [None], none, ["item"], none, item)
        return share_of(self.study, labels, np.array(hits, dtype=np.float64), asked, name=name)


def _confidence(study: StudyLabels, figures: list[Figure]) -> Section:
    titles = {criterion.name: criterion.title for criterion in study.protocol.criteria}
    cells = {(figure.criterion, figure.label, figure.name): figure for figure in figures}
    rows = []
    for name, title in titles.items():
        for confidence, word in CONFIDENCES.items():
            found = [cells.get((name, confidence, said)) for said in _SAID]
            if found[0] is not None and found[1] is not None:
                rows.append(
                    [title, word, *(text for figure in found if figure for text in (cell(figure), f"{figure.n:,}"))]
                )
    columns = ["Criterion", "Confidence", "Is the settled label", "n", "Is that of most of the rest", "n"]
    words = "The settled label was settled with the labels that it is compared with; most of the rest is without them."
    table = TextTable.of("Labels by how sure their annotators were", columns, rows, words=["Criterion"])
    return Section("Confidence", [table], words=[words])


def _popularity(study: StudyLabels, figures: list[Figure], found: list[_Answers]) -> Section:
    names = ("expected_same", "actual_same", "popular_is_most", "most_right", "popular_right")
    cells = {(figure.criterion, figure.name): figure for figure in figures}
    rows = [
        [answers.labels.criterion.title, *(cell(cells[answers.labels.criterion.name, name]) for name in names),
         f"{cells[answers.labels.criterion.name, 'most_right'].n:,}"]
        for answers in found
    ]  # fmt: skip
    columns = ["Criterion", "Others expected to say the same", "Others who did", "Popular is what most gave",
               "Most gave what was decided", "Popular is what was decided", "Decided"]  # fmt: skip
    tables = [TextTable.of("What is expected of others", columns, rows, words=["Criterion"])]
    surprising = [
        [study.items.external_id[unit.item], answers.labels.criterion.title, unit.most or "divided", unit.surprising,
         unit.settled or ""]
        for answers in found
        for unit in answers.units
        if unit.surprising is not None and unit.surprising != unit.most
    ]  # fmt: skip
    if surprising:
        shown = ("Item", "Criterion", "Most gave", "Surprisingly popular", "Settled")
        more = f" (the first {MOST_LISTED} of {len(surprising):,})" if len(surprising) > MOST_LISTED else ""
        caption = f"Units whose surprisingly popular label is not what most gave{more}"
        tables.append(TextTable.of(caption, shown, surprising[:MOST_LISTED]))
    words = (
        "Surprisingly popular is the label that more people gave than people expect others to give (Prelec, Seung & "
        "McCoy 2017). With three annotators or fewer it is a hint, no more."
    )
    return Section("Surprisingly popular labels", tables, words=[words])
