"""A home folder opened from Python: its projects and studies, read as frames, measured, and written by operations.

Nothing here computes or stores by itself: every method calls the operation or the report that the page and the command
call, with the same checks, permissions and events.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import Connection

from annotators.alignment import equivalences
from annotators.designing.files import design_of
from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, NotFound
from annotators.figures import count
from annotators.intervals.bootstrap import Resampling
from annotators.later import Later
from annotators.protocols import Protocol
from db.adjudicating.listed import listed_disputes
from db.designing.making import create_study as make_study
from db.engine import Database
from db.faults import DatabaseDamaged, check_for_loss
from db.people.accounts import acting
from db.permissions import Actor
from db.projects import find_project, my_projects
from db.revisions import head_revision
from db.schema import NewerDatabase, out_of_date, usable_revision
from db.studies.design import find_study, list_studies
from db.studies.library import named_protocol
from db.upkeep.copies import restore_advice
from exports.agreement.report import Report
from exports.agreement.study import agreement_report
from exports.alignment.report import AlignmentDocument
from exports.alignment.study import Labels, alignment_report
from exports.bundles.labels.kept import KeptTables, frames_folder
from exports.checks import place_at
from exports.dataset.document import DatasetReport, dataset_report
from exports.estimates.report import estimate_report
from exports.importing.decisions import import_decisions
from exports.importing.items import import_paths
from exports.notebook.frames import ITEMS, as_file, frame_of, labels_frame
from exports.notebook.given import checked, in_python, plain, several
from exports.notebook.measured import Measured
from exports.notebook.tables import rows_of
from exports.results.document import Results

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Later("pandas")

READ_ONLY = "This home was opened for reading. Open it with open_home(…, write=True) to change something."


class _ReadOnly(Database):
    """A database that is only read: what writes is refused before it begins."""

    only_read = True

    def write(self, on: Connection | None = None, *, synced: bool = True) -> NoReturn:
        """Refuse; NotAllowed says how to write."""
        raise NotAllowed(READ_ONLY)


@checked
def open_home(
    place: str | Path, *, write: bool = False, as_: str | None = None, keep: str | Path | None = None
) -> Home:  # fmt: skip
    """Open a home folder, or a database by its address (`postgresql://…`), for reading; with `write` for writing.

    Frames of labels are kept in the home folder (`data/frames`), or of a database by its address in the folder `keep`,
    and nowhere without one: they hold words that annotators wrote.

    What is done is done as the first administrator, or as the account `as_`, with that person's permissions. Raises
    NotFound where there is no database or no such account, Conflict for a database of another version of the program
    or of another program.

    >>> open_home(home)
    Home('...'): 1 project, for reading
    >>> open_home("/nowhere")
    Traceback (most recent call last):
    annotators.errors.NotFound: There is no Assay database in /nowhere. ...
    """
    address = str(place)
    folder = None if "://" in address else place_at(address)
    if folder is not None:
        address = f"sqlite:///{folder / 'assay.db'}"
    db = (Database if write else _ReadOnly)(address)
    try:
        _check_up_to_date(db, folder)
    except AssayError:
        db.dispose()
        raise
    frames = None if folder is None else frames_folder(folder)
    if keep is not None:
        known = hashlib.sha256(db.url.render_as_string(hide_password=True).encode()).hexdigest()[:16]
        frames = place_at(keep) / known
    kept = None if frames is None else KeptTables(frames)
    return Home(db, acting(db, as_), folder, write, kept)


def _check_up_to_date(db: Database, folder: Path | None) -> None:
    """Raise NotFound where no database is, Conflict for one that is not of this version, each with what to do."""
    place = folder or db.url.render_as_string(hide_password=True)
    call = "assay" if folder is None else f"assay --home {shlex.quote(str(folder))}"
    init = f"{call} init{' (with the address in ASSAY_DATABASE_URL)' if folder is None else ''}"
    try:
        db.enter()
        if folder is not None:
            check_for_loss(db.url, documents=folder / "data" / "documents", backups=folder / "backups")
        if db.is_sqlite and not Path(str(db.url.database)).is_file():
            raise NotFound(f"There is no Assay database in {place}. Name the folder that `assay init` made.")
        found = usable_revision(db)
    except (DatabaseDamaged, NewerDatabase) as error:
        if folder is None:
            raise
        raise type(error)(f"{error} {restore_advice(call, folder / 'backups')}") from None
    if found is None:
        raise NotFound(f"The database in {place} is empty. Make its tables with: {init}")
    if found != head_revision():
        raise Conflict(f"{out_of_date(found)} Bring it up to date with: {init}")


@dataclass(frozen=True, eq=False)
class Home:
    """A home: its database, who acts, its folder (None for a database by its address), whether it may be written.

    `kept` are the tables that were read before.
    """

    db: Database
    actor: Actor
    folder: Path | None
    writable: bool
    kept: KeptTables | None = None

    @checked
    def projects(self) -> list[str]:
        """The names of the projects that the person sees.

        >>> open_home(home).projects()
        ['finance']
        """
        return [row.name for row in my_projects(self.db, self.actor)]

    @checked
    def project(self, name: str) -> Project:
        """The project of this name; NotFound lists those that there are.

        >>> open_home(home).project("finance")
        Project('finance')
        >>> open_home(home).project("law")
        Traceback (most recent call last):
        annotators.errors.NotFound: ...'law'...
        """
        return Project(self, find_project(self.db, self.actor, name).project_id, name)

    @checked
    def close(self) -> None:
        """Close the database; what was read stays.

        >>> open_home(home).close()
        """
        self.db.dispose()

    @checked
    def check_writable(self) -> None:
        """NotAllowed unless the home was opened for writing.

        >>> open_home(home).check_writable()
        Traceback (most recent call last):
        annotators.errors.NotAllowed: This home was opened for reading. ...
        """
        if not self.writable:
            raise NotAllowed(READ_ONLY)

    def __repr__(self) -> str:
        """Where it is, and what may be done."""
        place = self.folder or self.db.url.render_as_string(hide_password=True)
        n = len(self.projects())
        return f"Home({str(place)!r}): {n} project{'s' * (n != 1)}, for {'writing' if self.writable else 'reading'}"


@dataclass(frozen=True, eq=False)
class Project:
    """A project of a home."""

    home: Home
    project_id: int
    name: str

    def __repr__(self) -> str:
        """Its name."""
        return f"Project({self.name!r})"

    @property
    def _known(self) -> tuple[Database, Actor, int]:
        return self.home.db, self.home.actor, self.project_id

    @checked
    def studies(self) -> list[str]:
        """The names of its studies.

        >>> open_home(home).project("finance").studies()
        ['grading']
        """
        return [row.name for row in list_studies(*self._known)]

    @checked
    def study(self, name: str) -> Study:
        """The study of this name; NotFound lists those that there are.

        >>> open_home(home).project("finance").study("grading")
        Study('grading' of 'finance')
        """
        return Study(self, find_study(*self._known, name=name), name)

    @checked
    def items(self) -> pd.DataFrame:
        """Its current items, a row each, with the columns of an export's table of items.

        >>> items = open_home(home).project("finance").items()
        >>> len(items), list(items.columns[:4])
        (24, ['id', 'question_key', 'question', 'answer'])
        """
        return frame_of(*self._known, None, ITEMS)

    @checked
    def scores(self) -> pd.DataFrame:
        """Every score of its items, with the columns of `scores.csv`.

        >>> scores = open_home(home).project("finance").scores()
        >>> scores.groupby("score", observed=True)["value"].count().to_dict()
        {'length': 24, 'hallucination': 24, 'overlap': 23}
        """
        return frame_of(*self._known, None, "scores")

    @checked
    def report(self, study: str | None = None, *, seed: int = 0, resamples: int = 1000) -> DatasetReport:
        """The report of the dataset, of all its studies or of one: `.numbers`, `.write(folder)`.

        >>> report = open_home(home).project("finance").report("grading", resamples=20)
        >>> report.numbers["items"], report.numbers["annotators"]
        (18, 3)
        >>> print(repr(report).splitlines()[0])
        The dataset finance, study grading
        """
        study_id = None if study is None else self.study(study).study_id
        return dataset_report(*self._known, study_id=study_id, asked=Resampling(resamples, seed))

    @checked
    def import_items(
        self,
        frame: pd.DataFrame,
        mapping: Mapping[str, str | Sequence[str]] | None = None,
        *,
        dry_run: bool = False,
        skip_bad: bool = False,
    ) -> dict[str, Any]:
        """Import items from a frame, a row each, as `assay import --format table` does; its JSON.

        `mapping` says of fields of items which column, or columns, they are read from; others are found by their
        headings. Raises InvalidInput for bad rows, and imports nothing then, unless they are to be skipped.

        >>> import pandas as pd
        >>> project = open_home(home, write=True).project("finance")
        >>> frame = pd.DataFrame({"nr": ["n1"], "asked": ["How many trams ran?"], "said": ["Twelve."]})
        >>> report = project.import_items(frame, mapping={"id": "nr", "question": "asked", "answer": "said"})
        >>> report["added"]
        1
        >>> open_home(home).project("finance").import_items(frame)
        Traceback (most recent call last):
        annotators.errors.NotAllowed: This home was opened for reading. ...
        """
        self.home.check_writable()
        columns = {field: several(column) for field, column in (mapping or {}).items()}
        folder = self.home.folder
        with as_file(frame, "frame") as path, in_python():
            report = import_paths(
                *self._known, paths=[path], format_name="table", columns=columns or None, dry_run=dry_run,
                skip_bad=skip_bad, data_folder=None if folder is None else folder / "data" / "documents",
            )  # fmt: skip
            if report.rejected and not skip_bad and not dry_run:
                bad = "\n".join(f"row {row.line}: {row.reason}" for row in report.rejected[:20])
                n = count(len(report.rejected), "row")
                raise InvalidInput(
                    f"{n} cannot be {'an item' if n == '1 row' else 'items'}, so that none was imported:\n{bad}"
                )
        return report.to_json()

    @checked
    def create_study(
        self, name: str, *, protocol: str | Protocol, annotators: str | Sequence[str], **design: Any
    ) -> Study:  # fmt: skip
        """Make a study, as `assay study create` does; `design` are fields of `StudyDesign` (overlap, sample, seed, …).

        Raises InvalidInput with all that is wrong with the design, Conflict for a name that is taken.

        >>> project = open_home(home, write=True).project("finance")
        >>> project.create_study("pilot", protocol="answer_grading", annotators=["dora"], overlap=1, sample=2)
        Study('pilot' of 'finance')
        >>> project.create_study("pilot", protocol="answer_grading", annotators=["dora"], overlap=1, sample=2)
        Traceback (most recent call last):
        annotators.errors.Conflict: ...pilot...
        """
        self.home.check_writable()
        chosen = named_protocol(*self._known, name=protocol) if isinstance(protocol, str) else protocol
        asked = {field: plain(value) for field, value in design.items()}
        wanted = design_of(**asked, name=name, annotators=several(annotators))
        made = make_study(*self._known, protocol=chosen, design=wanted)
        return Study(self, made.study_id, name)


@dataclass(frozen=True, eq=False)
class Study:
    """A study of a project."""

    project: Project
    study_id: int
    name: str

    def __repr__(self) -> str:
        """Its name and its project's."""
        return f"Study({self.name!r} of {self.project.name!r})"

    @property
    def _known(self) -> tuple[Database, Actor, int]:
        return self.project.home.db, self.project.home.actor, self.study_id

    def _frame(self, table: str) -> pd.DataFrame:
        home = self.project.home
        return frame_of(home.db, home.actor, self.project.project_id, self.study_id, table)

    @checked
    def labels(self) -> pd.DataFrame:
        """Every label of every annotator, with the columns of `labels.csv`; annotators have pseudonyms.

        What was read is kept in a file, and read from there until a label of the study changes.

        >>> labels = open_home(home).project("finance").study("grading").labels()
        >>> len(labels), list(labels.columns[4:8])
        (108, ['annotator', 'criterion', 'target', 'value'])
        >>> str(labels["time"].dtype), str(labels["current"].dtype)
        ('datetime64[us, UTC]', 'boolean')
        """
        home = self.project.home
        return labels_frame(home.db, home.actor, self.project.project_id, self.study_id, home.kept)

    @checked
    def adjudicated(self) -> pd.DataFrame:
        """The final labels, with the columns of `adjudicated.csv`; the votes are a soft label, as JSON.

        >>> final = open_home(home).project("finance").study("grading").adjudicated()
        >>> sorted(final["how"].unique())
        ['open', 'unanimous']
        """
        return self._frame("adjudicated")

    @checked
    def items(self) -> pd.DataFrame:
        """Its items, with the columns of an export's table of items.

        >>> len(open_home(home).project("finance").study("grading").items())
        18
        """
        return self._frame(ITEMS)

    @checked
    def scores(self) -> pd.DataFrame:
        """The scores of its items, with the columns of `scores.csv`.

        >>> scores = open_home(home).project("finance").study("grading").scores()
        >>> sorted(scores["score"].unique())
        ['hallucination', 'length', 'overlap']
        """
        return self._frame("scores")

    @checked
    def disputes(self) -> list[dict[str, Any]]:
        """The items that wait for a decision, most disputed first, as `assay disputes --json` lists them.

        >>> open_home(home).project("finance").study("grading").disputes()[0]["stage"]
        'first'
        """
        return [dispute.to_json() for dispute in listed_disputes(*self._known)]

    @checked
    def agreement(self, *, seed: int = 0, resamples: int = 1000, level: float = 0.95, names: bool = False) -> Measured:
        """How far its annotators agree, criterion by criterion, as `assay agreement` measures it.

        They are under the pseudonyms that `labels()` has; with `names` under their names.

        >>> study = open_home(home).project("finance").study("grading")
        >>> found = study.agreement(seed=1).table()
        >>> found[found["name"] == "krippendorff_alpha_ordinal"]["value"].round(3).tolist()
        [0.878]
        """
        asked = Resampling(resamples, seed, level)
        report = agreement_report(
            *self._known, seed=asked.seed, resamples=asked.resamples, level=asked.level, named=names
        )  # fmt: skip
        json = report.to_json()
        return Measured(Report.of_study(report), rows_of(json["criteria"]), json)

    @checked
    def alignment(
        self,
        *,
        labels: Labels = "item",
        scorers: str | Sequence[str] = (),
        by: str | None = None,
        seed: int = 0,
        resamples: int = 1000,
        level: float = 0.95,
        equivalent: float | None = None,
        names: bool = False,
    ) -> Measured:
        """How far metrics and judges go with its people, as `assay alignment` measures it; `names` as of `agreement`.

        With `equivalent` also whether two metrics differ by less than this margin.

        >>> found = open_home(home).project("finance").study("grading").alignment(resamples=50).table()
        >>> {"spearman", "auroc"} <= set(found["name"])
        True
        """
        asked = Resampling(resamples, seed, level)
        with in_python():
            report = alignment_report(
                *self._known, scorers=several(scorers), labels=labels, by=by, asked=asked, named=names
            )  # fmt: skip
            if equivalent is not None:
                report = replace(report, statistics=[*report.statistics, *equivalences(report.statistics, equivalent)])
        json = report.to_json()
        return Measured(AlignmentDocument.of_study(report), json["statistics"], json)

    @checked
    def estimate(
        self,
        criterion: str | None = None,
        *,
        predict: str | Sequence[str] = (),
        of: str = "items",
        by: str | None = None,
        seed: int = 0,
        level: float = 0.95,
    ) -> Measured:
        """The mean of a criterion over all items from few labels and many scores, as `assay estimate` makes it.

        >>> found = open_home(home).project("finance").study("grading").estimate("quality")
        >>> found.table()["name"].iloc[0]
        'mean_classical'
        """
        asked = Resampling(seed=seed, level=level)
        with in_python():
            report, _ = estimate_report(
                *self._known, criterion=criterion, predict=several(predict), of=of, by=by, seed=asked.seed, level=level
            )
        json = report.to_json()
        return Measured(report, json["statistics"], json)

    @checked
    def results(self, *, seed: int = 0, resamples: int = 1000, level: float = 0.95) -> Measured:
        """What came out of it, by the reports that its protocol has, as `assay results` gives it.

        >>> found = open_home(home).project("finance").study("grading").results()
        >>> set(found.table()["name"]) >= {"share"}
        True
        """
        report = Results.of_study(*self._known, Resampling(resamples, seed, level))
        json = report.to_json()
        return Measured(report.drawn(), json["rows"], json)

    @checked
    def adjudicate(self, frame: pd.DataFrame, *, again: bool = False) -> dict[str, Any]:
        """Decide disputed items as a frame says (columns item, criterion, target, value, reason): all or nothing.

        As `assay adjudicate` does: every disputed unit of an item needs a row, and one against a majority a reason.
        Raises InvalidInput with everything that is wrong, row by row.

        >>> import pandas as pd
        >>> study = open_home(home, write=True).project("finance").study("grading")
        >>> dispute = study.disputes()[0]
        >>> rows = [{"item": dispute["item"], "criterion": unit["criterion"], "target": unit["target"],
        ...          "value": next(iter(unit["votes"])), "reason": "read again"} for unit in dispute["units"]]
        >>> study.adjudicate(pd.DataFrame(rows))["items"]
        1
        """
        self.project.home.check_writable()
        with as_file(frame, "frame") as path, in_python():
            done = import_decisions(*self._known, path=path, again=again)
        return done.to_json()
