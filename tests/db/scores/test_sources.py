"""Whose labels scorers take: people's, the final ones, a judge's, and each side of an equation from its own source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import AssayError, Conflict, InvalidInput, NotFound
from annotators.protocols import PROTOCOLS
from db.engine import Database
from db.judging.planning import study_for_judges
from db.judging.said import stream_said
from db.models import Account, Run, Study
from db.scores.label_states import labels_state_now
from db.scores.labels import labels_for_scorer
from db.scores.summaries import list_scorers_in, unscored_reasons
from db.scores.write import plan_scoring, run_scorer
from exports.alignment.scores import scores_of
from tests.db.scores.judged import CANNOT, Left, judge_says
from tests.db.scores.test_labels import Place, record, verdict

GPT = "gpt plain@1"


def four_claims(item: str) -> dict[str, Any]:
    """Four claims, of the reference two, an image and a passage; a judge's verdicts came with it."""
    claims = [{"key": f"c{number}", "text": f"Claim {number}."} for number in range(1, 5)]
    gold = [{"key": f"g{number}", "text": f"Gold {number}.", "of": "reference"} for number in (1, 2)]
    evidence = [
        {"key": "i", "kind": "figure", "document": "d.pdf", "pages": [1], "rank": 1},
        {"key": "t", "kind": "passage", "text": "A passage.", "document": "d.pdf", "pages": [2], "rank": 2},
    ]
    came = [verdict("c1", "e1", "contradiction", "older")]
    return record(item, claims=[*claims, *gold], evidence=evidence, verdicts=came)


def grid(**labels: str) -> dict[tuple[str, str], Any]:
    """`c1i="entailment"`; every other claim and unit is neutral."""
    found: dict[tuple[str, str], Any] = {
        ("verdict", f"claim:c{claim}|evidence:{unit}"): "neutral" for claim in range(1, 5) for unit in "it"
    }
    return found | {("verdict", f"claim:{at[:2]}|evidence:{at[2:]}"): label for at, label in labels.items()}


PEOPLE = grid(c1i="entailment", c2t="contradiction", c4t="entailment")
JUDGE = grid(c1i="entailment", c2i="entailment", c1t="entailment", c3t="entailment")


def by_people(place: Place, study: str, protocol: str, **items: Mapping[tuple[str, str], Any]) -> int:
    rows = [(item, "ada", *unit, label) for item, said in items.items() for unit, label in said.items()]
    return place.study(study, protocol, *rows)


@pytest.fixture
def place(sqlite_database: Database, tmp_path: Path) -> Place:
    return Place(sqlite_database, tmp_path, four_claims("a"), four_claims("b"))


def scored(place: Place, scorer: str, *studies: str, by: tuple[str, ...] = (), **parameters: Any) -> dict[str, Any]:
    complete, _ = plan_scoring(
        place.db, place.researcher, place.project_id,
        scorer=scorer, parameters=parameters or None, labels_of=studies, labels_by=by,
    )  # fmt: skip
    run_scorer(place.db, place.researcher, place.project_id, scorer=scorer, parameters=complete)
    return complete


def values(place: Place, *names: str, item: str = "a") -> dict[str, float | None]:
    return {name: place.scores(name)[item][0] for name in names}


# One study, people and a judge ----------------------------------------------------------------------------------------

BY_HAND = {
    # L: c1 entailment, c2 contradiction, c3 neutral, c4 entailment. s(img): c1, c2. s(txt): c1, c3.
    "hallucination_rate": 1 / 4,
    "faithfulness": 2 / 4,
    "contradiction_rate": 1 / 4,
    "self_knowledge": 1 / 2,  # c4 of c1 and c4
    "context_precision": 2 / 2,
    "cr_img": 1 / 2,
    "cr_txt": 1 / 2,
    "cp_img": 2 / 3,
    "cma": 1 / 3,
    "v_hr": 1 / 2,  # c2 of c2 and c3
    "d_hr": 1 / 2,  # c3 of c2 and c3
}


