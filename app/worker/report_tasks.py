"""What the processes that measure carry out (`app.worker.reports`): reports in parts, and what pages show of a report.

Parts are small, because the web process has to take them in: of an agreement report the labels go over once, of an
alignment report never. Plots and lists of its units are made where the labels are.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from annotators.agreement.report import CriterionAgreement
from annotators.estimates.designs import DesignPlan, planned_designs
from annotators.estimates.sample import Estimate
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.panel import Rule
from db.engine import Database
from db.permissions import Actor
from exports.agreement.one_annotator import OneAnnotator, one_annotator
from exports.agreement.quality import AnnotatorQuality, annotator_quality
from exports.agreement.report import Report
from exports.agreement.so_far import SoFar, agreement_so_far
from exports.agreement.study import AgreementReport, agreement_in_parts, agreement_report
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import AlignmentReport, Labels, alignment_in_parts
from exports.alignment.views import Outline
from exports.dataset.document import STEM, dataset_report
from exports.drawing.report_files import report_file, slug
from exports.estimates.data import study_units
from exports.estimates.report import estimate_report
from exports.estimates.view import FewerLabels, fewer_labels
from exports.judging.check import CheckReport, check_report
from exports.judging.data import PeopleBy
from exports.judging.differing import DifferingUnits, differing_units
from exports.judging.panel import PanelReport, panel_report
from exports.results.document import Results

PART_SECONDS = 0.4
"""What is measured within so long is one part."""

MOST_HELD = 2
"""So many studies' labels and scores a process holds, those asked for last."""


@dataclass(frozen=True)
class Agreement:
    """The agreement report of a study: first without what is measured, then that of each criterion in its order."""

    actor: Actor
    study_id: int
    named: bool
    asked: dict[str, Any]

    def __call__(self, db: Database) -> Iterator[AgreementReport | CriterionAgreement | None]:
        """Measure it."""
        growing = agreement_in_parts(db, self.actor, self.study_id, named=self.named, **self.asked)
        for place, report in enumerate(growing):
            yield report if place == 0 else report.criteria[place - 1].measured

    @staticmethod
    def report(parts: list[Any]) -> AgreementReport:
        """The report from the parts that there are."""
        report: AgreementReport = parts[0]
        for place, measured in enumerate(parts[1:]):
            report = report.with_criterion(place, measured)
        return report


@dataclass(frozen=True)
class AgreementFile:
    """The agreement report of a study as a file; people are under their pseudonyms, whoever looks at the page."""

    of: Agreement
    ending: str

    def __call__(self, db: Database) -> bytes:
        """Measure it and write the file."""
        made = Report.of_study(agreement_report(db, self.of.actor, self.of.study_id, named=False, **self.of.asked))
        return report_file(made, slug(made.title), self.ending)


@dataclass(frozen=True)
class AgreementSoFar:
    """What a study's annotators agree so far, on a bounded number of items."""

    actor: Actor
    study_id: int

    def __call__(self, db: Database) -> SoFar:
        """Measure it."""
        return agreement_so_far(db, self.actor, self.study_id)


@dataclass(frozen=True)
class StudyResults:
    """The results of a study with their plots, as labels and scores were at the time that `stamp` says.

    `by` and `against`: of whose labels, and beside whose (`Results.of_study`).
    """

    actor: Actor
    study_id: int
    stamp: tuple[int, ...]
    asked: Resampling
    by: str | None = None
    against: str | None = None

    @property
    def key(self) -> Hashable:
        """What they are of, and how they are measured; not for whom."""
        about = (self.asked.resamples, self.asked.seed, self.asked.level, self.by, self.against)
        return ("results", self.study_id, self.stamp, *about)

    def __call__(self, db: Database) -> Results:
        """Measure them."""
        made = Results.of_study(db, self.actor, self.study_id, self.asked, by=self.by, against=self.against)
        return made.drawn()


@dataclass(frozen=True)
class DatasetFile:
    """The report of a dataset as a file, as labels, scores and items were at the time that `stamp` says."""

    actor: Actor
    project_id: int
    study_id: int | None
    stamp: tuple[object, ...]
    ending: str

    def __call__(self, db: Database) -> bytes:
        """Measure it and write the file."""
        made = dataset_report(db, self.actor, self.project_id, study_id=self.study_id)
        return report_file(made, STEM, self.ending)


