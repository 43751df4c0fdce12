"""RAGChecker: answers that are checked claim by claim, pairs of answers that people compared, and a metric's scores.

Three kinds of file, told apart by their fields:

- *checking* inputs and outputs (`results`): an answer with its contexts; in outputs also the claims of the answer and
  of the reference, and what a checker found each of them to be;
- *ratings* (a list of pairs): two answers to one question and how a person compares them, a row a rater;
- *metric* files: the same pairs with scores for each answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.item import CLAIM_SIDES
from annotators.items.normal import Normal, external_id, question_key, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._losing import usual
from exports.formats._records import (
    JSON_ENDING,
    Record,
    RecordReading,
    as_claim,
    claim_text,
    is_records,
    items_of,
    json_files,
    lacking,
    list_of,
    names_in,
    need,
    rest_of,
    text_of,
    verdict_label,
    verdicts_in,
)
from exports.formats._writing import Files, Items, Written, beside, given, metadata_of, parts_of, without
from exports.formats.base import FORMATS, NAME_A_STUDY, FileReading, Misnamed
from exports.reading.json_files import element_lines
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.protocols import Protocol

SCORER = "imported:ragchecker"
CHECKER = "checker"
"""The source of the verdicts of checking outputs that name none."""

_SOURCES = (CHECKER, "adjudicated", "people")
"""Whose verdicts are written: the first of these that there are any of."""

UNNAMED = "unnamed"
"""The system of checking files, which do not say who answered."""

_SIDES = ("model1", "model2")
_LABEL = "_label"
_RATINGS = ("correctness_label", "completeness_label", "overall_label")
_RATED = frozenset(_RATINGS)
"""What a rater says of a pair: the names of the criteria of pairwise preference with `_label` behind."""

RATER = "ragchecker-rater-"
"""How an annotator is called, with a number behind: the files name no rater, they have one row for each."""

_BEST = 2
"""Raters compare the answers from −2 (the first is much better) to 2 (the second is)."""

_CHECKED = ("query", "gt_answer", "response", "retrieved_context")
_CLAIMS = ("response_claims", "gt_answer_claims")
_VERDICTS = ("answer2response", "response2answer", "retrieved2response", "retrieved2answer")
_SOURCE = "verdict_source"
_CHECKING = (*_CHECKED, *_CLAIMS, *_VERDICTS, _SOURCE, "query_id", "metrics", "system")
_PAIR = ("query_id", "query", "gt_answer", *_SIDES, *_RATINGS, "dataset", "instance_id")


class RAGChecker:
    """Checking files give an item an answer, files of pairs an item for each of the two answers.

    What a checker found is kept as `verdicts`, which the claim metrics read. What raters said of a pair is kept in the
    metadata of both items, in `pairs`: it is about the two together, and can become labels of a study of pairs. Scores
    are those of `imported:ragchecker`. Ratings and metrics that are imported together come together in the same items.
    """

    name = "ragchecker"
    title = "RAGChecker inputs, outputs, ratings and metrics"
    help = (
        "JSON files: checking inputs or outputs (results), pairs of answers with ratings, and with the metric's scores"
    )
    loses = usual(
        "category",
        "language",
        "documents",
        "images",
        "hops",
        "evidence.kind",
        "evidence.role",
        "evidence.document",
        "evidence.pages",
        "evidence.box",
        "evidence.hop",
        "evidence.rank",
        "evidence.used",
        "claims.key",
        items="items without a text as reference answer, or with evidence without a text",
        id="ids of items",
        question_key="keys of questions",
        references="reference answers after the first",
        labels__verdicts="verdicts of studies whose list has one that is open",
        claims__metadata="metadata of claims but their triplet",
        scores="scores that are not RAGChecker's",
        evidence__metadata="metadata of evidence called text",
        metadata="metadata called as a field of RAGChecker is, and verdicts of others beside the checker's",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON file whose records have `gt_answer`, and an answer with its contexts or two answers."""
        if not file.basename.endswith(JSON_ENDING):
            return Misnamed(f"it does not end with {JSON_ENDING}")
        there = names_in(file.head())
        pair = lacking(there, ("gt_answer", *_SIDES))
        checking = lacking(there, ("results", "gt_answer", "response", "retrieved_context"))
        return pair and checking and f"{pair} of a pair, and {checking} of a checked answer"

    def read(self, sources: Sources) -> FileReading:
        """The JSON files of the sources."""
        return _RAGCheckerReading(sources, json_files(sources))

    def label_protocol(self) -> Protocol:
        """What a study of the ratings asks: pairwise preference."""
        from annotators.protocols import PROTOCOLS  # noqa: PLC0415 - most imports have no labels

        return PROTOCOLS.get("pairwise_preference")

    scorer = "ragchecker"
    """The scorer that computes RAGChecker's metrics here; what it takes of labels is what the lists hold."""

    def with_verdicts(self, item: Normal, verdicts: Sequence[Mapping[str, Any]]) -> Normal:
        """The item with these verdicts, without those of the checker and the scores that were computed of them."""
        metadata = {name: value for name, value in metadata_of(item).items() if name not in ("verdicts", "file")}
        rows = []
        for verdict in verdicts:
            kind, _, key = verdict["against"].partition(":")
            place = {"evidence": key} if kind == "evidence" else {"against": kind}
            rows.append({"claim": verdict["claim"], **place, "label": verdict["label"], "source": verdict["source"]})
        scores = [score for score in parts_of(item, "scores") if score["scorer"] != SCORER]
        return {**item, "scores": scores, "metadata": {**metadata, **({"verdicts": rows} if rows else {})}}

    def write(self, items: Items, files: Files) -> Written:
        """Write checked answers, and pairs of answers with their ratings and with the metric's scores."""
        n = left_out = 0
        seconds = {
            _about(item): item for item in items() if any(pair["place"] == _SIDES[1] for pair in _pairs_of(item))
        }
        for item in items():
            pairs, record = _pairs_of(item), None
            for pair in pairs:
                other = seconds.get((item["question_key"], pair["other_system"]))
                if pair["place"] == _SIDES[0] and other is not None and _reference_of(item) is not None:
                    _write_pair(files, item, other, pair)
            if not pairs and (record := _checked_record(item)) is not None:
                of_file = _of_file(item)
                name = files.named(orjson.dumps(of_file).decode(), "checking", ".json")
                head = orjson.dumps(of_file)[:-1] + (b"," if of_file else b"")
                files.begin(name, head + b'"results":[\n', b"\n]}\n")
                files.add(name, record)
            taken = bool(pairs) or record is not None
            n, left_out = n + taken, left_out + (0 if taken else files.leave_out(item))
            files.verdicts += _n_verdicts([record[name] for name in _VERDICTS if name in record]) if record else 0
        return Written(n, left_out)


