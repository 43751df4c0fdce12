"""May a judge be trusted: everything that is known of one judge in a study, for page, command and files alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from annotators.alignment import small_sample_warnings, title_of
from annotators.alignment.statistics.base import STATISTICS
from annotators.alignment.tables.pairs import Pairs
from annotators.errors import InvalidInput, NotFound
from annotators.figures import money
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.trust.base import TRUST
from annotators.judges.trust.confusing import Confusion
from annotators.judges.trust.families import family_of
from annotators.judges.trust.prompts import PromptCell
from annotators.judges.trust.saving import COST
from annotators.progress import Progress
from db.engine import Database
from db.permissions import Actor
from exports.drawing.figures import figure, number
from exports.drawing.report_files import Section, made_by
from exports.drawing.tables import TextTable
from exports.judging.data import PeopleBy, answers_of, judged_study
from exports.judging.figures import About, CriterionCheck, OfCriterion
from exports.judging.plots import plots
from exports.judging.stored import StoredJudge, chances_of, samples_of, spent_on, stored_judge
from exports.judging.tried import data_sets_of, modes_of, trials_of

BY_PEOPLE: tuple[PeopleBy, ...] = get_args(PeopleBy)
EPSILON = 0.2

Part = Literal["people", "errors", "itself", "prompts", "cost"]
PARTS: dict[Part, tuple[str, tuple[str, ...]]] = {
    "people": (
        "Beside people",
        (
            "agreement_people", "agreement_with_judge", "agreement_change", "human_ceiling_*", "metric_to_rest_*",
            "alt_test_winning_rate", "alt_test_advantage",
        ),
    ),
    "errors": (
        "On what it errs",
        (
            "judge_error", "length_bias", "length_lean", "family_bias", "family_lean", "system_bias", "system_lean",
        ),
    ),
    "itself": (
        "Against itself",
        (
            "flip_rate_order", "flip_rate_evidence", "flip_rate_labels", "injection_flips", "injection_control",
            "self_agreement", "calibration_error", "brier_score",
        ),
    ),
    "prompts": ("Other prompts", ("prompt_spread", "prompt_right", "prompt_gap")),
    "cost": ("What it saves, and costs", ("labels_still_needed", "cost_of_label")),
}  # fmt: skip
"""The parts of a report: the title of each, and the names of its statistics (`*`: all that begin so)."""


@dataclass(frozen=True)
class CheckReport:
    """What is known of a judge in a study: all figures, tables of confusions, curves and plans by criterion.

    `by` is what stands for people's label, `about` who the judge is (None: its labels came from elsewhere), `family`
    the words by which systems are of its own family. `warnings` limit the figures, `notes` say what was left out.
    """

    study: str
    protocol: str
    judge: str
    about: StoredJudge | None
    by: PeopleBy
    epsilon: float
    family: Sequence[str]
    asked: Resampling
    criteria: Sequence[CriterionCheck]
    notes: Sequence[str]
    warnings: Sequence[str]

    @property
    def statistics(self) -> list[Aligned]:
        """Every figure, criterion by criterion."""
        return [entry for criterion in self.criteria for entry in criterion.statistics]

    def find(self, name: str, **about: Any) -> Aligned | None:
        """The first statistic of this name that is about this; what is not said must be None (but for the judge)."""
        wanted = {"group": None, "against": None, **about}
        for entry in self.statistics:
            if entry.name == name and all(getattr(entry, key) == value for key, value in wanted.items()):
                return entry
        return None

    def to_json(self) -> dict[str, Any]:
        """As `assay judge check --json` prints it."""
        about = self.about
        return {
            "study": self.study,
            "protocol": self.protocol,
            "judge": self.judge,
            "model": about and about.model,
            "server": about and about.server,
            "prompt": about and about.prompt,
            "labels": self.by,
            "epsilon": self.epsilon,
            "family": list(self.family),
            "seed": self.asked.seed,
            "resamples": self.asked.resamples,
            "level": self.asked.level,
            "statistics": [entry.to_json() for entry in self.statistics],
            "criteria": [
                {
                    "criterion": criterion.criterion,
                    "confusion": [table.to_json() for table in criterion.confusions],
                    "calibration": [
                        {
                            "from": part.start, "to": part.end, "n": part.n, "sure": part.metric, "right": part.human,
                            "low": part.low, "high": part.high,
                        }
                        for part in criterion.curve
                    ],
                    "by_length": [
                        {
                            "from": part.shortest, "to": part.longest, "words": part.words, "n": part.error.n,
                            "error": part.error.value, "low": part.error.low, "high": part.error.high,
                        }
                        for part in criterion.lengths
                    ],
                    "plans": [plan.to_json() for plan in criterion.plans],
                    "prompts": [cell.to_json() for cell in criterion.prompts.cells] if criterion.prompts else [],
                    "smallest_gap": criterion.prompts and criterion.prompts.smallest_gap,
                    "data_sets": data_sets(criterion),
                }
                for criterion in self.criteria
            ],
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }  # fmt: skip

    # As a document ----------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The heading."""
        return f"The judge {self.judge} in study {self.study}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the report was made from."""
        asked, about = self.asked, self.about
        whose = [("Model", about.model), ("Server", about.server), ("Prompt", about.prompt)] if about else []
        return [
            ("Judge", self.judge),
            *whose,
            ("Study", self.study),
            ("Protocol", self.protocol),
            ("People's label", {"majority": "the majority", "settled": "the settled one"}[self.by]),
            ("Intervals", f"{asked.resamples:,} resamples, seed {asked.seed}, {100 * asked.level:g} %"),
            made_by(),
        ]

    def sections(self, *, by_group: bool = True) -> list[Section]:
        """One for each criterion, with its tables; of confusions by system and category as well with `by_group`."""
        found = []
        for criterion in self.criteria:
            tables = [table for part in PARTS if (table := part_table(criterion, part)) is not None]
            confusions = [one for one in criterion.confusions if by_group or one.group is None]
            tables += [confusion_table(criterion, one) for one in confusions]
            more = (
                curve_table(criterion), prompts_table(criterion), data_sets_table(criterion), plans_table(criterion)
            )  # fmt: skip
            tables += [table for table in more if table is not None]
            found.append(Section(criterion.title, tables, list(plots(criterion)), words=[*criterion.notes]))
        return found


