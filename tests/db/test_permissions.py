"""Every operation is walked as each role and as nobody: who may not is refused before anything else happens."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

import db as db_package
import exports as exports_package
from annotators.asking.submissions import GivenLabel
from annotators.errors import AssayError, NotAllowed, NotFound, NotSignedIn
from db.annotating.committing import StepSubmission
from db.engine import Database
from db.models import Person, StudyItem, now
from db.permissions import OPERATIONS, Actor, On, Operation, Role
from tests.databases import put_database
from tests.makers import StudyInUse, make_member, make_person, make_project

for package in (db_package, exports_package):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.startswith("db.migrations"):
            importlib.import_module(module.name)

NAMES = sorted(OPERATIONS)


ADMINISTRATORS: frozenset[str] = frozenset()
RESEARCHERS = frozenset({"researcher"})
ADJUDICATORS = frozenset({"researcher", "adjudicator"})
ANNOTATORS = frozenset({"researcher", "adjudicator", "annotator"})
READERS = frozenset({"researcher", "adjudicator", "viewer"})
REVISERS = frozenset({"researcher", "reviser"})
IN_STUDIES = frozenset({"researcher", "adjudicator", "annotator", "viewer"})
SIGNED_IN = frozenset({"anybody signed in"})

MAY: dict[str, frozenset[str]] = {
    "adjudicating.adjudications.adjudicate": ADJUDICATORS,
    "adjudicating.adjudications.count_disputed": ADJUDICATORS,
    "adjudicating.adjudications.desk_counts": ADJUDICATORS,
    "adjudicating.adjudications.disputed_item": ADJUDICATORS,
    "adjudicating.adjudications.disputes": ADJUDICATORS,
    "adjudicating.adjudications.give_back": ADJUDICATORS,
    "adjudicating.adjudications.latest_decisions": ADJUDICATORS,
    "adjudicating.adjudications.settlement_counts": ADJUDICATORS,
    "adjudicating.adjudications.study_disputes": ADJUDICATORS,
    "adjudicating.reviewed.reviewed_items": READERS,
    "adjudicating.stages.double_decided": READERS,
    "adjudicating.threads.before_and_after": READERS,
    "adjudicating.threads.my_threads": SIGNED_IN,
    "adjudicating.threads.thread": ANNOTATORS,
    "adjudicating.threads.what_waits": READERS,
    "adjudicating.threads.write_message": ANNOTATORS,
    "adjudicating.uncertainty.order_by_disagreement": ADJUDICATORS,
    "adjudicating.uncertainty.order_by_uncertainty": ADJUDICATORS,
    "adjudicating.causes.cause_counts": READERS,
    "adjudicating.causes.guideline_notes": ADJUDICATORS,
    "adjudicating.leases.held_by_others": ADJUDICATORS,
    "adjudicating.leases.leave_item": ADJUDICATORS,
    "adjudicating.leases.take_item": ADJUDICATORS,
    "adjudicating.listed.listed_disputes": ADJUDICATORS,
    "adjudicating.tables.adjudicate_table": ADJUDICATORS,
    "annotating.annotations.my_work": SIGNED_IN,
    "annotating.annotations.answer_phase": ANNOTATORS,
    "annotating.annotations.reopen": ANNOTATORS,
    "annotating.annotations.save_draft": ANNOTATORS,
    "annotating.annotations.submit": ANNOTATORS,
    "annotating.annotations.work": ANNOTATORS,
    "annotating.assignments.return_to_annotator": ADJUDICATORS,
    "annotating.assignments.skip": ANNOTATORS,
    "studies.why.explain_label": ADJUDICATORS,
    "studies.revisions.plan_revision": RESEARCHERS,
    "studies.revisions.revise_item": RESEARCHERS,
    "studies.unclaimed.next_without_claims": RESEARCHERS,
    "upkeep.backups.back_up": ADMINISTRATORS,
    "upkeep.backups.restore": ADMINISTRATORS,
    "elsewhere.mappings.forget_mapping": RESEARCHERS,
    "elsewhere.mappings.keep_mapping": RESEARCHERS,
    "elsewhere.mappings.kept_mapping": READERS,
    "elsewhere.mappings.kept_mappings": READERS,
    "batches.list_batches": READERS,
    "batches.withdraw_batch": RESEARCHERS,
    "annotating.previews.preview": RESEARCHERS,
    "annotating.previews.right_labels": RESEARCHERS,
    "annotating.previews.items_to_preview": RESEARCHERS,
    "annotating.disclosure.may_see_page": SIGNED_IN,
    "annotating.disclosure.reading": IN_STUDIES,
    "annotating.disclosure.visible_document": SIGNED_IN,
    "items.documents.attach_bytes": RESEARCHERS,
    "items.documents.list_documents": READERS,
    "items.documents.list_kept_documents": READERS,
    "items.documents.keep_documents": RESEARCHERS,
    "events.event_kinds": RESEARCHERS,
    "events.events_after": RESEARCHERS,
    "events.list_events": ADMINISTRATORS,
    "events.project_events": RESEARCHERS,
    "upkeep.export_log.check_may_export": RESEARCHERS,
    "upkeep.export_log.is_logged": READERS,
    "upkeep.export_log.log_export": RESEARCHERS,
    "exports.bundles.bundle.export_project": RESEARCHERS,
    "exports.dataset.document.dataset_report": RESEARCHERS,
    "exports.importing.items.import_paths": RESEARCHERS,
    "exports.importing.labels.import_label_table": RESEARCHERS,
    "exports.importing.labels.plan_label_table": RESEARCHERS,
    "exports.label_studio.pull.pull_from_files": RESEARCHERS,
    "exports.label_studio.pull.pull_from_server": RESEARCHERS,
    "exports.label_studio.files.push_to_files": RESEARCHERS,
    "exports.label_studio.push.push_to_server": RESEARCHERS,
    "exports.scoring.training_review.review_extension": RESEARCHERS,
    "exports.bundles.verify._verify": READERS,
    "elsewhere.foreign.import_study_of_labels": RESEARCHERS,
    "elsewhere.foreign.plan_study_of_labels": RESEARCHERS,
    "scores.label_states.labels_state_now": READERS,
    "scores.labels.labels_for_scorer": RESEARCHERS,
    "elsewhere.labelled_imports.import_labelled_items": RESEARCHERS,
    "elsewhere.labelled_imports.preview_labelled_items": RESEARCHERS,
    "annotating.guidelines.guidelines_read": ANNOTATORS,
    "items.imports.import_items": RESEARCHERS,
    "items.imports.preview_import": RESEARCHERS,
    "items.read.item_counts": READERS,
    "items.read.item_details": READERS,
    "items.read.list_items": READERS,
    "items.read.metadata_fields": READERS,
    "jobs.cancel_job": RESEARCHERS,
    "jobs.job_facts": RESEARCHERS,
    "jobs.latest_job": RESEARCHERS,
    "jobs.list_jobs": RESEARCHERS,
    "jobs.queue_job": RESEARCHERS,
    "jobs.resume_job": RESEARCHERS,
    "elsewhere.labels.import_labels": RESEARCHERS,
    "elsewhere.labels.plan_labels": RESEARCHERS,
    "releasing.endings.end_item": RESEARCHERS,
    "releasing.comparing.compare_releases": READERS,
    "releasing.proposals.accept_imported": RESEARCHERS,
    "releasing.proposals.answer_proposal": RESEARCHERS,
    "releasing.proposals.count_proposals": RESEARCHERS,
    "releasing.proposals.list_proposals": RESEARCHERS,
    "releasing.proposals.plan_proposal": RESEARCHERS,
    "releasing.revising.count_to_revise": REVISERS,
    "releasing.revising.item_to_revise": REVISERS,
    "releasing.revising.leave_to_others": REVISERS,
    "releasing.revising.plan_written": REVISERS,
    "releasing.revising.revise_written": REVISERS,
    "releasing.revising.revision_queue": REVISERS,
    "releasing.revising.sentences_to_claim": REVISERS,
    "releasing.states.keep_failing": READERS | REVISERS,
    "releasing.revising.take_to_revise": REVISERS,
    "releasing.releases.find_release": READERS,
    "releasing.releases.list_releases": READERS,
    "releasing.consequences.if_amended": RESEARCHERS,
    "releasing.consequences.if_left_out": RESEARCHERS,
    "releasing.consequences.if_restored": RESEARCHERS,
    "releasing.consequences.if_withdrawn": RESEARCHERS,
    "releasing.releases.make_release": RESEARCHERS,
    "releasing.releases.plan_release": RESEARCHERS,
    "releasing.states.item_state": READERS,
    "releasing.states.item_states": READERS,
    "releasing.story.item_story": READERS,
    "releasing.counts.study_stages": READERS,
    "studies.ratings.shared_items": READERS,
    "studies.ratings.set_aside_stamp": READERS,
    "upkeep.maintenance.delete_project": ADMINISTRATORS,
    "upkeep.maintenance.redact_text": RESEARCHERS,
    "annotating.my_progress.my_progress": SIGNED_IN,
    "people.accounts.add_people": RESEARCHERS,
    "people.accounts.add_person": ADMINISTRATORS,
    "people.accounts.change_password": SIGNED_IN,
    "people.accounts.erase_person": ADMINISTRATORS,
    "people.accounts.list_members": ADJUDICATORS,
    "people.accounts.list_people": ADMINISTRATORS,
    "people.accounts.plan_people": RESEARCHERS,
    "people.accounts.remove_member": RESEARCHERS,
    "people.accounts.revoke_sessions": ADMINISTRATORS,
    "people.accounts.set_member": RESEARCHERS,
    "people.accounts.set_password": ADMINISTRATORS,
    "people.accounts.set_person": ADMINISTRATORS,
    "people.accounts.who_may_annotate": ADJUDICATORS,
    "people.preferences.my_preferences": SIGNED_IN,
    "people.preferences.set_preference": SIGNED_IN,
    "people.unsaved.keep_unsaved": RESEARCHERS,
    "people.unsaved.my_unsaved": RESEARCHERS,
    "projects.create_project": SIGNED_IN,
    "projects.find_project": SIGNED_IN,
    "projects.my_projects": SIGNED_IN,
    "projects.count_documents": READERS,
    "projects.project_overview": READERS,
    "studies.ratings.decided_labels": READERS,
    "studies.ratings.may_see_names": READERS,
    "studies.ratings.ratings": READERS,
    "studies.ratings.alignment_stamp": READERS,
    "studies.ratings.ratings_stamp": READERS,
    "studies.remarks.item_labels": READERS,
    "studies.remarks.item_place": SIGNED_IN,
    "studies.remarks.study_remarks": READERS,
    "scores.gaps.score_gaps": READERS,
    "scores.items.compare_scores": READERS,
    "scores.items.list_differences": READERS,
    "scores.items.list_scored": READERS,
    "scores.items.score_distribution": READERS,
    "scores.summaries.list_scorers_in": READERS,
    "scores.summaries.score_summary": READERS,
    "scores.summaries.unscored_reasons": READERS,
    "items.proposed.judges_by_protocol": READERS,
    "judging.drafting.plan_draft": RESEARCHERS,
    "judging.drafting.drafts_taken": RESEARCHERS,
    "judging.drafting.write_draft": RESEARCHERS,
    "judging.judged.judges_in_study": RESEARCHERS,
    "judging.judges.find_judge": READERS,
    "judging.said.labelling_judges": READERS,
    "judging.judges.list_judges": READERS,
    "judging.planning.plan_judging": RESEARCHERS,
    "judging.planning.study_for_judges": RESEARCHERS,
    "judging.run.run_judge": RESEARCHERS,
    "judging.trying.plan_trials": RESEARCHERS,
    "judging.trying.try_judge": RESEARCHERS,
    "scores.write.plan_scoring": RESEARCHERS,
    "scores.write.run_scorer": RESEARCHERS,
    "people.sign_in.one_time_sign_in": ADMINISTRATORS,
    "studies.revisions.why_not_revise": RESEARCHERS,
    "designing.making.create_study": RESEARCHERS,
    "studies.design.find_study": IN_STUDIES,
    "studies.design.list_studies": IN_STUDIES,
    "adjudicating.adjudications.disputes_for_me": SIGNED_IN,
    "releasing.listed.items_in_state": READERS,
    "studies.design.my_studies": SIGNED_IN,
    "designing.making.plan_study": RESEARCHERS,
    "inviting.invitations.invitations_of": RESEARCHERS,
    "inviting.invitations.invite": RESEARCHERS,
    "inviting.invitations.revoke_invitation": RESEARCHERS,
    "inviting.joining.is_from_outside": ANNOTATORS,
    "inviting.joining.how_far": ANNOTATORS,
    "inviting.joining.leave": ANNOTATORS,
    "designing.arms.arms_of": READERS,
    "designing.drafts.delete_draft": RESEARCHERS,
    "designing.drafts.drafts_of": IN_STUDIES,
    "designing.drafts.find_draft": IN_STUDIES,
    "designing.drafts.save_draft": RESEARCHERS,
    "designing.drafts.start_draft": RESEARCHERS,
    "designing.draws.draws_of": READERS,
    "designing.draws.keep_draw": RESEARCHERS,
    "designing.written.written_design": READERS,
    "studies.design.studies_to_compare": IN_STUDIES,
    "studies.design.study_facts": IN_STUDIES,
    "judging.decisions.checked_decisions": READERS,
    "judging.decisions.study_of_decisions": RESEARCHERS,
    "judging.examples.prompt_with_examples": RESEARCHERS,
    "elsewhere.handed_over.study_elsewhere": RESEARCHERS,
    "elsewhere.handed_over.items_elsewhere": RESEARCHERS,
    "elsewhere.handed_over.items_by_token": RESEARCHERS,
    "elsewhere.handed_over.labels_elsewhere": RESEARCHERS,
    "elsewhere.handed_over.raters_otherwise": RESEARCHERS,
    "elsewhere.came_back.take_back": RESEARCHERS,
    "elsewhere.fetching.check_may_fetch": SIGNED_IN,
    "elsewhere.known.whose_elsewhere": RESEARCHERS,
    "judging.library.add_prompt": RESEARCHERS,
    "judging.library.list_prompts": READERS,
    "judging.library.named_prompt": READERS,
    "studies.library.add_protocol": RESEARCHERS,
    "studies.library.list_protocols": READERS,
    "studies.library.named_protocol": READERS,
    "annotating.status.study_status": READERS,
    "annotating.status.progress_by_criterion": READERS,
    "annotating.amendments.amend_study": RESEARCHERS,
    "annotating.amendments.amendments_of": READERS,
    "annotating.amendments.set_state": RESEARCHERS,
    "releasing.recheck.send_to_recheck": RESEARCHERS,
    "releasing.recheck.to_recheck": READERS,
    "quality.gold.gold_given": READERS,
    "quality.gold.set_gold": RESEARCHERS,
    "quality.omissions.leave_out": RESEARCHERS,
    "quality.own_figures.my_figures": SIGNED_IN,
    "quality.qualification.let_in": RESEARCHERS,
    "quality.qualification.qualifications": RESEARCHERS,
    "quality.qualification.set_qualification": RESEARCHERS,
    "quality.omissions.omissions_of": READERS,
    "quality.omissions.restore": RESEARCHERS,
    "quality.team.reading_lengths": READERS,
    "quality.team.team_stamp": RESEARCHERS,
    "needs.of_studies.my_needs": SIGNED_IN,
    "needs.of_studies.needs_of": READERS,
    "quality.team.team_of": RESEARCHERS,
    "scores.training_sets.accept_training_set": RESEARCHERS,
    "scores.training_sets.list_training_sets": READERS,
    "scores.training_sets.present_training_set": READERS,
    "scores.training_sets.proposed_examples": RESEARCHERS,
    "scores.training_sets.read_answers": RESEARCHERS,
    "people.uploads.check_may_upload": SIGNED_IN,
}
"""Who may do what, written apart from the operations: administrators may do all of it, nobody else what is not here.

