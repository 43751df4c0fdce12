"""What people said, as formats take it: a study with every annotator's labels, or final labels alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import orjson
from sqlmodel import Session, col

from annotators.items.pairs import BETWEEN
from annotators.items.targets import TargetKind
from db.elsewhere.handed_over import token_of
from db.engine import Database, Within
from db.items.documents import document_is_current
from db.items.rows import items_as_json, read_items
from db.judging.items import secret_of
from db.models import Document, Release, Study, StudyItem
from db.people.pseudonyms import pseudonyms, real_names
from db.permissions import Actor
from db.query import pick
from db.releasing.releases import FinalLabel, labelled_by, released_labels, released_pairs, released_versions
from db.releasing.what_holds import (
    asked_of,
    final_units,
    labels_that_hold,
    places_that_hold,
    scores_that_hold,
    units_that_hold,
)
from db.studies.design import protocol_of
from db.studies.items import items_of_study
from db.studies.settlements import SettledUnit
from exports.formats._writing import Coefficient, Given, Judged, PairOut, SettledOut, StudyOut, Unit

Blocks = Callable[[], Iterable[Sequence[int]]]
"""Blocks of the ids of item versions, each time from the beginning."""


class Seen(NamedTuple):
    """The database as an export sees it: through one session, on behalf of somebody."""

    db: Database
    actor: Actor
    session: Session

    def within(self) -> Database:
        """For operations that open the database themselves."""
        return Within(self.db, self.session)


def study_out(seen: Seen, study: Study, blocks: Blocks, *, names: bool) -> StudyOut:
    """A study with the items of these blocks of versions; annotators are pseudonymous unless `names`.

    Labels of earlier versions go along where they hold for the items as they are now; those that fell are counted.
    """
    return StudyOut(
        study.name,
        protocol_of(study),
        partial(_judged, seen.session, study, blocks, names=names),
        partial(agreement_of, seen, study),
        _Tokens(seen, study),
        partial(pairs_out, seen.session, study),
    )


def pairs_out(session: Session, study: Study) -> list[PairOut]:
    """The pairs of a study's sample, in its order; none where it is about items."""
    if not protocol_of(study).about_pairs:
        return []
    query = pick(StudyItem.id, StudyItem.other_left).where(col(StudyItem.study_id) == study.id)
    turned = dict(session.execute(query).all())
    found = []
    for name, of in sorted(items_of_study(session, study.id or 0).items(), key=lambda one: one[1]):
        first, between, second = name.partition(BETWEEN)
        if between:
            found.append(PairOut(first, second, turned[of]))
    return found


class _Tokens:
    """What items are called where people judge them: the same each time, and nothing that an id may say."""

    def __init__(self, seen: Seen, study: Study) -> None:
        self._seen, self._study = seen, study

    def __call__(self, item: str) -> str:
        return token_of(self._secret, f"out:{self._study.id}:{item}")

    @cached_property
    def _secret(self) -> bytes:
        return secret_of(self._seen.db, self._study.project_id)


def _judged(session: Session, study: Study, blocks: Blocks, *, names: bool) -> Iterator[Judged]:
    assert study.id is not None
    called = (real_names if names else pseudonyms)(session, study.id)
    protocol = protocol_of(study)
    pairs, pages = protocol.about_pairs, _pages_of_documents(session, study)
    for block in blocks():
        holding = places_that_hold(session, study, block, pairs=pairs)
        given: dict[str, list[Given]] = {}
        said, fell = labels_that_hold(session, study, holding)
        for label in said:
            time = label.time.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if label.time else None
            given.setdefault(label.item, []).append(
                Given(
                    called[label.person_id], label.criterion, label.target, label.value,
                    time, label.comment or None, label.other, label.seconds, label.rationale,
                )
            )  # fmt: skip
        units: dict[str, list[Unit]] = {}
        for unit in units_that_hold(session, study, holding):
            units.setdefault(unit.external_id, []).append(_unit(unit, study))
        scores = scores_that_hold(session, study, block, holding)
        for row in items_out(session, [block]):
            name = row.item["id"]
            yield row._replace(
                labels=given.get(name, ()),
                units=units.get(name, ()),
                pages=pages,
                fell=fell.get(name, 0),
                scores=scores.get(row.version, ()),
            )


