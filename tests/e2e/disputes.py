"""Studies in which annotators disagree as a test says, and the adjudicator's page by keyboard."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Criterion
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.several import Several
from annotators.criteria.spans import Spans
from annotators.criteria.text import Text
from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS, Protocol
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.models import Assignment, StudyItem
from db.people.accounts import actor_named
from tests.makers import read_guidelines
from tests.servers import RunningServer

ANNOTATORS = ("ada", "ben", "chloe")


@dataclass(frozen=True)
class Said:
    """What one annotator says: a value, or that it cannot be judged, with a comment and the boxes that support it."""

    value: Any = None
    comment: str | None = None
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    cannot_judge: str | None = None


@dataclass(frozen=True)
class Quarrel:
    """How the annotators of a study label: unless it says otherwise, each gives the first label to everything.

    `said` has (place of the item, criterion, target as shown) → annotator → what they say; `remarks` has (place,
    annotator) → (comment, flag) on the whole item.
    """

    said: Mapping[tuple[int, str, str], Mapping[str, Said]] = field(default_factory=dict)
    remarks: Mapping[tuple[int, str], tuple[str | None, str | None]] = field(default_factory=dict)


def make_disputes(
    server: RunningServer,
    project_id: int,
    name: str,
    quarrel: Quarrel,
    *,
    protocol: Protocol | str = "qa_verification",
    annotators: tuple[str, ...] = ANNOTATORS,
    **settings: Any,
) -> int:
    """A study of the project's items that its annotators have labelled; its id."""
    found = PROTOCOLS.get(protocol) if isinstance(protocol, str) else protocol
    design = StudyDesign(name=name, annotators=annotators, overlap=len(annotators), order="given", **settings)
    study_id = create_study(server.db, server.admin, project_id, protocol=found, design=design).study_id
    read_guidelines(server.db, study_id)
    for annotator in annotators:
        actor = actor_named(server.db, annotator)
        while items := work(server.db, actor, study_id)["items"]:
            item = items[0]
            place = _place(server, item["assignment"])
            for step in range(item["step"], len(found.steps)):
                labels = _labels(item, found, step, annotator=annotator, place=place, quarrel=quarrel)
                last = step == len(found.steps) - 1
                comment, flag = quarrel.remarks.get((place, annotator), (None, None)) if last else (None, None)
                given = StepSubmission(
                    uuid.uuid4().hex, item["assignment"], item["sitting"], step, labels, comment, flag, seconds=9.0
                )
                item = submit(server.db, actor, study_id, step=given).item or item
    return study_id


def _place(server: RunningServer, assignment_id: int) -> int:
    with server.db.read() as session:
        assignment = session.get_one(Assignment, assignment_id)
        return session.get_one(StudyItem, assignment.study_item_id).position


def _labels(
    item: dict[str, Any], protocol: Protocol, step: int, *, annotator: str, place: int, quarrel: Quarrel
) -> tuple[GivenLabel, ...]:
    labels = []
    for criterion in protocol.step_criteria(step):
        for target in item["units"][criterion.name]:
            said = quarrel.said.get((place, criterion.name, target), {}).get(annotator)
            if said is None and criterion.when is not None:
                continue  # what is asked only under a condition is said in so many words
            said = said or Said(_first(criterion, item))
            places = [
                {"document": item["documents"][0]["id"], "page": _page(item), "box": list(box)} for box in said.boxes
            ]
            labels.append(
                GivenLabel(
                    criterion.name,
                    target,
                    None if said.cannot_judge else said.value,
                    said.cannot_judge is not None,
                    said.cannot_judge,
                    said.comment,
                    places or None,
                )
            )
    return tuple(labels)


def _page(item: dict[str, Any]) -> int:
    page: int = item["evidence"][0]["pages"][0]
    return page


def _first(criterion: Criterion, item: dict[str, Any]) -> Any:
    match criterion:
        case Number():
            return criterion.minimum
        case Several() | Spans():
            return []
        case Order():
            return [image["key"] for image in item["images"]]
        case Text():
            return "It is as it should be."
        case _:
            return criterion.label_list()[0].value


# The adjudicator's page -----------------------------------------------------------------------------------------------


def dispute(page: Page) -> Locator:
    return page.get_by_test_id("dispute")


def row(page: Page, criterion: str, target: str = "item") -> Locator:
    return page.locator(f'[data-testid="decision-row"][data-criterion="{criterion}"][data-target="{target}"]')


def item_on_screen(page: Page) -> str:
    return dispute(page).get_attribute("data-study-item") or ""


def wait_for_other_item(page: Page, before: str) -> None:
    """Until another item than this one is shown, or none."""
    expect(page.locator(f'[data-testid="dispute"][data-study-item="{before}"]')).to_have_count(0)


def settle_one(page: Page, key: str = "1", reason: str = "The evidence says so plainly.") -> None:
    """Decide every disputed unit of the item on the screen with this key and settle it, with the keyboard alone."""
    before = item_on_screen(page)
    for _ in range(page.locator("tr.disputed:not(.decided)").count()):
        page.keyboard.press(key)
    page.keyboard.press("Enter")  # settles it, or goes to the first reason that is missing; the last reason settles it
    while page.locator('[data-testid="reason-for"]:focus').count():
        page.keyboard.type(reason)
        page.keyboard.press("Enter")
    wait_for_other_item(page, before)


def wait_until_saved(page: Page) -> None:
    """Until every decision is acknowledged."""
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")
