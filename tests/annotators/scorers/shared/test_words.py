from __future__ import annotations

import random
import re

import pytest

from annotators.items.sentences import sentences
from annotators.scorers.shared.stems import stem
from annotators.scorers.shared.words import answer_form, ascii_words, plain, squad_form, words

VOCABULARY = """
    running flies flying dying skies happily relational conditional rationally digitizer conformably radically
    differently vietnamization predication operator feudalism decisiveness hopefulness callousness formality
    sensitivity sensibility triplicate formative formalize electricity electrical hopeful goodness revival allowance
    inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption communism
    activate angularity homologous effective bowdlerize probate rate cease controlling roll technology biology
    wonderfully exceptionally enjoyed enjoyment studied studies tied tying feed agreed plastered bled motoring sing
    conflated troubled sized hopping tanned falling hissing fizzed failing filing news innings proceed
"""
ENDINGS = """
    ed ing ies ied eed y ly ational izer alli fulli logi ness ful ement ion s e ll ence able iviti ic
"""


class TestWords:
    @pytest.mark.parametrize(
        ("text", "tokens"),
        [
            ("The café's 3.5 % naïve x_y", ["the", "café", "s", "3", "5", "naïve", "x", "y"]),
            ("東京タワーは333mです。", ["東", "京", "タ", "ワ", "ー", "は", "333m", "で", "す"]),
            ("准确率为 81.6%", ["准", "确", "率", "为", "81", "6"]),
            ("نَصٌّ عَرَبِيٌّ: أحمدُ ١٢٣", ["نص", "عربي", "احمد", "123"]),  # vowel signs go, hamza goes, digits are 0-9
            ("إلى آخره", ["الي", "اخره"]),  # alef maqsura is yeh
            ("नमस्ते दुनिया १२", ["नमस्ते", "दुनिया", "12"]),  # vowel signs of Devanagari stay within words
            ("ภาษาง่าย", ["ภ", "า", "ษ", "า", "ง่", "า", "ย"]),
            ("한국어 문장입니다.", ["한국어", "문장입니다"]),
            ("STRASSE Straße", ["strasse", "strasse"]),
            ("ABC １２", ["abc", "12"]),
            ("", []),
            ("。!", []),
        ],
    )
    def test_every_script_is_cut_in_its_own_way(self, text: str, tokens: list[str]) -> None:
        assert words(text) == tokens

    def test_ascii_text_is_cut_as_rouge_score_does(self) -> None:
        from rouge_score.tokenize import tokenize

        chance = random.Random(5)
        for _ in range(300):
            text = "".join(chance.choices("abcXYZ019 .,-'_%\n$", k=40))
            assert words(text) == ascii_words(text) == tokenize(text, None)

    def test_plain_brings_arabic_to_one_form_and_leaves_ta_marbuta(self) -> None:
        assert plain("مُدَرِّسَةٌ") == plain("مدرسة")
        assert plain("مدرسة") != plain("مدرسه")
        assert plain("كتـــاب") == "كتاب"


class TestAnswerForm:
    def test_on_ascii_it_is_that_of_squad(self) -> None:
        for text in ["The  Cat, a dog & an owl.", "It's 3.5%", "A b-c", "THE"]:
            assert answer_form(text) == squad_form(text) == official_squad(text)

    def test_punctuation_of_every_script_goes(self) -> None:
        assert answer_form("«Été», 2020…") == "été 2020"
        assert answer_form("東京、大阪。") == "東 京 大 阪"

    def test_articles_stay_in_other_languages(self) -> None:
        assert answer_form("ein Weg an der Küste", articles=False) == "ein weg an der küste"
        assert answer_form("ein Weg an der Küste") == "ein weg der küste"
        assert answer_form("an der See", articles=False) == "an der see"


class TestStems:
    def test_they_are_those_of_rouge_score(self) -> None:
        from nltk.stem.porter import PorterStemmer

        theirs = PorterStemmer()
        chance = random.Random(3)
        endings = ENDINGS.split()
        made = [
            "".join(chance.choices("abeioulstyrgz", k=chance.randint(1, 6)))
            + chance.choice(endings)
            + chance.choice(["", *endings])
            for _ in range(5_000)
        ]
        for word in [*VOCABULARY.split(), *made]:
            assert stem(word) == (theirs.stem(word) if len(word) > 3 else word), word

    def test_short_words_and_other_scripts_stay(self) -> None:
        assert stem("was") == "was"
        assert stem("cafés") == "cafés"


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            ("Dr. Marsh left. It rained (Fig. 2). Why?", ["Dr. Marsh left.", "It rained (Fig. 2).", "Why?"]),
            ("It cost 3.5 euros. Cheap!", ["It cost 3.5 euros.", "Cheap!"]),
            ("first line\n\nsecond line", ["first line", "second line"]),
            ("你好。世界!「好。」再见", ["你好。", "世界!", "「好。」", "再见"]),
            ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
            ("", []),
        ],
    )
    def test_a_text_is_cut_where_sentences_end(self, text: str, parts: list[str]) -> None:
        assert sentences(text) == parts


def official_squad(text: str) -> str:
    """The normal form, written as SQuAD's evaluation script has it."""
    import string

    text = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())
