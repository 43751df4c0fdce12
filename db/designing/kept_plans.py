"""What a study of a design would take, kept while that of which it is drawn stays: a form asks at every keystroke."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError
from annotators.protocols import Protocol
from db.items.read import items_state
from db.models import Adjudication, Annotation, Document, Run, Score, Study, now
from db.query import pick
from db.studies.design import OF_PEOPLE, StudyPlan

_MOST_KEPT = 200
_OF_PEOPLE_AND_TIME = {
    "name", "protocol", "annotators", "outside", "queue", "quota", "quotas", "rule", "lease_minutes", "deadline",
    "phases", "show_names", "allow_own_adjudication", "separate_revisers", "adjudication", "review_agreed", "stop_at",
    "talk", "own_figures",
}  # fmt: skip
"""Fields of a design that say nothing of which items it takes; what is wrong with their values is part of the key."""

_kept: OrderedDict[Any, StudyPlan | AssayError] = OrderedDict()
_keeping = Lock()


def kept_plan(
    session: Session, project_id: int, protocol: Protocol, design: StudyDesign, *, make: Callable[[], StudyPlan]
) -> StudyPlan:
    """The plan that `make` makes of the design, whoever its annotators are, or what it raises; made once a change.

    What is looked up does not grow with the project's items, but for a count of its documents.
    """
    key = (
        str(session.get_bind().engine.url),
        project_id,
        _state(session, project_id, labels=design.suggested_by is not None or design.has_known),
        protocol.digest(),
        design.model_dump_json(exclude=_OF_PEOPLE_AND_TIME),
        tuple(f for f in design.faults(design.overlap_of(protocol), at=now()) if f[0][0] not in OF_PEOPLE),
    )
    with _keeping:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
    if found is None:
        try:
            found = make()
        except AssayError as error:
            found = error
        with _keeping:
            _kept[key] = found
            while len(_kept) > _MOST_KEPT:
                _kept.popitem(last=False)
    if isinstance(found, AssayError):
        raise type(found)(str(found), found.problems)  # one of its own, as callers add places to the problems
    return found


def _state(session: Session, project_id: int, *, labels: bool) -> Any:
    """What changes whenever another sample could be drawn, or something else be said of it; with `labels` by these."""
    documents = pick(func.max(Document.id), func.count(col(Document.sha256)), func.sum(Document.n_pages))
    tables = (Run, Score, Study, *((Annotation, Adjudication) if labels else ()))
    return (
        items_state(session, project_id),
        tuple(session.execute(documents.where(col(Document.project_id) == project_id)).one()),
        *(session.execute(pick(func.max(col(table.id)))).scalar_one() for table in tables),
    )
