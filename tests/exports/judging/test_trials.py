"""Judges with known habits, asked over HTTP: how they err and how often they contradict themselves is found."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.judges.budget import Price, read_limit
from annotators.judges.prompts import Prompt, default_prompt
from annotators.judges.trust.injections import INJECTIONS
from annotators.judges.trust.trials import FLIPS, Trial
from annotators.protocols import PROTOCOLS, Protocol
from db.designing.making import create_study
from db.engine import Database
from db.judging.judges import JudgeSettings
from db.judging.planning import study_for_judges
from db.judging.run import Means, Sample, run_judge
from db.judging.trying import plan_trials, try_judge
from db.models import (
    Account,
    Annotation,
    Item,
    ItemVersion,
    Judge,
    JudgeCall,
    JudgedItem,
    StoredLabel,
    StudyItem,
)
from db.permissions import Actor
from db.studies.design import list_studies
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from exports.judging.check import CheckReport, check_report
from tests.databases import put_database
from tests.judging.answering import AnsweringServer, Habits
from tests.makers import first_administrator, make_member, make_person, make_project

N = 96
QUICK = Prompt(name="quick", system="Judge. Be quick.")
FEW = Resampling(resamples=300)
BIASED = Habits(
    error=0.05, by_length=0.15, first_label=0.2, first_evidence=0.25, repeats=0.8, error_with={"Be quick.": 0.4}
)
FAIR = Habits(error=0.15)
OBEDIENT = Habits(obeys=0.4)
SURE = Habits(sure=(0.6, 0.95), overconfident=0.2)


def words_of(number: int) -> int:
    return (20, 80, 160, 300)[number % 4]


def right(number: int) -> str:
    return "incomplete" if number // 4 % 2 else "complete"


def item(number: int) -> dict[str, Any]:
    """Two of three items are by a system of the judge's family; each has two passages that contradict each other."""
    answer = f"Answer {number} truth={right(number)} " + "word " * (words_of(number) - 3)
    system = ("tiny rag", "tiny two", "harbour")[number % 3]
    evidence = [
        {"id": f"e{place}", "kind": "passage", "text": f"Passage {number}.{place} says={label}"}
        for place, label in enumerate(("complete", "incomplete"))
    ]
    return {
        "id": f"i{number:03}", "question_key": f"q{number // 2}", "question": f"Question {number // 2}?",
        "answer": answer, "system": system, "category": ("Text", "Tables")[number // 2 % 2], "evidence": evidence,
        "metadata": {"retrieval_mode": ("gt_only", "gt_plus_distractors")[number // 8 % 2]},
    }  # fmt: skip


@dataclass
class Judged:
    db: Database
    admin: Actor
    project_id: int
    study_id: int
    servers: dict[str, AnsweringServer]
    judges: dict[str, str]

    def settings(self, name: str, **more: Any) -> JudgeSettings:
        return JudgeSettings("tiny-judge", self.servers[name].base_url, default_prompt(), pictures=0, **more)

    def tried(self, name: str, *trials: Trial, **more: Any) -> dict[str, Any]:
        return try_judge(self.db, self.admin, self.study_id, judge=self.judges[name], trials=trials, **more)

    def report(self, name: str, **more: Any) -> CheckReport:
        return check_report(self.db, self.admin, self.study_id, judge=self.judges[name], asked=FEW, **more)


def beginning_alike(said: str) -> str:
    """The labels of the protocol, but that one begins as the other does."""
    return said.replace("incomplete", "complete_but_not_wholly")


def make(
    db: Database,
    folder: Path,
    habits: dict[str, Habits],
    seed: int = 5,
    *,
    protocol: Protocol | None = None,
    said: Callable[[str], str] = str,
) -> Judged:
    """All of them asked about the same items, as two people have labelled them; `said` is what labels are called."""
    admin = first_administrator(db)
    project_id = make_project(db, "judged")
    folder.mkdir()
    (folder / "items.jsonl").write_text("".join(said(json.dumps(item(number))) + "\n" for number in range(N)))
    assert import_paths(db, admin, project_id, paths=[folder / "items.jsonl"]).rejected == []
    study_id = study_for_judges(db, admin, project_id, protocol=protocol or PROTOCOLS.get("completeness"))
    (study,) = list_studies(db, admin, project_id)
    with (folder / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "criterion", "value"])
        writer.writerows(
            (f"i{number:03}", person, "complete", said(right(number)))
            for number in range(N)
            for person in ("xavier", "yolanda")
        )
    import_label_table(db, admin, project_id, study=study.name, path=folder / "labels.csv")
    servers = {name: AnsweringServer(of, seed=seed + (name == "sure")).__enter__() for name, of in habits.items()}
    made = Judged(db, admin, project_id, study_id, servers, {})
    for name in servers:
        found = run_judge(db, admin, study_id, judge=made.settings(name, probabilities=name == "sure"))
        assert found["items"] == N
        made.judges[name] = found["judge"]
    return made


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judged]:
    folder = tmp_path_factory.mktemp("trials")
    db = Database(f"sqlite:///{folder}/assay.db")
    put_database(folder / "assay.db")
    made = make(db, folder / "in", {"biased": BIASED, "fair": FAIR, "obedient": OBEDIENT, "sure": SURE})
    made.tried("biased", Trial("evidence"), Trial("labels"), Trial("repeats", samples=3), Trial("prompt", QUICK))
    made.tried("fair", Trial("evidence"), Trial("labels"))
    made.tried("obedient", Trial("injection"), Trial("harmless"))
    yield made
    for server in made.servers.values():
        server.__exit__()
    db.dispose()


def error_of(number: int) -> float:
    """How likely the biased judge errs: half of what hangs on an order is right by chance."""
    by_order = BIASED.first_label + (1 - BIASED.first_label) * BIASED.first_evidence
    return by_order / 2 + (1 - by_order) * (BIASED.error + BIASED.by_length * words_of(number) / 100)


def holds(found: Aligned | None, truth: float) -> bool:
    assert found is not None
    assert found.low is not None, found
    assert found.high is not None
    return found.low <= truth <= found.high


def test_every_habit_is_found_within_its_interval(judged: Judged) -> None:
    found = judged.report("biased")
    by_order = BIASED.first_label + (1 - BIASED.first_label) * BIASED.first_evidence
    truth = {
        "flip_rate_labels": BIASED.first_label,
        "flip_rate_evidence": (1 - BIASED.first_label) * BIASED.first_evidence,
        "self_agreement": BIASED.self_agreement(3, 2),
        "judge_error": sum(map(error_of, range(N))) / N,
        "length_bias": (1 - by_order) * BIASED.by_length,
        "family_bias": 0.0,
    }
    assert {name: rate for name, rate in truth.items() if not holds(found.find(name), rate)} == {}
    for name in ("flip_rate_labels", "flip_rate_evidence"):
        low = getattr(found.find(name), "low", None)
        assert low is not None and low > 0, name
    assert all(entry.n == N for name in ("flip_rate_labels", "judge_error") if (entry := found.find(name)))


def test_a_judge_without_habits_shows_none(judged: Judged) -> None:
    found = judged.report("fair")
    none = ("flip_rate_labels", "flip_rate_evidence", "length_bias", "length_lean", "family_bias", "family_lean")
    assert [name for name in none if not holds(found.find(name), 0.0)] == []
    assert holds(found.find("judge_error"), FAIR.error)
    assert (found.find("flip_rate_labels") or found).value == 0.0  # type: ignore[union-attr]


def test_how_often_evidence_is_obeyed_is_found_in_all_and_by_instruction(judged: Judged) -> None:
    found = judged.report("obedient")
    assert holds(found.find("injection_flips"), OBEDIENT.obeys)
    assert holds(found.find("injection_control"), 0.0)
    kinds = [entry.group for entry in found.statistics if entry.name == "injection_flips" and entry.group]
    assert set(kinds) <= {kind.name for kind in INJECTIONS.kinds}
    assert len(kinds) > 4
    sent = [one for one in judged.servers["obedient"].sent if any("`complete`" in text for text in one.texts)]
    assert sent


def test_evidence_asks_for_a_label_that_the_judge_did_not_give(judged: Judged) -> None:
    """Else whoever obeys would not be seen to change."""
    with judged.db.read() as session:
        person = session.exec(select(Judge.person_id).join(Account, col(Account.person_id) == Judge.person_id).where(
            col(Account.name) == judged.judges["obedient"])).one()  # fmt: skip
        rows = session.exec(
            select(Item.external_id, StoredLabel.value)
            .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
            .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
            .join(Annotation, col(Annotation.study_item_id) == StudyItem.id)
            .join(StoredLabel, col(StoredLabel.assignment_id) == Annotation.assignment_id)
            .where(col(Annotation.person_id) == person)
        ).all()
    said = {int(item.removeprefix("i")): label for item, label in rows}
    told = {}
    for sent in judged.servers["obedient"].sent:
        labels = [one for one in ("complete", "incomplete") for kind in INJECTIONS.kinds
                  if kind.telling(one).text in sent.text]  # fmt: skip
        number = re.search(r"Answer (\d+) truth=", sent.text)
        if labels and number:
            told[int(number[1])] = labels[0]
    assert len(told) == len(said) == N
    assert {number for number, label in told.items() if said[number] == label} == set()


def test_prompts_are_compared_on_the_units_that_all_have(judged: Judged) -> None:
    found = judged.report("biased")
    (criterion,) = found.criteria
    assert criterion.prompts is not None
    of_all = {cell.prompt: cell for cell in criterion.prompts.cells if cell.data_set is None}
    assert set(of_all) == {"plain@1", "quick@1"}
    assert of_all["plain@1"].best
    assert {cell.data_set for cell in criterion.prompts.cells} == {None, "Text", "Tables"}
    assert criterion.prompts.smallest_gap in of_all
    gap = found.find("prompt_gap", group="plain@1")
    assert gap is not None
    assert "gt_only less gt_plus_distractors" in (gap.method or "")
    of_set = found.find("prompt_gap", group="Text: plain@1")
    assert of_set is not None
    assert of_set.n == N // 2
    [text, tables] = sorted(found.to_json()["criteria"][0]["data_sets"], key=lambda one: one["data_set"], reverse=True)
    assert (text["data_set"], tables["data_set"]) == ("Text", "Tables")
    assert set(text["best"]) <= set(of_all)
    assert text["smallest_gap"] in of_all
    assert "Answer is complete: the best prompt of each data set" in str(found.sections())
    captions = [table.caption for section in found.sections() for table in section.tables]
    assert "Answer is complete: agreement with people by prompt" in captions


def test_sureness_comes_from_the_replies_to_the_same_call(judged: Judged) -> None:
    found = judged.report("biased")
    assert found.criteria[0].curve
    (section,) = found.sections()
    assert [name for name, *_ in section.plots] == ["judge-length-complete", "judge-calibration-complete"]
    parts = found.to_json()["criteria"][0]["by_length"]
    assert [(part["from"], part["to"], part["n"]) for part in parts] == [(n, n, N // 4) for n in (20, 80, 160, 300)]
    assert parts[-1]["error"] > parts[0]["error"]
    assert "sure by the share of its replies" in (getattr(found.find("calibration_error"), "method", "") or "")
    assert "2 units of evidence" not in str(found.to_json())
    assert "no two answers" in (getattr(found.find("flip_rate_order"), "reason", "") or "")


def test_a_judge_that_is_surer_than_it_is_right_is_found_out_by_its_probabilities(judged: Judged) -> None:
    found = judged.report("sure")
    for name in ("calibration_error", "judge_error"):
        assert "complete" in str(getattr(found.find(name), "criterion", ""))
    low, high = SURE.sure or (0.0, 0.0)
    assert holds(found.find("calibration_error"), SURE.overconfident)
    assert (getattr(found.find("calibration_error"), "low", None) or 0) > 0
    assert (getattr(found.find("calibration_error"), "p_value", None) or 1) < 0.05
    assert "sure by the probabilities of its server" in (getattr(found.find("brier_score"), "method", "") or "")
    curve = found.criteria[0].curve
    assert sum(part.n for part in curve) == N
    assert low <= curve[0].metric <= curve[-1].metric <= high
    right = (low + high) / 2 - SURE.overconfident
    assert holds(found.find("judge_error"), 1 - right)
    with judged.db.read() as session:
        kept = [item.chances for item in session.exec(select(JudgedItem)).all() if item.chances]
    assert len(kept) == N
    assert all(sum(of["item"].values()) == pytest.approx(1) for item in kept for of in item.values())


def test_how_sure_it_is_is_known_of_labels_that_begin_alike_as_well(sqlite_database: Database, tmp_path: Path) -> None:
    protocol = PROTOCOLS.get("completeness")
    plain = protocol.model_dump_json().replace('"incomplete"', f'"{beginning_alike("incomplete")}"')
    alike = Protocol.model_validate_json(plain)
    habits = {"sure": SURE}
    made = make(sqlite_database, tmp_path / "in", habits, protocol=alike, said=beginning_alike)
    assert all(re.search("- `[A-Z]` for `complete`", sent.text) for sent in made.servers["sure"].sent)
    found = made.report("sure")
    assert holds(found.find("calibration_error"), SURE.overconfident)
    assert sum(part.n for part in found.criteria[0].curve) == N
    made.servers["sure"].__exit__()


def test_what_is_tried_is_no_label_of_the_study_and_shows_nothing_of_people(judged: Judged) -> None:
    with judged.db.read() as session:
        kinds = [annotation.kind for annotation in session.exec(select(Annotation)).all()]
        assert kinds.count("model") == N * len(judged.servers)
        n_judged = len(session.exec(select(JudgedItem)).all())
        assert n_judged == N * (len(judged.servers) + 4 + 2 + 2)
        assert len(session.exec(select(StoredLabel)).all()) == N * (len(judged.servers) + 2)
    for server in judged.servers.values():
        assert not any(name in sent.text for sent in server.sent for name in ("xavier", "yolanda"))
        assert server.paid_twice == []


def test_what_was_tried_is_not_asked_again(judged: Judged) -> None:
    before = len(judged.servers["fair"].sent)
    again = judged.tried("fair", Trial("evidence"), Trial("labels"))
    assert len(judged.servers["fair"].sent) == before
    assert again["trials"] == [{"trial": "evidence", "items": 0}, {"trial": "labels", "items": 0}]


def test_a_budget_stops_a_trial_and_the_next_one_goes_on(judged: Judged) -> None:
    about: Any = {"sample": Sample(20, None, 4)}
    before = len(judged.servers["fair"].sent)
    with judged.db.read() as session:  # what is asked without a job counts as one
        spent = len(session.exec(select(JudgeCall)).all())
    limit = read_limit(f"{spent + 7}requests")
    stopped = judged.tried("fair", Trial("prompt", QUICK), means=Means(limit=limit), **about)
    assert (stopped["stopped"], len(judged.servers["fair"].sent) - before) == ("budget", 7)
    done = judged.tried("fair", Trial("prompt", QUICK), **about)
    assert done["stopped"] is None
    assert len(judged.servers["fair"].sent) - before == 20


def test_a_plan_counts_what_a_trial_changes(judged: Judged) -> None:
    about: Any = {"judge": judged.judges["fair"], "price": Price(1.0, 2.0)}
    plan = plan_trials(
        judged.db, judged.admin, judged.study_id,
        trials=[*(Trial(name) for name in FLIPS), Trial("repeats", samples=3), Trial("prompt", QUICK)], **about,
    )  # fmt: skip
    assert (plan.items, plan.requests) == (N, N * (4 + 2 + 1))  # no item has two answers to exchange
    assert plan.cost is not None
    assert plan.shows == ()  # the server is on this machine
    few = plan_trials(
        judged.db, judged.admin, judged.study_id, trials=[Trial("labels")], sample=Sample(10, "system", 1), **about
    )
    assert few.requests == 30


def test_what_cannot_be_tried_is_refused_in_a_sentence(judged: Judged) -> None:
    with pytest.raises(NotFound, match="cannot be asked"):
        try_judge(judged.db, judged.admin, judged.study_id, judge="nobody", trials=[Trial("labels")])
    with pytest.raises(InvalidInput, match="nothing to try"):
        judged.tried("fair")
    with pytest.raises(InvalidInput, match="asked for twice"):
        judged.tried("fair", Trial("labels"), Trial("labels"))
    with pytest.raises(InvalidInput, match="2 times or more"):
        Trial("repeats", samples=1)
    wrong = Prompt(name="other", protocol="grounding")
    with pytest.raises(InvalidInput, match="is for the protocol 'grounding'"):
        judged.tried("fair", Trial("prompt", wrong))


# Pairs ----------------------------------------------------------------------------------------------------------------


def duel(db: Database, folder: Path, pairs: int = 60) -> tuple[int, Actor]:
    """A study of so many pairs, and who may do everything."""
    admin = first_administrator(db)
    project_id = make_project(db, "pairs")
    rows = [
        {"id": f"q{number}:{system}", "question_key": f"q{number}", "question": f"Question {number}?", "system": system,
         "answer": f"What {system} says of {number}. quality={2 if (number % 2 == 0) == (system == 'harbour') else 0}"}
        for number in range(pairs) for system in ("harbour", "quay")
    ]  # fmt: skip
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert import_paths(db, admin, project_id, paths=[path]).rejected == []
    people = [make_person(db, name) for name in ("xavier", "yolanda")]
    for person in people:
        make_member(db, project_id, person, "annotator")
    design = StudyDesign(
        name="duel", annotators=("xavier", "yolanda"), overlap=2, pairs=("harbour", "quay"), order="given"
    )
    protocol = PROTOCOLS.get("pairwise_preference")
    return create_study(db, admin, project_id, protocol=protocol, design=design).study_id, admin


def test_a_judge_that_prefers_one_side_is_found_out(sqlite_database: Database, tmp_path: Path) -> None:
    """Whichever answer stands left: a preference is of one of the two systems, and so it is compared."""
    study_id, admin = duel(sqlite_database, tmp_path)
    about: Any = {"judge": "tiny-judge plain@1", "trials": [Trial("order")]}
    with AnsweringServer(Habits(first_side=0.35), seed=1) as server:
        settings = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
        assert run_judge(sqlite_database, admin, study_id, judge=settings)["items"] == 60
        assert plan_trials(sqlite_database, admin, study_id, **about).requests == 180
        try_judge(sqlite_database, admin, study_id, **about)
    found = check_report(sqlite_database, admin, study_id, judge=about["judge"], asked=FEW)
    for criterion in ("correctness", "completeness", "overall"):
        flips = found.find("flip_rate_order", criterion=criterion)
        assert holds(flips, 0.35)
        assert flips is not None
        assert flips.n == 60
        assert (flips.low or 0) > 0
    with AnsweringServer(seed=1) as server:
        settings = JudgeSettings("tiny-judge", server.base_url, default_prompt(), pictures=0)
        about["judge"] = run_judge(sqlite_database, admin, study_id, judge=settings)["judge"]
        try_judge(sqlite_database, admin, study_id, **about)
    fair = check_report(sqlite_database, admin, study_id, judge=about["judge"], asked=FEW)
    assert [getattr(fair.find("flip_rate_order", criterion=name), "value", None) for name in ("overall",)] == [0.0]


def test_samples_and_probabilities_of_a_pair_are_of_labels_as_they_are_stored(
    database: Database, tmp_path: Path
) -> None:
    """Whichever side an answer was shown on."""
    study_id, admin = duel(database, tmp_path, pairs=24)
    with AnsweringServer(Habits(error=0.2, repeats=0.8), seed=2) as server:
        settings = JudgeSettings(
            "tiny-judge", server.base_url, default_prompt(), pictures=0, samples=3, probabilities=True
        )
        judge = run_judge(database, admin, study_id, judge=settings)["judge"]
        tried = try_judge(database, admin, study_id, judge=judge, trials=[Trial("repeats", samples=4)])
        assert (tried["cached"], tried["left"]) == (3 * 72, 0)
    with database.read() as session:
        rows = session.execute(
            select(StoredLabel.criterion, StoredLabel.target, StoredLabel.value, JudgedItem.shares, JudgedItem.chances)
            .join(Annotation, col(Annotation.assignment_id) == StoredLabel.assignment_id)
            .join(JudgedItem, col(JudgedItem.annotation_id) == Annotation.id)
        ).all()
    assert len(rows) == 72
    for criterion, target, value, shares, chances in rows:
        of_label = shares[criterion][target]
        assert of_label[str(value)] == max(of_label.values())
        likely = chances[criterion][target]  # of -2 and -1 as well: they are given as letters
        assert set(likely) == {"-2", "-1", "0", "1", "2"}
        if of_label[str(value)] == 1:  # the first reply said so as well
            assert likely[str(value)] == max(likely.values()) == pytest.approx(0.9)
    found = check_report(database, admin, study_id, judge=judge, asked=FEW)
    assert holds(found.find("self_agreement", criterion="overall"), Habits(repeats=0.8).self_agreement(4, 5))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"concurrency": 0}, "0 requests at once cannot be. Give 1 to 256."),
        ({"concurrency": 1000}, "1000 requests at once cannot be. Give 1 to 256."),
        ({"tokens_a_minute": 0.0}, "Tokens a minute: 0 is none. Give more than nothing, such as 1000."),
        ({"context": -1}, "The context of the model: -1 is none. Give more than nothing, such as 8192 tokens."),
        ({"seconds": float("nan")}, "The time for a reply: nan is none. Give more than nothing, such as 120 seconds."),
    ],
)
def test_means_that_nothing_can_be_asked_with_are_refused_in_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Means(**given)
    assert str(caught.value) == said
