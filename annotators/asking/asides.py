"""What a study may ask beside a label: how sure the annotator is, and how many others would give the same.

Neither belongs to a protocol: it is a study's choice. It is asked of every criterion about the item or the pair as a
whole that has labels to choose from, and stored with the label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotators.asking.repairs import Path
from annotators.criteria import Criterion
from annotators.criteria.grade import Grade
from annotators.criteria.labels import Label
from annotators.errors import InvalidInput, shown
from annotators.items.targets import TargetKind
from annotators.protocols.base import Protocol

CONFIDENCES = {"low": "Low", "medium": "Medium", "high": "High"}
"""How sure somebody is of a label or a decision."""

OTHERS = 10
"""Of how many others it is asked how many would give the same label."""

ASIDES: dict[str, Grade] = {
    "confidence": Grade(
        name="confidence",
        title="How sure are you?",
        labels=[Label(value=value, title=title) for value, title in CONFIDENCES.items()],
    ),
    "same": Grade(
        name="same",
        title=f"How many of {OTHERS} others will say the same?",
        labels=[Label(value=n, title=str(n), key="t" if n == OTHERS else str(n)) for n in range(OTHERS + 1)],
    ),
}
"""What may be asked, by name: the name of the setting, of the label's field, and of its column in exports."""

_BRIEFLY = {"confidence": "how sure", "same": "how many others"}


def unknown_asides(names: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """What cannot be asked beside a label: its field in a design, and what is wrong with it."""
    for place, name in enumerate(names):
        if name not in ASIDES:
            yield ("ask", place), f"{name!r} cannot be asked beside a label. Known: {', '.join(ASIDES)}."


def check_asked_of(protocol: Protocol, names: Sequence[str]) -> None:
    """InvalidInput for a protocol that has no criterion beside whose labels these could be asked."""
    if names and not any(asked_beside(criterion) for criterion in protocol.criteria):
        raise InvalidInput(
            f"No criterion of the protocol {protocol.name!r} is about the item as a whole and has labels to choose "
            f"from, so that {' and '.join(names)} can be asked of none. Leave it out."
        )


def asked_beside(criterion: Criterion) -> bool:
    """Whether something can be asked beside the labels of the criterion."""
    whole = criterion.target in {TargetKind.ITEM, TargetKind.PAIR}
    return whole and criterion.compared and criterion.scale in {"nominal", "ordinal"} and bool(criterion.label_list())


def for_browser(criterion: Criterion, asks: Sequence[str]) -> list[dict[str, Any]]:
    """What is asked beside the labels of a criterion, as the control in the browser needs it."""
    return [
        {
            **ASIDES[name].for_browser(),
            "name": f"{criterion.name}.{name}",
            "title": f"{criterion.title}: {_BRIEFLY[name]}",
            "target": criterion.target,
            "aside": {"of": criterion.name, "field": name, "title": ASIDES[name].title},
        }
        for name in (asks if asked_beside(criterion) else ())
    ]


def check_said(criterion: Criterion, said: Mapping[str, Any], asks: Sequence[str], *, cannot_judge: bool) -> None:
    """InvalidInput where something is said beside a label that is not asked, or not said that is.

    It is asked of every label that is given, and of nothing that cannot be judged.
    """
    wanted = asks if asked_beside(criterion) and not cannot_judge else ()
    for name, aside in ASIDES.items():
        given = said[name]
        if name not in wanted:
            if given is not None:
                raise InvalidInput(f"{criterion.title!r} has {name} {shown(given)}, which is not asked. Leave it out.")
            continue
        if given is None:
            raise InvalidInput(f"{criterion.title!r}: {aside.title} Say it for every label.")
        known = [stored.value for stored in aside.label_list()]
        if not any(type(given) is type(value) and given == value for value in known):
            raise InvalidInput(
                f"{criterion.title!r}: {name} is {shown(given)}. Give one of {', '.join(map(str, known))}."
            )


def asked_by(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What a study asks beside labels, by its settings."""
    return tuple(settings.get("ask", ()))
