"""Annotations that are still wanted and that nobody gives: no one is left, the deadline has passed, it is paused."""

from __future__ import annotations

from sqlmodel import col, select

from annotators.figures import count
from db.annotating.nobody_left import n_of_nobody, somebody_may_come
from db.models import Amendment, StudyState, now
from db.needs.base import WHY, Act, Facts, Kind, Need


def _nobody(facts: Facts) -> Need | None:
    """Items that everybody who is left has had or skipped, or whose quota does not allow them."""
    if not facts.wanted:
        return None
    n = n_of_nobody(
        facts.session,
        facts.study,
        facts.all,
        team=[member.person_id for member in facts.members],
        idle=facts.idle,
    )
    if not n:
        return None
    stands = "wants an annotation" if n == 1 else "want annotations"
    outside = int(facts.study.settings.get("outside", 0))
    if outside and not facts.team and not somebody_may_come(facts.session, facts.study):
        return Need(
            "nobody",
            n,
            f"{facts.items(n)} {stands}, and no invitation is open by which an annotator may come",
            Act.INVITE,
            facts.command("study invite"),
        )
    return Need(
        "nobody",
        n,
        f"{facts.items(n)} {stands} that nobody of the team can give: add annotators, raise quotas, or lower the "
        "overlap",
        Act.AMEND,
        facts.command("study amend", "--add PERSON", WHY),
    )


def _deadline(facts: Facts) -> Need | None:
    at = facts.study.deadline
    if at is None or at > now() or not facts.wanted or facts.study.state != StudyState.RUNNING:
        return None
    wanted = facts.wanted
    return Need(
        "deadline",
        wanted,
        f"{count(wanted, 'annotation')} still wanted, and the deadline has passed ({at:%Y-%m-%d %H:%M} UTC): nobody "
        "gets items",
        Act.AMEND,
        facts.command("study amend", "--deadline TIME", WHY),
    )


def _paused_study(facts: Facts) -> Need | None:
    if facts.study.state != StudyState.PAUSED or not facts.wanted:
        return None
    last = (
        select(Amendment.reason)
        .where(Amendment.study_id == facts.study.id, Amendment.what == "state")
        .order_by(col(Amendment.id).desc())
    )
    reason = facts.session.exec(last.limit(1)).first()
    return Need(
        "study_paused",
        facts.wanted,
        f"{count(facts.wanted, 'annotation')} still wanted, and the study is paused"
        + (f": {reason}" if reason else ""),
        Act.START,
        facts.command("study start", WHY),
    )


KINDS = (
    Kind("nobody", "items that want annotations which nobody of the team can give", _nobody),
    Kind("deadline", "annotations that are wanted after the deadline", _deadline),
    Kind("study_paused", "annotations that are wanted while the study is paused", _paused_study),
)
"""The kinds that are about slots, in the order in which they are told."""
