"""Annotations of other programs are known again by their own numbers.

Revision: 0013, after 0012. Only a new table; what was taken in before is entered when it is taken in again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "known_elsewhere",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("mark", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("batch_id", _identifier(), nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_known_elsewhere_study", "known_elsewhere", ["study_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table("known_elsewhere")
