"""What one does from a page: its popover is closed then, its reason empty again, and it is said what was done."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _script() -> None:
    import streamlit as st

    from app.widgets.doing import acts

    acts.say()
    for name in ("one", "two"):
        with acts.popover(name.capitalize(), key=name):
            why = acts.reason(f"{name}-reason")
            if st.button("Do it", key=f"{name}-do") and why:
                acts.done(f"{name} is done: {why}")


def test_what_was_done_is_said_once_and_its_popover_is_another_one() -> None:
    page = AppTest.from_function(_script).run()
    page.text_input(key="one-reason").input("it had to be")
    page.text_input(key="two-reason").input("half written")
    page.button(key="one-do").click().run()
    assert not page.exception
    assert [toast.value for toast in page.toast] == ["one is done\\: it had to be"]
    assert page.text_input(key="one-reason").value == ""
    assert page.text_input(key="two-reason").value == "half written", "of what was not done nothing is lost"
    assert page.session_state["assay-acts-done"]["one"] == 1
    assert "two" not in page.session_state["assay-acts-done"]
    assert [toast.value for toast in page.run().toast] == []


def test_what_has_to_be_given_is_marked_and_what_was_refused_stays() -> None:
    page = AppTest.from_function(_script).run()
    assert all(field.proto.required for field in page.text_input)
    assert [field.label for field in page.text_input] == ["Reason"] * 2
    page.button(key="one-do").click().run()
    assert (list(page.toast), page.session_state["assay-acts-done"].get("one")) == ([], None)
