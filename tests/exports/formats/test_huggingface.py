"""Folders for `datasets`: items and every annotator's labels with a card, read back as they were; strangers' too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image
from sqlmodel import select

from annotators.agreement.statistics.base import title_of
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from annotators.protocols import Material, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.items.documents import keep_documents
from db.models import Study, StudyItem
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats.base import read_sources
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place
from tests.exports.formats.test_writing import SAID
from tests.exports.labelled import Labelled, labelled_study
from tests.exports.sources import write_pdf
from tests.makers import StudyInUse, make_item, make_person, tiny_protocol

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077"
    "53de0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)


def exported(db: Database, made: Labelled, to: Path, **options: Any) -> Path:
    export_project(
        db, made.researcher, made.project_id, to=to, study_id=made.study_id, formats=["huggingface"], options=SAID,
        **options,
    )  # fmt: skip
    return to / "huggingface"


def table(folder: Path, config: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / config / "test.parquet").to_pylist()
    return found


def test_a_study_leaves_with_every_label_and_comes_back_as_one(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=20)
    folder = exported(sqlite_database, made, tmp_path / "out")
    assert verify_folder(tmp_path / "out").ok
    assert verify_against(sqlite_database, made.researcher, tmp_path / "out").ok
    labels = table(folder, "labels")
    assert {row["annotator"] for row in labels} == {"A1", "A2", "A3", "A4"}
    arrays = {row["item"]: row for row in table(folder, "label_arrays")}
    first = arrays["i00001"]
    assert len(first["share"]) == len(first["share_annotators"]) >= 1
    assert all(isinstance(value, float) for value in first["share"])
    soft = [row for row in table(folder, "soft_labels") if (row["item"], row["criterion"]) == ("i00001", "right")]
    assert sum(row["share"] for row in soft) == pytest.approx(1)
    settled = {row["how"] for row in table(folder, "adjudicated")}
    assert settled <= {"unanimous", "majority", "open", "adjudicated"}
    place = Place(sqlite_database, tmp_path / "home")
    report = place.take(folder, labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.labels.n) == ([], [], len(labels))


RIGHT = Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")])
STEP = Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["right"])


def adjudicated_study(place: Place, to: Path, *more: str) -> Path:
    """An export of a study of three items: all agree, two of three whom the adjudicator overrules, two of three."""
    for name in "abc":
        make_item(place.db, place.project, name)
    design = StudyDesign(name="one", annotators=(place.actor.name,), overlap=1, order="given")
    protocol = tiny_protocol(name="right", criteria=[RIGHT], steps=[STEP])
    made = create_study(place.db, place.actor, place.project, protocol=protocol, design=design)
    said = {"a": ("yes", "yes", "yes"), "b": ("yes", "yes", "no"), "c": ("no", "yes", "no")}
    rows = [
        ForeignLabel(2, item, who, "right", "item", value)
        for item, values in said.items()
        for who, value in zip(("ada", "ben", "eve"), values, strict=True)
    ]
    import_labels(place.db, place.actor, made.study_id, rows=rows, source="table.csv")
    judge = make_person(place.db, "judith", admin=True)
    with place.db.read() as session:
        second = session.exec(select(StudyItem.id).where(StudyItem.study_id == made.study_id)).all()[1]
    decisions = [UnitDecision("right", "item", "no")]
    adjudicate(place.db, judge, second or 0, uid="one", decisions=decisions, reason="it is not")
    formats = ["huggingface", *more]
    export_project(place.db, place.actor, place.project, to=to, study_id=made.study_id, formats=formats, options=SAID)
    return to / "huggingface"


DECIDED = [("a", "yes", "unanimous", 3), ("b", "no", "adjudicated", 3), ("c", None, "open", 3)]


def test_final_labels_are_those_of_the_study_when_its_folder_is_converted(place: Place, tmp_path: Path) -> None:
    folder = adjudicated_study(place, tmp_path / "out")
    done = convert_files([folder], into="huggingface", output=tmp_path / "hub", options=SAID)
    assert (done.labels, done.lost, done.notes) == (9, [], [])
    settled = table(tmp_path / "hub", "adjudicated")
    assert [(row["item"], row["label"], row["how"], row["n"]) for row in settled] == DECIDED
    for config in ("items", "labels", "label_arrays", "adjudicated", "soft_labels"):
        assert table(tmp_path / "hub", config) == table(folder, config)
    done = convert_files([folder], into="ragas", output=tmp_path / "ragas")
    samples = map(orjson.loads, (tmp_path / "ragas/samples.jsonl").read_bytes().splitlines())
    assert [sample.get("human_right") for sample in samples] == ["yes", "no", None]
    assert not [lost for lost in done.lost if lost.path.startswith("final_labels")]
    done = convert_files([folder], into="potato", output=tmp_path / "potato")
    assert [(lost.what, lost.n, lost.of) for lost in done.lost if lost.path == "final_labels"] == [
        ("final labels", 1, 2)
    ], "what all agree on is still said by their labels"


def test_votes_that_a_folder_does_not_say_are_counted_from_its_labels(place: Place, tmp_path: Path) -> None:
    folder = adjudicated_study(place, tmp_path / "out")
    soft = table(folder, "soft_labels")
    (folder / "soft_labels/test.parquet").unlink()
    convert_files([folder], into="huggingface", output=tmp_path / "hub", options=SAID)
    settled = table(tmp_path / "hub", "adjudicated")
    assert [(row["item"], row["label"], row["how"], row["n"]) for row in settled] == DECIDED
    assert table(tmp_path / "hub", "soft_labels") == soft


def test_an_import_says_how_many_final_labels_of_adjudicators_it_leaves_out(place: Place, tmp_path: Path) -> None:
    folder = adjudicated_study(place, tmp_path / "out", "native", "labels", "adjudicated")
    said = "Lost: 1 final label{} that adjudicators decided: only labels of annotators are taken."
    again = Place(place.db, tmp_path / "again")
    assert said.format("") in again.take(folder, labels_into="again", dry_run=True).notes
    beside = tmp_path / "beside"
    (tmp_path / "out/native").rename(beside)
    for name in ("labels.csv", "adjudicated.csv"):
        (tmp_path / "out" / name).rename(beside / name)
    assert said.format(" in beside/adjudicated.csv") in again.take(beside, dry_run=True).notes
    assert said.format(" in beside/adjudicated.csv") in convert_files(
        [beside], into="ragas", output=tmp_path / "ragas"
    ).notes  # fmt: skip


def test_a_study_of_pairs_leaves_with_both_items_of_each(place: Place, tmp_path: Path, shared_data: Path) -> None:
    source = shared_data / "ragchecker" / "human_labeled_data.json"
    place.take(source, labels_into="Raters", format_name="ragchecker")
    with place.db.read() as session:
        study = session.execute(select(Study)).scalar_one()
    to = tmp_path / "out"
    export_project(
        place.db, place.actor, place.project, to=to, study_id=study.id, formats=["huggingface", "labels"], options=SAID
    )
    assert verify_against(place.db, place.actor, to).ok
    labels = table(to / "huggingface", "labels")
    assert len(labels) == (to / "labels.csv").read_text().count("\n") - 1 > 1_000
    assert all(label["other"] and label["other"] != label["item"] for label in labels)
    settled = table(to / "huggingface", "adjudicated")
    assert {(row["item"], row["other"]) for row in settled} == {(label["item"], label["other"]) for label in labels}
    again = Place(place.db, tmp_path / "again")
    report = again.take(to / "huggingface", labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.labels.n) == ([], [], len(labels))


def test_the_card_has_the_agreement_of_the_page(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=20)
    card = (exported(sqlite_database, made, tmp_path / "out") / "README.md").read_text()
    assert card.startswith("---\nlicense: cc-by-4.0\n")
    report = agreement_report(sqlite_database, made.researcher, made.study_id, named=False)
    for criterion in report.criteria:
        if criterion.headline and criterion.headline.value is not None:
            assert f"| {criterion.headline.value:.2f} [" in card.replace("−", "-")
            assert f"| {title_of(criterion.headline.name)} | " in card
            assert criterion.headline.method in card
    counted = re.search(r"Of ([\d,]+) units, ([\d,]+) are settled \([^)]*\), ([\d,]+) open\.", card)
    assert counted is not None
    units, settled, left = (int(n.replace(",", "")) for n in counted.groups())
    assert units == settled + left > 0
    assert "ada" not in card


def test_names_of_people_leave_only_when_asked_for(sqlite_database: Database, tmp_path: Path) -> None:
    made = labelled_study(sqlite_database, items=3)
    folder = exported(sqlite_database, made, tmp_path / "out", names=True)
    assert {"ada", "ben"} <= {row["annotator"] for row in table(folder, "labels")}


@pytest.mark.parametrize(("licence", "said"), [(None, "--licence"), ("no such\nlicence", "short name")])
def test_a_card_without_a_licence_is_refused_and_nothing_is_written(
    sqlite_database: Database, tmp_path: Path, licence: str | None, said: str
) -> None:
    made = labelled_study(sqlite_database, items=1)
    options = {} if licence is None else {"licence": licence}
    with pytest.raises(InvalidInput, match=said):
        export_project(
            sqlite_database, made.researcher, made.project_id, to=tmp_path / "out", formats=["huggingface"],
            options=options,
        )  # fmt: skip
    assert list(tmp_path.glob("*out*")) == []


FULL = {
    "id": "a", "question_key": "q", "question": "Q?", "answer": "A", "category": "Text", "language": "en",
    "references": ["May", ["3", "May"]], "documents": ["r.pdf"],
    "evidence": [{"key": "e1", "kind": "page", "role": "gold", "document": "r.pdf", "pages": [17],
                  "metadata": {"n": [1]}},
                 {"key": "e2", "text": "It closed.", "box": [0.1, 0.1, 0.9, 0.9]}],
    "claims": [{"key": "c1", "text": "It closed.", "metadata": {"triplet": ["It", "is", "closed"]}}],
    "images": [{"key": "i1", "document": "r.pdf", "metadata": {"n": None}}],
    "hops": [{"key": "h1", "question": "H?", "metadata": {"n": {"m": 1}}}],
    "scores": [{"scorer": "x", "name": "right", "value": 0.5, "parameters": {"k": 5}},
               {"name": "other", "value": None}],
    "metadata": {"shelf": "B2", "n": None, "deep": {"a": [1]}},
}  # fmt: skip


def read_in(path: Path, format_name: str | None = None) -> list[Any]:
    """The items of a file or folder, and its bad rows."""
    with open_sources([path]) as sources:
        rows = [*read_sources(sources, format_name).items()]
    return [row.item if isinstance(row, ParsedItem) else row for row in rows]


def items_written(folder: Path) -> Path:
    """A folder of three items, the last of which lacks all that may be lacking."""
    rows = [FULL, {"id": "b", "question": "R?", "references": ["June"]}, {"id": "c", "question": "S?"}]
    (folder / "items.jsonl").write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    convert_files([folder / "items.jsonl"], into="huggingface", output=folder / "out", options=SAID)
    return folder / "out"


def one_file(found: pa.Table, path: Path) -> Path:
    """A file of rows with every column in each, as `to_parquet` and `to_json` of `datasets` write them."""
    if path.suffix == ".parquet":
        pq.write_table(found, path)
        return path
    lines = [orjson.dumps(row) for row in found.to_pylist()]
    path.write_bytes(b"[" + b",\n".join(lines) + b"]" if path.name == "list.json" else b"\n".join(lines))
    return path


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl", "x.json", "list.json"])
def test_a_file_of_the_rows_of_a_folder_comes_in_as_the_folder_does(tmp_path: Path, name: str) -> None:
    folder = items_written(tmp_path)
    whole = read_in(tmp_path / "items.jsonl")
    assert len(whole) == 3
    assert read_in(folder) == whole
    [path] = folder.glob("**/items/*.parquet")
    found = pq.read_table(path)
    assert read_in(one_file(found, tmp_path / name)) == whole
    fewer = found.drop_columns(["hops", "images"])
    named = "native" if name.endswith(".json") else None  # it is known by its columns
    assert [item.evidence for item in read_in(one_file(fewer, tmp_path / name), named)] == [
        item.evidence for item in whole
    ]


def test_pictures_of_what_items_point_at_are_left_out_of_a_single_file_too(tmp_path: Path) -> None:
    [path] = items_written(tmp_path).glob("**/items/*.parquet")
    found = pq.read_table(path)
    kind = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    pictures = pa.array([[{"bytes": PNG, "path": "r.pdf#17"}]] * len(found), kind)
    pq.write_table(found.append_column("pictures", pictures), tmp_path / "x.parquet")
    assert read_in(tmp_path / "x.parquet") == read_in(tmp_path / "items.jsonl")


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl"])
def test_what_would_be_lost_of_a_text_of_json_in_a_part_is_a_bad_row(tmp_path: Path, name: str) -> None:
    digits = "1" * 30
    hops = [[{"question": "H?", "metadata": f'{{"n": {digits}}}'}], [{"question": "H?", "metadata": "none"}]]
    path = one_file(pa.table({"question": ["Q?", "R?"], "hops": hops}), tmp_path / name)
    first, second = read_in(path)
    assert isinstance(first, Rejected)
    assert f"`metadata` of `hops`: the whole number {digits} is longer than 64 bits" in first.reason
    assert isinstance(second, Rejected)
    assert "`metadata` is 'none', not an object" in second.reason


def stranger(folder: Path, card: str = "---\ndataset_info:\n  x: y\n---\n") -> Path:
    """A dataset as others lay it: two splits, a picture a row, a column that nobody knows."""
    for split, question in (("train", "What colour?"), ("validation", "And this?")):
        rows = {
            "query": [question],
            "answer": ["red"],
            "image": [{"bytes": PNG, "path": None}],
            "difficulty": [3],
            "when": pa.array([None], pa.timestamp("us")),
        }
        path = folder / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(rows), path)
    (folder / "README.md").write_text(card)
    return folder


def test_a_strangers_dataset_comes_in_with_its_splits_and_pictures(place: Place, tmp_path: Path) -> None:
    report = place.take(stranger(tmp_path / "set"))
    assert (report.format, report.added, report.rejected, report.supplied) == ("huggingface", 2, [], 1)
    first = place.items()[0]
    assert (first.question, first.answer, first.metadata) == (
        "What colour?",
        "red",
        {"difficulty": 3, "split": "train"},
    )
    assert first.evidence[0].document == place.items()[1].evidence[0].document
    assert (first.evidence[0].document or "").endswith(".png")
    done = convert_files([tmp_path / "set"], into="huggingface", output=tmp_path / "again", options=SAID)
    assert done.lost == []
    assert {"items/train.parquet", "items/validation.parquet"} <= set(done.files)


def loose(folder: Path) -> Path:
    """A dataset whose card names data files without types: a split each."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "train.jsonl").write_text(
        '{"question": "Q1?", "answer": "A", "contexts": ["a", "b"], "level": 2}\n\n'
        '{"question": "Q2?", "answer": "B", "contexts": [], "url": "u"}\n'
    )
    (folder / "data" / "dev.csv").write_text("question,answer,contexts\nQ3?,C,\"['c', 'd']\"\n")
    (folder / "data" / "test.json").write_text('[{"question": "Q4?", "answer": "D", "contexts": ["e"]}]')
    (folder / "other.jsonl").write_text('{"question": "Not of the dataset?"}\n')
    files = "".join(
        f"  - split: {split}\n    path: data/{name}\n"
        for split, name in (("train", "train.jsonl"), ("validation", "dev.csv"), ("test", "test.json"))
    )
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n# Loose\n")
    return folder


