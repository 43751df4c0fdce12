"""The report of a dataset: its figures are those of the pages, whatever the data; the PDF says what the JSON says."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pymupdf
import pytest

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.text import Text
from annotators.designing.phases import Phases
from annotators.errors import Conflict, InvalidInput, NotAllowed
from annotators.figures import number
from annotators.intervals.bootstrap import Resampling
from annotators.protocols import PROTOCOLS
from db.adjudicating.listed import listed_disputes
from db.annotating.annotations import answer_phase
from db.engine import Database
from db.people.pseudonyms import pseudonyms, real_names
from db.permissions import Actor
from db.studies.items import items_of_study
from db.studies.revisions import revise_item
from exports.agreement.quality import annotator_quality
from exports.agreement.study import agreement_report
from exports.alignment.study import alignment_report
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from exports.dataset.base import once
from exports.dataset.datasheet import OPEN
from exports.dataset.document import DatasetReport, dataset_report
from exports.dataset.references import references
from exports.drawing.report_files import Section, report_html, report_latex, report_markdown
from exports.importing.decisions import import_decisions
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from exports.judging.check import check_report
from exports.judging.panel import panel_report
from exports.results.document import Results
from tests.conftest import IN_CI
from tests.databases import put_database
from tests.exports.judged import PEOPLE, Judged, make_judged
from tests.exports.judging.makers import judge_labels, panelled
from tests.exports.test_whole_folders import largest_file
from tests.makers import (
    StudyInUse,
    first_administrator,
    make_item,
    make_member,
    make_person,
    make_project,
    tiny_protocol,
)

ASKED = Resampling(40, 3)
HOSTILE = r"<script>alert(1)</script> \input{/etc/passwd} $x_1 & 50 % #1 ~^{} [b] 'q' -- *s* |c| مرحبا بالعالم"


@dataclass(frozen=True)
class Made:
    """A judged project, and its report of the one study."""

    db: Database
    actor: Actor
    judged: Judged
    report: DatasetReport


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    folder = tmp_path_factory.mktemp("dataset")
    put_database(folder / "assay.db")
    db = Database(f"sqlite:///{folder}/assay.db")
    actor = first_administrator(db)
    judged = make_judged(db, actor, folder / "files", questions=12, labelled=10)
    report = dataset_report(db, actor, judged.project_id, study_id=judged.study_id, asked=ASKED)
    yield Made(db, actor, judged, report)
    db.dispose()


@pytest.fixture(scope="module")
def lualatex() -> str:
    """The program that sets reports in type; CI has to have it."""
    found = shutil.which("lualatex")
    if found is None and IN_CI:
        pytest.fail("LuaLaTeX is not installed, which CI must have")
    return found or pytest.skip("LuaLaTeX is not installed (Debian: apt-get install texlive-luatex)")


# Figures --------------------------------------------------------------------------------------------------------------


def test_sizes_are_those_of_the_items_of_the_study(made: Made) -> None:
    numbers = made.report.numbers
    assert (numbers["items"], numbers["questions"], numbers["systems"]) == (30, 10, 3)
    assert (numbers["items.category.Text"], numbers["items.category.Tables"]) == (15, 15)
    assert (numbers["annotators"], numbers["annotations"], numbers["labels"]) == (3, 90, 180)
    assert numbers["words.question.median"] == 6


def test_a_study_whose_items_were_revised_says_that_it_counts_them_as_they_were_sampled(
    sqlite_database: Database,
) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=2, overlap=1)
    about = (study.db, study.researcher, study.project_id)

    def said() -> list[str]:
        sections = dataset_report(*about, study_id=study.study_id, asked=ASKED).sections()
        return [words for section in sections if section.name == "dataset" for words in section.words]

    assert said() == []
    evidence = [{"text": "More."}]
    revise_item(*about, external_id="i00001", fields={"evidence": evidence}, reason="wrong")
    assert said() == [
        "Counted are the items as the study sampled them; 1 of 2 has changed since, and the items of an export are "
        "those of now."
    ]


def test_agreement_is_that_of_the_page_to_the_last_digit(made: Made) -> None:
    found = agreement_report(made.db, made.actor, made.judged.study_id, seed=3, resamples=40, named=False)
    compared = 0
    for criterion in found.criteria:
        for statistic in criterion.statistics:
            if statistic.raters is None and statistic.label is None:
                name = f"agreement.{criterion.criterion.name}.{statistic.name}"
                assert made.report.numbers[name] == statistic.value
                assert made.report.numbers.get(f"{name}.low") == statistic.low
                compared += 1
    assert compared > 6


def test_results_and_metrics_are_those_of_their_pages(made: Made) -> None:
    numbers = made.report.numbers
    results = Results.of_study(made.db, made.actor, made.judged.study_id, ASKED)
    figures = [figure for figure in results.figures if figure.group is None and figure.criterion == "right"]
    assert figures
    for figure in figures:
        about = [figure.criterion, figure.label, figure.labels]
        assert numbers[".".join(["results", figure.name, *(str(part) for part in about if part)])] == figure.value
    alignment = alignment_report(made.db, made.actor, made.judged.study_id, asked=ASKED, named=False)
    plain = [one for one in alignment.statistics if one.metric and not one.group and not one.against and one.criterion]
    assert {"spearman", "auroc"} <= {one.name for one in plain}
    for one in plain:
        name = f"alignment.{one.name}.{one.criterion}.{one.metric}"
        assert (numbers[name], numbers.get(f"{name}.high")) == (one.value, one.high)


def test_metrics_stand_side_by_side_with_the_average_of_those_that_may_be(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """The shape of MRAMG-Bench's Table 4: a system that lacks one of those has no average."""
    db = sqlite_database
    actor, project = first_administrator(db), make_project(db, "answers")
    values = {
        ("web", "a"): {"image_precision": 0.5, "image_recall": 1.0, "hallucination": 1.0},
        ("web", "b"): {"image_precision": 0.25, "image_recall": 0.5, "hallucination": 0.0},
        ("life", "a"): {"image_precision": 0.5, "image_recall": 0.25, "image_order": 0.75, "hallucination": 0.0},
        ("life", "b"): {"image_precision": 0.5, "image_recall": 0.25, "hallucination": 0.0},
    }
    rows = [
        {"id": f"{category}:{system}", "question": "Q?", "answer": "A.", "category": category, "system": system,
         "scores": [{"scorer": f"imported:{name}", "name": name, "value": value} for name, value in scores.items()]}
        for (category, system), scores in values.items()
    ]  # fmt: skip
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert import_paths(db, actor, project, paths=[tmp_path / "items.jsonl"], data_folder=tmp_path / "home").added == 4
    report = dataset_report(db, actor, project, asked=ASKED)
    tables = {table.caption: table for section in report.sections() for table in section.tables}
    web, life = tables["web: systems by metric"], tables["life: systems by metric"]
    place = web.columns.index("Avg.")
    assert [row[place] for row in web.rows] == ["0.750", "0.375"]
    assert [row[place] for row in life.rows] == ["0.500", ""]
    assert report.numbers["scores.average.web.b"] == 0.375
    assert "scores.average.life.b" not in report.numbers
    [scores] = [section for section in report.sections() if section.title == "Systems by metric"]
    words = " ".join(scores.words)
    assert (
        "Avg. is the unweighted mean of imported:image_order, imported:image_precision, imported:image_recall" in words
    )
    assert "Not averaged, as more is not better or 1 is not the most: imported:hallucination." in words


