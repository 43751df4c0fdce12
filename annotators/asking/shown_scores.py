"""What people are shown of the scores that they judge: for each criterion the one that it is about, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from annotators.asking.judged_scores import ScoreKey, scores_by_criterion
from annotators.items.item import NOTHING, ItemContent, Reference
from annotators.protocols import Protocol
from annotators.scorers.base import UNSCORED, ScoreValue, meaning, scorer_title, value_kind
from annotators.scorers.shared.phrases import Mode, PhraseSet, counted_behind, share_in_words

Shown = Mapping[str, Any]
"""A score as the browser gets it: the criterion that is about it (or None), scorer and title, value in words."""

Counted = Mapping[ScoreKey, tuple[list[PhraseSet], Mode]]
"""Score → the phrase sets that it was counted from, and how."""


class GivenScore(NamedTuple):
    """A score of an item: a value, or None with the reason; what the scorer says of it, and the run's parameters."""

    scorer: str
    name: str
    value: float | None
    reason: str | None = None
    details: dict[str, Any] | None = None
    parameters: Mapping[str, Any] = NOTHING

    @property
    def key(self) -> ScoreKey:
        """What it is a value of."""
        return self.scorer, self.name


def phrases_counted(scores: Sequence[GivenScore], answer: str, references: Sequence[Reference]) -> Counted:
    """Of the scores of an item those that were counted from phrases, with these."""
    return {
        score.key: behind
        for score in scores
        if score.value is not None
        if (behind := counted_behind(score.scorer, _as_value(score), score.parameters, answer, references)) is not None
    }


def scores_shown(
    judged: Mapping[str, Sequence[ScoreKey]], scores: Sequence[GivenScore], counted: Counted
) -> list[dict[str, Any]]:
    """For each criterion about scores the one to judge, or that there is none; then the scores of no criterion.

    `judged` is by criterion the scores that it is about, the one to take first in front.
    """
    rows = {score.key: _shown(score, counted.get(score.key)) for score in scores}
    out = []
    taken: set[ScoreKey] = set()
    for name, keys in judged.items():
        there = [key for key in keys if key in rows]
        key = next((score for score in there if rows[score]["value"] is not None), next(iter(there), None))
        taken |= {key} if key else set()
        row = rows[key] if key else _no_score(keys[0] if keys else None)
        out.append({**row, "criterion": name})
    return [*out, *(row for key, row in rows.items() if key not in taken)]


def own_scores_shown(protocol: Protocol, item: ItemContent) -> list[dict[str, Any]]:
    """The same of the scores that came with an item, where no study says which are judged: those of criteria alone."""
    scores = [
        GivenScore(score.scorer, score.name, score.value, score.reason, None, score.parameters)
        for score in item.scores
        if score.target == "item"
    ]
    judged = scores_by_criterion(protocol, list(dict.fromkeys(score.key for score in scores)))
    about = {key for keys in judged.values() for key in keys}
    scores = [score for score in scores if score.key in about]
    return scores_shown(judged, scores, phrases_counted(scores, item.answer, item.references))


def score_lines(scores: Iterable[Shown], protocol: Protocol) -> str:
    """Scores as a text, a line each, for pages without a place for them in the rows of their criteria.

    A line names its criterion where the score's own title does not tell which it is.
    """
    titles = {criterion.name: criterion.title for criterion in protocol.criteria}
    return "\n".join(_line(score, titles.get(score.get("criterion") or "", "")) for score in scores)


def _line(score: Shown, criterion: str) -> str:
    called = " ".join(dict.fromkeys(filter(None, (score.get("scorer"), score.get("title")))))
    said = bool(score.get("title")) and str(score["title"]).lower() in criterion.lower()
    means = f" ({score['meaning']})" if score.get("meaning") else ""
    return ": ".join(filter(None, ["" if said else criterion, called, str(score.get("words", ""))])) + means


def _shown(score: GivenScore, behind: tuple[list[PhraseSet], Mode] | None) -> dict[str, Any]:
    kind = value_kind(score.scorer, score.name)
    says = "" if score.value is None else meaning(score.scorer, _as_value(score))
    if behind is not None and score.name == "correctness" and not (score.details or {}).get("error_marker"):
        says = share_in_words(behind[0])
    return {
        "criterion": None,
        "scorer": scorer_title(score.scorer),
        "title": kind.title,
        "kind": kind.kind,
        "value": score.value,
        "words": kind.in_words(score.value, score.reason),
        "meaning": says,
    }


def _no_score(key: ScoreKey | None) -> dict[str, Any]:
    """In place of a score that the item, or the whole study, does not have."""
    reason = "this item has no such score" if key else "this study has no such score"
    title = value_kind(*key).title if key else ""
    scorer = scorer_title(key[0]) if key else ""
    words = f"{UNSCORED}: {reason}"
    return {"scorer": scorer, "title": title, "kind": "number", "value": None, "words": words, "meaning": ""}


def _as_value(score: GivenScore) -> ScoreValue:
    """A score that has a value, as scorers know it."""
    return ScoreValue(score.name, score.value, details=score.details)
