"""Study items that are a pair: the second item, and whether it stands left.

Revision: 0006, after 0005.

An item may stand in several pairs, so that it is no longer unique in a study by itself. SQLite takes no constraint from
a table: it is made anew and filled by one statement, in constant memory (`db.schema.migrate` has set foreign keys aside
and checks them afterwards).
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_ALONE = "ux_study_item_alone"
_UNIQUE = ("study_id", "item_version_id")


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _made_anew(*, pairs: bool) -> None:
    """On SQLite: the table with the other constraints, and the rows of the old one."""
    unique = (*_UNIQUE, "other_version_id") if pairs else _UNIQUE
    added = (
        [
            sa.Column("other_version_id", _identifier(), nullable=True),
            sa.Column("other_left", sa.Boolean(), nullable=False, server_default=sa.false()),
            sa.ForeignKeyConstraint(["other_version_id"], ["item_version.id"]),
        ]
        if pairs
        else []
    )
    op.create_table(
        "study_item_anew",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("item_version_id", _identifier(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        *added,
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "position"),
        sa.UniqueConstraint(*unique),
    )
    op.execute(
        "INSERT INTO study_item_anew (id, study_id, item_version_id, position) "
        "SELECT id, study_id, item_version_id, position FROM study_item"
    )
    op.drop_table("study_item")
    op.rename_table("study_item_anew", "study_item")
    op.create_index("ix_study_item_item_version_id", "study_item", ["item_version_id"])


def upgrade() -> None:
    """Forward."""
    if op.get_context().dialect.name == "sqlite":
        _made_anew(pairs=True)
    else:
        op.add_column("study_item", sa.Column("other_version_id", _identifier(), nullable=True))
        op.add_column("study_item", sa.Column("other_left", sa.Boolean(), nullable=False, server_default=sa.false()))
        op.create_foreign_key(None, "study_item", "item_version", ["other_version_id"], ["id"])
        op.drop_constraint("study_item_study_id_item_version_id_key", "study_item", type_="unique")
        op.create_unique_constraint(None, "study_item", [*_UNIQUE, "other_version_id"])
    op.create_index("ix_study_item_other_version_id", "study_item", ["other_version_id"])
    alone = sa.text("other_version_id IS NULL")
    op.create_index(_ALONE, "study_item", list(_UNIQUE), unique=True, sqlite_where=alone, postgresql_where=alone)


def downgrade() -> None:
    """Backward; refused by the unique key where an item stands in several pairs."""
    if op.get_context().dialect.name == "sqlite":
        _made_anew(pairs=False)
        return
    op.drop_index(_ALONE, "study_item")
    op.drop_index("ix_study_item_other_version_id", "study_item")
    op.drop_column("study_item", "other_left")
    op.drop_column("study_item", "other_version_id")
    op.create_unique_constraint("study_item_study_id_item_version_id_key", "study_item", list(_UNIQUE))
