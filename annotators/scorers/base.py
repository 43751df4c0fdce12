"""What a scorer is: a deterministic metric over items, its parameters, and the scores it gives."""

from __future__ import annotations

import json
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.registry import Registry

if TYPE_CHECKING:
    from annotators.scorers.shared.study_labels import LabelUse


class Part(StrEnum):
    """Fields of an item that a scorer may ask for beside its texts, references and hops."""

    EVIDENCE = "evidence"
    CLAIMS = "claims"
    IMAGES = "images"
    DOCUMENTS = "documents"
    METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class ScoreValue:
    """One score: a value, or None (*unscored*) with the reason. Flags are 0 and 1."""

    name: str
    value: float | None
    reason: str | None = None
    target: str = "item"
    details: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if (self.value is None) != (self.reason is not None):
            raise ValueError(f"score {self.name!r}: either a value or the reason why there is none")


@dataclass(frozen=True, slots=True)
class ValueKind:
    """One of the values that a scorer gives: its name in the data, its title, of what kind it is, its range.

    A share lies between 0 and 1, a flag is 0 or 1, a count is a whole number, a label is the place (from 0) of one of
    `words`, and a number is any other. `words` are what the values of a flag or label are called; a flag without them
    is no or yes. `measures` says what a value measures where its name does not: a criterion about `correctness` is also
    about a value that measures it. `merit`: whether more of it is better, so that it may be averaged with others.
    """

    name: str
    title: str
    kind: Literal["share", "number", "flag", "count", "label"] = "share"
    low: float | None = 0.0
    high: float | None = 1.0
    words: tuple[str, ...] = ()
    measures: str = ""
    merit: bool = True

    def in_words(self, value: float | None, reason: str | None = None) -> str:
        """The value as people read it wherever it is shown: `0.67`, `up`, `unscored: the item has no reference`."""
        if value is None:
            return f"{UNSCORED}: {reason}" if reason else UNSCORED
        words = self.words or (("no", "yes") if self.kind == "flag" else ())
        if self.kind in ("flag", "label") and value in range(len(words)):
            return words[int(value)]
        if self.kind == "share" and 0 <= value <= 1:
            return _share(value)
        text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.3f}"
        return text.replace("-", "\N{MINUS SIGN}")


UNSCORED = "unscored"
"""What a score without a value is called."""


def _share(value: float) -> str:
    """Two digits, and more where these would say 0 or 1 of what is neither."""
    digits = 2
    while digits < 6 and value not in (0, 1) and float(f"{value:.{digits}f}") in (0, 1):
        digits += 1
    return f"{value:.{digits}f}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A value of a group of items, not of one item: the group's mean of `of` less its mean of `minus`."""

    name: str
    title: str
    of: str
    minus: str

    def value(self, means: Mapping[str, float | None]) -> ScoreValue:
        """The difference, from the group's (macro) mean of each value by name; unscored where one is missing."""
        of, minus = means.get(self.of), means.get(self.minus)
        if of is None or minus is None:
            missing = self.of if of is None else self.minus
            return ScoreValue(self.name, None, f"the group has no score {missing}", target="group")
        return ScoreValue(self.name, of - minus, target="group")


