"""Alembic migrations, run on SQLite and PostgreSQL alike."""
