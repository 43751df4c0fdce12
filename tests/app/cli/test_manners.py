"""How the command line behaves: help, errors, JSON that is nothing but JSON, progress, and how fast it starts."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from app.cli import app
from app.settings import Settings
from db.engine import Database
from tests.app.cli.command_line import ROOT, CommandLine, examples_in, write_items

DOCUMENT = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(names, command) of every command that does something."""
    for name, command_ in group.commands.items():
        if hasattr(command_, "commands"):
            yield from commands(command_, *path, name)
        else:
            yield (*path, *name.split()), command_


COMMANDS = dict(commands(typer.main.get_command(app)))


def parse(arguments: list[str]) -> tuple[str, ...]:
    """Which command these arguments call; fails if it does not take them."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("assay", list(arguments))
    names: tuple[str, ...] = ()
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        names = (*names, *name.split())
        context = command.make_context(name, rest, parent=context)
    return names


# Help and documents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_that_it_understands(assay: CommandLine, names: tuple[str, ...]) -> None:
    text = assay(*names, "--help").out
    assert COMMANDS[names].help
    examples = examples_in(text)
    assert examples
    assert {parse(example) for example in examples} == {names}


def test_the_help_names_every_command_in_full(assay: CommandLine) -> None:
    text = assay("--help").out
    for name in {names[0] for names in COMMANDS}:
        assert re.search(rf"^  {name} +\S", text, re.MULTILINE), name
        assert not re.search(rf"^  {name} .*\.\.\.$", text, re.MULTILINE), f"the help of {name} is cut off"


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_is_described_with_all_its_options(names: tuple[str, ...]) -> None:
    found = re.search(rf"^### assay {' '.join(names)}\n(.*?)(?=^##|\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found, "has no section in docs/command-line.md"
    section = found[1]
    for parameter in COMMANDS[names].params:
        for option in parameter.opts:
            if option.startswith("--") and option not in ("--json", "--help"):
                assert option in section or option in ("--host", "--port"), option


def test_the_document_describes_no_command_that_is_not_there() -> None:
    described = {tuple(names.split()) for names in re.findall(r"^### assay (.+)$", DOCUMENT, re.MULTILINE)}
    assert described == set(COMMANDS)


@pytest.mark.slow
def test_every_example_of_the_document_is_understood() -> None:
    examples = examples_in(DOCUMENT)
    assert {parse(example) for example in examples} == set(COMMANDS)


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["status", "finance"],
        ["status", "finance", "v", "--jsno"],
        ["agreement", "finance", "v", "--seed", "many"],
        ["score", "finance"],
        ["user", "password", "ada"],
        ["demo", "--serve", "--json"],
        ["labels", "import", "finance", "v", "x.csv", "--scale", "ordinal"],
        [],
    ],
)
def test_wrong_usage_is_told_on_standard_error(assay: CommandLine, arguments: list[str]) -> None:
    outcome = assay(*arguments, code=2)
    assert "Usage: assay" in outcome.err
    if "--json" not in arguments:
        assert outcome.out == ""
    assert not assay.home.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["status", "finance", "nothing"], 3, "NotFound"),
        (["project", "create", "finance"], 5, "Conflict"),
        (["--as", "ada", "user", "list"], 4, "NotAllowed"),
        (["score", "finance", "--scorer", "phrase_recall", "--param", "x"], 2, "InvalidInput"),
        (["score", "finance"], 2, "Usage"),
        (["import", "finance", "nowhere.json"], 3, "NotFound"),
    ],
)
def test_with_json_an_error_is_the_one_document(begun: CommandLine, arguments: list[str], code: int, kind: str) -> None:
    outcome = begun(*arguments, "--json", code=code)
    assert set(outcome.json) == {"error", "kind"}
    assert outcome.json["kind"] == kind
    assert outcome.json["error"] in outcome.err


def test_a_bug_keeps_its_traceback() -> None:
    broken = "from app.cli import app, main\napp.command('broken')(lambda: 1 / 0)\nmain(['broken'])"
    done = subprocess.run([sys.executable, "-c", broken], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_a_database_that_does_not_answer_is_told(assay: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:9/none")
    outcome = assay("project", "list", "--json", code=6)
    assert outcome.json["kind"] == "DatabaseUnavailable"
    assert "secret" not in outcome.out + outcome.err


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no place where nobody may write is known here")
def test_what_cannot_be_written_is_told(begun: CommandLine) -> None:
    assert "/sys/kernel" in begun("backup", "--to", "/sys/kernel/x.db", code=2).err
    outcome = begun("export", "finance", "--to", "/sys/kernel/out", "--json", code=1)
    assert outcome.json["kind"] == "Machine"
    assert "/sys/kernel" in outcome.err


def test_a_place_that_is_none_is_told(begun: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("A file, no folder.")
    for command in (("export", "finance", "--to"), ("backup", "--to")):
        outcome = begun(*command, tmp_path / "file" / "out", code=1)
        assert str(tmp_path / "file") in outcome.err and "Name another place." in outcome.err
        assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", "finance", "n\udcff.jsonl"],
        ["labels", "import", "finance", "people", "n\udcff.jsonl", "--infer", "--bare-items"],
        ["convert", "n\udcff.jsonl", "--to", "native", "--output", "out"],
        ["agreement", "--table", "n\udcff.jsonl"],
        ["label-studio", "config", "n\udcff.jsonl"],
        ["export", "finance", "--to", "n\udcff.jsonl"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_is_not_utf8_is_refused_in_one_sentence(begun: CommandLine, arguments: list[str]) -> None:
    said = "The name 'n?.jsonl' is not UTF-8. Rename the file or folder, or write it in UTF-8."
    assert begun(*arguments, code=2).err == f"Error: {said}\n"
    assert begun.json(*arguments, code=2) == {"error": said, "kind": "InvalidInput"}


def test_a_home_folder_whose_name_is_not_utf8_is_refused(
    assay: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    odd = tmp_path / "o\udcff"
    odd.mkdir()
    monkeypatch.chdir(odd)
    assert "o?' is not UTF-8." in CommandLine(Path())("init", code=2).err
    assert list(odd.iterdir()) == []


# Output ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(begun: CommandLine, tmp_path: Path) -> None:
    path = write_items(tmp_path / "in")
    begun("import", "finance", path)
    score = ("--home", str(begun.home), "score", "finance", "--scorer", "phrase_recall", "--json")
    assert begun("score", "finance", "--scorer", "phrase_recall", "--param", "mode=paper").err == ""
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *score],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=True,
        text=True,
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert "Scoring" in shown
    assert "6/6" in shown
    assert done.stdout.startswith("{")


def test_the_same_seed_gives_the_same_bytes(begun: CommandLine, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    lines = ["item,annotator,criterion,value"]
    for item in range(12):
        lines += [f"i{item},{who},tone,{(item + shift) // 5}" for shift, who in enumerate(("x", "y", "z"))]
    table.write_text("\n".join(lines))
    begun("labels", "import", "finance", "raters", table, "--infer", "--bare-items", "--scale", "ordinal")
    call = ("agreement", "finance", "raters", "--resamples", "200", "--json")
    assert begun(*call, "--seed", "5").out == begun(*call, "--seed", "5").out
    assert begun(*call, "--seed", "5").out != begun(*call, "--seed", "6").out


# Texts of others ------------------------------------------------------------------------------------------------------


def test_a_preview_shows_what_would_steer_a_terminal(begun: CommandLine, tmp_path: Path) -> None:
    metadata = {
        "a\x1b]0;TITLE\x07\x1b[31mred": "1",
        "b\n  9 bad rows:": "2",
        "c\u202ed\x9be\u2028": "3",
        "größe": "4",
    }
    said = begun("import", "finance", write_items(tmp_path, {"question": "Q?", "metadata": metadata}), "--dry-run").out
    assert r"a\x1b]0;TITLE\x07\x1b[31mred (1), b\n  9 bad rows: (1), c\u202ed\x9be\u2028 (1), größe (1)" in said
    assert {letter for letter in said if ord(letter) < 32} == {"\n"}
    assert [line for line in said.splitlines() if "bad rows" in line and "metadata" not in line] == []


def test_names_of_people_and_errors_show_what_would_steer_a_terminal(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path))
    table = tmp_path / "labels.csv"
    table.write_text("item,annotator,criterion,value\nq0:harbour,a\x9b2J\u202e,right,yes\n")
    said = begun("labels", "import", "finance", "people", table, "--infer", "--dry-run").out
    assert r"1 annotation by a\x9b2J\u202e into people" in said
    begun("labels", "import", "finance", "people", table, "--infer")
    assert r"a\x9b2J\u202e " in begun("annotators", "finance", "people").out
    table.write_text("item\x1b[2J\x07,annotator,criterion,value\n")
    assert r"It has: item\x1b[2J\x07" in begun("labels", "import", "finance", "people", table, code=2).err
    assert r"\x1b[2J\x07" in begun("status", "fin\x1b[2J\x07", code=3).err
    assert r"\x1b[2J\x07" in begun("status", "finance", "--\x1b[2J\x07", code=2).err


def test_a_file_that_is_printed_is_as_it_was(assay: CommandLine, tmp_path: Path) -> None:
    text = assay("protocols", "--export", "qa_verification").out
    own = tmp_path / "own.yaml"
    own.write_text(text.replace("It counts words", "It\u202b counts words", 1), encoding="utf-8")
    config = assay("label-studio", "config", own).out
    assert "It\u202b counts words" in config
    assert config.rstrip() == assay.json("label-studio", "config", own)["config"].rstrip()


def test_commands_print_in_one_way() -> None:
    """What is printed past `app.cli.output` would reach the terminal as it came."""
    past = re.compile(r"typer\.s?echo\(|\bprint\(|sys\.std(out|err)\.write")
    files = [path for path in (ROOT / "app" / "cli").glob("*.py") if path.name != "output.py"]
    assert [path.name for path in files if past.search(path.read_text(encoding="utf-8"))] == []


# Starting -------------------------------------------------------------------------------------------------------------

_LOADED = (
    "import sys\nfrom app.cli import main\ntry:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n"
    "    print('CODE', end.code)\nprint('LOADED', *sorted(sys.modules))"
)


def loaded_by(*arguments: str | Path, code: int = 0, folder: Path = ROOT, whole: bool = False) -> set[str]:
    """The packages that a command has loaded when it ends; `whole` gives modules with their whole names."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=True
    )
    assert f"CODE {code}" in done.stdout, done.stdout + done.stderr
    names = done.stdout.rpartition("LOADED ")[2].split()
    return set(names) if whole else {name.split(".")[0] for name in names}


