"""Items that nobody thought of, for what every format has to stand."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from annotators.items.normal import Normal, read_item, to_json

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)
KEY = st.text("abcdefgXYZ0123456789_-é中", min_size=1, max_size=8)
METADATA = st.dictionaries(
    st.sampled_from(["source", "note", "level"]).map(lambda name: f"own_{name}"),
    st.one_of(TEXT, st.integers(-5, 5), st.booleans(), st.lists(st.integers(0, 3), max_size=2)),
    max_size=2,
)
BOX = st.sampled_from([[0.1, 0.2, 0.5, 0.75], [0.0, 0.0, 1.0, 1.0]])
DOCUMENT = st.sampled_from(["a.pdf", "b/c.pdf", "pictures/p.png"])


def _given(**fields: Any) -> st.SearchStrategy[Normal]:
    return st.fixed_dictionaries({}, optional=fields)


EVIDENCE = st.builds(
    lambda needed, more: {**needed, **more},
    st.fixed_dictionaries({"kind": st.sampled_from(["passage", "table", "figure", "page"])}),
    _given(
        role=st.sampled_from(["gold", "retrieved", "distractor"]),
        document=DOCUMENT,
        pages=st.lists(st.integers(1, 9), min_size=1, max_size=2, unique=True),
        box=BOX,
        text=TEXT,
        used=st.booleans(),
        hop=st.just(1),
        rank=st.integers(0, 5),
        metadata=METADATA,
    ),
)
CLAIM = st.builds(
    lambda text, more: {"text": text, **more},
    TEXT,
    _given(of=st.sampled_from(["answer", "reference"]), metadata=METADATA),
)
IMAGE = _given(document=DOCUMENT, page=st.integers(1, 9), box=BOX, caption=TEXT, metadata=METADATA)
HOP = _given(question=TEXT, answer=TEXT, metadata=METADATA)
SCORE = st.builds(
    lambda name, said: {"scorer": "imported:other", "name": name, **said},
    st.sampled_from(["s", "t"]),
    st.one_of(
        st.fixed_dictionaries({"value": st.floats(-5, 5, allow_nan=False)}),
        st.fixed_dictionaries({"value": st.just(None), "reason": TEXT}),
    ),
)
REFERENCES = st.lists(st.one_of(TEXT, st.lists(TEXT, min_size=1, max_size=2)), max_size=2)

ROW = st.builds(
    lambda needed, more: {**needed, **more},
    st.fixed_dictionaries({"question": TEXT, "answer": TEXT}),
    _given(
        id=KEY,
        question_key=KEY,
        system=st.sampled_from(["reference", "alpha", "x/y"]),
        category=st.sampled_from(["Text", "a b"]),
        language=st.sampled_from(["en", "ar"]),
        references=REFERENCES,
        documents=st.lists(DOCUMENT, max_size=2, unique=True),
        evidence=st.lists(EVIDENCE, max_size=3),
        claims=st.lists(CLAIM, max_size=2),
        images=st.lists(IMAGE, max_size=2),
        hops=st.lists(HOP, max_size=2),
        scores=st.lists(SCORE, max_size=2, unique_by=lambda score: score["name"]),
        metadata=METADATA,
    ),
)


def _numbered(rows: list[Normal]) -> list[Normal]:
    """As items of a project: ids differ, and each question has a key of its own."""
    found = []
    for number, row in enumerate(rows):
        named = {**row, "id": f"{row['id']}{number}"} if "id" in row else row
        named |= {"question_key": f"{row['question_key']}{number}"} if "question_key" in row else {}
        found.append(to_json(read_item({**named, "question": f"{number} {row['question']}"})))
    return found


ITEMS: st.SearchStrategy[list[Normal]] = st.lists(ROW, min_size=1, max_size=4).map(_numbered)
"""Items in normal form, with ids that differ."""
