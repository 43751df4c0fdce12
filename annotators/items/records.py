"""Item records: items as plain JSON (the native format) turned into what a scorer sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotators.errors import InvalidInput, shown
from annotators.scorers.base import ClaimView, EvidenceView, ImageView, ItemView, VerdictView

VERDICT_LABELS = ("entailment", "neutral", "contradiction")
"""What a claim can be to what it is held against."""

Record = Mapping[str, Any]
"""One line of an items.jsonl, parsed: JSON values only, so that it can be pickled and sent to another process."""


def item_view(record: Record, version_id: int = 0) -> ItemView:
    """A native item record as a scorer sees it; `version_id` is the item version's id where there is one.

    Fields that scorers do not read are passed over; what the record lacks is empty. Verdicts stand in `verdicts` of the
    record or of its metadata. Raises InvalidInput naming the field whose value is of the wrong kind.
    """
    metadata = _mapping(record, "metadata")
    return ItemView(
        version_id=version_id,
        question=_text(record, "question"),
        answer=_text(record, "answer"),
        references=[_reference(one) for one in _list(record, "references")],
        hops=[dict(one) for one in _objects(record, "hops")],
        system=_text(record, "system") or "reference",
        category=record.get("category"),
        language=record.get("language"),
        evidence=tuple(_evidence(one) for one in _objects(record, "evidence")),
        claims=tuple(
            ClaimView(_text(one, "key"), _text(one, "text"), _text(one, "of") or "answer")
            for one in _objects(record, "claims")
        ),
        images=tuple(_image(one) for one in _objects(record, "images")),
        documents=tuple(str(one) for one in _list(record, "documents")),
        verdicts=tuple(verdict_view(one) for source in (record, metadata) for one in _objects(source, "verdicts")),
        metadata=metadata,
    )


def verdict_view(record: Record) -> VerdictView:
    """One verdict: `claim`, `label` and either `evidence` (a key) or `against`; InvalidInput for an unknown label."""
    label = _text(record, "label").strip().lower()
    if label not in VERDICT_LABELS:
        raise InvalidInput(f"{label!r} is not the label of a verdict. Allowed: {', '.join(VERDICT_LABELS)}.")
    evidence = record.get("evidence")
    against = f"evidence:{evidence}" if evidence is not None else _text(record, "against")
    if against not in ("answer", "reference", "context") and not against.startswith("evidence:"):
        raise InvalidInput(
            f"{against!r} is nothing to hold a claim against. Allowed: evidence:KEY, context, answer, reference."
        )
    return VerdictView(_text(record, "claim"), against, label, _text(record, "source"))


def _evidence(record: Record) -> EvidenceView:
    return EvidenceView(
        key=_text(record, "key"),
        kind=_text(record, "kind") or "passage",
        role=record.get("role"),
        document=record.get("document"),
        pages=tuple(int(page) for page in _list(record, "pages")),
        text=record.get("text"),
        used=record.get("used"),
        hop=record.get("hop"),
        rank=record.get("rank"),
    )


def _image(record: Record) -> ImageView:
    box = record.get("box")
    return ImageView(
        key=_text(record, "key"),
        document=record.get("document"),
        page=int(record.get("page") or 1),
        caption=_text(record, "caption"),
        of=_text(record, "of") or _text(_mapping(record, "metadata"), "of") or "answer",
        box=tuple(float(edge) for edge in box) if box else None,
    )


def _reference(value: object) -> str | list[str]:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(phrase, str) for phrase in value):
        return list(value)
    raise InvalidInput(f"{shown(value, 60)} is not a reference answer. Give a text, or a list of required phrases.")


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"Field {name!r} is {shown(value, 60)}. It has to be a text.")
    return value


def _list(record: Record, name: str) -> Sequence[Any]:
    value = record.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"Field {name!r} is {shown(value, 60)}. It has to be a list.")
    return value


def _objects(record: Record, name: str) -> Sequence[Record]:
    values = _list(record, name)
    for value in values:
        if not isinstance(value, Mapping):
            raise InvalidInput(f"Field {name!r} has {shown(value, 60)}. It has to be a list of objects.")
    return values


def _mapping(record: Record, name: str) -> Record:
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"Field {name!r} is {shown(value, 60)}. It has to be an object.")
    return value
