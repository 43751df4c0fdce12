"""What tells two prompts apart, line by line of their files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Literal, NamedTuple

from annotators.judges.prompts.prompt import NamedPrompt, prompt_to_yaml

Change = Literal["same", "removed", "added"]


class ComparedLine(NamedTuple):
    """A line of the first prompt, of the second, or of both."""

    change: Change
    text: str


def compared(one: NamedPrompt, other: NamedPrompt) -> Iterator[ComparedLine]:
    """The lines of both files in one run: what is gone before what came in its place."""
    before, after = _lines(one), _lines(other)
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (ComparedLine("same", line) for line in before[a:b])
        else:
            yield from (ComparedLine("removed", line) for line in before[a:b])
            yield from (ComparedLine("added", line) for line in after[c:d])


def unified(one: NamedPrompt, other: NamedPrompt) -> str:
    """The difference in the form that `diff -u` has; empty where there is none."""
    before, after = (f"{prompt.name}@{prompt.version}" for prompt in (one, other))
    return "\n".join(difflib.unified_diff(_lines(one), _lines(other), before, after, lineterm=""))


def _lines(prompt: NamedPrompt) -> list[str]:
    return prompt_to_yaml(prompt).splitlines()
