"""The JavaScript of our pages: its parts that draw nothing run in node, and its rooms keep the rules of the house.

What needs a browser is in tests/e2e. The unit tests are `tests/js/*.test.js`, for node's own test runner; each file is
one test here, and `node --test tests/js/outbox.test.js` runs one by itself.
"""

from __future__ import annotations

import json
import re
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from annotators.asking.submissions import GivenLabel, is_asked
from annotators.criteria import KINDS, Condition, Label
from annotators.criteria.choice import Choice
from tests.conftest import ROOT

WIDGETS = ROOT / "app" / "widgets"
MODULES = {path.relative_to(WIDGETS).as_posix(): path for path in sorted(WIDGETS.rglob("*.js"))}
IMPORT = re.compile(r"^(?:import|export) (?:[^;']*? from )?'(\.[^']+)'", re.MULTILINE)
KIND_LIST = "criteria/all.js"
"""Written by the server from the folder (app/server/assets.py)."""

ROOMS = [
    "shared",
    "criteria",
    "texts",
    "viewer/pages",
    "viewer",
    "reading/pairs",
    "reading",
    "frame",
    "annotate/judgement",
    "annotate",
]
"""Every room imports only from itself and from those before it; the pages that are beside each other come last."""
BESIDE = ["adjudicate", "bar", "copying", "revise"]
MOST_FILES = 15

CASES = json.loads((ROOT / "tests" / "data" / "asked_when.json").read_text())


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "js").glob("*.test.js")), ids=lambda path: path.stem)
def test_the_unit_tests_of_the_javascript_pass(node: str, path: Path) -> None:
    done = subprocess.run([node, "--test", str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_the_server_asks_by_the_same_rule_as_the_browser(case: dict[str, Any]) -> None:
    """tests/js/criteria.test.js holds app/widgets/criteria/when.js to the same cases."""
    when = Condition.model_validate(case["when"]) if case["when"] else None
    criterion = Choice(name="asked", title="Asked", labels=[Label(value="yes")], when=when)
    decided: list[list[Any]] = case["decided"]
    labels = {
        (name, target): GivenLabel(name, target, value, cannot_judge=more[0] if more else value is None)
        for name, target, value, *more in decided
    }
    assert is_asked(criterion, case["target"], labels) is case["asked"]


def test_every_kind_of_criterion_is_registered_in_the_browser(node: str) -> None:
    code = f"""
        import {{ loadKinds }} from './tests/js/browser.js';
        import {{ kindOf }} from './app/widgets/criteria/kinds.js';
        await loadKinds();
        for (const kind of {json.dumps(sorted(KINDS))}) kindOf({{ kind }});
    """
    done = subprocess.run(
        [node, "--input-type=module", "-e", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def imported(name: str) -> set[str]:
    """The modules that a module imports, by their places under app/widgets."""
    here = PurePosixPath(name).parent
    found = set()
    for address in IMPORT.findall(MODULES[name].read_text()):
        parts: list[str] = []
        for part in (*here.parts, *address.split("/")):
            if part == "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        found.add("/".join(parts))
    return found


def room(name: str) -> str:
    return PurePosixPath(name).parent.as_posix()


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter({name: imported(name) for name in MODULES}).prepare()


def test_every_import_is_a_file_that_is_there() -> None:
    assert {module for name in MODULES for module in imported(name)} <= {*MODULES, KIND_LIST}


@pytest.mark.parametrize("own", [*ROOMS, *BESIDE])
def test_a_room_imports_only_from_those_before_it(own: str) -> None:
    assert {room(name) for name in MODULES} == {*ROOMS, *BESIDE}
    used = {room(module) for name in MODULES if room(name) == own for module in imported(name)}
    shared = ROOMS[: ROOMS.index("annotate/judgement")]
    assert used <= {own, *(ROOMS[: ROOMS.index(own)] if own in ROOMS else shared)}


def test_a_room_has_no_more_files_than_one_can_look_over() -> None:
    for folder in {path.parent for path in MODULES.values()}:
        files = [path.name for path in folder.iterdir() if path.suffix in (".js", ".css", ".ts")]
        assert len(files) <= MOST_FILES, (folder, files)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_javascript_begins_with_a_sentence_that_says_what_lives_there(name: str) -> None:
    assert re.match(r"/\*\*\s(?:\s\* )?\S[^*]*?[.:]", MODULES[name].read_text()), name
