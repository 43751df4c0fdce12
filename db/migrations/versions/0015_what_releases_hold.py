"""A release names the items in it that lack something, and those that were left out for it.

Revision: 0015, after 0014. Every item is settled anew behind it (db/upkeep/resettling.py): one of whose labels a part
was left out could pass for accepted before.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    made = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    column = sa.Column("holds", sa.JSON(none_as_null=True).with_variant(made, "postgresql"), nullable=True)
    op.add_column("item_release", column)


def downgrade() -> None:
    """Back."""
    op.drop_column("item_release", "holds")
