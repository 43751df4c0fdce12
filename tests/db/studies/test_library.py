"""A project's own protocols: versions, names of built-in ones, who may, and two people at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlmodel import select

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.protocols import PROTOCOLS, Protocol
from db.designing.making import create_study
from db.engine import Database
from db.libraries import NameTaken
from db.models import Event, Project, ProtocolVersion
from db.studies.library import add_protocol, list_protocols, named_protocol
from db.upkeep.maintenance import delete_project
from db.upkeep.soundness import wrong_hashes
from tests.makers import StudyInUse, make_person, make_project


def own(title: str = "Tone", *, version: int = 1, name: str = "tone_check") -> Protocol:
    """A small protocol, with text of every sort in it."""
    return Protocol.model_validate(
        {
            "name": name,
            "version": version,
            "title": title,
            "guidelines": "Judge the tone.\n<script>alert(1)</script> هل النبرة ودودة؟",
            "criteria": [{"name": "tone", "title": "النبرة", "labels": [{"value": "ودود"}, {"value": "فظ"}]}],
            "steps": [{"name": "all", "title": "All", "shows": ["question", "answer"], "criteria": ["tone"]}],
        }
    )


def test_what_differs_from_the_newest_version_is_the_next_one(database: Database) -> None:
    actor, project = make_person(database, admin=True), make_project(database)
    first = add_protocol(database, actor, project, protocol=own())
    assert (first.kept.version, first.hash, first.new) == (1, own().digest(), True)
    again = add_protocol(database, actor, project, protocol=own())
    assert (again.kept.version, again.hash, again.new) == (1, first.hash, False)
    second = add_protocol(database, actor, project, protocol=own("Voice"))
    assert (second.kept.version, second.hash) == (2, own("Voice", version=2).digest())
    assert not add_protocol(database, actor, project, protocol=own("Voice")).new
    back = add_protocol(database, actor, project, protocol=own())
    assert back.kept.version == 3, "what it said before the newest is a version again"
    assert add_protocol(database, actor, project, protocol=own("Speech", version=7)).kept.version == 7
    entries = list_protocols(database, actor, project)
    listed = [(entry.kept.version, entry.kept.title, entry.who) for entry in entries]
    titles = [(7, "Speech"), (3, "Tone"), (2, "Voice"), (1, "Tone")]
    assert listed == [(version, title, actor.name) for version, title in titles]
    assert list(wrong_hashes(database)) == []
    with database.read() as session:
        events = session.exec(select(Event).where(Event.kind == "protocol added")).all()
    assert [event.details["version"] for event in events] == [1, 2, 3, 7]


def test_a_protocol_is_found_by_name_and_by_version(sqlite_database: Database) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    for title in ("Tone", "Voice"):
        add_protocol(sqlite_database, actor, project, protocol=own(title))

    def title_of(name: str, of: int = project) -> str:
        return named_protocol(sqlite_database, actor, of, name=name).title

    assert (title_of("tone_check"), title_of("tone_check@1"), title_of("tone_check@2")) == ("Voice", "Tone", "Voice")
    version = PROTOCOLS.get("qa_verification").version
    assert title_of("qa_verification") == title_of(f"qa_verification@{version}") == "QA verification"
    with pytest.raises(NotFound, match=r"has no version 3\. It has: 1, 2\."):
        title_of("tone_check@3")
    with pytest.raises(NotFound, match=f"'qa_verification' has version {version} here, and not 1"):
        title_of("qa_verification@1")
    with pytest.raises(NotFound, match=r"no protocol named 'tone'.*Of this project: tone_check\."):
        title_of("tone")
    for wrong in ("tone_check@", "tone_check@0", "tone_check@1@2", "tone_check@two"):
        with pytest.raises(InvalidInput, match="Write NAME, or NAME@VERSION"):
            title_of(wrong)
    with pytest.raises(NotFound, match="no protocol named 'tone_check'"):
        title_of("tone_check", make_project(sqlite_database))


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_a_built_in_protocol_exports_and_comes_back_the_same(sqlite_database: Database, name: str) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    built_in = PROTOCOLS.get(name)
    added = add_protocol(
        sqlite_database, actor, project, protocol=protocol_from_yaml(protocol_to_yaml(built_in), "back.yaml")
    )
    assert (added.kept.version, added.hash, added.new) == (built_in.version, built_in.digest(), False)
    assert list_protocols(sqlite_database, actor, project) == []
    mine = built_in.model_copy(update={"name": f"my_{name}"})
    kept = add_protocol(sqlite_database, actor, project, protocol=protocol_from_yaml(protocol_to_yaml(mine), "m.yaml"))
    assert named_protocol(sqlite_database, actor, project, name=f"my_{name}").digest() == kept.hash == mine.digest()


def test_the_name_of_a_built_in_protocol_stands_for_that_one(sqlite_database: Database) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    with pytest.raises(NameTaken, match="as in my_ambiguity"):
        add_protocol(sqlite_database, actor, project, protocol=own(name="ambiguity"))
    assert list_protocols(sqlite_database, actor, project) == []


def test_what_cannot_be_asked_yet_is_not_added(sqlite_database: Database) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    data = own().model_dump(mode="json")
    data["criteria"][0]["target"] = "hop"
    data["steps"][0]["shows"] = ["question", "hops"]
    with pytest.raises(InvalidInput, match="each hop of the question"):
        add_protocol(sqlite_database, actor, project, protocol=Protocol.model_validate(data))


def test_of_two_people_at_once_both_are_kept_and_the_second_is_told(database: Database) -> None:
    ada, ben, project = make_person(database, admin=True), make_person(database, admin=True), make_project(database)
    add_protocol(database, ada, project, protocol=own())
    with ThreadPoolExecutor(2) as both:
        made = list(
            both.map(
                lambda given: add_protocol(database, given[0], project, protocol=own(given[1]), on=1),
                [(ada, "Ada's"), (ben, "Ben's")],
            )
        )
    made.sort(key=lambda added: added.kept.version)
    assert [(added.kept.version, added.since) for added in made] == [(2, ()), (3, (2,))]
    kept = {entry.kept.title: entry.who for entry in list_protocols(database, ada, project)}
    assert kept == {"Tone": ada.name, "Ada's": ada.name, "Ben's": ben.name}


def test_a_study_of_an_own_protocol_is_counted_and_goes_with_its_project(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    admin = make_person(database, admin=True)
    added = add_protocol(database, study.researcher, study.project_id, protocol=own())
    design = StudyDesign(name="Tone", annotators=(study.annotators[0].name,), overlap=1)
    made = create_study(database, study.researcher, study.project_id, protocol=added.kept, design=design)
    assert made.protocol_hash == added.hash
    [entry] = list_protocols(database, study.researcher, study.project_id)
    assert entry.used == 1
    with database.read() as session:
        name = session.execute(select(ProtocolVersion.name)).scalar_one()
    assert name == "tone_check"
    with database.read() as session:
        called = session.get_one(Project, study.project_id).name
    assert delete_project(database, admin, study.project_id, name=called).rows["protocol_version"] == 1
