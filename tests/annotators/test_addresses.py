"""Which servers are on this machine: by what their names and addresses are, not by how they begin."""

from __future__ import annotations

import pytest

from annotators.addresses import is_here


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "models.localhost",
        "127.0.0.1",
        "127.9.8.7",
        "[::1]",
        "[::ffff:127.0.0.1]",
    ],
)
def test_the_loopback_is_on_this_machine(host: str) -> None:
    assert is_here(f"http://{host}:8000/v1")


@pytest.mark.parametrize(
    "host",
    [
        "127.evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "notlocalhost",
        "evil.example\\.localhost",
        "evil.example;.localhost",
        "127.1",
        "0.0.0.0",
        "192.168.0.1",
        "[::ffff:192.168.0.1]",
        "[2001:db8::1]",
        "127.0.0.1@evil.example",
    ],
)
def test_a_name_that_only_looks_like_it_is_elsewhere(host: str) -> None:
    assert not is_here(f"http://{host}:8000/v1")
