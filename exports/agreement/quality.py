"""How well each annotator of a study does: beside most of the rest, their pace, and what calls for a look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotators.agreement.attention import LEVEL, hurried, straight_lined
from annotators.agreement.majority import majority_of_rest
from annotators.arrays import FloatArray, IntArray
from annotators.asking.planting import Planting
from annotators.criteria.base import written
from annotators.figures import count
from annotators.intervals.shares import share_interval
from db.annotating.planting import GoldGiven
from db.engine import Database
from db.models import AnnotationKind
from db.permissions import Actor
from db.quality.gold import gold_given
from db.quality.qualification import QualificationOf, qualifications
from db.quality.team import TeamMember, reading_lengths, team_of
from db.studies.ratings import CriterionRatings, StudyRatings, ratings

FEWEST = 10
"""Labels below which a share is not given, but said to rest on too few."""


@dataclass(frozen=True)
class ShareRight:
    """A share (0..1) of n labels, its interval and how it was made; without a value, why there is none."""

    n: int
    hits: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "method": self.method,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Remark:
    """What calls for a look: `pace` or `straight-lining`, in words with its numbers; p as in `attention.Run`.

    `first` and `last` are the items (their external ids) with which the run begins and ends, `items` the ids of both.
    `gold`, too few right labels of gold items, is no run and has none of these.
    """

    kind: str
    text: str
    p: float | None = None
    first: str | None = None
    last: str | None = None
    items: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        return {"kind": self.kind, "text": self.text, "p": self.p, "first": self.first, "last": self.last}


@dataclass(frozen=True)
class Quarter:
    """A quarter of what somebody has annotated, in the order of time: with most of the rest, and of gold labels."""

    with_rest: ShareRight
    gold: ShareRight


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator: their place in the study, agreement with most of the rest over all criteria, and warnings.

    `gold` is how many of their labels of gold items are right (None where they had none), `self_agreement` how often
    they gave a unit that came again (a repeat) the same label; None without repeats. `quarters` are the four quarters
    of their work, empty below `FEWEST` annotations a quarter. `qualification` is how they stand in it, None in a study
    that asks for none.
    """

    member: TeamMember
    with_rest: ShareRight
    by_criterion: dict[str, ShareRight]
    gold: ShareRight | None
    self_agreement: ShareRight | None
    quarters: list[Quarter]
    remarks: list[Remark]
    qualification: QualificationOf | None = None

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        return {
            "annotator": self.member.name,
            "submitted": self.member.submitted,
            "gold": None if self.gold is None else _counted(self.gold),
            "with_rest": self.with_rest.to_json(),
            "qualification": None if self.qualification is None else self.qualification.to_json(),
            "self_agreement": None if self.self_agreement is None else self.self_agreement.to_json(),
            "by_criterion": {name: share.to_json() for name, share in self.by_criterion.items()},
            "quarters": [
                {"with_rest": quarter.with_rest.to_json(), "gold": _counted(quarter.gold)} for quarter in self.quarters
            ],
            "seconds_per_item": self.member.seconds_per_item,
            "warnings": [remark.to_json() for remark in self.remarks],
            "state": self.member.state,
            "left_out_from": self.member.left_out_from.isoformat() if self.member.left_out_from else None,
        }


def _counted(found: ShareRight) -> dict[str, Any]:
    return {"n": found.n, "right": found.hits, "low": found.low, "high": found.high, "method": found.method}


def annotator_quality(db: Database, actor: Actor, study_id: int) -> list[AnnotatorQuality]:
    """Every annotator of the study, in the order of their names. For researchers."""
    team = team_of(db, actor, study_id)
    found = ratings(db, actor, study_id)
    lengths = np.array(reading_lengths(db, actor, study_id), dtype=np.float64)
    beside = compared_criteria(found)
    again = compared_criteria(ratings(db, actor, study_id, kinds=(AnnotationKind.REPEAT,)))
    gold = gold_given(db, actor, study_id)
    qualified = {row.person_id: row for row in qualifications(db, actor, study_id)}
    rows = []
    for member in sorted(team, key=lambda member: member.name):
        person = member.person_id
        own = [given for given in gold if given.person_id == person]
        remarks = [*_pace(found, member, lengths), *_straight(found, beside, member), *_below_mark(found, own)]
        rows.append(
            AnnotatorQuality(
                member,
                _together(found, beside, person),
                {part.column.criterion.name: _together(found, [part], person) for part in beside},
                _of_gold(found, own) if own else None,
                _with_themselves(found, beside, again, person),
                list(_quarters(found, beside, own, person)),
                remarks,
                qualified.get(person),
            )
        )
    return rows