def test_judges_and_their_panel_have_the_figures_of_their_page(sqlite_database: Database, tmp_path: Path) -> None:
    """As `assay judge check` and `assay panel` print them, to the last digit, with what limits them in sentences."""
    db, actor = sqlite_database, first_administrator(sqlite_database)
    made = panelled(db, actor, tmp_path, {"careful": 0.05, "random": 0.5}, questions=12, labelled=12)
    report = dataset_report(db, actor, made.project_id, study_id=made.study_id, asked=ASKED)
    with db.read() as session:
        others = pseudonyms(session, made.study_id)
        called = {name: others[person] for person, name in real_names(session, made.study_id).items()}
    expected = {}
    for judge in ("careful", "random"):
        found = check_report(db, actor, made.study_id, judge=judge, asked=ASKED)
        for entry in found.statistics:
            against = called.get(entry.against or "", entry.against)
            about = (judge, entry.criterion, entry.name, against, entry.by, entry.group)
            expected[".".join(["judge", *(part for part in about if part)])] = entry.value
    panel = panel_report(db, actor, made.study_id, judges=["careful", "random"], asked=ASKED)
    for entry in panel.statistics:
        about = ("panel", "majority", entry.criterion, entry.name, entry.group)
        expected[".".join(part for part in about if part)] = entry.value
    told = {name: value for name, value in report.numbers.items() if name.startswith(("judge.", "panel."))}
    assert {name: value for name, value in told.items() if not name.endswith((".low", ".high"))} == expected
    assert told["judge.random.right.alt_test_winning_rate"] < 0.5 <= told["judge.careful.right.alt_test_winning_rate"]
    titles = [section.title for section in report.sections()]
    assert titles.count("The judge careful") == titles.count("All judges as a panel") == 1
    whole = report_markdown(report, "dataset")[0] + json.dumps(report.numbers)
    assert not [name for name in PEOPLE if re.search(rf"\b{name}\b", whole)], "people are under their pseudonyms"
    printed = " ".join(section.text for section in report.sections() if section.name in ("limits", "references"))
    assert "the judge random does not pass the alternative annotator test on right" in printed
    assert "Calderon" in printed


