"""Evidence pages: errors planted in a model's page labels are found again, on real documents and on a long one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pymupdf
import pytest

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.page_labels import labelled_pages
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from annotators.protocols.evidence_pages import evidence_pages
from db.annotating.annotations import work
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.items.documents import list_documents
from exports.results.base import Figure
from exports.results.document import Results
from exports.results.evidence_pages import MOST_SETS
from tests.exports.formats.places import Place
from tests.makers import make_member, make_person

HOPS = ("h1", "h2", "h3")
LONG = {"h1": [9, 10], "h2": [14], "h3": [30, 41]}


class Judged:
    """A study of evidence pages of all that was imported, labelled alike by ada and ben."""

    def __init__(
        self,
        place: Place,
        *,
        changes: dict[str, tuple[set[str], set[str]]] | None = None,
        suggestions: str | None = None,
    ) -> None:
        """`changes`: item → (targets that people call evidence besides the import's, those that they take away)."""
        self.place, db = place, place.db
        self.people = [make_person(db, name) for name in ("ada", "ben")]
        for person in self.people:
            make_member(db, place.project, person, "annotator")
        design = StudyDesign(name="Pages", annotators=("ada", "ben"), overlap=2, order="given", suggestions=suggestions)
        made = create_study(db, place.actor, place.project, protocol=evidence_pages, design=design)
        self.study = made.study_id
        self.n_pages = {row.key: row.n_pages or 0 for row in list_documents(db, place.actor, place.project)}
        rows = list(self.rows(changes or {}))
        self.n_labels = len(rows) // 2
        import_labels(db, place.actor, self.study, rows=rows, source="labels.csv")

    def rows(self, changes: dict[str, tuple[set[str], set[str]]]) -> Iterator[ForeignLabel]:
        line = 1
        for item in self.place.items():
            added, taken = changes.get(item.id, (set(), set()))
            evidence = (set(labelled_pages(item)) | added) - taken
            for person in ("ada", "ben"):
                for document in item.documents:
                    for number in range(1, self.n_pages[document] + 1):
                        for hop in [f"|hop:{hop.key}" for hop in item.hops] or [""]:
                            target = f"page:{document}:{number}{hop}"
                            value = "evidence" if target in evidence else "not_evidence"
                            line += 1
                            yield ForeignLabel(line, item.id, person, "evidence_page", target, value)

    def figures(self) -> dict[tuple[str, str], Figure]:
        """(name, criterion) → the figure of all items, from settled labels."""
        results = Results.of_study(self.place.db, self.place.actor, self.study)
        return {
            (figure.name, figure.criterion or ""): figure
            for figure in results.figures
            if figure.by is None and figure.labels == "settled" and figure.name != "share"
        }

    def tables(self) -> dict[str, list[list[str]]]:
        results = Results.of_study(self.place.db, self.place.actor, self.study)
        return {table.caption: [list(row) for row in table.rows] for table in results.tables()}


@pytest.fixture
def place(sqlite_database: Database, tmp_path: Path) -> Place:
    return Place(sqlite_database, tmp_path / "home")


def long_question(folder: Path, *, bytes_too: bool, n_pages: int = 60) -> Path:
    """A document of 60 pages, as a PDF or by its number of pages only, and a question of three hops about it."""
    folder.mkdir()
    document: dict[str, Any] = {"key": "ferrand.pdf"}
    if bytes_too:
        with pymupdf.open() as pdf:
            for number in range(1, n_pages + 1):
                pdf.new_page().insert_text((72, 72), f"Page {number} of the report.")
            pdf.save(folder / "ferrand.pdf")
        document["path"] = "ferrand.pdf"
    else:
        document["n_pages"] = n_pages
    gold = [
        {
            "key": f"{hop}-{page}",
            "kind": "page",
            "role": "gold",
            "document": "ferrand.pdf",
            "pages": [page],
            "hop": number,
        }
        for number, hop in enumerate(HOPS, 1)
        for page in LONG[hop]
    ]
    item = {
        "id": "q1",
        "question": "Which division used most energy in the year of the closure, and who runs it?",
        "answer": "Ida Kerr",
        "documents": ["ferrand.pdf"],
        "hops": [{"key": hop, "question": f"What of {hop}?", "answer": f"SECRET-{hop}"} for hop in HOPS],
        "evidence": gold,
    }
    (folder / "items.jsonl").write_bytes(orjson.dumps(item))
    (folder / "documents.jsonl").write_bytes(orjson.dumps(document))
    return folder


@pytest.mark.parametrize("bytes_too", [True, False], ids=["with its bytes", "by n_pages alone"])
def test_what_people_changed_of_sixty_pages_and_three_hops(place: Place, tmp_path: Path, bytes_too: bool) -> None:
    report = place.take(long_question(tmp_path / "in", bytes_too=bytes_too))
    assert (report.added, report.rejected) == (1, [])
    page = "page:ferrand.pdf:{}|hop:{}".format
    judged = Judged(place, changes={"q1": ({page(31, "h2"), page(32, "h2")}, {page(10, "h1")})})
    assert judged.n_labels == 180
    found = judged.figures()
    # The model called 5 pages evidence, of which 4 are; people called 6, of which it had 4. 3 of 180 labels changed.
    assert found["changed", "evidence_page"].value == pytest.approx(3 / 180)
    assert found["precision", "evidence_page"].value == pytest.approx(4 / 5)
    assert found["recall", "evidence_page"].value == pytest.approx(4 / 6)
    assert found["sets_changed", "hop_evidence_set"].value == pytest.approx(2 / 3)
    assert found["sets_changed", "evidence_set"].value == 1
    assert judged.tables()["Evidence pages of the hop: the sets"] == [
        ["q1", "Hop 1", "9, 10", "9", "", "10"],
        ["q1", "Hop 2", "14", "14, 31, 32", "31, 32", ""],
        ["q1", "Hop 3", "30, 41", "30, 41", "", ""],
    ]


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ("before", "saw the import's pages as suggestions before they labelled"),
        ("after", "labelled by themselves, then saw"),
        ("never", ""),
    ],
)
def test_the_report_says_whether_people_saw_the_pages_that_they_are_held_against(
    place: Place, tmp_path: Path, when: str, says: str
) -> None:
    place.take(long_question(tmp_path / "in", bytes_too=False))
    judged = Judged(place, suggestions=when)
    words = Results.of_study(place.db, place.actor, judged.study).in_words()
    assert says in words
    assert ("suggestions" in words) is bool(says)


