"""What a step asks of an item, as requests to a judge: one a criterion, with exactly what the step shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from typing import Protocol as TypingProtocol

from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
from annotators.items.blocks import blocks_of
from annotators.items.targets import TargetKind, target_kind
from annotators.judges.base import Call, Message, Picture, Text
from annotators.judges.prompts.letters import letters_for
from annotators.judges.prompts.prompt import Prompt
from annotators.protocols.base import Protocol

RATIONALE, JUDGEMENT = "rationale", "judgement"
"""The fields that a reply has for each name, in this order: what is said first, the rest follows from."""

LABEL, CANNOT = "label", "cannot_judge"
"""The one field of a judgement: the label, or why there is none."""

MOST_UNITS = 40
"""Units that one request asks about."""

_SEEN = ("figure", "page")
"""Kinds of evidence that are looked at."""


class Pictures(TypingProtocol):
    """Where pictures of pages come from, by the number of the document, the page (from 1) and a box (or all of it)."""

    most: int
    """Pictures that a request has at most."""

    def __call__(self, document: int, page: int, box: Sequence[float] | None) -> Picture | None:
        """The picture; None where the document has no bytes, or cannot be drawn."""


def calls(
    protocol: Protocol,
    prompt: Prompt,
    material: Mapping[str, Any],
    step: int,
    *,
    given: Mapping[tuple[str, str], GivenLabel],
    mark: str,
    pictures: Pictures | None = None,
    letters: bool = False,
) -> list[Call]:
    """The requests that step number `step` (from 0) makes now: those of criteria that are asked, and not `given` yet.

    `material` is what the browser gets at this step, so that a judge knows what an annotator knows and no more, by the
    same neutral names; `given` has the labels so far by criterion and (neutral) target, which decide what is asked.
    Whoever answers asks again, until there are none: a label may open the next criterion. `mark` stands around all
    data. With `letters`, labels that begin alike are given as letters.
    """
    made = []
    for criterion in protocol.step_criteria(step):
        targets = [
            target
            for target in material["units"].get(criterion.name, ())
            if (criterion.name, target) not in given and is_asked(criterion, target, given)
        ]
        size = max(1, pictures.most) if pictures and criterion.target == TargetKind.PAGE else MOST_UNITS
        for start in range(0, len(targets), size):
            chunk = targets[start : start + size]
            made.append(
                _call(protocol, prompt, material, criterion, chunk, mark=mark, pictures=pictures, letters=letters)
            )
    return made


def names_of(asks: Sequence[tuple[str, str]], material: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """(criterion, target) → the name of its judgement in the reply: the target in letters, digits and underscores.

    Documents and hops have numbers, as in `page_D1_12_H2`: their keys are data, and stand between marks.
    """
    numbers = _Numbers(material)
    return {
        (criterion, target): re.sub(r"[^A-Za-z0-9]+", "_", numbers.of(target)).strip("_") for criterion, target in asks
    }


class _Numbers:
    """Documents and hops by their numbers, D1, D2 … and H1, H2 …, in the order in which they are shown."""

    def __init__(self, material: Mapping[str, Any]) -> None:
        self._documents = {one["key"]: f"D{n}" for n, one in enumerate(material.get("documents", ()), 1)}
        self._hops = {one["key"]: f"H{n}" for n, one in enumerate(material.get("hops", ()), 1)}

    def document(self, key: str) -> str:
        """The name of a document."""
        return self._documents.setdefault(key, f"D{len(self._documents) + 1}")

    def hop(self, key: str) -> str:
        """The name of a hop."""
        return self._hops.setdefault(key, f"H{len(self._hops) + 1}")

    def of(self, target: str) -> str:
        """A target with the names in place of keys: `page:D1:12:H2`."""
        kind, _, key = target.partition(":")
        if kind == TargetKind.HOP:
            return f"{kind}:{self.hop(key)}"
        if kind != TargetKind.PAGE:
            return target
        page, _, hop = key.partition("|hop:")
        document, _, number = page.rpartition(":")
        return f"{kind}:{self.document(document)}:{number}" + (f":{self.hop(hop)}" if hop else "")


def _call(
    protocol: Protocol,
    prompt: Prompt,
    material: Mapping[str, Any],
    criterion: Criterion,
    targets: Sequence[str],
    *,
    mark: str,
    pictures: Pictures | None,
    letters: bool,
) -> Call:
    asks = tuple((criterion.name, target) for target in targets)
    data = Data(mark)
    value = criterion.reply_schema(material)
    stand_for = letters_for(value, _said_of_labels(protocol, prompt, criterion)) if letters else {}
    if stand_for:
        value = {"type": "string", "enum": list(stand_for)}
    parts: list[Text | Picture] = []
    if prompt.guidelines:
        parts.append(Text(f"# Guidelines\n\n{protocol.guidelines.strip()}"))
    parts += _examples(prompt, criterion, data, stand_for)
    parts.append(Text(f"# Material\n\n{data.said}"))
    parts += shown_material(material, data, targets, pictures)
    names = names_of(asks, material)
    parts.append(Text(_asked(prompt, criterion, names, material, stand_for)))
    messages = (Message("system", (Text(prompt.system),)), Message("user", tuple(parts)))
    return Call(messages, _schema(prompt, criterion, names, value), criterion.name, asks, stand_for)


def _said_of_labels(protocol: Protocol, prompt: Prompt, criterion: Criterion) -> str:
    """Every word about labels that a judge reads."""
    said = [protocol.guidelines if prompt.guidelines else "", prompt.criteria.get(criterion.name, "")]
    said += [criterion.title, criterion.help, *(f"{one.title} {one.definition}" for one in criterion.label_list())]
    return "\n".join(word for word in said if word)


# What is asked --------------------------------------------------------------------------------------------------------


def _schema(
    prompt: Prompt, criterion: Criterion, names: Mapping[tuple[str, str], str], value: Mapping[str, Any]
) -> dict[str, Any]:
    """An object with a judgement for each name: a label, or why there is none; a reply cannot say neither, or both.

    Servers that keep schemas differ in what they take. This is what all take: every field required and no other
    allowed; `anyOf` below the root alone, of objects whose first fields are not the same (so that the rationale stands
    before it, and not in each). `value` is the schema of a label.
    """
    label = value if criterion.required else {"anyOf": [value, {"type": "null"}]}
    judgement = {"anyOf": [object_schema({LABEL: label}), object_schema({CANNOT: {"type": "string"}})]}
    fields: dict[str, Any] = {} if prompt.rationale == "none" else {RATIONALE: {"type": "string"}}
    fields |= {JUDGEMENT: judgement}
    return object_schema({name: object_schema(fields) for name in names.values()})


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has these properties, each, and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _asked(
    prompt: Prompt,
    criterion: Criterion,
    names: Mapping[tuple[str, str], str],
    material: Mapping[str, Any],
    stand_for: Mapping[str, str],
) -> str:
    lines = [f"# What is asked: {criterion.title}", ""]
    if criterion.help:
        lines += [criterion.help, ""]
    lines.append(f"The label: {criterion.in_words()}.")
    told = {
        str(label.value): f"`{label.value}` ({label.title})" + (f": {label.definition}" if label.definition else "")
        for label in criterion.label_list()
    }
    if stand_for:
        lines[-1] += " Each has a letter: give the letter, alone, as the label."
        lines += [f"- `{letter}` for {told.get(label, f'`{label}`')}" for letter, label in stand_for.items()]
    else:
        lines += [f"- {said}" for said in told.values()]
    if criterion.name in prompt.criteria:
        lines += ["", prompt.criteria[criterion.name]]
    lines += ["", "Judge:"]
    numbers = _Numbers(material)
    lines += [f"- `{name}`: {_in_words(numbers.of(target))}" for (_, target), name in names.items()]
    fields = [f"`{JUDGEMENT}`"]
    if prompt.rationale == "before":
        fields.insert(0, f"`{RATIONALE}` (in one to three sentences, what speaks for which label)")
    none = "" if criterion.required else f', `{{"{LABEL}": null}}` where none is due,'
    lines += [
        "",
        f"Give for each of these names {' and '.join(fields)}, in this order. A {JUDGEMENT} is "
        f'`{{"{LABEL}": …}}`{none} or, only where it cannot be judged, `{{"{CANNOT}": "why it cannot"}}`.',
    ]
    if len(fields) == 1:
        lines[-1] = lines[-1].replace(", in this order", "")
    return "\n".join(lines)


def _in_words(target: str) -> str:
    """What a target is, by the neutral names that the material has; pages as `_Numbers.of` names them."""
    kind, _, key = target.partition(":")
    match kind:
        case TargetKind.ITEM:
            return "the whole"
        case TargetKind.PAIR:
            return "the two answers, left and right"
        case TargetKind.PAGE:
            document, number, *hop = key.split(":")
            return f"page {number} of document {document}{f', for hop {hop[0]}' if hop else ''}"
        case TargetKind.BLOCK:
            return f"paragraph {key} of the answer"
        case TargetKind.CLAIM if "|" in key:
            claim, _, against = key.partition("|")
            said = {"context": "all of the evidence", "answer": "the answer", "reference": "the reference answer"}
            return f"claim {claim} against {said.get(against) or against.replace(':', ' ')}"
        case _:
            return f"{kind} {key}"


def _examples(prompt: Prompt, criterion: Criterion, data: Data, stand_for: Mapping[str, str]) -> Iterator[Text]:
    """Examples may be of items, so that what they show is data as well."""
    given = {label: letter for letter, label in stand_for.items()}
    own = [example for example in prompt.examples if example.criterion == criterion.name]
    for number, example in enumerate(own, 1):
        why = f"\nWhy: {example.why}" if example.why else ""
        shown = data.of(f"# Example {number}", example.shown.strip())
        label = given.get(example.label, example.label)
        yield Text(f"{shown.text}\nLabel: `{label}`{why}")


# What is shown --------------------------------------------------------------------------------------------------------


class Data:
    """Puts a mark around a text that it cannot close: nobody who wrote the text knew the mark."""

    def __init__(self, mark: str) -> None:
        self.mark = f"data-{mark}"

    @property
    def said(self) -> str:
        """What is said of the marks."""
        return f"Each piece of it stands between <{self.mark}> and </{self.mark}>."

    def of(self, name: str, text: object) -> Text:
        """The text between marks, under a name of ours."""
        said = str(text).replace(self.mark, "…")
        return Text(f"{name}:\n<{self.mark}>\n{said}\n</{self.mark}>")


class _Plain(Data):
    """Writes pieces without marks, as an example has them."""

    def __init__(self) -> None:
        super().__init__("")

    def of(self, name: str, text: object) -> Text:
        return Text(f"{name}: {str(text).strip()}")


def as_example(material: Mapping[str, Any]) -> str:
    """What a step shows, in words, as an example of a prompt has it: pictures are left out."""
    parts = shown_material(material, _Plain(), (), None)
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def shown_material(
    material: Mapping[str, Any], data: Data, targets: Sequence[str], pictures: Pictures | None
) -> Iterator[Text | Picture]:
    """Every piece of what is shown. What models propose is not: a judge judges before it is told."""
    numbers = _Numbers(material)
    yield from _texts(material, data, numbers)
    if any(target_kind(target) in (TargetKind.BLOCK, TargetKind.IMAGE) for target in targets):
        for number, paragraph in enumerate(blocks_of(material.get("answer", "")), 1):
            yield data.of(f"Paragraph {number} of the answer (block:{number})", paragraph)
    look = _Looking(pictures)
    for unit in material.get("evidence", ()):
        yield from _evidence(unit, data, look)
    for image in material.get("images", ()):
        whose = image.get("of", "answer")
        yield data.of(f"Image {image['key']} of the {whose}", image.get("caption") or "(no caption)")
        yield from look.at(image.get("document"), image.get("page"), image.get("box"))
    yield from _pages(material, targets, data, numbers, look)
    for name, title in _AS_JSON.items():
        if material.get(name):
            yield data.of(title, json.dumps(material[name], ensure_ascii=False, sort_keys=True))
    if look.left_out:
        yield Text(f"({look.left_out} more pictures are not sent.)")


_AS_JSON = {"page_labels": "Pages that came as evidence", "scores": "Scores"}


def _texts(material: Mapping[str, Any], data: Data, numbers: _Numbers) -> Iterator[Text]:
    """Question, answers, references and claims; of a claim it is said to which text it belongs."""
    if "question" in material:
        yield data.of("Question", material["question"])
    for hop in material.get("hops", ()):
        answer = f"\nAnswer: {hop['answer']}" if hop.get("answer") else ""
        yield data.of(f"Hop {numbers.hop(hop['key'])} of the question", hop["question"] + answer)
    if "answer" in material:
        yield from _by(material.get("system"), "The answer", data)
        yield data.of("Answer", material["answer"])
    for side, answer in zip(("left", "right"), material.get("answers", ()), strict=False):
        yield from _by(answer.get("system"), f"The answer on the {side}", data)
        yield data.of(f"Answer on the {side}", answer["answer"])
    for number, reference in enumerate(material.get("references", ()), 1):
        yield data.of(f"Reference answer {number}", _reference(reference))
    for claim in material.get("claims", ()):
        yield data.of(f"Claim {claim['key']} of the {claim['of']}", claim["text"])


def _by(system: str | None, what: str, data: Data) -> Iterator[Text]:
    if system:
        yield data.of(f"{what} is by the system", system)


def _reference(reference: str | Sequence[str]) -> str:
    """A reference answer as a text: the phrases that have to be in an answer, where it is a list of them."""
    return reference if isinstance(reference, str) else "An answer with all of:\n" + "\n".join(reference)


def _evidence(unit: Mapping[str, Any], data: Data, look: _Looking) -> Iterator[Text | Picture]:
    about = [unit["kind"]]
    if unit.get("pages"):
        about.append("page " + ", ".join(map(str, unit["pages"])))
    about += [f"role {unit['role']}"] if unit.get("role") else []
    if "used" in unit:
        about.append("called used" if unit["used"] else "not called used")
    title = f"{unit['title']}\n" if unit.get("title") else ""
    yield data.of(f"Evidence {unit['key']} ({'; '.join(about)})", title + (unit.get("text") or "(a picture)"))
    if unit["kind"] in _SEEN or not unit.get("text"):
        for page in unit.get("pages", ()):
            yield from look.at(unit.get("document"), page, unit.get("box"))


def _pages(
    material: Mapping[str, Any], targets: Sequence[str], data: Data, numbers: _Numbers, look: _Looking
) -> Iterator[Text | Picture]:
    """Pages that are asked about, or (where none is) those of the documents that may all be seen."""
    documents = {document["key"]: document for document in material.get("documents", ())}
    asked = [target.removeprefix("page:").partition("|")[0] for target in targets if target.startswith("page:")]
    if not asked and not material.get("evidence"):
        asked = [
            f"{key}:{number}"
            for key, document in documents.items()
            if document["pages"] is None
            for number in range(1, (document["n_pages"] or 0) + 1)
        ]
    told = set()
    for page in dict.fromkeys(asked):
        key, _, number = page.rpartition(":")
        if key not in documents:
            continue
        name = numbers.document(key)
        if key not in told:
            told.add(key)
            yield data.of(f"Document {name} is called", documents[key].get("title") or key)
        yield Text(f"Page {number} of document {name}:")
        yield from look.at(documents[key]["id"], int(number), None)


class _Looking:
    """Counts the pictures of a request."""

    def __init__(self, pictures: Pictures | None) -> None:
        self._pictures = pictures
        self.seen = self.left_out = 0

    def at(self, document: int | None, page: int | None, box: Sequence[float] | None) -> Iterator[Picture]:
        if self._pictures is None or document is None or page is None:
            return
        if self.seen >= self._pictures.most:
            self.left_out += 1
            return
        found = self._pictures(document, page, box)
        if found is not None:
            self.seen += 1
            yield found
