"""Own agreement weights from a file: read by their labels, checked cell by cell, and given to the criteria they fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.errors import InvalidInput, NotFound
from exports.agreement.own_weights import named_weights, read_weights, weights_for
from exports.checks import EVERY
from tests.annotators.agreement.makers import ratings_of

TONES = "label,poor,fair,good\ngood,0,0.7,1\nfair,0.25,1,0.7\npoor,1,0.25,0\n"


def written(folder: Path, text: str, name: str = "weights.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_rows_and_columns_are_found_by_their_labels(tmp_path: Path) -> None:
    weights = read_weights(written(tmp_path, TONES))
    assert weights.labels == ("poor", "fair", "good")
    assert weights.rows == ((1, 0.25, 0), (0.25, 1, 0.7), (0, 0.7, 1))
    # κ = 1 - Σ d_o / Σ d_e: distances fair-good .3, poor-fair .75, poor-good 1; shares .25 .25 .5 and .25 .5 .25.
    rows = [["good", "good", "fair", "poor"], ["good", "fair", "fair", "poor"]]
    [statistic] = measure(ratings_of(rows), ["cohen_kappa_weighted"], resamples=0, own_weights=weights)
    observed = 0.3 / 4
    expected = (
        0.75 * (0.25 * 0.5 + 0.25 * 0.25)  # one says poor, the other fair
        + 1 * (0.25 * 0.25 + 0.5 * 0.25)  # poor, good
        + 0.3 * (0.25 * 0.25 + 0.5 * 0.5)  # fair, good
    )
    assert statistic.value == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("name", ["weights.tsv", "weights.jsonl"])
def test_other_kinds_of_table_hold_weights_too(tmp_path: Path, name: str) -> None:
    text = {
        "weights.tsv": "\t1\t2\n1\t1\t.5\n2\t.5\t1\n",
        "weights.jsonl": '{"label": 1, "1": 1, "2": 0.5}\n{"label": 2, "1": 0.5, "2": 1}\n',
    }[name]
    weights = read_weights(written(tmp_path, text, name))
    assert weights == OwnWeights(((1, 0.5), (0.5, 1)), ("1", "2"))
    assert weights.lacks([1, 2.0, "2", 3]) == [3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("label\n", "has no weights"),
        ("label,a,b\na,1,0\n", "no row for the label 'b'"),
        ("label,a,b\na,1,0\nc,0,1\n", "line 3: the label 'c' has no column"),
        ("label,a,b\na,1,0\na,1,0\n", "the label 'a' is there twice"),
        ("label,a,b\na,1,\nb,0,1\n", "row 'a', column 'b' is empty"),
        ("label,a,b\na,1,much\nb,0,1\n", "row 'a', column 'b' is 'much'"),
        ("label,a,b\na,1,2\nb,2,1\n", "weight 2 in row 'a', column 'b' is not between 0"),
        ("label,a,b\na,1,nan\nb,nan,1\n", "weight nan in row 'a', column 'b' is not between 0"),
        ("label,a,b\na,1,.5\nb,.5,.9\n", "weight 0.9 in row 'b', column 'b' stands on the diagonal"),
        ("label,a,b\na,1,.5\nb,.4,1\n", "weight 0.5 in row 'a', column 'b' is 0.4 the other way round"),
    ],
)
def test_what_is_wrong_is_named_by_its_labels(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        read_weights(written(tmp_path, text))
    assert "weights.csv" in str(refused.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.csv"):
        named_weights([str(tmp_path / "nowhere.csv")])


def test_weights_are_for_the_criteria_whose_labels_they_have(tmp_path: Path) -> None:
    tones = written(tmp_path, TONES)
    yes = written(tmp_path, "label,no,yes\nno,1,.5\nyes,.5,1\n", "yes=no.csv")
    tables = [
        ("tone", ratings_of([["good", "fair"], ["good", "poor"]])),
        ("right", ratings_of([["yes", "no"], ["yes", "yes"]])),
        ("pages", ratings_of([[["1"]], [["2"]]], scale="set")),
        ("ranking", None),
    ]
    both = weights_for(named_weights([str(tones), f"right={yes}"]), tables)
    assert {name: weights.labels for name, weights in both.items()} == {
        "tone": ("poor", "fair", "good"),
        "right": ("no", "yes"),
    }
    assert list(weights_for(named_weights([str(yes)]), tables)) == ["right"]  # a path may have a = in it
    assert weights_for({}, tables) == {}
    with pytest.raises(InvalidInput, match=r"lack labels that were given \(right: no, yes\)"):
        weights_for(named_weights([f"right={tones}"]), tables)
    with pytest.raises(InvalidInput, match=r"no criterion 'colour' to weigh\. There are: tone, right"):
        weights_for(named_weights([f"colour={tones}"]), tables)
    with pytest.raises(InvalidInput, match="lack labels that were given"):
        weights_for({EVERY: OwnWeights.of([[1]], ["other"])}, tables)