def check_report(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    judge: str,
    by: PeopleBy = "majority",
    epsilon: float = EPSILON,
    family: Sequence[str] = (),
    asked: Resampling | None = None,
    progress: Progress | None = None,
    named: bool = True,
) -> CheckReport:
    """Everything that the stored labels say of a judge; no server is asked.

    `by` is what people's label is: that of their majority (of numbers the mean), or the settled one. `family` are the
    words that systems of the judge's own family have in their names; without any it is the first word of its model's
    name. Without `named` people are under their pseudonyms. NotFound for a judge without labels in the study,
    InvalidInput for an ε that is none. Permissions are those of reading the study's labels.
    """
    asked = asked or Resampling()
    if by not in BY_PEOPLE:
        raise InvalidInput(f"{by!r} is no label of people. Known: {', '.join(BY_PEOPLE)}.")
    if not 0 <= epsilon < 1:
        raise InvalidInput(f"ε is {epsilon:g}. Give a number from 0 up to 1, such as 0.2.")
    study = judged_study(db, actor, study_id, [judge], settled=by == "settled", named=named)
    with db.read() as session:
        who = stored_judge(session, study_id, judge)
        samples, trials = samples_of(session, study_id, judge), trials_of(session, study_id, judge)
        modes, data_sets_by_item = modes_of(session, study_id), data_sets_of(session, study_id)
        chances = chances_of(session, study_id, judge)
        spent, answers = spent_on(session, study_id, judge), answers_of(session, study_id)
    family = tuple(family) or (family_of(who.model if who else judge),)
    criteria = [labels for labels in study.criteria if labels.judges.get(judge)]
    if not criteria:
        why = "; ".join(f"{name}: {reason}" for name, reason in study.left_out.items())
        raise NotFound(
            f"The judge {judge!r} has no label in the study {study.name!r} that could be compared"
            f"{f' ({why})' if why else ''}. Have it judge a criterion with labels or numbers: `assay judge`."
        )
    about = About(
        judge=judge,
        by=by,
        epsilon=epsilon,
        family=family,
        asked=asked,
        units=study.units,
        answers=answers,
        spent=spent,
        prompt=who.prompt if who else judge,
        modes=modes,
        data_sets=data_sets_by_item,
        n_labels=sum(len(labels.judges[judge]) for labels in criteria),
    )
    checks, warnings = [], []
    for place, labels in enumerate(criteria):
        if progress is not None:
            progress(place, len(criteria))
        repeated = trials.repeated(labels.name, samples.get(labels.name, {}))
        of = OfCriterion(labels, about, repeated, trials, chances.get(labels.name, {}))
        checks.append(of.check())
        warnings += [f"{labels.title}: {words}" for words in _warnings(of)]
    notes = [note for check in checks for note in check.notes]
    notes += study.notes_on_left_out
    return CheckReport(
        study.name, study.protocol.title, judge, who, by, epsilon, family, asked, checks, notes, warnings
    )


