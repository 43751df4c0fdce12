"""What the browser is sent of an item at one step: exactly the materials that the step shows, and nothing else.

Keys of evidence, claims and images can give away what they are (`gold-1`), and so can their order. On the wire they are
E1, E2 …, C1 …, I1 … in an order that says nothing (by document and page when roles are hidden); `Wire` maps targets
there and back. Claims and images are known only as far as the text that they belong to is shown (`materials_at`): those
of the reference answer are among the parts from the step that shows the references.
"""

from __future__ import annotations

import hashlib
import typing
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import bindparam
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.asking.asides import ASIDES
from annotators.asking.judged_scores import ScoreKey, scores_by_criterion
from annotators.asking.shown_scores import Counted, GivenScore, phrases_counted, scores_shown
from annotators.criteria import Criterion
from annotators.criteria.material import OF_ITEMS
from annotators.criteria.suggested import Proposals, source_of, suggestion
from annotators.errors import InvalidInput
from annotators.items.item import ItemClaim, ItemContent, ItemEvidence, ItemImage
from annotators.items.page_labels import labelled_pages
from annotators.items.pairs import question_of_pair
from annotators.items.targets import TargetKind, Units
from annotators.pages.documents.cache import DRAWING
from annotators.protocols import Material, Protocol
from annotators.scorers.shared.phrases import RULES, Mode, PhraseSet, places_of
from db.items.proposed import READ, Suggester, SuggestionSources, labels_of_judge, proposals_of
from db.items.rows import StoredDocument, StoredItem, read_study_items
from db.models import AssignmentState, Draft, Run, Score, StoredLabel, Study, StudyItem, StudyScore
from db.query import table_of
from db.studies.design import has_rechecks, protocol_of

_NAMED = ("evidence", "claim", "image")
_ON_PAGES = {Material.EVIDENCE, Material.DOCUMENTS, Material.IMAGES}


class SideAnswer(typing.NamedTuple):
    """One of the two answers of a pair, and the system that gave it."""

    answer: str
    system: str


@dataclass(frozen=True)
class Materials:
    """One item of a study with what its steps can show: what it says, the documents to look at, and its scores.

    `page_labels` are the pages that the import calls evidence (`labelled_pages`), where a step shows them, and
    `proposals` what models say of the item, where the study shows suggestions.
    `asks`: the criteria that are asked of it (None: all), as a recheck asks only some. `left_out`: criterion that is
    about some units of evidence only → how many it is about, and of how many (`materials_at`).
    Of a pair, `item` is what is shown beside its two `answers`, the one that stands left first; `turned` says that this
    is the second item's.
    """

    study_item_id: int
    item: ItemContent
    documents: Sequence[StoredDocument]
    scores: Sequence[tuple[Score, Run]] = ()
    page_labels: Sequence[str] = ()
    proposals: Proposals | None = None
    answers: tuple[SideAnswer, ...] = ()
    turned: bool = False
    asks: frozenset[str] | None = None
    left_out: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def document_ids(self) -> dict[str | None, int]:
        """Key → id of the documents."""
        return {document.key: document.document_id for document in self.documents}


# Every submission runs these, so they are made once: making them costs more than running them.
_SCORES = (
    select(StudyScore.study_item_id, Score, Run)
    .join(Score, col(Score.id) == StudyScore.score_id)
    .join(Run, col(Run.id) == Score.run_id)
    .where(col(StudyScore.study_item_id).in_(bindparam("ids", expanding=True)))
    .order_by(col(Run.name), col(Score.name))
)
_VERSIONS = sql_select(
    *(table_of(StudyItem).c[name] for name in ("id", "study_id", "item_version_id", "other_version_id"))
).where(table_of(StudyItem).c.id.in_(bindparam("ids", expanding=True)))
_LABELS = (
    select(StoredLabel)
    .where(col(StoredLabel.assignment_id).in_(bindparam("ids", expanding=True)))
    .order_by(col(StoredLabel.id))
)
_OTHER_LEFT = sql_select(table_of(StudyItem).c.id, table_of(StudyItem).c.other_left).where(
    table_of(StudyItem).c.id.in_(bindparam("ids", expanding=True))
)
_ASKS = sql_select(table_of(StudyItem).c.id, table_of(StudyItem).c.criteria).where(
    table_of(StudyItem).c.id.in_(bindparam("ids", expanding=True)), table_of(StudyItem).c.criteria.is_not(None)
)
_DRAFTS = sql_select(table_of(Draft)).where(table_of(Draft).c.assignment_id.in_(bindparam("ids", expanding=True)))


