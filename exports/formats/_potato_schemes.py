"""Potato's annotation schemes and our criteria: what each scheme asks, how a user's state says it, and the way back.

What a state holds for a scheme is known from Potato 2.12: names with values (`{"schema": S, "name": N}`, value), where
an option of a radio button is both, a box of text is `text_box`, a slider `slider`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotators.asking.inferred_protocols import criterion_name
from annotators.criteria import Criterion
from annotators.criteria.base import KINDS, Misfit
from annotators.errors import InvalidInput, shown
from annotators.figures import some
from annotators.items.targets import TargetKind
from exports.formats._potato_media import POSITIONS, REGIONS, TUPLES, labels_in
from exports.formats._shown import ANSWERS
from exports.formats._writing import cell_of

if TYPE_CHECKING:
    from exports.label_studio.lost import Lost

Names = Mapping[str, Any]
"""What a state holds for one scheme: name → value."""

Marked = Sequence[Mapping[str, Any]]
"""The stretches of one scheme that somebody marked, as a state holds them."""

_NOTHING = (False, None, "", "false", "False")
_SHOWN_ONLY = ("pure_display", "video")
_MAY_BE_EMPTY = ("span",)
"""Schemes of which nothing at all is an answer too, and Potato's `required` asks for one at least."""

NONE = "(none of these)"
"""The option of our schemes of several labels that says that none fits: without it that is as if nothing was said."""

_MOST_POINTS = 100


@dataclass
class Asked:
    """A criterion that a scheme asks, and how a state says what was given: None where nothing was.

    `says_none`: that no label fits is an option of the scheme.
    """

    scheme: str
    criterion: Criterion
    read: Callable[[Names, Marked], Any]
    says_none: bool = False


def read_schemes(schemes: Iterable[object], lost: Lost, *, pairs: bool) -> list[Asked]:
    """The schemes of a config as criteria; what cannot be asked here is lost, a line each.

    `pairs`: the schemes are of a project that compares two texts, and ask of the pair.
    """
    found: list[Asked] = []
    conditions: list[tuple[Mapping[str, Any], list[Asked]]] = []
    for scheme in schemes:
        if not isinstance(scheme, dict) or not isinstance(scheme.get("name"), str):
            lost.add(f"A scheme that is {shown(scheme)}: it has no name")
            continue
        kind = str(scheme.get("annotation_type"))
        if kind in _SHOWN_ONLY:
            continue
        where = f"{kind} {scheme['name']!r}"
        make = _MAKERS.get(kind)
        if make is None:
            lost.add(f"{where}: nothing here is like it")
            continue
        made: list[Asked] = []
        try:
            for name, fields, read in make(scheme, lost):
                criterion = _criterion(scheme, name, fields, [*found, *made], pairs=pairs)
                says_none = kind == "multiselect" and any(one["value"] == NONE for one in _options(scheme))
                made.append(Asked(scheme["name"], criterion, read, says_none))
        except (InvalidInput, Misfit, ValueError) as error:
            said = str(error) if isinstance(error, InvalidInput) else str(error).splitlines()[-1].strip()
            lost.add(f"{where}: {said}")
        found += made
        if scheme.get("display_logic") is not None:
            conditions.append((scheme, made))
    for scheme, made in conditions:
        _put_condition(scheme, made, found, lost)
    return found


def _criterion(
    scheme: Mapping[str, Any], name: str, fields: dict[str, Any], before: Sequence[Asked], *, pairs: bool
) -> Criterion:
    taken = {one.criterion.name for one in before}
    free, number = criterion_name(name), 2
    while free in taken:
        free, number = f"{criterion_name(name)}_{number}", number + 1
    needed = scheme.get("label_requirement")
    required = needed.get("required") if isinstance(needed, dict) else scheme.get("required")
    description = " ".join(str(scheme.get("description") or scheme["name"]).split())
    of_pair = pairs and fields["kind"] in ("choice", "grade", "number", "several", "text")
    about = {
        "name": free,
        "title": description[:300],
        "required": bool(required) and required != "false",
        **({"target": TargetKind.PAIR} if of_pair else {}),
    }
    return KINDS[fields["kind"]].model_validate({**about, **fields})


