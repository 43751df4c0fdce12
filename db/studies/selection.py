"""Which items a study takes: of the current ones those that are wanted and can be judged, sampled and in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func
from sqlalchemy import select as sql_select
from sqlmodel import Session, col

from annotators.arrays import np
from annotators.asking.judged_scores import ScoreKey, scores_by_criterion
from annotators.designing.design import ItemChoice, about
from annotators.errors import InvalidInput, listed, shown
from annotators.figures import count, some
from annotators.items.conditions import DESCRIPTIVE, OF_EVIDENCE, Condition, alternatives, words_of
from annotators.items.pairs import in_words
from annotators.items.prioritised import HIGH, LOW, UNCERTAIN, keys_of, weights_of
from annotators.items.sampling import (
    BY_SCORE,
    OF_EVERY_ITEM,
    Candidate,
    arrange,
    draw,
    one_of_each_question,
    pairs_of,
    strata_fields,
)
from annotators.protocols import Material, Protocol
from annotators.scorers import SCORERS
from annotators.scorers.base import value_kind
from db.items.current import batches_left_out, item_is_current, version_is_latest
from db.models import Document, Evidence, Item, ItemDocument, ItemVersion, Question, Run, Score, Study, StudyItem
from db.query import pick
from db.studies.unasked import (
    Lacking,
    PartsOfItems,
    asked_of_nothing,
    items_have,
    lacking,
    notes_on_what_is_not_asked,
    notes_on_what_is_not_shown,
)

_AT_ONCE = 20_000
_LISTED = 12

FIRST_IN_WORDS = {
    HIGH: "the highest first as a rule",
    LOW: "the lowest first as a rule",
    UNCERTAIN: "those in the middle of its scale first as a rule",
}
"""Which items come first by a score."""


def candidates(session: Session, project_id: int, *, versions: Select[Any] | None = None) -> list[Candidate]:
    """Every item of a project in its current version, withdrawn batches left out; or these versions of items."""
    which = [item_is_current(), version_is_latest()] if versions is None else [col(ItemVersion.id).in_(versions)]
    rows = session.execute(
        sql_select(
            col(ItemVersion.id),
            col(Item.external_id),
            col(Question.key),
            col(Item.system),
            func.coalesce(col(ItemVersion.category), ""),
            col(ItemVersion.content_hash),
        )
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Question, col(Question.id) == Item.question_id)
        .where(col(Item.project_id) == project_id, *which)
        .order_by(col(ItemVersion.id))
    )
    return [Candidate(*row) for row in rows]


@dataclass(frozen=True)
class JudgedScores:
    """The scores that a study is about: the scorers, all their values, and those that each criterion is about."""

    project_id: int
    scorers: tuple[str, ...]
    judged: dict[str, list[ScoreKey]]

    @property
    def wanted(self) -> set[ScoreKey]:
        """What an item needs one value of; empty where no criterion says, and any will do."""
        return {key for keys in self.judged.values() for key in keys}


@dataclass(frozen=True)
class ChosenItems:
    """The items in their order, how many were left out by which reason, and what there is to say of it in words.

    Of an order by a score `keys` has the weight and the key of each of them.
    """

    ordered: list[Candidate]
    keys: Sequence[tuple[float, float]] = ()
    scores: JudgedScores | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def left_out(self) -> int:
        """How many items were left out."""
        return sum(self.reasons.values())


def choose(session: Session, project_id: int, protocol: Protocol, wanted: ItemChoice) -> ChosenItems:
    """The items that a study would take: of those that are wanted and can be judged, a sample, in order.

    Raises InvalidInput for a field, value, item or score that the project does not have, and where nothing is left.
    """
    with about("protocol"):
        if not_yet := protocol.not_yet():
            raise InvalidInput("\n".join(not_yet))
    with about("items"):
        pool = _named(candidates(session, project_id), wanted.items)
    reasons: dict[str, int] = {}
    notes: list[str] = []
    if wanted.where:
        with about("where"):
            pool = _where(session, project_id, pool, wanted.where, reasons=reasons, notes=notes)
    scores: JudgedScores | None = None
    if protocol.about_scores:
        with about("show_scores"):
            scores = _scores(session, project_id, protocol, wanted.show_scores)
            pool, without, about_scores = _with_scores(session, protocol, scores, pool)
        _count(reasons, "scores", without)
        notes += about_scores
    if wanted.with_documents:
        unreadable = _without_document(session, project_id, pool)
        pool = _kept(pool, unreadable, reasons, "documents")
        if unreadable:
            notes.append(f"{items_have(len(unreadable))} no readable document. Left out.")
        if not pool:
            raise InvalidInput("No item is left that has a readable document. Supply documents on the page Data.")
    parts = PartsOfItems(session, project_id)
    with about("keep_lacking"):
        pool = _with_something_to_judge(parts, protocol, pool, keep=wanted.keep_lacking, reasons=reasons, notes=notes)
    if protocol.about_pairs or wanted.pairs:
        with about("pairs"):
            pool = _pairs(protocol, pool, wanted, reasons=reasons, notes=notes)
    if known := wanted.known_items():
        pool = _without_known(pool, known, reasons=reasons, notes=notes)
    pool = _of_each_question(protocol, pool, wanted, reasons=reasons, notes=notes)
    with about("per"):
        pool = _with_strata(session, project_id, pool, wanted.per or "system", known=True)
    drawn = draw(pool, wanted.sample, wanted.per, wanted.seed)
    ordered, keys = _in_order(session, project_id, protocol, drawn, wanted, notes=notes)
    on_pages = protocol.first_step_showing(Material.EVIDENCE, Material.DOCUMENTS) is not None
    if on_pages and not wanted.with_documents and (unreadable := _without_document(session, project_id, ordered)):
        notes.append(
            f"{items_have(len(unreadable))} no readable document: annotators see no page of them. Supply the "
            "documents, or leave these items out."
        )
    notes += notes_on_what_is_not_asked(parts, protocol, ordered)
    notes += notes_on_what_is_not_shown(parts, protocol, ordered)
    return ChosenItems(ordered, keys, scores, reasons, tuple(notes))


def _of_each_question(
    protocol: Protocol, pool: list[Candidate], wanted: ItemChoice, *, reasons: dict[str, int], notes: list[str]
) -> list[Candidate]:
    """One candidate of each question, where that is asked for or only the question is shown; else all of them."""
    only_the_question = protocol.shows_only_the_question()
    by_itself = only_the_question and not wanted.items  # who names items means these
    if not (by_itself if wanted.one_per_question is None else wanted.one_per_question):
        return pool
    one_each = one_of_each_question(pool, wanted.seed)
    if others := len(pool) - len(one_each):
        why = "Only the question is shown, so" if only_the_question else "As was asked for,"
        notes.append(
            f"{why} each question is asked once, about one of its items: {count(others, 'other item')} of the same "
            "questions left out."
        )
    _count(reasons, "same_question", len(pool) - len(one_each))
    return one_each


def _with_something_to_judge(
    parts: PartsOfItems,
    protocol: Protocol,
    pool: list[Candidate],
    *,
    keep: bool,
    reasons: dict[str, int],
    notes: list[str],
) -> list[Candidate]:
    """The candidates that something is asked of, and that have what the criteria are judged by unless all are kept.

    What no candidate has sets none apart from the others: it leaves none out while another criterion can be judged.
    InvalidInput where nothing is left that could be judged.
    """
    unasked, what = asked_of_nothing(parts, protocol, pool)
    if 0 < len(unasked) < len(pool):
        pool = _kept(pool, unasked, reasons, "unasked")
        notes.append(f"{items_have(len(unasked))} no {what}, so that nothing would be asked about them. Left out.")
    without = lacking(parts, protocol, pool)
    missing = without if keep else _missing_everywhere(protocol, without)
    notes += [f"{each.in_words(len(pool))}: annotators read that it is missing." for each in missing]
    without = [each for each in without if each not in missing]
    gone = {item.version_id for each in without for item in each.items}
    if gone and len(gone) == len(pool):
        said = ". ".join(each.in_words(len(pool)) for each in without)
        raise InvalidInput(
            f"{said}. Import items that have it, take another protocol, or keep such items with `keep_lacking` "
            "(--keep-lacking): annotators then read that it is missing."
        )
    notes += [f"{each.in_words(len(pool))}. Left out." for each in without]
    return _kept(pool, gone, reasons, "lacking")


def _missing_everywhere(protocol: Protocol, without: Sequence[Lacking]) -> list[Lacking]:
    """Of what is lacking, what no item has, where a criterion is left that is judged by something else."""
    everywhere = [each for each in without if each.everywhere]
    titles = {title for each in everywhere for title in each.titles}
    return everywhere if any(criterion.title not in titles for criterion in protocol.criteria) else []


def _pairs(
    protocol: Protocol, pool: list[Candidate], wanted: ItemChoice, *, reasons: dict[str, int], notes: list[str]
) -> list[Candidate]:
    """The pairs of two systems' answers; InvalidInput for systems that are not two, not there, or share no question."""
    if not protocol.about_pairs:
        raise InvalidInput(
            f"Protocol {protocol.name!r} is about items by themselves. Name no pairs, or take a protocol with a "
            "criterion whose target is pair, such as pairwise_preference."
        )
    known = sorted({candidate.system for candidate in pool})
    systems = wanted.pairs
    there = f"Known: {listed(known)}."
    if len(set(systems)) < 2:
        named = f"only {systems[0]!r} is named" if systems else "none is named"
        raise InvalidInput(f"A pair is the answers of two systems; {named}. Name two or more, as in A,B. {there}")
    if len(set(systems)) != len(systems):
        raise InvalidInput(f"A system is named twice: {', '.join(systems)}. Name each once.")
    for system in systems:
        if system not in known:
            raise InvalidInput(f"No item is by the system {system!r}. {there}")
    theirs = [candidate for candidate in pool if candidate.system in systems]
    pairs = pairs_of(theirs, systems, wanted.seed)
    if not pairs:
        raise InvalidInput(f"No question has answers of two of these systems: {', '.join(systems)}.")
    paired = {pair.question_key for pair in pairs}
    alone = sorted({candidate.question_key for candidate in theirs} - paired)
    _count(reasons, "other_systems", len(pool) - len(theirs))
    _count(reasons, "one_side", len(alone))
    if alone:
        has = "question has an answer" if len(alone) == 1 else "questions have answers"
        notes.append(f"{len(alone):,} {has} of only one of these systems, such as {shown(alone[0])}. Left out.")
    return pairs