class Parameters(BaseModel):
    """The parameters of a scorer: frozen, none unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LabelledParameters(Parameters):
    """Parameters of a scorer that can take labels of studies in place of what people said in the items' own fields.

    `labels_of` are the studies, `labels_by` who said the labels (`settled`, `people`, a judge, or `WHAT=WHO`; empty:
    the final ones), `labels_state` is a hash of their labels as they were read, so that other labels are another run.
    All are set by the run, never by hand, and are left out where no study is named.
    """

    labels_of: tuple[str, ...] = Field((), exclude_if=lambda studies: not studies)
    labels_by: tuple[str, ...] = Field((), exclude_if=lambda who: not who)
    labels_state: str = Field("", exclude_if=lambda state: not state)

    def label_sources(self) -> tuple[str, ...]:
        """As what the labels are taken: `adjudicated` (final), `people` (what the votes so far settle), or both."""
        return ("adjudicated",)


P = TypeVar("P", bound=Parameters)


class Scorer(ABC, Generic[P]):
    """A metric by its name and version. The version changes whenever the same item could get another score.

    `values` are what it gives, the main one first; `needs` are the parts it reads; `source` cites where it is from.
    A group of items (a system, a category, everything) is summed up by the mean of each value over scored items and the
    unweighted mean of the category means (`GroupMeans`); `differences` are what is computed from these means.
    `labels` says what it takes from labels of studies (its parameters are then `LabelledParameters`).
    `uses_model` says that scoring loads an embedding model (seconds, and 480 MB): such a scorer runs in a worker
    process, never in the web process. The model is loaded once in a process, by the first batch that needs it.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    values: ClassVar[tuple[ValueKind, ...]]
    needs: ClassVar[frozenset[Part]] = frozenset()
    differences: ClassVar[tuple[Difference, ...]] = ()
    labels: ClassVar[LabelUse | None] = None
    uses_model: ClassVar[bool] = False
    parameters: type[P]

    @abstractmethod
    def score(self, items: Sequence[ItemContent], parameters: P) -> list[list[ScoreValue]]:
        """The scores of each item of a batch, in the order of the batch.

        Every item gets at least one score, *unscored* ones included: an item without any counts as not yet scored. An
        item's scores depend on nothing but the item and the parameters: not on the other items of the batch.
        """

    def meaning(self, score: ScoreValue) -> str:
        """One line for people on what this score says of its item; the summary, where its details say no more."""
        del score
        return self.summary

    def resources(self, parameters: P) -> tuple[str, ...]:
        """The SHA-256 of every resource (scorers/shared/resources.py) that scoring with these parameters reads."""
        del parameters
        return ()


SCORERS: Registry[Scorer[Any]] = Registry("scorer", "annotators.scorers")
"""All scorers that are known by name."""


GivenParameters = Mapping[str, Any] | Sequence[str] | Parameters | None
"""Parameters as a mapping, as texts K=V, as a scorer has them, or None for the defaults."""


def parameters_of(scorer: Scorer[P], given: GivenParameters = None) -> P:
    """The parameters from a mapping, or from texts K=V as the command line takes them; None gives the defaults.

    Raises InvalidInput naming the parameter, the value, and what is allowed.
    """
    if given is None:
        given = {}
    if isinstance(given, Parameters):
        given = given.model_dump()
    if not isinstance(given, Mapping):
        given = _pairs(scorer, given)
    try:
        return scorer.parameters.model_validate(given)
    except ValidationError as error:
        raise InvalidInput("\n".join(_complaint(scorer, dict(wrong)) for wrong in error.errors())) from None


def _pairs(scorer: Scorer[Any], given: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InvalidInput(f"{text!r} is no parameter. Write NAME=VALUE; {_known(scorer)}.")
        if name in LabelledParameters.model_fields:
            raise InvalidInput(f"{name!r} is not set by hand. {_OPTIONS_OF_LABELS}; {_known(scorer)}.")
        if name in pairs:
            raise InvalidInput(f"Parameter {name!r} is given twice. Give it once.")
        pairs[name] = value.strip()
    return pairs


_OPTIONS_OF_LABELS = "Name the study with --labels-of, and whose labels are taken with --labels-by"


def _complaint(scorer: Scorer[Any], error: dict[str, Any]) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    if name not in scorer.parameters.model_fields:
        return f"Scorer {scorer.name!r} has no parameter {name!r}; {_known(scorer)}." if name else str(error["msg"])
    if error["type"] == "missing":
        return f"Scorer {scorer.name!r} needs parameter {name!r}: {allowed_values(scorer, name)}."
    return f"{error['input']!r} is not a value of parameter {name!r}. Allowed: {allowed_values(scorer, name)}."


def _known(scorer: Scorer[Any]) -> str:
    names = sorted(settable(scorer))
    return f"known: {', '.join(names)}" if names else "it takes none"


def settable(scorer: Scorer[Any]) -> list[str]:
    """The names of the parameters that people set."""
    return [name for name in scorer.parameters.model_fields if name not in LabelledParameters.model_fields]


def allowed_values(scorer: Scorer[Any], name: str) -> str:
    """What a parameter may be, in words: its alternatives, or its type with its limits."""
    information = scorer.parameters.model_fields[name]
    if get_origin(information.annotation) is Literal:
        return ", ".join(str(value) for value in get_args(information.annotation))
    schema = scorer.parameters.model_json_schema()["properties"][name]
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "a text"}
    text = words.get(schema.get("type", ""), "a value")
    limits = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}
    return " ".join([text, *(f"{word} {schema[key]:g}" for key, word in limits.items() if key in schema)])


IMPORTED = "imported:"
"""How the name of a scorer begins whose scores came with an import; the format or the scorer's own name follows."""

