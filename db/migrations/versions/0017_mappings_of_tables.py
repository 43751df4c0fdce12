"""Which column of a table is which field is kept in a project, under a name.

Revision: 0017, after 0016. Nothing that is there changes.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "kept_mapping",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column(
            "mapping",
            sa.JSON(none_as_null=True).with_variant(
                postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql"
            ),
            nullable=False,
        ),
        sa.Column("changed_by", _identifier(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["changed_by"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name"),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("kept_mapping")
