"""What annotators of an item are called is drawn with a secret of the study, which nobody is shown.

Revision: 0014, after 0013. Studies that are there get one each, so that R1 may be another of an item's annotators.
"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("study", sa.Column("secret", sa.String(), nullable=False, server_default=""))
    study = sa.table("study", sa.column("id", sa.BigInteger()), sa.column("secret", sa.String()))
    here = op.get_bind()
    for study_id in here.execute(sa.select(study.c.id)).scalars().all():
        here.execute(study.update().where(study.c.id == study_id).values(secret=secrets.token_hex(16)))


def downgrade() -> None:
    """Back."""
    op.drop_column("study", "secret")
