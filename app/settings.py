"""Every setting of Assay with its default and meaning: the only reader of environment variables and config files."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints
from urllib.parse import urlsplit

from annotators.addresses import is_openai
from annotators.errors import InvalidInput, NotFound
from exports.checks import check_utf8

ROOT = Path(__file__).resolve().parent.parent
STREAMLIT_CONFIG = ROOT / "streamlit_config" / "config.toml"
PREFIX = "ASSAY_"
OF_TESTS = f"{PREFIX}TEST_"
"""What tests are told by the environment is no setting."""

FILE = "assay.toml"


@dataclass(frozen=True)
class About:
    """What a setting is for; whether its value is kept out of print and of files; which words or numbers it may be.

    Of `addresses` only what leads to a key is kept out: names, passwords and queries.
    """

    help: str
    secret: bool = False
    addresses: bool = False
    only_environment: bool = False
    choices: tuple[str, ...] = ()
    least: int = 1
    most: int | None = None


_ACCESS = re.compile(r"(?<=//)[^/,\s]*@|[?#][^,\s]*")
"""In addresses: what stands before a host with @, and what comes behind ? or #."""


def _without_access(value: str, about: About) -> str:
    return _ACCESS.sub("", value) if about.addresses else value


@dataclass(frozen=True)
class SettingInfo:
    """One setting as `assay doctor` and the docs print it. `value` hides what is secret."""

    name: str
    variable: str
    default: str
    value: str
    source: str
    help: str


