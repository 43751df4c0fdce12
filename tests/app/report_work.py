"""Work for the processes that measure, as tests ask for it: by these names a process finds it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np

from annotators.errors import InvalidInput
from db.engine import Database


def in_steps(_db: Database) -> Iterator[int]:
    """Three parts, the last of them after a while."""
    yield 1
    yield 2
    time.sleep(0.5)
    yield 3


def for_ever(_db: Database) -> Iterator[int]:
    """The process that it is in, and then nothing more."""
    yield os.getpid()
    time.sleep(600)


def whose(_db: Database) -> int:
    """The process that it is in."""
    return os.getpid()


def dies(_db: Database) -> Iterator[str]:
    """Ends its process after a first part."""
    yield "begun"
    os._exit(9)


def too_large(_db: Database) -> int:
    """Asks for more memory than a process may have."""
    return int(np.zeros(1 << 40, dtype=np.uint8)[0])


def refuses(_db: Database) -> None:
    """Raises what a person can do something about."""
    raise InvalidInput("7 is no level: give a share such as 0.95.")


def breaks(_db: Database) -> None:
    """Has a fault."""
    raise KeyError("no such thing")
