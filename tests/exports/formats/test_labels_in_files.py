"""What people said in a file of items becomes annotations of a study, in the same import or not at all."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pymupdf
import pytest
from sqlalchemy import Engine, event
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.items.revising import claims_of
from annotators.protocols import PROTOCOLS, Protocol
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.designing.making import create_study
from db.engine import Database
from db.models import Account, Annotation, Batch, Item, ItemVersion, StoredLabel, Study, StudyItem
from db.releasing.endings import end_item
from db.releasing.releases import make_release
from db.studies.design import find_study
from db.studies.revisions import revise_item
from db.studies.settlements import stream_settled
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from exports.formats import FORMATS
from exports.formats.base import LabelledFormat, check_files
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table, plan_label_table
from exports.results.document import Results
from tests.exports.formats.places import Place, as_json, write_json
from tests.makers import make_person


def answers(*labels: str, number: str = "77", **changes: Any) -> dict[str, Any]:
    triplets = [{"triplet": ["pier", "is", f"thing {n}"], "human_label": label} for n, label in enumerate(labels)]
    return {"id": number, "response": "The pier is red.", "model9_response_kg": triplets, **changes}


def pair(*ratings: int, **changes: Any) -> dict[str, Any]:
    correctness, completeness, overall = ratings
    return {
        "dataset": "port",
        "query_id": "9",
        "query": "Which pier is older?",
        "gt_answer": "The north pier.",
        "model1": {"model_name": "alpha", "response": "North."},
        "model2": {"model_name": "beta", "response": "South."},
        "correctness_label": correctness,
        "completeness_label": completeness,
        "overall_label": overall,
        **changes,
    }


def stored(place: Place) -> set[tuple[str, str, str, Any]]:
    """Annotator, criterion, target and value of every label of the project's studies."""
    same = (StoredLabel.assignment_id == Annotation.assignment_id) & (StoredLabel.sitting == Annotation.sitting)
    query = (
        select(Account.name, StoredLabel.criterion, StoredLabel.target, StoredLabel.value)
        .select_from(Annotation)
        .join(StoredLabel, same)
        .join(Account, Account.person_id == Annotation.person_id)
        .join(Study, Study.id == Annotation.study_id)
        .where(Study.project_id == place.project)
    )
    with place.db.read() as session:
        return set(session.exec(query).all())


def counted(place: Place) -> tuple[int, int, int, int]:
    """How many items, studies, batches and people there are."""
    with place.db.read() as session:
        return tuple(len(session.exec(select(table)).all()) for table in (Item, Study, Batch, Account))  # type: ignore[return-value, call-overload]


def test_labels_of_claims_come_in_with_the_answers(place: Place, tmp_path: Path) -> None:
    source = write_json(tmp_path / "port_a_answers.json", [answers("Entailment", "Neutral"), answers(number="78")])
    before = counted(place)
    preview = place.take(source, labels_into=" People ", dry_run=True)
    assert counted(place) == before
    report = place.take(source, labels_into=" People ")
    for found in (preview.to_json(), report.to_json()):
        assert (found["study"], found["labels"], found["annotations"]) == ("People", 2, 1)
        assert (found["added"], found["annotators"]) == (2, ["refchecker-annotator"])
    assert preview.to_json()["obstacles"] == []
    assert "obstacles" not in report.to_json()
    assert stored(place) == {
        ("refchecker-annotator", "claim_label", "claim:c1|context", "entailment"),
        ("refchecker-annotator", "claim_label", "claim:c2|context", "neutral"),
    }
    with place.db.read() as session:
        study = session.exec(select(Study)).one()
        assert (study.name, study.protocol_name, study.n_items, study.overlap) == ("People", "claim_labels", 1, 1)
        batches = session.exec(select(Batch.format).order_by(Batch.id)).all()  # type: ignore[arg-type]
        assert batches == ["refchecker", "labels"]
        assert {unit.state for unit in stream_settled(session, study.id or 0)} == {"unanimous"}


