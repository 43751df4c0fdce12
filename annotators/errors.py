"""The errors that a person can do something about: each gives the value that was wrong and the remedy.

Exactly two places translate them: the command line (exit code and one line on standard error) and the web app (a
message on the page, or a JSON body of the annotator's own routes). Anything else that is raised is a bug and keeps its
traceback.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a file: its line (from 1; None: of all of it), what it is, what to do about it.

    `path` is where it stands in what the file says, by names of fields and positions in lists.
    """

    line: int | None
    problem: str
    remedy: str
    path: tuple[str | int, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, message: str, path: tuple[str | int, ...] = (), line: int | None = None) -> Problem:
        """A message in its two parts: what is wrong, and what to do."""
        if "; " in message and not re.search(r"\. [A-Z]", message):
            problem, _, remedy = message.rpartition("; ")
            return cls(line, f"{problem}.", remedy[:1].upper() + remedy[1:], path)
        first = re.match(r"(.*?[.!?])(?= [A-Z])", message, re.DOTALL)
        if first is not None:
            return cls(line, first[1], message[len(first[1]) :].strip(), path)
        problem, _, known = message.rpartition(": ")
        said = (f"{problem}.", f"Take one of these: {known}") if problem else (message, "Change it.")
        return cls(line, *said, path)


_LISTED = 20
_LONG = 80


def in_lines(begun: str, problems: Sequence[Problem]) -> str:
    """A message about the problems of a table: what was not done, and a line each, by their lines in the table."""
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    lines = [
        f"{f'line {problem.line}: ' if problem.line else ''}{problem.problem} {problem.remedy}".rstrip()
        for problem in ordered[:_LISTED]
    ]
    if len(ordered) > _LISTED:
        lines.append(f"… and {len(ordered) - _LISTED:,} more")
    return "\n".join([begun, *lines])


class AssayError(Exception):
    """What went wrong, with the value, and what to do about it; of a file perhaps with all its `problems`."""

    status = 400
    exit_code = 2

    def __init__(self, message: str = "", problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems)

    @property
    def details(self) -> dict[str, Any]:
        """What JSON says of it besides the message: the problems, where they are known one by one."""
        if not self.problems:
            return {}
        return {
            "problems": [
                {"line": problem.line, "problem": problem.problem, "remedy": problem.remedy}
                for problem in self.problems
            ]
        }


class InvalidInput(AssayError):
    """A value, row or file that does not fit what was asked for."""

    status = 422


class TooLarge(AssayError):
    """More than is taken at once."""

    status = 413


class NotFound(AssayError):
    """Something named that does not exist (or that this person may not know to exist)."""

    status = 404
    exit_code = 3


class NotAllowed(AssayError):
    """The person is known but may not do this."""

    status = 403
    exit_code = 4


class NotSignedIn(AssayError):
    """Nobody is signed in, or the session has ended."""

    status = 401
    exit_code = 4


class Conflict(AssayError):
    """The thing exists already, or is in a state in which this cannot be done."""

    status = 409
    exit_code = 5


class TooManyAttempts(AssayError):
    """Wrong passwords came too often; the message says how long to wait."""

    status = 429
    exit_code = 4


class NotEquipped(InvalidInput):
    """Work needs a setting that this process has not, such as a key; one with other settings may do it."""


class Interrupted(AssayError):
    """A command was ended by Ctrl-C."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("Interrupted before its end. Give the command again to have it done.")


OF_DISKS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What the machine says when a disk does not take, or give, what is written or read."""

REFUSALS = OF_DISKS | {errno.EACCES, errno.EPERM}
"""What it says when something may not, or cannot, be written or read."""

NO_PLACES = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP})
"""What it says of a path at which nothing can be."""

_REMEDIES = {
    errno.EFBIG: "Name a place on a disk that takes larger files, or raise the limit of their size (ulimit -f)",
    errno.EIO: "Check that the disk is sound, or name another place",
}
_OF_ARROW = re.compile(r"\A.*? Detail: \[errno \d+\] ", re.DOTALL)
"""What Arrow puts before the words of the machine."""


def refusal_of(error: OSError) -> str | None:
    """What a person is told of a file that the machine does not read or write; None where the error is a bug."""
    if error.errno not in REFUSALS | NO_PLACES:
        return None
    usual = "Free some space, or check who may write there" if error.errno in REFUSALS else "Name another place"
    said = _OF_ARROW.sub("", error.strerror or "")
    # A write to a file that is open names none, where nobody has named it (`annotators.files.naming`).
    where = "" if error.filename is None else f": {error.filename}"
    return f"{said}{where}. {_REMEDIES.get(error.errno, usual)}."


def listed(names: Iterable[str], otherwise: str = "none") -> str:
    """Names that people chose as an error lists them: in quotation marks where a comma or line would make two of one.

    At most 20, each cut as a wrong value is.
    """
    known = list(names)
    said = [
        shown(name) if "," in name or len(name) > _LONG or not name.isprintable() else name for name in known[:_LISTED]
    ]
    return ", ".join([*said, "…"] if len(known) > _LISTED else said) or otherwise


def shown(value: object, most: int = _LONG) -> str:
    """A wrong value as an error names it: as Python writes it, cut after `most` characters."""
    try:
        text = repr(value)
    except ValueError:  # a number of thousands of digits, which Python does not write
        return "a number too large to be written"
    return text if len(text) <= most else text[:most] + "…"
