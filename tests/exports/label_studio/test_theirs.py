"""Projects of Label Studio that are not ours: their configs as protocols, their tasks as items, what cannot be said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from annotators.protocols import Protocol
from db.engine import Database
from db.models import Annotation, StoredLabel, Study
from exports.converting import convert_files
from exports.formats import recognise
from exports.formats.label_studio import LabelStudio
from exports.importing.items import import_paths
from exports.label_studio.addresses import server_address
from exports.label_studio.known import NOBODYS
from exports.label_studio.labelling import labelling_of
from exports.label_studio.server import Server
from exports.label_studio.theirs.asked import read_theirs
from exports.label_studio.theirs.fetch import _leads_to_a_file
from exports.label_studio.xml import read_config
from exports.reading.sources import open_sources
from tests.makers import first_administrator, make_project

CONFIG = """<View>
  <Header value="Read it"/>
  <Text name="q" value="$question"/>
  <Text name="t" value="$text"/>
  <Image name="scan" value="$picture"/>
  <List name="docs" value="$docs"/>
  <Header value="Is it good?"/>
  <Choices name="good" toName="t" required="true">
    <Choice value="Yes" alias="yes" hint="all of it"/><Choice value="No"/>
  </Choices>
  <View visibleWhen="choice-selected" whenTagName="good" whenChoiceValue="No">
    <Choices name="Faults" toName="t" choice="multiple"><Choice value="A"/><Choice value="B"/></Choices>
  </View>
  <Rating name="stars" toName="t" maxRating="4"/>
  <Number name="n" toName="t" min="0" max="10" step="0.5"/>
  <TextArea name="words" toName="t" rows="3" maxSubmissions="1"/>
  <Taxonomy name="topic" toName="t"><Choice value="Land"><Choice value="Hill"/></Choice><Choice value="Sea"/></Taxonomy>
  <Labels name="ner" toName="t"><Label value="PER"/><Label value="LOC"/></Labels>
  <RectangleLabels name="box" toName="scan"><Label value="Seal"/><Label value="Name"/></RectangleLabels>
  <Ranker name="rank" toName="docs"/>
  <BrushLabels name="brush" toName="scan"><Label value="X"/></BrushLabels>
  <Choices name="region" toName="t" perRegion="true"><Choice value="x"/></Choices>
  <Choices name="dynamic" toName="t" value="$options"/>
  <Relations><Relation value="of"/></Relations>
