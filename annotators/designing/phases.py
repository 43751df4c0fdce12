"""The phases around the work of a study: consent, and the questions before the first item and after the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_serializer, model_validator

from annotators.asking.submissions import GivenLabel, check_step, stored_text
from annotators.criteria import AnyCriterion, Criterion, Misfit
from annotators.errors import InvalidInput, shown
from annotators.items.targets import TargetKind, Units
from annotators.protocols.base import Protocol, Step

CONSENT, BEFORE, AFTER = "consent", "before", "after"
PHASES = (CONSENT, BEFORE, AFTER)
"""The phases that somebody answers, in their order; the study's items are between the last two."""

AGREED, DECLINED = "agreed", "declined"

LONGEST_CONSENT = 50_000
"""Characters of a consent text."""

_KINDS = ("choice", "several", "grade", "number", "text")
_ABOUT_ITEMS = ("of", "only", "rest", "score", "derived", "suggested_by", "accept", "per_hop")
_TITLES = {BEFORE: "Before you begin", AFTER: "Before you go"}


class Phases(BaseModel):
    """What is put to annotators besides items: a text to agree to, questions before the first item and after the last.

    `consent` is Markdown; empty asks for none. Questions are criteria of the kinds choice, several, grade, number and
    text, about nothing but the person: they have no target, and no field that is about items.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    consent: str = Field("", max_length=LONGEST_CONSENT, exclude_if=lambda text: not text)
    before: tuple[AnyCriterion, ...] = Field((), exclude_if=lambda questions: not questions)
    after: tuple[AnyCriterion, ...] = Field((), exclude_if=lambda questions: not questions)

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        try:
            stored_text(self.consent, "The consent", LONGEST_CONSENT)
        except InvalidInput as error:
            raise Misfit(str(error), CONSENT) from None
        for phase in (BEFORE, AFTER):
            questions: Sequence[Criterion] = getattr(self, phase)
            for position, question in enumerate(questions):
                _check_question(question, phase, position)
            try:
                if questions:
                    _as_protocol(phase, questions)
            except ValidationError as error:
                cause = error.errors(include_url=False)[0].get("ctx", {}).get("error")
                if not isinstance(cause, Misfit):
                    raise
                raise Misfit(str(cause), *(phase if part == "criteria" else part for part in cause.path)) from None
        return self

    @field_serializer(BEFORE, AFTER)
    def _as_written(self, questions: Sequence[Criterion]) -> list[dict[str, Any]]:
        """Without what is said by leaving it out, but for the kind, by which a question is read back."""
        return [
            {"name": asked.name, "kind": asked.kind, **asked.model_dump(mode="json", exclude_defaults=True)}
            for asked in questions
        ]

    def __bool__(self) -> bool:
        return bool(self.consent.strip() or self.before or self.after)

    def asked(self) -> tuple[str, ...]:
        """The phases that there are, in their order."""
        there = {CONSENT: bool(self.consent.strip()), BEFORE: bool(self.before), AFTER: bool(self.after)}
        return tuple(phase for phase in PHASES if there[phase])

    def questionnaire(self, phase: str) -> Protocol:
        """The questions of a phase as a protocol of one step, which the desk draws and submissions are checked by."""
        return _as_protocol(phase, getattr(self, phase))

    def checked(self, phase: str, answers: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Answers (question → value) as they are stored: question and value of each that was answered, in order.

        For the consent the one question is `consent`, and its value `agreed` or `declined`. Raises InvalidInput for an
        answer to what is not asked, a required one that is missing, and a value that is none of the question's.
        """
        if phase == CONSENT:
            if set(answers) != {CONSENT} or answers[CONSENT] not in (AGREED, DECLINED):
                raise InvalidInput(f"The consent is {shown(dict(answers))}. Send agreed or declined.")
            return [{"question": CONSENT, "value": answers[CONSENT]}]
        questions: Sequence[Criterion] = getattr(self, phase)
        names = [asked.name for asked in questions]
        for name in answers:
            if name not in names:
                raise InvalidInput(f"There is no question {shown(name)}. Questions: {', '.join(names)}.")
        for asked in questions:
            if asked.required and asked.when is None and answers.get(asked.name) is None:
                raise InvalidInput(f"{asked.title!r} has no answer. Give one.")
        given = [GivenLabel(name, value=value) for name, value in answers.items()]
        labels = check_step(self.questionnaire(phase), 0, Units(), given)
        return [{"question": label.criterion, "value": label.value} for label in labels]

    def in_settings(self) -> dict[str, Any]:
        """What a study's settings keep of it, under `phases`."""
        return self.model_dump(mode="json")


def phases_of(settings: Mapping[str, Any]) -> Phases:
    """The phases of a study, by its settings."""
    return Phases.model_validate(settings.get("phases", {}))


def _as_protocol(phase: str, questions: Sequence[Criterion]) -> Protocol:
    names = [question.name for question in questions]
    title = _TITLES[phase]
    step = Step(name="questions", title=title, shows=[], criteria=names)
    return Protocol(name=phase, title=title, guidelines=title, criteria=list(questions), steps=[step])


def _check_question(question: Criterion, phase: str, position: int) -> None:
    where = (phase, position)
    if question.kind not in _KINDS:
        raise Misfit(
            f"question {question.name!r}: the kind {question.kind} is about items; take one of {', '.join(_KINDS)}",
            *where, "kind",
        )  # fmt: skip
    if question.target != TargetKind.ITEM:
        raise Misfit(
            f"question {question.name!r} has the target {question.target}, but is about the person; leave `target` out",
            *where, "target",
        )  # fmt: skip
    plain = type(question).model_fields
    for field in _ABOUT_ITEMS:
        if getattr(question, field) != plain[field].get_default(call_default_factory=True):
            raise Misfit(
                f"question {question.name!r}: `{field}` is about items; leave it out",
                *where, field,
            )  # fmt: skip
