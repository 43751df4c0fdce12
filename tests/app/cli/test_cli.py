"""The command line, end to end: each command does what it says and prints what it promises."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from annotators.errors import NotSignedIn
from db.engine import Database
from db.events import list_events
from db.people.accounts import local_administrator
from db.people.sign_in import one_time_person, session_actor, sign_in
from tests.app.cli.command_line import CommandLine, write_items

PASSWORD = "four plain words here"

TONE = """\
name: tone
title: Tone
guidelines: Say how the answer sounds.
criteria:
  - name: tone
    kind: choice
    title: The tone is
    labels:
      - value: plain
      - value: pompous
steps:
  - name: answer
    title: Answer
    shows: [question, answer]
    criteria: [tone]
overlap: 2
"""


@contextmanager
def database_of(assay: CommandLine) -> Iterator[Database]:
    database = assay.database()
    try:
        yield database
    finally:
        database.dispose()


def rows_of(assay: CommandLine) -> dict[str, int]:
    """How many rows every table has."""
    connection = sqlite3.connect(assay.home / "assay.db")
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    finally:
        connection.close()


# Beginning ------------------------------------------------------------------------------------------------------------


def test_init_prints_an_address_that_signs_the_administrator_in(assay: CommandLine) -> None:
    made = assay.json("init")
    assert made["created"]
    assert (assay.home / "assay.db").is_file()
    assert (assay.home / "data" / "documents").is_dir()
    with database_of(assay) as database:
        assert one_time_person(database, made["sign_in"].rpartition("/")[2].removesuffix("?now")) == ("admin", False)


def test_a_second_init_changes_nothing(assay: CommandLine) -> None:
    first = assay.json("init")
    before = rows_of(assay)
    second = assay.json("init")
    assert (second["created"], second["sign_in"]) == (False, None)
    assert rows_of(assay) == before
    with database_of(assay) as database:
        assert one_time_person(database, first["sign_in"].rpartition("/")[2].removesuffix("?now"))[0] == "admin"


def test_without_a_database_a_command_says_how_to_make_one(assay: CommandLine) -> None:
    outcome = assay("project", "list", code=3)
    assert f"assay --home {assay.home} init" in outcome.err
    assert not assay.home.exists()


def test_doctor_prints_every_setting_and_what_is_missing(assay: CommandLine) -> None:
    before = assay.json("doctor", code=1)
    assert "init" in before["problems"][0]
    assay("init")
    after = assay.json("doctor")
    assert after["problems"] == []
    assert after["database"]["revision"] == after["database"]["needs_revision"]
    settings = {setting["name"]: setting for setting in after["settings"]}
    assert settings["home"]["value"] == str(assay.home)
    assert settings["port"]["default"] == "8501"
    assert all(setting["help"] for setting in settings.values())
    words = assay("doctor").out
    assert all(name in words for name in settings)


# People ---------------------------------------------------------------------------------------------------------------


def test_a_person_signs_in_with_the_password_from_standard_input(assay: CommandLine) -> None:
    assay("init")
    assay("user", "add", "grace", "--admin", "--password-stdin", stdin=PASSWORD + "\n")
    with database_of(assay) as database:
        token = sign_in(database, "grace", PASSWORD, None)
        actor = session_actor(database, token)
        assert actor is not None
        assert actor.is_admin
        assay("user", "password", "grace", "--password-stdin", stdin="another four words there")
        assert session_actor(database, token) is None
        with pytest.raises(NotSignedIn):
            sign_in(database, "grace", PASSWORD, None)
        assert sign_in(database, "grace", "another four words there", None)


def test_a_person_without_a_password_gets_an_address(assay: CommandLine) -> None:
    assay("init")
    made = assay.json("user", "add", "ada", "--role", "annotator")
    later = assay.json("user", "sign-in-address", "ada")
    with database_of(assay) as database:
        assert one_time_person(database, later["sign_in"].rpartition("/")[2]) == ("ada", False)
        with pytest.raises(Exception, match="used or has expired"):
            one_time_person(database, made["sign_in"].rpartition("/")[2].removesuffix("?now"))
    listed = {user["person"]: user for user in assay.json("user", "list")}
    assert (listed["ada"]["default_role"], listed["ada"]["has_password"]) == ("annotator", False)


def test_an_erased_person_is_gone_from_the_list(begun: CommandLine) -> None:
    packed = begun.home / "data/downloads/1-1-a/study.zip"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(b"with her name")
    begun("user", "erase", "ada")
    assert not packed.exists()
    assert "ada" not in {user["person"] for user in begun.json("user", "list")}
    begun("user", "erase", "ada", code=3)
    assert "only administrator" in begun("user", "erase", "admin", code=5).err


def test_a_membership_goes_before_the_default_role(begun: CommandLine) -> None:
    begun("member", "add", "finance", "ada", "--role", "viewer")
    roles = {
        member["person"]: (member["role"], member["by_default"]) for member in begun.json("member", "list", "finance")
    }
    assert roles["ada"] == ("viewer", False)
    assert roles["ben"] == ("annotator", True)
    begun("member", "remove", "finance", "ada")
    assert begun.json("member", "list", "finance")[0] == {"person": "ada", "role": "annotator", "by_default": True}


def test_acting_as_somebody_has_their_rights_and_is_recorded(begun: CommandLine) -> None:
    begun("user", "add", "rosa", "--role", "researcher")
    begun("--as", "ada", "member", "add", "finance", "ben", "--role", "viewer", code=4)
    begun("--as", "rosa", "member", "add", "finance", "ben", "--role", "viewer")
    begun("--as", "nobody", "project", "list", code=3)
    begun("--as", "", "project", "list", code=3)
    with database_of(begun) as database:
        last = list_events(database, local_administrator(database))[0]
    assert (last.kind, last.who, last.via) == ("member set", "rosa", "command")


def test_a_researcher_makes_a_study_and_plans_one(begun: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"question": "Q?", "answer": "A", "evidence": [{"text": "A"}]}')
    begun("import", "finance", tmp_path / "items.jsonl")
    begun("user", "add", "rosa")
    begun("member", "add", "finance", "rosa", "--role", "researcher")
    made = ("--protocol", "qa_verification", "--annotators", "ada", "--overlap", "1")
    begun("--as", "rosa", "study", "create", "finance", "planned", *made, "--dry-run")
    begun("--as", "rosa", "study", "create", "finance", "kept", *made, "--draft")
    begun("--as", "ada", "study", "create", "finance", "not", *made, code=4)


# Projects and imports -------------------------------------------------------------------------------------------------


def test_a_project_is_created_once(begun: CommandLine) -> None:
    assert [project["project"] for project in begun.json("project", "list")] == ["finance"]
    assert "already" in begun("project", "create", "Finance", code=5).err


def test_a_dry_run_says_what_an_import_then_does(begun: CommandLine, tmp_path: Path) -> None:
    path = write_items(tmp_path / "in")
    before = rows_of(begun)
    preview = begun.json("import", "finance", path, "--format", "native", "--dry-run")
    assert preview == {
        "batch": None,
        "format": "native",
        "added": 6,
        "unchanged": 0,
        "proposed_revisions": 0,
        "documents": 0,
        "supplied": 0,
        "scores": 0,
        "rejected": [],
        "notes": [],
    }
    assert rows_of(begun) == before
    done = begun.json("import", "finance", path)
    assert {**done, "batch": None} == preview
    assert isinstance(done["batch"], int)
    again = begun.json("import", "finance", path, "--format", "native")
    assert (again["added"], again["unchanged"], again["batch"]) == (0, 6, None)


def test_a_bad_row_stops_an_import_unless_it_is_skipped(begun: CommandLine, tmp_path: Path) -> None:
    path = write_items(tmp_path / "in", {"question": "A?"}, {"answer": "without a question"}, {"question": "B?"})
    refused = begun("import", "finance", path, "--format", "native", "--json", code=2)
    assert refused.json["added"] == 0
    [bad] = refused.json["rejected"]
    assert (bad["file"], bad["line"]) == ("items.jsonl", 2)
    assert "--skip-bad" in refused.err
    assert begun.json("import", "finance", path, "--format", "native", "--skip-bad")["added"] == 2
    assert "items.jsonl, line 2:" in begun("import", "finance", path, "--dry-run").out


def test_an_import_is_withdrawn_and_put_back(begun: CommandLine, tmp_path: Path) -> None:
    batch = begun.json("import", "finance", write_items(tmp_path / "in"))["batch"]
    score = ("score", "finance", "--scorer", "phrase_recall")
    assert begun.json(*score)["n_scored"] == 6
    begun("withdraw", "finance", str(batch), "--reason", "wrong run")
    assert begun.json(*score)["n_scored"] == 0
    assert begun.json("batches", "finance")[0]["reason"] == "wrong run"
    begun("withdraw", "finance", str(batch), "--reason", "again", code=5)
    begun("withdraw", "finance", str(batch), "--reason", "right after all", "--undo")
    assert begun.json(*score)["n_scored"] == 6


# Scores ---------------------------------------------------------------------------------------------------------------


def test_scores_come_with_means_over_items_and_over_categories(begun: CommandLine, tmp_path: Path) -> None:
    row = {"question_key": "q", "question": "What was it?", "references": [["salt", "tin"]]}
    begun(
        "import",
        "finance",
        write_items(
            tmp_path / "in",
            {**row, "id": "a", "answer": "Salt and tin.", "category": "Text"},
            {**row, "id": "b", "answer": "Salt.", "category": "Text"},
            {**row, "id": "c", "answer": "Copper.", "category": "Tables"},
            {**row, "id": "d", "answer": "Copper.", "category": "Tables", "references": []},
        ),
    )
    found = begun.json("score", "finance", "--scorer", "phrase_recall", "--param", "mode=paper")
    # Text: (1 + 1/2) / 2 = 3/4; Tables: 0, and one item without a reference. Over items (1 + 1/2 + 0) / 3 = 1/2; over
    # categories (3/4 + 0) / 2 = 3/8.
    assert found == {
        "scorer": "phrase_recall",
        "version": found["version"],
        "parameters": {"mode": "paper"},
        "n_scored": 3,
        "n_unscored": 1,
        "unscored": [{"reason": "the item has no reference", "n": 1}],
        "mean": 0.5,
        "macro_mean": 0.375,
        "groups": [
            {"by": "system", "group": "reference", "n": 3, "mean": 0.5, "macro_mean": 0.375},
            {"by": "category", "group": "Tables", "n": 1, "mean": 0.0, "macro_mean": 0.0},
            {"by": "category", "group": "Text", "n": 2, "mean": 0.75, "macro_mean": 0.75},
        ],
    }
    assert "mode" in begun("score", "finance", "--scorer", "phrase_recall", "--param", "mood=paper", code=2).err
    assert "phrase_recall" in begun("score", "finance", "--scorer", "bleu", code=3).err


# Studies --------------------------------------------------------------------------------------------------------------


def test_a_study_is_made_with_the_sample_that_was_asked_for(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    create = ("study", "create", "finance", "verification", "--protocol", "qa_verification")
    made = begun.json(*create, "--annotators", "ada, ben,chloe", "--sample", "2", "--per", "system", "--seed", "3")
    assert (made["items"], made["slots"], made["protocol"]) == (4, 12, "qa_verification")  # 2 of each of 2 systems
    status = begun.json("status", "finance", "verification")
    assert (status["study"], status["protocol"], status["items"]) == ("verification", "qa_verification", 4)
    assert (status["states"]["open"], status["finished"]) == (12, False)
    assert [annotator["annotator"] for annotator in status["annotators"]] == ["ada", "ben", "chloe"]
    assert set(status["annotators"][0]) == {
        "annotator", "submitted", "open", "skipped", "surplus", "seconds_per_item", "guidelines_read", "left",
        "left_out_from", "paused", "failed", "quota", "phase", "gets_items", "allotted",
    }  # fmt: skip
    assert begun.json("study", "list", "finance")[0]["slots"] == 12


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--seed", str(2**80), "`seed` is 1208925819614629174706176: input should be less than"),
        ("--sample", str(2**80), "`sample` is"),
        ("--part", "nan", "`part` is nan: input should be a finite number"),
        ("--stop-at", "inf", "`stop_at` is inf: input should be a finite number"),
        (
            "--lease-minutes",
            str(10**12),
            "A lease of 1,000,000,000,000 minutes is too long. Give at most 527,040, a year.",
        ),
        ("--outside", str(10**12), "The quotas allow"),
    ],
)
def test_numbers_that_no_study_can_have_are_refused_in_words(
    begun: CommandLine, tmp_path: Path, option: str, value: str, words: str
) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    create = ("study", "create", "finance", "verification", "--protocol", "qa_verification", "--annotators", "ada,ben")
    more = ("--quota", "1", "--gold-rate", "1") if option == "--outside" else ()
    assert words in begun(*create, "--overlap", "2", option, value, *more, code=2).err
    assert begun.json("study", "list", "finance") == []


def test_a_study_is_paused_amended_and_closed_with_reasons(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    create = ("study", "create", "finance", "v", "--protocol", "qa_verification", "--sample", "2")
    begun(*create, "--annotators", "ada,ben", "--overlap", "2")
    here = ("finance", "v")
    assert "--reason" in begun("study", "pause", *here, code=2).err
    paused = begun.json("study", "pause", *here, "--reason", "new guidelines")
    assert paused == {"study": "v", "state": "paused", "changed": True}
    assert "already" in begun("study", "pause", *here, "--reason", "again").out
    begun("study", "start", *here, "--reason", "they are there")
    team = ("study", "amend", *here, "--reason", "Ben has left")
    assert "are left" in begun(*team, "--remove", "ben", code=2).err
    changed = begun.json(*team, "--remove", "ben", "--add", "chloe", "--overlap", "1", "--deadline", "2999-12-24")
    assert changed["changes"][:3] == ["chloe joined", "ben left", "overlap 2 → 1"]
    assert "'tomorrow' is no time" in begun(*team, "--deadline", "tomorrow", code=2).err
    begun("study", "close", *here, "--reason", "enough")
    assert "is closed, and stays as it is" in begun(*team, "--overlap", "2", code=5).err
    shown = begun.json("study", "show", *here)
    assert (shown["state"], shown["design"]["overlap"]) == ("closed", 1)
    assert shown["design"]["deadline"].startswith("2999-12-2")
    assert [(row["what"], row["after"], row["reason"]) for row in shown["amendments"]][2:4] == [
        ("annotators", ["ada", "chloe"], "Ben has left"),
        ("overlap", 1, "Ben has left"),
    ]
    assert "Ben has left" in begun("study", "show", *here).out
    status = begun.json("status", *here)
    assert (status["state"], status["states"]["open"], status["stuck"]) == ("closed", 2, 0)
    assert "closed" in begun("status", *here).out
    begun(*create, "--annotators", "ada,ben,chloe", code=5)
    assert "overlap" in begun(*create[:3], "more", *create[4:], "--annotators", "ada", "--overlap", "2", code=2).err


def test_a_study_takes_a_protocol_file_and_says_what_is_wrong_with_one(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    file = tmp_path / "tone.yaml"
    file.write_text(TONE)
    assert begun.json("protocol", "check", file)["criteria"] == ["tone"]
    create = ("study", "create", "finance", "tone", "--protocol", file, "--annotators", "ada,ben")
    assert begun.json(*create, "--rule", "majority", "--order", "given")["slots"] == 12  # the file's overlap is 2
    file.write_text(TONE.replace("kind: choice", "kind: chioce"))
    assert "tone.yaml, line 6" in begun("protocol", "check", file, code=2).err
    assert "tone.yaml, line 6" in begun(*create, code=2).err
    begun("study", "create", "finance", "x", "--protocol", "tome.yaml", "--annotators", "ada", code=3)


def test_a_built_in_protocol_printed_as_a_file_is_the_same_protocol(assay: CommandLine, tmp_path: Path) -> None:
    for protocol in assay.json("protocols"):
        file = tmp_path / f"{protocol['protocol']}.yaml"
        file.write_text(assay("protocols", "--export", protocol["protocol"]).out)
        assert assay.json("protocol", "check", file)["criteria"] == protocol["criteria"]


def test_a_score_by_retrieval_mode_comes_with_its_gap(begun: CommandLine, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{number}:{mode}", "question_key": f"q{number}", "question": "Which metal?", "references": ["tin"],
            "answer": "tin" if mode == "gold_only" else "lead", "metadata": {"retrieval_mode": mode},
        }
        for number in range(3)
        for mode in ("gold_only", "gold_and_distractors")
    ]  # fmt: skip
    begun("import", "finance", write_items(tmp_path, *rows))
    [gap] = begun.json("score", "finance", "--scorer", "retrieval_mode")["gaps"]
    assert (gap["name"], gap["group"], gap["value"], gap["n"]) == ("distractor_susceptibility", "reference", 1.0, 3)
    assert (gap["gold_only"], gap["gold_and_distractors"]) == (1.0, 0.0)
    assert "paired by question" in begun("score", "finance", "--scorer", "retrieval_mode").out


def test_a_study_about_scores_names_them(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    create = ("study", "create", "finance", "metrics", "--protocol", "metric_agreement", "--annotators", "ada,ben")
    assert "assay score" in begun(*create, code=2).err
    begun("score", "finance", "--scorer", "phrase_recall")
    assert begun.json(*create, "--show-score", "phrase_recall")["items"] == 6


def test_a_dry_run_says_which_items_have_no_score_and_makes_nothing(begun: CommandLine, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"i{number}",
            "question": f"What {number}?",
            "answer": "copper",
            "references": [["copper"]] * (number < 3),
        }
        for number in range(5)
    ]
    begun("import", "finance", write_items(tmp_path, *rows))
    begun("score", "finance", "--scorer", "phrase_recall")
    create = ("study", "create", "finance", "metrics", "--protocol", "metric_agreement", "--annotators", "ada,ben")
    said = begun(*create, "--dry-run").out
    assert "Would create study metrics: Metric agreement, 3 items, 6 slots." in said
    assert "2 items have no score (2 with a reason: unscored). This study is about Correctness score. Left out." in said
    assert begun.json("study", "list", "finance") == []
    assert begun.json(*create, "--dry-run")["left_out"] == 2
    made = begun.json(*create)
    assert (made["items"], made["left_out"]) == (3, 2)
    begun(*create, "--dry-run", code=5)


def test_a_protocol_that_does_not_work_yet_is_refused_with_the_remedy(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    text = begun("protocols", "--export", "abstention").out.replace(
        "shows: [question, answer]", "shows: [question, answer, suggestions]"
    )
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    assert "suggestions" in text
    for command in (
        ("protocol", "check", file),
        ("study", "create", "finance", "s", "--protocol", file, "--annotators", "ada,ben"),
    ):
        assert (
            "shows suggestions, but no criterion from there on is one that a model proposes labels for. "
            "Say where they are from with `suggested_by`, or take suggestions out of `shows`."
            in begun(*command, code=2).err
        )


# Lists ----------------------------------------------------------------------------------------------------------------


def test_lists_need_no_home_folder(assay: CommandLine) -> None:
    assert "phrase_recall" in {scorer["scorer"] for scorer in assay.json("scorers")}
    assert {"native", "fathoms"} <= {format_["format"] for format_ in assay.json("formats")}
    assert {"qa_verification", "ambiguity", "metric_agreement"} <= {
        protocol["protocol"] for protocol in assay.json("protocols")
    }
    assert not assay.home.exists()


@pytest.mark.parametrize("columns", ["80", "120"])
def test_tables_fit_the_columns_that_are_there(
    assay: CommandLine, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for lists in ("formats", "protocols"):
        out = assay(lists).out
        assert max(map(len, out.splitlines())) <= int(columns), lists
    assert {"native", "fathoms", "argilla"} <= set(assay("formats").out.split())


def test_in_a_pipe_a_row_is_a_line_and_no_format_has_an_endless_one(
    assay: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    of = {line.split()[0]: line for line in assay("formats").out.splitlines() if line}
    for entry in assay.json("formats"):
        assert entry["help"] in of[entry["format"]]
        if len(entry["loses"]) > 3:
            assert f"{entry['loses'][2]} and {len(entry['loses']) - 3} more" in of[entry["format"]]
    assert max(map(len, of.values())) < 500


# Exports and backups --------------------------------------------------------------------------------------------------


def exported(begun: CommandLine, tmp_path: Path) -> Path:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun(
        "study",
        "create",
        "finance",
        "v",
        "--protocol",
        "ambiguity",
        "--annotators",
        "ada,ben",
        "--overlap",
        "2",
        "--every-item",
    )
    folder = tmp_path / "out"
    done = begun.json("export", "finance", "--study", "v", "--to", folder, "--format", "native,labels,adjudicated")
    assert done["counts"]["items"] == 6
    assert {file["path"] for file in done["files"]} >= {"native/items.jsonl", "labels.csv", "adjudicated.csv"}
    return folder


def test_an_export_is_verified_with_and_without_the_database(begun: CommandLine, tmp_path: Path) -> None:
    folder = exported(begun, tmp_path)
    found = begun.json("verify", folder)
    assert found["ok"]
    assert found["database"]["ok"]
    begun("score", "finance", "--scorer", "phrase_recall")  # what comes later does not disturb it
    assert begun.json("verify", folder)["ok"]
    begun("export", "finance", "--to", folder, code=5)
    begun("export", "finance", "--to", tmp_path / "x", "--format", "parchment", code=2)
    said = begun("export", "finance", "--to", tmp_path / "other", "--format", "native,ragas").out
    assert ", 6 items as ragas in " in said


def test_a_changed_export_is_found_out(begun: CommandLine, tmp_path: Path) -> None:
    folder = exported(begun, tmp_path)
    path = folder / "native" / "items.jsonl"
    path.write_text(path.read_text().replace("601 euros", "611 euros"))
    found = begun.json("verify", folder, code=1)
    assert not found["ok"]
    assert [file["file"] for file in found["changed"]] == ["native/items.jsonl"]
    assert "native/items.jsonl" in begun("verify", folder, code=1).out
    begun("verify", tmp_path, code=2)
    folder = tmp_path / "typed"
    begun("export", "finance", "--study", "v", "--to", folder, "--format", "labels", "--xlsx")
    book = bytearray((folder / "labels.xlsx").read_bytes())
    book[len(book) // 3] ^= 1
    (folder / "labels.xlsx").write_bytes(book)
    assert begun("verify", folder, code=1).out.endswith("\n  changed: labels.xlsx, which cannot be read\n")
    assert begun.json("verify", folder, code=1)["database"]["changed"] == [
        {"file": "labels.xlsx", "line": None, "unreadable": True}
    ]


def test_a_backup_is_restored_and_what_was_there_is_kept(begun: CommandLine, tmp_path: Path) -> None:
    made = begun.json("backup", "--to", tmp_path / "monday.db")
    assert made["bytes"] > 0
    begun("backup", "--to", tmp_path / "monday.db", code=5)
    begun("project", "create", "later")
    done = begun.json("restore", tmp_path / "monday.db")
    assert [project["project"] for project in begun.json("project", "list")] == ["finance"]
    with database_of(begun) as database:
        last = list_events(database, local_administrator(database))[0]
    assert (last.kind, last.who, last.details["file"]) == ("database restored", "admin", "monday.db")
    begun("restore", done["before"])
    assert [project["project"] for project in begun.json("project", "list")] == ["finance", "later"]


@pytest.mark.parametrize("content", [b"", b"not a database" * 100, None])
def test_something_else_is_not_restored(begun: CommandLine, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "other.db"
    if content is None:
        connection = sqlite3.connect(file)
        connection.execute("CREATE TABLE t (x)")
        connection.close()
    else:
        file.write_bytes(content)
    before = rows_of(begun)
    begun("restore", file, code=2)
    assert rows_of(begun) == before


def test_the_documents_of_an_import_come_back_with_an_export(begun: CommandLine, tmp_path: Path) -> None:
    write_items(tmp_path / "in", {"question": "A?", "documents": ["note.txt"]})
    (tmp_path / "in" / "documents").mkdir()
    (tmp_path / "in" / "documents" / "note.txt").write_text("The rent was 600 euros.")
    begun("import", "finance", tmp_path / "in", "--format", "native")
    begun("export", "finance", "--to", tmp_path / "out", "--format", "native")
    [copy] = (tmp_path / "out").rglob("note.txt")
    assert copy.read_text() == "The rent was 600 euros."


def test_what_must_not_leave_is_marked_in_the_next_home_and_left_out_by_convert(
    begun: CommandLine, tmp_path: Path
) -> None:
    write_items(tmp_path / "in", {"question": "A?", "documents": ["note.txt"]})
    (tmp_path / "in" / "documents").mkdir()
    (tmp_path / "in" / "documents" / "note.txt").write_text("The rent was 600 euros.")
    begun("import", "finance", tmp_path / "in", "--format", "native")
    begun("documents", "finance", "--keep", "note.txt")
    begun("export", "finance", "--to", tmp_path / "out", "--format", "native")
    begun("project", "create", "copy")
    assert "1 documents marked to stay here" in begun("import", "copy", tmp_path / "out", "--dry-run").out
    assert begun.json("import", "copy", tmp_path / "out")["kept_here"] == 1
    assert [row["document"] for row in begun.json("documents", "copy") if row["kept_here"]] == ["note.txt"]
    said = begun("convert", tmp_path / "out", "--to", "table", "--output", tmp_path / "table")
    assert "lost: 1 of 1 × documents that must not leave this machine" in said.out
    assert not list((tmp_path / "table").rglob("note.txt"))


def as_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_exported_project_can_be_imported_again(begun: CommandLine, tmp_path: Path) -> None:
    folder = exported(begun, tmp_path)
    begun("project", "create", "copy")
    assert begun.json("import", "copy", folder / "native", "--format", "native")["added"] == 6
    begun("export", "copy", "--to", tmp_path / "copy", "--format", "native")
    ours = sorted(as_lines(folder / "native" / "items.jsonl"), key=lambda user: str(user["id"]))
    assert sorted(as_lines(tmp_path / "copy" / "native" / "items.jsonl"), key=lambda user: str(user["id"])) == ours
