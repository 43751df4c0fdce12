"""An export: one folder with items, labels and final labels of one moment, and a manifest that says of which."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, or_, true
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.errors import NotFound
from annotators.files import under_way
from annotators.items.item import ItemContent
from annotators.items.normal import Normal
from annotators.items.sampling import BY_SCORE
from annotators.version import program_version
from db.annotating.amendments import amendments_by_study
from db.engine import Database
from db.items.as_of import marks
from db.items.current import item_is_current, version_is_latest
from db.items.documents import document_is_current, kept_documents
from db.items.read import BLOCK, current_versions
from db.models import (
    Document,
    Evidence,
    Image,
    Item,
    ItemDocument,
    ItemVersion,
    Project,
    Purpose,
    Release,
    ReleaseItem,
    Study,
    StudyItem,
)
from db.names import no_study
from db.people.pseudonyms import pseudonyms, real_names
from db.permissions import RESEARCHERS, Actor, On, operation
from db.quality.omissions import omissions_by_study
from db.query import pick
from db.releasing.releases import find_release, labelled_by, released_versions
from db.releasing.what_holds import labelled_earlier
from db.schema import current_revision
from db.scores.labels import labels_taken
from db.studies.design import protocol_of
from db.upkeep.export_log import log_export
from exports.bundles.adjudicated_table import write_adjudicated, write_released
from exports.bundles.contents import (
    FINAL,
    OF_LABELS,
    REPORT,
    LabelsOut,
    check_export_formats,
    check_labels_of,
    check_pictures,
    check_release_formats,
    final_labels_out,
    labels_of_study,
    losses,
    measured_losses,
    writers,
)
from exports.bundles.derived_table import write_derived
from exports.bundles.known_table import write_known
from exports.bundles.labels.table import write_labels
from exports.bundles.log_tables import revised_versions, write_events, write_revisions, write_versions
from exports.bundles.manifest import (
    ITEMS_LABELLED_EARLIER,
    ITEMS_REVISED,
    ITEMS_SUPERSEDED,
    NAME,
    REACHED,
    Manifest,
    study_snapshot,
)
from exports.bundles.questionnaire_table import write_questionnaires
from exports.bundles.sampling_table import write_sampling
from exports.bundles.score_table import write_scores
from exports.bundles.study_out import Seen, items_out, released_out, settled_out, study_out
from exports.bundles.typed import Tables, check_typed, first_difference
from exports.checks import check_export_folder
from exports.formats._losing import WORDS, Lost
from exports.formats._lost_labels import FINAL_WORDS
from exports.formats._pictures import PagePictures
from exports.formats._writing import (
    ChoosingWriter,
    Files,
    FinalLabels,
    Judged,
    LabelledWriter,
    SettledOut,
    SettledWriter,
    StudyOut,
    StudyWriter,
    VerdictWriter,
    Writer,
    check_options,
    takes_pairs,
    takes_pictures,
)
from exports.formats.native import ITEMS, copy_documents, write_documents, write_items
from exports.garbage import seldom_collected
from exports.sinks import FolderSink, Out, Sink, whole_folder

POSTERIOR = "posterior"
"""The option by which final labels have their posterior beside them."""

DEFAULT_FORMATS = ("native", "labels", "adjudicated")


@dataclass(frozen=True)
class Selection:
    """What is exported: a project, or one study of it; in which formats; with names of people or without.

    `data_folder` is the folder of documents' bytes; None leaves the bytes out. With a release (its id and name): the
    item versions and final labels that are in it. `typed`: the types that tables are written in besides CSV
    (`exports.bundles.typed`), with a data dictionary. `labels_of`: the studies whose final labels go into formats that
    have a place for them. `options`: what is said of the data as a whole, such as its `licence`. `with_report`: whether
    the report is measured, where it is among the formats; `typed_report`: whether its numbers come in the types too;
    `moved`: whether that is at a later moment than the export.
    `pictures`: whether pages go along as pictures, in formats with a place for them, drawn from the bytes of documents.
    `kept` are the keys of documents whose bytes and pictures stay out of every format but `native`, which is a copy for
    another home (None: of those that must not leave this machine now). `native` says of them that they stay, unless
    `says_kept` is off: exports that were made before it did so have nothing of it. `says_fell` is the same of labels,
    which say whether they fell when their item was revised; `says_how` of the counts of final labels, which say how
    each was reached; `says_added` of labels that were asked for as people disagreed; `says_versions` of final labels
    that fell, and of the table of versions.
    """

    project_id: int
    study_id: int | None
    formats: tuple[str, ...]
    names: bool
    data_folder: Path | None
    release: tuple[int, str] | None = None
    typed: tuple[str, ...] = ()
    labels_of: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    with_report: bool = True
    typed_report: bool = True
    moved: bool = False
    pictures: bool = False
    kept: tuple[str, ...] | None = None
    says_kept: bool = True
    says_fell: bool = True
    says_added: bool = True
    says_how: bool = True
    says_versions: bool = True

    @property
    def formats_of_items(self) -> bool:
        """Whether files of items are among it, and not tables alone."""
        return "native" in self.formats or any(name in self.formats for name in writers())


@operation(On.PROJECT, RESEARCHERS)
def export_project(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    to: Path,
    study_id: int | None = None,
    formats: Sequence[str] = DEFAULT_FORMATS,
    names: bool = False,
    data_folder: Path | None = None,
    release: str | None = None,
    typed: Sequence[str] = (),
    labels_of: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    pictures: bool = False,
    dry_run: bool = False,
) -> Manifest:
    """Write an export into the folder `to`, which is made, and return its manifest.

    With a study: its items in their current version, its labels and final labels. Without: all items of the project,
    and the tables of each study in a folder `studies/NAME`. With the name of a release: what is in it, which has no
    labels of single annotators. `typed`: parquet, xlsx, or both, for each table beside its CSV. `labels_of`: names of
    studies whose final labels the items have in formats with a place for them, in place of those of the study; what
    came with the items is not mixed with verdicts of theirs. Everything is read in one transaction. Raises Conflict
    when `to` is there and not empty, NotFound for a study of another project or a release that is not there,
    InvalidInput for an unknown format and for studies whose labels no format has a place for. With `pictures` the pages
    that items point at go along as pictures, where a format has a place for them; those of documents that must not
    leave this machine stay out, as do the bytes of these in such a format. With `dry_run` everything is made, so that
    counts and sizes are right, and thrown away: `to` is not, and the event log says nothing; `Manifest.lost` has then
    how much each format of items does not carry. The log has an export before its folder has its name: who is killed
    between leaves an entry of an export that is not there, never an export of which nobody knows.
    """
    chosen, types = check_export_formats(formats), check_typed(typed)
    of = check_labels_of(chosen, labels_of, release)
    said = dict(options or {})
    check_options([writer for name, writer in writers().items() if name in chosen], said)
    if pictures:
        check_pictures(chosen, data_folder)
    found = None
    if release is not None:
        check_release_formats(chosen, study_id)
        row = find_release(db, actor, project_id, name=release)
        found = row.release_id, row.name
    selection = Selection(project_id, study_id, chosen, names, data_folder, found, types, of, said, pictures=pictures)
    check_export_folder(to)
    if dry_run:
        with under_way() as folder:
            return _made(db, actor, selection, folder, losing=True)
    with whole_folder(to) as made:
        manifest = _made(db, actor, selection, made)
        log_export(
            db,
            actor,
            project_id,
            study_id=study_id,
            manifest_sha256=hashlib.sha256(manifest.encoded()).hexdigest(),
            details={"formats": list(selection.formats), "names": names, "event": manifest.event},
        )
    return manifest


def _made(db: Database, actor: Actor, selection: Selection, folder: Path, *, losing: bool = False) -> Manifest:
    sink = FolderSink(folder)
    with seldom_collected(), db.read() as session:
        left_out: dict[str, set[str]] = {}
        manifest = derive(db, actor, session, selection, sink, left_out=left_out)
        if losing:
            for name, ids in left_out.items():
                said = _labels_written(Seen(db, actor, session), selection, writers()[name], manifest.counts)
                items = (row.item for row in _items_of(session, selection))
                manifest.lost[name] = measured_losses(name, folder / name, items, ids, said)
                if gone := manifest.counts.get(f"{name}{_VERDICTS_LEFT_OUT}"):
                    there = gone + manifest.counts[f"{name}{_VERDICTS}"]
                    manifest.lost[name].append(Lost("labels.verdicts", WORDS["labels.verdicts"], gone, there))
                written = manifest.counts.get(f"{name}{_VERDICTS}")
                if written is not None and (fell := manifest.counts.get(_fell_of(writers()[name], final=True))):
                    there = fell + (gone or 0) + written
                    manifest.lost[name].append(Lost("labels.fell", FINAL_WORDS["labels.fell"], fell, there))
    (folder / NAME).write_bytes(manifest.encoded())
    return manifest


def derive(
    db: Database,
    actor: Actor,
    session: Session,
    selection: Selection,
    sink: Sink,
    *,
    tables: Tables | None = None,
    left_out: dict[str, set[str]] | None = None,
) -> Manifest:
    """Everything a selection is, as this session sees the database, put into `sink`; the manifest of it.

    Tables go into `tables`, where it is given; into `left_out` for each format of items the ids that it cannot hold.
    """
    project = session.get(Project, selection.project_id)
    if project is None:
        raise NotFound(f"There is no project {selection.project_id}.")
    studies = _studies(session, selection)
    selection = _knowing_what_stays(session, selection)
    past = marks(session)
    ids = [study.id or 0 for study in studies]
    amendments, omissions = amendments_by_study(session, ids), omissions_by_study(session, ids)
    called = {of: (real_names if selection.names else pseudonyms)(session, of) for of in ids if omissions[of]}
    manifest = Manifest(
        assay=program_version(),
        schema=current_revision(db) or "",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        event=past["event"]["last"],
        marks=past,
        project={"id": project.id, "name": project.name},
        filters={
            "study": studies[0].name if selection.study_id is not None else None,
            "formats": list(selection.formats),
            "names": selection.names,
            "documents": selection.data_folder is not None,
            **({"release": selection.release[1]} if selection.release is not None else {}),
            **({"typed": list(selection.typed)} if selection.typed else {}),
            **({"labels_of": list(selection.labels_of)} if selection.labels_of else {}),
            **({"options": dict(selection.options)} if selection.options else {}),
            **({"pictures": True} if selection.pictures else {}),
            **({"kept": list(selection.kept)} if selection.kept else {}),
            **({"says_kept": True} if selection.kept and selection.says_kept else {}),
            **({"says_fell": True} if "labels" in selection.formats and selection.says_fell else {}),
            **({"says_added": True} if "labels" in selection.formats and selection.says_added else {}),
            **({"says_how": True} if FINAL in selection.formats and selection.says_how else {}),
            **({"says_versions": True} if selection.says_versions else {}),
        },
        studies=[
            study_snapshot(study, amendments[of], omissions[of], called.get(of, {}))
            for of, study in zip(ids, studies, strict=True)
        ],
        losses=losses(selection.formats),
    )
    counts = manifest.counts
    if "native" in selection.formats:
        _write_native(session, selection, sink, counts)
    tables = tables or Tables(sink, selection.typed, counts)
    left_out = {} if left_out is None else left_out
    for name, writer in writers().items():
        if name in selection.formats:
            left_out[name] = _write_format(session, selection, writer, tables, Seen(db, actor, session))
    if selection.says_versions:
        _write_versions(session, selection, studies, tables)
    _write_labels(Seen(db, actor, session), studies, selection, tables)
    if "scores" in selection.formats:
        tables.write("scores", lambda out: write_scores(session, _frozen_blocks(session, selection), out))
    for name, write in (("revisions", write_revisions), ("events", write_events)):
        if name in selection.formats:
            tables.write(name, partial(write, session, selection.project_id, names=selection.names))
    _write_report(Seen(db, actor, session), selection, tables)
    tables.end()
    manifest.files = sorted((file.to_json() for file in sink.files), key=lambda file: str(file["path"]))
    return manifest


def _write_labels(seen: Seen, studies: Sequence[Study], selection: Selection, tables: Tables) -> None:
    """What was said: the final labels of a release, or the tables of each study."""
    if selection.release is not None:
        if FINAL in selection.formats:
            _write_final(tables, selection, partial(write_released, seen.session, selection.release[0]))
        return
    folders = _folders(studies) if selection.study_id is None else {studies[0].id: ""}
    for study in studies:
        for name in selection.formats:
            if name == FINAL:
                _write_final(tables, selection, partial(_adjudicated, seen, study, selection), folders[study.id])
            elif name in _TABLES:
                tables.write(name, partial(_TABLES[name], seen, study, selection), folders[study.id])
        if "labels" in selection.formats and study.item_order == BY_SCORE:
            tables.write("sampling", partial(write_sampling, seen.session, study), folders[study.id])


def _labels(seen: Seen, study: Study, selection: Selection, out: Out) -> int:
    says = {"says_fell": selection.says_fell, "says_added": selection.says_added}
    return write_labels(seen.session, study, out, names=selection.names, **says)


def _write_final(
    tables: Tables, selection: Selection, write: Callable[[Out, Counter[str]], int], folder: str = ""
) -> None:
    """A table of final labels, counted by how each was reached: most were never before an adjudicator."""
    reached = Counter[str]()
    tables.write(FINAL, lambda out: write(out, reached), folder, counted=not selection.says_how)
    for how, name in REACHED.items() if selection.says_how else ():
        tables.count(name, reached[how])


def _adjudicated(seen: Seen, study: Study, selection: Selection, out: Out, reached: Counter[str]) -> int:
    found = None
    if selection.options.get(POSTERIOR):
        from exports.bundles.statistics_tables import posteriors  # noqa: PLC0415 - loads numpy

        found = posteriors(seen, study)
    return write_adjudicated(seen.session, study, out, reached, found, says_fell=selection.says_versions)


def _agreement(seen: Seen, study: Study, selection: Selection, out: Out) -> int:
    from exports.bundles.statistics_tables import write_agreement  # noqa: PLC0415 - loads numpy

    return write_agreement(seen, study, out, names=selection.names)


def _alignment(seen: Seen, study: Study, selection: Selection, out: Out) -> int:
    from exports.bundles.statistics_tables import write_alignment  # noqa: PLC0415 - loads numpy

    return write_alignment(seen, study, out, names=selection.names)


_TABLES: dict[str, Callable[[Seen, Study, Selection, Out], int]] = {
    "labels": _labels,
    "derived": lambda seen, study, selection, out: write_derived(seen.session, study, out, names=selection.names),
    "questionnaires": lambda seen, study, _, out: write_questionnaires(seen.session, study, out),
    "known": lambda seen, study, _, out: write_known(seen.session, study, out),
    "agreement": _agreement,
    "alignment": _alignment,
}
"""Tables that every study has one of, beside that of its final labels."""


def _studies(session: Session, selection: Selection) -> list[Study]:
    query = pick(Study).where(col(Study.project_id) == selection.project_id).order_by(col(Study.id))
    if selection.release is not None:
        query = query.where(col(Study.id).in_(labelled_by(session, selection.release[0])))
    if selection.study_id is not None:
        query = query.where(col(Study.id) == selection.study_id)
    studies = list(session.execute(query).scalars())
    if selection.study_id is not None and not studies:
        raise NotFound(f"The project has no study {selection.study_id}.")
    return studies


def _folders(studies: Sequence[Study]) -> dict[int | None, str]:
    """Study id → the folder of its tables: its name where that is a plain file name, made different where it is not."""
    folders: dict[int | None, str] = {}
    taken: set[str] = set()
    for study in studies:
        plain = re.sub(r"[^\w.() -]", "_", study.name).strip(". ")[:80] or "study"
        name = plain if plain.casefold() not in taken else f"{plain}-{study.id}"
        taken.add(name.casefold())
        folders[study.id] = f"studies/{name}/"
    return folders


def _write_report(seen: Seen, selection: Selection, tables: Tables) -> None:
    """The report of the dataset, where it is asked for."""
    if REPORT in selection.formats and selection.with_report:
        from exports.dataset.exported import write_exported  # noqa: PLC0415 - most exports measure nothing

        project_id, study_id = selection.project_id, selection.study_id
        write_exported(
            seen.within(), seen.actor, project_id, study_id, tables.sink,
            moved=selection.moved, put=partial(tables.put, typed=selection.typed_report),
        )  # fmt: skip


# Versions -------------------------------------------------------------------------------------------------------------


def _write_versions(session: Session, selection: Selection, studies: Sequence[Study], tables: Tables) -> None:
    """Which version each item that was revised is in, and of how many the labels were given for an earlier one.

    An export in which no item was revised says nothing: all of its items are in version 1.
    """
    revised = revised_versions(session, selection.project_id)
    if not revised:
        return
    counts: dict[str, int] = {}
    if selection.formats_of_items:
        blocks = _version_blocks(session, selection)
        there = [revised[version] for block in blocks for version in block if version in revised]
        if there:
            tables.write("versions", partial(write_versions, there), counted=False)
        counts[ITEMS_REVISED] = sum(item.version > 1 for item in there)
        counts[ITEMS_SUPERSEDED] = sum(item.version < item.latest for item in there)
    if selection.release is None and set(selection.formats) & OF_LABELS:
        counts[ITEMS_LABELLED_EARLIER] = len(labelled_earlier(session, [study.id or 0 for study in studies]))
    for name, n in counts.items():
        if n:
            tables.count(name, n)


# Items and documents --------------------------------------------------------------------------------------------------


def _write_native(session: Session, selection: Selection, sink: Sink, counts: dict[str, int]) -> None:
    with sink.open(f"native/{ITEMS}") as out:
        counts["items"] = out.rows = write_items(session, _version_blocks(session, selection), out.write)
    documents = _documents(session, selection)
    kept = frozenset(selection.kept or ()) if selection.says_kept else frozenset()
    counts["documents"], counts["documents_with_bytes"] = write_documents(
        documents, sink, "native", selection.data_folder, kept
    )


def _write_format(session: Session, selection: Selection, writer: Writer, tables: Tables, seen: Seen) -> set[str]:
    """The items that a format can hold, and the documents whose key can be the name of a file beside them.

    What comes back are the ids of items that it cannot hold.
    Of a study the items have its labels or its final labels, whichever the format has a place for; of a release its
    final labels; else those of the studies that are named.
    """
    of = _labels_of(session, selection)
    verdicts = _Verdicts(session, writer, of) if selection.labels_of and isinstance(writer, VerdictWriter) else None
    settled = _settled_of(session, selection, writer)
    fell = _Fell(writer, settled)
    judged = partial(_items_of, session, selection) if settled is None else settled.judged

    def items() -> Iterator[Normal]:
        for row in fell.counted(judged)():
            item = row.item
            if settled is not None and isinstance(writer, LabelledWriter):
                item = writer.with_labels(item, row.final)
            if verdicts is not None and isinstance(writer, VerdictWriter):
                item = writer.with_verdicts(item, verdicts(row.version))
            yield item

    def opened(name: str) -> AbstractContextManager[Out]:
        path = f"{writer.name}/{name}"
        return tables.items(path) if name.endswith(".csv") else tables.sink.open(path)

    def put(name: str, made: Path, rows: int) -> None:
        tables.sink.put(f"{writer.name}/{name}", made, rows, first_difference)

    study = _study_of(seen, selection, writer)
    kept = frozenset(selection.kept or ())
    with _pictures(session, selection, writer, kept) as drawn, Files(opened, put, selection.options, drawn) as files:
        if study is not None and isinstance(writer, StudyWriter):
            written = writer.write_study(replace(study, judged=fell.counted(study.judged)), files)
        elif settled is not None and isinstance(writer, SettledWriter):
            written = writer.write_settled(replace(settled, judged=fell.counted(settled.judged)), files)
        else:
            written = writer.write(items, files)
    tables.count(writer.name, written.items)
    if written.left_out:
        tables.count(f"{writer.name}_left_out", written.left_out)
    fallen = fell.n + (verdicts.fell() if verdicts is not None else 0)
    if fallen:
        tables.count(_fell_of(writer, final=study is None), fallen)
    if verdicts is not None:
        tables.count(f"{writer.name}{_VERDICTS}", files.verdicts)
        if gone := verdicts.settled - files.verdicts:
            tables.count(f"{writer.name}{_VERDICTS_LEFT_OUT}", gone)
    if drawn is not None:
        tables.count(f"{writer.name}_pictures", drawn.drawn)
        tables.count(f"{writer.name}_pages_without_picture", len(drawn.missing))
    if selection.data_folder is not None:
        if stay := sum(document.key in kept for document in _documents(session, selection) if document.sha256):
            tables.count(f"{writer.name}_documents_kept_here", stay)
        supplied = (document for document in _documents(session, selection) if document.key not in kept)
        copy_documents(supplied, tables.sink, writer.name, selection.data_folder)
    return files.left_out


_VERDICTS, _VERDICTS_LEFT_OUT = "_verdicts", "_verdicts_left_out"
"""What the manifest calls verdicts of studies that a format has, and those that it has not, behind its name."""

COUNTED_LATER = (_VERDICTS, _VERDICTS_LEFT_OUT, "ragchecker_final_labels_fell")
"""How counts end that manifests of earlier versions do not have."""


def _fell_of(writer: Writer, *, final: bool) -> str:
    """How the manifest calls the labels, or the final labels, that fell and that a format would have had."""
    return f"{writer.name}_{'final_labels' if final else 'labels'}_fell"


class _Fell:
    """Counts the labels that a format would have but for revisions with which they fell, while the items pass by."""

    def __init__(self, writer: Writer, settled: SettledOut | None) -> None:
        self._writer, self._settled = writer, settled
        self.n = 0

    def counted(self, judged: Callable[[], Iterator[Judged]]) -> Callable[[], Iterator[Judged]]:
        """The same items, however often they are asked for."""

        def again() -> Iterator[Judged]:
            self.n = 0
            for row in judged():
                self.n += self._of(row)
                yield row

        return again

    def _of(self, row: Judged) -> int:
        if isinstance(self._writer, ChoosingWriter) and self._settled is not None:
            return sum(self._writer.takes(unit, self._settled.protocols[unit.study]) for unit in row.fallen)
        if isinstance(self._writer, SettledWriter) or not (row.fallen and isinstance(self._writer, LabelledWriter)):
            return row.fell
        none = self._writer.with_labels(row.item, FinalLabels({}, row.asked))
        alone = [
            FinalLabels({(unit.criterion, unit.target): unit.label}, row.asked)
            for unit in row.fallen
            if unit.other is None
        ]
        return sum(self._writer.with_labels(row.item, label) != none for label in alone)


def _labels_written(seen: Seen, selection: Selection, writer: Writer, counts: Mapping[str, int]) -> LabelsOut | None:
    """The labels that a format with a place for some was given to write; None where it was given none."""
    study, settled = _study_of(seen, selection, writer), _settled_of(seen.session, selection, writer)
    fell = counts.get(_fell_of(writer, final=study is None), 0)
    if study is not None:
        return labels_of_study(study)._replace(fell=fell)
    return final_labels_out(settled)._replace(fell=fell) if settled is not None else None


def _study_of(seen: Seen, selection: Selection, writer: Writer) -> StudyOut | None:
    """The study whose every label a writer has a place for; None where there is none, or several."""
    of = _labels_of(seen.session, selection)
    if len(of) != 1 or selection.release is not None or not isinstance(writer, StudyWriter):
        return None
    if protocol_of(of[0]).about_pairs and not takes_pairs(writer):
        return None
    blocks = partial(_version_blocks, seen.session, selection)
    return study_out(seen, of[0], blocks, names=selection.names)


def _settled_of(session: Session, selection: Selection, writer: Writer) -> SettledOut | None:
    """The final labels that a writer has a place for; None where there are no studies that they could be of."""
    if not isinstance(writer, LabelledWriter | SettledWriter):
        return None
    if selection.release is not None:
        return released_out(session, session.get_one(Release, selection.release[0]))
    of = _labels_of(session, selection)
    return settled_out(session, of, partial(_version_blocks, session, selection)) if of else None


def _knowing_what_stays(session: Session, selection: Selection) -> Selection:
    """A selection that says which documents do not leave this machine, where their bytes or that go along."""
    if selection.kept is not None or (selection.data_folder is None and "native" not in selection.formats):
        return selection
    return replace(selection, kept=tuple(kept_documents(session, selection.project_id)))


@contextmanager
def _pictures(
    session: Session, selection: Selection, writer: Writer, kept: Collection[str]
) -> Iterator[PagePictures | None]:
    """What draws the pages of the documents that are supplied and not kept here, for a writer with a place for them."""
    if not selection.pictures or not takes_pictures(writer) or selection.data_folder is None:
        yield None
        return
    from db.items.documents import document_file  # noqa: PLC0415

    folder = selection.data_folder
    found = {
        document.key: document_file(folder, document.sha256)
        for document in _documents(session, selection)
        if document.sha256 and document.key not in kept
    }
    with PagePictures({key: path for key, path in found.items() if path.is_file()}) as drawn:
        yield drawn


def _items_of(session: Session, selection: Selection) -> Iterator[Judged]:
    """The items of a selection, without labels."""
    return items_out(session, _version_blocks(session, selection))


def _labels_of(session: Session, selection: Selection) -> list[Study]:
    """The studies whose final labels the items have: those that are named, else the one that is exported."""
    query = pick(Study).where(col(Study.project_id) == selection.project_id)
    if not selection.labels_of:
        return list(session.execute(query.where(col(Study.id) == selection.study_id)).scalars())
    studies = {study.name: study for study in session.execute(query).scalars()}
    for name in selection.labels_of:
        if name not in studies:
            raise no_study(name, list(studies))
    return [studies[name] for name in selection.labels_of]


class _Verdicts:
    """What is settled of the claims of item versions in these studies, as verdicts, and how many labels that were."""

    def __init__(self, session: Session, writer: VerdictWriter, studies: Sequence[Study]) -> None:
        from annotators.scorers.base import SCORERS  # noqa: PLC0415 - most exports need no scorer

        self._session = session
        self._taken, _ = labels_taken(session, SCORERS.get(writer.scorer), studies, ("adjudicated",))
        self._settled: dict[int, int] = {}

    def __call__(self, version_id: int) -> Sequence[Mapping[str, Any]]:
        labels = self._taken.by_version.get(version_id, ())
        self._settled[version_id] = sum(label.value is not None for label in labels)
        found = self._taken.use.put(ItemContent("", "", ""), labels)
        return () if isinstance(found, str) else found.metadata["verdicts"]

    @property
    def settled(self) -> int:
        """The settled labels of all versions that were asked for."""
        return sum(self._settled.values())

    def fell(self) -> int:
        """The settled labels of earlier versions of the items that were asked for: a scorer takes none of them."""
        n = 0
        others = [version for version in self._taken.by_version if version not in self._settled]
        items = set(self._items(self._settled).values())
        for version, item_id in self._items(others).items():
            labels = self._taken.by_version[version] if item_id in items else ()
            n += sum(label.value is not None for label in labels)
        return n

    def _items(self, versions: Iterable[int]) -> dict[int, int]:
        """Version → its item."""
        found, left = dict[int, int](), iter(versions)
        while block := list(islice(left, BLOCK)):
            query = pick(ItemVersion.id, ItemVersion.item_id).where(col(ItemVersion.id).in_(block))
            found |= dict(self._session.execute(query).all())
        return found


def _version_blocks(session: Session, selection: Selection) -> Iterator[list[int]]:
    """Ids of item versions: current ones of the project, or of a study in the order of its sample, or a release's."""
    if selection.release is not None:
        yield from released_versions(session, selection.release[0])
        return
    if selection.study_id is None:
        versions = current_versions(session, selection.project_id)
        while block := [version.version_id for version in islice(versions, BLOCK)]:
            yield block
        return
    if protocol_of(session.get_one(Study, selection.study_id)).about_pairs:
        yield from _once_each(session, _sampled(selection.study_id))
        return
    position = -1
    query = _sampled(selection.study_id).add_columns(col(StudyItem.position)).order_by(col(StudyItem.position))
    while rows := session.execute(query.where(col(StudyItem.position) > position).limit(BLOCK)).all():
        yield [version_id for version_id, _ in rows]
        position = rows[-1][1]


