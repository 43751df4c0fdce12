"""What a judge said of a study's items when they were shown to it in other ways, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session, col

from annotators.judges.judging import CANNOT
from annotators.judges.trust.trials import Trial, TrialName
from db.judging.trying import TRIAL
from db.models import ItemVersion, JudgedItem, Run, StudyItem
from db.query import pick
from db.studies.ratings import unit_name
from exports.judging.stored import counted

MODE = "retrieval_mode"
"""The field of items' metadata that says how the evidence was retrieved, as MRAG-Suite's files have it."""

DATA_SETS = ("dataset", "data_set")
"""The fields of items' metadata that say which data set an item is of; without one it is its category."""

MODES = ("gt_only", "gt_plus_distractors")
"""The two modes whose difference says how far distractors move a judge: GO and GPD of MRAG."""


@dataclass
class TrialLabels:
    """What came of one trial: criterion → unit → the label of each reply, as votes; and the units that it changed."""

    trial: Trial
    labels: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    changed: dict[str, set[str]] = field(default_factory=dict)

    def one_each(self, criterion: str) -> dict[str, str]:
        """Unit → label, of the units that have one."""
        found = self.labels.get(criterion, {})
        return {unit: labels[0] for unit, labels in found.items() if labels and labels[0] != CANNOT}


@dataclass(frozen=True)
class Trials:
    """All that a judge was tried with in a study."""

    done: Sequence[TrialLabels] = ()

    def named(self, name: TrialName) -> list[TrialLabels]:
        """The trials of one kind, the earlier ones first."""
        return [tried for tried in self.done if tried.trial.name == name]

    def repeated(self, criterion: str, before: Mapping[str, list[str]]) -> dict[str, list[str]]:
        """Unit → the label of each reply to the same call: those from `before`, or more where it was asked again."""
        found = dict(before)
        for tried in self.named("repeats"):
            for unit, labels in tried.labels.get(criterion, {}).items():
                if len(labels) > len(found.get(unit, ())):
                    found[unit] = labels
        return found


def trials_of(session: Session, study_id: int, name: str) -> Trials:
    """What the judge of this name was tried with in the study; trials of one kind and prompt are one."""
    found: dict[str, TrialLabels] = {}
    runs = session.execute(
        pick(Run.id, Run.version, Run.parameters)
        .where(col(Run.kind) == TRIAL, col(Run.name) == name)
        .order_by(col(Run.id))
    ).all()
    for run_id, version, parameters in runs:
        if parameters.get("study") != study_id:
            continue
        kept: dict[str, Any] = parameters["trial"]
        trial = Trial.from_json(kept)
        key = f"{version} {kept.get('prompt', {}).get('hash', '')} {kept.get('set', '')}"
        of_trial = found.setdefault(key, TrialLabels(trial))
        rows = session.execute(
            pick(JudgedItem.study_item_id, JudgedItem.shares, JudgedItem.unscored)
            .where(col(JudgedItem.run_id) == run_id)
            .execution_options(yield_per=1000)
        )
        for item, shares, unscored in rows:
            for criterion, targets in (shares or {}).items():
                for target, by_label in targets.items():
                    unit = unit_name(item, target)
                    labels = counted(by_label, trial.samples or 1)
                    of_trial.labels.setdefault(criterion, {})[unit] = labels
                    of_trial.changed.setdefault(criterion, set()).add(unit)
            for one in unscored:
                changed = of_trial.changed.setdefault(one["criterion"], set())
                changed.update(unit_name(item, target) for target in one["targets"])
    return Trials(list(found.values()))


def data_sets_of(session: Session, study_id: int) -> dict[int, str]:
    """Study item → the data set that it is of: what its metadata call so, else its category."""
    rows = session.execute(
        pick(StudyItem.id, ItemVersion.extra, ItemVersion.category)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == study_id)
        .execution_options(yield_per=1000)
    )
    found = {
        item: next((str(extra[name]) for name in DATA_SETS if extra and extra.get(name)), category)
        for item, extra, category in rows
    }
    return {item: name for item, name in found.items() if name}


def modes_of(session: Session, study_id: int) -> dict[int, str]:
    """Study item → how its evidence was retrieved, of items whose metadata says so."""
    rows = session.execute(
        pick(StudyItem.id, ItemVersion.extra)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == study_id)
        .execution_options(yield_per=1000)
    )
    return {item: str(extra[MODE]) for item, extra in rows if extra and extra.get(MODE)}
