"""A study in a real Label Studio: pushed, labelled over its API and in its page by two, pulled, changed, restarted."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from PIL import Image
from playwright.sync_api import Page, Response, sync_playwright
from playwright.sync_api import TimeoutError as TimeoutInPage
from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.pages.documents.renderer import Renderer
from annotators.protocols import PROTOCOLS
from app.cli import main
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.elsewhere.handed_over import ItemElsewhere, items_elsewhere
from db.judging.pictures import StoredPictures
from db.models import Account, Annotation, Assignment, StoredLabel, StudyState
from db.permissions import Actor
from db.studies.design import find_study
from exports.importing.items import import_paths
from exports.label_studio.addresses import server_address
from exports.label_studio.known import ITEM
from exports.label_studio.labelling import Labelling, labelling_of, labellings_of
from exports.label_studio.lost import Lost
from exports.label_studio.pull import Pulled, pull_from_server
from exports.label_studio.push import Pushed, push_to_server
from exports.label_studio.server import Server
from exports.label_studio.tasks import results_of
from exports.label_studio.theirs.asked import read_theirs
from exports.label_studio.theirs.fetch import fetch_project
from exports.label_studio.xml import read_config
from tests.conftest import ROOT
from tests.e2e.conftest import FLAGS, find_chromium
from tests.exports.label_studio.running import EMAIL, KEY, PASSWORD, RELEASE, LabelStudio, recorded, start
from tests.exports.label_studio.studies import HIDDEN, Project, all_kinds, said, staged
from tests.makers import make_member, make_person, make_project, read_guidelines, tiny_protocol

pytestmark = pytest.mark.slow

PEOPLE = {EMAIL: "ada", "ben@example.org": "ben"}


def server_at(url: str, key: str = KEY) -> Server:
    return Server(server_address(url, private=True), key)


def push(project: Project, study_id: int, url: str, **more: Any) -> Pushed:
    with Renderer(workers=1) as renderer:
        pictures = StoredPictures(project.db, project.documents, renderer, most=0, width=400)
        return push_to_server(
            project.db, project.admin, study_id, server=server_at(url), leaves=False, pictures=pictures, **more
        )


def pull(project: Project, study_id: int, url: str, **more: Any) -> Pulled:
    return pull_from_server(project.db, project.admin, study_id, server=server_at(url), people=PEOPLE, **more)


def items_of(project: Project, study_id: int) -> dict[str, ItemElsewhere]:
    return {item.token: item for item in items_elsewhere(project.db, project.admin, study_id)}


def annotate(
    there: LabelStudio,
    task: dict[str, Any],
    item: ItemElsewhere,
    labels: list[GivenLabel],
    who: str,
    *,
    labelling: Labelling | None = None,
) -> int:
    """Give labels over the API; the number of the annotation."""
    result = results_of(labelling or labelling_of(all_kinds()), task["data"], labels, item.materials)
    given = {"result": result, "lead_time": 12.5, "completed_by": there.person(who)}
    number: int = there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=given)["id"]
    return number


def picture(width: int, height: int) -> bytes:
    """A PNG file."""
    out = BytesIO()
    Image.new("RGB", (width, height), "white").save(out, "png")
    return out.getvalue()


def stored(project: Project, study_id: int) -> dict[tuple[Any, ...], Any]:
    """(position of the item, annotator, criterion, target) → value of every label that is not superseded."""
    with project.db.read() as session:
        newer = select(Annotation.supersedes_id).where(Annotation.supersedes_id.is_not(None))  # type: ignore[union-attr]
        rows = session.execute(
            select(Annotation.study_item_id, Account.name, StoredLabel)  # type: ignore[call-overload]
            .join(Account, Account.person_id == Annotation.person_id)
            .join(
                StoredLabel,
                (StoredLabel.assignment_id == Annotation.assignment_id) & (StoredLabel.sitting == Annotation.sitting),
            )
            .where(Annotation.study_id == study_id, Annotation.id.not_in(newer))  # type: ignore[union-attr]
        ).all()
    first = min(of for of, _, _ in rows)
    return {(of - first, name, label.criterion, label.target): label.value for of, name, label in rows}


def give_here(project: Project, study_id: int, who: int, turns: list[int]) -> None:
    """Give the same labels on our own pages' way."""
    read_guidelines(project.db, study_id)
    for turn in turns:
        shown = work(project.db, project.people[who], study_id)["items"][0]
        step = StepSubmission(
            f"{study_id}-{who}-{turn}", shown["assignment"], 1, 0, tuple(said(shown, turn)), seconds=12.5
        )
        submit(project.db, project.people[who], study_id, step=step)