@pytest.mark.slow
def test_errors_planted_in_the_pages_of_real_documents_are_found(place: Place, shared_data: Path) -> None:
    place.take(shared_data / "mmlongbench")
    items = [item for item in place.items() if labelled_pages(item)]
    changes, wrong, missed, silent = {}, 0, 0, len(place.items()) - len(items)
    for number, item in enumerate(items):
        said = labelled_pages(item)
        pages = [f"page:{item.documents[0]}:{n}" for n in range(1, 15)]
        free = next(page for page in pages if page not in said)
        if number % 3 == 0:
            changes[item.id] = ({free}, {said[0]})
            wrong, missed = wrong + 1, missed + 1
        elif number % 3 == 1:
            changes[item.id] = ({free}, set())
            missed += 1
    judged = Judged(place, changes=changes)
    assert sorted(judged.n_pages.values())[0] >= 15
    assert sorted(judged.n_pages.values())[-1] <= 27
    n_said = sum(len(labelled_pages(item)) for item in items)
    n_pages = sum(judged.n_pages[item.documents[0]] for item in items)
    found = judged.figures()
    expected = {
        "changed": ((wrong + missed) / n_pages, n_pages),
        "precision": ((n_said - wrong) / n_said, n_said),
        "recall": ((n_said - wrong) / (n_said - wrong + missed), n_said - wrong + missed),
    }
    for name, (value, n) in expected.items():
        figure = found[name, "evidence_page"]
        assert (figure.value, figure.n) == (pytest.approx(value), n)
        assert figure.low is not None
        assert figure.high is not None
        assert figure.low < value < figure.high
    assert found["sets_changed", "evidence_set"].value == pytest.approx(len(changes) / len(items))
    words = str(Results.of_study(place.db, place.actor, judged.study).sections())
    assert f"{silent} items have no evidence page of the import" in words
    assert len(judged.tables()["Evidence pages of the question: the sets"]) == min(len(items), MOST_SETS)
    results = Results.of_study(place.db, place.actor, judged.study)
    [sets] = [table for table in results.tables() if table.caption == "Evidence pages of the question: the sets"]
    assert not any(sets.numeric(column) for column in range(len(sets.columns))), "a set of one page is no number"


def test_gold_pages_without_their_hop_and_items_without_gold_are_left_out_and_counted(
    place: Place, tmp_path: Path
) -> None:
    folder = long_question(tmp_path / "in", bytes_too=False)
    item = orjson.loads((folder / "items.jsonl").read_bytes())
    hopless = {**item, "id": "q2", "question": "Another?", "evidence": [{**item["evidence"][0], "hop": None}]}
    silent = {**item, "id": "q3", "question": "A third?", "evidence": []}
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, (hopless, silent))))
    assert place.take(folder).rejected == []
    judged = Judged(place)
    changed = judged.figures()["changed", "evidence_page"]
    assert (changed.value, changed.reason) == (None, "no item that was labelled has evidence pages of the import")
    words = str(Results.of_study(place.db, place.actor, judged.study).sections())
    assert "1 item has no evidence page of the import" in words
    assert "1 item has hops, and evidence pages of the import that do not say for which" in words