_Answer = tuple[str, str]
"""A question's key and a system: what an item of a pair is known by."""


class _Checked(NamedTuple):
    """What a checked answer is known by while files are compared."""

    query: str
    response: str


class _RAGCheckerReading(RecordReading):
    """The files of one RAGChecker source.

    Before the items, all files are looked through: `_rated` are the texts of the answers that files of ratings have,
    `_metrics` those of metric files with their scores, `_with_claims` the checked answers that have claims.
    """

    format = RAGChecker.name

    def begin(self) -> None:
        self._rated: dict[_Answer, str] = {}
        self._metrics: dict[_Answer, tuple[str, list[Normal]]] = {}
        self._with_claims: set[_Checked] = set()
        self._n_ratings = self._n_pairs = self._n_inputs = 0
        self._n_verdicts: Counter[str] = Counter()
        self._raters: set[int] = set()
        if len(self.files) > 1:
            for file in self.files:
                self._look_through(self.look_ahead(file))

    def _look_through(self, data: Any) -> None:
        if _is_checking(data):
            for record in _records(data["results"]):
                if any(record.get(name) for name in _CLAIMS):
                    self._with_claims.add(_known(record))
        elif _is_pairs(data):
            for record in _records(data):
                for side in _SIDES:
                    answer = record.get(side)
                    if not isinstance(answer, dict):
                        continue
                    about = (_pair_key(record), str(answer.get("model_name")))
                    if _is_rated(record):
                        self._rated[about] = str(answer.get("response"))
                    elif isinstance(answer.get("ragchecker"), dict):
                        self._metrics[about] = (str(answer.get("response")), list(_scores(answer["ragchecker"])))

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        if _is_checking(data):
            return self._checking(file, data)
        return self._pairs(file, data) if _is_pairs(data) else None

    def not_ours(self) -> str:
        return (
            "this has neither the `results` of a check (query, gt_answer, response, retrieved_context) nor pairs of "
            "answers (gt_answer, model1, model2). Leave it out, or choose another format."
        )

    def notes(self) -> Sequence[str]:
        found = []
        if self._n_inputs:
            found.append(
                f"{count(self._n_inputs, 'checking input is', 'checking inputs are')} left out: the checking outputs "
                "have the same answers with their claims."
            )
        for source, n in self._n_verdicts.items():
            if n:
                by = "of the checker" if source == CHECKER else f"of the source {source!r}"
                found.append(
                    f"{count(n, 'verdict')} {by} come in with the items, for the claim metrics. "
                    "They are not labels of a study."
                )
        if self._n_ratings:
            raters = f" by {count(len(self._raters), 'rater')}" if self._raters else ""
            found.append(
                f"{count(self._n_ratings, 'rating')}{raters} of {count(self._n_pairs, 'pair')} of answers are kept in "
                f"the metadata of both items of a pair, in pairs. {NAME_A_STUDY}"
            )
        return found

    # Checking files ---------------------------------------------------------------------------------------------------

    def _checking(self, file: SourceFile, data: Record) -> Iterator[ParsedItem | Rejected]:
        of_file = rest_of(data, "results")
        for parsed in items_of(file, "results", data["results"], lambda record: self._checked(record, of_file), SCORER):
            if isinstance(parsed, ParsedItem) and not parsed.item.claims:
                known = _Checked(parsed.item.question, parsed.item.answer)
                if known in self._with_claims:
                    self._n_inputs += 1
                    continue
            yield parsed

    def _checked(self, record: Record, of_file: Record) -> Normal:
        need(record, *_CHECKED)
        question = text_of(record, "query")
        evidence = [_context(rank, chunk) for rank, chunk in enumerate(list_of(record, "retrieved_context"), 1)]
        claims = [_claim(f"c{n}", claim, "answer") for n, claim in enumerate(list_of(record, "response_claims"), 1)]
        gold = [_claim(f"r{n}", claim, "reference") for n, claim in enumerate(list_of(record, "gt_answer_claims"), 1)]
        source = CHECKER if record.get(_SOURCE) is None else text_of(record, _SOURCE)
        verdicts = [
            {**verdict, "source": source}
            for verdict in (
                *_against(record, "answer2response", claims, "reference"),
                *_against(record, "response2answer", gold, "answer"),
                *_of_contexts(record, "retrieved2response", claims, evidence),
                *_of_contexts(record, "retrieved2answer", gold, evidence),
            )
        ]
        self._n_verdicts[source] += len(verdicts)
        metrics = record.get("metrics") or {}
        if not isinstance(metrics, dict):
            raise InvalidInput(f"`metrics` is {called(metrics)}, not an object of scores by name.")
        metadata = rest_of(record, *_CHECKING)
        if record.get("query_id") is not None:
            metadata["query_id"] = record["query_id"]
        if of_file:
            metadata["file"] = of_file
        if verdicts:
            metadata["verdicts"] = verdicts
        return {
            "question_key": _checking_key(record, question),
            "question": question,
            "answer": text_of(record, "response"),
            "system": record.get("system") or UNNAMED,
            "references": [text_of(record, "gt_answer")],
            "evidence": evidence,
            "claims": [*claims, *gold],
            "scores": list(_scores(metrics)),
            "metadata": metadata,
        }

    # Pairs ------------------------------------------------------------------------------------------------------------

    def _pairs(self, file: SourceFile, data: list[Any]) -> Iterator[ParsedItem | Rejected]:
        """One item for each answer, where the first pair with it stands; rows of the same pair are further ratings."""
        answers: dict[_Answer, _InPairs] = {}
        for number, (record, line) in enumerate(zip(data, element_lines(file, None, len(data)), strict=True), 1):
            try:
                _check_pair(record)
                found = [_InPairs(line, record, side) for side in _SIDES]
                for rated in found:
                    rated.check_same(answers.get(rated.about))
            except InvalidInput as error:
                yield Rejected(file.name, line, f"entry {number}: {error}")
                continue
            for rated in found:
                self._count(answers.setdefault(rated.about, rated).add(record, rated.side), rated.side)
        for answer in answers.values():
            scores = answer.scores
            if answer.rated:
                response, beside = self._metrics.get(answer.about, (None, []))
                scores = scores or (beside if response == answer.response else [])
            elif self._rated.get(answer.about) == answer.response:
                continue  # it comes with its ratings, from their file
            try:
                item = read_item(answer.item(scores), scorer=SCORER)
                yield ParsedItem(file.name, answer.line, item, tuple(answer.labels(file.name, item.id)))
            except AssayError as error:
                yield Rejected(file.name, answer.line, f"`{answer.side}`: {error}")

    def _count(self, rater: int, side: str) -> None:
        """Count a rating, which both answers of a pair have, once."""
        if rater and side == _SIDES[0]:
            self._n_ratings += 1
            self._n_pairs += rater == 1
            self._raters.add(rater)