def load_materials(
    session: Session,
    study_item_ids: Iterable[int],
    needs: set[Material],
    *,
    pairs: bool = False,
    rechecks: bool = False,
    suggested: SuggestionSources | None = None,
) -> dict[int, Materials]:
    """Study item → its frozen item version with the parts that `needs` calls for, in a fixed number of queries.

    `pairs`: the study's protocol is about pairs, so that the second items are read as well. `rechecks`: the study has
    rechecks, so that what is asked of an item is read. `suggested`: suggestions
    are shown, and come from these.
    """
    wanted = list(study_item_ids)
    if not wanted:
        return {}
    parts = {name for name, materials in _SHOWN_AS.items() if needs & materials}
    items = read_study_items(session, wanted, parts if suggested is None else parts | READ)
    scores = _scores_of(session, wanted) if Material.SCORES in needs or (suggested and suggested.scores) else {}
    judged = _judged(session, wanted, suggested.judge) if suggested and suggested.judge else {}
    found = {
        study_item_id: Materials(
            study_item_id,
            # Evidence that is read for what is suggested alone is not among what can be shown.
            item.content if "evidence" in parts else item.content._replace(evidence=()),
            item.documents,
            scores.get(study_item_id, ()) if Material.SCORES in needs else (),
            labelled_pages(item.content) if Material.PAGE_LABELS in needs else (),
            None
            if suggested is None
            else proposals_of(
                item.content, suggested, _values(scores.get(study_item_id, ())), judged.get(study_item_id)
            ),
        )
        for study_item_id, item in items.items()
    }
    if pairs:
        left = {row.id: row.other_left for row in session.execute(_OTHER_LEFT, {"ids": wanted})}
        for study_item_id, other in read_study_items(session, wanted, parts, second=True).items():
            found[study_item_id] = _pair(found[study_item_id], other, turned=left[study_item_id])
    if rechecks:
        for study_item_id, criteria in session.execute(_ASKS, {"ids": wanted}):
            found[study_item_id] = replace(found[study_item_id], asks=frozenset(criteria))
    return found


def _judged(session: Session, study_item_ids: Sequence[int], judge: Suggester) -> dict[int, dict[tuple[str, str], Any]]:
    """Study item → what the judge said of its version, or of the versions of its pair."""
    rows = session.execute(_VERSIONS, {"ids": list(study_item_ids)}).all()
    if not rows:
        return {}
    protocol = protocol_of(session.get_one(Study, rows[0].study_id))
    labels = labels_of_judge(session, judge, protocol, [(row.item_version_id, row.other_version_id) for row in rows])
    return {row.id: labels.get((row.item_version_id, row.other_version_id), {}) for row in rows}


def _values(scores: Sequence[tuple[Score, Run]]) -> dict[ScoreKey, float]:
    return {(run.name, score.name): score.value for score, run in scores if score.value is not None}


def _pair(first: Materials, other: StoredItem, *, turned: bool) -> Materials:
    documents = {document.key: document for document in (*first.documents, *other.documents)}
    sides = [SideAnswer(item.answer, item.system) for item in (first.item, other.content)]
    return replace(
        first,
        item=question_of_pair(first.item, other.content),
        documents=tuple(documents.values()),
        answers=tuple(reversed(sides) if turned else sides),
        turned=turned,
    )


_SHOWN_AS = {
    "documents": _ON_PAGES,
    "evidence": {Material.EVIDENCE, Material.DOCUMENTS, Material.PAGE_LABELS},
    "claims": {Material.CLAIMS},
    "images": {Material.IMAGES},
}
"""The fields of an item that are read where one of these materials is shown."""


def _scores_of(session: Session, study_item_ids: Sequence[int]) -> dict[int, list[tuple[Score, Run]]]:
    """The score rows that the study was frozen with."""
    scores: dict[int, list[tuple[Score, Run]]] = defaultdict(list)
    for study_item_id, score, run in session.execute(_SCORES, {"ids": list(study_item_ids)}):
        scores[study_item_id].append((score, run))
    return scores


