"""How well each annotator of a study does, one of them at length, and what of theirs is left out."""

from __future__ import annotations

from datetime import date, datetime, time

import streamlit as st

from annotators.figures import count
from app import ui, wording
from app.pages.agreement.shared import note, table
from app.widgets import blocks, choices
from app.widgets.doing import acts, needs
from app.widgets.doing.following import follows
from app.widgets.measuring import measured
from app.widgets.plots import plot
from app.worker.report_tasks import Annotator, Team
from db.models import Study
from db.needs.of_studies import needs_of
from db.quality.omissions import leave_out, omissions_of
from db.quality.team import team_stamp
from db.releasing.consequences import if_left_out
from db.studies.design import list_studies, study_facts
from exports.agreement.annotators import (
    beside_table,
    bias_plot,
    bias_table,
    drift_plot,
    drift_table,
    speed_table,
)
from exports.agreement.one_annotator import OnCriterion, OneAnnotator
from exports.agreement.quality import AnnotatorQuality, Remark, ShareRight

_KINDS = {"pace": "pace", "straight-lining": "one label", "gold": "gold items"}
_STATES = {
    "active": "",
    "left": "left the study",
    "left_out": "left out",
    "failed": "failed",
    "paused": "paused",
    "imported": "imported",
}


def page() -> None:
    """Draw the page."""
    blocks.style()
    study = _study()
    if study is None or study.id is None:
        return
    ui.heading("Annotators", study.name)
    blocks.links(
        blocks.to("The study", "study", study=study.id, project=study.project_id),
        blocks.to("Agreement", "agreement", study=study.id, project=study.project_id),
    )
    waiting = [need for need in needs_of(ui.db(), ui.actor(), study.id) if need.people]
    needs.draw(waiting, needs.StudyPlace(study.id, study.project_id, study.name), where="annotators")
    needs.dialog("annotators")
    stamp = (study.id, *team_stamp(ui.db(), ui.actor(), study.id))
    (team,) = measured(("annotators", stamp), Team(ui.actor(), study.id))
    _all(study, team)
    names = [row.member.name for row in team]
    if not names:
        ui.empty("Nobody annotates in this study.", "Add annotators where its design is amended.")
        return
    asked = st.query_params.get("annotator", "")
    blocks.section("One annotator")
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"annotators-decide-{study.id}"):
        chosen = st.selectbox(
            "Annotator",
            names,
            index=names.index(asked) if asked in names else 0,
            key=f"annotators-{study.id}",
            width=320,
        )
        row = next(row for row in team if row.member.name == chosen)
        _decide(study, row)
    _one(study, row, stamp)
    _decisions(study)


def _study() -> Study | None:
    """The study of the address (`?study=ID`), else the project's newest."""
    wanted = ui.integer_parameter("study")
    if wanted is None:
        project = ui.project()
        studies = list_studies(ui.db(), ui.actor(), project.project_id)
        if not studies:
            choices.no_study(project, "Annotators", "who annotates in it is shown here.")
            return None
        wanted = studies[-1].study_id
    return study_facts(ui.db(), ui.actor(), wanted)


def _all(study: Study, team: list[AnnotatorQuality]) -> None:
    rows = []
    for row in team:
        address = {"study": study.id, "project": study.project_id, "annotator": row.member.name}
        state = _STATES[row.member.state]
        seconds = row.member.seconds_per_item
        rows.append(
            (
                blocks.to(row.member.name, "annotators", **address),
                blocks.tag(state, quiet=row.member.state in {"left", "imported"}) if state else "",
                f"{row.member.submitted:,}",
                share(row.with_rest),
                "" if row.gold is None else share(row.gold),
                "" if row.self_agreement is None else share(row.self_agreement),
                "" if seconds is None else wording.number(seconds, 1),
                blocks.tag(count(len(row.remarks), "warning")) if row.remarks else "none",
                "" if row.qualification is None else row.qualification.in_words(),
            )
        )
    columns = (
        "Annotator",
        "State",
        "Submitted",
        "With most of the rest",
        "Gold items",
        "With themselves",
        "Seconds an item",
        "Warnings",
        "Qualification",
    )
    filled = [place for place in range(len(columns)) if any(str(row[place]) for row in rows)]
    blocks.table(
        f"Annotators of {study.name}",
        [columns[place] for place in filled],
        [[row[place] for place in filled] for row in rows],
        name=f"annotators-{study.id}",
    )
    gold = "Gold items: how many of their labels of these are right. " if columns.index("Gold items") in filled else ""
    again = "With themselves: how often they gave an item that came again the same label. "
    note(
        "With most of the rest: how often they gave what most of the others gave, over all criteria. Their own label "
        f"is never one of the others'. {gold}{again if columns.index('With themselves') in filled else ''}In brackets "
        "the 95 % interval, questions (or gold items) as clusters."
    )