An operation for anybody signed in narrows what it gives to that person itself; each of these has tests of its own.
"""


def test_the_table_has_every_operation() -> None:
    assert set(MAY) == set(OPERATIONS)


@dataclass
class World:
    """A project with a study, somebody in each role, somebody from outside."""

    db: Database
    things: dict[On, int]
    people: dict[str, Actor]


def made_in(db: Database) -> World:
    study = StudyInUse(db, items=2, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    people: dict[str, Actor] = {"administrator": make_person(db, admin=True)}
    for role in Role:
        people[role] = make_person(db)
        make_member(db, study.project_id, people[role], role)
    people["outsider"] = make_person(db)
    make_member(db, make_project(db), people["outsider"], "researcher")
    people["nobody here"] = make_person(db)
    people["erased"] = make_person(db, admin=True)
    with db.write() as session:
        session.get_one(Person, people["erased"].person_id).erased_at = now()
        study_item = session.exec(select(StudyItem.id)).first()
    assert study_item is not None
    things = {
        On.PROJECT: study.project_id,
        On.STUDY: study.study_id,
        On.STUDY_ITEM: study_item,
        On.ASSIGNMENT: item["assignment"],
    }
    return World(db, things, people)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world for those who are refused, which nothing may change."""
    path = tmp_path_factory.mktemp("world") / "assay.db"
    put_database(path)
    made = made_in(Database(f"sqlite:///{path}"))
    yield made
    made.db.dispose()


