"""Labels made elsewhere, what statistics take, and what a withdrawn import leaves."""

from __future__ import annotations

import json
import math
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError
from sqlmodel import SQLModel, select

from annotators.criteria import Label
from annotators.criteria.grade import Grade
from annotators.criteria.text import Text
from annotators.errors import Conflict, InvalidInput
from annotators.items.parsed import ForeignLabel
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, settlement_counts
from db.allotting.settling import update_settlements
from db.annotating.amendments import set_state
from db.annotating.assignments import return_to_annotator
from db.annotating.status import study_status
from db.batches import withdraw_batch
from db.elsewhere.labels import NotCounted, import_labels, plan_labels
from db.engine import Database
from db.models import Image, ItemVersion, Study, StudyState
from db.people.accounts import erase_person
from db.quality.omissions import leave_out
from db.query import plain_rows
from db.studies import tallies
from db.studies.design import list_studies, protocol_of
from db.studies.ratings import ratings
from db.studies.tallies import Tallies
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.formats.labels import read_labels
from exports.importing.labels import import_label_table
from tests.db.studies.recount import recount
from tests.exports.judging.makers import judge_labels
from tests.makers import StudyInUse, first_administrator, make_person, make_project, tiny_protocol


def rows(*cells: tuple[str, str, str], criterion: str = "right") -> list[ForeignLabel]:
    return [ForeignLabel(n, item, who, criterion, "item", value) for n, (item, who, value) in enumerate(cells, 2)]


def test_imported_labels_count_and_their_people_need_no_login(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    given = rows(("i00001", "x", "yes"), ("i00001", "y", "no"), ("i00002", "x", "yes"), ("i00002", "y", "yes"))
    report = import_labels(database, study.researcher, study.study_id, rows=given, source="table.csv")
    assert (report.labels, report.annotations, report.annotators) == (4, 4, ["x", "y"])
    found = ratings(database, study.researcher, study.study_id).criteria[0]
    assert sorted(found.values) == ["no", "yes", "yes", "yes"]
    assert len(set(found.units)) == 2


def test_the_status_says_how_many_annotations_are_of_nobody_in_its_table(database: Database) -> None:
    """Else what its annotators submitted does not make up what the study has."""
    study = StudyInUse(database, items=3, annotators=3, overlap=3)
    for who in range(2):
        study.label_all(who)
    given = rows(("i00001", "nils", "yes"), ("i00002", "nils", "yes"))
    import_labels(database, study.researcher, study.study_id, rows=given, source="table.csv")
    status = study_status(database, study.researcher, study.study_id)
    assert [annotator["submitted"] for annotator in status["annotators"]] == [3, 3, 0]
    assert (status["states"]["submitted"], status["made_elsewhere"]) == (8, 2)


def test_labels_that_came_without_a_time_have_none_though_their_import_had_one(database: Database) -> None:
    study, at = StudyInUse(database, items=2, annotators=2, overlap=2), datetime(2025, 3, 1, 12, tzinfo=UTC)
    ahead = datetime.now(UTC) + timedelta(hours=8)  # as a clock without a zone says it in the east
    first, second, third = rows(("i00001", "x", "yes"), ("i00002", "y", "no"), ("i00002", "z", "no"))
    given = [first._replace(time=at), second, third._replace(time=ahead)]
    import_labels(database, study.researcher, study.study_id, rows=given, source="table.csv")
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    found = ratings(database, study.researcher, study.study_id).annotations
    assert found.time[0] == at.timestamp()
    assert math.isnan(found.time[1])
    assert found.time[2] == pytest.approx(ahead.timestamp())
    assert found.time[3] == pytest.approx(time.time(), abs=60)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([("nowhere", "x", "yes")], "line 2: item 'nowhere'"),
        ([("i00001", "x", "maybe")], "line 2: 'maybe' is not a label"),
        ([("i00001", "x", "yes"), ("i00001", "x", "no")], "line 3: 'x' labels 'right' of 'i00001'"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_imported(database: Database, cells: list[Any], words: str) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    with pytest.raises(InvalidInput, match=words):
        import_labels(database, study.researcher, study.study_id, rows=rows(*cells), source="t.csv")
    assert ratings(database, study.researcher, study.study_id).criteria[0].values == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"value": "x" * 10_001}, "'why' has 10001 characters; at most 10000 are kept"),
        ({"value": "a\x00b"}, "'why' contains a character that cannot be stored"),
        ({"value": "a\ud83d"}, "'why' contains a character that cannot be stored"),
        ({"comment": "x" * 10_001}, "the comment has 10001 characters"),
        ({"comment": "a\x00b"}, "the comment contains a character that cannot be stored"),
        ({"annotator": "a\x00b"}, "the annotator contains a character that cannot be stored"),
        ({"annotator": "a\x1b[2J"}, "001B, which is not seen"),
    ],
)
def test_a_text_that_nobody_could_give_here_is_a_bad_row(database: Database, changed: Any, words: str) -> None:
    step = Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["why"])
    protocol = tiny_protocol(criteria=[Text(name="why", title="Why")], steps=[step])
    study = StudyInUse(database, items=2, annotators=2, overlap=2, protocol=protocol)
    fits, row = rows(("i00001", "x", "y" * 10_000), ("i00002", "x", "a"), criterion="why")
    about: dict[str, Any] = {"rows": [fits, row._replace(**changed)], "source": "t.csv"}
    [problem] = plan_labels(database, study.researcher, study.study_id, **about).problems
    assert (problem.line, words in problem.reason) == (3, True)
    with pytest.raises(InvalidInput, match=f"line 3: .*{words}"):
        import_labels(database, study.researcher, study.study_id, **about)
    about["rows"] = [fits._replace(comment="z" * 10_000)]
    assert import_labels(database, study.researcher, study.study_id, **about).labels == 1


