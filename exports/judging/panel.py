"""A panel of judges in a study: their labels combined, and what that is worth against the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.base import TRUST
from annotators.judges.trust.panel import RULES, Combined, Rule, combined, panel_value
from db.engine import Database
from db.permissions import Actor
from exports.drawing.figures import figure
from exports.drawing.tables import TextTable
from exports.judging.data import CriterionLabels, judged_study


@dataclass(frozen=True)
class PanelReport:
    """The labels of a panel by criterion, its figures, and notes in words."""

    study: str
    judges: Sequence[str]
    rule: Rule
    asked: Resampling
    panels: Sequence[tuple[CriterionLabels, Combined]]
    statistics: Sequence[Aligned]
    notes: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """As `assay panel --json` prints it."""
        return {
            "study": self.study,
            "judges": list(self.judges),
            "rule": self.rule,
            "seed": self.asked.seed,
            "resamples": self.asked.resamples,
            "level": self.asked.level,
            "criteria": [
                {
                    "criterion": labels.name,
                    "units": len(panel.labels),
                    "ties": panel.ties,
                    "method": panel.method,
                }
                for labels, panel in self.panels
            ],
            "statistics": [statistic.to_json() for statistic in self.statistics],
            "labels": [
                {"criterion": labels.name, "unit": unit, "label": labels.values[vote], "sure": panel.sure[unit]}
                for labels, panel in self.panels
                for unit, vote in sorted(panel.labels.items())
            ],
            "notes": list(self.notes),
        }


def panel_report(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    judges: Sequence[str],
    rule: Rule = "majority",
    asked: Resampling | None = None,
) -> PanelReport:
    """Every criterion that two or more of these judges labelled, combined by the rule and held against people.

    People's label of a unit is that of their majority, ties left out. NotFound for a judge without labels here,
    InvalidInput for fewer than two judges, one named twice, or an unknown rule.
    """
    asked = asked or Resampling()
    if rule not in RULES:
        raise InvalidInput(f"{rule!r} is no rule of a panel. Known: {', '.join(RULES)}.")
    twice = [name for name in dict.fromkeys(judges) if list(judges).count(name) > 1]
    if twice:
        raise InvalidInput(f"The judge {twice[0]!r} is named twice. Name each member of a panel once.")
    if len(judges) < 2:
        raise InvalidInput(f"A panel of {len(judges)} has nothing to combine: name two judges or more.")
    found = judged_study(db, actor, study_id, judges)
    panels, statistics, notes = [], [], []
    for labels in found.criteria:
        members = {judge: labels.judges[judge] for judge in judges if judge in labels.judges}
        if len(members) < 2:
            notes.append(f"{labels.title}: labelled by {len(members)} of these judges, so that nothing is combined")
            continue
        panel = combined(members, rule, labels.labels, seed=asked.seed)
        panels.append((labels, panel))
        notes += _notes(labels, panel)
        people, ties = labels.majority
        if ties:
            notes.append(f"{labels.title}: {ties:,} units on which people tie are left out")
        about: dict[str, Any] = {"criterion": labels.name, "metric": f"panel ({rule})"}
        statistics += panel_value(members, panel.labels, people, asked, clusters=found.units.question, **about)
    notes += found.notes_on_left_out
    return PanelReport(found.name, list(judges), rule, asked, panels, statistics, notes)


def _notes(labels: CriterionLabels, panel: Combined) -> list[str]:
    said = [f"{labels.title}: {note}" for note in panel.notes]
    if panel.ties:
        said.append(f"{labels.title}: {panel.ties:,} ties among the judges have no label of the panel")
    return said


def panel_table(found: PanelReport) -> TextTable:
    """How often the panel and each member agree with people, and what the panel is worth against its best member."""
    titles = {labels.name: labels.title for labels, _ in found.panels}
    rows = [
        [
            titles.get(statistic.criterion or "", ""),
            TRUST.get(statistic.name).title,
            statistic.group or "",
            figure(statistic, 3),
            f"{statistic.n:,}",
            statistic.reason or "",
        ]
        for statistic in found.statistics
    ]
    columns = ("Criterion", "Figure", "Judge", "Value", "Units", "Why not")
    return TextTable.of(f"A panel of {len(found.judges)} by {found.rule}", columns, rows, words=["Figure", "Judge"])
