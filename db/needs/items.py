"""Items that wait after their labels: for a decision or revision that nobody may make, or to be sent back."""

from __future__ import annotations

from db.adjudicating.adjudications import MOST_COUNTED
from db.adjudicating.stages import n_without_decider
from db.models import SettlementState, StudyState
from db.needs.base import WHY, Act, Facts, Kind, Need
from db.releasing.recheck import n_to_send
from db.releasing.revising import n_in_revision, n_without_reviser
from db.releasing.states import BLOCK
from db.studies import tallies


def _dispute(facts: Facts) -> Need | None:
    if not facts.all.get(tallies.ITEMS[SettlementState.DISPUTED]):
        return None
    n = n_without_decider(facts.session, facts.study, most=MOST_COUNTED)
    if not n:
        return None
    return Need(
        "undecidable",
        n,
        f"{facts.items(n)} disputed, and nobody may decide {'it' if n == 1 else 'them'}: every adjudicator has "
        "annotated or decided what is there. Add an adjudicator to the project",
        Act.ADD_PEOPLE,
        "assay member add PROJECT PERSON --role adjudicator",
        at_least=n >= MOST_COUNTED,
    )


def _revision(facts: Facts) -> Need | None:
    waiting = n_in_revision(facts.session, facts.study)
    if not waiting:
        return None
    return Need(
        "revision",
        waiting,
        f"{facts.items(waiting)} in revision: some final labels are not accepted",
        Act.REVISE,
        "",
        at_least=waiting >= BLOCK,
    )


def _no_reviser(facts: Facts) -> Need | None:
    n = n_without_reviser(facts.session, facts.study, facts.strict)
    if not n:
        return None
    return Need(
        "no_reviser",
        n,
        f"{facts.items(n)} in revision that nobody may revise: every researcher has judged, decided or revised "
        f"{'it' if n == 1 else 'them'}. Add a researcher to the project",
        Act.ADD_PEOPLE,
        "assay member add PROJECT PERSON --role researcher",
        at_least=n >= BLOCK,
    )


def _fell(facts: Facts) -> Need | None:
    n, short = n_to_send(facts.session, facts.study)
    if not n:
        return None
    words = (
        f"{facts.items(n)} revised: the labels that fell are asked again once {'it is' if n == 1 else 'they are'} sent"
    )
    if facts.study.state == StudyState.CLOSED:
        start = facts.command("study start", WHY)
        return Need("fell", n, f"{words} back, which takes a study that is not closed", Act.START, start)
    if short == n:
        words += f" back, and fewer than {facts.study.overlap} annotators do not know an earlier version: add some"
        return Need("fell", n, words, Act.AMEND, facts.command("study amend", "--add PERSON", WHY))
    known = f"; of {facts.items(short)} too few annotators do not know an earlier version" if short else ""
    return Need(
        "fell", n, f"{words} back{known}", Act.SEND_BACK, facts.command("study recheck", WHY), at_least=n >= BLOCK
    )


KINDS = (
    Kind("undecidable", "disputed items that nobody may decide", _dispute),
    Kind("no_reviser", "items in revision that nobody may revise", _no_reviser),
    Kind("revision", "items in revision", _revision),
    Kind("fell", "items whose labels fell with a revision and that were not sent back yet", _fell),
)
"""The kinds that are about items, in the order in which they are told."""