@dataclass(frozen=True)
class Settings:
    """What can be set. Each is read from ASSAY_<NAME>, else from `assay.toml` in the home folder, else its default."""

    home: Annotated[
        Path, About("Folder that holds the database, the documents, the cache of page images and the backups.")
    ] = Path("~/assay")
    database_url: Annotated[
        str,
        About(
            "Database to use instead of assay.db in the home folder, for example postgresql://user:password@host/assay.",
            secret=True,
        ),
    ] = ""
    host: Annotated[str, About("Address that the server listens on; 0.0.0.0 lets other machines in.")] = "127.0.0.1"
    port: Annotated[int, About("Port that the server listens on; 0 takes a free one.", least=0, most=65535)] = 8501
    public_url: Annotated[
        str, About("Address that people type, for example https://assay.example.org, when it is not the server's own.")
    ] = ""
    trusted_proxy: Annotated[
        str,
        About(
            "Addresses of reverse proxies, or of their networks, whose X-Forwarded-For and X-Forwarded-Proto are "
            "believed, with commas between them."
        ),
    ] = ""
    secure_cookie: Annotated[
        str,
        About(
            "Whether the session cookie is for https only: auto (whenever the request came by https), always, never.",
            choices=("auto", "always", "never"),
        ),
    ] = "auto"
    session_hours: Annotated[int, About("Hours until a signed-in browser has to sign in again.")] = 14 * 24
    one_time_minutes: Annotated[int, About("Minutes for which a one-time sign-in address works.")] = 24 * 60
    lease_minutes: Annotated[
        int, About("Minutes for which an item is kept for an annotator, unless the study says otherwise.")
    ] = 60
    look_ahead: Annotated[int, About("Items fetched ahead of the annotator's current one.", least=0)] = 3
    page_cache_mb: Annotated[
        int, About("Disk space for cached page images, in MB; those used longest ago go first.")
    ] = 2048
    render_seconds: Annotated[int, About("Seconds after which drawing one page is given up.")] = 20
    render_memory_mb: Annotated[int, About("Address space that a process drawing pages may use, in MB.")] = 2048
    render_workers: Annotated[int, About("Processes that draw pages.")] = 2
    report_memory_mb: Annotated[int, About("Memory that a process making reports may write to, in MB.")] = 4096
    report_workers: Annotated[int, About("Processes that make reports.")] = 2
    report_niceness: Annotated[
        int, About("How far processes that make reports step back when processors are busy, 0 to 19.", least=0, most=19)
    ] = 5
    upload_mb: Annotated[int, About("Largest file that can be uploaded in the browser, in MB.")] = 1024
    uploads_mb: Annotated[
        int, About("Largest total of one person's uploaded files, in MB, until their pages are closed.")
    ] = 4096
    embedding_models: Annotated[
        str,
        About(
            "Embedding models that scorers of a project may take besides the bundled one: names or folders of "
            "sentence-transformers models on this machine, with commas between them."
        ),
    ] = ""
    judge_key: Annotated[
        str,
        About(
            "Key for the servers of judges. It is read from the environment alone.", secret=True, only_environment=True
        ),
    ] = field(default="", repr=False)
    judge_servers: Annotated[
        str,
        About(
            "Base URLs of the servers that judges started in the browser may ask, and that get the key, with commas "
            "between them.",
            addresses=True,
        ),
    ] = ""
    label_studio_key: Annotated[
        str,
        About(
            "Token of an account on the server of Label Studio that studies are pushed to. It is read from the "
            "environment alone.",
            secret=True,
            only_environment=True,
        ),
    ] = field(default="", repr=False)
    label_studio_private: Annotated[
        str,
        About(
            "Whether a server of Label Studio may be asked that is on this machine or in a private network.",
            choices=("no", "yes"),
        ),
    ] = "no"
    wait_seconds: Annotated[
        int,
        About(
            "Seconds that a request waits for the database or for a page to be drawn, its place in the queue included; "
            "then the browser is told to come again. Browsers themselves wait 20."
        ),
    ] = 10
    stop_seconds: Annotated[int, About("Seconds that open requests get to finish when the server is stopped.")] = 10
    log_level: Annotated[
        str,
        About(
            "How much the server writes to standard error.",
            choices=("debug", "info", "warning", "error"),
        ),
    ] = "warning"

    @classmethod
    def load(cls, environment: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Settings of this process. `given` (command-line options) goes before the environment; None is not given.

        Raises InvalidInput for a value that does not fit, or for an unknown name in `assay.toml` or the environment.
        """
        environment = os.environ if environment is None else environment
        values: dict[str, Any] = {}
        for name in _kinds():
            variable = PREFIX + name.upper()
            if given.get(name) is not None:
                values[name] = _parse(name, given[name], f"the option {name}")
            elif environment.get(variable):
                values[name] = _parse(name, environment[variable], variable)
        _check_names(
            name
            for name, value in environment.items()
            if value and name.startswith(PREFIX) and not name.startswith(OF_TESTS)
        )
        home = Path(values.get("home", cls.home)).expanduser().absolute()
        check_utf8([str(home)])
        for name, value in _file_values(home / FILE).items():
            values.setdefault(name, value)
        return cls(**{**values, "home": home})

    def describe(self, environment: Mapping[str, str] | None = None) -> Iterator[SettingInfo]:
        """Every setting with its variable, default, present value and where that value comes from."""
        environment = os.environ if environment is None else environment
        in_file = _file_values(self.home / FILE)
        for name, (_, about) in _kinds().items():
            value, default, variable = getattr(self, name), getattr(Settings, name), PREFIX + name.upper()
            source = "default"
            if environment.get(variable):
                source = variable
            elif name in in_file:
                source = FILE
            elif value != default and not (name == "home" and value == default.expanduser().absolute()):
                source = "option"
            shown = "(set)" if about.secret and value else _without_access(str(value), about)
            yield SettingInfo(name, variable, str(default), shown, source, about.help)

    @property
    def database(self) -> str:
        """The database's URL: the one that is set, else the SQLite file in the home folder."""
        return self.database_url or f"sqlite:///{self.home / 'assay.db'}"

    @property
    def passed_over(self) -> str | None:
        """A sentence where another database is named and the home folder has one of its own; None where it has none."""
        own = self.home / "assay.db"
        if not self.database_url or not own.is_file() or self.database_url.endswith(f"//{own}"):
            return None
        return (
            f"{own} is there and is not used: ASSAY_DATABASE_URL, or database_url in {FILE}, names another database. "
            "Take that away if you meant this one; else move this file away, with those whose names begin as its does."
        )

    @property
    def documents_folder(self) -> Path:
        """Where the bytes of documents are kept, by SHA-256."""
        return self.home / "data" / "documents"

    @property
    def uploads_folder(self) -> Path:
        """Where files lie that a browser has sent, until they are imported or their page is closed."""
        return self.documents_folder.parent / "uploads"

    @property
    def downloads_folder(self) -> Path:
        """Where exports lie that were made on the page, packed, for as long as they can be fetched."""
        return self.documents_folder.parent / "downloads"

    @property
    def pages_folder(self) -> Path:
        """The cache of page images; it can be deleted at any time."""
        return self.home / "data" / "pages"

    @property
    def recognised_folder(self) -> Path:
        """The words that were recognised on pages without a text layer: recognising them again takes hours."""
        return self.home / "data" / "ocr"

    @property
    def backups_folder(self) -> Path:
        """Copies of the database made before it was migrated, and by `assay backup`."""
        return self.home / "backups"

    @property
    def models(self) -> list[str]:
        """The embedding models that an administrator offers besides the bundled one."""
        return [part.strip() for part in self.embedding_models.split(",") if part.strip()]

    @property
    def judges(self) -> list[str]:
        """The servers that an administrator lets judges of the browser be asked on, by base URL."""
        return [part.strip().rstrip("/") for part in self.judge_servers.split(",") if part.strip()]

    def key_for(self, server: str, environment: Mapping[str, str] | None = None) -> str | None:
        """The key for a judge's server: ours, or for OpenAI's own, as its programs take it, OPENAI_API_KEY."""
        environment = os.environ if environment is None else environment
        theirs = environment.get("OPENAI_API_KEY") if is_openai(server) else None
        return self.judge_key or theirs

    @property
    def prices_file(self) -> Path:
        """What models cost, in a file that researchers edit."""
        return self.home / "prices.toml"

    @property
    def proxies(self) -> list[str]:
        """The addresses of trusted proxies."""
        return [part.strip() for part in self.trusted_proxy.split(",") if part.strip()]

    @property
    def call(self) -> str:
        """How the command line is to be called for this home folder, for messages: `assay --home …`."""
        return f"assay --home {shlex.quote(str(self.home))}"

    @property
    def restore_advice(self) -> str:
        """How the database is put back, for messages: the newest whole backup, how old it is, and the command."""
        from db.upkeep.copies import restore_advice  # noqa: PLC0415 - only what is damaged needs it

        return restore_advice(self.call, self.backups_folder)

    def prepare(self) -> Settings:
        """Make the home folder, for its owner only, and so an empty one that is there; returns the settings.

        What a folder that holds something may be read by is its owner's decision: `assay doctor` says what is open.
        """
        self.home.mkdir(parents=True, mode=0o700, exist_ok=True)
        if next(self.home.iterdir(), None) is None:
            self.home.chmod(0o700)
        return self


def has_display(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """Whether a browser that is started here would be seen by the person who starts it: a screen, and no SSH or CI."""
    environment = os.environ if environment is None else environment
    if environment.get("CI") or environment.get("SSH_CONNECTION"):
        return False
    if platform in ("darwin", "win32"):
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


@cache
def _kinds() -> dict[str, tuple[type, About]]:
    hints = get_type_hints(Settings, include_extras=True)
    return {name: (get_args(hint)[0], get_args(hint)[1]) for name, hint in hints.items()}


def _parse(name: str, value: Any, origin: str) -> Any:
    kind, about = _kinds()[name]
    if kind is Path:
        return Path(value)
    if kind is int:
        return _number(about, value, origin)
    text = str(value).strip()
    if about.choices and text not in about.choices:
        raise InvalidInput(f"{origin} is {text!r}; it must be one of {', '.join(about.choices)}.")
    if name == "trusted_proxy":
        return ", ".join(_proxy(part.strip(), origin) for part in text.split(",") if part.strip())
    if name == "public_url" and text:
        address = urlsplit(text)
        if address.scheme not in ("http", "https") or not address.netloc or address.path not in ("", "/"):
            raise InvalidInput(f"{origin} is {text!r}; it must look like https://assay.example.org, without a path.")
        return f"{address.scheme}://{address.netloc}"
    return text


def _proxy(text: str, origin: str) -> str:
    """The address of a proxy, or of the network it is in; whatever else is no address is believed by nobody."""
    try:
        return str(ip_address(text) if "/" not in text else ip_network(text))
    except ValueError as error:
        said = f" ({error})" if "host bits" in str(error) else ""
        raise InvalidInput(
            f"{origin} has {text!r}, which is no address{said}. Write the proxy's address, such as 10.0.0.5, or its "
            "network, such as 10.0.0.0/8; several with commas between them."
        ) from None


def _check_names(variables: Iterable[str]) -> None:
    """Raise InvalidInput for a variable that looks like a setting and is none: what it says would be heeded nowhere."""
    known = [PREFIX + name.upper() for name in _kinds()]
    for variable in sorted(set(variables) - set(known)):
        near = get_close_matches(variable, known, 1, 0.8)
        raise InvalidInput(
            f"{variable} is set, which is no setting. {f'Did you mean {near[0]}? ' if near else ''}Correct its name, "
            f"or take it out of the environment. Known: {', '.join(known)}."
        )


def _number(about: About, value: Any, origin: str) -> int:
    least, most = about.least, about.most
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{origin} is {value!r}; it must be a whole number.") from None
    if number < least or (most is not None and number > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(f"{origin} is {number}; it must be {limits}.")
    return number


def _file_values(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not valid TOML: {error}. Correct it or move it away.") from error
    known = [name for name in _kinds() if name != "home"]
    for name in found:
        if name not in known:
            raise InvalidInput(f"{path} sets {name!r}, which is no setting. Known: {', '.join(known)}.")
        if _kinds()[name][1].only_environment:
            raise InvalidInput(
                f"{path} sets {name!r}, which is kept in no file. Take it out, and set {PREFIX}{name.upper()} in the "
                "environment."
            )
    return {name: _parse(name, value, f"{name} in {path}") for name, value in found.items()}


# Streamlit ------------------------------------------------------------------------------------------------------------


def streamlit_options(settings: Settings | None = None, path: Path = STREAMLIT_CONFIG) -> dict[str, Any]:
    """`streamlit_config/config.toml` as flat options (`theme.light.primaryColor`), with what our settings decide."""
    if not path.is_file():
        raise NotFound(f"{path} is missing. It belongs to the program; install it again.")
    options = dict(_flatten(tomllib.loads(path.read_text(encoding="utf-8"))))
    if settings is not None:
        options["server.maxUploadSize"] = settings.upload_mb
        options["logger.level"] = settings.log_level
    return options


def _flatten(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def apply_streamlit_options(settings: Settings | None = None, path: Path = STREAMLIT_CONFIG) -> dict[str, Any]:
    """Put the options in force in this process, before Streamlit starts; returns them.

    Streamlit looks for its configuration only beside the script, in the working directory and in the user's home, and
    under an ASGI server it ignores STREAMLIT_* variables. Handing the options over as if they were flags puts them
    above whatever such files say, however the server is started.
    """
    from streamlit import config  # noqa: PLC0415 - 0.3 s that `assay doctor` and the other commands need not wait for

    options = streamlit_options(settings, path)
    known = config.get_config_options(force_reparse=True, options_from_flags=options)
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InvalidInput(f"{path} sets {unknown[0]!r}, which this version of Streamlit does not know.")
    return options
