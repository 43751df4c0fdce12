"""What was labelled in Label Studio, as labels of the study that its project was made of: by a server or an export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotators.errors import InvalidInput, NotFound
from annotators.figures import count
from db.elsewhere.came_back import CameBack, refusal, take_back
from db.elsewhere.handed_over import study_elsewhere
from db.engine import Database
from db.permissions import RESEARCHERS, Actor, On, operation
from exports.label_studio.files import read_tasks
from exports.label_studio.known import STUDY, People
from exports.label_studio.labelling import labellings_of
from exports.label_studio.lost import Lost
from exports.label_studio.push import check_config, project_mark
from exports.label_studio.said import Joined, SaidThere
from exports.label_studio.server import Server


@dataclass
class Pulled:
    """What came back, and what is lost."""

    came: CameBack
    lost: Lost

    def to_json(self) -> dict[str, Any]:
        """As `assay label-studio pull --json` prints it."""
        return {**self.came.to_json(), "waiting": self.came.waiting, "lost": self.lost.to_json()}


@operation(On.STUDY, RESEARCHERS)
def pull_from_server(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    server: Server,
    people: People,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> Pulled:
    """Take back what was labelled in the study's project there; with `skip_bad` without what does not fit.

    NotFound where there is none; Conflict where its config was changed; otherwise as `take_back`.
    """
    study = study_elsewhere(db, actor, study_id)
    labellings = labellings_of(study.protocol)
    server.check_version()
    projects = server.find([project_mark(study, one) for one in labellings])
    first = projects[0]
    if first is None:
        raise NotFound(f"There is no project of the study {study.name!r} at {server.address}. Push the study first.")
    tasks: list[Any] = []
    for labelling, project in zip(labellings, projects, strict=True):
        if project is not None:
            check_config(project, labelling)
            tasks += server.tasks(project.id)
    addresses = {str(number): email for number, email in server.people().items()}
    source = f"Label Studio, project {first.id} at {server.address}"
    reading = SaidThere(study, labellings, people, addresses)
    return _taken_back(db, actor, reading, tasks, source=source, dry_run=dry_run, skip_bad=skip_bad)


@operation(On.STUDY, RESEARCHERS)
def pull_from_files(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    paths: Sequence[Path],
    people: People,
    dry_run: bool = False,
    skip_bad: bool = False,
) -> Pulled:
    """Take back what exports (JSON) of the study's projects say, one file each; `skip_bad` as in `pull_from_server`.

    InvalidInput where no task of them is of the study; otherwise as `take_back`.
    """
    study = study_elsewhere(db, actor, study_id)
    reading = SaidThere(study, labellings_of(study.protocol), people)
    tasks = [task for path in paths for task in read_tasks(path)]
    source = ", ".join(path.name for path in paths)
    if not any(task["data"].get(STUDY) == study.token for task in tasks):
        raise InvalidInput(
            f"{source}: none of the {count(len(tasks), 'task')} is of the study {study.name!r}. Give exports (JSON) of "
            "the projects that it was pushed to."
        )
    return _taken_back(db, actor, reading, tasks, source=source, dry_run=dry_run, skip_bad=skip_bad)


def _taken_back(
    db: Database,
    actor: Actor,
    reading: SaidThere,
    tasks: Sequence[Any],
    *,
    source: str,
    dry_run: bool,
    skip_bad: bool,
) -> Pulled:
    joined = Joined()
    for there in reading.read(db, actor, tasks):
        reading.join(there, joined)
    reading.annotators.check()
    problems = reading.problems
    if problems and not skip_bad:
        raise refusal(source, problems)
    study_id = reading.study.study_id
    came = take_back(
        db, actor, study_id,
        annotations=joined.annotations, source=source, dry_run=dry_run, skip_bad=skip_bad,
        seen=reading.seen, unfinished=joined.unfinished,
    )  # fmt: skip
    came.problems = [*problems, *came.problems]
    came.left += [*joined.left, *reading.annotators.notes()]
    return Pulled(came, reading.lost)
