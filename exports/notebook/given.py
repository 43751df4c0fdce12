"""What calls of a notebook are given: one name in place of several, numbers that are none; errors in their words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from annotators.errors import AssayError, InvalidInput, shown
from annotators.intervals.bootstrap import Resampling


def several(given: str | Sequence[Any]) -> tuple[Any, ...]:
    """What may be one name, or several of them."""
    return (given,) if isinstance(given, str) else tuple(given)


def asked_for(seed: int, resamples: int = 1000, level: float = 0.95) -> Resampling:
    """How intervals are to be made; InvalidInput for what is no number, or none that can be."""
    for name, value, kind in (("seed", seed, int), ("resamples", resamples, int), ("level", level, int | float)):
        if isinstance(value, bool) or not isinstance(value, kind):
            raise InvalidInput(f"{name} is {shown(value)}. Give a {'share' if name == 'level' else 'whole number'}.")
    return Resampling(resamples, seed, level)


_IN_PYTHON = {
    "--map question=COLUMN": "mapping={'question': COLUMN}",
    "--map": "mapping={…}",
    "--scorer": "scorers=[…]",
    "frame.parquet": "the frame",
}
"""What commands say → what stands for it in a call."""

_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)(?![\w-])")


@contextmanager
def in_python() -> Iterator[None]:
    """Let errors name the arguments of a call where they name the options of a command."""
    try:
        yield
    except AssayError as error:
        said = str(error)
        for option, argument in _IN_PYTHON.items():
            said = said.replace(option, argument)
        said = _OPTION.sub(lambda found: f"{found[1].replace('-', '_')}=…", said)
        if said == str(error):
            raise
        raise type(error)(said) from None