def _without_known(
    pool: list[Candidate], known: Mapping[str, str], *, reasons: dict[str, int], notes: list[str]
) -> list[Candidate]:
    """The candidates whose right labels are not known; InvalidInput where these are none."""
    left = [candidate for candidate in pool if candidate.name not in known]
    if out := len(pool) - len(left):
        purposes = Counter(known[candidate.name] for candidate in pool if candidate.name in known)
        if not left:
            raise InvalidInput(
                f"No item is left to be drawn: the right labels of all {count(out, 'item')} are known, as gold or to "
                "qualify with. Take more items, or give right labels of fewer.",
            )
        parts = [f"{count(purposes[name], 'item')} {said}" for name, said in _PURPOSES if purposes[name]]
        named = [in_words(candidate.name) for candidate in pool if candidate.name in known]
        notes.append(f"Not drawn, as right labels are known: {' and '.join(parts)} ({some(named, 3)}).")
    _count(reasons, "known", len(pool) - len(left))
    return left


_PURPOSES = (("gold", "as gold"), ("qualification", "to qualify with"))


def strata_of(session: Session, study: Study) -> dict[int, str]:
    """Item version → its stratum, of the project's current items and of the study's.

    Empty for a study that has none, or only such as system and category, which everybody has at hand.
    """
    per = study.settings.get("per")
    if not per or set(strata_fields(per)) <= set(OF_EVERY_ITEM):
        return {}
    theirs = pick(StudyItem.item_version_id).where(col(StudyItem.study_id) == study.id)
    pool = [*candidates(session, study.project_id), *candidates(session, study.project_id, versions=theirs)]
    pool = _with_strata(session, study.project_id, pool, per, known=False)
    return {candidate.version_id: candidate.stratum(per) for candidate in pool}


