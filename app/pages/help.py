"""Help: the user's guide, which is the Markdown files in docs/, one at a time."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path

import streamlit as st

from app import navigation, ui
from app.settings import ROOT
from app.widgets import blocks

DOCS = ROOT / "docs"
FIRST = "index"

# The contents are links to this very page, which Streamlit would mark as the current one all at once.
_STYLE = """
.st-key-help-contents a { background: transparent !important; padding: 3px 0; }
.st-key-help-contents a p { color: var(--assay-soft); font-weight: 400; }
.st-key-help-contents a:hover p, .st-key-help-contents a strong { color: var(--assay-accent); }
"""

_LINK = re.compile(r"\[([^\[\]\n]+)\]\(([a-z0-9-]+)\.md(#[\w-]+)?\)")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


_RANGE = re.compile(r"(?<=\d)–(?=\d)")


def page() -> None:
    """Draw the page for `?page=NAME`, the index without one."""
    blocks.style()
    titles = contents()
    if FIRST not in titles:
        ui.heading("Help")
        ui.empty("The guide is not installed.", "It is the folder docs/ of the program; install it again.")
        return
    asked = st.query_params.get("page", FIRST)
    name = asked if asked in titles else FIRST
    left, right = st.columns([1, 4], gap="large")
    st.html(f"<style>{_STYLE}</style>")
    with left, st.container(key="help-contents", gap=None):
        for page_name, title in titles.items():
            label = f"**{ui.plain(title)}**" if page_name == name else ui.plain(title)
            st.page_link(navigation.find("help"), label=label, query_params={"page": page_name})
    with right:
        if asked not in titles:
            st.warning(f"There is no page {ui.plain(asked)} in the guide. This is its beginning.")
        # The guide is the program's own text; nothing of what people type comes here.
        text = _RANGE.sub("\u2060–\u2060", _text(name))  # no line ends within a range of figures
        st.markdown(_with_links(text, titles), unsafe_allow_html=True)


@cache
def contents() -> dict[str, str]:
    """The pages of the guide by name with their titles: those that the index names in its order, then the others."""
    names = {path.stem for path in DOCS.glob("*.md")}
    listed = [found[1] for found in _LINK.findall(_text(FIRST))] if FIRST in names else []
    ordered = dict.fromkeys([*([FIRST] if FIRST in names else []), *listed, *sorted(names)])
    return {name: _title(name) for name in ordered if name in names}


@cache
def _text(name: str) -> str:
    return Path(DOCS / f"{name}.md").read_text(encoding="utf-8")


def _title(name: str) -> str:
    first = _text(name).lstrip().split("\n", 1)[0]
    return first.removeprefix("# ").strip() if first.startswith("# ") else name.replace("-", " ").capitalize()


def _with_links(text: str, titles: dict[str, str]) -> str:
    """Links to other files of the guide become links to this page; code is left as it is."""

    def replaced(found: re.Match[str]) -> str:
        label, name, place = found.groups()
        if name not in titles:
            return label
        return f'<a href="{escape(blocks.address("help", page=name))}{place or ""}" target="_self">{escape(label)}</a>'

    return "".join(part if part.startswith("`") else _LINK.sub(replaced, part) for part in _CODE.split(text))
