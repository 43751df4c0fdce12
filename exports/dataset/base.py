"""What the parts of a dataset's report are made of: whose data it is, and what a part gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from annotators.arrays import IntArray
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Result
from db.annotating.amendments import amendments_by_study
from db.engine import Database
from db.models import Amendment, Study
from db.people.pseudonyms import pseudonyms
from db.permissions import Actor
from db.studies.ratings import n_imported
from exports.agreement.quality import AnnotatorQuality, annotator_quality
from exports.agreement.report import Report
from exports.agreement.study import AgreementReport, agreement_report
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import AlignmentReport, alignment_report
from exports.drawing.report_files import Section
from exports.judging.data import JudgedStudy, judged_study
from exports.results.document import Results
from exports.results.labels import StudyLabels

Numbers = dict[str, Any]
"""Name → value: a number, or None where it is not defined; a name says what it is of, with dots between."""


@dataclass(frozen=True)
class Part:
    """What one part of the report says: sections, every number in them by its name, what limits the data.

    `statistics` are the names of the statistics that it gives, whose references the report lists.
    """

    sections: Sequence[Section] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
    limits: Sequence[str] = ()
    statistics: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class OfStudy:
    """A study with everything that pages show of it, each measured once, by the functions that the pages call.

    People have their pseudonyms.
    """

    db: Database
    actor: Actor
    study_id: int
    asked: Resampling

    @cached_property
    def labels(self) -> StudyLabels:
        """The labels of single annotators and the settled ones."""
        return StudyLabels.of(self.db, self.actor, self.study_id)

    @property
    def study(self) -> Study:
        """The study as it is."""
        return self.labels.study

    @property
    def name(self) -> str:
        """Its name."""
        return self.study.name

    @property
    def about_pairs(self) -> bool:
        """Whether its units are pairs of items."""
        return self.labels.protocol.about_pairs

    def items(self, n: int) -> str:
        """So many of its items, or pairs of items, in words."""
        return count(n, "pair of items", "pairs of items") if self.about_pairs else count(n, "item")

    @property
    def is_labelled(self) -> bool:
        """Whether somebody has labelled anything."""
        return bool(len(self.labels.found.annotations.item))

    @cached_property
    def imported(self) -> int:
        """How many of its annotations were made elsewhere."""
        with self.db.read() as session:
            return n_imported(session, self.study_id)

    @cached_property
    def annotators_of_items(self) -> IntArray:
        """How many people have labelled each item that has labels."""
        given: IntArray = np.unique(self.labels.found.annotations.item, return_counts=True)[1]
        return given

    @property
    def overlap(self) -> str:
        """How many annotators an item is to have; of labels that were made elsewhere, how many it has."""
        if not self.study.settings.get("foreign"):
            return f"{self.study.overlap:,}"
        given = self.annotators_of_items
        low, high = (int(given.min()), int(given.max())) if len(given) else (0, 0)
        return f"{low:,}" if low == high else f"{low:,} to {high:,}"

    @cached_property
    def agreement(self) -> AgreementReport:
        """The agreement of its annotators, as `assay agreement` measures it."""
        asked = self.asked
        return agreement_report(
            self.db, self.actor, self.study_id, seed=asked.seed, resamples=asked.resamples, level=asked.level,
            named=False,
        )  # fmt: skip

    @cached_property
    def agreement_document(self) -> Report:
        """The same as a report."""
        return Report.of_study(self.agreement)

    @cached_property
    def alignment(self) -> AlignmentReport:
        """Metrics and judges against its people, as `assay alignment` measures it."""
        return alignment_report(self.db, self.actor, self.study_id, asked=self.asked, named=False)

    @cached_property
    def alignment_document(self) -> AlignmentDocument:
        """The same as a report."""
        return AlignmentDocument.of_study(self.alignment)

    @cached_property
    def judged(self) -> JudgedStudy:
        """What its judges said beside its people."""
        return judged_study(self.db, self.actor, self.study_id, named=False)

    @cached_property
    def results(self) -> Results:
        """What came out of it, as `assay results` gives it."""
        return Results.of_study(self.db, self.actor, self.study_id, self.asked)

    @cached_property
    def team(self) -> list[AnnotatorQuality]:
        """How well each annotator did."""
        return annotator_quality(self.db, self.actor, self.study_id)

    @cached_property
    def called(self) -> dict[int, str]:
        """Person id → pseudonym, of everybody who submitted something."""
        with self.db.read() as session:
            return pseudonyms(session, self.study_id)

    @cached_property
    def amendments(self) -> Sequence[Amendment]:
        """What was changed while it was under way."""
        with self.db.read() as session:
            return list(amendments_by_study(session, [self.study_id])[self.study_id])


@dataclass(frozen=True, eq=False)
class Source:
    """The project, and those of its studies that the report is about; `only` is set where it is about one."""

    db: Database
    actor: Actor
    project_id: int
    project: str
    studies: Sequence[OfStudy]
    only: OfStudy | None
    asked: Resampling

    def titled(self, title: str, study: OfStudy) -> str:
        """A section's title, with the study's name where the report has several."""
        return title if len(self.studies) == 1 else f"{title}: study {study.name}"

    def named(self, name: str, study: OfStudy) -> str:
        """The name of a number, with the study's where the report has several."""
        return name if len(self.studies) == 1 else f"{study.name}.{name}"


def once(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """(what it is about, sentence) as sentences, each once, after all that it is about."""
    about: dict[str, dict[str, None]] = {}
    for name, sentence in said:
        about.setdefault(sentence, {})[name] = None
    return (f"{', '.join(names)}: {sentence}" for sentence, names in about.items())


def figure_numbers(name: str, found: Result) -> Numbers:
    """The value of a figure and the ends of its interval, where it has one."""
    numbers: Numbers = {name: found.value}
    if found.low is not None and found.high is not None:
        numbers |= {f"{name}.low": found.low, f"{name}.high": found.high}
    return numbers
