"""Which systems are of a judge's own family."""

from __future__ import annotations

import pytest

from annotators.judges.trust.families import family_of, is_of_family


@pytest.mark.parametrize(
    ("model", "word"),
    [
        ("Qwen/Qwen2.5-VL-72B", "qwen"),
        ("gpt-4o-mini", "gpt"),
        ("o3-mini", "o3"),
        ("Phi-4", "phi"),
        ("meta-llama/Llama-3.1-8B", "llama"),
        ("claude", "claude"),
        ("x/", "x"),
    ],
)
def test_a_family_is_the_first_word_of_its_models(model: str, word: str) -> None:
    assert family_of(model) == word


def test_a_system_is_of_a_family_by_a_word_that_stands_alone() -> None:
    assert is_of_family("GPT-4o", ["gpt"])
    assert is_of_family("our rag with llama3", ["qwen", "llama"])
    assert is_of_family("chatgpt gpt4", ["gpt"])
    assert not is_of_family("chatgpt", ["gpt"])
    assert not is_of_family("Llama 3", ["", "qwen"])
