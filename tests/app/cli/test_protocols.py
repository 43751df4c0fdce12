"""`assay protocols` and `assay protocol …`: what is asked, everything that is wrong with a file, and previews."""

from __future__ import annotations

from pathlib import Path

from annotators.protocols import PROTOCOLS
from tests.app.cli.command_line import ROOT, CommandLine, write_items


def test_the_list_says_kind_target_and_labels_of_each_criterion(assay: CommandLine) -> None:
    found = {row["protocol"]: row for row in assay.json("protocols")}
    assert set(found) == set(PROTOCOLS.names())
    details = found["qa_verification"]["details"]
    assert list(details) == found["qa_verification"]["criteria"]
    assert details["grounding"] == {"kind": "choice", "target": "evidence", "labels": ["required", "not_required"]}
    assert found["answer_grading"]["details"]["grade"]["labels"] == list(range(11))


def test_a_file_with_many_mistakes_has_them_all_in_its_json(assay: CommandLine) -> None:
    found = assay.json("protocol", "check", ROOT / "tests" / "data" / "twenty_mistakes.yaml", code=2)
    assert found["kind"] == "InvalidInput"
    assert len(found["problems"]) > 20
    assert all(set(problem) == {"line", "problem", "remedy"} for problem in found["problems"])
    assert "twenty_mistakes.yaml, line 6: `colour` is no field" in found["error"]


def test_what_does_not_work_yet_is_a_problem_too(assay: CommandLine, tmp_path: Path) -> None:
    text = assay("protocols", "--export", "grounding").out
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("shows: [question,", "shows: [suggestions, question,"))
    found = assay.json("protocol", "check", file, code=2)
    [problem] = found["problems"]
    assert "suggestions" in problem["problem"]
    assert problem["remedy"] == "Take it out of `shows`."


def test_a_preview_has_the_material_of_each_step_and_nothing_of_later_ones(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    row = {
        "id": "q1",
        "question_key": "q1",
        "question": "Which stops have a lift?",
        "answer": "Mill Bridge.",
        "evidence": [{"key": "gold-1", "kind": "passage", "text": "Mill Bridge yes.", "role": "gold", "used": True}],
    }
    assay("import", "finance", write_items(tmp_path, row))
    alone, everything = assay.json("protocol", "preview", "qa_verification", "finance", "q1")["steps"]
    assert set(alone) == {"step", "shown", "units", "material"}
    assert (alone["step"], alone["shown"]) == ("question_alone", ["question"])
    assert alone["units"] == {"self_contained": ["item"], "human_like": ["item"]}
    assert "Mill Bridge" not in str(alone["material"])
    assert everything["units"]["grounding"] == ["evidence:E1"]
    assert everything["material"]["answer"] == "Mill Bridge."
    assert "gold" not in str(everything["material"])
    words = assay("protocol", "preview", "qa_verification", "finance", "q1").out
    assert "asks grounding: evidence:E1" in words
    assert "'q9'" in assay("protocol", "preview", "qa_verification", "finance", "q9", code=2).err


def test_a_file_can_be_previewed_before_it_is_used(assay: CommandLine, tmp_path: Path) -> None:
    assay.begun()
    assay("import", "finance", write_items(tmp_path / "items"))
    file = tmp_path / "mine.yaml"
    file.write_text(assay("protocols", "--export", "answer_grading").out)
    [step] = assay.json("protocol", "preview", file, "finance", "q1:harbour")["steps"]
    assert step["units"] == {"grade": ["item"]}
    assert step["material"]["references"] == [["601"], ["never said"]]