# Fewer labels ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimates:
    """What the page Fewer labels shows of a study, as labels, scores and draws were at the time that `stamp` says."""

    actor: Actor
    study_id: int
    stamp: tuple[int, ...]
    criterion: str | None
    of: str
    n: int
    seed: int

    @property
    def key(self) -> Hashable:
        """What it is of; not for whom."""
        return ("estimates", self.study_id, self.stamp, self.criterion, self.of, self.n, self.seed)

    def __call__(self, db: Database) -> FewerLabels:
        """Estimate it."""
        return fewer_labels(
            db, self.actor, self.study_id, criterion=self.criterion, of=self.of, n=self.n, seed=self.seed
        )


@dataclass(frozen=True)
class PlannedWidth:
    """How many labels an interval of a width takes, for every figure of a criterion."""

    of: Estimates
    width: float

    @property
    def key(self) -> Hashable:
        """What it is of; not for whom."""
        return ("planned", self.of.key, self.width)

    def __call__(self, db: Database) -> list[Estimate]:
        """Plan it."""
        report, _ = estimate_report(
            db, self.of.actor, self.of.study_id, criterion=self.of.criterion, of=self.of.of, width=self.width
        )
        return [entry for entry in report.statistics if entry.name.startswith("labels_needed_")]


@dataclass(frozen=True)
class PlannedDesigns:
    """What designs of so many labels give for a criterion, and how many labels each takes for a width."""

    of: Estimates
    labels: int | None
    width: float | None

    @property
    def key(self) -> Hashable:
        """What it is of; not for whom."""
        return ("designs", self.of.key, self.labels, self.width)

    def __call__(self, db: Database) -> DesignPlan:
        """Plan them."""
        found = study_units(db, self.of.actor, self.of.study_id, criterion=self.of.criterion)
        return planned_designs(found.units(of=self.of.of), labels=self.labels, width=self.width)


# Judges ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckedJudge:
    """Whether a judge may be trusted, by the labels of a study as they were at the time that `stamp` says."""

    actor: Actor
    study_id: int
    stamp: tuple[int, ...]
    judge: str
    by: PeopleBy
    epsilon: float
    family: tuple[str, ...]
    asked: Resampling

    @property
    def key(self) -> Hashable:
        """What it is of, and how it is measured; not for whom."""
        how = (self.by, self.epsilon, self.family, self.asked.resamples, self.asked.seed)
        return ("judge", self.study_id, self.stamp, self.judge, *how)

    def __call__(self, db: Database, *, named: bool = True) -> CheckReport:
        """Measure it."""
        return check_report(
            db, self.actor, self.study_id,
            judge=self.judge, by=self.by, epsilon=self.epsilon, family=self.family, asked=self.asked, named=named,
        )  # fmt: skip


@dataclass(frozen=True)
class CheckFile:
    """What a judge is worth as a file; people are under their pseudonyms."""

    of: CheckedJudge
    ending: str

    def __call__(self, db: Database) -> bytes:
        """Measure it and write the file."""
        made = self.of(db, named=False)
        return report_file(made, slug(made.title), self.ending)


@dataclass(frozen=True)
class WhereJudgeDiffers:
    """The units of a criterion on which a judge and people differ most."""

    of: CheckedJudge
    criterion: str

    @property
    def key(self) -> Hashable:
        """What it is of; not for whom."""
        return ("differing", self.of.study_id, self.of.stamp, self.of.judge, self.of.by, self.criterion)

    def __call__(self, db: Database) -> DifferingUnits:
        """Find them."""
        return differing_units(
            db, self.of.actor, self.of.study_id, judge=self.of.judge, criterion=self.criterion, by=self.of.by
        )


@dataclass(frozen=True)
class Panel:
    """Several judges of a study combined by a rule."""

    actor: Actor
    study_id: int
    stamp: tuple[int, ...]
    judges: tuple[str, ...]
    rule: Rule

    @property
    def key(self) -> Hashable:
        """What it is of; not for whom."""
        return ("panel", self.study_id, self.stamp, self.judges, self.rule)

    def __call__(self, db: Database) -> PanelReport:
        """Combine them."""
        return panel_report(db, self.actor, self.study_id, judges=self.judges, rule=self.rule)


