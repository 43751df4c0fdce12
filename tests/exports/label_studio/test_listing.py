"""What a server has, of whose lists each request gives a part, while others make and delete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from annotators.errors import InvalidInput
from exports.label_studio.known import ITEM
from tests.exports.label_studio.running import LabelStudio, recorded
from tests.exports.label_studio.studies import Project
from tests.exports.label_studio.test_server import answering, pull, push, server_at
from tests.makers import tiny_protocol


def capped(most: int) -> Callable[[str], str]:
    """As a server does that gives fewer at once than it is asked for."""
    return lambda path: f"{re.sub(r'[?&]page_size=[^&]*', '', path)}&page_size={most}" if "?" in path else path


def at_page(number: int, of: str, act: Callable[[], Any]) -> Callable[[str, str], None]:
    """Do something before a list is asked for the so-manieth time."""
    asked: list[str] = []

    def fault(method: str, path: str) -> None:
        if method == "GET" and path.startswith(of):
            asked.append(path)
            if len(asked) == number:
                act()

    return fault


@pytest.mark.slow
def test_all_tasks_are_seen_however_few_the_server_gives_at_once(there: LabelStudio, project: Project) -> None:
    study_id = project.study("capped", tiny_protocol())
    number = push(project, study_id, there.url).project
    assert number is not None
    with recorded(there.url, path=capped(1)) as (address, sent):
        again = push(project, study_id, address)
        tasks = list(server_at(address).listed(number))
    assert sum(b"/api/tasks/" in one for one in sent) == 8
    assert (again.created, again.unchanged, len({task["data"][ITEM] for task in tasks})) == (0, 4, 4)
    # What others delete and make meanwhile hides no other task.
    more = [{"data": {**tasks[0]["data"], ITEM: "another"}}]

    def change() -> None:
        there.client.delete(f"/api/tasks/{tasks[0]['id']}/")
        there.json("POST", f"/api/projects/{number}/import", json=more)

    with recorded(there.url, at_page(2, "/api/tasks/", change), path=capped(2)) as (address, _):
        found = [task["id"] for task in server_at(address).listed(number)]
    assert found[:4] == [task["id"] for task in tasks]
    assert len(found) == len(set(found)) == 5


@pytest.mark.parametrize("tasks", [0, 2])
def test_a_list_with_fewer_tasks_than_it_says_is_refused(there: LabelStudio, tasks: int) -> None:
    said = {"tasks": [{"id": number, "data": {}} for number in range(1, tasks + 1)], "total": 8}
    with answering(orjson.dumps(said)) as (url, _), pytest.raises(InvalidInput, match=f"lists {tasks} of them"):
        list(server_at(url).listed(1))


@pytest.mark.slow
def test_a_project_is_found_whatever_is_made_and_deleted_while_they_are_listed(
    there: LabelStudio, project: Project
) -> None:
    def made(title: str) -> int:
        number: int = there.json("POST", "/api/projects/", json={"title": title})["id"]
        return number

    others = [made(f"other {number}") for number in range(3)]
    study_id = project.study("among others", tiny_protocol())
    number = push(project, study_id, there.url).project
    # One before it is deleted, so that it moves to the page that was read; one is made, so that it moves back.
    for act in (lambda: there.client.delete(f"/api/projects/{others[0]}/"), lambda: made("one more")):
        for page in (2, 3, 4):
            with recorded(there.url, at_page(page, "/api/projects/?", act), path=capped(1)) as (address, _):
                again = push(project, study_id, address)
            assert (again.project, again.created) == (number, 0)


@pytest.mark.parametrize("n", [1, 5])
def test_a_list_of_projects_with_fewer_than_it_says_is_refused(there: LabelStudio, n: int) -> None:
    projects = [{"id": number, "description": None} for number in range(n)]
    said = orjson.dumps({"count": 8, "next": None, "results": projects})
    with answering(said) as (url, asked), pytest.raises(InvalidInput, match=f"has 8 projects, and lists {n} of them"):
        server_at(url).find(["assay:x"])
    assert len(asked) == 6


@pytest.mark.slow
def test_a_number_that_is_none_does_not_stop_a_pull_from_a_server(there: LabelStudio, project: Project) -> None:
    study_id = project.study("not a number", tiny_protocol())
    number = push(project, study_id, there.url).project
    assert number is not None
    result = {"from_name": "right", "to_name": "shown-question", "type": "choices", "value": {"choices": ["yes"]}}
    for n, task in enumerate(server_at(there.url).listed(number)):
        said = {"result": [result | ({"value": {"choices": [10**400]}} if n else {})]}
        there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=said)
        if n:
            break
    came = pull(project, study_id, there.url, skip_bad=True).came
    assert (came.new, [one.annotator for one in came.problems]) == (1, ["ada"])


def test_a_server_that_cannot_export_its_own_project_is_told_in_words(there: LabelStudio) -> None:
    with answering(b"{}", 500) as (url, _), pytest.raises(InvalidInput, match="fails to export project 7"):
        server_at(url).tasks(7)
