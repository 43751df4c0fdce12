"""The browser's parser of Markdown, run by node: nothing of a text is lost, and it takes little time."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT

DATA = ROOT.parent / "shared" / "data"
SCRIPT = ROOT / "tests" / "js" / "parse_texts.js"
TAGS = re.compile(r"</?(?:table|thead|tbody|tfoot|tr|td|th|sub|sup)(?:\s[^<>]*)?/?>", re.IGNORECASE)
WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Parsed:
    """What the parser says of a text; places are counted in UTF-16 units, as JavaScript does."""

    raw: bool
    plain: bool
    pieces: list[tuple[int, int]]
    formulas: list[str]
    kinds: dict[str, int]
    took: float


Parse = Callable[[str], Parsed]


@pytest.fixture(scope="module")
def parse(node: str) -> Iterator[Parse]:
    with subprocess.Popen([node, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:

        def parsed(text: str) -> Parsed:
            assert running.stdin
            assert running.stdout
            running.stdin.write(json.dumps(text) + "\n")
            running.stdin.flush()
            found: dict[str, Any] = json.loads(running.stdout.readline())
            return Parsed(**{**found, "pieces": [(start, end) for start, end in found["pieces"]]})

        yield parsed
        running.terminate()


def units(text: str) -> list[str]:
    """The UTF-16 units of a text."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), 2)]


def assert_nothing_is_lost(text: str, parsed: Parsed) -> None:
    """Every character is in one piece, in order, or is a sign, a space or a tag of a table."""
    if parsed.raw:
        return
    signs = units(text)
    assert all(0 <= start < end <= len(signs) for start, end in parsed.pieces)
    assert all(piece[1] <= following[0] for piece, following in pairwise(parsed.pieces)), "pieces lie over each other"
    covered = [False] * len(signs)
    for start, end in parsed.pieces:
        covered[start:end] = [True] * (end - start)
    left = "".join("\x00" if inside else sign for sign, inside in zip(signs, covered, strict=True))
    lost = WORDS.findall(TAGS.sub(" ", left.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")))
    assert lost == [], text[:200]


SIGNS = [*"*_`~$[]()!<>|&#-+.:\\\n\t \r1aZ9é日ب😀", "**", "$$", "\n\n", "- ", "1. ", "> ", "```\n", "word ", "# "]
PARTS = [
    "| a | b |\n|---|---|\n",
    "\\(",
    "\\)",
    "\\[",
    "\\]",
    "<br>",
    "<sub>",
    "</sub>",
    "<PIC>",
    "![x](y)",
    "[x](y z)",
]
MORE = ["&amp;", "&#x41;", "x^2", "\\frac{1}{2}", "\u202e", "\n    ", "\n  - "]
TABLES = ["<table>", "</table>", "<tr>", "</tr>", "<td>", "<th colspan=2>", "</td>"]
PIECES = st.sampled_from([*SIGNS, *PARTS, *MORE, *TABLES])
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=80))


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_every_character_is_in_one_place_or_is_markup(parse: Parse, text: str) -> None:
    assert_nothing_is_lost(text, parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "It cost $5 to $7.",
        "They spend $15 on this for every $1 spent on that (DJJ 2016).",
        "HK$23.7 million, then HK$16.3 million, and US$ 7.",
        "an $8\"$ line",
        "2 * 3 * 4, 5*3*2, snake_case_name in ~5 % of ~7",
        "a line\n    an indented one\nTitle\n=====\n\n[1] and [2](see there) and (x)[y]",
        "a < b > c & d; <b>bold</b> <script>alert(1)</script>",
        "#5 of 7\n-5 degrees\n1986 was warm",
        "C:\\new\\table and \\x",
    ],
)  # fmt: skip
def test_prose_is_left_as_it_is(parse: Parse, text: str) -> None:
    assert parse(text).plain


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("Where $x$ and $n = 5$.", ["x", "n = 5"]),
        ("$\\alpha = -1$, \\(\\frac{1}{2}\\) and \\[ x = y \\]", ["\\alpha = -1", "\\frac{1}{2}", " x = y "]),
        ("$$\na + b\n- c\n$$\nafter", ["\na + b\n- c\n"]),
        ("\\[1\\] and \\(see there\\)", []),
        ("`$x$` and \\$x\\$", []),
        ("$x $ and $ x$ and a$x$ and $x$1", []),
        ("$\\href{javascript:alert(1)}{x}$ $\\includegraphics{http://x.example/y}$", []),
        ("$" + "{" * 40 + "x" + "}" * 40 + "$", []),
        ("$" + "x+" * 1500 + "x$", []),
    ],
)
def test_formulas_are_told_from_money_and_brackets(parse: Parse, text: str, formulas: list[str]) -> None:
    assert parse(text).formulas == formulas


MANY = [
    "*",
    "_",
    "`",
    "[",
    "]",
    "(",
    "![",
    "](",
    "|",
    "<",
    "&",
    "$",
    "$$ ",
    "\\(",
    "\\[",
    "> ",
    "- ",
    "#",
    "~~a",
    "*a ",
]
MANY += [
    "**a** ",
    "*a_",
    "<table>",
    "<tr><td>",
    "<sub>",
    "</sub>",
    "\n|a|b|\n|-|-|",
    "\n1. x",
    "```\n",
    "\\begin{array}",
]
MANY += ["\u202e", " ", "\t", "😀*", "a*b ", "[x](", "<br", "&#"]


@pytest.mark.by_the_clock
@pytest.mark.parametrize("sign", MANY)
def test_a_hundred_thousand_signs_take_no_time_that_anybody_notices(parse: Parse, sign: str) -> None:
    text = sign * (100_000 // len(sign))
    parsed = parse(text)
    assert parsed.took < 1500  # measured: at most 300 ms; the machine may be busy
    assert_nothing_is_lost(text, parsed)


def real_texts() -> list[str]:
    """Every text of the data that the project is tried with, each once."""
    texts: dict[str, None] = {}

    def walk(found: Any) -> None:
        if isinstance(found, str):
            texts[found] = None
        elif isinstance(found, dict):
            for value in found.values():
                walk(value)
        elif isinstance(found, list):
            for value in found:
                walk(value)

    for path in sorted(DATA.glob("**/*.json*")):
        lines = path.read_text(encoding="utf-8").splitlines() if path.suffix == ".jsonl" else [path.read_text("utf-8")]
        for line in lines:
            walk(json.loads(line))
    return list(texts)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real data are not beside the checkout")
def test_nothing_of_a_real_text_is_lost_and_each_takes_a_moment(parse: Parse) -> None:
    texts = real_texts()
    assert len(texts) > 10_000
    times, rendered, kinds = [], 0, set()
    for text in texts:
        parsed = parse(text)
        assert not parsed.raw, text[:200]
        assert_nothing_is_lost(text, parsed)
        times.append(parsed.took)
        rendered += not parsed.plain
        kinds |= set(parsed.kinds)
    assert rendered > 1000
    assert kinds >= {"table", "heading", "list", "strong", "formula", "code", "picture", "quote"}
    assert sum(times) / len(times) < 2  # milliseconds; measured 0.2
