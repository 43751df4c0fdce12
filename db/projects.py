"""Projects: made, found, and which of them a person can see in which role."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, true
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, SQLModel, col, select

from annotators.errors import Conflict, NotAllowed
from db.engine import Database
from db.faults import DatabaseRefuses, DatabaseUnavailable
from db.items.current import is_published, item_is_published, unpublished_now
from db.models import Batch, Document, Item, Project, Question, Run, Study
from db.names import no_project, visible_name
from db.permissions import READERS, Actor, On, Role, operation, record, roles_of
from db.query import pick

MAX_NAME = 100


@dataclass(frozen=True)
class ProjectRow:
    """A project as one person sees it. An administrator acts as researcher in all."""

    project_id: int
    name: str
    role: Role
    created_at: datetime


@dataclass(frozen=True)
class ProjectOverview:
    """What a project holds. Withdrawn batches are counted: nothing of them is gone."""

    project_id: int
    name: str
    documents: int
    supplied_documents: int
    questions: int
    items: int
    studies: int
    batches: int
    runs: int


@operation(On.APP, anyone_signed_in=True)
def create_project(db: Database, actor: Actor, name: str) -> int:
    """Make a project and return its id. Administrators may, and those who are researcher by default.

    Raises InvalidInput for an unfit name, Conflict when it is taken.
    """
    with db.read() as session:
        may = roles_of(session, actor.person_id).may_create_projects()
    if not may:
        raise NotAllowed(
            f"{actor.name!r} may not create projects: administrators may, and those whose default role is researcher."
        )
    clean = visible_name(name, "project name", MAX_NAME)
    taken = Conflict(f"There is a project named {clean!r} already. Choose another name.")
    with db.write() as session:
        if session.exec(select(Project.id).where(func.lower(Project.name) == func.lower(clean))).first() is not None:
            raise taken
        project = Project(name=clean, created_by=actor.person_id)
        session.add(project)
        try:
            session.flush()
        except IntegrityError as error:  # somebody else took the name in this moment (PostgreSQL)
            raise taken from error
        assert project.id is not None
        record(session, actor, "project created", "project", project.id, project_id=project.id, details={"name": clean})
        return project.id


@operation(On.APP, anyone_signed_in=True)
def my_projects(db: Database, actor: Actor) -> list[ProjectRow]:
    """The projects that the person can see, with the role they have there, by name."""
    with db.read() as session:
        roles = roles_of(session, actor.person_id)
        rows = []
        for project in session.exec(select(Project).order_by(Project.name)):
            assert project.id is not None
            role = roles.of(project.id)
            if role is not None:
                rows.append(ProjectRow(project.id, project.name, role, project.created_at))
        return rows


@operation(On.APP, anyone_signed_in=True)
def find_project(db: Database, actor: Actor, name: str) -> ProjectRow:
    """The project with this name, if the person can see it; NotFound lists those they can."""
    rows = my_projects(db, actor)
    for row in rows:
        if row.name == name.strip():
            return row
    raise no_project(name, actor.name, [row.name for row in rows])


@operation(On.PROJECT, READERS)
def project_overview(db: Database, actor: Actor, project_id: int) -> ProjectOverview:
    """How much of everything the project holds; each count is read from an index, unless an import is under way."""
    with db.read() as session:
        every: ColumnElement[bool] = true()
        documents = questions = items = runs = every
        if unpublished_now(session):
            documents, runs = is_published(Document.batch_id), is_published(Run.batch_id)
            items = item_is_published()
            questions = pick(Item.id).where(col(Item.question_id) == col(Question.id), item_is_published()).exists()
        supplied = col(Document.sha256).is_not(None)
        return ProjectOverview(
            project_id,
            session.get_one(Project, project_id).name,
            _count(session, Document, project_id, documents),
            _count(session, Document, project_id, documents & supplied),
            _count(session, Question, project_id, questions),
            _count(session, Item, project_id, items),
            _count(session, Study, project_id, every),
            _count(session, Batch, project_id, is_published(Batch.id)),
            _count(session, Run, project_id, runs),
        )


@operation(On.PROJECT, READERS)
def count_documents(db: Database, _actor: Actor, project_id: int) -> int:
    """How many documents the project holds, as `project_overview` has it; nothing else is counted."""
    with db.read() as session:
        seen: ColumnElement[bool] = is_published(Document.batch_id) if unpublished_now(session) else true()
        return _count(session, Document, project_id, seen)


def _count(session: Session, table: type[SQLModel], project_id: int, seen: ColumnElement[bool]) -> int:
    of_project = table.project_id == project_id  # type: ignore[attr-defined]
    return session.exec(select(func.count()).select_from(table).where(of_project, seen)).one()


def database_answers(db: Database) -> None:
    """Return when the database answers a query; raises DatabaseUnavailable when it does not. For health checks."""
    with db.read() as session:
        session.exec(select(Project.id).limit(1)).first()


def takes_writing(database: Database) -> DatabaseUnavailable | None:
    """None when a transaction that writes can be stored, else why not: one is, which changes nothing."""
    try:
        with database.write() as session:
            connection = session.connection()
            if database.is_sqlite:
                # The number that SQLite keeps for its users, which is ours to use and unused: the same once more.
                number = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
                connection.exec_driver_sql(f"PRAGMA user_version = {number}")
                return None
            if connection.exec_driver_sql("SHOW transaction_read_only").scalar() != "off":
                return DatabaseRefuses("The database is read-only. Connect to the one that takes writes.")
            connection.exec_driver_sql("SELECT pg_current_xact_id()")  # whose end is written to the disk
            return None
    except DatabaseUnavailable as error:
        return error
