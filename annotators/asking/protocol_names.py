"""Protocols by their names."""

from __future__ import annotations

from annotators.asking.versioned import Names
from annotators.protocols import PROTOCOLS

PROTOCOL_NAMES = Names(PROTOCOLS, example="tone_check")
