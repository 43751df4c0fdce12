"""Jobs that a worker takes up and takes up again, and the training sets of classifiers.

Revision: 0003, after 0002.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _json() -> sa.types.TypeEngine[Any]:
    return sa.JSON(none_as_null=True).with_variant(
        postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
    )


def _identifier() -> sa.types.TypeEngine[Any]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    # On SQLite this makes the table anew, for the sake of the foreign key; `job` has no triggers and nothing points at it.
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("worker", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("cancel_requested", sa.Boolean(), nullable=False, server_default=sa.false()))
        batch_op.add_column(sa.Column("rate", sa.Float(), nullable=True))
        batch_op.add_column(sa.Column("run_id", _identifier(), nullable=True))
        batch_op.add_column(sa.Column("result", _json(), nullable=True))
        batch_op.create_foreign_key("fk_job_run_id_run", "run", ["run_id"], ["id"])
        batch_op.create_index("ix_job_state", ["state", "id"], unique=False)

    op.create_table(
        "training_set",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("report", _json(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name", "number"),
    )
    op.create_table(
        "training_example",
        sa.Column("training_set_id", _identifier(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("item_version_id", _identifier(), nullable=True),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["training_set_id"], ["training_set.id"]),
        sa.PrimaryKeyConstraint("training_set_id", "position"),
    )


def downgrade() -> None:
    """Backward."""
    op.drop_table("training_example")
    op.drop_table("training_set")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index("ix_job_state")
        batch_op.drop_constraint("fk_job_run_id_run", type_="foreignkey")
        for name in ("result", "run_id", "rate", "cancel_requested", "attempts", "heartbeat_at", "worker"):
            batch_op.drop_column(name)
