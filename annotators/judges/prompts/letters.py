"""Letters in the place of labels, where a judge is to say how likely each was and the labels begin alike.

Servers say how likely tokens are. `-2` and `-1`, `1` and `10`, `not stated` and `not supported` share their first
token, and what is listed beside it does not say which of them it would have become. A letter is one token in every
vocabulary that is about: which one was likely is then said in full. Labels whose first bytes differ keep their words,
which say more to a model than letters do, and which it does not prefer by their place in the alphabet.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

_ALONE = re.compile(r"(?<![^\W_])[A-Za-z](?![^\W_])")


def letters_for(schema: Mapping[str, Any], said: str) -> dict[str, str]:
    """Letter → label, in the order of the labels; nothing where they need none, or there are not so many letters.

    `schema` is that of the label. No letter stands by itself in what is `said` of the labels: beside a title such as
    "A is better" an `A` for another label would be misread.
    """
    labels: Sequence[str] = schema.get("enum", ()) if schema.get("type") == "string" else ()
    if len(labels) < 2 or _are_told_apart(labels):
        return {}
    taken = set(_ALONE.findall(said))
    free = [letter for letter in string.ascii_uppercase + string.ascii_lowercase if letter not in taken]
    return dict(zip(free, labels, strict=False)) if len(free) >= len(labels) else {}


def _are_told_apart(labels: Sequence[str]) -> bool:
    """Whether the first token of each label can be that of no other: a token has a byte at least."""
    plain = all(label and json.dumps(label) == f'"{label}"' for label in labels)
    return plain and len({label.encode()[0] for label in labels}) == len(labels)
