"""Disputes are decided at the keyboard: what is decided, what needs a reason, what is kept, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from playwright.sync_api import Page, Route, expect
from sqlmodel import col, select

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes, settlement_counts
from db.adjudicating.causes import cause_counts
from db.engine import Database
from db.models import (
    AdjudicatedLabel,
    Adjudication,
    AdjudicationLease,
    Assignment,
    AssignmentState,
    Settlement,
    SettlementState,
)
from db.models import Study as StudyRow
from db.people.accounts import actor_named, revoke_sessions, set_member
from db.people.pseudonyms import raters_of
from db.projects import create_project
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.disputes import (
    ANNOTATORS,
    Quarrel,
    Said,
    dispute,
    item_on_screen,
    make_disputes,
    row,
    settle_one,
    wait_for_other_item,
    wait_until_saved,
)
from tests.e2e.scene import import_sample
from tests.makers import tiny_protocol
from tests.servers import PASSWORD, RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DOCUMENTS = ("harrow-bay-2024.pdf", "tern-sound-inquiry-7-2023.pdf")
COMPLETE, GROUNDING = "complete", "grounding"
QUARREL = Quarrel(
    said={
        (0, COMPLETE, "item"): {
            "ada": Said("incomplete", "Does not say when the outage was.", ((0.1, 0.3, 0.9, 0.5),)),
            "ben": Said("complete", "Dates are not asked for.", ((0.12, 0.12, 0.9, 0.19),)),
            "chloe": Said("complete", boxes=((0.12, 0.12, 0.9, 0.19),)),
        },
        (0, GROUNDING, "evidence:E1"): {"ben": Said("not_required", "Another table names the stations.")},
        (1, "answer_factual", "item"): {
            "ada": Said("not_factual"),
            "chloe": Said(cannot_judge="The evidence cannot be read"),
        },
        (2, COMPLETE, "item"): {"chloe": Said("incomplete")},
    },
    remarks={(0, "ben"): ("The foot of the page is hard to read.", None), (0, "chloe"): (None, "Wrong caption?")},
)
MANY_KINDS = Protocol(
    name="many_kinds",
    title="Many kinds",
    guidelines="Say what you see.",
    criteria=[
        Several(name="problems", title="Problems", labels=[Label(value="wording"), Label(value="context")]),
        Grade(name="agreement", title="Agreement", labels=[Label(value=n) for n in range(1, 6)]),
        Number(name="quality", title="Quality"),
        Number(name="share", title="Share supported", maximum=100, step=0.5),
        Text(name="rewrite", title="A better question", max_words=30),
        Choice(name="is_evidence", title="Is evidence", target="page", labels=[Label(value="yes"), Label(value="no")]),
    ],
    steps=[
        Step(
            name="all",
            title="All",
            shows=[Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS],
            criteria=["problems", "agreement", "quality", "share", "rewrite", "is_evidence"],
        )
    ],
)

Study = Callable[..., int]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with three annotators and two adjudicators."""
    with running_server(tmp_path_factory.mktemp("home")) as running:
        for name in ANNOTATORS:
            running.person(name, default_role="annotator")
        for name in ("dora", "emil"):
            running.person(name, default_role="adjudicator")
        yield running