def test_every_number_of_the_first_tables_is_printed_in_each_form(made: Made) -> None:
    alpha = made.report.numbers["agreement.right.krippendorff_alpha_nominal"]
    html = report_html(made.report)
    markdown, _ = report_markdown(made.report, "r")
    latex, plots = report_latex(made.report, "r")
    for text in (html, markdown, latex):
        assert number(alpha, 3) in text
        assert "A1" in text
        assert "ada" not in text  # people have pseudonyms
        assert OPEN in text
    assert set(re.findall(r"\\includegraphics\[[^\]]*\]\{([^}]+)\}", latex)) == set(plots)
    assert "<script" not in html
    assert not re.search(r"(src|href)=[\"']?(https?:|//)", html)


def test_limits_and_references_follow_from_the_data(made: Made) -> None:
    [limits] = [section.text for section in made.report.sections() if section.name == "limits"]
    assert "The language of 30 of 30 items is not given" in limits
    assert "no gold items and no qualification" in limits
    assert list(once([("Clear", "Few."), ("Right", "Few."), ("Clear", "Rare.")])) == [
        "Clear, Right: Few.",
        "Clear: Rare.",
    ]
    [works] = [section.text for section in made.report.sections() if section.name == "references"]
    assert "Krippendorff, K. \\(2011\\)" in works or "Krippendorff, K. (2011)" in works
    assert len(references([])) < len(references(["gwet_ac1"])) < len(references(["gwet_ac1", "icc_a_1"]))


def test_blocks_stand_between_marks_that_no_other_block_has(made: Made) -> None:
    text, _ = report_latex(made.report, "r")
    begins, ends = re.findall(r"^%%% begin (.*)$", text, re.M), re.findall(r"^%%% end (.*)$", text, re.M)
    assert begins == ends
    assert len(set(begins)) == len(begins)
    assert "dataset/table-1" in begins


# Any data -------------------------------------------------------------------------------------------------------------


def test_an_empty_project_has_a_report_that_says_so(sqlite_database: Database, tmp_path: Path) -> None:
    actor = first_administrator(sqlite_database)
    report = dataset_report(sqlite_database, actor, make_project(sqlite_database, "empty"))
    assert report.numbers["items"] == 0
    with pytest.raises(OSError, match="large"), largest_file(100):
        report.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    written = report.write(tmp_path / "out", ["md", "html", "latex"])
    assert [path.suffix for path in written] == [".md", ".html", ".tex"]
    assert "There are no items yet" in written[0].read_text()
    with pytest.raises(Conflict, match="not empty"):
        report.write(tmp_path / "out")
    with pytest.raises(InvalidInput, match="'docx' is no format"):
        report.write(tmp_path / "other", ["docx"])


