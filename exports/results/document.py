"""All results of a study, the same for the page, the command line and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from db.permissions import Actor
from exports.drawing.report_files import Section, made_by
from exports.drawing.tables import TextTable, as_text
from exports.results.base import Figure, Findings, fitting
from exports.results.labels import StudyLabels


@dataclass(frozen=True)
class Results:
    """What came out of a study: the findings of all reports that its protocol has, in their order."""

    study: str
    protocol: str
    facts: Sequence[tuple[str, str]]
    findings: Sequence[Findings]

    @classmethod
    def of_study(cls, db: Database, actor: Actor | None, study_id: int, asked: Resampling | None = None) -> Results:
        """Measure them; permissions are those of reading the study's labels. Plots are left for `drawn`."""
        asked = asked or Resampling()
        labels = StudyLabels.of(db, actor, study_id)
        people = {person for column in labels.found.criteria for person in column.people}
        facts = [
            ("Study", labels.study.name),
            ("Protocol", f"{labels.protocol.title}, version {labels.protocol.version}"),
            (
                "Pairs of items" if labels.protocol.about_pairs else "Items",
                f"{labels.study.n_items:,}, {len(labels.found.annotations.item):,} annotations of them",
            ),
            ("Annotators", f"{len(people):,}"),
            ("Intervals", f"{100 * asked.level:g} %, over {labels.over}"),
            made_by(),
        ]
        findings = [report.make(labels, asked) for report in fitting(labels.protocol)]
        return cls(labels.study.name, labels.protocol.name, facts, findings)

    def drawn(self) -> Results:
        """The same with the plots of every report."""
        return replace(self, findings=[found.drawn() for found in self.findings])

    @property
    def title(self) -> str:
        """The heading."""
        return f"Results of study {self.study}"

    @property
    def figures(self) -> list[Figure]:
        """Every figure of every report."""
        return [figure for found in self.findings for figure in found.figures]

    @property
    def notes(self) -> list[str]:
        """What a reader must know beside the figures."""
        return [note for found in self.findings for note in found.notes]

    def sections(self) -> list[Section]:
        """The parts of all reports, in their order."""
        return [section for found in self.findings for section in found.sections]

    def tables(self) -> list[TextTable]:
        """The tables of all sections."""
        return [table for section in self.sections() for table in section.tables]

    def to_json(self) -> dict[str, Any]:
        """As `assay results --json` prints it."""
        return {
            "study": self.study,
            "protocol": self.protocol,
            "rows": [figure.to_json() for figure in self.figures],
            "tables": [
                {"caption": table.caption, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}
                for table in self.tables()
            ],
            "notes": self.notes,
        }

    def in_words(self) -> str:
        """The whole in columns of text."""
        blocks = [self.title, ""]
        for section in self.sections():
            blocks.append(section.title)
            for table in section.tables:
                blocks += [table.caption, as_text(table), ""]
            blocks += [*section.words, ""]
        return "\n".join([*blocks, *self.notes]).rstrip()