@pytest.mark.parametrize(
    ("protocol", "label", "words"),
    [
        (
            "grounding",
            ("grounding", "evidence:gold-9", "required"),
            "no evidence 'gold-9'. It has: distractor-2",
        ),
        ("grounding", ("grounding", "claim:c1", "required"), "target 'claim:c1' is no evidence"),
        (
            "evidence_pages",
            ("evidence_page", "page:i00001.pdf:6", "evidence"),
            "has 5 pages, so that there is no page 6",
        ),
    ],
)
def test_a_target_that_the_item_lacks_is_refused_by_name_in_the_preview_and_by_the_import(
    sqlite_database: Database, protocol: str, label: tuple[str, str, str], words: str
) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1, protocol=protocol, n_evidence=2)
    given = [ForeignLabel(2, "i00001", "x", *label, None, None)]
    plan = plan_labels(sqlite_database, study.researcher, study.study_id, rows=given, source="t.csv")
    assert [words in problem.reason for problem in plan.problems] == [True]
    with pytest.raises(InvalidInput, match=words):
        import_labels(sqlite_database, study.researcher, study.study_id, rows=given, source="t.csv")


@pytest.mark.parametrize(
    ("criterion", "value", "words"),
    [
        ({"kind": "place", "target": "image"}, "block:9", "the answer has 2 paragraphs"),
        ({"kind": "order"}, '["b"]', "no order of the item's 2 images"),
        ({"kind": "order"}, '["a", "b", "c"]', "no order of the item's 2 images"),
        ({"kind": "order", "of": "question"}, '["a", "b"]', "no order of the item's 2 images"),
    ],
)
def test_a_place_or_an_order_that_the_item_cannot_have_is_refused(
    sqlite_database: Database, criterion: dict[str, Any], value: str, words: str
) -> None:
    shows = ["question", "answer", "images"]
    protocol = Protocol.model_validate(
        {
            "name": "images",
            "title": "Images",
            "guidelines": "Look.",
            "criteria": [{"name": "right", "title": "Right?", **criterion}],
            "steps": [{"name": "all", "title": "All", "shows": shows, "criteria": ["right"]}],
        }
    )

    def with_images(db: Database) -> None:
        with db.write() as session:
            [version] = session.exec(select(ItemVersion)).all()
            session.add(
                ItemVersion(item_id=version.item_id, number=2, question="?", answer="One.\n\nTwo.", content_hash="2")
            )
            session.flush()
            sides = {"a": "answer", "b": "answer", "q": "question", "r": "question"}
            for place, (key, side) in enumerate(sides.items()):
                session.add(Image(item_version_id=2, key=key, position=place, extra={"of": side}))

    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1, protocol=protocol, prepare=with_images)
    fits = {"place": "block:2", "order": '["r", "q"]' if "of" in criterion else '["b", "a"]'}[criterion["kind"]]
    target = "image:a" if criterion["kind"] == "place" else "item"
    for given, problems in ((value, [words]), (fits, [])):
        rows = [ForeignLabel(2, "i00001", "x", "right", target, given, None, None)]
        plan = plan_labels(sqlite_database, study.researcher, study.study_id, rows=rows, source="t.csv")
        assert [words in one.reason for one in plan.problems] == [True] * len(problems)


