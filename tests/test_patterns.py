"""No regular expression, and no function over people's texts, takes more than linear time in a text's length.

Texts come from anybody who may type a comment or hand in a file; a pattern that is quadratic in them stops the process
for everybody. Every pattern in the source is found and timed on hostile texts of doubling length.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from annotators.items.sentences import sentences
from annotators.pages.normal import normalise
from annotators.scorers.shared.words import answer_form, plain, words
from exports.cells import original, safe
from exports.drawing.tables import TextTable, as_csv, as_markdown

ROOT = Path(__file__).parent.parent
FOLDERS = ("annotators", "db", "exports", "app")
METHODS = ("search", "match", "fullmatch", "sub", "split", "findall", "finditer")

SHORT = 4_000
LONG = 16_000
ENOUGH_TO_MEASURE = 0.01
"""Seconds; a quadratic pattern needs 0.04 and more for a text of SHORT characters, and 0.6 for one of LONG."""

UNITS = (
    *"a1.,;: \n\t'\"-_=[]()<>|*`#\\!$%/&°…“«„‘「。、\u3042\u0627\u0301\u00a0",
    "1,", "1 ", "1'", "1.", "111,", "111 ", "1,11", "1:", "11:11:", "[1,", "![", "![](", "](", "<a", "<PIC", "a ",
    "A. ", "e.g. ", ". ", ".'", ".\"", "it ", "it", " and ", " the ", "/ 1", " [", "0.", "a_", "claim:", "page:1:", "|",
    "'=", ";'", "- ", "\"a\"  ", "1 m ", "per cent ", "-----",
)  # fmt: skip

WITHOUT_A_TEXT_OF_THEIR_OWN = {
    # made from a value: of one field name, of an indentation, of the characters of Streamlit's own page, of a control
    ("exports/reading/json_files.py", "element_lines"),
    ("exports/reading/json_files.py", "_indented_lines"),
    ("app/server/middleware.py", "content_security_policy"),
    ("exports/label_studio/theirs/asked.py", "_names_in_results"),
    # made of a key, and held to its time by a test of its own: tests/judging/test_hostile_server.py
    ("annotators/servers/secret.py", "_compiled"),
}


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and how it is used."""

    path: str
    line: int
    pattern: re.Pattern[str] | re.Pattern[bytes]
    method: str


def _modules() -> list[str]:
    return [
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "import re\n" in path.read_text("utf-8")
    ]


MODULES = _modules()
"""Those with patterns, which their tests look at: while collecting, each worker would look at those of all."""


def _methods_of(tree: ast.Module, name: str) -> set[str]:
    """How a pattern that is kept under a name is used in its module."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    } & set(METHODS)


def _uses(tree: ast.Module, call: ast.Call, function: str) -> set[str]:
    if function != "compile":
        return {function}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.value is call:
            return {node.attr}
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Name):
            return _methods_of(tree, node.targets[0].id)
    return {attribute for name in METHODS for attribute in [name] if f".{name}(" in ast.unparse(tree)}


@cache
def patterns(path: str) -> list[Found]:
    """The patterns of a module."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    module = importlib.import_module(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = []
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
            continue
        if not (isinstance(call.func.value, ast.Name) and call.func.value.id == "re"):
            continue
        if call.func.attr not in (*METHODS, "compile"):
            continue
        inside = {made.name for made in functions if made.lineno <= call.lineno <= (made.end_lineno or 0)}
        if any((path, name) in WITHOUT_A_TEXT_OF_THEIR_OWN for name in inside):
            continue
        source = ast.Expression(call.args[0])
        given = eval(compile(source, path, "eval"), vars(module))
        flags = 0
        if call.func.attr == "compile" and len(call.args) > 1:
            flags = eval(compile(ast.Expression(call.args[1]), path, "eval"), vars(module))
        pattern = given if isinstance(given, re.Pattern) else re.compile(given, flags)
        found += [Found(path, call.lineno, pattern, how) for how in sorted(_uses(tree, call, call.func.attr))]
    return found


def _hostile(extra: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """(beginning, what is repeated, end) of texts."""
    for unit in dict.fromkeys((*UNITS, *extra)):
        for start, end in (("", ""), ("[1.", "x\x00")):
            yield start, unit, end


def _text(start: str, unit: str, end: str, length: int) -> str:
    return start + unit * (length // len(unit)) + end


def _seconds(run: Callable[[str], object], text: str, times: int = 1) -> float:
    best = float("inf")
    for _ in range(times):
        begin = time.process_time()  # not of the wall: other processes may be at work
        run(text)
        best = min(best, time.process_time() - begin)
    return best


def _assert_linear(run: Callable[[str], object], extra: tuple[str, ...] = (), where: str = "") -> None:
    for parts in _hostile(extra):
        if _seconds(run, _text(*parts, SHORT)) < ENOUGH_TO_MEASURE:
            continue
        for times in (3, 15):  # more where it looks bad: two threads of a processor take turns
            half, whole = (_seconds(run, _text(*parts, length), times) for length in (LONG // 2, LONG))
            if whole < 10 * ENOUGH_TO_MEASURE or whole < 3 * half:
                break
        else:
            pytest.fail(f"{where}{parts!r}: {half:.3f} s for {LONG // 2} characters, {whole:.3f} s for twice as many")


def _runner(found: Found) -> Callable[[str], object]:
    pattern: re.Pattern[Any] = found.pattern
    of_bytes = isinstance(pattern.pattern, bytes)
    method: Callable[..., Any] = getattr(pattern, found.method)

    def run(text: str) -> object:
        given = text.encode() if of_bytes else text
        if found.method == "sub":
            return method(b"" if of_bytes else "", given)
        return sum(1 for _ in method(given)) if found.method == "finditer" else method(given)

    return run


def test_the_patterns_of_the_source_are_found() -> None:
    for path in (
        "exports/drawing/tables.py",
        "exports/cells.py",
        "annotators/pages/finding/phrases.py",
        "annotators/items/targets.py",
    ):
        assert patterns(path), path
    assert sum(len(patterns(path)) for path in MODULES) > 80


@pytest.mark.parametrize("path", MODULES)
def test_the_patterns_of_a_module_take_linear_time(path: str) -> None:
    for found in patterns(path):
        source = found.pattern.pattern
        literal = source.decode("latin-1") if isinstance(source, bytes) else source
        pairs = ("".join(pair) for pair in itertools.pairwise(re.sub(r"[\\^$?*+()]", "", literal)[:60]))
        words = re.findall(r"[^\\^$?*+(){}\[\].|]{3,12}", literal)[:10]
        _assert_linear(_runner(found), (*pairs, *words), f"{path}:{found.line} ({found.method}): ")


@pytest.mark.parametrize(
    "function",
    [
        sentences,
        words,
        plain,
        answer_form,
        normalise,
        safe,
        original,
        lambda text: as_csv(TextTable.of("t", ("a",), [(text,)])),
        lambda text: as_markdown(TextTable.of("t", ("a",), [(text,)])),
    ],
    ids=["sentences", "words", "plain", "answer_form", "normalise", "safe", "original", "as_csv", "as_markdown"],
)
def test_a_function_over_texts_takes_linear_time(function: Callable[[str], object]) -> None:
    _assert_linear(function)


@pytest.mark.slow
def test_the_test_notices_a_quadratic_pattern() -> None:
    with pytest.raises(pytest.fail.Exception, match="twice as many"):
        for _ in range(3):  # beside others it may look better than it is, which is what a test of a pattern is to do
            _assert_linear(re.compile(r"\d+x").search)
