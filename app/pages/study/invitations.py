"""Invitations to a study on its page: links are made, copied once and ended; who came by which, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import streamlit as st

from app import ui, wording
from app.widgets import blocks
from db.inviting.invitations import (
    LONGEST,
    MOST_USES,
    InvitationRow,
    InvitationTerms,
    invitations_of,
    invite,
    revoke_invitation,
    why_nobody,
)
from db.models import Study, now
from db.permissions import RESEARCHERS
from db.projects import my_projects

_MADE = "invitations-made"
_ENDED = "invitations-ended"
_TIMES = "invitations-times"

_OUTCOMES = {
    None: "at work",
    "done": "done",
    "stopped": "stopped",
    "failed": "let go",
    "declined": "declined",
}
"""How somebody who came by a link ended, in words."""


class _Made(NamedTuple):
    """A link that was made just now: of which study, the link, and for how many people until when."""

    study_id: int
    link: str
    uses: int
    until: datetime


def draw(study: Study) -> None:
    """The links of a study and who came by them, for those who may invite; nothing for anybody else."""
    role = next((row.role for row in my_projects(ui.db(), ui.actor()) if row.project_id == study.project_id), None)
    if role is None or not ui.may(role, RESEARCHERS):
        return
    assert study.id is not None
    rows = invitations_of(ui.db(), ui.actor(), study.id)
    why = why_nobody(study)
    if why is not None and not rows:
        return
    st.subheader("Invitations")
    if why is not None:
        st.caption(ui.plain(why))
    else:
        st.caption("By a link people without an account annotate here. It is shown once, when it is made.")
    _just_made(study.id)
    if (said := st.session_state.pop(_ENDED, None)) is not None:
        st.success(said)
    running = [row for row in rows if _is_open(row)]
    # After each act the popovers are other ones, which are closed.
    times = st.session_state.setdefault(_TIMES, 0)
    with st.container(horizontal=True, key=f"study-invitations-{study.id}"):
        if why is None:
            with st.popover("New link…", key=f"study-invite-{times}"):
                _form(study.id)
        if running:
            with st.popover("End a link…", key=f"study-uninvite-{times}"):
                _end(study.id, running)
    if rows:
        _links(study.id, rows)
        _people(study.id, rows)


def _is_open(row: InvitationRow) -> bool:
    """Whether a link lets anybody new in."""
    return row.revoked_at is None and row.expires_at > now() and row.used < row.uses


# Links ----------------------------------------------------------------------------------------------------------------


def _form(study_id: int) -> None:
    with st.form("study-invite-form", border=False):
        left, middle, right = st.columns(3)
        uses = left.number_input("People", 1, MOST_USES, 1, key="invite-uses", help="So many come in by the link.")
        days = middle.number_input("Days", 1, LONGEST.days, 14, key="invite-days", help="So long it lets people in.")
        quota = right.number_input(
            "Items each", 1, value=None, placeholder="As planned", key="invite-quota", help="At most so many."
        )
        parameter = st.text_input(
            "Part of the address with a recruiter's id",
            key="invite-parameter",
            placeholder="PROLIFIC_PID",
            help="Where a recruiter puts its id of a person into the link. Without it everybody who opens the link is "
            "somebody new.",
        )
        left, right = st.columns(2)
        code = left.text_input("Code at the end", key="invite-code", help="Shown to who has done all their items.")
        code_else = right.text_input(
            "Code for others", key="invite-code-else", help="Shown to who stops, or is given nothing any more."
        )
        return_url = st.text_input("Address to go back to at the end", key="invite-return", placeholder="https://…")
        pressed = st.form_submit_button("Make the link", type="primary", key="invite-save")
    if pressed:
        with ui.problems():
            terms = InvitationTerms(
                uses=int(uses),
                lasts=timedelta(days=int(days)),
                quota=None if quota is None else int(quota),
                parameter=parameter.strip() or None,
                code=code.strip() or None,
                code_else=code_else.strip() or None,
                return_url=return_url.strip() or None,
            )
            token = invite(ui.db(), ui.actor(), study_id, terms=terms)
            link = terms.link(ui.base_url(), token)
            st.session_state[_MADE] = _Made(study_id, link, terms.uses, now() + terms.lasts)
            st.session_state[_TIMES] += 1
            st.rerun()


def _just_made(study_id: int) -> None:
    """The link that was made, until it is put away: nobody has kept it."""
    made: _Made | None = st.session_state.get(_MADE)
    if made is None or made.study_id != study_id:
        return
    with st.container(border=True, key="invitation-made"):
        whom = wording.count(made.uses, "person", "people")
        st.html(f'<h3 class="assay-done">A link for {whom}, until {ui.when(made.until)}</h3>')
        st.code(made.link, language=None, wrap_lines=True)
        st.caption(
            "Copy it now (point at it for the button at its right): nobody has kept it. A link that is lost is ended, "
            "and another is made."
        )
        if "?" in made.link:
            st.caption(ui.plain("The recruiter puts its id of each person in the place of {ID}."))
        if st.button("I have copied it", key="invitation-copied"):
            del st.session_state[_MADE]
            st.rerun()


def _end(study_id: int, running: Sequence[InvitationRow]) -> None:
    by_id = {row.invitation_id: row for row in running}
    with st.form("study-uninvite-form", border=False):
        st.write("Nobody comes in by it any more. Who is in stays, with what they have begun.")
        which = st.selectbox(
            "Link",
            list(by_id),
            format_func=lambda of: f"{of}: {by_id[of].used:,} of {by_id[of].uses:,} came",
            key="uninvite-which",
        )
        pressed = st.form_submit_button("End the link", type="primary", key="uninvite-save")
    if pressed:
        with ui.problems():
            revoke_invitation(ui.db(), ui.actor(), study_id, invitation_id=which)
            st.session_state[_ENDED] = f"Link {which} is ended: nobody comes in by it any more."
            st.session_state[_TIMES] += 1
            st.rerun()


def _links(study_id: int, rows: Sequence[InvitationRow]) -> None:
    blocks.table(
        "Links",
        ("Link", "Came", "State", "Made", "Items each", "Recruiter's id in", "Codes"),
        [
            (
                str(row.invitation_id),
                f"{row.used:,} of {row.uses:,}",
                _state(row),
                blocks.short(ui.when(row.created_at)),
                "" if row.quota is None else f"{row.quota:,}",
                row.parameter or "",
                ", ".join(code for code in (row.code, row.code_else) if code),
            )
            for row in rows
        ],
        name=f"invitations-{study_id}",
    )


def _state(row: InvitationRow) -> object:
    """Whether a link lets people in, and until when or since when not."""
    if row.revoked_at is not None:
        return blocks.tag(f"ended {ui.when(row.revoked_at)}", quiet=True)
    if row.expires_at <= now():
        return blocks.tag(f"past since {ui.when(row.expires_at)}", quiet=True)
    return blocks.tag("used up", quiet=True) if row.used >= row.uses else f"open until {ui.when(row.expires_at)}"


# People ---------------------------------------------------------------------------------------------------------------


def _people(study_id: int, rows: Sequence[InvitationRow]) -> None:
    """Who came by which link. What a recruiter calls them is read on demand alone, which is logged."""
    if not any(row.people for row in rows):
        st.caption("Nobody has come by a link yet.")
        return
    asked = any(row.parameter for row in rows) and st.button(
        "Show the recruiter's ids",
        type="tertiary",
        key="invitations-ids",
        help="They are shown this once. That you read them is in the log.",
    )
    if asked:
        rows = invitations_of(ui.db(), ui.actor(), study_id, recruiter_ids=True)
    blocks.table(
        "Who came by a link",
        ("Annotator", "Link", *(("Recruiter's id",) if asked else ()), "Came in", "Submitted", "How it stands"),
        [
            (
                person.name or "erased",
                str(row.invitation_id),
                *((person.recruiter_id or "",) if asked else ()),
                blocks.short(ui.when(person.joined_at)),
                f"{person.submitted:,}",
                _OUTCOMES.get(person.outcome, person.outcome),
            )
            for row in rows
            for person in row.people
        ],
        name=f"invited-{study_id}",
    )
