"""`assay release`, `releases`, `export --release` and `end` from the command line."""

from __future__ import annotations

from pathlib import Path

from tests.app.cli.command_line import CommandLine, write_items

ITEMS = [{"id": f"q{n}", "question_key": f"q{n}", "question": "Which stops?", "answer": "Mill Bridge."} for n in (1, 2)]


def test_items_are_ended_released_compared_and_exported(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    assay("import", "finance", write_items(tmp_path, *ITEMS))
    assert "so that there is nothing to release" in assay("release", "finance", "v1", code=5).err
    ended = assay.json("end", "finance", "q1", "accepted", "--reason", "read by two")
    assert ended == {"item": "q1", "version": 1, "before": "no_study", "state": "accepted"}
    made = assay.json("release", "finance", "v1")
    assert (made["release"], made["items"], made["labels"]) == ("v1", 1, 0)
    assert made["states"] == {"accepted": 1, "no_study": 1}
    assert len(made["sha256"]) == 64
    assert "has a release 'v1'" in assay("release", "finance", "v1", code=5).err
    text = assay("end", "finance", "q2", "accepted", "--reason", "as well").out
    assert text == "q2, version 1, is accepted (was no study).\n"
    assert "Release v2: 2 items, 0 final labels." in assay("release", "finance", "v2").out
    assert [row["release"] for row in assay.json("releases", "finance")] == ["v2", "v1"]
    found = assay.json("releases", "finance", "--compare", "v1", "v2")
    assert (found["in_both"], found["added"], found["same"]) == (1, ["q2"], False)
    assert "added: 1\n  q2" in assay("releases", "finance", "--compare", "v1", "v2").out
    assert "Known: v1, v2" in assay("releases", "finance", "--compare", "v1", "v9", code=3).err
    export = assay.json("export", "finance", "--release", "v1", "--to", tmp_path / "v1")
    assert export["counts"]["items"] == 1
    assert assay.json("verify", tmp_path / "v1")["ok"]
    refused = assay("export", "finance", "--release", "v1", "--to", tmp_path / "x", "--format", "labels", code=2)
    assert "no single annotator's" in refused.err
    assert assay.json("end", "finance", "q1", "undo", "--reason", "x")["state"] == "no_study"
    assert "is no end of an item" in assay("end", "finance", "q1", "done", "--reason", "x", code=2).err
    told = assay.json("item", "finance", "q1")
    assert (told["state"], told["releases"]) == ("no_study", ["v1", "v2"])
    assert [row["did"] for row in told["story"]] == [
        "imported", "accepted by hand", "released", "released", "taken up again",
    ]  # fmt: skip
    assert "Version 1 went into the release v1." in assay("item", "finance", "q1").out
