"""All results of a study, the same for the page, the command line and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from db.judging.said import judge_named, judges_of, people_labelled, stream_said
from db.permissions import Actor
from db.studies.ratings import may_see_names
from exports.drawing.report_files import Section, made_by
from exports.drawing.tables import TextTable, as_text
from exports.results.base import Figure, Findings, fitting
from exports.results.beside import beside
from exports.results.labels import StudyLabels, Whose


@dataclass(frozen=True)
class Results:
    """What came out of a study: the findings of all reports that its protocol has, in their order."""

    study: str
    protocol: str
    facts: Sequence[tuple[str, str]]
    findings: Sequence[Findings]

    @classmethod
    def of_study(
        cls,
        db: Database,
        actor: Actor | None,
        study_id: int,
        asked: Resampling | None = None,
        *,
        by: str | None = None,
        against: str | None = None,
    ) -> Results:
        """Measure them; permissions are those of reading the study's labels. Plots are left for `drawn`.

        `by` is whose labels they are of: people's (`people`, `settled`), or a judge's, by its name; where nobody is
        named, people's, and in a study that nobody but one judge has labelled that judge's. `against` is whose labels
        stand beside them, with the differences, in the same words. InvalidInput where several judges could be meant,
        or both are the same; NotFound for a judge who has labelled nothing here.
        """
        asked = asked or Resampling()
        judge = _judge(db, actor, study_id, by)
        labels = StudyLabels.of(db, actor, study_id, judge=judge)
        people = {person for column in labels.found.criteria for person in column.people}
        facts = [
            ("Study", labels.study.name),
            ("Protocol", f"{labels.protocol.title}, version {labels.protocol.version}"),
            (
                "Pairs of items" if labels.protocol.about_pairs else "Items",
                f"{labels.study.n_items:,}, {len(labels.found.annotations.item):,} annotations of them",
            ),
            ("Annotators", f"{len(people):,}") if judge is None else ("Judge", judge),
            ("Intervals", f"{100 * asked.level:g} %, over {labels.over}"),
            made_by(),
        ]
        findings = [report.make(labels, asked) for report in fitting(labels.protocol, judge=judge is not None)]
        if judge is not None:
            findings.append(Findings(notes=_left_open(labels)))
        if against is not None:
            findings.insert(0, _beside(labels, against, asked))
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


PEOPLE: dict[str, Whose] = {"people": "each", "settled": "settled"}
"""How people are named whose labels results are of, and which labels that is where others stand beside them."""


def _judge(db: Database, actor: Actor | None, study_id: int, by: str | None) -> str | None:
    """The judge whose labels are meant; None: people's."""
    if by is not None:
        return None if by in PEOPLE else by
    may_see_names(db, actor, study_id)  # permission, before anything is read
    with db.read() as session:
        judges = [] if people_labelled(session, study_id) else list(judges_of(session, study_id))
    if len(judges) > 1:
        raise InvalidInput(f"Several judges have labelled here: {', '.join(map(repr, judges))}. Name one with --by.")
    return judges[0] if judges else None


def _beside(labels: StudyLabels, against: str, asked: Resampling) -> Findings:
    """What is compared with whose labels."""
    if against in PEOPLE:
        if labels.judge is None:
            raise InvalidInput(
                f"The results are of people’s labels already. Name a judge with --by, or leave {against!r} out."
            )
        other = StudyLabels.of(labels.db, labels.actor, labels.study_id)
        called = "people" if against == "people" else "settled labels"
        return beside(labels, other, PEOPLE[against], called, asked)
    if against == labels.judge:
        raise InvalidInput(f"{against!r} would stand beside itself. Name people, settled, or another judge.")
    other = StudyLabels.of(labels.db, labels.actor, labels.study_id, judge=against)
    return beside(labels, other, "judge", against, asked)


def _left_open(labels: StudyLabels) -> list[str]:
    """How much of the study the judge has labelled, and what it left without a label, by reason."""
    reasons: Counter[str] = Counter()
    judged: set[int] = set()
    with labels.db.read() as session:
        person_id = judge_named(session, labels.study, labels.judge or "")
        for unit in stream_said(session, labels.study_id, person_id):
            if unit.state == "open" and any(unit.criterion == one.name for one in labels.protocol.criteria):
                reasons[unit.reason or ""] += 1
            elif unit.state != "open":
                judged.add(unit.study_item_id)
    notes = [f"{labels.judge} has labels on {len(judged):,} of {count(labels.study.n_items, 'item')}."]
    if reasons:
        said = ", ".join(f"{reason}: {n:,}" for reason, n in reasons.most_common())
        notes.append(f"Without a label of the judge, and in no share: {said}.")
    return notes