def test_labels_about_what_the_item_has_not_make_no_study(place: Place, tmp_path: Path) -> None:
    source = write_json(tmp_path / "port_a_answers.json", [answers("Entailment", "Neutral")])
    place.take(source, labels_into="People")
    out = tmp_path / "out"
    export_project(
        place.db, place.actor, place.project, to=out, formats=["huggingface"], options={"licence": "cc0-1.0"},
        study_id=find_study(place.db, place.actor, place.project, name="People"),
    )  # fmt: skip
    [labels] = (out / "huggingface/labels").glob("*.parquet")
    table = pq.read_table(labels)
    others = ["claim:c9|context" if target.startswith("claim:c2") else target for target in table["target"].to_pylist()]
    place_of = table.schema.get_field_index("target")
    pq.write_table(table.set_column(place_of, table.schema.field(place_of), pa.array(others)), labels)
    other = Place(place.db, place.home)
    before, words = counted(other), "has no claim 'c9'. It has: c1, c2."
    [obstacle] = other.take(out / "huggingface", labels_into="Back", dry_run=True).labels.obstacles
    assert words in obstacle
    with pytest.raises(InvalidInput, match=re.escape(words)):
        other.take(out / "huggingface", labels_into="Back")
    assert counted(other) == before


def test_a_table_from_which_a_study_is_made_is_held_against_the_items_that_are_there(
    place: Place, tmp_path: Path
) -> None:
    place.take(write_json(tmp_path / "port_a_answers.json", [answers("Entailment", "Neutral")]))
    with place.db.read() as session:
        item = session.exec(select(Item.external_id)).one()
    table = tmp_path / "labels.csv"
    lines = ["item,annotator,criterion,target,value", f"{item},ann,holds,claim:c1,yes", "bare,ann,holds,claim:c7,no"]
    table.write_text("\n".join([*lines, f"{item},ann,holds,claim:c9,yes"]))
    about: dict[str, Any] = {"study": "told", "path": table, "infer": True, "bare_items": True}
    words = f"item {item!r} has no claim 'c9'. It has: c1, c2."
    plan = plan_label_table(place.db, place.actor, place.project, **about)
    assert [(one.line, words in one.reason) for one in plan.plan.problems] == [(4, True)]
    before = counted(place)
    with pytest.raises(InvalidInput, match=re.escape(words)):
        import_label_table(place.db, place.actor, place.project, **about)
    assert counted(place) == before
    table.write_text("\n".join(lines))
    assert import_label_table(place.db, place.actor, place.project, **about).labels.labels == 2


def test_without_a_study_the_items_are_the_same_and_the_labels_stay_out(place: Place, tmp_path: Path) -> None:
    source = write_json(tmp_path / "port_a_answers.json", [answers("Entailment")])
    alone = place.take(source)
    assert alone.labels.n == 1
    assert not {"study", "labels"} & alone.to_json().keys()
    assert stored(place) == set()
    report = place.take(source, labels_into="People")
    assert (report.added, report.unchanged, report.revisions, report.labels.annotations) == (0, 1, [], 1)


def test_raters_of_pairs_become_annotators_of_pairs(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "human.json", [pair(1, 0, -2), pair(2, 1, 0)]), labels_into="Raters")
    assert stored(place) == {
        ("ragchecker-rater-1", "correctness", "pair", 1),
        ("ragchecker-rater-1", "completeness", "pair", 0),
        ("ragchecker-rater-1", "overall", "pair", -2),
        ("ragchecker-rater-2", "correctness", "pair", 2),
        ("ragchecker-rater-2", "completeness", "pair", 1),
        ("ragchecker-rater-2", "overall", "pair", 0),
    }
    with place.db.read() as session:
        study = session.exec(select(Study)).one()
        assert (study.protocol_name, study.overlap, study.n_items) == ("pairwise_preference", 2, 1)
        in_pair = session.exec(select(StudyItem)).one()
        assert (in_pair.other_version_id is not None, in_pair.other_left) == (True, False)
        assert {unit.pair for unit in stream_settled(session, study.id or 0)} == {("port/9:beta", "beta", 1, False)}


