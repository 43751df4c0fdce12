"""The shell and the pages Home, People, Audit and Account, each as different people see them."""

from __future__ import annotations

import re

import pytest
from sqlmodel import select
from streamlit.testing.v1 import AppTest

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from app import navigation
from db.designing.making import create_study
from db.models import StudyMember, now
from db.people.accounts import (
    add_people,
    add_person,
    erase_person,
    list_members,
    list_people,
    revoke_sessions,
    set_member,
)
from db.people.sign_in import one_time_person, session_actor, sign_in
from db.permissions import EVERYBODY, Actor, Role, record
from db.projects import create_project, my_projects
from db.studies.design import my_studies
from tests.app.filled import Filled
from tests.app.pages import Pages, tables, words
from tests.makers import make_item, tiny_protocol
from tests.servers import PASSWORD, ROOT


def _listed(pages: Pages, token: str) -> list[str]:
    actor = session_actor(pages.db, token)
    assert actor is not None
    rows = my_projects(pages.db, actor)
    return [entry.name for entry in navigation.entries_for(actor, rows[0].role if rows else None) if entry.listed]


def _study(pages: Pages, project_id: int, *names: str) -> int:
    for number in range(4):
        make_item(pages.db, project_id, f"item {number}")
    design = StudyDesign(name="Pilot", annotators=names, overlap=1, order="given")
    return create_study(pages.db, pages.admin, project_id, protocol=tiny_protocol(), design=design).study_id


# Who sees what --------------------------------------------------------------------------------------------------------


def test_without_a_session_no_page_is_drawn(pages: Pages) -> None:
    for token in (None, "not-a-token"):
        page = pages.open(token, "people")
        assert "Your session has ended" in words(page).replace("\\", "")
        assert "/sign-in" in words(page)
        assert not page.button
        assert not page.exception


def test_an_empty_installation_says_what_to_do_first(pages: Pages) -> None:
    page = pages.open(pages.token("admin"))
    assert "There is no project yet" in words(page)
    assert "Open the sample project" in [button.label for button in page.button]
    page.text_input(key="new-project-name").input("Energy reports")
    _button(page, "Create project")
    assert not page.exception
    assert [row.name for row in my_projects(pages.db, pages.admin)] == ["Energy reports"]
    assert page.query_params["project"] == "1"
    assert "four steps to the first label" in words(page)


def _steps(page: AppTest) -> dict[str, tuple[str, bool]]:
    """Button of a step → what stands beside it, and whether it can be pressed."""
    found = re.findall(r"<strong>([^<]+)</strong><span>([^<]*)</span>", words(page))
    buttons = [button for button in page.button if str(button.key).startswith("do-")]
    return {button.label: (said, not button.disabled) for button, (_, said) in zip(buttons, found, strict=True)}


