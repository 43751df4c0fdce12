"""Releases have pairs with their final labels.

Revision: 0011, after 0010. Two new tables, and a count that is 0 in every release so far.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_PAIR = ("release_id", "study_id", "item_version_id", "other_version_id")
_OF = ("item_release.id", "study.id", "item_version.id", "item_version.id")


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _value(name: str, *, nullable: bool = False) -> "sa.Column[object]":
    made = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    return sa.Column(name, sa.JSON(none_as_null=True).with_variant(made, "postgresql"), nullable=nullable)


def upgrade() -> None:
    """Forward."""
    op.add_column("item_release", sa.Column("n_pairs", sa.Integer(), nullable=False, server_default="0"))
    _made("release_pair", (), sa.Column("other_left", sa.Boolean(), nullable=False))
    _made(
        "release_pair_label",
        ("criterion", "target"),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        _value("value", nullable=True),
        sa.Column("how", sa.String(), nullable=False),
        _value("votes"),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("other_version", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table("release_pair_label")
    op.drop_table("release_pair")
    op.drop_column("item_release", "n_pairs")


def _made(table: str, key: tuple[str, ...], *columns: "sa.Column[object]") -> None:
    op.create_table(
        table,
        *(sa.Column(name, _identifier(), nullable=False) for name in _PAIR),
        *columns,
        *(sa.ForeignKeyConstraint([name], [of]) for name, of in zip(_PAIR, _OF, strict=True)),
        sa.PrimaryKeyConstraint(*_PAIR, *key),
    )
