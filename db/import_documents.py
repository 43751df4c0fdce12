"""The documents of an import: their bytes looked at before any transaction, rows of one key joined, gaps filled."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from annotators.errors import Conflict, InvalidInput
from annotators.pages import Renderer
from db.documents import ATTACHED, DESCRIBED, TITLED, Bytes, give_bytes, look_at
from db.models import Document
from db.normal import canonical, document_key
from db.parsed import ParsedDocument, Rejected


@dataclass(frozen=True)
class Supplied:
    """A document of the source, with its bytes looked at."""

    parsed: ParsedDocument
    found: Bytes | None


def look_at_all(
    stream: Iterable[ParsedDocument | Rejected], rejected: list[Rejected], notes: list[str]
) -> list[Supplied]:
    """Every document of a source with its bytes looked at; bad ones go to `rejected`, damaged ones to `notes`."""
    supplied: dict[str, Supplied] = {}
    with ExitStack() as stack:
        renderer: Renderer | None = None
        for one in stream:
            if isinstance(one, Rejected):
                rejected.append(one)
                continue
            try:
                document_key(one.key, "key")
                found = None
                if one.path is not None:
                    renderer = renderer or stack.enter_context(Renderer(workers=1))
                    found = look_at(one.path, one.key, renderer.inspect)
                    if found.note:
                        notes.append(f"{one.key}: {found.note}")
                supplied[one.key] = _joined(supplied.get(one.key), Supplied(one, found))
            except InvalidInput as error:
                rejected.append(Rejected(one.file, one.line, str(error)))
    return list(supplied.values())


def _joined(before: Supplied | None, one: Supplied) -> Supplied:
    """One document out of two rows with its key: a description and its bytes may stand in different places."""
    if before is None:
        return one
    a, b = before, one
    if a.found and b.found and a.found.sha256 != b.found.sha256:
        raise InvalidInput(
            f"document {one.parsed.key!r} is supplied twice with different bytes; the first is {a.parsed.file}. "
            "Keep one, or give each its own key."
        )
    for field_ in ("title", "metadata"):
        first, second = getattr(a.parsed, field_), getattr(b.parsed, field_)
        if first and second and first != second:
            raise InvalidInput(
                f"document {one.parsed.key!r} has two different values of `{field_}`; the first is "
                f"{a.parsed.file}, line {a.parsed.line}. Keep one."
            )
    parsed = ParsedDocument(
        a.parsed.file, a.parsed.line, a.parsed.key, a.parsed.title or b.parsed.title,
        a.parsed.metadata or b.parsed.metadata, a.parsed.path or b.parsed.path,
    )  # fmt: skip
    return Supplied(parsed, a.found or b.found)


def complete(document: Document, one: Supplied) -> list[str]:
    """Enter what a document lacked; the kinds of event that this is. Conflict for what it has otherwise already."""
    gained = []
    title, metadata = one.parsed.title, canonical(one.parsed.metadata)
    for name, given, kind in (("title", title, TITLED), ("extra", metadata, DESCRIBED)):
        has = getattr(document, name)
        if not given or given == has:
            continue
        if has:
            words = "title" if name == "title" else "metadata"
            raise Conflict(
                f"document {document.key!r} is there with other {words} ({str(has)[:60]}). Leave it out, or choose "
                "another key."
            )
        setattr(document, name, given)
        gained.append(kind)
    if one.found and give_bytes(document, one.found):
        gained.append(ATTACHED)
    return gained
