"""Scores: run a scorer, and compare what the scorers say of each system and category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from annotators.scoring import SCORERS, Scorer, allowed_values, readable, value_kind
from app import ui, wording
from app.widgets import blocks
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.scores import ScoreGroup, ScorerInUse, ScoreSummary, list_scorers_in, run_scorer, score_summary

BESIDE = 4
"""Scorers that are set beside each other to begin with."""

_DONE = "scores-done"


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    used = list_scorers_in(ui.db(), ui.actor(), project.project_id)
    ui.heading("Scores", "Automatic metrics over the current items. A score that could not be given has a reason.")
    if ui.may(project.role, RESEARCHERS):
        _run(project, first=not used)
    summaries = _summaries(project, used)
    if not summaries:
        if used:
            ui.empty("No scorer is chosen.", "Choose at least one above.")
        else:
            ui.empty("The project has no scores yet.", "A researcher runs a scorer, or imports items with scores.")
        return
    _overview(project, summaries)
    by_system, by_category = st.tabs(["By system", "By category"])
    with by_system:
        _groups(project, summaries, "system")
    with by_category:
        _groups(project, summaries, "category")


# Running --------------------------------------------------------------------------------------------------------------


def _run(project: ProjectRow, *, first: bool) -> None:
    with st.expander("Run a scorer", expanded=first):
        names = SCORERS.names()
        name = st.selectbox("Scorer", names, format_func=lambda one: SCORERS.get(one).title, key="scores-scorer")
        scorer: Scorer[Any] = SCORERS.get(name)
        st.caption(ui.plain(f"{scorer.summary} Version {scorer.version}. {scorer.source}"))
        given = {field: _parameter(scorer, field, about) for field, about in scorer.parameters.model_fields.items()}
        if st.button("Run", type="primary", key="scores-run"):
            _run_now(project, name, given)
    done = st.session_state.pop(_DONE, None)
    if done:
        st.success(ui.plain(done))


def _parameter(scorer: Scorer[Any], name: str, about: FieldInfo) -> Any:
    """A widget for one parameter, by its type."""
    label, key = name.replace("_", " ").capitalize(), f"scores-{scorer.name}-{name}"
    hint = f"{(about.description or label).capitalize()}. Allowed: {allowed_values(scorer, name)}."
    default = None if about.is_required() else about.get_default(call_default_factory=True)
    if get_origin(about.annotation) is Literal:
        values = list(get_args(about.annotation))
        return st.selectbox(label, values, index=values.index(default) if default in values else 0, key=key, help=hint)
    if about.annotation is bool:
        return st.checkbox(label, value=bool(default), key=key, help=hint)
    if about.annotation is int:
        return st.number_input(label, value=int(default or 0), step=1, key=key, help=hint)
    if about.annotation is float:
        return st.number_input(label, value=float(default or 0), key=key, help=hint, format="%g")
    return st.text_input(label, value=str(default or ""), key=key, help=hint)


def _run_now(project: ProjectRow, scorer: str, parameters: Mapping[str, Any]) -> None:
    """Score what is not scored yet, a block at a time; a run that is interrupted is gone on with by the next."""
    bar = st.progress(0.0, text="Scoring")

    def moved(done: int, of: int) -> None:
        bar.progress(done / of if of else 1.0, text=f"{done:,} of {of:,} items")

    with ui.problems():
        summary = run_scorer(
            ui.db(), ui.actor(), project.project_id, scorer=scorer, parameters=parameters, progress=moved
        )
        new = f"{wording.count(summary.added, 'new score')}" if summary.added else "every item had its score already"
        st.session_state.pop(f"scores-beside-{project.project_id}", None)  # the new one is to stand there as well
        st.session_state[_DONE] = f"{_name(summary)}: {new}, {summary.n_unscored:,} unscored."
        st.rerun()
    bar.empty()


# Comparing ------------------------------------------------------------------------------------------------------------


def _summaries(project: ProjectRow, used: Sequence[ScorerInUse]) -> list[ScoreSummary]:
    """The sums of the chosen scorers, each with its values."""
    columns = {_column(one, value): (one, value) for one in used for value in one.values}
    if not columns:
        return []
    chosen = st.multiselect(
        "Beside each other", list(columns), default=list(columns)[:BESIDE], key=f"scores-beside-{project.project_id}"
    )
    found = []
    for one, value in (columns[name] for name in chosen):
        with ui.problems():
            summary = score_summary(
                ui.db(),
                ui.actor(),
                project.project_id,
                scorer=one.scorer,
                parameters=one.parameters,
                value=value,
            )
            found.append(summary)
    return found


def _column(one: ScorerInUse, value: str) -> str:
    return _called(one.scorer, one.parameters, value)


def _name(summary: ScoreSummary) -> str:
    return _called(summary.scorer, summary.parameters, summary.value)


def _called(scorer: str, parameters: Mapping[str, Any], value: str) -> str:
    """A scorer's value in words: `phrase_recall (mode=paper)`, with the value's name where a scorer gives several."""
    settings = ", ".join(readable(parameters))
    name = f"{scorer} ({settings})" if settings else scorer
    only = scorer in SCORERS.names() and len(SCORERS.get(scorer).values) == 1
    return name if only else f"{name}: {value}"


def _overview(project: ProjectRow, summaries: Sequence[ScoreSummary]) -> None:
    ui.table(
        f"Scores of {project.name}",
        ("Scorer", "Parameters", "Value", "Scored", "Unscored", "Mean", "Macro mean"),
        [
            (
                f"{one.scorer} {one.version}",
                ", ".join(readable(one.parameters)) or "none",
                value_kind(one.scorer, one.value).title,
                f"{one.n_scored:,}",
                f"{one.n_unscored:,}",
                _mean(one, one.mean),
                _mean(one, one.macro_mean),
            )
            for one in summaries
        ],
        name=f"scores-{project.project_id}",
    )
    st.caption("The mean is over items; the macro mean gives every category the same weight.")


def _mean(summary: ScoreSummary, value: float | None) -> str:
    """A mean as papers print it: flags as a share in percent."""
    reason = "no item has a score" if value is None else None
    if value_kind(summary.scorer, summary.value).kind == "flag":
        return wording.percent(value, reason=reason)
    return wording.number(value, 3, reason=reason)


def _groups(project: ProjectRow, summaries: Sequence[ScoreSummary], by: str) -> None:
    cells: dict[str, dict[int, ScoreGroup]] = {}
    for place, summary in enumerate(summaries):
        for group in summary.groups:
            if group.by == by:
                cells.setdefault(group.group or "", {})[place] = group
    macro = by == "system"
    titles = [f"{_name(one)}{suffix}" for one in summaries for suffix in ((", mean", ", macro") if macro else ("",))]
    rows = []
    for name in sorted(cells):
        link = blocks.to(name or "(none)", "data", project=project.project_id, **{by: name})
        row: list[object] = [blocks.short(link)]
        row.append(f"{max(group.n for group in cells[name].values()):,}")
        for place, summary in enumerate(summaries):
            found = cells[name].get(place)
            means = (found.mean, found.macro_mean) if found else (None, None)
            row += ["" if found is None else _mean(summary, mean) for mean in (means if macro else means[:1])]
        rows.append(row)
    blocks.table(f"Scores by {by}", (by.capitalize(), "Scored", *titles), rows, name=f"scores-by-{by}")