def _with_strata(session: Session, project_id: int, pool: list[Candidate], per: str, *, known: bool) -> list[Candidate]:
    """The candidates with their values of the fields that strata are made of, so that each has its stratum.

    The fields may have to be `known`: InvalidInput for one that none of the candidates has.
    """
    names = [name for name in strata_fields(per) if name not in OF_EVERY_ITEM]
    if not names:
        return pool
    fields = _Fields(session, project_id, pool)
    values = {name: fields.values(name) for name in names}
    if known and (missing := next((name for name in names if not values[name]), None)):
        raise InvalidInput(f"No item has anything in the field {shown(missing)}. {fields.known_in_words()}")
    return [
        replace(
            candidate,
            fields=tuple(
                (name, ", ".join(sorted(map(words_of, values[name].get(candidate.version_id, ()))))) for name in names
            ),
        )
        for candidate in pool
    ]


def _count(reasons: dict[str, int], reason: str, n: int) -> None:
    if n:
        reasons[reason] = n


def _kept(pool: list[Candidate], without: set[int], reasons: dict[str, int], reason: str) -> list[Candidate]:
    _count(reasons, reason, len(without))
    return [candidate for candidate in pool if candidate.version_id not in without] if without else pool


def _without_document(session: Session, project_id: int, pool: Sequence[Candidate]) -> set[int]:
    """The versions of whose documents none has pages that can be looked at; a passage does for an item without any."""
    can_be_read = col(Document.sha256).is_not(None) & (func.coalesce(col(Document.n_pages), 0) > 0)
    cited = (
        pick(ItemDocument.item_version_id, func.max(case((can_be_read, 1), else_=0)))
        .join(Document, col(Document.id) == ItemDocument.document_id)
        .where(col(Document.project_id) == project_id)
        .group_by(col(ItemDocument.item_version_id))
    )
    readable: dict[int, bool] = {row[0]: bool(row[1]) for row in _streamed(session, cited)}
    pool = [item for candidate in pool for item in (candidate, candidate.other) if item is not None]
    bare = {candidate.version_id for candidate in pool if candidate.version_id not in readable}
    if bare:
        with_text = (
            pick(Evidence.item_version_id)
            .join(ItemVersion, col(ItemVersion.id) == Evidence.item_version_id)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .where(col(Item.project_id) == project_id, func.coalesce(col(Evidence.text), "") != "")
            .distinct()
        )
        bare.difference_update(row[0] for row in _streamed(session, with_text))
    return bare | {candidate.version_id for candidate in pool if not readable.get(candidate.version_id, True)}