def test_items_without_a_language_or_category_are_no_group_of_their_own(sqlite_database: Database) -> None:
    project_id = make_project(sqlite_database)
    groups = [("en", "Text")] * 2 + [("de", None)] + [(None, None)] * 4
    for language, category in groups:
        make_item(sqlite_database, project_id, language=language, category=category)
    report = dataset_report(sqlite_database, first_administrator(sqlite_database), project_id)
    limits = section_of(report, "limits").text
    assert "The language of 4 of 7 items is not given" in limits
    assert "5 of 7 items have no category" in limits
    assert "2 of 2 groups by language have fewer than 30 items" in limits
    assert "of one" not in limits, "most items lack both, and none has the same as most others"
    assert "groups by category" not in limits, "there is one"


def test_most_items_may_be_of_one_language(sqlite_database: Database) -> None:
    project_id = make_project(sqlite_database)
    for language in ("en", "en", "en", None):
        make_item(sqlite_database, project_id, language=language)
    report = dataset_report(sqlite_database, first_administrator(sqlite_database), project_id)
    assert "75.0 % of the items are of one language, en" in section_of(report, "limits").text.replace("\\", "")


def test_only_researchers_make_a_report(sqlite_database: Database) -> None:
    project = make_project(sqlite_database)
    somebody = make_person(sqlite_database)
    make_member(sqlite_database, project, somebody, "annotator")
    with pytest.raises(NotAllowed):
        dataset_report(sqlite_database, somebody, project)


def test_pay_and_background_are_told_in_counts_where_a_study_asked(sqlite_database: Database) -> None:
    asked = [
        Choice(name="pay", title="Pay", labels=[Label(value="12 an hour"), Label(value="20 an hour")]),
        Text(name="degree", title="Degree", required=False),
    ]
    study = StudyInUse(sqlite_database, items=1, phases=Phases(before=asked))
    for who, pay in enumerate(("12 an hour", "12 an hour", "20 an hour")):
        answer_phase(
            sqlite_database, study.annotators[who], study.study_id, uid=f"u{who}", phase="before",
            answers={"pay": pay, "degree": f"Degree of somebody called {who}"},
        )  # fmt: skip
    report = dataset_report(sqlite_database, study.researcher, study.project_id, study_id=study.study_id, asked=ASKED)
    [section] = [section for section in report.sections() if section.name.startswith("answers")]
    pay, degree = section.tables
    assert pay.rows == (("others", "3", ""),), "the third's answer would follow from the two others'"
    assert degree.rows == (("free texts", "3", ""),)
    assert "called 0" not in report_html(report)


def test_labels_that_were_made_elsewhere_are_said_to_be_and_no_day_is_made_up_for_them(
    sqlite_database: Database, tmp_path: Path
) -> None:
    actor, project = first_administrator(sqlite_database), make_project(sqlite_database)
    record = {"id": "1", "response": "A", "m_response_kg": [{"triplet": ["a", "b", "c"], "human_label": "Neutral"}]}
    (tmp_path / "d_s_answers.json").write_text(json.dumps([record]))
    import_paths(sqlite_database, actor, project, paths=[tmp_path / "d_s_answers.json"], labels_into="people")
    report = dataset_report(sqlite_database, actor, project, asked=ASKED)
    [datasheet] = [section for section in report.sections() if section.name == "datasheet"]
    answers = {row[0]: row[1] for table in datasheet.tables for row in table.rows}
    assert answers["Over what timeframe was the data collected?"] == OPEN
    assert "made elsewhere" in answers["How was the data associated with each instance acquired?"]
    text = report_markdown(report, "d")[0]
    assert "When 1 of 1 annotations of study people were made is not known." in text
    assert "Intervals of which nothing else is said" not in text


