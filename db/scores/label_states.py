"""The state that labels of which scores were made are in now, worked out once a change: have they changed since."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from sqlmodel import col, select

from annotators.errors import InvalidInput, NotFound
from annotators.scorers.base import SCORERS, LabelledParameters, parameters_of, readable
from db.engine import Database
from db.models import Study
from db.permissions import READERS, Actor, On, operation
from db.scores.labels import with_labels
from db.studies.ratings import ratings_stamp

GONE = ""
"""The state of labels that cannot be read as they were: their study is gone, or nobody's labels are left in it."""

_kept: dict[tuple[str, int, str, str], tuple[Any, str]] = {}
_keeping = Lock()
_MOST_KEPT = 200


@operation(On.PROJECT, READERS)
def labels_state_now(
    db: Database, actor: Actor, project_id: int, *, scorer: str, parameters: Mapping[str, Any]
) -> str | None:
    """The state (`labels_state`) in which the labels are now that scores with these parameters were made of.

    Another one than that of the parameters says that labels changed since. None for scores that took no labels; `GONE`
    where there are none to be read any more.
    """
    named = parameters.get("labels_of")
    if not named or scorer not in SCORERS.names():
        return None
    registered = SCORERS.get(scorer)
    try:
        given = parameters_of(registered, parameters).model_copy(update={"labels_state": ""})
    except InvalidInput:  # of an earlier version of the scorer, which took other parameters
        return None
    assert isinstance(given, LabelledParameters)
    of_project = select(Study).where(Study.project_id == project_id, col(Study.name).in_(named)).order_by(col(Study.id))
    with db.read() as session:
        studies = session.exec(of_project).all()
    stamp = [
        (study.id, study.name, study.overlap, repr(study.settings), ratings_stamp(db, actor, study.id))
        for study in studies
        if study.id is not None
    ]
    key = (str(db.url), project_id, scorer, " ".join(readable(given.model_dump(mode="json"))))
    with _keeping:
        kept = _kept.get(key)
    if kept is None or kept[0] != stamp:
        kept = (stamp, _state(db, actor, project_id, scorer, given))
        with _keeping:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[key] = kept
    return kept[1]


def _state(db: Database, actor: Actor, project_id: int, scorer: str, given: LabelledParameters) -> str:
    try:
        with db.read() as session:
            complete, _ = with_labels(session, actor, project_id, SCORERS.get(scorer), given)
    except (NotFound, InvalidInput):
        return GONE
    return complete.labels_state