def share(found: ShareRight) -> str:
    """A share with its interval, or why there is none."""
    if found.value is None:
        return found.reason or ""
    value = f"{100 * found.value:.0f} %"
    if found.low is None or found.high is None:
        return f"{value} of {found.n:,}"
    return f"{value} [{100 * found.low:.0f}, {100 * found.high:.0f}] of {found.n:,}"


# One of them ----------------------------------------------------------------------------------------------------------


def _one(study: Study, row: AnnotatorQuality, stamp: tuple[int, ...]) -> None:
    name = row.member.name
    if (since := row.member.left_out_from) is not None:
        note(f"What {name} submitted since {ui.when(since)} is left out.")
    if row.remarks:
        project = study.project_id
        blocks.table(
            f"What calls for a look in the work of {name}",
            ("Warning", "What it is", "From", "To"),
            [
                (
                    blocks.tag(_KINDS[remark.kind]),
                    remark.text,
                    *_ends(remark, project),
                )
                for remark in row.remarks
            ],
            name=f"annotator-warnings-{study.id}",
        )
    else:
        note("Nothing in their pace or in runs of one label calls for a look.")
    assert study.id is not None
    (found,) = measured(("annotator", stamp, name), Annotator(ui.actor(), study.id, name))
    if found.speed is None:
        ui.empty("No label of theirs counts.", "Figures appear with what they submit, or with what is restored.")
        return
    _pace(study, found)
    _quarters(study, row)
    titles = [entry.title for entry in found.criteria if entry.beside is not None]
    if not titles:
        return
    named = {entry.name: entry.title for entry in found.criteria}
    caption = f"{name}: with most of the rest, by criterion"
    note(caption)
    blocks.table(
        caption,
        ("Criterion", "With most of the rest"),
        [(title, share(row.by_criterion[key])) for key, title in named.items()],
        name=f"annotator-criteria-{study.id}",
    )
    title = st.selectbox("Criterion", titles, key=f"annotators-criterion-{study.id}", width=320)
    _criterion(study, next(entry for entry in found.criteria if entry.title == title))


def _ends(remark: Remark, project: int) -> tuple[blocks.Html | str, blocks.Html | str]:
    """Links to the items with which a run begins and ends."""
    if remark.items is None or remark.first is None or remark.last is None:
        return "", ""
    first, last = remark.items
    return blocks.item(remark.first, first, project), blocks.item(remark.last, last, project)


def _quarters(study: Study, row: AnnotatorQuality) -> None:
    """Their work in four quarters, in the order of time."""
    if not row.quarters:
        return
    caption = f"{row.member.name}: quarters of their work, first to last"
    note(caption)
    columns = ["Quarter", "With most of the rest", *(["Gold items"] if row.gold is not None else [])]
    rows = [
        (str(number), share(part.with_rest), *([share(part.gold)] if row.gold is not None else []))
        for number, part in enumerate(row.quarters, 1)
    ]
    blocks.table(caption, columns, rows, name=f"annotator-quarters-{study.id}")


def _pace(study: Study, found: OneAnnotator) -> None:
    assert found.speed is not None
    assert found.pace is not None
    table(speed_table(study.name, [found.speed], [found.pace]), f"annotator-speed-{study.id}")
    plot(
        drift_plot([found.pace], speed=True),
        f"annotator-speed-{study.id}",
        "Median seconds an item, in stretches of their work.",
        otherwise="There is no plot of the time an item: it takes two stretches of timed items.",
    )


