"""Studies of labels that were made elsewhere: nobody is asked anything in them, so they have no slots."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import select

from annotators.errors import Conflict, NotFound
from annotators.protocols import Protocol
from db.engine import Database
from db.models import Study
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.studies import StudyDesign, StudyMade, _insert_study, candidates


@operation(On.PROJECT, RESEARCHERS)
def create_study_of_labels(
    db: Database, actor: Actor, project_id: int, *, name: str, protocol: Protocol, items: Sequence[str], overlap: int
) -> StudyMade:
    """Freeze a protocol and these items (external ids) into a study without slots, for an import of labels.

    `overlap` is how many annotations each item will have at least: an item is settled when it has them. Whoever the
    labels are by becomes an annotator of the study with the import. Raises Conflict for a name that is taken, NotFound
    for an item that the project lacks.
    """
    with db.write() as session:
        if session.exec(select(Study.id).where(Study.project_id == project_id, Study.name == name.strip())).first():
            raise Conflict(f"The project has a study named {name!r} already. Choose another name.")
        pool = {one.external_id: one for one in candidates(session, project_id)}
        missing = [item for item in items if item not in pool]
        if missing:
            raise NotFound(f"The project has no item {missing[0]!r}. Import it, or leave its labels out.")
        design = StudyDesign(name=name, annotators=(), overlap=0, order="given", settings={"foreign": True})
        ordered = [pool[item] for item in dict.fromkeys(items)]
        study = _insert_study(session, actor, project_id, protocol=protocol, design=design, ordered=ordered)
        study.overlap = overlap
        assert study.id is not None
        details = {"name": study.name, "protocol": protocol.name, "items": len(ordered), "overlap": overlap}
        record(session, actor, "study created", "study", study.id, project_id=project_id, details=details)
        return StudyMade(study.id, len(ordered), 0, study.protocol_hash, study.sample_hash)
