"""Prompts: what a judge is sent for a criterion, made from the protocol and what the step shows; its reply read."""

from annotators.judges.prompts.prompt import Example, Prompt, default_prompt, prompt_from_yaml, prompt_to_yaml
from annotators.judges.prompts.reading import read
from annotators.judges.prompts.writing import Pictures, calls

__all__ = ["Example", "Pictures", "Prompt", "calls", "default_prompt", "prompt_from_yaml", "prompt_to_yaml", "read"]
