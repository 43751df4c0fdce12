"""Comparisons on the page Agreement: two studies, two groups of annotators or items, several criteria at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from annotators.agreement.statistics.base import title_of
from app import ui
from app.pages.agreement.shared import View, ask, kept, nobody, note, table
from app.widgets.plots import plot
from db.designing.arms import arms_of
from db.studies.design import list_studies
from db.studies.ratings import ratings, ratings_stamp
from exports.agreement.arms import ABOUT, labels_beside
from exports.agreement.compare import (
    Comparison,
    between_annotators,
    between_parts,
    between_studies,
    comparable_statistics,
    contrasts_table,
    criteria_at_once,
    difference_plot,
    difference_table,
    members_plot,
    members_table,
)
from exports.agreement.study import GROUPINGS, CriterionReport, unmeasured


def draw(view: View) -> None:
    """The kind of comparison that is chosen."""
    kinds: dict[str, Callable[[View], None]] = {
        "Two studies": _studies,
        "Groups of annotators": _annotators,
        "Parts of the items": _parts,
        "Criteria at once": _criteria,
    }
    picked = st.segmented_control(
        "What is compared", list(kinds), default="Two studies", required=True, label_visibility="collapsed",
        key="agreement-compare",
    )  # fmt: skip
    kinds[picked](view)


def _measurable(view: View) -> CriterionReport | None:
    criterion = view.criterion
    if criterion is None or criterion.ratings is None or not criterion.n_ratings:
        nobody(view)
        return None
    return criterion


def _coefficient(criterion: CriterionReport, where: str) -> str:
    assert criterion.ratings is not None
    return st.selectbox(
        "Coefficient",
        comparable_statistics(criterion.ratings),
        format_func=title_of,
        key=f"compare-{where}-statistic-{criterion.criterion.name}",
    )


def _shown(view: View, found: Comparison, slot: str) -> None:
    """The table, the sentence, what is to be known, and the plot."""
    shown = difference_table(found)
    table(shown, f"compare-{slot}-{view.slug}")
    st.code(found.sentence, language=None, wrap_lines=True)
    for line in found.notes:
        note(line)
    plot(
        difference_plot(found),
        f"compare-{slot}-{view.slug}",
        f"{shown.caption}: both values and their difference.",
        otherwise="There is no plot of the difference, because it is not defined, as the table says why.",
    )


# Two studies, two groups, two parts -----------------------------------------------------------------------------------


def _studies(view: View) -> None:
    criterion = _measurable(view)
    if criterion is None:
        return
    rows = list_studies(ui.db(), ui.actor(), view.study.project_id)
    others = {row.study_id: row for row in rows if row.study_id != view.study.study_id and row.submitted}
    arms = {arm.study_id for arm in arms_of(ui.db(), ui.actor(), view.study.study_id)}
    others = dict(sorted(others.items(), key=lambda other: other[0] not in arms))  # its other arms first
    if not others:
        ui.empty("No other study of this project has labels.", "With a second one the two can be compared here.")
        return
    name = criterion.criterion.name
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-compare-studies"):
        other = st.selectbox("With study", list(others), format_func=lambda n: others[n].name, key="compare-study")
        statistic = _coefficient(criterion, "studies")
        ready = ask(view, "studies", (other, others[other].submitted, statistic), "Compare")
    if ready:
        about = (other, others[other].submitted, statistic)
        theirs = unmeasured(ratings(ui.db(), ui.actor(), other, named=view.named), criterion.criterion.name)
        found = kept(
            view,
            "compare-studies",
            (about, ratings_stamp(ui.db(), ui.actor(), other)),
            between_studies,
            criterion,
            theirs,
            (view.study.name, others[other].name),
            statistic,
            seed=view.report.seed,
            resamples=view.report.resamples,
        )
        _shown(view, found, "studies")
        both = labels_beside(criterion, theirs, (view.study.name, others[other].name))
        table(both.table(), f"compare-labels-{view.slug}")
        note(ABOUT)
    note(f'Criteria of the same name are compared: "{name}" must be in both studies.')


def _annotators(view: View) -> None:
    criterion = _measurable(view)
    if criterion is None or criterion.ratings is None:
        return
    raters = [str(rater) for rater in criterion.ratings.raters]
    if len(raters) < 4:
        ui.empty(
            f"{len(raters)} annotators have labelled {criterion.title}.",
            "Two groups of at least two can be compared when there are four.",
        )
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-compare-people"):
        half = len(raters) // 2
        first = st.multiselect("First group", raters, raters[:half], key=f"compare-first-{criterion.criterion.name}")
        second = st.multiselect("Second group", raters, raters[half:], key=f"compare-second-{criterion.criterion.name}")
        statistic = _coefficient(criterion, "people")
        about = (tuple(first), tuple(second), statistic)
        ready = ask(view, "people", about, "Compare")
    if ready:
        asked: dict[str, Any] = {"seed": view.report.seed, "resamples": view.report.resamples}
        names = ("the first group", "the second group")
        with ui.problems():
            found = kept(
                view,
                "compare-people",
                about,
                between_annotators,
                criterion,
                (first, second),
                names,
                statistic,
                **asked,
            )
            _shown(view, found, "people")
    note("The same units are drawn for both groups; the permutation swaps what the two groups gave to a unit.")


def _parts(view: View) -> None:
    criterion = _measurable(view)
    if criterion is None:
        return
    ways = [by for by in GROUPINGS if len(set(criterion.groups(by).values())) > 1]
    if not ways:
        ui.empty("All labelled items are of one category and one system.", "There are no parts to compare.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-compare-parts"):
        by = st.selectbox("Parts by", ways, key=f"compare-by-{criterion.criterion.name}")
        names = sorted({value or "" for value in criterion.groups(by).values()})

        def called(name: str) -> str:
            return name or f"no {by}"

        a = st.selectbox("First", names, format_func=called, key=f"compare-a-{criterion.criterion.name}-{by}")
        b = st.selectbox("Second", names, index=1, format_func=called, key=f"compare-b-{criterion.criterion.name}-{by}")
        statistic = _coefficient(criterion, "parts")
        ready = ask(view, "parts", (by, a, b, statistic), "Compare")
    if a == b:
        note("Choose two different parts.")
    elif ready:
        asked: dict[str, Any] = {"seed": view.report.seed, "resamples": view.report.resamples}
        with ui.problems():
            found = kept(
                view,
                "compare-parts",
                (by, a, b, statistic),
                between_parts,
                criterion,
                by,
                (a, b),
                statistic,
                **asked,
            )
            _shown(view, found, "parts")


# Several criteria -----------------------------------------------------------------------------------------------------


def _criteria(view: View) -> None:
    there = {
        criterion.criterion.name: criterion
        for criterion in view.report.criteria
        if criterion.ratings is not None and criterion.n_ratings
    }
    if len(there) < 2:
        ui.empty("Fewer than two criteria have labels that can be measured.", "With two they can be compared here.")
        return
    titles = {name: criterion.title for name, criterion in there.items()}
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-compare-criteria"):
        chosen = st.multiselect(
            "Criteria", list(there), list(there)[:6], format_func=titles.__getitem__, key="compare-criteria"
        )
        ready = ask(view, "criteria", tuple(chosen), "Compare")
    if ready:
        asked: dict[str, Any] = {"seed": view.report.seed, "resamples": view.report.resamples}
        with ui.problems():
            found = kept(
                view,
                "compare-criteria",
                tuple(chosen),
                criteria_at_once,
                [there[name] for name in chosen],
                by_question=view.report.clustered,
                **asked,
            )
            table(members_table(found, titles), f"at-once-{view.study.study_id}")
            plot(
                members_plot(found, titles),
                f"at-once-{view.study.study_id}",
                f"{found.method}.",
                otherwise="There is no plot of the criteria: the coefficient is defined for none of them.",
            )
            if found.contrasts:
                table(contrasts_table(found, titles), f"contrasts-{view.study.study_id}")
    note(
        "Criteria are judged on the same items by the same people, so their coefficients move together: the same items "
        "are drawn for all, the intervals hold together, and p is adjusted for how many pairs there are."
    )
