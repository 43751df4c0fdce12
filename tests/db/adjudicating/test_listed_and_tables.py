"""Disputes listed with their votes, and decided by a table: all of it or nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, NotFound
from db.adjudicating.adjudications import UnitDecision, adjudicate, settlement_counts
from db.adjudicating.listed import listed_disputes
from db.annotating.assignments import return_to_annotator
from db.engine import Database
from db.permissions import Actor
from db.studies.design import find_study
from exports.importing.decisions import import_decisions
from tests.db.adjudicating.test_adjudications import adjudicator, assignment_of, final, set_role, study_item, voted
from tests.exports.formats.places import Place
from tests.makers import StudyInUse, make_member, make_person

HEADING = ("item", "criterion", "target", "value", "reason")


def table(path: Path, *rows: Sequence[str], heading: Sequence[str] = HEADING) -> Path:
    path.write_text("\n".join(",".join(row) for row in (heading, *rows)) + "\n", encoding="utf-8")
    return path


def take(study: StudyInUse, actor: Actor, path: Path, **options: Any) -> dict[str, int]:
    return import_decisions(study.db, actor, study.study_id, path=path, **options).to_json()


def test_disputes_are_listed_with_their_votes_most_disputed_first(database: Database) -> None:
    study = voted(database, ("yes",) * 4, ("yes", "yes", "yes", "no"), ("yes", "no", "yes", "no"))
    found = [dispute.to_json() for dispute in listed_disputes(database, study.researcher, study.study_id)]
    assert [(row["item"], row["stage"]) for row in found] == [("i00003", "first"), ("i00002", "first")]
    unit = {"criterion": "right", "target": "item"}
    assert found[0]["units"] == [{**unit, "votes": {"no": 2, "yes": 2}, "weight": 0.5}]
    assert found[1]["units"] == [{**unit, "votes": {"yes": 3, "no": 1}, "weight": 0.25}]


def test_what_somebody_has_yet_to_judge_again_is_not_listed_to_them(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"))
    both = study.annotators[1]
    set_role(study, both, "adjudicator")
    assert len(listed_disputes(database, both, study.study_id)) == 2
    return_to_annotator(database, study.researcher, assignment_of_item(study, 1), reason="look again")
    assert [row.item for row in listed_disputes(database, both, study.study_id)] == ["i00002"]


def assignment_of_item(study: StudyInUse, who: int) -> int:
    from sqlmodel import select

    from db.models import Assignment

    with study.db.read() as session:
        mine = Assignment.person_id == study.annotators[who].person_id
        return session.exec(select(Assignment.id).where(mine).order_by(Assignment.id)).first() or 0  # type: ignore[arg-type]


def test_a_table_decides_and_twice_changes_nothing(database: Database, tmp_path: Path) -> None:
    study = voted(database, ("yes", "no"), ("yes", "no"))
    actor = adjudicator(study)
    rows = [("i00001", "right", "", "no", ""), ("i00002", "right", "item", "yes", "page 3")]
    path = table(tmp_path / "d.csv", *rows)
    assert take(study, actor, path) == {"items": 2, "units": 2, "overruled": 0, "unchanged": 0}
    assert final(study) == [("i00001", "adjudicated", "no"), ("i00002", "adjudicated", "yes")]
    assert take(study, actor, path) == {"items": 0, "units": 0, "overruled": 0, "unchanged": 2}
    other = table(tmp_path / "e.csv", ("i00001", "right", "item", "yes", ""))
    with pytest.raises(Conflict, match="line 2: Somebody else has adjudicated"):
        take(study, actor, other)
    assert take(study, actor, other, again=True)["items"] == 1
    assert final(study)[0] == ("i00001", "adjudicated", "yes")
    # What was decided first is decided once more: the last round counts, not the first table.
    assert take(study, actor, path, again=True) == {"items": 1, "units": 1, "overruled": 0, "unchanged": 1}
    assert final(study)[0] == ("i00001", "adjudicated", "no")


def test_every_problem_is_named_with_its_line_and_nothing_is_done(database: Database, tmp_path: Path) -> None:
    study = voted(database, ("yes", "yes", "no"), ("yes", "no", "no"), ("yes", "no", "no"))
    path = table(
        tmp_path / "d.csv",
        ("i00001", "right", "item", "yes", ""),
        ("i00002", "right", "item", "yes", ""),
        ("i00003", "right", "item", "maybe", "why"),
        ("i00001", "right", "item", "no", "why"),
        ("i09999", "right", "item", "no", "why"),
        ("i00003", "wrong", "item", "no", "why"),
        ("i00003", "right", "", "", "why"),
        ("i00003", "right", "evidence:e1", "no", "why", "more"),
    )
    with pytest.raises(InvalidInput, match="Nothing was decided") as caught:
        take(study, adjudicator(study), path)
    problems = {problem.line: f"{problem.problem} {problem.remedy}" for problem in caught.value.problems}
    assert sorted(problems) == [3, 4, 5, 6, 7, 8, 9]
    assert problems[3] == "Right: 'no' has the majority, and you decide 'yes'. Give a reason."
    assert "'maybe' is not a label" in problems[4]
    assert "decided in line 2 already" in problems[5]
    assert "'i09999' is not in the study" in problems[6]
    assert "'wrong' is no criterion" in problems[7]
    assert "`value` is empty" in problems[8]
    assert all(problem.remedy for problem in caught.value.problems)
    assert settlement_counts(database, study.researcher, study.study_id)["disputed"] == 3


def test_who_may_not_on_the_page_may_not_by_a_table(database: Database, tmp_path: Path) -> None:
    study = voted(database, ("yes", "no"))
    own = study.annotators[0]
    set_role(study, own, "adjudicator")
    path = table(tmp_path / "d.csv", ("i00001", "right", "item", "no", ""))
    with pytest.raises(NotAllowed, match="line 2: You annotated this item yourself"):
        take(study, own, path)
    viewer = make_person(database)
    make_member(database, study.project_id, viewer, "viewer")
    with pytest.raises(NotAllowed, match="viewer"):
        take(study, viewer, path)
    return_to_annotator(database, study.researcher, assignment_of(study, 1), reason="look again")
    with pytest.raises(Conflict, match="does not have all its annotations"):
        take(study, adjudicator(study), path)


def test_a_unit_that_stays_open_is_named(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol="self_contained")
    for who, value in ((0, "true"), (1, "false")):
        study.submit(who, study.work(who)["items"][0], {"self_contained": value})
    path = table(tmp_path / "d.csv", ("i00001", "self_contained", "evidence:e1", "true", ""))
    with pytest.raises(InvalidInput) as caught:
        take(study, adjudicator(study), path)
    said = [problem.problem for problem in caught.value.problems]
    assert any("Nobody labelled 'self_contained' of 'evidence:e1'" in words for words in said)
    assert any("Not decided yet" in words for words in said)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("item,criterion\n", InvalidInput, "the column 'value' is missing"),
        ("item,criterion,value\n", InvalidInput, "has no rows"),
        ("", InvalidInput, "is empty"),
        (None, NotFound, "There is no file"),
    ],
)
def test_what_is_no_table_of_decisions_is_refused(
    database: Database, tmp_path: Path, text: str | None, error: type[AssayError], words: str
) -> None:
    study = voted(database, ("yes", "no"))
    path = tmp_path / "d.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=words):
        take(study, adjudicator(study), path)


def test_a_table_goes_with_decisions_of_the_page(database: Database, tmp_path: Path) -> None:
    study = voted(database, ("yes", "no"))
    actor = adjudicator(study)
    adjudicate(database, actor, study_item(study), uid="u", decisions=[UnitDecision("right", "item", "no")])
    path = table(tmp_path / "d.csv", ("i00001", "right", "item", "no", ""))
    with pytest.raises(Conflict, match="Somebody else has adjudicated"):
        take(study, actor, path)


# Real ratings ---------------------------------------------------------------------------------------------------------

RATED = ("correctness", "completeness", "overall")


def disputes_of_file(path: Path) -> dict[tuple[str, str], dict[str, dict[str, int]]]:
    """(query, systems) → criterion → votes, of every pair on which its two raters differ, counted from the file.

    Where a pair stands the other way round, its rating has the other sign.
    """
    given: dict[tuple[str, str], list[dict[str, int]]] = defaultdict(list)
    for row in orjson.loads(path.read_bytes()):
        names = [row[side]["model_name"] for side in ("model1", "model2")]
        key = (f"{row['dataset']}/{row['query_id']}", " ".join(sorted(names)))
        sign = 1 if names == sorted(names) else -1
        given[key].append({name: sign * row[f"{name}_label"] for name in RATED})
    found = {}
    for key, ratings in given.items():
        assert len(ratings) == 2
        differ = {
            name: dict(Counter(str(rating[name]) for rating in ratings))
            for name in RATED
            if len({rating[name] for rating in ratings}) > 1
        }
        if differ:
            found[key] = differ
    return found


def test_the_real_ratings_replayed_have_the_disputes_that_are_counted_from_the_file(
    sqlite_database: Database, shared_data: Path, tmp_path: Path
) -> None:
    place = Place(sqlite_database, tmp_path / "home")
    source = shared_data / "ragchecker" / "human_labeled_data.json"
    report = place.take(source, labels_into="raters")
    assert (report.labels.n, report.labels.annotations) == (1680, 560)
    study_id = find_study(place.db, place.actor, place.project, name="raters")
    listed = listed_disputes(place.db, place.actor, study_id)
    found = {}
    for dispute in listed:
        query, first = dispute.item.rsplit(":", 1)
        second = (dispute.other or "").rsplit(":", 1)[1]
        in_order = [first, second] == sorted([first, second])
        found[query, " ".join(sorted([first, second]))] = {
            unit.criterion: {value if in_order else str(-int(value)): n for value, n in unit.votes.items()}
            for unit in dispute.units
        }
    assert found == disputes_of_file(source)
    weights = [round(dispute.weight, 6) for dispute in listed]
    assert weights == sorted(weights, reverse=True)
    # Decided all by a table: every disputed unit gets the first value that was given.
    rows = [
        (dispute.item, dispute.other or "", unit.criterion, "pair", next(iter(unit.votes)))
        for dispute in listed
        for unit in dispute.units
    ]
    path = table(tmp_path / "d.csv", *rows, heading=("item", "other_item", "criterion", "target", "value"))
    judge = make_person(place.db)
    make_member(place.db, place.project, judge, "adjudicator")
    done = import_decisions(place.db, judge, study_id, path=path)
    assert (done.items, done.units) == (len(listed), len(rows))
    assert listed_disputes(place.db, place.actor, study_id) == []
