"""The user's guide describes every protocol, scorer, kind of criterion and key, and its example works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotators.asking.protocol_files import MAX_CHARACTERS, protocol_from_yaml, protocol_to_yaml
from annotators.criteria import KINDS, Label
from annotators.items.targets import TargetKind
from annotators.keys import ACTIONS, RESERVED
from annotators.protocols import PROTOCOLS, Material, Protocol
from annotators.protocols.base import REVISABLE
from annotators.scorers import SCORERS
from annotators.scorers.base import allowed_values, settable

DOCS = Path(__file__).parent.parent.parent / "docs"


def page(name: str) -> str:
    return (DOCS / f"{name}.md").read_text()


def section(text: str, title: str) -> str:
    """The part of a page under the heading that begins with `title`."""
    found = re.search(rf"^(#+) {re.escape(title)}.*?$(.*?)(?=^#{{1,3}} |\Z)", text, re.M | re.S)
    assert found, title
    return found[2]


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_every_protocol_is_described_with_its_criteria_and_labels(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    described = section(page("protocols"), f"`{name}`: {protocol.title}")
    assert protocol.summary.rstrip("?.")[:40] in " ".join(described.split())
    for criterion in protocol.criteria:
        assert f"`{criterion.name}`" in described
        for label in criterion.label_list():
            assert f"`{label.value}`" in described
    for step in protocol.steps[1:]:
        assert step.title in described


@pytest.mark.parametrize("name", SCORERS.names())
def test_every_scorer_is_described_with_its_values_and_parameters(name: str) -> None:
    scorer = SCORERS.get(name)
    described = " ".join(section(page("metrics"), f"`{name}`: {scorer.title}").split())
    for value in scorer.values:
        assert f"`{value.name}`" in described
    assert ("`--labels-of`" in described) == (scorer.labels is not None)
    for parameter in settable(scorer):
        assert f"Parameter `{parameter}`" in described
        for allowed in allowed_values(scorer, parameter).split(", "):
            assert f"`{allowed}`" in described


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_of_criterion_is_described_with_its_scale(kind: str) -> None:
    row = re.search(rf"^\| `{kind}` \| (\w+) \|", page("protocols"), re.M)
    assert row
    assert row[1] == KINDS[kind].scale


def test_every_target_and_material_is_named() -> None:
    for target in TargetKind:
        assert f"`{target.value}`" in page("protocols")
        assert f"`{target.value}`" in page("protocol-files")
    for word in [*(material.value for material in Material), *REVISABLE]:
        assert f"`{word}`" in page("protocol-files")


@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_every_key_of_the_page_is_described(action: str) -> None:
    key, title = ACTIONS[action]
    row = re.search(rf"^\| `{re.escape(key)}` \| (.*?) \|$", page("keys"), re.M)
    assert row, key
    assert title.split(",")[0].split()[0].lower() in row[1].lower()


def test_the_letters_that_are_free_for_labels_are_right() -> None:
    taken = re.search(r"all letters but (.*?)\.", page("keys"), re.S)
    assert taken
    assert set(re.findall(r"`(\w)`", taken[1])) == {key for key in RESERVED if len(key) == 1 and key.isalpha()}
    for key in ("Tab", "=", "_", "/"):
        assert f"`{key}`" in page("keys")


def test_every_field_of_a_protocol_file_is_described() -> None:
    described = page("protocol-files")
    names = {name for model in [Protocol, Label, *KINDS.values()] for name in model.model_fields}
    for name in sorted(names):
        assert f"`{name}`" in described, name
    assert f"{MAX_CHARACTERS:,} characters" in described


def test_the_example_is_a_protocol_that_uses_most_of_what_there_is() -> None:
    example = re.search(r"^```yaml\n(.*?)^```$", page("protocol-files"), re.M | re.S)
    assert example
    protocol = protocol_from_yaml(example[1], "docs/protocol-files.md")
    assert {criterion.kind for criterion in protocol.criteria} == set(KINDS) - {"order"}
    assert len(protocol.steps) == 2
    assert [label.value for label in protocol.criterion("helps").label_list()] == ["true", "false"]
    assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol


@pytest.mark.parametrize("name", ["protocols", "scorers", "metrics", "keys", "protocol-files"])
def test_links_between_these_pages_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page(name)):
        assert (DOCS / target).is_file(), target
