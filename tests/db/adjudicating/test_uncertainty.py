"""Disputes in the order of what a model of the annotators knows of them."""

from __future__ import annotations

import pytest

from annotators.criteria.text import Text
from annotators.errors import Conflict
from annotators.protocols import Material, Step
from db.adjudicating.adjudications import disputes
from db.adjudicating.listed import listed_disputes
from db.adjudicating.uncertainty import order_by_disagreement, order_by_uncertainty
from db.engine import Database
from tests.db.adjudicating.test_adjudications import adjudicator, voted
from tests.makers import StudyInUse, tiny_protocol

# The first two agree on everything but two items, the third says the opposite as often as not, the fourth goes with the
# first two. By votes 2 against 2 is the most disputed; the model knows whom to believe there, and knows least where the
# two good ones differ.
VOTES = [
    *[("yes", "yes", "no" if n % 2 else "yes", "yes") for n in range(12)],
    *[("no", "no", "yes" if n % 2 else "no", "no") for n in range(12)],
    ("yes", "no", "yes", "yes"),
]


def test_the_order_is_of_the_model_once_it_is_asked_for(database: Database) -> None:
    study = voted(database, *VOTES)
    actor = adjudicator(study)

    def queue() -> list[str]:
        names = {row.study_item_id: place for place, row in enumerate(disputes(database, actor, study.study_id))}
        listed = [row.item for row in listed_disputes(database, actor, study.study_id)]
        assert len(names) == len(listed) == 13
        return listed

    by_votes = queue()
    assert by_votes[0] != "i00025"
    done = order_by_uncertainty(database, actor, study.study_id)
    assert (done.items, done.left_out) == (13, {})
    assert queue()[0] == "i00025"
    first = disputes(database, actor, study.study_id, limit=1)
    assert len(first) == 1
    order_by_disagreement(database, actor, study.study_id)
    assert queue() == by_votes


def test_where_the_model_says_nothing_the_order_stays_and_the_reason_is_told(database: Database) -> None:
    study = StudyInUse(
        database,
        items=1,
        annotators=2,
        overlap=2,
        protocol=tiny_protocol(
            criteria=[Text(name="words", title="Words")],
            steps=[Step(name="all", title="All", shows=[Material.QUESTION], criteria=["words"])],
        ),
    )
    with pytest.raises(Conflict, match="says nothing of this study"):
        order_by_uncertainty(database, adjudicator(study), study.study_id)