WHERE = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let node;
  while ((node = walker.nextNode())) {
    const start = node.data.indexOf("paragraph is bad");
    if (start < 0 || !node.parentElement.closest("[class*=richtext]")) continue;
    node.parentElement.scrollIntoView({ block: "center" });
    const range = document.createRange();
    range.setStart(node, start + 13);
    range.setEnd(node, start + 16);
    const box = range.getBoundingClientRect();
    return [box.left, box.right, (box.top + box.bottom) / 2];
  }
}"""
"""Where the word stands that is marked: left, right and middle in pixels of the window."""


def label_in_the_page(page: Page, there: LabelStudio, number: int, task: int, labels: list[GivenLabel]) -> None:
    """Label a task as people do: sign in, tick, type, mark, submit."""
    page.goto(f"{there.url}/user/login/")
    page.fill("input[name=email]", EMAIL)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "login" not in url, wait_until="commit")
    page.goto(f"{there.url}/projects/{number}/data?task={task}")
    page.get_by_text("Labeling Instructions").or_(page.get_by_role("button", name="Submit")).first.wait_for()
    if page.get_by_text("Labeling Instructions").is_visible():
        page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit").first.wait_for()
    page.wait_for_function("() => document.querySelectorAll('input[name=score]').length === 1")
    protocol = all_kinds()
    at: dict[str, int] = {}
    for label in labels:
        criterion = protocol.criterion(label.criterion)
        index = at.get(label.criterion, 0) if label.criterion != "why_not" else at["supports"] - 1
        at[label.criterion] = index + 1
        titles = {str(one.value): one.title for one in criterion.label_list()}
        control = label.criterion if label.target == "item" else f"{label.criterion}-{index}"
        if criterion.kind in ("choice", "grade", "several"):
            for value in label.value if isinstance(label.value, list) else [label.value]:
                page.locator(f"input[name={orjson.dumps(titles[str(value)]).decode()}]").nth(index).evaluate(
                    "one => one.click()"
                )
        elif criterion.kind in ("number", "place"):
            value = label.value
            page.fill(f"input[name='{control}']", {"nowhere": "0"}.get(str(value), str(value).removeprefix("block:")))
        elif criterion.kind == "text":
            page.locator(f"textarea[name='{control}']").last.fill(str(label.value))
        elif criterion.kind == "spans" and label.value:
            page.get_by_text("Mark bad").click()
            page.wait_for_timeout(300)
            left, right, y = page.evaluate(WHERE)
            page.mouse.move(left + 0.5, y)
            page.mouse.down()
            page.mouse.move(right - 0.5, y, steps=6)
            page.mouse.up()
            page.locator(".htx-highlight").first.wait_for()
    submit_in_the_page(page)


def submit_in_the_page(page: Page) -> None:
    """Press Submit, and once more where their page sent nothing: it takes no press while it saves a draft."""

    def is_submitted(response: Response) -> bool:
        return "/annotations" in response.url and response.request.method == "POST"

    for _ in range(3):
        try:
            with page.expect_response(is_submitted, timeout=10_000) as sent:
                page.get_by_role("button", name="Submit").first.click()
        except TimeoutInPage:
            continue
        assert sent.value.ok, sent.value.text()
        return
    said = page.locator("[role=dialog], .ant-modal, .ant-message").all_inner_texts()
    pytest.fail(f"nothing was submitted in the page, which says {said}")


def test_what_is_labelled_there_comes_back_as_if_it_had_been_labelled_here(
    there: LabelStudio, project: Project
) -> None:
    study_id = project.study("there", all_kinds())
    with recorded(there.url) as (address, sent):
        done = push(project, study_id, address)
        assert (done.created, done.unchanged, done.pictures) == (4, 0, 4)
        again = push(project, study_id, address)
        assert (again.project, again.created, again.unchanged, again.updated) == (done.project, 0, 4, 0)
        wire = b"\n".join(sent)
    assert b"An emoji" in wire
    assert not [word for word in HIDDEN if word.encode() in wire]
    assert done.project is not None
    tasks, items = server_at(there.url).tasks(done.project), items_of(project, study_id)
    assert [task["data"]["assay_item"] for task in tasks] == list(items)
    # Two annotators: three of ada's over the API and one in the page, ben's over the API, and one that ben skips.
    chromium = find_chromium()
    for turn, (task, item) in enumerate(zip(tasks, items.values(), strict=True)):
        labels = said(dict(item.materials[0]), turn)
        if turn == 2 and chromium is not None:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
                page = browser.new_page(viewport={"width": 1366, "height": 768})
                label_in_the_page(page, there, done.project, task["id"], labels)
                browser.close()
            assert there.json("GET", f"/api/tasks/{task['id']}/annotations/")
        else:
            annotate(there, task, item, labels, EMAIL)
        if turn < 3:
            annotate(there, task, item, labels, "ben@example.org")
        else:
            skipped = {"result": [], "was_cancelled": True, "completed_by": there.person("ben@example.org")}
            there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=skipped)
    draft = {"result": [], "lead_time": 1}
    there.json("POST", f"/api/tasks/{tasks[0]['id']}/drafts", json=draft)
    assert pull(project, study_id, there.url, dry_run=True).came.new == 7
    came = pull(project, study_id, there.url)
    assert (came.came.new, came.came.skipped, came.came.new_people, came.came.left) == (7, 1, [], [])
    assert {"what": "Drafts that were not submitted there", "n": 1} in came.to_json()["lost"]
    own = project.study("here", all_kinds())
    give_here(project, own, 0, [0, 1, 2, 3])
    give_here(project, own, 1, [0, 1, 2])
    assert stored(project, study_id) == stored(project, own)
    with project.db.read() as session:
        times = session.execute(select(Annotation.seconds).where(Annotation.study_id == study_id)).scalars().all()
        skips = session.execute(
            select(Assignment.reason).where(Assignment.study_id == study_id, Assignment.state == "skipped")
        ).all()
    assert times.count(12.5) >= 6
    assert len(skips) == 1
    # An update in mid-way: one annotation changes there, and no task that is labelled is touched by another push.
    [one] = [one for one in tasks_of(there, done.project, 0)["annotations"] if one["completed_by"] == 1]
    changed = results_of(
        labelling_of(all_kinds()),
        tasks[0]["data"],
        said(dict(items_list(items)[0].materials[0]), 4),
        items_list(items)[0].materials,
    )
    there.json("PATCH", f"/api/annotations/{one['id']}/", json={"result": changed})
    more = pull(project, study_id, there.url).came
    assert (more.new, more.changed, more.unchanged) == (0, 1, 7)
    assert stored(project, study_id)[0, "ada", "points", "item"] == 4 % 3 - 1
    assert push(project, study_id, there.url).unchanged == 4
    # A restart there: nothing is new.
    url = restart(there)
    again_came = pull(project, study_id, url).came
    assert (again_came.new, again_came.changed, again_came.unchanged) == (0, 0, 8)


def test_a_step_is_there_when_those_before_it_are_labelled_and_comes_back_with_them(
    there: LabelStudio, project: Project
) -> None:
    study_id, ben = project.study("staged", staged()), "ben@example.org"
    alone, evidence, after = labellings_of(staged())
    items = items_list(items_of(project, study_id))

    def pushed() -> tuple[Pushed, bytes]:
        with recorded(there.url) as (address, sent):
            return push(project, study_id, address), b"\n".join(sent)

    def label(step: int, at: int, who: str, *labels: GivenLabel) -> int:
        labelling, number = (alone, evidence, after)[step], done.steps[step].project
        assert number is not None
        tasks = {task["data"]["assay_item"]: task for task in server_at(there.url).tasks(number)}
        return annotate(there, tasks[items[at].token], items[at], list(labels), who, labelling=labelling)

    def right(value: str) -> GivenLabel:
        return GivenLabel("right", "item", value)

    supports = [GivenLabel("supports", f"evidence:E{number}", "yes") for number in (1, 2)]
    done, wire = pushed()
    assert [(one.created, one.waiting) for one in done.steps] == [(4, 0), (0, 4), (0, 4)]
    assert not [word for word in (*HIDDEN, "<passage", "the reference words") if word.encode() in wire]
    changed, *_ = [label(0, at, EMAIL, right("no" if at == 0 else "yes")) for at in range(4)]
    for at in (0, 1):
        label(0, at, ben, right("no" if at == 0 else "yes"))
    [task] = [
        one for one in server_at(there.url).tasks(done.project or 0) if one["data"]["assay_item"] == items[2].token
    ]
    skipped = {"result": [], "was_cancelled": True, "completed_by": there.person(ben)}
    there.json("POST", f"/api/tasks/{task['id']}/annotations/", json=skipped)
    # Two have labelled the first two items, and of the third one has skipped: the fourth has to wait.
    done, wire = pushed()
    assert [(one.created, one.waiting) for one in done.steps] == [(0, 0), (3, 1), (0, 4)]
    assert b"<passage" in wire or b"&lt;passage" in wire
    assert b"gold" in wire, "this step shows the roles"
    assert items[3].token.encode() not in wire
    assert b"the reference words" not in wire
    came = pull(project, study_id, there.url)
    assert (came.came.new, came.came.waiting, came.came.skipped) == (0, 6, 1)
    for at, who in ((0, EMAIL), (0, ben), (1, EMAIL), (1, ben), (2, EMAIL)):
        why = [GivenLabel("why", "item", "Because.")] if at == 0 else []
        label(1, at, who, *supports, *why)
    done, wire = pushed()
    assert [(one.created, one.unchanged, one.waiting) for one in done.steps] == [(0, 4, 0), (0, 3, 1), (1, 0, 1)]
    came = pull(project, study_id, there.url)
    assert (came.came.new, came.came.waiting) == (3, 3), "of two items the last step asks nothing"
    label(2, 0, EMAIL, GivenLabel("sure", "item", "sure"))
    label(2, 0, ben, GivenLabel("sure", "item", "unsure"))
    # What was said of the first step is changed when the others are there: it is left, until it is put back.
    for value, new, left in (("yes", 1, 1), ("no", 1, 0)):
        result = results_of(alone, {}, [right(value)], items[0].materials)
        there.json("PATCH", f"/api/annotations/{changed}/", json={"result": result})
        came = pull(project, study_id, there.url)
        assert (came.came.new, len(came.came.left), came.came.waiting) == (new, left, 1)
    assert pushed()[0].created == 0
    url = restart(there)
    again = pull(project, study_id, url)
    assert (again.came.new, again.came.changed, again.came.unchanged, again.came.waiting) == (0, 0, 6, 1)
    values = stored(project, study_id)
    assert {key[2:]: value for key, value in values.items() if key[:2] == (0, "ben")} == {
        ("right", "item"): "no", ("supports", "evidence:gold-1"): "yes", ("supports", "evidence:distractor-2"): "yes",
        ("why", "item"): "Because.", ("sure", "item"): "unsure",
    }  # fmt: skip
    assert {key[2] for key in values if key[:2] == (1, "ada")} == {"right", "supports"}


def items_list(items: dict[str, ItemElsewhere]) -> list[ItemElsewhere]:
    return list(items.values())


def tasks_of(there: LabelStudio, number: int, at: int) -> dict[str, Any]:
    found: dict[str, Any] = server_at(there.url).tasks(number)[at]
    return found


def restart(there: LabelStudio) -> str:
    """End the server and start it again on the same data; its new address."""
    there.stop()
    again = start(there.folder)
    there.url, there.process, there.client = again.url, again.process, again.client
    return there.url


def test_a_config_that_was_changed_there_is_told_and_nothing_is_done(there: LabelStudio, project: Project) -> None:
    study_id = project.study("changed", PROTOCOLS.get("self_contained"))
    done = push(project, study_id, there.url)
    config = there.json("GET", f"/api/projects/{done.project}")["label_config"]
    looks = config.replace('size="5"', 'size="3"').replace("<Choices ", '<Choices layout="vertical" ')
    assert looks != config
    there.json("PATCH", f"/api/projects/{done.project}", json={"label_config": looks})
    assert push(project, study_id, there.url).unchanged == 2
    more = config.rstrip().removesuffix("</View>") + '<TextArea name="more" toName="shown-question"/></View>'
    title = PROTOCOLS.get("self_contained").criteria[0].title
    hint = re.sub(' hint="[^"]*"', ' hint="Something else."', config, count=1)
    for changed in (more, config.replace(f'"{title}"', '"Is it nice?"'), hint):
        assert changed != config
        there.json("PATCH", f"/api/projects/{done.project}", json={"label_config": changed})
        for act in (push, pull):
            with pytest.raises(Conflict, match="was changed there"):
                act(project, study_id, there.url)
    there.json("PATCH", f"/api/projects/{done.project}", json={"label_config": config})
    assert push(project, study_id, there.url).unchanged == 2


def test_what_does_not_fit_is_left_out_by_name_and_what_comes_after_the_end_is_surplus(
    there: LabelStudio, project: Project
) -> None:
    study_id = project.study("unfit", all_kinds())
    number = push(project, study_id, there.url).project
    assert number is not None
    items, tasks = items_of(project, study_id), server_at(there.url).tasks(number)
    marks = [{"start": at, "end": at + 5, "label": "bad", "text": ""} for at in (0, 3)]
    wrong = [("marks", marks), ("place", "block:9"), ("", None), ("", None)]
    numbers = []
    for task, (name, value) in zip(tasks, wrong, strict=True):
        item = items[task["data"]["assay_item"]]
        labels = [replace(one, value=value) if one.criterion == name else one for one in said(item.materials[0], 0)]
        labels += [GivenLabel("marks", "item", value)] if name == "marks" else []
        numbers.append(annotate(there, task, item, labels, EMAIL))
    with pytest.raises(InvalidInput, match="overlap") as refused:
        pull(project, study_id, there.url)
    assert f"annotation {numbers[1]} by 'ada': 'place' of image:" in str(refused.value)
    found = pull(project, study_id, there.url, skip_bad=True).came
    assert (found.new, [one.line for one in found.problems]) == (2, numbers[:2])
    # Mended there, they come, and are surplus as the study is over.
    set_state(project.db, project.admin, study_id, state=StudyState.CLOSED, reason="enough")
    for task, of in zip(tasks[:2], numbers, strict=False):
        item = items[task["data"]["assay_item"]]
        result = results_of(labelling_of(all_kinds()), task["data"], said(item.materials[0], 0), item.materials)
        there.json("PATCH", f"/api/annotations/{of}/", json={"result": result})
    found = pull(project, study_id, there.url).came
    assert (found.new, found.unchanged, found.not_counted.surplus) == (2, 2, 2)


def test_a_project_is_called_as_it_is_called_there(there: LabelStudio, project: Project) -> None:
    study_id = project.study("A study with a name that is too long for a title there, by far", tiny_protocol())
    for _ in range(2):
        [step] = push(project, study_id, there.url).steps
        assert step.title == there.json("GET", f"/api/projects/{step.project}")["title"]


@contextmanager
def answering(said: bytes, status: int = 200, **headers: str) -> Iterator[tuple[str, list[str]]]:
    """The address of something that says the same to everything, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.parametrize(
    ("said", "error", "words"),
    [
        (b'{"release": "1.13.1"}', Conflict, "has version 1.13.1"),
        (b'{"release": "2.0.0"}', Conflict, "has version 2.0.0"),
        (b'{"name": "something else"}', NotFound, "no Label Studio"),
        (b"<html>", InvalidInput, "no Label Studio at"),
        (b"[]", InvalidInput, "no Label Studio at .* does not say what one says"),
        (b'"1.23.2"', InvalidInput, "no Label Studio at .* does not say what one says"),
        (b'{"release": "1.23.2", "results": "no"}', InvalidInput, "no Label Studio at .* does not say what one says"),
    ],
)
def test_what_is_no_server_that_we_know_is_refused_before_anything_is_sent(
    there: LabelStudio, project: Project, said: bytes, error: type[Exception], words: str
) -> None:
    study_id = project.study(f"answer {said!r}", PROTOCOLS.get("self_contained"))
    with answering(said) as (url, asked), pytest.raises(error, match=words):
        push(project, study_id, url)
    assert len(asked) == (2 if b"results" in said else 1)


