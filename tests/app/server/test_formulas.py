"""The formula renderer that comes with Streamlit: it is found, it is one module, and it is served to be kept."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from app.server.assets import KEEP, asset_url, assets
from app.server.formulas import RENDERER, formula_renderer
from tests.conftest import IN_CI

DRAW = """
const module = await import(process.argv[1]);
const katex = Object.values(module).find((exported) => typeof exported?.render === 'function');
const limits = { maxExpand: 200, maxSize: 20, trust: false, strict: 'ignore', output: 'mathml' };
process.stdout.write(katex.renderToString('\\\\frac{1}{2}', limits));
const bomb = '\\\\def\\\\a{\\\\b\\\\b}\\\\def\\\\b{\\\\a\\\\a}\\\\a';
try { katex.renderToString(bomb, limits); process.stdout.write('drawn'); } catch { process.stdout.write('refused'); }
"""


def test_the_installed_streamlit_has_a_renderer_and_it_is_served() -> None:
    module = formula_renderer()
    assert module is not None
    assert assets()[RENDERER].data == module
    assert asset_url(RENDERER).startswith("/assets/")
    assert "immutable" in KEEP


def test_it_draws_mathml_and_stops_at_macros_without_end(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        if IN_CI:
            pytest.fail("node is not installed, which CI must have")
        pytest.skip("no node found")
    path = tmp_path / "katex.mjs"
    path.write_bytes(formula_renderer() or b"")
    found = subprocess.run(
        [node, "--input-type=module", "-e", DRAW, str(path)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in found
    assert found.endswith("refused")


@pytest.mark.parametrize(
    "module",
    [
        'import{a}from"./b.js";var e="KaTeX parse error";export{e as default};',
        'var e="KaTeX parse error";',
        "export{e as default};",
    ],
)
def test_a_module_that_needs_others_or_is_another_one_is_not_taken(tmp_path: Path, module: str) -> None:
    folder = tmp_path / "static" / "static" / "js"
    folder.mkdir(parents=True)
    (folder / "katex.abc.js").write_text(module)
    assert formula_renderer(tmp_path) is None
