"""Batches that nobody sees yet, so that an import can write its rows in many short transactions.

Revision: 0005, after 0004. Every batch that is there was written in one transaction, and is published.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "unpublished_batch",
        sa.Column("batch_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("cleared_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    # A document that goes is looked for here, as it is in item_document and evidence.
    op.create_index("ix_image_document", "image", ["document_id"], unique=False)


def downgrade() -> None:
    """Backward. The guards of the later version ask for the table; those of the earlier one are made anew after it."""
    op.drop_index("ix_image_document", table_name="image")
    op.drop_table("unpublished_batch")
