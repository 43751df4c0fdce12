"""What tells the table of a study's labels from every earlier one, without reading the labels."""

from __future__ import annotations

import hashlib

from sqlmodel import Session

from annotators.version import program_version
from db.models import Study
from db.query import mark, plain_rows
from db.releasing.what_holds import revised_places

MADE = 4
"""Goes up when the same rows make another table."""

DEPENDS_ON = frozenset(
    ["study", "assignment", "submission", "label", "annotation", "set_aside", "withdrawal", "study_item",
     "item_version", "item", "question", "person", "batch", "unpublished_batch"]
)  # fmt: skip
"""The tables that labels are read from, all of them: a test looks. What `_STAMP` asks changes with each, but for later
versions of items, and what fell with them: of these it is what the table says itself (`revised_places`)."""

# Submissions, annotations, decisions to leave out and withdrawals are only ever added: where there are as many as
# before, they are the same, in whatever order PostgreSQL gave their ids and committed them. Labels come with their
# submission in one transaction, `set_aside` follows from the decisions and `surplus`; what is read of samples, items,
# questions, slots, people and batches beside that never changes once there is a label. Two operations do not add:
# redaction changes texts, and restoring a backup takes rows away, in place of which others may come; both leave an
# event. The newest submission's own id and time tell a database that was exchanged by hand, and a project that was
# deleted.
_STAMP = """
SELECT
  (SELECT version_num FROM alembic_version),
  n.submissions, n.newest, (SELECT uid FROM submission WHERE id = n.newest),
  (SELECT CAST(created_at AS TEXT) FROM submission WHERE id = n.newest),
  (SELECT count(*) FROM annotation WHERE study_id = {mark}),
  (SELECT count(*) FROM omission WHERE study_id = {mark}),
  (SELECT CAST(max(created_at) AS TEXT) FROM omission WHERE study_id = {mark}),
  (SELECT count(*) FROM surplus WHERE study_id = {mark}),
  (SELECT count(*) FROM withdrawal), (SELECT CAST(max(created_at) AS TEXT) FROM withdrawal),
  (SELECT count(*) FROM event WHERE thing = 'study' AND thing_id = {mark} AND kind = 'text redacted'),
  (SELECT count(*) FROM event WHERE thing = 'database' AND thing_id IS NULL AND kind = 'database restored'),
  (SELECT CAST(max(at) AS TEXT) FROM event
    WHERE thing = 'database' AND thing_id IS NULL AND kind = 'database restored')
FROM (
  SELECT count(*) AS submissions, max(s.id) AS newest
  FROM assignment a JOIN submission s ON s.assignment_id = a.id WHERE a.study_id = {mark}
) n"""


def labels_stamp(session: Session, study: Study) -> str:
    """64 hexadecimal digits that change whenever the table of the study's labels, under pseudonyms, does.

    It costs two steps down an index a submission, and two an item: a tenth of reading the labels. What changes nothing
    of them (decisions of adjudicators, imports, names, amendments) leaves it as it is.
    """
    rows = plain_rows(session, _STAMP.format(mark=mark(session.connection())), (study.id,) * 6)
    revised = sorted((place, sorted(criteria)) for place, criteria in revised_places(session, study).items())
    settled = (study.id, study.project_id, study.protocol_name, study.protocol_version, study.protocol_hash)
    said = (MADE, program_version(), settled, sorted(study.settings.items()), rows, revised)
    return hashlib.sha256(repr(said).encode()).hexdigest()
