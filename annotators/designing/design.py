"""What a researcher decides about a study: one object behind the form, the command's options and the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from math import inf
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from annotators.asking.asides import ASIDES, unknown_asides
from annotators.asking.repairs import Path
from annotators.asking.rounds import ADJUDICATIONS, SINGLE
from annotators.criteria.suggested import WHEN
from annotators.designing.arms import ALLOTS, ITEMS, PEOPLE, Arm
from annotators.designing.known import Gold, KnownItems, Qualification, Repeats, known_faults, planting_of
from annotators.designing.own_figures import OWN_FIGURES, PROGRESS
from annotators.designing.phases import Phases
from annotators.designing.talk import NEVER, TALKS
from annotators.designing.values import MOST_SHOWN, Flag, Share, Whole, Word, Words
from annotators.errors import AssayError, InvalidInput, Problem
from annotators.items.conditions import SCORE
from annotators.items.pairs import names_either_way
from annotators.items.prioritised import FIRSTS
from annotators.items.sampling import BY_SCORE, ORDERS, share_of, strata_fields
from annotators.moments import moment
from annotators.protocols import Protocol

RULES = ("unanimous", "majority")
ONE_RATER = (1, 0.1, 3)
"""The overlap, the part, and the overlap of the part of a study with one annotator an item and three for a drawn tenth:
the shortest interval of a mean for its labels that leaves agreement to be measured (docs/fewer-labels.md)."""
LONGEST_LEASE = 366 * 24 * 60
DYNAMIC, BALANCED = "dynamic", "balanced"
QUEUES = (DYNAMIC, BALANCED)
"""Whether each item goes to who comes first, or is allotted beforehand so that every two people share as many."""


def _time(value: Any) -> Any:
    if value is None or (isinstance(value, datetime) and value.tzinfo is not None):
        return value
    try:
        return moment(str(value), until=True)
    except InvalidInput as error:
        raise ValueError(str(error)) from None


class ItemChoice(BaseModel):
    """Which of a project's items a study takes, and in which order it offers them.

    `items` are external ids: only these are taken from; empty means all of the project. `where` are conditions on their
    fields (annotators/items/conditions.py). `with_documents` leaves out those of whose documents none can be looked at,
    `keep_lacking` leaves in those that lack what a criterion is judged by, such as the reference answer
    (`Criterion.judged_by`). `one_per_question` takes one item of each question, drawn by the seed; None does so where
    only the question is shown, unless items are named. `pairs` names the systems whose answers are judged against each
    other, each two of them, for a protocol about pairs: the first of a pair is the one that is named first. `sample`
    items are taken of every stratum `per` (fields with commas between: system, category, anything in the metadata);
    None takes all. The order `given` is that of `items`, where they are named. `show_scores` names the scorers whose
    scores a protocol about scores is about, in front the one to be judged where several fit a criterion; empty means
    the imported ones, else phrase_recall and hallucination. In the order `by_score` those come first, with known
    probabilities, whose score `order_score` is what `order_first` says (annotators/items/prioritised.py). Items that
    were drawn with known probabilities (`assay advice --draw`) keep these: `drawn_with`, the items that could not be
    drawn, and the seed of the draw.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: Words = ()
    where: Words = ()
    with_documents: Flag = False
    keep_lacking: Flag = False
    one_per_question: Flag | None = None
    pairs: Words = ()
    sample: Whole | None = None
    per: str | None = None
    seed: Whole = 0
    order: str = "shuffled"
    order_score: Word | None = None
    order_first: str | None = None
    show_scores: Words = ()
    drawn_with: dict[str, Share] | None = None
    not_drawn_from: Words = ()
    draw_seed: Whole | None = None

    def known_items(self) -> dict[str, str]:
        """The items and pairs that are not drawn, as their right labels are known → what they are for."""
        return {}

    def in_settings(self) -> dict[str, Any]:
        """What a study's settings keep of it; what was not asked for is not written."""
        said: dict[str, Any] = {
            "items": list(self.items),
            "where": list(self.where),
            "with_documents": self.with_documents,
            "keep_lacking": self.keep_lacking,
            "pairs": list(self.pairs),
            "order_score": self.order_score,
            "order_first": self.order_first,
        }
        asked = {name: value for name, value in said.items() if value}
        if self.one_per_question is not None:
            asked["one_per_question"] = self.one_per_question
        if self.drawn_with is not None:
            drawn = {"drawn_with": self.drawn_with, "not_drawn_from": list(self.not_drawn_from)}
            asked |= {**drawn, "draw_seed": self.draw_seed}
        return {"sample": self.sample, "per": self.per, **asked}


