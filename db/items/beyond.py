"""Items that point at a page which their document does not have: counted at import, and named in a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlmodel import Session, col

from annotators.figures import count
from annotators.items.item import ItemContent
from db.items.import_documents import Supplied
from db.models import Document
from db.query import mark, pick, plain_rows

_NAMED = 3


class BeyondDocuments:
    """Looks at items as they come in; pages of documents are those of the source, else of the project."""

    def __init__(self, project_id: int, supplied: Iterable[Supplied]) -> None:
        self._project_id = project_id
        self._pages: dict[str, int | None] = {
            given.parsed.key: given.found.n_pages if given.found is not None else given.parsed.n_pages
            for given in supplied
        }
        self._are_any_known: bool | None = any(self._pages.values()) or None
        self._n = 0
        self._first: list[str] = []

    def look(self, session: Session, items: Iterable[ItemContent]) -> None:
        """Count those of these items that point beyond a document."""
        if self._are_any_known is None:
            place = mark(session.connection())
            known = f"SELECT 1 FROM document WHERE project_id = {place} AND n_pages IS NOT NULL LIMIT 1"
            self._are_any_known = bool(plain_rows(session, known, (self._project_id,)))
        if not self._are_any_known:
            return
        places = [(item, places) for item in items if (places := list(item.pages_named()))]
        self._learn(session, {document for _, found in places for _, document, _ in found})
        for item, found in places:
            wrong = next((place for place in found if self._is_beyond(place[1], place[2])), None)
            if wrong is not None:
                self._n += 1
                if len(self._first) < _NAMED:
                    about, document, page = wrong
                    self._first.append(f"{item.id} ({about}: page {page} of {document!r}, of {self._pages[document]})")

    def _learn(self, session: Session, keys: set[str]) -> None:
        unknown = sorted(key for key in keys if self._pages.get(key) is None)
        if not unknown:
            return
        query = pick(Document.key, Document.n_pages).where(
            col(Document.project_id) == self._project_id, col(Document.key).in_(unknown)
        )
        known: Mapping[str, int | None] = dict(session.execute(query).all())
        self._pages.update({key: known.get(key) for key in unknown})

    def _is_beyond(self, document: str, page: int) -> bool:
        n = self._pages.get(document)
        return n is not None and page > n

    def notes(self) -> list[str]:
        """A sentence, where there are any."""
        if not self._n:
            return []
        more = " …" if self._n > len(self._first) else ""
        return [
            f"{count(self._n, 'item points', 'items point')} beyond a document: {', '.join(self._first)}{more}. "
            "Annotators find no such page there; correct the pages, or supply the whole document."
        ]
