"""A server whose judge errs as it is told to: so often, so often for the first side, more at length, and so on.

What is right stands in the material, where only this server looks for it:

- `truth=LABEL` (or `truth.CRITERION=LABEL`) in a piece of evidence or a claim is the label of that unit, in an answer
  that of the whole;
- `quality=2.5` in each answer of a pair says which is better, and by how much;
- `says=LABEL` in evidence is the label that it speaks for.

Everything is drawn from the seed and from what is judged, whatever its order: the same request gets the same reply,
and the judge that errs on an item errs on it in every order and by every prompt with the same rate.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.judging.schemas import Path, filled, first_choice
from tests.judging.wire import ChatServer, Said, Sent, completion, error

_BLOCK = re.compile(
    r"^(?P<name>[^\n]+):\n<(?P<mark>data-[^>\n]+)>\n(?P<text>.*?)\n</(?P=mark)>", re.DOTALL | re.MULTILINE
)
_LOOSE = re.compile(r"</\s*data\b[^>]*>")
_LETTER = re.compile(r"^- `(?P<letter>[A-Za-z])` for `(?P<label>[^`]+)`", re.MULTILINE)
_ASKED = re.compile(r"^- `(?P<name>\w+)`: (?P<words>.+)$", re.MULTILINE)
_ORDER = re.compile(
    r"(?:label|answer|verdict|reply|output|mark|grade|choose|rate)[^`\n]{0,80}`(?P<label>[^`\n]+)`", re.IGNORECASE
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+|.", re.DOTALL)
WORDS = 100
"""`by_length` is by so many words."""


@dataclass(frozen=True)
class Habits:
    """How a judge errs; each is a probability (0..1).

    An instruction in the material that names a label in backticks is obeyed with `obeys`; one behind a closing mark
    that looks like the right one, but is not, with `loose`. Of a pair the `first_side` is preferred, the `first_label`
    is taken, or what the `first_evidence` says, whatever is right. `favours` has words in the material with which the
    best (the last) label is given. Else the label is wrong with `error`, or what `error_with` has for words of the
    prompt, and `by_length` more for every 100 words of the answer. A further sample is the first one again with
    `repeats`, else another label. `cannot`: it is said that it cannot be judged.

    `sure` has the ends between which the probability lies that the server gives its label; the label is then right with
    `overconfident` less than that, whatever `error` says. Without it, labels have probability 0.9.
    """

    error: float = 0.0
    by_length: float = 0.0
    first_side: float = 0.0
    first_label: float = 0.0
    first_evidence: float = 0.0
    repeats: float = 1.0
    obeys: float = 0.0
    loose: float = 0.0
    cannot: float = 0.0
    sure: tuple[float, float] | None = None
    overconfident: float = 0.0
    favours: Mapping[str, float] = field(default_factory=dict)
    error_with: Mapping[str, float] = field(default_factory=dict)

    def self_agreement(self, samples: int, labels: int) -> float:
        """The share of pairs among so many samples of a call that are expected to be equal; the first is at rest."""
        with_first = self.repeats
        others = self.repeats**2 + (1 - self.repeats) ** 2 / (labels - 1)
        further = samples - 1
        return (further * with_first + further * (further - 1) / 2 * others) / (samples * further / 2)


class AnsweringServer(ChatServer):
    """Answers every request by the truth in it and by its habits."""

    def __init__(self, habits: Habits = Habits(), *, seed: int = 0, **of_all: Any) -> None:
        super().__init__(**of_all)
        self.habits, self.seed = habits, seed

    def answer(self, sent: Sent) -> Said:
        """A reply that keeps the schema; 400 to a request without one."""
        if sent.schema is None:
            return error(400, "Say which JSON schema the reply is to keep.")
        asked = _Asked.of(sent)

        def fill(path: Path, leaf: Mapping[str, Any]) -> Any:
            return _Judgement(self, asked, str(path[0])).field(str(path[-1]), leaf)

        def choose(path: Path, _alternatives: list[Mapping[str, Any]]) -> int:
            return int(path[-1] == "judgement" and _Judgement(self, asked, str(path[0])).cannot)

        reply = filled(sent.schema, fill, choose=choose)
        text = json.dumps(reply, ensure_ascii=False)
        if not sent.body.get("logprobs"):
            return completion(sent, [text])
        chances = [
            (judged["judgement"]["label"], _Judgement(self, asked, name).chances(judged["judgement"]["label"], labels))
            for name, judged in reply.items()
            if "label" in judged.get("judgement", {}) and (labels := _labels_of(sent.schema, name))
        ]
        return completion(sent, [text], logprobs=[logprobs_of(text, chances, int(sent.body["top_logprobs"]))])


def _labels_of(schema: Mapping[str, Any], name: str) -> list[str]:
    """The labels that one name of a reply may have."""
    label = schema["properties"][name]["properties"]["judgement"]["anyOf"][0]["properties"]["label"]
    found: list[str] = label.get("enum", [])
    return found


def logprobs_of(text: str, chances: Sequence[tuple[str, Mapping[str, float]]], most: int) -> dict[str, Any]:
    """Log-probabilities of a reply's tokens as OpenAI gives them, by the labels in their order and their chances.

    Tokens are runs of letters, of digits, and single characters; all but those of labels are certain.
    """
    beside: dict[int, dict[str, float]] = {}
    behind = 0
    for label, of_labels in chances:
        behind = text.index(f'"label": "{label}"', behind) + len('"label": "')
        ways = {one: _TOKEN.findall(f'{one}"') for one in of_labels}
        at = behind
        for place, token in enumerate(ways[label]):
            left = [one for one in ways if ways[one][:place] == ways[label][:place]]
            total = sum(of_labels[one] for one in left)
            for one in left:
                here = beside.setdefault(at, {})
                here[ways[one][place]] = here.get(ways[one][place], 0.0) + of_labels[one] / total
            at += len(token)
    content = []
    for found in _TOKEN.finditer(text):
        chance = beside.get(found.start(), {found[0]: 1.0})
        likely = sorted(chance, key=lambda token, chance=chance: -chance[token])[:most]  # type: ignore[misc]
        listed = [_logprob(token, chance[token]) for token in likely]
        content.append({**_logprob(found[0], chance[found[0]]), "top_logprobs": listed})
    return {"content": content, "refusal": None}


def _logprob(token: str, chance: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(max(chance, 1e-9)), "bytes": list(token.encode())}


@dataclass(frozen=True)
class _Asked:
    """A request taken apart: the pieces of material by name, in their order, and the words around them."""

    pieces: tuple[tuple[str, str], ...]
    outside: str
    targets: Mapping[str, str]
    criterion: str
    sample: int

    @classmethod
    def of(cls, sent: Sent) -> _Asked:
        body = sent.body
        pieces = tuple((found["name"], found["text"]) for found in _BLOCK.finditer(sent.text))
        outside = _BLOCK.sub("", sent.text)
        name = ((body.get("response_format") or {}).get("json_schema") or {}).get("name", "")
        sample = int(body.get("seed") or 0) if body.get("temperature") else 0
        return cls(pieces, outside, {f["name"]: f["words"] for f in _ASKED.finditer(outside)}, name, sample)

    def letters_of(self, given: Sequence[str]) -> dict[str, str]:
        """Label → what the schema has it as: itself, or the letter that the request says stands for it."""
        said = {found["letter"]: found["label"] for found in _LETTER.finditer(self.outside)}
        return {said.get(one, one): one for one in given}

    def named(self, beginning: str) -> list[str]:
        """The pieces whose name begins so, in their order."""
        return [text for name, text in self.pieces if re.match(rf"{re.escape(beginning)}\b", name, re.IGNORECASE)]

    @property
    def content(self) -> str:
        """What is judged, the same in every order and under whatever names."""
        return json.dumps([self.criterion, sorted(text for _, text in self.pieces)])


class _Judgement:
    """What is said of one target."""

    def __init__(self, server: AnsweringServer, asked: _Asked, name: str) -> None:
        self._habits, self._seed, self._asked = server.habits, server.seed, asked
        self._target = asked.targets.get(name, name)

    def field(self, name: str, leaf: Mapping[str, Any]) -> Any:
        """The value of a field of the judgement."""
        match name:
            case "cannot_judge":
                return "The material does not say."
            case "rationale":
                return "By what the material says."
            case "label" if "enum" in leaf:
                letters = self._asked.letters_of(leaf["enum"])
                return letters[self._label(list(letters))]
        return first_choice((), leaf)

    def chances(self, label: str, labels: Sequence[str]) -> dict[str, float]:
        """What the server says of how likely each label was, of which it gave this one."""
        others = [other for other in labels if other != label]
        return {label: self._sure, **{other: (1 - self._sure) / len(others) for other in others}}

    @property
    def _sure(self) -> float:
        low, high = self._habits.sure or (0.9, 0.9)
        return low + (high - low) * self._chance("sure")

    @property
    def cannot(self) -> bool:
        """Whether it is said that it cannot be judged."""
        return self._chance("cannot") < self._habits.cannot

    def _label(self, labels: list[str]) -> str:
        said = self._first(labels)
        if self._asked.sample and self._chance("repeats", self._asked.sample) >= self._habits.repeats:
            return self._another(said, labels, self._asked.sample)
        return said

    def _first(self, labels: list[str]) -> str:
        """The label of the first sample."""
        habits, pair = self._habits, self._pair
        ordered = self._labels_of(labels)
        for share, texts in ((habits.obeys, self._pieces), (habits.loose, self._behind_loose_marks)):
            commanded = next((label for text in texts for label in _commands(text) if label in labels), None)
            if commanded is not None and self._chance("obeys") < share:
                return commanded
        if pair is not None and self._chance("side") < habits.first_side:
            return ordered[0]
        if self._chance("label") < habits.first_label:
            return labels[0]
        speaks = [label for text in self._asked.named("Evidence") for label in re.findall(r"\bsays=(\S+)", text)]
        if speaks and self._chance("evidence") < habits.first_evidence:
            return str(speaks[0])
        words = "\n".join(self._pieces)
        for word, share in habits.favours.items():
            if word in words and self._chance(f"favours {word}") < share:
                return ordered[-1]
        right = self._right(ordered)
        return self._another(right, labels) if self._chance("error") < self._error else right

    @property
    def _error(self) -> float:
        if self._habits.sure is not None:
            return 1 - self._sure + self._habits.overconfident
        rate = next(
            (rate for words, rate in self._habits.error_with.items() if words in self._asked.outside),
            self._habits.error,
        )
        n_words = sum(len(text.split()) for text in self._asked.named("Answer"))
        return min(0.95, rate + self._habits.by_length * n_words / WORDS)

    @property
    def _pieces(self) -> list[str]:
        return [text for _, text in self._asked.pieces]

    @property
    def _behind_loose_marks(self) -> list[str]:
        """What stands in a piece behind something that looks like its end."""
        return [parts[1] for text in self._pieces if len(parts := _LOOSE.split(text, maxsplit=1)) > 1]

    @property
    def _pair(self) -> tuple[str, str] | None:
        left, right = self._asked.named("Answer on the left"), self._asked.named("Answer on the right")
        return (left[0], right[0]) if left and right else None

    def _labels_of(self, labels: Sequence[str]) -> list[str]:
        """The labels in an order that does not depend on the request's: numbers by size."""
        try:
            return sorted(labels, key=float)
        except ValueError:
            return sorted(labels)

    def _right(self, labels: list[str]) -> str:
        """The right label of the target, by what stands in the material."""
        pair = self._pair
        if pair is not None:
            left, right = (float(_token("quality", text) or 0) for text in pair)
            most = max(map(float, labels))
            return min(labels, key=lambda label: abs(float(label) - max(-most, min(most, right - left))))
        own = [text for words in (self._target, "Answer") for text in self._asked.named(words.split(" against ")[0])]
        for text in [*own, *self._pieces]:
            found = _token(f"truth.{self._asked.criterion}", text) or _token("truth", text)
            if found in labels:
                return str(found)
        return labels[0]

    def _another(self, label: str, labels: Sequence[str], *more: object) -> str:
        """Another label than this; of a pair the same for either order."""
        turned = self._pair is not None and self._pair[0] > self._pair[1]
        others = [other for other in self._labels_of(labels) if other != label]
        if turned:
            others.reverse()
        return others[int(self._chance("other", *more) * len(others))]

    def _chance(self, purpose: str, *more: object) -> float:
        """A number from 0 to 1, always the same for this purpose, what is judged, and the target."""
        about = json.dumps([self._seed, purpose, self._asked.content, self._target, *more])
        return int.from_bytes(hashlib.sha256(about.encode()).digest()[:8], "big") / 2**64


def _token(name: str, text: str) -> str | None:
    found = re.search(rf"\b{re.escape(name)}=(\S+)", text)
    return None if found is None else found[1]


def _commands(text: str) -> list[str]:
    """The labels that a text asks for."""
    return [found["label"] for found in _ORDER.finditer(text)]
