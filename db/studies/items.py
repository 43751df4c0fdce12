"""The items of a study by the names that tables of labels have for them."""

from __future__ import annotations

from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.items.pairs import pair_name
from db.models import Item, ItemVersion, Purpose, StudyItem


def items_of_study(session: Session, study_id: int, purpose: Purpose = Purpose.SAMPLE) -> dict[str, int]:
    """External id, or the name of a pair (`annotators.items.pairs`), → study item; of those that are for this."""
    other, version = aliased(Item), aliased(ItemVersion)
    rows = session.execute(
        select(Item.external_id, other.external_id, StudyItem.id)
        .select_from(StudyItem)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .outerjoin(version, col(version.id) == StudyItem.other_version_id)
        .outerjoin(other, col(other.id) == version.item_id)
        .where(StudyItem.study_id == study_id, StudyItem.purpose == purpose.value)
        .order_by(col(StudyItem.id))
    )
    return {pair_name(item, second) if second else item: study_item for item, second, study_item in rows}


def places_of_study(session: Session, study_id: int) -> dict[str, int]:
    """As `items_of_study`, with the study item of the latest version of an item that came back in a later one."""
    return items_of_study(session, study_id) | items_of_study(session, study_id, purpose=Purpose.RECHECK)


def names_in_study(session: Session, study_id: int) -> dict[int, str]:
    """Study item → external id, or name of a pair: of the sample and of the items that came back in a later version."""
    purposes = (Purpose.SAMPLE, Purpose.RECHECK)
    return {of: name for purpose in purposes for name, of in items_of_study(session, study_id, purpose).items()}