def section_of(report: DatasetReport, beginning: str) -> Section:
    """The first section whose name begins so."""
    return next(section for section in report.sections() if section.name.startswith(beginning))


def cells_of(section: Section) -> dict[str, str]:
    """The first two columns of its tables."""
    return {row[0]: row[1] for table in section.tables for row in table.rows}


def test_a_study_of_labels_from_elsewhere_says_how_many_people_labelled_an_item(
    sqlite_database: Database, tmp_path: Path
) -> None:
    actor, project = first_administrator(sqlite_database), make_project(sqlite_database)
    items = [{"id": f"s{n}", "question": f"Q{n}?", "answer": "A"} for n in range(4)]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    import_paths(sqlite_database, actor, project, paths=[tmp_path / "items.jsonl"])
    said = [f"s{n},{who},right,{'yes' if n % 2 else 'no'}" for n in range(4) for who in "abc" if n < 3 or who == "a"]
    (tmp_path / "labels.csv").write_text("\n".join(["item,annotator,criterion,value", *said]) + "\n")
    import_label_table(sqlite_database, actor, project, study="uneven", path=tmp_path / "labels.csv", infer=True)
    report = dataset_report(sqlite_database, actor, project, asked=ASKED)
    assert cells_of(section_of(report, "protocol-"))["Annotators of each item"] == "1 to 3"
    people = section_of(report, "people-")
    assert [row[:2] for row in people.tables[0].rows] == [("A1", "4"), ("A2", "3"), ("A3", "3")]
    answers = cells_of(section_of(report, "datasheet"))
    assert answers["What mechanisms or procedures were used to collect the data?"].endswith(
        "1 to 3 annotators an item."
    )
    limits = section_of(report, "limits").text
    assert "nothing is known of agreement" not in limits
    assert "Is any information missing" not in limits
    assert "no gold items" not in answers["Is any information missing from individual instances?"]


def test_our_guidelines_are_not_printed_as_those_of_raters_who_worked_elsewhere(
    sqlite_database: Database, tmp_path: Path
) -> None:
    """RAGChecker's raters had guidelines of their own, which its file does not hold."""
    actor, project = first_administrator(sqlite_database), make_project(sqlite_database)
    rating = {"dataset": "port", "query_id": "1", "query": "Which pier is older?", "gt_answer": "The north pier.",
              "model1": {"model_name": "alpha", "response": "North."},
              "model2": {"model_name": "beta", "response": "South."},
              "correctness_label": 1, "completeness_label": 0, "overall_label": 2}  # fmt: skip
    (tmp_path / "human.json").write_text(json.dumps([rating, {**rating, "overall_label": 1}]))
    import_paths(sqlite_database, actor, project, paths=[tmp_path / "human.json"], labels_into="people")
    report = dataset_report(sqlite_database, actor, project, asked=ASKED)
    guidelines = section_of(report, "guidelines-")
    assert (guidelines.text, guidelines.words) == ("", ["What these annotators were given to read is not known here."])
    assert "not what these annotators saw" in " ".join(section_of(report, "protocol-").words)
    ours = PROTOCOLS.get("pairwise_preference").guidelines
    assert max(ours.splitlines(), key=len) not in report_markdown(report, "d")[0]


def test_guidelines_that_came_with_the_labels_are_printed(sqlite_database: Database, tmp_path: Path) -> None:
    actor, project = first_administrator(sqlite_database), make_project(sqlite_database)
    record = {"id": "1", "response": "A", "m_response_kg": [{"triplet": ["a", "b", "c"], "human_label": "Neutral"}]}
    (tmp_path / "d_s_answers.json").write_text(json.dumps([record]))
    import_paths(sqlite_database, actor, project, paths=[tmp_path / "d_s_answers.json"], labels_into="people")
    report = dataset_report(sqlite_database, actor, project, asked=ASKED)
    assert "These labels came with the answers" in section_of(report, "guidelines-").text


