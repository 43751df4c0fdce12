"""All tables of the vocabulary.

Revision: 0001, the first.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_JSON = sa.JSON(none_as_null=True).with_variant(
    postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
)


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "person",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("default_role", sa.String(), nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("erased_at", _MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "sign_in_failure",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("last_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "account",
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("person_id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "project",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_by", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "web_session",
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("one_time", sa.Boolean(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.Column("revoked_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_index("ix_web_session_person_id", "web_session", ["person_id"])

    op.create_table(
        "batch",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_batch_project_id", "batch", ["project_id"])

    op.create_table(
        "event",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("via", sa.String(), nullable=False),
        sa.Column("project_id", _ID, nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("thing", sa.String(), nullable=False),
        sa.Column("thing_id", _ID, nullable=True),
        sa.Column("details", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_event_project", "event", ["project_id", "id"])

    op.create_table(
        "job",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("parameters", _JSON, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("message", sa.String(), nullable=True),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("started_at", _MOMENT, nullable=True),
        sa.Column("ended_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_job_project_id", "job", ["project_id"])

    op.create_table(
        "membership",
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("project_id", "person_id"),
    )
    op.create_table(
        "question",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "key"),
    )
    op.create_table(
        "study",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("protocol_name", sa.String(), nullable=False),
        sa.Column("protocol_version", sa.Integer(), nullable=False),
        sa.Column("protocol", _JSON, nullable=False),
        sa.Column("protocol_hash", sa.String(), nullable=False),
        sa.Column("sample_hash", sa.String(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("item_order", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("lease_minutes", sa.Integer(), nullable=False),
        sa.Column("show_scores", _JSON, nullable=False),
        sa.Column("settings", _JSON, nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("evidence_step", sa.Integer(), nullable=True),
        sa.Column("documents_step", sa.Integer(), nullable=True),
        sa.Column("images_step", sa.Integer(), nullable=True),
        sa.Column("next_queue", sa.BigInteger(), nullable=False),
        sa.Column("created_by", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name"),
    )
    op.create_table(
        "document",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=True),
        sa.Column("media_type", sa.String(), nullable=True),
        sa.Column("n_pages", sa.Integer(), nullable=True),
        sa.Column("page_sizes", _JSON, nullable=True),
        sa.Column("extra", _JSON, nullable=False),
        sa.Column("batch_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "key"),
    )
    op.create_index("ix_document_sha256", "document", ["sha256"])

    op.create_table(
        "item",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("question_id", _ID, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("batch_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "external_id"),
    )
    op.create_index("ix_item_question_id", "item", ["question_id"])

    op.create_table(
        "run",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("project_id", _ID, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("parameters", _JSON, nullable=False),
        sa.Column("parameters_hash", sa.String(), nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("batch_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_run_project_id", "run", ["project_id"])

    op.create_table(
        "study_member",
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("exhausted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("study_id", "person_id"),
    )
    op.create_table(
        "tally",
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("study_id", "person_id", "state"),
    )
    op.create_table(
        "withdrawal",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("batch_id", _ID, nullable=False),
        sa.Column("reinstates", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_withdrawal_batch_id", "withdrawal", ["batch_id"])

    op.create_table(
        "item_version",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.Column("references", _JSON, nullable=False),
        sa.Column("hops", _JSON, nullable=False),
        sa.Column("extra", _JSON, nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("batch_id", _ID, nullable=True),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_id", "number"),
    )
    op.create_table(
        "claim",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("of", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("extra", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_version_id", "key"),
    )
    op.create_table(
        "evidence",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=True),
        sa.Column("document_id", _ID, nullable=True),
        sa.Column("pages", _JSON, nullable=False),
        sa.Column("box", _JSON, nullable=True),
        sa.Column("text", sa.String(), nullable=True),
        sa.Column("used", sa.Boolean(), nullable=True),
        sa.Column("hop", sa.Integer(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("extra", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_version_id", "key"),
    )
    op.create_index("ix_evidence_document", "evidence", ["document_id"])

    op.create_table(
        "image",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("document_id", _ID, nullable=True),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("box", _JSON, nullable=True),
        sa.Column("caption", sa.String(), nullable=False),
        sa.Column("extra", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_version_id", "key"),
    )
    op.create_table(
        "item_document",
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("document_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["document.id"]),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.PrimaryKeyConstraint("item_version_id", "document_id"),
    )
    op.create_index("ix_item_document_document", "item_document", ["document_id"])

    op.create_table(
        "revision",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("item_id", _ID, nullable=False),
        sa.Column("from_version_id", _ID, nullable=False),
        sa.Column("to_version_id", _ID, nullable=False),
        sa.Column("study_id", _ID, nullable=True),
        sa.Column("invalidates", _JSON, nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["from_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["to_version_id"], ["item_version.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_revision_item_id", "revision", ["item_id"])

    op.create_table(
        "score",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("value", sa.Float(), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("details", _JSON, nullable=True),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "item_version_id", "name", "target"),
    )
    op.create_index("ix_score_item_version", "score", ["item_version_id"])

    op.create_table(
        "study_item",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("item_version_id", _ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "item_version_id"),
        sa.UniqueConstraint("study_id", "position"),
    )
    op.create_index("ix_study_item_item_version_id", "study_item", ["item_version_id"])

    op.create_table(
        "adjudication",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("study_item_id", _ID, nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uid"),
    )
    op.create_index("ix_adjudication_item", "adjudication", ["study_item_id", "round"])
    op.create_index("ix_adjudication_study_id", "adjudication", ["study_id"])

    op.create_table(
        "assignment",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("study_item_id", _ID, nullable=False),
        sa.Column("person_id", _ID, nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("queue", sa.BigInteger(), nullable=False),
        sa.Column("sitting", sa.Integer(), nullable=False),
        sa.Column("steps_done", sa.Integer(), nullable=False),
        sa.Column("leased_at", _MOMENT, nullable=True),
        sa.Column("lease_until", _MOMENT, nullable=True),
        sa.Column("ended_at", _MOMENT, nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_assignment_item", "assignment", ["study_item_id", "person_id"])
    op.create_index("ix_assignment_person", "assignment", ["person_id", "state", "study_id"])
    op.create_index("ix_assignment_queue", "assignment", ["study_id", "state", "queue"])
    op.create_index(
        "ux_assignment_live",
        "assignment",
        ["study_item_id", "person_id"],
        unique=True,
        sqlite_where=sa.text("kind = 'slot' AND state IN ('leased', 'submitted', 'returned')"),
        postgresql_where=sa.text("kind = 'slot' AND state IN ('leased', 'submitted', 'returned')"),
    )

    op.create_table(
        "settlement",
        sa.Column("study_item_id", _ID, nullable=False),
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("n_annotations", sa.Integer(), nullable=False),
        sa.Column("n_disputed", sa.Integer(), nullable=False),
        sa.Column("dispute", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("study_item_id"),
    )
    op.create_index("ix_settlement_queue", "settlement", ["study_id", "state", "dispute"])

    op.create_table(
        "study_score",
        sa.Column("study_item_id", _ID, nullable=False),
        sa.Column("score_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["score_id"], ["score.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("study_item_id", "score_id"),
    )
    op.create_table(
        "adjudicated_label",
        sa.Column("adjudication_id", _ID, nullable=False),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("value", _JSON, nullable=True),
        sa.Column("overrules", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["adjudication_id"], ["adjudication.id"]),
        sa.PrimaryKeyConstraint("adjudication_id", "criterion", "target"),
    )
    op.create_table(
        "annotation",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("study_id", _ID, nullable=False),
        sa.Column("study_item_id", _ID, nullable=False),
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("sitting", sa.Integer(), nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("supersedes_id", _ID, nullable=True),
        sa.Column("run_id", _ID, nullable=True),
        sa.Column("batch_id", _ID, nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.ForeignKeyConstraint(["supersedes_id"], ["annotation.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("assignment_id", "sitting"),
    )
    op.create_index("ix_annotation_person", "annotation", ["study_id", "person_id"])
    op.create_index("ix_annotation_study", "annotation", ["study_id", "study_item_id"])
    op.create_index("ix_annotation_supersedes", "annotation", ["supersedes_id"])

    op.create_table(
        "draft",
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("saved_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id", "step"),
    )
    op.create_table(
        "submission",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("sitting", sa.Integer(), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("person_id", _ID, nullable=False),
        sa.Column("shown", _JSON, nullable=False),
        sa.Column("comment", sa.String(), nullable=True),
        sa.Column("flag", sa.String(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("assignment_id", "sitting", "step"),
        sa.UniqueConstraint("uid"),
    )
    op.create_index("ix_submission_person", "submission", ["person_id", "created_at"])

    op.create_table(
        "label",
        sa.Column("id", _ID, autoincrement=True, nullable=False),
        sa.Column("submission_id", _ID, nullable=False),
        sa.Column("assignment_id", _ID, nullable=False),
        sa.Column("sitting", sa.Integer(), nullable=False),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        sa.Column("value", _JSON, nullable=True),
        sa.Column("cannot_judge", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("comment", sa.String(), nullable=True),
        sa.Column("rationale", _JSON, nullable=True),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignment.id"]),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("assignment_id", "sitting", "criterion", "target"),
    )
    op.create_index("ix_label_submission_id", "label", ["submission_id"])


def downgrade() -> None:
    """Back."""
    for table in (
        "label",
        "submission",
        "draft",
        "annotation",
        "adjudicated_label",
        "study_score",
        "settlement",
        "assignment",
        "adjudication",
        "study_item",
        "score",
        "revision",
        "item_document",
        "image",
        "evidence",
        "claim",
        "item_version",
        "withdrawal",
        "tally",
        "study_member",
        "run",
        "item",
        "document",
        "study",
        "question",
        "membership",
        "job",
        "event",
        "batch",
        "web_session",
        "project",
        "account",
        "sign_in_failure",
        "person",
    ):
        op.drop_table(table)