def test_where_a_server_redirects_to_is_said(there: LabelStudio) -> None:
    with answering(b"", 302, Location="https://label-studio.example.org/") as (url, _):
        for ask in (lambda: server_at(url).check_version(), lambda: list(server_at(url).listed(1))):
            with pytest.raises(InvalidInput, match=r"redirects \(302\) to 'https://label-studio\.example\.org/'.*Give"):
                ask()


def test_a_server_on_this_machine_is_asked_without_a_proxy(there: LabelStudio, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with answering(b"", 502) as (proxy, asked):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        assert server_at(there.url).check_version()
    assert asked == []


def test_what_fails_there_is_said_in_words(
    there: LabelStudio,
    project: Project,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study_id = project.study("unpushed", PROTOCOLS.get("self_contained"))
    with pytest.raises(NotFound, match="Push the study first"):
        pull(project, study_id, there.url)
    with pytest.raises(NotAllowed, match="does not take the key"):
        push_to_server(project.db, project.admin, study_id, server=server_at(there.url, "f" * 40))
    with pytest.raises(InvalidInput, match="no Label Studio at"):
        push_to_server(project.db, project.admin, study_id, server=server_at("http://127.0.0.1:9"))
    monkeypatch.setenv("ASSAY_LABEL_STUDIO_KEY", KEY)
    arguments = ["--home", str(home), "label-studio", "push", "zeta project", "unpushed", "--url", there.url, "--json"]
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == NotAllowed.exit_code
    assert "private network" in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--private"])
    assert ended.value.code == 0
    said_json = orjson.loads(capsys.readouterr().out)
    assert said_json["created"] == said_json["tasks"] == 2
    assert KEY not in str(said_json)


def test_tasks_that_are_sent_in_parts_are_there_once(
    there: LabelStudio, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, add = list[int](), Server.add_tasks

    def noted(server: Server, number: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        sent.append(len(tasks))
        add(server, number, tasks)

    monkeypatch.setattr(Server, "add_tasks", noted)
    monkeypatch.setattr("exports.label_studio.push.AT_LEAST", 1)
    monkeypatch.setattr("exports.label_studio.push.AT_ONCE", 2)
    study_id = project.study("in parts", all_kinds())
    done = push(project, study_id, there.url)
    assert done.project is not None
    tokens = [task["data"][ITEM] for task in server_at(there.url).listed(done.project)]
    assert sorted(tokens) == sorted(items_of(project, study_id))
    assert sent[0] == 1, "a server that has nothing to do is asked at once"
    assert max(sent) <= 2 and sum(sent) == done.created == len(tokens) > 2
    again = push(project, study_id, there.url)
    assert (again.project, again.created, again.unchanged) == (done.project, 0, len(tokens))


def test_a_project_waits_for_as_many_as_the_study_asks_by_then(there: LabelStudio, project: Project) -> None:
    study_id = project.study("more hands", all_kinds(), overlap=1)
    made = push(project, study_id, there.url).project
    change = StudyChange(overlap=2)
    amend_study(project.db, project.admin, study_id, change=change, reason="too few agree")
    push(project, study_id, there.url)
    assert there.json("GET", f"/api/projects/{made}")["maximum_annotations"] == 2


def test_what_raters_said_goes_along_only_where_it_is_asked_for_and_once(there: LabelStudio, project: Project) -> None:
    study_id = project.study("predicted", all_kinds())
    give_here(project, study_id, 0, [0, 1])

    def pushed(**more: Any) -> tuple[int, int, list[tuple[str, list[dict[str, Any]]]]]:
        done = push(project, study_id, there.url, **more)
        assert done.project is not None
        found = there.json("GET", "/api/predictions/", params={"project": done.project})
        return done.created, done.predictions, [(one["model_version"], one["result"]) for one in found]

    assert pushed() == (4, 0, [])
    created, sent, found = pushed(predictions=True)
    assert (created, sent, len(found)) == (0, 2, 2), "to tasks that are there"
    assert pushed(predictions=True)[1:] == (0, found)
    assert pushed(predictions=True, names=True)[1:] == (0, found), "names are no other raters"
    # What people say there does not go back to others there as a prediction: who has begun a task is left alone.
    task = server_at(there.url).tasks(push(project, study_id, there.url).project or 0)[2]
    item = items_of(project, study_id)[task["data"][ITEM]]
    annotate(there, task, item, said(dict(item.materials[0]), 2), "ben@example.org")
    assert pull(project, study_id, there.url).came.new == 1
    give_here(project, study_id, 0, [2, 3])
    done = push(project, study_id, there.url, predictions=True)
    assert done.predictions == 1
    assert done.lost.lines()[-1].startswith("Predictions for tasks that are labelled there, or begun")
    give_here(project, study_id, 1, [0])
    assert pushed(predictions=True)[1] == 1, "what a task does not have yet"
    fresh = project.study("predicted at once", all_kinds())
    give_here(project, fresh, 0, [0, 1, 2, 3])
    done = push(project, fresh, there.url, predictions=True)
    assert (done.created, done.predictions) == (4, 4)
    at_once = there.json("GET", "/api/predictions/", params={"project": done.project})
    assert {one["model_version"] for one in at_once} == {"A1"}
    assert {one["from_name"] for one in at_once[0]["result"]} >= {"right", "grade", "supports-0", "order"}
    later = [orjson.dumps(result) for rater, result in pushed()[2] if rater == "A1"]
    assert len(later) == 3
    assert {*later} <= {orjson.dumps(one["result"]) for one in at_once}


def fetch(
    project: Project, there: LabelStudio, number: int, folder: Path, actor: Actor | None = None
) -> tuple[list[str], int, Lost]:
    return fetch_project(project.db, actor or project.admin, server=server_at(there.url), number=number, folder=folder)


def test_a_project_of_theirs_is_fetched_and_what_we_write_of_it_comes_in_again(
    there: LabelStudio, project: Project, tmp_path: Path
) -> None:
    config = """<View><Text name="q" value="$question"/><Text name="t" value="$text"/>
      <Choices name="good" toName="t" required="true"><Choice value="Yes"/><Choice value="No"/></Choices>
      <Labels name="ner" toName="t"><Label value="PER"/></Labels></View>"""
    made = there.json("POST", "/api/projects", json={"title": "A project of theirs", "label_config": config})
    tasks = [{"data": {"question": "Who?", "text": "Zoe saw Rome."}}]
    there.json("POST", f"/api/projects/{made['id']}/import", json=tasks)
    [task] = server_at(there.url).tasks(made["id"])
    results = [
        {"from_name": "good", "to_name": "t", "type": "choices", "value": {"choices": ["Yes"]}},
        {"from_name": "ner", "to_name": "t", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Zoe", "labels": ["PER"]}},
    ]  # fmt: skip
    there.json("POST", f"/api/tasks/{task['id']}/annotations/", json={"result": results, "lead_time": 2.0})
    viewer = make_person(project.db, role="viewer")
    with pytest.raises(NotAllowed, match="Only researchers and administrators fetch"):
        fetch(project, there, made["id"], tmp_path / "theirs", viewer)
    researcher = make_person(project.db, role=None)
    make_member(project.db, make_project(project.db), researcher, "researcher")
    fetch(project, there, made["id"], tmp_path / "by a researcher", researcher)
    names, n, lost = fetch(project, there, made["id"], tmp_path / "theirs")
    assert (names, n, bool(lost)) == (["A project of theirs.xml", "tasks.json"], 1, False)
    report = import_paths(project.db, project.admin, project.id, paths=[tmp_path / "theirs"], labels_into="theirs")
    assert (report.added, report.rejected) == (1, [])
    study_id = find_study(project.db, project.admin, project.id, name="theirs")
    values = {key[2]: value for key, value in stored(project, study_id).items()}
    assert values["good"] == "Yes"
    assert [one["text"] for one in values["ner"]] == ["Zoe"]
    pushed = push(project, study_id, there.url, predictions=True)
    assert pushed.created == 1
    assert pushed.project is not None
    with pytest.raises(NotAllowed, match="of the study 'theirs', whose labels"):
        fetch(project, there, pushed.project, tmp_path / "ours", researcher)
    assert not (tmp_path / "ours").exists()
    _, again, _ = fetch(project, there, pushed.project, tmp_path / "ours")
    assert again == 1
    theirs = read_theirs(read_config((tmp_path / "ours" / "theirs.xml").read_text(), "ours"), "theirs").protocol
    assert theirs is not None
    assert {one.name: one.kind for one in theirs.criteria} == {"good": "choice", "ner": "spans"}


def test_what_the_server_serves_is_fetched_by_its_path_and_what_it_does_not_give_is_named(
    there: LabelStudio, project: Project, tmp_path: Path
) -> None:
    config = """<View><Text name="q" value="$question"/><Image name="pages" valueList="$pages"/>
      <Choices name="used" toName="pages" perItem="true"><Choice value="Yes"/><Choice value="No"/></Choices></View>"""
    made = there.json("POST", "/api/projects/", json={"title": "Pages", "label_config": config})["id"]
    for name in "ab":
        (there.folder / "scans" / name).mkdir(parents=True)
        (there.folder / "scans" / name / "p1.png").write_bytes(picture(60, 40 if name == "a" else 50))
    served = {"project": made, "path": str(there.folder / "scans"), "use_blob_urls": True}
    there.json("POST", "/api/storages/localfiles", json=served)
    pages = [f"/data/local-files/?d=scans/{name}/p1.png" for name in "abc"] + ["s3://bucket/p1.png"]
    there.json("POST", f"/api/projects/{made}/import", json=[{"data": {"question": "Which?", "pages": pages}}])
    [task] = there.json("GET", f"/api/tasks/?project={made}")["tasks"]
    said = {"from_name": "used", "to_name": "pages", "type": "choices", "value": {"choices": ["Yes"]}, "item_index": 1}
    there.json("POST", f"/api/tasks/{task['id']}/annotations/", json={"result": [said]})
    names, n, lost = fetch(project, there, made, tmp_path / "pages")
    assert (names, n) == (["Pages.xml", *(f"documents/scans/{name}/p1.png" for name in "ab"), "tasks.json"], 1)
    [missing, elsewhere] = lost.lines()
    assert missing.startswith("The file '/data/local-files/?d=scans/c/p1.png', which the server does not give")
    assert elsewhere.startswith("Files that lie elsewhere")

    def serves_nothing(_: str, path: str) -> int | None:
        return -403 if "local-files" in path else None

    with recorded(there.url, serves_nothing) as (address, _):
        about = {"server": server_at(address), "number": made, "folder": tmp_path / "unserved"}
        names, n, lost = fetch_project(project.db, project.admin, **about)
    assert (names, n) == (["Pages.xml", "tasks.json"], 1)
    assert [line.rpartition("which the server does not give (")[2] for line in lost.lines()[:3]] == [
        "it does not let the account of the key have it, or serves no local files)"
    ] * 3
    report = import_paths(
        project.db, project.admin, project.id,
        paths=[tmp_path / "pages"], labels_into="pages", data_folder=project.documents,
    )  # fmt: skip
    assert (report.added, report.rejected, report.documents) == (1, [], 4)
    study_id = find_study(project.db, project.admin, project.id, name="pages")
    assert {key[3]: value for key, value in stored(project, study_id).items()} == {"evidence:pages-2": "Yes"}


def test_each_control_of_a_template_of_theirs_is_asked_or_named(there: LabelStudio) -> None:
    [folder] = there.python.parent.parent.glob("lib/python*/site-packages/label_studio/annotation_templates")
    asked, paths = 0, sorted(folder.rglob("config.yml"))
    for path in paths:
        config = read_config(yaml.safe_load(path.read_text())["config"], path.parent.name)
        theirs = read_theirs(config, path.parent.name)
        named, lines = {one.name for one in theirs.asked}, "\n".join(theirs.lost.lines())
        for tag in config.walk():
            if tag.get("toName") and tag.get("name") not in named:
                assert f"<{tag.name} name={tag.get('name')!r}> of line {tag.line}" in lines, path
        asked += bool(named)
    words = f"Of the {len(paths)} templates that Label Studio {RELEASE} comes with, {asked} become a protocol"
    assert words in " ".join((ROOT / "docs" / "importing.md").read_text(encoding="utf-8").split())