@pytest.fixture
def still(made: World) -> Iterator[World]:
    """That world; whatever is tried in it must leave every row as it was."""
    before = everything(made.db)
    yield made
    assert everything(made.db) == before


@pytest.fixture
def world(made: World, tmp_path: Path) -> Iterator[World]:
    """A copy of it, for those who are let in."""
    path = tmp_path / "assay.db"
    with closing(sqlite3.connect(str(made.db.url.database))) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    db = Database(f"sqlite:///{path}")
    yield World(db, made.things, made.people)
    db.dispose()


def everything(db: Database) -> list[str]:
    """All rows of all tables, as SQL."""
    with closing(sqlite3.connect(str(db.url.database))) as connection:
        return list(connection.iterdump())


def attempt(world: World, operation: Operation, actor: Actor | None) -> BaseException | None:
    """Call the operation with its thing and nothing else; what it raised. A TypeError shows it let the actor in."""
    arguments: list[Any] = [] if operation.on is On.APP else [world.things[operation.on]]
    try:
        operation.function(world.db, actor, *arguments)
    except (AssayError, TypeError) as error:
        return error
    return None


def test_there_are_operations_to_walk() -> None:
    assert len(NAMES) >= 30
    assert {
        "annotating.annotations.submit",
        "adjudicating.adjudications.adjudicate",
        "designing.making.create_study",
    } <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_refused(still: World, name: str) -> None:
    assert isinstance(attempt(still, OPERATIONS[name], None), NotSignedIn)


