"""`assay why`: the story of a label, in words and as JSON; `assay events`: the log of a project."""

from __future__ import annotations

import csv
import io
import json
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from app.cli import main
from app.cli.output import READ_ENOUGH
from tests.app.cli.command_line import CommandLine, write_items

LABELS = """item,annotator,criterion,target,value,comment
q0:harbour,xeno,right,item,yes,
q0:harbour,yara,right,item,yes,"so \x1b[31m it
says"
q1:harbour,xeno,right,item,yes,
q1:harbour,yara,right,item,no,
"""


@pytest.fixture
def labelled(begun: CommandLine, tmp_path: Path) -> CommandLine:
    """A study of labels made elsewhere: q0 is settled, q1 is not."""
    begun("import", "finance", write_items(tmp_path))
    (tmp_path / "labels.csv").write_text(LABELS)
    begun("labels", "import", "finance", "people", tmp_path / "labels.csv", "--infer")
    return begun


def test_a_label_is_told_as_a_story(labelled: CommandLine) -> None:
    lines = labelled("why", "finance", "people", "q0:harbour", "right").out.splitlines()
    assert lines[0].endswith("(right), q0:harbour in people")
    assert lines[1] == "  The final label is yes: unanimous, by the rule unanimous. Labels that count: yes 2."
    said = [line.split("  ", 1)[1] for line in lines[3:]]
    assert said[0].startswith("admin imported q0:harbour (version 1) in batch 1, from ")
    assert said[1:] == [
        "admin made the study, of version 1.",
        "admin imported labels in batch 2, from labels.csv.",
        "xeno labelled yes, elsewhere.",
        "yara labelled yes, elsewhere. Comment: so \\x1b[31m it says.",
    ]
    assert "It is open: the rule is unanimous, and nobody has decided. Labels that count: no 1, yes 1." in (
        labelled("why", "finance", "people", "q1:harbour", "right").out
    )


def test_as_json_it_has_every_step(labelled: CommandLine) -> None:
    found = labelled.json("why", "finance", "people", "q0:harbour", "right", "item")
    assert (found["label"], found["how"], found["votes"]) == ("yes", "unanimous", {"yes": 2})
    assert [(step["who"], step["did"], step["saw"]) for step in found["steps"][3:]] == [
        ("xeno", "labelled", []), ("yara", "labelled", []),
    ]  # fmt: skip
    assert all(step["event"] for step in found["steps"][:3])
    assert found["steps"][3]["at"].endswith("+00:00")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("q9", "right"), "no item 'q9'. It has: "),
        (("q0:harbour", "wrong"), "no criterion 'wrong'. It has: right."),
        (("q0:harbour", "right", "claim:c1"), "'claim:c1' has no label. Those that have: item."),
    ],
)
def test_what_is_not_there_is_named(labelled: CommandLine, arguments: tuple[str, ...], words: str) -> None:
    assert words in labelled("why", "finance", "people", *arguments, code=3).err


# Events ---------------------------------------------------------------------------------------------------------------


def test_the_log_of_a_project_is_printed_in_order_in_every_form(
    labelled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.history.AT_ONCE", 2)
    found = labelled.json("events", "finance")
    assert [event["kind"] for event in found] == [
        "project created",
        "items imported",
        "study created",
        "labels imported",
    ]
    assert [event["event"] for event in found] == sorted(event["event"] for event in found)
    assert {(event["who"], event["via"], event["project"]) for event in found} == {("admin", "command", "finance")}
    lines = labelled("events", "finance").out.splitlines()
    assert [json.loads(line) for line in lines] == found
    assert labelled("events", "finance", "--format", "jsonl").out.splitlines() == lines
    table = list(csv.DictReader(io.StringIO(labelled("events", "finance", "--format", "CSV").out)))
    assert [{**row, "event": int(row["event"]), "details": json.loads(row["details"])} for row in table] == found


def test_events_are_chosen_by_kind_and_time(labelled: CommandLine) -> None:
    everything = labelled.json("events", "finance")
    assert [event["kind"] for event in labelled.json("events", "finance", "--kind", "study")] == ["study created"]
    since = everything[2]["at"]
    assert labelled.json("events", "finance", "--since", since) == everything[2:]
    assert labelled.json("events", "finance", "--since", since[:10]) == everything
    for given in ("2999-01-01", "2999-01-01T10:00", "2999-01-01T10:00:00Z", "2999-01-01T10:00:00+02:00"):
        assert labelled("events", "finance", "--kind", "study", "--since", given).out == ""
    assert labelled.json("events", "finance", "--since", "2999-01-01") == []
    assert labelled("events", "finance", "--since", "2999-01-01", "--format", "csv").out == (
        "event,at,who,via,project,kind,about,details\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "lunch"), "There are: items imported, labels imported, project created, study created."),
        (("--since", "yesterday"), "'yesterday' is no time. Give a date (2026-11-20), or date and time"),
        (("--since", "0001-01-01T00:00:00+14:00"), "is no time"),
        (("--format", "xml"), "'xml' is none of jsonl, csv."),
        (("--format", "csv", "--json"), "all of it is one document"),
    ],
)
def test_a_kind_a_time_and_a_format_that_are_none_are_told_what_there_is(
    labelled: CommandLine, arguments: tuple[str, ...], words: str
) -> None:
    outcome = labelled("events", "finance", *arguments, code=2)
    assert words in " ".join(outcome.err.split())


def test_a_spreadsheet_runs_nothing_of_the_log(begun: CommandLine) -> None:
    begun("project", "create", "=HYPERLINK(A1)")
    rows = list(csv.DictReader(io.StringIO(begun("events", "=HYPERLINK(A1)", "--format", "csv").out)))
    assert rows[0]["project"] == "'=HYPERLINK(A1)"


def test_only_researchers_read_the_log(labelled: CommandLine) -> None:
    assert "may not" in labelled("--as", "ada", "events", "finance", code=4).err


class NobodyReadsOn(io.StringIO):
    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_command_ends_quietly_where_nobody_reads_on(labelled: CommandLine) -> None:
    given = ["--home", str(labelled.home), "events", "finance"]
    with redirect_stdout(NobodyReadsOn()), pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == READ_ENOUGH