def items_out(session: Session, blocks: Iterable[Sequence[int]]) -> Iterator[Judged]:
    """The items of these blocks of versions, and nothing that anybody said of them."""
    for block in blocks:
        items = items_as_json(session, block)
        for version_id in block:
            yield Judged(orjson.loads(orjson.dumps(items[version_id])), (), (), version_id)


def _unit(unit: SettledUnit, study: Study) -> Unit:
    other = unit.pair[0] if unit.pair else None
    return Unit(unit.criterion, unit.target, unit.value, unit.state, unit.votes, other, study.name)


def _pages_of_documents(session: Session, study: Study) -> dict[str, int] | None:
    """Key of a document → how many pages it has, where pages are judged in the study; else None."""
    if not any(criterion.target == TargetKind.PAGE for criterion in protocol_of(study).criteria):
        return None
    query = pick(Document.key, Document.n_pages).where(col(Document.project_id) == study.project_id)
    known = query.where(document_is_current(session), col(Document.n_pages).is_not(None))
    return dict(session.execute(known).all())


def agreement_of(seen: Seen, study: Study) -> list[Coefficient]:
    """The coefficient that stands for agreement on each criterion of a study, as the page of agreement has it."""
    from annotators.agreement.statistics.base import title_of  # noqa: PLC0415 - numpy: the server starts without
    from exports.agreement.study import agreement_report  # noqa: PLC0415 - as above

    assert study.id is not None
    report = agreement_report(seen.within(), seen.actor, study.id, named=False)
    found = []
    for criterion in report.criteria:
        headline = criterion.headline or criterion.statistics[0]
        found.append(
            Coefficient(
                criterion.criterion.name,
                title_of(headline.name),
                headline.value,
                headline.low,
                headline.high,
                headline.n_units,
                headline.n_raters,
                headline.reason,
                headline.method,
            )
        )
    return found


# Final labels ---------------------------------------------------------------------------------------------------------


def settled_out(session: Session, studies: Sequence[Study], blocks: Blocks) -> SettledOut:
    """The items of these blocks of versions with what is settled of them in these studies, the last of which counts."""

    def judged() -> Iterator[Judged]:
        for block in blocks():
            units, fallen = defaultdict[str, list[Unit]](list), defaultdict[str, list[Unit]](list)
            asked = asked_of(session, studies, block)
            for study in studies:
                found, gone = final_units(session, study, block, pairs=protocol_of(study).about_pairs)
                for there, some in ((units, found), (fallen, gone)):
                    for unit in some:
                        there[unit.external_id].append(_unit(unit, study))
            for row in items_out(session, [block]):
                name = row.item["id"]
                gone_of_item = fallen.get(name, ())
                yield row._replace(
                    units=units.get(name, ()), fell=len(gone_of_item), fallen=gone_of_item, asked=asked.get(name, ())
                )

    names = " and ".join(study.name for study in studies)
    return SettledOut(names, {study.name: protocol_of(study) for study in studies}, judged)


def released_out(session: Session, release: Release) -> SettledOut:
    """The items of a release with its final labels; where several studies label a unit, the latest counts."""
    assert release.id is not None
    of = release.id
    studies = [session.get_one(Study, study_id) for study_id in labelled_by(session, of)]

    def judged() -> Iterator[Judged]:
        for block in released_versions(session, of):
            labels, compared = released_labels(session, of, block), defaultdict[int, list[Unit]](list)
            pairs = released_pairs(session, of, block) if release.n_pairs else []
            others = read_items(session, list({pair.other_version_id for pair in pairs}), ())
            for pair in pairs:
                other = others[pair.other_version_id].content.id
                compared[pair.version_id] += [_released(label, other) for label in pair.labels]
            asked = asked_of(session, studies, block)
            for row in items_out(session, [block]):
                alone = [_released(label) for label in labels.get(row.version, ())]
                units = [*alone, *compared.get(row.version, ())]
                yield row._replace(units=units, asked=asked.get(row.item["id"], ()))

    return SettledOut(release.name, {study.name: protocol_of(study) for study in studies}, judged, release.sha256)


def _released(label: FinalLabel, other: str | None = None) -> Unit:
    return Unit(label.criterion, label.target, label.value, label.how, label.votes, other, label.study)
