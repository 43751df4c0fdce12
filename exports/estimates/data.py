"""The units of a study's estimates: its items, what people said of few, scores and judges of many, and draws."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from sqlalchemy import func
from sqlmodel import col

from annotators.arrays import BoolArray, FloatArray, IntArray
from annotators.errors import InvalidInput, NotFound
from annotators.estimates.drawing import Batch, weighed
from annotators.estimates.raters import LabelsByRater
from annotators.estimates.sample import ITEMS, Units
from annotators.estimates.sequence import first_labels
from annotators.items.targets import TargetKind
from db.designing.draws import KeptDraw, draws_of
from db.engine import Database
from db.models import Annotation, AnnotationKind, Study
from db.permissions import Actor
from db.query import pick
from exports.alignment.data import Human, StudyData, study_data
from exports.alignment.scores import Metric, ProjectItem, project_items, study_item_of, unit_key
from exports.alignment.study import drawn_with, metrics_of
from exports.estimates.features import features_of

JUDGE = "judge:"
FEWEST_OF_A_CATEGORY = 5
_NO_RANDOM_ORDERS = {
    "given": "as they were imported",
    "by_system": "one system after another",
    "by_category": "one category after another",
}
"""Labels that each category must have for categories to be strata."""
BY = ("system", "category")


@dataclass(frozen=True, eq=False)
class StudyUnits:
    """The units of one criterion of a study with their labels so far, in arrays of one length (N).

    `names` are the items' external ids (with the target, where it is not the item), `study_item` their places in the
    study (-1: an item of the project beside it), `label` the mean of what its annotators gave and `by_rater` all of it,
    `beside` the predictions that are no scores, `stratum` what they were drawn from where the study says it by other
    fields than system and category, `order` in which the labels came. `about` makes `Units` of any part of
    the labels. `notes` say what was assumed.
    """

    data: StudyData
    human: Human
    names: Sequence[str]
    study_item: IntArray
    question: IntArray
    category: Sequence[str]
    system: Sequence[str]
    stratum: Sequence[str]
    label: FloatArray
    by_rater: LabelsByRater
    metrics: Sequence[Metric]
    predictions: dict[str, FloatArray]
    order: IntArray
    at: FloatArray
    draws: Sequence[KeptDraw]
    own_chance: FloatArray | None
    notes: Sequence[str]
    beside: Sequence[str] = ()
    _of_all: dict[tuple[str, str | None, int], Units] = field(default_factory=dict, init=False, repr=False)

    @property
    def study(self) -> Study:
        """The study."""
        return self.data.study

    @property
    def labelled(self) -> BoolArray:
        """Which units have a label (N)."""
        return ~np.isnan(self.label)

    @property
    def clustered(self) -> bool:
        """Whether the labelled items came question by question, so that questions are what was drawn."""
        whole = self.human.criterion.target in {TargetKind.ITEM, TargetKind.PAIR}
        return self.study.item_order == "by_question" or not whole

    def units(
        self, *, of: str = ITEMS, by: str | None = None, labelled: BoolArray | None = None, seed: int = 0
    ) -> Units:
        """The units for the estimates: of these items or of the population, by group, with these labels only.

        Of the items each was drawn by itself, so that their questions play no part, except where items come question by
        question or a criterion has several targets an item; of the population questions are the clusters. Those of all
        labels are made once, with what is fitted to them.
        """
        if labelled is None:
            key = of, by, seed
            if key not in self._of_all:
                self._of_all[key] = self._units(of, by, self.labelled, seed)
            return self._of_all[key]
        return self._units(of, by, self.labelled & labelled, seed)

    def _units(self, of: str, by: str | None, have: BoolArray, seed: int) -> Units:
        chance, open_ = self._chances(have)
        if self.own_chance is not None:
            chance, open_ = np.where(have, self.own_chance, 1.0), None
        together = of != ITEMS or self.clustered
        return Units.of(
            self.by_rater.among(have),
            self.predictions,
            n=len(self.label),
            clusters=self.question.tolist() if together else None,
            strata=self._strata(have),
            groups=None if by is None else [self.system, self.category][BY.index(by)],
            probability=chance,
            open_=open_,
            population=None if of == ITEMS else float("inf"),
            scale=(0.0, 1.0) if self.human.about_pairs else self.human.scale,
            seed=seed,
            beside=self.beside,
        )

    def first(self, n: int) -> BoolArray:
        """Which units have the first n labels."""
        return first_labels(self.order, self.labelled, n)

    def _strata(self, have: BoolArray) -> list[str] | None:
        """Categories (or what the sample was drawn per) where each has labels enough; None: all in one."""
        category, system = self.category, self.system
        per = str(self.study.settings.get("per") or "")
        if self.stratum:
            keys = list(self.stratum)
        elif "system" in per and "category" in per:
            keys = [f"{a}, {b}" for a, b in zip(system, category, strict=True)]
        else:
            keys = list(system if per == "system" else category)
        labelled = dict.fromkeys(keys, 0)
        for key, there in zip(keys, have.tolist(), strict=True):
            labelled[key] += there
        return keys if len(labelled) > 1 and min(labelled.values()) >= FEWEST_OF_A_CATEGORY else None

    def _chances(self, have: BoolArray) -> tuple[FloatArray | None, FloatArray | None]:
        """The probabilities of labels from the draws, and what they leave open; None without draws."""
        batches = self._batches(have)
        if not batches:
            return None, None
        return weighed(len(self.label), batches)

    def _batches(self, have: BoolArray) -> list[Batch]:
        """What was labelled without a draw, as a draw of all, and each draw with labels by now."""
        drawn_at = np.full(len(self.label), -1)
        for number, draw in enumerate(self.draws):
            drawn_at[np.isin(self.study_item, list(draw.chances))] = number
        if not (have & (drawn_at >= 0)).any():
            return []
        outside = have & (drawn_at < 0)
        nothing = np.zeros(len(self.label), dtype=np.bool_)
        found = []
        if outside.any():
            places = np.flatnonzero(outside)
            share = len(places) / len(self.label)
            found.append(Batch(places, np.full(len(places), share), np.ones(len(places), dtype=np.bool_), nothing))
        for number, draw in enumerate(self.draws):
            places = np.flatnonzero(drawn_at == number)
            chance = np.array([draw.chances[place] for place in self.study_item[places].tolist()])
            before = (self.at < draw.at.timestamp()) & outside
            known = before | ((drawn_at >= 0) & (drawn_at < number) & have)
            if len(places):
                found.append(Batch(places, chance, have[places], known))
        return found

    @property
    def open_items(self) -> IntArray:
        """The places of the units that can be drawn: without a label, of the study, and not drawn before."""
        drawn = {place for draw in self.draws for place in draw.chances}
        free = ~self.labelled & (self.study_item >= 0) & ~np.isin(self.study_item, list(drawn))
        return np.flatnonzero(free)


def study_units(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    criterion: str | None = None,
    predict: Sequence[str] = (),
    data: StudyData | None = None,
) -> StudyUnits:
    """The units of a criterion (None: the first whose labels are numbers), predicted by these scores and judges.

    `predict` names scores, `judge:NAME` judges; none takes all that fit the criterion. The finite set is that of the
    study's items; of a study that is itself a sample of the project's items, all of these that could have been drawn.
    Where some scores or judges are combined, so is what is known of every item (`features_of`). A preference between
    two answers is 1 where the first wins, 0 where the second does, and a half for a tie. NotFound lists the criteria,
    scores or judges; InvalidInput for labels that are no numbers.
    """
    data = data or study_data(db, actor, study_id, settled=False, named=False)
    human = _human(data, criterion)
    metrics = _chosen(metrics_of(data, human), human, predict)
    draws = draws_of(db, actor, study_id)
    given = _given(human)
    known, notes = _known(data, human, given, metrics), _what_labels_are(data, human)
    units = sorted(known, key=lambda unit: (study_item_of(unit), unit))
    study_item = np.array([study_item_of(unit) for unit in units], dtype=np.int64)
    facts = [data.units.get(unit) or data.items[study_item_of(unit)].unit(unit) for unit in units]
    names = [fact.item if fact.target == "item" else f"{fact.item}|{fact.target}" for fact in facts]
    predictions = {metric.name: [metric.values.get(unit, np.nan) for unit in units] for metric in metrics}
    question, category = [fact.question for fact in facts], [fact.groups["category"] for fact in facts]
    system = [fact.groups["system"] for fact in facts]
    stratum = [data.strata.get(fact.version_id, "") for fact in facts] if data.strata else []
    said = [given.get(unit, []) for unit in units]
    label = [float(np.mean([value for _, value in labels])) if labels else np.nan for labels in said]
    version = [fact.version_id for fact in facts]
    chance = None
    advised = drawn_with(data.study)
    if data.beginning is not None:
        chance = np.array([data.beginning.chance.get(place, np.nan) for place in study_item.tolist()])
        label = [value if there else np.nan for value, there in zip(label, (~np.isnan(chance)).tolist(), strict=True)]
        notes.append(data.beginning.in_words)
    elif human.criterion.target == "item" and not draws and _is_a_sample(data.study):
        beside = _beside(db, data, metrics, set(names))
        for item in beside:
            names.append(item.item)
            question.append(item.question)
            category.append(item.category or "(none)")
            system.append(item.system)
            if data.strata:
                stratum.append(data.strata.get(item.version_id, ""))
            label.append(np.nan)
            version.append(item.version_id)
            for metric in metrics:
                predictions[metric.name].append(item.scores.get(metric.name, np.nan))
        study_item = np.r_[study_item, np.full(len(beside), -1)]
        if beside:
            notes.append(f"the study is a sample: {len(beside):,} more scored items of the project count")
        if advised:
            chance = np.array([advised.get(name, np.nan) for name in names])
    at = _first_labelled(db, study_id)
    first = np.array([at.get(place, (np.inf, 0))[0] for place in study_item.tolist()], dtype=np.float64)
    by_id = np.array([at.get(place, (0, 2**62))[1] for place in study_item.tolist()], dtype=np.int64)
    order = np.empty(len(names), dtype=np.int64)
    order[np.lexsort((by_id, first))] = np.arange(len(names))
    in_order = _NO_RANDOM_ORDERS.get(data.study.item_order)
    if in_order and not draws and len(given) < len(units):
        notes.append(f"the items come {in_order}: those labelled so far are taken for a random part")
    features = features_of(db, version) if metrics and not predict else {}
    there = np.array(label, dtype=np.float64)
    return StudyUnits(
        data=data,
        human=human,
        names=names,
        study_item=study_item,
        question=np.array(question, dtype=np.int64),
        category=category,
        system=system,
        stratum=stratum,
        label=there,
        by_rater=_by_rater(said).among(~np.isnan(there[: len(said)])),
        metrics=metrics,
        predictions={name: np.array(column, dtype=np.float64) for name, column in {**predictions, **features}.items()},
        order=order,
        at=first,
        draws=draws,
        own_chance=chance,
        notes=notes,
        beside=tuple(features),
    )


def estimable(data: StudyData) -> list[Human]:
    """The criteria that have estimates: those whose labels are numbers."""
    return [human for human in data.humans if _has_mean(human)]


def _has_mean(human: Human) -> bool:
    return human.reason is None and (human.preferences or not human.about_pairs)


def _human(data: StudyData, criterion: str | None) -> Human:
    if criterion is None:
        for human in estimable(data):
            return human
        raise InvalidInput(
            f"No criterion of {data.study.name!r} has labels that are numbers, of which there are means."
        )
    human = data.human(criterion)
    if not _has_mean(human):
        why = human.reason or "they are about pairs of answers, and say not which of the two is better"
        raise InvalidInput(f"The labels of {criterion!r} have no mean: {why}.")
    return human


def _given(human: Human) -> dict[str, list[tuple[str, float]]]:
    """Unit → who gave it which number; without labels that were asked for as people disagreed.

    These are of contested units alone: they would draw the labels of one rater towards what most say.
    """
    found: dict[str, list[tuple[str, float]]] = {}
    for person, labels in human.people.items():
        for unit, value in labels.items():
            if (person, unit) not in human.added:
                won = 0.5 - 0.5 * float(np.sign(value)) if human.about_pairs else value
                found.setdefault(unit, []).append((person, won))
    return found


def _by_rater(said: Sequence[Sequence[tuple[str, float]]]) -> LabelsByRater:
    """The labels of units (N) by who gave them."""
    people = {person: place for place, person in enumerate(sorted({who for labels in said for who, _ in labels}))}
    rows = [(unit, people[who], value) for unit, labels in enumerate(said) for who, value in labels]
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return LabelsByRater(
        np.array(columns[0], dtype=np.int64), np.array(columns[1], dtype=np.int64), np.array(columns[2], dtype=float)
    )


def _what_labels_are(data: StudyData, human: Human) -> list[str]:
    """What has to be known of the labels: whose win a preference counts, and which of them do not count."""
    notes = list[str]()
    if human.about_pairs:
        pairs = sorted({facts.groups["system"] for facts in data.items.values()})
        of = f": {pairs[0]}" if len(pairs) == 1 else ""
        notes.append(f"the mean is the share of pairs that the first answer wins, ties half a win{of}")
    if human.added:
        notes.append(
            f"{len(human.added):,} label{'s' * (len(human.added) != 1)} that were asked for as people disagreed are "
            "left out: they are of contested items alone"
        )
    return notes


def _chosen(metrics: Sequence[Metric], human: Human, predict: Sequence[str]) -> list[Metric]:
    if not predict:
        return list(metrics)
    found = list[Metric]()
    for name in predict:
        wanted = name.removeprefix(JUDGE)
        fitting = [
            metric
            for metric in metrics
            if metric.judge == name.startswith(JUDGE) and wanted in {metric.name, metric.scorer}
        ]
        if not fitting:
            known = [f"{JUDGE}{metric.scorer}" if metric.judge else metric.name for metric in metrics]
            raise NotFound(
                f"Nothing named {name!r} predicts {human.criterion.name!r} here. Known: {', '.join(known) or 'none'}."
            )
        found += [metric for metric in fitting if metric not in found]
    return found


def _known(data: StudyData, human: Human, values: Collection[str], metrics: Sequence[Metric]) -> set[str]:
    """The units of this criterion: every item of the study, or every target that somebody labelled or scored."""
    if human.criterion.target == "item":
        return {str(place) for place in data.items}
    if human.about_pairs:
        return {unit_key(place, TargetKind.PAIR) for place in data.items}
    return set(values) | {unit for metric in metrics for unit in metric.values}


def _is_a_sample(study: Study) -> bool:
    """Whether the study's items were drawn from the project's, or have labels made elsewhere, rather than chosen."""
    chosen = any(study.settings.get(name) for name in ("items", "where", "with_documents", "one_per_question"))
    taken = study.settings.get("drawn_with") or study.settings.get("foreign")
    return bool(taken) or (study.settings.get("sample") is not None and not chosen)


def _beside(db: Database, data: StudyData, metrics: Sequence[Metric], there: set[str]) -> list[ProjectItem]:
    known = [metric for metric in metrics if not metric.judge]
    left_out = there | set(data.study.settings.get("not_drawn_from") or ())
    return [item for item in project_items(db, data.study.project_id, known) if item.item not in left_out]


def _first_labelled(db: Database, study_id: int) -> dict[int, tuple[float, int]]:
    """Study item → when somebody labelled it first (seconds since 1970), and the annotation's id."""
    with db.read() as session:
        rows = session.execute(
            pick(Annotation.study_item_id, func.min(Annotation.created_at), func.min(Annotation.id))
            .where(col(Annotation.study_id) == study_id, col(Annotation.kind) != AnnotationKind.MODEL)
            .group_by(col(Annotation.study_item_id))
        )
        return {place: (_seconds(at), annotation) for place, at, annotation in rows}


def _seconds(at: datetime) -> float:
    return at.timestamp()