def _streamed(session: Session, query: Select[Any]) -> Iterator[Any]:
    return iter(session.execute(query.execution_options(yield_per=_AT_ONCE)))


# Order by a score -----------------------------------------------------------------------------------------------------


def _in_order(
    session: Session,
    project_id: int,
    protocol: Protocol,
    drawn: Sequence[Candidate],
    wanted: ItemChoice,
    *,
    notes: list[str],
) -> tuple[list[Candidate], list[tuple[float, float]]]:
    """The items in their order, and of an order by a score the weight and the key of each."""
    if wanted.order != BY_SCORE:
        return arrange(drawn, wanted.order, wanted.seed, named=wanted.items), []
    with about("order_score"):
        return _by_score(session, project_id, protocol, drawn, wanted, notes=notes)


def _by_score(
    session: Session,
    project_id: int,
    protocol: Protocol,
    drawn: Sequence[Candidate],
    wanted: ItemChoice,
    *,
    notes: list[str],
) -> tuple[list[Candidate], list[tuple[float, float]]]:
    """The items, the more informative first by their keys, and weight and key of each.

    InvalidInput for pairs, for a score that none of the items has, and for one that is the same of all.
    """
    name = (wanted.order_score or "").removeprefix("score:")
    if protocol.about_pairs:
        raise InvalidInput("A pair has no score of its own that an order could go by. Take another order.")
    values = _Fields(session, project_id, drawn).values(f"score:{name}")
    scores = np.array([values.get(item.version_id, (np.nan,))[0] for item in drawn], dtype=np.float64)
    there = scores_there(session, project_id)
    known = scores[~np.isnan(scores)]
    if not len(known):
        command = f"Compute it with: assay score PROJECT --scorer {name}" if name in SCORERS.names() else "Import it"
        named = listed(dict.fromkeys(name for key in there for name in key))
        raise InvalidInput(
            f"None of the {count(len(drawn), 'item')} has a score {shown(name)} to be ordered by. {command}, or name "
            f"another one. Scores of the project: {named}."
        )
    if known.min() == known.max():
        raise InvalidInput(
            f"All of the {count(len(known), 'item')} have the same score {shown(name)}, {known[0]:g}: by it none is "
            "more informative than another. Name another score, or take the order shuffled."
        )
    kinds = [value_kind(*key) for key in there if name in (key[1], key[0], "/".join(key))]
    ends = next(((kind.low, kind.high) for kind in kinds if kind.low is not None and kind.high is not None), None)
    weights = weights_of(scores, wanted.order_first or "", ends)
    keys = keys_of([item.name for item in drawn], weights, wanted.seed)
    order = sorted(range(len(drawn)), key=lambda place: (-keys[place], drawn[place].version_id))
    without = [item.external_id for item in drawn if item.version_id not in values]
    note = f"Items are ordered by {name}, {FIRST_IN_WORDS[wanted.order_first or '']}: drawn with known probabilities."
    if without:
        note += f" {items_have(len(without))} no such score and the average chance ({some(without, 3)})."
    notes.append(note)
    return [drawn[place] for place in order], [(float(weights[place]), float(keys[place])) for place in order]


