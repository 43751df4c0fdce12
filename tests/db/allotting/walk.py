"""A study that anything may happen to: acts at random, and after each of them everything is held to the model."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.errors import AssayError
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Protocol
from db.adjudicating.adjudications import (
    UnitDecision,
    adjudicate,
    count_disputed,
    desk_counts,
    disputes_for_me,
)
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.annotations import submit
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.committing import StepSubmission
from db.annotating.status import study_status
from db.batches import withdraw_batch
from db.elsewhere.came_back import AnnotationElsewhere, take_back
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import StudyState
from db.quality.omissions import leave_out, restore
from db.releasing.counts import study_stages
from db.releasing.endings import end_item
from db.releasing.recheck import send_to_recheck
from db.releasing.releases import make_release, released_labels
from db.releasing.states import item_states
from db.studies import tallies
from db.studies.revisions import revise_item
from tests.db.allotting.model import StudyModel, model
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol

ITEMS = 4


def three_criteria() -> Protocol:
    """Two criteria that accept yes alone, and a third that is asked where the first is no."""
    yes_no = [Label(value="yes"), Label(value="no")]
    made = tiny_protocol()
    criteria = [
        Choice(name="right", title="Right", labels=yes_no, accept=["yes"]),
        Choice(name="clear", title="Clear", labels=yes_no, accept=["yes"]),
        Choice(
            name="why", title="Why", labels=[Label(value="wrong"), Label(value="partial")], accept=["partial"],
            when=Condition(criterion="right", values=["no"]),
        ),
    ]  # fmt: skip
    step = made.steps[0].model_copy(update={"criteria": ["right", "clear", "why"]})
    return tiny_protocol(criteria=criteria, steps=[step], invalidates={"answer": ["right", "why"]})


class Walk:
    """A study of four items and five people of whom each act takes one at random."""

    def __init__(self, database: Database, seed: int) -> None:
        self.rng = random.Random(seed)
        self.double, self.rule = self.rng.random() < 0.4, self.rng.choice(["unanimous", "majority"])
        more: dict[str, Any] = {"adjudication": "double"} if self.double else {}
        self.study = StudyInUse(
            database, items=ITEMS, annotators=4, overlap=self.rng.choice([2, 3]), protocol=three_criteria(),
            rule=self.rule, queue=self.rng.choice(["dynamic", "balanced"]), **more,
        )  # fmt: skip
        self.db, self.of = database, self.study.study_id
        self.outsiders = ["Zoe", "Yan"]
        self.deciders = [make_person(database) for _ in range(3)]
        for actor in self.deciders:
            make_member(database, self.study.project_id, actor, "adjudicator")
        self.newcomers = [make_person(database) for _ in range(2)]
        for actor in self.newcomers:
            make_member(database, self.study.project_id, actor, "annotator")
        self.people = [*self.study.annotators, *self.newcomers]
        self.batches: list[int] = []
        self.windows: list[tuple[int, dict[str, Any]]] = []
        self.halted = 0
        self.done: Counter[str] = Counter()
        self.story: list[str] = []

    @property
    def acts(self) -> list[Callable[[], object]]:
        """The acts, those that come often several times."""
        often = [self.label] * 14 + [self.decide] * 4 + [self.label_late] * 2
        return [
            *often, self.pass_over, self.give_back, self.drop, self.put_back, self.overlap, self.join, self.leave,
            self.bring, self.bring_from_elsewhere, self.withdraw, self.revise, self.recheck, self.end, self.state,
        ]  # fmt: skip

    def step(self) -> None:
        """One act, if it can be done now; then everything is as the model has it."""
        act = self.rng.choice(self.acts)
        if self.halted:
            self.halted -= 1
            act = act if self.halted else self.go_on
        before = model(self.db, self.of)
        held = self._held()
        try:
            said = act()
        except AssayError as error:
            self.story.append(f"{act.__name__}: refused, {str(error)[:90]}")
            assert model(self.db, self.of) == before, self._told("a refused act changed something")
            return
        self.story.append(f"{act.__name__} {said}")
        self.done[act.__name__] += said is not None
        self.check(before, held)

    def _told(self, what: str) -> str:
        return "\n".join([what, *self.story])

    # What is held to the model --------------------------------------------------------------------------------------

    def check(self, before: StudyModel, held: set[tuple[int, int]]) -> None:
        """Every state and every count, wherever it is said."""
        is_so = model(self.db, self.of)
        with self.db.read() as session:
            kept = {
                row.study_item_id: row
                for row in session.execute(text("SELECT study_item_id, state, n_annotations FROM settlement"))
            }
            there = {of: (row.state, row.n_annotations) for of, row in kept.items()}
            assert there == {of: (is_so.places[of].state, is_so.places[of].n) for of in kept}, self._told("places")
            unmarked = {of: place.state for of, place in is_so.places.items() if of not in kept}
            assert set(unmarked.values()) <= {"pending"}, self._told("places without a row")
            open_now = Counter(
                row.study_item_id
                for row in session.execute(
                    text("SELECT study_item_id FROM assignment WHERE kind = 'slot' AND state = 'open'")
                )
            )
            wanted = {of: place.slots for of, place in is_so.places.items() if place.slots}
            assert dict(open_now) == wanted, self._told(f"open slots {dict(open_now)}, wanted {wanted}")
            counted = {state: n for state, n in tallies.counts(session, self.of).items() if n}
            assert counted == recount(session, self.of), self._told("kept counts")
            ids = {row.id: row.external_id for row in session.execute(text("SELECT id, external_id FROM item"))}
        found = item_states(self.db, self.study.researcher, self.study.project_id, item_ids=list(ids))
        states = {ids[item_id]: state.value for item_id, state in found.items()}
        assert states == is_so.items, self._told(f"items {states}, by the model {is_so.items}")
        self._check_counts(is_so)
        for of, person in self._held() - held:
            assert before.places[of].slots, self._told(f"{person} got {of}, which wants nothing")
        self._check_accepted(is_so)

    def _check_counts(self, is_so: StudyModel) -> None:
        disputed = sum(place.state == "disputed" for place in is_so.places.values())
        status = study_status(self.db, self.study.researcher, self.of)
        assert status["disputed"] == disputed, self._told("disputed of status")
        stages = study_stages(self.db, self.study.researcher, self.of)
        by_state = Counter(state if state != "no_study" else "in_study" for state in is_so.items.values())
        assert {state: n for state, n in stages.states.items() if n} == dict(by_state), self._told("stages")
        for actor in self.deciders:
            desk = desk_counts(self.db, actor, self.of)
            badge = disputes_for_me(self.db, actor).get(self.of, 0)
            assert badge == count_disputed(self.db, actor, self.study.project_id), self._told("badges")
            assert badge == desk.disputed, self._told("the badge and the desk")
            assert desk.disputed + desk.others == disputed, self._told("what waits on the desk")

    def _check_accepted(self, is_so: StudyModel) -> None:
        """What a release would freeze has a final label that passes in each unit that it is asked."""
        protocol = three_criteria()
        accepted = [name for name, state in is_so.items.items() if state == "accepted"]
        if not accepted or self.rng.random() < 0.7:
            return
        name = uuid.uuid4().hex
        release = make_release(self.db, self.study.researcher, self.study.project_id, name=name, study_id=self.of)
        with self.db.read() as session:
            query = text(
                "SELECT v.id, i.external_id FROM release_item r JOIN item_version v ON v.id = r.item_version_id "
                "JOIN item i ON i.id = v.item_id WHERE r.release_id = :release"
            )
            names = {row.id: row.external_id for row in session.execute(query, {"release": release.release_id})}
            found = released_labels(session, release.release_id, names)
        labels = {names[of]: found.get(of, []) for of in names}
        assert set(labels) <= set(accepted), self._told("a release holds what is not accepted")
        for item, final in labels.items():
            given = {label.criterion: label.value for label in final}
            needed = {"right", "clear"} | ({"why"} if given.get("right") == "no" else set())
            assert needed <= set(given), self._told(f"release: {item} lacks {needed - set(given)}")
            assert all(protocol.criterion(name).passes(value) for name, value in given.items()), self._told(f"{item}")

    def _held(self) -> set[tuple[int, int]]:
        """(Study item, person) of what people have before them."""
        with self.db.read() as session:
            rows = session.execute(
                text("SELECT study_item_id, person_id FROM assignment WHERE kind = 'slot' AND state = 'leased'")
            )
            return {(row.study_item_id, row.person_id) for row in rows}

    # Acts ------------------------------------------------------------------------------------------------------------

    def _values(self) -> dict[str, str]:
        right = self.rng.choice(["yes", "yes", "no"])
        found = {"right": right, "clear": self.rng.choice(["yes", "yes", "yes", "no"])}
        return found | ({"why": self.rng.choice(["wrong", "partial"])} if right == "no" else {})

    def label(self) -> str | None:
        """Somebody submits one of the items that they have before them, or corrects one."""
        order = self.rng.sample(range(len(self.study.annotators)), len(self.study.annotators))
        found = ((who, items) for who in order if (items := self.study.work(who)["items"]))
        who, items = next(found, (0, []))
        if not items:
            return None
        self.windows += [(who, item) for item in items if item["sitting"] == 1]
        return self._submit(who, self.rng.choice(items))

    def label_late(self) -> str | None:
        """Somebody submits what they had before them some acts ago, whatever has become of it since."""
        return self._submit(*self.windows.pop(self.rng.randrange(len(self.windows)))) if self.windows else None

    def _submit(self, who: int, item: dict[str, Any]) -> str:
        values = self._values()
        asked = {name: value for name, value in values.items() if item["units"].get(name)}
        cannot = self.rng.random() < 0.1
        labels = [
            GivenLabel(name, "item", cannot_judge=True, reason="dark")
            if cannot and name == "clear"
            else GivenLabel(name, "item", value)
            for name, value in asked.items()
        ]
        step = StepSubmission(
            uuid.uuid4().hex, item["assignment"], item["sitting"], item["step"], tuple(labels), seconds=2.0
        )
        done = submit(self.db, self.study.annotators[who], self.of, step=step)
        return f"{who} {item['assignment']} {asked} {'cannot' if cannot else ''} {done.status}"

    def pass_over(self) -> str | None:
        who = self.rng.randrange(len(self.study.annotators))
        items = self.study.work(who)["items"]
        if not items:
            return None
        skip(self.db, self.study.annotators[who], self.of, assignment_id=items[0]["assignment"], reason="not mine")
        return f"{who}"

    def give_back(self) -> str | None:
        with self.db.read() as session:
            query = text("SELECT id FROM assignment WHERE kind = 'slot' AND state = 'submitted' ORDER BY id")
            ids = list(session.execute(query).scalars())
        if not ids:
            return None
        of = self.rng.choice(ids)
        return_to_annotator(self.db, self.study.researcher, of, reason="again")
        return f"{of}"

    def drop(self) -> str:
        name = self.rng.choice(self.people).name
        back = self.rng.choice([0.0, 0.05, 0.5, 5.0])
        since = datetime.now(UTC) - timedelta(seconds=back)
        leave_out(self.db, self.study.researcher, self.of, annotator=name, since=since, reason="odd")
        return f"{name} since {back} s"

    def put_back(self) -> str:
        name = self.rng.choice(self.people).name
        restore(self.db, self.study.researcher, self.of, annotator=name, reason="fine")
        return name

    def _amend(self, **change: Any) -> str:
        words = amend_study(
            self.db, self.study.researcher, self.of, change=StudyChange(**change), reason="so it is to be"
        )
        return "; ".join(words)

    def overlap(self) -> str:
        return self._amend(overlap=self.rng.choice([1, 2, 3, 4]))

    def join(self) -> str:
        return self._amend(add=(self.rng.choice(self.people).name,))

    def leave(self) -> str:
        return self._amend(remove=(self.rng.choice(self.people).name,))

    def _rows(self) -> list[ForeignLabel]:
        rows = []
        for name in self.rng.sample([*(actor.name for actor in self.people), *self.outsiders], self.rng.choice([1, 2])):
            for number in self.rng.sample(range(1, ITEMS + 1), self.rng.choice([1, 2, 3])):
                values = self._values()
                if self.rng.random() < 0.25:  # a table need not have everything
                    values.pop("clear")
                rows += [
                    ForeignLabel(len(rows) + place, f"i{number:05}", name, criterion, "item", value)
                    for place, (criterion, value) in enumerate(values.items(), 2)
                ]
        return rows

    def bring(self) -> str:
        """Labels from a file."""
        done = import_labels(self.db, self.study.researcher, self.of, rows=self._rows(), source="labels.csv")
        self.batches.append(done.batch)
        return f"{done.annotations} by {done.annotators}"

    def bring_from_elsewhere(self) -> str:
        """Annotations of another program, where the same person may have changed theirs, or skipped."""
        with self.db.read() as session:
            query = text("SELECT id FROM study_item WHERE purpose = 'sample' ORDER BY position")
            places = list(session.execute(query).scalars())
        name = self.rng.choice([*(actor.name for actor in self.people), *self.outsiders])
        annotations = [
            AnnotationElsewhere(
                place, name, number,
                [GivenLabel(criterion, "item", value) for criterion, value in self._values().items()],
                skipped=self.rng.random() < 0.2, at=datetime.now(UTC),
            )
            for number, place in enumerate(self.rng.sample(places, 2), 1)
        ]  # fmt: skip
        done = take_back(self.db, self.study.researcher, self.of, annotations=annotations, source="elsewhere")
        if done.stored:
            self.batches.append(done.stored.batch)
        return f"{name}: {done.new} new, {done.changed} changed, {done.skipped} skipped"

    def withdraw(self) -> str | None:
        if not self.batches:
            return None
        batch, back = self.rng.choice(self.batches), self.rng.random() < 0.5
        withdraw_batch(self.db, self.study.researcher, self.study.project_id, batch, reason="or not", reinstates=back)
        return f"{batch} {'back' if back else 'out'}"

    def decide(self) -> str | None:
        """An adjudicator decides what is needed of an item, or decides it anew."""
        with self.db.read() as session:
            query = text("SELECT study_item_id FROM settlement WHERE state IN ('disputed', 'adjudicated') ORDER BY 1")
            places = list(session.execute(query).scalars())
        if not places:
            return None
        place, actor, values = self.rng.choice(places), self.rng.choice(self.deciders), self._values()
        again = self.rng.random() < 0.2
        decisions = [UnitDecision(name, "item", value, "so it is") for name, value in values.items()]
        if self.rng.random() < 0.5:  # only what is needed
            decisions = [one for one in decisions if one.criterion != "clear"]
        adjudicate(self.db, actor, place, uid=uuid.uuid4().hex, decisions=decisions, reason="read", again=again)
        return f"{place} by {self.deciders.index(actor)}: {[(one.criterion, one.value) for one in decisions]}"

    def revise(self) -> str:
        item, field = f"i{self.rng.randint(1, ITEMS):05}", self.rng.choice(["answer", "question"])
        fields = {field: f"text {self.rng.random()}"}
        revise_item(
            self.db, self.study.researcher, self.study.project_id, external_id=item, fields=fields, reason="wrong"
        )
        return f"{item} {field}"

    def recheck(self) -> str:
        overlap = self.rng.choice([None, 1, 2])
        sent = send_to_recheck(self.db, self.study.researcher, self.of, overlap=overlap, reason="rewritten")
        return f"{[(one.item, one.criteria) for one in sent]} overlap {overlap}"

    def end(self) -> str:
        item, state = f"i{self.rng.randint(1, ITEMS):05}", self.rng.choice([None, None, "rejected", "withdrawn"])
        end_item(self.db, self.study.researcher, self.study.project_id, external_id=item, state=state, reason="by hand")
        return f"{item} {state}"

    def state(self) -> str:
        state = self.rng.choice([StudyState.RUNNING, StudyState.RUNNING, StudyState.PAUSED, StudyState.CLOSED])
        set_state(self.db, self.study.researcher, self.of, state=state, reason="a while")
        self.halted = 0 if state == StudyState.RUNNING else 4
        return state.value

    def go_on(self) -> str:
        """A study that was halted some acts ago runs again."""
        set_state(self.db, self.study.researcher, self.of, state=StudyState.RUNNING, reason="go on")
        return "running"
