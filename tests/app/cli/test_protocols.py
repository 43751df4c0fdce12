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
    text = assay("protocols", "--export", "self_contained").out
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("shows: [question", "shows: [suggestions, question"))
    found = assay.json("protocol", "check", file, code=2)
    [problem] = found["problems"]
    assert "suggestions" in problem["problem"]
    assert problem["remedy"].endswith("take suggestions out of `shows`.")


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


def with_own_protocol(assay: CommandLine, folder: Path) -> Path:
    """A project with items, and the file of a protocol that is not added yet."""
    assay.begun()
    assay("import", "finance", write_items(folder / "items"))
    file = folder / "mine.yaml"
    file.write_text(assay("protocols", "--export", "answer_grading").out.replace("answer_grading", "my_grading"))
    return file


def test_an_own_protocol_is_known_to_every_command_by_its_name(assay: CommandLine, tmp_path: Path) -> None:
    file = with_own_protocol(assay, tmp_path)
    checked = assay.json("protocol", "check", file)
    assert assay.json("protocol", "add", "finance", file) == {
        "protocol": "my_grading",
        "version": checked["version"],
        "hash": checked["hash"],
    }
    version = checked["version"]
    assert f"my_grading@{version} says the same" in assay("protocol", "add", "finance", file).out
    file.write_text(file.read_text().replace("overlap: 2", "overlap: 1").replace("overlap: 3", "overlap: 1"))
    second = assay.json("protocol", "add", "finance", file)
    assert second["version"] == version + 1
    assert second["hash"] != checked["hash"]

    listed = {row["protocol"]: row for row in assay.json("protocols", "--project", "finance")}
    assert set(listed) == {*PROTOCOLS.names(), "my_grading"}
    assert listed["qa_verification"]["built_in"] is True
    mine = listed["my_grading"]
    assert (mine["built_in"], mine["version"], mine["overlap"]) == (False, version + 1, 1)
    assert [(row["version"], row["hash"]) for row in mine["versions"]] == [
        (version + 1, second["hash"]),
        (version, checked["hash"]),
    ]
    assert "my_grading" in assay("protocols", "--project", "finance").out
    assert "my_grading" not in assay("protocols").out

    [step] = assay.json("protocol", "preview", "my_grading", "finance", "q1:harbour")["steps"]
    assert step["units"] == {"grade": ["item"]}
    exported = assay("protocols", "--project", "finance", "--export", f"my_grading@{version}").out
    back = tmp_path / "back.yaml"
    back.write_text(exported)
    assert assay.json("protocol", "check", back)["hash"] == checked["hash"]

    people = ("--annotators", "ada,ben,chloe")
    made = assay.json("study", "create", "finance", "old", "--protocol", f"my_grading@{version}", *people)
    assert (made["protocol"], made["protocol_hash"]) == ("my_grading", checked["hash"])
    made = assay.json("study", "create", "finance", "new", "--protocol", "my_grading", *people)
    assert (made["protocol_hash"], made["slots"]) == (second["hash"], made["items"])


def test_names_and_files_that_do_not_do_are_refused_with_the_remedy(assay: CommandLine, tmp_path: Path) -> None:
    file = with_own_protocol(assay, tmp_path)
    assert "has no version 9" not in assay("protocols", "--export", "my_grading", code=3).err
    assert "Of this project" not in assay("protocol", "preview", "my_grading", "finance", "q1:harbour", code=3).err
    assay("protocol", "add", "finance", file)
    error = assay("study", "create", "finance", "s", "--protocol", "my_grading@9", "--annotators", "ada", code=3).err
    assert "'my_grading' has no version 9. It has:" in error
    file.write_text("# of ours\n" + file.read_text().replace("my_grading", "abstention"))
    found = assay.json("protocol", "add", "finance", file, code=2)
    assert found["error"].startswith("mine.yaml, line 2: `name` is 'abstention', the name of a built-in protocol")
    assert found["problems"] == [
        {
            "line": 2,
            "problem": "`name` is 'abstention', the name of a built-in protocol, and this one says something else.",
            "remedy": "Give it a name of its own, as in my_abstention.",
        }
    ]
    bad = assay.json("protocol", "add", "finance", ROOT / "tests" / "data" / "twenty_mistakes.yaml", code=2)
    assert len(bad["problems"]) > 20
    assert assay("--as", "ada", "protocol", "add", "finance", file, code=4).err
    assert {row["protocol"] for row in assay.json("protocols", "--project", "finance")} == {
        *PROTOCOLS.names(),
        "my_grading",
    }