def test_data_files_without_types_come_in_where_the_card_names_them(place: Place, tmp_path: Path) -> None:
    report = place.take(loose(tmp_path / "set"))
    assert (report.format, report.added, report.rejected) == ("huggingface", 4, [])
    found = {item.question: item for item in place.items()}
    assert {name: item.metadata["split"] for name, item in found.items()} == {
        "Q1?": "train", "Q2?": "train", "Q3?": "validation", "Q4?": "test",
    }  # fmt: skip
    assert [unit.text for unit in found["Q1?"].evidence] == ["a", "b"]
    assert [unit.text for unit in found["Q3?"].evidence] == ["c", "d"]
    assert (found["Q1?"].metadata["level"], found["Q2?"].metadata["url"]) == (2, "u")


def items_in(
    folder: Path, mapping: dict[str, list[str]] | None = None
) -> tuple[list[ParsedItem], list[Any], list[str]]:
    """The items, bad rows and notes of a folder that is read without saying as what."""
    with open_sources([folder]) as sources:
        reading = read_sources(sources, None, mapping)
        found = list(reading.items())
        notes = list(reading.notes())
    items = [row for row in found if isinstance(row, ParsedItem)]
    return items, [row for row in found if isinstance(row, Rejected)], notes


def of_classes() -> pa.Table:
    """A table as `datasets` writes it, with two columns whose numbers are classes."""
    classes = {"names": ["law", "med"], "_type": "ClassLabel"}
    features = {"category": classes, "tags": {"feature": classes, "_type": "List"}}
    rows = {"question": ["Q1?", "Q2?"], "category": [1, -1], "tags": [[0, 1], []]}
    return pa.table(rows).replace_schema_metadata({"huggingface": orjson.dumps({"info": {"features": features}})})