# Conditions -----------------------------------------------------------------------------------------------------------


def _where(
    session: Session,
    project_id: int,
    pool: list[Candidate],
    where: Sequence[str],
    *,
    reasons: dict[str, int],
    notes: list[str],
) -> list[Candidate]:
    """The candidates for which the conditions hold; InvalidInput for a field or a value that no item has."""
    fields = _Fields(session, project_id, pool)
    kept = pool
    for group in alternatives(where):
        for condition in group:
            fields.check(condition)
        values = fields.values(group[0].field)
        before = len(kept)
        kept = [
            candidate
            for candidate in kept
            if any(condition.holds(values.get(candidate.version_id, ())) for condition in group)
        ]
        if left_out := before - len(kept):
            notes.append(f"{count(left_out, 'item')} left out, for which {' or '.join(map(str, group))} does not hold.")
    if not kept:
        raise InvalidInput(f"No item is left for which all of this holds: {', '.join(where)}.")
    _count(reasons, "where", len(pool) - len(kept))
    return kept


class _Fields:
    """The values of the fields that conditions are about, by item version, read once each."""

    def __init__(self, session: Session, project_id: int, pool: Sequence[Candidate]) -> None:
        self._session, self._project_id = session, project_id
        self._versions = {candidate.version_id for candidate in pool}
        self._read: dict[str, dict[int, list[Any]]] = {}
        self._metadata: dict[str, dict[int, list[Any]]] | None = None

    def check(self, condition: Condition) -> None:
        """InvalidInput for a field that no item has, with those that there are, and for a value that none has."""
        values = self.values(condition.field)
        if not values and not (condition.metadata is None and condition.score is None and not condition.value):
            raise InvalidInput(
                f"No item has anything in the field {shown(condition.field)} (in {shown(str(condition))}). "
                f"{self.known_in_words()}"
            )
        if condition.sign == "=" and condition.value and not any(condition.holds(there) for there in values.values()):
            there = Counter(words_of(value) for some in values.values() for value in some)
            most = sorted(name for name, _ in there.most_common(_LISTED))
            more = f" and {len(there) - len(most):,} more" if len(there) > len(most) else ""
            raise InvalidInput(f"No item has {condition.field} {shown(condition.value)}. Known: {listed(most)}{more}.")

    def values(self, name: str) -> dict[int, list[Any]]:
        """Version → the values of this field; an item without one is not there."""
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = self._values(Condition(name, "=", ""))
        return found

    def _values(self, field: Condition) -> dict[int, list[Any]]:
        if field.metadata is not None:
            return self._all_metadata().get(field.metadata, {})
        if field.score is not None:
            return self._scores(field)
        if field.field in OF_EVIDENCE:
            column: Any = getattr(Evidence, field.field)
            query = pick(Evidence.item_version_id, column).join(ItemVersion).distinct()
        else:
            query = pick(ItemVersion.id, getattr(Item if hasattr(Item, field.field) else ItemVersion, field.field))
        query = query.join(Item, col(Item.id) == ItemVersion.item_id).where(col(Item.project_id) == self._project_id)
        return self._by_version(_streamed(self._session, query))

    def _by_version(self, rows: Iterable[Any]) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = defaultdict(list)
        for version_id, value in rows:
            if version_id in self._versions and value is not None and value != "":
                found[version_id].append(value)
        return found

    def _scores(self, field: Condition) -> dict[int, list[Any]]:
        """The latest value of each item, of the score with this name or by this scorer; InvalidInput if several are."""
        there = scores_there(self._session, self._project_id)
        meant = [key for key in there if field.score in (key[1], "/".join(key))] or [
            key for key in there if field.score == key[0]
        ]
        if len(meant) > 1:
            forms = ", ".join(f"score:{scorer}/{name}" for scorer, name in meant)
            raise InvalidInput(f"{shown(field.field)} is one of several scores. Write one of: {forms}.")
        if not meant:
            return {}
        query = (
            pick(Score.item_version_id, Score.value)
            .join(Run, col(Run.id) == Score.run_id)
            .where(col(Score.id).in_(_latest_scores(self._project_id, [meant[0][0]])), col(Score.name) == meant[0][1])
        )
        return self._by_version(_streamed(self._session, query))

    def _all_metadata(self) -> dict[str, dict[int, list[Any]]]:
        """Name → version → values: of a list its elements, of an object none."""
        if self._metadata is None:
            self._metadata = defaultdict(lambda: defaultdict(list))
            query = pick(ItemVersion.id, ItemVersion.extra).join(Item, col(Item.id) == ItemVersion.item_id)
            query = query.where(col(Item.project_id) == self._project_id)
            for version_id, extra in _streamed(self._session, query):
                if version_id not in self._versions:
                    continue
                for name, value in (extra or {}).items():
                    several = value if isinstance(value, list) else [value]
                    plain = [single for single in several if single is not None and not isinstance(single, dict | list)]
                    if plain:
                        self._metadata[name][version_id] += plain
        return self._metadata

    def known_in_words(self) -> str:
        """The fields that there are, as a sentence."""
        names = dict.fromkeys(name for _, name in scores_there(self._session, self._project_id))
        scores = [f"score:{name}" for name in names]
        return f"Known: {', '.join([*DESCRIPTIVE, *OF_EVIDENCE, *scores, *sorted(self._all_metadata())])}."


