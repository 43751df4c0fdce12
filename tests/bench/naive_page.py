"""The same content as a first Streamlit page would show it: what `bench_browser` compares with.

Run by `streamlit run` with NAIVE_FOLDER naming a folder of items.json, page pictures and the SQLite file for labels.
"""

import json
import os
import sqlite3
from pathlib import Path

import streamlit as st

folder = Path(os.environ["NAIVE_FOLDER"])
items = json.loads((folder / "items.json").read_text())
position = st.session_state.setdefault("position", 0)
item = items[position]

st.set_page_config(layout="wide")
left, right = st.columns([3, 2])
with left:
    for picture in item["pictures"]:
        st.image(str(folder / picture), width="stretch")
with right:
    st.markdown(f"**Question {position}** {item['question']}")
    st.markdown(item["answer"])
    value = st.radio("Is the answer right?", ["yes", "partly", "no", "cannot say"], index=None, key=f"label-{position}")
    if st.button("Submit", type="primary"):
        with sqlite3.connect(folder / "labels.db") as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS label (item TEXT, value TEXT)")
            connection.execute("INSERT INTO label VALUES (?, ?)", (item["id"], value))
        st.session_state["position"] = position + 1
        st.rerun()
