"""Who judges are: raters of kind model, each a model with a prompt and settings, found again when it judges anew."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func
from sqlmodel import Session, col

from annotators.errors import NotFound
from annotators.figures import count as count_of
from annotators.judges.prompts import Prompt
from db.engine import Database
from db.models import Account, Annotation, Judge, Person, PersonKind, Project
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.runs.run import parameters_hash

_LONGEST = 80


@dataclass(frozen=True)
class JudgeSettings:
    """What the labels of a judge depend on besides the items: who is asked, in which words, how often.

    `server` is a base URL without credentials. `most` is the limit of a reply in tokens, `pictures` how many pictures
    a request has at most, `probabilities` whether the server is asked how likely each label was. `letters`: labels that
    begin alike are then given as letters; judges of before there were any give words.
    """

    model: str
    server: str
    prompt: Prompt
    samples: int = 1
    seed: int = 0
    most: int = 1024
    pictures: int = 8
    structured: str = "auto"
    probabilities: bool = False
    letters: bool = True

    @property
    def gives_letters(self) -> bool:
        """Whether labels that begin alike are asked for as letters."""
        return self.probabilities and self.letters

    @property
    def prompt_name(self) -> str:
        """`NAME@VERSION` of the prompt."""
        return f"{self.prompt.name}@{self.prompt.version}"

    def to_json(self) -> dict[str, Any]:
        """As they are kept, with the whole prompt."""
        return {
            "model": self.model,
            "server": self.server,
            "prompt": {**self.prompt.model_dump(mode="json"), "hash": self.prompt.hash},
            "samples": self.samples,
            "seed": self.seed,
            "most": self.most,
            "pictures": self.pictures,
            "structured": self.structured,
            # Judges of before had no such settings.
            **({"probabilities": True} if self.probabilities else {}),
            **({"letters": True} if self.gives_letters else {}),
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> JudgeSettings:
        """The settings that were kept."""
        prompt = {name: value for name, value in kept["prompt"].items() if name != "hash"}
        return cls(**{"letters": False, **kept, "prompt": Prompt.model_validate(prompt)})


@dataclass(frozen=True)
class JudgeRow:
    """A judge as pages and commands show it; `labelled` has study id → items that it has judged there."""

    judge_id: int
    person_id: int
    name: str
    model: str
    server: str
    prompt: str
    settings: dict[str, Any]
    labelled: dict[int, int]


@operation(On.PROJECT, READERS)
def list_judges(db: Database, _actor: Actor, project_id: int) -> list[JudgeRow]:
    """The judges of a project, in the order in which they came."""
    query = (
        pick(Judge, Account.name)
        .join(Account, col(Account.person_id) == Judge.person_id)
        .where(col(Judge.project_id) == project_id)
        .order_by(col(Judge.id))
    )
    with db.read() as session:
        found = session.execute(query).all()
        people = [judge.person_id for judge, _ in found]
        counts = session.execute(
            pick(Annotation.person_id, Annotation.study_id, func.count())
            .where(col(Annotation.person_id).in_(people))
            .group_by(col(Annotation.person_id), col(Annotation.study_id))
        ).all()
    labelled: dict[int, dict[int, int]] = {}
    for person_id, study_id, n in counts:
        labelled.setdefault(person_id, {})[study_id] = n
    return [
        JudgeRow(
            judge.id or 0,
            judge.person_id,
            name,
            judge.model,
            judge.server,
            judge.prompt,
            judge.settings,
            labelled.get(judge.person_id, {}),
        )
        for judge, name in found
    ]


@operation(On.PROJECT, READERS)
def find_judge(db: Database, actor: Actor, project_id: int, *, name: str) -> JudgeRow:
    """The judge of this name; NotFound lists those that the project has."""
    judges = list_judges(db, actor, project_id)
    for judge in judges:
        if judge.name == name:
            return judge
    known = ", ".join(repr(judge.name) for judge in judges) or "none yet: start one with `assay judge`"
    raise NotFound(f"The project has no judge {name!r}. Judges here: {known}.")


def settings_digest(settings: JudgeSettings) -> str:
    """What tells two judges apart: SHA-256 of all settings; two names of one prompt are one judge."""
    return parameters_hash({**settings.to_json(), "prompt": settings.prompt.hash})


def judge_for(session: Session, project_id: int, settings: JudgeSettings) -> tuple[int, str]:
    """The person that these settings are in the project, and the name; made where there is none."""
    kept = settings.to_json()
    digest = settings_digest(settings)
    known = session.execute(
        pick(Judge.person_id, Account.name)
        .join(Account, col(Account.person_id) == Judge.person_id)
        .where(col(Judge.project_id) == project_id, col(Judge.settings_hash) == digest)
    ).one_or_none()
    if known is not None:
        return known.person_id, known.name
    person = Person(kind=PersonKind.MODEL)
    session.add(person)
    session.flush()
    assert person.id is not None
    name = _free_name(session, project_id, settings)
    session.add(Account(person_id=person.id, name=name))
    session.add(
        Judge(
            project_id=project_id,
            person_id=person.id,
            model=settings.model,
            server=settings.server,
            prompt=settings.prompt_name,
            settings=kept,
            settings_hash=digest,
        )
    )
    session.flush()
    return person.id, name


def _plain(model: str) -> str:
    """A model's name as part of a judge's: on one line, without letters that nobody sees, or the comma of lists."""
    letters = (one for one in model.replace(",", " ") if one.isspace() or not unicodedata.category(one).startswith("C"))
    return " ".join("".join(letters).split()) or "model"


def _free_name(session: Session, project_id: int, settings: JudgeSettings) -> str:
    """The model and the prompt; where that is taken, with what tells this judge from the one that has it.

    Names are of the whole home, and lower case is the same. Beside another judge of the project that is what differs in
    their settings; beside one of another project, of which nobody here need know, the name of this one.
    """
    wanted = f"{_plain(settings.model)} {settings.prompt_name}"[:_LONGEST]
    project = _plain(session.get_one(Project, project_id).name)
    mine = session.execute(
        pick(Account.name, Judge.settings)
        .join(Account, col(Account.person_id) == Judge.person_id)
        .where(col(Judge.project_id) == project_id)
        .order_by(col(Judge.id))
    ).all()
    beside = [kept for name, kept in mine if name.lower().startswith(wanted.lower())]
    differing = f"{wanted} · {_what_differs(settings, beside[0])}" if beside else wanted
    names = dict.fromkeys([wanted, differing, f"{differing} of {project}"])
    for name in chain(names, (f"{differing} ({n})" for n in count(2))):
        if session.execute(pick(Account.name).where(func.lower(Account.name) == name.lower())).first() is None:
            return name
    raise AssertionError("the numbers have no end")


_SAYS: dict[str, Callable[[Any], str]] = {
    "server": lambda server: urlsplit(str(server)).netloc or str(server),
    "prompt": lambda _prompt: "another text",
    "samples": lambda n: count_of(n, "sample"),
    "seed": lambda n: f"seed {n}",
    "most": lambda n: f"{n} reply tokens",
    "pictures": lambda n: count_of(n, "picture"),
    "structured": lambda how: f"form by {how}",
    "probabilities": lambda given: "with probabilities" if given else "without probabilities",
}
"""Setting → how a name says it."""


def _what_differs(settings: JudgeSettings, first: Mapping[str, Any]) -> str:
    """In which settings a judge differs from the first of its name, in words."""
    mine, theirs = _compared(settings.to_json()), _compared(first)
    return " · ".join(said(mine[name]) for name, said in _SAYS.items() if mine[name] != theirs[name]) or "again"


def _compared(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are told apart: a prompt by its text, not by what it is called."""
    prompt = kept.get("prompt", {})
    return {**{name: kept.get(name) for name in _SAYS}, "prompt": prompt.get("hash"),
            "probabilities": bool(kept.get("probabilities"))}  # fmt: skip
