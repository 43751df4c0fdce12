"""A server that says again what a real judge once said: its stored labels, found by what is asked about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.judging.schemas import Path, filled, first_choice
from tests.judging.wire import ChatServer, Said, Sent, completion

Stored = Callable[[str, Sent], Any]
"""The label that was given by criterion and request; None where there is none."""


class ReplayingServer(ChatServer):
    """Answers each request with the label that is stored for it."""

    def __init__(self, stored: Stored, **of_all: Any) -> None:
        super().__init__(**of_all)
        self._stored = stored

    def answer(self, sent: Sent) -> Said:
        criterion = sent.body["response_format"]["json_schema"]["name"]
        label = self._stored(criterion, sent)

        def fill(path: Path, leaf: Mapping[str, Any]) -> Any:
            match path[-1]:
                case "label":
                    return str(label) if "enum" in leaf else label
                case "cannot_judge":
                    return "It was not graded."
            return first_choice(path, leaf)

        def choose(path: Path, _alternatives: list[Mapping[str, Any]]) -> int:
            return int(path[-1] == "judgement" and label is None)

        return completion(sent, [json.dumps(filled(sent.schema or {}, fill, choose=choose))])
