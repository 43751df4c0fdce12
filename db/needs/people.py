"""Annotators who get no items until the researcher does something, and what is kept for them."""

from __future__ import annotations

from annotators.figures import count, some
from db.allotting.slots import is_balanced, waiting_by_person
from db.models import AssignmentState
from db.needs.base import WHY, Act, Facts, Kind, Need, gets_nothing, person

_SHOWN = 5
"""People who are named; of more it is said how many."""


def _failed(facts: Facts) -> Need | None:
    people = facts.called([one for one in facts.team if one.failed_at is not None])
    if not people or not facts.wanted:
        return None
    return Need(
        "failed",
        len(people),
        f"{count(len(people), 'annotator')} failed the qualification and {_get(people)} no items: "
        f"{some(people, _SHOWN)}",
        Act.LET_IN,
        facts.command("annotators let-in", person(people[0]), WHY),
        people,
    )


def _paused(facts: Facts) -> Need | None:
    people = facts.called([one for one in facts.team if one.paused_at is not None])
    if not people or not facts.wanted:
        return None
    return Need(
        "paused",
        len(people),
        f"{count(len(people), 'annotator')} paused, as too many labels of gold items were wrong: "
        f"{some(people, _SHOWN)}",
        Act.LET_GO_ON,
        facts.command("study amend", *(f"--add {person(name)}" for name in people), WHY),
        people,
    )


def _left_out(facts: Facts) -> Need | None:
    people = facts.called([one for one in facts.team if one.left_out_from is not None])
    if not people or not facts.wanted:
        return None
    return Need(
        "left_out",
        len(people),
        f"{count(len(people), 'annotator')} {_get(people)} no items, as their labels are left out: "
        f"{some(people, _SHOWN)}",
        Act.RESTORE,
        facts.command("annotators restore", person(people[0]), WHY),
        people,
    )


def _get(people: tuple[str, ...]) -> str:
    return "gets" if len(people) == 1 else "get"


def _allotted(facts: Facts) -> Need | None:
    """Slots that are allotted to people who get nothing now: nobody else is given those."""
    if not is_balanced(facts.study) or not facts.wanted:
        return None
    waiting = waiting_by_person(facts.session.connection(), facts.study.id or 0)
    held = {
        facts.names[member.person_id]: n
        for member in facts.members
        if gets_nothing(member)
        and (n := waiting.get(member.person_id, 0) + facts.of(member.person_id, AssignmentState.LEASED))
    }
    if not held:
        return None
    people = tuple(sorted(held))
    n = sum(held.values())
    return Need(
        "allotted",
        n,
        f"{facts.items(n)} allotted to {some(people, _SHOWN)}, who {_get(people)} none now, "
        f"{'waits' if n == 1 else 'wait'} for nobody else",
        Act.HAND_ON,
        facts.command("study amend", *(f"--hand-on {person(name)}" for name in people), WHY),
        people,
    )


def _returned(facts: Facts) -> Need | None:
    """What was returned to somebody who left: it stays theirs, and is given to nobody else."""
    if not facts.wanted:
        return None
    gone = [
        one for one in facts.members if one.left_at is not None and facts.of(one.person_id, AssignmentState.RETURNED)
    ]
    if not gone:
        return None
    people, n = facts.called(gone), sum(facts.of(one.person_id, AssignmentState.RETURNED) for one in gone)
    return Need(
        "returned",
        n,
        f"{facts.items(n)} returned to {some(people, _SHOWN)}, who left the study: add them again, or leave out what "
        f"they submitted, which gives {'it' if n == 1 else 'them'} to others",
        Act.AMEND,
        facts.command("study amend", *(f"--add {person(name)}" for name in people), WHY),
        people,
    )


KINDS = (
    Kind("failed", "annotators who failed the qualification", _failed),
    Kind("paused", "annotators who were paused, as too many of their labels of gold items were wrong", _paused),
    Kind("left_out", "annotators whose labels are left out, and who get no items meanwhile", _left_out),
    Kind("allotted", "slots that are allotted to people who get no items now", _allotted),
    Kind("returned", "items that were returned to somebody who left the study", _returned),
)
"""The kinds that are about people, in the order in which they are told."""