@pytest.mark.parametrize("name", NAMES)
def test_an_erased_person_is_refused(still: World, name: str) -> None:
    assert isinstance(attempt(still, OPERATIONS[name], still.people["erased"]), NotSignedIn)


@pytest.mark.parametrize("name", sorted(MAY))
def test_each_role_may_do_what_the_table_says_and_no_more(world: World, name: str) -> None:
    for role in Role:
        error = attempt(world, OPERATIONS[name], world.people[role])
        refused = isinstance(error, NotSignedIn) or (isinstance(error, NotAllowed) and " may not " in str(error))
        assert refused != (role.value in MAY[name] or MAY[name] == SIGNED_IN), (role, error)


@pytest.mark.parametrize("name", sorted(name for name in MAY if MAY[name] != SIGNED_IN))
def test_who_has_no_role_here_is_let_into_nothing(still: World, name: str) -> None:
    error = attempt(still, OPERATIONS[name], still.people["nobody here"])
    assert isinstance(error, NotFound | NotAllowed)


@pytest.mark.parametrize(
    ("default_role", "membership", "may"),
    [("researcher", "annotator", False), ("viewer", "researcher", True), ("researcher", None, True)],
)
def test_a_membership_goes_before_the_default_role(
    world: World, default_role: str, membership: str | None, may: bool
) -> None:
    person = make_person(world.db, role=default_role)
    if membership:
        make_member(world.db, world.things[On.PROJECT], person, membership)
    error = attempt(world, OPERATIONS["jobs.list_jobs"], person)
    assert isinstance(error, NotAllowed) is not may


