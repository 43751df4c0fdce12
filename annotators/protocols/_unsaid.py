"""What protocols are taken to say of scores where they do not say it themselves: it is read off their names.

Protocols that were frozen in a study, or written to a file, before there were fields for it hide it in the names of
protocols and criteria. This is the only place that looks there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotators.criteria import Criterion

_BLIND = "_blind"
_AGREES = "_agreement"


def scores_of(criterion: Criterion, *, about_scores: bool) -> list[str]:
    """The scores that a criterion is about; in a protocol about scores `tone_agreement` is about `tone`."""
    if criterion.score or not about_scores or not criterion.name.endswith(_AGREES):
        return criterion.score
    return [criterion.name.removesuffix(_AGREES)]


def compared_with(said: Mapping[str, Any]) -> str:
    """The other arm by what else a protocol says: `tone_blind` is compared with `tone`; empty where there is none."""
    name = said.get("name", "")
    return name.removesuffix(_BLIND) if name.endswith(_BLIND) else ""


def judged_blind(said: Mapping[str, Any]) -> dict[str, str]:
    """Criterion about a score → the first of the others whose name begins with that of the score."""
    criteria, about_scores = said.get("criteria", ()), said.get("about_scores", False)
    scores = {criterion.name: scores_of(criterion, about_scores=about_scores) for criterion in criteria}
    others = [name for name, judged in scores.items() if not judged]
    found = {
        graded: next((name for name in others if name.startswith(judged[0])), None)
        for graded, judged in scores.items()
        if judged
    }
    return {graded: blind for graded, blind in found.items() if blind is not None}


BY_NAME: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "compared_with": compared_with,
    "judged_blind": judged_blind,
}
"""The fields of a protocol that have a default by names, and the default."""
