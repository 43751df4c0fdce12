"""What is refused is in the server's log, once a minute and without secrets; whether it could write is asked of it."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from app.server.refusals import Refusals
from tests.app.cli.test_recovery import mounted
from tests.databases import put_database
from tests.foreign_locks import locked_file
from tests.servers import PASSWORD, running_server


def test_what_is_alike_is_logged_at_once_and_then_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals(0.3)
    with caplog.at_level(logging.WARNING):
        for _ in range(40):
            refusals.note("The disk\nis full.")
        refusals.note("Another thing.")
        assert caplog.messages == ["The disk is full.", "Another thing."]
        until = time.monotonic() + 10
        while len(caplog.messages) < 3 and time.monotonic() < until:
            time.sleep(0.02)
        assert caplog.messages[2:] == ["The disk is full. (39 times more within 0.3 s)"]
        refusals.note("Another thing.")
        assert caplog.messages[3:] == ["Another thing."]
        for number in range(200):
            refusals.note(f"Number {number}.")
    assert len(caplog.messages) < 60


def test_a_full_disk_is_told_by_the_ready_address_and_by_the_log_and_clears_up_by_itself(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    with mounted(small, "-t", "tmpfs", "-o", "size=12m", "tmpfs"):
        home = small / "home"
        put_database(home / "assay.db")
        log = tmp_path / "server.log"
        with running_server(home, log=log) as server:
            server.person("grace")
            client = server.client()

            def status(path: str) -> int:
                return client.get(path).status_code

            assert [status(path) for path in ("/livez", "/readyz", "/healthz")] == [200, 200, 200]
            with (small / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
                while True:
                    file.write(bytes(1 << 12))
            time.sleep(2.1)  # so long an answer holds
            answer = client.get("/readyz")
            assert answer.status_code == 503
            assert "Free some space" in answer.json()["error"]
            assert [status(path) for path in ("/livez", "/healthz")] == [200, 200]
            codes = {
                server.client().post("/sign-in", data={"name": "grace", "password": PASSWORD}).status_code
                for _ in range(20)
            }
            assert codes == {503}
            (small / "filler").unlink()
            time.sleep(2.1)
            assert status("/readyz") == 200
            server.signed_in("grace")
        said = log.read_text()
    assert "Traceback" not in said
    assert 1 <= said.count("Free some space") <= 4, said


def test_refused_sign_ins_and_why_are_logged_without_what_was_typed(tmp_path: Path) -> None:
    with running_server(tmp_path / "home") as server:
        server.person("grace")
        for name, password in (("grace", "a wrong secret 1"), ("grace", "a wrong secret 2"), (PASSWORD, "grace")):
            assert server.client().post("/sign-in", data={"name": name, "password": password}).status_code == 401
        spent = "a-token-that-was-never-made"
        assert server.client().post(f"/sign-in/{spent}").status_code == 404
        for _ in range(2):
            assert server.client().get(f"/join/{spent}").status_code == 404
        for n in range(40):
            server.client().post("/sign-in", data={"name": "grace", "password": f"wrong secret {n}"})
        said = server.log.read_text()
    assert said.count("Invitation refused: This link has been used up") == 1
    assert said.count("Sign-in refused: there were too many tries.") == 1
    assert said.count("Sign-in refused: the password for 'grace' is wrong.") == 1
    assert "Sign-in refused: there is no account of that name." in said
    assert "Sign-in refused: This sign-in address has been used or has expired." in said
    assert not [secret for secret in ("secret", PASSWORD, spent) if secret in said]


def test_it_is_not_ready_while_another_program_lets_nobody_write(tmp_path: Path) -> None:
    with running_server(tmp_path / "home") as server:
        client = server.client()
        with locked_file(server.home / "assay.db"):
            answers = [client.get(path).status_code for path in ("/livez", "/healthz", "/readyz")]
        assert answers == [200, 200, 503]


@pytest.mark.slow
def test_it_is_ready_on_postgresql_and_not_where_that_is_read_only(tmp_path: Path, postgresql_database: object) -> None:
    url = postgresql_database.url.set(drivername="postgresql").render_as_string(hide_password=False)  # type: ignore[attr-defined]
    with running_server(tmp_path / "home", ASSAY_DATABASE_URL=url) as server:
        assert server.client().get("/readyz").status_code == 200
        with server.db.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")  # noqa: PLW2901 - the same
            name = connection.exec_driver_sql("SELECT current_database()").scalar_one()
            connection.exec_driver_sql(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
            try:
                connection.exec_driver_sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "
                    "pid <> pg_backend_pid()"
                )
                time.sleep(2.1)
                answer = server.client().get("/readyz")
                assert (answer.status_code, "read-only" in answer.text) == (503, True)
            finally:
                connection.exec_driver_sql("SET default_transaction_read_only = off")
                connection.exec_driver_sql(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')
