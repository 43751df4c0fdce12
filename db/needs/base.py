"""What a study needs its researcher for: the kinds of it, what ends each, and what is known of a study to find them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlmodel import Session

from annotators.figures import count
from db.models import AssignmentState, Study, StudyMember, StudyState
from db.studies import tallies
from db.studies.design import protocol_of

UNFINISHED = (AssignmentState.OPEN, AssignmentState.LEASED, AssignmentState.RETURNED)
"""The states of assignments that are still to be submitted."""

WHY = "--reason TEXT"


class Act(StrEnum):
    """What ends a need: the button that does it, on every page."""

    LET_IN = "Let in…"
    LET_GO_ON = "Let go on…"
    RESTORE = "Restore…"
    HAND_ON = "Hand on…"
    START = "Start again…"
    AMEND = "Amend…"
    INVITE = "Invite…"
    SEND_BACK = "Send back…"
    REVISE = "Revise"
    ADD_PEOPLE = "Add people…"


@dataclass(frozen=True)
class Need:
    """Something that waits for the researcher: how many people or items, in words, and what ends it.

    `people` are the annotators whom it is about, by name. `command` is the one of `assay` that ends it as well; ""
    where it is done in the browser alone. `at_least`: more may wait than were counted.
    """

    kind: str
    n: int
    words: str
    act: Act
    command: str
    people: tuple[str, ...] = ()
    at_least: bool = False

    def to_json(self) -> dict[str, Any]:
        """As `assay status --json` prints it."""
        return {
            "kind": self.kind,
            "n": self.n,
            "at_least": self.at_least,
            "words": self.words,
            "people": list(self.people),
            "ends_it": self.act.value.rstrip("…"),
            "command": self.command,
        }


@dataclass(frozen=True)
class Facts:
    """A study as needs are found in it: its members with their names, and the kept counts of assignments.

    `counts` are by person and state, everybody's under `tallies.EVERYBODY`. `strict` are the studies of its project in
    which those who judged revise nothing.
    """

    session: Session
    study: Study
    project: str
    members: Sequence[StudyMember]
    names: Mapping[int, str]
    counts: Mapping[int, Mapping[str, int]]
    strict: Collection[int]

    @property
    def wanted(self) -> int:
        """How many annotations are still to be submitted, as long as the study takes any."""
        if self.study.state == StudyState.CLOSED or self.study.settings.get("foreign"):
            return 0
        return sum(self.all.get(state, 0) for state in UNFINISHED)

    @property
    def all(self) -> Mapping[str, int]:
        """Everybody's assignments by state."""
        return self.counts.get(tallies.EVERYBODY, {})

    def of(self, person_id: int, state: str) -> int:
        """How many of somebody's assignments are in a state."""
        return self.counts.get(person_id, {}).get(state, 0)

    @property
    def team(self) -> list[StudyMember]:
        """The annotators who have not left."""
        return [member for member in self.members if member.left_at is None]

    @property
    def idle(self) -> list[int]:
        """The people to whom the study gives nothing more, whatever is left."""
        return [member.person_id for member in self.members if gets_nothing(member) or self._is_full(member)]

    def _is_full(self, member: StudyMember) -> bool:
        done = tallies.done(self.counts.get(member.person_id, {}))
        return member.quota is not None and done >= member.quota

    def items(self, n: int) -> str:
        """`12 items`, or pairs."""
        return count(n, "pair" if protocol_of(self.study).about_pairs else "item")

    def called(self, people: Sequence[StudyMember]) -> tuple[str, ...]:
        """The names of these people, by name."""
        return tuple(sorted(self.names[member.person_id] for member in people))

    def command(self, words: str, *more: str) -> str:
        """A command of `assay` about this study, with what comes behind its name."""
        return " ".join(["assay", words, shlex.quote(self.project), shlex.quote(self.study.name), *more])


def gets_nothing(member: StudyMember) -> bool:
    """Whether the study gives somebody no items: they left, failed, are paused, or their labels are left out."""
    return any(at is not None for at in (member.left_at, member.left_out_from, member.paused_at, member.failed_at))


def person(name: str) -> str:
    """A person as a command takes them."""
    return shlex.quote(name)


@dataclass(frozen=True)
class Kind:
    """One kind of need: its name, what documents call it, and how it is found in a study (None: it is not there)."""

    name: str
    about: str
    find: Callable[[Facts], Need | None]
