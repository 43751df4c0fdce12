"""Agreement about pairs: RAGChecker's two raters through `pairwise_preference` give what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from annotators.protocols import PROTOCOLS
from db.elsewhere.foreign import import_study_of_labels
from db.engine import Database
from db.models import Item, Question
from db.permissions import Actor
from db.studies.design import find_study
from exports.agreement.study import agreement_report
from exports.importing.items import import_paths
from exports.results.document import Results
from tests.makers import make_person, make_project

KNOWN = {
    "correctness": (0.3113, 0.6331, 0.3099, 0.5865, 0.6338),
    "completeness": (0.4626, 0.7184, 0.4617, 0.6828, 0.7188),
    "overall": (0.4133, 0.6985, 0.4107, 0.6836, 0.6988),
}
"""Cohen's κ, quadratic κ, and Krippendorff's α nominal, ordinal and interval: the data's README."""

NAMES = (
    "cohen_kappa", "cohen_kappa_quadratic", "krippendorff_alpha_nominal", "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
)  # fmt: skip


class NoItems:
    """A reading without items: the project has them all."""

    format, source = "labels", "ratings"

    def items(self) -> Iterator[ParsedItem | Rejected]:
        return iter(())

    def documents(self) -> Iterator[Any]:
        return iter(())

    def notes(self) -> Sequence[str]:
        return ()


@pytest.mark.slow
def test_the_real_raters_agree_as_is_known(database: Database, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "ragchecker/human_labeled_data.json"
    admin, project_id = make_person(database, admin=True), make_project(database)
    import_paths(database, admin, project_id, paths=[source], format_name="ragchecker", data_folder=tmp_path / "data")
    with database.read() as session:
        found = session.exec(select(Question.key, Item.system, Item.external_id).join(Item)).all()
    ids = {(key, system): external_id for key, system, external_id in found}
    rows = []
    for number, record in enumerate(orjson.loads(source.read_bytes())):
        key = f"{record['dataset']}/{record['query_id']}"
        item, other = (ids[key, record[side]["model_name"]] for side in ("model1", "model2"))
        rows += [
            ForeignLabel(number + 2, item, f"rater {number % 2 + 1}", name, "pair", str(value), other=other)
            for name in KNOWN
            for value in [record[f"{name}_label"]]
        ]
    made = import_study_of_labels(
        database, admin, project_id, name="raters", protocol=PROTOCOLS.get("pairwise_preference"), overlap=2,
        items=NoItems(), rows=rows,
    )  # fmt: skip
    assert made.labels.labels == 3 * 560
    assert_known(database, admin, made.study_id)
    results = Results.of_study(database, admin, made.study_id)
    assert_results(results.to_json()["rows"])
    assert_head_to_head(results, orjson.loads(source.read_bytes()))
    inside = import_paths(
        database, admin, project_id,
        paths=[source], format_name="ragchecker", data_folder=tmp_path / "data", labels_into="of the file",
    )  # fmt: skip
    assert (inside.added, inside.unchanged, inside.labels.n, inside.labels.annotations) == (0, 560, 3 * 560, 560)
    assert_known(database, admin, find_study(database, admin, project_id, name="of the file"))


def assert_known(database: Database, admin: Actor, study_id: int) -> None:
    """The coefficients of the data's README."""
    report = agreement_report(database, admin, study_id, resamples=0, statistics="all")
    for criterion in report.criteria:
        assert criterion.n_units == 280
        for name, value in zip(NAMES, KNOWN[criterion.criterion.name], strict=True):
            statistic = criterion.find(name)
            assert statistic is not None
            assert statistic.value == pytest.approx(value, abs=5e-5), (criterion.criterion.name, name)


def assert_results(rows: list[dict[str, Any]]) -> None:
    """The preferences of 560 labels: shares between their ends, strengths around zero, no known sides."""
    each = [row for row in rows if row["criterion"] == "overall" and row.get("labels") == "each"]
    won = {row["group"]: row for row in each if row["name"] == "won"}
    assert sum(row["n"] for row in won.values()) == 2 * 560
    assert all(row["low"] < row["value"] < row["high"] for row in won.values())
    strength = {row["group"]: row for row in each if row["name"] == "strength"}
    assert len(strength) == 8
    assert sum(row["value"] for row in strength.values()) == pytest.approx(0, abs=1e-6)
    assert all(row["low"] < row["value"] < row["high"] for row in strength.values())
    assert max(strength, key=lambda system: strength[system]["value"]).endswith("gpt_4")
    [left] = [row for row in each if row["name"] == "left preferred"]
    assert left["value"] is None
    assert "not known which answer stood left" in left["reason"]


def assert_head_to_head(results: Results, records: list[dict[str, Any]]) -> None:
    """Each system against each, counted from the file; and no table of ordered pairs of systems beside it."""
    met, won = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for record in records:
        first, second, said = record["model1"]["model_name"], record["model2"]["model_name"], record["overall_label"]
        met.update([(first, second), (second, first)])
        won.update([(first, second)] if said < 0 else [(second, first)] if said > 0 else [])
    found = {
        (row["group"], row["label"]): (row["value"], row["n"])
        for row in results.to_json()["rows"]
        if (row["name"], row["criterion"], row.get("labels")) == ("won against", "overall", "each")
    }
    assert found == {pair: (pytest.approx(won[pair] / n), n) for pair, n in met.items()}
    sections = [section for found in results.findings for section in found.sections]
    [section] = [section for section in sections if section.title == "Preference: Overall"]
    table = section.tables[2]
    assert table.caption == "Overall: head to head, labels of single annotators"
    assert [row[0].split()[0] for row in table.rows] == list(table.columns[1:]) == [f"{n}." for n in range(1, 9)]
    systems = [row[0].split()[1] for row in table.rows]
    for system, row in zip(systems, table.rows, strict=True):
        for other, cell in zip(systems, row[1:], strict=True):
            n = met[system, other]
            assert cell == (f"{100 * won[system, other] / n:.0f} % ({n})" if n else "")
    assert not [table.caption for section in sections for table in section.tables if "by system" in table.caption]
