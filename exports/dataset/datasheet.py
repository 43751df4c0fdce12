"""The datasheet (Gebru et al. 2021): its questions, those answered that the data answer, the others marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from annotators.designing.phases import phases_of
from annotators.figures import count, duration
from exports.dataset.base import OfStudy, Part, Source
from exports.dataset.sizes import shown
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable

OPEN = "To be answered by the authors."


def datasheet(source: Source, numbers: Mapping[str, Any], limits: Sequence[str]) -> Part:
    """The questions by chapter; `numbers` and `limits` are those of the other parts."""
    answers = _answers(source, numbers, limits)
    tables = [
        TextTable.of(chapter, ("Question", "Answer"), [(asked, answers.get(asked, OPEN)) for asked in questions],
                     words=("Question", "Answer"))
        for chapter, questions in QUESTIONS.items()
    ]  # fmt: skip
    n = sum(map(len, QUESTIONS.values()))
    words = [
        f"{len(answers):,} of {n:,} questions are answered from the data; the others are marked “{OPEN}” Questions are "
        "those of Gebru et al. (2021)."
    ]
    return Part([Section("Datasheet", tables, words=words, name="datasheet")],
                {"datasheet.questions": n, "datasheet.answered": len(answers)})  # fmt: skip


WHAT = "What do the instances represent?"
HOW_MANY = "How many instances are there in total?"
SAMPLE = "Does the dataset contain all possible instances or is it a sample?"
CONSISTS = "What data does each instance consist of?"
LABEL = "Is there a label or target associated with each instance?"
MISSING = "Is any information missing from individual instances?"
RELATED = "Are relationships between individual instances made explicit?"
ERRORS = "Are there any errors, sources of noise, or redundancies in the dataset?"
CONTAINED = "Is the dataset self-contained, or does it link to external resources?"
ACQUIRED = "How was the data associated with each instance acquired?"
MECHANISM = "What mechanisms or procedures were used to collect the data?"
STRATEGY = "If the dataset is a sample from a larger set, what was the sampling strategy?"
WHO = "Who was involved in the data collection process, and how were they compensated?"
WHEN = "Over what timeframe was the data collected?"
CONSENT = "Did the individuals in question consent to the collection and use of their data?"
PREPROCESSED = "Was any preprocessing, cleaning or labeling of the data done?"
RAW = "Was the raw data saved in addition to the preprocessed, cleaned or labeled data?"
SOFTWARE = "Is the software that was used to preprocess, clean or label the data available?"
VERSIONS = "Will older versions of the dataset continue to be supported?"

QUESTIONS = {
    "Motivation": (
        "For what purpose was the dataset created?",
        "Who created the dataset, and on behalf of which entity?",
        "Who funded the creation of the dataset?",
    ),
    "Composition": (
        WHAT, HOW_MANY, SAMPLE, CONSISTS, LABEL, MISSING, RELATED,
        "Are there recommended data splits?",
        ERRORS, CONTAINED,
        "Does the dataset contain data that might be considered confidential?",
        "Does the dataset contain data that might be offensive or cause anxiety?",
        "Does the dataset identify any subpopulations, or individuals?",
    ),
    "Collection process": (
        ACQUIRED, MECHANISM, STRATEGY, WHO, WHEN,
        "Were any ethical review processes conducted?",
        CONSENT,
    ),
    "Preprocessing, cleaning, labeling": (PREPROCESSED, RAW, SOFTWARE),
    "Uses": (
        "Has the dataset been used for any tasks already?",
        "What other tasks could the dataset be used for?",
        "Is there anything about the composition or collection that might impact future uses?",
        "Are there tasks for which the dataset should not be used?",
    ),
    "Distribution": (
        "Will the dataset be distributed to third parties?",
        "How will the dataset be distributed?",
        "When will the dataset be distributed?",
        "Under which licence or terms of use will it be distributed?",
        "Have third parties imposed restrictions on the data?",
    ),
    "Maintenance": (
        "Who will be supporting, hosting and maintaining the dataset?",
        "How can the owner of the dataset be contacted?",
        "Is there an erratum?",
        "Will the dataset be updated?",
        VERSIONS,
        "If others want to extend the dataset, is there a mechanism for them to do so?",
    ),
}  # fmt: skip
"""Chapter → its questions."""


def _answers(source: Source, numbers: Mapping[str, Any], limits: Sequence[str]) -> dict[str, str]:
    n = {name: shown(value) for name, value in numbers.items() if isinstance(value, int | float)}
    found: dict[str, str] = {
        WHAT: "Items: a question, the answer of a system or a reference answer, and the evidence for it.",
        HOW_MANY: _how_many(numbers) + ".",
        RAW: "Every version of an item and every label is kept and exported; nothing that was submitted is changed.",
        SOFTWARE: "Yes: Assay, AGPL-3.0-or-later.",
    }
    if numbers["items"]:
        found[CONSISTS] = (
            f"Question and answer{_beside(numbers)}; "
            f"{count(numbers['items.with_references'], 'item has', 'items have')} reference answers."
        )
        found[RELATED] = (
            "Items of one question share its key; evidence, claims and images name their document and page."
        )
    if numbers["documents"]:
        lacking = numbers["documents"] - numbers["documents.with_bytes"]
        found[CONTAINED] = (
            f"{n['documents.with_bytes']} of {n['documents']} documents are supplied"
            + (f"; {lacking:,} are named only." if lacking else ".")
        )  # fmt: skip
    of_items = [limit for limit in limits if not limit.startswith(("Study ", "In study ", "Judges "))]
    missing = [limit for limit in of_items if " no " in limit or "not given" in limit or "not supplied" in limit]
    if missing:
        found[MISSING] = " ".join(missing[:6])
    labelled = [of for of in source.studies if of.is_labelled]
    if labelled:
        found |= _of_studies(source, labelled)
    return found


def _of_studies(source: Source, studies: Sequence[OfStudy]) -> dict[str, str]:
    asked = "; ".join(
        f"{of.name}: {', '.join(criterion.title for criterion in of.labels.protocol.criteria)}" for of in studies
    )
    found = {
        LABEL: f"Yes, labels of people by criterion. {asked}.",
        ACQUIRED: " ".join(filter(None, (_acquired(studies, foreign=False), _acquired(studies, foreign=True)))),
        MECHANISM: " ".join(
            f"{of.name}: protocol {of.labels.protocol.title}, version {of.labels.protocol.version}, "
            f"{of.overlap} {'annotator' if of.overlap == '1' else 'annotators'} an item." for of in studies
        ),
        SAMPLE: " ".join(
            f"Study {of.name} has {of.items(of.study.n_items)}{_drawn(of)}." for of in studies
        ),
        PREPROCESSED: " ".join(map(_settled, studies)) + " See “How units were settled”.",
        VERSIONS: "Releases are kept, each with the hashes of its items and labels.",
    }  # fmt: skip
    drawn = [of for of in studies if of.study.settings.get("sample")]
    if drawn:
        found[STRATEGY] = " ".join(
            f"{of.name}: {_strata(of)}ranks of a hash with seed {of.study.seed}." for of in drawn
        )  # fmt: skip
    people, days, undated = [], list[float](), 0
    for of in studies:
        given = of.labels.found.annotations
        seconds = float(given.seconds[given.seconds == given.seconds].sum())
        who = len(set(given.person.tolist()))
        people.append(f"{of.name}: {count(who, 'annotator')}" + (f", {duration(seconds)} of work." if seconds else "."))
        known = given.time[~np.isnan(given.time)]
        undated += len(given.time) - len(known)
        if len(known):
            days += [float(known.min()), float(known.max())]
    told = any(phases_of(of.study.settings).before for of in studies)
    paid = "see “What annotators said of themselves” where it was asked for" if told else "it was not asked for here"
    found[WHO] = f"{' '.join(people)} Compensation: {paid}."
    if days:
        found[WHEN] = f"{_day(min(days))} to {_day(max(days))} (first and last label)."
        if undated:
            found[WHEN] += f" {count(undated, 'annotation')} came without a time."
    if any(
        one.headline is not None and one.headline.value is not None for of in studies for one in of.agreement.criteria
    ):
        found[ERRORS] = "Disagreement of annotators is reported by criterion, and what is not settled is counted."
    consented = [of.name for of in studies if (of.study.settings.get("phases") or {}).get("consent")]
    if consented:
        found[CONSENT] = f"Annotators of {', '.join(consented)} agreed to the text under “Consent” before they began."
    return found


def _acquired(studies: Sequence[OfStudy], *, foreign: bool) -> str:
    """How the labels came about that were given here, or those that were made elsewhere."""
    given = {of.name: len(of.labels.found.annotations.item) for of in studies}
    there = {of.name: of.imported if foreign else given[of.name] - of.imported for of in studies}
    names = ", ".join(
        name if n == given[name] else f"{name} ({n:,} of {count(given[name], 'annotation')})"
        for name, n in there.items()
        if n
    )
    if not names:
        return ""
    if foreign:
        return f"{names}: labels were made elsewhere and imported; how is not known here."
    return f"{names}: labels are judgements of people, who saw what the steps of the protocol show."


def _how_many(numbers: Mapping[str, Any]) -> str:
    """Items, questions and what else there is of a number; what there is none of is not said."""
    pages = f" ({count(numbers['pages'], 'page')})" if numbers["pages"] else ""
    found = f"{count(numbers['items'], 'item')} of {count(numbers['questions'], 'question')}"
    if numbers["documents"]:
        found += f" on {count(numbers['documents'], 'document')}{pages}"
    kinds = (("languages", "language", "languages"), ("categories", "category", "categories"))
    there = [count(numbers[name], one, many) for name, one, many in kinds if numbers[name]]
    return found + (f", in {' and '.join(there)}" if there else "")


def _beside(numbers: Mapping[str, Any]) -> str:
    kinds = (
        ("evidence", "piece of evidence", "pieces of evidence"),
        ("claims", "claim", None),
        ("images", "image", None),
    )
    return "".join(f", {count(numbers[name], one, many)}" for name, one, many in kinds if numbers[name])


def _drawn(of: OfStudy) -> str:
    settings = of.study.settings
    if not settings.get("sample"):
        return ""
    return (
        f", at most {settings['sample']:,} drawn of each stratum"
        if settings.get("per")
        else ", a sample of the project's"
    )


def _strata(of: OfStudy) -> str:
    per = of.study.settings.get("per")
    return f"stratified by {' and '.join(str(per).split(','))}, " if per else ""


def _settled(of: OfStudy) -> str:
    """How the units of a study were settled, and how many are not."""
    states = Counter[str]()
    for column in of.labels.found.criteria:
        states.update(of.labels.states(column.criterion.name))
    decided, left = states["adjudicated"], states["open"]
    units = f"{of.name}: {count(states.total() - left - decided, 'unit')} settled by the rule of the study"
    return units + (f", {decided:,} adjudicated" if decided else "") + (f", {left:,} not settled yet." if left else ".")


def _day(seconds: float) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - two names for one line

    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y}"
