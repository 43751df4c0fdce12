"""Every example in the docstrings of notebooks, run on a home of its own; what they show is what commands print."""

from __future__ import annotations

import doctest
import importlib
import re
import shutil
import subprocess
import types
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import exports.notebook
from annotators.errors import InvalidInput, NotAllowed, NotFound
from db.engine import Database
from exports.notebook import Home, Measured, Project, Study, agreement, open_home
from tests.app.cli.command_line import CommandLine
from tests.conftest import IN_CI, ROOT
from tests.databases import put_database
from tests.exports.judged import make_judged
from tests.makers import first_administrator, make_member, make_person, make_project

MODULES = ("home", "measured", "tables", "frames")
CLASSES = (Home, Project, Study, Measured)


@pytest.fixture(scope="session")
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the project `finance` and its study `grading`, by ada, ben and chloe; dora may annotate."""
    home = tmp_path_factory.mktemp("notebook") / "home"
    home.mkdir()
    put_database(home / "assay.db")
    db = Database(f"sqlite:///{home}/assay.db")
    made = make_judged(db, first_administrator(db), home / "files", questions=8, labelled=6, project="finance")
    make_member(db, made.project_id, make_person(db, "dora"), "annotator")
    db.dispose()
    return home


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made_home, tmp_path / "home"))


def _examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=True)
    modules = [importlib.import_module(f"exports.notebook.{name}") for name in MODULES]
    return [test for module in modules for test in finder.find(module, extraglobs={}) if test.examples]


@pytest.mark.parametrize("example", _examples(), ids=lambda test: test.name.removeprefix("exports.notebook."))
def test_the_example_of_a_docstring_is_true(example: doctest.DocTest, home: Path, tmp_path: Path) -> None:
    example.globs |= {"home": home, "folder": tmp_path, "open_home": open_home}
    said: list[str] = []
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = doctest.DocTestRunner(optionflags=options).run(example, out=said.append)
    assert not found.failed, "".join(said)


def test_every_method_has_an_example() -> None:
    lacking = [
        f"{owner.__name__}.{name}"
        for owner in CLASSES
        for name, method in vars(owner).items()
        if isinstance(method, types.FunctionType) and not name.startswith("_") and ">>>" not in (method.__doc__ or "")
    ]
    assert lacking == []
    assert all(">>>" in (getattr(exports.notebook, name).__doc__ or "") for name in ("open_home", "agreement"))


def test_figures_and_frames_are_those_of_the_commands(home: Path, tmp_path: Path) -> None:
    assay = CommandLine(home)
    study = open_home(home).project("finance").study("grading")
    for found, command in (
        (study.agreement(seed=1, resamples=50), ("agreement", "--seed", "1", "--resamples", "50")),
        (study.alignment(resamples=50), ("alignment", "--resamples", "50")),
        (study.estimate("quality"), ("estimate", "--criterion", "quality")),
        (study.results(resamples=50), ("results", "--resamples", "50")),
    ):
        printed = assay.json(command[0], "finance", "grading", *command[1:])
        assert found.to_json() == printed, command[0]
        assert len(found.table()) == len(printed.get("statistics") or printed.get("rows") or found.table())
    assay("export", "finance", "--study", "grading", "--to", tmp_path / "out", "--format", "labels,scores", "--parquet")
    for name, frame in (("labels", study.labels()), ("scores", study.scores())):
        exported = pd.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert list(frame.columns) == list(exported.columns)
        pd.testing.assert_frame_equal(frame.astype(str), exported.astype(frame.dtypes).astype(str), check_dtype=False)


def test_what_was_measured_shows_itself(home: Path) -> None:
    found = open_home(home).project("finance").study("grading").agreement(resamples=20)
    html = found._repr_html_()
    assert "<table" in html
    assert html.count("Agreement by criterion") == 1, "a table has one caption"
    assert "<script" not in html
    assert "Agreement by criterion" not in repr(found)
    assert "Coefficient" in repr(found)


def test_an_annotator_reads_and_writes_what_annotators_may(home: Path) -> None:
    project = open_home(home, as_="dora", write=True).project("finance")
    with pytest.raises(NotAllowed):
        project.study("grading").labels()
    with pytest.raises(NotAllowed):
        project.import_items(pd.DataFrame({"id": ["x"], "question": ["Why?"]}))
    with pytest.raises(NotFound, match="nobody"):
        open_home(home, as_="nobody")


def test_bad_rows_change_nothing_and_are_told(home: Path) -> None:
    project = open_home(home, write=True).project("finance")
    frame = pd.DataFrame({"id": ["a", "b"], "question": ["What?", ""], "answer": ["x", "y"]})
    with pytest.raises(InvalidInput, match="question"):
        project.import_items(frame)
    assert "a" not in set(project.items()["id"])
    assert project.import_items(frame, skip_bad=True)["added"] == 1
    with pytest.raises(InvalidInput, match="overlap"):
        project.create_study("p", protocol="qa_verification", annotators=["dora"], overlap=3)


def test_errors_speak_of_the_frame_and_not_of_a_file_that_nobody_has() -> None:
    with pytest.raises(NotFound, match=r"^the frame has no column 'annotator'\. .* Name the right one with rater=…"):
        agreement(pd.DataFrame({"item": ["a"], "who": ["x"]}), scale="nominal")


def test_a_label_may_have_a_comma() -> None:
    labels = ["low, rarely", 'so "so"', "high"]
    ratings = pd.DataFrame({"ada": labels * 4, "ben": [*labels, *labels[:1]] * 3})
    found = agreement(ratings, wide=True, scale="ordinal", labels=labels, resamples=0)
    assert found.to_json()["criteria"][0]["labels"] == labels


@pytest.mark.parametrize("scale", ["ordinal", "quality=ordinal"])
def test_ordered_categories_are_the_order_of_an_ordinal_scale(scale: str) -> None:
    order, words = ["low", "middle", "high"], ["high", "low", "middle", "high", "low", "low"]
    said = {"item": [1, 1, 2, 2, 3, 3], "annotator": ["a", "b"] * 3}
    long = pd.DataFrame({**said, "criterion": "quality", "value": pd.Categorical(words, order, ordered=True)})
    declared = agreement(long.astype({"value": str}), scale, labels=order, resamples=0)
    assert agreement(long, scale, resamples=0).to_json()["criteria"] == declared.to_json()["criteria"]
    unit = pd.Categorical(["x", "y", "z"], ["z", "y", "x"], ordered=True)
    wide = pd.DataFrame({"item": unit, **{name: long["value"].array[n::2] for n, name in enumerate("ab")}})
    found = agreement(wide, "ordinal", wide=True, resamples=0).to_json()["criteria"][0]
    assert (found["labels"], found["scale"]) == (order, "ordinal")


def test_an_ordinal_scale_without_an_order_names_the_argument_that_gives_it() -> None:
    ratings = pd.DataFrame({"ada": ["high", "low"], "ben": pd.Categorical(["low", "low"])})
    with pytest.raises(InvalidInput, match=r"declare the labels of the ordinal scale in order \(labels=\[A, B, C\]\)"):
        agreement(ratings, "ordinal", wide=True)


def _cells(text: str) -> list[str]:
    return [block.split("\n```")[0] for block in text.split("```python\n")[1:]]


def test_the_notebook_of_the_docs_runs_and_says_what_commands_print(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home, tmp_path / "work" / "assay-home")
    monkeypatch.chdir(tmp_path / "work")
    space: dict[str, Any] = {}
    cells = _cells((ROOT / "docs" / "notebook.md").read_text())
    assert len(cells) > 6
    for cell in cells:
        exec(compile(cell, "docs/notebook.md", "exec"), space)
    assay = CommandLine(home)
    assert space["figures"].to_json() == assay.json("agreement", "finance", "grading", "--seed", "1")
    named = space["study"].agreement(seed=1, names=True)
    assert named.to_json() == assay.json("agreement", "finance", "grading", "--seed", "1", "--names")
    assert named.table()["value"].equals(space["figures"].table()["value"]), "names change no figure"


def test_people_are_called_in_figures_as_in_frames(home: Path, tmp_path: Path) -> None:
    study = open_home(home).project("finance").study("grading")
    annotators = set(study.labels()["annotator"])
    assert annotators == {"A1", "A2", "A3"}
    found = study.agreement(resamples=20)
    raters = {name for names in found.table()["raters"].dropna() for name in names}
    assert raters == annotators
    for figures in (found, study.alignment(resamples=20)):
        said = figures.to_latex(all_tables=True) + str(figures.to_json())
        assert not re.search(r"\b(ada|ben|chloe)\b", said)
    assert "ada" in study.agreement(resamples=20, names=True).to_latex(all_tables=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda study: study.agreement(seed=None), "seed is None. Give a whole number."),
        (lambda study: study.agreement(seed="a"), "seed is 'a'. Give a whole number."),
        (lambda study: study.agreement(level=95), "level 95 is not between 0 and 1"),
        (lambda study: study.estimate("quality", level=95), "level 95 is not between 0 and 1"),
        (lambda study: study.estimate("quality", of="foo"), "of items or population, not of 'foo'"),
        (lambda study: study.estimate("quality", by="foo"), "by system or category, not by 'foo'"),
        (lambda study: study.alignment(labels="foo"), "'foo' are no labels to compare. Known: item, each, settled"),
        (
            lambda study: study.alignment(by="foo"),
            "No item of the study has 'foo' in its metadata",
        ),
        (lambda study: study.alignment(scorers="foo"), "scores of 'foo'"),
    ],
)
def test_arguments_that_cannot_be_are_told_in_words(home: Path, call: Any, words: str) -> None:
    with pytest.raises((InvalidInput, NotFound), match=re.escape(words)):
        call(open_home(home).project("finance").study("grading"))


def test_a_design_that_cannot_be_and_a_project_without_items(home: Path) -> None:
    opened = open_home(home, write=True)
    project = opened.project("finance")
    with pytest.raises(InvalidInput, match=r"`oevrlap` is no field\. Did you mean `overlap`\?"):
        project.create_study("p", protocol="qa_verification", annotators="dora", oevrlap=1)
    assert repr(project.create_study("p", protocol="answer_grading", annotators="dora", overlap=1, sample=2)) == (
        "Study('p' of 'finance')"
    )
    make_project(opened.db, "empty")
    items = opened.project("empty").items()
    assert (len(items), list(items.columns[:3])) == (0, ["id", "question_key", "question"])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ([{"id": "a"}], "frame is [{'id': 'a'}]. Give a pandas DataFrame."),
        (pd.DataFrame([["a", "b"]], columns=["id", "id"]), "two columns called 'id'"),
        (
            pd.DataFrame({"id": ["a", "b"], "question": [1, "Why?"]}),
            "'question' has values of several types (int, str)",
        ),
        (pd.DataFrame({"asked": ["Why?"]}), "Say which it is with mapping={'question': COLUMN}"),
    ],
)
def test_a_frame_that_is_none_is_told_in_words(home: Path, frame: Any, words: str) -> None:
    project = open_home(home, write=True).project("finance")
    with pytest.raises(InvalidInput, match=re.escape(words)):
        project.import_items(frame)


def test_ratings_of_other_types_are_not_other_labels() -> None:
    for left, right in (([1, 2, 3], ["1", "2.0", " 3"]), ([True, False], ["true", "FALSE"])):
        alike = agreement(pd.DataFrame({"ada": left, "ben": right}), wide=True)
        assert alike.table()["value"].iloc[0] == 1
    found = agreement(pd.DataFrame({"ada": [1, 2, 3], "ben": [1, 2, 2]}), "ordinal", wide=True, labels=[1, 2, 3])
    assert found.table()["value"].iloc[0] == pytest.approx(2 / 3)
    levels = pd.DataFrame({("a", "x"): ["yes"], ("a", "y"): ["no"]})
    assert agreement(levels, wide=True).table()["value"].iloc[0] == 0
    with pytest.raises(NotFound, match="Name the right one with unit=…"):
        agreement(pd.DataFrame({"who": ["a"], "value": ["x"]}))


def test_latex_compiles_with_the_packages_that_it_names(home: Path, tmp_path: Path) -> None:
    program = shutil.which("lualatex")
    if program is None:
        assert not IN_CI, "LuaLaTeX is not installed, which CI must have"
        pytest.skip("LuaLaTeX is not installed")
    study = open_home(home).project("finance").study("grading")
    body = study.agreement(resamples=20).to_latex(all_tables=True)
    packages = r"\usepackage{booktabs,graphicx,longtable,array}"
    text = f"\\documentclass{{article}}\n{packages}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (tmp_path / "t.tex").write_text(text)
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_frame_is_mapped_and_its_values_are_read_as_by_the_command() -> None:
    batch = pd.DataFrame(
        {"doc": ["d", "d", "e", "e"], "system": ["s"] * 4, "who": ["x", "y"] * 2, "Answer.a": ["Yes", "yes", "?", "no"],
         "Answer.b": ["1;2", "2;1", None, "1"]}
    )  # fmt: skip
    mapping = {"item": ["doc", "system"], "annotator": "who", "criteria": "Answer.*"}
    found = agreement(batch, mapping=mapping, missing=["?"], fold_case=True, delimiter=";", resamples=0).to_json()
    assert [one["criterion"] for one in found["criteria"]] == ["a", "b"]
    assert found["missing"] == {"a": {"?": 1}, "b": {"(empty)": 1}}
    with pytest.raises(NotFound, match=r"no column 'wer'\..* Name the right one with rater=…"):
        agreement(batch, mapping={**mapping, "annotator": "wer"})
