"""Pairs that come back after a revision, and that are released with their final labels."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput
from annotators.items.pairs import in_words, pair_name
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.annotating.annotations import work
from db.annotating.status import study_status
from db.engine import Database
from db.models import ReleasePair, ReleasePairLabel, StudyItem
from db.releasing.comparing import compare_releases
from db.releasing.counts import study_stages
from db.releasing.endings import end_item
from db.releasing.recheck import ItemRecheck, send_to_recheck, to_recheck
from db.releasing.releases import make_release
from db.studies.ratings import ratings
from db.studies.revisions import revise_item
from db.studies.why import explain_label
from db.upkeep.soundness import wrong_hashes
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from tests.db.studies.test_pairs import Pairs

HARBOUR, LANTERN, QUAY = "q0:harbour", "q0:lantern", "q0:quay"


class Duel(Pairs):
    """A study of the pairs of some systems, of question 0 alone, with six annotators of whom two are asked."""

    def __init__(self, db: Database, folder: Path, *systems: str) -> None:
        super().__init__(db, folder, people=6)
        self.study_id = self.make(*systems, items=tuple(f"q0:{system}" for system in systems))

    def labelled(self, who: Sequence[int], system: str = "harbour") -> None:
        for person in who:
            list(self.prefer(self.study_id, person, system))

    def revise(self, item: str, **fields: Any) -> None:
        fields = fields or {"answer": f"Once more, {item}."}
        revise_item(self.db, self.admin, self.project_id, external_id=item, fields=fields, reason="wrong")

    def fell(self) -> list[ItemRecheck]:
        return to_recheck(self.db, self.admin, self.study_id)

    def send(self, *items: str, **more: Any) -> list[ItemRecheck]:
        return send_to_recheck(self.db, self.admin, self.study_id, items=items, reason="rewritten", **more)

    def gets(self, *who: int) -> list[bool]:
        """Whether these annotators are given anything now, one after the other."""
        return [bool(work(self.db, self.people[person], self.study_id)["items"]) for person in who]

    def places(self) -> list[StudyItem]:
        with self.db.read() as session:
            query = select(StudyItem).where(StudyItem.study_id == self.study_id).order_by(col(StudyItem.position))
            found = list(session.exec(query))
            session.expunge_all()
            return found

    def release(self, name: str, **options: Any) -> Any:
        return make_release(self.db, self.admin, self.project_id, name=name, **options)

    def states(self) -> dict[str, int]:
        found = study_stages(self.db, self.admin, self.study_id)
        assert found.pairs
        return {state: n for state, n in found.states.items() if n}


@pytest.fixture
def duel(database: Database, tmp_path: Path) -> Duel:
    made = Duel(database, tmp_path, "harbour", "lantern")
    made.labelled((0, 1))
    return made


def test_a_pair_comes_back_in_its_later_version_with_its_sides_to_people_who_know_no_earlier_one(duel: Duel) -> None:
    assert (duel.states(), duel.fell()) == ({"accepted": 1}, [])
    duel.revise(LANTERN)
    [fell] = duel.fell()
    first, second = sorted((HARBOUR, LANTERN))
    assert fell.to_json() == {
        "item": first, "from": 1, "to": 1, "other_item": second, "other_from": 1, "other_to": 2,
        "criteria": ["correctness", "completeness", "overall"], "fresh": 4, "waits": None,
    }  # fmt: skip
    assert duel.states() == {"in_recheck": 1}
    assert [row.name for row in duel.send(LANTERN)] == [in_words(pair_name(first, second))]
    before, after = duel.places()
    assert (after.purpose, after.earlier_id, after.other_left) == ("recheck", before.id, before.other_left)
    assert after.item_version_id == before.item_version_id and after.other_version_id != before.other_version_id
    assert duel.gets(0, 1, 2, 3) == [False, False, True, True]
    with pytest.raises(InvalidInput, match="is sent back already"):
        duel.send(HARBOUR)
    [item] = work(duel.db, duel.people[2], duel.study_id)["items"]
    assert f"Once more, {LANTERN}." in {side["answer"] for side in item["answers"]}
    duel.labelled((2, 3))
    assert duel.states() == {"accepted": 1}
    status = study_status(duel.db, duel.admin, duel.study_id)
    assert (status["pairs"], status["items"]) == (True, 1)
    assert (status["finished"], status["states"]["submitted"], status["stuck"]) == (True, 4, 0)
    assert not any("sample" in wrong for wrong in wrong_hashes(duel.db))


def test_statistics_are_of_the_sample_and_exports_tell_the_versions_of_both(duel: Duel, tmp_path: Path) -> None:
    duel.revise(LANTERN)
    duel.send()
    duel.labelled((2, 3))
    found = ratings(duel.db, duel.admin, duel.study_id)
    assert {(len(column.units), len(column.people)) for column in found.criteria} == {(2, 2)}
    about = {"formats": ["labels", "adjudicated"], "study_id": duel.study_id}
    export_project(duel.db, duel.admin, duel.project_id, to=tmp_path / "out", **about)  # type: ignore[arg-type]
    for name, n in (("labels", 12), ("adjudicated", 6)):
        rows = list(csv.DictReader(io.StringIO((tmp_path / f"out/{name}.csv").read_text())))
        assert len(rows) == n
        assert [row["other_version"] for row in rows] == ["1"] * (n // 2) + ["2"] * (n // 2)
    told = explain_label(duel.db, duel.admin, duel.study_id, item=LANTERN, other=HARBOUR, criterion="overall").to_json()
    assert len([step for step in told["steps"] if step["did"] == "labelled"]) == 2


def test_the_pairs_of_a_revised_item_come_back_together_and_wait_for_each_other(
    database: Database, tmp_path: Path
) -> None:
    there = Duel(database, tmp_path, "harbour", "lantern", "quay")
    there.labelled((0, 1))
    there.revise(HARBOUR)
    assert there.states() == {"accepted": 1, "in_recheck": 2}
    assert {row.other[0] if row.item == HARBOUR else row.item for row in there.fell() if row.other} == {LANTERN, QUAY}
    assert len(there.send(LANTERN)) == 2, "the pair of lantern and quay has no label that fell"
    assert there.gets(0, 1) == [False, False]
    there.revise(LANTERN)
    waits = {row.name: row.waits for row in there.fell()}
    assert len(waits) == 2 and None not in waits.values(), "harbour and lantern are asked about now"
    with pytest.raises(InvalidInput, match="cannot come back yet"):
        there.send(QUAY)
    there.labelled((2, 3))
    assert len(there.send()) == 2
    assert there.gets(0, 1, 2, 3) == [False] * 4
    there.labelled((4, 5))
    assert there.states() == {"accepted": 3}


def test_who_met_the_earlier_version_beside_another_answer_does_not_get_it(database: Database, tmp_path: Path) -> None:
    there = Duel(database, tmp_path, "harbour", "lantern")
    there.labelled((0, 1))
    other = there.make("harbour", "quay", name="another", items=(HARBOUR, QUAY))
    for person in (2, 3):
        list(there.prefer(other, person, "harbour"))
    there.revise(HARBOUR)
    [fell] = there.fell()
    assert fell.fresh == 2, "two judged the pair, and two saw harbour's answer in the other study"
    with pytest.raises(InvalidInput, match="2 of the annotators do not know an earlier version"):
        there.send(overlap=3)
    there.send()
    assert there.gets(0, 1, 2, 3) == [False] * 4


def test_who_saw_an_item_that_was_not_revised_may_be_asked(database: Database, tmp_path: Path) -> None:
    there = Duel(database, tmp_path, "harbour", "lantern")
    there.labelled((0, 1))
    other = there.make("harbour", "quay", name="another", items=(HARBOUR, QUAY))
    list(there.prefer(other, 2, "harbour"))
    there.revise(LANTERN)
    [fell] = there.fell()
    assert fell.fresh == 4


def test_a_revision_that_touches_no_criterion_asks_nothing_again(duel: Duel) -> None:
    duel.revise(LANTERN, category="sorted")
    assert (duel.fell(), duel.states()) == ([], {"accepted": 1})
    duel.release("v1")
    with duel.db.read() as session:
        [*labels] = session.exec(select(ReleasePairLabel))
    assert {(label.version, label.other_version) for label in labels} == {(1, 1)}


# Releases -------------------------------------------------------------------------------------------------------------


def test_an_adjudicated_set_of_pairs_is_released_with_its_items(database: Database, tmp_path: Path) -> None:
    there = Duel(database, tmp_path, "harbour", "lantern", "quay")
    list(there.prefer(there.study_id, 0, "harbour"))
    with pytest.raises(Conflict, match="No item is accepted yet"):
        there.release("v0", study_id=there.study_id)
    there.labelled((1,), "lantern")
    assert there.states() == {"disputed": 2, "accepted": 1}
    for dispute in disputes(there.db, there.admin, there.study_id):
        names = ("correctness", "completeness", "overall")
        decisions = [UnitDecision(name, "pair", 1, "so it is") for name in names]
        adjudicate(there.db, there.admin, dispute.study_item_id, uid=str(dispute.study_item_id), decisions=decisions)
    made = there.release("v1", study_id=there.study_id)
    assert (made.states, made.items, made.pairs, made.labels) == ({"accepted": 3}, 3, 3, 9)
    whole = there.release("v2")
    assert (whole.pairs, whole.labels, whole.items) == (made.pairs, made.labels, made.items)
    with there.db.read() as session:
        assert len(session.exec(select(ReleasePair)).all()) == 2 * made.pairs
        assert {row.how for row in session.exec(select(ReleasePairLabel))} == {"adjudicated", "unanimous"}
    end_item(there.db, there.admin, there.project_id, external_id=HARBOUR, state="rejected", reason="x")
    assert there.states()["rejected"] == 2


def test_items_that_two_studies_of_pairs_have_are_released_once(duel: Duel) -> None:
    first = duel.study_id
    duel.study_id = duel.make("harbour", "lantern", items=(HARBOUR, LANTERN), name="second")
    duel.labelled((0, 1))
    made = duel.release("v1")
    assert (made.items, made.pairs, made.labels) == (2, 2, 6)
    with duel.db.read() as session:
        assert {row.study_id for row in session.exec(select(ReleasePair))} == {first, duel.study_id}


@pytest.mark.parametrize("ended", [(), (HARBOUR,), (HARBOUR, LANTERN)])
def test_a_pair_is_released_whether_or_not_its_items_were_accepted_by_hand(duel: Duel, ended: tuple[str, ...]) -> None:
    for item in ended:
        end_item(duel.db, duel.admin, duel.project_id, external_id=item, state="accepted", reason="looked at")
    made = duel.release("v1")
    assert (made.items, made.pairs, made.labels) == (2, 1, 3)


def test_two_releases_of_pairs_are_compared_exported_and_derived_again(duel: Duel, tmp_path: Path) -> None:
    first = duel.release("v1")
    assert (first.items, first.pairs, first.labels) == (2, 1, 3)
    assert duel.release("again").sha256 == first.sha256
    duel.revise(LANTERN)
    with pytest.raises(Conflict, match="No item is accepted"):
        duel.release("between")
    duel.send()
    duel.labelled((2, 3))
    second = duel.release("v2", study_id=duel.study_id)
    assert second.sha256 != first.sha256
    about = (duel.db, duel.admin, duel.project_id)
    found = compare_releases(*about, first="v1", second="v2").to_json()
    assert (found["in_both"], found["pairs_in_both"], found["pairs_added"], found["pairs_removed"]) == (2, 1, [], [])
    assert found["changed"] == [{"item": LANTERN, "from": 1, "to": 2, "fields": ["answer"]}]
    for name in ("v1", "v2"):
        folder = tmp_path / name
        export_project(*about, to=folder, release=name, formats=["native", "adjudicated"])
        rows = list(csv.DictReader(io.StringIO((folder / "adjudicated.csv").read_text())))
        version = "1" if name == "v1" else "2"
        assert {(row["item"], row["other_item"], row["other_version"], row["other_label_version"]) for row in rows} == {
            (*sorted((HARBOUR, LANTERN)), version, version)
        }
        assert len((folder / "native/items.jsonl").read_bytes().splitlines()) == 2
        assert [row["name"] for row in orjson.loads((folder / "manifest.json").read_bytes())["studies"]] == ["duel"]
        assert verify_against(duel.db, duel.admin, folder).ok


def test_pairs_that_came_and_went_and_labels_that_are_others_are_told_apart(database: Database, tmp_path: Path) -> None:
    there = Duel(database, tmp_path, "harbour", "lantern", "quay")
    there.labelled((0, 1))
    there.release("v1")
    end_item(there.db, there.admin, there.project_id, external_id=QUAY, state="rejected", reason="x")
    there.release("v2")
    about = (there.db, there.admin, there.project_id)
    found = compare_releases(*about, first="v1", second="v2")
    assert (len(found.removed_pairs), found.pairs_in_both, found.labels, len(found.removed)) == (2, 1, [], 1)
    back = compare_releases(*about, first="v2", second="v1").to_json()
    assert {row["study"] for row in back["pairs_added"]} == {"duel"} and len(back["pairs_added"]) == 2
