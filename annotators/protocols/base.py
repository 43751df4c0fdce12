"""What a protocol is: guidelines, criteria, and what is shown at which step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from annotators.criteria import AnyCriterion, Criterion, Misfit
from annotators.criteria.derived.base import Derived
from annotators.criteria.material import TEXT_OF_SIDE, Material
from annotators.criteria.suggested import OF_TARGET, suggested_by
from annotators.items.targets import BY_EVIDENCE, OF_EVIDENCE, Chosen, TargetKind, Units
from annotators.keys import RESERVED
from annotators.protocols import _unsaid
from annotators.protocols.consequences import Consequence
from annotators.registry import Registry

_NOT_OF_PAIRS = {
    Material.CLAIMS, Material.IMAGES, Material.SCORES, Material.USED, Material.PAGE_LABELS, Material.SUGGESTIONS,
}  # fmt: skip
"""Materials that belong to one of the two answers of a pair, and would have to say to which."""

_NOT_ASKED_YET = {TargetKind.HOP: "each hop of the question"}
"""Targets that no page asks about yet. What is derived may be about them."""

REVISABLE = (
    "question", "answer", "references", "hops", "claims", "evidence", "roles", "documents", "images", "category",
)  # fmt: skip
"""The fields of an item that a revision may edit: the keys of `Protocol.invalidates`."""

ALL_FALLS = {field: ["*"] for field in REVISABLE if field not in ("roles", "category")}
"""`Protocol.invalidates` of what was asked elsewhere, where nobody said which labels an edit leaves standing: none of
them, as far as annotators may have read what is edited."""


_NO_PARTS = Units()


class Step(BaseModel):
    """One commit: what is shown (nothing shown earlier is taken away) and which criteria are answered."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    shows: list[Material]
    criteria: list[str] = Field(min_length=1)


class DerivedCriterion(NamedTuple):
    """A derived unit of a protocol: what it is made from, how, and the criterion that its values are measured as."""

    source: Criterion
    derived: Derived
    criterion: Criterion