def materials_at(materials: Materials, protocol: Protocol, step: int, *, hidden: bool = False) -> Materials:
    """What may be known of the parts at a step: no claim and no image of a text that is not shown then.

    In the order in which they come to be shown, so that what was C1 stays C1 in the steps after; and no evidence that
    nothing is asked about. `hidden` adds the others behind them, for those who settle labels that were given of such
    parts.
    """
    item = materials.item
    claims = _by_step(item.claims, protocol, step, Material.CLAIMS, hidden=hidden)
    images = _by_step(item.images, protocol, step, Material.IMAGES, hidden=hidden)
    evidence = evidence_at(item.evidence, protocol, step, hidden=hidden)
    cited = {unit.document for unit in evidence} | {image.document for image in images} | set(item.documents)
    documents = [document for document in materials.documents if document.key in cited]
    return replace(
        materials,
        item=item._replace(claims=claims, images=images, evidence=evidence),
        documents=documents,
        left_out=_left_out(protocol.step_criteria(step), item.evidence),
    )


def _left_out(criteria: Iterable[Criterion], evidence: Sequence[ItemEvidence]) -> dict[str, tuple[int, int]]:
    """Of criteria that are about some of the evidence: how many units each is about, of how many.

    Units of other roles are not counted: that there are any would say something of the roles of those that are shown.
    """
    parts = {f"evidence:{unit.key}": unit.chosen_by() for unit in evidence}
    found = {}
    for criterion in criteria:
        chosen = criterion.chosen
        all_kinds = replace(chosen, kinds=(), per_modality=None)
        n, of = (len(choice.of_evidence(parts, parts)) for choice in (chosen, all_kinds))
        if criterion.only is not None and n < of:
            found[criterion.name] = n, of
    return found


def evidence_at(
    evidence: Sequence[ItemEvidence], protocol: Protocol, step: int, *, hidden: bool = False
) -> tuple[ItemEvidence, ...]:
    """The evidence of an item that a step shows, which is what its criteria are about (`Protocol.evidence_choices`)."""
    choices = protocol.evidence_choices(step)
    if choices is None:
        return tuple(evidence)
    parts = {f"evidence:{unit.key}": unit.chosen_by() for unit in evidence}
    shown = {name for choice in choices for name in choice.of_evidence(parts, parts)}
    there = tuple(unit for unit in evidence if f"evidence:{unit.key}" in shown)
    return (*there, *(unit for unit in evidence if f"evidence:{unit.key}" not in shown)) if hidden else there


_Part = TypeVar("_Part", bound=ItemClaim | ItemImage)


def _by_step(
    parts: Sequence[_Part], protocol: Protocol, step: int, material: Material, *, hidden: bool
) -> tuple[_Part, ...]:
    sides = {part.of: protocol.first_step_with_parts(material, part.of) for part in parts}
    steps = {part.key: sides[part.of] for part in parts}
    never = len(protocol.steps)
    first = {key: never if at is None else at for key, at in steps.items()}
    shown = sorted((part for part in parts if first[part.key] <= step), key=lambda part: first[part.key])
    return (*shown, *(part for part in parts if first[part.key] > step)) if hidden else tuple(shown)


class Wire:
    """The neutral names that the parts of one item have in the browser, and the way back.

    `evidence` has the keys in the order in which the browser shows them. Units that are `behind`, by their keys, are
    not shown there, and have the names after those that are. Values about a pair say which side, in the browser left
    and right, and are kept by its items, first and second: they are `turned` where the second stands left.
    """

    def __init__(
        self, item: ItemContent, *, roles_shown: bool, behind: Collection[str] = (), turned: bool = False
    ) -> None:
        self._turned = turned
        evidence = list(item.evidence)
        if not roles_shown:
            evidence.sort(
                key=lambda e: (e.key in behind, e.document or "~", (e.pages or (0,))[0], _digest(item, e), e.key)
            )
        self.evidence = tuple(unit.key for unit in evidence)
        self._names = {f"evidence:{key}": f"evidence:E{n}" for n, key in enumerate(self.evidence, 1)}
        self._names |= {f"claim:{claim.key}": f"claim:C{n}" for n, claim in enumerate(item.claims, 1)}
        self._names |= {f"image:{image.key}": f"image:I{n}" for n, image in enumerate(item.images, 1)}
        self._keys = {wire: real for real, wire in self._names.items()}

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
            if piece.startswith(_NAMED) and piece.split(":")[0] in _NAMED:
                if piece not in self._keys:
                    raise InvalidInput(f"This item has no {piece!r}. Reload the page to see it as it is.")
                pieces.append(self._keys[piece])
            else:
                pieces.append(piece)
        return "|".join(pieces)

    def value_out(self, value: Any, criterion: Criterion) -> Any:
        """A value as the browser knows it, without the parts of the item that may not be known there."""
        return criterion.rekeyed(self._side(value, criterion), self._names.get)

    def value_back(self, value: Any, criterion: Criterion) -> Any:
        """A value as it is stored; what is no part of the item stays, for `Criterion.check` to name."""
        return criterion.rekeyed(self._side(value, criterion), lambda target: self._keys.get(target, target))

    def _side(self, value: Any, criterion: Criterion) -> Any:
        return criterion.turned(value) if self._turned and criterion.target == TargetKind.PAIR else value