def _criterion(study: Study, found: OnCriterion) -> None:
    assert found.beside is not None
    name = f"annotator-{study.id}"
    table(beside_table(found.title, [found.beside]), f"{name}-beside")
    if found.decided is not None:
        table(beside_table(found.title, [found.decided], "adjudicated labels"), f"{name}-decided")
        note("Adjudicated units are mostly the disputed ones: these figures are lower than those of the whole study.")
    if found.confusion is not None:
        table(found.confusion, f"{name}-confusion")
    if (biases := bias_table(found.title, [found.beside])) is not None:
        table(biases, f"{name}-bias")
        plot(
            bias_plot([found.beside]),
            f"{name}-bias",
            f"{found.title}: how much more often they give a label than the others do on the same units.",
            otherwise="There is no plot of biases: nobody else labelled what they labelled.",
        )
    if found.drift is not None:
        table(drift_table(found.title, [found.drift]), f"{name}-drift")
        plot(
            drift_plot([found.drift]),
            f"{name}-drift",
            f"{found.title}: agreement with the others, first label to last.",
            otherwise="There is no plot of drift: it takes two stretches of units that others labelled, too.",
        )


# Leaving out ----------------------------------------------------------------------------------------------------------


def _decide(study: Study, row: AnnotatorQuality) -> None:
    if row.member.state == "imported":
        return  # no annotator of the study: nothing is given them, and what came in is withdrawn with its batch
    since, study_id, people = row.member.left_out_from, study.id or 0, [row.member.name]
    if row.qualification is not None and row.qualification.may_be_let_in and row.member.state != "left":
        with acts.popover("Let in…", key="annotators-let-in"):
            needs.let_in_form(study_id, people, "annotators")
    if row.member.state == "paused":
        with acts.popover("Let go on…", key="annotators-let-go-on"):
            needs.let_go_on_form(study_id, people, "annotators")
    if since is not None:
        with acts.popover("Restore…", key="annotators-restore"):
            needs.restore_form(study_id, people, "annotators")
    label = "Leave out…" if since is None else "Leave out from another time…"
    with acts.popover(label, key="annotators-leave-out"):
        _leave_out_form(study, row.member.name)


def _leave_out_form(study: Study, name: str) -> None:
    with st.form("annotators-leave-out", border=False):
        st.write(
            "It counts nowhere any more, and their items wait for somebody else. Nothing is deleted, exports mark it, "
            "and all of it can be restored. They get no items meanwhile."
        )
        day = st.date_input("From", value="today", max_value="today", key="annotators-day")
        at = st.time_input("Time", value=time(0, 0), key="annotators-time")
        reason = acts.reason("annotators-reason", blocks=False)
        with st.container(horizontal=True):
            pressed = st.form_submit_button("Leave out", type="primary", key="annotators-leave-out-save")
            asked = st.form_submit_button("What would follow?", key="annotators-leave-out-look")
    if (pressed or asked) and isinstance(day, date):
        since = datetime.combine(day, at or time(0, 0), ui.zone())
        with ui.problems():
            if asked:
                follows(if_left_out(ui.db(), ui.actor(), study.id or 0, annotator=name, since=since))
                return
            decided = leave_out(ui.db(), ui.actor(), study.id or 0, annotator=name, since=since, reason=reason)
            acts.done(wording.decided(decided, "left out"))


def _decisions(study: Study) -> None:
    rows = omissions_of(ui.db(), ui.actor(), study.id or 0)
    if rows:
        blocks.section("What was left out and restored")
        blocks.table(
            f"Decisions on labels of {study.name}",
            ("When", "By", "Annotator", "Left out since", "Reason"),
            [
                (
                    blocks.short(ui.when(row.at)),
                    blocks.short(row.by or "nobody"),
                    row.annotator or "",
                    "restored" if row.since is None else blocks.short(ui.when(row.since)),
                    row.reason,
                )
                for row in reversed(rows)
            ],
            name=f"omissions-{study.id}",
        )
