"""What a person is told of a file that the machine does not read or write."""

from pathlib import Path

import pytest

from annotators.errors import refusal_of

FULL = Path("/dev/full")


def refusal_when_opening(path: Path) -> str | None:
    with pytest.raises(OSError) as refused:
        path.open()
    return refusal_of(refused.value)


def test_a_path_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    under = tmp_path / "a file" / "other"
    assert refusal_when_opening(under) == f"Not a directory: {under}. Name another place."
    assert refusal_when_opening(tmp_path / "missing") is None  # who reads says that in words of its own


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_a_disk_that_is_full_is_told_without_a_name_where_the_machine_gives_none() -> None:
    with FULL.open("wb", buffering=0) as full, pytest.raises(OSError, match="space") as refused:
        full.write(b"more")
    assert refusal_of(refused.value) == "No space left on device. Free some space, or check who may write there."
