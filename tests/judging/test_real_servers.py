"""Judges on servers that others wrote, with real models: protocol, schema, tokens, several at once, resuming."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.command_line import CommandLine, write_items
from tests.app.cli.conftest import assay, begun, begun_home
from tests.judging.real_servers import RealServer, llama_itself, llama_server, transformers_serve

__all__ = ["assay", "begun", "begun_home"]

ITEMS = 4
CLEAR = "Is it clear which year the question is about? Yes or no."
GRADES = ("1", "5", "10")
"""Labels that begin alike: they are asked for as letters where their probabilities are."""

IN_ONE_LINE = " or ".join(json.dumps({"item": {"judgement": {"label": letter}}}) for letter in "ABC")
"""A small model has to be shown the form: it would rather say other things, and labels have no probabilities then."""


def study(assay: CommandLine, folder: Path, labels: Sequence[str] = ("yes", "no")) -> None:
    """A study of four questions by a protocol of one short criterion."""
    listed = "".join(f'\n      - {{value: "{label}", title: Grade {label}, definition: It is so.}}' for label in labels)
    rows = [
        {"id": f"q{number}", "question_key": f"k{number}", "question": f"What was the rent in 202{number}?"}
        for number in range(ITEMS)
    ]
    protocol = folder / "clear.yaml"
    protocol.write_text(
        f"""name: clear
version: 1
title: Clear
guidelines: {CLEAR}
steps:
  - {{name: question, title: Question, shows: [question], criteria: [clear]}}
criteria:
  - name: clear
    kind: choice
    title: Clear
    labels:{listed}
