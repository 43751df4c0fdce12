"""The researcher's pages, My work and Help: empty, filled, with hostile text, and each thing that they do."""

from __future__ import annotations

import re
from html import escape

import pytest
from sqlmodel import select
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from annotators.asking.submissions import FLAGGED, GivenLabel
from annotators.criteria.text import Text
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, Qualification, RightLabel
from annotators.designing.phases import Phases
from app.pages import help as help_page
from app.settings import Settings
from app.widgets.study_form import sample_size
from db.annotating.annotations import submit, work
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.items.read import item_counts
from db.models import Document, Item
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import create_project
from db.scores.write import run_scorer
from db.studies.design import list_studies
from tests.app.filled import Filled, actor_named, no_problem, picture, press, uploads
from tests.app.pages import Pages, words
from tests.db.designing.test_by_score import scored
from tests.makers import StudyInUse, make_item, read_guidelines, tiny_protocol

RESEARCHERS_PAGES = (
    "studies",
    "study",
    "protocols",
    "prompts",
    "data",
    "item",
    "claims",
    "imports",
    "exports",
    "scores",
)
HOSTILE = "<script>alert(1)</script> **bold** [x](javascript:y) =1+1"


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


# Every page -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("studies", "The project has no items"),
        ("study", "There is no study yet"),
        ("data", "no documents and no items"),
        ("item", "No item is chosen"),
        ("annotators", "There is no study yet"),
        ("claims", "The project has no items"),
        ("imports", "No file is chosen"),
        ("exports", "Nothing has been made yet"),
        ("scores", "no scores yet"),
        ("my_work", "You are in no study"),
        ("help", "The guide"),
    ],
)
def test_an_empty_project_says_what_to_do_first(pages: Pages, name: str, says: str) -> None:
    create_project(pages.db, pages.admin, "Energy")
    page = pages.open(pages.token("admin"), name)
    assert says in no_problem(page)
    if says in ("There is no study yet", "The project has no items"):
        assert page.get("page_link"), "the button that remedies it"


@pytest.mark.parametrize("name", RESEARCHERS_PAGES)
def test_a_filled_project_shows_on_every_page_to_those_who_may_read(filled: Filled, name: str) -> None:
    says = {"studies": "12 of 12", "study": "12 of 12", "data": "i00001", "item": "Question of i00001?"}
    readers = (
        ("rosa", "vera", "adam")
        if name in ("studies", "study", "protocols", "prompts", "data", "item", "scores")
        else ("rosa",)
    )
    for who in readers:
        assert says.get(name, "") in no_problem(filled.open(who, name, study=filled.study_id, item=1)), who


@pytest.mark.parametrize("name", RESEARCHERS_PAGES)
def test_an_annotator_does_not_get_a_researchers_page_by_its_address(filled: Filled, name: str) -> None:
    filled.pages.person("ana")
    set_member(filled.pages.db, filled.pages.admin, filled.project_id, name="ana", role=Role.ANNOTATOR)
    page = filled.open("ana", name, study=filled.study_id, item=1)
    assert not page.exception
    assert "i00001" not in words(page)
    assert "12 of 12" not in words(page)
    assert re.search(
        r"In project\d+ this page is for (viewers, adjudicators and )?researchers; you are annotator there\.",
        words(page),
    )


