"""Labels of a study as they are read from the database: columns of some items at a time, each as short as it can be.

What is true of an item is read once an item, what is true of a submission once a submission, and what few labels have
besides only of these: rows that are joined in the database say all of it again for every label.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from sqlmodel import Session

from annotators.arrays import BoolArray, IntArray, np
from annotators.later import Later
from db.elsewhere.came_back import HANDED_OVER
from db.models import Study
from db.query import Where, in_clause, is_sqlite, mark, plain_columns, plain_rows
from db.studies.settlements import FROM_STUDY_ITEMS, OF_SAMPLE, end_of_items
from exports.bundles.arrow import arrow_type
from exports.bundles.columns import ColumnKind
from exports.cells import value_cell, value_text

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = Later("pyarrow"), Later("pyarrow.compute")

LABELS_AT_ONCE = 40_000
"""About so many labels are read at a time."""
_MOST_ITEMS = 4_000

_TEXT, _WHOLE = ColumnKind.TEXT, ColumnKind.WHOLE
_OF_ITEM = {
    "item": ("i.external_id", _TEXT),
    "item_version": ("v.number", _WHOLE),
    "question": ("q.key", _TEXT),
    "system": ("i.system", _TEXT),
}
_OF_PAIR = {
    "other_item": ("o.external_id", _TEXT),
    "other_system": ("o.system", _TEXT),
    "other_version": ("w.number", _WHOLE),
}
_SAMPLED = f"""WHERE x.study_id = {{mark}} AND x.position >= {{mark}} AND x.position < {{mark}} AND {OF_SAMPLE}"""
_ITEMS = f"{FROM_STUDY_ITEMS}{_SAMPLED}"
_SUBMITTED = f"""
FROM study_item x JOIN assignment a ON a.study_item_id = x.id JOIN submission s ON s.assignment_id = a.id {_SAMPLED}"""
_ANNOTATED = f"""
FROM study_item x JOIN annotation n ON n.study_id = x.study_id AND n.study_item_id = x.id
LEFT JOIN set_aside z ON z.annotation_id = n.id {_SAMPLED}"""
_BATCHES = "SELECT b.id, {at}, b.format FROM batch b WHERE b.project_id = {mark}"
_WITHDRAWN = """
SELECT w.batch_id FROM withdrawal w
WHERE NOT w.reinstates AND w.id = (SELECT max(m.id) FROM withdrawal m WHERE m.batch_id = w.batch_id)"""
_FEW_HAVE = ("cannot_judge", "reason", "comment", "rationale", "confidence", "same")
_HAS_ONE = " OR ".join(["l.cannot_judge", *(f"l.{name} IS NOT NULL" for name in _FEW_HAVE[1:])])


@dataclass(frozen=True)
class _Dialect:
    """How a database is asked for what not every one gives alike: times, JSON and fractions."""

    time: str
    seconds: str
    value: str
    json: str

    def as_json(self, column: str) -> str:
        return self.json.format(column)


# Fractions are read as text where they would lose digits: SQLite writes one into JSON with fifteen, which are not all.
_ON_SQLITE = _Dialect(
    time="s.created_at",
    seconds="""CASE WHEN s.seconds IS NULL THEN NULL WHEN CAST(s.seconds * 1000 + 0.5 AS INTEGER) / 1000.0 = s.seconds
        THEN CAST(s.seconds * 1000 + 0.5 AS INTEGER) ELSE quote(s.seconds) END""",
    value="CASE typeof(l.value) WHEN 'real' THEN quote(l.value) ELSE CAST(l.value AS TEXT) END",
    json="{}",
)
_ON_POSTGRESQL = _Dialect(
    time="to_char(s.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
    seconds="CAST(s.seconds AS TEXT)",
    value="CAST(l.value AS TEXT)",
    json="CAST({} AS TEXT)",
)


@dataclass(frozen=True)
class LabelBlock:
    """The labels of some items: the table's columns by name, on three levels, and how these belong together.

    `of_submission` are columns of submissions, `of_item` of items, `of_label` of labels in the table's order.
    `submissions` has for each label the place of its submission, `items` for each label that of its item. `cells` are
    columns as CSV says them, before they are quoted, where that is not the text of what they are. A text that is
    empty is none.
    """

    of_item: Mapping[str, pa.Array]
    of_submission: dict[str, pa.Array]
    of_label: dict[str, pa.Array]
    items: IntArray
    submissions: IntArray
    items_of_submissions: IntArray
    cells: Mapping[str, pa.Array]

    def __len__(self) -> int:
        """How many labels."""
        return len(self.submissions)


def label_blocks(
    session: Session,
    study: Study,
    called: Mapping[int, str],
    *,
    pairs: bool = False,
    revised: Mapping[int, Collection[str]] | None = None,
    added: IntArray | None = None,
) -> Iterator[LabelBlock]:
    """The labels of a study in the table's order (item, annotation, step), by people as they are `called`.

    With `pairs` an item has columns of the second item of its pair. `revised`: study item → the criteria of which its
    labels hold, of those that have a later version (`db.releasing.what_holds`); labels have then a column `fell`.
    `added`: the assignments that were asked for as people disagreed; submissions have then a column `added`.
    """
    sign = mark(session.connection())
    withdrawn = np.array([batch for (batch,) in plain_rows(session, _WITHDRAWN)], np.int64)
    began = _BATCHES.format(at=_dialect(session).as_json("b.created_at"), mark=sign)
    batches = {batch: _Batch(*said) for batch, *said in plain_rows(session, began, (study.project_id,))}
    start, at_once, end = 0, _MOST_ITEMS // 4, end_of_items(session, study)
    while start < end:
        parameters = (study.id, start, start + at_once)
        start += at_once
        submitted = _submitted(session, sign, parameters)
        if not submitted["id"]:
            continue
        about = _items(session, sign, parameters, pairs=pairs)
        given = _annotated(session, sign, parameters, withdrawn, batches)
        block = _block(about, submitted, given, _labels(session, submitted["id"]), called)
        if revised is not None:
            block.of_label["fell"] = _fell(about["id"], block, revised)
        if added is not None:
            block.of_submission["added"] = pa.array(np.isin(_numbers(submitted["assignment"]), added))
        at_once = max(1, min(_MOST_ITEMS, at_once * LABELS_AT_ONCE // max(len(block), 1)))
        yield block


# What is read ---------------------------------------------------------------------------------------------------------


_Lists = dict[str, list[Any]]


def _read(session: Session, columns: Mapping[str, str | Where], source: str, parameters: tuple[Any, ...]) -> _Lists:
    return dict(zip(columns, plain_columns(session, list(columns.values()), source, parameters), strict=True))


def _items(session: Session, sign: str, parameters: tuple[Any, ...], *, pairs: bool) -> _Lists:
    columns = {name: column for name, (column, _) in {**_OF_ITEM, **(_OF_PAIR if pairs else {})}.items()}
    ids = {"id": "x.id", "position": "x.position", **({"other_left": "x.other_left"} if pairs else {})}
    return _read(session, {**columns, **ids}, _ITEMS.format(mark=sign), parameters)


def _submitted(session: Session, sign: str, parameters: tuple[Any, ...]) -> _Lists:
    """Their submissions; the seconds of each as `_seconds` reads them."""
    how = _dialect(session)
    columns = {
        "id": "s.id", "item": "x.id", "assignment": "a.id", "sitting": "s.sitting", "step": "s.step",
        "person": "s.person_id", "time": how.time, "seconds": how.seconds, "shown": how.as_json("s.shown"),
        "submission": "s.uid", "submission_comment": "s.comment", "flag": "s.flag",
    }  # fmt: skip
    return _read(session, columns, _SUBMITTED.format(mark=sign), parameters)


def _seconds(cells: list[int | float | str | None]) -> pa.Array:
    """Fractions that come as thousandths where these say all of them, else as text."""
    try:
        return pc.divide(pa.array(cells, pa.int64()).cast(pa.float64()), 1000.0)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        numbers = [cell / 1000.0 if isinstance(cell, int) else cell and float(cell) for cell in cells]
        return pa.array(numbers, pa.float64())


class _Batch(NamedTuple):
    """When an import was, as text, and in which format it came."""

    at: str
    format: str


@dataclass(frozen=True)
class _Annotated:
    """Annotations: by which number each is found (`_number`), in ascending order; its kind; whether it is current.

    `untimed`: that it came in without a time. `elsewhere`: that it is not known what was before its annotator.
    """

    numbers: IntArray
    kinds: list[str]
    current: BoolArray
    untimed: BoolArray
    elsewhere: BoolArray

    def places(self, numbers: IntArray) -> tuple[IntArray, BoolArray]:
        """The place of each number, and whether it is there at all."""
        place = np.searchsorted(self.numbers, numbers)
        place[place == len(self.numbers)] = 0
        there = self.numbers[place] == numbers if len(self.numbers) else np.zeros(len(numbers), bool)
        return place, there


def _annotated(
    session: Session, sign: str, parameters: tuple[Any, ...], withdrawn: IntArray, batches: Mapping[int, _Batch]
) -> _Annotated:
    """Those of some items, with the imports that there are."""
    columns: dict[str, str | Where] = {
        "id": "n.id", "assignment": "n.assignment_id", "sitting": "n.sitting", "kind": "coalesce(z.kind, n.kind)",
        "superseded": Where("n.supersedes_id", "n.supersedes_id IS NOT NULL"),
        "imported": Where("n.id", "n.batch_id IS NOT NULL"), "batch": Where("n.batch_id", "n.batch_id IS NOT NULL"),
        "at": Where(_dialect(session).as_json("n.created_at"), "n.batch_id IS NOT NULL"),
    }  # fmt: skip
    found = _read(session, columns, _ANNOTATED.format(mark=sign), parameters)
    ids, imported = _numbers(found["id"]), _numbers(found["imported"])
    # What supersedes an annotation is a later sitting of the same assignment, and so among these.
    fell = np.isin(ids, _numbers(found["superseded"]))
    fell |= np.isin(ids, imported[np.isin(_numbers(found["batch"]), withdrawn)])
    numbers = _number(found["assignment"], found["sitting"])
    order = np.argsort(numbers)
    # What came without a time has that of its import (`UNTIMED` of db/items/current.py says why).
    came = [batches.get(batch) for batch in found["batch"]]
    at = [one is not None and time == one.at for time, one in zip(found["at"], came, strict=True)]
    untimed = np.isin(ids, imported[np.array(at, bool)])
    elsewhere = np.isin(ids, imported[np.array([one is None or one.format != HANDED_OVER for one in came], bool)])
    kinds = [found["kind"][place] for place in order.tolist()]
    return _Annotated(numbers[order], kinds, ~fell[order], untimed[order], elsewhere[order])


def _labels(session: Session, submissions: Sequence[int]) -> _Lists:
    """Their labels; `odd` and behind it only of those that have one of `_FEW_HAVE`."""
    how = _dialect(session)
    condition, ids = in_clause(session, "l.submission_id", submissions)
    columns: dict[str, str | Where] = {
        "id": "l.id", "submission": "l.submission_id", "criterion": "l.criterion", "target": "l.target",
        "value": how.value, "odd": Where("l.id", _HAS_ONE),
    }  # fmt: skip
    found = _read(session, columns, f"FROM label l WHERE {condition}", ids)
    few = {name: f"l.{name}" for name in _FEW_HAVE} | {"rationale": how.as_json("l.rationale")}
    condition, ids = in_clause(session, "l.id", found["odd"])
    said = _read(session, {"odd": "l.id", **few}, f"FROM label l WHERE {condition}", ids) if found["odd"] else {}
    return {**found, **{name: said.get(name, []) for name in ("odd", *few)}}


def _dialect(session: Session) -> _Dialect:
    return _ON_SQLITE if is_sqlite(session) else _ON_POSTGRESQL


def _number(assignments: Sequence[int], sittings: Sequence[int]) -> IntArray:
    """One number for each assignment and sitting."""
    return (_numbers(assignments) << 20) + _numbers(sittings)


def _numbers(cells: Sequence[int]) -> IntArray:
    return np.array(cells, np.int64)


# What is made of it ---------------------------------------------------------------------------------------------------


def _block(about: _Lists, submitted: _Lists, given: _Annotated, said: _Lists, called: Mapping[int, str]) -> LabelBlock:
    item = _places(_numbers(about["id"]), submitted["item"])
    position = _numbers(about["position"])[item]
    keys = [_numbers(submitted[name]) for name in ("step", "sitting", "assignment")]
    first = np.lexsort([*keys, position])
    rank = np.empty(len(first), np.int64)
    rank[first] = np.arange(len(first))
    of, ids = _places(_numbers(submitted["id"]), said["submission"]), _numbers(said["id"])
    order = np.lexsort((ids, rank[of]))
    of = of[order]
    of_item = {name: pa.array(about[name], arrow_type(kind)) for name, (_, kind) in _OF_ITEM.items()}
    of_submission, cells = _of_submissions(submitted, given, called)
    if "other_item" in about:
        of_item |= {name: pa.array(about[name], arrow_type(kind)) for name, (_, kind) in _OF_PAIR.items()}
        of_submission["left"] = _left(about, item, submitted, given)
    of_label, value_cells = _of_labels(said, ids, order)
    return LabelBlock(
        {name: _filled(array) for name, array in of_item.items()},
        of_submission,
        of_label,
        item[of],
        of,
        item,
        {**cells, "value": value_cells},
    )


def _of_submissions(
    submitted: _Lists, given: _Annotated, called: Mapping[int, str]
) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """The columns of submissions, and those that CSV says otherwise."""
    place, complete = given.places(_number(submitted["assignment"], submitted["sitting"]))
    kinds = pa.array(given.kinds, pa.string()).dictionary_encode().take(pa.array(place, mask=~complete))
    texts = pa.array(submitted["time"], pa.string())
    whole = pc.less(pc.binary_length(texts), 26)  # as imports wrote whole seconds into SQLite
    if pc.any(whole).as_py():
        texts = pc.if_else(whole, pc.binary_join_element_wise(texts, ".000000", ""), texts)
    if given.untimed.any():
        texts = pc.if_else(pa.array(_of(given.untimed, place, complete)), None, texts)
    columns = {
        "annotator": _said(pa.array(submitted["person"]), called.__getitem__),
        "time": texts.cast(pa.timestamp("us")).view(arrow_type(ColumnKind.TIME)),
        "seconds": _seconds(submitted["seconds"]),
        "kind": kinds,
        "current": pa.array(_of(given.current, place, complete) | ~complete),
        "complete": pa.array(complete),
        "shown": _said(pa.array(submitted["shown"], pa.string()), lambda text: " ".join(orjson.loads(text))),
        "step": pc.add(pa.array(submitted["step"], pa.int64()), 1),
        **{name: _texts(submitted[name]) for name in ("submission", "submission_comment", "flag")},
    }
    written = pc.binary_join_element_wise(pc.binary_replace_slice(texts, 10, 11, "T"), "Z", "")
    return columns, {"time": written}


def _of_labels(said: _Lists, ids: IntArray, order: IntArray) -> tuple[dict[str, pa.Array], pa.Array]:
    """The columns of labels in this order, and their values as CSV says them."""
    places = pa.array(order)
    value = pa.array(said["value"], pa.string()).dictionary_encode().take(places)
    spoken = [orjson.loads(text) for text in value.dictionary.to_pylist()]
    columns = {
        "criterion": _texts(said["criterion"]).dictionary_encode().take(places),
        "target": _texts(said["target"]).dictionary_encode().take(places),
        "value": _with_words(value, list(map(value_text, spoken))),
    }
    where = np.full(len(ids), -1)
    where[_places(ids, said["odd"])] = np.arange(len(said["odd"]))
    where = where[order]
    odd = pa.array(where, mask=where < 0)
    rationales = [None if text is None else orjson.dumps(orjson.loads(text)).decode() for text in said["rationale"]]
    few = {
        "reason": _texts(said["reason"]), "comment": _texts(said["comment"]), "rationale": _texts(rationales),
        "confidence": _texts(said["confidence"]), "same": pa.array(said["same"], pa.int64()),
    }  # fmt: skip
    columns |= {name: array.take(odd) if len(array) else pa.nulls(len(ids), array.type) for name, array in few.items()}
    cannot = np.zeros(len(ids), bool)
    cannot[where >= 0] = np.array(said["cannot_judge"], bool)[where[where >= 0]]
    columns["cannot_judge"] = pa.array(cannot)
    return columns, _with_words(value, list(map(value_cell, spoken)))


def _fell(ids: Sequence[int], block: LabelBlock, revised: Mapping[int, Collection[str]]) -> pa.Array:
    """Which labels of a block, whose study items have these ids, say nothing of the latest version of their item."""
    fell = np.zeros(len(block), bool)
    touched = np.isin(_numbers(ids), np.fromiter(revised, np.int64, len(revised)))
    where = np.flatnonzero(touched[block.items])
    if len(where):
        criteria = block.of_label["criterion"].take(pa.array(where)).to_pylist()
        places = _numbers(ids)[block.items[where]].tolist()
        fell[where] = [name not in revised[place] for place, name in zip(places, criteria, strict=True)]
    return pa.array(fell)


def _of(said: BoolArray, place: IntArray, there: BoolArray) -> BoolArray:
    """What is said at each place; False where there is none."""
    return there & said[place] if len(said) else there


def _left(about: _Lists, item: IntArray, submitted: _Lists, given: _Annotated) -> pa.Array:
    """Which answer of its pair stood left: not known of a label that was made elsewhere, unless this study fixed it."""
    sides = [
        None if other is None else "other_item" if left else "item"
        for other, left in zip(about["other_item"], about["other_left"], strict=True)
    ]
    elsewhere = _of(given.elsewhere, *given.places(_number(submitted["assignment"], submitted["sitting"])))
    return pc.if_else(pa.array(elsewhere), None, pa.array(sides, pa.string()).take(pa.array(item)))


def _places(ids: IntArray, wanted: Sequence[int]) -> IntArray:
    """The places of ids among others, in no order."""
    by_id = np.argsort(ids, kind="stable")
    return by_id[np.searchsorted(ids, _numbers(wanted), sorter=by_id)]


def _texts(cells: Sequence[str | None]) -> pa.Array:
    """Texts, of which an empty one is none."""
    return _filled(pa.array(cells, pa.string()))


def _filled(array: pa.Array) -> pa.Array:
    if array.type != pa.string() or array.null_count == len(array):
        return array
    empty = pc.equal(pc.binary_length(array), 0)
    return pc.if_else(empty, None, array) if pc.any(empty).as_py() else array


def _said(cells: pa.Array, words: Callable[[Any], str]) -> pa.Array:
    """The texts that are said of cells, made once for each of the few that there are."""
    few = cells.dictionary_encode()
    return _with_words(few, [words(cell) for cell in few.dictionary.to_pylist()])


def _with_words(few: pa.Array, words: Sequence[str]) -> pa.Array:
    """A dictionary array with these texts in place of its own; an empty one is none."""
    texts = _texts(words)
    if not texts.null_count:
        return pa.DictionaryArray.from_arrays(few.indices, texts)
    return texts.take(few.indices).dictionary_encode()
