"""Tasks of a study: exactly what its annotators are shown, under neutral names, and the way back of their labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from annotators.asking.shown_scores import score_lines
from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import Criterion
from annotators.criteria.material import Material
from annotators.errors import AssayError, InvalidInput, shown
from annotators.items.blocks import blocks_of
from annotators.items.targets import Units
from annotators.protocols import Protocol
from exports.label_studio.controls import Given, control_of
from exports.label_studio.known import ITEM, STEP, STUDY
from exports.label_studio.labelling import INDEX, OF_ITEM, PREFIX, Labelling
from exports.label_studio.lost import Lost

Picture = Callable[[int, int, Sequence[float] | None], str | None]
"""Document's id, page (from 1) and box (or all of it) → the address at which the picture is there; None without one."""

Materials = Mapping[int, Mapping[str, Any]]
"""Number of a step (from 0) → what the browser gets of an item at it (`db.annotating.presentations`)."""

_LOOKED_AT = ("figure", "page")

_NO_PICTURE = "<p>(The page is not supplied.)</p>"

_NOTHING = "–"
"""What stands under a heading of which an item has nothing."""


class Seen(NamedTuple):
    """A picture that a task shows: document's id, page (from 1), box or all of it."""

    document: int
    page: int
    box: tuple[float, ...] | None


def task_data(labelling: Labelling, materials: Materials, *, study: str, item: str, picture: Picture) -> dict[str, Any]:
    """The data of an item's task. Nothing is in it that the first of the labelling's steps does not show."""
    material = materials[labelling.steps[0]]
    data: dict[str, Any] = {ITEM: item, STUDY: study}
    if labelling.number > 1:
        data[STEP] = labelling.number
    data |= _texts_of(labelling, material)
    if not labelling.texts():
        data["about"] = "What is to be judged stands below."
    draw = _Drawing(material, picture)
    for one in labelling.listed():
        data[f"listed_{one.value}"] = [{"html": html} for html in draw.listed(one)] or [{"html": f"<p>{_NOTHING}</p>"}]
    for group in labelling.groups:
        units = _units(labelling, group.criteria, materials)
        data[group.name] = [{"target": target, "html": draw.unit(target)} for target in units]
    for criterion in labelling.criteria:
        if criterion.kind == "order":
            data[f"order_{criterion.name}"] = draw.to_order(criterion)
    return data


