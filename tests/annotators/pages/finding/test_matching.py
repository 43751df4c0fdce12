"""Finding phrases: which ways of writing the same thing count as the same, and which do not."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.pages.finding.matching import Searchable, common_runs
from annotators.pages.normal import NONE, normalise


def found(page: str, phrase: str, *, whole_words: bool = True) -> int:
    """How often the phrase stands on a page with this text."""
    return len(list(Searchable([(1, normalise(page))]).find(normalise(phrase), whole_words=whole_words)))


@pytest.mark.parametrize(
    ("page", "phrase"),
    [
        ("the con-\nsumption of ﬁsh", "consumption of fish"),
        ("a state-of-\u00ad\nthe-art method", "state-of-the-art method"),
        ("line\nbreaks  and   blanks", "line breaks and blanks"),
        ("well-known", "well known"),
        ("well known", "well-known"),
        ("“Don’t” — she said", '"don\'t" - she said'),
        ("naïve résumé", "naive resume"),
        ("na¨ıve", "naïve"),
        ("STRASSE", "Straße"),
        ("CO₂ and H2O", "co2 and h₂o"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("COVID-19", "Covid 19"),
        ("ﻣﺮﺣﺒﺎ ﺑﻜﻢ", "مرحبا بكم"),
        ("مُرَحَّبًا", "مرحبا"),
        ("الأحمر", "الاحمر"),
        ("北京市的人口为2154万", "人口为2154"),
        ("東京タワーは高い", "タワー"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_spelling_variants_are_the_same(page: str, phrase: str) -> None:
    assert found(page, phrase) == 1


@pytest.mark.parametrize(
    ("page", "phrase"),
    [
        ("1,234.5 t", "1234.5"),
        ("1234.5", "1,234.5"),
        ("1 234,5", "1,234.5"),
        ("1.234,5 kg", "1234.5 kg"),
        ("1.234.567", "1,234,567"),
        ("1'234.5", "1234.5"),
        ("12,34,567", "1234567"),
        ("12 %", "12%"),
        ("12%", "12 percent"),
        ("12,5 %", "12.5%"),
        ("$4.2 million", "4.2 million"),
        ("5 kg", "5kg"),
        ("٢٠٢٤", "2024"),
        ("٣٤٪", "34%"),
        (".5", "0.5"),
        ("−3.5", "-3.5"),
        ("10–15", "10-15"),
        ("10–15", "15"),
        ("Table 3 125 samples", "125 samples"),
    ],
)
def test_numbers_are_the_same_however_they_are_written(page: str, phrase: str) -> None:
    assert found(page, phrase) == 1


@pytest.mark.parametrize(
    ("page", "phrase"),
    [
        ("18", "8"),
        ("8.5", "8"),
        ("8.5", "5"),
        ("1,800", "800"),
        ("-5", "5"),
        ("3 5", "35"),
        ("2020 300", "2020300"),
        ("[1,2]", "1.2"),
        ("12", "1 2"),
        ("0.50", "0.5"),
        ("abc", "b"),
        ("the rapist", "therapist"),
        ("therapist", "the rapist"),
        ("data set", "dataset"),
        ("rose", "rise"),
        ("of the sea", "ofthesea"),
    ],
)
def test_what_differs_is_not_found(page: str, phrase: str) -> None:
    assert found(page, phrase) == 0


def test_a_search_finds_parts_of_words_but_not_across_two() -> None:
    assert found("annealing", "neal", whole_words=False) == 1
    assert found("an eal", "neal", whole_words=False) == 0
    assert found("3 5", "35", whole_words=False) == 0


def test_a_lost_blank_is_forgiven_in_a_long_phrase_only() -> None:
    assert found("the quick brownfox jumps over the lazy dog", "quick brown fox jumps over the") == 1
    assert found("brownfox", "brown fox") == 0


def test_hits_come_in_the_order_of_the_pages_and_do_not_overlap() -> None:
    pages = Searchable([("first", normalise("go go go")), ("second", normalise("stop")), ("third", normalise("go"))])
    spans = list(pages.find(normalise("go")))
    assert [pages.keys[span.page] for span in spans] == ["first", "first", "first", "third"]
    assert len(list(pages.find(normalise("go go")))) == 1


def test_nothing_is_found_across_two_pages() -> None:
    pages = Searchable([(1, normalise("the end of")), (2, normalise("the story"))])
    assert not pages.has(normalise("end of the"))


@given(st.text(max_size=60))
def test_any_text_has_a_normal_form_that_fits_together_and_finds_itself(text: str) -> None:
    normal = normalise(text)
    assert len(normal.marks) == len(normal.text) + 1
    assert list(normal.starts) == sorted(normal.starts)
    assert normal.starts[-1] == len(normal.text)
    assert normal.marks[0] != NONE
    assert not any(character.isspace() for character in normal.text)
    if normal.text:
        assert Searchable([(1, normal)]).has(normal)


WORDS = ["alpha", "beta-gamma", "Delta", "1,234.5", "12", "%", "ﬁn", "北京", "co-op"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_words_are_found_wherever_lines_break(words: list[str]) -> None:
    page = normalise("before " + "\n".join(words) + " after")
    assert Searchable([(1, page)]).has(normalise(" ".join(words)))


def test_the_longest_common_pieces_are_those_that_plain_comparison_finds() -> None:
    rng = random.Random(7)
    vocabulary = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("al", "eto", "imar", "odun")]
    page = [rng.choice(vocabulary) for _ in range(400)]
    text: list[str] = []
    planted = []
    for number in range(6):
        text += [f"zz{number}q{at}" for at in range(4)]
        begin = rng.randrange(0, 380)
        piece = page[begin : begin + 5 + number]
        planted.append("".join(piece))
        text += piece
    normal = normalise(" ".join(text))
    runs = {normal.text[start:end] for start, end in common_runs(normal, Searchable([(1, normalise(" ".join(page)))]))}
    assert set(planted) <= runs
