"""Whether an annotation that found no slot counts, since when: it does as soon as its item wants more.

Revision: 0016, after 0015. What was surplus before stays so until a decision about its annotator or its study.
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "surplus",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("annotation_id", _identifier(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["annotation_id"], ["annotation.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_surplus_annotation_id", "surplus", ["annotation_id"])
    op.create_index("ix_surplus_study_id", "surplus", ["study_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table("surplus")
