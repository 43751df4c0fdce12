"""What a protocol is: guidelines, criteria, and what is shown at which step."""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotators.criteria import AnyCriterion, Criterion
from annotators.keys import RESERVED
from annotators.registry import Registry
from annotators.targets import TargetKind


class Material(StrEnum):
    """What a step may put before the annotator. What is not listed by a step is not sent to the browser."""

    QUESTION = "question"
    HOPS = "hops"
    ANSWER = "answer"
    REFERENCES = "references"
    CLAIMS = "claims"
    EVIDENCE = "evidence"
    DOCUMENTS = "documents"
    IMAGES = "images"
    ROLES = "roles"
    USED = "used"
    PAGE_LABELS = "page_labels"
    SYSTEM = "system"
    SCORES = "scores"
    SUGGESTIONS = "suggestions"


_NEEDED_BY_TARGET: dict[TargetKind, set[Material]] = {
    TargetKind.ITEM: set(),
    TargetKind.PAIR: set(),
    TargetKind.EVIDENCE: {Material.EVIDENCE},
    TargetKind.CLAIM: {Material.CLAIMS},
    TargetKind.CLAIM_EVIDENCE: {Material.CLAIMS, Material.EVIDENCE},
    TargetKind.PAGE: {Material.DOCUMENTS},
    TargetKind.IMAGE: {Material.IMAGES},
}


class Step(BaseModel):
    """One commit: what is shown (nothing shown earlier is taken away) and which criteria are answered."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    shows: list[Material]
    criteria: list[str] = Field(min_length=1)


class Protocol(BaseModel):
    """Guidelines + criteria + what the annotator is shown and when. Frozen in a study's snapshot.

    `invalidates` says, for each field of an item that a revision may edit, which criteria's labels fall with it
    (`*` for all). `about_scores` makes the study name the scores that are judged.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        names = [criterion.name for criterion in self.criteria]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two criteria are named {name!r}")
        asked = [name for step in self.steps for name in step.criteria]
        for name in asked:
            if name not in names:
                raise ValueError(f"a step asks {name!r}, which is no criterion; known: {', '.join(names)}")
            if asked.count(name) > 1:
                raise ValueError(f"criterion {name!r} is asked in two steps")
        for name in names:
            if name not in asked:
                raise ValueError(f"criterion {name!r} is asked in no step")
        if len({step.name for step in self.steps}) != len(self.steps):
            raise ValueError("two steps have the same name")
        shown: set[Material] = set()
        for step in self.steps:
            shown |= set(step.shows)
            for name in step.criteria:
                criterion = self.criterion(name)
                missing = _NEEDED_BY_TARGET[criterion.target] - shown
                if missing:
                    raise ValueError(
                        f"criterion {name!r} is about each {criterion.target}, but step {step.name!r} does not "
                        f"show {', '.join(sorted(missing))}"
                    )
                self._check_condition(criterion, asked)
                _check_keys(criterion)
        return self

    def _check_condition(self, criterion: Criterion, asked: list[str]) -> None:
        if criterion.per_hop and criterion.target != TargetKind.PAGE:
            raise ValueError(f"criterion {criterion.name!r}: per_hop is for the target page only")
        if criterion.when is None:
            return
        other = criterion.when.criterion
        if other not in asked or asked.index(other) >= asked.index(criterion.name):
            raise ValueError(f"criterion {criterion.name!r} depends on {other!r}, which is not asked before it")
        if self.criterion(other).target not in (criterion.target, TargetKind.ITEM):
            raise ValueError(f"criterion {criterion.name!r} depends on {other!r}, which has another target")
        known = {str(label.value) for label in self.criterion(other).label_list()}
        for value in criterion.when.values:
            if known and str(value) not in known:
                raise ValueError(
                    f"criterion {criterion.name!r} depends on {other!r} being {value!r}, which is none of its labels"
                )

    def criterion(self, name: str) -> Criterion:
        """The criterion called `name`; KeyError if there is none."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        raise KeyError(name)

    def step_criteria(self, step: int) -> list[Criterion]:
        """The criteria answered in step number `step` (from 0), in the order of that step."""
        return [self.criterion(name) for name in self.steps[step].criteria]

    def shown_at(self, step: int) -> set[Material]:
        """Everything that is before the annotator's eyes in step number `step` (from 0)."""
        return {material for earlier in self.steps[: step + 1] for material in earlier.shows}

    def first_step_showing(self, *materials: Material) -> int | None:
        """The number (from 0) of the first step that shows one of `materials`, or None."""
        for number, step in enumerate(self.steps):
            if set(step.shows) & set(materials):
                return number
        return None

    def digest(self) -> str:
        """SHA-256 of the definition in canonical JSON: what a study's snapshot is known by."""
        canonical = json.dumps(self.model_dump(mode="json"), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def _check_keys(criterion: Criterion) -> None:
    keys = [label.key for label in criterion.label_list() if label.key]
    for label in criterion.label_list():
        if label.key in RESERVED:
            raise ValueError(
                f"criterion {criterion.name!r}: key {label.key!r} of label {label.value!r} is used by the page itself; "
                "take another (docs/keys.md lists them)"
            )
        if label.key and len(label.key) != 1:
            raise ValueError(f"criterion {criterion.name!r}: key {label.key!r} is not one character")
        if label.key and keys.count(label.key) > 1:
            raise ValueError(f"criterion {criterion.name!r}: two labels have the key {label.key!r}")


PROTOCOLS: Registry[Protocol] = Registry("protocol", "annotators.protocols")
"""All protocols that are known by name."""