# Scores ---------------------------------------------------------------------------------------------------------------


def _scores(session: Session, project_id: int, protocol: Protocol, named: Sequence[str]) -> JudgedScores:
    """The scores that a study of this protocol is about, from the named scorers or those that are taken without."""
    there = scores_there(session, project_id)
    known = list(dict.fromkeys(scorer for scorer, _ in there))
    for name in named:
        if name not in known:
            raise InvalidInput(
                f"The project has no scores of {name!r}. Known: {', '.join(known) or 'none'}. "
                f"Compute them with: assay score PROJECT --scorer {name}"
            )
    wanted = list(named) or [name for name in known if name.startswith("imported:")]
    wanted = wanted or [name for name in ("phrase_recall", "hallucination") if name in known]
    if not wanted:
        raise InvalidInput(
            "This protocol is about scores, but the project has none. Import items with scores, or compute them with: "
            "assay score PROJECT --scorer phrase_recall"
        )
    judged = scores_by_criterion(protocol, [key for name in wanted for key in there if key[0] == name])
    if judged and not any(judged.values()):
        about = ", ".join(
            dict.fromkeys(word for criterion in protocol.criteria for word in protocol.scores_judged_by(criterion))
        )
        raise InvalidInput(
            f"No criterion of protocol {protocol.name!r} is about a score of {', '.join(wanted)}, but about "
            f"{about}. Choose other scores, or write a protocol whose criterion names them in `score`."
        )
    return JudgedScores(project_id, tuple(wanted), judged)