def _frozen_blocks(session: Session, selection: Selection) -> Iterator[list[int]]:
    """Ids of the item versions that a study was frozen on; of a project or a release, those that are written."""
    if selection.study_id is None:
        yield from _version_blocks(session, selection)
        return
    study = session.get_one(Study, selection.study_id)
    if protocol_of(study).about_pairs:
        either = col(ItemVersion.id).in_((col(StudyItem.item_version_id), col(StudyItem.other_version_id)))
        of_study = (col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == Purpose.SAMPLE)
        yield from _once_each(
            session, pick(ItemVersion.id).select_from(StudyItem).join(ItemVersion, either).where(*of_study)
        )
        return
    query = pick(StudyItem.item_version_id).where(
        col(StudyItem.study_id) == selection.study_id, col(StudyItem.purpose) == Purpose.SAMPLE
    )
    for start in range(0, study.n_items, BLOCK):
        within = col(StudyItem.position).between(start, start + BLOCK - 1)
        yield list(session.execute(query.where(within)).scalars())


def _once_each(session: Session, versions: Select[Any]) -> Iterator[list[int]]:
    """Ids of item versions that stand in pairs, each once, in the order in which they come first."""
    first = versions.group_by(col(ItemVersion.id)).order_by(func.min(col(StudyItem.position)), col(ItemVersion.id))
    ids = session.execute(first).scalars().all()
    for start in range(0, len(ids), BLOCK):
        yield list(ids[start : start + BLOCK])