@pytest.mark.parametrize(
    "name",
    [
        "annotating.annotations.reopen",
        "annotating.annotations.save_draft",
        "annotating.annotations.submit",
        "annotating.assignments.skip",
    ],
)
def test_an_assignment_of_somebody_else_is_refused(sqlite_database: Database, name: str) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=2, overlap=1)
    theirs = study.work(0)["items"][0]
    study.work(1)
    place = {"assignment_id": theirs["assignment"], "sitting": 1, "step": 0}
    given: dict[str, dict[str, Any]] = {
        "annotating.annotations.reopen": {"assignment_id": theirs["assignment"]},
        "annotating.annotations.save_draft": {**place, "content": {"revision": 1}},
        "annotating.annotations.submit": {
            "step": StepSubmission("mine", **place, labels=(GivenLabel("right", "item", "yes"),), seconds=1.0)
        },
        "annotating.assignments.skip": {"assignment_id": theirs["assignment"], "reason": "not mine"},
    }
    for actor in (study.annotators[1], study.researcher):
        with pytest.raises((NotAllowed, NotFound)):
            OPERATIONS[name].function(study.db, actor, study.study_id, **given[name])
    assert study.work(0)["items"][0]["assignment"] == theirs["assignment"]


@pytest.mark.parametrize("name", NAMES)
def test_a_researcher_of_another_project_is_told_that_it_is_not_there(still: World, name: str) -> None:
    operation = OPERATIONS[name]
    if operation.on is On.APP or operation.signed_in_only:
        pytest.skip("not about one project")
    assert isinstance(attempt(still, operation, still.people["outsider"]), NotFound)


