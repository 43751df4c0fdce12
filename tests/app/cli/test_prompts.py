"""`assay prompts` and `assay prompt …`: listed, shown, checked, added, compared."""

from __future__ import annotations

from pathlib import Path

from annotators.judges.prompts import PROMPTS
from tests.app.cli.command_line import CommandLine


def test_the_commands_list_show_check_add_and_compare(assay: CommandLine, tmp_path: Path) -> None:
    listed = {row["prompt"]: row for row in assay.json("prompts")}
    assert set(listed) == set(PROMPTS.names())
    assert (listed["answer_grade"]["protocol"], listed["claim_splitting"]["writes"]) == ("answer_grading", "claims")
    file = tmp_path / "strict.yaml"
    text_of = assay("prompts", "--show", "answer_grade").out
    file.write_text(text_of.replace("name: answer_grade", "name: strict_grades"))
    checked = assay.json("prompt", "check", file)
    assert (checked["prompt"], checked["hash"]) == ("strict_grades", listed["answer_grade"]["hash"])

    assay.begun()
    assert assay.json("prompt", "add", "finance", file)["version"] == 1
    file.write_text(file.read_text().replace("rationale: before", "rationale: none"))
    assert assay.json("prompt", "add", "finance", file)["version"] == 2
    assert "Nothing was added" in assay("prompt", "add", "finance", file).out
    [row] = [row for row in assay.json("prompts", "finance") if not row["built_in"]]
    assert ([version["version"] for version in row["versions"]], row["rationale"]) == ([2, 1], "none")
    found = assay.json("prompts", "finance", "--diff", "strict_grades@1", "strict_grades")
    assert (found["same"], found["a"]["version"], found["b"]["version"]) == (False, 1, 2)
    assert {"change": "added", "text": "rationale: none"} in found["lines"]
    assert "+rationale: none" in assay("prompts", "finance", "--diff", "strict_grades@1", file).out
    assert "say the same" in assay("prompts", "--diff", "plain", "plain").out


def test_what_is_wrong_with_a_prompt_is_named_with_its_line_and_nothing_is_added(
    assay: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nprotocol: ambiguity\ncriteria:\n  tone: Listen.\nexamples:\n"
        "- criterion: ambiguity\n  shown: Q?\n  label: vague\n"
    )
    found = assay.json("prompt", "check", file, code=2)
    assert [problem["line"] for problem in found["problems"]] == [4, 8]
    assert "mine.yaml, line 4: " in found["error"]
    assay.begun()
    assert "line 8" in assay("prompt", "add", "finance", file, code=2).err
    file.write_text("name: plain\nsystem: Judge.\n")
    assert "mine.yaml, line 1: " in assay("prompt", "add", "finance", file, code=2).err
    assert [row for row in assay.json("prompts", "finance") if not row["built_in"]] == []
    assert "no prompt file" in assay("prompt", "check", tmp_path / "none.yaml", code=3).err
    assert "does not end in .yaml" in assay("prompt", "check", tmp_path / "none.txt", code=2).err
    assert "not both" in assay("prompts", "--show", "plain", "--diff", "plain", "plain", code=2).err
