"""Pushing a study to a real Label Studio: once whatever the way there does, for as many as each item wants, and no more
than is given to people here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.asking.submissions import GivenLabel
from annotators.designing.known import Gold, Qualification, Repeats, RightLabel
from annotators.designing.phases import Phases
from annotators.errors import Conflict, NotAllowed
from annotators.protocols import PROTOCOLS, Protocol
from db.annotating.amendments import StudyChange, amend_study
from db.engine import Database
from db.models import now
from db.releasing.endings import end_item
from exports.label_studio.files import push_to_files
from exports.label_studio.known import ITEM
from exports.label_studio.labelling import labellings_of
from exports.label_studio.push import Pushed
from exports.label_studio.tasks import results_of
from tests.db.releasing.test_recheck import judged, revise, send
from tests.exports.label_studio.running import EMAIL, LabelStudio, recorded
from tests.exports.label_studio.studies import Project, all_kinds, staged
from tests.exports.label_studio.test_server import give_here, items_list, items_of, pull, push, server_at
from tests.exports.test_whole_folders import largest_file
from tests.makers import make_member, make_person, tiny_protocol

BEN, CLEO = "ben@example.org", "cleo@example.org"


def once(status: int, method: str, ending: str) -> Callable[[str, str], int | None]:
    """Answer the first such request with a status."""
    left = [status]
    return lambda asked, path: left.pop() if left and asked == method and ending in path else None


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exports.label_studio.server.WAITS", (0.1, 0.2))


def listed(url: str, pushed: Pushed, step: int = 0) -> list[dict[str, Any]]:
    number = pushed.steps[step].project
    return [] if number is None else list(server_at(url).listed(number))


def lost(pushed: Pushed, words: str) -> int:
    """How often something is lost that is said in these words."""
    return sum(one["n"] for one in pushed.lost.to_json() if words in one["what"])


def say(there: LabelStudio, task: dict[str, Any], protocol: Protocol, item: Any, who: str, *labels: GivenLabel) -> None:
    """Label a task of a step over the API."""
    labelling = labellings_of(protocol)[int(task["data"].get("assay_step", 1)) - 1]
    result = results_of(labelling, task["data"], labels, item.materials)
    given = {"result": result, "completed_by": there.person(who)}
    there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=given)


def right(value: str) -> GivenLabel:
    return GivenLabel("right", "item", value)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [502, 504, 0])
@pytest.mark.parametrize("path", ["/import", "/api/projects"])
def test_what_a_gateway_hands_on_and_does_not_answer_is_made_once(
    there: LabelStudio, project: Project, status: int, path: str
) -> None:
    study_id = project.study(f"gateway {status} {path}", PROTOCOLS.get("self_contained"))
    fault = once(status, "POST", path)
    with recorded(there.url, fault) as (address, _):
        done = push(project, study_id, address)
    tokens = [task["data"][ITEM] for task in listed(there.url, done)]
    assert (done.created, len(tokens), len(set(tokens))) == (2, 2, 2)
    again = push(project, study_id, there.url)
    assert (again.project, again.created, again.unchanged) == (done.project, 0, 2)


@pytest.mark.slow
def test_what_a_server_still_does_when_a_gateway_has_given_up_is_waited_for(
    there: LabelStudio, project: Project
) -> None:
    study_id = project.study("late", PROTOCOLS.get("self_contained"))
    with recorded(there.url, once(504, "POST", "/import"), late=1.5) as (address, _):
        done = push(project, study_id, address)
        assert (done.created, len(listed(there.url, done))) == (2, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_what_was_not_taken_is_said_and_the_next_push_adds_it(there: LabelStudio, project: Project) -> None:
    study_id = project.study("never taken", PROTOCOLS.get("self_contained"))
    open_words = r"leaves open whether it took 2 tasks of project \d+ \(its answer: 503\)"
    with (
        recorded(there.url, once(-503, "POST", "/import")) as (address, sent),
        pytest.raises(Conflict, match=open_words),
    ):
        push(project, study_id, address)
    assert sum(b"/import" in one.partition(b"\n")[0] for one in sent) == 1
    done = push(project, study_id, there.url)
    assert (done.created, len(listed(there.url, done))) == (2, 2)
    another = project.study("too many requests", PROTOCOLS.get("self_contained"))
    with recorded(there.url, once(-429, "POST", "/import")) as (address, _):
        done = push(project, another, address)
    assert (done.created, len(listed(there.url, done))) == (2, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("at_once")
def test_pictures_and_predictions_are_there_once_too(there: LabelStudio, project: Project) -> None:
    study_id = project.study("pictures once", all_kinds())
    with recorded(there.url, once(502, "POST", "commit_to_project")) as (address, _):
        done = push(project, study_id, address)
    [shelf] = server_at(there.url).find([f"{_mark(there, done)}/pictures"])
    assert shelf is not None
    files = there.json("GET", f"/api/projects/{shelf.id}/file-uploads", params={"all": "true"})
    assert (done.pictures, len(files)) == (4, 4)
    give_here(project, study_id, 0, [0])
    with recorded(there.url, once(504, "POST", "api/predictions")) as (address, _):
        assert push(project, study_id, address, predictions=True).predictions == 1
    assert len(there.json("GET", "/api/predictions/", params={"project": done.project})) == 1


def _mark(there: LabelStudio, done: Pushed) -> str:
    description: str = there.json("GET", f"/api/projects/{done.project}")["description"]
    return description.rpartition(" ")[2]


@pytest.fixture(scope="module")
def three(project: Project) -> tuple[str, ...]:
    """The annotators, with one more."""
    cleo = make_person(project.db, "cleo")
    make_member(project.db, project.id, cleo, "annotator")
    return "ada", "ben", "cleo"


@pytest.mark.slow
def test_each_task_waits_for_as_many_as_its_item_wants(
    there: LabelStudio, project: Project, three: tuple[str, ...]
) -> None:
    protocol = tiny_protocol()
    study_id = project.study(
        "in part", protocol, annotators=three, overlap=1, part=0.5, part_overlap=3, most_overlap=None
    )
    done = push(project, study_id, there.url)
    items = items_of(project, study_id)
    wanted = {token: item.overlap for token, item in items.items()}
    assert sorted(wanted.values()) == [1, 1, 3, 3]
    assert {task["data"][ITEM]: task["overlap"] for task in listed(there.url, done)} == wanted
    for task in listed(there.url, done):
        say(there, task, protocol, items[task["data"][ITEM]], BEN, right("yes"))
    # The first account is given those alone that are not labelled by enough.
    offered = there.json("GET", f"/api/projects/{done.project}/next")
    assert wanted[offered["data"][ITEM]] == 3
    # Where the study asks for more, the server sets those that waited for more than one to that: they are put right.
    amend_study(project.db, project.admin, study_id, change=StudyChange(overlap=2), reason="too few")
    push(project, study_id, there.url)
    assert sorted(task["overlap"] for task in listed(there.url, done)) == [2, 2, 3, 3]
    params = {"project": done.project, "include": "id,is_labeled"}
    assert not any(task["is_labeled"] for task in there.json("GET", "/api/tasks/", params=params)["tasks"])


@pytest.mark.slow
def test_where_people_disagree_one_more_is_asked_there(
    there: LabelStudio, project: Project, three: tuple[str, ...]
) -> None:
    protocol = tiny_protocol()
    study_id = project.study("disagreed", protocol, annotators=three, overlap=2, most_overlap=3)
    done = push(project, study_id, there.url)
    items = items_of(project, study_id)
    tasks = listed(there.url, done)
    for number, task in enumerate(tasks):
        for who in (EMAIL, BEN):
            value = "no" if number == 0 and who == BEN else "yes"
            say(there, task, protocol, items[task["data"][ITEM]], who, right(value))
    assert pull(project, study_id, there.url).came.new == 8
    push(project, study_id, there.url)
    assert [task["overlap"] for task in listed(there.url, done)] == [3, 2, 2, 2]


@pytest.mark.slow
def test_nobody_comes_anew_to_an_item_whose_next_step_is_there(there: LabelStudio, project: Project) -> None:
    protocol = staged()
    study_id = project.study("raised", protocol, overlap=1)
    done = push(project, study_id, there.url)
    items = items_list(items_of(project, study_id))
    first = {task["data"][ITEM]: task for task in listed(there.url, done)}
    say(there, first[items[0].token], protocol, items[0], EMAIL, right("yes"))
    assert push(project, study_id, there.url).steps[1].created == 1
    amend_study(project.db, project.admin, study_id, change=StudyChange(overlap=2), reason="too few")
    again = push(project, study_id, there.url)
    overlaps = {task["data"][ITEM]: task["overlap"] for task in listed(there.url, again)}
    assert [overlaps[item.token] for item in items] == [1, 2, 2, 2]
    assert [task["overlap"] for task in listed(there.url, again, 1)] == [1]
    assert lost(again, "whose next step is there already: nobody new is asked") == 1
    # Also where it was raised there.
    number = first[items[0].token]["id"]
    there.json("PATCH", f"/api/tasks/{number}/", json={"overlap": 2, "is_labeled": False})
    push(project, study_id, there.url)
    closed = there.json("GET", f"/api/tasks/{number}/")
    assert (closed["overlap"], closed["is_labeled"]) == (1, True)
    # What waited for the next step waits for one more now, and its task is for both.
    for who in (EMAIL, BEN):
        assert push(project, study_id, there.url).steps[1].created == 0
        say(there, first[items[1].token], protocol, items[1], who, right("yes"))
    last = push(project, study_id, there.url)
    assert last.steps[1].created == 1
    assert sorted(task["overlap"] for task in listed(there.url, last, 1)) == [1, 2]
    assert lost(last, "whose next step is there already") == 1


@pytest.mark.slow
def test_a_task_that_was_deleted_there_is_made_again_only_where_no_later_step_is_there(
    there: LabelStudio, project: Project
) -> None:
    protocol = staged()
    study_id = project.study("deleted", protocol, overlap=1)
    done = push(project, study_id, there.url)
    items = items_of(project, study_id)

    def tasks(step: int) -> dict[str, dict[str, Any]]:
        return {task["data"][ITEM]: task for task in listed(there.url, done, step)}

    def delete(step: int, token: str) -> None:
        assert there.client.delete(f"/api/tasks/{tasks(step)[token]['id']}/").is_success

    seen, unseen = list(items)[:2]
    say(there, tasks(0)[seen], protocol, items[seen], EMAIL, right("no"))
    done = push(project, study_id, there.url)
    assert done.steps[1].created == 1
    for token in (seen, unseen):
        delete(0, token)
    done = push(project, study_id, there.url)
    assert (done.steps[0].created, lost(done, "they are not made again")) == (1, 1)
    assert seen not in tasks(0)
    # Of a later step too, where what was said before it is there.
    other = list(items)[2]
    supports = [GivenLabel("supports", f"evidence:E{number}", "yes") for number in (1, 2)]
    say(there, tasks(0)[other], protocol, items[other], EMAIL, right("no"))
    done = push(project, study_id, there.url)
    say(there, tasks(1)[other], protocol, items[other], EMAIL, *supports, GivenLabel("why", "item", "So."))
    done = push(project, study_id, there.url)
    assert done.steps[2].created == 1
    delete(1, other)
    done = push(project, study_id, there.url)
    assert (done.steps[1].created, lost(done, "they are not made again")) == (0, 2)
    assert other not in tasks(1)


@pytest.mark.slow
def test_an_item_that_nobody_is_given_gets_no_task_and_one_that_is_there_is_named(
    there: LabelStudio, project: Project
) -> None:
    study_id = project.study("ended", tiny_protocol())
    about = (project.db, project.admin, project.id)
    end_item(*about, external_id="hidden-item/0/zeta-system", state="rejected", reason="wrong")
    try:
        done = push(project, study_id, there.url)
        assert (done.created, lost(done, "Items that were rejected or withdrawn")) == (3, 1)
        end_item(*about, external_id="hidden-item/1/zeta-system", state="withdrawn", reason="wrong")
        again = push(project, study_id, there.url)
        tokens = [item.token for item in items_list(items_of(project, study_id)) if item.ended]
        [left] = [task["id"] for task in listed(there.url, done) if task["data"][ITEM] in tokens]
        assert (again.created, again.unchanged, lost(again, "Items that were rejected or withdrawn")) == (0, 2, 2)
        assert lost(again, "Tasks of items that are given to nobody any more, and are still to be labelled") == 1
        assert lost(again, f"({left})") == 1
    finally:
        for number in (0, 1):
            end_item(*about, external_id=f"hidden-item/{number}/zeta-system", state=None, reason="right after all")
    assert push(project, study_id, there.url).created == 1


@pytest.mark.slow
def test_a_key_that_may_not_list_the_users_is_told_from_one_that_is_not_taken(
    there: LabelStudio, project: Project
) -> None:
    study_id = project.study("users", tiny_protocol())
    push(project, study_id, there.url)
    for act, forbidden, words in (
        (pull, "/api/users", r"may not list the users .* --person NUMBER=NAME"),
        (push, "/api/projects", "takes the key, but does not let its account do this"),
    ):
        with (
            recorded(there.url, once(-403, "GET", forbidden)) as (address, _),
            pytest.raises(NotAllowed, match=words),
        ):
            act(project, study_id, address)


def test_nothing_is_left_of_files_that_a_disk_does_not_take(project: Project, tmp_path: Path) -> None:
    study_id = project.study("large", tiny_protocol())
    push_to_files(project.db, project.admin, study_id, folder=tmp_path / "before")  # the database writes no more then
    to = tmp_path / "new" / "out"
    with pytest.raises(OSError, match="large"), largest_file(100):
        push_to_files(project.db, project.admin, study_id, folder=to)
    assert list(to.parent.iterdir()) == []
    assert push_to_files(project.db, project.admin, study_id, folder=to).created


def test_what_a_study_adds_to_its_protocol_is_named(project: Project, tmp_path: Path) -> None:
    ids = [f"hidden-item/{number}/zeta-system{end}" for number in (0, 1) for end in ("", "-b")]
    gold, qualifying = ((RightLabel(item=item, criterion="right", value="yes"),) for item in ids[2:])
    phases = Phases.model_validate(
        {"consent": "Do you agree?", "before": [{"name": "age", "kind": "number", "title": "Age"}]}
    )
    study_id = project.study(
        "with all of it", tiny_protocol(), items=ids[:2], overlap=2, ask=("confidence",), quota=7, talk="disputed",
        order="own", deadline=now() + timedelta(days=9), gold=Gold(labels=gold), repeats=Repeats(rate=0.1, after=1),
        qualification=Qualification(labels=qualifying), phases=phases,
    )  # fmt: skip
    done = push_to_files(project.db, project.admin, study_id, folder=tmp_path / "out")
    assert done.created == 2
    for words, n in {
        "“How sure are you?” is not asked there": 1,
        "The consent is not asked for there": 1,
        "Questions before the first item": 1,
        "Questions after the last item": 0,
        "Gold items are not given there": 1,
        "Items for qualification are not given there": 1,
        "Items do not come to anybody again there (here, 10%": 1,
        "no order of their own": 1,
        "Quotas of annotators": 2,
        "do not talk": 1,
        "The deadline is not kept": 1,
        "Rechecks": 0,
        "Tasks that 2 annotators are to label, which files do not say": 2,
    }.items():
        assert lost(done, words) == n, words
    plain = project.study("with none of it", tiny_protocol(), overlap=1)
    assert [
        one["what"] for one in push_to_files(project.db, project.admin, plain, folder=tmp_path / "b").lost.to_json()
    ] == [
        "Nobody can say there that they cannot judge, and why: a task is skipped as a whole",
        "Texts are shown as they are written: Markdown, tables and formulas are not drawn there",
    ]


def test_a_recheck_is_named_and_its_earlier_version_is_not_asked(database: Database, tmp_path: Path) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    send(study)
    done = push_to_files(database, study.researcher, study.study_id, folder=tmp_path / "out")
    assert done.created == 1
    assert lost(done, "Items that came back in a later version") == 1
    assert lost(done, "Rechecks are not asked there") == 1


def test_what_ours_refuses_and_label_studio_does_not_is_named() -> None:
    [labelling] = labellings_of(all_kinds())
    assert any("'marks' may be marked there so that they overlap" in line for line in labelling.lost.lines())


@pytest.mark.slow
def test_the_versions_that_are_known_are_said_without_leaving_one_open(
    there: LabelStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exports.label_studio.server.NEWEST", (1, 22))
    with pytest.raises(Conflict, match=r"from 1\.20 on that are older than 1\.22"):
        server_at(there.url).check_version()


def test_files_say_too_which_items_nobody_new_is_asked_of(project: Project, tmp_path: Path) -> None:
    protocol = staged()
    study_id = project.study("raised in files", protocol, overlap=1)
    about = (project.db, project.admin, study_id)
    push_to_files(*about, folder=tmp_path / "first")
    tasks = orjson.loads((tmp_path / "first" / "tasks.json").read_bytes())
    items, (alone, *_) = items_of(project, study_id), labellings_of(protocol)
    item = items[tasks[0]["data"][ITEM]]
    result = results_of(alone, tasks[0]["data"], [right("yes")], item.materials)
    tasks[0] |= {"id": 1, "annotations": [{"id": 1, "completed_by": 1, "result": result}]}
    export = tmp_path / "export.json"
    export.write_bytes(orjson.dumps(tasks))
    done = push_to_files(*about, folder=tmp_path / "second", labelled=[export])
    assert (done.steps[1].created, lost(done, "nobody new is asked")) == (1, 0)
    amend_study(*about, change=StudyChange(overlap=2), reason="too few")
    later = orjson.loads((tmp_path / "second" / "step-2" / "tasks.json").read_bytes())
    export.write_bytes(orjson.dumps([*tasks, *later]))
    done = push_to_files(*about, folder=tmp_path / "third", labelled=[export])
    assert (done.steps[1].unchanged, lost(done, "nobody new is asked")) == (1, 1)