def _warnings(of: OfCriterion) -> list[str]:
    errors = of.errors
    rows = Pairs.of(errors.error, errors.error, clusters=errors.cluster)
    return small_sample_warnings(rows, of.about.asked.over) if rows.n else []


# Tables ---------------------------------------------------------------------------------------------------------------


def title_of_figure(name: str) -> str:
    """What a figure of this name is called."""
    if name in TRUST.names():
        return TRUST.get(name).title
    return title_of(name).replace("Metric to the rest", "Judge to the rest") if name in STATISTICS.names() else name


def part_table(criterion: CriterionCheck, part: Part) -> TextTable | None:
    """The figures of one part one below the other, with how each was made; None where there are none."""
    caption, names = PARTS[part]
    rows = [
        [
            title_of_figure(entry.name),
            entry.against or entry.group or "",
            figure(entry, 3) if entry.name != COST.name or entry.value is None else money(entry.value),
            f"{entry.n:,}",
            entry.method or "",
        ]
        for entry in criterion.statistics
        if any(_fits(entry.name, name) for name in names)
    ]
    if not rows:
        return None
    columns = ("Figure", "Of", "Value", "n", "How")
    return TextTable.of(f"{criterion.title}: {caption.lower()}", columns, rows, words=("Figure", "Of", "How"))


def _fits(name: str, wanted: str) -> bool:
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


def confusion_table(criterion: CriterionCheck, table: Confusion) -> TextTable:
    """How often each label of people (rows) met each of the judge (columns)."""
    of = f", {table.by} {table.group}" if table.group is not None else ""
    rows = [
        [criterion.said(label), *(f"{n:,}" for n in counts), f"{sum(counts):,}"]
        for label, counts in zip(table.labels, table.counts.tolist(), strict=True)
    ]
    totals = table.counts.sum(axis=0).tolist()
    rows.append(["in all", *(f"{n:,}" for n in totals), f"{sum(totals):,}"])
    columns = ("People say", *(f"judge: {criterion.said(label)}" for label in table.labels), "in all")
    return TextTable.of(f"{criterion.title}: people's labels beside the judge's{of}; {table.held}", columns, rows)


def curve_table(criterion: CriterionCheck) -> TextTable | None:
    """How sure the judge is beside how often it is right; None where it was not asked several times."""
    rows = [
        [
            f"{part.start:.1f}–{part.end:.1f}",
            number(part.metric, 3),
            figure(_Share(part.human, part.low, part.high), 3),
            f"{part.n:,}",
        ]
        for part in criterion.curve
    ]
    columns = ("Sure", "Mean sureness", "Right", "Units")
    return TextTable.of(f"{criterion.title}: is it right as often as it is sure", columns, rows) if rows else None


@dataclass(frozen=True)
class _Share:
    value: float | None
    low: float | None
    high: float | None
    reason: str | None = None


