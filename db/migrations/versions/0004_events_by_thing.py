"""Events are found by the thing that they are about: who has read a study's guidelines is asked whenever its page opens.

Revision: 0004, after 0003.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.create_index("ix_event_thing", "event", ["thing", "thing_id", "kind"], unique=False)


def downgrade() -> None:
    """Backward."""
    op.drop_index("ix_event_thing", table_name="event")
