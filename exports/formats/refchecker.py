"""RefChecker: answers with the claim triplets that were taken from them, each labelled by a person.

The files have neither the questions nor the passages that the labels are about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.checks import called
from annotators.items.normal import Normal
from annotators.items.parsed import ParsedItem, Rejected
from exports.formats._losing import usual
from exports.formats._records import (
    JSON_ENDING,
    Record,
    RecordReading,
    Said,
    as_claim,
    claim_text,
    items_of,
    json_files,
    names_in,
    need,
    refusal_of_list,
    rest_of,
    text_of,
    verdict_label,
    verdicts_in,
)
from exports.formats._writing import Files, FinalLabels, Items, Written, beside, given, metadata_of, parts_of, without
from exports.formats.base import FORMATS, NAME_A_STUDY, FileReading
from exports.reading.sources import SourceFile, Sources

if TYPE_CHECKING:
    from annotators.protocols import Protocol

SCORER = "imported:refchecker"
_OF_A_TRIPLET = frozenset({"triplet", "human_label"})
_TRIPLETS = re.compile(r"(?P<extractor>.+)_response_kg")
_NAME = re.compile(r"(?P<dataset>[^_]+)_(?P<system>.+)_answers")
PEOPLE = "people"
"""The source of the verdicts, which the file calls human labels."""

RATER = "refchecker-annotator"
"""The annotator of the labels, whom the files do not name."""

CLAIM_LABEL = "claim_label"
"""The criterion that they are of."""

_LABELS = frozenset(("entailment", "neutral", "contradiction"))

_GUIDELINES = """\
These labels came with the answers, from RefChecker's human evaluation; its guidelines did not. Each claim of the answer
was held against all passages at once: *entailment* if they say it, *contradiction* if they say otherwise, *neutral* if
they do neither.
"""


class RefChecker:
    """One item a record: an answer with its claims. Without the question's text, its id stands for it.

    Dataset and system are in the name of the file, `DATASET_SYSTEM_answers.json`. The label of a claim says what it is
    to all passages at once; labels are kept as `verdicts` of people, which the claim metrics read, and can become those
    of a study.
    """

    name = "refchecker"
    title = "RefChecker answers with labelled claims"
    help = "JSON files DATASET_SYSTEM_answers.json of records with id, response and claim triplets (…_response_kg)"
    loses = usual(
        "question",
        "language",
        "references",
        "documents",
        "evidence",
        "images",
        "hops",
        "scores",
        "claims.key",
        items="items without claims",
        id="ids of items",
        question_key="keys of questions",
        claims="claims of reference answers",
        claims__metadata="metadata of claims called as a field of a triplet is, and triplets of other texts",
        metadata="metadata called as a field of RefChecker is, and verdicts that are not people's, or in whose "
        "place final labels stand",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSON list whose records have a `response` and a list of triplets called `…_response_kg`."""
        refused = refusal_of_list(file, ("id", "response"))
        if refused is None and not any(_TRIPLETS.fullmatch(name) for name in names_in(file.head())):
            return "its records lack a list of claim triplets (`…_response_kg`)"
        return refused

    def read(self, sources: Sources) -> FileReading:
        """The JSON files of the sources."""
        return _RefCheckerReading(sources, json_files(sources))

    def label_protocol(self) -> Protocol:
        """What a study of the labels asks: what claim verification derives, a claim's label by all of its evidence."""
        from annotators.protocols import ALL_FALLS, PROTOCOLS, Material, Protocol, Step  # noqa: PLC0415 - most imports have none

        [derived] = PROTOCOLS.get("claim_verification").derived_criteria()
        return Protocol(
            name="claim_labels",
            title="Claims by all their evidence",
            summary="Do the passages, taken together, support each claim of the answer, speak against it, or neither?",
            guidelines=_GUIDELINES,
            criteria=[derived.criterion],
            steps=[
                Step(
                    name="claims",
                    title="Claims against all evidence",
                    shows=[Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.EVIDENCE],
                    criteria=[derived.criterion.name],
                )
            ],
            overlap=1,
            invalidates=ALL_FALLS,
            source="RefChecker (Hu et al. 2024), its human evaluation.",
        )

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item with the final labels of its claims as all that people say of them, where a study asks for them."""
        if CLAIM_LABEL not in labels.asked:
            return item
        metadata = metadata_of(item)
        others = [verdict for verdict in verdicts_in(metadata) if not _is_human_label(verdict)]
        mine = [
            {
                "claim": target.removeprefix("claim:").removesuffix("|context"),
                "against": "context",
                "label": value,
                "source": PEOPLE,
            }
            for (name, target), value in labels.items()
            if name == CLAIM_LABEL and value in _LABELS
        ]
        return {**item, "metadata": {**metadata, "verdicts": [*others, *mine]}}

    def write(self, items: Items, files: Files) -> Written:
        """Write `DATASET_SYSTEM_answers.json` of the items that have claims, or came from such a file."""
        n = left_out = 0
        for item in items():
            if not (item.get("claims") or "extractor" in metadata_of(item)):
                left_out += files.leave_out(item)
                continue
            dataset, system = item.get("category"), item["system"]
            about = f"{dataset}_{system}" if dataset else system
            name = files.named("answers", about, "_answers.json" if dataset else ".json")
            told = _NAME.fullmatch(name[: -len(JSON_ENDING)]) if dataset else None
            same = (told["system"] if told else name[: -len(JSON_ENDING)]) == system
            files.add(name, _record(item, {} if same else {"system": system}))
            n += 1
        return Written(n, left_out)


class _RefCheckerReading(RecordReading):
    """The files of one RefChecker source, with counts of items and of labels."""

    format = RefChecker.name

    def begin(self) -> None:
        self._n_items = 0
        self._labels: Counter[str] = Counter()

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        if not isinstance(data, list) or not any(isinstance(record, dict) and _extractor(record) for record in data):
            return None
        found = _NAME.fullmatch(file.path.name[: -len(JSON_ENDING)])
        dataset, system = (found["dataset"], found["system"]) if found else (None, file.path.name[: -len(JSON_ENDING)])
        return items_of(file, None, data, lambda record: self._item(record, dataset, system), SCORER, said=_SAID)

    def not_ours(self) -> str:
        return (
            "this is no list of RefChecker answers (id, response, …_response_kg). Leave it out, or choose another "
            "format."
        )

    def notes(self) -> Sequence[str]:
        if not self._n_items:
            return ()
        found = [
            "The files hold no question and no passage: "
            f"{count(self._n_items, 'item is', 'items are')} bare, with the question's id for its text."
        ]
        if self._labels:
            shares = ", ".join(f"{name} {n:,}" for name, n in self._labels.most_common())
            found.append(
                f"{count(self._labels.total(), 'label')} of claims ({shares}) come in with the items as verdicts of "
                f"people, for the claim metrics. {NAME_A_STUDY}"
            )
        return found

    def _item(self, record: Record, dataset: str | None, system: str) -> Normal:
        need(record, "id", "response")
        identity = record["id"]
        if not isinstance(identity, str | int) or isinstance(identity, bool):
            raise InvalidInput(f"`id` is {called(identity)}, not a text.")
        extractor = _extractor(record)
        if extractor is None:
            raise InvalidInput("it has no list of triplets (`…_response_kg`). Add it, [] where there are none.")
        name = f"{extractor}_response_kg"
        triplets = record[name]
        if not isinstance(triplets, list):
            raise InvalidInput(f"`{name}` is {called(triplets)}, not a list of triplets with their labels.")
        claims, verdicts = [], []
        for number, triplet in enumerate(triplets, 1):
            if not isinstance(triplet, dict):
                raise InvalidInput(f"`{name}` holds {called(triplet)}, not an object with a triplet and its label.")
            key, said = f"c{number}", triplet.get("human_label")
            claim = {"key": key, **claim_text(triplet.get("triplet"))}
            if not triplet.keys() <= _OF_A_TRIPLET:
                claim["metadata"] = claim.get("metadata", {}) | rest_of(triplet, *_OF_A_TRIPLET)
            claims.append(claim)
            if said is not None:
                label = verdict_label(said, "human_label")
                verdicts.append({"claim": key, "against": "context", "label": label, "source": PEOPLE})
        self._n_items += 1
        self._labels.update(verdict["label"] for verdict in verdicts)
        key = f"{dataset}/{identity}" if dataset else str(identity)
        return {
            "question_key": key,
            "question": key,
            "answer": text_of(record, "response"),
            "system": record.get("system") or system,
            "category": dataset,
            "claims": claims,
            "metadata": {
                **rest_of(record, "id", "response", "system", name),
                "extractor": extractor,
                **({"verdicts": verdicts} if verdicts else {}),
            },
        }


def _labels(record: Record) -> Iterator[tuple[str, str, str]]:
    for number, triplet in enumerate(record[f"{_extractor(record)}_response_kg"], 1):
        label = triplet.get("human_label")
        if label is not None:
            yield CLAIM_LABEL, f"claim:c{number}|context", verdict_label(label, "human_label")


_SAID = Said(RATER, _labels)


def _extractor(record: Record) -> str | None:
    """What took the triplets from the answer: `claude2` where they are called `claude2_response_kg`."""
    for name in record:
        if found := _TRIPLETS.fullmatch(name):
            return found["extractor"]
    return None


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal, system: Record) -> Record:
    metadata, dataset = metadata_of(item), item.get("category")
    labels = {
        verdict.get("claim"): verdict["label"].capitalize()
        for verdict in verdicts_in(metadata)
        if _is_human_label(verdict)
    }
    key = item["question_key"]
    record = {
        "id": key.removeprefix(f"{dataset}/") if dataset else key,
        "response": item["answer"],
        **system,
        _list_of_claims(metadata): [
            beside(
                {"triplet": as_claim(claim), **given(human_label=labels.get(claim["key"]))},
                metadata_of(claim),
                _OF_A_TRIPLET,
            )
            for claim in parts_of(item, "claims")
            if claim.get("of", "answer") == "answer"
        ],
    }
    return beside(record, without(metadata, "extractor", "verdicts"), ("system",))


def _is_human_label(verdict: Normal) -> bool:
    """Whether a verdict is what the files have as `human_label`."""
    return bool(verdict.get("source") == PEOPLE and verdict.get("against") == "context")


def _list_of_claims(metadata: Normal) -> str:
    """What the list of claims is called: after what took them from the answer, where that makes a name of it."""
    name = f"{metadata.get('extractor', 'claims')}_response_kg"
    return name if _TRIPLETS.fullmatch(name) else "claims_response_kg"


FORMATS.register(RefChecker())
