"""Where a home folder is being served: each running server leaves a note in it, and the command line reads them.

A server may listen on another port than the settings say (a free one, or one given when it was started), and an address
that is printed for somebody must be the one that answers.
"""

from __future__ import annotations

import json
import secrets
import urllib.request
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.error import HTTPError

from app.settings import Settings

FOLDER = "servers"
_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True)
class Served:
    """One running server: what people type, where it answers on this machine, and a word that only it knows.

    Its health check knows the word, so that a note which a killed server has left is not taken for a living one, even
    where another program listens on its port by now.
    """

    address: str
    local: str
    word: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    def answers(self) -> bool:
        """Whether this very server is there."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.local}/healthz?server={self.word}", timeout=_PATIENCE_SECONDS) as answer:
                return json.load(answer).get("here") is True
        except HTTPError as error:  # it is not well, which need not keep it from being there
            with suppress(OSError, ValueError, AttributeError):
                return json.load(error).get("here") is True
            return False
        except (OSError, ValueError):  # nobody there, or no Assay
            return False

    def is_called(self, word: str) -> bool:
        """Whether this is the server's word."""
        return secrets.compare_digest(word.encode(), self.word.encode())


def note(settings: Settings, served: Served, port: int) -> Path:
    """Leave the note of a server that listens on this port; one that was left there before is replaced."""
    folder = settings.home / FOLDER
    folder.mkdir(exist_ok=True)
    path = folder / f"{port}.json"
    path.write_text(json.dumps(asdict(served)) + "\n", encoding="utf-8")
    return path


def withdraw(path: Path, served: Served) -> None:
    """Take the note back, unless another server has written its own there since."""
    if _read(path) == served:
        path.unlink(missing_ok=True)


def served_address(settings: Settings) -> str:
    """The address of the server of this home folder, without a slash at its end.

    The public address if one is set; else that of the running server (of several the one started last); else where the
    server will be with these settings.
    """
    if settings.public_url:
        return settings.public_url
    found = running(settings)
    return found.address if found else address_of(settings.host, settings.port)


def running(settings: Settings) -> Served | None:
    """The running server of this home folder, of several the one started last; None when there is none."""
    notes = sorted((settings.home / FOLDER).glob("*.json"), key=_age)
    return next((server for server in map(_read, notes) if server is not None and server.answers()), None)


def address_of(host: str, port: int) -> str:
    """The address by which a browser on this machine reaches a server that listens on this host and port."""
    everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    return f"http://{'localhost' if everywhere else f'[{host}]' if ':' in host else host}:{port}"


def _age(path: Path) -> float:
    with suppress(OSError):
        return -path.stat().st_mtime
    return 0.0


def _read(path: Path) -> Served | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Served(str(found["address"]), str(found["local"]), str(found["word"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
