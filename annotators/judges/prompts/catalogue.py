"""All prompts by name, of both kinds: those that judge and those that write."""

from __future__ import annotations

from annotators.asking.versioned import Names
from annotators.asking.yaml_files import YamlFile
from annotators.errors import InvalidInput
from annotators.judges.prompts.generating import GeneratingPrompt
from annotators.judges.prompts.prompt import PROMPT_FILE, Prompt, prompt_of
from annotators.registry import Registry

AnyPrompt = Prompt | GeneratingPrompt

PROMPTS: Registry[AnyPrompt] = Registry("prompt", "annotators.judges.prompts.built_in")
"""The prompts that every project has."""

PROMPT_NAMES: Names[AnyPrompt] = Names(PROMPTS, example="strict_grades")


def any_prompt_from_yaml(text: str, source: str = PROMPT_FILE) -> AnyPrompt:
    """The prompt that a file says, of the kind that it says: one that `writes` something is a generating one.

    InvalidInput has a line and a remedy for each thing that is wrong.
    """
    reader = YamlFile(source, kind="prompt file", begins="name: my_prompt")
    data = reader.read(text)
    return prompt_of(GeneratingPrompt, reader, data) if "writes" in data else prompt_of(Prompt, reader, data)


def prompt_from_yaml(text: str, source: str = PROMPT_FILE) -> Prompt:
    """The prompt that judges, as a file says it; InvalidInput as `any_prompt_from_yaml`, and for one that writes."""
    return judging(any_prompt_from_yaml(text, source))


def judging(prompt: AnyPrompt) -> Prompt:
    """The prompt, if it is one that judges; InvalidInput otherwise."""
    if isinstance(prompt, GeneratingPrompt):
        raise InvalidInput(
            f"The prompt {prompt.name!r} writes {prompt.in_words}; it judges nothing. Take one that judges: `assay "
            "prompts` lists them."
        )
    return prompt


def prompt_from_data(data: dict[str, object]) -> AnyPrompt:
    """A prompt that was stored (`model_dump`)."""
    return GeneratingPrompt.model_validate(data) if "writes" in data else Prompt.model_validate(data)
