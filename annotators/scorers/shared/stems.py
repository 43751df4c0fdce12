"""Stems of English words by Porter's algorithm, in the variant that rouge-score uses.

Porter, "An algorithm for suffix stripping" (1980), with the departures of NLTK's stemmer (which is what rouge-score
calls): y after a vowel stays, four-letter words in -ies and -ied, -fulli, -logi, irregular words. Written here
because Snowball's "porter" gives one word in sixty another stem, and importing NLTK takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

_SHORT = 3
"""Words up to this length are left as they are, in rouge-score as in ROUGE-1.5.5."""

_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning",
    "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip

Condition = Callable[[str], bool]
Rule = tuple[str, str, Condition | None]


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a word in lower case; words of other scripts stay as they are."""
    if len(word) <= _SHORT or not word.isascii():
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for step in (_plural, _past, _y_to_i, _double_suffix, _suffix, _bare_suffix, _final_e, _final_ll):
        word = step(word)
    return word


def _pattern(word: str) -> str:
    """c for each consonant and v for each vowel; y is a vowel after a consonant."""
    kinds = ""
    for position, letter in enumerate(word):
        vowel = letter in "aeiou" or (letter == "y" and position > 0 and kinds[-1] == "c")
        kinds += "v" if vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """m of the paper: how often a consonant follows a vowel."""
    return _pattern(word).count("vc")


def _above_0(word: str) -> bool:
    return _measure(word) > 0


def _above_1(word: str) -> bool:
    return _measure(word) > 1


def _ends_cvc(word: str) -> bool:
    """*o of the paper, and two-letter words of a vowel and a consonant."""
    kinds = _pattern(word)
    return (kinds.endswith("cvc") and word[-1] not in "wxy") or kinds == "vc"


def _first_of(word: str, rules: Sequence[Rule]) -> str:
    """The first rule whose suffix the word has decides, whether or not its condition lets it change anything."""
    for suffix, replacement, condition in rules:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + replacement if condition is None or condition(rest) else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _first_of(word, [("sses", "ss", None), ("ies", "i", None), ("ss", "ss", None), ("s", "", None)])


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _above_0(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _pattern(rest):
            return _after_past(rest)
    return word


def _after_past(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) >= 2 and word[-1] == word[-2] and _pattern(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _y_to_i(word: str) -> str:
    return _first_of(word, [("y", "i", lambda rest: len(rest) > 1 and _pattern(rest)[-1] == "c")])


_DOUBLE: list[Rule] = [
    (suffix, replacement, _above_0)
    for suffix, replacement in [
        ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
        ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
        ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
        ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
    ]
]  # fmt: skip


def _double_suffix(word: str) -> str:
    if word.endswith("alli") and _above_0(word[:-4]):
        return _double_suffix(word[:-2])
    return _first_of(word, [*_DOUBLE, ("logi", "log", lambda rest: _above_0(rest + "l"))])


_SINGLE: list[Rule] = [
    (suffix, replacement, _above_0)
    for suffix, replacement in [
        ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
    ]
]  # fmt: skip


def _suffix(word: str) -> str:
    return _first_of(word, _SINGLE)


_BARE: list[Rule] = [
    *((suffix, "", _above_1) for suffix in (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
    )),
    ("ion", "", lambda rest: _above_1(rest) and rest[-1] in "st"),
    *((suffix, "", _above_1) for suffix in ("ou", "ism", "ate", "iti", "ous", "ive", "ize")),
]  # fmt: skip


def _bare_suffix(word: str) -> str:
    return _first_of(word, _BARE)


def _final_e(word: str) -> str:
    rest = word.removesuffix("e")
    if rest != word and (_above_1(rest) or (_measure(rest) == 1 and not _ends_cvc(rest))):
        return rest
    return word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _above_1(word[:-1]) else word
