"""What commands print: JSON documents, aligned tables, errors, and progress on a terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

READ_ENOUGH = 141
"""Exit code of a command whose output nobody reads on: what shells give one that the signal SIGPIPE ended."""


def say(text: str, *, line_break: bool = True) -> None:
    """Print on standard output; the command ends where whoever read it has read enough, such as `head`."""
    try:
        typer.echo(text, nl=line_break)
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - Python flushes it when it ends
        raise SystemExit(READ_ENOUGH) from None


def emit(document: Any, text: str | Callable[[], str], *, as_json: bool) -> None:
    """Print a result: one JSON document with `--json`, else words."""
    if as_json:
        _emit_json(document)
    else:
        say(text if isinstance(text, str) else _for_terminal(text))


def _for_terminal(text: Callable[[], str]) -> str:
    """The words, their tables no wider than the terminal where standard output is one."""
    if not sys.stdout.isatty():
        return text()
    from exports.drawing.tables import LINE

    before = LINE.set(shutil.get_terminal_size().columns)
    try:
        return text()
    finally:
        LINE.reset(before)


def emit_error(
    message: str, kind: str, *, as_json: bool, said: bool = False, details: Mapping[str, Any] | None = None
) -> None:
    """Say what went wrong on standard error (unless `said` already), and with `--json` on standard output as well.

    `details` are what the JSON says besides.
    """
    if not said:
        typer.echo(f"Error: {message}", err=True)
    if as_json:
        _emit_json({"error": message, "kind": kind, **(details or {})})


def _emit_json(document: Any) -> None:
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS
    say(orjson.dumps(document, option=options).decode(), line_break=False)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]], *, decimals: int = 4) -> str:
    """Rows under headers, in columns; numbers to the right with so many decimals, None as a dash."""
    from exports.drawing.tables import in_columns

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
    return " ".join(str(value).split()) or "–"


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
        typer.echo(shown, err=True, nl=False)
    try:
        yield
    finally:
        if sys.stderr.isatty():
            typer.echo("\r" + " " * len(shown) + "\r", err=True, nl=False)
