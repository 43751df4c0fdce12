"""Turns the hand-written questions into items of the native format, with evidence that points at the drawn pages."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotators.errors import InvalidInput
from exports.sample.documents import Drawn, fractions, read_data

Row = dict[str, Any]

_QUESTIONS = {"questions-english": "en", "questions-arabic": "ar"}


def item_rows(documents: Mapping[str, Drawn]) -> Iterator[Row]:
    """The lines of items.jsonl: one for each question and system. ``documents`` are the drawn ones by short name."""
    for name, language in _QUESTIONS.items():
        for question in read_data(name):
            units = [_unit(key, spec, documents) for key, spec in question["evidence"].items()]
            for system, answer in question["answers"].items():
                yield {
                    "id": f"{question['key']}:{system}",
                    "question_key": question["key"],
                    "question": question["question"],
                    "answer": answer["text"],
                    "system": system,
                    "category": question["category"],
                    "language": language,
                    "references": question["references"],
                    "documents": [documents[document].key for document in question["documents"]],
                    "evidence": [_as_found(unit, answer) for unit in units],
                    "claims": _claims(question, answer),
                    "images": [],
                    "hops": [{"key": f"h{n}", **hop} for n, hop in enumerate(question.get("hops", []), start=1)],
                    "scores": [],
                    "metadata": {},
                }


def _unit(key: str, spec: Mapping[str, Any], documents: Mapping[str, Drawn]) -> Row:
    """An evidence unit that does not depend on a system: where it stands and what it says."""
    document = documents[spec["see"]]
    row: Row = {"key": key, "kind": "page", "role": spec["role"], "document": document.key, "box": None, "text": None}
    row |= {"hop": spec.get("hop"), "metadata": {}}
    if "page" in spec:
        row["pages"] = [spec["page"]]
    else:
        kind = next(kind for kind in ("passage", "table", "figure") if kind in spec)
        place = document.find(spec[kind]) if kind == "passage" else document.placed[spec[kind]]
        if place.kind != kind:
            raise InvalidInput(
                f"{spec[kind]} of {document.key} is a {place.kind}; ask for it as that, not as a {kind}."
            )
        row |= {"kind": kind, "pages": [place.page], "box": fractions(place.box), "text": place.text}
        if place.data:
            row["metadata"] = {"data": place.data}
    return row


def _as_found(unit: Row, answer: Mapping[str, Any]) -> Row:
    """``unit`` as one system saw it: whether it says it used the unit, and the rank at which it was retrieved."""
    key = unit["key"]
    if "found" not in answer:  # a reference answer: nothing was retrieved
        return unit | {"used": None, "rank": None}
    found: list[str] = answer["found"]
    return unit | {"used": key in answer["used"], "rank": found.index(key) + 1 if key in found else None}


def _claims(question: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Row]:
    claims = [("c", "answer", answer.get("claims", [])), ("r", "reference", question.get("reference_claims", []))]
    return [
        {"key": f"{letter}{number}", "text": text, "of": of, "metadata": {}}
        for letter, of, texts in claims
        for number, text in enumerate(texts, start=1)
    ]
