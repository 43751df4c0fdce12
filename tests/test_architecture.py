"""The rules of the house: who imports whom, where Streamlit and SQL may be, which packages are shipped."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

ORDER = ["app", "exports", "db", "annotators"]
FILES = sorted(path for folder in ORDER for path in (ROOT / folder).rglob("*.py"))
OUTSIDE_SQL = {"sqlalchemy", "sqlmodel", "sqlite3", "psycopg", "alembic"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


class Read(NamedTuple):
    """What the rules look at in a file: its docstring, and its imports with those that are for types alone."""

    docstring: str
    imports: tuple[tuple[ast.Import | ast.ImportFrom, bool], ...]


@cache
def read(path: Path) -> Read:
    """A file, parsed once for all rules: parsing all of them takes longer than all that is asked of them."""

    def statements(node: ast.AST, *, for_types: bool = False) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                yield child, for_types
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                only = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
                yield from statements(child, for_types=for_types or only)

    parsed = ast.parse(path.read_text())
    return Read(ast.get_docstring(parsed) or "", tuple(statements(parsed)))


def imported(path: Path) -> set[str]:
    """Every module that a file imports, wherever in the file."""
    modules: set[str] = set()
    for statement, _ in read(path).imports:
        if isinstance(statement, ast.Import):
            modules.update(alias.name for alias in statement.names)
        elif statement.module and statement.level == 0:
            modules.add(statement.module)
    return modules


# Each rule is one test that names every file which breaks it: a test a file and rule took half a minute.


def test_a_folder_imports_only_from_those_to_its_right() -> None:
    wrong = {}
    for path in FILES:
        own = path.relative_to(ROOT).parts[0]
        used = {module.split(".")[0] for module in imported(path)}
        if leftward := used & {"tests", *ORDER[: ORDER.index(own)]}:
            wrong[name(path)] = leftward
    assert wrong == {}


def test_streamlit_is_imported_only_in_app_and_sql_only_in_db_and_exports() -> None:
    wrong = {}
    for path in FILES:
        own = path.relative_to(ROOT).parts[0]
        forbidden = set() if own == "app" else {"streamlit"}
        if own in ("app", "annotators"):
            forbidden |= OUTSIDE_SQL
        if found := {module.split(".")[0] for module in imported(path)} & forbidden:
            wrong[name(path)] = found
    assert wrong == {}


def test_exports_only_read() -> None:
    writing = re.compile(r"\b(INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|db\.write\(\)|session\.add\(")
    files = [path for path in FILES if path.is_relative_to(ROOT / "exports")]
    assert files
    assert {name(path): found[0] for path in files if (found := writing.search(path.read_text()))} == {}


def test_only_settings_read_the_environment() -> None:
    readers = [name(path) for path in FILES if re.search(r"os\.environ|os\.getenv|getenv\(", path.read_text())]
    makers = {
        "annotators/pages/documents/renderer.py",
        "annotators/scorers/shared/embedder.py",
        "app/worker/process.py",
    }
    assert set(readers) <= {"app/settings.py", *makers}, (
        "app/settings.py reads the environment; renderer.py and process.py make the one their processes get, and "
        "embedder.py tells the model's library to stay offline"
    )


def test_a_module_begins_with_a_sentence_that_says_what_lives_there() -> None:
    said = {path: read(path).docstring.split("\n\n")[0].strip() for path in FILES}
    wrong = [name(path) for path, words in said.items() if not re.search(r"[.:]$|[.:]\n", words + "\n")]
    assert wrong == []


@cache
def _imports() -> dict[str, set[str]]:
    """Module → the modules of ours that it imports, anywhere in the file but for types alone."""
    modules = {_module(path): path for path in FILES}
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        names: set[str] = set()
        for statement, for_types in read(path).imports:
            if for_types:
                continue
            if isinstance(statement, ast.Import):
                names |= {alias.name for alias in statement.names}
            else:
                of = statement.module or ""
                names |= {inner if (inner := f"{of}.{alias.name}") in modules else of for alias in statement.names}
        found[module] = {name for name in names if name in modules and name != module}
    return found


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Things that import themselves by way of others: those that are reached from what they reach."""
    reached: dict[str, set[str]] = {}
    for start, first in graph.items():
        seen: set[str] = set()
        waiting = [*first]
        while waiting:
            thing = waiting.pop()
            if thing not in seen:
                seen.add(thing)
                waiting += graph.get(thing, ())
        reached[start] = seen
    found = {tuple(sorted(other for other in reached[thing] if thing in reached[other])) for thing in graph}
    return sorted(list(circle) for circle in found if circle)


def test_no_file_imports_itself_by_way_of_others() -> None:
    assert _circles(_imports()) == []


def test_no_room_imports_itself_by_way_of_others() -> None:
    """A folder and what lies in it are one house: its own files may use its rooms, and these the folder's files."""
    folders = {_module(path): ".".join(path.relative_to(ROOT).parts[:-1]) for path in FILES}
    graph: dict[str, set[str]] = {folder: set() for folder in folders.values()}
    for module, names in _imports().items():
        here = folders[module]
        for there in (folders[name] for name in names):
            if not f"{here}.".startswith(f"{there}.") and not f"{there}.".startswith(f"{here}."):
                graph[here].add(there)
    assert _circles(graph) == []


CATALOGUES = {
    "annotators/protocols",
    "annotators/scorers",
    "app/cli",
    "app/pages",
    "db/migrations/versions",
    "exports/formats",
    "exports/results",
}
"""One file a protocol, a metric, a group of commands, a page, a migration, a format, a report: as many as there are."""


