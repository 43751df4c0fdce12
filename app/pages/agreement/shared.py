"""What the parts of the page Agreement share: the report, links to the units behind a number, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

import streamlit as st

from app import ui
from app.widgets import blocks
from app.widgets.measuring import measured
from app.worker.report_tasks import Agreement
from app.worker.reports import Plain
from db.studies.design import StudyRow
from exports.agreement.study import AgreementReport, CriterionReport
from exports.drawing.tables import TextTable

T = TypeVar("T")


@dataclass(frozen=True)
class View:
    """A study's report, the criterion that is looked at (None: none has labels), and what identifies the report.

    `task` is what measured it. `hidden`: who looks annotates in the study and has not finished.
    """

    study: StudyRow
    report: AgreementReport
    criterion: CriterionReport | None
    key: tuple[Any, ...]
    task: Agreement
    hidden: bool

    @property
    def named(self) -> bool:
        """Whether people are called by their names."""
        return self.task.named

    @property
    def slug(self) -> str:
        """What the files of the chosen criterion are called."""
        return f"{self.criterion.criterion.name if self.criterion else 'agreement'}-{self.study.study_id}"


def kept(view: View, slot: str, about: object, function: Callable[..., T], *given: Any, **named: Any) -> T:
    """What `function` gives of this, made once for this report and `about` in a process of its own, for everybody."""
    criterion = view.criterion.criterion.name if view.criterion else None
    parts = measured(("agreement", slot, view.key, criterion, about), Plain(function, given, named))
    made: T = parts[-1]
    return made


def asked_for(view: View, slot: str, about: object) -> bool:
    """Whether the button of this slot was pressed for just this choice: after another choice it has to be again."""
    criterion = view.criterion.criterion.name if view.criterion else None
    return bool(st.session_state.get(f"agreement-asked-{slot}") == (view.key, criterion, about))


def ask(view: View, slot: str, about: object, label: str) -> bool:
    """A button that starts something long; True as long as the choice is the one that it was pressed for."""
    criterion = view.criterion.criterion.name if view.criterion else None
    if st.button(label, key=f"agreement-ask-{slot}", type="primary"):
        st.session_state[f"agreement-asked-{slot}"] = (view.key, criterion, about)
    return asked_for(view, slot, about)


# Drawing --------------------------------------------------------------------------------------------------------------


def table(shown: TextTable, name: str, rows: Sequence[Sequence[object]] | None = None) -> None:
    """A table under its caption, with its files; `rows` are its cells where some are links."""
    note(shown.caption)
    blocks.table(shown.caption, shown.columns, shown.rows if rows is None else rows, name=name)


def note(text: str) -> None:
    """A line in the soft colour."""
    st.html(f'<p class="assay-soft" style="margin:0">{escape(text)}</p>')


def caution(about: str, text: str) -> None:
    """A warning with its tag."""
    st.html(f'<p style="margin:0"><span class="assay-tag">caution</span> {escape(about)}: {escape(text)}</p>')


def units_link(view: View, words: str, criterion: str, /, **wanted: str | None) -> blocks.Html:
    """A link to the units behind a number: `first` and `second` name annotators, `gave` and `other` their labels."""
    if view.hidden:
        return blocks.Html(escape(words), words)
    about = {"project": view.study.project_id, "study": view.study.study_id, "criterion": criterion, "show": "units"}
    return blocks.to(words, "agreement", **about, **wanted)


def item_link(view: View, item_id: int, name: str) -> blocks.Html:
    """A link to an item."""
    return blocks.item(name, item_id, view.study.project_id)


def nobody(view: View) -> None:
    """Says that the chosen criterion has nothing to draw."""
    what = f'"{view.criterion.title}" has' if view.criterion else "There are"
    ui.empty(f"{what} no labels that can be measured.", "Choose another criterion, or wait for the first labels.")
