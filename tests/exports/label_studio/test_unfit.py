"""What no label here can be is named with its task, annotation and annotator, and the rest of the export comes in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.asking.submissions import MAX_COMMENT
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.number import Number
from annotators.criteria.text import Text
from annotators.errors import InvalidInput
from annotators.protocols import Material, Step
from exports.label_studio.pull import pull_from_files
from tests.exports.label_studio.there import ADA, There
from tests.makers import tiny_protocol

MARK = b'"HERE"'
"""What stands in an export for a value that our own writer refuses."""


@pytest.fixture
def there(tmp_path: Path) -> There:
    asked = [
        Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")]),
        Text(name="why", title="Why", required=False),
        Number(name="n", title="N", required=False),
    ]
    shows = [Material.QUESTION, Material.ANSWER]
    step = Step(name="all", title="All", shows=shows, criteria=[one.name for one in asked])
    found = There(tmp_path, tiny_protocol(criteria=asked, steps=[step]))
    found.annotate(ADA, first=10)
    return found


def say(there: There, name: str, value: dict[str, Any]) -> None:
    """Have ada say this of the second task as well."""
    more = {
        "from_name": name,
        "to_name": "shown-question",
        "type": "number" if name == "n" else "textarea",
        "value": value,
    }
    there.tasks[1]["annotations"][0]["result"].append(more)


def pull_with(there: There, here: bytes, **said: bool) -> dict[str, Any]:
    there.path.write_bytes(orjson.dumps(there.tasks).replace(MARK, here))
    people = {"ada@example.org": "ada"}
    found = pull_from_files(there.db, there.admin, there.study, paths=[there.path], people=people, **said)
    return found.to_json()


@pytest.mark.parametrize(
    ("name", "value", "here", "words"),
    [
        ("why", {"text": ["x" * (MAX_COMMENT + 1)]}, b"", "has 10001 characters; at most 10000 are kept"),
        ("why", {"text": ["a\x00b"]}, b"", "contains a character that cannot be stored"),
        ("why", {"text": ["HERE"]}, rb'"half \ud83d of it"', "contains a character that cannot be stored"),
        ("why", {"text": [["a"], {"b": None}]}, b"", r"has \['a'\] in `value.text`, which is no text"),
        ("why", {"text": {"b": 1}}, b"", "which is no text"),
        ("n", {"number": "HERE"}, b"1" + b"0" * 400, "inf is not a label"),
        ("n", {"number": "HERE"}, b"9" * 9000, "inf is not a label"),
        ("n", {"number": "HERE"}, b"NaN", "nan is not a label"),
        ("n", {"number": "HERE"}, b"-Infinity", "-inf is not a label"),
    ],
)
def test_a_value_that_is_none_is_named_and_the_rest_comes_in(
    there: There, name: str, value: dict[str, Any], here: bytes, words: str
) -> None:
    say(there, name, value)
    with pytest.raises(InvalidInput, match=f"task 101, annotation 11 by 'ada': .*{words}.*\n.*--skip-bad"):
        pull_with(there, here)
    found = pull_with(there, here, skip_bad=True)
    [problem] = found["problems"]
    assert (problem["task"], problem["line"], problem["annotator"]) == ("101", 11, "ada")
    assert found["new"] == len(there.tasks) - 1


def test_a_text_that_is_as_long_as_any_that_is_given_here_comes_in(there: There) -> None:
    say(there, "why", {"text": ["x" * MAX_COMMENT]})
    assert pull_with(there, b"")["new"] == len(there.tasks)


def test_an_annotator_whose_name_no_database_keeps_is_named(there: There) -> None:
    there.tasks[1]["annotations"][0]["completed_by"] = {"id": 9, "email": "HERE"}
    with pytest.raises(InvalidInput, match="task 101, annotation 11: the annotator contains a character"):
        pull_with(there, rb'"half\ud83d@example.org"')


def test_what_is_no_json_at_all_is_refused(there: There) -> None:
    for content in (b"[{", b"\xff\xfe", b"[" * 100_000):
        there.path.write_bytes(content)
        with pytest.raises(InvalidInput, match=r"export\.json is no JSON"):
            pull_from_files(there.db, there.admin, there.study, paths=[there.path], people={})