def test_a_room_has_about_fifteen_files() -> None:
    sizes = Counter(path.parent.relative_to(ROOT).as_posix() for path in FILES if path.name != "__init__.py")
    assert {room: n for room, n in sizes.items() if n > 16 and room not in CATALOGUES} == {}


def test_every_package_is_listed_for_setuptools() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    there = {".".join(path.parent.relative_to(ROOT).parts) for path in FILES}
    assert listed == there


def test_every_dependency_has_its_reason_in_contributing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    words = (ROOT / "CONTRIBUTING.md").read_text()
    extras = [room for group in project["optional-dependencies"].values() for room in group]
    for requirement in [*project["dependencies"], *extras]:
        package = re.split(r"[\[<>=;, ]", requirement)[0]
        if package == project["name"]:
            continue  # the development extra takes the others in
        assert f"`{package}`" in words, f"CONTRIBUTING.md does not say why {package} is used"


def test_nothing_names_a_path_or_a_host_of_the_machine_it_was_made_on() -> None:
    suspects = re.compile(r"/work/|/root/|/opt/pypi|file:///opt")
    for path in [*FILES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]:
        if path == Path(__file__):
            continue
        assert not suspects.search(path.read_text()), name(path)


@pytest.mark.slow
def test_the_web_process_loads_no_embedding_model() -> None:
    code = (
        "import sys\nimport app.server.application, app.cli\nfrom app.navigation import load_pages\nload_pages()\n"
        "print([name for name in ('torch', 'sentence_transformers', 'cv2', 'dask') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


@pytest.mark.slow
def test_the_server_answers_before_it_loads_what_only_pages_need(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom app.settings import Settings\n"
        "from app.server.application import create_app\n"
        f"from db.engine import Database\nfrom db.schema import migrate\nmigrate(Database('sqlite:///{tmp_path}/assay.db'))\n"
        "del sys.modules['alembic']\n"
        f"create_app(Settings.load({{}}, home=Path({str(tmp_path)!r})))\n"
        "slow = ('numpy', 'pandas', 'scipy', 'altair', 'pyarrow', 'pymupdf', 'torch', 'alembic', "
        "'db.upkeep.soundness')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


@pytest.mark.skipif(not list((ROOT / ".venv").glob("compiled-*")), reason="this environment is not of `make setup`")
def test_what_the_server_loads_at_its_start_is_compiled_when_it_is_set_up() -> None:
    """Installers that leave packages uncompiled, and PYTHONDONTWRITEBYTECODE, cost 1.5 s at every start.

    What the tests compile does not count.
    """
    code = (
        "import sys\nimport app.server.application, app.cli.home, db.people.accounts, alembic.command\n"
        "import streamlit.starlette\n"
        "from pathlib import Path\n"
        "files = {name: getattr(module, '__cached__', None) for name, module in sorted(sys.modules.items())}\n"
        "(done,) = Path('.venv').glob('compiled-*')\n"
        "there = lambda file: Path(file).exists() and Path(file).stat().st_mtime <= done.stat().st_mtime\n"
        "print(len(files), *[name for name, file in files.items() if file and not there(file)])"
    )
    done = subprocess.run(
        [ROOT / ".venv" / "bin" / "python", "-B", "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    n, *uncompiled = done.stdout.split()
    assert int(n) > 500
    assert not [name for name in uncompiled if name.split(".")[0] not in ORDER]  # ours change after `make setup`


def _distributions(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requirements}  # type: ignore[index]


def test_every_package_that_is_imported_is_declared() -> None:
    """What comes only because another package needs it is gone the day that package does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = _distributions(project["dependencies"])
    declared |= _distributions(
        [package for extra in ("ocr", "dask", "labelstudio") for package in project["optional-dependencies"][extra]]
    )
    providers = importlib.metadata.packages_distributions()
    providers["pydantic_core"] = ["pydantic"]  # a part of it, with types of its own
    missing = {}
    for path in FILES:
        for module in {module.split(".")[0] for module in imported(path)} - set(ORDER) - sys.stdlib_module_names:
            given = {package.lower() for package in providers.get(module, [module])}
            if not given & declared:
                missing[module] = name(path)
    assert missing == {}


def test_figures_alone_import_nothing_that_draws_plots() -> None:
    heavy = ("altair", "pandas", "vl_convert", "streamlit", "pyarrow")
    code = (
        "import sys, exports.agreement.report, exports.alignment.report, exports.agreement.rating_tables\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]", "they are imported when a plot is drawn: exports and annotators/later.py"


def test_no_test_waits_for_a_promise_that_is_there_at_once() -> None:
    """Playwright's wait_for_function takes the promise of an async function for its answer, and does not wait."""
    wrong = [
        name(path)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if re.search(r"wait_for_function\(\s{0,200}[rf]?[\"']{1,3}\s{0,200}async\b", path.read_text())
    ]
    assert wrong == []


def test_what_a_stranger_sends_comes_through_one_door() -> None:
    """Only `app/uploads.py` has uploaded bytes: what it gives to others is read by processes of their own.

    So that a new reader cannot forget it, pages get a path at which there is no file; `exports/reading/uploaded.py`
    says how a reader is entered, and `tests/exports/reading/test_bombs.py` asks for its bomb.
    """
    asks = re.compile(r"\b(file_uploader|camera_input|audio_input|accept_file|getbuffer|getvalue|UploadedFile)\b")
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        if asks.search(path.read_text()) and "server" not in path.parts
    }
    assert found == {"app/uploads.py"}
