"""Revising an item: other words, claims or evidence under the same identity, and what labels fall with that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from annotators.errors import InvalidInput, shown
from annotators.items.blocks import IMAGE
from annotators.items.item import FIELDS, ItemClaim, ItemContent
from annotators.items.normal import Normal, read_item, to_json
from annotators.items.sentences import sentences

_MARK = re.compile(r"^(?:[-*+•]|#{1,6}|\d{1,3}[.)])[ \t]+")
"""What stands before an entry of a list, or a heading."""

IDENTITY = ("id", "question_key", "system")
"""The fields that all versions of an item share."""

OF_A_VERSION = tuple(name for name in FIELDS if name not in (*IDENTITY, "scores"))
"""The fields that may differ between versions. Scores are of a version, and not carried over: its words changed."""


def revised(item: ItemContent, fields: Mapping[str, Any], *, own_verdicts: bool = False) -> ItemContent:
    """The item with other values for some fields of its normal form, checked as an import checks them.

    null empties a field. Verdicts that the item keeps in its metadata fall where a claim, or what it was held against,
    says something else now, and ratings of pairs where the question or an answer does; with `own_verdicts` they are of
    these very values, and stay.

    Raises InvalidInput for a field that is none or that no version changes, a value that the field cannot have, and
    fields that change nothing.
    """
    for name in fields:
        if name in IDENTITY:
            raise InvalidInput(f"`{name}` is what the item is known by, and stays. Import another item instead.")
        if name not in OF_A_VERSION:
            raise InvalidInput(f"{shown(name)} is no field of an item. Fields: {', '.join(OF_A_VERSION)}.")
    before = as_row(item)
    row = {**before, **fields}
    after = read_item({name: value for name, value in row.items() if value is not None})
    if not changed_fields(before, to_json(after)):
        raise InvalidInput("The item says all that already: nothing changes. Give another value, or leave it.")
    return after if own_verdicts else _without_outdated_verdicts(item, after)


def as_row(item: ItemContent) -> Normal:
    """What a version says, as a row of a file gives it."""
    row: Normal = orjson.loads(orjson.dumps(to_json(item)))
    row.pop("scores", None)
    return row


def changed_fields(before: Normal, after: Normal) -> tuple[str, ...]:
    """The fields, but for scores, in which two normal forms differ, in their order."""
    return tuple(
        name for name in FIELDS if name != "scores" and orjson.dumps(before.get(name)) != orjson.dumps(after.get(name))
    )


def edited(before: ItemContent, after: ItemContent) -> tuple[str, ...]:
    """What an edit touched, as `Protocol.invalidates` names it: changed fields, of evidence also whether its roles."""
    fields = changed_fields(to_json(before), to_json(after))
    if "evidence" not in fields:
        return fields
    units = [[unit._replace(role=None) for unit in item.evidence] for item in (before, after)]
    roles = [{unit.key: unit.role for unit in item.evidence} for item in (before, after)]
    words = (["evidence"] if units[0] != units[1] else []) + (["roles"] if roles[0] != roles[1] else [])
    return tuple(word for name in fields for word in (words if name == "evidence" else [name]))


def fallen_verdicts(before: ItemContent, after: ItemContent) -> int:
    """How many verdicts and ratings of one version are not in the next, as what they are about says something else."""
    kept = _verdicts(after)
    ratings = _n_ratings(before) - _n_ratings(after) if _reads_otherwise(before, after) else 0
    return sum(verdict not in kept for verdict in _outdated_verdicts(before, after)) + max(0, ratings)


def _without_outdated_verdicts(before: ItemContent, after: ItemContent) -> ItemContent:
    if _n_ratings(after) and _reads_otherwise(before, after) and _pairs(before) == _pairs(after):
        bare = [{name: value for name, value in pair.items() if name != _RATINGS} for pair in _pairs(after)]
        after = after._replace(metadata={**after.metadata, _PAIRS: bare})
    outdated = _outdated_verdicts(before, after)
    kept = [verdict for verdict in _verdicts(after) if verdict not in outdated]
    if len(kept) == len(_verdicts(after)):
        return after
    metadata = {name: value for name, value in after.metadata.items() if name != "verdicts"}
    return after._replace(metadata={**metadata, "verdicts": kept} if kept else metadata)


_PAIRS, _RATINGS = "pairs", "ratings"
"""Where metadata keep what raters said of the answer beside another one (`exports.formats.ragchecker`)."""


def _pairs(item: ItemContent) -> list[Mapping[str, Any]]:
    kept = item.metadata.get(_PAIRS)
    whole = isinstance(kept, list | tuple) and all(isinstance(pair, Mapping) for pair in kept)
    return list(kept) if whole and kept else []


def _n_ratings(item: ItemContent) -> int:
    found = (pair.get(_RATINGS) for pair in _pairs(item))
    return sum(len(ratings) for ratings in found if isinstance(ratings, list | tuple))


def _reads_otherwise(before: ItemContent, after: ItemContent) -> bool:
    """Whether what raters of pairs read says something else."""
    return any(getattr(before, name) != getattr(after, name) for name in ("question", "answer", "references"))


def _outdated_verdicts(before: ItemContent, after: ItemContent) -> list[Any]:
    """The verdicts of a version that say nothing of another one.

    Of a claim, an answer or a reference that says something else, or is in only one of the two, and of all units at
    once where these differ. Of a single unit also where any other is new or says something else: a claim's label by
    its units, and what of them supports it, would be known of some alone.
    """
    if not _verdicts(before):
        return []
    was, is_now = _judgeable(before), _judgeable(after)
    is_more = any(was[_CONTEXT].get(key) != unit for key, unit in is_now[_CONTEXT].items())

    def is_outdated(claim: str, against: str) -> bool:
        if was.get(claim) != is_now.get(claim):
            return True
        if not against.startswith(_UNIT):
            return bool(was.get(against) != is_now.get(against))
        return is_more or (against in was[_CONTEXT] and against not in is_now[_CONTEXT])

    return [verdict for verdict in _verdicts(before) if isinstance(verdict, Mapping) and is_outdated(*_judged(verdict))]


def _verdicts(item: ItemContent) -> Sequence[Any]:
    """What metadata keeps as verdicts (`annotators.scorers.shared.verdicts` reads them)."""
    kept = item.metadata.get("verdicts")
    return kept if isinstance(kept, list | tuple) else ()


_CONTEXT, _UNIT = "context", "evidence:"


def _judged(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """The claim that a verdict is on and what that was held against, as `_judgeable` calls them."""
    unit = verdict.get("evidence")
    return f"claim:{verdict.get('claim')}", str(verdict.get("against")) if unit is None else f"{_UNIT}{unit}"


def _judgeable(item: ItemContent) -> dict[str, Any]:
    """What a verdict can be about → what it says: each claim, both answers, and each unit but for its role."""
    row = as_row(item)
    units = {f"{_UNIT}{unit['key']}": {**unit, "role": None} for unit in row.get("evidence", ())}
    claims = {f"claim:{claim.key}": (claim.text, claim.of) for claim in item.claims}
    return {**claims, _CONTEXT: units, "answer": item.answer, "reference": row.get("references")}


def claims_of(item: ItemContent, side: str, texts: Sequence[str]) -> list[Normal]:
    """The item's claims with these texts for those of one side (answer or reference), as a row gives them.

    A claim whose text stays keeps its key and metadata. Any other text gets a key that the item has not had; what was
    known of the claim it replaces was about other words.
    """
    own = {claim.text: claim for claim in item.claims if claim.of == side}
    used = {claim.key for claim in item.claims}
    number, found = 0, []
    for text in texts:
        claim = own.pop(text, None)
        while claim is None:
            number += 1
            if f"c{number}" not in used:
                claim = ItemClaim(f"c{number}", text, side)
        found.append(claim)
    others = [claim for claim in item.claims if claim.of != side]
    ordered = [*found, *others] if side == "answer" else [*others, *found]
    return list(as_row(item._replace(claims=tuple(ordered))).get("claims", []))


def proposed_claims(item: ItemContent, side: str) -> list[str]:
    """The claims of one side as they are, else a sentence each of the answer, or of the reference answers.

    A sentence is where to begin from, and often more than one claim. Marks of lists, images, and what has no letter or
    digit are left out.
    """
    if claims := [claim.text for claim in item.claims if claim.of == side]:
        return claims
    texts = [item.answer] if side == "answer" else [text for text in item.references if isinstance(text, str)]
    found = [_MARK.sub("", sentence) for text in texts for sentence in sentences(IMAGE.sub("", text))]
    return [sentence for sentence in dict.fromkeys(found) if any(map(str.isalnum, sentence))]
