"""A design goes through form, draft, file and command, over pages, and is the same at each: whatever field it says."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from streamlit.util import calc_hash

from annotators.asking.asides import ASIDES
from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.designing.files import design_to_yaml
from annotators.judges.prompts import default_prompt
from annotators.protocols import Protocol
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.designing.drafts import DraftOfStudy, delete_draft, drafts_of, save_draft
from db.designing.making import create_study
from db.designing.written import written_design
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import run_judge
from db.people.accounts import actor_named
from db.permissions import Role
from db.scores.write import run_scorer
from tests import designs
from tests.app.cli.command_line import CommandLine, write_items
from tests.app.pages import Pages
from tests.designs import Designed
from tests.judging.answering import AnsweringServer
from tests.makers import make_member, make_person, make_project


class World:
    """A project in which every field of a design can be carried out, and the form on it."""

    def __init__(self, pages: Pages, folder: Path) -> None:
        self.pages, self.folder, self.db = pages, folder, pages.db
        self.command = CommandLine(folder / "home")
        self.project_id = make_project(self.db, "world")
        self.actor = pages.admin
        for name in designs.PEOPLE_NAMED:
            make_member(self.db, self.project_id, make_person(self.db, name), Role.ANNOTATOR)
        self.command("import", "world", write_items(folder / "in", *_rows()))
        run_scorer(self.db, self.actor, self.project_id, scorer=designs.SCORE)
        self._settle()
        with AnsweringServer(seed=3) as server:
            alone = study_for_judges(self.db, self.actor, self.project_id, protocol=designs.TINY)
            judge = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
            assert run_judge(self.db, self.actor, alone, judge=judge)["judge"] == designs.JUDGE
        self.token = pages.token(self.actor.name)

    def _settle(self) -> None:
        """A study that has settled an item."""
        whole = StudyDesign(
            name=designs.SETTLED, annotators=designs.PEOPLE_NAMED[:1], overlap=1, items=(designs.SETTLED,)
        )
        made = create_study(self.db, self.actor, self.project_id, protocol=designs.TINY, design=whole)
        one = actor_named(self.db, designs.PEOPLE_NAMED[0])
        [item] = work(self.db, one, made.study_id)["items"]
        step = StepSubmission("settled", item["assignment"], 1, 0, (GivenLabel("right", "item", "yes"),), seconds=1.0)
        submit(self.db, one, made.study_id, step=step)

    def draft(self) -> DraftOfStudy:
        """The one draft that there is."""
        [found] = drafts_of(self.db, self.actor, self.project_id)
        return found

    def through_the_form(self, draft: DraftOfStudy) -> DraftOfStudy:
        """What the form keeps of a draft that is changed in nothing; the page is left on the way."""
        page = self.pages.open(self.token, "study", draft=str(draft.draft_id), project=str(self.project_id))
        page.button(key="draft-change").click().run()
        for name in ("studies", "people", "studies"):
            page._page_hash = calc_hash(name)
            page.query_params.clear()
            page.query_params["project"] = str(self.project_id)
            page.run()
            assert not page.exception, page.exception
        assert not page.error, [error.value for error in page.error]
        page.button(key="study-draft-save").click().run()
        assert not page.exception and not page.error, (page.exception, [error.value for error in page.error])
        return self.draft()

    def through_a_file(self, draft: DraftOfStudy) -> DraftOfStudy:
        """What the command makes of the file that says what a draft says."""
        file = self.folder / "design.yaml"
        file.write_text(design_to_yaml(draft.design, draft.protocol), encoding="utf-8")
        delete_draft(self.db, self.actor, self.project_id, name=draft.design.name)
        self.command("study", "create", "world", draft.design.name, "--design", file, "--draft")
        return self.draft()

    def empty(self) -> None:
        """Delete the drafts that are left."""
        for draft in drafts_of(self.db, self.actor, self.project_id):
            delete_draft(self.db, self.actor, self.project_id, name=draft.design.name)


def _rows() -> Iterator[dict[str, Any]]:
    for place, name in enumerate((*designs.ITEMS_NAMED, *designs.KNOWN, designs.SETTLED)):
        yield {
            "id": name,
            "question_key": f"q{place // 2}",
            "question": f"What is item {place // 2} made of?",
            "answer": "It is made of copper.",
            "references": [["copper" if place % 3 else "tin"]],
            "system": designs.SYSTEMS[place % 2],
            "category": "Text" if place % 3 else "Tables",
            "evidence": [{"key": "e1", "kind": "passage", "role": "gold", "text": "Copper was used."}],
            "topic": f"t{place % 2}",
        }


@pytest.fixture
def world(pages: Pages, tmp_path: Path) -> World:
    return World(pages, tmp_path)


def walk(world: World, design: StudyDesign, protocol: Protocol) -> None:
    """A design through all places; what each makes of it is equal to what it was given."""
    world.empty()
    save_draft(world.db, world.actor, world.project_id, protocol=protocol, design=design)
    places = {"the draft": world.draft()}
    places["the form"] = world.through_the_form(places["the draft"])
    places["the file"] = world.through_a_file(places["the form"])
    places["the form again"] = world.through_the_form(places["the file"])
    for place, draft in places.items():
        lost = {
            name: (getattr(design, name), getattr(draft.design, name))
            for name in StudyDesign.model_fields
            if getattr(draft.design, name) != getattr(design, name)
        }
        assert not lost, f"{place}: {lost}"
        assert draft.protocol.digest() == protocol.digest(), place


KINDS = list(designs.KINDS)
AS_IT_COMES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def test_every_field_of_a_design_goes_through_form_draft_file_and_command(world: World) -> None:
    """Of each kind of design one that says all that it can: together they say every field, which is checked as well."""
    seen: list[StudyDesign] = []

    @settings(max_examples=1, phases=[Phase.generate], suppress_health_check=AS_IT_COMES, derandomize=True)
    @given(st.tuples(*(designs.designs(kind=kind, whole=True) for kind in KINDS)))
    def check(found: tuple[Designed, ...]) -> None:
        for designed in found:
            walk(world, designed.design, designed.protocol)
            seen.append(designed.design)

    check()
    assert designs.unsaid(seen) == []


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=AS_IT_COMES)
@given(designs.designs())
def test_random_designs_go_through_form_draft_file_and_command(world: World, found: Designed) -> None:
    walk(world, found.design, found.protocol)


def test_a_study_says_every_field_of_the_design_that_it_was_made_of(world: World) -> None:
    """The design of a study that is there is the one that made it: of each kind but arms, which are several studies."""

    @settings(max_examples=1, phases=[Phase.generate], suppress_health_check=AS_IT_COMES, derandomize=True)
    @given(st.tuples(*(designs.designs(kind=kind, whole=True) for kind in KINDS if kind != "in arms")))
    def check(found: tuple[Designed, ...]) -> None:
        for designed in found:
            design = _as_a_study_has_it(designed).model_copy(update={"name": secrets.token_hex(8)})
            about: dict[str, Any] = {"protocol": designed.protocol, "design": design}
            made = create_study(world.db, world.actor, world.project_id, **about)
            said = written_design(world.db, world.actor, made.study_id).design
            lost = {
                name: (getattr(design, name), getattr(said, name))
                for name in set(StudyDesign.model_fields) - {"protocol"}
                if getattr(said, name) != getattr(design, name)
            }
            assert not lost, lost

    check()


def _as_a_study_has_it(designed: Designed) -> StudyDesign:
    """The design with what is left open said, right labels without the file they came in, annotators by their ids."""
    design = designed.design
    parts = {name: part for name in ("gold", "qualification") if (part := getattr(design, name)) is not None}
    no_file = {"file": None}
    changes: dict[str, Any] = {
        name: part.model_copy(update=no_file | ({"settled_in": None} if name == "gold" else {}))
        for name, part in parts.items()
    }
    changes["ask"] = tuple(name for name in ASIDES if name in design.ask)
    changes["overlap"] = design.overlap_of(designed.protocol)
    changes["suggestions"] = design.suggestions or "never"
    changes["annotators"] = tuple(sorted(design.annotators))
    return design.model_copy(update=changes)
