"""Which phrases of answers and references are looked for, and where they and passages are found."""

from __future__ import annotations

import random
from typing import Any

import pytest

from annotators.pages.documents.words import PageWords, Word, pack_words
from annotators.pages.finding.matching import Searchable
from annotators.pages.finding.passages import locate
from annotators.pages.finding.phrases import MOST_HITS, MOST_PHRASES, Kind, Phrase, find_phrases
from annotators.pages.normal import normalise

PAGE = """Harrow Bay Port Authority. In 2024 the terminal handled 1,234.5 kilotonnes of grain, up 12 % on the year
before. Dredging of the northern channel began in May 2024 and cost £4.2 million. The harbour master called it
“a quiet revolution in pilotage”. See Table 5. The UNESCO buffer zone was not touched."""


def page(text: str, *, per_line: int = 10) -> PageWords:
    """A page with these words, ten in a line, from left to right and top to bottom."""
    rows = []
    for at, word in enumerate(text.split()):
        line, column = divmod(at, per_line)
        left, top = column / per_line, line * 0.02
        rows.append(Word((left, top, left + 0.08, top + 0.015), word, line))
    return PageWords(pack_words(rows))


def phrases(answer: str, references: list[Any] | None = None, *pages: str) -> dict[str, Phrase]:
    searchable = Searchable([(n, page(text).normal) for n, text in enumerate(pages or (PAGE,), start=1)])
    return {phrase.text: phrase for phrase in find_phrases(answer, references or [], searchable)}


def test_an_answer_is_taken_apart_into_what_can_be_checked() -> None:
    found = phrases(
        "The Harrow Bay Port Authority says that the terminal handled 1234.5 kilotonnes of grain. It rose 12%, and "
        "Corrie Town paid £4.2 million; the master spoke of “a quiet revolution in pilotage”, as UNESCO and GPT-4 did."
    )
    kinds = {text: (phrase.kind, phrase.count) for text, phrase in found.items()}
    assert kinds["Harrow Bay Port Authority"] == (Kind.WORDS, 1)
    assert kinds["the terminal handled 1234.5 kilotonnes of grain"] == (Kind.WORDS, 1)
    assert kinds["12%"] == (Kind.NUMBER, 1)
    assert kinds["£4.2 million"] == (Kind.NUMBER, 1)
    assert kinds["UNESCO"] == (Kind.NAME, 1)
    assert kinds["a quiet revolution in pilotage"][1] == 1
    # What stands nowhere is said plainly.
    assert kinds["Corrie Town"] == (Kind.NAME, 0)
    assert kinds["GPT-4"] == (Kind.NAME, 0)


def test_what_stands_inside_a_longer_run_is_not_listed_again() -> None:
    found = phrases("Here the terminal handled 1,234.5 kilotonnes of grain.")
    assert list(found) == ["the terminal handled 1,234.5 kilotonnes of grain"]


def test_a_number_inside_a_run_is_listed_for_its_other_places() -> None:
    found = phrases("the terminal handled 1,234.5 kilotonnes", None, PAGE, "Grain total 1234.5 in 2024")
    assert found["the terminal handled 1,234.5 kilotonnes"].count == 1
    assert [hit.page for hit in found["1,234.5"].hits] == [1]


def test_required_phrases_are_listed_one_by_one_and_other_references_taken_apart() -> None:
    found = phrases("", [["northern channel", "southern channel"], "It cost £4.2 million in May 2024."])
    assert [(phrase.text, phrase.of, phrase.kind, phrase.count) for phrase in found.values()] == [
        ("northern channel", "reference", Kind.REQUIRED, 1),
        ("southern channel", "reference", Kind.REQUIRED, 0),
        ("cost £4.2 million", "reference", Kind.WORDS, 1),
        ("in May 2024", "reference", Kind.WORDS, 1),
        ("2024", "reference", Kind.NUMBER, 1),  # in the other place; the first is inside "in May 2024"
    ]


@pytest.mark.parametrize("answer", ["", "Yes.", "No, it is not.", "1", "The of and", "***", "[3] [12, 14]"])
def test_what_says_nothing_is_not_looked_for(answer: str) -> None:
    assert phrases(answer) == {}


@pytest.mark.parametrize("answer", ["grain", "Table 5", "northern channel", "1 234,5", "2024"])
def test_a_short_answer_is_looked_for_as_a_whole(answer: str) -> None:
    found = phrases(answer)
    assert found[answer].count >= 1


def test_a_number_whose_unit_stands_elsewhere_is_found_by_itself() -> None:
    found = phrases("It handled 1,234.5 million tonnes.")
    assert found["1,234.5"].count == 1