def test_labels_that_are_imported_into_a_study_of_ours_are_told_apart(
    sqlite_database: Database, tmp_path: Path
) -> None:
    study = StudyInUse(sqlite_database, items=12, annotators=1, overlap=1)
    study.label_all(0)
    with sqlite_database.read() as session:
        items = items_of_study(session, study.study_id)
    said = [f"{item},newbie,right,{'yes' if place < 9 else 'no'}" for place, item in enumerate(items)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,annotator,criterion,value", *said]) + "\n")
    import_label_table(sqlite_database, study.researcher, study.project_id, study="study", path=tmp_path / "labels.csv")
    report = dataset_report(sqlite_database, study.researcher, study.project_id, asked=ASKED)
    rows = section_of(report, "people-").tables[0].rows
    assert [(row[0], row[1]) for row in rows] == [("A1", "12"), ("A2", "12")]
    assert [row[-1] for row in rows] == ["active", "imported"]
    assert [row[3].split(" [")[0] for row in rows] == ["75.0 %", "75.0 %"], "9 of 12 are those of the other"
    team = annotator_quality(sqlite_database, study.researcher, study.study_id)
    assert {(one.member.name, one.member.state) for one in team} >= {("newbie", "imported")}
    assert len(team) == 2
    acquired = cells_of(section_of(report, "datasheet"))["How was the data associated with each instance acquired?"]
    assert "study (12 of 24 annotations): labels are judgements of people, who saw" in acquired
    assert "study (12 of 24 annotations): labels were made elsewhere and imported" in acquired
    assert "12 of 24 annotations of study study were made elsewhere and imported" in section_of(report, "limits").text
    assert "no item has labels of two people" not in section_of(report, "limits").text


def test_of_one_annotator_nothing_is_said_of_agreement(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=1, overlap=1)
    study.label_all(0)
    report = dataset_report(sqlite_database, study.researcher, study.project_id, asked=ASKED)
    assert "In study study no item has labels of two people, so that nothing is known of agreement." in (
        section_of(report, "limits").text
    )
    answers = cells_of(section_of(report, "datasheet"))
    assert answers["Are there any errors, sources of noise, or redundancies in the dataset?"] == OPEN
    compensated = answers["Who was involved in the data collection process, and how were they compensated?"]
    assert compensated.endswith("Compensation: it was not asked for here.")


def test_a_study_that_nobody_has_labelled_has_no_table_without_columns(
    sqlite_database: Database, tmp_path: Path
) -> None:
    study = StudyInUse(sqlite_database, items=2)
    report = dataset_report(sqlite_database, study.researcher, study.project_id, asked=ASKED)
    people = section_of(report, "people-")
    assert (people.tables, people.words) == ([], ["Nobody has labelled anything yet."])
    report.write(str(tmp_path / "out"), ["latex"])
    assert "\\begin{tabular}{}" not in (tmp_path / "out" / "dataset.tex").read_text()
    assert "Efron" not in section_of(report, "references").text


@pytest.fixture
def hostile(sqlite_database: Database) -> DatasetReport:
    """One item and one label, with hostile and Arabic text wherever there is text."""
    protocol = tiny_protocol(
        title=HOSTILE, guidelines=f"# {HOSTILE}\n\n- {HOSTILE}\n\n| a | b |\n|---|---|\n| {HOSTILE[:9]} | 2 |\n"
    )
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1, protocol=protocol)
    study.label_all(0)
    make_item(sqlite_database, study.project_id, "second", system=HOSTILE, category=HOSTILE, language="ar")
    return dataset_report(sqlite_database, study.researcher, study.project_id, asked=ASKED)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)


def test_hostile_text_is_text_in_every_form(hostile: DatasetReport) -> None:
    html = report_html(hostile)
    found = _Tags()
    found.feed(html)
    assert not {"script", "iframe", "img", "link", "a"} & found.tags
    assert "مرحبا" in html
    assert r"\input{" not in report_latex(hostile, "r")[0]
    markdown = report_markdown(hostile, "r")[0]
    assert not re.search(r"(?<!\\)<script", markdown)
    assert hostile.numbers["annotations"] == 1


