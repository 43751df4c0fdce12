"""Import, Export and Scores: what goes in, what comes out, and what nobody else gets."""

from __future__ import annotations

import io
import os
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotators.errors import AssayError, Conflict
from app import packed
from app.copies import forget_copies, forget_exports
from app.server.routes import downloads
from app.server.routes.downloads import Asked, pack_export
from app.server.web import handle_error
from db.batches import list_batches
from db.items.documents import list_kept_documents
from db.items.read import list_items
from db.people.accounts import set_member
from db.studies.design import list_studies
from exports.bundles import bundle
from exports.bundles.verify import verify_folder
from exports.formats import FORMATS
from tests.app.filled import Filled, actor_named, no_problem, picture, press, uploads
from tests.app.pages import Pages, tables


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


# Import ---------------------------------------------------------------------------------------------------------------

ROWS = b"""\
{"id": "a", "question": "First?", "answer": "Yes.", "shelf": 7}
{"id": "b", "answer": "No question."}
{"id": "i00001", "question": "Another?"}
"""


def test_an_import_is_previewed_then_done_then_withdrawn(filled: Filled) -> None:
    pages = filled.pages
    page = filled.open("rosa", "imports")
    page.file_uploader(key="imports-files-0").set_value([("items.jsonl", ROWS, "")]).run()
    shown = no_problem(page)
    assert "`question` is missing or empty" in " ".join(
        cell for rows in tables(page).values() for row in rows for cell in row
    )
    assert "shelf (1)" in shown
    assert "i00001" in shown
    assert len(list_items(pages.db, pages.admin, filled.project_id)) == 4
    assert not uploads(pages)
    press(page, "Import 1 item and leave the bad rows out")
    shown = no_problem(page)
    for n, what in ((1, "items added"), (1, "items there with other content"), (1, "bad rows")):
        assert f"<b>{n}</b><span>{what}</span>" in shown
    assert list_items(pages.db, pages.admin, filled.project_id)[0].external_id == "a"
    [batch] = list_batches(pages.db, pages.admin, filled.project_id)
    assert batch.source == "items.jsonl"
    press(page, "Withdraw")
    assert "A withdrawal needs a reason" in page.error[0].value
    page.text_input(key="imports-reason").input("wrong file").run()
    press(page, "Withdraw")
    assert list_batches(pages.db, pages.admin, filled.project_id)[0].withdrawn
    page.text_input(key="imports-reason").input("it was right").run()
    press(page, "Take the withdrawal back")
    assert not list_batches(pages.db, pages.admin, filled.project_id)[0].withdrawn


def test_files_that_no_format_recognises_are_refused_in_words(filled: Filled) -> None:
    page = filled.open("rosa", "imports")
    page.file_uploader(key="imports-files-0").set_value([("notes.xml", b"<a/>", "")]).run()
    said = page.error[0].value.replace("\\", "")
    assert "no format recognises" in said
    assert "notes.xml, label_studio: it does not begin with <View>." in said
    assert f"notes.xml: the other {len(FORMATS.names()) - 1} formats take no file of this name or ending." in said
    assert str(filled.pages.state.settings.home) not in page.error[0].value
    page.file_uploader(key="imports-files-0").set_value([("a.jsonl", ROWS, ""), ("../a.jsonl", ROWS, "")]).run()
    assert "Two uploaded files" in page.error[0].value


def test_a_zip_brings_documents_with_it(filled: Filled) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("items.jsonl", '{"id": "z", "question": "Where?", "documents": ["map.png"]}')
        archive.writestr("documents/map.png", picture())
    page = filled.open("rosa", "imports")
    page.file_uploader(key="imports-files-0").set_value([("set.zip", packed.getvalue(), "")]).run()
    press(page, "Import 1 item")
    assert "<b>1</b><span>documents given their bytes</span>" in no_problem(page)
    assert len(list(filled.pages.state.settings.documents_folder.glob("*/*"))) == 1


def test_a_document_that_is_there_is_marked_by_what_comes_for_it(filled: Filled) -> None:
    rows = '{"key": "map.png"}', '{"key": "map.png", "kept_here": true}'
    for number, (row, said) in enumerate(zip(rows, ("Import 1 item", "Import documents"), strict=True)):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("items.jsonl", '{"id": "z", "question": "Where?", "documents": ["map.png"]}')
            archive.writestr("documents.jsonl", row)
        page = filled.open("rosa", "imports")
        page.file_uploader(key="imports-files-0").set_value([(f"{number}.zip", packed.getvalue(), "")]).run()
        marked = "<b>1</b><span>documents marked to stay here</span>" in no_problem(page)
        assert marked == bool(number), "nothing is counted of which there is nothing"
        press(page, said)
    kept = list_kept_documents(filled.pages.db, filled.pages.admin, filled.project_id)
    assert kept == {"map.png": ()}


LABELS = b"""\
item,annotator,criterion,value
i00001,zoe,clear,yes
i00001,yan,clear,no
new-1,zoe,clear,yes
new-1,yan,clear,yes
"""