"""
    )
    prompt = folder / "short.yaml"
    prompt.write_text("name: short\nversion: 1\ntitle: Short\nrationale: none\n")
    assay("import", "finance", write_items(folder / "in", *rows))
    assay("study", "create", "finance", "grading", "--protocol", protocol, "--annotators", "ada", "--overlap", "1")


def judged(assay: CommandLine, folder: Path, server: RealServer, *more: str, code: int = 0) -> Any:
    return assay(
        "judge", "finance", "grading", "--model", server.model, "--base-url", server.base_url, "--prompt",
        folder / "short.yaml", "--pictures", "0", *more, "--json", code=code,
    ).json  # fmt: skip


def replies(assay: CommandLine) -> list[Any]:
    with assay.database().read() as session:
        query = "SELECT ending, text, model, tokens_in, tokens_out, chances FROM judge_reply WHERE ending != 'failed'"
        return list(session.connection().exec_driver_sql(query))


def check_tokens_and_resuming(
    assay: CommandLine, folder: Path, server: RealServer, most: str, *, refused: int = 0
) -> Any:
    """Half of the requests by a budget, the rest by the next run, none twice; what the server counts is kept.

    The first requests of each run, as many as are under way at once and `refused` at most, tell it in which form the
    server takes schemas.
    """
    first = judged(assay, folder, server, "--most", most, "--concurrency", "2", "--budget", f"{2 + refused}requests")
    assert (first["stopped"], first["requests"]) == ("budget", 2 + refused)
    second = judged(assay, folder, server, "--most", most, "--concurrency", "2")
    assert (second["stopped"], second["items"]) == (None, ITEMS)
    for run, items in ((first, first["items"]), (second, ITEMS - first["items"])):
        assert min(1, refused) <= run["requests"] - items <= refused
    kept = replies(assay)
    assert len(kept) == ITEMS
    assert all(n_in > 50 and 0 < n_out <= int(most) for *_, n_in, n_out, _ in kept)
    spent = [one["tokens"][way] for one in (first, second) for way in ("in", "out")]
    assert sum(spent) == sum(n_in + n_out for *_, n_in, n_out, _ in kept)
    assert judged(assay, folder, server, "--most", most)["requests"] == 0
    nowhere = judged(assay, folder, RealServer(server.base_url + "/nowhere", server.model), code=2)
    assert "has no /chat/completions (status 404)" in nowhere["error"]
    return second


@pytest.fixture
def transformers(tmp_path: Path) -> Iterator[RealServer]:
    with transformers_serve(tmp_path) as server:
        yield server


@pytest.fixture(params=[llama_server, llama_itself])
def llama(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RealServer]:
    with request.param(tmp_path) as server:
        yield server


@pytest.mark.slow
def test_transformers_serve_heeds_no_schema_so_that_the_strict_parser_leaves_its_words_unscored(
    begun: CommandLine,
    tmp_path: Path,
    transformers: RealServer,
) -> None:
    study(begun, tmp_path)
    found = check_tokens_and_resuming(begun, tmp_path, transformers, "16")
    assert found["labels"] == 0
    assert sum(row["n"] for row in found["unscored"]) == ITEMS
    assert {row["reason"] for row in found["unscored"]} <= {"cut off", "unreadable", "empty"}
    refused = judged(begun, tmp_path, RealServer(transformers.base_url, "another"), "--seed", "1", code=2)
    assert "has no model 'another'. Name one that it has:" in refused["error"]


@pytest.mark.slow
def test_transformers_serve_gives_no_probabilities_and_is_asked_all_the_same(
    begun: CommandLine, tmp_path: Path, transformers: RealServer
) -> None:
    study(begun, tmp_path)
    found = judged(begun, tmp_path, transformers, "--most", "16", "--probabilities")
    assert (found["stopped"], found["items"]) == (None, ITEMS)
    assert {chances for *_, chances in replies(begun)} == {"{}"}


@pytest.mark.nightly
def test_llama_cpp_says_how_likely_each_label_was_that_is_asked_for_as_a_letter(
    begun: CommandLine, tmp_path: Path, llama: RealServer
) -> None:
    study(begun, tmp_path, labels=GRADES)
    (tmp_path / "short.yaml").write_text(
        f"name: short\nversion: 1\nrationale: none\nsystem: 'Answer in one line: {IN_ONE_LINE}.'\n"
    )
    found = judged(begun, tmp_path, llama, "--most", "128", "--structured", "schema", "--probabilities")
    assert (found["items"], found["labels"], found["cannot_judge"]) == (ITEMS, ITEMS, 0)
    kept = replies(begun)
    assert len(kept) == ITEMS
    for _ending, text, *_, chances in kept:
        letter = json.loads(text)["item"]["judgement"]["label"]
        [(place, of_letters)] = json.loads(chances).items()
        assert place == "item/judgement/label"
        assert list(of_letters) == list("ABC")
        assert sum(of_letters.values()) == pytest.approx(1)
        assert of_letters[letter] == max(of_letters.values())  # at temperature 0
    with begun.database().read() as session:
        query = (
            "SELECT label.value, judged_item.chances FROM judged_item JOIN annotation ON "
            "annotation.id = judged_item.annotation_id JOIN label ON label.assignment_id = annotation.assignment_id"
        )
        stored = list(session.connection().exec_driver_sql(query))
    assert len(stored) == ITEMS
    for value, chances in stored:
        [of_labels] = json.loads(chances)["clear"].values()
        assert sorted(of_labels) == sorted(GRADES)
        assert sum(of_labels.values()) == pytest.approx(1)
        assert of_labels[json.loads(value)] == max(of_labels.values())
    print(f"\n{[json.loads(chances) for *_, chances in kept]}")


@pytest.mark.nightly
def test_llama_cpp_keeps_to_the_schema_so_that_every_item_is_labelled(
    begun: CommandLine,
    tmp_path: Path,
    llama: RealServer,
) -> None:
    study(begun, tmp_path)
    found = check_tokens_and_resuming(begun, tmp_path, llama, "128", refused=llama.refused)
    assert found["labels"] + found["cannot_judge"] + sum(row["n"] for row in found["unscored"]) == ITEMS
    assert found["labels"] + found["cannot_judge"] > 0
    for ending, text, *_ in replies(begun):
        if ending == "whole":
            assert list(json.loads(text)["item"]) == ["judgement"]
            assert list(json.loads(text)["item"]["judgement"]) in (["label"], ["cannot_judge"])
    print(f"\n{found}")