@pytest.fixture(scope="module")
def project_id(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A project with four items on two documents."""
    project = create_project(server.db, server.admin, "Energy reports")
    import_sample(server, project, tmp_path_factory.mktemp("sample"), items=4, documents=DOCUMENTS)
    return project


@pytest.fixture
def study(server: RunningServer, project_id: int, request: pytest.FixtureRequest) -> Study:
    """Makes a study in which three of the four items are disputed, unless told otherwise."""

    def make(quarrel: Quarrel = QUARREL, **options: Any) -> int:
        return make_disputes(server, project_id, request.node.name, quarrel, **options)

    return make


def open_disputes(new_page: NewPage, server: RunningServer, study_id: int, who: str = "dora", **options: Any) -> Page:
    page = new_page(**options)
    sign_in(page, server, who)
    page.goto(f"{server.url}/adjudicate?study={study_id}")
    expect(dispute(page)).to_be_visible()
    return page


def decided(db: Database, study_id: int) -> list[tuple[int, str, str, Any, bool, str | None]]:
    """(round, criterion, target, value, overrules, reason) of everything decided in a study, in its order."""
    query = (
        select(Adjudication, AdjudicatedLabel)
        .join(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
        .where(Adjudication.study_id == study_id)
        .order_by(col(Adjudication.id), col(AdjudicatedLabel.criterion), col(AdjudicatedLabel.target))
    )
    with db.read() as session:
        return [
            (annotation.round, label.criterion, label.target, label.value, label.overrules, label.reason)
            for annotation, label in session.execute(query).all()
        ]


def test_disputes_are_decided_by_keys_most_disputed_first(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    expect(page.get_by_test_id("progress")).to_have_text("0 of 3 disputes")

    # Labels side by side, the odd one out in words too, and what is said beneath.
    complete = row(page, COMPLETE)
    expect(complete.get_by_test_id("division")).to_have_text("2 against 1")
    against = complete.locator("[data-rater]").filter(has_text="Does not say when the outage was.")
    expect(against.get_by_test_id("odd")).to_contain_text("Incomplete")
    expect(complete.get_by_test_id("odd")).to_have_count(1)
    expect(row(page, "question_factual").locator(".decision")).to_contain_text("Factual, unanimous")
    expect(page.get_by_test_id("remarks")).to_contain_text("Wrong caption?")
    expect(page.get_by_test_id("mark-box")).to_have_count(2)
    expect(page.get_by_role("radiogroup", name="Decision: Answer is complete")).to_be_visible()
    screenshot(page, "adjudicate-light")
    screenshot(open_disputes(new_page, server, study_id, dark=True), "adjudicate-dark")

    # With the majority: one key a unit; an evidence unit is shown on its page.
    before = item_on_screen(page)
    expect(complete).to_have_class("unit disputed cur")
    page.keyboard.press("1")
    expect(row(page, GROUNDING, "evidence:E1")).to_have_attribute("aria-current", "true")
    expect(page.locator('.ev.on[data-unit="E1"]')).to_be_visible()
    page.keyboard.press("1")
    # Twice in a row settles this item and leaves the next one alone.
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    expect(row(page, "answer_factual").get_by_test_id("division")).to_have_text("1 against 1, 1 cannot judge")
    wait_until_saved(page)
    expect(page.get_by_test_id("progress")).to_have_text("1 of 3 disputes")
    first, second = decided(server.db, study_id)
    assert first[:5] == (1, COMPLETE, "item", "complete", False)
    assert (second[0], second[1], second[3], second[4]) == (1, GROUNDING, "required", False)

    settle_one(page)
    settle_one(page)
    expect(page.get_by_test_id("finished")).to_be_visible()
    expect(page.get_by_test_id("progress")).to_have_text("3 of 3 disputes")
    assert disputes(server.db, server.admin, study_id) == []

    # Back to the one settled last: another round, the earlier one is kept.
    page.keyboard.press("z")
    expect(row(page, COMPLETE).locator('[aria-checked="true"]')).to_contain_text("Complete")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.type("The question asks for both.")
    page.keyboard.press("Enter")  # nothing else is missing: it is settled
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    assert [(decision[0], decision[3]) for decision in decided(server.db, study_id)[-2:]] == [
        (1, "complete"),
        (2, "incomplete"),
    ]


def test_overruling_the_majority_needs_a_reason(new_page: NewPage, server: RunningServer, study: Study) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    page.keyboard.press("2")  # Incomplete, as one of three said
    reason = row(page, COMPLETE).get_by_test_id("reason-for")
    expect(reason).to_be_visible()
    expect(row(page, COMPLETE)).to_contain_text("Why not “Complete”? A reason is needed")
    page.keyboard.press("1")  # is no text of the reason: it decides the next unit
    expect(row(page, GROUNDING, "evidence:E1").locator('[aria-checked="true"]')).to_have_text(re.compile("^Required"))
    expect(reason).to_have_value("")
    expect(reason).not_to_be_focused()
    expect(page.get_by_test_id("notice")).to_have_text("1 reason is still needed; Enter goes there.")
    screenshot(page, "adjudicate-overruled")
    page.keyboard.press("Enter")  # trying to finish goes to the reason
    expect(reason).to_be_focused()
    expect(page.get_by_test_id("notice")).to_contain_text("a reason is needed")
    page.keyboard.press("Enter")  # without a reason it stays
    expect(reason).to_be_focused()
    assert item_on_screen(page) == before
    assert decided(server.db, study_id) == []
    screenshot(page, "adjudicate-reason")
    page.keyboard.type("The question asks for what")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("explains the gap.")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    wait_until_saved(page)
    assert decided(server.db, study_id)[0] == (
        1,
        COMPLETE,
        "item",
        "incomplete",
        True,
        "The question asks for what\nexplains the gap.",
    )


def test_the_reason_is_written_when_the_adjudicator_goes_there(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    page = open_disputes(new_page, server, study())
    reason = row(page, COMPLETE).get_by_test_id("reason-for")
    page.keyboard.press("2")
    page.keyboard.press("ArrowUp")  # back to the row that was decided
    page.keyboard.press("c")
    expect(reason).to_be_focused()
    page.keyboard.type("Both.")
    page.keyboard.press("Enter")  # on to what is still to be decided, as something is
    expect(row(page, GROUNDING, "evidence:E1")).to_have_attribute("aria-current", "true")
    expect(reason).not_to_be_focused()
    reason.click()
    page.keyboard.press("End")
    page.keyboard.type(" Parts.")
    expect(reason).to_have_value("Both. Parts.")


def test_a_settled_unit_can_be_decided_otherwise_with_a_reason(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    page.keyboard.press("ArrowUp")
    unanimous = row(page, "answer_factual")
    expect(unanimous).to_have_attribute("aria-current", "true")
    page.keyboard.press("2")  # does nothing before it is opened
    expect(unanimous.locator("[aria-checked]")).to_have_count(0)
    page.keyboard.press("Space")
    page.keyboard.press("2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("c")
    page.keyboard.type("The sum is wrong.")
    page.keyboard.press("Enter")
    settle_one(page)
    wait_until_saved(page)
    found = {decision[1]: decision[3:] for decision in decided(server.db, study_id)}
    assert found["answer_factual"] == ("not_factual", True, "The sum is wrong.")
    assert found[COMPLETE] == ("complete", False, None)


def test_an_item_goes_back_to_the_annotator_who_is_chosen(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    page.keyboard.press("r")
    screenshot(page, "adjudicate-return")
    page.keyboard.press("2")
    page.keyboard.type("Look at the caption again.")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    expect(page.get_by_test_id("news")).to_contain_text("Returned to R2")
    expect(page.get_by_test_id("progress")).to_have_text("0 of 2 disputes")
    with server.db.read() as session:
        found = session.exec(select(Assignment).where(Assignment.study_item_id == int(before))).all()
    returned = [assignment for assignment in found if assignment.state == AssignmentState.RETURNED]
    people = [assignment.person_id for assignment in found if assignment.person_id is not None]
    with server.db.read() as session:
        called = raters_of(session.get_one(StudyRow, study_id), int(before), people)
    assert [(called[assignment.person_id or 0], assignment.reason) for assignment in returned] == [
        ("R2", "Look at the caption again.")
    ]
    assert int(before) not in [dispute.study_item_id for dispute in disputes(server.db, server.admin, study_id)]


def test_ones_own_items_are_not_queued_and_wait_for_others(
    new_page: NewPage, server: RunningServer, project_id: int, study: Study
) -> None:
    study_id = study()
    set_member(server.db, server.admin, project_id, name="chloe", role="adjudicator")
    try:
        page = new_page()
        sign_in(page, server, "chloe")
        page.goto(f"{server.url}/adjudicate?study={study_id}")
        expect(page.get_by_test_id("halted")).to_contain_text("wait for another adjudicator: you annotated them")
        screenshot(page, "adjudicate-own-item")
    finally:
        set_member(server.db, server.admin, project_id, name="chloe", role="annotator")


def test_a_half_decision_survives_a_reload(new_page: NewPage, server: RunningServer, study: Study) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    page.keyboard.press("2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("c")
    page.keyboard.type("Both parts are asked for.")
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "kept")
    page.reload()
    expect(dispute(page)).to_be_visible()
    assert item_on_screen(page) == before
    expect(row(page, COMPLETE).locator('[aria-checked="true"]')).to_contain_text("Incomplete")
    expect(row(page, COMPLETE).get_by_test_id("reason-for")).to_have_value("Both parts are asked for.")
    expect(row(page, GROUNDING, "evidence:E1")).to_have_attribute("aria-current", "true")
    assert decided(server.db, study_id) == []
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    wait_until_saved(page)
    assert decided(server.db, study_id)[0][3:] == ("incomplete", True, "Both parts are asked for.")


def test_a_lost_connection_keeps_the_decision(new_page: NewPage, server: RunningServer, study: Study) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    page.wait_for_timeout(500)  # the next item is fetched ahead
    page.context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    expect(dispute(page)).to_be_visible()
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "offline")
    assert decided(server.db, study_id) == []
    page.context.set_offline(False)
    wait_until_saved(page)
    assert len(decided(server.db, study_id)) == 2


@pytest.mark.parametrize("stored", [True, False], ids=["half an answer", "a busy server"])
def test_a_decision_that_is_not_acknowledged_is_sent_again_and_stored_once(
    new_page: NewPage, server: RunningServer, study: Study, stored: bool
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    uids: list[str] = []

    def answer(route: Route) -> None:
        uids.append(route.request.post_data_json["uid"])
        if len(uids) > 2:
            route.continue_()
        elif stored:
            route.fulfill(response=route.fetch(), body='{"adjudi')
        else:
            route.fulfill(status=503, headers={"Retry-After": "1"})

    page.route("**/api/study-items/*/adjudicate", answer)
    page.keyboard.press("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    saved = page.get_by_test_id("saved")
    expect(saved).to_have_attribute("data-state", "trouble")
    expect(saved).to_contain_text("the server has trouble")
    wait_until_saved(page)
    assert len(uids) == 3
    assert len(set(uids)) == 1
    assert len(decided(server.db, study_id)) == 2


def test_who_is_slower_is_told_and_goes_on(new_page: NewPage, server: RunningServer, study: Study) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    before = item_on_screen(page)
    emil = actor_named(server.db, "emil")
    evidence = decided_target(page)
    decisions = [UnitDecision(COMPLETE, "item", "complete"), UnitDecision(GROUNDING, evidence, "required")]
    adjudicate(server.db, emil, int(before), uid="emil was faster", decisions=decisions, from_browser=True)
    settle_one(page)
    expect(page.get_by_test_id("news")).to_contain_text("Somebody else has adjudicated this item meanwhile")
    expect(page.get_by_test_id("progress")).to_have_text("1 of 3 disputes")
    expect(dispute(page)).to_be_visible()
    assert {decision[0] for decision in decided(server.db, study_id)} == {1}
    assert settlement_counts(server.db, server.admin, study_id)["disputed"] == 2


def decided_target(page: Page) -> str:
    """The stored target of the first evidence unit, which the page is told with the item."""
    item = page.evaluate("id => fetch(`/api/study-items/${id}`).then(answer => answer.json())", item_on_screen(page))
    shown: dict[str, str] = item["presentation"]["targets"]
    return next(stored for stored, target in shown.items() if target == "evidence:E1")


def test_who_was_signed_out_signs_in_again_and_loses_nothing(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id, "emil")
    # Who is signed out while the page still comes is sent to sign in, as everywhere.
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_load_state("networkidle")
    revoke_sessions(server.db, server.admin, "emil")
    settle_one(page)
    expect(page.get_by_test_id("signed-out")).to_be_visible()
    expect(page.get_by_test_id("signed-out")).to_contain_text("1 decision is kept")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("link", name="Sign in again").click()
    page.get_by_label("Name").fill("emil")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(dispute(page)).to_be_visible()
    wait_until_saved(page)
    assert len(decided(server.db, study_id)) == 2


def test_numbers_grades_sets_and_pages_are_decided_by_keys_and_texts_are_shown(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    page_target = f"page:{DOCUMENTS[0]}:2"
    quarrel = Quarrel(
        {
            (0, "problems", "item"): {"ada": Said(["wording", "context"]), "ben": Said(["wording"])},
            (0, "agreement", "item"): {"ada": Said(4), "ben": Said(2), "chloe": Said(5)},
            (0, "quality", "item"): {"ada": Said(7), "ben": Said(7), "chloe": Said(10)},
            (0, "share", "item"): {"ada": Said(50.5), "ben": Said(80)},
            (0, "rewrite", "item"): {"ada": Said("Which station was out in the summer?")},
            (0, "is_evidence", page_target): {"ada": Said("no")},
        }
    )
    study_id = study(quarrel, protocol=MANY_KINDS)
    page = open_disputes(new_page, server, study_id)
    expect(row(page, "problems").get_by_test_id("division")).to_have_text("all differ")
    expect(row(page, "rewrite")).to_contain_text("Which station was out in the summer?")
    expect(row(page, "rewrite").locator(".decision")).to_contain_text("Each in their own words")
    expect(row(page, "is_evidence", page_target)).to_be_visible()
    expect(row(page, "is_evidence", f"page:{DOCUMENTS[0]}:4")).to_be_hidden()  # folded: nobody disputes it
    before = item_on_screen(page)
    page.keyboard.press("2")  # a set: context
    page.keyboard.press("1")  # and wording
    screenshot(page, "adjudicate-many-kinds")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("3")  # a grade
    page.keyboard.press("t")  # ten, against the majority
    page.keyboard.type("62.5")
    page.keyboard.press("Enter")
    expect(row(page, "is_evidence", page_target)).to_have_attribute("aria-current", "true")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.keyboard.type("It says all there is.")
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    assert {decision[1]: decision[3] for decision in decided(server.db, study_id)} == {
        "problems": ["wording", "context"],
        "agreement": 3,
        "quality": 10,
        "share": 62.5,
        "is_evidence": "yes",
    }


def test_what_a_decision_makes_asked_is_decided_too(new_page: NewPage, server: RunningServer, study: Study) -> None:
    protocol = Protocol(
        name="abstaining",
        title="Abstaining",
        guidelines="Does it answer?",
        criteria=[
            Choice(name="kind", title="Kind", labels=[Label(value="statement"), Label(value="abstention")]),
            Choice(
                name="why",
                title="Why it abstains",
                labels=[Label(value="not_enough"), Label(value="refused")],
                when=Condition(criterion="kind", values=["abstention"]),
            ),
        ],
        steps=[
            Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["kind", "why"]),
        ],
    )
    quarrel = Quarrel({(0, "kind", "item"): {"ada": Said("abstention")}, (0, "why", "item"): {"ada": Said("refused")}})
    study_id = study(quarrel, protocol=protocol)
    page = open_disputes(new_page, server, study_id)
    expect(row(page, "why").get_by_test_id("division")).to_have_text("asked of 1 of 3")
    expect(row(page, "why").get_by_role("radio")).to_have_count(0)
    page.keyboard.press("2")
    expect(row(page, "why")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice")).to_have_text("Still to decide: Why it abstains")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.type("It says that it cannot say.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    assert {decision[1]: decision[3] for decision in decided(server.db, study_id)} == {
        "kind": "abstention",
        "why": "refused",
    }


def test_an_order_of_images_is_stored_by_the_items_own_keys(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    images = [{"key": key, "document": "a.pdf", "page": 1, "caption": f"Figure {key}"} for key in ("zz", "aa", "mm")]
    item = {"id": "a", "question": "How?", "answer": "So <PIC>, so <PIC>, so <PIC>.", "images": images}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    (tmp_path / "documents.jsonl").write_text(json.dumps({"key": "a.pdf", "title": "A"}) + "\n")
    project = create_project(server.db, server.admin, "Images")
    folder = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project, paths=[tmp_path], format_name="native", data_folder=folder)
    yes_no = [Label(value="yes"), Label(value="no")]
    protocol = Protocol(
        name="images",
        title="Images",
        guidelines="Look at each image.",
        criteria=[
            Choice(name="placed", title="Well placed", target="image", labels=yes_no),
            Order(name="order", title="Right order"),
        ],
        steps=[Step(name="all", title="All", shows=[Material.ANSWER, Material.IMAGES], criteria=["placed", "order"])],
    )
    quarrel = Quarrel({(0, "order", "item"): {"ada": Said(["I2", "I1", "I3"]), "ben": Said(["I3", "I1", "I2"])}})
    study_id = make_disputes(server, project, "images", quarrel, protocol=protocol)
    page = open_disputes(new_page, server, study_id)
    votes = row(page, "order").locator("[data-rater]")
    expect(votes.filter(has_text="Images 2, 1, 3")).to_have_count(1)
    expect(votes.filter(has_text="Images 3, 1, 2")).to_have_count(1)
    for key in ("3", "2", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    assert [decision[1:5] for decision in decided(server.db, study_id)] == [
        ("order", "item", ["mm", "aa", "zz"], False)
    ]


def test_names_are_shown_where_the_study_shows_them(new_page: NewPage, server: RunningServer, study: Study) -> None:
    page = open_disputes(new_page, server, study(show_names=True))
    expect(page.get_by_role("columnheader", name="ada")).to_be_visible()
    expect(page.get_by_role("columnheader", name="R1")).to_have_count(0)


def test_guidelines_and_keys_open_beside_the_item(new_page: NewPage, server: RunningServer, study: Study) -> None:
    page = open_disputes(new_page, server, study())
    page.keyboard.press("g")
    expect(page.get_by_test_id("guidelines")).to_be_visible()
    page.keyboard.press("1")  # the keys go on deciding
    expect(row(page, COMPLETE).locator('[aria-checked="true"]')).to_contain_text("Complete")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("guidelines")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_test_id("key-sheet")).to_contain_text("Return the item to an annotator")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("key-sheet")).to_be_hidden()


def test_without_disputes_the_page_says_so_and_with_several_studies_it_offers_them(
    new_page: NewPage, server: RunningServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    project = create_project(server.db, server.admin, "Ferries")
    import_sample(server, project, tmp_path, items=2, documents=DOCUMENTS)
    page = new_page()
    sign_in(page, server, "dora")
    agreed = make_disputes(server, project, "agreed", Quarrel())
    page.goto(f"{server.url}/adjudicate?study={agreed}")
    expect(page.get_by_test_id("nothing")).to_contain_text("Nothing is disputed")
    quarrel = Quarrel({(0, COMPLETE, "item"): {"ada": Said("incomplete")}})
    first = make_disputes(server, project, "first", quarrel)
    page.goto(f"{server.url}/adjudicate?project={project}")
    studies = page.get_by_role("table", name="Studies by how many items are disputed").get_by_role("row")
    agreed_row, first_row, third_row = (
        studies.filter(has=page.get_by_role("cell", name=name, exact=True)) for name in ("agreed", "first", "third")
    )
    expect(agreed_row).to_have_count(1)
    expect(agreed_row.get_by_role("link")).to_have_count(0)
    first_row.get_by_role("link", name="Adjudicate").click()
    expect(dispute(page)).to_be_visible()
    settle_one(page)
    expect(page.get_by_test_id("finished")).to_be_visible()
    assert decided(server.db, first)
    for name in ("second", "third"):
        make_disputes(server, project, name, quarrel)
    page.goto(f"{server.url}/adjudicate?project={project}")
    expect(first_row).to_have_count(1)
    expect(first_row.get_by_role("link")).to_have_count(0)
    expect(third_row.get_by_role("cell")).to_contain_text(["third", "QA verification", "1", "just now", "0"])
    third_row.get_by_role("link", name="Adjudicate").click()
    expect(dispute(page)).to_be_visible()


def test_the_page_fits_a_tablet_and_a_right_to_left_question(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    project = create_project(server.db, server.admin, "Arabic")
    import_sample(server, project, tmp_path, items=1, documents=("ain-rayhan-2024.pdf",))
    study_id = make_disputes(
        server, project, "rtl", Quarrel({(0, COMPLETE, "item"): {"ada": Said("incomplete", "لا يذكر السنة")}})
    )
    page = open_disputes(new_page, server, study_id, width=820, height=1180)
    overflow = page.evaluate(
        "() => { const root = document.querySelector('[data-testid=adjudicate]').shadowRoot.querySelector('.assay');"
        " return root.scrollWidth - root.clientWidth }"
    )
    assert overflow <= 0
    screenshot(page, "adjudicate-tablet")
    settle_one(page)
    expect(page.get_by_test_id("finished")).to_be_visible()


@pytest.mark.parametrize("width", [1024, 1180, 1366])
def test_every_decision_about_three_annotators_is_seen_as_a_whole(
    new_page: NewPage, server: RunningServer, study: Study, width: int
) -> None:
    page = open_disputes(new_page, server, study(), width=width, height=768)
    place = page.locator(".units-place")
    assert place.evaluate("place => place.scrollWidth - place.clientWidth") <= 0
    screenshot(page, f"adjudicate-{width}")
    for button in page.locator(".unit.cur .decision button").all():
        expect(button).to_be_in_viewport(ratio=1)


def test_many_units_are_decided_a_line_each_and_the_rest_as_one_annotator_said(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "documents").mkdir()
    with pymupdf.open() as pdf:
        for number in range(1, 13):
            pdf.new_page().insert_text((72, 72), f"Page {number} of the report.")
        pdf.save(tmp_path / "documents" / "long.pdf")
    hops = [{"key": key, "question": f"What of {key}?"} for key in ("north", "east")]
    item = {"id": "a", "question": "Which is older?", "answer": "North.", "documents": ["long.pdf"], "hops": hops}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    project = create_project(server.db, server.admin, "Long reports")
    folder = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project, paths=[tmp_path], format_name="native", data_folder=folder)
    no = Said("not_evidence")
    said = {(0, "evidence_page", f"page:long.pdf:{n}|hop:north"): {"ada": no, "ben": no} for n in range(1, 13)}
    said[0, "evidence_page", "page:long.pdf:1|hop:east"] = {"ada": no}
    study_id = make_disputes(server, project, "long", Quarrel(said), protocol="evidence_pages", show_names=True)
    page = open_disputes(new_page, server, study_id, width=1366, height=768)
    expect(page.get_by_test_id("hop-head")).to_have_text(
        ["Hop 1What of north?12 of 12 disputed", "Hop 2What of east?1 of 12 disputed"]
    )
    rows = page.locator("tr.unit.disputed:not(.cur)")
    one_line = rows.first.evaluate("row => row.offsetHeight")
    assert one_line <= 36
    for number in range(9):
        expect(rows.nth(number)).to_be_in_viewport(ratio=1)
    screenshot(page, "adjudicate-many")
    page.keyboard.press("2")
    page.keyboard.press("A")
    whose = page.get_by_test_id("reason")
    expect(whose).to_have_count(4)
    choices = {re.sub(r"^\d", "", text): str(number) for number, text in enumerate(whose.all_text_contents(), 1)}
    assert set(choices) == {
        "ada: 12 units, 1 against the majority",
        "ben: 12 units",
        "chloe: 12 units, 11 against the majority",
        "What most said: 12 units",
    }
    page.keyboard.press(choices["chloe: 12 units, 11 against the majority"])
    page.keyboard.type("All of them name the year.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("12 units decided as chloe")
    page.keyboard.press("z")
    expect(page.locator("tr.unit.decided")).to_have_count(1)
    for key in ("A", choices["ben: 12 units"], "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    assert {(value, overrules) for _, _, _, value, overrules, _ in decided(server.db, study_id)} == {
        ("not_evidence", False),
        ("evidence", False),
    }


# Several adjudicators -------------------------------------------------------------------------------------------------

ODD = Quarrel(said={(place, "right", "item"): {"ben": Said("no")} for place in range(10)})
"""Ten items of which one annotator says otherwise than two."""


@pytest.fixture(scope="module")
def larger(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> int:
    """A project with ten items."""
    project = create_project(server.db, server.admin, "More reports")
    import_sample(server, project, tmp_path_factory.mktemp("larger"), items=10, documents=DOCUMENTS)
    return project


def test_ten_disputes_are_settled_by_key_alone(new_page: NewPage, server: RunningServer, larger: int) -> None:
    study_id = make_disputes(server, larger, "ten", ODD, protocol=tiny_protocol())
    page = open_disputes(new_page, server, study_id)
    for n in range(1, 11):
        settle_one(page, key="1" if n % 2 else "2")
        expect(page.get_by_test_id("progress")).to_have_text(f"{n} of 10 disputes")
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)
    stored = decided(server.db, study_id)
    assert [(value, overrules) for _, _, _, value, overrules, _ in stored] == [("yes", False), ("no", True)] * 5
    assert {reason for *_, overrules, reason in stored if overrules} == {"The evidence says so plainly."}


def leases(db: Database, study_id: int) -> list[int]:
    """Which disputed items of the study the server knows to be before somebody."""
    with db.read() as session:
        query = (
            select(AdjudicationLease.study_item_id)
            .join(Settlement, col(Settlement.study_item_id) == AdjudicationLease.study_item_id)
            .where(AdjudicationLease.study_id == study_id, Settlement.state == SettlementState.DISPUTED)
        )
        return list(session.exec(query))


def test_two_adjudicators_at_once_never_have_the_same_item(
    new_page: NewPage, server: RunningServer, larger: int
) -> None:
    study_id = make_disputes(server, larger, "both", ODD, protocol=tiny_protocol())
    dora = open_disputes(new_page, server, study_id)
    emil = open_disputes(new_page, server, study_id, who="emil")
    decided_by: dict[str, set[str]] = {"dora": set(), "emil": set()}

    def each_has_their_own() -> bool:
        """An item is on the screen before the server knows that it is; whose claim comes second moves on."""
        return sorted(leases(server.db, study_id)) == sorted(int(item_on_screen(one)) for one in (dora, emil))

    for _ in range(4):
        until(each_has_their_own)
        assert item_on_screen(dora) != item_on_screen(emil)
        for name, page in (("dora", dora), ("emil", emil)):
            decided_by[name].add(item_on_screen(page))
            settle_one(page)
            wait_until_saved(page)
            expect(dispute(page)).to_be_visible()
    assert not decided_by["dora"] & decided_by["emil"]
    until(each_has_their_own)
    last = item_on_screen(emil)
    settle_one(dora)
    expect(dora.get_by_text("1 dispute is before emil now.")).to_be_visible()
    screenshot(dora, "adjudicate-held")
    # Who leaves the page lets go of what is on the screen.
    emil.goto(f"{server.url}/adjudicate")
    until(lambda: not leases(server.db, study_id))
    dora.reload()
    expect(dispute(dora)).to_have_attribute("data-study-item", last)
    settle_one(dora)
    expect(dora.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(dora)
    assert len({row[4:] for row in decided(server.db, study_id)}) == 1
    assert disputes(server.db, server.admin, study_id) == []


def test_an_item_that_was_settled_since_it_was_fetched_ahead_is_passed_over(
    new_page: NewPage, server: RunningServer, larger: int
) -> None:
    study_id = make_disputes(server, larger, "stale", ODD, protocol=tiny_protocol())
    page = open_disputes(new_page, server, study_id)
    page.wait_for_load_state("networkidle")  # the two that come next are here
    second, third = [waiting.study_item_id for waiting in disputes(server.db, server.admin, study_id)][:2]
    elsewhere = actor_named(server.db, "emil")
    units = disputed_item(server.db, elsewhere, second).units
    decisions = [
        UnitDecision(unit.criterion, unit.target, "yes", "The evidence says so plainly.")
        for unit in units
        if unit.needs_decision
    ]
    adjudicate(server.db, elsewhere, second, uid="elsewhere", decisions=decisions)
    settle_one(page)
    expect(page.get_by_text("Somebody else settled the item that came next. It was passed over.")).to_be_visible()
    expect(dispute(page)).to_have_attribute("data-study-item", str(third))
    until(lambda: leases(server.db, study_id) == [third])


def test_causes_and_notes_are_said_kept_and_gathered(
    new_page: NewPage, server: RunningServer, project_id: int, study: Study
) -> None:
    study_id = study()
    page = open_disputes(new_page, server, study_id)
    complete = row(page, COMPLETE)
    expect(complete.get_by_test_id("cause")).to_be_hidden()
    page.keyboard.press("1")
    complete.get_by_test_id("cause").select_option("slip")
    expect(complete.get_by_test_id("note")).to_be_hidden()
    complete.get_by_test_id("cause").select_option("guideline_gap")
    complete.get_by_test_id("note").fill("Say whether dates are asked for.")
    complete.get_by_test_id("confidence").select_option("medium")
    screenshot(page, "adjudicate-causes-light")
    page.reload()
    expect(complete.get_by_test_id("cause")).to_have_value("guideline_gap")
    dark = open_disputes(new_page, server, study_id, who="dora", dark=True)
    dark.keyboard.press("1")
    row(dark, COMPLETE).get_by_test_id("cause").select_option("guideline_gap")
    screenshot(dark, "adjudicate-causes-dark")
    row(page, GROUNDING, "evidence:E1").locator("th").click()
    page.keyboard.press("1")
    before = item_on_screen(page)
    page.keyboard.press("Enter")
    wait_for_other_item(page, before)
    wait_until_saved(page)
    [counted, _] = cause_counts(server.db, server.admin, study_id)
    assert (counted.criterion, counted.causes["guideline_gap"], counted.confidences["medium"]) == (COMPLETE, 1, 1)
    page.goto(f"{server.url}/adjudicate?project={project_id}")
    expect(page.get_by_text("Say whether dates are asked for.")).to_be_visible()
    screenshot(page, "adjudicate-overview")


def test_a_dispute_that_cannot_be_drawn_is_left_for_later(
    new_page: NewPage, server: RunningServer, study: Study
) -> None:
    study_id = study()
    page = new_page()
    sign_in(page, server, "dora")
    asked: list[str] = []

    def broken(route: Route) -> None:
        asked.append(route.request.url)
        found = route.fetch().json()
        if route.request.url == asked[0]:
            found["presentation"]["evidence"] = [None]
        route.fulfill(json=found)

    page.route(re.compile(r"/api/study-items/\d+$"), broken)
    page.goto(f"{server.url}/adjudicate?study={study_id}")
    expect(page.get_by_text("This item cannot be shown")).to_be_visible()
    screenshot(page, "adjudicate-cannot-be-shown")
    page.keyboard.press("Enter")
    page.get_by_test_id("skip-unshown").click()
    expect(dispute(page)).to_be_visible()
    broken_item = int(asked[0].rpartition("/")[2])
    assert int(item_on_screen(page)) != broken_item
    assert decided(server.db, study_id) == []
    settle_one(page)
    page.unroute_all(behavior="wait")
    showing = (
        "item => localStorage.setItem('assay-showing', JSON.stringify({assignment: `dispute ${item}`, at: Date.now()}))"
    )
    page.evaluate(showing, broken_item)
    page.reload()
    expect(page.get_by_text("This item stopped the page when it was shown last")).to_be_visible()