def test_labels_made_elsewhere_become_a_study(filled: Filled) -> None:
    page = filled.open("rosa", "imports")
    page.text_input(key="label-import-name").input("Published").run()
    page.file_uploader(key="label-import-file-0").set_value(("labels.csv", LABELS + b"i00001,zoe,clear,no\n", "")).run()
    assert page.button(key="label-import-go").disabled
    assert "line 6" in no_problem(page)
    page.file_uploader(key="label-import-file-0").set_value(("labels.csv", LABELS, "")).run()
    shown = re.sub(r"</?(span|wbr)[^>]*>", "", no_problem(page))
    assert "<dt>Items matched</dt><dd>i00001</dd>" in shown
    assert "<dt>Items not there</dt><dd>new-1</dd>" in shown
    assert "<dt>Columns read</dt><dd>item, annotator, criterion, value</dd>" in shown
    assert "no (1), yes (3)" in shown
    assert "1 of 2 items are not in the project" in shown
    assert page.button(key="label-import-go").disabled
    assert len(list_studies(filled.pages.db, filled.study.researcher, filled.project_id)) == 1
    page.checkbox(key="label-import-bare").check().run()
    press(page, "Import 4 labels")
    assert "4 labels in 4 annotations by 2 annotators" in no_problem(page)
    rows = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)
    assert [(row.name, row.n_items) for row in rows] == [("study", 4), ("Published", 2)]


def test_labels_in_a_file_go_into_a_study_that_is_named_for_them(filled: Filled) -> None:
    triplets = [{"triplet": ["pier", "is", "red"], "human_label": "Entailment"}]
    answers = orjson.dumps([{"id": "7", "response": "The pier is red.", "model9_response_kg": triplets}])
    page = filled.open("rosa", "imports")
    page.file_uploader(key="imports-files-0").set_value([("port_a_answers.json", answers, "")]).run()
    assert "1 label by refchecker\\-annotator" in no_problem(page)
    study = next(field for field in page.text_input if field.label == "Study for the labels")
    study.input("study").run()
    assert "1 of 1 item with labels are not in the study" in page.error[0].value
    assert not any(button.label.startswith("Import 1") for button in page.button)
    next(field for field in page.text_input if field.label == "Study for the labels").input("People").run()
    assert "They go into People, a study that is made for them, as 1 annotation" in no_problem(page)
    press(page, "Import 1 item and 1 label")
    shown = no_problem(page)
    assert "<b>1</b><span>labels in a study</span>" in shown
    assert "The labels are in the study People, as batch 2." in shown
    rows = list_studies(filled.pages.db, filled.study.researcher, filled.project_id)
    assert [(row.name, row.n_items) for row in rows] == [("study", 4), ("People", 1)]


# Export ---------------------------------------------------------------------------------------------------------------


