"""A panel of judges in a study: their labels combined, and what that is worth against the best of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import held_in_words, percent
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.base import TRUST
from annotators.judges.trust.panel import RULES, Combined, Rule, combined, panel_value, why_not
from db.engine import Database
from db.permissions import Actor
from exports.drawing.figures import figure
from exports.drawing.tables import TextTable
from exports.judging.data import CriterionLabels, judged_study

Members = Mapping[str, Mapping[str, str]]
"""Judge → unit → label."""


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

    People's label of a unit is that of their majority, ties left out. Where the rule cannot combine so many judges, or
    such labels, a note says why, and what can be done. NotFound for a judge without labels here,
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
        numbers = _numbers(labels)
        if reason := why_not(rule, len(members), numbers):
            notes.append(f"{labels.title}: {reason}")
            continue
        panel = combined(members, rule, labels.labels, seed=asked.seed, numbers=numbers)
        panels.append((labels, panel))
        people = labels.majority[0]
        notes += _notes(labels, members, panel)
        about: dict[str, Any] = {"criterion": labels.name, "metric": f"panel ({rule})"}
        statistics += panel_value(members, panel.labels, people, asked, clusters=found.units.question, **about)
    notes += found.notes_on_left_out
    return PanelReport(found.name, list(judges), rule, asked, panels, statistics, notes)


def _numbers(labels: CriterionLabels) -> dict[Any, float] | None:
    """Label → number, of declared labels on a scale of more than two; None of others."""
    if not labels.criterion.ordered or len(labels.criterion.label_list()) < 3 or labels.scale is None:
        return None
    found = {label: labels.numbers.number(label) for label in labels.labels}
    return {label: number for label, number in found.items() if number is not None}


def _notes(labels: CriterionLabels, members: Members, panel: Combined) -> list[str]:
    """What the model says, how many ties have no label, and on how many units panel and people are compared."""
    said = [f"{labels.title}: {note}" for note in panel.notes]
    if panel.ties:
        share = percent(panel.ties / (panel.ties + len(panel.labels)))
        odd = ": an odd number of judges leaves fewer" if len(members) % 2 == 0 else ""
        said.append(f"{labels.title}: {panel.ties:,} ties among the judges ({share}) have no label of the panel{odd}")
    people, _ = labels.majority
    labelled = {unit for given in labels.people.values() for unit in given}
    every = set.intersection(*(set(given) for given in members.values()))
    rest = Counter[str]()
    n = 0
    for unit in labelled.union(*members.values()):
        if unit not in labelled:
            rest["that no person has labelled"] += 1
        elif unit not in people:
            rest["on which people tie"] += 1
        elif unit not in every:
            rest["that not every judge has labelled"] += 1
        elif unit not in panel.labels:
            rest["on which the judges tie"] += 1
        else:
            n += 1
    return [*said, f"{labels.title}: compared on {held_in_words(n, rest)}"]


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
    return TextTable.of(
        f"A panel of {len(found.judges)} by {found.rule}", columns, rows, words=["Figure", "Judge"]
    ).without_empty()