def prompts_table(criterion: CriterionCheck) -> TextTable | None:
    """What each prompt is worth in all and on each data set, the best of each marked; None where one was asked with."""
    if criterion.prompts is None:
        return None
    cells = criterion.prompts.cells
    sets = criterion.prompts.data_sets
    gaps = criterion.prompts.gaps.get(None, {})
    rows = []
    tie = {name for name in sets if len(criterion.prompts.best(name)) == len(criterion.prompts.prompts)}

    def best(cell: PromptCell) -> str:
        return " (best)" if cell.best and cell.data_set not in tie else ""

    for prompt in criterion.prompts.prompts:
        own = {cell.data_set: cell for cell in cells if cell.prompt == prompt}
        gap = gaps.get(prompt)
        smallest = " (smallest)" if prompt == criterion.prompts.smallest_gap else ""
        rows.append(
            [
                prompt,
                *(
                    f"{figure(own[name].right, 3)}{' (best)' if own[name].best and name not in tie else ''}"
                    for name in sets
                ),
                *([f"{figure(gap, 3, sign=True)}{smallest}"] if gap is not None else []),
            ]
        )
    columns = ["Prompt", *("all units" if name is None else name for name in sets), *(["GO less GPD"] if gaps else [])]
    return TextTable.of(f"{criterion.title}: agreement with people by prompt", columns, rows, words=columns[:1])


def data_sets(criterion: CriterionCheck) -> list[dict[str, Any]]:
    """Of each data set its best prompts, the spread, and the prompt that distractors move least, with its gap."""
    if criterion.prompts is None:
        return []
    found = []
    spreads = {entry.group: entry for entry in criterion.prompts.spread}
    for name in criterion.prompts.data_sets:
        if name is None:
            continue
        least = criterion.prompts.smallest_gaps.get(name)
        gap = None if least is None else criterion.prompts.gaps[name][least]
        found.append(
            {
                "data_set": name,
                "best": [cell.prompt for cell in criterion.prompts.best(name)],
                "spread": spreads[name].value,
                "smallest_gap": least,
                "gap": gap and gap.value,
            }
        )
    return found


def data_sets_table(criterion: CriterionCheck) -> TextTable | None:
    """A row a data set: which prompt is best there, and which one distractors move least; None without data sets."""
    prompts = criterion.prompts
    if prompts is None or len(prompts.data_sets) < 2:
        return None
    spreads = {entry.group: entry for entry in prompts.spread}
    rows = []
    for name in prompts.data_sets:
        best, least = prompts.best(name), prompts.smallest_gaps.get(name)
        gap = [] if least is None else [least, figure(prompts.gaps[name][least], 3, sign=True)]
        rows.append(
            [
                name or "all units",
                f"{best[0].right.n:,}" if best else "0",
                "all the same" if len(best) == len(prompts.prompts) else ", ".join(cell.prompt for cell in best) or "–",
                figure(best[0].right, 3) if best else "–",
                figure(spreads[name], 3),
                *(gap or (["–", "–"] if prompts.gaps else [])),
            ]
        )
    columns = ["Data set", "Units", "Best prompt", "Agreement", "Best less worst"]
    columns += ["Smallest |GO − GPD|", "GO less GPD"] if prompts.gaps else []
    words = ("Data set", "Best prompt", "Smallest |GO − GPD|")
    caption = f"{criterion.title}: the best prompt of each data set"
    return TextTable.of(caption, columns, rows, words=[name for name in words if name in columns])


def plans_table(criterion: CriterionCheck) -> TextTable | None:
    """How many labels of people are still needed beside the judge's for an interval as narrow; None where unknown."""
    rows = [
        [f"{plan.people:,}", f"{plan.judged:,}", f"{plan.still:,}", "" if plan.cost is None else money(plan.cost)]
        for plan in criterion.plans
    ]
    columns = ("Labels of people now", "Units judged", "Labels of people still needed", "Cost of the judge")
    caption = f"{criterion.title}: labels for an interval as narrow"
    return TextTable.of(caption, columns, rows) if rows else None


def tables(found: CheckReport) -> Iterator[TextTable]:
    """All tables of a report in its order."""
    for section in found.sections():
        yield from section.tables