def compared_criteria(found: StudyRatings) -> list[Beside]:
    """The criteria with labels that are compared as they were given: no texts, and nothing that is derived."""
    asked = [criterion for criterion in found.protocol.criteria if criterion.compared]
    return [Beside.of(column) for column in found.criteria if column.criterion in asked and len(column.unit)]


# Beside the rest ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Beside:
    """A criterion's labels as votes: of each the code of its vote, and that of most of the others (-1: none, a tie)."""

    column: CriterionRatings
    votes: list[str]
    code: IntArray
    rest: IntArray

    @classmethod
    def of(cls, column: CriterionRatings) -> Beside:
        """Of a column of labels."""
        votes = [column.criterion.vote(value) for value in column.distinct]
        names = list(dict.fromkeys(votes))
        place = {vote: number for number, vote in enumerate(names)}
        code = np.array([place[vote] for vote in votes], dtype=np.int64)[column.value]
        return cls(column, names, code, majority_of_rest(column.unit, code))

    def own(self, person_id: int) -> IntArray:
        """The places of the person's labels."""
        if person_id not in self.column.people:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.column.rater == self.column.people.index(person_id))


def _together(found: StudyRatings, parts: list[Beside], person_id: int, among: IntArray | None = None) -> ShareRight:
    """How often the person gave what most of the others gave, over criteria, questions as clusters.

    `among`: only in these annotations (their places).
    """
    hits: list[FloatArray] = []
    questions: list[IntArray] = []
    for part in parts:
        own = part.own(person_id)
        own = own[part.rest[own] >= 0]
        if among is not None:
            own = own[np.isin(part.column.annotation[own], among)]
        hits.append((part.code[own] == part.rest[own]).astype(np.float64))
        questions.append(found.items.question[part.column.item[part.column.unit[own]]])
    return share_right(np.concatenate([*hits, np.zeros(0)]), np.concatenate([*questions, np.zeros(0, dtype=np.int64)]))


def _with_themselves(
    found: StudyRatings, first: list[Beside], again: list[Beside], person_id: int
) -> ShareRight | None:
    """How often the person's label of a repeat is the one that they gave the unit first; None without repeats."""
    before = {part.column.criterion.name: part for part in first}
    hits: list[float] = []
    questions: list[int] = []
    for part in again:
        earlier = before.get(part.column.criterion.name)
        if earlier is None:
            continue
        own = earlier.own(person_id).tolist()
        given = {earlier.column.units[place]: earlier.votes[int(earlier.code[place])] for place in own}
        for place in part.own(person_id).tolist():
            unit = part.column.units[place]
            if unit in given:
                hits.append(float(part.votes[int(part.code[place])] == given[unit]))
                questions.append(int(found.items.question[part.column.item[part.column.unit[place]]]))
    return share_right(np.array(hits), np.array(questions, dtype=np.int64)) if hits else None


def _of_gold(found: StudyRatings, own: list[GoldGiven]) -> ShareRight:
    """How many of these gold labels are right, gold items as clusters."""
    hits = np.array([given.is_right(found.protocol) for given in own], dtype=np.float64)
    items = np.array([given.study_item_id for given in own], dtype=np.int64)
    return share_right(hits, items, over="items", none="they have had no gold item")


def _in_order(found: StudyRatings, person_id: int) -> IntArray:
    """The person's annotations (their places) as they came after each other; those without a time are left out."""
    time = found.annotations.time
    own = np.flatnonzero((found.annotations.person == person_id) & ~np.isnan(time))
    return own[np.argsort(time[own], kind="stable")]


def _quarters(found: StudyRatings, parts: list[Beside], gold: list[GoldGiven], person_id: int) -> Iterator[Quarter]:
    """The quarters of what the person has annotated of the sample, with the gold labels that they gave meanwhile."""
    own = _in_order(found, person_id)
    if len(own) < 4 * FEWEST:
        return
    pieces = np.array_split(own, 4)
    ends = [float(found.annotations.time[piece[0]]) for piece in pieces[1:]]
    at = np.searchsorted(ends, [given.at.timestamp() for given in gold], side="right")
    for number, piece in enumerate(pieces):
        mine = [given for given, quarter in zip(gold, at.tolist(), strict=True) if quarter == number]
        yield Quarter(_together(found, parts, person_id, piece), _of_gold(found, mine))


