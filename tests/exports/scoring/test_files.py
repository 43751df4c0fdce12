"""Scoring files without a database: the rows that come out, streamed, whole or not at all; on Dask the same."""

from __future__ import annotations

import fcntl
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.items.item import ItemContent, Reference
from annotators.scorers.shared import tasks
from annotators.scorers.shared.tasks import in_this_process, scoring_task
from db.engine import Database
from db.scores.write import run_scorer
from exports.scoring import engines
from exports.scoring import files as scoring
from exports.scoring.engines import scoring_engine
from exports.scoring.files import score_files
from exports.scoring.output import COLUMNS
from tests.bulk import make_items
from tests.conftest import ROOT
from tests.makers import make_person, make_project

_ROWS: tuple[dict[str, Any], ...] = (
    {"id": "a", "answer": "copper and tin", "category": "Text", "references": [["copper", "tin"]]},
    {"id": "b", "answer": "copper", "category": "Text", "references": [["copper", "tin"]]},
    {"id": "c", "answer": "lead", "category": "Tables", "references": [["copper", "tin"]]},
    {"id": "d", "answer": "lead", "system": "other", "language": "en"},
)  # fmt: skip


ROWS = tuple({"question": "Which metals?", **row} for row in _ROWS)


def item(number: int, answer: str, *references: Reference) -> ItemContent:
    return ItemContent(f"i{number}", "q", "q", answer, references=references, version_id=number)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "items.jsonl", ROWS)