def test_labels_that_come_into_a_closed_study_or_of_who_is_left_out_are_told_not_to_count(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    name = study.annotators[0].name
    since = datetime(2025, 3, 1, tzinfo=UTC)
    leave_out(database, study.researcher, study.study_id, annotator=name, since=since, reason="at random")
    early, late, other = rows(("i00001", name, "yes"), ("i00002", name, "yes"), ("i00002", "x", "yes"))
    given = [early._replace(time=since - timedelta(days=1)), late._replace(time=since), other]
    plan = plan_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")
    done = import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")
    assert plan.not_counted == done.not_counted == NotCounted(left_out=1)
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="done")
    given = rows(("i00001", "y", "no"))
    plan = plan_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")
    done = import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")
    assert plan.not_counted == done.not_counted == NotCounted(surplus=1)
    assert ratings(database, study.researcher, study.study_id).criteria[0].values == ["yes", "yes"]
    with database.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
    assert (kept["submitted"], kept["left_out"], kept["surplus"]) == (2, 1, 1)


def test_the_same_people_and_items_cannot_be_imported_twice(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    given = rows(("i00001", "x", "yes"))
    import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")
    with pytest.raises(InvalidInput, match="already"):
        import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv")


def test_cannot_judge_is_counted_and_left_out(database: Database) -> None:
    from annotators.asking.submissions import GivenLabel
    from db.annotating.annotations import submit
    from db.annotating.committing import StepSubmission

    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    label = GivenLabel("right", "item", None, cannot_judge=True, reason="blurred")
    submit(
        database,
        study.annotators[0],
        study.study_id,
        step=StepSubmission("u", item["assignment"], 1, 0, (label,)),
    )
    found = ratings(database, study.researcher, study.study_id).criteria[0]
    assert (found.values, found.cannot_judge) == ([], 1)


def test_superseded_labels_are_not_measured(database: Database) -> None:
    from db.annotating.annotations import reopen

    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    study.submit(0, reopen(database, study.annotators[0], study.study_id), {"right": "no"})
    assert ratings(database, study.researcher, study.study_id).criteria[0].values == ["no"]


def test_the_raters_of_ragchecker_agree_as_published(sqlite_database: Database, shared_data: Path) -> None:
    """Two raters, 280 answer pairs: the values of ../shared/data/README.md."""
    records = json.loads((shared_data / "ragchecker" / "human_labeled_data.json").read_text())
    labels = [Label(value=value) for value in (-2, -1, 0, 1, 2)]
    names = ("correctness", "completeness", "overall")
    protocol = tiny_protocol(
        criteria=[
            Grade(
                name=name,
                title=name,
                labels=[x.model_copy(update={"key": k}) for x, k in zip(labels, "12345", strict=True)],
            )
            for name in names
        ],
        steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=list(names))],
    )
    study = StudyInUse(sqlite_database, items=280, annotators=2, overlap=2, protocol=protocol)
    given = []
    for row, record in enumerate(records):
        for name in names:
            value = record[f"{name}_label"]
            given.append(ForeignLabel(row, f"i{row // 2 + 1:05}", f"r{row % 2}", name, "item", str(value)))
    import_labels(sqlite_database, study.researcher, study.study_id, rows=given, source="ragchecker")
    expected = {
        "cohen_kappa": (0.3113, 0.4626, 0.4133),
        "krippendorff_alpha_nominal": (0.3099, 0.4617, 0.4107),
        "krippendorff_alpha_ordinal": (0.5865, 0.6828, 0.6836),
        "krippendorff_alpha_interval": (0.6338, 0.7188, 0.6988),
    }
    report = agreement_report(
        sqlite_database, study.researcher, study.study_id, resamples=100, statistics=["percent_agreement", *expected]
    )
    for name, values in expected.items():
        for criterion, value in zip(report.criteria, values, strict=True):
            found = criterion.find(name)
            assert found is not None
            assert found.value == pytest.approx(value, abs=5e-5), (name, criterion.criterion.name)
            assert found.low is not None
            assert found.low < value < (found.high or 0)