_DIVIDED = "nobody else has judged what they judged, or they are divided"


def _few(n: int) -> str:
    return f"{count(n, 'label')} {'is' if n == 1 else 'are'} too few: {FEWEST} are needed"


def share_right(hits: FloatArray, clusters: IntArray, *, over: str = "questions", none: str = _DIVIDED) -> ShareRight:
    """The share of `hits` (n, 0 or 1), with Wilson's interval over clusters (n), or why there is none.

    `over` is what a cluster is, `none` why there may be no label.
    """
    n, right = len(hits), int(hits.sum())
    if n < FEWEST:
        return ShareRight(n, right, reason=none if not n else _few(n))
    _, place = np.unique(clusters, return_inverse=True)
    interval = share_interval(
        np.bincount(place, weights=hits).astype(np.float64), np.bincount(place).astype(np.float64), over=over
    )
    return ShareRight(n, right, right / n, interval.low, interval.high, interval.in_words())


# What calls for a look ------------------------------------------------------------------------------------------------


def _pace(found: StudyRatings, member: TeamMember, lengths: FloatArray) -> list[Remark]:
    given, own = found.annotations, _in_order(found, member.person_id)
    run = hurried(given.seconds[own], lengths[given.item[own]])
    if run is None or run.ratio is None:
        return []
    took = float(np.nanmedian(given.seconds[own[run.start : run.stop]]))
    usual = float(np.nanmedian(given.seconds[own]))
    ends = _ends(found, given.item[own[[run.start, run.stop - 1]]])
    text = (
        f"{count(run.length, 'item')} in a row took {took:.1f} s (median; {usual:.1f} s over all), "
        f"{100 * run.ratio:.0f} % of what their length and the annotator's other times make expected (p = {run.p:.2g})"
    )
    return [Remark("pace", text, run.p, *ends)]


def _below_mark(found: StudyRatings, own: list[GoldGiven]) -> list[Remark]:
    """That too few of somebody's gold labels are right, by the mark of the study."""
    planting = Planting.of(found.study.settings)
    right, items = sum(given.is_right(found.protocol) for given in own), len({given.study_item_id for given in own})
    if not planting.is_below(items, right, len(own)):
        return []
    text = f"{right:,} of {len(own):,} labels of gold items are right; the mark is {100 * planting.mark:g} %"
    return [Remark("gold", text)]


def _straight(found: StudyRatings, parts: list[Beside], member: TeamMember) -> list[Remark]:
    """Runs of one label, criterion by criterion; the level is shared out among the criteria."""
    remarks = []
    for part in parts:
        own = part.own(member.person_id)
        own = own[~np.isnan(found.annotations.time[part.column.annotation[own]])]
        if not len(own):
            continue
        item = part.column.item[part.column.unit[own]]
        own = own[np.lexsort((item, found.annotations.time[part.column.annotation[own]]))]
        item = part.column.item[part.column.unit[own]]
        codes, rest, starts = _by_item(part.code[own], part.rest[own], part.column.annotation[own])
        run = straight_lined(codes, part.votes, rest, LEVEL / len(parts))
        if run is None:
            continue
        ends = _ends(found, item[starts[[run.start, run.stop - 1]]])
        share = float((codes == part.votes.index(str(run.label))).mean())
        text = (
            f"{part.column.criterion.title}: {written(run.label)} {run.length:,} times in a row, where they give it "
            f"{100 * share:.0f} % of the time (p = {min(1.0, run.p * len(parts)):.2g})"
        )
        remarks.append(Remark("straight-lining", text, min(1.0, run.p * len(parts)), *ends))
    return remarks


def _by_item(code: IntArray, rest: IntArray, annotation: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Of labels in the order of their annotations: the one label of each annotation (-1: several), and where it begins.

    The second column is the one that most of the others gave throughout.
    """
    starts = np.flatnonzero(np.concatenate([[True], annotation[1:] != annotation[:-1]]))
    low, high = np.minimum.reduceat(code, starts), np.maximum.reduceat(code, starts)
    below, above = np.minimum.reduceat(rest, starts), np.maximum.reduceat(rest, starts)
    return np.where(low == high, low, -1), np.where(below == above, below, -1), starts


def _ends(found: StudyRatings, items: IntArray) -> tuple[str, str, tuple[int, int]]:
    first, last = items.tolist()
    names, ids = found.items.external_id, found.items.item
    return names[first], names[last], (int(ids[first]), int(ids[last]))
