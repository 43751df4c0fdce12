"""What the browser is sent of an item at one step: exactly the materials that the step shows, and nothing else.

Keys of evidence, claims and images can give away what they are (`gold-1`), and so can their order. On the wire they are
E1, E2 …, C1 …, I1 … in an order that says nothing (by document and page when roles are hidden); `Wire` maps targets
there and back. Claims and images are known only as far as the text that they belong to is shown (`parts_at`): those of
the reference answer are among the parts from the step that shows the references.
"""

from __future__ import annotations

import hashlib
import typing
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import BindParameter, Connection, Row, Select, Table, bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.asking.judged_scores import ScoreKey, scores_by_criterion
from annotators.errors import InvalidInput
from annotators.items.targets import Units
from annotators.pages.documents.cache import DRAWING
from annotators.protocols import Material, Protocol
from annotators.scorers.base import UNSCORED, ScoreValue, meaning, scorer_title, value_kind
from annotators.scorers.shared.phrases import RULES, Mode, PhraseSet, counted_behind, places_of, share_in_words
from db.models import (
    AssignmentState,
    Claim,
    Document,
    Draft,
    Evidence,
    GivenLabel,
    Image,
    Item,
    ItemDocument,
    ItemVersion,
    Run,
    Score,
    Study,
    StudyItem,
    StudyScore,
)
from db.query import table_of
from db.studies.design import protocol_of

_NAMED = ("evidence", "claim", "image")
_ON_PAGES = {Material.EVIDENCE, Material.DOCUMENTS, Material.IMAGES}


Part = Row[Any]
"""A row of the table of that name, as the database gave it: the columns are its attributes."""


@dataclass(frozen=True)
class Parts:
    """One item version with everything that hangs on it. `about`: the ids of the documents it is about by itself."""

    study_item_id: int
    system: str
    version: Part
    evidence: list[Part]
    claims: list[Part]
    images: list[Part]
    documents: list[Part]
    scores: list[tuple[Score, Run]]
    about: frozenset[int] = frozenset()


_ITEM_VERSION, _STUDY_ITEM, _DOCUMENT = table_of(ItemVersion), table_of(StudyItem), table_of(Document)
_VERSIONS = (
    sql_select(_STUDY_ITEM.c.id.label("study_item_id"), table_of(Item).c.system, _ITEM_VERSION)
    .select_from(_STUDY_ITEM.join(_ITEM_VERSION).join(table_of(Item)))
    .where(_STUDY_ITEM.c.id.in_(bindparam("ids", expanding=True)))
)
"""Like the other queries of this module, which every submission runs, it is made once: making it costs more than it."""


def _of_versions(table: Table) -> Select[Any]:
    wanted = table.c.item_version_id.in_(bindparam("ids", expanding=True))
    return sql_select(table).where(wanted).order_by(table.c.position)


_EVIDENCE, _CLAIMS, _IMAGES = (_of_versions(table_of(one)) for one in (Evidence, Claim, Image))


def _documents_query() -> Select[Any]:
    """The documents that versions are about, a row for each of them, and others that are cited (without a version)."""
    about = table_of(ItemDocument).c
    versions: BindParameter[Any] = bindparam("versions", expanding=True)
    others = sql_select(_DOCUMENT.c.id).where(_DOCUMENT.c.id.in_(bindparam("cited", expanding=True)))
    wanted = sql_select(about.document_id).where(about.item_version_id.in_(versions)).union(others)
    own = (about.document_id == _DOCUMENT.c.id) & about.item_version_id.in_(versions)
    return (
        sql_select(about.item_version_id, _DOCUMENT)
        .select_from(_DOCUMENT.outerjoin(table_of(ItemDocument), own))
        .where(_DOCUMENT.c.id.in_(wanted))
    )