def test_help_and_lists_load_nothing_that_is_slow() -> None:
    assert not loaded_by("--help") & {"sqlalchemy", "pydantic", "numpy", "streamlit", "pandas", "rich"}
    assert not loaded_by("protocols") & {"sqlalchemy", "numpy", "streamlit", "pandas"}
    assert not loaded_by("--version") & {"sqlalchemy", "pydantic", "numpy", "streamlit", "pandas"}


def test_the_version_is_printed_without_a_command(assay: CommandLine) -> None:
    assert re.fullmatch(r"assay \d+\.\d+\.\d+\S*\n", assay("--version").out)
    assert not assay.home.exists()


_SLOW = {"torch", "sentence_transformers", "pandas", "streamlit", "altair", "scipy", "numpy", "pyarrow", "pymupdf"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["frobnicate"], 2),
        (["agreement", "--jsno"], 2),
        (["alignment", "finance", "v", "--labels", "some"], 2),
        (["score", "finance"], 2),
        (["serve", "--port", "many"], 2),
        (["doctor", "--deeper"], 2),
        (["import", "finance"], 2),
    ],
)
def test_wrong_usage_is_refused_before_anything_slow_is_loaded(arguments: list[str], code: int) -> None:
    """Counted in modules and not in seconds, which say more about the machine."""
    assert not loaded_by(*arguments, code=code) & {*_SLOW, "sqlalchemy"}