def scores_there(session: Session, project_id: int) -> list[ScoreKey]:
    """The scores of whole items that the project has."""
    query = (
        sql_select(col(Run.name), col(Score.name))
        .join(Score, col(Score.run_id) == col(Run.id))
        .where(col(Run.project_id) == project_id, col(Score.target) == "item", _not_withdrawn())
        .distinct()
    )
    return sorted((scorer, name) for scorer, name in session.execute(query))


def _not_withdrawn() -> ColumnElement[bool]:
    return col(Run.batch_id).is_(None) | col(Run.batch_id).not_in(batches_left_out())


def latest_scores(scores: JudgedScores) -> Select[Any]:
    """The ids of the scores that count for a study about these: see `_latest_scores`."""
    return _latest_scores(scores.project_id, scores.scorers)


def values_of(session: Session, scores: JudgedScores) -> dict[int, dict[ScoreKey, float]]:
    """Item version → the values of these scores that count."""
    query = (
        sql_select(col(Score.item_version_id), col(Run.name), col(Score.name), col(Score.value))
        .join(Run, col(Run.id) == Score.run_id)
        .where(col(Score.id).in_(latest_scores(scores)), col(Score.value).is_not(None))
    )
    found: dict[int, dict[ScoreKey, float]] = defaultdict(dict)
    for version_id, scorer, name, value in session.execute(query.execution_options(yield_per=_AT_ONCE)):
        found[version_id][scorer, name] = value
    return found


def _latest_scores(project_id: int, scorers: Sequence[str]) -> Select[Any]:
    """The ids of the scores that count: of each scorer and value the latest of an item version."""
    return (
        sql_select(func.max(Score.id))
        .join(Run, col(Run.id) == Score.run_id)
        .where(
            col(Run.project_id) == project_id,
            col(Run.name).in_(scorers),
            col(Score.target) == "item",
            _not_withdrawn(),
        )
        .group_by(col(Score.item_version_id), col(Run.name), col(Score.name))
    )


def _with_scores(
    session: Session, protocol: Protocol, scores: JudgedScores, pool: list[Candidate]
) -> tuple[list[Candidate], int, tuple[str, ...]]:
    """The candidates that have a value of a score that is judged, how many have none, and that in words."""
    query = (
        sql_select(col(Score.item_version_id), col(Run.name), col(Score.name), col(Score.value).is_not(None))
        .join(Run, col(Run.id) == Score.run_id)
        .where(col(Score.id).in_(latest_scores(scores)))
    )
    valued: set[int] = set()
    unscored: set[int] = set()
    for version_id, scorer, name, has_value in session.execute(query.execution_options(yield_per=20_000)):
        if not scores.wanted or (scorer, name) in scores.wanted:
            (valued if has_value else unscored).add(version_id)
    kept = [candidate for candidate in pool if candidate.version_id in valued]
    if not kept:
        raise InvalidInput(
            f"None of the {len(pool):,} items has a score of {', '.join(scores.scorers)}. Compute them first."
        )
    titles = [protocol.criterion(name).title for name, keys in scores.judged.items() if keys]
    about = " and ".join(titles) or ", ".join(scores.scorers)
    notes = []
    if left_out := len(pool) - len(kept):
        without = sum(candidate.version_id in unscored for candidate in pool if candidate.version_id not in valued)
        have = "1 item has" if left_out == 1 else f"{left_out:,} items have"
        reason = f" ({without:,} with a reason: unscored)" if without else ""
        notes.append(f"{have} no score{reason}. This study is about {about}. Left out.")
    notes += [
        f"None of these scores is about {protocol.criterion(name).title}: it can only be answered with Cannot judge."
        for name, keys in scores.judged.items()
        if not keys
    ]
    return kept, left_out, tuple(notes)


def _named(pool: list[Candidate], items: Sequence[str]) -> list[Candidate]:
    """The candidates with these external ids, or all; InvalidInput names an item that is not there."""
    if not pool:
        raise InvalidInput("The project has no items to sample from. Import some first.")
    if not items:
        return pool
    known = {candidate.external_id for candidate in pool}
    missing = [item for item in items if item not in known]
    if missing:
        raise InvalidInput(
            f"The project has no item {missing[0]!r} ({len(missing)} of {len(items)} are not there). "
            "Name items by their external id."
        )
    wanted = set(items)
    return [candidate for candidate in pool if candidate.external_id in wanted]