class StudyDesign(ItemChoice):
    """All that is decided about a study besides what its protocol says: who judges which items, and how it is settled.

    `protocol` is the name of one (`NAME`, `NAME@VERSION`, a file), for a design that stands by itself; an operation is
    given the protocol. `overlap` is how many different annotators judge each item; None: as many as the protocol
    suggests. So many people from `outside` come by invitation, besides the annotators.
    `queue`: items go to who comes first, or are allotted (`QUEUES`). Nobody judges more than `quota` items, or so many
    as `quotas` says of them by name.
    A `part` of the items (a share, drawn by the seed of each stratum `per`, else of each system and category)
    has `part_overlap` instead. Where the annotators of an item disagree, it is given to one more, and again, up to
    `most_overlap`. `suggestions` says when what models propose is shown (`annotators.criteria.suggested.WHEN`); None:
    before, where the protocol shows suggestions, else never. `suggested_by` is a judge whose labels are suggested, in
    place of what comes with the items. `lease_minutes`: how long an item is kept for somebody
    who does not touch it. `ask` is what is asked beside labels (annotators/asking/asides.py). Nobody gets items after
    the `deadline`. `show_names`: adjudicators see who gave which label; `allow_own_adjudication`: they may decide items
    that they annotated themselves. `adjudication`: how many decide a disputed item (annotators/asking/rounds.py).
    `talk`: about which items annotators talk once all have labelled them (annotators/designing/talk.py).
    `review_agreed`: the share (0..1) of items without dispute that adjudicators decide as well. `separate_revisers`:
    nobody revises an item that they judged, decided or revised before. `phases`: what is put to annotators before
    their first item and after their last. `own_figures`: what they see of their own (annotators/designing/
    own_figures.py). `gold`, `repeats` and `qualification` say which items with known labels annotators meet, and when
    items come again (annotators/designing/known.py). With `arms` it is a study for each of them, over one sample, to
    which people or items are dealt out at random (`allot`; annotators/designing/arms.py). `stop_at`: it may end once a
    mean is known so closely, as half the width of the interval that holds at every look (annotators/estimates/
    sequence.py), on the labels' scale.
    """

    name: str = ""
    protocol: str = ""
    annotators: Words = ()
    outside: Whole = 0
    queue: str = DYNAMIC
    quota: Whole | None = None
    quotas: dict[Word, Whole] = Field(default_factory=dict)
    overlap: Whole | None = None
    part: Share | None = None
    part_overlap: Whole | None = None
    most_overlap: Whole | None = None
    rule: str = "unanimous"
    suggestions: str | None = None
    suggested_by: str | None = None
    ask: Words = ()
    lease_minutes: Whole = 60
    deadline: Annotated[datetime | None, BeforeValidator(_time)] = None
    show_names: Flag = False
    allow_own_adjudication: Flag = False
    separate_revisers: Flag = False
    adjudication: str = SINGLE
    review_agreed: Share = 0
    talk: str = NEVER
    own_figures: str = PROGRESS
    phases: Phases = Phases()
    gold: Gold | None = None
    repeats: Repeats | None = None
    qualification: Qualification | None = None
    arms: tuple[Arm, ...] = ()
    allot: str = PEOPLE
    stop_at: Share | None = None

    @property
    def has_known(self) -> bool:
        """Whether it says right labels of some items, for gold or for the qualification."""
        return any(part is not None and not part.has_none for part in (self.gold, self.qualification))

    def known_items(self) -> dict[str, str]:
        """The items and pairs (in either order) that its right labels are about → `gold` or `qualification`.

        None where the items were drawn with known probabilities, which leaving some out would change.
        """
        if self.drawn_with is not None:
            return {}
        parts: tuple[tuple[str, KnownItems | None], ...] = (("qualification", self.qualification), ("gold", self.gold))
        return {
            name: purpose
            for purpose, part in parts
            for label in (part.labels if part is not None else ())
            for name in names_either_way(label.item, label.other_item)
        }

    def overlap_of(self, protocol: Protocol) -> int:
        """How many different annotators judge each item."""
        return protocol.overlap if self.overlap is None else self.overlap

    def n_part(self, n_items: int) -> int:
        """How many of so many items have `part_overlap`."""
        return 0 if self.part is None else share_of(n_items, self.part)

    def quota_of(self, name: str) -> int | None:
        """How many items this annotator judges at most."""
        return self.quotas.get(name, self.quota)

    def quota_fault(self, n_items: int, protocol: Protocol) -> str | None:
        """Why the quotas leave slots of so many items open, and what would do; None where they do not."""
        quotas = Counter(map(self.quota_of, self.annotators)) + Counter({self.quota: self.outside})
        planting = planting_of(self.gold, self.repeats)
        slots, people = self.n_slots(n_items, protocol), quotas.total()
        can = sum(
            n * (n_items if quota is None else min(n_items, planting.besides(quota))) for quota, n in quotas.items()
        )
        if can >= slots or set(quotas) <= {None}:
            return None
        each = next((n for n in range(1, 4 * n_items + 2) if planting.besides(n) * people >= slots), 4 * n_items)
        planted = " besides what is planted" if planting.plants else ""
        return (
            f"The quotas allow {can:,} annotations{planted}; {n_items:,} items need {slots:,}. "
            f"Raise them to {each:,} for each, name more annotators, or take fewer items."
        )

    def n_slots(self, n_items: int, protocol: Protocol) -> int:
        """How many slots so many items have at the start."""
        overlap = self.overlap_of(protocol)
        return n_items * overlap + self.n_part(n_items) * max(0, (self.part_overlap or 0) - overlap)

    def in_settings(self) -> dict[str, Any]:
        """What a study's settings keep of it; what was not asked for is not written."""
        names = ("show_names", "allow_own_adjudication", "separate_revisers")
        said: dict[str, Any] = {name: True for name in names if getattr(self, name)}
        if self.outside:
            said["outside"] = self.outside
        if self.queue != DYNAMIC:
            said["queue"] = self.queue
        if self.quota is not None:
            said["quota"] = self.quota
        said |= {name: value for name in _OF_A_PART if (value := getattr(self, name)) is not None}
        if self.adjudication != SINGLE:
            said["adjudication"] = self.adjudication
        if self.talk != NEVER:
            said["talk"] = self.talk
        if self.own_figures != PROGRESS:
            said["own_figures"] = self.own_figures
        if self.phases:
            said["phases"] = self.phases.in_settings()
        if self.review_agreed:
            said["review_agreed"] = self.review_agreed
        if self.stop_at is not None:
            said["stop_at"] = self.stop_at
        asks = [name for name in ASIDES if name in self.ask]
        return super().in_settings() | said | ({"ask": asks} if asks else {})

    def faults(self, overlap: int | None, *, at: datetime) -> Iterator[tuple[Path, str]]:
        """What cannot be carried out whatever the project has: the field, what is wrong with it, and what would do.

        `overlap` is that of `overlap_of`, None while the protocol is not known; `at` is the present moment.
        """
        yield from self._faults_of_team(overlap)
        if self.sample is not None and self.sample < 1:
            yield (
                ("sample",),
                f"A sample of {self.sample} is empty. Give a number of at least 1, or leave it out for all items.",
            )
        yield from self._faults_of_strata()
        yield from self._faults_of_numbers()
        if self.order not in ORDERS:
            yield ("order",), f"{self.order!r} is not an order of items. Known: {', '.join(ORDERS)}."
        yield from self._faults_of_score()
        if self.rule not in RULES:
            yield ("rule",), f"{self.rule!r} is not a rule for settling. Known: {', '.join(RULES)}."
        if self.adjudication not in ADJUDICATIONS:
            yield (
                ("adjudication",),
                f"{self.adjudication!r} says not how disputed items are decided. Known: {', '.join(ADJUDICATIONS)}.",
            )
        if self.talk not in TALKS:
            yield (
                ("talk",),
                f"{self.talk!r} says not about what annotators talk. Known: {', '.join(TALKS)}.",
            )
        if self.own_figures not in OWN_FIGURES:
            yield (
                ("own_figures",),
                f"{self.own_figures!r} says not what annotators see of their figures. Known: {', '.join(OWN_FIGURES)}.",
            )
        if not 0 <= self.review_agreed <= 1:
            yield (
                ("review_agreed",),
                f"{self.review_agreed:g} is no share of the agreed items. Give a number from 0 to 1, such as 0.1.",
            )
        if self.stop_at is not None and not 0 < self.stop_at < inf:
            yield (
                ("stop_at",),
                f"No interval is ±{self.stop_at:g}. Give the half-width at which the study may end, such as 0.05.",
            )
        yield from self._faults_of_suggestions()
        yield from unknown_asides(self.ask)
        yield from self._faults_of_arms(overlap)
        yield from known_faults(self.gold, self.repeats, self.qualification)
        if not 1 <= self.lease_minutes <= LONGEST_LEASE:
            wrong = (
                "short. Give at least 1" if self.lease_minutes < 1 else f"long. Give at most {LONGEST_LEASE:,}, a year"
            )
            yield ("lease_minutes",), f"A lease of {self.lease_minutes:,} minutes is too {wrong}."
        if self.deadline is not None and self.deadline <= at:
            yield (
                ("deadline",),
                f"The deadline {self.deadline:%Y-%m-%d %H:%M} has passed. Give a later one, or leave it out.",
            )

    def _faults_of_team(self, overlap: int | None) -> Iterator[tuple[Path, str]]:
        if self.outside < 0:
            yield ("outside",), f"{self.outside} people from outside are none. Give 0 or more."
        if not self.annotators and not self.outside:
            yield ("annotators",), "A study needs at least one annotator."
            return
        for place, name in enumerate(self.annotators):
            if name in self.annotators[:place]:
                yield ("annotators", place), f"The annotator {name!r} is named twice. Name each once."
        yield from self._faults_of_quotas()
        yield from self._faults_of_queue()
        people = len(set(self.annotators)) + self.outside
        wrong = None if overlap is None else overlap_fault(overlap, people)
        if wrong:
            yield ("overlap",), wrong
        elif overlap is not None:
            yield from self._faults_of_part(overlap, people)

    def _faults_of_quotas(self) -> Iterator[tuple[Path, str]]:
        if self.quota is not None and self.quota < 1:
            yield ("quota",), f"A quota of {self.quota} gives nobody an item. Give at least 1, or leave it out."
        for name, quota in self.quotas.items():
            if name not in self.annotators:
                yield ("quotas", name), f"{name!r} has a quota and is no annotator. Name them, or leave it out."
            elif quota < 1:
                yield ("quotas", name), f"A quota of {quota} gives {name!r} no item. Give at least 1, or leave it out."

    def _faults_of_suggestions(self) -> Iterator[tuple[Path, str]]:
        if self.suggestions is not None and self.suggestions not in WHEN:
            yield (
                ("suggestions",),
                f"{self.suggestions!r} says not when suggestions are shown. Known: {', '.join(WHEN)}.",
            )
        if self.suggested_by is not None and self.suggestions is None and not self.arms:
            yield (
                ("suggestions",),
                f"Say when what {self.suggested_by!r} suggests is shown: before or after the label.",
            )

    def _faults_of_arms(self, overlap: int | None) -> Iterator[tuple[Path, str]]:
        if self.allot not in ALLOTS:
            yield ("allot",), f"{self.allot!r} cannot be dealt out to arms. Known: {', '.join(ALLOTS)}."
        if not self.arms:
            return
        if len(self.arms) < 2:
            yield ("arms",), "One arm has nothing to be compared with. Name two or more, or leave `arms` out."
        names = [arm.name.strip() for arm in self.arms]
        for place, name in enumerate(names):
            if not name or name in names[:place]:
                wrong = f"Two arms are called {name!r}." if name else "An arm has no name."
                yield ("arms", place, "name"), f"{wrong} Give each a name of its own."
        if self.allot == ITEMS:
            said: dict[str, Any] = {"pairs": self.pairs, "drawn_with": self.drawn_with, "order_score": self.order_score}
        else:
            said = {"outside": self.outside}
        for field, value in said.items():
            if value:
                yield (
                    (field,),
                    f"`{field}` does not go with arms to which {self.allot} are dealt out. Leave it out, or deal out "
                    f"{next(other for other in ALLOTS if other != self.allot)}.",
                )
        fewest = len(self.annotators) // len(self.arms)
        for place, arm in enumerate(self.arms):
            most = max(arm.overlap or overlap or 0, self.part_overlap or 0, self.most_overlap or 0)
            if self.allot == PEOPLE and overlap is not None and fewest < most:
                yield (
                    ("arms", place),
                    f"An overlap of {most} needs as many annotators in each arm; {len(self.annotators)} people in "
                    f"{len(self.arms)} arms leave {fewest} in one. Lower the overlap, name "
                    f"{most * len(self.arms) - len(self.annotators)} more, or deal out items.",
                )

    def _faults_of_queue(self) -> Iterator[tuple[Path, str]]:
        if self.queue not in QUEUES:
            yield ("queue",), f"{self.queue!r} says not how items go to people. Known: {', '.join(QUEUES)}."
        elif self.queue == BALANCED:
            said: dict[str, Any] = {"outside": self.outside, "quota": self.quota, "quotas": self.quotas}
            said |= {"most_overlap": self.most_overlap, "order_score": self.order_score}
            for name, value in said.items():
                if value:
                    yield (
                        (name,),
                        f"Items that are allotted beforehand leave no place for `{name}`. Leave it out, or take "
                        f"`queue: {DYNAMIC}`.",
                    )

    def _faults_of_numbers(self) -> Iterator[tuple[Path, str]]:
        """Numbers by which nothing is drawn, and those that a form could not show as they are, nor a spreadsheet."""
        if self.seed < 0:
            yield ("seed",), f"Nothing is drawn by a seed of {self.seed:,}. Give 0 or more."
        numbers: dict[Path, int | None] = {(name,): getattr(self, name) for name in _SHOWN_AS_THEY_ARE}
        numbers |= {("quotas", name): quota for name, quota in self.quotas.items()}
        if self.gold is not None:
            numbers["gold", "mark_after"] = self.gold.mark_after
        if self.repeats is not None:
            numbers["repeats", "after"] = self.repeats.after
        for field, number in numbers.items():
            if number is not None and abs(number) > MOST_SHOWN:
                yield field, f"{number:,} has more digits than a browser shows. Give at most {MOST_SHOWN:,}."

    def _faults_of_strata(self) -> Iterator[tuple[Path, str]]:
        if self.per is None:
            return
        names = strata_fields(self.per)
        twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
        if not all(names) or twice is not None:
            wrong = f"{twice!r} is named twice" if twice else "a field has no name"
            yield (
                ("per",),
                f"Cannot sample per {self.per!r}: {wrong}. Name fields with commas between: system,category.",
            )
        elif score := next((name for name in names if name.startswith(SCORE)), None):
            yield (
                ("per",),
                f"Cannot sample per {score!r}: nearly every item would be a stratum. Choose items by it instead, as in "
                f"`where: [{score}>=0.5]`, or take the order {BY_SCORE}.",
            )

    def _faults_of_score(self) -> Iterator[tuple[Path, str]]:
        if self.order != BY_SCORE:
            for field in ("order_score", "order_first"):
                if getattr(self, field) is not None:
                    yield (
                        (field,),
                        f"`{field}` says nothing of the order {self.order!r}. Take {BY_SCORE}, or leave it out.",
                    )
            return
        if not self.order_score:
            yield (
                ("order_score",),
                f"The order {BY_SCORE} needs the score that it goes by. Name it in `order_score`, such as token_f1.",
            )
        if self.order_first not in FIRSTS:
            said = "nothing" if self.order_first is None else repr(self.order_first)
            yield (
                ("order_first",),
                f"{said} says not which scores come first. Give `order_first` one of: {', '.join(FIRSTS)}.",
            )
        if self.drawn_with is not None:
            yield (
                ("order",),
                f"These items were drawn with probabilities of their own, which the order {BY_SCORE} would change. "
                "Take another order, or leave the draw out.",
            )

    def _faults_of_part(self, overlap: int, people: int) -> Iterator[tuple[Path, str]]:
        if (self.part is None) != (self.part_overlap is None):
            field, other = ("part", "part_overlap") if self.part_overlap is None else ("part_overlap", "part")
            yield (field,), f"`{field}` says nothing without `{other}`. Give both, or neither."
        if self.part is not None and not 0 < self.part <= 1:
            yield (
                ("part",),
                f"A part of {self.part:g} is no share of the items. Give one above 0, as 0.1, at most 1.",
            )
        if self.part_overlap is not None and self.part_overlap <= overlap:
            yield (
                ("part_overlap",),
                f"The part would have {self.part_overlap} annotations an item, all items have {overlap}. Give more.",
            )
        if self.part_overlap is not None and (wrong := overlap_fault(self.part_overlap, people)):
            yield ("part_overlap",), wrong
        if self.most_overlap is not None:
            least = max(overlap, self.part_overlap or 0)
            if self.most_overlap <= least:
                yield (
                    ("most_overlap",),
                    f"Up to {self.most_overlap} annotations where people disagree: items have up to {least} anyway. "
                    "Give more, or leave it out.",
                )
            if wrong := overlap_fault(self.most_overlap, people):
                yield ("most_overlap",), wrong


_OF_A_PART = ("part", "part_overlap", "most_overlap")
_SHOWN_AS_THEY_ARE = ("seed", "sample", "quota", "outside")


def overlap_fault(overlap: int, annotators: int, *, what: str = "are named") -> str | None:
    """Why so many annotators cannot give an overlap, and what would do; None where they can."""
    if 1 <= overlap <= annotators:
        return None
    return (
        f"An overlap of {overlap} needs as many different annotators; {annotators} {what}. "
        "Lower the overlap or name more annotators."
    )


@contextmanager
def about(*path: str | int) -> Iterator[None]:
    """What is refused in the block is about this field of the design."""
    try:
        yield
    except AssayError as error:
        error.problems = error.problems or [Problem.of(line, path) for line in str(error).splitlines()]
        raise


def refuse(found: Sequence[AssayError]) -> None:
    """Raise what is wrong with a design, if anything is: one error as it is, several as one with all their problems."""
    if len(found) == 1:
        raise found[0]
    if found:
        problems = [problem for error in found for problem in error.problems]
        raise InvalidInput("\n".join(map(str, found)), problems)
