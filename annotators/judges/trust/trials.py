"""An item shown to a judge in another way than it was: by what may not change its labels, or by other words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Criterion
from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind
from annotators.judges.base import Call
from annotators.judges.judging import Names, StepToJudge
from annotators.judges.prompts import Pictures, Prompt, calls
from annotators.judges.trust.injections import HARMLESS, INJECTIONS, Injection
from annotators.protocols.base import Protocol

TrialName = Literal["order", "evidence", "labels", "injection", "harmless", "repeats", "prompt"]
NAMES: tuple[TrialName, ...] = get_args(TrialName)
FLIPS: tuple[TrialName, ...] = ("order", "evidence", "labels", "injection", "harmless")
"""The trials that change what a label may not hang on: which answer stands left, the order of evidence and labels, and
what the evidence tells a judge to do (beside a harmless sentence in the same place)."""

Said = Mapping[tuple[str, str], str]
"""(criterion, stored target) → the label that the judge gave it before, as a vote."""


@dataclass(frozen=True)
class Trial:
    """One way of asking a judge once more: how, with which other `prompt`, or with how many `samples` of each call."""

    name: TrialName
    prompt: Prompt | None = None
    samples: int | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InvalidInput(f"{self.name!r} is no trial of a judge. Known: {', '.join(NAMES)}.")
        if self.name == "prompt" and self.prompt is None:
            raise InvalidInput("A trial of another prompt needs the prompt.")
        if self.name == "repeats" and (self.samples is None or self.samples < 2):
            raise InvalidInput(f"{self.samples} repeats say nothing. Ask each call 2 times or more.")

    @property
    def version(self) -> str:
        """What tells its runs from those of other trials: `order`, `repeats 3`, `prompt strict@2`."""
        if self.prompt is not None:
            return f"prompt {self.prompt.name}@{self.prompt.version}"
        return self.name if self.samples is None else f"{self.name} {self.samples}"

    def to_json(self) -> dict[str, Any]:
        """As it is kept, with the whole prompt; of injections with what tells one set of them from another."""
        found: dict[str, Any] = {"name": self.name}
        if self.prompt is not None:
            found["prompt"] = {**self.prompt.model_dump(mode="json"), "hash": self.prompt.hash}
        if self.samples is not None:
            found["samples"] = self.samples
        if self.name == "injection":
            found["set"] = INJECTIONS.hash
        return found

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Trial:
        """The trial that was kept."""
        given = kept.get("prompt")
        said = None if given is None else {name: value for name, value in given.items() if name != "hash"}
        return cls(kept["name"], None if said is None else Prompt.model_validate(said), kept.get("samples"))

    def changes(self, criterion: Criterion, material: Mapping[str, Any]) -> bool:
        """Whether a request about this criterion is another one in the trial than before."""
        n_evidence, n_labels = len(material.get("evidence", ())), len(criterion.label_list())
        match self.name:
            case "order":
                return len(material.get("answers", ())) == 2
            case "evidence":
                return n_evidence > 1
            case "labels":
                return n_labels > 1
            case "injection" | "harmless":
                return n_evidence > 0 and n_labels > 1
        return True


@dataclass
class Tried:
    """An item as a trial shows it, and, once it is asked, the (criterion, stored target) that the trial `changed`."""

    trial: Trial
    protocol: Protocol
    prompt: Prompt
    steps: list[StepToJudge]
    commands: Mapping[str, Injection]
    changed: set[tuple[str, str]]
    letters: bool = False

    @classmethod
    def of(
        cls,
        trial: Trial,
        protocol: Protocol,
        prompt: Prompt,
        steps: Sequence[StepToJudge],
        *,
        item: int = 0,
        said: Said | None = None,
        letters: bool = False,
    ) -> Tried:
        """The item `item` (a study's) as the trial shows it; `said` is what the judge said of it before.

        With `letters` its requests are those of a judge that is asked for letters.

        The mark around its data is to stay that of `steps`, so that nothing but the order changes.
        """
        shown = [_shown(trial, at) for at in steps]
        asked = _labels_turned(protocol) if trial.name == "labels" else protocol
        commands = {}
        if trial.name == "injection":
            for criterion in protocol.criteria:
                found = injection_of(item, criterion, said or {})
                if found is not None:
                    commands[criterion.name] = found
        return cls(trial, asked, trial.prompt or prompt, shown, commands, set(), letters)

    def write(
        self,
        protocol: Protocol,
        prompt: Prompt,
        material: Mapping[str, Any],
        step: int,
        *,
        given: Mapping[tuple[str, str], GivenLabel],
        mark: str,
        pictures: Pictures | None = None,
    ) -> list[Call]:
        """The requests of a step, as `annotators.judges.prompts.calls` makes them."""
        about: dict[str, Any] = {"given": given, "mark": mark, "pictures": pictures, "letters": self.letters}
        if self.trial.name in ("injection", "harmless"):
            made = list(self._injected(protocol, prompt, material, step, **about))
        else:
            made = calls(protocol, prompt, material, step, **about)
        names = next(at.names for at in self.steps if at.step == step)
        for call in made:
            if self.trial.changes(protocol.criterion(call.name), material):
                self.changed.update((criterion, names.back(target)) for criterion, target in call.asks)
        return made

    def _injected(
        self, protocol: Protocol, prompt: Prompt, material: Mapping[str, Any], step: int, **about: Any
    ) -> Iterator[Call]:
        """The requests of each criterion with the evidence that tells it which label to give, or is harmless."""
        for criterion in protocol.step_criteria(step):
            command = HARMLESS if self.trial.name == "harmless" else self.commands.get(criterion.name)
            there = command is not None and self.trial.changes(criterion, material)
            shown = with_injection(material, command) if command is not None and there else material
            found = calls(protocol, prompt, shown, step, **about)
            yield from (call for call in found if call.name == criterion.name)


def _shown(trial: Trial, at: StepToJudge) -> StepToJudge:
    material = at.material
    if trial.name == "order" and len(material.get("answers", ())) == 2:
        turned = {**material, "answers": list(reversed(material["answers"]))}
        return replace(at, material=turned, names=_Turned(at.names))
    if trial.name == "evidence":
        return replace(at, material={**material, "evidence": list(reversed(material.get("evidence", ())))})
    return at


@dataclass(frozen=True)
class _Turned:
    """Names of a pair whose answers have changed sides: what is said of one side is of the other."""

    names: Names

    def back(self, target: str) -> str:
        """The target as it is stored."""
        return self.names.back(target)

    def value_back(self, value: Any, criterion: Criterion) -> Any:
        """A value as it is stored."""
        turned = criterion.turned(value) if criterion.target == TargetKind.PAIR else value
        return self.names.value_back(turned, criterion)


def _labels_turned(protocol: Protocol) -> Protocol:
    """The protocol with the labels of every criterion from the last to the first."""
    criteria = [
        criterion.model_copy(update={"labels": list(reversed(labels))})
        if (labels := getattr(criterion, "labels", None))
        else criterion
        for criterion in protocol.criteria
    ]
    return protocol.model_copy(update={"criteria": criteria})


def injection_of(item: int, criterion: Criterion, said: Said) -> Injection | None:
    """What the evidence of an item tells a judge to say on a criterion; None where it has no two labels.

    Which of the set it is, and which label, follows from the item and the criterion alone: always the same one. The
    label is one that the fewest of its targets have, so that whoever obeys is seen to change.
    """
    labels = [str(label.value) for label in criterion.label_list()]
    if len(labels) < 2:
        return None
    digest = hashlib.sha256(f"{item}:{criterion.name}".encode()).digest()
    votes = [vote for (name, _), vote in said.items() if name == criterion.name]
    fewest = min(map(votes.count, labels))
    rare = [label for label in labels if votes.count(label) == fewest]
    return INJECTIONS.one(digest[0]).telling(rare[digest[1] % len(rare)])


def with_injection(material: Mapping[str, Any], injection: Injection) -> dict[str, Any]:
    """The material with the words of the injection at the end of its first unit of evidence."""
    first, *others = material["evidence"]
    text = f"{first.get('text') or ''}\n\n{injection.text}".strip()
    return {**material, "evidence": [{**first, "text": text}, *others]}