def test_labels_of_a_withdrawn_batch_no_longer_count_until_it_is_put_back(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    given = rows(("i00001", "x", "yes"), ("i00001", "y", "no"))
    batch = import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv").batch
    counts = settlement_counts(database, study.researcher, study.study_id)
    assert counts["disputed"] == 1
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="wrong file")
    assert ratings(database, study.researcher, study.study_id).criteria[0].values == []
    assert settlement_counts(database, study.researcher, study.study_id)["pending"] == 1
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="right after all", reinstates=True)
    assert settlement_counts(database, study.researcher, study.study_id)["disputed"] == 1


# Labels that come back ------------------------------------------------------------------------------------------------


def refused(study: StudyInUse, given: list[ForeignLabel]) -> list[str]:
    """What stands against an import: the preview says the same as the import, which then stores nothing."""
    about: dict[str, Any] = {"rows": given, "source": "t.csv"}
    problems = [row.reason for row in plan_labels(study.db, study.researcher, study.study_id, **about).problems]
    if problems:
        with pytest.raises(InvalidInput) as error:
            import_labels(study.db, study.researcher, study.study_id, **about)
        assert str(error.value).splitlines() == [f"t.csv: {reason}" for reason in problems]
    return problems


def taken(study: StudyInUse, given: list[ForeignLabel]) -> int:
    """The batch of an import against which nothing stands."""
    assert refused(study, given) == []
    return import_labels(study.db, study.researcher, study.study_id, rows=given, source="t.csv").batch


def exported(study: StudyInUse, to: Path, *, names: bool = False) -> list[ForeignLabel]:
    """The labels of an export of the study."""
    about: dict[str, Any] = {"to": to, "study_id": study.study_id, "formats": ["labels"], "names": names}
    export_project(study.db, study.researcher, study.project_id, **about)
    return read_labels(to / "labels.csv").checked()


@pytest.mark.parametrize("names", [False, True])
def test_an_export_does_not_come_back_into_its_study(database: Database, tmp_path: Path, names: bool) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    for who, values in enumerate((("yes", "yes"), ("yes", "no", "no"))):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": value})
    said = refused(study, exported(study, tmp_path / "out", names=names))
    assert len(said) == 2
    for reason, actor, called, n in zip(said, study.annotators, ("A1", "A2"), (2, 3), strict=True):
        assert reason.startswith(f"the study has labels by {actor.name!r} for {n} of these items already")
        assert (f"its exports call them {called!r}" in reason) is not names
        assert (f"If {called!r} is somebody else, give them another name" in reason) is not names


