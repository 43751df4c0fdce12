"""What no database keeps is refused in words by every operation, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError, InvalidInput
from annotators.protocols import PROTOCOLS
from db.annotating.amendments import StudyChange, amend_study, amendments_of, set_state
from db.designing.making import plan_study
from db.engine import Database
from db.models import StudyState
from db.projects import create_project
from db.studies.design import list_studies
from db.studies.library import add_protocol
from db.studies.revisions import plan_revision, revise_item
from db.unfit import refuse_unfit
from tests.makers import StudyInUse, make_item, make_person

UNFIT = ["left \x00 over", "half \ud83d a smile", "\udfff"]


def doing(study: StudyInUse, text: str) -> dict[str, Callable[[], Any]]:
    """What can be done with a text: operation → a call of it."""
    db, actor, project, of = study.db, study.researcher, study.project_id, study.study_id
    [protocol] = [PROTOCOLS.get("ambiguity")]
    step = protocol.steps[0].model_copy(update={"title": text})
    named = {"name": "own", "steps": [step, *protocol.steps[1:]]}
    design = StudyDesign(name=text, annotators=("ann",), overlap=1)
    item = {"external_id": "i1", "reason": "unclear"}
    return {
        "pause": lambda: set_state(db, actor, of, state=StudyState.PAUSED, reason=text),
        "amend": lambda: amend_study(db, actor, of, change=StudyChange(overlap=2), reason=text),
        "who joins": lambda: amend_study(db, actor, of, change=StudyChange(add=(text,)), reason="more"),
        "a study's name": lambda: plan_study(db, actor, project, protocol=protocol, design=design),
        "a protocol's text": lambda: add_protocol(db, actor, project, protocol=protocol.model_copy(update=named)),
        "a project's name": lambda: create_project(db, make_person(db, admin=True), text),
        "the reason of a revision": lambda: revise_item(
            db, actor, project, external_id="i1", fields={"answer": "Better."}, reason=text
        ),
        "a field of a revision": lambda: revise_item(db, actor, project, fields={"answer": text}, **item),
        "a claim of a revision": lambda: plan_revision(
            db, actor, project, external_id="i1", fields={"claims": [{"text": text}]}
        ),
    }


@pytest.mark.parametrize("text", UNFIT, ids=["NUL", "half of a pair", "only half of a pair"])
def test_a_text_that_cannot_be_stored_is_refused_with_the_value_and_the_remedy(database: Database, text: str) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    make_item(database, study.project_id, "i1")
    for what, call in doing(study, text).items():
        with pytest.raises(AssayError) as refused:
            call()
            pytest.fail(what)
        said = str(refused.value)
        assert "cannot be stored" in said, what
        said.encode()
    assert amendments_of(database, study.researcher, study.study_id) == []
    assert [row.state for row in list_studies(database, study.researcher, study.project_id)] == ["running"]


def test_a_number_beyond_what_a_column_holds_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    for number in (2**63, -(10**400), 10**5000):
        with pytest.raises(InvalidInput, match=r"^Overlap is .*, which cannot be stored\. Give one below 2\^63\.$"):
            amend_study(
                database, study.researcher, study.study_id, change=StudyChange(overlap=number), reason="too many"
            )


def test_a_secret_is_not_said_in_the_refusal() -> None:
    with pytest.raises(InvalidInput) as refused:
        refuse_unfit({"new_password": "correct horse\x00"})
    assert str(refused.value).startswith("New password has the character U+0000")
    assert "horse" not in str(refused.value)


def test_what_can_be_stored_passes() -> None:
    refuse_unfit({"name": "ünï😀", "of": 2**63 - 1, "many": ["a", 1, None], "change": StudyChange(overlap=3), "x": 1.5})
