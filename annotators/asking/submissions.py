"""What a committed step must contain: the labels of a submission checked against the protocol and the item."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotators.asking.asides import ASIDES, check_said
from annotators.criteria import Condition, Criterion, Value
from annotators.errors import InvalidInput, shown
from annotators.items.targets import AGAINST, Units
from annotators.protocols.base import Protocol

MAX_COMMENT = 10_000
"""Characters of a comment, of a reason, and of a text that is a label."""

MAX_RATIONALES = 100
MAX_BOXES = 200
"""Boxes of one place: one a line of the text that was selected."""

MAX_KEY = 1_000

_NOT_KEPT = re.compile("[\x00\ud800-\udfff]")
"""What not every database keeps in a text."""

FLAGGED = "flagged"
"""How a flag without a reason is stored; one with a reason is stored as its words."""


def flag_words(flag: str) -> str:
    """Why an item was flagged, in the annotator's words; empty where they gave none."""
    return "" if flag == FLAGGED else flag


@dataclass(frozen=True)
class GivenLabel:
    """One label as an annotator gave it: a value, or `cannot_judge` with the reason.

    `target` is a written target (annotators/items/targets.py) with the item's own keys. `rationale` is a list of places
    that support the label: {"document", "page", "box"}, {"document", "page", "text", "boxes"} for text selected on a
    page (a box a line), or {"text"} with or without document and page. `confidence` and `same` are what a study may
    ask beside labels (annotators/asking/asides.py).
    """

    criterion: str
    target: str = "item"
    value: Value | None = None
    cannot_judge: bool = False
    reason: str | None = None
    comment: str | None = None
    rationale: list[dict[str, Any]] | None = None
    confidence: str | None = None
    same: int | None = None


def check_step(
    protocol: Protocol,
    step: int,
    units: Units,
    given: Sequence[GivenLabel],
    earlier: Sequence[GivenLabel] = (),
    *,
    asks: Sequence[str] = (),
) -> list[GivenLabel]:
    """The labels of step number `step` (from 0) as they are stored, in the order of its criteria and their targets.

    `units` are the parts of the item, `earlier` the labels committed with earlier steps of the same sitting (they
    decide with the given ones whether a condition `when` holds), `asks` what is asked beside labels. Raises
    InvalidInput, naming the criterion's title and the target (E2, C1, I3: by position, not by key), for a criterion
    that this step does not ask, a target that the item does not have, a label given twice, a required one that is
    missing, one whose condition does not hold, a value that is none of the criterion's, `cannot_judge` without a reason
    or with a value, texts or rationales that are too long or misshapen, and for what is asked beside a label and not
    said, or said and not asked.
    """
    if not 0 <= step < len(protocol.steps):
        raise InvalidInput(f"There is no step {step + 1}: protocol {protocol.name!r} has {len(protocol.steps)}.")
    by_place = _by_place(protocol, step, units, given)
    decided = {(label.criterion, label.target): label for label in earlier}
    checked: list[GivenLabel] = []
    for criterion in protocol.step_criteria(step):
        for target in criterion.targets(units):
            label = checked_label(criterion, target, units, by_place.get((criterion.name, target)))
            if not is_asked(criterion, target, decided):
                if label is not None:
                    raise InvalidInput(
                        f"{_place(criterion, target, units)} has a label, but is asked only "
                        f"{_condition(protocol, criterion)}. Clear it."
                    )
                continue
            if label is not None:
                decided[criterion.name, target] = label
                if asks or label.confidence is not None or label.same is not None:
                    said = {name: getattr(label, name) for name in ASIDES}
                    check_said(criterion, said, asks, cannot_judge=label.cannot_judge)
                checked.append(label)
            elif criterion.required:
                raise InvalidInput(
                    f"{_place(criterion, target, units)} has no label. Give one, or say that you cannot judge."
                )
    for label, sentence in broken_rules(protocol, checked, decided):
        raise InvalidInput(sentence + ("" if label.target == "item" else f" ({_neutral(label.target, units)})"))
    return checked


def broken_rules(
    protocol: Protocol, labels: Iterable[GivenLabel], decided: Mapping[tuple[str, str], GivenLabel]
) -> Iterator[tuple[GivenLabel, str]]:
    """Each of these labels that cannot stand beside the decided ones, by the protocol's rules, and why."""
    by_criterion: dict[str, list[GivenLabel]] = {}
    if protocol.consequences:
        for label in labels:
            by_criterion.setdefault(label.criterion, []).append(label)
    for consequence in protocol.consequences:
        for label in by_criterion.get(consequence.then.criterion, ()):
            own = {(label.criterion, label.target): label}
            if (
                label.value is not None
                and _holds(consequence.when, label.target, decided)
                and not _holds(consequence.then, label.target, own)
            ):
                first, second = (
                    protocol.criterion(condition.criterion) for condition in (consequence.when, consequence.then)
                )
                yield label, consequence.sentence(first, second)


