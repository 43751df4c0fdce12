"""What the server refuses, in its log: the first at once, what is alike once a minute, and nothing that is a secret.

One disk that is full refuses each of a thousand submissions, and a password is guessed a hundred times.
"""

from __future__ import annotations

import logging
from threading import Lock, Timer

from annotators.errors import AssayError, TooManyAttempts
from annotators.figures import count
from db.faults import DatabaseUnavailable
from db.people.sign_in import SignInRefused

log = logging.getLogger(__name__)

MINUTE = 60.0
MOST_KINDS = 50
"""So many different ones are told apart within a minute; the others are counted together."""

_OTHERS = "Others were refused as well"


class Refusals:
    """Counts what is refused, by what is said of it, and logs it. Thread-safe."""

    def __init__(self, seconds: float = MINUTE) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._counted: dict[str, int] = {}
        self._timer: Timer | None = None

    def note(self, what: str) -> None:
        """Something was refused, as this sentence says; it names no text that somebody typed."""
        what = " ".join(what.split())
        with self._lock:
            what = what if what in self._counted or len(self._counted) < MOST_KINDS else _OTHERS
            first = what not in self._counted
            self._counted[what] = self._counted.get(what, -1) + 1
            if self._timer is None:
                self._timer = Timer(self._seconds, self._tell)
                self._timer.daemon = True
                self._timer.start()
        if first:
            log.warning("%s", what)

    def _tell(self) -> None:
        with self._lock:
            counted, self._counted, self._timer = self._counted, {}, None
        for what, more in counted.items():
            if more:
                log.warning("%s (%s more within %g s)", what, count(more, "time"), self._seconds)


_refusals = Refusals()


def note_refused(error: AssayError) -> None:
    """Note an answer that says that the database does not do its part; others are told to whoever asked alone."""
    if isinstance(error, DatabaseUnavailable):
        _refusals.note(f"Refused: {error}")


def note_sign_in(error: AssayError) -> None:
    """Note that somebody was not signed in, and why. A name is that of an account; what else was typed is not told."""
    _refusals.note(f"Sign-in refused: {_why(error)}")


def note_invitation(error: AssayError) -> None:
    """Note that somebody did not come in by a link, and why; of the link nothing is told, as it lets people in."""
    _refusals.note(f"Invitation refused: {_why(error)}")


def _why(error: AssayError) -> str:
    if isinstance(error, TooManyAttempts):  # which says how long to wait: another time with each try
        return "there were too many tries."
    return error.why if isinstance(error, SignInRefused) else str(error)