def test_a_study_that_is_there_takes_labels_that_fit_it(place: Place, tmp_path: Path) -> None:
    both = [answers("Neutral"), answers("Neutral", number="78")]
    place.take(write_json(tmp_path / "all/port_a_answers.json", both), labels_into="People")
    before = counted(place)
    for source in (
        write_json(tmp_path / "again/port_a_answers.json", [answers("Neutral")]),
        write_json(tmp_path / "more/port_b_answers.json", [answers("Entailment")]),
        write_json(tmp_path / "human.json", [pair(1, 0, -2)]),
    ):
        preview = place.take(source, labels_into="People", dry_run=True)
        assert len(preview.labels.obstacles) == 1
        with pytest.raises(InvalidInput):
            place.take(source, labels_into="People")
        assert counted(place) == before, source
    with pytest.raises(InvalidInput, match="has labels by 'refchecker-annotator' for 1 of these items already"):
        place.take(tmp_path / "again", labels_into="People")
    with pytest.raises(InvalidInput, match="item 'port/77:b' is not in the study, whose items are fixed"):
        place.take(tmp_path / "more", labels_into="People")


def test_a_bad_row_leaves_neither_items_nor_study(place: Place, tmp_path: Path) -> None:
    source = write_json(tmp_path / "port_a_answers.json", [answers("Neutral"), answers("Maybe", number="78")])
    before = counted(place)
    refused = place.take(source, labels_into="People")
    assert [row.line for row in refused.rejected] == [16]
    assert counted(place) == before
    done = place.take(source, labels_into="People", skip_bad=True)
    assert (done.added, done.labels.n) == (1, 1)


def test_labels_of_items_that_are_there_otherwise_are_left_out_by_name(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "old/port_a_answers.json", [answers("Neutral")]))
    changed = [answers("Neutral", "Entailment", response="It is blue."), answers("Neutral", number="78")]
    report = place.take(write_json(tmp_path / "new/port_a_answers.json", changed), labels_into="People")
    assert (len(report.revisions), report.added, report.labels.n) == (1, 1, 1)
    assert report.notes[-1].startswith("2 labels of 1 item that the project does not have as these files do are left")
    assert "port/77:a" in report.notes[-1]
    with pytest.raises(InvalidInput, match="holds no labels of people about items that come in"):
        place.take(write_json(tmp_path / "new/port_a_answers.json", changed[:1]), labels_into="Others")


def test_a_pair_whose_second_answer_is_there_otherwise_is_left_out(place: Place, tmp_path: Path) -> None:
    place.take(write_json(tmp_path / "a.json", [pair(1, 0, 2, model2={"model_name": "beta", "response": "East."})]))
    rows = [pair(1, 1, 1, query_id="10"), pair(1, 0, 2, model1={"model_name": "gamma", "response": "North."})]
    report = place.take(write_json(tmp_path / "b.json", rows), labels_into="Raters")
    assert (report.labels.n, report.labels.annotations) == (3, 1)
    assert "3 labels of 1 item" in report.notes[-1]


@pytest.mark.parametrize(
    ("name", "study", "words"),
    [("port_a_answers.json", "  ", "has no name"), ("results.json", "People", "holds no labels of people")],
)
def test_a_study_without_a_name_or_without_labels_is_not_made(
    place: Place, tmp_path: Path, name: str, study: str, words: str
) -> None:
    data = [answers("Neutral")] if name.startswith("port") else [without_ratings()]
    before = counted(place)
    with pytest.raises(InvalidInput, match=words):
        place.take(write_json(tmp_path / name, data), labels_into=study)
    assert counted(place) == before


def without_ratings() -> dict[str, Any]:
    return {name: value for name, value in pair(0, 0, 0).items() if not name.endswith("_label")}


# Killed ---------------------------------------------------------------------------------------------------------------

OF_ITEMS = ("INSERT INTO item ", "INSERT INTO item_version ", "INSERT INTO study ", "INSERT INTO study_item ")
OF_LABELS = ("INSERT INTO account ", "INSERT INTO assignment ", "INSERT INTO label ", "COMMIT")
"""After what an import is killed: what new items and a new study take, and what labels take."""


