"""`assay revise`: an item in a new version from the command line."""

from __future__ import annotations

from pathlib import Path

import orjson

from tests.app.cli.command_line import CommandLine, write_items

ITEM = {"id": "q1", "question_key": "q1", "question": "Which stops have a lift?", "answer": "Mill Bridge."}


def fields(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "fields.json"
    path.write_text(text)
    return path


def test_a_revision_says_from_where_to_where_and_a_dry_run_the_same(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    assay("import", "finance", write_items(tmp_path, ITEM))
    given = ("--fields", fields(tmp_path, '{"answer": "Mill Bridge and Station Square."}'), "--reason", "incomplete")
    expected = {
        "item": "q1",
        "from": 1,
        "to": 2,
        "changed": ["answer"],
        "invalidated": [],
        "kept": [],
        "fallen_verdicts": 0,
    }
    assert assay.json("revise", "finance", "q1", *given, "--dry-run") == expected
    assert assay.json("revise", "finance", "q1", *given) == expected
    assert "nothing changes" in assay("revise", "finance", "q1", *given, code=2).err
    text = assay("revise", "finance", "q1", "--fields", fields(tmp_path, '{"category": "a"}'), "--reason", "x").out
    assert text == "q1 is in version 3 (was 2): category.\n"


def test_a_revision_says_how_many_verdicts_on_claims_fall(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    claims = [{"key": "c1", "text": "Mill Bridge has a lift."}, {"key": "c2", "text": "It is the only one."}]
    verdicts = [{"claim": key, "against": "context", "label": "neutral", "source": "people"} for key in ("c1", "c2")]
    assay("import", "finance", write_items(tmp_path, {**ITEM, "claims": claims, "verdicts": verdicts}))
    reworded = orjson.dumps({"claims": [{"key": "c1", "text": "Mill Bridge has two lifts."}, claims[1]]}).decode()
    given = ("--fields", fields(tmp_path, reworded), "--reason", "two")
    assert assay.json("revise", "finance", "q1", *given, "--dry-run")["fallen_verdicts"] == 1
    assert assay("revise", "finance", "q1", *given).out == (
        "q1 is in version 2 (was 1): claims, metadata.\n"
        "1 verdict that came with the item falls: it is on what is edited.\n"
    )


def test_a_file_that_is_none_and_an_item_that_is_not_there_are_refused(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    assay("import", "finance", write_items(tmp_path, ITEM))
    for text, words in (
        ("{", "fields.json, line 1: this is no JSON"),
        ("[1]", "is no object of fields"),
        ("{}", "no object"),
    ):
        path = fields(tmp_path, text)
        assert words in assay("revise", "finance", "q1", "--fields", path, "--reason", "x", code=2).err
    missing = tmp_path / "none.json"
    assert "There is no file" in assay("revise", "finance", "q1", "--fields", missing, "--reason", "x", code=3).err
    path = fields(tmp_path, '{"answer": "x"}')
    assert "no item 'q2'" in assay("revise", "finance", "q2", "--fields", path, "--reason", "x", code=3).err


def test_an_import_accepts_what_it_proposes(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    assay("import", "finance", write_items(tmp_path, ITEM))
    other = write_items(tmp_path, {**ITEM, "answer": "Mill Bridge and Station Square."})
    plain = assay("import", "finance", other).out
    assert "1 proposed revision (there with other content; nothing was changed):" in plain
    assert assay.json("import", "finance", other, "--dry-run", "--accept-revisions")["revised"] == 1
    report = assay.json("import", "finance", other, "--accept-revisions")
    assert (report["batch"], report["proposed_revisions"], report["revised"]) == (None, 1, 1)
    assert "unchanged" in str(assay.json("import", "finance", other, "--accept-revisions"))
    worse = write_items(tmp_path, {**ITEM, "answer": "None."})
    assert "nothing changes" not in assay("import", "finance", worse, "--accept-revisions").out
    assert "1 revised" in assay("import", "finance", write_items(tmp_path, {**ITEM, "answer": "Some."}),
                                "--accept-revisions").out  # fmt: skip