def test_a_time_or_a_date_is_one_number() -> None:
    page_text = "The alarm sounded at 17:50 and the pump failed at 17:42 on 2022-11-14, 17 men aboard."
    found = phrases("17:42, which was late (2022-11-14).", None, page_text)
    assert {text: phrase.count for text, phrase in found.items() if phrase.kind is Kind.NUMBER} == {
        "17:42": 1,
        "2022-11-14": 1,
    }


def test_runs_of_scripts_without_blanks_are_found() -> None:
    found = phrases("报告称北京市的常住人口为2154万人。", None, "截至去年底，北京市的常住人口为2154万人，比上年减少。")
    [run] = [phrase for phrase in found.values() if phrase.kind is Kind.WORDS]
    assert run.text.startswith("北京市的常住人口")
    assert run.count == 1


def test_arabic_phrases_are_found_whatever_their_vowel_signs() -> None:
    found = phrases("بلغ إنتاج التمور في الواحة ١٢٣٤ طنا", None, "وقد بَلَغَ إنتاجُ التمورِ في الواحةِ 1234 طنا هذا العام")
    assert max(phrase.count for phrase in found.values()) == 1


def test_a_long_answer_and_a_hit_on_every_page_are_bounded() -> None:
    text = " ".join(f"Word{n} Name{n} reached {n + 10} tonnes." for n in range(2000))
    many = [" ".join(["tide 2024"] * 60)] * 5
    found = phrases(text + " In 2024 too.", None, *many)
    assert len(found) <= MOST_PHRASES
    listed = phrases("2024", None, *many)["2024"]
    assert (len(listed.hits), listed.count) == (MOST_HITS, 300)


def test_any_text_can_be_taken_apart() -> None:
    rng = random.Random(11)
    alphabet = "aB9 .,%-–“”\"'()[]€北ع\u0301\u200d\n\t1,2"
    for _ in range(400):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(120)))
        other = "".join(rng.choice(alphabet) for _ in range(rng.randrange(200)))
        for phrase in phrases(text, [text, [other]], other, text).values():
            assert phrase.count >= len(phrase.hits)


# Passages -------------------------------------------------------------------------------------------------------------


def words_around(rng: random.Random, n: int) -> list[str]:
    return ["".join(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(2, 9))) for _ in range(n)]


def test_a_passage_is_found_where_it_stands_although_a_sixth_of_it_was_misread() -> None:
    rng = random.Random(5)
    right = 0
    for _ in range(40):
        text = words_around(rng, 300)
        begin, length = rng.randrange(0, 200), rng.randint(20, 100)
        read = []
        for word in text[begin : begin + length]:
            chance = rng.random()
            if chance < 0.06:
                continue
            read.append(word[::-1] if chance < 0.12 else f"{word}- zq" if chance < 0.17 else word)
        words = page(" ".join(text))
        [place] = locate(" ".join(read), {4: words})
        assert place.page == 4
        assert place.score > 0.6
        marked = {
            at
            for at, (x0, y0, x1, y1) in enumerate(words.boxes.tolist())
            if any(b[0] <= (x0 + x1) / 2 <= b[2] and b[1] <= (y0 + y1) / 2 <= b[3] for b in place.boxes)
        }
        wanted = set(range(begin, begin + length))
        right += len(marked & wanted) / len(marked | wanted) >= 0.8
    assert right >= 38


def test_the_very_words_score_one_and_markup_does_not_matter() -> None:
    places = locate(
        "**the terminal handled** | 1,234.5 | kilo-\ntonnes <b>of grain</b>", {1: page("x y z"), 2: page(PAGE)}
    )
    assert [(place.page, place.score) for place in places] == [(2, 1.0)]


def test_a_passage_over_two_pages_has_a_place_on_each() -> None:
    rng = random.Random(8)
    first, second = words_around(rng, 120), words_around(rng, 120)
    places = locate(" ".join(first[-30:] + second[:25]), {1: page(" ".join(first)), 2: page(" ".join(second))})
    assert [place.page for place in places] == [1, 2]
    assert places[0].boxes[-1][3] == pytest.approx(0.02 * 11 + 0.015, abs=1e-3)
    assert places[1].boxes[0][1] == 0


def test_a_passage_that_stands_nowhere_has_no_place() -> None:
    rng = random.Random(9)
    elsewhere = " ".join(words_around(rng, 40))
    assert locate(elsewhere, {1: page(PAGE), 2: page("")}) == []
    assert locate("", {1: page(PAGE)}) == []
    assert locate("grain", {}) == []


def test_a_passage_longer_than_its_page_marks_the_page() -> None:
    rng = random.Random(10)
    inside = words_around(rng, 60)
    [place] = locate(" ".join([*inside, *words_around(rng, 6)]), {1: page(" ".join(inside))})
    assert len(place.boxes) == 6
    assert normalise("x").text == "x"
