"""What is wrong with a request in itself: names of formats and scales, files, folders, endings.

The operations ask this when they begin, and the command line before it imports anything large, so that a wrong word is
refused at once and in the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from annotators.errors import Conflict, InvalidInput, NotFound, shown

REPORTS = (".html", ".md", ".tex")
SCORES = (".jsonl", ".parquet")
ENGINES = ("local", "dask")
INFERABLE = ("nominal", "ordinal", "interval")
"""The scales that a protocol can be inferred with."""

MAY_BE_INFERRED = "With --infer it is made from the table."
"""What a study that is not there can be answered with, where a table of its labels is."""

SAID = ("nominal", "ordinal", "interval", "ratio", "ranking", "spans")
"""The scales that can be said of the ratings of a table; other JSON arrays are sets."""


def place_at(path: Path | str) -> Path:
    """The path with the home folder that a `~` at its beginning stands for; InvalidInput where there is none."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"{path}: {error} Write the folder out.") from None


def check_utf8(names: Iterable[str]) -> None:
    """InvalidInput for the first name whose bytes are no UTF-8: it could be neither kept nor printed."""
    for name in names:
        printed = name.encode(errors="replace").decode()
        if printed != name:
            said = shown(printed, most=200)
            raise InvalidInput(f"The name {said} is not UTF-8. Rename the file or folder, or write it in UTF-8.")


def check_there(paths: Iterable[Path | str]) -> None:
    """NotFound for the first path at which there is nothing."""
    for path in map(Path, paths):
        if not path.exists():
            raise NotFound(f"There is no file or folder {str(path)!r}. Check the path.")


def check_report(path: Path) -> str:
    """The ending of a report's file; InvalidInput when no report has it."""
    ending = path.suffix.lower()
    if ending not in REPORTS:
        raise InvalidInput(f"{path.name} ends with {ending or 'nothing'!r}. A report ends with {', '.join(REPORTS)}.")
    return ending


REPORT_NUMBERS = "report/numbers.csv"
"""Where an export has every number of its report by its name."""

DATASET_FORMATS = {"latex": ".tex", "html": ".html", "md": ".md"}
"""Format of a dataset's report → the ending of its file."""


def check_dataset_formats(names: Sequence[str]) -> tuple[str, ...]:
    """The formats, each once; InvalidInput for another, and for none."""
    for name in names:
        if name not in DATASET_FORMATS:
            raise InvalidInput(f"{name!r} is no format of this report. Known: {', '.join(DATASET_FORMATS)}.")
    if not names:
        raise InvalidInput(f"The report needs at least one format. Known: {', '.join(DATASET_FORMATS)}.")
    return tuple(dict.fromkeys(names))


def check_export_folder(to: Path) -> None:
    """Conflict for a folder that holds something, or a file in its place."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise Conflict(f"{to} is there already and not empty. Choose another folder, or remove it.")


def check_scores_file(output: Path) -> None:
    """InvalidInput for a file of scores with another ending, or in no folder; Conflict when it is there."""
    if output.suffix not in SCORES:
        raise InvalidInput(f"{output.name!r} does not say what to write. End it in {' or '.join(SCORES)}.")
    if output.exists():
        raise Conflict(f"{output} is there already. Name another file, or move it away.")
    if not output.parent.is_dir():
        raise InvalidInput(f"There is no folder {str(output.parent)!r}. Make it, or name another.")


def check_engine(name: str, address: str | None) -> None:
    """InvalidInput for an unknown engine, and for an address with the one that takes none."""
    if name not in ENGINES:
        raise InvalidInput(f"There is no engine {name!r}. Known: {', '.join(ENGINES)}.")
    if name == "local" and address:
        raise InvalidInput("An address is that of a Dask scheduler. Give --engine dask with it, or leave it out.")


def check_scale(word: str, hint: str = "") -> None:
    """InvalidInput for a scale that cannot be said of ratings."""
    if word not in SAID:
        raise InvalidInput(f"scale {word!r} is none of {', '.join(SAID)}.{hint}")


def check_inferable(scale: str) -> None:
    """InvalidInput for a scale that no protocol is inferred with."""
    if scale not in INFERABLE:
        raise InvalidInput(f"{scale!r} is not a scale that can be inferred. Known: {', '.join(INFERABLE)}.")


EVERY = ""
"""What stands for a criterion's name where own weights are for every criterion that they fit."""


def about_and_file(given: str) -> tuple[str, Path]:
    """The criterion (or `EVERY`) and the file of own weights, from `FILE` and `CRITERION=FILE`."""
    name, equals, file = given.partition("=")
    return (name.strip(), Path(file)) if equals and not Path(given).is_file() else (EVERY, Path(given))


def check_weights(given: Iterable[str]) -> None:
    """NotFound for a file of own weights that is not there."""
    for _, path in map(about_and_file, given):
        if not path.is_file():
            raise NotFound(f"There is no file {str(path)!r}. Check the path.")
