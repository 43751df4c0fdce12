"""The answers of ../shared/data that were labelled by reading, and the classifiers that are measured on them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

LABELS = Path(__file__).parents[2] / "data" / "abstention_labels.json"
"""The development set: examples and defaults were chosen with these in view."""

HELD_OUT = LABELS.with_name("abstention_held_out.json")
"""The test set: labelled blind and looked at once, when everything was chosen."""

KEYWORDS = re.compile(
    r"\b(do(es)? not|doesn't|don't|cannot|can't|could not|unable|not (mentioned|stated|specified|provided|available"
    r"|possible|enough)|no (information|mention|answer)|insufficient|i don't know|unknown|sorry|n/a)\b",
    re.IGNORECASE,
)
"""A list as one would write it: the usual ways to decline."""


@dataclass(frozen=True)
class Labelled:
    source: str  # the folder of the data
    question: str
    answer: str
    abstains: bool


def labelled_answers(shared: Path, labels: Path = LABELS) -> list[Labelled]:
    """Every labelled answer with its text, checked against its hash."""
    found = []
    for file, place, digest, label in json.loads(labels.read_text())["labels"]:
        content = _content(shared / file)
        question, answer = _found(content, file.split("/")[0], place)
        assert hashlib.sha256(answer.encode()).hexdigest() == digest, (file, place)
        found.append(Labelled(file.split("/")[0], question, answer, label == "abstention"))
    return found


def _found(content: Any, source: str, place: int | str) -> tuple[str, str]:
    """The question, where the file has it, and the answer."""
    if source == "fathoms":
        row = content["responses"][place]
        return row["question"], row["pred_answer"]
    if source == "ragchecker":
        number, model = str(place).split("/")
        row = content[int(number)]
        return row["query"], row[model]["response"]
    if source == "mmdocrag":
        return "", content[place]["response"]
    return "", next(row["response"] for row in content if row["id"] == place)


@cache
def _content(path: Path) -> Any:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return json.loads(path.read_text())


def by_keywords(answers: Sequence[Labelled]) -> list[bool]:
    return [bool(KEYWORDS.search(answer.answer)) for answer in answers]


def by_tfidf(answers: Sequence[Labelled], examples: Sequence[tuple[str, bool]]) -> list[bool]:
    """Nearest example by cosine of TF-IDF vectors of words and pairs of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    known = vectors.fit_transform([text for text, _ in examples])
    nearest = (vectors.transform([answer.answer for answer in answers]) @ known.T).toarray().argmax(axis=1)
    return [examples[index][1] for index in nearest]
