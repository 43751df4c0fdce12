"""Alembic's entry: runs the migrations on the connection that `db.schema` hands over."""

from alembic import context

from db.models import Table

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata, render_as_batch=True, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
