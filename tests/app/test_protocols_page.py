"""The page Protocols: the library, a protocol in full, the form beside YAML, two people at once, hostile text."""

from __future__ import annotations

from html import escape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotators.asking.protocol_files import protocol_to_yaml
from annotators.protocols import PROTOCOLS, Protocol
from db.libraries import Entry
from db.people.accounts import set_member
from db.permissions import Role
from db.studies.design import list_studies
from db.studies.library import add_protocol, list_protocols
from tests.app.filled import Filled, actor_named, no_problem, press
from tests.app.pages import Pages
from tests.makers import tiny_protocol

HOSTILE = "<script>alert(1)</script> **bold** [x](javascript:y) =1+1 هل؟"


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def own(filled: Filled) -> list[Entry[Protocol]]:
    return list_protocols(filled.pages.db, filled.study.researcher, filled.project_id)


def added(filled: Filled, protocol: Protocol, on: int | None = None) -> None:
    add_protocol(filled.pages.db, filled.study.researcher, filled.project_id, protocol=protocol, on=on)


def part_of_the_form(page: AppTest, name: str) -> AppTest:
    return page.segmented_control(key="protocol-section").set_value(name).run()


def field(page: AppTest, label: str, kind: str = "text_input", number: int = 0) -> Any:
    """The widget of this kind with this label, or the one of that number among them."""
    return [widget for widget in page.get(kind) if widget.label == label][number]


def yaml_of(page: AppTest) -> Any:
    return field(page, "YAML", "text_area")


def test_the_library_lists_own_protocols_beside_built_in_ones(filled: Filled) -> None:
    said = no_problem(filled.open("rosa", "protocols"))
    assert "The project has no protocol of its own" in said
    assert "QA verification" in said
    added(filled, tiny_protocol(name="tone_check", title=HOSTILE))
    added(filled, tiny_protocol(name="tone_check", title="Second"), on=1)
    said = no_problem(filled.open("rosa", "protocols"))
    assert "1 protocol of the project’s own" in said
    page = filled.open("vera", "protocols", protocol="tone_check@1")
    said = no_problem(page)
    assert escape(HOSTILE.split(" **", maxsplit=1)[0]) in said or HOSTILE.split(" **", maxsplit=1)[0] in said
    assert "Version 2" in said
    assert [button.label for button in page.button] == []
    assert "no version 9" in filled.open("rosa", "protocols", protocol="tone_check@9").error[0].value


def test_a_built_in_protocol_is_changed_as_a_copy_with_form_and_yaml_as_one(filled: Filled) -> None:
    page = filled.open("rosa", "protocols", edit="answer_grading@" + str(PROTOCOLS.get("answer_grading").version))
    no_problem(page)
    assert "name: my_answer_grading" in yaml_of(page).value
    field(page, "Title").input(HOSTILE).run()
    assert "Nothing is wrong" in no_problem(page)
    assert HOSTILE in yaml_of(page).value
    part_of_the_form(page, "Criteria")
    press(page, "Add a criterion")
    field(page, "Title").input("النبرة").run()
    field(page, "Name in the data").input("tone").run()
    field(page, "Kind", "selectbox").set_value("several").run()
    press(page, "Add a label")
    assert "kind: several" in yaml_of(page).value
    assert "criteria: [grade, tone]" in yaml_of(page).value
    assert "value: label_3" in yaml_of(page).value
    yaml_of(page).input(yaml_of(page).value.replace("title: النبرة", "title: Tone\n    help: From the YAML")).run()
    assert field(page, "One short line below the title").value == "From the YAML"
    press(page, "Save to the project")
    [entry] = own(filled)
    assert (entry.kept.name, entry.kept.version, entry.kept.title) == ("my_answer_grading", 1, HOSTILE)
    assert [criterion.name for criterion in entry.kept.criteria] == ["grade", "tone"]


def test_what_is_wrong_is_named_live_with_line_field_and_remedy(filled: Filled) -> None:
    page = filled.open("rosa", "protocols", edit="new")
    assert "Nothing is wrong" in no_problem(page)
    assert not page.button(key="protocol-save").disabled
    field(page, "Name in data and commands").input("Not a name").run()
    said = no_problem(page)
    assert "1 thing to mend" in said
    assert "lower-case letters, digits and _" in said
    assert page.button(key="protocol-save").disabled
    assert page.button(key="protocol-preview").disabled
    field(page, "Name in data and commands").input("ambiguity").run()
    said = no_problem(page)
    assert "the name of a built-in protocol" in said
    assert "my_ambiguity" in said
    part_of_the_form(page, "Criteria")
    field(page, "Key").input("s").run()
    said = no_problem(page)
    assert "used by the page itself" in said
    yaml_of(page).input("name: [broken\n").run()
    said = no_problem(page)
    assert "this is not YAML" in said
    assert [info.value for info in page.info] == ["The form comes back when the YAML can be read."]


