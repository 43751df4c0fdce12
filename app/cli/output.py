"""What commands print: JSON documents, aligned tables, errors, and progress on a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

READ_ENOUGH = 141
"""Exit code of a command whose output nobody reads on: what shells give one that the signal SIGPIPE ended."""


_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys or lays out by, but for line breaks and tabs, and what UTF-8 does not have."""


def visible(text: str) -> str:
    """The text with what would steer a terminal written out as Python does: names and texts are somebody else's."""
    return _STEERS.sub(lambda found: repr(found[0])[1:-1], text)


def as_lines(lines: Iterable[str]) -> str:
    """The lines below one another; a line break within one is written out, so that no text makes a line of its own."""
    return "\n".join(line.replace("\n", r"\n") for line in lines)


def say(text: str, *, line_break: bool = True, as_it_is: bool = False) -> None:
    """Print on standard output; the command ends where whoever read it has read enough, such as `head`.

    `as_it_is` leaves the text unchanged: JSON, and a file to be kept.
    """
    try:
        typer.echo(text if as_it_is else visible(text), nl=line_break)
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - Python flushes it when it ends
        raise SystemExit(READ_ENOUGH) from None


def say_aside(text: str, *, line_break: bool = True) -> None:
    """Print on standard error, beside the result."""
    typer.echo(visible(text), err=True, nl=line_break)


def emit(document: Any, text: str | Callable[[], str], *, as_json: bool, is_file: bool = False) -> None:
    """Print a result: one JSON document with `--json`, else words, or a file (`is_file`).

    A file is printed as it is, but on a terminal as words are: nobody keeps it there.
    """
    if as_json:
        _emit_json(document)
    else:
        say(text if isinstance(text, str) else _for_terminal(text), as_it_is=is_file and not sys.stdout.isatty())


def _for_terminal(text: Callable[[], str]) -> str:
    """The words, their tables no wider than the terminal where standard output is one, or than COLUMNS says.

    A pipe and a file have no width: a row is one line there, for `grep` and what else reads lines.
    """
    width = _width()
    if not width:
        return text()
    from exports.drawing.terminal import LINE

    before = LINE.set(width)
    try:
        return text()
    finally:
        LINE.reset(before)


def _width() -> int:
    """How wide what is written may be: as COLUMNS says, or the terminal is; 0 where it has no width."""
    return shutil.get_terminal_size(fallback=(80 if sys.stdout.isatty() else 0, 24)).columns


def needs_in_words(needs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What waits for a study's researcher (`Need.to_json`), a line each with what ends it; empty where nothing does."""
    said = []
    for need in needs:
        ends = f"{need['ends_it']}: {need['command']}" if need["command"] else f"{need['ends_it']}, in the browser"
        said.append(f"- {'at least ' if need['at_least'] else ''}{need['words']}. {ends}")
    return ["", "waits for the researcher:", as_lines(said)] if said else []


def emit_error(
    message: str, kind: str, *, as_json: bool, said: bool = False, details: Mapping[str, Any] | None = None
) -> None:
    """Say what went wrong on standard error (unless `said` already), and with `--json` on standard output as well.

    `details` are what the JSON says besides.
    """
    if not said:
        say_aside(f"Error: {message}")
    if as_json:
        _emit_json({"error": message, "kind": kind, **(details or {})})


def _emit_json(document: Any) -> None:
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    say(orjson.dumps(document, option=options).decode(), line_break=False, as_it_is=True)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, decimals: int = 4) -> str:
    """Rows under headers, in columns; numbers to the right with so many decimals, None as a dash."""
    from exports.drawing.terminal import in_columns

    given = [list(row) for row in rows]
    if not given:
        return "(none)"
    numeric = [
        all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in column)
        for column in zip(*given, strict=True)
    ]
    return in_columns(headers, [[_cell(value, decimals) for value in row] for row in given], numeric)


def _cell(value: Any, decimals: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return visible(" ".join(str(value).split())) or "–"


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error while the block runs, moved by calling what is given with (done, of).

    Nothing is written unless standard error is a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    with typer.progressbar(length=1, label=label, file=sys.stderr, show_pos=True) as bar:

        def move(done: int, of: int) -> None:
            bar.length = max(of, 1)
            bar.update(done - bar.pos)

        yield move


@contextmanager
def working(label: str) -> Iterator[None]:
    """A line on standard error from the first moment of work whose end nobody can tell; it goes when the block ends.

    Nothing is written unless standard error is a terminal.
    """
    shown = f"{label} …"
    if sys.stderr.isatty():
        say_aside(shown, line_break=False)
    try:
        yield
    finally:
        if sys.stderr.isatty():
            typer.echo("\r" + " " * len(shown) + "\r", err=True, nl=False)
