"""Prompts: what a judge is sent for a criterion, made from the protocol and what the step shows; its reply read."""

from annotators.judges.prompts.catalogue import (
    PROMPT_NAMES,
    PROMPTS,
    AnyPrompt,
    any_prompt_from_yaml,
    judging,
    prompt_from_data,
    prompt_from_yaml,
)
from annotators.judges.prompts.generating import Generated, GeneratingPrompt, generating_call, read_generated
from annotators.judges.prompts.prompt import Example, Prompt, default_prompt, prompt_to_yaml
from annotators.judges.prompts.reading import read
from annotators.judges.prompts.writing import Pictures, as_example, calls

__all__ = [
    "PROMPTS", "PROMPT_NAMES", "AnyPrompt", "Example", "Generated", "GeneratingPrompt", "Pictures", "Prompt",
    "any_prompt_from_yaml", "as_example", "calls", "default_prompt", "generating_call",
    "judging", "prompt_from_data", "prompt_from_yaml", "prompt_to_yaml", "read", "read_generated",
]  # fmt: skip
