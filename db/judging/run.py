"""Runs of judges: a judge over the items of a study, several at once; its labels become annotations of kind `model`.

What a judge says counts for nothing in the study: no slot, no settlement, no dispute, no agreement among people.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlmodel import Session, col

from annotators.addresses import is_here
from annotators.errors import InvalidInput, NotFound
from annotators.judges.asking import Answer, Asker, OutOfBudget, Pace, Stopped
from annotators.judges.base import Call
from annotators.judges.budget import Limit, Price, Spending
from annotators.judges.client import Client, ServerRefuses
from annotators.judges.judging import Outcome, Unscored, judge_item, mark_of
from annotators.judges.prompts import calls
from annotators.pages.documents.renderer import Renderer
from annotators.progress import Progress, unheard
from db.engine import Database
from db.judging.examples import check_examples_may_leave, example_items
from db.judging.items import ItemToJudge, count_to_judge, drawn_items, read_to_judge, secret_of
from db.judging.judged import judged_in_runs
from db.judging.judges import JudgeSettings, judge_for
from db.judging.pictures import StoredPictures
from db.judging.replies import StoredReplies
from db.judging.writing import ItemRows, rows_of, write_judged
from db.models import JudgedItem, Study, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.runs.run import Block, RunKind, RunUnderWay
from db.studies.design import protocol_of

EXAMPLE = "an example of the prompt"
"""Why an item has no labels of a judge: its question is that of an example that the judge is told."""

KEPT_HERE = "kept here"
"""Why an item has no labels of a judge elsewhere: a document of it must not leave this machine."""

CANCELLED = "cancelled"
"""What a summary says of a run that somebody has stopped."""

MOST_AT_ONCE = 256
"""Requests under way together, at most: each has a thread and a connection."""

BLOCKS = 4
"""Items of a block for each request at once."""

LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Sample:
    """Which of a study's items are judged: n of them (of each stratum `per`), drawn by the seed; None: all."""

    n: int | None = None
    per: str | None = None
    seed: int = 0


ALL = Sample()


@dataclass(frozen=True)
class Means:
    """What a run works with that says nothing about its labels.

    `key` is for the server, and is written nowhere. `price` is None where it is not known, `limit` where there is
    none, `context` (tokens) where the model's is not known. `documents` is the folder of their bytes.
    """

    key: str | None = None
    limit: Limit | None = None
    price: Price | None = None
    concurrency: int = 4
    tokens_a_minute: float | None = None
    context: int | None = None
    documents: Path | None = None
    seconds: float = 120.0

    def __post_init__(self) -> None:
        """InvalidInput for what nothing could be asked with, whoever gives it: a file of a job, a notebook."""
        if not 1 <= self.concurrency <= MOST_AT_ONCE:
            raise InvalidInput(f"{self.concurrency} requests at once cannot be. Give 1 to {MOST_AT_ONCE}.")
        for name, given, least in (
            ("Tokens a minute", self.tokens_a_minute, "1000"),
            ("The context of the model", self.context, "8192 tokens"),
            ("The time for a reply", self.seconds, "120 seconds"),
        ):
            if given is not None and not 0 < given < math.inf:
                raise InvalidInput(f"{name}: {given:g} is none. Give more than nothing, such as {least}.")


NOTHING_BESIDES = Means()


