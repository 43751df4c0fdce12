"""Invitations to a study: links made, listed and revoked by its researchers, and who came by them."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput, NotFound, shown
from db.allotting.slots import is_balanced
from db.annotating.assignments import member_of
from db.engine import Database
from db.inviting.joining import ended_as
from db.models import Account, Invitation, OutsideAnnotator, Study, StudyState, now
from db.people.sign_in import token_hash
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.studies import tallies

MOST_USES = 10_000
LONGEST = timedelta(days=366)
_PARAMETER = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_CODE = re.compile(r"[ -~]{1,100}")


@dataclass(frozen=True, kw_only=True)
class InvitationTerms:
    """What an invitation says: for how many people, how long, and how they end.

    `quota`: at most so many items each. `parameter`: the part of the address that brings a recruiter's id, such as
    PROLIFIC_PID; without one everybody who opens the link is somebody new. `code` ends the work of who did all,
    `code_else` that of who stops or is given nothing any more; `return_url` is an https address to go back to.
    """

    uses: int = 1
    lasts: timedelta = timedelta(days=14)
    quota: int | None = None
    parameter: str | None = None
    code: str | None = None
    code_else: str | None = None
    return_url: str | None = None

    def check(self) -> None:
        """InvalidInput for terms that cannot be held, with the value and what would do."""
        if not 1 <= self.uses <= MOST_USES:
            raise InvalidInput(f"A link for {self.uses:,} people. Give from 1 to {MOST_USES:,}.")
        if not timedelta(0) < self.lasts <= LONGEST:
            raise InvalidInput(f"A link that lasts {self.lasts.days} days. Give from 1 to {LONGEST.days}.")
        if self.quota is not None and self.quota < 1:
            raise InvalidInput(f"At most {self.quota} items each is none. Give at least 1.")
        if self.parameter is not None and not _PARAMETER.fullmatch(self.parameter):
            raise InvalidInput(
                f"{shown(self.parameter)} cannot name a part of an address. Take letters, digits, _, - and ., as in "
                "PROLIFIC_PID."
            )
        for code in (self.code, self.code_else):
            if code is not None and not _CODE.fullmatch(code):
                raise InvalidInput(f"The code {shown(code)} is none. Take 1 to 100 plain characters.")
        if self.return_url is not None:
            _check_return(self.return_url)

    def link(self, base: str, token: str) -> str:
        """The link of an invitation on these terms, for an installation at this address: {ID} is the recruiter's."""
        named = "" if self.parameter is None else f"?{self.parameter}={{ID}}"
        return f"{base}/join/{token}{named}"


def _check_return(address: str) -> None:
    parts = urlsplit(address)
    plain = re.fullmatch(r"[!-~]{1,1000}", address) is not None
    if parts.scheme != "https" or not parts.hostname or parts.username or not plain:
        raise InvalidInput(
            f"{shown(address)} is no address to return to. Give one that begins with https:// and a host."
        )


@dataclass(frozen=True)
class OutsideRow:
    """Somebody who came by an invitation: the name they go by here, how far they are, how they ended.

    `recruiter_id` only where it was asked for.
    """

    name: str | None
    recruiter_id: str | None
    joined_at: datetime
    submitted: int
    outcome: str | None


@dataclass(frozen=True)
class InvitationRow:
    """One invitation, without its link, which nobody has kept; who came by it, in the order in which they came."""

    invitation_id: int
    uses: int
    used: int
    quota: int | None
    parameter: str | None
    code: str | None
    code_else: str | None
    return_url: str | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    people: list[OutsideRow]

    def to_json(self) -> dict[str, Any]:
        """As `assay study invitations --json` prints it."""
        people = [
            {
                "annotator": row.name,
                **({} if row.recruiter_id is None else {"recruiter_id": row.recruiter_id}),
                "joined_at": row.joined_at.isoformat(),
                "submitted": row.submitted,
                "outcome": row.outcome,
            }
            for row in self.people
        ]
        times = {name: getattr(self, name) for name in ("created_at", "expires_at", "revoked_at")}
        return {
            "invitation": self.invitation_id,
            "uses": self.uses,
            "used": self.used,
            "items": self.quota,
            "parameter": self.parameter,
            "code": self.code,
            "code_else": self.code_else,
            "return": self.return_url,
            **{name: None if at is None else at.isoformat() for name, at in times.items()},
            "people": people,
        }