_FLAG_WORDS = ("down", "up")
_KNOWN_IMPORTS = {
    kind.name: kind
    for kind in (
        ValueKind("correctness", "Correctness"),
        ValueKind("hallucination", "Hallucination", "flag", words=_FLAG_WORDS, merit=False),
        ValueKind(
            "suspected_hallucination", "Hallucination", "flag", words=_FLAG_WORDS, measures="hallucination", merit=False
        ),
        ValueKind("hallucinating", "Hallucination", "flag", words=_FLAG_WORDS, measures="hallucination", merit=False),
        ValueKind("abstention", "Abstention", "flag", words=("statement", "abstention"), merit=False),
    )
}
"""What the values of imports are whose names say it: those of FATHOMS, whose flag has two names in its result files."""

_FATHOMS = {
    "correctness": "Share of the best set’s phrases that stand in the answer",
    "hallucination": "Up when the answer states something (it does not abstain) and its correctness is below 1",
}
"""What the scores of FATHOMS' result files mean (FATHOMS-RAG, section III)."""

_TITLES = {
    "bleu": "BLEU",
    "em": "Exact match",
    "f1": "F1",
    "meteor": "METEOR",
    "rouge": "ROUGE",
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougel": "ROUGE-L",
    "rougelsum": "ROUGE-Lsum",
}


def value_kind(scorer: str, name: str) -> ValueKind:
    """What the value `name` of `scorer` is: as the scorer says; of imported scores as their names say.

    An import that names one of our scorers is taken at its word. Of other imports only a few names say what sort of
    value it is (`_KNOWN_IMPORTS`); a name that a scorer of ours has too gives the title, and the range stays open.
    """
    by = scorer.removeprefix(IMPORTED)
    if by in SCORERS.names():
        for kind in SCORERS.get(by).values:
            if kind.name == name:
                return kind
    known = _KNOWN_IMPORTS.get(name)
    if known is not None:
        return known
    return ValueKind(name, _title(name), "number", low=None, high=None)


def _title(name: str) -> str:
    """A title for a value of which only the name is known: `rouge_l` → ROUGE-L, `answer_length` → Answer length."""
    for scorer in SCORERS:
        for kind in scorer.values:
            if kind.name == name:
                return kind.title
    words = name.replace("_", " ").strip()
    return _TITLES.get(words.replace(" ", "").replace("-", "").lower(), words[:1].upper() + words[1:])


def scorer_title(scorer: str) -> str:
    """What a scorer is called where people read: `Phrase recall`, or `fathoms, imported`."""
    by = scorer.removeprefix(IMPORTED)
    title = SCORERS.get(by).title if by in SCORERS.names() else by
    return f"{title}, imported" if scorer.startswith(IMPORTED) else title


def meaning(scorer: str, score: ScoreValue) -> str:
    """One line for people on what a score says of its item, by its scorer; of an import, that it is one."""
    by = scorer.removeprefix(IMPORTED)
    if by in SCORERS.names():
        return SCORERS.get(by).meaning(score)
    if by == "fathoms" and score.name in _FATHOMS:
        return _FATHOMS[score.name]
    return f"Imported with the item ({by}); how it was computed did not come with it"


def readable(parameters: Mapping[str, Any], *, digits: int = 64) -> list[str]:
    """Parameters as the command line takes them: ["mode=paper", "k=3"]; of a longer hash its first `digits` only."""
    values = {name: _as_text(value) for name, value in parameters.items()}
    return [
        f"{name}={value[:digits]}…" if len(value) == _HASH > digits and value.isalnum() else f"{name}={value}"
        for name, value in sorted(values.items())
    ]


def _as_text(value: Any) -> str:
    """A value of a parameter: a text as it is, several texts with commas between, anything else as JSON."""
    if isinstance(value, list | tuple) and value and all(isinstance(text, str) for text in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def as_options(parameters: Mapping[str, Any]) -> list[str]:
    """Parameters as the options of `assay score` that give them: ["--param k=3", "--labels-of 'first round'"]."""
    own = {name: value for name, value in parameters.items() if name not in LabelledParameters.model_fields}
    labels = [f"--labels-of {shlex.quote(study)}" for study in parameters.get("labels_of", ())]
    by = parameters.get("labels_by", ())
    whose = [f"--labels-by {shlex.quote(', '.join(by))}"] if by else []
    return [*(f"--param {text}" for text in readable(own)), *labels, *whose]


_HASH = 64
"""Letters of a SHA-256."""
