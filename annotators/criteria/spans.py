"""`spans`: marked stretches of the answer, each with a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from annotators.criteria.base import Criterion, Misfit, Scale, Value, written
from annotators.criteria.labels import Label, declared, with_keys
from annotators.criteria.material import Material
from annotators.errors import InvalidInput, shown
from annotators.items.targets import TargetKind, Units

MOST = 2_000
"""Stretches of one value."""

FARTHEST = 10_000_000
"""No answer has so many characters."""

_FIELDS = frozenset({"start", "end", "label", "text"})


class Spans(Criterion):
    """Marked stretches of the answer, each with one of the labels; none at all is a value too (spans).

    A value is a list of `{"start", "end", "label", "text"}`, in the order of the answer. Places count the Unicode code
    points of the raw text from 0, `end` is the place behind the stretch, and `text` is what stands there. Stretches
    begin and end with a character that shows, do not overlap, and touch only where their labels differ.
    """

    kind: Literal["spans"] = "spans"
    scale: ClassVar[Scale] = "spans"
    about: ClassVar[str] = "marked stretches of the answer, each with one of these labels"
    fits_items: ClassVar[bool] = True
    made_of: ClassVar[str] = "answer to mark"
    labels: list[Label] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_of_the_item(self) -> Self:
        if self.target != TargetKind.ITEM:
            raise Misfit(
                f"criterion {self.name!r}: stretches are marked in the answer of the item, not in the target "
                f"{self.target}; leave it out",
                "target",
            )
        return self

    def needs(self) -> set[Material]:
        """The answer."""
        return super().needs() | {Material.ANSWER}

    def has_material(self, units: Units) -> bool:
        """Where the answer says something that can be marked."""
        return bool(units.answer.strip())

    def label_list(self) -> list[Label]:
        """The labels with keys and titles, in the order of the protocol."""
        return with_keys(self.labels)

    def said(self, value: object) -> str:
        """The stretches with the titles of their labels, or that there are none."""
        titles = {label.value: label.title for label in self.label_list()}
        stretches: Any = value
        return ", ".join(f"“{part['text']}” ({titles.get(part['label'])})" for part in stretches) or "none"

    def check(self, value: object, units: Units | None = None) -> Value:
        """The stretches in order, without space at their ends, those of one label that touch as one.

        With the item at hand they have to lie in its answer, and say what it says there; a `text` that is left out is
        filled in.
        """
        if not isinstance(value, list) or len(value) > MOST:
            raise self._reject(value, f"a list of at most {MOST:,} stretches")
        answer = None if units is None else units.answer
        stretches = sorted(
            (self._stretch(stretch, answer) for stretch in value),
            key=lambda stretch: (stretch["start"], stretch["end"]),
        )
        found: list[dict[str, Any]] = []
        for stretch in stretches:
            last = found[-1] if found else None
            if last is not None and stretch["start"] < last["end"]:
                raise InvalidInput(
                    f"The stretches {_places(last)} and {_places(stretch)} of {self.name!r} overlap. Keep one of them, "
                    "or let the one end where the other begins."
                )
            if last is not None and stretch["start"] == last["end"] and stretch["label"] == last["label"]:
                both = last["text"] and stretch["text"]
                found[-1] = last | {"end": stretch["end"], "text": last["text"] + stretch["text"] if both else ""}
            else:
                found.append(stretch)
        return found

    def parse(self, text: str) -> Value:
        """A JSON array of stretches."""
        return self.check(self._json_list(text))

    def vote(self, value: Any) -> str:
        """As JSON, the fields of each stretch in one order, in which databases need not keep them."""
        return written([{field: stretch[field] for field in ("start", "end", "label", "text")} for stretch in value])

    def reply_schema(self, material: Mapping[str, Any]) -> dict[str, Any]:
        """Quotations of the answer, each with a label: models do not count characters."""
        labels = [str(label.value) for label in self.labels]
        quoted = {"text": {"type": "string"}, "label": {"type": "string", "enum": labels}}
        each = {"type": "object", "properties": quoted, "required": list(quoted), "additionalProperties": False}
        return {"type": "array", "items": each}

    def from_reply(self, value: Any, material: Mapping[str, Any]) -> Any:
        """The stretches that are quoted, each where it first stands behind the one before, or else at all."""
        answer, found, behind = material.get("answer", ""), [], 0
        for quoted in value:
            text = quoted["text"].strip()
            start = answer.find(text, behind) if text else -1
            start = answer.find(text) if text and start < 0 else start
            if start < 0:
                raise InvalidInput(f"the answer does not say {shown(text)}. Quote it letter for letter.")
            behind = start + len(text)
            found.append({"start": start, "end": behind, "label": quoted["label"]})
        return found

    def by_majority(self, values: Sequence[Any], n_annotations: int) -> Any:
        """Character by character what more than half of all annotations say: one of the labels, or that it is unmarked.

        None where no such majority is: with two labels and unmarked characters three annotators can say three things.
        """
        if len(values) <= n_annotations / 2:
            return None
        places = sorted({stretch[end] for value in values for stretch in value for end in ("start", "end")})
        settled: list[dict[str, Any]] = []
        for start, end in pairwise(places):
            over = [
                stretch for value in values for stretch in value if stretch["start"] <= start and end <= stretch["end"]
            ]
            said = Counter(stretch["label"] for stretch in over)
            label = next((label for label, n in said.items() if n > n_annotations / 2), None)
            if label is None and len(values) - len(over) <= n_annotations / 2:
                return None
            if label is not None:
                texts = (mark["text"][start - mark["start"] : end - mark["start"]] for mark in over if mark["text"])
                text, last = next(texts, ""), settled[-1] if settled else None
                if last is not None and (last["end"], last["label"]) == (start, label):
                    settled[-1] = last | {"end": end, "text": last["text"] + text if last["text"] and text else ""}
                else:
                    settled.append({"start": start, "end": end, "label": label, "text": text})
        return self.check([stretch for stretch in settled if not stretch["text"] or stretch["text"].strip()])

    def labels_in(self, value: Any) -> list[str]:
        """Those of its stretches, each once."""
        return sorted({str(stretch["label"]) for stretch in value})

    def stored_labels(self) -> list[str | int | float]:
        """None: a value is a list of stretches."""
        return []

    def _stretch(self, given: object, answer: str | None) -> dict[str, Any]:
        """One stretch as it is stored."""
        if not isinstance(given, Mapping) or not {"start", "end", "label"} <= set(given) <= _FIELDS:
            raise self._reject(given, "stretches with start, end, label and text")
        start, end, text = given["start"], given["end"], given.get("text") or ""
        if not (_is_place(start) and _is_place(end) and start < end):
            raise self._reject(given, "stretches whose start and end are whole numbers, the start before the end")
        label = declared(self.labels, given["label"], ordered=False)
        if label is None or isinstance(given["label"], list | dict):
            raise self._reject(given["label"], ", ".join(str(label.value) for label in self.labels))
        if not isinstance(text, str) or (text and len(text) != end - start):
            raise InvalidInput(
                f"The stretch from {start} to {end} of {self.name!r} has {end - start} characters, but its text is "
                f"{shown(text)}. Places count Unicode characters from 0; correct them, or leave the text out."
            )
        if answer is not None:
            if end > len(answer):
                raise InvalidInput(
                    f"the answer has {len(answer):,} characters, so that there is no stretch from {start} to {end}. "
                    "Mark it again."
                )
            there = answer[start:end]
            if text and text != there:
                raise InvalidInput(
                    f"from {start} to {end} the answer says {shown(there)}, not {shown(text)}. Places count Unicode "
                    "characters from 0; mark it again."
                )
            text = there
        if text and not text.strip():
            raise InvalidInput(f"there is nothing but space from {start} to {end}. Mark words.")
        end -= len(text) - len(text.rstrip())
        start += len(text) - len(text.lstrip())
        return {"start": start, "end": end, "label": str(label.value), "text": text.strip()}


def _is_place(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= FARTHEST


def _places(stretch: Mapping[str, Any]) -> str:
    return f"{stretch['start']}–{stretch['end']}"
