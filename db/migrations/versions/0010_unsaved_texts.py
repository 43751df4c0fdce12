"""What people write on a page and have not saved.

Revision: 0010, after 0009. Only a new table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "unsaved_text",
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("page", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("person_id", "project_id", "page", "name"),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("unsaved_text")
