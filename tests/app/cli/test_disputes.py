"""`assay disputes` and `assay adjudicate`."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.app.cli.command_line import CommandLine


def write(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def labelled(begun: CommandLine, tmp_path: Path) -> None:
    """A study of two annotators who differ about one item of two."""
    rows = [("item", "annotator", "criterion", "value")]
    rows += [("q1", "alan", "tone", "plain"), ("q1", "grace", "tone", "plain")]
    rows += [("q2", "alan", "tone", "plain"), ("q2", "grace", "tone", "pompous")]
    table = write(tmp_path / "labels.csv", *rows)
    begun("labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "nominal")
    begun("user", "add", "rosa", "--role", "adjudicator")


def test_disputes_are_listed_and_decided_from_a_file(begun: CommandLine, tmp_path: Path) -> None:
    labelled(begun, tmp_path)
    unit = {"criterion": "tone", "target": "item", "votes": {"plain": 1, "pompous": 1}, "weight": 0.5}
    assert begun.json("disputes", "finance", "raters") == [{"item": "q2", "units": [unit], "stage": "first"}]
    assert "1 disputed item, 1 unit to decide." in begun("disputes", "finance", "raters").out
    heading = ("item", "criterion", "target", "value", "reason")
    bad = write(tmp_path / "bad.csv", heading, ("q2", "tone", "item", "plain", ""), ("q3", "tone", "item", "plain", ""))
    refused = begun("--as", "rosa", "adjudicate", "finance", "raters", bad, "--json", code=2)
    assert refused.json["problems"] == [
        {"line": 3, "problem": "item 'q3' is not in the study.", "remedy": "Correct its id, or leave its rows out."}
    ]
    good = write(tmp_path / "good.csv", heading, ("q2", "tone", "item", "plain", ""))
    arguments = ("--as", "rosa", "adjudicate", "finance", "raters", good)
    done = {"study": "raters", "by": "rosa", "items": 1, "units": 1, "overruled": 0, "unchanged": 0}
    assert begun.json(*arguments) == done
    assert begun.json(*arguments) == {**done, "items": 0, "units": 0, "unchanged": 1}
    assert "1 item stood so already." in begun(*arguments).out
    assert begun("disputes", "finance", "raters").out.strip() == "Nothing is disputed."
    [event] = [row for row in begun.json("events", "finance") if row["kind"] == "item adjudicated"]
    assert (event["who"], event["via"]) == ("rosa", "command")


def test_a_decided_item_is_a_wrong_state_and_again_a_round(begun: CommandLine, tmp_path: Path) -> None:
    labelled(begun, tmp_path)
    heading = ("item", "criterion", "value")
    first = write(tmp_path / "first.csv", heading, ("q2", "tone", "plain"))
    second = write(tmp_path / "second.csv", heading, ("q2", "tone", "pompous"))
    begun("--as", "rosa", "adjudicate", "finance", "raters", first)
    assert "line 2" in begun("adjudicate", "finance", "raters", second, code=5).err
    assert begun.json("adjudicate", "finance", "raters", second, "--again")["items"] == 1
    assert "There is no file" in begun("adjudicate", "finance", "raters", tmp_path / "none.csv", code=3).err


def test_the_order_of_disputes_is_by_votes_or_by_the_model(begun: CommandLine, tmp_path: Path) -> None:
    labelled(begun, tmp_path)
    assert [row["item"] for row in begun.json("disputes", "finance", "raters", "--order", "uncertainty")] == ["q2"]
    assert [row["item"] for row in begun.json("disputes", "finance", "raters", "--order", "disagreement")] == ["q2"]
    assert "'random' is no order. Take one of: disagreement, uncertainty." in (
        " ".join(begun("disputes", "finance", "raters", "--order", "random", code=2).err.replace("│", "").split())
    )
