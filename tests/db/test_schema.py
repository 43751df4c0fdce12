"""Which revision a database is at and which one this version needs, also when several processes make it at once."""

from __future__ import annotations

from alembic.script import ScriptDirectory

from db import schema


def test_a_revision_is_the_number_its_file_begins_with() -> None:
    """By which a database that is up to date is known without loading Alembic."""
    scripts = ScriptDirectory(str(schema.MIGRATIONS))
    assert schema.head_revision() == scripts.get_current_head()
    for one in scripts.walk_revisions():
        assert one.module.__file__
        assert one.revision in one.module.__file__