def _digest(item: ItemContent, unit: ItemEvidence) -> bytes:
    """An order that says nothing and that no redaction of a text changes."""
    return hashlib.sha256(f"{item.version_id}:{unit.key}".encode()).digest()


def units_of(materials: Materials, wire: Wire) -> Units:
    """The parts of the item that labels can be about, in the order the browser shows them."""
    return replace(
        materials.item.units(),
        evidence=wire.evidence,
        pages=tuple((d.key, n) for d in materials.documents for n in range(1, (d.n_pages or 0) + 1)),
        asks=materials.asks,
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
        [loaded] = load_materials(
            session, [study_item_id], _all_shown(protocol), pairs=protocol.about_pairs, rechecks=has_rechecks(study)
        ).values()
        found = _keep_units(session, study, materials_at(loaded, protocol, step), step)
    return found


def _keep_units(session: Session, study: Study, materials: Materials, step: int) -> tuple[Wire, Units]:
    wire = Wire(
        materials.item, roles_shown=Material.ROLES in protocol_of(study).shown_at(step), turned=materials.turned
    )
    found = wire, units_of(materials, wire)
    with _KEEPING:
        kept = _UNITS.setdefault(session.get_bind(), {})
        while len(kept) >= _KEPT_UNITS:
            del kept[next(iter(kept))]
        kept[_units_key(study, materials.study_item_id, step)] = found
    return found


def _all_shown(protocol: Protocol) -> set[Material]:
    return protocol.shown_at(len(protocol.steps) - 1)


def shown_in(study: Study, step: int, sitting: int) -> set[Material]:
    """What is before an annotator's eyes in a step (from 0) of a sitting (from 1), suggestions as the study has them.

    Those that come after one's own labels are there from the second sitting on, when these are committed.
    """
    protocol = protocol_of(study)
    when = study.settings.get("suggestions", "never")
    shown = protocol.shown_at(step) - {Material.SUGGESTIONS}
    now = when == "before" or (when == "after" and sitting > 1)
    return shown | {Material.SUGGESTIONS} if now and suggests_at(study, protocol, step) else shown


def suggests_at(study: Study, protocol: Protocol, step: int) -> bool:
    """Whether a model may propose labels in a step (from 0) of a study that shows suggestions."""
    return protocol.suggests_at(step, judge="suggested_judge" in study.settings)


def sources_of(study: Study) -> SuggestionSources | None:
    """Where the labels are from that the study suggests; None where it shows no suggestions."""
    if study.settings.get("suggestions", "never") == "never":
        return None
    scores: dict[str, list[list[str]]] = study.settings.get("suggested_scores", {})
    judge = study.settings.get("suggested_judge")
    return SuggestionSources(
        {criterion: [(scorer, name) for scorer, name in keys] for criterion, keys in scores.items()},
        None if judge is None else Suggester.from_json(judge),
    )


def to_compare(session: Session, study: Study, row: Presented) -> dict[str, Any] | None:
    """What the browser gets of an item that somebody has just completed, to look at it beside what models propose.

    None unless the study shows suggestions after one's own labels, these were the first, and there are any.
    """
    if study.settings.get("suggestions") != "after" or row.sitting > 1:
        return None
    protocol = protocol_of(study)
    loaded = load_materials(
        session,
        [row.study_item_id],
        _all_shown(protocol),
        pairs=protocol.about_pairs,
        suggested=sources_of(study),
    )
    for step in range(len(protocol.steps)):
        if not suggests_at(study, protocol, step):
            continue
        materials = materials_at(loaded[row.study_item_id], protocol, step)
        wire, units = _keep_units(session, study, materials, step)
        if _suggestions(protocol, materials, step, wire=wire, units=units):
            return present(session, study, [row])[0]
    return None


def _suggestions(
    protocol: Protocol, materials: Materials, step: int, *, wire: Wire, units: Units
) -> list[dict[str, Any]]:
    """What is proposed for the labels of a step, by the names that the browser knows, and where it is from."""
    if materials.proposals is None:
        return []
    proposals = materials.proposals
    return [
        {
            "criterion": criterion.name,
            "target": wire.out(target),
            "value": wire.value_out(value, criterion),
            "source": source_of(criterion, proposals),
        }
        for criterion in protocol.step_criteria(step)
        if source_of(criterion, proposals)
        for target in criterion.targets(units)
        if (value := suggestion(criterion, target, proposals)) is not None
    ]


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


@dataclass(frozen=True)
class Unassigned:
    """An assignment that nobody has: at a step of an item."""

    study_item_id: int
    steps_done: int
    id: int | None = 0
    state: str = AssignmentState.LEASED
    sitting: int = 1
    reason: str | None = None


def present(session: Session, study: Study, assignments: Sequence[Presented]) -> list[dict[str, Any]]:
    """What the browser gets for each of these assignments at the step that is to be answered next."""
    if not assignments:
        return []
    protocol = protocol_of(study)
    items = {assignment.study_item_id for assignment in assignments}
    loaded = load_materials(
        session,
        items,
        _all_shown(protocol),
        pairs=protocol.about_pairs,
        rechecks=has_rechecks(study),
        suggested=sources_of(study),
    )
    ids = [assignment.id for assignment in assignments]
    labels: dict[tuple[int, int], list[StoredLabel]] = defaultdict(list)
    begun = [assignment.id for assignment in assignments if assignment.steps_done or assignment.sitting > 1]
    for label in session.scalars(_LABELS, {"ids": begun}) if begun else ():
        labels[label.assignment_id, label.sitting].append(label)
    drafts = {(draft.assignment_id, draft.step): draft for draft in session.connection().execute(_DRAFTS, {"ids": ids})}
    shown = []
    for assignment in assignments:
        assert assignment.id is not None
        sitting, step = next_step(assignment, protocol, loaded[assignment.study_item_id].asks)
        draft = drafts.get((assignment.id, step))
        materials = materials_at(loaded[assignment.study_item_id], protocol, step)
        wire, units = _keep_units(session, study, materials, step)
        shows = shown_in(study, step, sitting)
        presentation = _present_step(study, protocol, materials, step, shows=shows, wire=wire, units=units)
        presentation |= {
            "assignment": assignment.id,
            "sitting": sitting,
            "step": step,
            "returned": assignment.reason if assignment.state == AssignmentState.RETURNED else None,
            "committed": [
                _given(protocol, wire, label) for label in labels[assignment.id, sitting] if wire.knows(label.target)
            ],
            "previous": [
                _given(protocol, wire, label)
                for label in labels[assignment.id, sitting - 1]
                if label.criterion in protocol.steps[step].criteria and wire.knows(label.target)
            ],
            "draft": {"content": draft.content, "seconds": draft.seconds} if draft else None,
        }
        shown.append(presentation)
    return shown


def next_step(assignment: Presented, protocol: Protocol, asks: Collection[str] | None = None) -> tuple[int, int]:
    """(sitting, step) that this assignment is to be answered at next; a completed one begins a new sitting.

    Steps that ask nothing of the item (`asks` as of `Materials`) are passed over.
    """
    asking = protocol.steps_asking(asks)
    if assignment.steps_done >= len(protocol.steps):
        return assignment.sitting + 1, asking[0]
    return assignment.sitting, next(step for step in asking if step >= assignment.steps_done)


def _given(protocol: Protocol, wire: Wire, label: StoredLabel) -> dict[str, Any]:
    return {
        "criterion": label.criterion,
        "target": wire.out(label.target),
        "value": wire.value_out(label.value, protocol.criterion(label.criterion)),
        "cannot_judge": label.cannot_judge,
        "reason": label.reason,
        "comment": label.comment,
        "rationale": label.rationale,
        **{name: said for name in ASIDES if (said := getattr(label, name)) is not None},
    }


def _present_step(
    study: Study,
    protocol: Protocol,
    materials: Materials,
    step: int,
    *,
    shows: set[Material],
    wire: Wire,
    units: Units,
) -> dict[str, Any]:
    """The item's material that this step `shows`, key by key; a key that it does not show is absent."""
    item = materials.item
    out: dict[str, Any] = {"shown": sorted(shows), "language": item.language}
    simple: dict[Material, tuple[str, Any]] = {
        Material.QUESTION: ("question", item.question),
        Material.ANSWER: ("answer", item.answer),
        Material.REFERENCES: ("references", list(item.references)),
        Material.SYSTEM: ("system", item.system),
    }
    if materials.answers:
        simple.pop(Material.SYSTEM)
        named = Material.SYSTEM in shows
        sides = [{"answer": side.answer, **({"system": side.system} if named else {})} for side in materials.answers]
        simple[Material.ANSWER] = ("answers", sides)
    out |= {key: value for material, (key, value) in simple.items() if material in shows}
    if Material.HOPS in shows:
        answers = [{"answer": hop.answer or None} if Material.ANSWER in shows else {} for hop in item.hops]
        out["hops"] = [
            {"key": hop.key, "question": hop.question, **answer} for hop, answer in zip(item.hops, answers, strict=True)
        ]
    if Material.CLAIMS in shows:
        out["claims"] = [{"key": f"C{n}", "text": claim.text, "of": claim.of} for n, claim in enumerate(item.claims, 1)]
    ids = materials.document_ids()
    if Material.IMAGES in shows:
        out["images"] = [_image(image, n, ids, item.answer) for n, image in enumerate(item.images, 1)]
    if Material.EVIDENCE in shows:
        by_key = {unit.key: unit for unit in item.evidence}
        out["evidence"] = [_evidence(by_key[key], n, ids, shows) for n, key in enumerate(wire.evidence, 1)]
    if shows & _ON_PAGES:
        out["documents"] = _documents(materials, shows)
    if Material.SCORES in shows:
        counted = _counted(materials)
        out["scores"] = scores_of(study, materials, counted)
        if Material.REFERENCES in shows and counted:
            sets, mode = next(iter(counted.values()))
            out["phrase_sets"] = {
                "sets": [_phrase_set(phrases) for phrases in sets],
                "rule": RULES[mode],
                "places": _found_places(sets, item.answer, mode) if Material.ANSWER in shows else [],
            }
    if Material.PAGE_LABELS in shows:
        out["page_labels"] = list(materials.page_labels)
    if Material.SUGGESTIONS in shows:
        out["suggestions"] = _suggestions(protocol, materials, step, wire=wire, units=units)
    if missing := _missing(protocol, out, step, units):
        out["missing"] = missing
    if materials.left_out:
        out["left_out"] = {name: list(counts) for name, counts in materials.left_out.items()}
    out["units"] = {
        criterion.name: [wire.out(target) for target in criterion.targets(units)]
        for criterion in protocol.step_criteria(step)
    }
    return out


_ALWAYS_SAID = (Material.ANSWER, Material.REFERENCES)
"""Texts that somebody looks for where a step shows them, whether or not a criterion is judged by them."""


def _missing(protocol: Protocol, out: Mapping[str, Any], step: int, units: Units) -> dict[str, list[str]]:
    """Material that the step shows and the item lacks → titles of the criteria that would be judged by it."""
    shown = [material for material in OF_ITEMS if material in out["shown"]]
    there = {material for material in shown if _says_something(out.get(material.value))}
    if out.get("answers"):
        there.add(Material.ANSWER)
    found: dict[str, list[str]] = {
        material.value: [] for material in _ALWAYS_SAID if material in shown and material not in there
    }
    for criterion in protocol.step_criteria(step):
        for basis in criterion.bases:
            if not there & set(basis) and criterion.targets(units):
                for material in basis:
                    if material in shown:
                        found.setdefault(material.value, []).append(criterion.title)
    return found


def _says_something(part: Any) -> bool:
    return bool(part.strip() if isinstance(part, str) else part)


def _image(image: ItemImage, number: int, ids: Mapping[str | None, int], answer: str) -> dict[str, Any]:
    """An image under its neutral key, with the name by which the answer has it, if it does: `![caption](name)`."""
    in_the_answer = image.of == "answer" and f"]({image.name})" in answer
    return {
        "key": f"I{number}",
        "caption": image.caption,
        "document": ids.get(image.document),
        "page": image.page,
        "box": image.box and list(image.box),
        **({} if image.of == "answer" else {"of": image.of}),
        **({"address": image.name} if in_the_answer else {}),
    }


def _evidence(unit: ItemEvidence, number: int, ids: Mapping[str | None, int], shows: set[Material]) -> dict[str, Any]:
    out: dict[str, Any] = {
        "key": f"E{number}",
        "kind": unit.kind,
        "document": ids.get(unit.document),
        "pages": list(unit.pages),
        "box": unit.box and list(unit.box),
        "text": unit.text,
        "title": unit.metadata.get("title", ""),
    }
    if Material.ROLES in shows:
        out["role"] = unit.role
    if Material.USED in shows:
        out["used"] = unit.used
    return out


def _documents(materials: Materials, shows: set[Material]) -> list[dict[str, Any]]:
    """The documents to look at. `pages` lists the pages that may be seen; None means all of them."""
    cited: dict[str | None, set[int]] = defaultdict(set)
    if Material.EVIDENCE in shows:
        for unit in materials.item.evidence:
            cited[unit.document] |= set(unit.pages)
    if Material.IMAGES in shows:
        for image in materials.item.images:
            cited[image.document].add(image.page)
    return [
        document_shown(document, None if Material.DOCUMENTS in shows else sorted(cited[document.key]))
        for document in materials.documents
        if Material.DOCUMENTS in shows or cited[document.key]
    ]


def document_shown(document: StoredDocument, pages: list[int] | None) -> dict[str, Any]:
    """A document as the viewer takes it, of which these pages may be seen (None: all)."""
    return {
        "id": document.document_id,
        "key": document.key,
        "title": document.title or document.key,
        "n_pages": document.n_pages,
        "sizes": document.sizes,
        "supplied": document.sha256 is not None,
        "pages": pages,
        "url": _address(document),
    }


def _address(document: StoredDocument) -> str:
    """Where the pictures of its pages are; it changes with the bytes and with how pages are drawn."""
    return f"/page-images/{document.document_id}/{{page}}?w={{width}}&v={(document.sha256 or '')[:8]}-{DRAWING}"


# Scores ---------------------------------------------------------------------------------------------------------------


def scores_of(study: Study, materials: Materials, counted: Counted | None = None) -> list[dict[str, Any]]:
    """The scores of an item that annotators of the study are shown, as the browser gets them.

    `counted` is what `materials` say of the phrases that they were counted from, where that is known.
    """
    scores = _given_scores(materials)
    judged = study.settings.get("scores_judged")
    if judged is None:  # a study from before this was frozen with it
        order = {scorer: place for place, scorer in enumerate(study.show_scores)}
        there = dict.fromkeys(score.key for score in scores)
        judged = scores_by_criterion(protocol_of(study), sorted(there, key=lambda key: order.get(key[0], len(order))))
    keys = {name: [(scorer, value) for scorer, value in given] for name, given in judged.items()}
    return scores_shown(keys, scores, _counted(materials) if counted is None else counted)


def _given_scores(materials: Materials) -> list[GivenScore]:
    return [
        GivenScore(run.name, score.name, score.value, score.reason, score.details, run.parameters)
        for score, run in materials.scores
    ]


def _counted(materials: Materials) -> Counted:
    return phrases_counted(_given_scores(materials), materials.item.answer, materials.item.references)


def _phrase_set(phrases: PhraseSet) -> dict[str, Any]:
    return {
        "best": phrases.best,
        "phrases": [{"text": phrase.text, "count": phrase.count} for phrase in phrases.phrases],
    }


MOST_PLACES = 300
"""Places of found phrases that are sent to be marked: an answer in which more are marked is not read by its marks."""


def _found_places(sets: Sequence[PhraseSet], answer: str, mode: Mode) -> list[list[int]]:
    """Where the best set's phrases stand in the answer, in order, overlapping ones as one; in UTF-16 units."""
    best = next(phrases for phrases in sets if phrases.best)
    merged: list[list[int]] = []
    for start, end in sorted(chain.from_iterable(places_of([phrase.text for phrase in best.phrases], answer, mode))):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    wide = [at for at, sign in enumerate(answer) if sign > "\uffff"]
    return [[at + bisect_left(wide, at) for at in place] for place in merged[:MOST_PLACES]]