def test_numbers_of_classes_are_their_names_as_the_file_or_the_card_says(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    pq.write_table(of_classes(), tmp_path / "own" / "train.parquet")
    (tmp_path / "own" / "README.md").write_text("---\ndataset_info:\n  splits: []\n---\n")
    (tmp_path / "card").mkdir()
    names = "        names:\n          '0': law\n          '1': med\n"
    features = f"  features:\n  - name: category\n    dtype:\n      class_label:\n{names}"
    features += f"  - name: tags\n    sequence:\n      class_label:\n{names}"
    (tmp_path / "card" / "README.md").write_text(f"---\ndataset_info:\n{features}---\n")
    pq.write_table(of_classes().replace_schema_metadata(None), tmp_path / "card" / "train.parquet")
    for name in ("own", "card"):
        items, bad, _ = items_in(tmp_path / name)
        assert bad == []
        assert [one.item.category for one in items] == ["med", None]
        assert [one.item.metadata["tags"] for one in items] == [["law", "med"], []]


def test_numbers_of_classes_inside_of_lists_and_objects_are_their_names(tmp_path: Path) -> None:
    zs, roles = ({"names": list(names), "_type": "ClassLabel"} for names in (["zero", "one"], ["gold", "distractor"]))
    listed = [{"_type": "Sequence"}, {"_type": "List"}, {"_type": "LargeList"}]
    features = {
        "s": {"z": zs, "feature": {"deep": [{"z": zs}]}},
        "ev2": {"feature": {"a": {"dtype": "string", "_type": "Value"}, "c": zs}, **listed[0]},
        "evidence": {"feature": {"text": {"dtype": "string", "_type": "Value"}, "role": roles}, **listed[1]},
        "lists": {"feature": {"feature": zs, **listed[2]}, **listed[2]},
    }
    rows = {
        "question": ["Q?"], "s": [{"z": 1, "feature": {"deep": [{"z": 0}, {"z": -1}]}}], "lists": [[[0], [1, -1]]],
        "ev2": [{"a": ["p", "q"], "c": [1, 0]}], "evidence": [[{"text": "t", "role": 1}, {"text": "u", "role": 0}]],
    }  # fmt: skip
    table = pa.table(rows).replace_schema_metadata({"huggingface": orjson.dumps({"info": {"features": features}})})
    (tmp_path / "own").mkdir()
    pq.write_table(table, tmp_path / "own" / "train.parquet")
    (tmp_path / "own" / "README.md").write_text("---\ndataset_info:\n  splits: []\n---\n")
    z, role = ({"class_label": {"names": {"0": one["names"][0], "1": one["names"][1]}}} for one in (zs, roles))
    deep = {"name": "deep", "list": [{"name": "z", "dtype": z}]}
    said = [
        {"name": "s", "struct": [{"name": "z", "dtype": z}, {"name": "feature", "struct": [deep]}]},
        {"name": "ev2", "sequence": [{"name": "a", "dtype": "string"}, {"name": "c", "dtype": z}]},
        {"name": "evidence", "list": [{"name": "text", "dtype": "string"}, {"name": "role", "dtype": role}]},
        {"name": "lists", "large_list": {"large_list": z}},
    ]
    (tmp_path / "card").mkdir()
    pq.write_table(table.replace_schema_metadata(None), tmp_path / "card" / "train.parquet")
    front = orjson.dumps({"features": said}).decode()  # JSON is YAML
    (tmp_path / "card" / "README.md").write_text(f"---\ndataset_info: {front}\n---\n")
    for name in ("own", "card"):
        [row], bad, _ = items_in(tmp_path / name)
        assert bad == []
        assert [(unit.text, unit.role) for unit in row.item.evidence] == [("t", "distractor"), ("u", "gold")]
        assert {key: row.item.metadata[key] for key in ("s", "ev2", "lists")} == {
            "s": {"z": "one", "feature": {"deep": [{"z": "zero"}, {}]}},
            "ev2": {"a": ["p", "q"], "c": ["one", "zero"]},
            "lists": [["zero"], ["one", None]],
        }, name


def test_only_splits_that_have_files_are_named_each_as_a_text(tmp_path: Path) -> None:
    for name, splits in (("one", ["train"]), ("fold", ["5", "no", "1.5"]), ("both", ["train", None])):
        rows = [
            {"id": f"i{n}", "question": "Q?", "metadata": {"split": split} if split else {}}
            for n, split in enumerate(splits)
        ]
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
        out = tmp_path / name
        assert convert_files([tmp_path / f"{name}.jsonl"], into="huggingface", output=out, options=SAID).lost == []
        front = yaml.safe_load((out / "README.md").read_text().split("---")[1])
        files = {one["split"]: one["path"] for one in front["configs"][0]["data_files"]}
        assert files == {split or "test": f"items/{split or 'test'}.parquet" for split in splits}
        assert all((out / path).is_file() for path in files.values())
        assert f'load_dataset("PATH")["{next(iter(files))}"]' in (out / "README.md").read_text()
        items, _, _ = items_in(out)
        assert sorted(str(one.item.metadata.get("split")) for one in items) == sorted(map(str, splits))


def test_what_a_card_names_and_the_folder_lacks_is_told(tmp_path: Path) -> None:
    folder = loose(tmp_path / "set")
    (folder / "data" / "test.json").unlink()
    _, bad, notes = items_in(folder)
    assert bad == []
    assert (
        "The card names 'data/test.json' ('default', split 'test'), which is not among the files: it is left out."
        in (notes)
    )


def test_the_index_that_pandas_wrote_into_a_data_file_is_left_out_and_told(tmp_path: Path) -> None:
    folder = loose(tmp_path / "set")
    (folder / "data" / "dev.csv").write_text(",question,answer\n0,Q3?,C\n")
    items, bad, notes = items_in(folder)
    assert (len(items), bad) == (4, [])
    assert "dev.csv: the first column, which has no name and numbers the rows, is left out." in notes


def test_json_lines_are_read_whatever_their_file_is_called_and_pointers_are_told(tmp_path: Path) -> None:
    folder = loose(tmp_path / "set")
    (folder / "data" / "train.jsonl").unlink()
    (folder / "data" / "test.json").write_text('{"question": "Q4?"}\n{"question": "Q5?"}\n')
    (folder / "data" / "train.jsonl").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    items, [bad], _ = items_in(folder)
    assert [one.item.question for one in items] == ["Q3?", "Q4?", "Q5?"]
    assert bad.reason == "it is a pointer of Git LFS, not the data. Fetch them: git lfs pull."


def test_columns_of_a_dataset_can_be_mapped_without_naming_its_format(tmp_path: Path) -> None:
    folder = loose(tmp_path / "set")
    for name, before in (("train.jsonl", '"question"'), ("test.json", '"question"'), ("dev.csv", "question")):
        path = folder / "data" / name
        path.write_text(path.read_text().replace(before, before.replace("question", "frage")))
    items, bad, _ = items_in(folder, {"question": ["frage"], "answer": ["answer"]})
    assert (len(items), bad) == (4, [])
    assert {one.item.metadata["split"] for one in items} == {"train", "validation", "test"}


def test_a_card_that_names_only_a_folder_has_the_splits_that_its_files_are_called(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    (folder / "sub").mkdir(parents=True)
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: default\n  data_dir: sub\n---\n")
    for name in ("train", "my-validation-1", "part"):
        (folder / "sub" / f"{name}.jsonl").write_text(orjson.dumps({"question": name}).decode())
    items, bad, notes = items_in(folder)
    assert (bad, notes) == ([], [])
    found = {one.item.question: one.item.metadata["split"] for one in items}
    assert found == {"train": "train", "my-validation-1": "validation", "part": "train"}


def test_pictures_are_evidence_alone_and_those_that_are_none_are_counted(tmp_path: Path) -> None:
    pictures = [
        [{"bytes": PNG, "path": "a.png"}, {"bytes": b"no picture", "path": None}],
        [{"bytes": None, "path": "b"}],
    ]
    pq.write_table(pa.table({"question": ["Q1?", "Q2?"], "images": pictures}), tmp_path / "train.parquet")
    (tmp_path / "README.md").write_text("---\ndataset_info:\n  x: y\n---\n")
    items, bad, notes = items_in(tmp_path)
    assert bad == []
    assert [(len(one.item.evidence), len(one.item.images)) for one in items] == [(1, 0), (0, 0)]
    [note] = notes
    assert note.endswith(
        "train.parquet: 2 pictures without bytes (a path alone is a name), or of no kind that is known: left out."
    )


def test_a_date_that_cannot_be_read_costs_its_row_alone(tmp_path: Path) -> None:
    days = pa.array([1, 2_932_897, None], pa.date32())
    pq.write_table(pa.table({"question": ["Q1?", "Q2?", "Q3?"], "day": days}), tmp_path / "train.parquet")
    (tmp_path / "README.md").write_text("---\ndataset_info:\n  x: y\n---\n")
    items, [bad], _ = items_in(tmp_path)
    assert [one.item.question for one in items] == ["Q1?", "Q3?"]
    assert bad.line == 2
    assert bad.reason.startswith("the column 'day' holds a value that cannot be read (date value out of range).")


def test_bad_rows_of_data_files_are_named_with_their_lines(tmp_path: Path) -> None:
    folder = loose(tmp_path / "set")
    (folder / "data" / "train.jsonl").write_text('{"question": "Q1?"}\n{"question": \n"text"\n')
    (folder / "data" / "dev.csv").write_text("question,answer\nQ3?,C,too much\n")
    (folder / "data" / "test.json").write_text('"no list"')
    with open_sources([folder]) as sources:
        found = list(FORMATS.get("huggingface").read(sources).items())
    bad = {(Path(row.file).name, row.line): row.reason for row in found if isinstance(row, Rejected)}
    assert set(bad) == {("train.jsonl", 2), ("train.jsonl", 3), ("dev.csv", 2), ("test.json", 1)}
    assert "it is no object" in bad["train.jsonl", 3]
    assert "no list of records" in bad["test.json", 1]
    assert len(found) == 5


def test_a_bad_row_of_labels_is_named_each_time_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a", "question": "Q?"}')
    (tmp_path / "labels.csv").write_text("item,annotator,criterion,value\na,x,fair,yes\na,y,fair,no,too much\n")
    configs = "".join(f"- config_name: {name}\n  data_files: {name}.{end}\n"
                      for name, end in (("items", "jsonl"), ("labels", "csv")))  # fmt: skip
    (tmp_path / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")
    with open_sources([tmp_path]) as sources:
        reading = FORMATS.get("huggingface").read(sources)
        for _ in range(2):
            bad, item = reading.items()
            assert isinstance(bad, Rejected)
            assert (Path(bad.file).name, bad.line) == ("labels.csv", 3)
            assert isinstance(item, ParsedItem)
            assert [label.value for label in item.labels] == ["yes"]


@pytest.mark.parametrize("path", ["../x.parquet", "/etc/*.parquet", "hf://datasets/x/y.parquet", "https://h/x.parquet"])
def test_nothing_outside_of_the_folder_is_read_or_fetched(tmp_path: Path, path: str) -> None:
    folder = stranger(tmp_path / "set", f"---\nconfigs:\n- config_name: c\n  data_files: '{path}'\n---\n")
    with open_sources([folder]) as sources, pytest.raises(InvalidInput, match="nothing is fetched"):
        FORMATS.get("huggingface").read(sources)


BAD_CARDS = {
    "aliases": "---\nconfigs: &a [*a, *a]\n---\n",
    "deep": "---\nconfigs: " + "[" * 2_000 + "]" * 2_000 + "\n---\n",
    "tags": "---\nconfigs: !!python/object/apply:os.system ['touch /tmp/x']\n---\n",
}


@pytest.mark.parametrize("name", list(BAD_CARDS))
def test_a_hostile_card_is_refused(tmp_path: Path, name: str) -> None:
    folder = stranger(tmp_path / "set", BAD_CARDS[name])
    with open_sources([folder]) as sources, pytest.raises(InvalidInput):
        FORMATS.get("huggingface").read(sources)


def test_what_is_wrong_with_a_card_is_named_with_its_line_in_the_card(tmp_path: Path) -> None:
    for said, line in (("a: &a [1]\nconfigs: []", 2), ("a: {\nconfigs: []\n: ]", 4)):
        (tmp_path / "README.md").write_text(f"---\n{said}\n---\n# A\n")
        with open_sources([tmp_path]) as sources, pytest.raises(InvalidInput, match=f"README.md, line {line}: "):
            read_sources(sources, "huggingface")


def test_a_dataset_that_was_saved_without_rows_is_said_to_have_none(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{\n  "_data_files": [],\n  "_split": null\n}')
    with open_sources([tmp_path]) as sources, pytest.raises(InvalidInput, match="the saved dataset has no rows"):
        read_sources(sources, None)
    # Files that a state names and that are not there are another matter.
    (tmp_path / "state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}')
    with open_sources([tmp_path]) as sources, pytest.raises(InvalidInput, match="Download the dataset's files"):
        read_sources(sources, None)


def test_files_that_are_damaged_or_too_wide_are_named(tmp_path: Path) -> None:
    folder = stranger(tmp_path / "set")
    (folder / "data" / "damaged.parquet").write_bytes(b"PAR1" + b"\x00" * 50)
    wide = pa.table({f"c{number}": [1] for number in range(2_100)})
    pq.write_table(wide, folder / "data" / "wide.parquet")
    with open_sources([folder]) as sources:
        found = list(FORMATS.get("huggingface").read(sources).items())
    bad = [row for row in found if isinstance(row, Rejected)]
    assert ["damaged" in bad[0].file, "2,100 columns" in bad[1].reason] == [True, True]


def test_what_is_no_number_and_no_text_does_no_harm(tmp_path: Path) -> None:
    rows = {"question": ["=cmd|' /C calc'!A0", "Q?"], "x": [float("nan"), float("inf")], "y": [b"\xff", None]}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    with open_sources([tmp_path]) as sources:
        first, second = FORMATS.get("huggingface").read(sources).items()
    assert isinstance(first, Rejected)
    assert first.reason == "the column 'y' holds bytes, not a text. Write it as a text, or leave the column out."
    assert not isinstance(second, Rejected)
    assert second.item.metadata == {"x": "inf"}, "no number of JSON"


def test_pages_go_along_as_pictures_but_those_that_must_not_leave(place: Place, tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "Q?", "answer": "A", "evidence": [{"document": "d.pdf", "pages": [1]}]},
        {"id": "b", "question": "R?", "answer": "B", "images": [{"document": "p.png", "page": 1}]},
        {"id": "c", "question": "S?", "answer": "C", "evidence": [{"document": "gone.pdf", "pages": [2]}]},
    ]
    source = tmp_path / "in"
    (source / "documents").mkdir(parents=True)
    (source / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    write_pdf(source / "documents" / "d.pdf")
    Image.new("RGB", (30, 20), "blue").save(source / "documents" / "p.png")
    place.take(source)
    keep_documents(place.db, place.actor, place.project, keys=["d.pdf"])
    asked: dict[str, Any] = {"formats": ["huggingface"], "options": SAID, "data_folder": place.home, "pictures": True}
    before = export_project(place.db, place.actor, place.project, to=tmp_path / "out", **asked, dry_run=True)
    made = export_project(place.db, place.actor, place.project, to=tmp_path / "out", **asked)
    assert (made.counts, made.files, before.lost) == (before.counts, before.files, {"huggingface": []})
    assert made.filters["kept"] == ["d.pdf"]
    assert (made.counts["huggingface_pictures"], made.counts["huggingface_pages_without_picture"]) == (1, 2)
    folder = tmp_path / "out" / "huggingface"
    [_, shown, _] = pq.read_table(folder / "items/test.parquet")["pictures"].to_pylist()
    assert [one["path"] for one in shown] == ["p.png#1"]
    assert shown[0]["bytes"] == (source / "documents" / "p.png").read_bytes()
    assert [path.name for path in (folder / "documents").iterdir()] == ["p.png"]
    card = (folder / "README.md").read_text()
    assert "has 1 picture:" in card
    assert "2 pages that items point at have no picture" in card
    keep_documents(place.db, place.actor, place.project, keys=["d.pdf"], kept=False)
    assert verify_against(place.db, place.actor, tmp_path / "out", documents=place.home).ok
    with pytest.raises(InvalidInput, match="Give the folder of documents"):
        verify_against(place.db, place.actor, tmp_path / "out")


def test_documents_that_must_not_leave_go_along_with_a_copy_for_another_home_alone(
    place: Place, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    (source / "documents").mkdir(parents=True)
    rows = [{"id": name, "question": "Q?", "answer": "A", "documents": [f"{name}.pdf"]} for name in ("kept", "free")]
    (source / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    for row in rows:
        write_pdf(source / "documents" / f"{row['id']}.pdf")
    place.take(source)
    keep_documents(place.db, place.actor, place.project, keys=["kept.pdf"])
    asked: dict[str, Any] = {"formats": ["native", "huggingface"], "options": SAID, "data_folder": place.home}
    made = export_project(place.db, place.actor, place.project, to=tmp_path / "out", **asked)
    assert made.counts["huggingface_documents_kept_here"] == 1
    there = {
        name: sorted(path.name for path in (tmp_path / "out" / name / "documents").iterdir())
        for name in ("native", "huggingface")
    }
    assert there == {"native": ["free.pdf", "kept.pdf"], "huggingface": ["free.pdf"]}
    keep_documents(place.db, place.actor, place.project, keys=["kept.pdf"], kept=False)
    assert verify_against(place.db, place.actor, tmp_path / "out").ok


@pytest.mark.parametrize(
    ("formats", "documents", "said"),
    [(["native"], True, "huggingface has"), (["huggingface"], False, "Let the documents' bytes go along")],
)
def test_pictures_that_nobody_could_draw_or_hold_are_refused(
    place: Place, tmp_path: Path, formats: list[str], documents: bool, said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        export_project(
            place.db, place.actor, place.project, to=tmp_path / "out", formats=formats, options=SAID,
            data_folder=place.home if documents else None, pictures=True,
        )  # fmt: skip
    assert not (tmp_path / "out").exists()


def test_values_of_labels_that_are_bytes_are_bad_rows(tmp_path: Path) -> None:
    for config, columns in (
        ("items", {"id": ["a"], "question": ["Q?"], "answer": ["A"]}),
        ("labels", {"item": ["a"], "annotator": ["ada"], "criterion": ["right"], "value": [b"\xff"]}),
    ):
        (tmp_path / "in" / config).mkdir(parents=True)
        pq.write_table(pa.table(columns), tmp_path / "in" / config / "test-00000-of-00001.parquet")
    configs = "".join(f"- config_name: {name}\n  data_files: {name}/*.parquet\n" for name in ("items", "labels"))
    (tmp_path / "in" / "README.md").write_text(f"---\nlicense: mit\nconfigs:\n{configs}---\n")
    with pytest.raises(InvalidInput, match=r"labels/test.*line 1: .value. is b'.*no label"):
        convert_files([tmp_path / "in"], into="native", output=tmp_path / "out", format_name="huggingface")


def test_a_configuration_without_rows_is_not_written(place: Place, tmp_path: Path) -> None:
    study = StudyInUse(place.db, items=2, annotators=1, overlap=1)
    about: dict[str, Any] = {"study_id": study.study_id, "formats": ["huggingface"], "options": SAID}
    export_project(place.db, study.researcher, study.project_id, to=tmp_path / "none", **about)
    card = (tmp_path / "none" / "huggingface" / "README.md").read_text()
    assert re.findall(r"config_name: (\w+)", card) == ["items"]
    assert [path.name for path in (tmp_path / "none" / "huggingface").iterdir() if path.is_dir()] == ["items"]
    assert verify_against(place.db, study.researcher, tmp_path / "none").ok
    study.label_all(0)
    export_project(place.db, study.researcher, study.project_id, to=tmp_path / "some", **about)
    card = (tmp_path / "some" / "huggingface" / "README.md").read_text()
    assert re.findall(r"config_name: (\w+)", card) == ["items", "labels", "label_arrays", "adjudicated", "soft_labels"]


def test_a_data_file_in_other_bytes_is_accused_alone(place: Place, tmp_path: Path) -> None:
    """The card has a hash of what rows say, which stays the same."""
    study = StudyInUse(place.db, items=2, annotators=1, overlap=1)
    study.label_all(0)
    about: dict[str, Any] = {"study_id": study.study_id, "formats": ["huggingface"], "options": SAID}
    export_project(place.db, study.researcher, study.project_id, to=tmp_path / "out", **about)
    path = tmp_path / "out" / "huggingface" / "labels" / "test.parquet"
    pq.write_table(pq.read_table(path), path, compression="none")
    found = verify_against(place.db, study.researcher, tmp_path / "out")
    assert (found.changed, found.notes) == ({"huggingface/labels/test.parquet": None}, [])


def described(card: Path) -> dict[str, str]:
    """Configuration → what the card says of it."""
    return dict(re.findall(r"config_name: (\w+)\n(?:  default: true\n)?  description: \"(.*)\"", card.read_text()))


def test_cards_differ_where_rows_do_however_many_there_are(place: Place, tmp_path: Path) -> None:
    """By what a card says `datasets` tells folders of one name apart."""
    said = []
    for name, value in (("one", "yes"), ("other", "no"), ("alike", "yes")):
        study = StudyInUse(place.db, items=2, annotators=1, overlap=1)
        study.label_all(0, value)
        to = tmp_path / name
        export_project(
            place.db, study.researcher, study.project_id, to=to, study_id=study.study_id, formats=["huggingface"],
            options=SAID,
        )  # fmt: skip
        assert verify_against(place.db, study.researcher, to).ok
        said.append(described(to / "huggingface" / "README.md"))
    one, other, alike = said
    assert list(one) == list(other) == ["items", "labels", "label_arrays", "adjudicated", "soft_labels"]
    assert [name for name in one if one[name] == other[name]] == ["items"]
    assert [name for name in one if one[name] != alike[name]] == ["labels"], "they have times"


@pytest.mark.parametrize("changed", [{"answer": "B"}, {"metadata": {"split": "train"}}])
def test_cards_of_converted_items_differ_where_items_do(tmp_path: Path, changed: dict[str, Any]) -> None:
    cards = []
    for number, row in enumerate(({"answer": "A"}, changed, {"answer": "A"})):
        (tmp_path / "items.jsonl").write_bytes(orjson.dumps({"id": "a", "question": "Q?", **row}))
        out = tmp_path / str(number)
        convert_files([tmp_path / "items.jsonl"], into="huggingface", output=out, options=SAID)
        cards.append(described(out / "README.md")["items"])
    assert cards[0] == cards[2] != cards[1]
