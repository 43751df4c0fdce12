"""What all tests share: a database on SQLite and on PostgreSQL, and the folder of real data."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from argon2 import PasswordHasher, profiles
from hypothesis import settings

import exports.sample
from db.engine import Database
from db.people import passwords
from db.schema import migrate
from exports.sample.documents import draw_documents
from tests import postgresql
from tests.databases import compile_statements_once, put_database

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
IN_CI = os.environ.get("CI") == "true"

# CI tries the same examples each time, so that what it says is about the change; everybody else's runs look further.
# No deadlines: how long an example takes says more about the machine.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("everyday", deadline=None)
settings.load_profile("ci" if IN_CI else "everyday")

# What commands write has no width, as in a pipe: pytest's workers run with a COLUMNS of their own.
os.environ.pop("COLUMNS", None)

# A password costs an attacker 64 MiB and a tenth of a second, and hundreds of tests as well. Those about that cost put
# PRODUCT_HASHER back.
PRODUCT_HASHER = passwords._hasher
passwords._hasher = PasswordHasher.from_parameters(profiles.CHEAPEST)

compile_statements_once()

# The documents of the sample come out the same each time (tests/exports/sample/): drawn once a process, not for seconds
# by everybody who writes the sample.
exports.sample.draw_documents = functools.cache(draw_documents)


def pytest_collection_finish() -> None:
    """Whoever looks for garbage need not look through ten thousand tests and all that they import each time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the simulations of the night out unless they are asked for."""
    _give_time_a_second_go(items)
    if "nightly" in str(config.option.markexpr):
        return
    asleep = [item for item in items if item.get_closest_marker("nightly")]
    config.hook.pytest_deselected(items=asleep)
    items[:] = [item for item in items if item not in asleep]


# What says of a failure that somebody waited in vain: for a condition (tests/waiting.py) or for the browser.
_WAITED_IN_VAIN = ["it did not come to that in time", r"Timeout \d+ms exceeded"]


def _give_time_a_second_go(items: list[pytest.Item]) -> None:
    """Run a test again whose limit of time was passed; any other failure counts at once.

    A machine that stands still for two seconds is no fault of the program's, and among ten thousand tests one meets it.
    """
    for item in items:
        if item.get_closest_marker("by_the_clock"):
            item.add_marker(pytest.mark.flaky(reruns=2, reruns_delay=2))
        else:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=_WAITED_IN_VAIN))


@pytest.fixture(autouse=True)
def _main_module() -> Iterator[None]:
    """A page that was run by AppTest stays behind as `__main__`, which processes spawned later would import."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real data that lies beside the project, where it is there."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the real data (../shared/data) is not here")
    return SHARED / "data"


@pytest.fixture(scope="session")
def node() -> str:
    """Node, which runs what of the JavaScript needs no browser; CI has to have it."""
    found = shutil.which("node")
    if found is None and IN_CI:
        pytest.fail("node is not installed, which CI must have")
    return found or pytest.skip("node is not installed, so the JavaScript is not tried by itself")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[postgresql.Server]:
    """A running PostgreSQL with a migrated template database."""
    if postgresql.programs() is None:
        if IN_CI:
            pytest.fail("PostgreSQL is not installed, which CI must have")
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    server = postgresql.start()
    try:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE template_assay")
        database = Database(server.url("template_assay"))
        migrate(database)
        database.dispose()
        yield server
    finally:
        server.stop()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """A fresh SQLite database."""
    path = tmp_path / "assay.db"
    put_database(path)
    database = Database(f"sqlite:///{path}")
    yield database
    database.dispose()


@pytest.fixture(scope="session")
def postgresql_pool(postgresql_server: postgresql.Server) -> postgresql.Pool:
    """Databases that tests use one after the other."""
    return postgresql.Pool(postgresql_server, "template_assay")


@pytest.fixture
def postgresql_database(postgresql_pool: postgresql.Pool) -> Iterator[Database]:
    """A fresh PostgreSQL database."""
    name = postgresql_pool.take()
    database = Database(postgresql_pool.server.url(name))
    yield database
    database.dispose()
    postgresql_pool.give_back(name)


# On PostgreSQL in CI and by `make test-all`: most of what can go wrong shows on SQLite, in half of the time.
@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest) -> Database:
    """A fresh database of each sort in turn."""
    found: Database = request.getfixturevalue(f"{request.param}_database")
    return found
