"""How an uploaded table is opened where it is to be otherwise than it looks: encoding, sheet, where its rows are."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from exports.reading.tables import USUAL, Opening

_ENCODINGS = ("utf-8", "utf-16", "windows-1252", "latin-1", "shift-jis", "gb18030")


def draw(names: Sequence[str], key: str, kept: Opening = USUAL) -> Opening:
    """The fields that files of these names have; a workbook has sheets, text an encoding, JSON a place of its rows.

    `kept` is what a mapping that is kept says.
    """
    endings = {name.rpartition(".")[2].lower() for name in names}
    encoding = sheet = records = None
    each: tuple[str, ...] = kept.each
    with st.container(horizontal=True, key=f"{key}-opening"):
        if endings & {"csv", "tsv", "txt", "json", "jsonl"}:
            there = [kept.encoding] if kept.encoding and kept.encoding not in _ENCODINGS else []
            options = [*there, *_ENCODINGS]
            encoding = st.selectbox(
                "Encoding", options, index=options.index(kept.encoding) if kept.encoding else None,
                key=f"{key}-encoding", placeholder="The one it looks like", accept_new_options=True,
            )  # fmt: skip
        if "xlsx" in endings:
            sheet = st.text_input("Sheet", kept.sheet or "", key=f"{key}-sheet", placeholder="The first")
        if endings & {"json", "jsonl"}:
            records = st.text_input(
                "Where the rows are", kept.records or "", key=f"{key}-records", placeholder="The list that it has",
                help="The field of a JSON file that has them, such as result.rows.",
            )  # fmt: skip
            lists = st.text_input(
                "Lists of which each element is a row", ", ".join(kept.each), key=f"{key}-each",
                placeholder="None", help="Fields with lists, with commas between them, such as annotations.",
            )  # fmt: skip
            each = tuple(name.strip() for name in lists.split(",") if name.strip())
    return Opening(encoding or None, (sheet or "").strip() or None, (records or "").strip() or None, each)
