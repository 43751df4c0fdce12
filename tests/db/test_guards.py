"""Append-only tables refuse to be changed, by the database itself."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from db import guards, models
from db.engine import Database
from db.revisions import MIGRATIONS, head_revision
from db.schema import migrate
from tests import makers
from tests.postgresql import Server

REVISIONS = sorted(path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("0*.py"))


def one_of_each(db: Database) -> None:
    """At least one row in every append-only table."""
    study = makers.StudyInUse(db, items=1, annotators=1, overlap=1, n_evidence=1)
    study.label_all(0)
    person = study.researcher.person_id
    with db.write() as s:
        version = s.connection().execute(text("SELECT id, item_id FROM item_version")).one()
        study_item = s.connection().execute(text("SELECT id FROM study_item")).scalar_one()
        batch = models.Batch(project_id=study.project_id, format="native", source="x")
        run = models.Run(project_id=study.project_id, name="n", version="1", parameters_hash="")
        training = models.TrainingSetVersion(project_id=study.project_id, name="n", content_hash="")
        own = {"project_id": study.project_id, "name": "n", "version": 1, "protocol_hash": "", "person_id": person}
        prompt = {**{name: value for name, value in own.items() if name != "protocol_hash"}, "prompt_hash": ""}
        s.add_all([batch, run, training, models.ProtocolVersion(**own), models.PromptVersion(**prompt)])
        s.flush()
        score = models.Score(run_id=run.id, item_version_id=version[0], name="n", value=1)
        adjudication = models.Adjudication(uid="u", study_id=study.study_id, study_item_id=study_item, person_id=person)
        s.add_all(
            [
                score,
                adjudication,
                models.Message(
                    uid="u", study_id=study.study_id, study_item_id=study_item, person_id=person, text="Why?"
                ),
                models.Withdrawal(batch_id=batch.id, reason="wrong"),
                models.TrainingExample(training_set_id=training.id, position=0, text="No.", label="abstention"),
                models.Claim(item_version_id=version[0], key="c1", position=0, text="claim"),
                models.Image(item_version_id=version[0], key="i1", position=0),
                models.Amendment(study_id=study.study_id, what="overlap", before=1, after=2, reason="more"),
                models.Revision(item_id=version[1], from_version_id=version[0], to_version_id=version[0], reason="r"),
            ]
        )
        s.add(models.ItemEnding(item_id=version[1], item_version_id=version[0], state="rejected", reason="r"))
        own = {"sha256": "", "n_items": 1, "n_labels": 1, "event_id": 1}
        release = models.Release(project_id=study.project_id, name="v1", **own)
        s.add(release)
        s.flush()
        of = {"release_id": release.id, "item_version_id": version[0]}
        s.add(models.ReleaseItem(**of))
        s.add(models.ReleaseLabel(**of, study_id=study.study_id, criterion="right", value="yes", how="h", version=1))
        pair = {**of, "study_id": study.study_id, "other_version_id": of["item_version_id"]}
        s.add(models.ReleasePair(**pair))
        said = {"criterion": "better", "value": 1, "how": "h", "version": 1, "other_version": 1}
        s.add(models.ReleasePairLabel(**pair, **said))
        given = {"item_id": version[1], "source": "x", "line": 1, "content_hash": "h"}
        proposal = models.ProposedRevision(project_id=study.project_id, **given)
        s.add(proposal)
        s.flush()
        s.add(models.ProposalAnswer(proposal_id=proposal.id, reason="r"))
        omission = models.Omission(study_id=study.study_id, annotator_id=person, reason="r")
        s.add(omission)
        s.flush()
        annotation = s.connection().execute(text("SELECT id FROM annotation")).scalar_one()
        s.add(models.OmissionSurplus(omission_id=omission.id, annotation_id=annotation))
        s.add(models.Surplus(study_id=study.study_id, annotation_id=annotation, counts=False))
        of = {"study_id": study.study_id, "person_id": person}
        s.add(models.KnownElsewhere(**of, study_item_id=study_item, mark="7@2026-11-25T00:00:00"))
        s.add(models.PhaseAnswer(uid="u", **of, phase="before", answers=[{"question": "age", "value": 30}]))
        s.add(models.GoldLabel(study_item_id=study_item, criterion="right", value="yes"))
        s.add(models.StudyScore(study_item_id=study_item, score_id=score.id))
        draw = models.LabelDraw(study_id=study.study_id, criterion="right", seed=1)
        s.add(draw)
        s.flush()
        s.add(models.DrawnItem(study_item_id=study_item, draw_id=draw.id, place=0, probability=0.5))
        s.add(
            models.Judge(
                project_id=study.project_id, person_id=person, model="m", server="s", prompt="p", settings_hash="h"
            )
        )
        call = models.JudgeCall(project_id=study.project_id, key="k", tokens=1)
        s.add(call)
        s.flush()
        s.add(models.JudgeReply(call_id=call.id, ending="whole", text="{}"))
        s.add(models.JudgedItem(run_id=run.id, study_item_id=study_item))
        s.add(models.AdjudicatedLabel(adjudication_id=adjudication.id, criterion="right", value="yes"))


def refused(session: Session, statement: str) -> str:
    with pytest.raises(DBAPIError) as error, session.begin_nested():
        session.connection().exec_driver_sql(statement)
    return str(error.value.orig)


@pytest.mark.parametrize("revision", REVISIONS)
def test_update_delete_replace_and_truncate_are_refused(database: Database, revision: str) -> None:
    """On a fresh database, and on one that was at an earlier revision and migrated to the newest."""
    if revision != head_revision():
        pytest.skip("databases from earlier versions are made by the test below")
    one_of_each(database)
    with database.write() as session:
        for name in models.append_only_tables():
            table = models.Table.metadata.tables[name]
            column = next(iter(table.primary_key.columns)).name
            rows = session.execute(text(f"SELECT COUNT(*) FROM {name}")).scalar_one()
            assert rows >= 1, f"{name} has no row, so nothing would be refused"
            assert "append-only" in refused(session, f"UPDATE {name} SET {column} = {column}")
            assert "append-only" in refused(session, f"DELETE FROM {name}")
            if database.is_sqlite:
                assert "append-only" in refused(session, f"REPLACE INTO {name} SELECT * FROM {name}")
            else:
                assert "append-only" in refused(session, f"TRUNCATE {name} CASCADE")


def test_a_connection_without_our_settings_cannot_replace_either(sqlite_database: Database) -> None:
    one_of_each(sqlite_database)
    plain = sqlite3.connect(str(sqlite_database.url.database))
    for name in models.append_only_tables():
        for statement in (f"REPLACE INTO {name} SELECT * FROM {name}", f"DELETE FROM {name}"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                plain.execute(statement)
    plain.close()


def test_a_unique_id_cannot_be_replaced_under_another_primary_key(sqlite_database: Database) -> None:
    one_of_each(sqlite_database)
    plain = sqlite3.connect(str(sqlite_database.url.database))
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        plain.execute(
            "INSERT OR REPLACE INTO submission (id, uid, assignment_id, sitting, step, person_id, shown, created_at) "
            "SELECT id + 100, uid, assignment_id, sitting + 5, step, person_id, shown, created_at FROM submission"
        )
    plain.close()


def test_lifting_the_guards_ends_with_the_block(database: Database) -> None:
    one_of_each(database)
    with database.write() as session:
        with guards.lifted(session.connection()):
            session.execute(text("UPDATE event SET via = 'web'"))
        assert "append-only" in refused(session, "DELETE FROM event")


def test_an_error_while_the_guards_are_lifted_leaves_them_in_place(database: Database) -> None:
    one_of_each(database)
    with pytest.raises(RuntimeError), database.write() as session, guards.lifted(session.connection()):
        raise RuntimeError("half way")
    with database.write() as session:
        assert "append-only" in refused(session, "DELETE FROM event")


@pytest.mark.parametrize("revision", REVISIONS)
def test_guards_are_there_after_every_migration(revision: str, tmp_path: Path, postgresql_server: Server) -> None:
    """Each earlier revision, brought up to date, is guarded like a fresh database; both databases."""
    import psycopg

    with psycopg.connect(postgresql_server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS from_{revision} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE from_{revision}")
    for url in (f"sqlite:///{tmp_path}/{revision}.db", postgresql_server.url(f"from_{revision}")):
        db = Database(url)
        migrate(db, revision=revision)
        migrate(db, backups=tmp_path / "backups")
        one_of_each(db)
        with db.write() as session:
            assert "append-only" in refused(session, "DELETE FROM label")
            assert "append-only" in refused(session, "UPDATE event SET via = 'x'")
        db.dispose()


def test_a_trigger_that_is_gone_comes_back_with_install(sqlite_database: Database) -> None:
    one_of_each(sqlite_database)
    with sqlite_database.write() as session:
        session.connection().exec_driver_sql("DROP TRIGGER keep_event_delete")
        guards.install(session.connection())
        assert "append-only" in refused(session, "DELETE FROM event")