_TABLE = "item,annotator,criterion,value\ni1,x,tone,1\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["agreement", "--table", "none.csv"], 3),
        (["agreement", "--table", "bare.csv"], 3),
        (["agreement", "--table", "t.csv", "--unit", "thing"], 3),
        (["agreement", "--table", "t.csv", "--statistics", "kapa"], 2),
        (["agreement", "--table", "t.csv", "--scale", "cardinal"], 2),
        (["agreement", "--table", "t.csv", "--weights", "none.csv"], 3),
        (["agreement", "--table", "t.csv", "--weights", "tone=none.csv"], 3),
        (["agreement", "--table", "t.csv", "--report", "r.pdf"], 2),
        (["agreement", "--table", "t.csv", "--plan", "0"], 2),
        (["alignment", "--table", "none.csv", "--human", "a", "--metric", "b"], 3),
        (["alignment", "--table", "t.csv", "--human", "value", "--metric", "thing"], 3),
        (["alignment", "--table", "t.csv", "--human", "value", "--metric", "value", "--report", "r.pdf"], 2),
        (["score", "--input", "none.jsonl", "--output", "s.jsonl", "--scorer", "rouge_l"], 3),
        (["score", "--input", "bare.csv", "--output", "s.jsonl", "--scorer", "rouge_l"], 2),
        (["score", "--input", "i.jsonl", "--output", "s.xls", "--scorer", "rouge_l"], 2),
        (["score", "--input", "i.jsonl", "--output", "s.jsonl", "--scorer", "rogue"], 3),
        (["score", "--input", "i.jsonl", "--output", "s.jsonl", "--scorer", "rouge_l", "--param", "stem=1"], 2),
        (["score", "--input", "i.jsonl", "--output", "s.jsonl", "--scorer", "rouge_l", "--format", "xml"], 3),
        (["score", "--input", "i.jsonl", "--output", "s.jsonl", "--scorer", "rouge_l", "--engine", "spark"], 2),
        (["verify", "none"], 2),
        (["verify", "."], 2),
    ],
)
def test_wrong_input_is_refused_before_anything_slow_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "t.csv").write_text(_TABLE)
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n")
    (tmp_path / "i.jsonl").write_text('{"id": "i1", "question": "Q", "answer": "A"}\n')
    assert not loaded_by(*arguments, code=code, folder=tmp_path) & {*_SLOW, "sqlalchemy"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["agreement", "nothing", "v"], 3),
        (["agreement", "finance", "nothing"], 3),
        (["alignment", "finance", "nothing"], 3),
        (["status", "nothing", "v"], 3),
        (["status", "finance", "nothing"], 3),
        (["study", "create", "nothing", "v", "--protocol", "ambiguity", "--annotators", "ada"], 3),
        (["import", "nothing", "t.csv"], 3),
        (["import", "finance", "nowhere.json"], 3),
        (["import", "finance", "t.csv"], 2),
        (["import", "finance", "t.csv", "--format", "xml"], 3),
        (["labels", "import", "nothing", "v", "t.csv"], 3),
        (["labels", "import", "finance", "nothing", "t.csv"], 3),
        (["labels", "import", "finance", "v", "nowhere.csv"], 3),
        (["labels", "import", "finance", "v", "bare.csv", "--infer"], 2),
        (["labels", "import", "finance", "v", "t.csv", "--infer", "--scale", "cardinal"], 2),
        (["score", "nothing", "--scorer", "rouge_l"], 3),
        (["score", "finance", "--scorer", "rogue"], 3),
        (["score", "finance", "--scorer", "rouge_l", "--param", "stem=1"], 2),
        (["export", "nothing", "--to", "out"], 3),
        (["export", "finance", "--to", "out", "--study", "nothing"], 3),
        (["export", "finance", "--to", "out", "--format", "xml"], 2),
        (["export", "finance", "--to", "."], 5),
    ],
)
def test_a_wrong_name_is_refused_before_the_database_s_tables_are_loaded(
    begun: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "t.csv").write_text(_TABLE)
    (tmp_path / "bare.csv").write_text("a,b\n1,2\n")
    loaded = loaded_by("--home", begun.home, *arguments, code=code, folder=tmp_path)
    assert not loaded & {*_SLOW, "sqlalchemy", "alembic"}