def test_a_judge_and_somebody_who_was_erased_are_known_by_what_exports_call_them(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.label_all(0)
    judge_labels(database, study.study_id, "some-model", lambda _: {"right": "yes"})
    erase_person(database, first_administrator(database), study.annotators[0].name)
    erased, judge = refused(study, rows(("i00001", "A1", "yes"), ("i00001", "M1", "yes")))
    assert "labels by somebody who was erased for 1 of these items" in erased
    assert "labels by 'some-model' for 1 of these items already, and its exports call them 'M1'" in judge


def test_an_annotator_of_another_study_of_whose_items_nothing_is_there_comes_in(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    assert len(refused(study, rows(("i00001", "A1", "no"), ("i00002", "A1", "no")))) == 1
    taken(study, rows(("i00002", "A1", "no"), ("i00001", "A3", "no")))


def test_an_import_of_pseudonyms_that_was_withdrawn_can_come_again(database: Database, tmp_path: Path) -> None:
    """The annotators of the file have pseudonyms of their own from then on, A2 and A1 here, and the same labels."""
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    given = rows(("i00001", "A2", "yes"), ("i00002", "A1", "no"), ("i00002", "A2", "no"))
    for _ in range(2):
        batch = taken(study, given)
        said = refused(study, given)
        assert ["by 'A1' for 1" in said[0], "by 'A2' for 2" in said[1]] == [True, True]
        assert refused(study, exported(study, tmp_path / str(batch)))
        withdraw_batch(database, study.researcher, study.project_id, batch, reason="wrong file")


def test_pseudonyms_that_are_names_of_others_in_the_study_are_told_by_the_labels(
    database: Database, tmp_path: Path
) -> None:
    """A2 was the first, whom exports call A1; so A1 of a file is the other one, unless what they say is the first's."""
    study = StudyInUse(database, items=4, annotators=1, overlap=1)
    taken(study, rows(("i00001", "A2", "yes"), ("i00002", "A2", "no")))
    taken(study, rows(("i00003", "A1", "yes"), ("i00004", "A1", "no")))
    back = exported(study, tmp_path / "out")
    assert {(row.annotator, row.item) for row in back} == {
        ("A1", "i00001"), ("A1", "i00002"), ("A2", "i00003"), ("A2", "i00004")
    }  # fmt: skip
    said = refused(study, back)
    assert ["by 'A2' for 2" in said[0], "them 'A1'" in said[0], "by 'A1' for 2" in said[1]] == [True] * 3
    taken(study, rows(("i00001", "A1", "yes"), ("i00002", "A1", "yes")))


# Counts ---------------------------------------------------------------------------------------------------------------


def status_of(study: StudyInUse) -> dict[str, Any]:
    """The status, after checking that the kept counts are those of the rows."""
    found = study_status(study.db, study.researcher, study.study_id)
    with study.db.read() as session:
        counted = recount(session, study.study_id)
        assert {state: n for state, n in tallies.counts(session, study.study_id).items() if n} == counted
    assert {state: n for state, n in found["states"].items() if n}.items() <= counted.items()
    return found


def stands(study: StudyInUse) -> dict[str, tuple[Any, ...]]:
    """External id → the item's row of `settlement`."""
    query = (
        "SELECT i.external_id, s.state, s.n_annotations, s.n_disputed, s.dispute FROM settlement s "
        "JOIN study_item x ON x.id = s.study_item_id JOIN item_version v ON v.id = x.item_version_id "
        "JOIN item i ON i.id = v.item_id"
    )
    with study.db.read() as session:
        return {name: tuple(row) for name, *row in plain_rows(session, query)}


def test_where_items_stand_after_an_import_is_what_all_their_labels_say(database: Database) -> None:
    """Items nobody has labelled, one that people have too, one adjudicated, one returned, one of a withdrawn batch."""
    study = StudyInUse(database, items=6, annotators=2, overlap=2, order="given")

    def brought(who: str, *cells: tuple[str, str]) -> int:
        given = rows(*((item, who, value) for item, value in cells))
        return import_labels(database, study.researcher, study.study_id, rows=given, source="t.csv").batch

    wrong = brought("wrong", ("i00005", "no"), ("i00006", "no"))
    withdraw_batch(database, study.researcher, study.project_id, wrong, reason="wrong file")
    for who, values in enumerate((("yes", "yes", "yes"), ("yes", "no", "yes"))):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"right": value})
    units = [UnitDecision("right", "item", "yes")]
    with database.read() as session:
        second, third = plain_rows(session, "SELECT id FROM study_item WHERE position IN (1, 2) ORDER BY position")
        (returned,) = plain_rows(
            session, "SELECT min(id) FROM assignment WHERE state = 'submitted' AND study_item_id = " + str(third[0])
        )
    adjudicate(database, study.researcher, second[0], uid="u", decisions=units, reason="page 2")
    return_to_annotator(database, study.researcher, returned[0], reason="look at page 3")

    for who, odd in (("x", "no"), ("y", "yes")):
        cells = [(f"i0000{n}", odd if n in (1, 5) else "yes") for n in range(1, 7)]
        brought(who, *cells)
        quick = stands(study)
        with database.write() as session:
            made = session.get_one(Study, study.study_id)
            ids = [row for (row,) in plain_rows(session, "SELECT id FROM study_item")]
            counts = Tallies(study.study_id)
            update_settlements(session.connection(), made, protocol_of(made), ids, counts)
            assert not any(counts.change(tallies.EVERYBODY, state) for state in tallies.ITEMS.values())
        status_of(study)
        assert stands(study) == quick
    assert quick == {
        "i00001": ("disputed", 4, 1, 0.25),
        "i00002": ("adjudicated", 4, 1, 0.5),
        "i00003": ("pending", 4, 0, 0.0),
        "i00004": ("agreed", 2, 0, 0.0),
        "i00005": ("disputed", 2, 1, 0.5),
        "i00006": ("agreed", 2, 0, 0.0),
    }


