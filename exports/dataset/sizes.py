"""What the dataset holds: items, questions, documents, languages, categories, evidence; and what a study took of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import Select, func, union
from sqlmodel import Session, col

from annotators.figures import count, number, percent
from db.items.current import item_is_current, version_is_latest
from db.items.documents import document_is_current
from db.models import Claim, Document, Evidence, Image, Item, ItemDocument, ItemVersion, Purpose, StudyItem
from db.query import pick
from exports.dataset.base import Numbers, Part, Source
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable
from exports.results.labels import NO_CATEGORY

NOT_GIVEN = "not given"
SYSTEMS, LANGUAGES, CATEGORIES = "system", "language", "category"
_AT_ONCE = 2000
MOST_GROUPS = 200
"""Rows of a table of categories or systems; beyond them the report names the most frequent."""


@dataclass
class Sizes:
    """Counts of a set of items: of how many questions, by group, how long their texts are in words."""

    items: int = 0
    questions: set[int] = field(default_factory=set)
    groups: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    crossed: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    with_references: int = 0
    hops: int = 0
    parts: dict[str, Counter[str]] = field(default_factory=dict)
    documents: list[tuple[str | None, int | None, bool]] = field(default_factory=list)
    earlier: int = 0
    """Of a study the items that have a later version than the one it sampled, which is the one that is counted."""

    def n(self, by: str) -> int:
        """How many groups there are; those that lack one are none."""
        return len(self.named(by))

    def named(self, by: str) -> dict[str, int]:
        """Group → how many items; items whose group nobody gave are in none."""
        without = {LANGUAGES: NOT_GIVEN, CATEGORIES: NO_CATEGORY}.get(by)
        return {group: n for group, n in self.groups[by].items() if group != without}


def sizes(source: Source) -> Part:
    """The tables of sizes, with every count by its name."""
    with source.db.read() as session:
        found = _measured(session, source)
    numbers = _numbers(found)
    return Part([Section("The dataset", list(_tables(found)), words=_words(found), name="dataset")], numbers,
                list(_limits(found)))  # fmt: skip


def _versions(source: Source) -> Select[Any]:
    """A query for the ids of the item versions that the report is about."""
    if source.only is None:
        return (
            pick(ItemVersion.id)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .where(col(Item.project_id) == source.project_id, item_is_current(), version_is_latest())
        )
    of_study = (col(StudyItem.study_id) == source.only.study_id, col(StudyItem.purpose) == Purpose.SAMPLE)
    first = pick(StudyItem.item_version_id).where(*of_study)
    other = pick(StudyItem.other_version_id).where(*of_study, col(StudyItem.other_version_id).is_not(None))
    both = union(first, other).subquery()
    return pick(both.c[0])


def _measured(session: Session, source: Source) -> Sizes:
    found, versions = Sizes(), _versions(source)
    for row in _rows(session, versions):
        found.items += 1
        found.questions.add(row.question_id)
        category, language = row.category or NO_CATEGORY, row.language or NOT_GIVEN
        for by, group in ((SYSTEMS, row.system), (CATEGORIES, category), (LANGUAGES, language)):
            found.groups[by][group] += 1
        found.crossed[category, language] += 1
        found.words["question"].append(len(row.question.split()))
        if row.answer.strip():
            found.words["answer"].append(len(row.answer.split()))
        found.with_references += bool(row.references)
        found.hops += len(row.hops) > 1
    parts: tuple[tuple[str, Any, Any], ...] = (
        ("evidence", Evidence, Evidence.kind),
        ("claims", Claim, Claim.of),
        ("images", Image, Image.page),
    )
    for name, table, by in parts:
        query = pick(by).where(col(table.item_version_id).in_(versions))
        found.parts[name] = Counter(map(str, session.execute(query).scalars()))
    found.documents = _documents(session, source, versions)
    earlier = pick(func.count()).where(col(ItemVersion.id).in_(versions), ~version_is_latest())
    found.earlier = session.execute(earlier).scalar_one()
    return found


def _rows(session: Session, versions: Select[Any]) -> Iterator[Any]:
    v = ItemVersion
    query = (
        pick(
            Item.question_id, Item.system, v.category, v.language, v.question, v.answer, v.references, v.hops
        )
        .join(v, col(v.item_id) == Item.id)
        .where(col(v.id).in_(versions))
        .order_by(col(v.id))
    )  # fmt: skip
    yield from session.execute(query, execution_options={"yield_per": _AT_ONCE})


def _documents(session: Session, source: Source, versions: Select[Any]) -> list[tuple[str | None, int | None, bool]]:
    """Type, pages, and whether its bytes are there, of each document."""
    query = pick(Document.media_type, Document.n_pages, Document.sha256).where(
        col(Document.project_id) == source.project_id
    )
    if source.only is None:
        query = query.where(document_is_current(session))
    else:
        pointing: Sequence[Any] = (ItemDocument, Evidence, Image)
        used = union(*(pick(t.document_id).where(col(t.item_version_id).in_(versions)) for t in pointing)).subquery()
        query = query.where(col(Document.id).in_(pick(used.c[0])))
    return [(kind, pages, sha256 is not None) for kind, pages, sha256 in session.execute(query)]


def _numbers(found: Sizes) -> Numbers:
    pages = [n for _, n, _ in found.documents if n is not None]
    numbers: Numbers = {
        "items": found.items,
        "questions": len(found.questions),
        "systems": found.n(SYSTEMS),
        "categories": found.n(CATEGORIES),
        "languages": found.n(LANGUAGES),
        "documents": len(found.documents),
        "documents.with_bytes": sum(there for _, _, there in found.documents),
        "pages": sum(pages),
        "pages.median": float(np.median(pages)) if pages else None,
        "items.with_references": found.with_references,
        "items.multi_hop": found.hops,
        "evidence": found.parts["evidence"].total(),
        "claims": found.parts["claims"].total(),
        "images": found.parts["images"].total(),
    }
    for name, words in found.words.items():
        numbers |= {f"words.{name}.median": float(np.median(words)), f"words.{name}.max": max(words)}
    for by in (SYSTEMS, CATEGORIES, LANGUAGES):
        numbers |= {f"items.{by}.{group}": n for group, n in found.groups[by].items()}
    return numbers


_TITLES = {
    "items": "Items", "questions": "Questions", "systems": "Systems", "categories": "Categories",
    "languages": "Languages", "documents": "Documents", "documents.with_bytes": "Documents with their bytes",
    "pages": "Pages", "pages.median": "Pages of a document, median", "items.with_references": "Items with references",
    "items.multi_hop": "Items of several hops", "evidence": "Pieces of evidence", "claims": "Claims",
    "images": "Images", "words.question.median": "Words of a question, median",
    "words.question.max": "Words of a question, most", "words.answer.median": "Words of an answer, median",
    "words.answer.max": "Words of an answer, most",
}  # fmt: skip
"""Number → what the table calls it; those that are 0 and could not be otherwise are shown all the same."""


def shown(value: float | None) -> str:
    """A count as it is printed; a median with its half, where it has one."""
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else number(value, 1, grouped=True)


def _tables(found: Sizes) -> Iterator[TextTable]:
    numbers = _numbers(found)
    rows = [(title, shown(numbers[name])) for name, title in _TITLES.items() if numbers.get(name) is not None]
    yield TextTable.of("Sizes", ("What", "Number"), rows)
    for by, title in ((SYSTEMS, "System"), (LANGUAGES, "Language")):
        if len(found.groups[by]) > 1 or found.n(by):
            yield _by_group(found, by, title)
    if found.n(CATEGORIES):
        yield _by_category(found)
    kinds = found.parts["evidence"]
    if kinds:
        listed = [(kind, f"{n:,}", percent(n / kinds.total())) for kind, n in kinds.most_common()]
        yield TextTable.of("Evidence by kind", ("Kind", "Pieces", "Share"), listed)
    types = Counter(kind or "no bytes" for kind, _, _ in found.documents)
    if types:
        pages: Counter[str] = Counter()
        for kind, n, _ in found.documents:
            pages[kind or "no bytes"] += n or 0
        listed = [(kind, f"{n:,}", f"{pages[kind]:,}") for kind, n in types.most_common()]
        yield TextTable.of("Documents by type", ("Type", "Documents", "Pages"), listed)


def _by_group(found: Sizes, by: str, title: str) -> TextTable:
    rows = [
        (group, f"{n:,}", percent(n / found.items)) for group, n in found.groups[by].most_common(MOST_GROUPS)
    ]  # fmt: skip
    return TextTable.of(f"Items by {by}", (title, "Items", "Share"), rows, words=[title])


def _by_category(found: Sizes) -> TextTable:
    """Categories, with a column a language where there are several."""
    languages = [name for name, _ in found.groups[LANGUAGES].most_common(12)]
    several = languages if len(languages) > 1 else []
    rows = [
        (
            category,
            *(f"{found.crossed[category, language]:,}" for language in several),
            f"{n:,}",
            percent(n / found.items),
        )
        for category, n in found.groups[CATEGORIES].most_common(MOST_GROUPS)
    ]
    columns = ("Category", *several, "Items", "Share")
    return TextTable.of("Items by category", columns, rows, words=["Category"])


def _words(found: Sizes) -> list[str]:
    if not found.items:
        return ["There are no items yet."]
    said = []
    if found.earlier:
        said.append(
            f"Counted are the items as the study sampled them; {found.earlier:,} of {found.items:,} "
            f"{'has' if found.earlier == 1 else 'have'} changed since, and the items of an export are those of now."
        )
    for by in (SYSTEMS, CATEGORIES):
        more = len(found.groups[by]) - MOST_GROUPS
        if more > 0:
            said.append(f"{count(more, 'more group')} by {by} {'is' if more == 1 else 'are'} not listed.")
    return said


def _limits(found: Sizes) -> Iterator[str]:
    if not found.items:
        yield "The dataset has no items yet."
        return
    lacking = len(found.documents) - sum(there for _, _, there in found.documents)
    if lacking:
        yield f"The bytes of {lacking:,} of {len(found.documents):,} documents are not supplied."
    if untold := found.groups[LANGUAGES][NOT_GIVEN]:
        yield f"The language of {untold:,} of {found.items:,} items is not given."
    if n := found.groups[CATEGORIES][NO_CATEGORY]:
        yield f"{n:,} of {found.items:,} items {'has' if n == 1 else 'have'} no category."
    for by in (SYSTEMS, LANGUAGES, CATEGORIES):
        counts = [(n, group) for group, n in found.named(by).items()]
        n, group = max(counts, default=(0, ""))
        if 0.5 * found.items < n < found.items:
            yield f"{percent(n / found.items)} of the items are of one {by}, {group}."
        few = sum(n < FEW for n, _ in counts)
        if len(counts) > 1 and few:
            yield f"{few:,} of {len(counts):,} groups by {by} {'has' if few == 1 else 'have'} fewer than {FEW} items."
    without = found.items - found.with_references
    if without and found.with_references:
        yield f"{without:,} of {found.items:,} items {'has' if without == 1 else 'have'} no reference answer."


FEW = 30
"""Items of a group below which the report says that it is small."""
