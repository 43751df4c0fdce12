"""Reads the built-in prompts from their files and enters them."""

from __future__ import annotations

from pathlib import Path

from annotators.judges.prompts.catalogue import PROMPTS, any_prompt_from_yaml
from annotators.judges.prompts.prompt import default_prompt

PROMPTS.register(default_prompt())
for _path in sorted(Path(__file__).parent.glob("*/*.yaml")):
    PROMPTS.register(any_prompt_from_yaml(_path.read_text(encoding="utf-8"), _path.name))
