"""A prompt for judges, as its file says it."""

from annotators.judges.prompts import PROMPTS, any_prompt_from_yaml
from annotators.judges.prompts.prompt import default_prompt, prompt_to_yaml

TEXT = prompt_to_yaml(default_prompt()).replace(f"name: {default_prompt().name}\n", "name: plain_judge\n", 1)

PROMPTS.register(any_prompt_from_yaml(TEXT, "plain_judge.yaml"))