def import_is_killed(place: Place, source: Path, *, after: str) -> None:
    """The import in a process of its own that is killed after this statement, or before it commits labels."""
    place.db.dispose()
    child = os.fork()
    if child == 0:
        try:
            done: set[str] = set()

            def executed(*about: Any) -> None:
                done.update(name for name in OF_LABELS if about[2].startswith(name))
                if about[2].startswith(after):
                    os.kill(os.getpid(), signal.SIGKILL)

            def committing(_connection: Any) -> None:
                if after == "COMMIT" and "INSERT INTO label " in done:
                    os.kill(os.getpid(), signal.SIGKILL)

            event.listen(Engine, "after_cursor_execute", executed)
            event.listen(Engine, "commit", committing)
            db = Database(place.db.url.render_as_string(hide_password=False))
            import_paths(
                db, place.actor, place.project, paths=[source], data_folder=place.home, labels_into="Raters"
            )  # fmt: skip
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status), f"no import was killed after {after}"
    assert os.WTERMSIG(status) == signal.SIGKILL


def every_label(place: Place) -> list[tuple[str, str, str, str, Any]]:
    """Annotator, (first) item, criterion, target and value of every label that there is, as often as it is there."""
    query = (
        select(Account.name, Item.external_id, StoredLabel.criterion, StoredLabel.target, StoredLabel.value)
        .select_from(StoredLabel)
        .join(Annotation, Annotation.assignment_id == StoredLabel.assignment_id)
        .join(StudyItem, StudyItem.id == Annotation.study_item_id)
        .join(ItemVersion, ItemVersion.id == StudyItem.item_version_id)
        .join(Item, Item.id == ItemVersion.item_id)
        .join(Account, Account.person_id == Annotation.person_id)
    )
    with place.db.read() as session:
        return sorted(session.exec(query).all())


def seen(place: Place) -> tuple[Any, ...]:
    """The items, labels, studies and people that there are for those who use the project."""
    return as_json(place), every_label(place), *counted(place)[1::2]


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
def test_a_killed_import_leaves_no_label_and_the_same_files_bring_each_once(
    database: Database, tmp_path: Path, *, there: bool
) -> None:
    """Killed again and again over what the last one left: nothing of it is seen, and in the end all is there, once.

    Into a new study with new items, and into a study of items that are there.
    """
    place = Place(database, tmp_path / "home")
    ratings = [(number, rater) for number in range(40) for rater in (1, 2)]
    rows = [pair(number % 3, rater, -rater, query_id=str(number)) for number, rater in ratings]
    source = write_json(tmp_path / "human.json", rows)
    if there:
        place.take(source)
        for name in ("ann", "ida"):
            make_person(place.db, name, role="annotator")
        design = StudyDesign(
            name="Raters", annotators=("ann", "ida"), overlap=2, order="given", pairs=("alpha", "beta")
        )
        protocol = PROTOCOLS.get("pairwise_preference")
        create_study(place.db, place.actor, place.project, protocol=protocol, design=design)
    before = seen(place)
    for statement in OF_LABELS if there else OF_ITEMS + OF_LABELS:
        import_is_killed(place, source, after=statement)
        assert seen(place) == before, statement
    report = place.take(source, labels_into="Raters")
    assert (report.added, report.unchanged) == ((0, 80) if there else (80, 0))
    assert (report.labels.n, report.labels.annotations) == (240, 80)
    whole = sorted(
        (f"ragchecker-rater-{rater}", f"port/{number}:alpha", criterion, "pair", value)
        for number, rater in ratings
        for criterion, value in (("correctness", number % 3), ("completeness", rater), ("overall", -rater))
    )
    assert every_label(place) == whole
    with pytest.raises(InvalidInput, match="has labels by 'ragchecker-rater-1' for"):
        place.take(source, labels_into="Raters")
    assert every_label(place) == whole


# There and back -------------------------------------------------------------------------------------------------------