@pytest.mark.parametrize("name", NAMES)
def test_an_administrator_is_let_in(world: World, name: str) -> None:
    error = attempt(world, OPERATIONS[name], world.people["administrator"])
    assert not isinstance(error, NotSignedIn)
    assert not (isinstance(error, NotAllowed) and " may not " in str(error))


def public_functions_that_take_a_database() -> list[tuple[str, Callable[..., Any]]]:
    found = []
    for module in pkgutil.walk_packages(db_package.__path__, "db."):
        if module.name.startswith("db.migrations"):
            continue
        loaded = importlib.import_module(module.name)
        for name, function in vars(loaded).items():
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != loaded.__name__:
                continue
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if first is not None and first.name == "db":
                found.append((f"{module.name.removeprefix('db.')}.{name}", function))
    return found


WITHOUT_ACTOR = {
    # before anybody is signed in, or deciding who that is
    "people.accounts.local_administrator",
    "people.accounts.acting",
    "people.accounts.actor_named",
    "inviting.joining.invited",
    "inviting.joining.join",
    "people.sign_in.sign_in",
    "people.sign_in.session_actor",
    "people.sign_in.session_standing",
    "people.sign_in.sign_out",
    "people.sign_in.one_time_owner",
    "people.sign_in.one_time_person",
    "people.sign_in.use_one_time",
    # for whoever has the home folder: the first account, and putting back a database that cannot be asked who may
    "people.accounts.begin_administration",
    "upkeep.backups.why_unusable",
    "upkeep.backups.replace_unusable",
    # what the operations that import are made of; they have asked who it is
    "items.imports.staged",
    "items.unpublished.only_import",
    "items.unpublished.rows_a_turn",
    "items.unpublished.parts_at_first",
    "items.unpublished.broken_off",
    "items.unpublished.clear_broken_off",
    # the doctor, of whoever has the machine: what it removes nobody has seen
    "items.unpublished.clear_all_broken_off",
    # what judging and showing what it would send are made of; they have asked who it is
    "judging.items.secret_of",
    "judging.planning.plan_of",
    "judging.run.asking",
    # the server, which draws them ahead and shows them to nobody
    "annotating.queued_pages.queued_pages",
    # the health check, which tells nothing but that the database answers
    "projects.database_answers",
}


def test_every_public_function_on_a_database_is_an_operation_or_comes_before_signing_in() -> None:
    names = {name for name, _ in public_functions_that_take_a_database()}
    assert names - set(OPERATIONS) == WITHOUT_ACTOR
