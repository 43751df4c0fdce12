"""`questionnaires.csv`: what annotators answered around a study's work, apart from their labels."""

from __future__ import annotations

from sqlmodel import Session

from db.models import Study
from db.people.pseudonyms import pseudonyms
from db.phases.answers import answers_in
from exports.bundles.columns import names_of
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("questionnaires")


def write_questionnaires(session: Session, study: Study, out: Out) -> int:
    """Write one row an answer, in the order in which they came; how many rows.

    People are called as in the table of labels, by pseudonyms always; who has submitted nothing is P1, P2 … in the
    order of the first answers.
    """
    assert study.id is not None
    table = CsvFile(out, COLUMNS)
    answers = answers_in(session, study)
    others = {person: f"P{n}" for n, person in enumerate(dict.fromkeys(row.person_id for row in answers), 1)}
    called = others | pseudonyms(session, study.id)
    rows = [
        (
            *(called[row.person_id], row.phase, row.question, safe(row.title), value_cell(row.value)),
            row.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        )
        for row in answers
    ]
    table.add(rows, len(rows))
    return len(rows)
