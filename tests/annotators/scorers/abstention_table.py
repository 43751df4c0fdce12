"""The table of docs/metrics.md, section abstention: every classifier on the answers of one label file.

python -m tests.annotators.scorers.abstention_table [LABEL_FILE [FOLDER_OF_THE_SHARED_DATA]]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import binomtest

from annotators.items.item import ItemContent
from annotators.scorers.shared.abstaining.classifier import AbstentionParameters, classify, opening
from annotators.scorers.shared.abstaining.training_sets import Example, starting_set, training_set
from annotators.scorers.shared.resources import provide_resource
from tests.annotators.scorers.labelled_answers import LABELS, Labelled, by_keywords, by_tfidf, labelled_answers
from tests.conftest import SHARED

OURS = "nearest example, defaults"


def by_nearest(answers: Sequence[Labelled], parameters: AbstentionParameters) -> list[bool]:
    items = [ItemContent("", "", answer.question, answer.answer) for answer in answers]
    return [label is not None and label.label == "abstention" for label in classify(items, parameters)]


def guesses(answers: Sequence[Labelled], shared: Path) -> dict[str, list[bool]]:
    """What each classifier of the table says of these answers: True for an abstention."""
    given = json.loads((shared / "fathoms" / "statement_abstention_training.json").read_text())
    theirs = training_set(Example(label, text) for label, texts in given.items() for text in texts)
    digest = provide_resource(theirs.to_bytes())
    examples = [(example.text, example.label == "abstention") for example in starting_set().examples]
    openings = [Labelled(answer.source, answer.question, opening(answer.answer), answer.abstains) for answer in answers]
    return {
        OURS: by_nearest(answers, AbstentionParameters()),
        "list of 20 key phrases": by_keywords(answers),
        "the same list, on the first 20 words": by_keywords(openings),
        "nearest example by TF-IDF": by_tfidf(answers, examples),
        "as in the paper (text=answer reach=2)": by_nearest(answers, AbstentionParameters(text="answer", reach=2)),
        "the same with the authors' 90 examples": by_nearest(
            answers, AbstentionParameters(text="answer", reach=2, training_set=digest)
        ),
    }


def right(answers: Sequence[Labelled], guessed: Sequence[bool]) -> list[bool]:
    return [answer.abstains == guess for answer, guess in zip(answers, guessed, strict=True)]


def mcnemar(ours: Sequence[bool], theirs: Sequence[bool]) -> tuple[int, int, float]:
    """Answers that only ours has right, those that only theirs has right, and p of McNemar's exact test."""
    ours_only = sum(a and not b for a, b in zip(ours, theirs, strict=True))
    theirs_only = sum(b and not a for a, b in zip(ours, theirs, strict=True))
    n = ours_only + theirs_only
    return ours_only, theirs_only, float(binomtest(ours_only, n).pvalue) if n else 1.0


def share(flags: Sequence[bool]) -> str:
    if not flags:
        return "none"
    interval = binomtest(sum(flags), len(flags)).proportion_ci(method="wilson")
    return f"{sum(flags) / len(flags):.3f} ({interval.low:.3f}–{interval.high:.3f})"


def main(labels: Path, shared: Path) -> None:
    answers = labelled_answers(shared, labels)
    found = guesses(answers, shared)
    ours = right(answers, found[OURS])
    sources = [answer.source for answer in answers]
    print(f"{len(answers)} answers, {sum(answer.abstains for answer in answers)} abstentions")
    for name, guessed in found.items():
        print(f"\n{name}")
        flags = right(answers, guessed)
        for part in [*dict.fromkeys(sources), "all"]:
            chosen = [at for at, source in enumerate(sources) if part in (source, "all")]
            here, with_ours = [flags[at] for at in chosen], [ours[at] for at in chosen]
            print(f"  {part}, {len(chosen)}: right {share(here)}", end="")
            if name != OURS:
                print("; only ours right {}, only this {}, p = {:.4f}".format(*mcnemar(with_ours, here)), end="")
            print()
        rightly = [answer.abstains for answer, guess in zip(answers, guessed, strict=True) if guess]
        noticed = [guess for answer, guess in zip(answers, guessed, strict=True) if answer.abstains]
        print(f"  of abstentions: precision {share(rightly)}, recall {share(noticed)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", nargs="?", type=Path, default=LABELS)
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED / "data")
    asked = parser.parse_args()
    main(asked.labels, asked.shared)