class _InPairs:
    """An answer as the pairs of a file have it: its text and question, and how it compares in each pair."""

    def __init__(self, line: int, record: Record, side: str) -> None:
        self.line, self.side = line, side
        self._record, self._answer = record, record[side]
        self._pairs: dict[tuple[str, str], Normal] = {}
        self.about: _Answer = (_pair_key(record), self._answer["model_name"])
        self.response: str = self._answer["response"]
        self.rated = False

    @property
    def scores(self) -> list[Normal]:
        """The scores that stand beside it where it came first."""
        return list(_scores(self._answer.get("ragchecker") or {}))

    def check_same(self, other: _InPairs | None) -> None:
        """InvalidInput when an earlier row has another text for the same answer or its question."""
        if other is not None and (other.response, *other._texts()) != (self.response, *self._texts()):
            raise InvalidInput(
                f"the answer of {self.about[1]!r} to question {self.about[0]!r} has other texts than on line "
                f"{other.line}. Keep one of the two."
            )

    def labels(self, file: str, item: str) -> Iterator[ForeignLabel]:
        """What raters said of the pairs in which this answer, the item of this id, comes first."""
        for pair in self._pairs.values():
            if pair["place"] != _SIDES[0]:
                continue
            other = external_id(self.about[0], pair["other_system"])
            for rating in pair.get("ratings", ()):
                rater = f"{RATER}{rating['rater']}"
                for name in _RATINGS:
                    criterion, value = name.removesuffix(_LABEL), str(rating[name])
                    yield ForeignLabel(self.line, item, rater, criterion, "pair", value, other=other, file=file)

    def _texts(self) -> tuple[str, str]:
        return self._record["query"], self._record["gt_answer"]

    def add(self, record: Record, side: str) -> int:
        """Add a row in which this answer stands on that side; which rating of its pair it is, 0 for none."""
        other = record[_SIDES[side == _SIDES[0]]]["model_name"]
        own = {"instance_id": record["instance_id"]} if record.get("instance_id") is not None else {}
        pair = self._pairs.setdefault((other, side), {**own, "place": side, "other_system": other})
        if not _is_rated(record):
            return 0
        self.rated = True
        ratings: list[Normal] = pair.setdefault("ratings", [])
        ratings.append({"rater": len(ratings) + 1, **{name: record[name] for name in _RATINGS}})
        return len(ratings)

    def item(self, scores: list[Normal]) -> Normal:
        """The answer as an item with these scores."""
        record, answer = self._record, self._answer
        return {
            "question_key": self.about[0],
            "question": record["query"],
            "answer": self.response,
            "system": self.about[1],
            "category": record.get("dataset"),
            "references": [record["gt_answer"]],
            "scores": scores,
            "metadata": {
                **rest_of(record, *_PAIR),
                **({} if isinstance(record["query_id"], str) else {"query_id": record["query_id"]}),
                **rest_of(answer, "model_name", "response", "ragchecker"),
                "pairs": list(self._pairs.values()),
            },
        }


