"""Labels of judges that are in a study, as runs of judges store them, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlmodel import Session, select

from annotators.asking.submissions import GivenLabel
from annotators.judges.judging import JudgedStep, Outcome, Unscored
from annotators.judges.prompts import default_prompt
from db.engine import Database
from db.judging.judges import JudgeSettings, judge_for
from db.judging.writing import rows_of, write_judged
from db.models import Item, ItemVersion, Run, Study, StudyItem
from db.runs.run import parameters_hash
from db.studies.design import protocol_of

Said = Mapping[tuple[str, str], Any]
"""Criterion and target → what the judge said; see `LEFT` and `CANNOT`."""

CANNOT = object()
"""In place of a label: the judge could not judge."""


class Left(str):
    """In place of a label: why the judge left it unscored. With an empty target it is of all of the criterion."""


def judge_says(db: Database, study_id: int, model: str, items: Mapping[str, Said]) -> str:
    """Store what a judge said of these items; its name."""
    settings = JudgeSettings(model, "http://127.0.0.1:9/v1", default_prompt())
    with db.write() as session:
        study = session.get_one(Study, study_id)
        person_id, name = judge_for(session, study.project_id, settings)
        parameters = {"study": study_id, "judge": settings.to_json()}
        run = Run(
            project_id=study.project_id, kind="judge", name=name, version="plain@1", parameters=parameters,
            parameters_hash=parameters_hash(parameters),
        )  # fmt: skip
        session.add(run)
        session.flush()
        assert run.id is not None
        places = _places(session, study_id)
        rows = [rows_of(places[item], _outcome(said)) for item, said in items.items()]
        steps = len(protocol_of(study).steps)
        write_judged(session, run.id, rows, study_id=study_id, person_id=person_id, n_steps=steps)
    return name


def _outcome(said: Said) -> Outcome:
    labels = [
        GivenLabel(criterion, target, None if value is CANNOT else value, cannot_judge=value is CANNOT)
        for (criterion, target), value in said.items()
        if not isinstance(value, Left)
    ]
    left = [
        Unscored(criterion, (target,) if target else (), str(value))
        for (criterion, target), value in said.items()
        if isinstance(value, Left)
    ]
    return Outcome(steps=[JudgedStep(0, ["question"], labels, 0.1)], unscored=left)


def _places(session: Session, study_id: int) -> dict[str, int]:
    query = (
        select(Item.external_id, StudyItem.id)
        .join(ItemVersion, StudyItem.item_version_id == ItemVersion.id)  # type: ignore[arg-type]
        .join(Item, Item.id == ItemVersion.item_id)  # type: ignore[arg-type]
        .where(StudyItem.study_id == study_id)
    )
    return {name: place for name, place in session.exec(query) if place is not None}