_DOCUMENTS = _documents_query()
_SCORES = (
    select(StudyScore.study_item_id, Score, Run)
    .join(Score, col(Score.id) == StudyScore.score_id)
    .join(Run, col(Run.id) == Score.run_id)
    .where(col(StudyScore.study_item_id).in_(bindparam("ids", expanding=True)))
    .order_by(col(Run.name), col(Score.name))
)
_LABELS = (
    select(GivenLabel)
    .where(col(GivenLabel.assignment_id).in_(bindparam("ids", expanding=True)))
    .order_by(col(GivenLabel.id))
)
_DRAFTS = sql_select(table_of(Draft)).where(table_of(Draft).c.assignment_id.in_(bindparam("ids", expanding=True)))


def load_parts(session: Session, study_item_ids: Iterable[int], needs: set[Material]) -> dict[int, Parts]:
    """Study item → its frozen item version and the parts that `needs` calls for, in a fixed number of queries."""
    wanted = list(study_item_ids)
    if not wanted:
        return {}
    connection = session.connection()
    rows = connection.execute(_VERSIONS, {"ids": wanted}).all()
    versions = [row.id for row in rows]
    evidence = _by_version(connection, _EVIDENCE, versions if needs & {Material.EVIDENCE, Material.DOCUMENTS} else [])
    claims = _by_version(connection, _CLAIMS, versions if Material.CLAIMS in needs else [])
    images = _by_version(connection, _IMAGES, versions if Material.IMAGES in needs else [])
    about: dict[int, set[int]] = defaultdict(set)
    documents: dict[int, list[Part]] = defaultdict(list)
    if needs & _ON_PAGES:
        about, documents = _documents_of(connection, versions, [evidence, images])
    scores = _scores_of(session, wanted) if Material.SCORES in needs else defaultdict(list)
    return {
        row.study_item_id: Parts(
            row.study_item_id,
            row.system,
            row,
            evidence[row.id],
            claims[row.id],
            images[row.id],
            documents[row.id],
            scores[row.study_item_id],
            frozenset(about[row.id]),
        )
        for row in rows
    }


def _documents_of(
    connection: Connection, versions: Sequence[int], parts: Sequence[dict[int, list[Part]]]
) -> tuple[dict[int, set[int]], dict[int, list[Part]]]:
    """Version → the ids of the documents it is about, and those with the ones that a part of it points at, by key."""
    cited: dict[int, set[int]] = {version_id: set() for version_id in versions}
    for found in parts:
        for version_id, ones in found.items():
            cited[version_id] |= {one.document_id for one in ones if one.document_id is not None}
    about: dict[int, set[int]] = defaultdict(set)
    rows: dict[int, Part] = {}
    asked = {"versions": versions, "cited": list(set().union(*cited.values()))}
    for row in connection.execute(_DOCUMENTS, asked):
        rows[row.id] = row
        if row.item_version_id is not None:
            about[row.item_version_id].add(row.id)
    documents: dict[int, list[Part]] = defaultdict(list)
    for version_id, mine in cited.items():
        documents[version_id] = sorted((rows[one] for one in mine | about[version_id]), key=lambda one: str(one.key))
    return about, documents


def _scores_of(session: Session, study_item_ids: Sequence[int]) -> dict[int, list[tuple[Score, Run]]]:
    """The score rows that the study was frozen with."""
    scores: dict[int, list[tuple[Score, Run]]] = defaultdict(list)
    for study_item_id, score, run in session.execute(_SCORES, {"ids": list(study_item_ids)}):
        scores[study_item_id].append((score, run))
    return scores


def _by_version(connection: Connection, query: Select[Any], versions: Sequence[int]) -> dict[int, list[Part]]:
    found: dict[int, list[Part]] = defaultdict(list)
    for row in connection.execute(query, {"ids": list(versions)}) if versions else ():
        found[row.item_version_id].append(row)
    return found


