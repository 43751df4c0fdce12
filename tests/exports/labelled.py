"""A study that four people have labelled on every scale, as labels made elsewhere: what agreement is measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Material, Protocol, Step
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.permissions import Actor
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

PEOPLE = ("ada", "ben", "chloe", "dan")
CRITERIA = ("right", "clarity", "share", "problems", "words", "ranking")
PROBLEMS = ("old", "vague", "wrong")
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def every_scale(titles: dict[str, str] | None = None) -> Protocol:
    """One criterion of each scale, about the item; `titles` by name."""
    called = {name: name.capitalize() for name in CRITERIA} | (titles or {})
    yes_no = [Label(value="yes"), Label(value="no")]
    return tiny_protocol(
        name="scales",
        title="Every scale",
        criteria=[
            Choice(name="right", title=called["right"], labels=yes_no),
            Grade(name="clarity", title=called["clarity"], labels=[Label(value=n) for n in range(1, 6)]),
            Number(name="share", title=called["share"], maximum=100),
            Several(name="problems", title=called["problems"], labels=[Label(value=problem) for problem in PROBLEMS]),
            Text(name="words", title=called["words"], max_words=None),
            Order(name="ranking", title=called["ranking"]),
        ],
        steps=[
            Step(
                name="all",
                title="All",
                shows=[Material.QUESTION, Material.ANSWER, Material.IMAGES],
                criteria=list(CRITERIA),
            ),
        ],
    )


def labels_of(
    n_items: int, *, people: tuple[str, ...] = PEOPLE, noise: float = 0.2, seed: int = 0
) -> list[ForeignLabel]:
    """What these people say of items `i00001` …: the last of them guesses more than the others; a few gaps."""
    rng = np.random.default_rng(seed)
    rows: list[ForeignLabel] = []
    for number in range(1, n_items + 1):
        truth = float(rng.normal())
        for place, person in enumerate(people):
            if place and rng.random() < 0.05:
                continue
            off = noise * (2.5 if place == len(people) - 1 else 1.0)
            seen = truth + off * float(rng.normal()) * 2
            given: dict[str, Any] = {
                "right": "yes" if seen > -0.3 else "no",
                "clarity": int(np.clip(round(3 + 1.4 * seen), 1, 5)),
                "share": int(np.clip(round(50 + 20 * seen), 0, 100)),
                "problems": json.dumps([problem for k, problem in enumerate(PROBLEMS) if seen < -0.5 * k]),
                "words": "fine" if seen > 0 else "The source says otherwise",
                "ranking": json.dumps(["a", "b"] if seen > 0 else ["b", "a"]),
            }
            at = BEGAN + timedelta(minutes=3 * number + place)
            rows += [
                ForeignLabel(len(rows) + k, f"i{number:05}", person, name, "item", str(value), at)
                for k, (name, value) in enumerate(given.items(), 2)
            ]
    return rows


@dataclass(frozen=True)
class Labelled:
    """The ids of what was made, and who may read it."""

    project_id: int
    study_id: int
    researcher: Actor


def labelled_study(
    db: Database, *, items: int = 60, people: tuple[str, ...] = PEOPLE, titles: dict[str, str] | None = None
) -> Labelled:
    """The study; its items are of two systems and of three categories, of which one is none."""
    project_id, researcher = make_project(db), make_person(db)
    make_member(db, project_id, researcher, "researcher")
    for number in range(1, items + 1):
        category = (None, "Tables", "Text")[number % 3]
        make_item(db, project_id, f"i{number:05}", system=f"s{number % 2}", category=category)
    return Labelled(
        project_id, labelled(db, researcher, project_id, items=items, people=people, titles=titles), researcher
    )


def labelled(
    db: Database,
    researcher: Actor,
    project_id: int,
    *,
    items: int,
    people: tuple[str, ...] = PEOPLE,
    titles: dict[str, str] | None = None,
    name: str = "ratings",
    noise: float = 0.2,
) -> int:
    """A study of a project's items `i00001` … with labels; its id."""
    design = StudyDesign(name=name, annotators=(researcher.name,), overlap=1, order="given")
    made = create_study(db, researcher, project_id, protocol=every_scale(titles), design=design)
    rows = labels_of(items, people=people, noise=noise)
    import_labels(db, researcher, made.study_id, rows=rows, source="table.csv")
    return made.study_id