def write(path: Path, rows: tuple[dict[str, Any], ...]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_item_gets_a_row_with_who_and_why(source: Path, tmp_path: Path) -> None:
    found = score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall", parameters=["mode=paper"])
    rows = lines(tmp_path / "out.jsonl")
    assert [list(row) for row in rows] == [list(COLUMNS)] * 4
    assert [row["item"] for row in rows] == [1, 2, 3, 4]
    assert [(row["id"], row["value"], row["reason"]) for row in rows] == [
        ("a", 1.0, None),
        ("b", 0.5, None),
        ("c", 0.0, None),
        ("d", None, "the item has no reference"),
    ]
    assert rows[1]["details"] == {"reference": 0, "found": ["copper"], "missing": ["tin"]}
    assert (rows[3]["system"], rows[3]["language"], rows[3]["category"]) == ("other", "en", None)
    assert (rows[0]["scorer"], rows[0]["version"], rows[0]["parameters"]) == ("phrase_recall", "1", {"mode": "paper"})
    [summary] = found.summaries
    # Text (1 + 1/2) / 2 = 3/4, Tables 0: macro 3/8; over items 1/2. The one without a reference is unscored.
    assert (summary.n_scored, summary.n_unscored, summary.mean, summary.macro_mean) == (3, 1, 0.5, 0.375)


def test_parquet_holds_the_same(source: Path, tmp_path: Path) -> None:
    score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall")
    score_files([source], tmp_path / "out.parquet", scorer="phrase_recall")
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
        row["details"] = row["details"] and json.loads(row["details"])
    assert rows == lines(tmp_path / "out.jsonl")


def test_a_file_scores_as_a_project_does(sqlite_database: Database, source: Path, tmp_path: Path) -> None:
    from exports.importing.items import import_paths

    admin, project_id = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    import_paths(sqlite_database, admin, project_id, paths=[source])
    of_project = run_scorer(sqlite_database, admin, project_id, scorer="phrase_recall")
    [of_file] = score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall").summaries
    assert of_file.to_json() == of_project.to_json()


def test_blocks_are_scored_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BLOCK", 7)
    many = tuple({**ROWS[0], "id": f"i{number:03}"} for number in range(50))
    seen: list[tuple[int, int]] = []
    score_files(
        [write(tmp_path / "many.jsonl", many)],
        tmp_path / "out.jsonl",
        scorer="phrase_recall",
        progress=lambda done, of: seen.append((done, of)),
    )
    assert [row["id"] for row in lines(tmp_path / "out.jsonl")] == [row["id"] for row in many]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == ((tmp_path / "many.jsonl").stat().st_size,) * 2


def test_a_bad_row_stops_it_and_leaves_no_file(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text() + '{"answer": "without a question"}\n')
    with pytest.raises(InvalidInput, match=r"items.jsonl, line 5: .*question"):
        score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl"]
    found = score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall", skip_bad=True)
    assert ([row.line for row in found.rejected], found.rows) == ([5], 4)


def test_an_engine_that_breaks_leaves_no_file(source: Path, tmp_path: Path) -> None:
    def breaks(_task: object, _blocks: object) -> Iterator[Any]:
        raise RuntimeError("no power")
        yield

    with pytest.raises(RuntimeError):
        score_files([source], tmp_path / "out.parquet", scorer="phrase_recall", engine=breaks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.jsonl"]


def test_wrong_names_say_what_is_right(source: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"End it in \.jsonl or \.parquet"):
        score_files([source], tmp_path / "out.csv", scorer="phrase_recall")
    with pytest.raises(NotFound, match="phrase_recall"):
        score_files([source], tmp_path / "out.jsonl", scorer="bleu")
    with pytest.raises(InvalidInput, match="no folder"):
        score_files([source], tmp_path / "nowhere" / "out.jsonl", scorer="phrase_recall")
    (tmp_path / "out.jsonl").write_text("mine")
    with pytest.raises(Conflict, match="is there already"):
        score_files([source], tmp_path / "out.jsonl", scorer="phrase_recall")
    assert (tmp_path / "out.jsonl").read_text() == "mine"
    empty = write(tmp_path / "empty.jsonl", ())
    with pytest.raises(InvalidInput):
        score_files([empty], tmp_path / "new.jsonl", scorer="phrase_recall", format_name="native")


# Going on -------------------------------------------------------------------------------------------------------------


class Stops(Exception):
    """The power is gone after some blocks."""


class Attempts:
    """A hundred items, scored in blocks of ten by attempts that may stop, and the rows that a whole one writes."""

    def __init__(self, folder: Path, ending: str) -> None:
        rows = tuple({**ROWS[number % 4], "id": f"i{number:03}"} for number in range(100))
        self.folder, self.source = folder, write(folder / "many.jsonl", rows)
        self.output, self.scored = folder / f"out{ending}", 0
        score_files([self.source], folder / f"whole{ending}", scorer="token_f1")

    def attempt(self, *, blocks: int = 1_000, **given: Any) -> scoring.FileScores:
        """Score the items; after so many blocks an exception comes."""

        def counting(task: Any, of: Any) -> Iterator[Any]:
            for number, (items, scores) in enumerate(in_this_process(task, of)):
                if number == blocks:
                    raise Stops
                self.scored += len(items)
                yield items, scores

        return score_files([self.source], self.output, engine=counting, **{"scorer": "token_f1", **given})

    def stopped(self, blocks: int, **given: Any) -> Path:
        """The part that an attempt leaves which stops after so many blocks."""
        with pytest.raises(Stops):
            self.attempt(blocks=blocks, **given)
        assert not self.output.exists()
        return max(self.folder.glob(".out*.part"), key=lambda path: path.stat().st_mtime_ns)

    def same(self) -> bool:
        """Whether the output is what an attempt that nobody stops writes, and no part is left."""
        whole = self.folder / f"whole{self.output.suffix}"
        assert not list(self.folder.glob(".out*"))
        if whole.suffix == ".jsonl":
            return whole.read_bytes() == self.output.read_bytes()
        return bool(pq.read_table(whole).equals(pq.read_table(self.output)))


@pytest.fixture
def attempts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attempts:
    monkeypatch.setattr(tasks, "BLOCK", 10)
    return Attempts(tmp_path, ".jsonl")


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_an_attempt_that_stopped_is_gone_on_with(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "BLOCK", 10)
    attempts = Attempts(tmp_path, ending)
    attempts.stopped(3)
    attempts.stopped(4)
    found = attempts.attempt()
    # 30 items, of which the last is scored again, then 40, then the others.
    assert (attempts.scored, found.earlier) == (30 + 40 + 32, 68)
    assert attempts.same()
    whole = score_files([attempts.source], tmp_path / "again.jsonl", scorer="token_f1")
    assert (found.summaries, found.rows) == (whole.summaries, whole.rows)


@pytest.mark.parametrize("tail", [b'{"item": 30, "id": "i02', b"\0" * 400, b"[]\n", b""])
def test_a_part_that_was_cut_anywhere_is_gone_on_with(attempts: Attempts, tail: bytes) -> None:
    part = attempts.stopped(3)
    part.write_bytes(part.read_bytes()[:-9] + tail)
    attempts.attempt()
    assert attempts.same()


def test_another_input_or_parameter_begins_anew(attempts: Attempts) -> None:
    attempts.stopped(3)
    attempts.stopped(0, parameters=["normalisation=squad"])
    assert attempts.attempt(parameters=["normalisation=squad"]).earlier == 0
    attempts.output.unlink()
    rows = lines(attempts.source)
    write(attempts.source, tuple({**row, "answer": "lead"} for row in rows))
    found = attempts.attempt()
    assert (found.earlier, found.summaries[0].mean) == (0, 0.0)


def test_two_processes_do_not_write_one_file(attempts: Attempts) -> None:
    part = attempts.stopped(1)
    with part.open("ab") as another:
        fcntl.flock(another, fcntl.LOCK_EX)
        with pytest.raises(Conflict, match="Another process is writing"):
            attempts.attempt()
    attempts.attempt()
    assert attempts.same()


@pytest.mark.slow
def test_a_command_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """SIGKILL in the middle of a real `assay score`, which is then given again."""
    rows = tuple(
        {"id": f"i{n}", "question": "Which?", "answer": f"tin {n} " * 200, "references": [f"{n} ore " * 200]}
        for n in range(12_000)
    )
    source, output = write(tmp_path / "many.jsonl", rows), tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "app.cli", "score", "--input", str(source), "--scorer", "rouge_l", "--output"]
    process = subprocess.Popen([*command, str(output)], cwd=ROOT)
    try:
        while not any(part.stat().st_size for part in tmp_path.glob(".out.jsonl.*.part")):
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    assert not output.exists()
    again = subprocess.run([*command, str(output)], cwd=ROOT, check=True, capture_output=True, text=True)
    told = re.search(r"those of ([\d,]+) items by an earlier attempt", again.stdout)
    assert told is not None, again.stdout
    assert 0 < int(told[1].replace(",", "")) < len(rows)
    score_files([source], tmp_path / "whole.jsonl", scorer="rouge_l")
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.jsonl", "out.jsonl", "whole.jsonl"]


# Engines --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_engine_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Known: local, dask"), scoring_engine("spark"):
        pass
    with pytest.raises(InvalidInput, match="Dask scheduler"), scoring_engine("local", "tcp://127.0.0.1:8786"):
        pass
    with (
        pytest.raises(InvalidInput, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"),
        scoring_engine("dask", "tcp://127.0.0.1:9"),
    ):
        pass


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of two worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


class TestOnDask:
    def test_a_file_gives_the_same_bytes(self, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tasks, "BLOCK", 8)
        many = tuple({**ROWS[number % 4], "id": f"i{number:03}"} for number in range(100))
        source = write(tmp_path / "many.jsonl", many)
        score_files([source], tmp_path / "here.jsonl", scorer="phrase_recall")
        with scoring_engine("dask", cluster.scheduler_address) as engine:
            score_files([source], tmp_path / "there.jsonl", scorer="phrase_recall", engine=engine)
        assert (tmp_path / "there.jsonl").read_bytes() == (tmp_path / "here.jsonl").read_bytes()

    def test_a_project_gets_the_same_scores(self, cluster: Any, database: Database) -> None:
        admin = make_person(database, admin=True)
        here, there = make_project(database), make_project(database)
        for project_id in (here, there):
            make_items(database, project_id, 3_500)
        of_here = run_scorer(database, admin, here, scorer="phrase_recall")
        with scoring_engine("dask", cluster.scheduler_address) as engine:
            of_there = run_scorer(database, admin, there, scorer="phrase_recall", engine=engine)
        assert (of_there.added, of_there.to_json()) == (of_here.added, of_here.to_json())

    def test_both_workers_compute_and_no_more_blocks_are_read_than_they_need(self, cluster: Any) -> None:
        read = 0

        def blocks() -> Iterator[list[ItemContent]]:
            nonlocal read
            for number in range(40):
                read += 1
                yield [item(number, "copper", ["copper"])]

        with scoring_engine("dask", cluster.scheduler_address) as engine:
            ahead = []
            for done, (items, scores) in enumerate(engine(scoring_task("phrase_recall"), blocks()), 1):
                assert (items[0].version_id, scores[0][0].value) == (done - 1, 1.0)
                ahead.append(read - done)
        assert max(ahead) <= 2 * engines._AHEAD

    @pytest.mark.slow
    def test_the_model_is_loaded_once_in_a_worker(self, cluster: Any) -> None:
        task = scoring_task("abstention")
        texts = ["The lease ended in 1911.", "I cannot find that in the documents."]
        blocks = [[item(n, texts[n % 2])] for n in range(8)]
        with scoring_engine("dask", cluster.scheduler_address) as engine:
            found = [scores[0][0].value for _, scores in engine(task, iter(blocks))]
        assert found == [0.0, 1.0] * 4
        with cluster.get_client() as client:
            loaded = client.run(_models_loaded)
        assert set(loaded.values()) == {1}


def _models_loaded() -> int:
    """How many sentence-transformers models this process holds."""
    import gc

    from sentence_transformers import SentenceTransformer

    return sum(isinstance(object_, SentenceTransformer) for object_ in gc.get_objects())