def parts_at(parts: Parts, protocol: Protocol, step: int, *, hidden: bool = False) -> Parts:
    """The parts that may be known at a step: no claim and no image of a text that is not shown then.

    In the order in which they come to be shown, so that what was C1 stays C1 in the steps after. `hidden` adds the
    others behind them, for those who settle labels that were given of such parts.
    """
    claims = _by_step(parts.claims, protocol, step, Material.CLAIMS, hidden=hidden)
    images = _by_step(parts.images, protocol, step, Material.IMAGES, hidden=hidden)
    cited = {one.document_id for one in [*parts.evidence, *images]} | parts.about
    documents = [document for document in parts.documents if document.id in cited]
    return replace(parts, claims=claims, images=images, documents=documents)


def _by_step(found: Sequence[Any], protocol: Protocol, step: int, material: Material, *, hidden: bool) -> list[Any]:
    steps = {one.key: protocol.first_step_with_all(material, text_of(_side(one, material))) for one in found}
    never = len(protocol.steps)
    first = {key: never if at is None else at for key, at in steps.items()}
    shown = sorted((one for one in found if first[one.key] <= step), key=lambda one: first[one.key])
    return [*shown, *(one for one in found if first[one.key] > step)] if hidden else shown


def text_of(side: object) -> Material:
    """What a claim or an image of this side (`of`) belongs to, and is shown with: the answer, or the references."""
    return Material.REFERENCES if side == "reference" else Material.ANSWER


def _side(part: Part, material: Material) -> object:
    return part.of if material is Material.CLAIMS else part.extra.get("of")


class Wire:
    """The neutral names that the parts of one item have in the browser, and the way back.

    `evidence` has the keys in the order in which the browser shows them.
    """

    def __init__(self, parts: Parts, *, roles_shown: bool) -> None:
        keys = {document.id: document.key for document in parts.documents}
        evidence = list(parts.evidence)
        if not roles_shown:
            evidence.sort(key=lambda e: (keys.get(e.document_id, "~"), (e.pages or [0])[0], _digest(e), e.key))
        self.evidence = tuple(one.key for one in evidence)
        self._names = {f"evidence:{key}": f"evidence:E{n}" for n, key in enumerate(self.evidence, 1)}
        self._names |= {f"claim:{one.key}": f"claim:C{n}" for n, one in enumerate(parts.claims, 1)}
        self._names |= {f"image:{one.key}": f"image:I{n}" for n, one in enumerate(parts.images, 1)}
        self._keys = {wire: real for real, wire in self._names.items()}
        self._image_names = {one.key: f"I{n}" for n, one in enumerate(parts.images, 1)}
        self._image_keys = {wire: real for real, wire in self._image_names.items()}

    def knows(self, target: str) -> bool:
        """Whether every part of the item that the target names may be known in the browser."""
        parts = (piece for piece in target.split("|") if piece.split(":")[0] in _NAMED)
        return all(piece in self._names for piece in parts)

    def out(self, target: str) -> str:
        """The target as the browser knows it."""
        return "|".join(self._names.get(piece, piece) for piece in target.split("|"))

    def back(self, target: str) -> str:
        """The target as it is stored; InvalidInput for a part that the item does not have."""
        pieces = []
        for piece in target.split("|"):
            if piece.split(":")[0] in _NAMED:
                if piece not in self._keys:
                    raise InvalidInput(f"This item has no {piece!r}. Reload the page to see it as it is.")
                pieces.append(self._keys[piece])
            else:
                pieces.append(piece)
        return "|".join(pieces)

    def value_out(self, value: Any, kind: str) -> Any:
        """A value as the browser knows it: an order of images is a list of their neutral names."""
        return (
            [self._image_names[one] for one in value if one in self._image_names]
            if kind == "order" and value
            else value
        )

    def value_back(self, value: Any, kind: str) -> Any:
        """A value as it is stored."""
        if kind == "order" and isinstance(value, list):
            return [self._image_keys.get(one, one) if isinstance(one, str) else one for one in value]
        return value


def _digest(one: Part) -> bytes:
    """An order that says nothing and that no redaction of a text changes."""
    return hashlib.sha256(f"{one.item_version_id}:{one.key}".encode()).digest()


