"""How a study was made: its protocol and guidelines in full, its sample, and what was changed under way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotators.criteria.base import Criterion, written
from annotators.designing.phases import phases_of
from annotators.figures import count, percent
from annotators.items.sampling import ORDERS
from annotators.protocols import PROTOCOLS, Protocol
from db.people.named import OF_PEOPLE
from exports.dataset.base import Numbers, OfStudy, Part, Source
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable

RULES = {
    "unanimous": "A unit is settled when all who judged it agree, and they are more than half of its annotators.",
    "majority": "A unit is settled by the label that more than half of its annotators gave.",
}
_DESIGN = {
    "part": "Share of the items with more annotators",
    "part_overlap": "Annotators of each of these",
    "most_overlap": "Annotators of an item on which they differ, at most",
    "per": "Strata",
    "items": "Items that were named",
    "where": "Conditions on items",
    "with_documents": "Only items whose documents can be looked at",
    "keep_lacking": "Also items that lack what a criterion is judged by",
    "one_per_question": "One item of each question",
    "pairs": "Systems whose answers were compared",
    "order_score": "Score that orders the items",
    "order_first": "Items that came first",
    "adjudication": "Adjudication",
    "talk": "Talk among annotators",
    "review_agreed": "Share of items without dispute that were reviewed",
    "show_names": "Adjudicators saw names",
    "allow_own_adjudication": "Adjudicators could decide items they had annotated",
    "suggestions": "Suggestions of models",
    "queue": "Queue of items",
    "quota": "Items of an annotator, at most",
    "stop_at": "Half-width at which the study may stop",
}
"""Setting → what it is called, of those that say how the labels came about."""


_READ_BY = (
    "The labels were made elsewhere and are read by this protocol. Its texts and steps are not what these annotators "
    "saw."
)
_UNKNOWN = "What these annotators were given to read is not known here."


def _never_shown(of: OfStudy) -> bool:
    """Whether its annotators, who worked elsewhere, cannot have read the guidelines: those of a protocol of ours."""
    if not (of.study.settings.get("foreign") and of.imported):
        return False
    ours = {PROTOCOLS.get(name).guidelines for name in PROTOCOLS.names()}
    return of.labels.protocol.guidelines in ours


def protocol(source: Source, of: OfStudy) -> Part:
    """The protocol of a study with its guidelines in full, and how the study was designed.

    The guidelines of a built-in protocol are not given out as those of people whose labels were imported.
    """
    asked, study = of.labels.protocol, of.study
    unseen = _never_shown(of)
    facts = [
        ("Protocol", f"{asked.title} ({asked.name}, version {asked.version})"),
        ("SHA-256 of the protocol", study.protocol_hash),
        ("Summary", asked.summary),
        ("Source", asked.source),
        ("How agreement is reported", asked.agreement),
        ("What happens to an item that fails", asked.on_fail),
    ]
    tables = [
        TextTable.of("Protocol", ("What", "Says"), [fact for fact in facts if fact[1]], words=("Says",)),
        TextTable.of("Design", ("What", "Says"), list(_design(of)), words=("Says",)),
        _criteria(asked),
        _labels(asked),
        _steps(asked),
    ]
    if of.amendments:
        tables.append(_amendments(of))
    sections = [
        Section(
            source.titled("Protocol and design", of), tables, words=[_READ_BY] * unseen, name=f"protocol-{of.study_id}"
        ),
        Section(
            source.titled("Guidelines", of), words=[_UNKNOWN] * unseen, text="" if unseen else asked.guidelines,
            name=f"guidelines-{of.study_id}",
        ),
    ]  # fmt: skip
    consent = phases_of(study.settings).consent
    if consent.strip():
        sections.append(Section(source.titled("Consent", of), text=consent, name=f"consent-{of.study_id}"))
    numbers: Numbers = {
        source.named("study.items", of): study.n_items,
        source.named("study.overlap", of): study.overlap,
        source.named("study.criteria", of): len(asked.criteria),
        source.named("study.amendments", of): len(of.amendments),
    }
    return Part(sections, numbers, list(_limits(of)))


def _design(of: OfStudy) -> Iterator[tuple[str, str]]:
    study = of.study
    yield "Pairs of items" if of.about_pairs else "Items", f"{study.n_items:,}"
    yield "Annotators of each item", of.overlap
    yield "Order of the items", ORDERS[study.item_order]
    yield "Seed", str(study.seed)
    yield "SHA-256 of the sample", study.sample_hash
    yield "When labels settle", RULES.get(study.rule, study.rule)
    if study.show_scores:
        yield "Scores that were shown", ", ".join(_said(score) for score in study.show_scores)
    if sample := study.settings.get("sample"):
        yield "Items drawn of each stratum, at most" if study.settings.get("per") else "Items drawn", f"{sample:,}"
    for name, title in _DESIGN.items():
        value = study.settings.get(name)
        if value not in (None, [], "", False):
            yield title, _said(value)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_said, value[:20])) + (f" … ({len(value):,})" if len(value) > 20 else "")
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_said(entry)}" for name, entry in value.items())
    return str(value)


def _criteria(asked: Protocol) -> TextTable:
    rows = [
        [criterion.title, criterion.name, criterion.kind, str(criterion.target), criterion.scale, _when(criterion),
         criterion.help]
        for criterion in asked.criteria
    ]  # fmt: skip
    columns = ("Criterion", "Name", "Kind", "About", "Scale", "Asked", "Help")
    return TextTable.of("Criteria", columns, rows, words=columns)


def _when(criterion: Criterion) -> str:
    need = "required" if criterion.required else "may be left out"
    if criterion.when is None:
        return need
    condition = criterion.when.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return f"{need}; only when {_said(condition)}"


def _labels(asked: Protocol) -> TextTable:
    rows = [
        [criterion.title, written(label.value), label.title or "", label.definition or ""]
        for criterion in asked.criteria
        for label in criterion.label_list()
    ]
    columns = ("Criterion", "Label", "Title", "Definition")
    return TextTable.of("Labels", columns, rows, words=columns)


def _steps(asked: Protocol) -> TextTable:
    rows = [[step.title, ", ".join(map(str, step.shows)), ", ".join(step.criteria)] for step in asked.steps]
    return TextTable.of("Steps", ("Step", "Shows", "Asks"), rows)


def _amendments(of: OfStudy) -> TextTable:
    rows = []
    for row in of.amendments:
        before, after = (
            str(len(value))
            if row.what == "annotators" and isinstance(value, list)
            else _of_people(of, value)
            if row.what in OF_PEOPLE and isinstance(value, dict)
            else _said(value)
            for value in (row.before, row.after)
        )
        rows.append([f"{row.created_at:%Y-%m-%d}", row.what, before, after, row.reason])
    return TextTable.of("Amendments", ("Day", "What", "Before", "After", "Reason"), rows, words=("Before", "After"))


def _of_people(of: OfStudy, value: dict[str, Any]) -> str:
    """What an amendment gave single annotators, by their pseudonyms."""
    return ", ".join(
        f"{of.called.get(int(person), 'somebody without labels')}: {'none' if part is None else part}"
        for person, part in value.items()
    )


def _limits(of: OfStudy) -> Iterator[str]:
    study = of.study
    given = of.annotators_of_items
    several = int((given > 1).sum())
    if len(given) and not several:
        yield f"In study {study.name} no item has labels of two people, so that nothing is known of agreement."
    elif 2 * several < len(given):
        yield (
            f"In study {study.name} {several:,} of {len(given):,} labelled items have labels of several people: "
            "agreement rests on these."
        )
    if of.imported and not study.settings.get("foreign"):
        n = count(len(of.labels.found.annotations.item), "annotation")
        yield (
            f"{of.imported:,} of {n} of study {study.name} were made elsewhere and imported: what these annotators saw "
            "is not known here."
        )
    if study.amended:
        yield f"Study {study.name} was amended {count(study.amended, 'time')} while it was under way."
    drawn = study.settings.get("drawn_with")
    if drawn:
        yield f"Items of study {study.name} were drawn with unlike probabilities, which are known of {len(drawn):,}."
    shown = of.labels.protocol.about_scores or study.settings.get("suggestions") in ("before", "beside")
    if shown:
        yield f"In study {study.name} annotators saw scores or suggestions before they judged, which may have led them."
    labelled = len(set(of.labels.found.annotations.item.tolist()))
    if labelled < study.n_items:
        share = percent(labelled / study.n_items) if study.n_items else "none"
        yield f"{labelled:,} of {of.items(study.n_items)} of study {study.name} have a label so far ({share})."