def test_conditions_rules_and_steps_follow_names_that_change(filled: Filled) -> None:
    page = filled.open("rosa", "protocols", edit="new")
    part_of_the_form(page, "Criteria")
    press(page, "Add a criterion")
    field(page, "Asked only when", "selectbox").set_value("right").run()
    field(page, "is one of", "multiselect").set_value(["yes"]).run()
    assert "when:" in yaml_of(page).value
    part_of_the_form(page, "Rules")
    press(page, "Add a rule")
    field(page, "When", "selectbox").set_value("right").run()
    field(page, "is one of", "multiselect").set_value(["no"]).run()
    field(page, "then", "selectbox").set_value("criterion_1").run()
    field(page, "can only be one of", "multiselect").set_value(["no"]).run()
    assert "Nothing is wrong" in no_problem(page)
    part_of_the_form(page, "Criteria")
    field(page, "Criterion", "selectbox").set_value(first_id(page)).run()
    field(page, "Name in the data").input("correct").run()
    field(page, "Value").input("aye").run()
    said = no_problem(page)
    assert "Nothing is wrong" in said
    text = yaml_of(page).value
    assert "criteria: [correct, criterion_1]" in text
    assert "criterion: right" not in text
    assert "values: [aye]" in text
    part_of_the_form(page, "Steps")
    press(page, "Add a step")
    said = no_problem(page)
    assert "1 thing to mend" in said
    assert "<code>criteria</code> of step 2 is empty" in said
    [_, remove] = [button for button in page.button if button.label == "✕"]
    remove.click().run()
    assert "Nothing is wrong" in no_problem(page)


def first_id(page: AppTest) -> int:
    """The id of the first criterion of the draft that is open."""
    [draft] = page.session_state["unsaved-drafts"].values()
    return int(draft.parts("criteria")[0]["#"])


def test_of_two_researchers_at_once_the_second_is_told_and_both_are_kept(filled: Filled) -> None:
    added(filled, tiny_protocol(name="tone_check", title="Tone"))
    page = filled.open("rosa", "protocols", edit="tone_check@1")
    field(page, "Title").input("Rosa's").run()
    added(filled, tiny_protocol(name="tone_check", title="Somebody's"), on=1)
    press(page, "Save to the project")
    titles = {entry.kept.version: entry.kept.title for entry in own(filled)}
    assert titles == {1: "Tone", 2: "Somebody's", 3: "Rosa's"}
    [warning] = page.warning
    assert "While you changed version 1, somebody else added version 2" in warning.value


def test_a_study_is_made_of_an_own_protocol(filled: Filled) -> None:
    added(filled, tiny_protocol(name="tone_check", title="Tone"))
    page = filled.open("rosa", "studies", new=1)
    page.segmented_control(key="study-protocol-from").set_value("Own").run()
    no_problem(page)
    press(page, "Create study")
    made = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)[-1]
    assert made.protocol == "Tone"


def test_what_is_written_is_kept_until_it_is_saved_or_discarded(filled: Filled) -> None:
    page = filled.open("rosa", "protocols", edit="new")
    field(page, "Title").input("Half done").run()
    page.query_params.pop("edit")
    page.run()
    page.query_params["edit"] = "new"
    page.run()
    assert field(page, "Title").value == "Half done"
    press(page, "Discard")
    page.query_params["edit"] = "new"
    page.run()
    assert field(page, "Title").value == "My protocol"


def test_what_is_not_saved_is_there_after_a_reload_and_for_nobody_else(filled: Filled) -> None:
    added(filled, tiny_protocol(name="tone_check", title="Tone"))
    page = filled.open("rosa", "protocols", edit="tone_check@1")
    assert "You have written" not in no_problem(filled.open("rosa", "protocols")), "nothing was written yet"
    field(page, "Title").input("Half done").run()
    broken = yaml_of(page).value.replace("name: tone_check", "name: [tone_check")
    yaml_of(page).input(broken).run()
    said = no_problem(filled.open("rosa", "protocols"))
    assert "You have written and not saved" in said
    assert "edit=tone_check%401" in said
    set_member(filled.pages.db, filled.pages.admin, filled.project_id, name="vera", role=Role.RESEARCHER)
    assert "You have written" not in no_problem(filled.open("vera", "protocols"))
    assert field(filled.open("vera", "protocols", edit="tone_check@1"), "Title").value == "Tone"
    again = filled.open("rosa", "protocols", edit="tone_check@1")
    assert yaml_of(again).value == broken
    assert "this is not YAML" in no_problem(again)
    yaml_of(again).input(broken.replace("[tone_check", "tone_check")).run()
    press(again, "Save to the project")
    assert own(filled)[0].kept.title == "Half done"
    assert "You have written" not in no_problem(filled.open("rosa", "protocols"))
    assert field(filled.open("rosa", "protocols", edit="tone_check@1"), "Title").value == "Tone"


def test_a_text_that_no_protocol_can_be_as_long_as_is_not_kept_and_that_is_said(filled: Filled) -> None:
    page = filled.open("rosa", "protocols", edit="new")
    yaml_of(page).input(f"summary: {'x' * 256_001}").run()
    assert any("what is not saved is kept up to 256,000" in error.value for error in page.error)


def test_only_researchers_write(filled: Filled) -> None:
    page = filled.open("vera", "protocols", edit="new")
    assert "YAML" not in [area.label for area in page.text_area]
    assert actor_named(filled.pages, "vera")


def test_what_the_built_in_protocols_have_can_be_opened_in_every_part_of_the_form(filled: Filled) -> None:
    for name in ("claim_verification", "evidence_pages", "metric_agreement_blind"):
        page = filled.open("rosa", "protocols", edit=name)
        for part in ("Criteria", "Steps", "Rules"):
            assert "Nothing is wrong" in no_problem(part_of_the_form(page, part))
        copy = PROTOCOLS.get(name).model_copy(update={"name": f"my_{name}", "version": 1})
        assert yaml_of(page).value == protocol_to_yaml(copy)