def _is_checking(data: Any) -> bool:
    return isinstance(data, dict) and is_records(data.get("results"), "query", "response")


def _is_pairs(data: Any) -> bool:
    return is_records(data, "gt_answer", *_SIDES)


def _is_rated(record: Record) -> bool:
    return not _RATED.isdisjoint(record)


def _records(rows: Iterable[Any]) -> Iterator[Record]:
    return (row for row in rows if isinstance(row, dict))


def _known(record: Record) -> _Checked:
    return _Checked(str(record.get("query")), str(record.get("response")))


def _checking_key(record: Record, question: str) -> str:
    """The key of a checked question: their ids only count the records of one file, so that it is made from the text."""
    query_id = record.get("query_id")
    return question_key(question, None if query_id is None else str(query_id))


def _pair_key(record: Record) -> str:
    """The key of a pair's question: an id counts within its dataset."""
    return f"{record.get('dataset') or 'ragchecker'}/{record.get('query_id')}"


def _check_pair(record: Any) -> None:
    if not isinstance(record, dict):
        raise InvalidInput("it is not an object")
    need(record, "query_id", "query", "gt_answer", *_SIDES)
    for name in ("query", "gt_answer"):
        text_of(record, name)
    for side in _SIDES:
        if not isinstance(record[side], dict):
            raise InvalidInput(f"`{side}` is {called(record[side])}, not an object with model_name and response.")
        for name in ("model_name", "response"):
            try:
                text_of(record[side], name)
            except InvalidInput as error:
                raise InvalidInput(f"`{side}`: {error}") from None
        if not isinstance(record[side].get("ragchecker") or {}, dict):
            raise InvalidInput(f"`{side}`: `ragchecker` is {called(record[side]['ragchecker'])}, not an object.")
    if record["model1"]["model_name"] == record["model2"]["model_name"]:
        raise InvalidInput(f"both answers are by {called(record['model1']['model_name'])}. A pair has two systems.")
    if _is_rated(record):
        for name in _RATINGS:
            value = record.get(name)
            if not _is_rating(value):
                raise InvalidInput(f"`{name}` is {called(value)}. Write a whole number from -{_BEST} to {_BEST}.")


