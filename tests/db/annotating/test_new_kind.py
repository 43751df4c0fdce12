"""A kind of criterion that only this file knows: nothing else has to be told of it, from the browser to the tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from sqlmodel import select

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.criteria import KINDS, Criterion, Value
from annotators.criteria.base import Scale
from annotators.criteria.material import Material
from annotators.errors import InvalidInput
from annotators.items.targets import Units
from annotators.protocols import Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes
from db.engine import Database
from db.models import StoredLabel
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol


@pytest.fixture
def strongest() -> Iterator[type[Criterion]]:
    """The kind `strongest`: which evidence unit supports the answer best, by its key; "none" is a value too."""

    class Strongest(Criterion):
        kind: Literal["strongest"] = "strongest"
        scale: ClassVar[Scale] = "nominal"
        about: ClassVar[str] = "the evidence unit that supports the answer best"

        def needs(self) -> set[Material]:
            return super().needs() | {Material.EVIDENCE}

        def check(self, value: object, units: Units | None = None) -> Value:
            if not isinstance(value, str) or (units is not None and value not in (*units.evidence, "none")):
                raise self._reject(value, "the key of an evidence unit, or none")
            return value

        def rekeyed(self, value: Any, renamed: Callable[[str], str | None]) -> Any:
            if not isinstance(value, str) or value == "none":
                return value
            target = renamed(f"evidence:{value}")
            return target and target.removeprefix("evidence:")

        def agreed(self, values: list[Any]) -> Any:
            """What names a unit outvotes "none"."""
            return super().agreed([value for value in values if value != "none"] or values)

    yield Strongest
    del KINDS["strongest"]


@pytest.fixture
def study(database: Database, strongest: type[Criterion]) -> StudyInUse:
    protocol = tiny_protocol(
        criteria=[strongest(name="best", title="Best")],
        steps=[Step(name="all", title="All", shows=[Material.ANSWER, Material.EVIDENCE], criteria=["best"])],
    )
    return StudyInUse(database, items=2, annotators=2, overlap=2, n_evidence=2, protocol=protocol)


def test_it_registers_itself_and_no_second_one_may_have_its_name(strongest: type[Criterion]) -> None:
    assert KINDS["strongest"] is strongest
    with pytest.raises(ValueError, match="two kinds of criterion are named 'strongest'"):

        class Again(Criterion):
            kind: Literal["strongest"] = "strongest"

    assert KINDS["strongest"] is strongest


def test_a_protocol_file_may_ask_for_it_and_is_told_what_it_needs(strongest: type[Criterion]) -> None:
    protocol = tiny_protocol(
        criteria=[strongest(name="best", title="Best")],
        steps=[Step(name="all", title="All", shows=[Material.EVIDENCE], criteria=["best"])],
    )
    assert protocol_from_yaml(protocol_to_yaml(protocol)) == protocol
    with pytest.raises(InvalidInput, match="criterion 'best' needs evidence, but step 'all' does not show it"):
        protocol_from_yaml(protocol_to_yaml(protocol).replace("[evidence]", "[answer]"))


def test_its_values_have_neutral_keys_in_the_browser_and_the_items_own_where_they_are_stored(
    study: StudyInUse,
) -> None:
    item = study.work(0)["items"][0]
    assert [unit["key"] for unit in item["evidence"]] == ["E1", "E2"]
    with pytest.raises(InvalidInput, match=r"'E3' is not a label of criterion 'best'\. Allowed: the key of an evid"):
        study.submit(0, item, {"best": "E3"})
    study.submit(0, item, {"best": "E1"})
    with study.db.read() as session:
        [stored] = [label.value for label in session.exec(select(StoredLabel))]
    assert stored in ("gold-1", "distractor-2")


def test_it_settles_is_adjudicated_compared_and_exported_by_what_it_says_itself(
    study: StudyInUse, tmp_path: Path
) -> None:
    for who, values in enumerate((("none", "E1"), ("E2", "E2"))):
        for value in values:
            study.submit(who, study.work(who)["items"][0], {"best": value})
    adjudicator = make_person(study.db)
    make_member(study.db, study.project_id, adjudicator, "adjudicator")
    [waiting] = disputes(study.db, adjudicator, study.study_id)  # the first settles as the unit that one of them named
    seen = disputed_item(study.db, adjudicator, waiting.study_item_id)
    assert sorted(vote.value for vote in seen.units[0].votes) == ["E1", "E2"]
    with pytest.raises(InvalidInput, match="Best: 'E7' is not a label"):
        decision = UnitDecision("best", "item", "E7")
        adjudicate(study.db, adjudicator, waiting.study_item_id, uid="a", decisions=[decision], from_browser=True)
    decision = UnitDecision("best", "item", "none")
    adjudicate(study.db, adjudicator, waiting.study_item_id, uid="b", decisions=[decision], from_browser=True)

    [found] = agreement_report(study.db, study.researcher, study.study_id, resamples=20).criteria
    assert {statistic.name: statistic.value for statistic in found.statistics}["percent_agreement"] == 0
    export_project(study.db, study.researcher, study.project_id, to=tmp_path / "out", study_id=study.study_id)
    with (tmp_path / "out/adjudicated.csv").open() as file:
        final = [(row["how"], row["label"]) for row in csv.DictReader(file)]
    assert [how for how, _ in final] == ["unanimous", "adjudicated"]
    assert final[0][1] in ("gold-1", "distractor-2")
    assert final[1][1] == "none"
