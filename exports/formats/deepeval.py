"""DeepEval: test cases of a dataset, and test runs with the metrics of each case."""

from __future__ import annotations

from typing import Any

from annotators.items.normal import Normal
from exports.formats._records import Record
from exports.formats._samples import SampleFormat
from exports.formats._writing import without
from exports.formats.base import FORMATS

_OF_RUNS = {
    "actualOutput": "actual_output",
    "expectedOutput": "expected_output",
    "retrievalContext": "retrieval_context",
    "additionalMetadata": "additional_metadata",
}
"""Fields of test runs → what datasets call them."""

_METRICS = ("metricsData", "metrics_data")


class DeepEval(SampleFormat):
    """Test cases of one turn. The metrics of a test run are scores, with the threshold that they were held against."""

    name = "deepeval"
    title = "DeepEval test cases and runs"
    help = (
        "a JSON list or table of test cases or goldens with input and actual_output or expected_output; or a saved "
        "test run"
    )
    file = "test_cases.json"
    question, answer, reference = "input", "actual_output", "expected_output"
    retrieved, gold = "retrieval_context", "context"
    needed = ("input",)
    some = ("actual_output", "expected_output", "actualOutput", "expectedOutput")
    renamed = frozenset((*_OF_RUNS, *_METRICS))
    between = "|"
    aside = ("order", "tokenCost", "token_cost", "completionTime", "completion_time", "runDuration", "evaluationCost")

    def item(self, record: Record) -> Normal:
        """A test case as an item."""
        plain = {_OF_RUNS.get(name, name): value for name, value in record.items() if name not in _METRICS}
        found = super().item(plain)
        metrics: list[Any] = next((record[name] for name in _METRICS if isinstance(record.get(name), list)), [])
        for metric in metrics:
            if isinstance(metric, dict) and isinstance(metric.get("name"), str):
                found["scores"].append(_score(metric))
        return found


def _score(metric: Record) -> Normal:
    value = metric.get("score")
    scored = isinstance(value, int | float) and not isinstance(value, bool)
    reason = metric.get("reason") or metric.get("error")
    about = without(metric, "name", "score", "reason", "error", "success", "verboseLogs", "evaluationCost")
    parameters = {name: of for name, of in about.items() if isinstance(of, str | int | float)}
    return {
        "name": metric["name"],
        "value": value if scored else None,
        "parameters": parameters,
        **({"reason": str(reason)} if reason and not scored else {}),
    }


FORMATS.register(DeepEval())
