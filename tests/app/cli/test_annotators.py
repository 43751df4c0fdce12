"""`assay annotators`: what one submitted is left out and restored."""

from __future__ import annotations

from pathlib import Path

from tests.app.cli.command_line import CommandLine, write_items


def test_labels_are_left_out_and_restored_with_reasons(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    create = ("study", "create", "finance", "v", "--protocol", "qa_verification", "--sample", "2")
    begun(*create, "--annotators", "ada,ben", "--overlap", "2")
    drop = ("annotators", "drop", "finance", "v", "ben", "--from", "2026-01-05")
    assert "--reason" in begun(*drop, code=2).err
    assert "no annotator" in begun(*drop[:4], "eve", *drop[5:], "--reason", "x", code=3).err
    found = begun.json(*drop, "--reason", "at random")
    assert found == {"annotator": "ben", "annotations": 0, "surplus": 0, "items": 0, "short": 1}
    assert "is left out already" in begun(*drop, "--reason", "at random", code=5).err
    said = begun(*drop[:-1], "2026-01-06", "--reason", "not the first day").out
    assert said.startswith("0 annotations by ben left out, of 0 items. The overlap needs 1 annotator more")
    assert begun.json("status", "finance", "v")["annotators"][1]["left_out_from"].startswith("2026-01-0")
    restore = ("annotators", "restore", "finance", "v", "ben", "--reason", "a misunderstanding")
    assert begun(*restore).out == "0 annotations by ben put back, of 0 items.\n"
    assert "nothing to restore" in begun(*restore, code=5).err
    shown = begun.json("study", "show", "finance", "v")["left_out"]
    assert [(row["annotator"], row["from"] is None, row["reason"]) for row in shown] == [
        ("ben", False, "at random"),
        ("ben", False, "not the first day"),
        ("ben", True, "a misunderstanding"),
    ]
    assert "a misunderstanding" in begun("study", "show", "finance", "v").out
