"""The program that draws formulas in the browser: KaTeX, as Streamlit's package carries it for its own Markdown.

Nothing of npm is shipped with us and nothing is fetched at run time, so it has to come as a file of a Python package.
This one is installed anyway, is kept up to date by its makers, and is one module without imports (MIT licence). Only
its MathML is used, which browsers draw by themselves: no style sheet and no font belongs to it.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

import streamlit

RENDERER = "formulas/katex.js"
"""Its path under /assets/."""

_PLACES = "static/static/js/katex*.js"
_SIGN = b"KaTeX parse error"
_IMPORTS = re.compile(rb"(?:^|[;}\n])import[ {*\"'`]|\bimport\(")
_EXPORTS = re.compile(rb"\bexport\s*\{[^{}]+\};?\s*$")

_log = logging.getLogger(__name__)


def formula_renderer(package: Path | None = None) -> bytes | None:
    """The module, looked for in the installed package (or another folder of the same shape) by what it says.

    Its file's name changes with every release. None where there is no such module, or where it needs others beside it:
    formulas then show as they were written.
    """
    folder = package or Path(streamlit.__file__).parent
    for path in sorted(folder.glob(_PLACES)):
        module = path.read_bytes()
        if _SIGN in module and not _IMPORTS.search(module) and _EXPORTS.search(module):
            return module
    _log.warning("No formula renderer in Streamlit %s: formulas show as they were written.", streamlit.__version__)
    return None