@pytest.fixture
def hostile(pages: Pages) -> Pages:
    """A project in which everything that people can write is hostile."""
    project_id = create_project(pages.db, pages.admin, HOSTILE)
    make_item(
        pages.db, project_id, HOSTILE, system=HOSTILE, category=HOSTILE, n_evidence=1,
        question=HOSTILE, answer=HOSTILE, references=[HOSTILE, [HOSTILE]], extra={HOSTILE: HOSTILE},
        hops=[{"key": "h1", "question": HOSTILE, "answer": HOSTILE}],
    )  # fmt: skip
    with pages.db.write() as session:
        session.exec(select(Document)).one().title = HOSTILE
    pages.person("ana")
    set_member(pages.db, pages.admin, project_id, name="ana", role=Role.ANNOTATOR)
    protocol = tiny_protocol(title=HOSTILE, summary=HOSTILE)
    design = StudyDesign(name=HOSTILE, annotators=("ana", "admin"), overlap=2, order="given")
    made = create_study(pages.db, pages.admin, project_id, protocol=protocol, design=design)
    for actor in (pages.admin, actor_named(pages, "ana")):
        item = work(pages.db, actor, made.study_id)["items"][0]
        label = GivenLabel("right", "item", "yes", comment=HOSTILE)
        step = StepSubmission(f"u{actor.person_id}", item["assignment"], 1, 0, (label,), HOSTILE, HOSTILE, 3.0)
        submit(pages.db, actor, made.study_id, step=step)
    return pages


def test_hostile_text_is_shown_as_text(hostile: Pages) -> None:
    for name in (*RESEARCHERS_PAGES, "my_work"):
        page = hostile.open(hostile.token("admin"), name, study="1", item="1")
        _only_text(page)
        for tab in ("Design", "Flags and skips") if name == "study" else ():
            page.session_state["study-tabs-1"] = tab
            _only_text(page.run())
        assert escape("<script>alert(1)</script>") in "".join(str(block.value) for block in page.get("html")), name


def _only_text(page: AppTest) -> None:
    assert not page.exception, page.exception
    raw = "".join(str(element.value) for element in page.get("html"))
    assert "<script" not in raw
    for kind in ("markdown", "caption", "subheader", "error", "success", "warning", "info"):
        for element in page.get(kind):
            assert "**bold**" not in str(element.value), (kind, element.value)
    labels = [element.label for kind in ("expander", "tab", "button", "checkbox") for element in page.get(kind)]
    assert not [label for label in labels if "**bold**" in label]


# Studies --------------------------------------------------------------------------------------------------------------


def test_the_form_says_what_it_would_make_and_makes_it(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("Second").run()
    page.selectbox(key="study-sample").set_value("some").run()
    page.multiselect(key="study-strata").set_value(["system"]).run()
    page.number_input(key="study-sample-size").set_value(1).run()
    page.number_input(key="study-overlap-qa_verification").set_value(2).run()
    assert "2 items × 2 = 4 slots, about 2 for each of 3 annotators." in no_problem(page)
    press(page, "Create study")
    made = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)[-1]
    assert (made.name, made.protocol, made.n_items, made.overlap) == ("Second", "QA verification", 2, 2)
    assert page.query_params["study"] == str(made.study_id)
    assert "Second" in no_problem(page)


