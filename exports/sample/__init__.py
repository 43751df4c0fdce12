"""The sample project: five invented documents drawn from code, questions about them, and simulated labels.

Nothing here is downloaded or stored as a binary file. The documents are drawn when they are asked for and come out
byte for byte the same each time, so that importing the sample twice adds nothing.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from exports.sample.documents import draw_documents
from exports.sample.items import item_rows
from exports.sample.labels import ANNOTATORS, qualification_items, qualification_labels, simulated_labels

__all__ = ["ANNOTATORS", "qualification_items", "qualification_labels", "simulated_labels", "write_sample"]


def write_sample(folder: Path) -> None:
    """Write the sample project into ``folder`` in the native format.

    The folder is made if it does not exist; it then holds ``items.jsonl``, ``documents.jsonl`` and ``documents/``
    with one PDF a document. Takes about two seconds.
    """
    documents = draw_documents()
    (folder / "documents").mkdir(parents=True, exist_ok=True)
    rows = []
    for document in documents.values():
        path = f"documents/{document.key}"
        (folder / path).write_bytes(document.data)
        metadata = {"language": document.language}
        rows.append({"key": document.key, "title": document.title, "path": path, "metadata": metadata})
    _write_lines(folder / "documents.jsonl", rows)
    _write_lines(folder / "items.jsonl", item_rows(documents))


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