def _sampled(study_id: int) -> Select[Any]:
    """A query for the ids of the current versions of a study's items."""
    frozen = aliased(ItemVersion)
    return (
        pick(ItemVersion.id)
        .select_from(StudyItem)
        .join(frozen, col(frozen.id).in_((col(StudyItem.item_version_id), col(StudyItem.other_version_id))))
        .join(Item, col(Item.id) == frozen.item_id)
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .where(
            col(StudyItem.study_id) == study_id,
            col(StudyItem.purpose) == Purpose.SAMPLE,
            item_is_current(),
            version_is_latest(),
        )
    )


def _documents(session: Session, selection: Selection) -> Iterator[Document]:
    """The documents by key: all of a project, or those that the items of a study or a release point at."""
    query = pick(Document).where(col(Document.project_id) == selection.project_id).order_by(col(Document.key))
    versions: Select[Any] | None = None
    if selection.release is not None:
        versions = pick(ReleaseItem.item_version_id).where(col(ReleaseItem.release_id) == selection.release[0])
    elif selection.study_id is not None:
        versions = _sampled(selection.study_id)
    if versions is None:
        query = query.where(document_is_current(session))
    else:
        cited = [
            pick(table.document_id).where(col(table.item_version_id).in_(versions))
            for table in (ItemDocument, Evidence, Image)
        ]
        query = query.where(or_(*(col(Document.id).in_(ids) for ids in cited)))
    after = None
    while rows := list(
        session.execute(query.where(col(Document.key) > after if after else true()).limit(BLOCK)).scalars()
    ):
        yield from rows
        after = rows[-1].key
        for row in rows:
            session.expunge(row)
