"""What annotators are called: no two alike, whoever is erased and whatever accounts are named."""

from __future__ import annotations

from annotators.items.parsed import ForeignLabel
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Person, PersonKind
from db.people.accounts import erase_person
from db.people.pseudonyms import pseudonyms, real_names, told_apart
from exports.agreement.study import agreement_report
from tests.makers import StudyInUse, make_person


def named_alike(db: Database) -> StudyInUse:
    """A study with labels by A2, ann and ben, in this order: A2 is A1 to whoever is told no names, and ann is A2."""
    study = StudyInUse(db, items=6, annotators=1, overlap=1)
    for who in ("A2", "ann", "ben"):
        rows = [ForeignLabel(n + 2, f"i{n:05}", who, "right", "item", "yes" if n % 2 else "no") for n in range(1, 7)]
        import_labels(db, study.researcher, study.study_id, rows=rows, source=f"{who}.csv")
    return study


def test_an_erased_person_is_told_from_who_has_their_pseudonym_as_a_name(database: Database) -> None:
    study = named_alike(database)
    with database.read() as session:
        called, names = pseudonyms(session, study.study_id), real_names(session, study.study_id)
    assert list(called.values()) == ["A1", "A2", "A3"]
    assert list(names.values()) == ["A2", "ann", "ben"]
    erase_person(database, make_person(database, admin=True), "ann")
    with database.read() as session:
        names = real_names(session, study.study_id)
    assert list(names.values()) == ["A2", "A2 (erased)", "ben"]
    report = agreement_report(database, study.researcher, study.study_id, resamples=0, named=True)
    assert set(report.raters) == {"A2", "A2 (erased)", "ben"}
    of_two = {found.raters for found in report.criteria[0].statistics if found.name == "cohen_kappa"}
    assert len(of_two) == 3


def test_a_model_that_is_named_like_a_pseudonym_keeps_its_own(database: Database) -> None:
    study = named_alike(database)
    with database.write() as session:
        first = next(iter(pseudonyms(session, study.study_id)))
        session.get_one(Person, first).kind = PersonKind.MODEL  # called A2, as ann is called A1 then, and ben A2
    with database.read() as session:
        assert list(real_names(session, study.study_id, people=False).values()) == ["M1", "A1", "A2"]


def test_nobody_is_called_as_somebody_else_is_whatever_accounts_are_named() -> None:
    called = {1: "A1", 2: "A2", 3: "A3", 4: "A4"}
    named = {1: "A3", 2: "A3 (erased)"}
    assert told_apart(called, named) == {1: "A3", 2: "A3 (erased)", 3: "A3 (erased) (erased)", 4: "A4"}