def _is_rating(value: Any) -> bool:
    return type(value) is int and abs(value) <= _BEST


def _context(rank: int, context: Any) -> Normal:
    if isinstance(context, str):
        context = {"text": context}
    if not isinstance(context, dict):
        raise InvalidInput(f"`retrieved_context` holds {called(context)}. Each context is an object with a `text`.")
    return {
        "key": f"e{rank}",
        "kind": "passage",
        "role": "retrieved",
        "rank": rank,
        "text": text_of(context, "text"),
        "metadata": rest_of(context, "text"),
    }


def _claim(key: str, claim: Any, of: str) -> Normal:
    return {"key": key, "of": of, **claim_text(claim)}


def _against(record: Record, name: str, claims: list[Normal], against: str) -> Iterator[Normal]:
    """The verdicts of a list that has one for each claim."""
    labels = _one_each(record, name, claims, "claim")
    for claim, label in zip(claims, labels, strict=False):
        yield {"claim": claim["key"], "against": against, "label": verdict_label(label, name)}


def _of_contexts(record: Record, name: str, claims: list[Normal], evidence: list[Normal]) -> Iterator[Normal]:
    """The verdicts of a list that has for each claim a list with one for each context."""
    for claim, row in zip(claims, _one_each(record, name, claims, "claim"), strict=False):
        for unit, label in zip(evidence, _one_each({name: row}, name, evidence, "context"), strict=False):
            yield {"claim": claim["key"], "evidence": unit["key"], "label": verdict_label(label, name)}


def _one_each(record: Record, name: str, parts: list[Normal], noun: str) -> list[Any]:
    labels = list_of(record, name)
    if labels and len(labels) != len(parts):
        raise InvalidInput(
            f"`{name}` has {count(len(labels), 'verdict')} for {count(len(parts), noun)}. Give one each."
        )
    return labels


def _scores(metrics: Record) -> Iterator[Normal]:
    """The scores of a metric; the metric's `correctness_label` is the score `correctness`."""
    for name, value in metrics.items():
        yield {"name": name.removesuffix(_LABEL), "value": value}


# Writing --------------------------------------------------------------------------------------------------------------


PAIRS_RATED = "human_labeled_data.json"
PAIRS_SCORED = "baseline_ragchecker.json"


def _about(item: Normal) -> _Answer:
    return item["question_key"], item["system"]


def _pairs_of(item: Normal) -> list[Normal]:
    """The pairs that an answer stands in; those that are none of this format's are passed over."""
    pairs = metadata_of(item).get("pairs")
    return [
        pair
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, dict) and pair.get("place") in _SIDES and isinstance(pair.get("other_system"), str)
    ]


def _ratings_of(pair: Normal) -> list[Normal]:
    """What raters said of a pair, without what only numbers them; what is no rating is passed over."""
    ratings = pair.get("ratings")
    return [
        {name: rating[name] for name in _RATINGS}
        for rating in (ratings if isinstance(ratings, list) else [])
        if isinstance(rating, dict) and all(_is_rating(rating.get(name)) for name in _RATINGS)
    ]


def _of_file(item: Normal) -> Normal:
    """What stood beside the `results` of an item's file; a `file` of another form stays with its record."""
    kept = metadata_of(item).get("file")
    return without(kept, "results") if isinstance(kept, dict) else {}


def _reference_of(item: Normal) -> str | None:
    """The reference answer, where it is a text."""
    first = next(iter(item.get("references", [])), None)
    return first if isinstance(first, str) else None


