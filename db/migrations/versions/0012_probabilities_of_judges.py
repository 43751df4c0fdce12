"""Judges' labels have the probabilities that the server gave.

Revision: 0012, after 0011. One column, empty for what was judged before.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    made = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    column = sa.Column("chances", sa.JSON(none_as_null=True).with_variant(made, "postgresql"), nullable=True)
    op.add_column("judged_item", column)


def downgrade() -> None:
    """Back."""
    op.drop_column("judged_item", "chances")