class Protocol(BaseModel):
    """Guidelines + criteria + what the annotator is shown and when. Frozen in a study's snapshot.

    `invalidates` says, for each field of an item that a revision may edit (REVISABLE), which criteria's labels fall
    with it (`*` for all). `about_scores` makes the study name the scores that are judged. `agreement` and `on_fail`
    say in words how agreement is reported and what happens to an item that fails; `source` cites where the protocol
    is from. `consequences` are rules between criteria that every submission keeps; left out of what is stored where
    there are none.

    `compared_with` names the other arm of an anchoring study: this protocol's annotators judge before they see the
    scores, that one's after. `judged_blind` says with which criterion they do: criterion about a score → criterion that
    the same person answered about the same thing before. Where a protocol does not say one of the two, as none did
    that was frozen before there were such fields, it is read off the names (annotators/protocols/_unsaid.py); what the
    names say anyway is not stored, so that hashes stay as they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    version: int = Field(1, ge=1)
    title: str
    summary: str = ""
    guidelines: str = Field(min_length=1)
    criteria: list[AnyCriterion] = Field(min_length=1)
    steps: list[Step] = Field(min_length=1)
    overlap: int = Field(3, ge=1)
    agreement: str = ""
    on_fail: str = ""
    invalidates: dict[str, list[str]] = {}
    about_scores: bool = False
    source: str = ""
    consequences: list[Consequence] = Field([], exclude_if=lambda rules: not rules)
    compared_with: str = Field(default_factory=_unsaid.compared_with)
    judged_blind: dict[str, str] = Field(default_factory=_unsaid.judged_blind)

    @model_serializer(mode="wrap")
    def _without_what_the_names_say(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = write(self)
        said = dict(self)
        for field, named in _unsaid.BY_NAME.items():
            if field not in self.model_fields_set or said[field] == named(said):
                data.pop(field, None)
        return data

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        asked = self._asked_once_each()
        shown: set[Material] = set()
        for position, criterion in enumerate(self.criteria):
            if criterion.score and not self.about_scores:
                raise Misfit(
                    f"criterion {criterion.name!r} is about a score, but the protocol does not say that scores are "
                    "judged; add `about_scores: true`",
                    *("criteria", position, "score"),
                )
        for number, step in enumerate(self.steps):
            shown |= set(step.shows)
            for name in step.criteria:
                missing = self.criterion(name).needs() - shown
                if missing:
                    raise Misfit(
                        f"criterion {name!r} needs {', '.join(sorted(missing))}, but step {step.name!r} does not show "
                        "it; add it to `shows` of that step or an earlier one",
                        *("steps", number, "shows"),
                    )
                self._check_bases(name, number, shown)
        self._check_judged_blind()
        self._check_derived([criterion.name for criterion in self.criteria])
        self._check_roles_stay_hidden()
        if self.about_scores and Material.SCORES not in shown:
            raise Misfit("the protocol is about scores, but no step shows scores; add it to `shows`", "about_scores")
        for position, criterion in enumerate(self.criteria):
            self._check_condition(criterion, asked, position)
            _check_accept(criterion, position)
            _check_rest(criterion, position)
            self._check_suggested(criterion, position)
            _check_keys(criterion, position)
        self._check_consequences(asked)
        for field, names in self.invalidates.items():
            if field not in REVISABLE:
                raise Misfit(
                    f"`invalidates` names {field!r}, which is no field that a revision edits; known: "
                    f"{', '.join(REVISABLE)}",
                    *("invalidates", field),
                )
            for name in names:
                if name != "*" and name not in asked:
                    raise Misfit(
                        f"an edit of {field!r} invalidates {name!r}, which is no criterion; known: *, "
                        f"{', '.join(asked)}",
                        *("invalidates", field),
                    )
        return self

    def _check_derived(self, names: list[str]) -> None:
        for position, criterion in enumerate(self.criteria):
            for number, derived in enumerate(criterion.derived):
                where = ("criteria", position, "derived", number)
                if derived.name in names:
                    raise Misfit(
                        f"{derived.name!r}, which is derived from {criterion.name!r}, has the name of something else; "
                        "rename one",
                        *where, "name",
                    )  # fmt: skip
                names.append(derived.name)
                try:
                    derived.check_source(criterion)
                except Misfit as misfit:
                    raise Misfit(str(misfit), *where, *misfit.path) from None

    def _check_bases(self, name: str, number: int, shown: Collection[Material]) -> None:
        """What a criterion is judged by has to be before the eyes when it is asked."""
        judged_by = self.criterion(name).judged_by
        if judged_by and not set(judged_by) & set(shown):
            raise Misfit(
                f"criterion {name!r} is judged by {' or '.join(judged_by)}, but step {self.steps[number].name!r} shows "
                "none of it; add it to `shows` of that step or an earlier one",
                *("steps", number, "shows"),
            )

    def _check_judged_blind(self) -> None:
        steps = {name: number for number, step in enumerate(self.steps) for name in step.criteria}
        for graded, blind in self.judged_blind.items():
            where = ("judged_blind", graded)
            for name in (graded, blind):
                if name not in steps:
                    raise Misfit(
                        f"`judged_blind` names {name!r}, which is no criterion; known: {', '.join(steps)}", *where
                    )
            if "judged_blind" in self.model_fields_set and steps[blind] >= steps[graded]:
                raise Misfit(
                    f"`judged_blind`: {blind!r} is not asked in a step before that of {graded!r}; ask it earlier",
                    *where,
                )

    def _check_suggested(self, criterion: Criterion, position: int) -> None:
        source, where = criterion.suggested_by, ("criteria", position, "suggested_by")
        if source is None:
            return
        targets = OF_TARGET.get(source)
        if targets is None and criterion.target != TargetKind.ITEM:
            raise Misfit(
                f"criterion {criterion.name!r}: scores are about items, and {source!r} is none of "
                f"{', '.join(OF_TARGET)}; take one of these, or the target item",
                *where,
            )
        if targets is not None and criterion.target not in targets:
            raise Misfit(
                f"criterion {criterion.name!r}: {source} say nothing of the target {criterion.target}; leave "
                f"`suggested_by` out, or take a target of {', '.join(sorted(targets))}",
                *where,
            )
        if targets is None and self.about_scores:
            raise Misfit(
                f"criterion {criterion.name!r}: where scores are judged, none can suggest a label; leave "
                "`suggested_by` out",
                *where,
            )

    def _check_consequences(self, asked: list[str]) -> None:
        for position, consequence in enumerate(self.consequences):
            try:
                consequence.check(self.criteria, asked)
            except Misfit as error:
                raise Misfit(str(error), "consequences", position, *error.path) from None

    def _check_roles_stay_hidden(self) -> None:
        """What is asked of a unit must not tell its role: criteria that choose by role choose the same, or say it."""
        first: Criterion | None = None
        for criterion in self.about_evidence_before_roles():
            first = first or criterion
            if set(criterion.chosen.roles) != set(first.chosen.roles):
                raise Misfit(
                    f"criteria {first.name!r} and {criterion.name!r} are about evidence of different roles, so that "
                    "what is asked of a unit would tell its role; give both the same `roles`, or show `roles` in their "
                    "step",
                    *("criteria", self.criteria.index(criterion), "only"),
                )

    def _asked_once_each(self) -> list[str]:
        names = [criterion.name for criterion in self.criteria]
        for position, name in enumerate(names):
            if name in names[:position]:
                raise Misfit(f"two criteria are named {name!r}; rename one", "criteria", position, "name")
        asked: list[str] = []
        for number, step in enumerate(self.steps):
            if step.name in [earlier.name for earlier in self.steps[:number]]:
                raise Misfit(f"two steps are named {step.name!r}; rename one", "steps", number, "name")
            for position, name in enumerate(step.criteria):
                where = ("steps", number, "criteria", position)
                if name not in names:
                    raise Misfit(f"a step asks {name!r}, which is no criterion; known: {', '.join(names)}", *where)
                if name in asked:
                    raise Misfit(f"criterion {name!r} is asked twice; leave it in one step", *where)
                asked.append(name)
        for position, name in enumerate(names):
            if name not in asked:
                raise Misfit(f"criterion {name!r} is asked in no step; add it to one", "criteria", position)
        return asked

    def _check_condition(self, criterion: Criterion, asked: list[str], position: int) -> None:
        where = ("criteria", position)
        if criterion.per_hop and criterion.target != TargetKind.PAGE:
            raise Misfit(
                f"criterion {criterion.name!r}: per_hop is for the target page only; leave it out", *where, "per_hop"
            )
        if criterion.when is None:
            return
        name = criterion.when.criterion
        if name not in asked or asked.index(name) >= asked.index(criterion.name):
            raise Misfit(
                f"criterion {criterion.name!r} depends on {name!r}, which is not asked before it; ask it earlier",
                *where, "when",
            )  # fmt: skip
        other = self.criterion(name)
        same = (other.target, other.per_hop) == (criterion.target, criterion.per_hop)
        if not same and other.target != TargetKind.ITEM:
            raise Misfit(
                f"criterion {criterion.name!r} depends on {name!r}, which has another target; it may depend on a "
                "criterion of the item or of its own target",
                *where, "when",
            )  # fmt: skip
        known = [str(label.value) for label in other.label_list()]
        for value in criterion.when.values:
            if known and str(value) not in known:
                raise Misfit(
                    f"criterion {criterion.name!r} depends on {name!r} being {value!r}, which is none of its labels: "
                    f"{', '.join(known)}",
                    *where, "when",
                )  # fmt: skip

    def criterion(self, name: str) -> Criterion:
        """The criterion called `name`; KeyError if there is none."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        raise KeyError(name)

    def name_of(self, word: str) -> str:
        """The name of the criterion with this name, else of the one that the screen calls so; else the word itself."""
        names = [criterion.name for criterion in self.criteria]
        if word in names:
            return word
        wanted = word.strip().casefold()
        called = [criterion.name for criterion in self.criteria if criterion.title.casefold() == wanted]
        return called[0] if len(called) == 1 else word

    def fallen(self, edited: Collection[str], was: Units = _NO_PARTS, now: Units = _NO_PARTS) -> list[str]:
        """The criteria whose labels fall with an edit of these fields of an item (REVISABLE), in their order.

        Whatever `invalidates` says, those fall whose labels are about parts that the item had and has no more.
        """
        names = {name for field in edited for name in self.invalidates.get(field, ())}
        return [
            criterion.name
            for criterion in self.criteria
            if criterion.name in names or "*" in names or not criterion.outlives(was, now)
        ]

    def derived_criteria(self) -> list[DerivedCriterion]:
        """The units that are never asked, in the order of the criteria that they are made from."""
        return [
            DerivedCriterion(criterion, derived, derived.criterion(criterion))
            for criterion in self.criteria
            for derived in criterion.derived
        ]

    def criteria_by_name(self) -> dict[str, Criterion]:
        """Name → criterion, of those that are asked and of the units that are derived from them."""
        found = {criterion.name: criterion for criterion in self.criteria}
        return found | {unit.criterion.name: unit.criterion for unit in self.derived_criteria()}

    def step_criteria(self, step: int) -> list[Criterion]:
        """The criteria answered in step number `step` (from 0), in the order of that step."""
        return [self.criterion(name) for name in self.steps[step].criteria]

    def steps_asking(self, asks: Collection[str] | None) -> list[int]:
        """The numbers (from 0) of the steps that ask some of these criteria; None: every step."""
        return [number for number, step in enumerate(self.steps) if asks is None or set(asks) & set(step.criteria)]

    def asked_with(self, names: Collection[str]) -> list[str]:
        """These criteria with all that cannot be asked apart from them, in their order.

        What their conditions are about, what is asked under a condition on them, and what a rule ties to them.
        """
        ties = [(criterion.name, criterion.when.criterion) for criterion in self.criteria if criterion.when]
        ties += [(rule.when.criterion, rule.then.criterion) for rule in self.consequences]
        found = set(names)
        while more := {name for tie in ties if found & set(tie) for name in tie} - found:
            found |= more
        return [criterion.name for criterion in self.criteria if criterion.name in found]

    def shown_at(self, step: int) -> set[Material]:
        """Everything that is before the annotator's eyes in step number `step` (from 0)."""
        return {material for earlier in self.steps[: step + 1] for material in earlier.shows}

    def first_step_showing(self, *materials: Material) -> int | None:
        """The number (from 0) of the first step that shows one of `materials`, or None."""
        for number, step in enumerate(self.steps):
            if set(step.shows) & set(materials):
                return number
        return None

    def first_step_with_all(self, *materials: Material) -> int | None:
        """The number (from 0) of the first step at which all of `materials` are before the eyes, or None."""
        steps = [self.first_step_showing(material) for material in materials]
        return None if None in steps else max(step for step in steps if step is not None)

    @property
    def about_pairs(self) -> bool:
        """Whether two items of a question are judged against each other."""
        return any(criterion.target == TargetKind.PAIR for criterion in self.criteria)

    @property
    def takes_any_item(self) -> bool:
        """Whether every item will do: nothing is about its parts, or judged by what it may lack."""
        whole = (TargetKind.ITEM, TargetKind.PAIR)
        return all(
            criterion.target in whole and not criterion.made_of and not criterion.bases for criterion in self.criteria
        )

    @property
    def noun(self) -> str:
        """What one judges by it, in words: an `item`, or a `pair` of them."""
        return "pair" if self.about_pairs else "item"

    def suggests_at(self, step: int, *, judge: bool = False) -> bool:
        """Whether a model may propose labels in step number `step` (from 0), where the study shows suggestions.

        Where some step shows suggestions they come from that step on, and otherwise in all. Where the study names a
        `judge` it may propose labels of every criterion.
        """
        first = self.first_step_showing(Material.SUGGESTIONS) or 0
        return step >= first and (judge or any(suggested_by(criterion) for criterion in self.step_criteria(step)))

    def shows_only_the_question(self) -> bool:
        """Whether nothing is ever shown in which the items of one question differ: answers, evidence, scores."""
        return self.shown_at(len(self.steps) - 1) <= {Material.QUESTION, Material.HOPS, Material.IMAGES}

    def first_step_with_parts(self, material: Material, side: str) -> int | None:
        """The number (from 0) of the first step that shows the claims or images of a side, or None.

        They come with the text they belong to, and with a criterion that says that it is about that side. Claims of a
        side that no criterion is about are nowhere shown.
        """
        if material == Material.CLAIMS and not any(
            criterion.side in (None, side) for criterion in self.criteria if material in criterion.needs()
        ):
            return None
        with_text = self.first_step_with_all(material, TEXT_OF_SIDE.get(side, Material.ANSWER))
        asked = (
            number
            for number in range(len(self.steps))
            for criterion in self.step_criteria(number)
            if criterion.side == side and material in criterion.needs()
        )
        return min((step for step in (with_text, *asked) if step is not None), default=None)

    def about_evidence_before_roles(self) -> list[Criterion]:
        """The criteria about units of evidence that are answered before it is shown which role each unit has.

        One about a claim and all evidence at once is among them where it chooses which evidence that is.
        """
        return [
            criterion
            for number in range(len(self.steps))
            if Material.ROLES not in self.shown_at(number)
            for criterion in self.step_criteria(number)
            if criterion.target in (OF_EVIDENCE if criterion.only is None else BY_EVIDENCE)
        ]

    def evidence_choices(self, step: int) -> list[Chosen] | None:
        """Which evidence is shown at step number `step` (from 0): what any of these chooses; None: all of it.

        Evidence that no criterion is about, because each chooses other units, is shown only with the roles.
        """
        criteria = self.about_evidence_before_roles()
        if (
            Material.ROLES in self.shown_at(step)
            or not criteria
            or any(criterion.only is None for criterion in criteria)
        ):
            return None
        return [criterion.chosen for criterion in criteria]

    def scores_judged_by(self, criterion: Criterion) -> list[str]:
        """The names of the scores that a criterion is about (`Criterion.score`), empty where it is about none.

        One that does not say it, in a protocol about scores, is about the score that its name says
        (annotators/protocols/_unsaid.py).
        """
        return _unsaid.scores_of(criterion, about_scores=self.about_scores)

    def not_yet(self) -> list[str]:
        """What of this protocol does not work yet, a sentence each with its remedy: no study of people is made of it.

        A study that was made of such a protocol can still be read, and labels made elsewhere can be imported to one.
        """
        found = []
        if self.about_pairs:
            found += [
                f"Criterion {criterion.name!r} is about {criterion.target.value}, but the protocol is about pairs of "
                "items. Give it the target pair or item."
                for criterion in self.criteria
                if criterion.target not in (TargetKind.PAIR, TargetKind.ITEM)
            ]
            found += [
                f"Step {step.name!r} shows {material.value}, which is not shown of a pair of items. Take it out of "
                "`shows`."
                for step in self.steps
                for material in step.shows
                if material in _NOT_OF_PAIRS
            ]
        for criterion in self.criteria:
            if criterion.target in _NOT_ASKED_YET:
                others = ", ".join(kind.value for kind in TargetKind if kind not in _NOT_ASKED_YET)
                found.append(
                    f"Criterion {criterion.name!r} is about {_NOT_ASKED_YET[criterion.target]}, which the annotator's "
                    f"page cannot show yet. Give it another target: {others}."
                )
        found += [
            f"Step {step.name!r} shows suggestions, but no criterion from there on is one that a model proposes labels "
            "for. Say where they are from with `suggested_by`, or take suggestions out of `shows`."
            for number, step in enumerate(self.steps)
            if Material.SUGGESTIONS in step.shows
            and not any(self.suggests_at(later) for later in range(number, len(self.steps)))
        ]
        found += [
            f"Step {step.name!r} shows page_labels, which are shown on pages only. Add documents to `shows`."
            for number, step in enumerate(self.steps)
            if Material.PAGE_LABELS in step.shows and Material.DOCUMENTS not in self.shown_at(number)
        ]
        for number, step in enumerate(self.steps):
            shown = self.shown_at(number)
            for name in step.criteria:
                criterion = self.criterion(name)
                parts = criterion.needs() & {Material.CLAIMS, Material.IMAGES}
                if parts and criterion.side is None and not shown & {Material.ANSWER, Material.REFERENCES}:
                    found.append(
                        f"Criterion {name!r} is about {' and '.join(sorted(parts))}, which are shown only with the "
                        f"answer or the references that they belong to. Add answer or references to `shows` of step "
                        f"{step.name!r} or an earlier one."
                    )
        return found

    def digest(self) -> str:
        """SHA-256 of the definition in canonical JSON: what a study's snapshot is known by."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def _check_accept(criterion: Criterion, position: int) -> None:
    known = [str(label.value) for label in criterion.label_list()]
    for value in criterion.accept:
        if known and str(value) not in known:
            raise Misfit(
                f"criterion {criterion.name!r} accepts {value!r}, which is none of its labels: {', '.join(known)}",
                *("criteria", position, "accept"),
            )


def _check_rest(criterion: Criterion, position: int) -> None:
    if criterion.rest is None:
        return
    where = ("criteria", position, "rest")
    if criterion.target in (TargetKind.ITEM, TargetKind.PAIR):
        raise Misfit(
            f"criterion {criterion.name!r}: rest is for criteria that are asked of each unit; its target is the "
            f"{criterion.target}, so leave it out",
            *where,
        )
    known = [str(label.value) for label in criterion.label_list()]
    if not criterion.for_the_rest or str(criterion.rest) not in known:
        raise Misfit(
            f"criterion {criterion.name!r}: rest is {criterion.rest!r}, which is none of the labels of a choice or "
            f"grade; labels: {', '.join(known) or 'none'}",
            *where,
        )


def _check_keys(criterion: Criterion, position: int) -> None:
    values: set[str] = set()
    keys: set[str] = set()
    for number, label in enumerate(criterion.label_list()):
        where = ("criteria", position, "labels", number)
        if str(label.value) in values:
            raise Misfit(
                f"criterion {criterion.name!r}: two labels have the value {str(label.value)!r}; remove one", *where
            )
        values.add(str(label.value))
        if label.key in RESERVED:
            raise Misfit(
                f"criterion {criterion.name!r}: key {label.key!r} of label {label.value!r} is used by the page itself; "
                "take another (docs/keys.md lists them)",
                *where,
            )
        if len(label.key) > 1:
            raise Misfit(
                f"criterion {criterion.name!r}: key {label.key!r} is not one character; take a letter or a digit",
                *where,
            )
        if label.key and label.key in keys:
            raise Misfit(
                f"criterion {criterion.name!r}: two labels have the key {label.key!r}; take another for one of them",
                *where,
            )
        keys.add(label.key)


PROTOCOLS: Registry[Protocol] = Registry("protocol", "annotators.protocols")
"""All protocols that are known by name."""
