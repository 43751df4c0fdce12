"""Running a scorer from the page: the form, and the jobs that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from annotators.scorers.base import SCORERS, Scorer, allowed_values, settable
from annotators.scorers.shared.offered_models import offered
from app import ui
from app.widgets import job_bar
from app.worker import jobs
from app.worker.kinds.score import SCORE, ScoreParameters
from db.projects import ProjectRow
from db.scores.labels import LabelsOnOffer, labels_for_scorer
from db.scores.write import plan_scoring

_SAID = "scores-said"
_FIRST = "phrase_recall"
_TRAINING_SET = "training_set"


def draw(project: ProjectRow, *, first: bool) -> None:
    """The form in an expander (open when there are no scores yet), and what runs."""
    with st.expander("Run a scorer", expanded=first):
        names = SCORERS.names()
        place = names.index(_FIRST) if _FIRST in names else 0
        name = st.selectbox(
            "Scorer", names, place, format_func=lambda scorer: SCORERS.get(scorer).title, key="scores-scorer"
        )
        scorer: Scorer[Any] = SCORERS.get(name)
        st.caption(ui.plain(f"{scorer.summary} Version {scorer.version}. {scorer.source}"))
        fields = {field: scorer.parameters.model_fields[field] for field in settable(scorer) if field != _TRAINING_SET}
        given = {field: _parameter(scorer, field, about) for field, about in fields.items()}
        if _TRAINING_SET in scorer.parameters.model_fields:
            st.caption("It compares with the project's present examples of abstention (the tab Abstention examples).")
        labels_of, labels_by = _labels_of(project, scorer)
        if st.button("Run", type="primary", key="scores-run"):
            _queue(project, name, given, labels_of, labels_by)
    said = st.session_state.pop(_SAID, None)
    if said:
        st.success(ui.plain(said))
    beside = f"scores-beside-{project.project_id}"  # the new one is to stand there as well
    job_bar.running(project.project_id, SCORE.name, anew=beside)


def _parameter(scorer: Scorer[Any], name: str, about: FieldInfo) -> Any:
    """A widget for one parameter, by its type."""
    label, key = name.replace("_", " ").capitalize(), f"scores-{scorer.name}-{name}"
    hint = f"{(about.description or label).capitalize()}. Allowed: {allowed_values(scorer, name)}."
    default = None if about.is_required() else about.get_default(call_default_factory=True)
    if get_origin(about.annotation) is Literal:
        values = list(get_args(about.annotation))
        return st.selectbox(label, values, index=values.index(default) if default in values else 0, key=key, help=hint)
    if scorer.uses_model and name == "model":
        return st.selectbox(label, offered(), key=key, help=(about.description or label).capitalize() + ".")
    if about.annotation is bool:
        return st.checkbox(label, value=bool(default), key=key, help=hint)
    if about.annotation is int:
        return st.number_input(label, value=int(default or 0), step=1, key=key, help=hint)
    if about.annotation is float:
        return st.number_input(label, value=float(default or 0), key=key, help=hint, format="%g")
    return st.text_input(label, value=str(default or ""), key=key, help=hint)


def _labels_of(project: ProjectRow, scorer: Scorer[Any]) -> tuple[list[str], list[str]]:
    """The studies whose labels are taken, of those that ask for what the scorer takes, and whose; none without one."""
    if scorer.labels is None:
        return [], []
    offered = labels_for_scorer(ui.db(), ui.actor(), project.project_id, scorer=scorer.name)
    if not offered:
        st.caption("It also takes what people and judges say in studies; no study of the project asks for that yet.")
        return [], []
    chosen = st.multiselect(
        "Labels of",
        [one.study for one in offered],
        key=f"scores-{scorer.name}-labels-of-{project.project_id}",
        placeholder="No study: what came with the items",
        help="What was said in these studies, in place of what came with the items. It is read as it is now: other "
        "labels are another run. Items that nobody labelled are unscored.",
    )
    return chosen, _labels_by(project, scorer, [one for one in offered if one.study in chosen])


_USUAL = ""
_WHO = {
    _USUAL: "As usual: final labels, or those of the only judge",
    "settled": "Final labels (settled)",
    "people": "People’s votes so far (people)",
}


def _labels_by(project: ProjectRow, scorer: Scorer[Any], studies: Sequence[LabelsOnOffer]) -> list[str]:
    """Whose labels are taken: of everything, or of each side of the scorer's equations."""
    who = list(dict.fromkeys(one for study in studies for one in study.by))
    if len(who) < 2 or scorer.labels is None:
        return []
    key = f"scores-{scorer.name}-labels-by-{project.project_id}"
    sides = scorer.labels.sides
    given = []
    for column, name in zip(st.columns(len(sides) or 1), sides or [""], strict=True):
        label = f"Whose, for {name}: {sides[name].words}" if name else "Whose"
        chosen = column.selectbox(
            label, [_USUAL, *who], format_func=lambda one: _WHO.get(one, one), key=f"{key}-{name}",
        )  # fmt: skip
        if chosen:
            given.append(f"{name}={chosen}" if name else chosen)
    return given


def _queue(
    project: ProjectRow,
    scorer: str,
    parameters: Mapping[str, Any],
    labels_of: Sequence[str],
    labels_by: Sequence[str],
) -> None:
    """Put the run into the queue, unless there is nothing to score."""
    with ui.problems():
        actor = ui.actor()
        complete, to_do = plan_scoring(
            ui.db(), actor, project.project_id,
            scorer=scorer, parameters=parameters, labels_of=labels_of, labels_by=labels_by,
        )  # fmt: skip
        if not to_do:
            st.session_state[_SAID] = f"{scorer}: every item has its score already."
        else:
            work = ScoreParameters(scorer=scorer, parameters=complete)
            jobs.queue(ui.db(), actor, project.project_id, SCORE, work)
        st.rerun()
