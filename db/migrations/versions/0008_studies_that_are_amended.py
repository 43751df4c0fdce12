"""Studies that change: their state and amendments, and what a study item is for.

Revision: 0008, after 0007. A section for each of them. The new columns are nullable or have a default, so that no row
is written anew: a million items cost what one does.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def _identifier() -> sa.types.TypeEngine[int]:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _value(name: str, *, nullable: bool = True) -> "sa.Column[object]":
    made = postgresql.JSONB(none_as_null=True, astext_type=sa.Text())
    return sa.Column(name, sa.JSON(none_as_null=True).with_variant(made, "postgresql"), nullable=nullable)


def upgrade() -> None:
    """Forward."""
    _amendments()
    _leave_out_labels()
    _purposes()
    _adjudication()
    _endings()
    _drafts()
    _releases()
    _proposals()
    _asides()
    _invitations()
    _qualification()
    _allotted_slots()
    _phases()
    _orders()


def downgrade() -> None:
    """Back."""
    _no_allotted_slots()
    _no_phases()
    _no_orders()
    _no_invitations()
    _no_qualification()
    _no_proposals()
    _no_drafts()
    _no_releases()
    _no_asides()
    _no_endings()
    _adjudication_as_it_was()
    _no_purposes()
    _count_all_labels()
    _no_amendments()


# State, deadline, who has left, amendments ----------------------------------------------------------------------------


def _amendments() -> None:
    op.add_column("study", sa.Column("state", sa.String(), nullable=False, server_default="running"))
    op.add_column("study", sa.Column("deadline", sa.DateTime(timezone=True), nullable=True))
    op.add_column("study", sa.Column("amended", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("study_member", sa.Column("left_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "amendment",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        _value("before"),
        _value("after"),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_amendment_study_id", "amendment", ["study_id"])


def _no_amendments() -> None:
    op.drop_table("amendment")
    op.drop_column("study_member", "left_at")
    for name in ("amended", "deadline", "state"):
        op.drop_column("study", name)


# Labels left out -----------------------------------------------------------------------------------------------------


def _leave_out_labels() -> None:
    """Decisions that leave out what an annotator submitted since a moment."""
    op.add_column("study_member", sa.Column("left_out_from", sa.DateTime(timezone=True), nullable=True))
    op.add_column("assignment", sa.Column("left_out_as", sa.String(), nullable=True))
    op.create_table(
        "omission",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("annotator_id", _identifier(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_omission_annotator", "omission", ["study_id", "annotator_id"])
    op.create_table(
        "omission_surplus",
        sa.Column("omission_id", _identifier(), nullable=False),
        sa.Column("annotation_id", _identifier(), nullable=False),
        sa.ForeignKeyConstraint(["annotation_id"], ["annotation.id"]),
        sa.ForeignKeyConstraint(["omission_id"], ["omission.id"]),
        sa.PrimaryKeyConstraint("omission_id", "annotation_id"),
    )
    op.create_index("ix_omission_surplus_annotation_id", "omission_surplus", ["annotation_id"])
    op.create_table(
        "set_aside",
        sa.Column("annotation_id", _identifier(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["annotation_id"], ["annotation.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("annotation_id"),
    )
    op.create_index("ix_set_aside_study_id", "set_aside", ["study_id"])


def _count_all_labels() -> None:
    """Back."""
    for name in ("set_aside", "omission_surplus", "omission"):
        op.drop_table(name)
    op.drop_column("assignment", "left_out_as")
    op.drop_column("study_member", "left_out_from")


# What study items are for ---------------------------------------------------------------------------------------------


def _purposes() -> None:
    op.add_column("study_item", sa.Column("purpose", sa.String(), nullable=False, server_default="sample"))
    op.add_column("study_item", sa.Column("overlap", sa.Integer(), nullable=True))
    op.add_column("study_item", _value("criteria"))
    earlier = sa.Column("earlier_id", _identifier(), sa.ForeignKey("study_item.id"), nullable=True)
    op.add_column("study_item", earlier, inline_references=True)
    op.create_index("ix_study_item_earlier_id", "study_item", ["earlier_id"])
    where = sa.text("purpose <> 'sample'")
    beside = ["study_id", "purpose"]
    op.create_index("ix_study_item_beside", "study_item", beside, sqlite_where=where, postgresql_where=where)
    op.add_column("settlement", sa.Column("wanted", sa.Integer(), nullable=True))
    op.add_column("study_member", sa.Column("given", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("study_member", sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "gold_label",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        _value("value"),
        sa.Column("explanation", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_item_id", "criterion", "target"),
    )


def _no_purposes() -> None:
    op.drop_table("gold_label")
    for name in ("paused_at", "given"):
        op.drop_column("study_member", name)
    op.drop_column("settlement", "wanted")
    op.drop_index("ix_study_item_beside", "study_item")
    op.drop_index("ix_study_item_earlier_id", "study_item")
    if op.get_context().dialect.name == "sqlite":
        # A column that refers to another cannot be dropped there: the table is made anew without it.
        with op.batch_alter_table("study_item") as table:
            table.drop_column("earlier_id")
    else:
        op.drop_column("study_item", "earlier_id")
    for name in ("criteria", "overlap", "purpose"):
        op.drop_column("study_item", name)


# Adjudication ---------------------------------------------------------------------------------------------------------

_SAID = ("cause", "confidence", "note")


def _adjudication() -> None:
    op.create_table(
        "adjudication_lease",
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("study_item_id", "stage"),
    )
    op.create_index("ix_adjudication_lease_study_id", "adjudication_lease", ["study_id"])
    for name in _SAID:
        op.add_column("adjudicated_label", sa.Column(name, sa.String(), nullable=True))
    op.add_column("adjudication", sa.Column("stage", sa.String(), nullable=False, server_default="final"))
    op.add_column("settlement", sa.Column("stage", sa.String(), nullable=False, server_default="first"))
    op.add_column("settlement", sa.Column("uncertainty", sa.Float(), nullable=True))
    known = sa.text("uncertainty IS NOT NULL")
    op.create_index(
        "ix_settlement_uncertainty",
        "settlement",
        ["study_id", "uncertainty"],
        sqlite_where=known,
        postgresql_where=known,
    )

    op.create_table(
        "message",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("study_item_id", _identifier(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["study_item_id"], ["study_item.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uid"),
    )
    for name in ("study_id", "study_item_id"):
        op.create_index(f"ix_message_{name}", "message", [name])


def _adjudication_as_it_was() -> None:
    op.drop_table("message")
    op.drop_index("ix_settlement_uncertainty", "settlement")
    op.drop_column("settlement", "uncertainty")
    for table in ("settlement", "adjudication"):
        op.drop_column(table, "stage")
    for name in _SAID:
        op.drop_column("adjudicated_label", name)
    op.drop_table("adjudication_lease")


# How items end --------------------------------------------------------------------------------------------------------


_READ = (
    ("ix_settlement_failing", ["settlement", "study_id", "state"], "failing <> '[]'"),
    (
        "ix_settlement_unread",
        ["settlement", "study_id", "study_item_id"],
        "failing IS NULL AND state IN ('agreed', 'adjudicated')",
    ),
    ("ix_item_version_later", ["item_version", "item_id"], "number > 1"),
)


def _endings() -> None:
    op.add_column("settlement", _value("failing"))
    for name, columns, where in _READ:
        op.create_index(name, columns[0], columns[1:], sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.execute(
        "INSERT INTO tally (study_id, person_id, state, n, seconds) SELECT study_id, 0, 'items ' || state, count(*), 0 "
        "FROM settlement WHERE state <> 'pending' GROUP BY study_id, state"
    )
    op.create_table(
        "item_ending",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("item_id", _identifier(), nullable=False),
        sa.Column("item_version_id", _identifier(), nullable=False),
        sa.Column("state", sa.String(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_item_ending_item_id", "item_ending", ["item_id"])
    op.create_table(
        "revision_lease",
        sa.Column("item_id", _identifier(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("item_id"),
    )


def _no_endings() -> None:
    op.drop_table("revision_lease")
    op.drop_table("item_ending")
    op.execute("DELETE FROM tally WHERE state LIKE 'items %'")
    for name, columns, _ in _READ:
        op.drop_index(name, columns[0])
    op.drop_column("settlement", "failing")


# Drafts of studies ----------------------------------------------------------------------------------------------------


def _drafts() -> None:
    op.create_table(
        "study_draft",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        *(_value(name, nullable=False) for name in ("protocol", "design", "team")),
        sa.Column("changed_by", _identifier(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["changed_by"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name"),
    )


def _no_drafts() -> None:
    op.drop_table("study_draft")


# Releases -------------------------------------------------------------------------------------------------------------


def _releases() -> None:
    op.create_table(
        "item_release",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=True),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_labels", sa.Integer(), nullable=False),
        sa.Column("states", _value("states").type, nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("project_id", "name"),
    )
    op.create_table(
        "release_item",
        sa.Column("release_id", _identifier(), nullable=False),
        sa.Column("item_version_id", _identifier(), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["release_id"], ["item_release.id"]),
        sa.PrimaryKeyConstraint("release_id", "item_version_id"),
    )
    op.create_table(
        "release_label",
        sa.Column("release_id", _identifier(), nullable=False),
        sa.Column("item_version_id", _identifier(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("criterion", sa.String(), nullable=False),
        sa.Column("target", sa.String(), nullable=False),
        _value("value"),
        sa.Column("how", sa.String(), nullable=False),
        sa.Column("votes", _value("votes").type, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["item_version_id"], ["item_version.id"]),
        sa.ForeignKeyConstraint(["release_id"], ["item_release.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("release_id", "item_version_id", "study_id", "criterion", "target"),
    )


def _no_releases() -> None:
    for name in ("release_label", "release_item", "item_release"):
        op.drop_table(name)


# What is asked beside a label -----------------------------------------------------------------------------------------


def _asides() -> None:
    op.add_column("label", sa.Column("confidence", sa.String(), nullable=True))
    op.add_column("label", sa.Column("same", sa.Integer(), nullable=True))


def _no_asides() -> None:
    for name in ("same", "confidence"):
        op.drop_column("label", name)


# Qualification --------------------------------------------------------------------------------------------------------


def _qualification() -> None:
    for name in ("qualified_at", "failed_at"):
        op.add_column("study_member", sa.Column(name, sa.DateTime(timezone=True), nullable=True))


def _no_qualification() -> None:
    for name in ("failed_at", "qualified_at"):
        op.drop_column("study_member", name)


# Phases around the work -----------------------------------------------------------------------------------------------


def _phases() -> None:
    op.create_table(
        "phase_answer",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("uid", sa.String(), nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("phase", sa.String(), nullable=False),
        _value("answers", nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uid"),
        sa.UniqueConstraint("study_id", "person_id", "phase"),
    )
    op.create_index("ix_phase_answer_person_id", "phase_answer", ["person_id"])


def _no_phases() -> None:
    op.drop_table("phase_answer")


# Proposed revisions ---------------------------------------------------------------------------------------------------


def _proposals() -> None:
    op.create_table(
        "proposed_revision",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("project_id", _identifier(), nullable=False),
        sa.Column("item_id", _identifier(), nullable=False),
        sa.Column("batch_id", _identifier(), nullable=True),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("fields", _value("fields").type, nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_id", "content_hash"),
    )
    op.create_index("ix_proposed_revision", "proposed_revision", ["project_id", "id"])
    op.create_table(
        "proposal_answer",
        sa.Column("proposal_id", _identifier(), nullable=False),
        sa.Column("revision_id", _identifier(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["proposal_id"], ["proposed_revision.id"]),
        sa.ForeignKeyConstraint(["revision_id"], ["revision.id"]),
        sa.PrimaryKeyConstraint("proposal_id"),
    )


def _no_proposals() -> None:
    for name in ("proposal_answer", "proposed_revision"):
        op.drop_table(name)


# Annotators from outside ----------------------------------------------------------------------------------------------


def _invitations() -> None:
    op.add_column("study_member", sa.Column("quota", sa.Integer(), nullable=True))
    op.create_table(
        "invitation",
        sa.Column("id", _identifier(), autoincrement=True, nullable=False),
        sa.Column("study_id", _identifier(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.Column("parameter", sa.String(), nullable=True),
        sa.Column("code", sa.String(), nullable=True),
        sa.Column("code_else", sa.String(), nullable=True),
        sa.Column("return_url", sa.String(), nullable=True),
        sa.Column("person_id", _identifier(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index("ix_invitation_study_id", "invitation", ["study_id"])
    op.create_table(
        "outside_annotator",
        sa.Column("person_id", _identifier(), nullable=False),
        sa.Column("invitation_id", _identifier(), nullable=False),
        sa.Column("recruiter_id", sa.String(), nullable=True),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["invitation_id"], ["invitation.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("person_id"),
        sa.UniqueConstraint("invitation_id", "recruiter_id"),
    )


def _no_invitations() -> None:
    op.drop_table("outside_annotator")
    op.drop_table("invitation")
    op.drop_column("study_member", "quota")


# Slots that are allotted ----------------------------------------------------------------------------------------------


def _allotted_slots() -> None:
    op.add_column("assignment", sa.Column("allotted_to", sa.BigInteger(), nullable=True))
    of = sa.text("state = 'open' AND allotted_to IS NOT NULL")
    columns = ["study_id", "allotted_to", "queue"]
    op.create_index("ix_assignment_allotted", "assignment", columns, sqlite_where=of, postgresql_where=of)


def _no_allotted_slots() -> None:
    op.drop_index("ix_assignment_allotted", "assignment")
    op.drop_column("assignment", "allotted_to")


# Orders by a score ----------------------------------------------------------------------------------------------------

_OF_AN_ORDER = ("sampling_weight", "sampling_key")


def _orders() -> None:
    for name in _OF_AN_ORDER:
        op.add_column("study_item", sa.Column(name, sa.Float(), nullable=True))


def _no_orders() -> None:
    for name in _OF_AN_ORDER:
        op.drop_column("study_item", name)
