"""RAGAS: samples of an evaluation dataset (`to_jsonl`, `to_csv`), and results as records with a column a metric."""

from __future__ import annotations

from exports.formats._samples import SampleFormat
from exports.formats.base import FORMATS


class Ragas(SampleFormat):
    """Single-turn samples. Conversations are named as bad rows."""

    name = "ragas"
    title = "RAGAS samples and results"
    help = (
        "JSON lines, a JSON list or a table of samples with user_input, and response or reference; metrics as columns"
    )
    file = "samples.jsonl"
    question, answer, reference = "user_input", "response", "reference"
    retrieved, gold = "retrieved_contexts", "reference_contexts"
    needed = ("user_input",)


FORMATS.register(Ragas())