def _client(pages: Pages, name: str) -> TestClient:
    """The route of downloads as the session middleware hands it to this person."""
    actor = actor_named(pages, name)
    app = Starlette(routes=downloads.routes(pages.state), exception_handlers={AssayError: handle_error})

    async def signed_in(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
        scope["state"] = {**scope.get("state", {}), "actor": actor}
        await app(scope, receive, send)

    return TestClient(signed_in)


def test_an_export_is_made_and_only_its_maker_can_fetch_it(filled: Filled, tmp_path: Path) -> None:
    page = filled.open("rosa", "exports", study=filled.study_id)
    press(page, "Make the export")
    shown = no_problem(page)
    [address] = re.findall(r'href="(/downloads/[\w-]+)"', shown)
    assert "labels.csv" in shown
    assert "pseudonyms" in shown
    answer = _client(filled.pages, "rosa").get(address)
    assert answer.status_code == 200
    assert "study.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path)
    [folder] = tmp_path.glob("project* study")
    assert verify_folder(folder).ok
    assert filled.study.annotators[0].name not in (folder / "labels.csv").read_text()
    for other in ("admin", "vera"):
        assert _client(filled.pages, other).get(address).status_code == 404
    assert _client(filled.pages, "rosa").get("/downloads/..%2f..%2fassay.db").status_code == 404
    # A role that was taken away takes what was made in it along.
    set_member(filled.pages.db, filled.pages.admin, filled.project_id, name="rosa", role="viewer")
    assert _client(filled.pages, "rosa").get(address).status_code == 403


def test_tables_come_with_types_where_they_are_asked_for(filled: Filled) -> None:
    page = filled.open("rosa", "exports", study=filled.study_id)
    page.button_group(key="exports-typed").set_value(["parquet"]).run()
    press(page, "Make the export")
    shown = no_problem(page)
    assert "labels.parquet" in shown
    assert "data_dictionary.csv" in shown
    assert "xlsx" not in shown


def test_final_labels_are_called_what_they_are_before_they_leave(filled: Filled) -> None:
    page = filled.open("rosa", "exports", study=filled.study_id)
    press(page, "Only look")
    shown = no_problem(page)
    for words, n in (("Final labels decided by adjudicators", 0), ("Final labels unanimous", 0), ("Units open", 4)):
        assert re.search(f"{words}</dt>\\s*<dd>{n}<", shown), words
    assert "Adjudicated" not in shown


def test_what_an_export_would_lose_is_counted_without_making_it(filled: Filled) -> None:
    page = filled.open("rosa", "exports", study=filled.study_id)
    page.multiselect(key="exports-others").set_value(["qrels"]).run()
    press(page, "Only look")
    shown = no_problem(page)
    assert "loses of these items" in shown
    assert "answers" in shown
    assert "Nothing has been made yet." in shown


def test_an_old_export_is_removed_by_the_next(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    state, actor = filled.pages.state, filled.study.researcher
    asked = Asked(study_id=None, formats=["labels"], names=True, documents=False)
    first = pack_export(state, actor, filled.project_id, name="all", asked=asked)
    monkeypatch.setattr(packed, "KEPT_SECONDS", -1)
    second = pack_export(state, actor, filled.project_id, name="all", asked=asked)
    kept = [path.name for path in (state.settings.home / "data" / "downloads").iterdir()]
    assert kept == [f"{actor.person_id}-{second.address.rpartition('/')[2]}"]
    assert first.address != second.address


@pytest.mark.parametrize("at", ["the fetch", "the start of a server"])
def test_an_export_is_gone_after_an_hour_whether_or_not_another_is_made(filled: Filled, at: str) -> None:
    state, actor = filled.pages.state, actor_named(filled.pages, "rosa")
    asked = Asked(study_id=None, formats=["labels"], names=False, documents=False)
    made = [pack_export(state, actor, filled.project_id, name=name, asked=asked) for name in ("old", "new")]
    old, new = (state.settings.downloads_folder / f"{actor.person_id}-{one.address.rpartition('/')[2]}" for one in made)
    client = _client(filled.pages, "rosa")
    for age, there in ((3500, 200), (3700, 404)):
        os.utime(old, (time.time() - age,) * 2)
        if at == "the fetch":
            assert client.get(made[0].address).status_code == there
    if at != "the fetch":
        downloads.routes(state)
    assert (old.exists(), new.exists(), client.get(made[1].address).status_code) == (False, True, 200)


def test_copies_go_where_words_are_redacted_also_those_that_are_being_made(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, actor = filled.pages.state, actor_named(filled.pages, "rosa")
    asked = Asked(study_id=None, formats=["labels", "native"], names=False, documents=False)
    made = pack_export(state, actor, filled.project_id, name="all", asked=asked)
    forget_copies(state.settings, state.db)
    assert not state.settings.downloads_folder.exists()
    assert _client(filled.pages, "rosa").get(made.address).status_code == 404

    write = bundle.write_items

    def meanwhile(*given: Any) -> int:
        forget_exports(state.settings)
        return write(*given)

    monkeypatch.setattr(bundle, "write_items", meanwhile)
    with pytest.raises(Conflict, match=r"thrown away. Make it again"):
        pack_export(state, actor, filled.project_id, name="all", asked=asked)
    assert not list(state.settings.downloads_folder.parent.glob("downloads*/*"))
    monkeypatch.undo()
    again = pack_export(state, actor, filled.project_id, name="all", asked=asked)
    assert _client(filled.pages, "rosa").get(again.address).status_code == 200


def test_what_cannot_be_removed_is_named(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_folder: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("app.copies.forget_packed", fails)
    with pytest.raises(AssayError, match=r"done in the database, but the exports .*downloads could not be removed"):
        forget_copies(filled.pages.state.settings, filled.pages.db)


def test_a_failed_export_leaves_nothing_behind(filled: Filled) -> None:
    state = filled.pages.state
    with pytest.raises(AssayError, match="not a format"):
        asked = Asked(study_id=None, formats=["nonsense"], names=False, documents=False)
        pack_export(state, filled.study.researcher, filled.project_id, name="x", asked=asked)
    assert not list((state.settings.home / "data" / "downloads").iterdir())


def test_a_table_is_read_with_the_columns_that_are_chosen(filled: Filled) -> None:
    page = filled.open("rosa", "imports")
    table = "Nr;Rückfrage;Antwort\n7;Wann?;Im Mai\n8;Wo?;Am Hafen\n".encode()
    page.selectbox(key="imports-format").set_value("table").run()
    page.file_uploader(key="imports-files-0").set_value([("fragen.csv", table, "")]).run()
    [asked] = [box for box in page.selectbox if box.label == "Question"]
    assert asked.value is None
    assert [box.value for box in page.selectbox if box.label == "Answer"] == ["Antwort"]
    asked.set_value("Rückfrage").run()
    no_problem(page)
    assert "read with question = Rückfrage, answer = Antwort; kept in the metadata" in page.warning[0].value
    press(page, "Import 2 items")
    assert "<b>2</b><span>items" in no_problem(page)


def test_items_are_exported_in_other_formats(filled: Filled) -> None:
    page = filled.open("rosa", "exports")
    page.multiselect(key="exports-others").set_value(["table", "unidoc"]).run()
    press(page, "Make the export")
    said = no_problem(page)
    assert "table/items.csv" in said
    assert "Unidoc left out" in said
