"""Every figure about one judge on one criterion of a study: against people, against itself, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from annotators.alignment import alternative_annotator_test, human_ceiling
from annotators.alignment.statistics.alternative_annotator import ADVANTAGE, WINNING_RATE
from annotators.alignment.statistics.base import AlignmentStatistic
from annotators.alignment.statistics.calibration import ERROR as CALIBRATION
from annotators.alignment.statistics.calibration import Bin
from annotators.alignment.tables.pairs import Pairs
from annotators.arrays import np
from annotators.figures import money
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.remarks import TAKEN_AS_RIGHT
from annotators.intervals.result import Aligned
from annotators.judges.trust.as_rater import one_more_rater
from annotators.judges.trust.confusing import Confusion, confusion
from annotators.judges.trust.contradicting import (
    FLIP_EVIDENCE,
    FLIP_LABELS,
    FLIP_ORDER,
    HARMLESS,
    INJECTED,
    SELF_AGREEMENT,
    flip_rate,
    self_agreement,
)
from annotators.judges.trust.errors import (
    FAMILY_BIAS,
    FAMILY_LEAN,
    SYSTEM_BIAS,
    SYSTEM_LEAN,
    Errors,
    LengthPart,
    by_length,
    error_rate,
    family_bias,
    length_bias,
    pair_bias,
    system_bias,
)
from annotators.judges.trust.families import is_of_family
from annotators.judges.trust.prompts import SPREAD, PromptTable, prompt_table
from annotators.judges.trust.saving import COST, STILL, Plan, labels_still_needed
from annotators.judges.trust.sureness import BRIER, shares_of_samples, sureness
from annotators.judges.trust.trials import TrialName, injection_of
from exports.alignment.scores import study_item_of
from exports.judging.data import AnswerFacts, CriterionLabels, JudgedUnits, PeopleBy
from exports.judging.stored import Spent, without_cannot
from exports.judging.tried import MODES, Trials

MOST_LABELS = 20
"""Labels up to which a table of confusions is drawn."""

NOT_TRIED = "the server has not been asked: `--flips` does it"
ONE_PROMPT = "only one prompt was asked with: `--prompts A,B` asks with others"
ASKED_ONCE = "every call was made once: `--repeats K` asks again, `assay judge --samples K` did so from the start"
NOT_SURE = (
    "its server was not asked for probabilities (`assay judge --probabilities`), or gave none, and every call was made "
    "once: `--repeats K` asks again"
)
"""Reasons why there is no figure that say what to do about it: on the command line; the page has words of its own."""

LABELS_OF = {
    "majority": "against the label that most people gave",
    "mean": "against the mean of people's labels",
    "settled": "against the settled label",
}
GROUPINGS = ("system", "category")
FLIPPED: dict[TrialName, AlignmentStatistic] = {
    "order": FLIP_ORDER, "evidence": FLIP_EVIDENCE, "labels": FLIP_LABELS, "injection": INJECTED,
    "harmless": HARMLESS,
}  # fmt: skip
NONE_TRIED = Trials()
NOTHING_CHANGED = {
    "order": "no item that was tried has two answers",
    "evidence": "no item that was tried shows two units of evidence",
    "labels": "no item that was tried is asked for a label of a list",
    "injection": "no item that was tried shows evidence",
    "harmless": "no item that was tried shows evidence",
}


@dataclass(frozen=True)
class About:
    """What figures of a judge are made with: its name, people's label, ε, the words of its family, the answers.

    `prompt` is what its own prompt is called, `modes` has how an item's evidence was retrieved, `data_sets` which data
    set it is of; both by study item.
    """

    judge: str
    by: PeopleBy
    epsilon: float
    family: Sequence[str]
    asked: Resampling
    units: JudgedUnits
    answers: Mapping[int, AnswerFacts]
    spent: Spent
    prompt: str
    modes: Mapping[int, str]
    data_sets: Mapping[int, str]
    n_labels: int
    """How many labels the judge gave in the study, on all criteria."""


@dataclass(frozen=True)
class CriterionCheck:
    """What was found of one criterion: figures, confusions, the curve of sureness, error by length, plans, prompts."""

    criterion: str
    title: str
    statistics: Sequence[Aligned]
    confusions: Sequence[Confusion] = ()
    curve: Sequence[Bin] = ()
    lengths: Sequence[LengthPart] = ()
    plans: Sequence[Plan] = ()
    prompts: PromptTable | None = None
    notes: Sequence[str] = ()
    about_pairs: bool = False
    """Whether two answers are judged against each other."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What people read in the place of a label."""

    def said(self, label: object) -> str:
        """A label as people read it."""
        return self.titles.get(str(label), str(label))


