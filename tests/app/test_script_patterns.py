"""No regular expression in the pages' scripts takes more than linear time: they meet whatever texts are imported.

The same for Python is in tests/test_patterns.py. Each literal is found and timed by node on texts of doubling length.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import IN_CI, ROOT
from tests.test_patterns import UNITS

SCRIPT = ROOT / "tests" / "app" / "time_patterns.mjs"
SOURCES = sorted((ROOT / "app").rglob("*.js"))
PIECES = (1, 2, 3, 4, 6)
"""Lengths of the pieces of a pattern that are repeated."""

ENDS = ("", "x\x00", "\n", "`")

Ask = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Found:
    """A regular expression, and where it stands."""

    place: str
    source: str
    flags: str


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    node = shutil.which("node")
    if node is None:
        if IN_CI:
            pytest.fail("node is not installed, which CI must have")
        pytest.skip("no node found, so the scripts' patterns are not tried")
    with subprocess.Popen([node, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:

        def asked(request: dict[str, Any]) -> Any:
            assert running.stdin
            assert running.stdout
            running.stdin.write(json.dumps(request) + "\n")
            running.stdin.flush()
            return json.loads(running.stdout.readline())

        yield asked
        running.terminate()


@pytest.fixture(scope="module")
def patterns(ask: Ask) -> list[Found]:
    found = []
    for path in SOURCES:
        for pattern in ask({"find": path.read_text("utf-8")}):
            place = f"{path.relative_to(ROOT).as_posix()}:{pattern['line']}"
            found.append(Found(place, pattern["source"], pattern["flags"]))
    return found


def spelt_out(source: str) -> str:
    """A text of the pattern's own signs: one for each class, each group once."""
    text = re.sub(r"\{\d+(?:,\d*)?\}", "", source)
    text = re.sub(r"\(\?(?:[:=!]|<[=!])", "", text)
    text = re.sub(r"\[\^(?:\\.|[^\]\\])*\]", "a", text)
    text = re.sub(r"\[(\\?.)(?:\\.|[^\]\\])*\]", r"\1", text)
    text = re.sub(r"\\p\{[^}]*\}", "é", text)
    for sign, stands_for in {
        r"\d": "1",
        r"\s": " ",
        r"\S": "a",
        r"\w": "a",
        r"\b": "",
        r"\n": "\n",
        r"\t": "\t",
    }.items():
        text = text.replace(sign, stands_for)
    text = re.sub(r"(?<!\\)\.", "a", text)
    text = re.sub(r"(?<!\\)[\^$?*+()|]", "", text)
    return re.sub(r"\\(.)", r"\1", text)


def hostile(source: str) -> dict[str, list[str]]:
    """Texts that are nearly matched for long: pieces of the pattern, repeated, behind its beginning."""
    own = spelt_out(source)[:60]
    pieces = {own[at : at + n] for n in PIECES for at in range(len(own))}
    starts = dict.fromkeys(("", "```", own[:1], own[:5]))
    return {"starts": list(starts), "units": [*dict.fromkeys((*UNITS, *sorted(pieces - {""})))], "ends": list(ENDS)}


def repeats(source: str) -> bool:
    """Whether a part of it matches any number of signs; what does not is as long as it is, wherever it is tried."""
    without = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "a", source)
    return re.search(r"[*+]|\{\d+,\}", without) is not None


def timed(ask: Ask, source: str, flags: str = "") -> str | None:
    if not repeats(source):
        return None
    answer: dict[str, str | None] = ask({"time": {"source": source, "flags": flags}, **hostile(source)})
    return answer["slow"]


def test_the_patterns_of_the_scripts_are_found(ask: Ask, patterns: list[Found]) -> None:
    sources = {(pattern.place.rpartition("/")[2].partition(":")[0], pattern.source) for pattern in patterns}
    assert ("ask.js", r"^\d+$") in sources
    assert ("inline.js", "<(\\/?)(sub|sup)>") in sources
    assert ("html_table.js", "\\bword\\s*=\\s*[\"']?(\\d{1,3})") in sources
    # As many as a rough look at the lines finds: what follows a bracket, a comma or an equals sign.
    rough = re.compile(
        r"(?:[(=,!&|?:\[]\s?|return )/(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n\[])+/[a-z]*(?=[\s.,;)\]])"
    )
    for path in SOURCES:
        name = path.relative_to(ROOT).as_posix()
        here = [pattern for pattern in patterns if pattern.place.startswith(f"{name}:")]
        lines = [
            line for line in path.read_text("utf-8").splitlines() if not line.lstrip().startswith(("*", "/*", "//"))
        ]
        assert len(here) >= sum(len(rough.findall(line)) for line in lines), name
    assert len(patterns) > 60
    comment = "// it's `x /a/\nconst a = b / c / d; /* /e/ */ const f = `${g.replace(/`/g, h ? '}' : /\\/[/]i/u)} /j/`;"
    assert [(pattern["source"], pattern["flags"]) for pattern in ask({"find": comment})] == [
        ("`", "g"),
        ("\\/[/]i", "u"),
    ]


def test_patterns_of_the_scripts_take_linear_time(ask: Ask, patterns: list[Found]) -> None:
    slow = [
        (pattern.place, pattern.source, said)
        for pattern in patterns
        if (said := timed(ask, pattern.source, pattern.flags))
    ]
    assert not slow, "\n".join(map(str, slow))
    assert sum(repeats(pattern.source) for pattern in patterns) > 20


@pytest.mark.parametrize("source", [r"\d+x", r"^page:(.*):(\d+)(?:\|hop:(.*))?$", r"^[ \t]*(`{3,})[ \t]*([^`\n]*)$"])
def test_the_test_notices_a_quadratic_pattern(ask: Ask, source: str) -> None:
    assert "twice as many" in (timed(ask, source) or "")