@operation(On.STUDY, RESEARCHERS)
def run_judge(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    judge: JudgeSettings,
    sample: Sample = ALL,
    means: Means = NOTHING_BESIDES,
    progress: Progress = unheard,
    job_id: int | None = None,
    so_far: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Judge every item of the study (or of a sample) that this judge has not judged there yet; a summary.

    Killed, it goes on where it was: replies are kept the moment they come, and an item's labels are written once. It
    stops where the next request might pass the limit (`stopped` says so). Raises InvalidInput where an example of the
    prompt must not leave this machine, and the server is elsewhere; ServerRefuses where the server will not answer
    whatever is asked; what came before stays. Where `progress` raises, or somebody presses Ctrl-C, the
    replies under way are waited for, and `so_far` gets the summary, which says `cancelled`.
    """
    begun = time.monotonic()
    with db.read() as session:
        study = _study(session, study_id)
        check_examples_may_leave(session, study.project_id, judge.prompt, judge.server)
        among = drawn_items(session, study, sample.n, sample.per, sample.seed)
        examples = frozenset(example_items(session, study, judge.prompt))
        session.expunge(study)
    with db.write() as session:
        person_id, name = judge_for(session, study.project_id, judge)
    with asking(db, study, judge, means, job_id) as (asker, pictures, replies, stop):
        heard = _HeardWithin(progress)
        kind = JudgeRun(
            study, judge, name,
            person_id=person_id, among=among, asker=asker, secret=secret_of(db, study.project_id),
            pictures=pictures, concurrency=means.concurrency, stop=stop, alive=heard.again, examples=examples,
        )  # fmt: skip
        run = RunUnderWay(db, actor, study.project_id, kind, job_id=job_id)

        def summary(stopped: str | None, left: int) -> dict[str, Any]:
            of_run = _summary(db, run.same, judge, name, protocol_of(study).name)
            asked = replies.totals()
            return {
                **of_run, "requests": asked["requests"], "cached": kind.n_known, "retries": kind.n_retries,
                "tokens": asked["tokens"], "cost": None if means.price is None else replies.spent().money,
                "seconds": round(time.monotonic() - begun, 3), "stopped": stopped, "left": left,
            }  # fmt: skip

        try:
            run.over_all_items(heard)
        except BaseException as error:
            if so_far is not None and heard.was_told_by(error):
                so_far.update(summary(CANCELLED, run.n_left()))
            raise
    if kind.refused is not None:
        raise kind.refused
    return summary(kind.stopped, kind.n_left)


@contextmanager
def asking(
    db: Database, study: Study, judge: JudgeSettings, means: Means, job_id: int | None
) -> Iterator[tuple[Asker, StoredPictures | None, StoredReplies, threading.Event]]:
    """Who asks the judge within the means, where pictures come from, the ledger, and what stops all of it."""
    replies = StoredReplies(db, study.project_id, job_id)
    spending = Spending(means.limit, means.price, replies.spent())
    stop = threading.Event()
    client = Client(
        judge.server,
        judge.model,
        means.key,
        most=judge.most,
        seed=judge.seed,
        structured=judge.structured,
        seconds=means.seconds,
        chances=judge.probabilities,
    )
    pace = Pace(means.tokens_a_minute)
    asker = Asker(client, replies, spending, pace=pace, context=means.context, stop=stop)
    with ExitStack() as stack:
        stack.callback(client.close)
        pictures = None
        if judge.pictures and means.documents is not None:
            renderer = stack.enter_context(Renderer(workers=1))
            pictures = StoredPictures(db, means.documents, renderer, most=judge.pictures)
        yield asker, pictures, replies, stop


class Heard:
    """Tells how far a run is, and remembers what whoever hears it raised: the run is cancelled."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._raised: BaseException | None = None

    def __call__(self, done: int, of: int) -> None:
        """Whoever wants to hear it is told."""
        try:
            self._progress(done, of)
        except BaseException as error:
            self._raised = error
            raise

    def was_told_by(self, error: BaseException) -> bool:
        """Whether this is how somebody cancelled the run."""
        return error is self._raised or isinstance(error, KeyboardInterrupt)


class _HeardWithin(Heard):
    """Tells within a block how many `more` are done, so that who cancels the run is heard soon."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress)
        self._last = (0, 0)

    def __call__(self, done: int, of: int) -> None:
        """Whoever wants to hear it is told."""
        self._last = done, of
        super().__call__(done, of)

    def again(self, more: int) -> None:
        """So many more."""
        done, of = self._last
        super().__call__(min(done + more, of), of)


def _study(session: Session, study_id: int) -> Study:
    study = session.get(Study, study_id)
    if study is None:
        raise NotFound(f"There is no study {study_id}.")
    return study


class JudgeRun(RunKind[ItemToJudge, ItemRows]):
    """A judge over a study's items; several at once, a request after the other for each."""

    kind, verb, doing, results = "judge", "judge", "judging", "items"

    def __init__(
        self,
        study: Study,
        judge: JudgeSettings,
        name: str,
        *,
        person_id: int,
        among: Sequence[int] | None,
        asker: Asker,
        secret: bytes,
        pictures: StoredPictures | None,
        concurrency: int,
        stop: threading.Event,
        alive: Callable[[int], None],
        examples: frozenset[int],
    ) -> None:
        parameters = {"study": study.id, "judge": judge.to_json()}
        super().__init__(name, judge.prompt_name, parameters, block=BLOCKS * concurrency)
        self._study, self._judge, self._person_id, self._among = study, judge, person_id, among
        self._protocol = protocol_of(study)
        self._told = judge.prompt
        self._asker, self._secret, self._pictures = asker, secret, pictures
        self._concurrency, self._stop, self._alive, self._examples = concurrency, stop, alive, examples
        self._elsewhere = not is_here(judge.server)
        self._counting = threading.Lock()
        self.n_known = self.n_retries = self.n_left = 0
        self.stopped: str | None = None
        self.refused: ServerRefuses | None = None

    @property
    def key(self) -> Any:
        """The column of study items."""
        return col(StudyItem.id)

    def id_of(self, item: ItemToJudge) -> int:
        """The study item."""
        return item.study_item_id

    def results_of(self, runs: Sequence[int]) -> Select[Any]:
        """Items that have been judged, whatever came of it."""
        return select(col(JudgedItem.study_item_id)).where(col(JudgedItem.run_id).in_(list(runs)))

    def count(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None = None, *, at_most: int | None = None
    ) -> int:
        """Items of the study, or of the sample of them."""
        return count_to_judge(session, self._study, left, self._among, at_most=at_most)

    def read(
        self, session: Session, project_id: int, left: ColumnElement[bool] | None, *, after: int, limit: int
    ) -> list[ItemToJudge]:
        """Items with what each step shows. InvalidInput where by now an example of the prompt must not leave."""
        check_examples_may_leave(session, project_id, self._told, self._judge.server)
        return read_to_judge(
            session, self._study, left, self._among, after=after, limit=limit, elsewhere=self._elsewhere
        )

    # Asking

    def compute(self, blocks: Iterator[list[ItemToJudge]]) -> Iterator[Block[ItemToJudge, ItemRows]]:
        """Each block judged by several threads. An item without an outcome is left for the next run."""
        with ThreadPoolExecutor(self._concurrency, thread_name_prefix="judge") as pool:
            for block in blocks:
                under_way = [pool.submit(self._one, item) for item in block]
                try:
                    left = set(under_way)
                    while left:
                        _, left = wait_for(left, LOOK_SECONDS, FIRST_COMPLETED)
                        self._alive(len(block) - len(left))
                except BaseException:
                    self._stop.set()
                    self._asker.hurry()
                    raise
                made = [future.result() for future in under_way]
                self.n_left += made.count(None)
                yield block, [[] if rows is None else [rows] for rows in made]
                if self._stop.is_set():
                    return

    def _one(self, item: ItemToJudge) -> ItemRows | None:
        """What there is to store of an item, made here: while a block is written, everybody else waits."""
        outcome = self._outcome(item)
        return None if outcome is None or outcome.failed else self._rows(item, outcome)

    def _outcome(self, item: ItemToJudge) -> Outcome | None:
        if self._stop.is_set():
            return None
        if item.kept or item.study_item_id in self._examples:
            why = KEPT_HERE if item.kept else EXAMPLE
            return Outcome(unscored=[Unscored(criterion.name, (), why) for criterion in self._protocol.criteria])
        try:
            return self._judged(item)
        except Stopped:
            return None
        except OutOfBudget:
            self._end("budget")
            return None
        except ServerRefuses as error:
            self.refused = self.refused or error
            self._end("refused")
            return None

    def _judged(self, item: ItemToJudge) -> Outcome:
        """What the judge makes of an item, step by step."""
        return judge_item(
            self._protocol,
            self._told,
            item.steps,
            self._ask,
            mark=mark_of(self._secret, item.steps),
            samples=self._judge.samples,
            pictures=self._pictures,
            write=partial(calls, letters=self._judge.gives_letters),
        )

    def _end(self, why: str) -> None:
        with self._counting:
            self.stopped = self.stopped or why
        self._stop.set()

    def _ask(self, call: Call, sample: int) -> Answer:
        answer = self._asker.ask(call, sample)
        with self._counting:
            self.n_known += answer.known
            self.n_retries += 0 if answer.known else answer.reply.retries
        return answer

    # Storing

    def _rows(self, item: ItemToJudge, outcome: Outcome) -> ItemRows:
        """What is stored of an item."""
        return rows_of(item.study_item_id, outcome)

    def store(self, session: Session, run_id: int, done: Sequence[tuple[ItemToJudge, Sequence[ItemRows]]]) -> int:
        """An annotation with its labels for each item that has any, and what was left unscored."""
        return write_judged(
            session, run_id, [rows for _, [rows] in done],
            study_id=self._study.id, person_id=self._person_id, n_steps=len(self._protocol.steps),
        )  # fmt: skip


def _summary(db: Database, runs: Sequence[int], judge: JudgeSettings, name: str, protocol: str) -> dict[str, Any]:
    """What the runs of this judge over the study have come to."""
    with db.read() as session:
        judged = judged_in_runs(session, runs)
    prompt = judge.prompt
    return {
        "run": runs[-1] if runs else None,
        "judge": name,
        "protocol": protocol,
        "model": judge.model,
        "prompt": {"name": prompt.name, "version": prompt.version, "hash": prompt.hash},
        "items": judged.items,
        "labels": judged.labels,
        "cannot_judge": judged.cannot_judge,
        "unscored": [{"reason": reason, "n": n} for reason, n in judged.unscored.items()],
    }