# Annotators -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Team:
    """How well each annotator of a study does."""

    actor: Actor
    study_id: int

    def __call__(self, db: Database) -> list[AnnotatorQuality]:
        """Measure it."""
        return annotator_quality(db, self.actor, self.study_id)


@dataclass(frozen=True)
class Annotator:
    """One annotator of a study at length."""

    actor: Actor
    study_id: int
    name: str

    def __call__(self, db: Database) -> OneAnnotator:
        """Measure it."""
        return one_annotator(db, self.actor, self.study_id, annotator=self.name)


# Alignment ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class More:
    """More of an alignment report: each statistic with its place among those there are then; in the end the notes."""

    statistics: list[tuple[int, Aligned]]
    notes: list[str]


@dataclass(frozen=True)
class Alignment:
    """The alignment report of a study: first its outline, then `More` of it."""

    actor: Actor
    study_id: int
    stamp: tuple[int, ...]
    named: bool
    labels: Labels
    by: str | None
    asked: Resampling
    epsilon: float

    @property
    def key(self) -> Hashable:
        """What it is of, and how it is measured; not for whom."""
        how = (self.asked.resamples, self.asked.seed, self.epsilon)
        return ("alignment", self.study_id, self.stamp, self.named, self.labels, self.by, *how)

    def __call__(self, db: Database) -> Iterator[Outline | More]:
        """Measure it."""
        growing = self._in_parts(db)
        report = next(growing)
        self._hold(report)
        yield Outline.of(report)
        sent: set[int] = set()
        last = time.monotonic()
        for report in growing:
            if time.monotonic() - last >= PART_SECONDS:
                yield self._more(report, sent)
                last = time.monotonic()
        yield self._more(report, sent)

    def _more(self, report: AlignmentReport, sent: set[int]) -> More:
        new = [(place, statistic) for place, statistic in enumerate(report.statistics) if id(statistic) not in sent]
        sent.update(id(statistic) for _, statistic in new)
        return More(new, [*report.notes, *report.warnings])

    def _in_parts(self, db: Database) -> Iterator[AlignmentReport]:
        return alignment_in_parts(
            db,
            self.actor,
            self.study_id,
            labels=self.labels,
            by=self.by,
            asked=self.asked,
            epsilon=self.epsilon,
            named=self.named,
        )

    def _hold(self, report: AlignmentReport) -> None:
        _held[self.key] = report
        _held.move_to_end(self.key)
        while len(_held) > MOST_HELD:
            _held.popitem(last=False)

    def unmeasured(self, db: Database) -> AlignmentReport:
        """The report before anything is measured, with its labels and scores; held for a while."""
        if self.key not in _held:
            self._hold(next(self._in_parts(db)))
        return _held[self.key]


_held: OrderedDict[Hashable, AlignmentReport] = OrderedDict()


@dataclass(frozen=True)
class ReportView:
    """`function(report, …)` of an alignment report without its statistics; with the database first, if `with_db`."""

    of: Alignment
    function: Callable[..., Any]
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)
    with_db: bool = False

    def __call__(self, db: Database) -> Any:
        """Do it."""
        report = self.of.unmeasured(db)
        before = (db, report) if self.with_db else (report,)
        return self.function(*before, *self.given, **self.named)


def alignment_file(
    db: Database, report: AlignmentReport, ending: str, statistics: list[Aligned], notes: list[str]
) -> bytes:
    """The report as one HTML file, or as Markdown or LaTeX with its pictures in a ZIP; people are under pseudonyms."""
    made = replace(report, statistics=statistics, notes=notes).under_pseudonyms(db)
    return report_file(AlignmentDocument.of_study(made), "alignment", ending)


def measured_alignment(parts: list[Any]) -> tuple[list[Aligned], list[str]]:
    """The statistics in their order, and the notes, from the parts after the outline."""
    statistics: list[Aligned] = []
    for part in parts[1:]:
        for place, statistic in part.statistics:
            statistics.insert(place, statistic)
    return statistics, parts[-1].notes if len(parts) > 1 else []