# In type --------------------------------------------------------------------------------------------------------------


def _set_in_type(program: str, report: DatasetReport, folder: Path) -> str:
    """The words of the PDF, spaces and line ends as one space."""
    report.write(folder, ["latex"])
    command = [program, "-halt-on-error", "-interaction=batchmode", "dataset.tex"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=240)
    assert done.returncode == 0, (folder / "dataset.log").read_text(errors="replace")[-3000:]
    with pymupdf.open(folder / "dataset.pdf") as pdf:
        return " ".join(" ".join(page.get_text() for page in pdf).split())


@pytest.mark.slow
def test_the_pdf_says_the_numbers_of_the_json(made: Made, lualatex: str, tmp_path: Path) -> None:
    words = _set_in_type(lualatex, made.report, tmp_path / "pdf")
    heading, table = words.index("What moved at each stage"), words.index("Items by stage")
    assert heading < table < words.index("Where items stand"), "tables stand below their heading"
    numbers = made.report.numbers
    for name, title in (("items", "Items"), ("questions", "Questions"), ("systems", "Systems")):
        assert re.search(rf"\b{title} {numbers[name]:,}\b", words), name
    read = 0
    for name, value in numbers.items():
        if re.fullmatch(r"agreement\.\w+\.\w+", name) and value is not None:
            shown = number(value, 3)
            if f"{name}.low" in numbers:
                low, high = (number(numbers[f"{name}.{end}"], 3) for end in ("low", "high"))
                assert re.search(rf"{re.escape(shown)} \[{re.escape(low)}, ?{re.escape(high)}\]", words), name
                read += 1
    assert read > 6


@pytest.mark.slow
def test_hostile_and_arabic_text_is_set_in_type(hostile: DatasetReport, lualatex: str, tmp_path: Path) -> None:
    words = _set_in_type(lualatex, hostile, tmp_path / "pdf")
    assert "<script>alert(1)</script>" in words
    assert r"\input{/etc/passwd}" in words
    assert re.search("[\u0621-\u064a\ufe80-\ufefc]{3}", words)  # Arabic letters, or their forms within words
    log = (tmp_path / "pdf" / "dataset.log").read_text(errors="replace")
    assert "Missing character" not in log


# In an export ---------------------------------------------------------------------------------------------------------