def test_the_overlap_is_never_more_than_the_annotators_that_are_chosen_and_the_form_says_so(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    overlap = page.number_input(key="study-overlap-qa_verification")
    assert (overlap.value, overlap.max) == (3, 3)
    names = page.multiselect(key="study-annotators").value
    page.multiselect(key="study-annotators").set_value(names[:2]).run()
    overlap = page.number_input(key="study-overlap-qa_verification")
    assert (overlap.value, overlap.max) == (2, 2)
    shown = no_problem(page)
    assert "At most 2: 2 annotators are chosen, and each judges an item once. The protocol suggests 3." in shown
    assert "4 items × 2 = 8 slots, about 4 for each of 2 annotators." in shown


def test_an_unmet_need_is_a_sentence_beside_a_disabled_button(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    assert not page.button(key="study-create").disabled
    page.multiselect(key="study-annotators").set_value([]).run()
    assert page.button(key="study-create").disabled
    assert page.checkbox(key="study-ask-confidence").label == "Ask beside each label: How sure are you?"
    assert "Needs annotators: choose at least one." in no_problem(page)


def test_a_study_without_a_typed_name_is_called_after_its_protocol(filled: Filled) -> None:
    for _ in range(2):
        page = filled.open("rosa", "studies", new=1)
        press(page, "Create study")
        no_problem(page)
    rows = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)
    assert [row.name for row in rows[1:]] == ["QA verification", "QA verification 2"]


def test_what_was_typed_is_kept_after_a_failed_submit_and_over_a_visit_of_another_page(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("study").run()
    page.selectbox(key="study-sample").set_value("some").run()
    page.multiselect(key="study-strata").set_value(["system"]).run()
    page.number_input(key="study-sample-size").set_value(1).run()
    page.multiselect(key="study-annotators").set_value([page.multiselect(key="study-annotators").value[0]]).run()
    press(page, "Create study")
    assert "Choose another name" in page.error[0].value
    assert page.text_input(key="study-name").value == "study"
    page._page_hash = calc_hash("people")
    page.run()
    assert not [box for box in page.text_input if box.key == "study-name"]
    page._page_hash = calc_hash("studies")
    page.run()
    assert page.text_input(key="study-name").value == "study"
    assert (page.selectbox(key="study-sample").value, page.number_input(key="study-sample-size").value) == ("some", 1)
    assert page.multiselect(key="study-strata").value == ["system"]
    assert len(page.multiselect(key="study-annotators").value) == 1
    page.text_input(key="study-name").input("another").run()
    press(page, "Create study")
    page._page_hash = calc_hash("studies")
    page.query_params.clear()
    page.query_params.update({"new": "1"})
    page.run()
    assert page.text_input(key="study-name").value == ""
    assert page.selectbox(key="study-sample").value == "all"


YAML = """\
name: tone
title: Tone of the answer
guidelines: Judge the tone.
criteria:
  - name: tone
    title: Tone
    labels: [{value: kind}, {value: rude, key: s}]
steps:
  - {name: all, title: All, shows: [question, answer], criteria: [tone]}
overlap: 1
"""


def test_a_protocol_file_is_checked_with_lines_and_then_used(filled: Filled) -> None:
    page = filled.open("rosa", "studies", new=1)
    page.text_input(key="study-name").input("Tone").run()
    page.segmented_control(key="study-protocol-from").set_value("From a file").run()
    page.file_uploader(key="study-protocol-file").set_value(("tone.yaml", YAML.encode(), "application/yaml")).run()
    [error] = page.error
    assert "tone.yaml, line 7" in error.value.replace("\\", "")
    good = YAML.replace(", key: s", ", key: u").encode()
    page.file_uploader(key="study-protocol-file").set_value(("tone.yaml", good, "application/yaml")).run()
    assert "Tone of the answer" in no_problem(page)
    press(page, "Create study")
    assert (
        list_studies(filled.pages.db, filled.study.researcher, filled.project_id)[-1].protocol == "Tone of the answer"
    )


def test_the_form_says_which_items_have_no_score_and_takes_the_others(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Scored")
    for number in range(7):
        make_item(pages.db, project_id, answer="copper", references=[["copper"]] if number < 4 else [])
    run_scorer(pages.db, pages.admin, project_id, scorer="phrase_recall")
    pages.person("ada")
    set_member(pages.db, pages.admin, project_id, name="ada", role=Role.ANNOTATOR)
    page = pages.open(pages.token("admin"), "studies", new="1")
    page.text_input(key="study-name").input("Metrics").run()
    page.selectbox(key="study-protocol").set_value("metric_agreement").run()
    page.number_input(key="study-overlap-metric_agreement").set_value(1).run()
    said = no_problem(page)
    assert "4 items × 1 = 4 slots" in said
    assert "3 items have no score (3 with a reason: unscored). This study is about Correctness score. Left out." in said
    assert "None of these scores is about Hallucination flag" in said
    press(page, "Create study")
    assert not page.error, page.error[0].value
    [made] = list_studies(pages.db, pages.admin, project_id)
    assert made.n_items == 4


@pytest.mark.parametrize(
    ("n", "per"), [(None, None), (3, None), (2, "system"), (1, "category"), (2, "system,category")]
)
def test_the_size_of_a_sample_is_what_a_study_takes(pages: Pages, n: int | None, per: str | None) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    for number in range(11):
        category = (None, "Tables", "Text")[number % 3]
        make_item(pages.db, project_id, system=f"s{number % 4}", category=category)
    expected = sample_size(item_counts(pages.db, pages.admin, project_id), n, per)
    design = StudyDesign(name="s", annotators=("admin",), overlap=1, sample=n, per=per)
    made = create_study(pages.db, pages.admin, project_id, protocol=tiny_protocol(), design=design)
    assert made.n_items == expected


def test_the_studys_page_shows_progress_design_protocol_and_remarks(filled: Filled) -> None:
    study = filled.study
    extra = StudyInUse(filled.pages.db, items=2)
    assignment = extra.work(0)["items"][0]["assignment"]
    extra.submit(1, extra.work(1)["items"][0], {"right": "yes"}, flag="the chart is missing")
    extra.submit(2, extra.work(2)["items"][0], {"right": "yes"}, flag=FLAGGED)
    skip(extra.db, extra.annotators[0], extra.study_id, assignment_id=assignment, reason="page is blank")
    page = filled.open("rosa", "study", study=filled.study_id)
    shown = no_problem(page)
    assert "12 of 12" in shown
    assert re.search(
        r'<span>Disputed</span><b><a href="/data[^"]*state=disputed"[^>]*>4</a></b><span>4 so far, ', shown
    )
    assert all(actor.name in shown for actor in study.annotators)
    assert "Adjudicate 4 items" in shown
    assert shown.count("not yet") == len(study.annotators)
    read_guidelines(filled.pages.db, filled.study_id)
    shown = no_problem(filled.open("rosa", "study", study=filled.study_id))
    assert "Guidelines" in shown
    assert "not yet" not in shown
    assert shown.count("read ") >= len(study.annotators)
    for tab, says in (("Design", study.made.sample_hash), ("Protocol", "Say whether the answer is right.")):
        page.session_state[f"study-tabs-{filled.study_id}"] = tab
        assert says in no_problem(page.run())
    page = filled.pages.open(filled.pages.token("admin"), "study", study=str(extra.study_id))
    page.session_state[f"study-tabs-{extra.study_id}"] = "Flags and skips"
    shown = no_problem(page.run())
    for said in ("page is blank", "the chart is missing", "no reason given"):
        assert said in shown


def test_the_design_of_a_study_says_all_that_it_was_made_of(filled: Filled) -> None:
    labels = [RightLabel(item=item, criterion="right", value="yes") for item in ("i00003", "i00004")]
    design = StudyDesign(
        name="Designed", annotators=tuple(actor.name for actor in filled.study.annotators), overlap=2,
        items=("i00001", "i00002"),
        gold=Gold(labels=(labels[0],), rate=0.125, below="pause"),
        qualification=Qualification(labels=(labels[1],), tries=3),
        phases=Phases(consent="You take part.", after=(Text(name="why", title="Why?"),)),
    )  # fmt: skip
    study = filled.study
    made = create_study(filled.pages.db, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)

    def facts(who: str) -> str:
        page = filled.open(who, "study", study=made.study_id)
        page.session_state[f"study-tabs-{made.study_id}"] = "Design"
        return re.sub("</?span[^>]*>", "", no_problem(page.run()))

    shown = facts("rosa")
    for said in (
        "2 items by their ids, seed 0",
        "a consent, 1 question after the last",
        "1 item, 12.5 % of what somebody is given; below 70 % right of 10 or more: pause the annotator",
        "1 item, 80 % right to pass, 3 tries",
    ):
        assert said in shown
    assert "12.5 %" not in facts("vera"), "who does not design studies is not told of gold"
    half = StudyDesign(name="Half", annotators=(filled.study.annotators[0].name,), overlap=1, where=("system=s0",))
    made = create_study(filled.pages.db, study.researcher, study.project_id, protocol=tiny_protocol(), design=half)
    assert "2 items for which the conditions do not hold" in facts("rosa")


def test_a_viewer_sees_progress_but_is_not_led_to_adjudicate(filled: Filled) -> None:
    shown = no_problem(filled.open("vera", "study", study=filled.study_id))
    assert "12 of 12" in shown
    assert "/adjudicate" not in shown


# Data -----------------------------------------------------------------------------------------------------------------


def test_items_are_searched_filtered_and_paged(pages: Pages) -> None:
    project_id = create_project(pages.db, pages.admin, "Energy")
    for number in range(60):
        make_item(
            pages.db, project_id, f"n{number:03}", system=f"s{number % 2}", category="Odd" if number % 2 else None
        )
    page = pages.open(pages.token("admin"), "data")
    assert "n049" in words(page)
    assert "n050" not in words(page)
    page.button(key="pager-next-items").click().run()
    assert "n050" in words(page)
    assert "n049" not in words(page)
    page.button(key="pager-back-items").click().run()
    assert "n000" in no_problem(page)
    page.text_input[0].input("n01").run()
    assert set(re.findall(r">(n\d+)<", words(page))) == {f"n{number:03}" for number in range(10, 20)}
    page = pages.open(pages.token("admin"), "data", system="s1", category="Odd")
    assert "n001" in words(page)
    assert "n002" not in words(page)
    page = pages.open(pages.token("admin"), "data", category="")
    assert "n002" in words(page)
    assert "n001" not in words(page)


def test_a_document_without_bytes_is_supplied_with_them(filled: Filled) -> None:
    page = filled.open("rosa", "data")
    assert "not supplied" in no_problem(page)
    page.selectbox(key="attach-document").set_value("i00001.pdf").run()
    page.file_uploader(key="attach-file").set_value(("scan.png", b"%PDF-1.7 not one", "image/png"))
    press(page, "Supply")
    assert page.error
    assert not uploads(filled.pages)
    page.file_uploader(key="attach-file").set_value(("scan.png", picture(), "image/png"))
    press(page, "Supply")
    assert "/page-images/1/1?w=160" in no_problem(page)
    assert not uploads(filled.pages)


# Item -----------------------------------------------------------------------------------------------------------------


def test_an_item_shows_its_labels_and_marks_the_odd_one_out(filled: Filled) -> None:
    shown = no_problem(filled.open("rosa", "item", item=1))
    assert "Passage 1" in shown
    assert '<span class="assay-odd">no</span>' in shown
    assert filled.study.annotators[0].name in shown


def test_an_adjudicator_reads_labels_without_names(filled: Filled) -> None:
    shown = no_problem(filled.open("adam", "item", item=1))
    assert "R2" in shown
    assert filled.study.annotators[0].name not in shown


def test_an_item_of_a_project_that_one_cannot_read_is_not_there(filled: Filled) -> None:
    other = StudyInUse(filled.pages.db, items=1)
    with filled.pages.db.read() as session:
        item_id = session.exec(select(Item.id).where(Item.project_id == other.project_id)).one()
    page = filled.open("rosa", "item", item=item_id)
    assert "There is no item with id" in page.error[0].value.replace("\\", "")
    assert page.get("page_link")[-1].proto.label == "Items and documents", "the way back"


# My work --------------------------------------------------------------------------------------------------------------


def test_my_work_lists_searches_and_opens_again(filled: Filled) -> None:
    pages, study = filled.pages, filled.study
    pages.person("ana")
    set_member(pages.db, pages.admin, filled.project_id, name="ana", role=Role.ANNOTATOR)
    design = StudyDesign(name="Mine", annotators=("ana",), overlap=1, order="given")
    made = create_study(pages.db, study.researcher, filled.project_id, protocol=tiny_protocol(), design=design)
    study.annotators[0], study.study_id = actor_named(pages, "ana"), made.study_id
    assert study.label_all(0) == 4
    page = filled.open("ana", "my_work")
    shown = no_problem(page)
    assert "4 of about 4" in shown
    [first, *_] = re.findall(r"/annotate\?study=(\d+)&amp;assignment=(\d+)", shown)
    assert first[0] == str(made.study_id)
    return_to_annotator(pages.db, study.researcher, int(first[1]), reason="Read table 3 again")
    shown = no_problem(page.run())
    assert "Read table 3 again" in shown
    assert page.warning[0].value.startswith("1 item returned to you")
    page.text_input(key="my-work-search").input("i00002").run()
    assert set(re.findall(r"Question of (i\d+)", words(page))) == {"i00002"}


# Help -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_page_of_the_guide_is_shown(pages: Pages) -> None:
    token = pages.token("admin")
    for name, title in help_page.contents().items():
        assert title in no_problem(pages.open(token, "help", page=name)), name
    assert "no page" in pages.open(token, "help", page="<b>nowhere</b>").warning[0].value


def test_the_guide_begins_with_its_index_and_names_every_page(pages: Pages) -> None:
    contents = help_page.contents()
    assert next(iter(contents)) == "index"
    index = (help_page.DOCS / "index.md").read_text()
    assert not [name for name in contents if name != "index" and f"({name}.md" not in index]


def test_links_in_the_guide_lead_somewhere() -> None:
    for path in help_page.DOCS.glob("*.md"):
        for name in re.findall(r"\]\(([\w-]+)\.md", path.read_text()):
            assert (help_page.DOCS / f"{name}.md").is_file(), (path.name, name)


def test_every_setting_is_in_the_guide() -> None:
    text = (help_page.DOCS / "administration.md").read_text()
    assert not [setting.name for setting in Settings.load({}).describe({}) if f"| `{setting.name}` |" not in text]


def test_a_study_is_ordered_by_a_score_in_the_form(filled: Filled) -> None:
    scored(filled.pages.db, [0.1, 0.9, 0.4, None])
    page = filled.open("rosa", "studies", new=1)
    page.selectbox(key="study-order").select("by_score").run()
    shown = words(page)
    assert "needs the score that it goes by. Name it in <code>order_score</code>" in shown
    assert page.button(key="study-create").disabled
    assert page.radio(key="study-order-first").value == "uncertain"
    page.selectbox(key="study-order-score").select("imported:t/risk").run()
    page.radio(key="study-order-first").set_value("high").run()
    shown = no_problem(page)
    assert "Items are ordered by imported:t/risk, the highest first as a rule: drawn with known probabilities." in shown
    assert "1 item has no such score and the average chance (i00004)." in shown
    page.text_input(key="study-name").input("Risky first").run()
    page.button(key="study-create").click().run()
    made = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)[-1]
    assert made.name == "Risky first"
    told = "high scores first as a rule, drawn with known probabilities"
    shown = no_problem(filled.open("rosa", "study", study=made.study_id, show="design"))
    assert told in shown
    set_member(filled.pages.db, filled.pages.admin, filled.project_id, name="rosa", role=Role.ANNOTATOR)
    assert told not in words(filled.open("rosa", "study", study=made.study_id, show="design"))


def test_the_form_of_a_new_study_is_made_when_it_is_opened(filled: Filled) -> None:
    page = filled.open("rosa", "studies")
    assert "Studies of" in no_problem(page)
    assert not [box for box in page.text_input if box.key == "study-name"], "it looks at every item of the project"
    page = filled.open("rosa", "studies", new=1)
    no_problem(page)
    assert [box.value for box in page.text_input if box.key == "study-name"] == [""]
    assert "Studies of" not in no_problem(page)