def test_status_counts_the_labels_of_an_import_only_while_it_stands(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    ada, researcher, project_id = study.annotators[0], study.researcher, study.project_id
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    given = rows(("i00002", ada.name, "yes"), ("i00001", "y", "no"), ("i00002", "y", "yes"))
    batch = import_labels(database, researcher, study.study_id, rows=given, source="t.csv").batch

    def submitted() -> tuple[int, int, int]:
        found = status_of(study)
        by_name = {annotator["annotator"]: annotator["submitted"] for annotator in found["annotators"]}
        [listed] = list_studies(database, researcher, project_id)
        return found["states"]["submitted"], by_name[ada.name], listed.submitted

    assert submitted() == (4, 2, 4)
    withdraw_batch(database, researcher, project_id, batch, reason="wrong file")
    assert submitted() == (1, 1, 1)
    withdraw_batch(database, researcher, project_id, batch, reason="right after all", reinstates=True)
    assert submitted() == (4, 2, 4)


def test_the_right_file_can_be_imported_after_the_wrong_one_is_withdrawn(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    about = (database, study.researcher, study.study_id)
    wrong = import_labels(*about, rows=rows(("i00001", "x", "yes")), source="wrong.csv").batch
    withdraw_batch(database, study.researcher, study.project_id, wrong, reason="wrong file")
    right = import_labels(*about, rows=rows(("i00001", "x", "no")), source="right.csv").batch
    assert ratings(*about).criteria[0].values == ["no"]
    assert status_of(study)["states"]["submitted"] == 1

    def reinstate() -> None:
        withdraw_batch(database, study.researcher, study.project_id, wrong, reason="after all", reinstates=True)

    with pytest.raises(Conflict, match="labelled again since"):
        reinstate()
    withdraw_batch(database, study.researcher, study.project_id, right, reason="the first was right")
    reinstate()
    assert ratings(*about).criteria[0].values == ["yes"]
    assert status_of(study)["states"]["submitted"] == 1


# A study inferred from a table ----------------------------------------------------------------------------------------


def contents(db: Database) -> dict[str, list[Any]]:
    """Every row of every table."""
    with db.engine.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(table.select().order_by(*table.primary_key))]
            for table in SQLModel.metadata.sorted_tables
        }


REFUSALS = {
    "sqlite": "CREATE TRIGGER refuse_tallies BEFORE INSERT ON tally WHEN NEW.state = 'submitted' "
    "BEGIN SELECT RAISE(ABORT, 'the power is out'); END",
    "postgresql": "CREATE FUNCTION refuse_tallies() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the power is out'; END $$; CREATE TRIGGER refuse_tallies BEFORE INSERT ON tally "
    "FOR EACH ROW WHEN (NEW.state = 'submitted') EXECUTE FUNCTION refuse_tallies()",
}
"""A failure at the very end, where the counts of what was submitted are written."""


def test_a_failure_at_the_end_of_an_inferred_import_leaves_the_database_as_it_was(
    database: Database, tmp_path: Path
) -> None:
    researcher, project_id = make_person(database, role="researcher"), make_project(database)
    table = tmp_path / "t.csv"
    table.write_text("item,annotator,criterion,value\n1,x,tone,high\n1,y,tone,low\n2,x,tone,low\n")
    with database.engine.begin() as connection:
        connection.exec_driver_sql(REFUSALS[database.url.get_backend_name()])
    before = contents(database)
    asked: dict[str, Any] = {"study": "tones", "path": table, "infer": True, "bare_items": True}
    with pytest.raises(DBAPIError, match="the power is out"):
        import_label_table(database, researcher, project_id, **asked)
    assert contents(database) == before
    with database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER refuse_tallies" + (" ON tally" if not database.is_sqlite else ""))
    made = import_label_table(database, researcher, project_id, **asked)
    assert (made.items_added, made.labels.labels) == (2, 3)


def test_a_bad_label_on_the_last_line_leaves_no_items_and_no_study(database: Database, tmp_path: Path) -> None:
    researcher, project_id = make_person(database, role="researcher"), make_project(database)
    table = tmp_path / "t.csv"
    table.write_text("item,annotator,criterion,value\n1,x,tone,high\n2,x,tone,low\n2,x,tone,high\n")
    before = contents(database)
    with pytest.raises(InvalidInput, match="line 4"):
        import_label_table(database, researcher, project_id, study="tones", path=table, infer=True, bare_items=True)
    assert contents(database) == before


def test_an_item_whose_id_is_none_is_named_with_its_line_and_nothing_is_left(
    database: Database, tmp_path: Path
) -> None:
    researcher, project_id = make_person(database, role="researcher"), make_project(database)
    table = tmp_path / "t.csv"
    table.write_text(f"item,annotator,criterion,value\n1,x,tone,high\n{'9' * 3000},x,tone,low\n")
    before = contents(database)
    with pytest.raises(InvalidInput, match="line 3"):
        import_label_table(database, researcher, project_id, study="tones", path=table, infer=True, bare_items=True)
    assert contents(database) == before