def _put_condition(scheme: Mapping[str, Any], made: list[Asked], found: Sequence[Asked], lost: Lost) -> None:
    """`display_logic` of one condition that a label was given, as what a criterion is asked only under."""
    logic = scheme["display_logic"]
    conditions = logic.get("show_when") if isinstance(logic, dict) else None
    [condition] = conditions if isinstance(conditions, list) and len(conditions) == 1 else [None]
    if isinstance(condition, dict) and condition.get("operator") in ("equals", "contains"):
        earlier = (
            [one for one in found[: found.index(made[0])] if one.scheme == condition.get("schema")] if made else []
        )
        given = condition.get("value")
        wanted = [str(one) for one in (given if isinstance(given, list) else [given])]
        if earlier and set(wanted) <= {str(label.value) for label in earlier[0].criterion.label_list()}:
            when = {"criterion": earlier[0].criterion.name, "values": wanted}
            try:
                for one in made:
                    one.criterion = type(one.criterion).model_validate({**one.criterion.model_dump(), "when": when})
            except ValueError:
                pass
            else:
                return
    lost.add(f"When {scheme['name']!r} is shown there: here it is always asked")


# One kind of scheme ---------------------------------------------------------------------------------------------------

_Made = tuple[str, dict[str, Any], Callable[[Names, Marked], Any]]


def _options(scheme: Mapping[str, Any], field: str = "labels") -> list[dict[str, Any]]:
    """The labels of a scheme, in its order."""
    given = scheme.get(field)
    if scheme.get("dynamic_options") or not isinstance(given, list) or not given:
        raise InvalidInput("its labels are in the items, and a protocol's are its own")
    found: dict[str, dict[str, Any]] = {}
    for one in given:
        value = one.get("name") if isinstance(one, dict) else one
        if value is None or isinstance(value, dict | list):
            raise InvalidInput(f"it has the label {shown(one)}, without a name")
        about = one if isinstance(one, dict) else {}
        title, key = str(about.get("displayed_label") or ""), str(about.get("key_value") or "")
        found[str(value)] = {
            "value": str(value),
            "title": title or str(value),
            "definition": str(about.get("tooltip") or ""),
            **({"key": key} if len(key) == 1 else {}),
        }
    return list(found.values())


def _chosen(names: Names) -> list[str]:
    """The options that were taken: a value that says its own name is one even where it is 0."""
    return [name for name, value in names.items() if value not in _NOTHING or str(value) == name]