def test_an_export_has_the_report_in_its_manifest(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    manifest = export_project(made.db, made.actor, make_project(made.db, "nothing"), to=folder, formats=["report"])
    assert {"report/dataset.html", "report/dataset.md", "report/dataset.tex"} <= {
        file["path"] for file in manifest.files
    }
    assert verify_folder(folder).ok
    assert verify_against(made.db, made.actor, folder).ok
    (folder / "report" / "dataset.md").write_text("changed")
    assert list(verify_against(made.db, made.actor, folder).changed) == ["report/dataset.md"]


def test_the_numbers_of_the_report_come_in_the_types_of_tables(made: Made, tmp_path: Path) -> None:
    folder, project = tmp_path / "export", made.judged.project_id
    manifest = export_project(
        made.db, made.actor, project, study_id=made.judged.study_id, to=folder, formats=["report"],
        typed=["parquet", "xlsx", "tsv"],
    )  # fmt: skip
    with (folder / "report" / "numbers.csv").open(newline="") as file:
        told = {row["name"]: float(row["value"]) if row["value"] else None for row in csv.DictReader(file)}
    assert len(told) > 50
    assert dict(pq.read_table(folder / "report" / "numbers.parquet").to_pylist()[0]).keys() == {"name", "value"}
    typed = pq.read_table(folder / "report" / "numbers.parquet")
    assert (str(typed.schema.field("value").type), typed.schema.field("value").metadata != {}) == ("double", True)
    assert {row["name"]: row["value"] for row in typed.to_pylist()} == told
    [sheet] = openpyxl.load_workbook(folder / "report" / "numbers.xlsx").worksheets
    assert {name: value for name, value in sheet.iter_rows(min_row=2, values_only=True)} == told  # noqa: C416
    files = {file["path"]: file["rows"] for file in manifest.files}
    assert [files[f"report/numbers.{kind}"] for kind in ("csv", "parquet", "xlsx", "tsv")] == [len(told)] * 4
    with (folder / "data_dictionary.csv").open(newline="") as file:
        assert [(row["table"], row["column"], row["kind"]) for row in csv.DictReader(file)] == [
            ("numbers", "name", "text"), ("numbers", "value", "number"),
        ]  # fmt: skip
    assert verify_folder(folder).ok
    assert verify_against(made.db, made.actor, folder).ok
    changed = typed.set_column(1, "value", pa.array([row and row + 1 for row in typed["value"].to_pylist()], "double"))
    pq.write_table(changed, folder / "report" / "numbers.parquet")
    assert list(verify_against(made.db, made.actor, folder).changed) == ["report/numbers.parquet"]


def test_the_report_of_an_export_is_made_again_and_compared(sqlite_database: Database, tmp_path: Path) -> None:
    """A number or sentence that was changed together with its hash is found, also when people went on labelling."""
    db, actor, folder = sqlite_database, first_administrator(sqlite_database), tmp_path / "export"
    made = panelled(db, actor, tmp_path / "files", {"careful": 0.1}, questions=4, labelled=4)
    export_project(db, actor, made.project_id, study_id=made.study_id, to=folder, formats=["report", "agreement"])
    numbers = folder / "report" / "numbers.csv"
    with numbers.open(newline="") as file:
        told = dict(csv.reader(file))
    with (folder / "agreement.csv").open(newline="") as file:
        measured = {(row["criterion"], row["statistic"]): row["value"] for row in csv.DictReader(file)}
    alpha = "krippendorff_alpha_nominal"
    assert told[f"agreement.right.{alpha}"] == measured["right", alpha]

    was, text = numbers.read_text(), folder / "report" / "dataset.tex"
    text.write_text(text.read_text().replace("Agreement", "Harmony", 1))
    numbers.write_text(was.replace("\nitems,12", "\nitems,13"))
    forge_hashes(folder)
    changed = verify_against(db, actor, folder).changed
    assert set(changed) == {"report/numbers.csv", "report/dataset.tex"}
    assert was.splitlines()[(changed["report/numbers.csv"] or 0) - 1] == "items,12"

    judge_labels(db, made.study_id, "late", lambda _: {"right": "yes", "quality": 3})
    make_item(db, made.project_id, "late-item")
    dispute = listed_disputes(db, actor, made.study_id)[0]
    decided = folder.with_name("decided.csv")
    with decided.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("item", "criterion", "target", "value", "reason"))
        for unit in dispute.units:
            writer.writerow((dispute.item, unit.criterion, unit.target, next(iter(unit.votes)), "read again"))
    import_decisions(db, actor, made.study_id, path=decided)
    numbers.write_text(was)
    forge_hashes(folder)
    assert verify_against(db, actor, folder).changed == {}, (
        "where items stand is another thing by now, and nothing else"
    )
    for name in ("items", "annotations", "settled.right"):
        value = next(row for row in was.splitlines() if row.startswith(name))
        numbers.write_text(was.replace(f"\n{value}\n", f"\n{value}1\n"))
        forge_hashes(folder)
        assert verify_against(db, actor, folder).changed == {"report/numbers.csv": was.splitlines().index(value) + 1}
    value = f"agreement.right.{alpha},{told[f'agreement.right.{alpha}']}"
    numbers.write_text(was.replace(value, f"agreement.right.{alpha},0.99"))
    forge_hashes(folder)
    changed = verify_against(db, actor, folder).changed
    assert list(changed) == ["report/numbers.csv"]
    assert was.splitlines()[(changed["report/numbers.csv"] or 0) - 1] == value


def forge_hashes(folder: Path) -> None:
    """Give the manifest the hashes of what the files hold now."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for file in manifest["files"]:
        file["sha256"] = hashlib.sha256((folder / file["path"]).read_bytes()).hexdigest()
    path.write_text(json.dumps(manifest))