def test_each_side_of_the_equations_has_its_own_source(place: Place) -> None:
    study = by_people(place, "claims", "claim_verification", a=PEOPLE, b=PEOPLE)
    assert judge_says(place.db, study, "gpt", {"a": JUDGE, "b": JUDGE}) == GPT
    complete = scored(place, "claim_metrics", "claims", by=("L=settled", f"s={GPT}"))
    assert complete["labels_by"] == ["L=settled", f"s={GPT}"]
    assert (complete["labels_from"], complete["support_from"]) == ("adjudicated", GPT)
    assert values(place, *BY_HAND) == pytest.approx(BY_HAND)
    # The other way round: L has c1, c2, c3 entailed and c4 neutral; people support c1 by the image, c4 by the passage.
    scored(place, "claim_metrics", "claims", by=(f"L={GPT}, s=people",))
    turned = {"faithfulness": 3 / 4, "self_knowledge": 2 / 3, "v_hr": 0.0, "d_hr": 1.0, "cr_img": 1 / 3}
    assert values(place, *turned) == pytest.approx(turned)


def test_a_judge_alone_is_one_source_and_what_came_with_the_items_does_not_count(place: Place) -> None:
    study = by_people(place, "claims", "claim_verification", a=PEOPLE)
    judge_says(place.db, study, "gpt", {"a": JUDGE})
    scored(place, "claim_metrics", "claims", by=(GPT,))
    assert values(place, "faithfulness", "contradiction_rate") == {"faithfulness": 0.75, "contradiction_rate": 0.0}
    assert place.scores("self_knowledge")["a"] == (
        None, "same source: labels and support from the same verdicts make it degenerate",
    )  # fmt: skip
    assert place.scores("faithfulness")["b"] == (None, f"{GPT} has not judged it in claims")


def test_runs_of_several_sources_stand_beside_each_other_and_say_whose_they_are(place: Place) -> None:
    study = by_people(place, "claims", "claim_verification", a=PEOPLE)
    judge_says(place.db, study, "gpt", {"a": JUDGE})
    runs = [scored(place, "claim_metrics", "claims", by=by) for by in ((), ("people",), (GPT,))]
    in_use = list_scorers_in(place.db, place.researcher, place.project_id)
    assert sorted(str(used.parameters.get("labels_by")) for used in in_use) == ["None", f"['{GPT}']", "['people']"]
    assert all(used.newest for used in in_use)
    with place.db.read() as session:
        names = {
            metric.name.partition("labels_by=")[2].partition(",")[0]
            for metric in scores_of(session, session.get_one(Study, study), ())
        }
    assert names == {"", "people", GPT}
    for run in runs:
        now = labels_state_now(
            place.db, place.researcher, place.project_id, scorer="claim_metrics", parameters=run
        )  # fmt: skip
        assert now == run["labels_state"]


# Studies of their own -------------------------------------------------------------------------------------------------


def test_a_study_in_which_only_a_judge_has_labelled_gives_its_labels_without_a_name(place: Place) -> None:
    by_people(place, "claims", "claim_verification", a=PEOPLE)
    by_judges(place, "graded", "gpt")
    assert scored(place, "claim_metrics", "graded")["labels_by"] == [GPT]
    assert values(place, "faithfulness") == {"faithfulness": 0.75}
    both = scored(place, "claim_metrics", "claims", "graded")
    assert both["labels_by"] == ["L=settled", f"s={GPT}"]
    assert values(place, *BY_HAND) == pytest.approx(BY_HAND)
    assert scored(place, "claim_metrics", "claims", "graded", by=("L=settled,s=graded",)) == both
    offered = labels_for_scorer(place.db, place.researcher, place.project_id, scorer="claim_metrics")
    assert [(one.study, one.by) for one in offered] == [("claims", ("settled", "people")), ("graded", (GPT,))]


def by_judges(place: Place, called: str, *models: str) -> None:
    """A study of judges over the whole project, in which these have judged item a."""
    study = study_for_judges(
        place.db, place.researcher, place.project_id, protocol=PROTOCOLS.get("claim_verification"), called=called
    )
    for model in models:
        judge_says(place.db, study, model, {"a": JUDGE})