@dataclass(frozen=True, eq=False)
class OfCriterion:
    """A judge beside people on one criterion; `samples` has the labels of each reply to the same call by unit.

    `trials` are what it said when the same items were shown to it in other ways, `chances` (unit → label →
    probability) what its server said of how likely each label was.
    """

    labels: CriterionLabels
    about: About
    samples: Mapping[str, list[str]] = field(default_factory=dict)
    trials: Trials = NONE_TRIED
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def check(self) -> CriterionCheck:
        """All figures that what is stored gives."""
        curve, sure = self._sureness()
        plans, saved = self._saving()
        prompts, of_prompts = self._prompts()
        statistics = [
            *self._as_rater(),
            *self._errors(),
            *self._alternative(),
            *self._bias(),
            *self._flips(),
            self._self_agreement(),
            *sure,
            *of_prompts,
            *saved,
            self._cost(),
        ]
        return CriterionCheck(
            self.labels.name,
            self.labels.title,
            statistics,
            self._confusions(),
            curve,
            self._lengths(),
            plans,
            prompts,
            self._notes(),
            self.labels.about_pairs,
            {label: self.labels.criterion.said(label) for label in self.labels.labels},
        )

    # What they said ---------------------------------------------------------------------------------------------------

    @property
    def given(self) -> Mapping[str, str]:
        """The judge's labels."""
        return self.labels.judges.get(self.about.judge, {})

    @property
    def people(self) -> Mapping[str, str]:
        """The one label of people."""
        return self.labels.of_people(self.about.by)

    @property
    def entry(self) -> dict[str, Any]:
        """What every figure here is about."""
        return {"criterion": self.labels.name, "metric": self.about.judge}

    @property
    def as_words(self) -> bool:
        """Whether labels are only the same or not: several without order, whatever numbers they stand for."""
        return self.labels.scale is None or (self.labels.criterion.scale == "nominal" and len(self.labels.labels) > 2)

    @cached_property
    def against(self) -> str:
        """What the judge is held against, in words."""
        by_mean = self.about.by == "majority" and not (self.as_words or self.labels.numbers.binary)
        return LABELS_OF["mean" if by_mean else self.about.by]

    @cached_property
    def errors(self) -> Errors:
        """The judge beside people, row by row."""
        return self._errors_of(self.given)

    def _errors_of(self, given: Mapping[str, str]) -> Errors:
        clusters = self.about.units.question
        if self.as_words:
            return Errors.of(given, self.people, clusters=clusters)
        judge, people = self.labels.comparable(given), self.labels.reference(self.about.by)
        return Errors.of(judge, people, scale=self.labels.scale, clusters=clusters)

    def held(self, found: Sequence[Aligned]) -> list[Aligned]:
        """The figures with what the judge was held against in their method."""
        return [
            entry if entry.method is None else replace(entry, method=f"{entry.method}; {self.against}")
            for entry in found
        ]

    # Against people ---------------------------------------------------------------------------------------------------

    def _as_rater(self) -> list[Aligned]:
        labels, about = self.labels, self.about
        people = {
            person: {unit: labels.values[vote] for unit, vote in given.items()}
            for person, given in labels.people.items()
        }
        judge = {unit: labels.values[vote] for unit, vote in self.given.items()}
        scale = labels.criterion.measured_scale or "nominal"
        declared = labels.criterion.stored_labels() or None
        found = one_more_rater(
            people, judge, scale=scale, labels=declared, asked=about.asked, clusters=about.units.question, **self.entry
        )
        return [*found, *self._ceiling()]

    def _ceiling(self) -> list[Aligned]:
        """The judge against the rest of the people, as one of them would be."""
        labels, about = self.labels, self.about
        if labels.scale is None:
            return []
        return human_ceiling(
            {person: labels.as_numbers(given) for person, given in labels.people.items()},
            labels.as_numbers(self.given),
            about.asked,
            binary=labels.numbers.binary,
            clusters=about.units.question,
            criterion=labels.name,
            metric_name=about.judge,
        )

    def _errors(self) -> list[Aligned]:
        asked, units = self.about.asked, self.about.units
        found = [error_rate(self.errors, asked, **self.entry)]
        for by in GROUPINGS:
            groups = units.groups.get(by, {})
            of_units = [groups.get(unit) for unit in self.errors.units]
            names = sorted({name for name in of_units if name is not None})
            for name in names if len(names) > 1 else ():
                rows = self.errors.rows(np.array([group == name for group in of_units], dtype=bool))
                found.append(error_rate(rows, asked, **self.entry, group=name, by=by))
        return self.held(found)

    def _confusions(self) -> list[Confusion]:
        if len(self.labels.labels) > MOST_LABELS:
            return []
        groups = {by: self.about.units.groups.get(by, {}) for by in ("category", "system")}
        found = confusion(self.given, self.people, self.labels.labels, groups, self._left_out)
        several = {by for by in groups if len({table.group for table in found if table.by == by}) > 1}
        return [table for table in found if table.by is None or table.by in several]

    @property
    def _left_out(self) -> dict[str, str]:
        """Unit that one of them labelled → why it has no pair of labels, for all that have none."""
        judged, one = self.given, self.people
        said = {unit for given in self.labels.people.values() for unit in given}
        tied = "on which people tie" if self.about.by == "majority" else "that are not settled"
        found = {}
        for unit in said | judged.keys():
            if unit not in one:
                found[unit] = tied if unit in said else "that no person has labelled"
            elif unit not in judged:
                found[unit] = "without a label of the judge"
        return found

    def _alternative(self) -> list[Aligned]:
        labels, about = self.labels, self.about
        if not labels.people:
            why = "nobody has labelled it yet"
            return [statistic.without_value(why, 0, **self.entry) for statistic in (WINNING_RATE, ADVANTAGE)]
        if labels.scale is None or self.as_words:
            place = {vote: float(number) for number, vote in enumerate(sorted(labels.values))}
            people = {
                person: {unit: place[vote] for unit, vote in said.items()} for person, said in labels.people.items()
            }
            judge = {unit: place[vote] for unit, vote in self.given.items()}
        else:
            people = {person: labels.as_numbers(said) for person, said in labels.people.items()}
            judge = labels.as_numbers(self.given)
        clusters = about.units.question
        return alternative_annotator_test(
            people,
            judge,
            closeness="equal" if labels.criterion.scale == "nominal" else "distance",
            epsilon=about.epsilon,
            asked=about.asked,
            clusters={unit: clusters.get(unit, 0) for said in people.values() for unit in said},
            **self.entry,
        )

    # On what it errs --------------------------------------------------------------------------------------------------

    @cached_property
    def _answers(self) -> dict[str, AnswerFacts]:
        """Unit → its answer or answers, of units that have any."""
        answers = {unit: self.about.answers.get(study_item_of(unit)) for unit in self.errors.units}
        return {unit: facts for unit, facts in answers.items() if facts is not None and any(facts.words)}

    def _lengths(self) -> list[LengthPart]:
        """The error on short and on long answers; of pairs by how far apart the two are."""
        answers = self._answers.items()
        words = {
            unit: float(abs(facts.words[1] - facts.words[0]) if self.labels.about_pairs else facts.words[0])
            for unit, facts in answers
        }
        return by_length(self.errors, words, self.about.asked, **self.entry)

    def _bias(self) -> list[Aligned]:
        there = self._answers
        found = self._of_pairs(there) if self.labels.about_pairs else self._of_answers(there)
        words = ", ".join(repr(word) for word in self.about.family)
        return self.held(
            [
                replace(entry, method=f"{entry.method}; its family: systems with {words} in their name")
                if entry.name in (FAMILY_BIAS.name, FAMILY_LEAN.name) and entry.method
                else entry
                for entry in found
            ]
        )

    def _of_answers(self, answers: Mapping[str, AnswerFacts]) -> list[Aligned]:
        asked, family = self.about.asked, self.about.family
        systems = {unit: facts.systems[0] for unit, facts in answers.items()}
        words = {unit: float(facts.words[0]) for unit, facts in answers.items()}
        own = {unit: is_of_family(system, family) for unit, system in systems.items()}
        return [
            *length_bias(self.errors, words, asked, **self.entry),
            *family_bias(self.errors, own, asked, **self.entry),
            *system_bias(self.errors, systems, asked, **self.entry),
        ]

    def _of_pairs(self, answers: Mapping[str, AnswerFacts]) -> list[Aligned]:
        """Of two answers: the error by how far apart their lengths are, the lean by how much longer the second is."""
        asked, errors, family = self.about.asked, self.errors, self.about.family
        if errors.lean is not None and not (self.labels.scale and self.labels.scale[0] < 0 < self.labels.scale[1]):
            errors = replace(errors, lean=None)  # no preference of one side
        longer = {unit: float(facts.words[1] - facts.words[0]) for unit, facts in answers.items()}
        apart = {unit: abs(words) for unit, words in longer.items()}
        bias, lean = (
            length_bias(errors, apart, asked, **self.entry)[0],
            length_bias(errors, longer, asked, **self.entry)[1],
        )
        found = [_more(bias, "by the difference in words"), _more(lean, "by the words that the second has more")]
        own = {
            unit: (is_of_family(facts.systems[0], family), is_of_family(facts.systems[1], family))
            for unit, facts in answers.items()
        }
        found += pair_bias(errors, own, (FAMILY_BIAS, FAMILY_LEAN), "its own family", asked, **self.entry)
        for system in sorted({name for facts in answers.values() for name in facts.systems}):
            sides = {unit: (facts.systems[0] == system, facts.systems[1] == system) for unit, facts in answers.items()}
            of_system = {**self.entry, "group": system, "by": "system"}
            found += pair_bias(errors, sides, (SYSTEM_BIAS, SYSTEM_LEAN), "it", asked, **of_system)
        return found

    # Against itself ---------------------------------------------------------------------------------------------------

    def _flips(self) -> list[Aligned]:
        """How often another label is given for what may not change it."""
        return [entry for name, statistic in FLIPPED.items() for entry in self._flip(name, statistic)]

    def _flip(self, name: TrialName, statistic: AlignmentStatistic) -> list[Aligned]:
        if why := self._never(name):
            return [statistic.without_value(why, 0, **self.entry)]
        done = self.trials.named(name)
        if not done:
            return [statistic.without_value(NOT_TRIED, 0, **self.entry)]
        tried = done[-1]  # of injections the newest set
        changed = tried.changed.get(self.labels.name, set())
        if not changed:
            return [statistic.without_value(NOTHING_CHANGED[name], 0, **self.entry)]
        before = {unit: vote for unit, vote in self.given.items() if unit in changed}
        after = tried.one_each(self.labels.name)
        if name == "injection":
            return self._injected(before, after)
        return [self._flipped(statistic, before, after)]

    def _never(self, name: TrialName) -> str | None:
        """Why there is nothing to try on this criterion."""
        if name == "order" and not self.labels.about_pairs:
            return "no two answers are judged against each other"
        if name in ("labels", "injection", "harmless") and len(self.labels.criterion.label_list()) < 2:
            return "it has no list of labels"
        return None

    def _flipped(
        self, statistic: AlignmentStatistic, before: Mapping[str, str], after: Mapping[str, str], **about: Any
    ) -> Aligned:
        clusters = self.about.units.question
        return flip_rate(statistic, before, after, self.about.asked, clusters=clusters, **self.entry, **about)

    def _injected(self, before: Mapping[str, str], after: Mapping[str, str]) -> list[Aligned]:
        """Flips in all and by the kind of instruction, on units that did not have the label asked for anyway."""
        criterion = self.labels.criterion
        said: dict[int, dict[tuple[str, str], str]] = {}
        for unit, vote in self.given.items():
            said.setdefault(study_item_of(unit), {})[criterion.name, unit.partition("|")[2] or "item"] = vote
        commands = {item: injection_of(item, criterion, votes) for item, votes in said.items()}
        told = {unit: command for unit in before if (command := commands[study_item_of(unit)]) is not None}
        before = {unit: vote for unit, vote in before.items() if unit in told and told[unit].label != vote}
        after = {unit: vote for unit, vote in after.items() if unit in before}
        followed = sum(vote == told[unit].label for unit, vote in after.items())
        whole = self._flipped(INJECTED, before, after)
        found = [_more(whole, f"{followed:,} of {len(after):,} took the label that the evidence asked for")]
        for kind in sorted({told[unit].name for unit in before}):
            of_kind = {unit for unit in before if told[unit].name == kind}
            here = [{unit: vote for unit, vote in given.items() if unit in of_kind} for given in (before, after)]
            found.append(self._flipped(INJECTED, *here, group=kind, by="instruction"))
        return found

    def _prompts(self) -> tuple[PromptTable | None, list[Aligned]]:
        """What the judge is worth by each prompt that it was tried with, and by its own."""
        errors = {self.about.prompt: self._error_of(self.given)}
        for tried in self.trials.named("prompt"):
            name = tried.trial.version.removeprefix("prompt ")
            while name in errors:
                name += " (another text)"
            errors[name] = self._error_of(tried.one_each(self.labels.name))
        if len(errors) < 2:
            return None, [SPREAD.without_value(ONE_PROMPT, 0, **self.entry)]
        of_item = self.about.data_sets
        groups = {unit: of_item[item] for unit in self.given if (item := study_item_of(unit)) in of_item}
        modes = {unit: self.about.modes.get(study_item_of(unit), "") for unit in self.given}
        table = prompt_table(
            errors,
            self.about.asked,
            clusters=self.about.units.question,
            data_sets=groups if len(set(groups.values())) > 1 else None,
            modes=modes if any(modes.values()) else None,
            compared=MODES,
            **self.entry,
        )
        return table, self.held(table.statistics)

    def _error_of(self, given: Mapping[str, str]) -> dict[str, float]:
        """Unit → error of these labels against people."""
        found = self._errors_of(given)
        return dict(zip(found.units, found.error.tolist(), strict=True))

    def _self_agreement(self) -> Aligned:
        if not self.samples:
            return SELF_AGREEMENT.without_value(ASKED_ONCE, 0, **self.entry)
        found = self_agreement(self.samples, self.about.asked, clusters=self.about.units.question, **self.entry)
        n = max(map(len, self.samples.values()))
        return _more(found, f"{n} replies to the same call")

    def _sureness(self) -> tuple[list[Bin], list[Aligned]]:
        """By what its server says of how likely its labels were, else by the share of its replies."""
        samples = {unit: labels for unit, labels in without_cannot(self.samples).items() if len(labels) > 1}
        if not samples and not self.chances:
            return [], [entry.without_value(NOT_SURE, 0, **self.entry) for entry in (CALIBRATION, BRIER)]
        chances = self.chances or shares_of_samples(samples)
        by = "by the probabilities of its server" if self.chances else "by the share of its replies"
        found, curve = sureness(
            chances, self.people, self.about.asked, clusters=self.about.units.question, **self.entry
        )
        how = "against the label that most people gave" if self.about.by == "majority" else self.against
        return curve, [_more(_more(entry, f"sure {by}"), how) for entry in found]

    # What it costs ----------------------------------------------------------------------------------------------------

    def _saving(self) -> tuple[list[Plan], list[Aligned]]:
        if self.labels.scale is None:
            return [], [
                STILL.without_value("labels without order have no mean that could be estimated", 0, **self.entry)
            ]
        judge = self.labels.as_numbers(self.given)
        people = self.labels.reference(self.about.by)
        units = sorted(judge.keys() & people.keys(), key=str)
        for who, numbers, given in (("people", people, self.people), ("the judge", judge, self.given)):
            if len(units) > 2 and len({numbers[unit] for unit in units}) == 1:
                label = self.labels.criterion.said(given[units[0]])
                why = f"{who} gave every unit the label {label}, so that there is nothing to compare with"
                return [], [STILL.without_value(why, len(units), **self.entry)]
        clusters = self.about.units.question
        pairs = Pairs.of(
            [people[unit] for unit in units],
            [judge[unit] for unit in units],
            clusters=[clusters.get(unit, 0) for unit in units],
            units=units,
        )
        found, plans = labels_still_needed(pairs, self._price, self.about.asked, **self.entry)
        return plans, self.held([found])

    @property
    def _price(self) -> float | None:
        spent = self.about.spent
        return None if spent.money is None or not self.about.n_labels else spent.money / self.about.n_labels

    def _cost(self) -> Aligned:
        spent, n = self.about.spent, self.about.n_labels
        price = self._price
        if price is None:
            why = (
                "no request of this judge is in the ledger"
                if not spent.requests
                else f"no price of its model was known for its {spent.requests:,} requests ({spent.tokens:,} tokens)"
            )
            return COST.without_value(why, n, **self.entry)
        words = f"{money(spent.money)} for {spent.requests:,} requests and {n:,} labels on all criteria, by the ledger"
        return replace(COST.about(n, **self.entry), value=price, method=f"no interval: it is counted; {words}")

    def _notes(self) -> list[str]:
        found = []
        if self.about.by == "majority" and self.labels.majority[1]:
            found.append(
                f"{self.labels.majority[1]:,} units on which people tie are left out where labels are compared"
            )
        if not self.labels.people:
            found.append("nobody has labelled it yet, so that nothing can be held against people")
        elif not self.people:
            found.append(f"no unit has a {'settled' if self.about.by == 'settled' else 'majority'} label of people")
        elif self.against != LABELS_OF["mean"]:
            found.append(TAKEN_AS_RIGHT)
        return [f"{self.labels.title}: {note}" for note in found]


def _more(entry: Aligned, words: str) -> Aligned:
    """The figure with more in its method."""
    return entry if entry.method is None else replace(entry, method=f"{entry.method}; {words}")