def _write_pair(files: Files, first: Normal, second: Normal, pair: Normal) -> None:
    dataset = first.get("category")
    key: str = first["question_key"]
    own, kept = key.removeprefix(f"{dataset or 'ragchecker'}/"), metadata_of(first).get("query_id")
    record = {
        **given(instance_id=pair.get("instance_id"), dataset=dataset),
        "query_id": kept if kept is not None and str(kept) == own else own,
        "query": first["question"],
        "gt_answer": _reference_of(first),
    }
    plain = dict(zip(_SIDES, map(_side, (first, second)), strict=True))
    scored = {side: _metrics(item, _LABEL) for side, item in zip(_SIDES, (first, second), strict=True)}
    ratings = _ratings_of(pair) if _is_rated_still(second, first["system"]) else []
    for rating in ratings:
        files.add(PAIRS_RATED, {**record, **plain, **rating})
    if any(scored.values()) or not ratings:
        sides = {side: {**plain[side], **({"ragchecker": scored[side]} if scored[side] else {})} for side in _SIDES}
        files.add(PAIRS_SCORED, {**record, **sides})


def _is_rated_still(second: Normal, other: str) -> bool:
    """Whether the second answer of a pair has its ratings too: with a revision of either answer they fall."""
    return any(_ratings_of(pair) for pair in _pairs_of(second) if pair["other_system"] == other)


def _side(item: Normal) -> Normal:
    side = {"model_name": item["system"], "response": item["answer"]}
    return beside(side, metadata_of(item), ("ragchecker", "pairs", "query_id"))


def _metrics(item: Normal, ending: str = "") -> Normal:
    return {
        f"{score['name']}{ending}": score.get("value")
        for score in parts_of(item, "scores")
        if score["scorer"] == SCORER and score.get("target", "item") == "item"
    }


def _checked_record(item: Normal) -> Record | None:
    """A checked answer; None without a reference answer that is a text, and for evidence without a text."""
    reference, units = _reference_of(item), parts_of(item, "evidence")
    if reference is None or any("text" not in unit for unit in units):
        return None
    claims = {
        of: [claim for claim in parts_of(item, "claims") if claim.get("of", "answer") == of] for of in CLAIM_SIDES
    }
    own, gold = claims["answer"], claims["reference"]
    metadata = metadata_of(item)
    verdicts = verdicts_in(metadata)
    sources = {verdict.get("source") for verdict in verdicts}
    source = next((source for source in _SOURCES if source in sources), CHECKER)
    said = {
        (verdict.get("claim"), verdict.get("against"), verdict.get("evidence")): verdict["label"].capitalize()
        for verdict in verdicts
        if verdict.get("source") == source
    }
    lists: dict[str, list[Any]] = {
        "answer2response": [said.get((claim["key"], "reference", None)) for claim in own],
        "response2answer": [said.get((claim["key"], "answer", None)) for claim in gold],
        "retrieved2response": [[said.get((claim["key"], None, unit["key"])) for unit in units] for claim in own],
        "retrieved2answer": [[said.get((claim["key"], None, unit["key"])) for unit in units] for claim in gold],
    }
    given_lists = {name: found for name, found in lists.items() if found and _whole(found)}
    system, metrics = item["system"], _metrics(item)
    record = {
        **({"query_id": metadata["query_id"]} if "query_id" in metadata else {}),
        **({} if system == UNNAMED else {"system": system}),
        "query": item["question"],
        "gt_answer": reference,
        "response": item["answer"],
        "retrieved_context": [beside({"text": unit["text"]}, metadata_of(unit)) for unit in units],
        **({_CLAIMS[0]: list(map(as_claim, own)), _CLAIMS[1]: list(map(as_claim, gold))} if own or gold else {}),
        **given_lists,
        **({_SOURCE: source} if given_lists and source != CHECKER else {}),
        **({"metrics": metrics} if metrics else {}),
    }
    return beside(record, without(metadata, "verdicts", *(["file"] if _of_file(item) else [])), _CHECKING)


def _n_verdicts(labels: Sequence[Any]) -> int:
    return sum(_n_verdicts(label) if isinstance(label, list) else 1 for label in labels)


def _whole(labels: Sequence[Any]) -> bool:
    """Whether every claim has its verdicts: a list has no place for one that is missing."""
    return all(_whole(label) if isinstance(label, list) else label is not None for label in labels)


FORMATS.register(RAGChecker())
