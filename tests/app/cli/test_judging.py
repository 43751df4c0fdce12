"""`assay judge` over real HTTP: labels of a model, everything that goes wrong with servers, and what is paid."""

from __future__ import annotations

import csv
import json
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.errors import NotEquipped
from app.settings import Settings
from app.worker.jobs import carry_out
from db.engine import Database
from db.jobs import WorkerDesk, queue_job
from db.models import Job
from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine, Outcome, write_items
from tests.judging import scripted as script
from tests.judging.scripted import ScriptedServer
from tests.judging.wire import ChatServer, Sent, error

FIELDS = [
    "run", "judge", "protocol", "model", "prompt", "items", "labels", "cannot_judge", "unscored", "requests", "cached",
    "retries", "tokens", "cost", "seconds", "stopped", "left",
]  # fmt: skip
KEY = "sk-very-secret-0123456789"


def item(number: int, **more: Any) -> dict[str, Any]:
    question = f"What was the rent in round {number:02d}?"
    return {
        "id": f"q{number:02d}", "question_key": f"k{number}", "question": question, "system": "harbour",
        "answer": f"It was {600 + number} euros.", "references": [f"{600 + number} euros"], **more,
    }  # fmt: skip


def number_of(sent: Sent) -> int:
    """The number of the item that is asked about."""
    return int(sent.texts[-1].rpartition("in round ")[2][:2])