UNIT = {"used": True, "metadata": "/x/port_figures/7/figure-5-1.jpg"}
SMALL: dict[str, dict[str, Any]] = {
    "refchecker": {"port_a_answers.json": [answers("Entailment", "Neutral"), answers("Contradiction", number="78")]},
    "ragchecker": {"human.json": [pair(1, 0, -2), pair(2, 1, 0)]},
    "unidoc": {
        "port.json": [
            {
                "rewritten_question_obscured": "Which pier?",
                "complete_answer": "The north pier.",
                "chunk_used": {
                    "img_0": {**UNIT, "verified_used": False},
                    "img_1": {**UNIT, "facts": ["It is red."], "verified_used": True},
                    "img_2": UNIT,
                },
            },
        ]
    },
    "double_bench": {
        "records.json": [
            {
                "uid": "1",
                "question": "Which pier?",
                "answer": "The north pier.",
                "reference_page": [1],
                "file_name": "port.pdf",
                "verified_page": [0, 1],
                "not_evidence_page": [2],
            },
            {
                "uid": "2",
                "question": "How long is the older pier?",
                "answer": "90 m.",
                "reference_page": [0, 2],
                "file_name": "port.pdf",
                "steps": [
                    {"question0": "Which is older?", "answer0": "North.", "reference_page": [0], "verified_page": [0]},
                    {
                        "question1": "How long is it?",
                        "answer1": "90 m.",
                        "reference_page": [2],
                        "verified_page": [0, 2],
                        "not_evidence_page": [1],
                    },
                ],
            },
        ]
    },
    "fathoms": {
        "closed/alpha.json": {
            "model": "alpha",
            "responses": [
                {
                    "category": "Text",
                    "question": f"Which pier {number}?",
                    "ground_truth": [["north"]],
                    "pred_answer": "The north pier.",
                    "correctness_score": 1.0,
                    "human_labels": {"correctness_agreement": number, "hallucination_agreement": 5},
                }
                for number in (1, 4)
            ],
        }
    },
}
"""A file with labels of each format that has a place for them."""


def test_every_format_with_labels_is_tried() -> None:
    """Those whose files say themselves what was asked are tried in files of their own."""
    labelled = [found for found in FORMATS if isinstance(found, LabelledFormat)]
    protocols = {found.name: found.label_protocol() for found in labelled if found.label_protocol() is not None}
    assert SMALL.keys() == protocols.keys()
    for name, protocol in protocols.items():
        assert protocol.fallen(["question"]) == [one.name for one in protocol.criteria], f"{name}: what stands?"


@pytest.mark.parametrize("name", list(SMALL))
def test_labels_leave_in_their_format_and_come_back(place: Place, tmp_path: Path, name: str) -> None:
    for path, data in SMALL[name].items():
        write_json(tmp_path / "in" / path, data)
    with pymupdf.open() as pdf:
        for _ in range(3):
            pdf.new_page(width=100, height=100)
        pdf.save(tmp_path / "in" / "port.pdf")
    first = place.take(tmp_path / "in", format_name=name, labels_into="People")
    assert first.labels.n > 1
    items, labels = as_json(place), stored(place)
    study_id = find_study(place.db, place.actor, place.project, name="People")
    export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", study_id=study_id, formats=[name],
        data_folder=place.home,
    )  # fmt: skip
    assert verify_against(place.db, place.actor, tmp_path / "out").ok
    unchanged = place.take(tmp_path / "out" / name, format_name=name)
    assert (unchanged.added, unchanged.revisions, unchanged.labels.n) == (0, [], first.labels.n)
    again = Place(place.db, tmp_path / "home")
    back = again.take(tmp_path / "out" / name, format_name=name, labels_into="People")
    assert back.labels.n == first.labels.n
    assert as_json(again) == items
    assert stored(again) == labels