def units_of(parts: Parts, wire: Wire) -> Units:
    """The parts of the item that labels can be about, in the order the browser shows them."""
    return Units(
        evidence=wire.evidence,
        claims=tuple(one.key for one in parts.claims),
        pages=tuple((d.key, n) for d in parts.documents for n in range(1, (d.n_pages or 0) + 1)),
        images=tuple(one.key for one in parts.images),
        hops=tuple(hop["key"] for hop in parts.version.hops),
    )


_KEPT_UNITS = 500
_UNITS: WeakKeyDictionary[Any, dict[tuple[object, ...], tuple[Wire, Units]]] = WeakKeyDictionary()
_KEEPING = Lock()


def units_at(
    session: Session, study: Study, study_item_id: int, step: int, *, fresh: bool = False
) -> tuple[Wire, Units]:
    """The neutral names and the units of an item at a step, kept from when it was presented.

    The item version is frozen, so that only one thing can change: the number of pages of a document whose bytes come
    later. Who finds a target missing asks again with `fresh`.
    """
    found = None if fresh else _UNITS.get(session.get_bind(), {}).get(_units_key(study, study_item_id, step))
    if found is None:
        protocol = protocol_of(study)
        loaded = load_parts(session, [study_item_id], _all_shown(protocol))[study_item_id]
        parts = parts_at(loaded, protocol, step)
        found = _keep_units(session, study, parts, step)
    return found


def _keep_units(session: Session, study: Study, parts: Parts, step: int) -> tuple[Wire, Units]:
    wire = Wire(parts, roles_shown=Material.ROLES in protocol_of(study).shown_at(step))
    found = wire, units_of(parts, wire)
    with _KEEPING:
        kept = _UNITS.setdefault(session.get_bind(), {})
        while len(kept) >= _KEPT_UNITS:
            del kept[next(iter(kept))]
        kept[_units_key(study, parts.study_item_id, step)] = found
    return found


def _all_shown(protocol: Protocol) -> set[Material]:
    return protocol.shown_at(len(protocol.steps) - 1)


def _units_key(study: Study, study_item_id: int, step: int) -> tuple[object, ...]:
    # With its time of creation: SQLite gives the ids of a deleted project out again.
    return study.id, study.created_at, study.sample_hash, study_item_id, step


class Presented(typing.Protocol):
    """What has to be known of an assignment to present its item."""

    @property
    def id(self) -> int | None:
        """Its id."""

    @property
    def study_item_id(self) -> int:
        """Its item."""

    @property
    def state(self) -> str:
        """Where it stands."""

    @property
    def sitting(self) -> int:
        """The present sitting."""

    @property
    def steps_done(self) -> int:
        """The steps of it that are committed."""

    @property
    def reason(self) -> str | None:
        """Why it was returned or skipped."""


def present(session: Session, study: Study, assignments: Sequence[Presented]) -> list[dict[str, Any]]:
    """What the browser gets for each of these assignments at the step that is to be answered next."""
    if not assignments:
        return []
    protocol = protocol_of(study)
    loaded = load_parts(session, {one.study_item_id for one in assignments}, _all_shown(protocol))
    ids = [one.id for one in assignments]
    labels: dict[tuple[int, int], list[GivenLabel]] = defaultdict(list)
    begun = [one.id for one in assignments if one.steps_done or one.sitting > 1]
    for label in session.scalars(_LABELS, {"ids": begun}) if begun else ():
        labels[label.assignment_id, label.sitting].append(label)
    drafts = {(draft.assignment_id, draft.step): draft for draft in session.connection().execute(_DRAFTS, {"ids": ids})}
    shown = []
    for assignment in assignments:
        assert assignment.id is not None
        sitting, step = next_step(assignment, len(protocol.steps))
        draft = drafts.get((assignment.id, step))
        parts = parts_at(loaded[assignment.study_item_id], protocol, step)
        wire, units = _keep_units(session, study, parts, step)
        presentation = _present_step(study, protocol, parts, step, wire=wire, units=units)
        presentation |= {
            "assignment": assignment.id,
            "sitting": sitting,
            "step": step,
            "returned": assignment.reason if assignment.state == AssignmentState.RETURNED else None,
            "committed": [
                _given(protocol, wire, one) for one in labels[assignment.id, sitting] if wire.knows(one.target)
            ],
            "previous": [
                _given(protocol, wire, one)
                for one in labels[assignment.id, sitting - 1]
                if one.criterion in protocol.steps[step].criteria and wire.knows(one.target)
            ],
            "draft": {"content": draft.content, "seconds": draft.seconds} if draft else None,
        }
        shown.append(presentation)
    return shown


