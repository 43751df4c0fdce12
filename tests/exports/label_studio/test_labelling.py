"""Protocols as labelling configs: every kind has a control, texts stay texts, and what is hidden is in no task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.asking.submissions import GivenLabel
from annotators.criteria.base import KINDS
from annotators.errors import InvalidInput, NotAllowed
from annotators.protocols import PROTOCOLS, Protocol
from db.annotating.annotations import submit, work
from db.annotating.committing import StepSubmission
from db.elsewhere.came_back import AnnotationElsewhere, take_back
from db.elsewhere.handed_over import items_by_token, items_elsewhere, study_elsewhere
from db.engine import Database
from exports.label_studio.addresses import server_address
from exports.label_studio.controls import CONTROLS, stretch_in
from exports.label_studio.files import push_to_files
from exports.label_studio.labelling import labelling_of, labellings_of
from exports.label_studio.lost import Lost
from exports.label_studio.pull import pull_from_files
from exports.label_studio.tasks import labels_of, results_of, shows_as_here, task_data
from exports.label_studio.xml import Tag, read_config
from tests.databases import put_database
from tests.exports.label_studio.studies import HIDDEN, Project, all_kinds, said, staged
from tests.makers import read_guidelines


def test_every_kind_of_criterion_has_a_control() -> None:
    assert {kind for kind, made in KINDS.items() if made.__module__.startswith("annotators.")} == set(CONTROLS)


@pytest.mark.parametrize("protocol", [*PROTOCOLS, all_kinds()], ids=lambda protocol: protocol.name)
def test_the_configs_of_a_protocol_are_sound(protocol: Protocol) -> None:
    labellings = labellings_of(protocol)
    for found in labellings:
        tags = list(read_config(found.config, "config").walk())
        names = [tag.get("name") for tag in tags if tag.get("name")]
        assert len(names) == len(set(names)), "a name twice is refused there"
        for tag in tags:
            # The editor there takes such attributes for booleans, and shows nothing at all where it needs a text.
            assert not {tag.get(one).lower() for one in ("value", "alias", "whenChoiceValue")} & {"true", "false"}
            assert not tag.get("toName") or tag.get("toName") in names
            assert not tag.get("whenTagName") or tag.get("whenTagName") in names
    asked = [criterion.name for found in labellings for criterion in found.criteria]
    assert sorted(asked) == sorted(criterion.name for criterion in protocol.criteria)
    assert [step for found in labellings for step in found.steps] == list(range(len(protocol.steps)))


def test_titles_are_texts_there_whatever_is_in_them() -> None:
    config = labelling_of(all_kinds()).config
    headers = [tag.get("value") for tag in read_config(config, "config").walk() if tag.name == "Header"]
    assert "Is it $\u2060right?" in headers  # a name of data there, were it not for the joiner
    assert 'value="R,&lt;&amp; yes"' in config


def test_a_step_that_shows_more_is_a_project_of_its_own() -> None:
    first, second = labellings_of(PROTOCOLS.get("metric_agreement_blind"))
    assert (first.steps, second.steps) == ([0], [1])
    assert "scores" not in first.config
    assert "$scores" in second.config
    assert "$answer" in second.config, "nothing that was shown is taken away"


def test_what_depends_on_another_project_says_when_it_is_asked() -> None:
    second = labellings_of(staged())[1]
    tags = list(read_config(second.config, "config").walk())
    assert "Only where “Right?” is “No”." in [tag.get("value") for tag in tags]
    [why] = [tag for tag in tags if tag.get("name") == "why"]
    assert why.get("required") == "", "nobody there can leave it out where it is not asked"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><View><Text name="a" value="&e;"/></View>', "declares"),
        ('<!DOCTYPE a [<!ENTITY a "1234567890"><!ENTITY b "&a;&a;&a;&a;">]><View>&b;</View>', "declares"),
        ("<View>" * 1_000 + "</View>" * 1_000, "inside each other"),
        ("<View>" + "<Text/>" * 30_000 + "</View>", "more than"),
        ("<View><Text></View>", "no XML"),
        ("", "no XML"),
        ("<View>" + "x" * 3_000_000 + "</View>", "characters"),
    ],
    ids=["entity", "bomb", "deep", "many", "broken", "empty", "long"],
)
def test_hostile_configs_are_refused_with_their_place(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_config(text, "theirs.xml")


@given(
    st.dictionaries(
        st.from_regex(r"[a-z][A-Za-z]{0,8}", fullmatch=True),
        st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=40),
        max_size=5,
    )
)
def test_attributes_come_back_as_they_were_written(attributes: dict[str, str]) -> None:
    assert read_config(Tag("View", attributes).written(), "ours").attributes == attributes


def test_labels_that_are_called_true_come_back() -> None:
    criterion = PROTOCOLS.get("self_contained").criteria[0]
    control = CONTROLS[criterion.kind]
    for value in ("true", "false"):
        [written] = control.values(value, criterion, "")
        assert written["choices"] != [value]
        for one in (written, {"choices": [value]}, {"choices": [value.capitalize()]}):
            assert control.read([{"value": one}], criterion, "") == value


def test_stretches_are_found_by_characters_and_else_by_units() -> None:
    assert stretch_in("a 😀 bad", 4, 7, "bad") == (4, 7)
    assert stretch_in("a 😀 bad", 5, 8, "bad") == (4, 7)
    with pytest.raises(InvalidInput, match="was changed"):
        stretch_in("a 😀 bad", 0, 3, "bad")


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080", "http://localhost", "http://10.1.2.3/", "http://[::1]:80", "http://169.254.169.254"],
)
def test_servers_of_private_networks_are_only_asked_where_that_is_allowed(url: str) -> None:
    with pytest.raises(NotAllowed, match="private"):
        server_address(url, private=False)
    assert server_address(url, private=True)[::2] == (url.rstrip("/"), ())


@pytest.mark.parametrize(
    "url", ["ftp://example.org", "label studio", "http://", "http://a:b@127.0.0.1", "http://h:99999"]
)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        server_address(url, private=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("label-studio")
    put_database(folder / "assay.db")
    return Project(Database(f"sqlite:///{folder / 'assay.db'}"), folder)


def test_labels_as_results_and_back_are_the_same(project: Project) -> None:
    study_id = project.study("round", all_kinds())
    study, labelling = study_elsewhere(project.db, project.admin, study_id), labelling_of(all_kinds())
    for turn, item in enumerate(items_elsewhere(project.db, project.admin, study_id)):
        data = task_data(labelling, item.materials, study=study.token, item=item.token, picture=lambda *_: None)
        labels = said(dict(item.materials[0]), turn)
        results = results_of(labelling, data, labels, item.materials)
        back = labels_of(labelling, data, results, item.materials, Lost())
        assert {(one.criterion, one.target): one.value for one in back} == {
            (one.criterion, one.target): one.value for one in labels
        }


def test_a_place_in_a_paragraph_that_the_answer_does_not_have_is_refused(project: Project) -> None:
    study_id, labelling = project.study("places", all_kinds()), labelling_of(all_kinds())
    study, item = (
        study_elsewhere(project.db, project.admin, study_id),
        items_elsewhere(project.db, project.admin, study_id)[0],
    )
    data = task_data(labelling, item.materials, study=study.token, item=item.token, picture=lambda *_: None)
    place = GivenLabel("place", next(iter(item.materials[0]["units"]["place"])), "block:9")
    results = results_of(labelling, data, [place], item.materials)
    with pytest.raises(InvalidInput, match="the answer has 2 paragraphs, so that there is no 'block:9'"):
        labels_of(labelling, data, results, item.materials, Lost())


def test_whatever_is_changed_in_a_task_there_is_seen_but_for_its_pictures(project: Project) -> None:
    labelling = labelling_of(all_kinds())
    item = items_elsewhere(project.db, project.admin, project.study("as here", all_kinds()))[0]
    data = task_data(labelling, item.materials, study="s", item="i", picture=lambda *_: "/data/upload/1/a.png")
    assert shows_as_here(labelling, item.materials, {**data, "assay_before": ["a seal"], "theirs": 1})
    listed = [name for name, value in data.items() if isinstance(value, list) and value]
    assert {"units_evidence", "units_claim", "order_order"} <= {*listed}
    for name in listed:
        first, *rest = data[name]
        changed = {**first, "html": first["html"].replace("</p>", ", or so</p>", 1)}
        assert changed != first
        for now in ([changed, *rest], rest, None):
            assert not shows_as_here(labelling, item.materials, {**data, name: now}), name
    assert not shows_as_here(labelling, item.materials, {**data, "answer": "Another."})


@pytest.mark.parametrize(
    "name",
    [
        "qa_verification",
        "grounding",
        "claim_verification",
        "metric_agreement_blind",
        "pairwise_preference",
        "evidence_pages",
    ],
)
def test_a_task_has_nothing_that_the_first_step_hides(project: Project, name: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS.get(name)
    pairs = {"pairs": ("zeta-system", "zeta-system-b")} if protocol.about_pairs else {}
    study_id = project.study(name, protocol, **pairs)
    push_to_files(project.db, project.admin, study_id, folder=tmp_path / "out")
    written = (tmp_path / "out" / "tasks.json").read_text()
    assert "Question 0?" in written
    assert not [word for word in HIDDEN if word in written]
    shown = protocol.shown_at(0)
    assert ("the reference words" in written) == ("references" in shown)
    assert ("in answer 0" in written) == ("answer" in shown)


def test_later_steps_are_written_as_files_of_what_is_labelled_before_them(project: Project, tmp_path: Path) -> None:
    study_id = project.study("staged-files", staged())
    labellings = labellings_of(staged())
    items = {item.token: item for item in items_elsewhere(project.db, project.admin, study_id)}
    exports: list[Path] = []

    def write(**more: Any) -> list[tuple[int, int]]:
        done = push_to_files(project.db, project.admin, study_id, folder=tmp_path / f"out{len(exports)}", **more)
        return [(one.created, one.waiting) for one in done.steps]

    def label(path: Path, number: int, labels: list[GivenLabel]) -> None:
        tasks = orjson.loads(path.read_bytes())
        for at, task in enumerate(tasks, 1):
            item = items[task["data"]["assay_item"]]
            results = results_of(labellings[number], task["data"], labels, item.materials)
            task["id"] = at
            about = {"result": results, "created_at": "2026-11-25T02:00:00Z"}
            task["annotations"] = [{"id": 100 * number + 10 * at + who, "completed_by": who, **about} for who in (1, 2)]
        exports.append(tmp_path / f"export{number}.json")
        exports[-1].write_bytes(orjson.dumps(tasks))

    def pull(**said: Any) -> dict[str, Any]:
        people = {"1": "ada", "2": "ben"}
        return pull_from_files(project.db, project.admin, study_id, paths=exports, people=people, **said).to_json()

    n = len(items)
    assert write() == [(n, 0), (0, n), (0, n)]
    label(tmp_path / "out0" / "tasks.json", 0, [GivenLabel("right", "item", "no")])
    assert write(labelled=exports) == [(0, 0), (n, 0), (0, n)]
    assert not (tmp_path / "out1" / "tasks.json").exists()
    written = (tmp_path / "out1" / "step-2" / "tasks.json").read_text()
    assert "distractor" in written
    assert "the reference words" not in written
    assert (pull()["new"], pull()["waiting"]) == (0, 2 * n)
    units = [GivenLabel("supports", f"evidence:E{number}", "no") for number in (1, 2)]
    label(tmp_path / "out1" / "step-2" / "tasks.json", 1, [*units, GivenLabel("why", "item", "So.")])
    assert write(labelled=exports) == [(0, 0), (0, 0), (n, 0)]
    label(tmp_path / "out2" / "step-3" / "tasks.json", 2, [GivenLabel("sure", "item", "sure")])
    # What does not fit at any step is left out as a whole, and waits for nothing.
    for number in (0, 1):
        whole = exports[number].read_bytes()
        tasks = orjson.loads(whole)
        tasks[0]["annotations"][0]["result"][0] |= {"type": "rating"}
        exports[number].write_bytes(orjson.dumps(tasks))
        bad = pull(skip_bad=True, dry_run=True)
        assert (bad["new"], bad["waiting"], bad["left"], len(bad["problems"])) == (2 * n - 1, 0, [], 1)
        exports[number].write_bytes(whole)
    assert (pull()["new"], pull()["unchanged"]) == (2 * n, 2 * n)
    # What came in whole is not outstanding where a step of it, or a step's whole project, is not there any more.
    last = exports.pop()
    found = pull()
    assert (found["new"], found["waiting"], len(found["gone"])) == (0, 0, 2 * n)
    exports.append(last)
    whole = last.read_bytes()
    tasks = orjson.loads(whole)
    del tasks[0]["annotations"][0]
    last.write_bytes(orjson.dumps(tasks))
    for dry_run in (True, False):
        found = pull(dry_run=dry_run)
        assert (found["unchanged"], found["waiting"]) == (2 * n - 1, 0)
        assert [one["annotator"] for one in found["gone"]] == ["ada"]
    last.write_bytes(whole)
    # A task whose next step is there is not made again.
    exports[1].write_bytes(orjson.dumps(orjson.loads(exports[1].read_bytes())[1:]))
    assert write(labelled=exports) == [(0, 0), (0, 0), (0, 0)]
    with pytest.raises(InvalidInput, match="Leave --labelled out"):
        push_to_files(
            project.db, project.admin, project.study("one-step", all_kinds()), folder=tmp_path / "no", labelled=exports
        )


def test_what_an_export_says_twice_is_stored_once_and_a_change_takes_the_place(
    project: Project, tmp_path: Path
) -> None:
    study_id = project.study("file", all_kinds())
    push_to_files(project.db, project.admin, study_id, folder=tmp_path / "out")
    tasks = orjson.loads((tmp_path / "out" / "tasks.json").read_bytes())
    labelling = labelling_of(all_kinds())
    items = {item.token: item for item in items_elsewhere(project.db, project.admin, study_id)}

    def export(turn: int, **more: Any) -> Path:
        for task in tasks:
            item = items[task["data"]["assay_item"]]
            results = results_of(labelling, task["data"], said(dict(item.materials[0]), turn), item.materials)
            one = {"id": 7, "completed_by": {"id": 3, "email": "ada@example.org"}, "result": results, "lead_time": 12.5,
                   "updated_at": "2026-11-25T02:00:00Z"}  # fmt: skip
            task["annotations"], task["drafts"] = [one], [{"id": 1}]
        tasks[-1]["annotations"] = [{"id": 8, "completed_by": 4, "was_cancelled": True, "result": []}]
        tasks[0]["annotations"] += more.get("more", [])
        path = tmp_path / f"export{turn}.json"
        path.write_bytes(orjson.dumps(tasks))
        return path

    def pull(path: Path, **more: Any) -> dict[str, Any]:
        people = {"ada@example.org": "ada", "4": "ben"}
        return pull_from_files(project.db, project.admin, study_id, paths=[path], people=people, **more).to_json()

    n = len(tasks) - 1
    assert pull(export(1), dry_run=True)["new"] == n
    first = pull(export(1))
    assert (first["new"], first["changed"], first["unchanged"], first["skipped"]) == (n, 0, 0, 1)
    assert first["lost"] == [{"what": "Drafts that were not submitted there", "n": len(tasks)}]
    again = pull(export(1))
    assert (again["new"], again["changed"], again["unchanged"], again["skipped"], again["batch"]) == (
        0,
        0,
        n + 1,
        0,
        None,
    )
    changed = pull(export(2))
    assert (changed["new"], changed["changed"], changed["unchanged"]) == (0, n, 1)
    assert pull(export(2))["unchanged"] == n + 1
    wrong = {
        "id": 9,
        "completed_by": 5,
        "result": [{"from_name": "other", "type": "choices", "value": {"choices": ["x"]}}],
    }
    with pytest.raises(InvalidInput, match="annotation 9 by 'label-studio-5': it has a result of 'other'"):
        pull(export(3, more=[wrong]))
    assert pull(export(2))["unchanged"] == n + 1, "nothing of the refused export was stored"


def give_here(project: Project, study_id: int) -> tuple[GivenLabel, ...]:
    """Have ada label the first item of a study of self_contained here."""
    read_guidelines(project.db, study_id)
    shown = work(project.db, project.people[0], study_id)["items"][0]
    given = tuple(
        GivenLabel(criterion.name, target, str(criterion.label_list()[0].value))
        for criterion in PROTOCOLS.get("self_contained").criteria
        for target in shown["units"][criterion.name]
        if criterion.when is None
    )
    step = StepSubmission(f"here {study_id}", shown["assignment"], shown["sitting"], shown["step"], given)
    submit(project.db, project.people[0], study_id, step=step)
    return given


def test_labels_that_were_given_here_stand_against_those_from_elsewhere(project: Project) -> None:
    study_id = project.study("both", PROTOCOLS.get("self_contained"))
    given = give_here(project, study_id)
    items = items_by_token(project.db, project.admin, study_id).values()
    annotations = [AnnotationElsewhere(of, "ada", line, given) for line, of in enumerate(items, 1)]
    came = take_back(project.db, project.admin, study_id, annotations=annotations, source="there")
    assert len(came.left) == 1
    assert "has labels of this item here already" in came.left[0]
    assert came.new == len(items) - 1


def test_files_have_what_raters_said_as_predictions_where_that_is_asked_for(project: Project, tmp_path: Path) -> None:
    study_id = project.study("predicted", PROTOCOLS.get("self_contained"))
    give_here(project, study_id)
    for predictions, n in ((False, 0), (True, 1)):
        folder = tmp_path / str(n)
        done = push_to_files(project.db, project.admin, study_id, folder=folder, predictions=predictions)
        tasks = orjson.loads((folder / "tasks.json").read_bytes())
        assert (done.predictions, sum(len(task.get("predictions", ())) for task in tasks)) == (n, n)