def test_what_is_settled_in_a_study_is_written_and_what_is_open_is_not(database: Database, tmp_path: Path) -> None:
    """Two annotators agree on the first unit and differ on the second, which an adjudicator then decides."""
    place = Place(database, tmp_path / "home")
    [record] = SMALL["unidoc"]["port.json"]
    units = {key: {name: unit[name] for name in unit if name != "verified_used"} for key, unit in
             record["chunk_used"].items()}  # fmt: skip
    place.take(write_json(tmp_path / "in/port.json", [{**record, "chunk_used": units}]))
    [item] = place.items()
    table = tmp_path / "labels.csv"
    rows = [(who, f"img_{n}", "required" if (n, who) != (1, "ben") else "not_required") for n in (0, 1) for who in
            ("ada", "ben")]  # fmt: skip
    table.write_text(
        "item,annotator,criterion,target,value\n"
        + "".join(f"{item.id},{who},grounding,evidence:{key},{value}\n" for who, key, value in rows)
    )
    judge = make_person(place.db, "judith", admin=True)
    make_person(place.db, "ann", role="annotator")
    design = StudyDesign(name="People", annotators=("ann",), overlap=2, order="given")
    with pytest.raises(InvalidInput):  # two slots an item need two annotators
        create_study(place.db, judge, place.project, protocol=PROTOCOLS.get("grounding"), design=design)
    make_person(place.db, "ida", role="annotator")
    design = StudyDesign(name="People", annotators=("ann", "ida"), overlap=2, order="given", keep_lacking=True)
    study_id = create_study(place.db, judge, place.project, protocol=PROTOCOLS.get("grounding"), design=design).study_id
    import_label_table(place.db, judge, place.project, study="People", path=table)

    def written(to: str) -> list[Any]:
        export_project(place.db, judge, place.project, to=tmp_path / to, study_id=study_id, formats=["unidoc"])
        [found] = orjson.loads((tmp_path / to / "unidoc/port.json").read_bytes())
        return [unit.get("verified_used") for unit in found["chunk_used"].values()]

    assert written("before") == [True, None, None]
    with place.db.read() as session:
        study_item = session.exec(select(StudyItem.id).where(StudyItem.study_id == study_id)).one()
    decision = UnitDecision("grounding", "evidence:img_1", "not_required")
    adjudicate(place.db, judge, study_item or 0, uid="one", decisions=[decision])
    assert written("after") == [True, False, None]
    before = export_project(
        place.db, judge, place.project, to=tmp_path / "not made", study_id=study_id, formats=["unidoc", "ragas"],
        dry_run=True,
    )  # fmt: skip
    lost = {name: [(one.n, one.of) for one in some if one.path == "labels"] for name, some in before.lost.items()}
    assert lost == {"unidoc": [], "ragas": [(2, 2)]}, "samples have no place for labels of evidence"


# Labels that came with the items, where a study asks for them ---------------------------------------------------------


def asking(place: Place, protocol: Protocol, *items: str, rows: str = "") -> int:
    """A study of these items with the labels of a table (item, annotator, target, value) of its first criterion."""
    names = [f"{protocol.name}-{who}" for who in ("ann", "ida")]
    for name in names:
        make_person(place.db, name, role="annotator")
    design = StudyDesign(
        name=protocol.name, annotators=tuple(names), overlap=2, order="given", items=items, keep_lacking=True
    )
    study_id = create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id
    if rows:
        table = place.home.parent / "labels.csv"
        table.write_text("item,annotator,criterion,target,value\n" + rows)
        import_label_table(place.db, place.actor, place.project, study=protocol.name, path=table)
    return study_id


def human_labels(place: Place, to: Path, study_id: int | None = None, *of: str, **options: Any) -> dict[str, list[str]]:
    """Id of a record → the human label of each of its claims, - for none, in an export that is verified."""
    options = {"study_id": study_id, "labels_of": of} | options
    export_project(place.db, place.actor, place.project, to=to, formats=["refchecker"], **options)
    assert verify_against(place.db, place.actor, to).ok
    [file] = (to / "refchecker").glob("*.json")
    return {
        row["id"]: [claim.get("human_label", "-") for claim in row["model9_response_kg"]]
        for row in orjson.loads(file.read_bytes())
    }


THREE = [answers("Entailment", "Neutral"), answers("Neutral", number="78"), answers("Entailment", number="79")]
CAME = {"77": ["Entailment", "Neutral"], "78": ["Neutral"], "79": ["Entailment"]}
DIFFER = "".join(
    f"port/77:a,{who},claim_label,claim:{claim}|context,{value}\n"
    for who, claim, value in (
        ("ada", "c1", "contradiction"), ("ben", "c1", "contradiction"), ("ada", "c2", "neutral"),
        ("ben", "c2", "entailment"),
    )
)  # fmt: skip
"""Two say of the first claim what did not come with it, and differ on the second, of which one says what did."""


