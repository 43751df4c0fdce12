"""Passwords: which are accepted, how they are hashed (Argon2id), and checking at the same cost for every name."""

from __future__ import annotations

from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from annotators.errors import InvalidInput

MIN_LENGTH = 8
MAX_LENGTH = 1000

_hasher = PasswordHasher()  # RFC 9106, low-memory profile: 64 MiB and about 50 ms a password
_slots = BoundedSemaphore(4)  # so that a rush of sign-ins costs 256 MiB at most


def check_rules(password: str, name: str) -> str:
    """The password itself if it may be used; else InvalidInput says what is wrong, without repeating it."""
    if len(password) < MIN_LENGTH:
        raise InvalidInput(
            f"The password has {len(password)} characters; it needs at least {MIN_LENGTH}. A few words in a row are "
            "easy to remember and hard to guess."
        )
    if len(password) > MAX_LENGTH:
        raise InvalidInput(f"The password has {len(password)} characters; at most {MAX_LENGTH} are accepted.")
    if password.strip().casefold() == name.strip().casefold():
        raise InvalidInput("The password is the person's name; choose something that others would not try first.")
    return password


def hashed(password: str) -> str:
    """The password as it is kept: Argon2id with its parameters and a random salt."""
    with _slots:
        return _hasher.hash(password)


def matches(password_hash: str | None, password: str) -> bool:
    """Whether the password fits. Without a hash (no such person, or no password yet) the same work is done in vain."""
    with _slots:
        try:
            _hasher.verify(password_hash or _decoy(), password[: MAX_LENGTH + 1])
        except (VerificationError, InvalidHashError):
            return False
    return password_hash is not None


def needs_rehash(password_hash: str) -> bool:
    """Whether the hash was made with weaker parameters than those of today."""
    return _hasher.check_needs_rehash(password_hash)


@cache
def _decoy() -> str:
    return _hasher.hash("nobody has this password")
