"""What reading a file may come to, for the size that it has: bytes, cells and seconds, each for the whole file.

What a file claims of itself is no limit, and neither are limits of single parts: a file of two kilobytes can hold
hundreds of parts, each within its limit. What is counted here is what a file unpacks to, and how long that takes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from annotators.errors import InvalidInput

FREE_BYTES, BYTES_A_BYTE = 64 << 20, 200
"""A file may unpack to so many bytes, and if it has more than that, to so many times its size."""

FREE_CELLS, CELLS_A_BYTE = 1_000_000, 20
"""The same of cells, with those that are empty, and those inside of others."""

FREE_SECONDS, BYTES_A_SECOND = 20.0, 500_000
"""A file may take so many seconds of a processor, and one more for each so many of its bytes."""

_LOOKED_AT = 1_000


@dataclass
class Budget:
    """How much more one file of `size` bytes may come to; `told` is what it is called in words."""

    size: int
    told: str = "the file"
    _bytes: int = 0
    _cells: int = 0
    _calls: int = 0
    _begun: float = field(default_factory=time.process_time)

    def check(self, n_bytes: int = 0, cells: int = 0) -> None:
        """InvalidInput where the file would come to too much with so much more; nothing is counted."""
        if self._bytes + n_bytes > max(FREE_BYTES, BYTES_A_BYTE * self.size):
            raise InvalidInput(
                f"{self.told} has {_size(self.size)} and unpacks to more than "
                f"{_size(max(FREE_BYTES, BYTES_A_BYTE * self.size))}, as files made to fill a memory do. Write each "
                "value once, or large values as documents of their own."
            )
        if self._cells + cells > FREE_CELLS + CELLS_A_BYTE * self.size:
            raise InvalidInput(
                f"{self.told} has {_size(self.size)} and comes to more than "
                f"{FREE_CELLS + CELLS_A_BYTE * self.size:,} cells, with empty ones and those inside of others. Leave "
                "empty columns and rows out, or write one item a row."
            )

    def spend(self, n_bytes: int = 0, cells: int = 0) -> None:
        """Count so much more; InvalidInput where that is too much, or has taken too long."""
        self.check(n_bytes, cells)
        self._bytes += n_bytes
        self._cells += cells
        self._calls += 1
        if self._calls % _LOOKED_AT == 1 and time.process_time() - self._begun > seconds_for(self.size):
            raise InvalidInput(
                f"{self.told} has {_size(self.size)} and takes longer to read than {seconds_for(self.size):,.0f} s. "
                "Save it again with another program, or as CSV in UTF-8."
            )


def seconds_for(size: int) -> float:
    """The seconds of a processor that reading a file of so many bytes may take."""
    return FREE_SECONDS + size / BYTES_A_SECOND


def _size(n: int) -> str:
    return f"{n:,} bytes" if n < 10_000 else f"{n / 1e6:,.1f} MB"
