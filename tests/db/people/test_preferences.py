"""A person's own settings: kept with the account, checked before they are kept, nobody else's."""

from __future__ import annotations

import re

import pytest

from annotators.errors import InvalidInput
from db.engine import Database
from db.people.preferences import my_preferences, set_preference
from tests.makers import make_person


def test_settings_are_kept_per_person_and_the_latest_holds(database: Database) -> None:
    ana, ben = make_person(database), make_person(database)
    set_preference(database, ana, "keys", value={"skip": "k"})
    set_preference(database, ana, "keys", value={"skip": "j", "flag": "s"})
    set_preference(database, ana, "break_after", value=0)
    assert my_preferences(database, ana) == {"keys": {"skip": "j", "flag": "s"}, "break_after": 0}
    assert my_preferences(database, ben) == {}


def test_nothing_set_again_is_the_programs_own(database: Database) -> None:
    ana = make_person(database)
    set_preference(database, ana, "break_after", value=25)
    assert set_preference(database, ana, "break_after", value=None) is None
    assert set_preference(database, ana, "break_after", value=None) is None
    assert my_preferences(database, ana) == {}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("keys", {"skip": "x"}, "'x' would be the key of 'Skip this item' and of 'Cannot judge'"),
        ("keys", {"skip": "="}, "'+' would be the key"),  # the key of + without Shift
        ("keys", {"skip": "1"}, "digits are for labels"),
        ("keys", {"skip": "Tab"}, "cannot be the key"),
        ("keys", {"skip": " "}, "cannot be the key"),
        ("keys", {"close": "k"}, "cannot be changed"),
        ("keys", {"fly": "k"}, "no action 'fly'"),
        ("keys", {"skip": 7}, "as the browser names them"),
        ("keys", "k", "must be an object"),
        ("adjudication_keys", {"later": "r"}, "Later: the item moves to the end for now"),
        ("label_keys", {"qa": {"grounding": {"yes": "a", "no": "a"}}}, "the same key"),
        ("label_keys", {"qa": {"grounding": {"yes": "Enter"}}}, "cannot be the key of the label"),
        ("label_keys", {"qa": ["a"]}, "must be an object"),
        ("break_after", 5, "10 to 240 minutes"),
        ("break_after", True, "cannot be set"),
        ("next_step", "never", "cannot come 'never'. 'at_once' is the one value"),
        ("panes", {"left": 40}, "Dividers: side, reading, references"),
        ("panes", {"side": 100}, "1 to 99 percent"),
        ("panes", {"side": True}, "1 to 99 percent"),
        ("panes", [40], "does not say where"),
        ("colour", "red", "no setting 'colour'"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_it_clashes_with(
    sqlite_database: Database, name: str, value: object, words: str
) -> None:
    ana = make_person(sqlite_database)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        set_preference(sqlite_database, ana, name, value=value)
    assert my_preferences(sqlite_database, ana) == {}


def test_two_actions_can_change_places(sqlite_database: Database) -> None:
    ana = make_person(sqlite_database)
    set_preference(sqlite_database, ana, "keys", value={"skip": "f", "flag": "s"})
    assert my_preferences(sqlite_database, ana) == {"keys": {"skip": "f", "flag": "s"}}
