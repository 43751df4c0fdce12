"""Small makers of files to import."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pymupdf


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return path


def write_pdf(path: Path, text: str = "Visitors: 4,100", *, pages: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = pymupdf.open()
    for _ in range(pages):
        document.new_page().insert_text((72, 72), text)
    document.save(path)
    return path


def full_item(**changes: Any) -> dict[str, Any]:
    """An item with every field there is, in an untidy order and with fields that Assay does not know."""
    return {
        "question": "How many visitors came to the harbour museum?",
        "id": "museum-1:alpha",
        "question_key": "museum-1",
        "system": "alpha",
        "answer": "About 4,100 came. ☂",
        "category": "Tables",
        "language": "en",
        "references": ["4,100", ["4100", "visitors"]],
        "documents": ["b.pdf", "a.pdf", "a.pdf"],
        "evidence": [
            {"key": "x1", "kind": "table", "role": "gold", "document": "a.pdf", "pages": [4], "box": [0, 0.25, 1, 0.5],
             "text": "", "used": True, "hop": 1, "colour": "red", "metadata": {"z": 1, "a": {"d": 1, "c": [2]}}},
            {"document": "c.pdf", "pages": 7, "rank": 2, "used": False},
            {"text": "Without a document."},
        ],
        "claims": [{"text": "4,100 came."}, {"key": "c9", "text": "They came by boat.", "of": "reference"}],
        "images": [
            {"document": "fig.png", "caption": "The pier"},
            {"document": "a.pdf", "page": 3, "box": [0, 0, 1, 1]},
        ],
        "hops": [{"key": "h1", "question": "Which museum?", "answer": "The harbour museum"}, {"question": "How many?"}],
        "scores": [
            {"name": "correctness", "value": 1},
            {"name": "faithfulness", "value": None, "reason": "no contexts", "parameters": {"k": 2, "a": 1}},
            {"name": "correctness", "value": 0.5, "target": "evidence:x1", "scorer": "other"},
        ],
        "split": "test",
        "metadata": {"b": 1, "a": None},
        **changes,
    }  # fmt: skip


NORMAL = (
    b'{"id":"museum-1:alpha","question_key":"museum-1","question":"How many visitors came to the harbour museum?",'
    b'"answer":"About 4,100 came. \xe2\x98\x82","system":"alpha","category":"Tables","language":"en",'
    b'"references":["4,100",["4100","visitors"]],"documents":["a.pdf","b.pdf"],"evidence":['
    b'{"key":"x1","kind":"table","role":"gold","document":"a.pdf","pages":[4],"box":[0.0,0.25,1.0,0.5],"text":"",'
    b'"used":true,"hop":1,"metadata":{"a":{"c":[2],"d":1},"colour":"red","z":1}},'
    b'{"key":"e1","kind":"passage","document":"c.pdf","pages":[7],"used":false,"rank":2},'
    b'{"key":"e2","kind":"passage","text":"Without a document."}],'
    b'"claims":[{"key":"c1","text":"4,100 came."},{"key":"c9","text":"They came by boat.","of":"reference"}],'
    b'"images":[{"key":"i1","document":"fig.png","caption":"The pier"},'
    b'{"key":"i2","document":"a.pdf","page":3,"box":[0.0,0.0,1.0,1.0]}],'
    b'"hops":[{"key":"h1","question":"Which museum?","answer":"The harbour museum"},'
    b'{"key":"h2","question":"How many?"}],'
    b'"scores":[{"scorer":"imported:native","name":"correctness","value":1.0},'
    b'{"scorer":"imported:native","name":"faithfulness","parameters":{"a":1,"k":2},"reason":"no contexts"},'
    b'{"scorer":"imported:other","name":"correctness","value":0.5,"target":"evidence:x1"}],'
    b'"metadata":{"a":null,"b":1,"split":"test"}}\n'
)
"""The normal form of `full_item()`, written out by hand."""