def is_asked(criterion: Criterion, target: str, decided: Mapping[tuple[str, str], GivenLabel]) -> bool:
    """Whether the criterion's condition holds for this target, by the labels decided so far (criterion, target).

    The browser has the same rule (app/widgets/criteria/when.js); tests/data/asked_when.json holds both to it.
    """
    return criterion.when is None or _holds(criterion.when, target, decided)


def _holds(condition: Condition, target: str, decided: Mapping[tuple[str, str], GivenLabel]) -> bool:
    """Whether the criterion of a condition has one of its values, for this target or for the item."""
    wanted = {str(value) for value in condition.values}
    for place in {(condition.criterion, target), (condition.criterion, "item")}:
        label = decided.get(place)
        if label is not None and label.value is not None and not label.cannot_judge:
            parts = label.value if isinstance(label.value, list) else [label.value]
            # A part of a set is a label, a stretch of the answer has one.
            if wanted & {str(part["label"]) if isinstance(part, dict) else str(part) for part in parts}:
                return True
    return False


def _condition(protocol: Protocol, criterion: Criterion) -> str:
    if criterion.when is None:
        return "always"
    values = " or ".join(str(value) for value in criterion.when.values)
    return f"when {protocol.criterion(criterion.when.criterion).title!r} is {values}"


def _by_place(
    protocol: Protocol, step: int, units: Units, given: Sequence[GivenLabel]
) -> dict[tuple[str, str], GivenLabel]:
    """The given labels by criterion and target, each known to be asked in this step and given once."""
    targets = {criterion.name: set(criterion.targets(units)) for criterion in protocol.step_criteria(step)}
    found: dict[tuple[str, str], GivenLabel] = {}
    for label in given:
        if not isinstance(label.criterion, str) or not isinstance(label.target, str):
            raise InvalidInput("A label's criterion and target are texts. Send them as such.")
        if label.criterion not in targets:
            raise InvalidInput(_not_asked(protocol, step, label.criterion))
        criterion = protocol.criterion(label.criterion)
        if label.target not in targets[label.criterion]:
            raise InvalidInput(
                f"{criterion.title!r} has a label for {shown(_neutral(label.target, units))}, which this item does "
                f"not have or the criterion is not about. It is asked for each {criterion.target}."
            )
        if (label.criterion, label.target) in found:
            raise InvalidInput(f"{_place(criterion, label.target, units)} has two labels. Send one.")
        found[label.criterion, label.target] = label
    return found


def _not_asked(protocol: Protocol, step: int, name: str) -> str:
    for other in protocol.steps:
        if name in other.criteria:
            return (
                f"Criterion {name!r} belongs to step {other.title!r}, not to {protocol.steps[step].title!r}. A step "
                "that is committed is changed by reopening the item."
            )
    asked = ", ".join(protocol.steps[step].criteria)
    return f"There is no criterion {shown(name)} in protocol {protocol.name!r}. This step asks: {asked}."


def checked_label(criterion: Criterion, target: str, units: Units, label: GivenLabel | None) -> GivenLabel | None:
    """The label as it is stored; None if nothing was said. InvalidInput for one that does not fit the item."""
    if label is None:
        return None
    if _is_a_value_alone(label):
        # Most labels of a step with many units are: nothing of them has to be worded or made anew.
        value = _value(criterion, target, units, label.value)
        same = value == label.value and type(value) is type(label.value) and label.rationale is None
        return label if same else replace(label, value=value, rationale=None)
    place = _place(criterion, target, units)
    if not isinstance(label.cannot_judge, bool):
        raise InvalidInput(f"{place}: `cannot_judge` is {shown(label.cannot_judge)}. Send true or false.")
    label = replace(
        label,
        reason=stored_text(label.reason, f"{place}: the reason"),
        comment=stored_text(label.comment, f"{place}: the comment"),
        rationale=checked_rationale(label.rationale, place),
    )
    if label.cannot_judge:
        if not _is_empty(label.value):
            raise InvalidInput(f"{place} has a label and says that you cannot judge. Take one of the two.")
        if label.reason is None:
            raise InvalidInput(f"{place}: say why you cannot judge.")
        return replace(label, value=None)
    if label.reason is not None:
        raise InvalidInput(f"{place}: a reason goes with “cannot judge”. Move it to the comment.")
    if _is_empty(label.value):
        if label.comment or label.rationale:
            raise InvalidInput(f"{place} has a comment but no label. Give one, or comment on the item.")
        return None
    return replace(label, value=_value(criterion, target, units, label.value))


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_a_value_alone(label: GivenLabel) -> bool:
    """Whether a label is a value and nothing besides: no comment, reason or places."""
    said = label.reason is not None or label.comment is not None or label.rationale not in (None, [])
    return label.cannot_judge is False and not said and not _is_empty(label.value)