def test_what_is_open_in_a_study_has_no_label_of_the_file_in_its_place(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    place.take(write_json(tmp_path / "port_a_answers.json", THREE))
    labels = FORMATS.get("refchecker").label_protocol()  # type: ignore[attr-defined]
    study_id = asking(place, labels, "port/77:a", "port/78:a", rows=DIFFER)
    found = human_labels(place, tmp_path / "study", study_id)
    assert found == {"77": ["Contradiction", "-"], "78": ["-"]}, "nobody has annotated the second item"
    found = human_labels(place, tmp_path / "project", None, "claim_labels")
    assert found == {"77": ["Contradiction", "-"], "78": ["-"], "79": CAME["79"]}, "one item is not in the study"
    assert human_labels(place, tmp_path / "as it came") == CAME
    lost = export_project(
        place.db, place.actor, place.project, to=tmp_path / "told", study_id=study_id, formats=["refchecker"],
        dry_run=True,
    ).lost["refchecker"]  # fmt: skip
    assert [one.path for one in lost] == ["metadata.verdicts"]
    again = Place(place.db, tmp_path / "again")
    came = again.take(tmp_path / "study/refchecker", labels_into="People")
    assert (came.labels.n, stored(again)) == (
        1, {("refchecker-annotator", "claim_label", "claim:c1|context", "contradiction")},
    )  # fmt: skip


def test_a_claim_that_was_reworded_has_no_label_of_the_words_before(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    place.take(write_json(tmp_path / "port_a_answers.json", THREE))
    [item, *_] = place.items()
    rows = claims_of(item, "answer", ["pier is green", item.claims[1].text])
    same_key = [{"key": "c1", "text": "pier is green"}, rows[1]]
    assert [row["key"] for row in rows] == ["c3", "c2"]
    for claims in (same_key, rows):
        revise_item(place.db, place.actor, place.project, external_id=item.id, fields={"claims": claims}, reason="no")
        assert human_labels(place, tmp_path / claims[0]["key"]) == {**CAME, "77": ["-", "Neutral"]}


def test_a_label_that_fell_with_a_revision_is_open_again_in_the_files(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    place.take(write_json(tmp_path / "port_a_answers.json", THREE))
    labels = FORMATS.get("refchecker").label_protocol()  # type: ignore[attr-defined]
    study_id = asking(place, labels, "port/77:a", rows=DIFFER)
    fields = {"answer": "The pier is blue."}
    revise_item(place.db, place.actor, place.project, external_id="port/77:a", fields=fields, reason="blue")
    assert human_labels(place, tmp_path / "study", study_id) == {"77": ["-", "-"]}


def test_a_derived_label_is_asked_as_well_and_other_studies_leave_what_came(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    came = {"claim": "c1", "against": "context", "label": "neutral", "source": "people"}
    rows = [
        {"question_key": f"port/{n}", "question": "Q?", "answer": "A", "system": "a", "category": "port",
         "evidence": [{"key": "e1", "text": "A pier."}], "claims": [{"key": "c1", "text": "The pier is there."}],
         "extractor": "model9", "verdicts": [came]}
        for n in (77, 78, 79)
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    place.take(tmp_path / "items.jsonl")
    others = asking(place, PROTOCOLS.get("abstention"), "port/77:a", "port/78:a")
    assert human_labels(place, tmp_path / "others", others) == {"77": ["Neutral"], "78": ["Neutral"]}
    said = "".join(f"port/77:a,{who},verdict,claim:c1|evidence:e1,entailment\n" for who in ("ada", "ben"))
    forms = "".join(f"port/77:a,{who},form,claim:c1,well_formed\n" for who in ("ada", "ben"))
    asking(place, PROTOCOLS.get("claim_verification"), "port/77:a", "port/79:a", rows=said + forms)
    both = human_labels(place, tmp_path / "derived", None, "abstention", "claim_verification")
    assert both == {"77": ["Entailment"], "78": ["Neutral"], "79": ["-"]}


def test_a_release_has_its_own_labels_and_no_others(database: Database, tmp_path: Path) -> None:
    place = Place(database, tmp_path / "home")
    place.take(write_json(tmp_path / "port_a_answers.json", THREE))
    labels = FORMATS.get("refchecker").label_protocol()  # type: ignore[attr-defined]
    asking(place, labels, "port/77:a", "port/78:a", rows=DIFFER.replace("c2|context,neutral", "c2|context,entailment"))
    end = {"state": "accepted", "reason": "good enough"}
    for item in ("port/78:a", "port/79:a"):
        end_item(place.db, place.actor, place.project, external_id=item, **end)
    make_release(place.db, place.actor, place.project, name="v1", keep=["open", "no_label"])
    found = human_labels(place, tmp_path / "release", release="v1")
    assert found == {"77": ["Contradiction", "Entailment"], "78": ["-"], "79": CAME["79"]}


@pytest.mark.parametrize(
    ("name", "path", "given", "words"),
    [
        ("unidoc", ("chunk_used", "img_0", "verified_used"), "yes", "`verified_used` is 'yes'. Write true or false."),
        ("double_bench", ("verified_page",), [2], "page 2 stands in `verified_page` and in `not_evidence_page`. Keep"),
        ("double_bench", ("verified_page",), [-1], "`verified_page` holds -1. Pages of Double-Bench are whole"),
        ("fathoms", ("human_labels",), [3], "`human_labels` is [3], not an object of grades by name."),
        ("fathoms", ("human_labels", "tone"), 3, "`human_labels` has 'tone'. Known: correctness_agreement, hall"),
    ],
)
def test_labels_of_another_form_are_named_with_their_row(
    place: Place, tmp_path: Path, name: str, path: tuple[str, ...], *, given: object, words: str
) -> None:
    [(file, data)] = orjson.loads(orjson.dumps(SMALL[name])).items()
    record = data["responses"][1] if name == "fathoms" else data[0]
    for step in path[:-1]:
        record = record[step]
    record[path[-1]] = given
    [bad] = place.take(write_json(tmp_path / file, data), format_name=name).rejected
    assert words in bad.reason


def test_a_grade_that_the_scale_lacks_is_refused_with_its_line(place: Place, tmp_path: Path) -> None:
    data = orjson.loads(orjson.dumps(SMALL["fathoms"]["closed/alpha.json"]))
    data["responses"][1]["human_labels"]["correctness_agreement"] = 7
    source = write_json(tmp_path / "closed/alpha.json", data)
    assert place.take(source, labels_into="People", dry_run=True).labels.obstacles[0].startswith(str(source.name))
    with pytest.raises(InvalidInput, match=r"alpha\.json, line \d+: .*7"):
        place.take(source, labels_into="People")
    assert place.items() == []


@pytest.mark.parametrize("name", [found.name for found in FORMATS if not isinstance(found, LabelledFormat)])
def test_a_format_without_labels_names_those_that_have_them(place: Place, tmp_path: Path, name: str) -> None:
    source = tmp_path / "items.jsonl"
    source.write_text('{"question": "Which?"}')
    *names, last = sorted(found.name for found in FORMATS if isinstance(found, LabelledFormat))
    words = f"hold no labels of people; those of {', '.join(names)} and {last} do"
    with pytest.raises(InvalidInput, match=f"format {name} {words}"):
        check_files([source], name, labels=True)
    with pytest.raises(InvalidInput, match=f"format native {words}"):
        place.take(source, labels_into="People")


def test_the_real_labels_of_claims_have_their_known_shares(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "refchecker", labels_into="people")
    assert (report.added, report.labels.n, report.labels.annotations) == (200, 1128, 181)
    study_id = find_study(place.db, place.actor, place.project, name="people")
    rows = Results.of_study(place.db, place.actor, study_id).to_json()["rows"]
    overall = {row["label"]: row for row in rows if row["group"] is None and row["labels"] == "settled"}
    known = {"entailment": 1002, "neutral": 97, "contradiction": 29}
    assert {label: round(row["value"] * row["n"]) for label, row in overall.items()} == known
    assert {row["n"] for row in overall.values()} == {1128}
    with pytest.raises(NotFound):
        find_study(place.db, place.actor, place.project, name="nobody")
