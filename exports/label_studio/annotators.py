"""Who made the annotations there, by their names here: an annotation that was taken in before stays whose it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import count, some
from annotators.times import time_of
from db.elsewhere.known import ERASED, KnownThere
from exports.label_studio.known import People, called_of, name_of


def mark_of(annotation: Mapping[str, Any]) -> str | None:
    """What an annotation is known as, also when it is changed: its number, and the moment when it was made.

    None where it does not say both. Numbers alone begin anew on every server.
    """
    number, made = annotation.get("id"), annotation.get("created_at")
    if not isinstance(number, int) or not isinstance(made, str):
        return None
    try:
        return f"{number}@{time_of(made).isoformat()}"
    except ValueError:
        return None


class Annotators:
    """Names here of those who annotate there.

    `people` says who somebody is, by their address or number; `addresses` has the address of each number, as far as it
    is known; `known` whose an annotation was when it was taken in. A skip says who somebody is where nothing else does.
    """

    def __init__(self, people: People, addresses: Mapping[str, str], known: KnownThere) -> None:
        self._people, self._addresses, self._known = people, dict(addresses), known
        self._names: dict[str, set[str]] = {}
        self._skippers: dict[str, set[str]] = {}
        self._met: set[str] = set()
        self._unnamed: set[str] = set()
        self._kept: Counter[tuple[str, str]] = Counter()

    def learn(self, tasks: Iterable[Any]) -> None:
        """Learn from annotations that were taken in before who somebody is, however they are called this time.

        And of all of them whose number an address is, which some files say of one and not of another.
        """
        tasks = list(tasks)
        for one in _annotations(tasks):
            said = one.get("completed_by")
            with suppress(InvalidInput):  # what says neither is named with its task, when that is read
                both = called_of(said) if isinstance(said, dict) else []
                if len(both) > 1:
                    self._addresses.setdefault(both[1], both[0])
        for one in _annotations(tasks):
            mark = mark_of(one) or ""
            for known, names in ((self._known.labelled, self._names), (self._known.skipped, self._skippers)):
                if mark in known:
                    for called in self._called(one):
                        names.setdefault(called, set()).add(known[mark].annotator)

    def is_nobodys(self, annotation: Mapping[str, Any]) -> bool:
        """Whether an annotation does not say who made it, as of an account that was deleted there, and is new here."""
        mark = mark_of(annotation) or ""
        known = mark in self._known.labelled or mark in self._known.skipped
        return annotation.get("completed_by") is None and not known

    def is_erased(self, annotation: Mapping[str, Any]) -> bool:
        """Whether whoever made an annotation was taken in before, and is a person no more."""
        whose = self._known.labelled.get(mark_of(annotation) or "")
        return ERASED in self._learnt(annotation, self._names) or (whose is not None and whose.annotator == ERASED)

    def name(self, annotation: Mapping[str, Any]) -> str:
        """The name of who made an annotation: who somebody is by what came in before is who they are.

        Else one person would be two by what they are called this time. InvalidInput for somebody who came in under
        several names; of one that is nobody's there is no name.
        """
        called, mark = self._called(annotation), mark_of(annotation) or ""
        self._met.update(called)
        said = next((self._people[one] for one in called if one in self._people), None)
        taken, learnt = self._known.labelled.get(mark), self._learnt(annotation, self._names)
        if taken is None and not learnt and said is None:
            taken, learnt = self._known.skipped.get(mark), self._learnt(annotation, self._skippers)
        if taken is not None:
            whose: str | None = taken.annotator
        elif len(learnt) <= 1:
            whose = next(iter(learnt), None)
        elif said in learnt:
            whose = said
        else:
            names = " and ".join(map(repr, sorted(learnt)))
            raise InvalidInput(
                f"whoever made it ({called[0]}) is {names} here by what came in before. Say which: --person "
                f"{called[0]}=NAME"
            )
        if whose is None:
            if said is None:
                self._unnamed.add(called[0])
            return said or name_of(called[0])
        if said not in (None, whose):
            self._kept[str(said), whose] += 1
        return whose

    def _learnt(self, annotation: Mapping[str, Any], names: Mapping[str, set[str]]) -> set[str]:
        """The names here of whoever made it, by other annotations of theirs."""
        return {name for one in self._called(annotation) for name in names.get(one, ())}

    def check(self) -> None:
        """InvalidInput where somebody is named whom nobody there can be, and others are named by nothing."""
        here = {whose.annotator for whose in self._known.labelled.values()}  # of an account that is gone there by now
        unknown = [one for one in self._unknown() if self._people[one] not in here]
        if unknown and self._unnamed:
            raise InvalidInput(
                f"--person {unknown[0]}={self._people[unknown[0]]} fits nobody there, and no --person fits "
                f"{some(sorted(self._unnamed), 20)}. Write one of these before the sign =, or leave it out."
            )

    def notes(self) -> Iterator[str]:
        """What of `people` was of no use, a sentence each."""
        unknown = self._unknown()
        met = {self._people[one] for one in self._people if one not in unknown}
        for one in (one for one in unknown if self._people[one] not in met):
            yield f"--person {one}={self._people[one]} fits nobody who has annotated."
        for (said, whose), n in self._kept.items():
            yield (
                f"{count(n, 'annotation')} of {said!r} came in as those of {whose!r} before, and stay so: withdraw "
                "their batch, and pull again, if that was wrong."
            )

    def _unknown(self) -> list[str]:
        known = self._met | set(self._addresses) | set(self._addresses.values())
        return sorted(set(self._people) - known)

    def _called(self, annotation: Mapping[str, Any]) -> list[str]:
        if annotation.get("completed_by") is None:
            return []
        called = called_of(annotation["completed_by"])
        address = self._addresses.get(called[0])
        return called if address is None else [address, *called]


def _annotations(tasks: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for task in tasks:
        given = task.get("annotations") if isinstance(task, dict) else None
        yield from (one for one in given if isinstance(one, dict)) if isinstance(given, list) else ()
