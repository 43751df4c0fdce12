"""Scores by a judge's verdicts: how long the score step takes, and whether its memory grows with the items.

    python -m tests.bench.bench_judged_scores [ITEMS] [MANY]

Items have ten claims and six units of evidence, all judged by one judge (60 verdicts an item). The score step is what
`assay score` does: the plan, which reads the labels and hashes them, and the run. Each is measured in a process of its
own, its memory after the plan and after each block (what the kernel keeps as the most of a process begins with what
its parent had). Targets: 100 items below 2 s; the peak of MANY items at most 100 MB above that of ITEMS, which is a
block of 1,000 items.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from annotators.protocols import PROTOCOLS
from db.engine import Database
from db.judging.planning import study_for_judges
from db.schema import migrate
from db.scores.write import plan_scoring, run_scorer
from exports.importing.items import import_paths
from tests.bench.bench_scoring_run import resident_mb
from tests.db.scores.judged import judge_says
from tests.makers import first_administrator, make_project

CLAIMS, UNITS = 10, 6
SECONDS, MORE_MB = 2.0, 100


def made(folder: Path, n: int) -> tuple[Path, int]:
    """A database with so many judged items; its path and the project."""
    path = folder / f"{n}.db"
    db = Database(f"sqlite:///{path}")
    migrate(db)
    admin, project_id = first_administrator(db), make_project(db)
    rows = (
        {
            "id": f"i{number}", "question": f"What of {number}?", "answer": "This and that.",
            "system": f"s{number % 5}",
            "claims": [{"key": f"i{number}c{claim}", "text": f"Claim {claim}."} for claim in range(CLAIMS)],
            "evidence": [
                {"key": f"i{number}e{unit}", "kind": kind, "text": "A text.", "rank": unit + 1}
                for unit, kind in enumerate(("passage", "figure") * (UNITS // 2))
            ],
        }
        for number in range(n)
    )  # fmt: skip
    source = folder / f"{n}.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_paths(db, admin, project_id, paths=[source])
    protocol = PROTOCOLS.get("claim_verification")
    study = study_for_judges(db, admin, project_id, protocol=protocol, called="judged")
    labels = ("entailment", "neutral", "contradiction")
    said = {
        f"i{number}": {
            ("verdict", f"claim:i{number}c{claim}|evidence:i{number}e{unit}"): labels[(number + claim * unit) % 3]
            for claim in range(CLAIMS)
            for unit in range(UNITS)
        }
        for number in range(n)
    }
    judge_says(db, study, "gpt", said)
    db.dispose()
    return path, project_id


def scored(path: str, project_id: int, out: Any) -> None:
    """Score in this process; seconds, scores and the peak of memory."""
    db = Database(f"sqlite:///{path}")
    admin = first_administrator(db)
    began = time.perf_counter()
    given, _ = plan_scoring(db, admin, project_id, scorer="claim_metrics", labels_of=["judged"])
    seen = [resident_mb()]
    summary = run_scorer(
        db, admin, project_id,
        scorer="claim_metrics", parameters=given, progress=lambda _done, _of: seen.append(resident_mb()),
    )  # fmt: skip
    seconds = time.perf_counter() - began
    out.send({"seconds": round(seconds, 2), "scores": summary.added, "peak_mb": round(max(seen))})
    db.dispose()


def measured(path: Path, project_id: int) -> dict[str, Any]:
    """What a process of its own says."""
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=scored, args=(str(path), project_id, theirs))
    process.start()
    found: dict[str, Any] = mine.recv()
    process.join()
    return found


def main(items: int = 100, many: int = 10_000) -> bool:
    """Whether the targets are met."""
    with tempfile.TemporaryDirectory() as folder:
        few = measured(*made(Path(folder), items))
        print(f"{items:,} items: {json.dumps(few)}", flush=True)
        large = measured(*made(Path(folder), many))
        print(f"{many:,} items: {json.dumps(large)}")
    return few["seconds"] < SECONDS and large["peak_mb"] - few["peak_mb"] < MORE_MB


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:3])))