</View>"""

DATA = {
    "question": "Who?", "text": "Zoë 😀 saw Rome.", "picture": "/data/upload/3/0a1b2c3d-scan.png?x=1",
    "docs": [{"id": "d 1", "title": "One"}, {"id": "d2", "title": "Two"}], "options": ["o"], "extra": 7,
}  # fmt: skip


def result(name: str, kind: str, to: str = "t", **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": to, "type": kind, "value": value}


RESULTS = [
    result("good", "choices", choices=["No"]),
    result("Faults", "choices", choices=["B"]),
    result("stars", "rating", rating=3),
    result("n", "number", number=2.5),
    result("words", "textarea", text=["one", "two"]),
    result("topic", "taxonomy", taxonomy=[["Land", "Hill"], ["Sea"]]),
    result("ner", "labels", start=0, end=3, text="Zoë", labels=["PER"]),
    result("ner", "labels", start=10, end=14, text="Rome", labels=["LOC"]),
    result("box", "rectanglelabels", "scan", x=10, y=20, width=30, height=40, rotation=0, rectanglelabels=["Seal"]),
    result("rank", "ranker", "docs", ranker={"rank": ["d2", "d 1"]}),
    result("brush", "brushlabels", "scan", format="rle", rle=[1], brushlabels=["X"]),
]


def write(folder: Path, tasks: Any, config: str | None = CONFIG) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "project.json").write_bytes(orjson.dumps(tasks))
    if config is not None:
        (folder / "their project.xml").write_text(config)
    return folder


def annotated(*results: Any, number: int = 5, **more: Any) -> dict[str, Any]:
    one = {"id": 1, "completed_by": {"id": 2, "email": "zoe@example.org"}, "result": list(results), "lead_time": 4.5}
    return {"id": number, "data": DATA, "annotations": [{**one, "updated_at": "2026-11-25T02:00:00Z", **more}]}


def read(folder: Path) -> tuple[list[ItemContent], list[ForeignLabel], list[Rejected], Any]:
    with open_sources([folder]) as sources:
        reading = LabelStudio().read(sources)
        found = list(reading.items())
        items = [one for one in found if isinstance(one, ParsedItem)]
        rejected = [one for one in found if isinstance(one, Rejected)]
        return [one.item for one in items], [label for one in items for label in one.labels], rejected, reading


def test_their_controls_become_criteria_and_each_part_that_cannot_is_named(tmp_path: Path) -> None:
    items, labels, rejected, reading = read(write(tmp_path / "p", [annotated(*RESULTS)]))
    assert rejected == []
    [item] = items
    assert (item.id, item.question, item.answer) == ("5", "Who?", DATA["text"])
    assert (item.evidence[0].document, item.evidence[0].kind) == ("0a1b2c3d-scan.png", "page")
    assert item.metadata["label_studio"]["data"]["extra"] == 7
    protocol: Protocol = reading.label_protocol()
    assert protocol.fallen(["evidence"]) == [one.name for one in protocol.criteria], "nobody said what stands"
    kinds = {one.name: one.kind for one in protocol.criteria}
    assert kinds == {
        "good": "choice", "faults": "several", "stars": "grade", "n": "number", "words": "text", "topic": "several",
        "ner": "spans", "box": "several", "rank": "order",
    }  # fmt: skip
    assert protocol.criterion("good").title == "Is it good?"
    when = protocol.criterion("faults").when
    assert when is not None
    assert (when.criterion, when.values) == ("good", ["No"])
    values = {label.criterion: orjson.loads(label.value) if label.value[0] in "[{" else label.value for label in labels}
    assert values["topic"] == ["Land/Hill", "Sea"]
    assert [(one["text"], one["label"]) for one in values["ner"]] == [("Zoë", "PER"), ("Rome", "LOC")]
    assert (values["stars"], values["n"], values["words"]) == ("3", "2.5", "one\ntwo")
    assert values["rank"] == ["d2", "d_1"]
    [box] = [label for label in labels if label.criterion == "box"]
    assert box.rationale == [{"document": "0a1b2c3d-scan.png", "page": 1, "box": [0.1, 0.2, 0.4, 0.6], "text": "Seal"}]
    assert {label.seconds for label in labels} == {4.5}
    assert {label.annotator for label in labels} == {"zoe@example.org"}
    said = "\n".join(reading.notes())
    for part in ("BrushLabels", "region", "dynamic", "Relations"):
        assert part in said, part


def test_who_submitted_and_marked_nothing_gave_none_of_the_labels(tmp_path: Path) -> None:
    good, bad = (result("good", "choices", choices=[one]) for one in ("Yes", "No"))
    _, labels, rejected, reading = read(write(tmp_path / "p", [annotated(good), annotated(bad, number=6)]))
    assert rejected == []
    given = {(label.item, label.criterion): label.value for label in labels}
    none = {"topic": "[]", "ner": "[]", "box": "[]"}
    asked = {("5", name): value for name, value in none.items()} | {("6", name): value for name, value in none.items()}
    assert given == asked | {("5", "good"): "yes", ("6", "good"): "No", ("6", "faults"): "[]"}
    assert "7 times nothing was ticked or marked" in "\n".join(reading.notes())
    # What is shown under a condition that cannot be said here was perhaps not shown.
    hidden = CONFIG.replace('visibleWhen="choice-selected"', 'visibleWhen="region-selected"')
    _, labels, _, _ = read(write(tmp_path / "hidden", [annotated(bad)], hidden))
    assert "faults" not in {label.criterion for label in labels}


def test_a_project_of_theirs_is_imported_with_its_labels_in_one_go_and_twice_is_once(
    sqlite_database: Database, tmp_path: Path
) -> None:
    admin, project = first_administrator(sqlite_database), make_project(sqlite_database)
    tasks = [annotated(*RESULTS), annotated(*RESULTS, number=6, was_cancelled=True)]
    folder = write(tmp_path / "p", tasks)
    report = import_paths(sqlite_database, admin, project, paths=[folder], dry_run=True, labels_into="theirs")
    assert report.labels.obstacles == []
    report = import_paths(sqlite_database, admin, project, paths=[folder], labels_into="theirs")
    assert (report.added, report.rejected) == (2, [])
    with sqlite_database.read() as session:
        study = session.exec(select(Study)).one()
        [annotation] = session.exec(select(Annotation).where(Annotation.study_id == study.id)).all()
        labels = session.exec(select(StoredLabel)).all()
    assert annotation.seconds == 4.5
    assert len(labels) == 9
    assert next(one for one in labels if one.criterion == "box").rationale
    again = import_paths(sqlite_database, admin, project, paths=[folder])
    assert (again.added, again.unchanged) == (0, 2)


def test_no_empty_set_is_made_up_where_it_is_not_known_that_nothing_was_given(tmp_path: Path) -> None:
    choices = '<Choice value="a"/><Choice value="b"/>'
    config = f"""<View><Text name="q" value="$question"/><Text name="t" value="$text"/>
      <Choices name="A" toName="t"><Choice value="yes"/><Choice value="no"/></Choices>
      <View visibleWhen="choice-selected" whenTagName="A" whenChoiceValue="yes">
        <Choices name="C" toName="t"><Choice value="x"/><Choice value="y"/></Choices>
        <View visibleWhen="choice-selected" whenTagName="C" whenChoiceValue="x">
          <Choices name="D" toName="t" choice="multiple">{choices}</Choices>
        </View>
      </View>
      <Repeater on="$items"><Choices name="r-{{{{idx}}}}" toName="t" choice="multiple">{choices}</Choices></Repeater>
      <Choices name="E" toName="t" choice="multiple">{choices}</Choices></View>"""
    given = [result("A", "choices", choices=["no"]), result("C", "choices", choices=["x"])]
    _, labels, _, reading = read(
        write(tmp_path / "p", [annotated(*given, result("r-0", "choices", choices=["a"]))], config)
    )
    assert {label.criterion: label.value for label in labels} == {"a": "no", "c": "x", "e": "[]"}, "r-0 is of it"
    notes = "\n".join(reading.notes())
    assert "repeated for each part" in notes
    assert "'D' is shown there under several conditions" in notes
    # `E` is asked of everybody, and known to be empty where all that was given is of this config.
    _, labels, _, _ = read(write(tmp_path / "all", [annotated(*given)], config))
    assert {label.criterion: label.value for label in labels} == {"a": "no", "c": "x", "e": "[]"}
    renamed = [*given, result("E-before", "choices", choices=["a"])]
    _, labels, _, _ = read(write(tmp_path / "renamed", [annotated(*renamed)], config))
    assert "e" not in {label.criterion for label in labels}


@pytest.mark.parametrize("key", ["…", "abc\n", "ключ"])
def test_a_key_that_cannot_be_one_is_refused_in_words(key: str) -> None:
    with pytest.raises(InvalidInput, match="characters that no key has"):
        Server(server_address("http://127.0.0.1:9", private=True), key)


@pytest.mark.parametrize("shown", ['<Text name="t" value="$text"/>', '<Image name="t" value="$picture"/>'])
def test_a_project_without_a_question_comes_in_under_the_numbers_of_its_tasks(tmp_path: Path, shown: str) -> None:
    config = f'<View>{shown}<Choices name="s" toName="t"><Choice value="good"/><Choice value="bad"/></Choices></View>'
    data = {"text": "A fine day.", "picture": "/data/upload/1/0a1b2c3d-scan.png"}
    one = annotated(result("s", "choices", choices=["good"]))
    items, labels, rejected, reading = read(write(tmp_path / "p", [{**one, "data": data}], config))
    assert rejected == []
    assert [item.question for item in items] == ["5"]
    assert [label.value for label in labels] == ["good"]
    assert (items[0].answer == "A fine day.") == ("Text" in shown)
    assert "1 task has no question: the number of the task stands for it." in reading.notes()


def test_of_two_annotations_of_one_person_that_counts_which_was_changed_last(tmp_path: Path) -> None:
    last, first = (annotated(result("good", "choices", choices=[one]))["annotations"][0] for one in ("Yes", "No"))
    task = {**annotated(), "annotations": [{**last, "updated_at": "2026-11-25T05:00:00Z"}, first]}
    _, labels, _, reading = read(write(tmp_path / "p", [task]))
    assert [label.value for label in labels if label.criterion == "good"] == ["yes"]
    assert "1 annotation of somebody who changed it in another: the last counts." in reading.notes()


def test_what_models_predicted_and_nobody_submitted_is_left_out_and_counted(tmp_path: Path) -> None:
    task = {
        **annotated(*RESULTS),
        "predictions": [{"model_version": "m", "result": []}] * 2,
        "drafts": [{"result": []}],
    }
    _, labels, _, reading = read(write(tmp_path / "p", [task]))
    assert {label.annotator for label in labels} == {"zoe@example.org"}
    notes = "\n".join(reading.notes())
    assert "2 predictions of models: no person's labels, so they are left out." in notes
    assert "1 draft that nobody submitted there: left out." in notes


CHOICES = '<Choice value="a"/><Choice value="b"/>'


def test_further_texts_are_evidence_references_and_parts_of_fields(tmp_path: Path) -> None:
    config = f"""<View><Header value="Question: $q.text"/><Text name="c" value="$contexts[0]"/>
      <Text name="t" value="$doc.parts[1].text"/><Text name="r" value="$reference_answer"/>
      <Text name="c2" value="$passage"/><Text name="same" value="Read it well."/>
      <Choices name="good" toName="t">{CHOICES}</Choices>
      <Labels name="ner" toName="t"><Label value="PER"/></Labels></View>"""
    data = {"q": {"text": "Who?"}, "contexts": ["One.", "Two."], "doc": {"parts": [{}, {"text": "Zoë came."}]},
            "passage": "Three.", "reference_answer": "Zoë"}  # fmt: skip
    given = [result("good", "choices", choices=["a"]), result("ner", "labels", start=0, end=3, labels=["PER"])]
    items, labels, rejected, reading = read(write(tmp_path / "p", [{**annotated(*given), "data": data}], config))
    assert rejected == []
    [item] = items
    assert (item.question, item.answer, item.references) == ("Question: Who?", "Zoë came.", ("Zoë",))
    assert [(one.key, one.text, one.kind) for one in item.evidence] == [
        ("contexts", "One.", "passage"),
        ("passage", "Three.", "passage"),
    ]
    assert {one.criterion for one in labels} == {"good", "ner"}
    assert "evidence" in reading.label_protocol().steps[0].shows
    assert item.metadata["label_studio"]["data"].keys() == {"q", "contexts", "doc"}, "what is shown in part is kept"


def test_texts_that_are_only_numbered_are_evidence_and_a_conversation_is_a_text(tmp_path: Path) -> None:
    config = f"""<View><Paragraphs name="q" value="$query" nameKey="who" textKey="said"/>
      <Text name="a" value="$text1"/><Text name="b" value="$text2"/>
      <Choices name="good" toName="q">{CHOICES}</Choices></View>"""
    data = {"query": [{"who": "Ann", "said": "Hi."}, {"said": "Where?"}], "text1": "There.", "text2": "Here."}
    items, _, _, _ = read(write(tmp_path / "p", [{**annotated(), "data": data}], config))
    assert (items[0].question, items[0].answer) == ("Ann: Hi.\n\nWhere?", "")
    assert [one.text for one in items[0].evidence] == ["There.", "Here."]


PAGES = f"""<View><Text name="q" value="$question"/><Image name="pages" valueList="$pages"/>
  <Choices name="used" toName="pages" perItem="true">{CHOICES}</Choices>
  <RectangleLabels name="box" toName="pages"><Label value="Seal"/><Label value="Name"/></RectangleLabels>
  <Choices name="all" toName="pages">{CHOICES}</Choices></View>"""


def test_several_images_are_pages_each_with_labels_and_boxes_of_its_own(
    sqlite_database: Database, tmp_path: Path
) -> None:
    data = {"question": "Q?", "pages": ["/data/local-files/?d=scans%2Fa/p1.png", "s3://bucket/b/p1.png"]}
    box = {"x": 10, "y": 20, "width": 30, "height": 40, "rectanglelabels": ["Name"]}
    given = [
        {**result("used", "choices", "pages", choices=["b"]), "item_index": 1},
        {**result("used", "choices", "pages", choices=["a"]), "item_index": 0},
        {**result("box", "rectanglelabels", "pages", **box), "item_index": 1},
        result("all", "choices", "pages", choices=["a"]),
    ]
    folder = write(tmp_path / "p", [{**annotated(*given), "data": data}], PAGES)
    items, labels, rejected, reading = read(folder)
    assert rejected == []
    assert [(one.key, one.document) for one in items[0].evidence] == [
        ("pages-1", "scans/a/p1.png"),
        ("pages-2", "bucket/b/p1.png"),
    ]
    assert [(one.criterion, one.target, one.value) for one in labels] == [
        ("used", "evidence:pages-1", "a"),
        ("used", "evidence:pages-2", "b"),
        ("box", "item", '["Name"]'),
        ("all", "item", "a"),
    ]
    assert [one["document"] for one in labels[2].rationale or ()] == ["bucket/b/p1.png"]
    used = reading.label_protocol().criterion("used")
    assert (used.target, used.only.kinds) == ("evidence", ["page"])
    admin, project = first_administrator(sqlite_database), make_project(sqlite_database)
    report = import_paths(sqlite_database, admin, project, paths=[folder], labels_into="theirs")
    assert (report.added, report.rejected, report.labels.obstacles) == (1, [], [])
    given[0]["item_index"] = 2
    _, _, [bad], _ = read(write(tmp_path / "beyond", [{**annotated(*given), "data": data}], PAGES))
    assert "the result of 'used' is of page 2 (`item_index`, from 0), and the task shows 2 pages" in bad.reason


REPEATED = f"""<View><Text name="q" value="$question"/><Text name="a" value="$answer"/>
  <Repeater on="$doc.pages" indexFlag="{{{{n}}}}"><Image name="page_{{{{n}}}}" value="$doc.pages[{{{{n}}}}].url"/>
    <Header value="Note: $doc.pages[{{{{n}}}}].note"/><List name="l_{{{{n}}}}" value="$doc.pages[{{{{n}}}}].all"/>
    <Repeater on="$more" indexFlag="{{{{m}}}}"><Text name="x_{{{{m}}}}" value="$more[{{{{m}}}}]"/></Repeater>
    <RectangleLabels name="box_{{{{n}}}}" toName="page_{{{{n}}}}"><Label value="Seal"/></RectangleLabels></Repeater>
  <Text name="alone" value="$passages[{{{{idx}}}}]"/><Image name="none" value="$doc.pages[{{{{idx}}}}].url"/>
  <Repeater on="$passages"><Text name="p-{{{{idx}}}}" value="$passages[{{{{idx}}}}]"/>
    <Labels name="mark-{{{{idx}}}}" toName="p-{{{{idx}}}}"><Label value="wrong"/></Labels></Repeater>
  <Choices name="faults" toName="a" choice="multiple">{CHOICES}</Choices></View>"""


def test_what_a_repeater_shows_is_evidence_a_unit_for_each_entry_of_its_list(tmp_path: Path) -> None:
    pages = [{"url": f"https://example.org/{number}.png", "note": f"n{number}"} for number in (1, 2)]
    data = {"question": "Q?", "answer": "A", "doc": {"pages": pages}, "passages": ["One.", "", "Three."]}
    tasks = [{**annotated(), "data": data}, {"id": 6, "data": {**data, "doc": {}, "passages": None}}]
    items, _, rejected, reading = read(write(tmp_path / "p", tasks, REPEATED))
    assert rejected == []
    assert [(one.key, one.kind, one.document or one.text) for one in items[0].evidence] == [
        ("pages-1", "page", "example.org/1.png"),
        ("pages-2", "page", "example.org/2.png"),
        ("pages-1_2", "passage", "Note: n1"),
        ("pages-2_2", "passage", "Note: n2"),
        ("passages-1", "passage", "One."),
        ("passages-3", "passage", "Three."),
    ]
    assert (items[0].question, items[0].answer, items[1].evidence) == ("Q?", "A", ())
    assert items[0].metadata["label_studio"]["data"].keys() == {"doc", "passages"}
    notes = reading.notes()
    parts = "<List name='l_{{n}}'>", "<Text name='x_{{m}}'>", "<Text name='alone'>", "<Image name='none'>"
    for part in (*parts, "<RectangleLabels name='box_{{n}}'>"):
        assert [line for line in notes if part in line and "it is repeated for each part of a task" in line], part


def test_a_control_in_a_repeater_is_one_of_the_config_and_named_once(tmp_path: Path) -> None:
    given = [
        result(f"{name}-{number}", kind, f"p-{number}", **{kind: ["wrong"]})
        for number in range(12)
        for name, kind in (("mark", "labels"), ("gone", "choices"))
        if name == "mark" or number == 0
    ]
    tasks = [annotated(*given[:1], *given[2:]), annotated(*given, number=6)]
    _, labels, rejected, reading = read(write(tmp_path / "p", tasks, REPEATED))
    assert rejected == []
    assert [(one.item, one.criterion, one.value) for one in labels] == [("5", "faults", "[]")], "6 is of another config"
    lost = [line for line in reading.notes() if "What was given to" in line]
    assert [line.partition("What was ")[2] for line in lost] == [
        "given to 'mark-{{idx}}', which cannot be asked here (24 times).",
        "given to 'gone-0', which the config does not have.",
    ]


def test_what_is_lost_is_counted_once_however_often_the_files_are_read(tmp_path: Path) -> None:
    relation = {"type": "relation", "from_id": "a", "to_id": "b"}
    _, _, _, reading = read(write(tmp_path / "p", [annotated(*RESULTS, relation)]))
    before = reading.notes()
    assert "Relations between marked regions." in "\n".join(before)
    assert list(reading.items())
    assert reading.notes() == before


def test_pictures_of_one_name_in_other_folders_are_others(tmp_path: Path) -> None:
    config = f'<View><Image name="i" value="$i"/><Choices name="s" toName="i">{CHOICES}</Choices></View>'
    tasks = [
        {**annotated(number=number), "data": {"i": f"/data/local-files/?d=scans/{folder}/p1.png"}}
        for number, folder in enumerate("ab", 1)
    ]
    items, _, rejected, _ = read(write(tmp_path / "p", tasks, config))
    assert rejected == []
    assert [item.evidence[0].document for item in items] == ["scans/a/p1.png", "scans/b/p1.png"]
    # Supplied by a part of the path they are these documents, and one file is not two pictures.
    folder = write(tmp_path / "supplied", tasks, config)
    for name in ("a/p1.png", "b/p1.png"):
        (folder / "documents" / name).parent.mkdir(parents=True)
        (folder / "documents" / name).write_bytes(b"x")
    items, _, rejected, _ = read(folder)
    assert rejected == []
    assert [item.evidence[0].document for item in items] == ["a/p1.png", "b/p1.png"]
    folder = write(tmp_path / "flat", tasks, config)
    (folder / "documents").mkdir()
    (folder / "documents" / "p1.png").write_bytes(b"x")
    items, _, [bad], _ = read(folder)
    assert [item.evidence[0].document for item in items] == ["p1.png"]
    assert bad.reason.startswith(
        "task 2: its picture 'scans/b/p1.png' would be the document 'p1.png', as 'scans/a/p1.png' is. Put the pictures "
    )


def test_entries_that_are_put_in_order_have_keys_of_their_own(tmp_path: Path) -> None:
    data = {**DATA, "docs": [{"id": name, "title": name} for name in ("a b", "a_b", "c")]}
    given = result("rank", "ranker", "docs", ranker={"rank": ["c", "a_b", "a b"]})
    items, labels, rejected, _ = read(write(tmp_path / "p", [{**annotated(given), "data": data}]))
    assert rejected == []
    assert [(one.key, one.caption) for one in items[0].images] == [("a_b", "a b"), ("a_b_2", "a_b"), ("c", "c")]
    [rank] = [one for one in labels if one.criterion == "rank"]
    assert orjson.loads(rank.value) == ["c", "a_b_2", "a_b"]


def test_what_was_given_to_controls_that_are_not_there_is_named_once_each(tmp_path: Path) -> None:
    more = [result("gone", "choices", choices=["x"]), result("brush", "brushlabels", "scan", rle=[1])]
    relation = {"type": "relation", "from_id": "a", "to_id": "b"}
    tasks = [annotated(*RESULTS, *more, relation, number=number) for number in (5, 6)]
    _, _, rejected, reading = read(write(tmp_path / "p", tasks))
    assert rejected == []
    notes = "\n".join(reading.notes())
    assert "What was given to 'gone', which the config does not have (2 times)." in notes
    assert "What was given to 'brush', which cannot be asked here (2 times)." in notes
    assert "Relations between marked regions (2 times)." in notes


@pytest.mark.parametrize("tag", ["Chat", "ReactCode", "CustomInterface"])
@pytest.mark.parametrize("about", ["", ' toName="own"'])
def test_an_object_that_takes_something_itself_is_a_control_of_the_config(tmp_path: Path, tag: str, about: str) -> None:
    config = f"""<View><Text name="q" value="$question"/>
      <{tag} name="own" value="$turns"{about}/><Choices name="faults" toName="q" choice="multiple">{CHOICES}</Choices>
      <Repeater on="$turns"><{tag} name="own_{{{{idx}}}}"/></Repeater></View>"""
    given = [result(name, tag.lower(), name, **{tag.lower(): {}}) for name in ("own", "own", "own_0", "own_1")]
    _, labels, rejected, reading = read(write(tmp_path / "p", [annotated(*given)], config))
    assert rejected == []
    assert [(one.criterion, one.value) for one in labels] == [("faults", "[]")]
    lost = [line.partition(": ")[2] for line in reading.notes() if "own" in line]
    repeated = "it is repeated for each part of a task, and here asked of the item."
    assert sorted(lost) == [
        f"<{tag} name='own'> of line 2: nothing here is like it.",
        f"<{tag} name='own_{{{{idx}}}}'> of line 3: {repeated}",
        "What was given to 'own', which cannot be asked here.",
        "What was given to 'own_{{idx}}', which cannot be asked here (2 times).",
    ]


def test_any_label_of_another_control_is_a_condition(tmp_path: Path) -> None:
    config = f"""<View><Text name="q" value="$question"/><Choices name="A" toName="q">{CHOICES}</Choices>
      <View visibleWhen="choice-selected" whenTagName="A">
      <Choices name="B" toName="q">{CHOICES}</Choices></View></View>"""
    _, _, _, reading = read(write(tmp_path / "p", [annotated(result("A", "choices", choices=["b"]))], config))
    when = reading.label_protocol().criterion("b").when
    assert (when.criterion, when.values) == ("a", ["a", "b"])


def test_annotators_who_are_known_by_numbers_alone_are_named_before(tmp_path: Path) -> None:
    task = annotated(*RESULTS, completed_by=7)
    _, labels, _, reading = read(write(tmp_path / "p", [task]))
    assert {one.annotator for one in labels} == {"label-studio-7"}
    assert "known by their numbers there alone: label-studio-7." in "\n".join(reading.notes())


def test_annotations_of_an_account_that_is_gone_are_counted_and_the_others_come_in(tmp_path: Path) -> None:
    task = annotated(*RESULTS, completed_by=7)
    task["annotations"].append({**task["annotations"][0], "id": 9, "completed_by": None})
    items, labels, bad, reading = read(write(tmp_path / "p", [task]))
    assert (len(items), {one.annotator for one in labels}, bad) == (1, {"label-studio-7"}, [])
    assert any(NOBODYS in note for note in reading.notes())


@pytest.mark.parametrize(
    ("choices", "given", "wanted"),
    [
        ('<Choice value="1" alias="5"/><Choice value="5" alias="1"/>', "1", "1"),
        ('<Choice value="Other"/><Choice value="Wrong"><Choice value="Other"/></Choice>', "Other", "Other"),
        ('<Choice value="Yes" alias="y"/><Choice value="No" alias="n"/>', "Yes", "y"),
    ],
)
def test_a_result_says_the_alias_and_else_the_first_title(
    tmp_path: Path, choices: str, given: str, wanted: str
) -> None:
    config = f'<View><Text name="q" value="$question"/><Choices name="c" toName="q">{choices}</Choices></View>'
    _, [label], rejected, _ = read(write(tmp_path / "p", [annotated(result("c", "choices", choices=[given]))], config))
    assert (label.value, rejected) == (wanted, [])


def test_places_in_a_text_are_whole_numbers_however_they_are_written(tmp_path: Path) -> None:
    tasks = [
        annotated(result("ner", "labels", start=start, end=end, labels=["PER"]), number=number)
        for number, (start, end) in enumerate([(0.0, 3.0), (-0.0, 3), (0.5, 3), (0, True), (-1.0, 3)], 1)
    ]
    _, labels, rejected, _ = read(write(tmp_path / "p", tasks))
    stretches = [orjson.loads(one.value) for one in labels if one.criterion == "ner"]
    assert stretches == [[{"start": 0, "end": 3, "label": "PER", "text": "Zoë"}]] * 2
    assert [one.reason for one in rejected] == [
        f"task {number}: annotation 1 by 'zoe@example.org': {said} is no place in a text"
        for number, said in ((3, 0.5), (4, True), (5, -1.0))
    ]


def test_boxes_say_the_alias_whichever_of_the_two_their_result_has(tmp_path: Path) -> None:
    config = """<View><Text name="q" value="$question"/><Image name="scan" value="$picture"/>
      <RectangleLabels name="b" toName="scan"><Label value="Table" alias="T"/></RectangleLabels></View>"""
    box = {"x": 10, "y": 20, "width": 30, "height": 40}
    given = [result("b", "rectanglelabels", "scan", **box, rectanglelabels=[said]) for said in ("Table", "T")]
    _, [label], rejected, _ = read(write(tmp_path / "p", [annotated(*given)], config))
    assert (orjson.loads(label.value), rejected) == (["T"], [])
    assert [one["text"] for one in label.rationale or ()] == ["T", "T"]


PAIR = """<View><Text name="q" value="$question"/><Text name="left" value="$b"/><Text name="right" value="$a"/>
  <Pairwise name="better" toName="right,left"/><Pairwise name="again" toName="left,q"/>
  <Choices name="r_ok" toName="right"><Choice value="yes"/><Choice value="no"/></Choices>
  <Choices name="same" toName="q"><Choice value="yes"/><Choice value="no"/></Choices>
  <View visibleWhen="choice-selected" whenTagName="same" whenChoiceValue="no"><TextArea name="why" toName="q"/></View>