def _without_keys(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The keys of options are theirs to give only where no two are alike."""
    keys = [one["key"] for one in options if "key" in one]
    if len(keys) == len(options) == len(set(keys)):
        return options
    return [{name: value for name, value in one.items() if name != "key"} for one in options]


def _free_text(scheme: Mapping[str, Any]) -> Iterator[_Made]:
    if scheme.get("has_free_response"):
        free = scheme["has_free_response"]
        title = str((free.get("instruction") if isinstance(free, dict) else "") or "Other")
        yield f"{scheme['name']}_other", {"kind": "text", "title": title, "required": False}, _named("free_response")


def _radio(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    options = _without_keys(_options(scheme))
    yield scheme["name"], {"kind": "choice", "labels": options}, _one_of({one["value"] for one in options})
    yield from _free_text(scheme)


_ASIDE = ("free_response", "bad_text")
"""What stands among the options of a scheme and is none: words of one's own, and that a text is no text."""


def _of_known(chosen: Iterable[str], known: Iterable[str]) -> list[str]:
    """The options that were taken; InvalidInput where the config does not have one of them (any more)."""
    found = [name for name in chosen if name not in _ASIDE]
    for name in found:
        if name not in known:
            raise InvalidInput(
                f"the scheme has no label {shown(name)} (it has {some(sorted(known), 10)}). Add it to the config as it "
                "was, or take the answer out"
            )
    return found


def _one_of(known: set[str], make: Callable[[str], Any] = str) -> Callable[[Names, Marked], Any]:
    def read(names: Names, _marked: Marked) -> Any:
        chosen = _of_known(_chosen(names), known)
        return make(chosen[-1]) if chosen else None

    return read


def _named(name: str, make: Callable[[Any], Any] = str) -> Callable[[Names, Marked], Any]:
    def read(names: Names, _marked: Marked) -> Any:
        value = names.get(name)
        return None if value is None or not str(value).strip() else make(value)

    return read


def _select(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    yield scheme["name"], {"kind": "choice", "labels": _without_keys(_options(scheme))}, _named("select-one")


def _multiselect(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    options = [one for one in _without_keys(_options(scheme)) if one["value"] != NONE]
    if len(options) < 2:
        raise InvalidInput("it has 1 label, and 2 are needed")
    known = {one["value"] for one in options}

    def read(names: Names, _marked: Marked) -> Any:
        chosen = _chosen(names)
        return _of_known([name for name in chosen if name != NONE], known) or ([] if NONE in chosen else None)

    yield scheme["name"], {"kind": "several", "labels": options}, read
    yield from _free_text(scheme)


def _likert(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    if scheme.get("bad_text_label"):
        lost.add(f"likert {scheme['name']!r}: the answer outside of the scale (`bad_text_label`)")
    if scheme.get("labels"):
        options = _without_keys(_options(scheme))
        yield scheme["name"], {"kind": "grade", "labels": options}, _one_of({one["value"] for one in options})
        return
    size = _whole(scheme, "size", 5)
    if not 1 <= size <= _MOST_POINTS:
        raise InvalidInput(f"its size is {size}; a scale has from 1 to {_MOST_POINTS} points")
    ends = {1: str(scheme.get("min_label") or ""), size: str(scheme.get("max_label") or "")}
    points = [
        {"value": n, "title": f"{n}: {ends[n]}" if ends.get(n) and ends[n] != str(n) else str(n)}
        for n in range(1, size + 1)
    ]
    yield scheme["name"], {"kind": "grade", "labels": points}, _one_of({str(n) for n in range(1, size + 1)}, int)


def _confidence(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    if scheme.get("scale_type") == "slider":
        yield from _slider(scheme, lost, "confidence_level", 0, 100)
        return
    points = _whole(scheme, "scale_points", 5)
    labels = scheme.get("labels")
    titles = [str(one) for one in labels] if isinstance(labels, list) else []
    grades = [{"value": n, "title": titles[n - 1] if len(titles) == points else str(n)} for n in range(1, points + 1)]
    yield scheme["name"], {"kind": "grade", "labels": grades}, _one_of({str(n) for n in range(1, points + 1)}, int)


def _text(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    boxes = scheme.get("labels")
    lines = min(40, max(1, _whole(scheme, "rows", 2)))
    for box in boxes if isinstance(boxes, list) and boxes else ["text_box"]:
        name = str(box)
        own = isinstance(boxes, list) and len(boxes) > 1
        title = {"title": f"{scheme.get('description') or scheme['name']}: {name}"[:300]} if own else {}
        called = f"{scheme['name']}_{name}" if own else scheme["name"]
        yield called, {"kind": "text", "lines": lines, **title}, _named(name)


def _number(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    low, high = (_float(scheme, names) for names in (("min", "min_value"), ("max", "max_value")))
    limits = {"minimum": -1e9 if low is None else low, "maximum": 1e9 if high is None else high}
    step = _float(scheme, ("step",)) or 1e-6
    yield scheme["name"], {"kind": "number", **limits, "step": step}, _named("number", _as_number)


def _slider(
    scheme: Mapping[str, Any], lost: Lost, name: str = "slider", least: float = 0, most: float = 100
) -> Iterator[_Made]:
    low, high = _float(scheme, ("min_value", "min")), _float(scheme, ("max_value", "max"))
    limits = {"minimum": least if low is None else low, "maximum": most if high is None else high}
    step = _float(scheme, ("step",)) or 1
    yield scheme["name"], {"kind": "number", **limits, "step": step}, _named(name, _as_number)


def _vas(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    yield from _slider({**scheme, "step": 1e-6}, lost, scheme["name"])


def _span(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    options = _without_keys(_options(scheme))

    def read(_names: Names, marked: Marked) -> Any:
        return [
            {"start": int(one["start"]), "end": int(one["end"]), "label": str(one["name"])}
            for one in sorted(marked, key=lambda one: (int(one["start"]), int(one["end"])))
        ]

    yield scheme["name"], {"kind": "spans", "labels": options}, read


def _pairwise(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    mode, name = scheme.get("mode") or "binary", scheme["name"]
    given = scheme.get("labels")
    titles = [str(one) for one in given] if isinstance(given, list) and len(given) > 1 else ["A", "B"]
    if mode == "binary":
        sides = {"A": -1, "B": 1} | ({"tie": 0} if scheme.get("allow_tie") else {})
        tie = [{"value": 0, "title": str(scheme.get("tie_label") or "No preference")}] if "tie" in sides else []
        labels = [{"value": -1, "title": titles[0]}, *tie, {"value": 1, "title": titles[1]}]

        def chosen(side: object) -> int:
            return sides[_of_known([str(side)], sides)[0]]

        yield (
            name,
            {"kind": "grade", "labels": labels, "target": TargetKind.PAIR},
            _named("selection", chosen),
        )
    elif mode == "scale":
        scale = scheme.get("scale")
        of: Mapping[str, Any] = scale if isinstance(scale, dict) else {}
        low, high = _float(of, ("min",)), _float(of, ("max",))
        limits = {"minimum": -3.0 if low is None else low, "maximum": 3.0 if high is None else high}
        step = _float(of, ("step",)) or 1
        fields = {"kind": "number", **limits, "step": step, "target": TargetKind.PAIR}
        yield name, fields, _named("scale_value", _whole_if_it_is)
    else:
        raise InvalidInput(f"its mode is {shown(mode)}; binary and scale are known")


def _multirate(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    options = _without_keys(_options(scheme))
    known = {one["value"] for one in options}
    for one in _options(scheme, "options"):

        def read(names: Names, _marked: Marked, of: str = one["value"]) -> Any:
            value = names.get(of)
            return None if value in _NOTHING else _of_known([str(value)], known)[0]

        title = f"{scheme.get('description') or scheme['name']}: {one['title']}"[:300]
        yield f"{scheme['name']}_{one['value']}", {"kind": "grade", "labels": options, "title": title}, read


def _hierarchical(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    taxonomy = scheme.get("taxonomy")
    if not isinstance(taxonomy, dict | list):
        raise InvalidInput("its taxonomy is in a file or a preset, and a protocol's labels are its own")
    names = list(dict.fromkeys(_leaves(taxonomy)))
    if len(names) < 2:
        raise InvalidInput(f"its taxonomy has {len(names)} labels, and 2 are needed")

    def read(given: Names, _marked: Marked) -> Any:
        said = [part for part in str(given.get("selected_labels") or "").split(",") if part]
        # A label with a comma in it cannot be told from two.
        return (said and any("," in name for name in names) and [name for name in names if name in said]) or (
            [name for name in names if name in _of_known(said, names)] or None
        )

    yield scheme["name"], {"kind": "several", "labels": [{"value": name, "title": name} for name in names]}, read


def _leaves(tree: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(tree, dict):
        for name, below in tree.items():
            yield str(name)
            yield from _leaves(below, depth + 1)
    elif isinstance(tree, list):
        for one in tree:
            yield from _leaves(one, depth + 1) if isinstance(one, dict | list) else [str(one)]


def _of_option(scheme: Mapping[str, Any], one: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and the title of what a scheme asks of one of its options."""
    title = f"{scheme.get('description') or scheme['name']}: {one['title']}"[:300]
    return f"{scheme['name']}_{one['value']}", {"title": title}


def _shares(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """Points that are spread over options: a number of each."""
    total = _float(scheme, ("total", "total_points"))
    lost.add(f"{scheme['annotation_type']} {scheme['name']!r}: that its numbers add up is not checked here")
    for one in _options(scheme):
        name, about = _of_option(scheme, one)
        limits = {"minimum": 0, "maximum": 100 if total is None else total, "step": 1}
        yield name, {"kind": "number", **limits, **about}, _named(one["value"], _as_number)


def _ranking(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """Options that are put in order: the place of each, 1 for the first."""
    options = _options(scheme)
    places = [{"value": place} for place in range(1, len(options) + 1)]
    for one in options:

        def read(names: Names, _marked: Marked, of: str = one["value"]) -> Any:
            ranked = str(names.get("rank_order") or "").split(",")
            return ranked.index(of) + 1 if of in ranked else None

        name, about = _of_option(scheme, one)
        yield name, {"kind": "grade", "labels": places, **about}, read


def _differential(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """Pairs of opposites: a grade between the two of each."""
    size = _whole(scheme, "scale_points", 7)
    if not 2 <= size <= _MOST_POINTS:
        raise InvalidInput(f"its scale has {size} points; it may have from 2 to {_MOST_POINTS}")
    pairs = scheme.get("pairs")
    for pair in pairs if isinstance(pairs, list) else ():
        if not isinstance(pair, list) or len(pair) != 2:
            raise InvalidInput(f"one of its pairs is {shown(pair)}, not two words")
        left, right = map(str, pair)
        titles = {1: f"1: {left}", size: f"{size}: {right}"}
        labels = [{"value": n, "title": titles.get(n, str(n))} for n in range(1, size + 1)]
        read = _named(f"{left}__{right}", _whole_if_it_is)
        name, about = _of_option(scheme, {"value": left, "title": f"{left} – {right}"})
        yield name, {"kind": "grade", "labels": labels, **about}, read


def _range(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """A range of a scale: its two ends, a number each."""
    lost.add(f"range_slider {scheme['name']!r}: that its low end is below its high one is not checked here")
    for end, name in (("low", "range_low"), ("high", "range_high")):
        called, about = _of_option(scheme, {"value": end, "title": end})
        for _, fields, read in _slider(scheme, lost, name):
            yield called, {**fields, **about}, read


def _best_and_worst(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """The best and the worst of a tuple: the position of each, as the answer has them."""
    size = _whole(scheme, "tuple_size", 4)
    if not 2 <= size <= len(POSITIONS):
        raise InvalidInput(f"its tuples have {size} items; they may have from 2 to {len(POSITIONS)}")
    lost.add(f"{TUPLES} {scheme['name']!r}: that best and worst are not the same is not checked here")
    labels = [{"value": name, "title": name} for name in POSITIONS[:size]]
    for end, usual in (("best", "Which is BEST?"), ("worst", "Which is WORST?")):
        title = str(scheme.get(f"{end}_description") or usual)[:300]
        yield f"{scheme['name']}_{end}", {"kind": "choice", "labels": labels, "title": title}, _named(end)


def _regions(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    """Regions of an image: which labels they have. Where they are stands with the label, as boxes on a page."""
    options = _without_keys(_options(scheme))
    if len(options) == 1:
        options.append({"value": "nothing", "title": "Nothing", "definition": "No region is marked."})

    def read(names: Names, _marked: Marked) -> Any:
        return labels_in(names)

    least = _whole(scheme, "min_annotations", 0)
    yield scheme["name"], {"kind": "several", "labels": options, "required": least > 0}, read


def _triage(scheme: Mapping[str, Any], lost: Lost) -> Iterator[_Made]:
    usual = (("accept", "Keep"), ("reject", "Discard"), ("skip", "Unsure"))
    labels = [{"value": name, "title": str(scheme.get(f"{name}_label") or title)} for name, title in usual]
    yield scheme["name"], {"kind": "choice", "labels": labels}, _named("decision")


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], Lost], Iterator[_Made]]] = {
    "radio": _radio,
    "select": _select,
    "multiselect": _multiselect,
    "likert": _likert,
    "confidence": _confidence,
    "text": _text,
    "textbox": _text,
    "number": _number,
    "slider": _slider,
    "vas": _vas,
    "span": _span,
    "highlight": _span,
    "pairwise": _pairwise,
    "multirate": _multirate,
    "hierarchical_multiselect": _hierarchical,
    "soft_label": _shares,
    "constant_sum": _shares,
    "ranking": _ranking,
    "semantic_differential": _differential,
    "triage": _triage,
    "range_slider": _range,
    TUPLES: _best_and_worst,
    REGIONS: _regions,
}


def _whole(scheme: Mapping[str, Any], name: str, usual: int) -> int:
    value = scheme.get(name)
    if value is None:
        return usual
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"its `{name}` is {shown(value)}, which is no whole number") from None


def _float(scheme: Mapping[str, Any], names: Sequence[str]) -> float | None:
    for name in names:
        value = scheme.get(name)
        if value is not None:
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
            if not math.isfinite(number):
                raise InvalidInput(f"its `{name}` is {shown(value)}, which is no number")
            return number
    return None


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{shown(value)} is no number. Write one like 3.5") from None


def _whole_if_it_is(value: Any) -> float:
    number = _as_number(value)
    return int(number) if number.is_integer() else number


# The way out ----------------------------------------------------------------------------------------------------------


def scheme_of(criterion: Criterion, marked: str | None) -> dict[str, Any]:
    """A criterion as a scheme; what Potato has none for is asked as a text. `marked` is the field to mark, if any."""
    labels = criterion.label_list()
    numbers = [label.value for label in labels]
    definitions = [f"{label.title}: {label.definition}" for label in labels if label.definition]
    described = re.sub(r"\s+", " ", " ".join([criterion.title, criterion.help, *definitions])).strip()
    scheme: dict[str, Any] = {"name": criterion.name, "description": described}
    options = [
        {"name": str(label.value), "displayed_label": label.title} | _if_any(tooltip=label.definition)
        for label in labels
    ]
    of_pair = criterion.target == TargetKind.PAIR
    if of_pair and criterion.scale in ("ordinal", "nominal") and set(numbers) in ({-1, 1}, {-1, 0, 1}):
        titles = {label.value: label.title for label in labels}
        scheme |= {"annotation_type": "pairwise", "mode": "binary", "items_key": ANSWERS}
        scheme |= {"labels": [titles[-1], titles[1]]}
        scheme |= {"allow_tie": True, "tie_label": titles[0]} if 0 in titles else {}
    elif of_pair and criterion.scale == "ordinal" and _around_zero(numbers):
        ends = {"min": labels[0].title, "max": labels[-1].title, "center": labels[len(labels) // 2].title}
        scale = {"min": numbers[0], "max": numbers[-1], "step": 1, "labels": ends}
        scheme |= {"annotation_type": "pairwise", "mode": "scale", "items_key": ANSWERS, "scale": scale}
        # What its slider says beside these; the titles of the ends say which side is meant.
        scheme |= {"labels": ["←", "→"]}
    elif criterion.scale == "spans" and marked:
        scheme |= {"annotation_type": "span", "labels": options, "target_field": marked}
    elif criterion.scale == "set" and labels:
        none = {"name": NONE, "displayed_label": "None of these"}
        scheme |= {"annotation_type": "multiselect", "labels": [*options, none]}
    elif criterion.scale == "ordinal" and numbers == list(range(1, len(numbers) + 1)):
        ends = {"min_label": labels[0].title, "max_label": labels[-1].title}
        scheme |= {"annotation_type": "likert", "size": len(numbers), **ends}
    elif criterion.scale in ("nominal", "ordinal") and labels:
        scheme |= {"annotation_type": "radio", "labels": options}
    elif criterion.scale == "interval":
        fields = criterion.model_dump()
        limits = {"min": fields["minimum"], "max": fields["maximum"], "step": fields["step"]}
        scheme |= {"annotation_type": "number", **limits}
    else:
        scheme |= {"annotation_type": "text", "multiline": True}
    if criterion.required and criterion.when is None and scheme["annotation_type"] not in _MAY_BE_EMPTY:
        scheme["label_requirement"] = {"required": True}
    if criterion.when is not None:
        values = [str(value) for value in criterion.when.values]
        condition = {"schema": criterion.when.criterion, "operator": "equals", "value": values}
        scheme["display_logic"] = {"show_when": [condition]}
    return scheme


def _around_zero(numbers: Sequence[object]) -> bool:
    """Whether these are -n … n, each once and in order."""
    most = len(numbers) // 2
    return len(numbers) > 1 and numbers == list(range(-most, most + 1))


def _if_any(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


_SIDES = {-1: "A", 0: "tie", 1: "B"}


def entries_of(scheme: Mapping[str, Any], value: Any) -> list[list[Any]]:
    """A value as a state of Potato holds it: a list of [{"schema", "name"}, value]; of stretches none."""
    kind, name = scheme["annotation_type"], scheme["name"]

    def entry(called: str, held: str) -> list[Any]:
        return [{"schema": name, "name": called}, held]

    match kind:
        case "radio" | "likert":
            return [entry(str(value), str(value))]
        case "multiselect":
            return [entry(str(one), str(one)) for one in value or [NONE]]
        case "number":
            return [entry("number", cell_of(value))]
        case "pairwise" if scheme["mode"] == "scale":
            return [entry("scale_value", cell_of(value))]
        case "pairwise":
            return [entry("selection", _SIDES[int(value)])]
        case "span":
            return []
        case _:
            return [entry("text_box", cell_of(value))]


def stretches_of(scheme: Mapping[str, Any], value: Any) -> list[list[Any]]:
    """The marked stretches of a value as a state of Potato holds them."""
    if scheme["annotation_type"] != "span":
        return []
    return [
        [
            {
                "schema": scheme["name"],
                "name": str(one["label"]),
                "title": str(one["label"]),
                "start": one["start"],
                "end": one["end"],
                "id": f"{scheme['name']}_{one['label']}_{one['start']}_{one['end']}",
                "target_field": scheme["target_field"],
            },
            "1",
        ]
        for one in value
    ]
