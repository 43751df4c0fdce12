"""One frame gives the same figures of every command from CSV, XLSX, Parquet and JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.cli.command_line import CommandLine

WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "json": lambda frame, path: frame.to_json(path, orient="records", double_precision=15),
}
ROWS = 12

_NAMES = st.sampled_from(["q one", "Q one", " q two", "q two ", "07", "3", "é", "3 %"])
_WORDS = st.sampled_from(["Yes", "yes ", "no", "NA", "n.a.", "4 - good", "12 %", "1.200,5", "0,5", "a;b"])
_GRADES = st.sampled_from([1, 2, 3, 4, 2.5])
_SHARES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def several(of: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(of, min_size=ROWS, max_size=ROWS)


_LABELS = st.one_of(
    several(st.one_of(_GRADES, st.none())), several(st.one_of(st.booleans(), st.none())),
    several(st.one_of(_WORDS, st.none())),
)  # fmt: skip


@given(
    ada=_LABELS, ben=_LABELS, question=several(_NAMES), human=several(st.one_of(_GRADES, st.none())),
    metric=several(_SHARES), truth=several(st.booleans()),
)  # fmt: skip
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_frame_gives_the_same_figures_from_every_kind_of_file(
    assay: CommandLine, tmp_path: Path, *, ada: list[Any], ben: list[Any], question: list[Any], human: list[Any],
    metric: list[Any], truth: list[Any],
) -> None:  # fmt: skip
    human = [1, 2, 3, *human[3:]]  # some are there, and differ
    frame = pd.DataFrame(
        {"item": range(ROWS), "ada": ada, "ben": ben, "question": question, "human": human, "metric": metric,
         "truth": truth}
    )  # fmt: skip
    found: dict[str, list[Any]] = {}
    for ending, write in WRITERS.items():
        path = tmp_path / f"t.{ending}"
        write(frame, path)
        about = ("--table", path, "--json")
        answers = [
            said(assay, "agreement", *about, "--wide", "--rater", "ada,ben", "--unit", "item", "--resamples", "0"),
            said(assay, "alignment", *about, "--human", "human", "--metric", "metric", "--metric", "truth",
                 "--resamples", "20"),
            said(assay, "estimate", *about, "--human", "human", "--predict", "metric,truth"),
        ]  # fmt: skip
        found[ending] = [plain(answer, ending) for answer in answers]
    assert "statistics" in found["csv"][1]  # of grades that differ something is always measured
    assert all(one == found["csv"] for one in found.values()), found


def said(assay: CommandLine, *arguments: str | Path) -> Any:
    """What a command prints, or why it refuses: that is the same of every kind of file as well."""
    try:
        return assay(*arguments).json
    except AssertionError as error:
        return {"refused": error.args[0].err.splitlines()[:1]}


def plain(answer: Any, ending: str) -> str:
    """An answer without the name of its file, and without what is said of cells that only text has."""
    for name in ("missing", "read", "notes"):
        answer.pop(name, None)
    return str(answer).replace(f"t.{ending}", "t").replace("line ", "row ")