def next_step(assignment: Presented, n_steps: int) -> tuple[int, int]:
    """(sitting, step) that this assignment is to be answered at next; a completed one begins a new sitting."""
    if assignment.steps_done >= n_steps:
        return assignment.sitting + 1, 0
    return assignment.sitting, assignment.steps_done


def _given(protocol: Protocol, wire: Wire, label: GivenLabel) -> dict[str, Any]:
    return {
        "criterion": label.criterion,
        "target": wire.out(label.target),
        "value": wire.value_out(label.value, protocol.criterion(label.criterion).kind),
        "cannot_judge": label.cannot_judge,
        "reason": label.reason,
        "comment": label.comment,
        "rationale": label.rationale,
    }


def _present_step(
    study: Study, protocol: Protocol, parts: Parts, step: int, *, wire: Wire, units: Units
) -> dict[str, Any]:
    """The item's material that this step shows, key by key; a key that it does not show is absent."""
    shows = protocol.shown_at(step)
    version = parts.version
    out: dict[str, Any] = {"shown": sorted(shows), "language": version.language}
    simple = {
        Material.QUESTION: ("question", version.question),
        Material.ANSWER: ("answer", version.answer),
        Material.REFERENCES: ("references", version.references),
        Material.SYSTEM: ("system", parts.system),
    }
    out |= {key: value for material, (key, value) in simple.items() if material in shows}
    if Material.HOPS in shows:
        keys = ("key", "question", "answer") if Material.ANSWER in shows else ("key", "question")
        out["hops"] = [{key: hop.get(key) for key in keys} for hop in version.hops]
    if Material.CLAIMS in shows:
        out["claims"] = [{"key": f"C{n}", "text": one.text, "of": one.of} for n, one in enumerate(parts.claims, 1)]
    if Material.IMAGES in shows:
        out["images"] = [
            {"key": f"I{n}", "caption": one.caption, "document": one.document_id, "page": one.page, "box": one.box}
            for n, one in enumerate(parts.images, 1)
        ]
    if Material.EVIDENCE in shows:
        by_key = {one.key: one for one in parts.evidence}
        out["evidence"] = [_evidence(by_key[key], n, shows) for n, key in enumerate(wire.evidence, 1)]
    if shows & _ON_PAGES:
        out["documents"] = _documents(parts, shows)
    if Material.SCORES in shows:
        counted = {one.id: behind for one, run in parts.scores if (behind := _counted(version, one, run)) is not None}
        out["scores"] = _scores(study, protocol, parts, counted)
        if Material.REFERENCES in shows and counted:
            sets, mode = next(iter(counted.values()))
            out["phrase_sets"] = {
                "sets": [_phrase_set(one) for one in sets],
                "rule": RULES[mode],
                "places": _found_places(sets, version.answer, mode) if Material.ANSWER in shows else [],
            }
    out["units"] = {
        one.name: [wire.out(target) for target in units.targets(one.target, per_hop=one.per_hop)]
        for one in protocol.step_criteria(step)
    }
    return out


def _evidence(one: Part, number: int, shows: set[Material]) -> dict[str, Any]:
    out: dict[str, Any] = {
        "key": f"E{number}",
        "kind": one.kind,
        "document": one.document_id,
        "pages": one.pages,
        "box": one.box,
        "text": one.text,
        "title": one.extra.get("title", ""),
    }
    if Material.ROLES in shows:
        out["role"] = one.role
    if Material.USED in shows:
        out["used"] = one.used
    return out