def test_sets_of_hops_have_rows_only_where_some_item_has_hops(place: Place, tmp_path: Path) -> None:
    folder = long_question(tmp_path / "in", bytes_too=False)
    item = orjson.loads((folder / "items.jsonl").read_bytes())
    evidence = [{name: value for name, value in unit.items() if name != "hop"} for unit in item["evidence"]]
    single = {**item, "id": "q2", "question": "Another?", "category": "single", "evidence": evidence}
    del single["hops"]

    def of_hops(results: Results) -> set[tuple[str | None, str | None]]:
        return {
            (figure.labels, figure.group)
            for figure in results.figures
            if figure.name == "sets_changed" and figure.criterion == "hop_evidence_set"
        }

    (folder / "items.jsonl").write_bytes(orjson.dumps(single))
    assert place.take(folder).rejected == []
    judged = Judged(place)
    without = Results.of_study(place.db, place.actor, judged.study)
    assert of_hops(without) == set()
    [table] = [table for table in without.tables() if table.caption == "Page labels against the import"]
    assert [row[0] for row in table.rows] == ["Labels changed", "Precision of the import", "Recall of the import",
                                             "Sets changed"]  # fmt: skip

    mixed = Place(place.db, place.home)
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, ({**item, "category": "multi"}, single))))
    assert mixed.take(folder).rejected == []
    make_member(place.db, mixed.project, judged.people[0], "annotator")
    design = StudyDesign(name="Pages", annotators=("ada",), overlap=1, order="given")
    study = create_study(place.db, mixed.actor, mixed.project, protocol=evidence_pages, design=design).study_id
    found = Results.of_study(place.db, mixed.actor, study)
    assert of_hops(found) == {(whose, group) for whose in ("settled", "each") for group in (None, "multi")}


class TestPagesOfDocuments:
    def test_a_page_beyond_the_document_is_refused_by_name(self, place: Place, tmp_path: Path) -> None:
        place.take(long_question(tmp_path / "in", bytes_too=False))
        judged = Judged(place)
        row = ForeignLabel(7, "q1", "chloe", "evidence_page", "page:ferrand.pdf:61|hop:h1", "evidence")
        words = r"labels.csv, line 7: document 'ferrand.pdf' has 60 pages, so that there is no page 61"
        with pytest.raises(InvalidInput, match=words):
            import_labels(place.db, place.actor, judged.study, rows=[row], source="labels.csv")

    @pytest.mark.parametrize("given", [0, -1, "60", 2.5, True, 100_001])
    def test_a_number_of_pages_that_is_none_is_a_bad_row(self, place: Place, tmp_path: Path, given: object) -> None:
        folder = long_question(tmp_path / "in", bytes_too=False)
        (folder / "documents.jsonl").write_bytes(orjson.dumps({"key": "ferrand.pdf", "n_pages": given}))
        [bad] = place.take(folder).rejected
        assert bad.file.endswith("documents.jsonl")
        assert "document 'ferrand.pdf': `n_pages` is" in bad.reason

    def test_what_the_annotator_gets(self, place: Place, tmp_path: Path) -> None:
        place.take(long_question(tmp_path / "in", bytes_too=False))
        judged = Judged(place, changes={})
        design = StudyDesign(name="Again", annotators=("ada",), overlap=1, order="given")
        study = create_study(place.db, place.actor, place.project, protocol=evidence_pages, design=design).study_id
        (item,) = work(place.db, judged.people[0], study)["items"]
        assert len(item["units"]["evidence_page"]) == 180
        assert item["units"]["evidence_page"][60] == "page:ferrand.pdf:1|hop:h2"
        assert (item["documents"][0]["n_pages"], item["documents"][0]["supplied"]) == (60, False)
        # Neither the answers nor what the import says of the pages.
        sent = str(item)
        for hidden in ("SECRET", "Ida Kerr", "gold", "page_labels", "evidence:"):
            assert hidden not in sent
        assert [hop["question"] for hop in item["hops"]] == [f"What of {hop}?" for hop in HOPS]


def test_other_protocols_have_no_such_report() -> None:
    fitting = [protocol.name for protocol in PROTOCOLS if any(c.target == "page" for c in protocol.criteria)]
    assert fitting == ["evidence_pages"]
