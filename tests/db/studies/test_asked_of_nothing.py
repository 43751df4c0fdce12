"""Labels of what an item has nothing for, from before it was no longer asked: they are kept, and count nowhere."""

from __future__ import annotations

from sqlmodel import select

from annotators.criteria.order import Order
from annotators.protocols import Step
from db.engine import Database
from db.models import Image, Project, StoredLabel
from db.studies.ratings import ratings
from tests.makers import StudyInUse, make_item, tiny_protocol


def test_an_order_of_nothing_from_before_is_no_label(database: Database) -> None:
    """Where an answer has no images it was asked for their order all the same, and people agreed on none."""

    def add(db: Database) -> None:
        with db.read() as session:
            project = session.exec(select(Project.id)).one() or 0
        two = make_item(db, project, "a-two")
        make_item(db, project, "b-none")
        with db.write() as session:
            for number in (1, 2):
                session.add(Image(item_version_id=two, key=f"i{number}", position=number))

    order = Order(name="order", title="Order")
    right = tiny_protocol().criteria[0]
    step = Step(name="all", title="All", shows=["answer", "images"], criteria=["right", "order"])
    asked = tiny_protocol(criteria=[right, order], steps=[step])
    study = StudyInUse(database, items=0, annotators=2, overlap=2, prepare=add, protocol=asked)
    for who in range(2):
        for item in study.work(who)["items"]:
            values = {"right": "yes"} | ({"order": ["I2", "I1"]} if item["units"]["order"] else {})
            study.submit(who, item, values)
    with database.write() as session:
        for label in session.exec(select(StoredLabel).where(StoredLabel.criterion == "right")).all():
            beside = label.model_dump(exclude={"id"}) | {"criterion": "order", "value": []}
            if not session.exec(
                select(StoredLabel.id).where(
                    StoredLabel.assignment_id == label.assignment_id, StoredLabel.criterion == "order"
                )
            ).first():
                session.add(StoredLabel(**beside))
    found = ratings(database, study.researcher, study.study_id)
    by_name = {column.criterion.name: column for column in found.criteria}
    assert by_name["right"].n_units == 2
    assert by_name["order"].n_units == 1
    assert by_name["order"].values == [["i2", "i1"], ["i2", "i1"]]