def why_nobody(study: Study) -> str | None:
    """Why nobody can be invited to a study, in a sentence; None where people can be."""
    if study.state == StudyState.CLOSED or study.settings.get("foreign"):
        why = "is closed" if study.state == StudyState.CLOSED else "has labels that were made elsewhere"
        return f"Study {study.name!r} {why}: there is nothing to annotate in it."
    if is_balanced(study):
        return f"The items of study {study.name!r} are allotted to its annotators: it has none for others."
    return None


@operation(On.STUDY, RESEARCHERS)
def invite(db: Database, actor: Actor, study_id: int, *, terms: InvitationTerms) -> str:
    """Make an invitation: the token of its link, /join/TOKEN. It is told only now; the database keeps its hash.

    Raises InvalidInput for terms that cannot be held, Conflict for a study that is closed or whose labels were made
    elsewhere.
    """
    terms.check()
    token = secrets.token_urlsafe(32)
    with db.write() as session:
        study = session.get_one(Study, study_id)
        if (why := why_nobody(study)) is not None:
            raise Conflict(why)
        row = Invitation(
            study_id=study_id,
            token_hash=token_hash(token),
            uses=terms.uses,
            quota=terms.quota,
            parameter=terms.parameter,
            code=terms.code,
            code_else=terms.code_else,
            return_url=terms.return_url,
            person_id=actor.person_id,
            expires_at=now() + terms.lasts,
        )
        session.add(row)
        session.flush()
        details = {"invitation": row.id, "uses": terms.uses, "expires_at": row.expires_at.isoformat()}
        record(session, actor, "invitation made", "study", study_id, project_id=study.project_id, details=details)
    return token


@operation(On.STUDY, RESEARCHERS)
def invitations_of(db: Database, actor: Actor, study_id: int, *, recruiter_ids: bool = False) -> list[InvitationRow]:
    """The study's invitations, oldest first, and who came by them; `recruiter_ids`: with what a recruiter calls them.

    That these were asked for is an event.
    """
    with db.write() if recruiter_ids else db.read() as session:
        found = []
        query = select(Invitation).where(Invitation.study_id == study_id).order_by(col(Invitation.id))
        for row in session.exec(query).all():
            assert row.id is not None
            people = session.exec(
                select(OutsideAnnotator, Account.name)
                .join(Account, col(Account.person_id) == col(OutsideAnnotator.person_id), isouter=True)
                .where(OutsideAnnotator.invitation_id == row.id)
                .order_by(col(OutsideAnnotator.person_id))
            ).all()
            came = [
                OutsideRow(
                    name,
                    person.recruiter_id if recruiter_ids else None,
                    person.joined_at,
                    tallies.done(tallies.counts(session, study_id, person.person_id)),
                    ended_as(person, member_of(session, study_id, person.person_id)),
                )
                for person, name in people
            ]
            found.append(
                InvitationRow(
                    row.id, row.uses, row.used, row.quota, row.parameter, row.code, row.code_else, row.return_url,
                    row.created_at, row.expires_at, row.revoked_at, came,
                )
            )  # fmt: skip
        if recruiter_ids:
            project_id = session.get_one(Study, study_id).project_id
            record(session, actor, "recruiter's ids read", "study", study_id, project_id=project_id)
        return found


@operation(On.STUDY, RESEARCHERS)
def revoke_invitation(db: Database, actor: Actor, study_id: int, *, invitation_id: int) -> bool:
    """Let nobody in by this link any more; who is in stays. False where it was revoked before."""
    with db.write() as session:
        row = session.get(Invitation, invitation_id)
        if row is None or row.study_id != study_id:
            raise NotFound(f"The study has no invitation {invitation_id}. List them with: assay study invitations")
        if row.revoked_at is not None:
            return False
        row.revoked_at = now()
        session.add(row)
        project_id, details = session.get_one(Study, study_id).project_id, {"invitation": invitation_id}
        record(session, actor, "invitation revoked", "study", study_id, project_id=project_id, details=details)
        return True