def _value(criterion: Criterion, target: str, units: Units, value: Any) -> Value:
    check_kept(value, _place(criterion, target, units))
    try:
        return criterion.check(value, units)
    except InvalidInput as error:
        raise InvalidInput(f"{_place(criterion, target, units)}: {error}") from None


def stored_text(value: object, what: str, limit: int = MAX_COMMENT) -> str | None:
    """The text without space around it, None if nothing is left of it.

    `what` begins the message of the InvalidInput that is raised for what is no text, is longer than `limit`
    characters, or has characters (NUL, halves of surrogate pairs) that not every database keeps.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{what} is {shown(value)}, which is no text. Write it in words.")
    if len(value) > limit:
        raise InvalidInput(f"{what} has {len(value)} characters; at most {limit} are kept. Shorten it.")
    _check_characters(value, what)
    return value.strip() or None


def check_kept(value: object, what: str) -> None:
    """InvalidInput, which begins with `what`, for a text that `stored_text` refuses, or a value with such characters.

    How long a text within a value may be is the item's: a stretch is as long as what was marked.
    """
    if isinstance(value, str):
        if not (len(value) <= MAX_COMMENT and value.isprintable()):
            stored_text(value, what)
    elif isinstance(value, list | dict):
        for part in value if isinstance(value, list) else value.values():
            if isinstance(part, str):
                _check_characters(part, what)
            else:
                check_kept(part, what)


def _check_characters(text: str, what: str) -> None:
    if _NOT_KEPT.search(text):
        raise InvalidInput(f"{what} contains a character that cannot be stored. Type it anew instead of pasting it.")


def checked_rationale(given: object, place: str) -> list[dict[str, Any]] | None:
    """The places that support a label as they are stored, None for none; InvalidInput, which begins with `place`."""
    if given is None or given == []:
        return None
    if not isinstance(given, list) or len(given) > MAX_RATIONALES:
        raise InvalidInput(f"{place}: the rationale is not a list of at most {MAX_RATIONALES} places. Mark fewer.")
    return [_rationale_place(part, f"{place}: place {number} of the rationale") for number, part in enumerate(given, 1)]


def _rationale_place(given: object, what: str) -> dict[str, Any]:
    known = {"document", "page", "box", "boxes", "text"}
    if not isinstance(given, dict) or not set(given) <= known:
        raise InvalidInput(f"{what} is {shown(given)}. It has document and page with a box or a text, nothing else.")
    place = {name: value for name, value in given.items() if value is not None}
    document, page = place.get("document"), place.get("page")
    if isinstance(document, str):
        place["document"] = document = stored_text(document, f"{what}: its document", MAX_KEY)
    if "document" in place and not (isinstance(document, str) or _is_count(document)):
        raise InvalidInput(f"{what} names document {shown(given.get('document'))}. Give its key or its id.")
    if "page" in place and not _is_count(page):
        raise InvalidInput(f"{what} names page {shown(page)}. Pages are whole numbers from 1.")
    if ("box" in place or "boxes" in place) and (document is None or page is None):
        raise InvalidInput(f"{what} has a box but not its document and page. Give both.")
    if "box" in place:
        place["box"] = _box(place["box"], what)
    if "boxes" in place:
        boxes = place["boxes"]
        if not isinstance(boxes, list) or not 1 <= len(boxes) <= MAX_BOXES:
            raise InvalidInput(f"{what} has the boxes {shown(boxes)}. Give a list of 1 to {MAX_BOXES}.")
        place["boxes"] = [_box(box, what) for box in boxes]
    text = stored_text(place.pop("text", None), f"{what}: its text")
    if text is not None:
        place["text"] = text
    if "box" not in place and "boxes" not in place and text is None:
        raise InvalidInput(f"{what} has neither a box nor a text. Give one.")
    return place


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**53


def _box(given: object, what: str) -> list[float]:
    numbers = given if isinstance(given, list) else []
    if len(numbers) == 4 and all(isinstance(edge, int | float) and not isinstance(edge, bool) for edge in numbers):
        x0, y0, x1, y1 = numbers
        if 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1:
            return [float(edge) for edge in numbers]
    raise InvalidInput(
        f"{what} has the box {shown(given)}. A box is [x0, y0, x1, y1] in fractions of the page, from its top left."
    )


def _place(criterion: Criterion, target: str, units: Units) -> str:
    """The criterion and the target in words, without the item's own keys: a key like gold-1 would give a role away."""
    return f"{criterion.title!r}" if target == "item" else f"{criterion.title!r} for {_neutral(target, units)}"


def _neutral(target: str, units: Units) -> str:
    names = {f"evidence:{key}": f"E{number}" for number, key in enumerate(units.evidence, 1)}
    names |= {f"claim:{key}": f"C{number}" for number, key in enumerate(units.claims, 1)}
    names |= {f"image:{key}": f"I{number}" for number, key in enumerate(units.images, 1)}
    return " × ".join(names.get(piece, f"the {piece}" if piece in _WHOLES else piece) for piece in target.split("|"))


_WHOLES = frozenset(AGAINST.values())
