"""Judges: who they are, what they were asked and said, and what their runs made of items.

Revision: 0009, after 0008. Only new tables.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _value(name: str, *, nullable: bool = False) -> "sa.Column[object]":
    made = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    return sa.Column(name, sa.JSON(none_as_null=True).with_variant(made, "postgresql"), nullable=nullable)


def upgrade() -> None:
    """Forward."""
    _judges()
    _draws()
    _prompts()


def downgrade() -> None:
    """Back."""
    _no_prompts()
    _no_draws()
    _no_judges()


# Judges ---------------------------------------------------------------------------------------------------------------


def _judges() -> None:
    op.create_table(
        "judge",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("prompt", sa.String(), nullable=False),
        _value("settings"),
        sa.Column("settings_hash", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("person_id"),
        sa.UniqueConstraint("project_id", "settings_hash"),
    )
    op.create_table(
        "judge_call",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("job_id", _identifier(), nullable=True),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("sample", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_judge_call_key", "judge_call", ["key", "sample"])
    op.create_index("ix_judge_call_job_id", "judge_call", ["job_id"])
    op.create_index("ix_judge_call_project_id", "judge_call", ["project_id"])
    op.create_table(
        "judge_reply",
        sa.Column("call_id", _identifier(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("said", sa.String(), nullable=True),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("tokens_in", sa.Integer(), nullable=True),
        sa.Column("tokens_out", sa.Integer(), nullable=True),
        sa.Column("cost", sa.Float(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("retries", sa.Integer(), nullable=False),
        _value("chances"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["judge_call.id"]),
        sa.PrimaryKeyConstraint("call_id"),
    )
    op.create_table(
        "judged_item",
        sa.Column("run_id", _identifier(), nullable=False),
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("annotation_id", _identifier(), nullable=True),
        _value("unscored"),
        _value("shares", nullable=True),
        sa.ForeignKeyConstraint(["annotation_id"], ["annotation.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("run_id", "study_item_id"),
    )
    op.create_index("ix_judged_item_annotation_id", "judged_item", ["annotation_id"])
    op.create_table(
        "data_mark",
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("project_id"),
    )
    op.create_table(
        "kept_document",
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("project_id", "key"),
    )


def _no_judges() -> None:
    for name in ("kept_document", "data_mark", "judged_item", "judge_reply", "judge_call", "judge"):
        op.drop_table(name)


# Draws of what to label next ------------------------------------------------------------------------------------------


def _draws() -> None:
    op.create_table(
        "label_draw",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        _value("predictions"),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_label_draw_study_id", "label_draw", ["study_id"])
    op.create_table(
        "drawn_item",
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("draw_id", _identifier(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["draw_id"], ["label_draw.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("study_item_id"),
    )
    op.create_index("ix_drawn_item_draw_id", "drawn_item", ["draw_id"])


def _no_draws() -> None:
    op.drop_table("drawn_item")
    op.drop_table("label_draw")


# A project's own prompts ----------------------------------------------------------------------------------------------


def _prompts() -> None:
    op.create_table(
        "prompt_version",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _value("prompt"),
        sa.Column("prompt_hash", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name", "version"),
    )


def _no_prompts() -> None:
    op.drop_table("prompt_version")