@pytest.mark.parametrize("project", ["finance", "nothing"])
def test_names_are_refused_in_the_same_words_by_the_file_alone_and_by_the_operations(
    begun: CommandLine, project: str
) -> None:
    quick = begun("status", project, "nothing", code=3).err
    assert begun("--as", "admin", "status", project, "nothing", code=3).err == quick


@pytest.mark.slow
def test_status_loads_neither_streamlit_nor_the_numbers(begun: CommandLine, tmp_path: Path) -> None:
    begun("import", "finance", write_items(tmp_path / "in"))
    begun("study", "create", "finance", "v", "--protocol", "ambiguity", "--annotators", "ada,ben")
    loaded = loaded_by("--home", begun.home, "status", "finance", "v")
    assert "sqlalchemy" in loaded
    assert not loaded & {"streamlit", "pandas", "numpy", "scipy", "pymupdf", "altair"}


@pytest.mark.slow
def test_agreement_loads_neither_plots_nor_statistics_that_it_does_not_need(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    rows = [f"i{n},{who},tone,{(n + at) % 3}" for n in range(9) for at, who in enumerate("xy")]
    table.write_text("item,annotator,criterion,value\n" + "\n".join(rows) + "\n")
    loaded = loaded_by("agreement", "--table", table, "--resamples", "20", whole=True)
    assert "scipy.sparse" in loaded
    assert not loaded & {"altair", "pandas", "vl_convert", "streamlit", "scipy.stats", "scipy.optimize", "pymupdf"}


# PostgreSQL -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_commands_work_on_postgresql(
    assay: CommandLine, postgresql_database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address = postgresql_database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    monkeypatch.setenv("ASSAY_DATABASE_URL", address)
    assert Settings.load().database == address
    assay.begun()
    assay("import", "finance", write_items(tmp_path / "in"))
    assay("study", "create", "finance", "v", "--protocol", "ambiguity", "--annotators", "ada,ben", "--every-item")
    assert assay.json("status", "finance", "v")["states"]["open"] == 12
    assert "pg_dump" in assay("backup", code=5).err
    found = assay.json("doctor", "--deep")
    assert found["database"]["kind"] == "PostgreSQL"
    assert found["problems"] == []
    (assay.home / "assay.db").touch()  # as whoever began with SQLite has
    assert "assay.db is there and is not used: ASSAY_DATABASE_URL" in assay("init").err
    [said] = assay.json("doctor", code=1)["problems"]
    assert "assay.db is there and is not used" in said
    (assay.home / "assay.db").unlink()
    monkeypatch.setenv("ASSAY_DATABASE_URL", f"{address}?options=-c%20default_transaction_read_only%3Don")
    assert "read-only" in assay.json("doctor", code=1)["problems"][0]
