"""A database's address that cannot be used: refused in a sentence that names it, without its password."""

from __future__ import annotations

import pytest

from annotators.errors import InvalidInput
from db.engine import Database, without_password


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("nonsense", "nonsense"),
        ("ada:secret@host", "ada:***@host"),
        ("postgresql//ada:se//cr@et@host/assay", "postgresql//ada:***@host/assay"),
        ("postgresql://ada:secret@host:many/assay", "postgresql://ada:***@host:many/assay"),
        ("postgresql://ada:secret/assay", "postgresql://ada:***/assay"),
        ("postgresql://ada:secret@host/assay?sslmod=require", "sslmod"),
        ("postgresql://host/assay?password=secret&x=1", "password=***&x=1"),
        ("mysql://ada:secret@host/assay", "'mysql'"),
        ("oracle+no_driver://ada:secret@host/assay", "ada:***@host"),
        (" ", "' '"),
    ],
)
def test_an_address_that_is_none_is_named_without_its_password(url: str, shown: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Database(url)
    assert shown in str(caught.value)
    assert "postgresql://user:password@host/assay" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "se//cr" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_every_way_to_write_postgresql_is_understood(scheme: str) -> None:
    database = Database(f"{scheme}://ada:secret@host:5433/assay?sslmode=require")
    assert not database.is_sqlite
    assert database.url.render_as_string() == "postgresql+psycopg://ada:***@host:5433/assay?sslmode=require"


def test_an_address_without_a_password_is_shown_as_it_is() -> None:
    for url in ("postgresql://host:5432/assay", "sqlite:////home/ada/assay.db"):
        assert without_password(url) == url
