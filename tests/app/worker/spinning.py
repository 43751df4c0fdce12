"""A process of ours that computes and listens to nobody."""

from __future__ import annotations

import sys


def main(_arguments: list[str]) -> int:
    """Compute for ever."""
    while True:
        pow(3, 200_000)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