def test_each_criterion_from_its_own_source(place: Place) -> None:
    correctness = {("correctness", f"claim:c{n}|reference"): "entailment" if n < 4 else "neutral" for n in range(1, 5)}
    recalled = {("recalled", "claim:g1|answer"): "in_answer", ("recalled", "claim:g2|answer"): "not_in_answer"}
    right = by_people(place, "right", "claim_correctness", a=correctness)
    recall = by_people(place, "recall", "claim_recall", a=recalled)
    judge_says(place.db, recall, "gpt", {"a": dict.fromkeys(recalled, "in_answer")})
    judge_says(place.db, right, "gpt", {"a": dict.fromkeys(correctness, "contradiction")})
    taken = scored(place, "ragchecker", "right", "recall", by=(f"correctness=people,recalled={GPT}",))
    assert taken["labels_by"] == ["correctness=people", f"recalled={GPT}"]
    assert values(place, "ragchecker_precision", "ragchecker_recall") == {
        "ragchecker_precision": 3 / 4, "ragchecker_recall": 1.0,
    }  # fmt: skip
    # By the names of protocols, or studies, it is the same.
    scored(place, "ragchecker", "right", "recall", by=("claim_recall=people", f"right={GPT}"))
    assert values(place, "ragchecker_precision", "ragchecker_recall") == {
        "ragchecker_precision": 0.0, "ragchecker_recall": 0.5,
    }  # fmt: skip
    with place.db.read() as session:
        details = session.connection().exec_driver_sql(
            "SELECT details FROM score WHERE name = 'ragchecker_f1' AND value IS NOT NULL ORDER BY id DESC"
        ).scalar()  # fmt: skip
    assert f"against the answer: people; against the reference: {GPT}" in str(details)


# A judge that judged half ---------------------------------------------------------------------------------------------


def test_what_a_judge_left_open_is_no_half_score_and_says_why(place: Place) -> None:
    study = by_people(place, "claims", "claim_verification", a=PEOPLE, b=PEOPLE)
    half = JUDGE | {
        ("verdict", "claim:c2|evidence:t"): Left("cut off"),  # entailed by the image: it follows
        ("verdict", "claim:c4|evidence:t"): CANNOT,  # neutral by the image: it does not
    }
    judge_says(place.db, study, "gpt", {"a": half, "b": {("verdict", ""): Left("kept here")}})
    scored(place, "claim_metrics", "claims", by=(GPT,))
    assert place.scores("faithfulness") == {
        "a": (None, f"{GPT} gave no verdict on 1 of 4 claims (c4 …)"),
        "b": (None, f"{GPT} left it unscored in claims: kept here"),
    }
    # As the side of support it is none either: what was not looked at supports nothing.
    complete = scored(place, "claim_metrics", "claims", by=(f"L=settled,s={GPT}",))
    assert place.scores("self_knowledge")["a"] == (None, f"{GPT} gave no verdict on 1 of 4 claims (c4 …)")
    found = unscored_reasons(
        place.db, place.researcher, place.project_id, scorer="claim_metrics", parameters=complete
    )  # fmt: skip
    assert found == [(f"{GPT} gave no verdict on 1 of 4 claims (c4 …)", 1), (f"there are no verdicts from {GPT}", 1)]
    with place.db.read() as session:
        person = session.exec(_person(GPT)).one()
        units = {(unit.external_id, unit.criterion, unit.target): unit for unit in stream_said(session, study, person)}
    assert units["a", "claim_label", "claim:c2|context"].value == "entailment"
    assert units["a", "claim_label", "claim:c4|context"].reason == "cannot judge"
    assert (units["b", "verdict", ""].state, units["b", "verdict", ""].reason) == ("open", "kept here")


def _person(name: str) -> Any:
    return select(Account.person_id).where(Account.name == name)


def test_the_pages_that_a_judge_could_not_judge_leave_its_gold_open(sqlite_database: Database, tmp_path: Path) -> None:
    place = Place(sqlite_database, tmp_path)
    about = {("evidence_page", f"page:d.pdf:{page}"): "evidence" if page == 2 else "not_evidence" for page in (1, 2, 3)}
    study = by_people(place, "pages", "evidence_pages", a=about, b=about)
    page = ("evidence_page", "page:d.pdf:3")
    judge_says(place.db, study, "gpt", {"a": about | {page: "evidence"}, "b": about | {page: Left("too long")}})
    scored(place, "recall_at_k", "pages", by=(GPT,))
    assert place.scores("recall_at_k") == {
        "a": (0.5, None),  # pages 2 and 3, of which 2 was retrieved
        "b": (None, "1 of 3 labels of its pages or units of evidence are open (labels of pages: too long)"),
    }


# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "kind", "words"),
    [
        (("gtp",), NotFound, "Nobody called 'gtp' has labels to take in 'claims', 'graded'. Take settled (final "
         "labels), people (votes so far), or a judge: 'gpt plain@1', 'other plain@1'."),
        (("settled", GPT), InvalidInput, "Labels of everything are to be of two sources: settled and gpt plain@1. Give "
         "each side its own, --labels-by L=WHO,s=WHO"),
        (("M=settled",), InvalidInput, "'M' is nothing that labels are taken of. Known: L, claim_label, "),
        (("L=settled,L=people",), InvalidInput, "'L' is given two sources: settled and people."),
        ((), InvalidInput, "'graded' has labels of several judges: 'gpt plain@1', 'other plain@1'. Name one with "),
        (("claims=settled", f"graded={GPT}"), InvalidInput, "Labels of the same are of two sources: settled (verdict "
         "of claims) and gpt plain@1 (verdict of graded)."),
    ],
)  # fmt: skip
def test_sources_that_nobody_is_or_that_contradict_are_refused_and_nothing_is_scored(
    place: Place, by: tuple[str, ...], kind: type[AssayError], words: str
) -> None:
    by_people(place, "claims", "claim_verification", a=PEOPLE)
    by_judges(place, "graded", "gpt", "other")
    before = place.count(Run)
    with pytest.raises(kind) as refused:
        scored(place, "claim_metrics", "claims", "graded", by=by)
    assert words in str(refused.value)
    assert place.count(Run) == before


def test_a_source_without_a_study_and_one_at_odds_with_a_parameter_are_refused(place: Place) -> None:
    study = by_people(place, "claims", "claim_verification", a=PEOPLE)
    judge_says(place.db, study, "gpt", {"a": JUDGE})
    with pytest.raises(InvalidInput, match=r"not of which study\. Name it with --labels-of"):
        scored(place, "claim_metrics", by=(GPT,))
    with pytest.raises(InvalidInput, match=r"labels_from=people is at odds with --labels-by gpt plain@1"):
        scored(place, "claim_metrics", "claims", by=(GPT,), labels_from="people")
    with pytest.raises(InvalidInput, match="'token_f1' takes no labels of studies"):
        scored(place, "token_f1", "claims", by=(GPT,))


def test_nobody_on_a_side_is_said(place: Place) -> None:
    by_judges(place, "graded", "gpt")
    with pytest.raises(NotFound, match=r"No people have labelled 'graded'\. Judges there: 'gpt plain@1'"):
        scored(place, "claim_metrics", "graded", by=(f"L=people,s={GPT}",))


def test_a_study_of_judges_is_called_as_is_wished_and_found_again(place: Place) -> None:
    def made(called: str, protocol: str = "claim_verification") -> int:
        return study_for_judges(
            place.db, place.researcher, place.project_id, protocol=PROTOCOLS.get(protocol), called=called
        )

    by_people(place, "claims", "claim_verification", a=PEOPLE)
    first = made("graded")
    assert (made("graded"), made(" graded ")) == (first, first)
    assert made("another") != first
    before = place.count(Study)
    for called, protocol, words in (
        (
            "claims",
            "claim_verification",
            "'claims' is a study that people label. Name it as the STUDY to have it judged",
        ),
        ("graded", "claim_recall", r"'graded' is judged by claim_verification@1, not by claim_recall@1"),
    ):
        with pytest.raises(Conflict, match=words):
            made(called, protocol)
    with place.db.write() as session:
        session.get_one(Study, first).sample_hash = "of other items"
    with pytest.raises(
        Conflict, match=r"'graded' is about 2 items as they were when it was made; as the project is now, "
    ):
        made("graded")
    assert place.count(Study) == before