def _documents(parts: Parts, shows: set[Material]) -> list[dict[str, Any]]:
    """The documents to look at. `pages` lists the pages that may be seen; None means all of them."""
    cited: dict[int | None, set[int]] = defaultdict(set)
    if Material.EVIDENCE in shows:
        for unit in parts.evidence:
            cited[unit.document_id] |= set(unit.pages)
    if Material.IMAGES in shows:
        for image in parts.images:
            cited[image.document_id].add(image.page)
    return [
        {
            "id": document.id,
            "key": document.key,
            "title": document.title or document.key,
            "n_pages": document.n_pages,
            "sizes": document.page_sizes,
            "supplied": document.sha256 is not None,
            "pages": None if Material.DOCUMENTS in shows else sorted(cited[document.id]),
            "url": f"/page-images/{document.id}/{{page}}?w={{width}}&v={(document.sha256 or '')[:8]}-{DRAWING}",
        }
        for document in parts.documents
        if Material.DOCUMENTS in shows or cited[document.id]
    ]


# Scores ---------------------------------------------------------------------------------------------------------------


def _scores(
    study: Study, protocol: Protocol, parts: Parts, counted: dict[int | None, tuple[list[PhraseSet], Mode]]
) -> list[dict[str, Any]]:
    """For each criterion about scores the one to judge, or that there is none; then the scores of no criterion."""
    rows = {(run.name, score.name): _score(score, run, counted.get(score.id)) for score, run in parts.scores}
    judged = study.settings.get("scores_judged")
    if judged is None:  # a study from before this was frozen with it
        order = {scorer: place for place, scorer in enumerate(study.show_scores)}
        judged = scores_by_criterion(protocol, sorted(rows, key=lambda key: order.get(key[0], len(order))))
    out = []
    taken: set[ScoreKey] = set()
    for name, given in judged.items():
        keys = [(scorer, value) for scorer, value in given]
        there = [key for key in keys if key in rows]
        key = next((one for one in there if rows[one]["value"] is not None), next(iter(there), None))
        taken |= {key} if key else set()
        row = rows[key] if key else _no_score(keys[0] if keys else None)
        out.append({**row, "criterion": name})
    return [*out, *(row for key, row in rows.items() if key not in taken)]


def _score(score: Score, run: Run, behind: tuple[list[PhraseSet], Mode] | None) -> dict[str, Any]:
    kind = value_kind(run.name, score.name)
    says = "" if score.value is None else meaning(run.name, _as_value(score))
    if behind is not None and score.name == "correctness" and not (score.details or {}).get("error_marker"):
        says = share_in_words(behind[0])
    return {
        "criterion": None,
        "scorer": scorer_title(run.name),
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


def _as_value(score: Score) -> ScoreValue:
    """A score that has a value, as scorers know it."""
    return ScoreValue(score.name, score.value, details=score.details)


def _counted(version: Part, score: Score, run: Run) -> tuple[list[PhraseSet], Mode] | None:
    if score.value is None:
        return None
    return counted_behind(run.name, _as_value(score), run.parameters, version.answer, version.references)


def _phrase_set(one: PhraseSet) -> dict[str, Any]:
    return {"best": one.best, "phrases": [{"text": phrase.text, "count": phrase.count} for phrase in one.phrases]}


MOST_PLACES = 300
"""Places of found phrases that are sent to be marked: an answer in which more are marked is not read by its marks."""


def _found_places(sets: Sequence[PhraseSet], answer: str, mode: Mode) -> list[list[int]]:
    """Where the best set's phrases stand in the answer, in order, overlapping ones as one; in UTF-16 units."""
    best = next(one for one in sets if one.best)
    merged: list[list[int]] = []
    for start, end in sorted(chain.from_iterable(places_of([one.text for one in best.phrases], answer, mode))):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    wide = [at for at, sign in enumerate(answer) if sign > "\uffff"]
    return [[at + bisect_left(wide, at) for at in place] for place in merged[:MOST_PLACES]]
