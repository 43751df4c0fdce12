"""Two prompts side by side in one run of lines: what is only in the first, and what is only in the second."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

import streamlit as st

from annotators.asking.versioned import VersionedName
from annotators.judges.prompts import PROMPTS, AnyPrompt
from annotators.judges.prompts.comparing import ComparedLine, compared
from app import ui, wording
from app.widgets import blocks
from db.libraries import Entry
from db.projects import ProjectRow

_AROUND = 3
"""Lines that are the same which stay beside a change."""

_SIGNS = {"same": "", "removed": "−", "added": "+"}
_STYLE = """
.assay-lines-compared { font-family: monospace; font-size: 0.82rem; line-height: 1.5; border-collapse: collapse;
  width: 100%; border: 1px solid var(--assay-line); border-radius: 6px; }
.assay-lines-compared td { padding: 0 10px; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
.assay-lines-compared td:first-child { width: 1.5rem; padding-right: 0; user-select: none; }
.assay-lines-compared .removed { background: color-mix(in srgb, var(--assay-warn) 15%, transparent); }
.assay-lines-compared .removed td:first-child { color: var(--assay-warn); }
.assay-lines-compared .added { background: color-mix(in srgb, var(--assay-ok) 15%, transparent); }
.assay-lines-compared .added td:first-child { color: var(--assay-ok); }
.assay-lines-compared .left-out td { color: var(--assay-soft); font-family: inherit; }
"""


def choice(project: ProjectRow, prompt: AnyPrompt, own: Sequence[Entry[AnyPrompt]]) -> None:
    """With which other prompt this one is compared."""
    named = str(VersionedName(prompt.name, prompt.version))
    others = [str(VersionedName(entry.kept.name, entry.kept.version)) for entry in own]
    mine = [name for name in others if name.startswith(f"{prompt.name}@")]
    offered = dict.fromkeys([*mine, *others, *PROMPTS.names()])
    found = st.selectbox(
        "Compare with",
        [name for name in offered if name not in (named, prompt.name)],
        index=None,
        key=f"prompt-compare-{named}",
        placeholder="Another prompt or version",
        width=230,
    )
    if found:
        ui.go("prompts", prompt=named, project=project.project_id, **{"with": found})


def draw(project: ProjectRow, one: AnyPrompt, other: AnyPrompt) -> None:
    """Both, and every line that they do not share."""
    names = [str(VersionedName(prompt.name, prompt.version)) for prompt in (one, other)]
    ui.heading(f"{names[0]} and {names[1]}", "What only the first says, and what only the second says.")
    swapped = {"with": names[0]}
    blocks.links(
        blocks.to("All prompts", "prompts", project=project.project_id),
        *(blocks.to(name, "prompts", prompt=name, project=project.project_id) for name in names),
        blocks.to("The other way round", "prompts", prompt=names[1], project=project.project_id, **swapped),
    )
    if one.hash == other.hash:
        st.info("To a judge they are one: they differ in name, version, title or source only.")
    difference(one, other)


def difference(one: AnyPrompt, other: AnyPrompt) -> None:
    """The lines of both, in two colours; of what they share, a few lines around each change."""
    lines = list(compared(one, other))
    counts = [sum(line.change == change for line in lines) for change in ("removed", "added")]
    if counts == [0, 0]:
        st.html('<p class="assay-size">No line differs.</p>')
        return
    about = (
        f"{wording.count(counts[0], 'line')} of the first only, {wording.count(counts[1], 'line')} of the second only"
    )
    st.html(f"<style>{_STYLE}</style>")
    st.html(
        f'<p class="assay-size">{escape(about)}</p>'
        f'<table class="assay-lines-compared" data-testid="prompt-difference"><tbody>{_rows(lines)}</tbody></table>'
    )


def _rows(lines: Sequence[ComparedLine]) -> str:
    found = ""
    runs = [list(run) for _, run in groupby(lines, key=lambda line: line.change == "same")]
    for number, run in enumerate(runs):
        first = _AROUND if number else 0
        last = _AROUND if number < len(runs) - 1 else 0
        if run[0].change == "same" and len(run) > first + last + 1:
            left_out = f"… {wording.count(len(run) - first - last, 'line')} in both"
            found += "".join(map(_row, run[:first]))
            found += f'<tr class="left-out"><td></td><td>{left_out}</td></tr>'
            found += "".join(map(_row, run[len(run) - last :]))
        else:
            found += "".join(map(_row, run))
    return found


def _row(line: ComparedLine) -> str:
    tag = {"removed": "del", "added": "ins"}.get(line.change)
    text = escape(line.text) or " "
    marked = f'<{tag} style="text-decoration:none">{text}</{tag}>' if tag else text
    return (
        f'<tr class="{line.change}"><td aria-hidden="true">{_SIGNS[line.change]}</td><td dir="auto">{marked}</td></tr>'
    )
