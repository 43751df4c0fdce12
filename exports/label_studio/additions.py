"""What a study adds to its protocol that there is nothing for there: each thing once, with how often it comes."""

from __future__ import annotations

from collections.abc import Iterator

from annotators.asking.asides import ASIDES, asked_beside
from annotators.asking.planting import Planting
from annotators.designing.arms import PEOPLE
from annotators.designing.design import BALANCED
from annotators.designing.phases import phases_of
from annotators.designing.talk import NEVER
from annotators.figures import count
from annotators.items.sampling import OWN
from db.elsewhere.handed_over import StudyElsewhere
from db.models import Purpose


def additions_lost(study: StudyElsewhere) -> Iterator[tuple[str, int]]:
    """What is lost of a study besides what is lost of its protocol: in a sentence, and how often."""
    yield from _of_items(study)
    yield from _of_people(study)
    for name in study.settings.get("ask", ()):
        criteria = sum(map(asked_beside, study.protocol.criteria))
        yield f"“{ASIDES[name].title}” is not asked there beside a label, but of how many criteria", criteria
    phases = phases_of(study.settings)
    if phases.consent:
        yield "The consent is not asked for there", 1
    yield "Questions before the first item are not asked there", len(phases.before)
    yield "Questions after the last item are not asked there", len(phases.after)


def _of_items(study: StudyElsewhere) -> Iterator[tuple[str, int]]:
    beside = study.beside
    yield (
        "Rechecks are not asked there: they ask a part of the criteria, of people who know no earlier version. Have "
        "them labelled here",
        beside.get(Purpose.RECHECK, 0),
    )
    yield "Gold items are not given there", beside.get(Purpose.GOLD, 0)
    yield "Items for qualification are not given there: everybody labels", beside.get(Purpose.QUALIFICATION, 0)
    if repeats := Planting.of(study.settings).repeat_rate:
        yield f"Items do not come to anybody again there (here, {repeats:.0%} of what somebody is given)", 1
    if study.order == OWN:
        yield "Annotators have no order of their own there: tasks come to all in one", 1


def _of_people(study: StudyElsewhere) -> Iterator[tuple[str, int]]:
    settings = study.settings
    yield "Quotas of annotators are not kept there", study.n_quotas
    if settings.get("queue") == BALANCED:
        yield "Items are not allotted to annotators there: whoever comes first labels them", 1
    if settings.get("arm", {}).get("allot") == PEOPLE:
        yield "Nobody is kept to one arm of the experiment there: whoever sees a project may label in it", 1
    if settings.get("talk", NEVER) != NEVER:
        yield "Annotators do not talk about items there", 1
    if outside := settings.get("outside"):
        yield f"{count(outside, 'place')} for people who come by invitation: they label here", 1
    if study.has_deadline:
        yield "The deadline is not kept there", 1
