"""Settled items as examples of a prompt, and where they therefore are not sent: to a judge that is asked about them, or
that may not have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal, union
from sqlmodel import Session, col, or_

from annotators.addresses import is_here
from annotators.criteria.base import written
from annotators.errors import InvalidInput, NotFound
from annotators.judges.prompts import AnyPrompt, Example, Prompt, as_example
from db.engine import Database
from db.judging.decisions import decision_criterion, final_labels_of
from db.judging.items import citing, kept_document_ids, kept_versions, read_to_judge
from db.models import Evidence, Item, ItemVersion, Study, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import is_sqlite, pick
from db.studies.design import protocol_of

_TELLING = 20
"""Characters that a text of an item has at least, for an example with it to be taken for one of that item."""


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


def check_examples_may_leave(session: Session, project_id: int, prompt: AnyPrompt, server: str) -> None:
    """InvalidInput for a prompt that would tell a server elsewhere of a document that must not leave this machine.

    An example says of which item it is (`item`), and any version of it may be what it shows. One that names no item of
    the project is of one of the project's all the same where it has the words of one: its question, its answer, or what
    it cites of such a document.
    """
    if is_here(server) or not prompt.examples:
        return
    documents = kept_document_ids(session, project_id)
    if not documents:
        return
    told = [(example.item if isinstance(example, Example) else "", example.shown) for example in prompt.examples]
    versions: dict[str, list[int]] = {}
    for name, version in session.execute(
        pick(Item.external_id, ItemVersion.id)
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .where(col(Item.project_id) == project_id, col(Item.external_id).in_({name for name, _ in told}))
    ):
        versions.setdefault(name, []).append(version)
    kept = kept_versions(session, project_id, [version for of in versions.values() for version in of])
    for number, (name, shown) in enumerate(told, 1):
        if name in versions:
            whose = name if not kept.isdisjoint(versions[name]) else None
        else:
            whose = _item_with_words(session, documents, shown)
        if whose is not None:
            of = "is of" if name in versions else "has words of"
            other = "" if name in versions else ", say by its `item` of which other item it is,"
            raise InvalidInput(
                f"Example {number} of the prompt {prompt.name!r} {of} the item {whose!r}, which has a document that "
                f"must not leave this machine, and {server} is elsewhere. Take a prompt without this example{other} or "
                "a model on this machine."
            )


def _item_with_words(session: Session, documents: Sequence[int], shown: str) -> str | None:
    """An item with one of the documents of which the text has the question, the answer, or what it cites of them."""
    place = func.instr if is_sqlite(session) else func.strpos

    def has(text: Any) -> ColumnElement[bool]:
        return and_(func.length(func.trim(text)) >= _TELLING, place(literal(shown), func.trim(text)) > 0)

    versions = union(*citing(documents)).subquery()
    cited = pick(Evidence.item_version_id).where(col(Evidence.document_id).in_(documents), has(Evidence.text))
    found: str | None = session.execute(
        pick(Item.external_id)
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .where(
            col(ItemVersion.id).in_(pick(versions.c.item_version_id)),
            or_(has(ItemVersion.question), has(ItemVersion.answer), col(ItemVersion.id).in_(cited)),
        )
        .order_by(col(Item.id))
        .limit(1)
    ).scalar()
    return found


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
