"""A project whose answers three people have judged, with scores that go with the judgements, more or less."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from db.engine import Database
from db.permissions import Actor
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from tests.makers import make_project

SYSTEMS = ("harbour", "lantern", "quay")
PEOPLE = ("ada", "ben", "chloe")


@dataclass(frozen=True)
class Judged:
    """The ids of what was made."""

    project_id: int
    study_id: int


def make_judged(
    db: Database,
    actor: Actor,
    folder: Path,
    *,
    questions: int = 30,
    labelled: int = 20,
    seed: int = 0,
    project: str = "judged",
) -> Judged:
    """Three systems' answers to each question; people judged those to the first `labelled` questions.

    Criteria: `right` (yes, no) and `quality` (1 to 5). Scores: `overlap` (0 to 1, good), `length` (0 to 1, poor) and
    `hallucination` (a flag). The last item has no `overlap`.
    """
    rng = np.random.default_rng(seed)
    items, labels = [], []
    for question in range(questions):
        difficulty = rng.normal(scale=0.6)
        for place, system in enumerate(SYSTEMS):
            truth = difficulty + 0.5 * (1 - place) + rng.normal()
            name = f"q{question:03}:{system}"
            overlap = round(float(np.clip(0.5 + 0.25 * truth + 0.22 * rng.normal(), 0, 1)), 3)
            scores = [
                {"scorer": "imported:native", "name": "length", "value": round(float(rng.random()), 3)},
                {"scorer": "imported:native", "name": "hallucination", "value": int(truth + 0.5 * rng.normal() < -0.3)},
            ]
            if (question, system) != (questions - 1, SYSTEMS[-1]):
                scores.append({"scorer": "imported:native", "name": "overlap", "value": overlap})
            items.append(
                {
                    "id": name,
                    "question_key": f"q{question:03}",
                    "question": f"What was measured in round {question}?",
                    "answer": f"About {100 + question} units, says {system}.",
                    "system": system,
                    "category": ("Text", "Tables")[question % 2],
                    "references": [f"{100 + question} units"],
                    "scores": scores,
                    "metadata": {"group": "open" if place else "closed"},
                }
            )
            for person in PEOPLE if question < labelled else ():
                said = truth + 0.5 * rng.normal()
                labels.append((name, person, "right", "yes" if said > 0 else "no"))
                labels.append((name, person, "quality", int(np.clip(round(3 + 1.3 * said), 1, 5))))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "criterion", "value"])
        writer.writerows(labels)
    project_id = make_project(db, project)
    import_paths(db, actor, project_id, paths=[folder / "items.jsonl"])
    made = import_label_table(
        db, actor, project_id, study="grading", path=folder / "labels.csv", infer=True, scales=("quality=ordinal",)
    )
    return Judged(project_id, made.study_id)
