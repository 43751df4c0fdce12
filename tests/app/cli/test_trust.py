"""What judges are worth, on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine, write_items
from tests.exports.judging.makers import panelled
from tests.judging.answering import AnsweringServer, Habits


@pytest.fixture
def judged(begun: CommandLine, tmp_path: Path) -> CommandLine:
    database = begun.database()
    errors = {"A": 0.15, "B": 0.25, "C": 0.25}
    panelled(database, local_administrator(database), tmp_path / "source", errors, questions=14, labelled=12)
    database.dispose()
    return begun


def test_a_panel_is_held_against_people(judged: CommandLine) -> None:
    call = ("panel", "judged", "grading", "--judges", "A,B,C", "--resamples", "200")
    found = judged.json(*call)
    assert {entry["name"] for entry in found["statistics"]} == {
        "panel_right", "member_right", "best_member_right", "panel_gain",
    }  # fmt: skip
    assert found["judges"] == ["A", "B", "C"]
    assert {entry["group"] for entry in found["statistics"] if entry["name"] == "member_right"} == {"A", "B", "C"}
    assert judged.json(*call, "--rule", "dawid_skene")["rule"] == "dawid_skene"
    words = judged(*call).out
    assert "Panel less its best member" in words
    assert "ties among the judges" in words


def test_a_panel_of_nobody_is_refused(judged: CommandLine) -> None:
    assert "Judges of it: 'A', 'B', 'C'" in judged("panel", "judged", "grading", "--judges", "A,Z", code=3).err
    assert "two judges or more" in judged("panel", "judged", "grading", "--judges", "A", code=2).err
    refused = judged("panel", "judged", "grading", "--judges", "A,B", "--rule", "median", code=2).err
    assert "'median' is none of majority, mean, dawid_skene" in refused


def test_a_judge_is_checked_from_what_is_stored(judged: CommandLine, tmp_path: Path) -> None:
    call = ("judge", "check", "judged", "grading", "--judge", "A", "--resamples", "200")
    found = judged.json(*call, "--family", "quay,harbour")
    assert found["family"] == ["quay", "harbour"]
    names = {entry["name"] for entry in found["statistics"]}
    assert {"judge_error", "agreement_change", "alt_test_winning_rate", "family_bias", "self_agreement"} <= names
    right = next(one for one in found["criteria"] if one["criterion"] == "right")
    assert right["confusion"][0]["labels"] == ["no", "yes"]
    assert judged.json(*call, "--labels", "settled")["labels"] == "settled"
    report = tmp_path / "trust.html"
    words = judged(*call, "--report", str(report)).out
    assert "Agreement with the judge as one more rater" in words
    assert "The judge A in study grading" in report.read_text()


@pytest.mark.parametrize(
    "call",
    [
        ("agreement", "judged", "grading", "--judges", "A"),
        ("alignment", "judged", "grading"),
        ("judge", "check", "judged", "grading", "--judge", "A"),
    ],
    ids=["agreement", "alignment", "judge check"],
)
def test_people_are_named_only_where_it_is_asked_for(
    judged: CommandLine, tmp_path: Path, call: tuple[str, ...]
) -> None:
    few = (*call, "--resamples", "20")
    for more, told, kept in (((), r"\bA1\b", r"\bada\b"), (("--names",), r"\bada\b", r"\bA1\b")):
        report = tmp_path / f"report{len(more)}.html"
        printed = judged(*few, *more, "--report", report).out
        for said in (str(judged.json(*few, *more)), printed, report.read_text()):
            assert re.search(told, said), said[:2000]
            assert not re.search(kept, said), said[:2000]
    if call[0] != "judge":
        refused = judged(call[0], "--table", report, "--names", code=2).err
        assert "Of a table raters are called as it calls them" in refused


def test_a_judge_that_cannot_be_checked_is_refused_in_a_sentence(judged: CommandLine) -> None:
    check = ("judge", "check", "judged", "grading", "--judge")
    assert "Judges of it: 'A', 'B', 'C'" in judged(*check, "Z", code=3).err
    assert "ε is 1.5" in judged(*check, "A", "--epsilon", "1.5", code=2).err
    assert "'mean' is none of majority, settled" in judged(*check, "A", "--labels", "mean", code=2).err


# Asked once more ------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(begun: CommandLine, tmp_path: Path) -> Iterator[tuple[CommandLine, AnsweringServer]]:
    """A study of ten items that a judge has judged, and people."""
    rows = [
        {"id": f"i{n}", "question_key": f"q{n}", "question": f"Question {n}?", "answer": f"Answer {n} truth=complete",
         "system": "one", "evidence": [{"id": f"e{m}", "kind": "passage", "text": f"Passage {m}."} for m in (1, 2)]}
        for n in range(10)
    ]  # fmt: skip
    begun("import", "finance", write_items(tmp_path, *rows))
    with AnsweringServer(Habits(first_label=0.5, repeats=0.5)) as server:
        call = ("judge", "finance", "--protocol", "completeness", "--model", "tiny-judge", "--pictures", "0")
        begun(*call, "--base-url", server.base_url, "--yes")
        labels = tmp_path / "labels.csv"
        lines = [f"i{n},{who},complete,complete" for n in range(10) for who in ("ada", "ben")]
        labels.write_text("\n".join(["item,annotator,criterion,value", *lines]))
        begun("labels", "import", "finance", "completeness by judges", labels)
        yield begun, server


CHECK = ("judge", "check", "finance", "completeness by judges", "--judge", "tiny-judge plain@1", "--resamples", "100")


def test_a_judge_is_asked_once_more_and_its_labels_stay(asked: tuple[CommandLine, AnsweringServer]) -> None:
    assay, server = asked
    plan = assay.json(*CHECK, "--flips", "--repeats", "3", "--dry-run")
    assert (plan["items"], plan["requests"], len(server.sent)) == (10, 10 * (4 + 2), 10)
    assert "a run would have" in assay(*CHECK, "--flips", "--dry-run").out
    found = assay.json(*CHECK, "--flips", "--repeats", "3", "--sample", "6", "--budget", "500requests", "--yes")
    assert [one["items"] for one in found["asked"]["trials"]] == [6] * 6
    assert found["asked"]["requests"] == len(server.sent) - 10 == 6 * (4 + 2)
    by_name = {entry["name"]: entry for entry in found["statistics"] if entry["group"] is None}
    assert by_name["flip_rate_labels"]["n"] == by_name["self_agreement"]["n"] == 6
    assert "no two answers" in by_name["flip_rate_order"]["reason"]
    stored = assay.json(*CHECK)
    assert "asked" not in stored
    assert stored["statistics"] == found["statistics"]
    judged = next(entry for entry in found["statistics"] if entry["name"] == "judge_error" and entry["group"] is None)
    assert judged["n"] == 10
    words = assay(*CHECK, "--repeats", "3", "--sample", "6", "--yes").out
    assert "Tried: repeats 3 (0 items). 0 requests" in words
    assert server.paid_twice == []


def test_other_prompts_are_tried_by_name(asked: tuple[CommandLine, AnsweringServer], tmp_path: Path) -> None:
    assay, _ = asked
    other = tmp_path / "quick.yaml"
    other.write_text("name: quick\nsystem: Judge. Be quick.\n")
    found = assay.json(*CHECK, "--prompts", str(other), "--yes")
    assert {cell["prompt"] for cell in found["criteria"][0]["prompts"]} == {"plain@1", "quick@1"}
    assert "'nobody'" in assay(*CHECK, "--prompts", "nobody", code=3).err


def test_what_cannot_be_asked_is_refused_in_a_sentence(asked: tuple[CommandLine, AnsweringServer]) -> None:
    assay, server = asked
    before = len(server.sent)
    assert "Nothing is asked without" in assay(*CHECK, "--sample", "5", code=2).err
    assert "Name prompts" in assay(*CHECK, "--prompts", ",", code=2).err
    assert "has no price of 'tiny-judge'" in assay(*CHECK, "--flips", "--budget", "5usd", code=2).err
    elsewhere = ("judge", "check", "finance", "completeness by judges", "--judge", "ada", "--flips")
    assert "cannot be asked" in assay(*elsewhere, code=3).err
    assert len(server.sent) == before