def test_home_shows_the_next_steps_of_a_project_and_what_each_still_needs(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    token = pages.token("admin")
    steps = _steps(pages.open(token))
    assert list(steps) == ["Import…", "Add people…", "New study…", "Annotate myself"]
    assert [can for _, can in steps.values()] == [True, True, False, False]
    assert steps["New study…"][0] == steps["Annotate myself"][0] == "Needs items: import first."
    make_item(pages.db, project_id, "item 1")
    page = pages.open(token)
    steps = _steps(page)
    assert steps["Import…"] == ("1 item, no documents.", True)
    assert all(can for _, can in steps.values())
    assert words(page).count('aria-label="done"') == 1
    pages.person("ana", Role.ANNOTATOR)
    steps = _steps(pages.open(token))
    assert steps["Add people…"][0] == "1 person besides you may annotate."


@pytest.mark.parametrize(
    ("label", "place"), [("Import…", "Import"), ("Add people…", "People"), ("New study…", "Studies")]
)
def test_a_step_goes_straight_to_its_page_in_its_project(pages: Pages, label: str, place: str) -> None:
    first, second = (create_project(pages.db, pages.admin, name) for name in ("Alpha", "Beta"))
    for project_id in (first, second):
        make_item(pages.db, project_id, "item 1")
    page = pages.open(pages.token("admin"), project=str(first))
    next(
        button for button in page.button if button.label == label and button.key.startswith(f"do-{second}-")
    ).click().run()
    assert not page.exception
    assert f'<h1 class="assay-title">{place}</h1>' in words(page)
    assert page.query_params["project"] == str(second)
    assert page.selectbox[0].value == second


def test_whoever_made_the_project_annotates_in_it_with_one_click(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    for number in range(3):
        make_item(pages.db, project_id, f"item {number}", n_evidence=1)
    page = pages.open(pages.token("admin"))
    _button(page, "Annotate myself")
    assert not page.exception
    [study] = my_studies(pages.db, pages.admin)
    assert (study.name, study.is_annotator, study.n_items, study.overlap) == ("QA verification", True, 3, 1)
    assert page.query_params["study"] == str(study.study_id)
    again = _button(pages.open(pages.token("admin")), "Annotate myself")
    assert again.query_params["study"] == str(study.study_id)
    assert len(my_studies(pages.db, pages.admin)) == 1


def test_where_others_have_a_study_annotating_myself_leads_to_a_new_one(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    pages.person("ana", Role.ANNOTATOR)
    _study(pages, project_id, "ana")
    page = pages.open(pages.token("admin"))
    _button(page, "Annotate myself")
    assert '<h1 class="assay-title">Studies</h1>' in words(page)
    assert page.query_params["new"] == "1"
    assert len(my_studies(pages.db, pages.admin)) == 1


def test_who_may_only_look_is_led_to_the_studies_and_not_told_to_wait_for_one(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    pages.person("vera", Role.VIEWER)
    page = pages.open(pages.token("vera"))
    shown = words(page)
    assert "You may look at everything" in shown and "adds you to a study" not in shown
    assert page.get("page_link")


def test_home_shows_how_each_study_stands_once_labels_are_there(pages: Pages) -> None:
    filled = Filled(pages)
    page = filled.open("rosa", "home")
    shown = words(page)
    assert "12 of 12" in shown
    assert "all labelled" in shown
    assert "disputed in study" in shown
    assert "Needs items" not in shown
    _button(page, "Adjudicate")
    assert not page.exception
    assert page.query_params["study"] == str(filled.study_id)


def test_pages_are_listed_by_role_in_the_chosen_project(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    for name, role in (("ana", Role.ANNOTATOR), ("vera", Role.VIEWER), ("rosa", Role.RESEARCHER), ("zoe", None)):
        pages.person(name, role)
    listed = {name: _listed(pages, pages.token(name)) for name in ("admin", "rosa", "vera", "ana", "zoe")}
    assert {"people", "audit", "agreement"} <= set(listed["rosa"])
    assert listed["admin"] == listed["rosa"]
    assert "agreement" in listed["vera"]
    assert not {"people", "audit", "adjudicate", "exports"} & set(listed["vera"])
    assert not {"agreement", "people", "audit", "data"} & set(listed["ana"])
    for name in ("ana", "zoe"):
        assert listed[name][0] == "home"


def test_every_page_that_is_there_stands_in_the_table(pages: Pages) -> None:
    pages_folder = ROOT / "app" / "pages"
    folders = {path.parent.name for path in pages_folder.glob("*/page.py")}
    there = folders | {path.stem for path in pages_folder.glob("[a-z]*.py")}
    assert there == set(navigation.load_pages())
    with pytest.raises(NotFound, match="Known: home"):
        navigation.find("nowhere")


def test_a_page_that_one_may_not_see_is_not_drawn_by_its_address(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    pages.person("ana", Role.ANNOTATOR)
    page = pages.open(pages.token("ana"), "people")
    assert "Accounts" not in words(page)
    assert "admin" not in words(page)
    assert not page.exception


def test_the_project_of_the_address_is_chosen_and_then_remembered(pages: Pages) -> None:
    first, second = (create_project(pages.db, pages.admin, name) for name in ("Alpha", "Beta"))
    token = pages.token("admin")
    page = pages.open(token, project=str(second))
    assert page.selectbox[0].value == second
    page.query_params.clear()
    page.run()
    assert page.selectbox[0].value == second
    page.selectbox[0].set_value(first).run()
    assert page.query_params["project"] == str(first)
    assert not page.exception
    for wrong in ("999", "x", "-1", "9" * 30):
        assert pages.open(token, project=wrong).selectbox[0].value == first


# Home -----------------------------------------------------------------------------------------------------------------


def test_home_shows_an_annotator_what_waits_and_nothing_else(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    pages.person("ana", Role.ANNOTATOR)
    pages.person("ben", Role.ANNOTATOR)
    study_id = _study(pages, project_id, "ana")
    page = pages.open(pages.token("ana"))
    assert "ana: 4 items to annotate" in words(page)
    links = {link.label: link.query_string for link in (link.proto for link in page.get("page_link"))}
    assert links["Start annotating"] == f"study={study_id}"
    assert "Projects" not in words(page)
    assert "Nothing waits for you" in words(pages.open(pages.token("ben")))


def test_home_says_politely_that_a_study_is_closed_to_who_failed_its_qualification(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    pages.person("ana", Role.ANNOTATOR)
    study_id = _study(pages, project_id, "ana")
    with pages.db.write() as session:
        [place] = session.exec(select(StudyMember).where(StudyMember.study_id == study_id)).all()
        place.failed_at = now()
        session.add(place)
    shown = words(pages.open(pages.token("ana")))
    assert "the study is closed to you unless its researcher lets you in" in shown
    assert "to annotate" not in shown and "Start annotating" not in shown


def test_text_of_other_people_is_shown_as_text(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "<img src=x onerror=alert(1)>")
    pages.person("ana", Role.ANNOTATOR)
    _study(pages, project_id, "ana")
    shown = words(pages.open(pages.token("ana")))
    assert "&lt;img src=x" in shown
    assert re.search(r"(?<!\\)<img", shown) is None  # in Markdown, a backslash makes it text


# People ---------------------------------------------------------------------------------------------------------------


def _button(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def _type(page: AppTest, text: str) -> AppTest:
    page.text_area(key="people-lines").input(text).run()
    assert not page.exception
    return page


def test_several_people_are_previewed_and_then_added_with_their_addresses(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    pages.person("ben", Role.VIEWER)
    page = _type(pages.open(pages.token("admin"), "people"), "ana\nben, adjudicator\n\nVon Trotta, Mia , researcher")
    [shown] = [rows for caption, rows in tables(page).items() if rows and rows[0][:2] == ["1", "ana"]]
    assert shown == [
        ["1", "ana", "annotator", "new account, with a sign-in address"],
        ["2", "ben", "adjudicator", "has an account; was viewer"],
        ["4", "Von Trotta, Mia", "researcher", "new account, with a sign-in address"],
    ]
    assert [row.name for row in list_people(pages.db, pages.admin)] == ["admin", "ben"]
    _button(page, "Add 3 people")
    assert not page.exception
    assert {row.name: row.role for row in list_members(pages.db, pages.admin, project_id)} == {
        "Von Trotta, Mia": Role.RESEARCHER, "ana": Role.ANNOTATOR, "ben": Role.ADJUDICATOR,
    }  # fmt: skip
    made = dict(page.session_state["people-addresses"])
    assert list(made) == ["ana", "Von Trotta, Mia"]
    for name, address in made.items():
        assert address.startswith("http://assay.test/sign-in/")
        assert one_time_person(pages.db, address.rpartition("/")[2]) == (name, False)
    assert page.text_area(key="people-lines").value == ""
    page.run()  # it stays until it is closed
    assert "cannot be shown again" in words(page).replace("\\", "")
    _button(page, "Done")
    assert "people-addresses" not in page.session_state


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("Admin", "is taken: there is &#x27;admin&#x27;"),
        ("ana", "stands on line 1 already"),
        ("zoe, boss", "There is no role &#x27;boss&#x27;"),
        (", annotator", "does not fit"),
    ],
)
def test_a_line_that_cannot_be_done_is_named_and_nobody_is_added(pages: Pages, line: str, why: str) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    page = _type(pages.open(pages.token("admin"), "people"), f"ana\n{line}")
    assert why in words(page)
    assert "Line 2 cannot be done; 1 of 2 can." in words(page)
    add = page.button(key="people-add")
    assert add.disabled
    assert page.text_area(key="people-lines").value == f"ana\n{line}"
    with pytest.raises(InvalidInput, match="line 2"):
        wanted = [(1, "ana", "annotator"), (2, *(line.split(", ") if ", " in line else (line, "annotator")))]
        add_people(pages.db, pages.admin, project_id, people=wanted)
    assert len(list_people(pages.db, pages.admin)) == 1


def test_roles_and_sessions_are_changed_on_the_page(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Energy")
    pages.person("ana")
    ana = pages.token("ana")
    page = pages.open(pages.token("admin"), "people")
    person = next(box for box in page.selectbox if box.label == "Person" and "ana" in box.options)
    person.set_value("ana").run()
    [changed] = [box for box in page.selectbox if box.label.startswith("Default role")]
    changed.set_value(Role.VIEWER)
    _button(page, "Save")
    assert next(row for row in list_people(pages.db, pages.admin) if row.name == "ana").default_role is Role.VIEWER
    _button(page, "Sign out everywhere")
    assert session_actor(pages.db, ana) is None
    assert not page.exception


def test_a_researcher_manages_the_members_of_their_project_only(pages: Pages) -> None:
    energy, finance = (create_project(pages.db, pages.admin, name) for name in ("Energy", "Finance"))
    pages.person("rosa")
    pages.person("ana")
    set_member(pages.db, pages.admin, energy, name="rosa", role=Role.RESEARCHER)
    page = pages.open(pages.token("rosa"), "people", project=str(finance))
    assert "People with a role in Energy" in words(page)
    assert "Accounts" not in [tab.label for tab in page.tabs]
    _type(page, "ana\nnobody yet")
    assert "only an administrator makes accounts" in words(page)
    assert page.button(key="people-add").disabled
    _type(page, "ana")
    _button(page, "Add 1 person")
    assert "people-addresses" not in page.session_state
    assert "<td>ana</td><td>annotator</td>" in words(page)
    actor = session_actor(pages.db, pages.token("ana"))
    assert actor is not None
    assert [row.name for row in my_projects(pages.db, actor)] == ["Energy"]


# Audit and account ----------------------------------------------------------------------------------------------------


def test_the_audit_page_goes_back_in_time_by_key(pages: Pages) -> None:
    for number in range(60):
        add_person(pages.db, pages.admin, f"person {number:02}")
    pages.person("gone")
    person_id = erase_person(pages.db, pages.admin, "gone")
    page = pages.open(pages.token("admin"), "audit")
    assert f"erased person {person_id}" in words(page)
    assert "<td>person 59</td>" in words(page)
    assert '<span class="assay-w">person erased</span>' in words(page)  # on one line, as is when it was
    assert "<td>person 00</td>" not in words(page)
    _button(page, "Older")
    assert "<td>person 00</td>" in words(page)
    assert "<td>person 59</td>" not in words(page)
    _button(page, "Newest")
    assert "<td>person 59</td>" in words(page)


def test_the_audit_page_says_details_in_words(pages: Pages) -> None:
    details = {
        "changes": ["ana joined", "overlap 3 → 1"],
        "left_out_by": {"same_question": 30, "no_answer": 2},
        "names": False,
        "default_role": None,
        "reason": "<b>new</b>",
    }
    with pages.db.write() as session:
        record(session, pages.admin, "study amended", "study", 1, details=details)
    page = pages.open(pages.token("admin"), "audit")
    said = re.sub("<[^>]*>", "", words(page))
    assert "changes: ana joined; overlap 3 → 1, left_out_by: (same_question: 30, no_answer: 2), names: no" in said
    assert "default_role: none, reason: &lt;b&gt;new&lt;/b&gt;" in said


def test_the_audit_page_begins_with_the_newest_of_another_project(pages: Pages) -> None:
    pages.person("rosa")
    known = {}
    for name in ("Alpha", "Beta"):
        known[name] = create_project(pages.db, pages.admin, name)
        set_member(pages.db, pages.admin, known[name], name="rosa", role=Role.RESEARCHER)
        for role in (Role.VIEWER, Role.RESEARCHER) * 24:
            set_member(pages.db, pages.admin, known[name], name="rosa", role=role)
    page = pages.open(pages.token("rosa"), "audit", project=str(known["Beta"]))
    assert [button.label for button in page.button].count("Older") == 0, "fifty events are one page"
    set_member(pages.db, pages.admin, known["Beta"], name="rosa", role=Role.VIEWER)
    set_member(pages.db, pages.admin, known["Beta"], name="rosa", role=Role.RESEARCHER)
    page.run()
    _button(page, "Older")
    assert "project created" in words(page)
    set_member(pages.db, pages.admin, known["Alpha"], name="rosa", role=Role.RESEARCHER)
    page.selectbox[0].set_value(known["Alpha"]).run()
    assert "There is no such event" not in words(page)
    assert words(page).count("<tr") > 40


def test_a_project_without_events_for_others_stays_invisible_in_the_audit(pages: Pages) -> None:
    create_project(pages.db, pages.admin, "Secret plans")
    energy = create_project(pages.db, pages.admin, "Energy")
    pages.person("rosa")
    set_member(pages.db, pages.admin, energy, name="rosa", role=Role.RESEARCHER)
    shown = words(pages.open(pages.token("rosa"), "audit"))
    assert "project created" in shown
    assert "Secret plans" not in shown


def test_a_person_changes_their_own_password_and_is_signed_out(pages: Pages) -> None:
    pages.person("ana")
    page = pages.open(pages.token("ana"), "account")
    for field, text in zip(page.text_input, ("wrong guess here", "the next set of words", "the next set"), strict=True):
        field.input(text)
    _button(page, "Change password")
    assert "differ" in page.error[0].value
    page.text_input[2].input("the next set of words")
    _button(page, "Change password")
    assert "present password is wrong" in page.error[0].value
    page.text_input[0].input(PASSWORD)
    _button(page, "Change password")
    assert "signed out in every browser" in words(page).replace("\\", "")
    assert sign_in(pages.db, "ana", "the next set of words", None)


def test_an_open_page_ends_when_its_session_is_revoked(pages: Pages) -> None:
    page = pages.open(pages.token("admin"), "people")
    revoke_sessions(pages.db, pages.admin, "admin")
    page.run()
    assert "Your session has ended" in words(page).replace("\\", "")
    assert not page.text_input


def test_everybody_may_reach_home_and_help(pages: Pages) -> None:
    nobody_yet = Actor(1, "zoe")
    names = [entry.name for entry in navigation.entries_for(nobody_yet, None)]
    assert names[0] == "home"
    assert all(entry.roles == EVERYBODY for entry in navigation.ENTRIES if entry.name in names)