</View>"""


def test_what_is_of_one_of_two_texts_is_named_and_sides_are_as_they_stand(tmp_path: Path) -> None:
    given = [
        result("better", "pairwise", "right,left", selected="left"),
        result("again", "pairwise", "left,q", selected="right"),
        result("r_ok", "choices", "right", choices=["no"]),
        result("same", "choices", "q", choices=["no"]),
        result("why", "textarea", "q", text=["So."]),
    ]
    data = {"question": "Q?", "a": "A", "b": "B"}
    items, labels, rejected, reading = read(write(tmp_path / "p", [{**annotated(*given), "data": data}], PAIR))
    assert rejected == []
    assert [item.answer for item in items] == ["A", "B"], "as the comparison names them"
    assert {(one.criterion, one.target, one.value) for one in labels} == {
        ("better", "pair", "-1"), ("same", "pair", "no"), ("why", "pair", "So."),
    }  # fmt: skip
    notes = "\n".join(reading.notes())
    assert "it is about one of the two texts that are compared, and here about both" in notes
    assert "it compares other texts than the first, and here two are compared" in notes


def test_conditions_without_a_word_hold_and_those_across_pages_are_named(tmp_path: Path) -> None:
    config = (
        PAGES.replace("</View>", "")
        + f"""
      <View whenTagName="all" whenChoiceValue="b">
        <Choices name="B" toName="q" choice="multiple">{CHOICES}</Choices></View>
      <View visibleWhen="choice-selected" whenTagName="used" whenChoiceValue="b">
        <Choices name="C" toName="q">{CHOICES}</Choices></View></View>"""
    )
    data = {"question": "Q?", "pages": ["a.png"]}
    given = result("all", "choices", "pages", choices=["a"])
    _, labels, rejected, reading = read(write(tmp_path / "p", [{**annotated(given), "data": data}], config))
    assert rejected == []
    assert "b" not in {one.criterion for one in labels}, "it was not shown"
    assert "'C' is shown there on a condition (choice-selected), and here always asked" in "\n".join(reading.notes())


def test_numbers_without_steps_and_what_was_taken_back_are_no_trouble(tmp_path: Path) -> None:
    config = """<View><Text name="q" value="$question"/><Number name="n" toName="q" min="0" max="5"/>
      <Number name="free" toName="q"/><Rating name="stars" toName="q"/><TextArea name="why" toName="q" rows="auto"/>
      <Labels name="ner" toName="q"><Label value="Person" alias="PER"/></Labels></View>"""
    given = [
        result("n", "number", "q", number=4.55), result("free", "number", "q", number=12345678901),
        result("stars", "rating", "q", rating=0), result("why", "textarea", "q", text=[""]),
        result("ner", "labels", "q", start=0, end=3, labels=["Person"]),
    ]  # fmt: skip
    task = {**annotated(*given, lead_time=-5), "data": {"question": "Zoë came?"}}
    _, labels, rejected, _ = read(write(tmp_path / "p", [task], config))
    assert rejected == []
    assert {one.criterion: one.value for one in labels if one.criterion != "ner"} == {
        "n": "4.55", "free": "12345678901",
    }  # fmt: skip
    [stretch] = [orjson.loads(one.value) for one in labels if one.criterion == "ner"]
    assert (stretch[0]["label"], {one.seconds for one in labels}) == ("PER", {None})


def test_what_is_judged_is_the_answer_and_the_preview_says_what_is_what(tmp_path: Path) -> None:
    config = """<View><Text name="t" value="$text"/><Text name="s" value="$summary"/>
      <Rating name="stars" toName="s"/></View>"""
    data = {"text": "A long article.", "summary": "Short."}
    items, _, _, reading = read(write(tmp_path / "p", [{**annotated(), "data": data}], config))
    assert (items[0].question, items[0].answer) == ("A long article.", "Short.")
    assert reading.notes()[0] == "Tasks are read with question = $text, answer = $summary."


def test_annotations_of_items_that_were_written_here_come_in(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a", "question": "Q?", "answer": "A"}')
    convert_files([tmp_path / "items.jsonl"], into="label_studio", output=tmp_path / "out")
    [task] = orjson.loads((tmp_path / "out" / "tasks.json").read_bytes())
    config = f'<View><Text name="t" value="$answer"/><Choices name="c" toName="t">{CHOICES}</Choices></View>'
    said = annotated(result("c", "choices", choices=["b"]))["annotations"]
    items, labels, rejected, _ = read(write(tmp_path / "p", [{**task, "id": 9, "annotations": said}], config))
    assert rejected == []
    assert ([item.id for item in items], [(one.item, one.value) for one in labels]) == (["a"], [("a", "b")])


@pytest.mark.parametrize(("first", "last"), [("10:00:00Z", "10:00:00.500000Z"), ("11:00:00+02:00", "10:00:00Z")])
def test_which_annotation_is_later_is_told_by_the_moment(tmp_path: Path, first: str, last: str) -> None:
    both = [
        annotated(result("good", "choices", choices=[value]), updated_at=f"2026-11-25T{at}")["annotations"][0]
        for value, at in (("Yes", last), ("No", first))
    ]
    _, labels, _, _ = read(write(tmp_path / "p", [{**annotated(), "annotations": both}]))
    assert [label.value for label in labels if label.criterion == "good"] == ["yes"]


def test_a_project_is_one_of_label_studio_whatever_its_fields_are_called(tmp_path: Path) -> None:
    config = f'<View><Text name="q" value="$user_input"/><Choices name="c" toName="q">{CHOICES}</Choices></View>'
    data = {"user_input": "Q?", "response": "A", "retrieved_contexts": ["c"], "reference": "R"}
    folder = write(tmp_path / "p", [{**annotated(), "data": data}], config)
    with open_sources([folder]) as sources:
        assert recognise(sources).name == "label_studio"


@pytest.mark.parametrize(
    ("address", "is_file"),
    [
        ("/data/upload/3/0a1b2c3d-a b.png", True), ("/data/local-files/?d=scans/a.png", True),
        ("/data/upload/../../api/current-user/token", False), ("/data/upload/%2e%2e/%2e%2e/api/users/", False),
        ("/data/upload/%252e%252e/x", False), ("/data/upload/x?next=/api", False), ("/data/upload/a\\..\\b", False),
        ("/data/local-files/../../api/users/?d=x", False), ("/data/upload/", False), ("/data/upload/a#b", False),
    ],
)  # fmt: skip
def test_only_addresses_of_files_are_asked_for_with_the_key(address: str, is_file: bool) -> None:
    assert _leads_to_a_file(address) is is_file


def test_uploads_of_one_name_in_other_projects_are_others(tmp_path: Path) -> None:
    config = f'<View><Image name="i" value="$i"/><Choices name="s" toName="i">{CHOICES}</Choices></View>'
    addresses = ["/data/upload/1/a.png", "/data/upload/2/a.png", "/data/upload/2/0a1b2c3d-a.png", "../a.png", "a.png"]
    tasks = [{**annotated(number=n), "data": {"i": address}} for n, address in enumerate(addresses, 1)]
    items, _, rejected, _ = read(write(tmp_path / "p", tasks, config))
    assert rejected == []
    assert [item.evidence[0].document for item in items] == [
        "data/upload/1/a.png", "data/upload/2/a.png", "0a1b2c3d-a.png", "_/a.png", "a.png",
    ]  # fmt: skip


def test_two_texts_that_are_compared_are_a_pair(sqlite_database: Database, tmp_path: Path) -> None:
    config = """<View><Text name="p" value="$prompt"/><Text name="a" value="$first"/><Text name="b" value="$second"/>
      <Pairwise name="better" toName="a,b"/></View>"""
    one = {"id": 1, "completed_by": 1, "result": [result("better", "pairwise", "a,b", selected="right")]}
    task = {"id": 9, "data": {"prompt": "Q?", "first": "A1", "second": "A2"}, "annotations": [one]}
    folder = write(tmp_path / "p", [task], config)
    items, labels, rejected, reading = read(folder)
    assert rejected == []
    assert [(item.id, item.answer, item.question) for item in items] == [
        ("9:left", "A1", "Q?"),
        ("9:right", "A2", "Q?"),
    ]
    assert [(label.item, label.other, label.value) for label in labels] == [("9:left", "9:right", "1")]
    assert reading.label_protocol().about_pairs
    admin, project = first_administrator(sqlite_database), make_project(sqlite_database)
    report = import_paths(sqlite_database, admin, project, paths=[folder], labels_into="theirs")
    assert (report.added, report.rejected) == (2, [])


def test_a_config_of_theirs_and_ours_made_of_it_ask_the_same() -> None:
    theirs = read_theirs(read_config(CONFIG, "theirs"), "theirs").protocol
    assert theirs is not None
    config = labelling_of(theirs).config
    again = read_theirs(read_config(config, "ours"), "theirs")
    assert again.protocol is not None
    alike = {"kind", "labels", "required", "minimum", "maximum", "step", "when", "target"}
    stands = {one.name: one.model_dump(include=alike) for one in again.protocol.criteria}
    for criterion in theirs.criteria:
        found, wanted = stands[criterion.name], criterion.model_dump(include=alike)
        if criterion.kind == "grade":  # ours asks it with choices, which have no order there
            assert found["kind"] == "choice"
            continue
        values = [(str(label["value"]), label["title"]) for label in wanted.pop("labels", [])]
        titles = {str(one.value): one.title for one in criterion.label_list()}
        assert [(str(label["value"]), label["title"]) for label in found.pop("labels", [])] == [
            (value, titles[value]) for value, _ in values
        ]
        if criterion.kind in ("several", "spans", "order"):  # where nothing given is a value, nothing is required
            found["required"] = wanted["required"]
        assert found == wanted, criterion.name


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ({"id": 1}, "no `data`"),
        ("text", "no `data`"),
        ({**annotated(), "annotations": ["x"]}, "not an object"),
        (annotated(result("ner", "labels", start=0, end=3, text="Bob", labels=["PER"])), "was changed"),
        (annotated(result("ner", "labels", start=-1, end="x", labels=["PER"])), "no place"),
        (annotated(result("good", "choices", choices=["Maybe"])), "Maybe"),
        (annotated(result("stars", "rating", rating=9)), "9"),
        (annotated(result("n", "number", number=float("inf"))), "n"),
        (annotated(result("box", "rectanglelabels", x="a", rectanglelabels=["Seal"])), "box"),
        (annotated(result("rank", "ranker", ranker=7)), "ranker"),
        (
            annotated(result("box", "rectanglelabels", x=110, y=20, width=9, height=9, rectanglelabels=["Seal"])),
            "annotation 1 by 'zoe@example.org': nothing of the box with x 110, y 20, width 9, height 9",
        ),
        (
            annotated(result("box", "rectanglelabels", x=10, y=20, width=0, height=9, rectanglelabels=["Seal"])),
            "lies on",
        ),
        (annotated(result("words", "textarea", text=[["a"], {"b": None}])), "has ['a'] in `value.text`, which is no"),
        (annotated(result("words", "textarea", text=["x" * 10_001])), "annotation 1 by 'zoe@example.org': 'words' has"),
        (annotated(result("words", "textarea", text=["a\x00b"])), "'words' contains a character that cannot be stored"),
        (annotated(completed_by={}), "who made it"),
        (annotated(updated_at="yesterday"), "time"),
    ],
)
def test_bad_tasks_are_named_with_their_line_and_the_others_are_read(tmp_path: Path, task: Any, words: str) -> None:
    if isinstance(task, dict) and isinstance(task.get("annotations"), list) and task["annotations"] != ["x"]:
        for one in task["annotations"]:
            one["result"] = one["result"] or [result("good", "choices", choices=["Yes"])]
    items, _, rejected, _ = read(write(tmp_path / "p", [annotated(*RESULTS), task]))
    assert len(items) == 1 + (words != "no `data`")  # what is bad of an annotation leaves the item of its task
    [bad] = rejected
    assert bad.reason.startswith("task 2: ")
    assert words in bad.reason


def test_of_a_box_over_the_edge_what_lies_on_the_image_is_kept(tmp_path: Path) -> None:
    given = result("box", "rectanglelabels", "scan", x=-5, y=90, width=20, height=30, rectanglelabels=["Seal"])
    _, labels, rejected, _ = read(write(tmp_path / "p", [annotated(given)]))
    [places] = [one.rationale for one in labels if one.rationale]
    assert (rejected, places[0]["box"]) == ([], [0, 0.9, 0.15, 1])


def test_without_a_config_items_come_in_and_a_study_for_labels_is_refused(tmp_path: Path) -> None:
    items, labels, _, reading = read(write(tmp_path / "p", [annotated(*RESULTS)], None))
    assert (len(items), labels) == (1, [])
    assert "There is no labelling config" in "\n".join(reading.notes())
    with pytest.raises(InvalidInput, match="Labeling Interface"):
        reading.label_protocol()