def _texts_of(labelling: Labelling, material: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a task, by their fields."""
    found: dict[str, str] = {}
    for one in labelling.texts():
        texts = _text(one, material, labelling.protocol)
        # Stretches are marked in the answer, which stays as it is.
        found |= texts if one == Material.ANSWER else {name: text or _NOTHING for name, text in texts.items()}
    return found


def _units(labelling: Labelling, criteria: Sequence[Criterion], materials: Materials) -> list[str]:
    """The units that criteria of one group are asked of, in order."""
    for number in labelling.steps:
        for criterion in criteria:
            if criterion.name in labelling.protocol.steps[number].criteria:
                found: list[str] = materials[number]["units"].get(criterion.name, [])
                return found
    return []


def _text(one: Material, material: Mapping[str, Any], protocol: Protocol) -> dict[str, str]:
    match one:
        case Material.ANSWER if protocol.about_pairs:
            both = zip(("left", "right"), material.get("answers", ()), strict=False)
            return {side: _by(answer.get("system")) + answer["answer"] for side, answer in both}
        case Material.REFERENCES:
            return {one.value: "\n\n".join(map(_reference, material.get("references", ())))}
        case Material.HOPS:
            return {one.value: "\n".join(map(_hop, material.get("hops", ())))}
        case Material.SCORES:
            return {one.value: score_lines(material.get("scores", ()), protocol)}
        case Material.PAGE_LABELS:
            return {one.value: "\n".join(material.get("page_labels", ()))}
        case _:
            return {one.value: str(material.get(one.value) or "")}


def _by(system: str | None) -> str:
    return f"{system}:\n" if system else ""


def _reference(reference: str | Sequence[str]) -> str:
    return reference if isinstance(reference, str) else "All of: " + "; ".join(reference)


def _hop(hop: Mapping[str, Any]) -> str:
    return f"{hop['question']} → {hop['answer']}" if hop.get("answer") else str(hop["question"])


class _Drawing:
    """What is shown of an item's parts, as HTML of ours around texts that are escaped."""

    def __init__(self, material: Mapping[str, Any], picture: Picture) -> None:
        self._picture = picture
        self._evidence = {unit["key"]: unit for unit in material.get("evidence", ())}
        self._claims = {claim["key"]: claim for claim in material.get("claims", ())}
        self._images = {image["key"]: image for image in material.get("images", ())}
        self._documents = {document["key"]: document for document in material.get("documents", ())}
        self._hops = {hop["key"]: hop for hop in material.get("hops", ())}
        self._blocks = blocks_of(material.get("answer", ""))

    def listed(self, one: Material) -> Iterator[str]:
        """The parts that are only shown."""
        if one == Material.EVIDENCE:
            yield from map(self._of_evidence, self._evidence)
        elif one == Material.CLAIMS:
            yield from map(self._of_claim, self._claims)
        else:
            yield from map(self._of_image, self._images)

    def unit(self, target: str) -> str:
        """What is judged, by its written target."""
        piece, _, against = target.partition("|")
        kind, _, key = piece.partition(":")
        match kind:
            case "evidence":
                return self._of_evidence(key)
            case "claim":
                return self._of_claim(key) + (self._against(against) if against else "")
            case "image":
                return self._of_image(key)
            case "page":
                document, _, number = key.rpartition(":")
                hop = self._hops.get(against.removeprefix("hop:"))
                asked = f'<p dir="auto">{escape(hop["question"])}</p>' if hop else ""
                return asked + self._of_page(document, int(number))
            case "block":
                text = self._blocks[int(key) - 1] if int(key) <= len(self._blocks) else ""
                return f"<p><b>Paragraph {key}</b></p>{_paragraphs(text)}"
            case _:
                return escape(target)

    def to_order(self, criterion: Criterion) -> list[dict[str, str]]:
        """The images that are put in order."""
        sides = {key: image.get("of", "answer") for key, image in self._images.items()}
        wanted = criterion.of
        return [
            {"id": key, "title": key, "html": self._of_image(key)}
            for key, side in sides.items()
            if (side == wanted if wanted else side != "question")
        ]

    def _of_evidence(self, key: str) -> str:
        unit = self._evidence[key]
        about = [f"{key}: {unit['kind']}"]
        if unit.get("pages"):
            about.append("page " + ", ".join(map(str, unit["pages"])))
        about += [str(unit["role"])] if unit.get("role") else []
        if "used" in unit:
            about.append("called used" if unit["used"] else "not called used")
        title = f'<p dir="auto"><i>{escape(unit["title"])}</i></p>' if unit.get("title") else ""
        html = f"<p><b>{escape(', '.join(about))}</b></p>{title}{_paragraphs(unit.get('text') or '')}"
        if unit["kind"] in _LOOKED_AT or not unit.get("text"):
            html += "".join(self._at(unit.get("document"), page, unit.get("box")) for page in unit.get("pages", ()))
        return html

    def _of_claim(self, key: str) -> str:
        claim = self._claims[key]
        return f'<p dir="auto"><b>{key}</b> {escape(claim["text"])}</p>'

    def _against(self, against: str) -> str:
        """What a claim is judged against: a unit of evidence with its text, as the unit itself may stand far above."""
        if against in _AGAINST:
            return f"<p>{_AGAINST[against]}</p>"
        key = against.removeprefix("evidence:")
        text = self._evidence.get(key, {}).get("text") or ""
        return f"<p>Against <b>{escape(key)}</b></p><blockquote>{_paragraphs(text)}</blockquote>"

    def _of_image(self, key: str) -> str:
        image = self._images[key]
        html = f'<p dir="auto"><b>{key}</b> {escape(image.get("caption") or "")}</p>'
        return html + self._at(image.get("document"), image.get("page"), image.get("box"))

    def _of_page(self, document: str, number: int) -> str:
        found = self._documents.get(document, {})
        html = f"<p><b>{escape(found.get('title') or document)}, page {number}</b></p>"
        return html + self._at(found.get("id"), number, None)

    def _at(self, document: int | None, page: int | None, box: Sequence[float] | None) -> str:
        address = None if document is None or page is None else self._picture(document, page, box)
        if address is None:
            return _NO_PICTURE
        return f'<img src="{escape(address)}" alt="" style="max-width: 100%"/>'


_AGAINST = {
    "context": "Against all of the evidence",
    "answer": "Against the answer",
    "reference": "Against the reference",
}


def _paragraphs(text: str) -> str:
    return "".join(f'<p dir="auto">{escape(part)}</p>' for part in text.split("\n") if part.strip())


# The way back ---------------------------------------------------------------------------------------------------------


def labels_of(
    labelling: Labelling,
    data: Mapping[str, Any],
    results: object,
    materials: Materials,
    lost: Lost,
    *,
    earlier: Iterable[GivenLabel] = (),
) -> list[GivenLabel]:
    """The labels that an annotation there gave, by the neutral names of the item's parts.

    `results` is its `result`, `earlier` what the same person said in the projects before it. What was given where its
    condition does not hold is none. InvalidInput where it says what the protocol does not ask, or says it of nothing
    that the item has.
    """
    if not isinstance(results, list):
        raise InvalidInput(f"its result is {shown(results)}, not a list")
    by_control: dict[str, list[Given]] = {}
    for one in results:
        if not isinstance(one, dict) or not isinstance(one.get("from_name"), str):
            if isinstance(one, dict) and one.get("type") == "relation":
                lost.add("Relations between marked stretches")
                continue
            raise InvalidInput(f"a result is {shown(one)}, not an object with from_name")
        by_control.setdefault(one["from_name"], []).append(one)
    answer = str(data.get("answer") or "")
    found: list[GivenLabel] = []
    decided = {(label.criterion, label.target): label for label in earlier}
    known: set[str] = set()
    for criterion in labelling.criteria:
        for name, target in _places(labelling, criterion, data, materials):
            known.add(name)
            label = _label(criterion, target, by_control.get(name, []), answer, decided)
            if name in by_control and not is_asked(criterion, target, decided):
                lost.add(f"What was given to {criterion.name!r} where it is not asked")
            if label is not None:
                decided[criterion.name, target] = label
                found.append(label)
    for criterion in labelling.criteria:
        needed = [target for _, target in _places(labelling, criterion, data, materials)]
        asked = [target for target in needed if is_asked(criterion, target, decided)]
        if criterion.required and any((criterion.name, target) not in decided for target in asked):
            lost.add(f"Annotations without every answer to {criterion.name!r}, which is required")
    for name, given in by_control.items():
        if name not in known:
            raise InvalidInput(
                f"it has a result of {shown(name)} (a {given[0].get('type')}), which the study does not ask: the "
                "labelling config was changed there"
            )
    return found


def shows_as_here(labelling: Labelling, materials: Materials, data: Mapping[str, Any]) -> bool:
    """Whether a task shows what its item is shown with here; which pictures it has is not known here."""
    study, item = str(data.get(STUDY)), str(data.get(ITEM))
    here = task_data(labelling, materials, study=study, item=item, picture=lambda *_: None)
    return all(_without_pictures(data.get(name)) == shown for name, shown in here.items())


_PICTURE = re.compile(r'<img src="[^"]*" alt="" style="max-width: 100%"/>')


def _without_pictures(shown: Any) -> Any:
    """What a task shows, with the words for a page that is not supplied in place of each picture."""
    if isinstance(shown, str):
        return _PICTURE.sub(_NO_PICTURE, shown)
    if isinstance(shown, list):
        return [_without_pictures(one) for one in shown]
    return {name: _without_pictures(one) for name, one in shown.items()} if isinstance(shown, dict) else shown


def asks_anything(labelling: Labelling, materials: Materials, earlier: Iterable[GivenLabel]) -> bool:
    """Whether anything is asked of somebody who said this in the projects before."""
    decided = {(label.criterion, label.target): label for label in earlier}
    for criterion in labelling.criteria:
        of_item = criterion.target in OF_ITEM
        targets = [criterion.target.value] if of_item else _units(labelling, [criterion], materials)
        # What depends on an answer of this very project may come to be asked.
        if any(one.name == criterion.when.criterion for one in labelling.criteria if criterion.when):
            continue
        if any(is_asked(criterion, target, decided) for target in targets):
            return True
    return False


def _places(
    labelling: Labelling, criterion: Criterion, data: Mapping[str, Any], materials: Materials
) -> Iterator[tuple[str, str]]:
    """(name of the control, target) of each unit that a criterion is asked of."""
    name = labelling.control_name(criterion)
    if criterion.target in OF_ITEM:
        yield name, criterion.target.value
        return
    group = next(group for group in labelling.groups if criterion in group.criteria)
    there = set(_units(labelling, group.criteria, materials))
    for number, target in enumerate(_listed_targets(data.get(group.name))):
        if target not in there:
            raise InvalidInput(f"the task is about {shown(target)}, which the item does not have")
        yield name.replace(INDEX, str(number)), target


def _listed_targets(listed: object) -> Iterable[str]:
    for unit in listed if isinstance(listed, list) else ():
        target = unit.get("target") if isinstance(unit, dict) else None
        if not isinstance(target, str):
            raise InvalidInput(f"the task has {shown(unit)} in place of a unit with its target")
        yield target


def _label(
    criterion: Criterion,
    target: str,
    given: Sequence[Given],
    answer: str,
    decided: Mapping[tuple[str, str], GivenLabel],
) -> GivenLabel | None:
    control = control_of(criterion)
    assert control is not None
    if not is_asked(criterion, target, decided):
        return None
    if not given:
        return GivenLabel(criterion.name, target, []) if control.empty_is_a_value else None
    wrong = next((one for one in given if one.get("type") != control.type), None)
    if wrong is not None:
        raise InvalidInput(f"{criterion.name!r} has a result of type {shown(wrong.get('type'))}, not {control.type}")
    try:
        value = control.read(given, criterion, answer)
        units = Units(answer=answer) if criterion.fits_items else None
        return GivenLabel(criterion.name, target, criterion.check(value, units))
    except AssayError as error:
        raise InvalidInput(f"{criterion.name!r} of {target}: {error}") from None


def results_of(
    labelling: Labelling, data: Mapping[str, Any], labels: Iterable[GivenLabel], materials: Materials
) -> list[dict[str, Any]]:
    """Labels, by the neutral names of the item's parts, as the `result` of an annotation or a prediction there."""
    given = {(label.criterion, label.target): label for label in labels if label.value is not None}
    answer, found = str(data.get("answer") or ""), []
    for criterion in labelling.criteria:
        control = control_of(criterion)
        assert control is not None
        for name, target in _places(labelling, criterion, data, materials):
            label = given.get((criterion.name, target))
            if label is None:
                continue
            about = _object(labelling, criterion, name)
            for number, value in enumerate(control.values(label.value, criterion, answer)):
                found.append(
                    {
                        "id": f"{name}.{number}",
                        "from_name": name,
                        "to_name": about,
                        "type": control.type,
                        "value": value,
                    }
                )
    return found


def _object(labelling: Labelling, criterion: Criterion, name: str) -> str:
    """The object that a control is about."""
    if criterion.kind == "order":
        return f"{PREFIX}{name}"
    if criterion.target not in OF_ITEM:
        group = next(group for group in labelling.groups if criterion in group.criteria)
        return f"{PREFIX}{group.name}-{name.rpartition('-')[2]}"
    return labelling.about
