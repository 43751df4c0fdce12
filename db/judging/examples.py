"""Settled items as examples of a prompt, and which items a judge is therefore not asked about."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session, col, or_

from annotators.criteria.base import written
from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import Example, Prompt, as_example
from db.engine import Database
from db.judging.decisions import decision_criterion, final_labels_of
from db.judging.items import read_to_judge
from db.models import Item, ItemVersion, Study, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick
from db.studies.design import protocol_of


@operation(On.STUDY, RESEARCHERS)
def prompt_with_examples(
    db: Database, _actor: Actor, study_id: int, *, prompt: Prompt, criterion: str | None, items: Sequence[str]
) -> Prompt:
    """The prompt with these items of a study as examples of a criterion: what its step shows, and the settled label.

    An item that is an example of the criterion already takes the place of that example. Raises NotFound for an item
    that is not in the study, InvalidInput for one whose label is not settled, and for a prompt of another protocol.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        protocol = protocol_of(study)
        chosen = decision_criterion(protocol, criterion)
        if faults := prompt.faults(protocol):
            raise InvalidInput(" ".join(faults))
        ids = _study_items(session, study, items)
        settled = final_labels_of(session, study_id, sorted(ids.values()), chosen)
        if unsettled := [repr(item) for item, of in ids.items() if of not in settled]:
            raise InvalidInput(
                f"{', '.join(unsettled)}: {chosen.name!r} is not settled there. Take items whose label is settled."
            )
        step = next(number for number, one in enumerate(protocol.steps) if chosen.name in one.criteria)
        shown = {
            item.study_item_id: as_example(item.steps[step].material)
            for of in sorted(ids.values())
            for item in read_to_judge(session, study, among=[of], elsewhere=False)
        }
    new = [
        Example(
            criterion=chosen.name,
            shown=shown[of],
            label=written(settled[of].value),
            why=settled[of].reason or "",
            item=item,
        )
        for item, of in ids.items()
    ]
    kept = [one for one in prompt.examples if not (one.item in ids and one.criterion == chosen.name)]
    return prompt.model_copy(update={"examples": [*kept, *new]})


def example_items(session: Session, study: Study, prompt: Prompt) -> dict[int, str]:
    """The study items whose question is that of one of the prompt's examples, with their external ids.

    A judge that was told the answer to a question is not asked about it: neither of this item, nor of another answer.
    """
    names = sorted({example.item for example in prompt.examples if example.item})
    if not names:
        return {}
    questions = pick(Item.question_id).where(col(Item.project_id) == study.project_id, col(Item.external_id).in_(names))
    rows = session.execute(
        pick(StudyItem.id, Item.external_id)
        .join(
            ItemVersion,
            or_(col(ItemVersion.id) == StudyItem.item_version_id, col(ItemVersion.id) == StudyItem.other_version_id),
        )
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(StudyItem.study_id) == study.id, col(Item.question_id).in_(questions))
        .order_by(col(StudyItem.id))
    ).all()
    return dict(tuple(row) for row in rows)


def _study_items(session: Session, study: Study, items: Sequence[str]) -> dict[str, int]:
    """External id → study item, in the order in which they are named."""
    if not items:
        raise InvalidInput("No item is named. Name settled items of the study, as in q1,q7.")
    rows = session.execute(
        pick(Item.external_id, StudyItem.id)
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
        .where(
            col(StudyItem.study_id) == study.id,
            col(StudyItem.other_version_id).is_(None),
            col(Item.external_id).in_(list(items)),
        )
    ).all()
    there = dict(tuple(row) for row in rows)
    if missing := [repr(item) for item in items if item not in there]:
        raise NotFound(
            f"The study {study.name!r} has no item {', '.join(missing)}. `assay items` lists those there are."
        )
    return {item: there[item] for item in dict.fromkeys(items)}