class Judging:
    """A project `finance` with a study `grading` of a few items that ada and ben annotate, and a judge of it."""

    def __init__(self, assay: CommandLine, folder: Path) -> None:
        self.assay, self.folder = assay, folder

    def with_items(self, *rows: Mapping[str, Any], protocol: str = "answer_grading", people: str = "ada,ben") -> None:
        self.assay("import", "finance", write_items(self.folder / "in", *map(dict, rows)))
        self.assay(
            "study", "create", "finance", "grading", "--protocol", protocol, "--annotators", people, "--overlap", "2"
        )

    def __call__(self, server: ChatServer | str, *more: str, code: int = 0) -> Outcome:
        url = server if isinstance(server, str) else server.base_url
        about = () if "--model" in more else ("--model", "tiny-judge")
        eyes = () if "--pictures" in more else ("--pictures", "0")
        return self.assay("judge", "finance", "grading", *about, "--base-url", url, *eyes, *more, code=code)

    def json(self, server: ChatServer | str, *more: str) -> dict[str, Any]:
        found: dict[str, Any] = self(server, *more, "--json").json
        return found

    def labels(self) -> list[dict[str, str]]:
        """The rows of labels.csv."""
        to = self.folder / f"out-{uuid.uuid4().hex}"
        self.assay("export", "finance", "--study", "grading", "--to", to, "--format", "labels")
        with (to / "labels.csv").open(newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between tries are short here."""
    monkeypatch.setattr("annotators.judges.asking.FIRST_WAIT", 0.01)


@pytest.fixture
def judging(begun: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judging:
    monkeypatch.setenv("ASSAY_JUDGE_KEY", KEY)
    return Judging(begun, tmp_path)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """One that grades each answer by its number."""

    def graded(sent: Sent) -> script.Turn:
        label = str(number_of(sent) % 11)
        return script.Whole({"item": {"rationale": "So.", "judgement": {"label": label}}})

    with ScriptedServer(graded, key=KEY) as opened:
        yield opened


def test_a_judge_is_a_rater_of_kind_model_whose_labels_count_beside_those_of_people(
    judging: Judging, server: ScriptedServer
) -> None:
    rows = [item(number) for number in range(8)]
    judging.with_items(*rows)
    found = judging.json(server)
    assert list(found) == FIELDS
    assert list(found["prompt"]) == ["name", "version", "hash"]
    assert (found["judge"], found["protocol"], found["model"]) == ("tiny-judge plain@1", "answer_grading", "tiny-judge")
    assert (found["items"], found["labels"], found["cannot_judge"], found["unscored"]) == (8, 8, 0, [])
    assert (found["requests"], found["cached"], found["retries"], found["stopped"]) == (8, 0, 0, None)
    assert found["tokens"] == {"in": sum(sent.tokens for sent in server.sent), "out": found["tokens"]["out"]}
    assert (found["cost"], found["left"], found["tokens"]["out"] > 0) == (None, 0, True)
    labels = judging.labels()
    assert {(row["kind"], row["current"], row["complete"]) for row in labels} == {("model", "true", "true")}
    assert {row["item"]: row["value"] for row in labels} == {row["id"]: str(int(row["id"][1:]) % 11) for row in rows}

    table = judging.folder / "labels.csv"
    said = [f"q{number:02d},{who},grade,{number + (who == 'ben') * (number % 2)}"
            for number in range(8) for who in ("ada", "ben")]  # fmt: skip
    table.write_text("\n".join(["item,annotator,criterion,value", *said]) + "\n")
    judging.assay("labels", "import", "finance", "grading", table)
    alone, beside = (
        {row["criterion"]: row for row in judging.assay.json("agreement", "finance", "grading", *more)["criteria"]}
        for more in ((), ("--judges", "tiny-judge plain@1"))
    )
    assert [(rows["grade"]["n_raters"], rows["grade"]["n_ratings"]) for rows in (alone, beside)] == [(2, 16), (3, 24)]
    assert {name for name, row in beside.items() if row["n_raters"] == 3} == {"grade", "grade_band"}
    alpha = [row["grade"]["statistics"][0]["value"] for row in (alone, beside)]
    assert alpha[0] < alpha[1] < 1, "the judge says what ada says"
    aligned = judging.assay.json("alignment", "finance", "grading", "--resamples", "50")
    assert "tiny-judge plain@1: grade" in {row.get("metric") for row in aligned["statistics"]}
    refused = judging.assay("agreement", "finance", "grading", "--judges", "nobody", code=3)
    assert "No judge 'nobody' has labelled in the study 'grading'. Judges there: 'tiny-judge plain@1'." in refused.err


def test_a_second_run_adds_nothing_and_pays_nothing(judging: Judging, server: ScriptedServer) -> None:
    judging.with_items(*(item(number) for number in range(3)))
    first = judging.json(server)
    before = judging.labels()
    again = judging.json(server)
    assert {name: again[name] for name in ("judge", "items", "labels", "unscored", "left")} == {
        name: first[name] for name in ("judge", "items", "labels", "unscored", "left")
    }
    assert (again["requests"], again["cached"], again["tokens"]) == (0, 0, {"in": 0, "out": 0})
    assert (server.requests, judging.labels()) == (3, before)
    assert server.paid_twice == []


def test_what_goes_wrong_for_a_moment_is_tried_again_and_what_does_not_fit_is_unscored_with_its_reason(
    judging: Judging,
) -> None:
    grade = script.Whole({"item": {"rationale": "So.", "judgement": {"label": "7"}}})
    turns: dict[int, tuple[list[script.Turn], str | None]] = {
        0: ([script.RateLimited(after="0.1")], None),
        1: ([script.RateLimited(), script.Failed(500)], None),
        2: ([script.Failed(502, page=True), script.Failed(503)], None),
        3: ([script.Slow(3)], None),
        4: ([script.Dropped()], None),
        5: ([script.Dropped(made=True)], None),
        6: ([script.Dropped(made=True, sent=0.6)], None),
        7: ([script.CutOff()], "cut off"),
        8: ([script.WRONG_JSON], "unreadable"),
        9: ([script.NO_JSON], "unreadable"),
        10: ([script.Whole({"item": {**_of(grade), "label": "11"}})], "unreadable"),
        11: ([script.Whole(json.dumps(grade.content) * 2)], "unreadable"),
        12: ([script.Refused()], "refused"),
        13: ([script.Refused(by_filter=True)], "refused"),
        14: ([script.EMPTY], "empty"),
        15: ([script.BLANK], "empty"),
        16: ([script.TOO_LONG], "too long"),
        17: ([script.Whole(grade.content, before="```json\n", after="\n```")], None),
        18: ([script.Whole(grade.content, before="Here it is: ")], "unreadable"),
    }
    asked: dict[int, int] = {}

    def by_item(sent: Sent) -> script.Turn:
        number = number_of(sent)
        place = asked[number] = asked.get(number, -1) + 1
        mine, _ = turns[number]
        return mine[place] if place < len(mine) else grade

    judging.with_items(*(item(number) for number in turns))
    with ScriptedServer(by_item) as server:
        found = judging.json(server, "--timeout", "1", "--concurrency", "19")
        assert found["retries"] == 9
        assert server.requests == len(turns) + found["retries"]
        wrong = [why for _, why in turns.values() if why is not None]
        assert {row["reason"]: row["n"] for row in found["unscored"]} == {why: wrong.count(why) for why in set(wrong)}
        assert (found["items"], found["labels"], found["left"]) == (19, 19 - len(wrong), 0)
        labelled = {row["item"]: row["value"] for row in judging.labels()}
        assert labelled == {f"q{number:02d}": "7" for number, (_, why) in turns.items() if why is None}
        again = judging.json(server)
        assert (again["requests"], again["unscored"]) == (0, found["unscored"])
    with judging.assay.database().read() as session:
        kept = session.connection().exec_driver_sql("SELECT text FROM judge_reply").scalars().all()
    assert script.NO_JSON.content in kept, "the reply is kept as it came"
    at = [sent.at for sent in server.sent if number_of(sent) == 0]
    assert at[1] - at[0] >= 0.1


def _of(turn: script.Whole) -> dict[str, Any]:
    assert isinstance(turn.content, dict)
    found: dict[str, Any] = turn.content["item"]
    return found


REFUSALS = {
    "no such model": (script.NO_MODEL, "has no model 'tiny-judge'. Name one that it has: tiny-judge."),
    "no money": (script.OUT_OF_QUOTA, "no money left: You exceeded your current quota. Pay there"),
    "a page": (script.HTML, "Give the base URL of one, which often ends in /v1."),
    "another protocol": (script.ANOTHER_PROTOCOL, "not as a server of chat completions does"),
}


def test_what_no_request_would_change_is_one_sentence_with_the_remedy_and_what_was_paid_for_stays(
    judging: Judging,
) -> None:
    judging.with_items(*(item(number) for number in range(6)))
    one_at_a_time = ("--concurrency", "1")
    with ScriptedServer([script.Whole()] * 2, then=script.WRONG_KEY) as server:
        said = judging(server, *one_at_a_time, code=2)
        assert "does not take the key (status 401). Set ASSAY_JUDGE_KEY to one that it takes." in said.err
        assert KEY not in said.err + said.out
        assert server.answers == 2
        server._then = script.Whole()
        found = judging.json(server, *one_at_a_time)
        assert (found["requests"], found["cached"], found["labels"], found["left"]) == (4, 0, 6, 0)
        assert server.paid_twice == []


@pytest.mark.parametrize("case", REFUSALS)
def test_a_server_that_will_not_answer_is_said_in_one_sentence(judging: Judging, case: str) -> None:
    judging.with_items(item(1))
    turn, words = REFUSALS[case]
    with ScriptedServer(then=turn) as server:
        said = judging(server, code=2)
        assert server.requests == 1
    assert words in said.err
    assert (said.out, "Traceback" in said.err, said.err.count("\n")) == ("", False, 1)


def test_nobody_there_no_route_and_a_model_without_eyes(judging: Judging, tmp_path: Path) -> None:
    judging.with_items(item(1))
    said = judging("http://127.0.0.1:9/v1", code=2)
    assert "Nobody answers at http://127.0.0.1:9/v1" in said.err
    assert "Start the server, or give the base URL of one that runs." in said.err
    with ScriptedServer() as server:
        said = judging(server.base_url.removesuffix("/v1"), code=2)
        assert "has no /chat/completions (status 404). Give the base URL, which often ends in /v1." in said.err
    said = judging("127.0.0.1:9", code=2)
    assert "is no address of a server. Give its base URL" in said.err


@pytest.mark.slow
def test_pictures_are_not_sent_to_a_model_without_eyes(begun: CommandLine, tmp_path: Path) -> None:
    from exports.sample import write_sample

    folder = tmp_path / "sample"
    write_sample(folder)
    begun("import", "finance", folder)
    begun("study", "create", "finance", "grading", "--protocol", "factuality", "--annotators", "ada,ben,chloe")
    judging = Judging(begun, tmp_path)
    with ScriptedServer(eyes=False) as server:
        said = judging(server, "--pictures", "4", "--sample", "4", code=2)
        assert "takes no pictures, and the step shows some" in said.err
        assert "Take a model with eyes, or --pictures 0." in said.err
        assert server.answers < server.requests
        assert judging.json(server, "--sample", "2")["items"] == 2
        assert not any(sent.pictures for sent in server.sent[-2:])


def test_a_request_that_is_too_long_is_said_before_anything_is_sent_with_its_item(
    judging: Judging, server: ScriptedServer
) -> None:
    judging.with_items(item(1), item(2, answer="so " * 20_000))
    said = judging(server, "--context", "4000", code=2)
    assert "(q02), and the model takes 4,000. Take a model with a longer context" in said.err
    assert server.requests == 0


@pytest.mark.parametrize("budget", ["0usd", "0tokens", "0requests", "5", "-1usd"])
def test_a_budget_of_nothing_is_refused(judging: Judging, budget: str) -> None:
    judging.with_items(item(1))
    said = judging("http://127.0.0.1:9/v1", f"--budget={budget}", code=2)
    assert f"{budget!r} is no budget. Write more than nothing, as 5usd, 2e6tokens or 500requests." in said.err


def test_a_budget_stops_the_run_before_the_request_that_might_pass_it_and_what_was_paid_for_stays(
    judging: Judging, server: ScriptedServer
) -> None:
    judging.with_items(*(item(number) for number in range(5)))
    found = judging.json(server, "--budget", "2requests")
    assert (found["stopped"], found["requests"], found["labels"], found["left"]) == ("budget", 2, 2, 3)
    said = judging(server, "--budget", "1requests")
    assert "budget: what was paid for is kept" in said.out
    assert judging.json(server, "--budget", "2requests")["stopped"] is None
    assert (server.requests, server.paid_twice) == (5, [])


def test_money_is_counted_by_the_prices_of_a_file(judging: Judging, server: ScriptedServer) -> None:
    judging.with_items(*(item(number) for number in range(3)))
    said = judging(server, "--budget", "1usd", code=2)
    assert "prices.toml has no price of 'tiny-judge'. Enter it there (docs/judges.md)" in " ".join(said.err.split())
    (judging.assay.home / "prices.toml").write_text('["tiny-judge"]\nsent = 1000.0\nreceived = 2000.0\n')
    planned = judging.assay.json(
        "judge", "finance", "grading", "--model", "tiny-judge", "--base-url", server.base_url, "--dry-run"
    )
    assert planned["cost"] > 0
    assert server.requests == 0
    found = judging.json(server)
    tokens = found["tokens"]
    assert found["cost"] == pytest.approx((1000 * tokens["in"] + 2000 * tokens["out"]) / 1e6)
    assert judging.json(server, "--seed", "1", "--budget", "1usd")["stopped"] == "budget"
    assert server.requests == 3


def test_what_leaves_the_machine_is_confirmed(judging: Judging) -> None:
    judging.with_items(item(1))
    said = judging("http://judge.example.org/v1", code=2)
    words = " ".join(said.err.replace("│", " ").split())
    assert "answer, question, references of 1 item leave this machine for http://judge.example.org/v1." in words
    assert "Say that they may with --yes." in words


def test_a_document_with_the_bytes_of_one_that_stays_here_is_not_sent_either(judging: Judging) -> None:
    for name in ("contract.txt", "copy.txt", "other.txt"):
        file = judging.folder / "in/documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("It ends in May." if name != "other.txt" else "It goes on.")
    judging.with_items(*(item(number, documents=[name]) for number, name in enumerate(("copy.txt", "other.txt"), 1)))
    judging.assay("import", "finance", judging.folder / "in/documents")
    listed = judging.assay.json("documents", "finance", "--keep", "contract.txt")
    assert [(row["document"], row["kept_here"], row.get("kept_for")) for row in listed] == [
        ("contract.txt", True, None), ("copy.txt", True, ["contract.txt"]), ("other.txt", False, None),
    ]  # fmt: skip
    assert "has the bytes of contract.txt" in judging.assay("documents", "finance").out
    assert judging.json("http://judge.example.org/v1", "--dry-run")["kept_here"] == 1


def test_a_packed_export_is_gone_when_a_document_must_stay(judging: Judging) -> None:
    judging.with_items(item(1, documents=["contract.txt"]))
    packed = judging.assay.home / "data/downloads/1-packed"
    for command in (("--release", "contract.txt"), ("--keep", "contract.txt")):
        packed.mkdir(parents=True, exist_ok=True)
        judging.assay("documents", "finance", *command)
        assert packed.exists() == (command[0] == "--release")


def test_documents_that_stay_here_are_not_sent_to_a_judge_elsewhere(
    judging: Judging,
) -> None:
    secret = "The margin is eleven percent."
    judging.with_items(
        item(1, documents=["contract.pdf"], evidence=[{"text": "A table of rents.", "role": "gold"}]),
        item(2, evidence=[{"document": "contract.pdf", "pages": [1], "text": secret, "role": "gold"}]),
        item(3, documents=["annual.pdf"], evidence=[{"text": "A table of rents.", "role": "gold"}]),
        protocol="grounding",
    )
    listed = judging.assay.json("documents", "finance", "--keep", "contract.pdf")
    assert [(row["document"], row["kept_here"]) for row in listed] == [("annual.pdf", False), ("contract.pdf", True)]
    with ScriptedServer() as server:
        elsewhere = server.base_url.replace("127.0.0.1", "0.0.0.0")  # it leads to this machine, and does not say so
        planned = judging.json(elsewhere, "--dry-run")
        assert planned["kept_here"] == 2
        found = judging.json(elsewhere, "--yes")
        assert "kept here" in {row["reason"] for row in found["unscored"]}
        assert server.requests > 0
        assert secret.encode() not in server.everything
        assert b"round 01" not in server.everything
        assert b"round 02" not in server.everything
        assert judging.assay.json("documents", "finance", "--release", "contract.pdf", "--search", "contract") == [
            {"document": "contract.pdf", "title": "", "media_type": None, "pages": None, "supplied": False,
             "kept_here": False}
        ]  # fmt: skip
    refused = judging.assay("documents", "finance", "--keep", "nothing.pdf", code=3)
    assert "The project has no document 'nothing.pdf'. `assay documents` lists them." in refused.err


def test_the_key_and_what_a_step_does_not_show_are_nowhere(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = [{"text": "zevidence of the rent", "role": "distractor", "document": "contract.pdf", "pages": [1]}]
    scores = [{"scorer": "imported:native", "name": "zscore", "value": 0.123456}]
    judging.with_items(
        *(item(number, answer="zanswer", system="zsystem", evidence=evidence, scores=scores, metadata={"zmeta": 1})
          for number in range(2)),
        protocol="qa_verification",
    )  # fmt: skip
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,criterion,value,comment\nq00,ada,question_answerable,no,zremark\n")
    judging.assay("labels", "import", "finance", "people", table, "--infer")
    echo = script.Saying(error(400, f"The key {KEY} may not do that.", code=KEY))
    said: list[Outcome] = []
    with ScriptedServer(then=script.Whole(), key=KEY) as server:
        said += [judging(server, "--dry-run"), judging(server)]
        server._then = script.Whole(f"Your key is {KEY}.")
        said.append(judging(server, "--seed", "1", "--json"))
        server._then = script.Refused(f"I will not say {KEY}.")
        said.append(judging(server, "--seed", "2", "--json"))
        server._then = echo
        said.append(judging(server, "--seed", "3", code=2))
        monkeypatch.setenv("ASSAY_JUDGE_KEY", KEY + "-wrong")
        said.append(judging(server, "--seed", "4", code=2))
    assert "The key … may not do that." in said[-2].err
    judging.assay("export", "finance", "--study", "grading", "--to", tmp_path / "everything")
    assert {sent.key for sent in server.sent} == {KEY, KEY + "-wrong"}
    for sent in server.sent:
        assert KEY not in sent.raw.decode()
        assert [
            word for word in ("zsystem", "zscore", "0.123456", "distractor", "zremark", "zmeta") if word in sent.text
        ] == []
        if "zevidence" not in sent.text:
            assert "zanswer" not in sent.text, "the first step shows the question alone"
    assert any("zanswer" not in sent.text for sent in server.sent)
    files = [path for folder in ("home", "everything") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []
    assert [one for one in said if KEY in one.out + one.err] == []


@pytest.mark.parametrize("budget", ["13requests", "90000tokens", "0.09usd"])
def test_a_budget_is_never_passed_with_32_requests_under_way(judging: Judging, budget: str) -> None:
    judging.with_items(*(item(number) for number in range(50)))
    (judging.assay.home / "prices.toml").write_text('["tiny-judge"]\nsent = 1.0\nreceived = 3.0\n')
    with ScriptedServer(lambda _: script.Slow(0.05)) as server:
        found = judging.json(server, "--budget", budget, "--concurrency", "32", "--most", "64")
        n_in, n_out = found["tokens"]["in"], found["tokens"]["out"]
        assert n_in == sum(sent.tokens for sent in server.sent)
        spent = {"13requests": server.requests, "90000tokens": n_in + n_out, "0.09usd": (n_in + 3 * n_out) / 1e6}[
            budget
        ]
        assert spent <= float(budget.rstrip("abcdefghijklmnopqrstuvwxyz"))
        assert server.requests >= 3
        assert server.most_at_once > 2
        assert (found["stopped"], found["labels"], found["left"]) == ("budget", server.requests, 50 - server.requests)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Judges may not be asked on"),
        ({"judge_servers": "{server}", "judge_key": "wrong"}, "does not take the key"),
    ],
)
def test_a_worker_that_lacks_a_setting_leaves_the_job_to_the_command_that_waits_for_it(
    judging: Judging, settings: dict[str, str], said: str
) -> None:
    """As that of a server without ASSAY_JUDGE_SERVERS, or with another key, that has the job of a killed command."""
    judging.with_items(item(1), item(2))
    home = judging.assay.home
    with ScriptedServer(then=script.Whole(), key=KEY) as server:
        judging(server, "--sample", "1", "--yes")
        db = Database(f"sqlite:///{home / 'assay.db'}")
        with db.read() as session:
            before = session.exec(select(Job)).one()
        parameters = {name: value for name, value in before.parameters.items() if name != "sample"}
        left = queue_job(db, local_administrator(db), before.project_id or 0, kind="judge", parameters=parameters)
        desk = WorkerDesk(db, "of a server")
        taken = desk.take(left.job_id)
        assert taken is not None
        own = {name: value.format(server=server.base_url) for name, value in settings.items()}
        lacking = replace(Settings.load({}, home=home), **own)
        with pytest.raises(NotEquipped, match=said):
            carry_out(db, desk, taken, settings=lacking, leaves=True)
        assert (desk.take(), desk.has_work()) == (None, False)
        listed = judging.assay("job", "list", "finance", "--json").json
        assert (listed[0]["state"], said in listed[0]["message"]) == ("waiting", True)
        found = judging.json(server, "--yes")
    assert (found["left"], found["stopped"]) == (0, None)
    with db.read() as session:
        jobs = session.exec(select(Job).order_by(col(Job.id))).all()
    db.dispose()
    assert [(job.state, job.message) for job in jobs] == [("done", None)] * 2


def test_a_command_that_waits_for_a_worker_takes_the_job_that_this_one_leaves(
    judging: Judging, server: ScriptedServer
) -> None:
    judging.with_items(item(1), item(2))
    home = judging.assay.home
    judging(server, "--sample", "1", "--yes")
    db = Database(f"sqlite:///{home / 'assay.db'}")
    with db.read() as session:
        before = session.exec(select(Job)).one()
    parameters = {name: value for name, value in before.parameters.items() if name != "sample"}
    left = queue_job(db, local_administrator(db), before.project_id or 0, kind="judge", parameters=parameters)
    desk = WorkerDesk(db, "of a server")
    taken = desk.take(left.job_id)
    assert taken is not None

    def leave_it() -> None:
        time.sleep(1)
        desk.leave(left.job_id, "It lacks a key.")

    other = threading.Thread(target=leave_it)
    other.start()
    found = judging.json(server, "--yes")
    other.join()
    db.dispose()
    assert (found["left"], found["stopped"]) == (0, None)


def test_a_run_over_a_project_is_found_by_its_name_by_all_that_follows(
    judging: Judging, server: ScriptedServer
) -> None:
    judging.assay("import", "finance", write_items(judging.folder / "in", *(item(number) for number in range(4))))
    about = ("--model", "tiny-judge", "--base-url", server.base_url, "--pictures", "0")
    asked = ("judge", "finance", "--protocol", "answer_grading", "--name", "graded", *about)
    assert judging.assay.json(*asked)["items"] == 4
    assert judging.assay.json(*asked)["requests"] == 0  # given again it is the same study
    rows = judging.assay.json("results", "finance", "graded")["rows"]
    [mean] = [row for row in rows if (row["name"], row["criterion"], row["group"]) == ("mean", "grade", None)]
    assert (mean["value"], mean["labels"]) == (1.5, "judge")  # 0, 1, 2 and 3
    score = ("score", "finance", "--scorer", "answer_grade", "--labels-of", "graded")
    made = judging.assay.json(*score)
    assert (made["mean"], made["n_scored"], made["unscored"]) == (1.5, 4, [])
    assert made["parameters"]["labels_by"] == ["tiny-judge plain@1"]
    judging.assay("import", "finance", write_items(judging.folder / "more", item(9)))
    later = judging.assay.json(*score)
    assert later["unscored"] == [{"reason": "tiny-judge plain@1 has not judged it in graded", "n": 1}]
    assert "has not judged it in graded" in judging.assay(*score).out
    refused = judging.assay(*score, "--labels-by", "tiny-jugde", code=3)
    assert "Nobody called 'tiny-jugde' has labels to take in 'graded'" in refused.err
    assert "'graded' is about 4 items as they were when it was made" in judging.assay(*asked, code=5).err
    named = judging.assay("judge", "finance", "graded", "--name", "other", *about, code=2)
    assert "'graded' has a name already" in named.err.replace("\n│ ", " ")
