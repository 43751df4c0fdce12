"""Designs as files: what is wrong is told at once and by its line; what is written is read back as the same."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from annotators.asking.protocol_files import protocol_to_yaml
from annotators.criteria.number import Number
from annotators.criteria.text import Text
from annotators.designing.arms import Arm
from annotators.designing.design import StudyDesign
from annotators.designing.files import design_from_yaml, design_to_yaml
from annotators.designing.known import Gold, Qualification, Repeats, RightLabel
from annotators.designing.phases import Phases
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS
from tests.makers import tiny_protocol

FULL = StudyDesign(
    name="second pass",
    protocol="qa_verification@4",
    annotators=("ada", "ben", "chloe", "17"),
    outside=2,
    quota=50,
    quotas={"ben": 30, "17": 20},
    overlap=2,
    part=0.1,
    part_overlap=3,
    most_overlap=4,
    items=("1", "q2:harbour"),
    where=("system=harbour", "score:rouge_l>=0.5"),
    with_documents=True,
    keep_lacking=True,
    one_per_question=False,
    pairs=("harbour", "lantern"),
    sample=20,
    per="system",
    seed=7,
    order="by_question",
    show_scores=("phrase_recall",),
    drawn_with={"1": 0.25},
    not_drawn_from=("q9",),
    draw_seed=3,
    rule="majority",
    suggestions="after",
    suggested_by="some-model plain@1",
    ask=("confidence", "same"),
    lease_minutes=30,
    deadline=datetime(2999, 12, 24, 17, 30, tzinfo=UTC),
    show_names=True,
    allow_own_adjudication=True,
    adjudication="double",
    review_agreed=0.1,
    stop_at=0.05,
    talk="all",
    separate_revisers=True,
    own_figures="quality",
    phases=Phases(
        consent="# You take part",
        before=(Text(name="why", title="Why?", required=False),),
        after=(Number(name="years", title="Years", maximum=60),),
    ),
    gold=Gold(
        file="gold.csv",
        labels=(
            RightLabel(item="g1", criterion="right", value="no", explanation="It says so."),
            RightLabel(item="17", criterion="parts", target="evidence:e1", value=["1", "2"], other_item="g2"),
        ),
        settled_in="pilot",
        rate=0.2,
        below="pause",
    ),
    repeats=Repeats(rate=0.05, after=9),
    qualification=Qualification(labels=(RightLabel(item="q1", criterion="right", value="yes"),), mark=0.5, tries=3),
)


BY_SCORE = StudyDesign(
    protocol="ambiguity", annotators=("ada",), overlap=1, order="by_score", order_score="token_f1", order_first="low"
)
"""What goes with nothing that was drawn before."""

ALLOTTED = StudyDesign(protocol="ambiguity", annotators=("ada", "ben"), overlap=1, queue="balanced")
"""What goes with no quota, and with nobody from outside."""

IN_ARMS = StudyDesign(
    protocol="ambiguity",
    annotators=("ada", "ben"),
    overlap=1,
    arms=(Arm(name="a"), Arm(name="2", protocol="ambiguity@1", overlap=2, ask=("confidence",), order="given")),
    allot="items",
)
"""What goes with no draw, and with no pairs."""


def test_a_design_is_read_back_as_the_same_with_every_field() -> None:
    defaults = StudyDesign()
    unsaid = [
        name
        for name in StudyDesign.model_fields
        if all(getattr(design, name) == getattr(defaults, name) for design in (FULL, BY_SCORE, ALLOTTED, IN_ARMS))
    ]
    assert unsaid == []
    for design in (FULL, BY_SCORE, ALLOTTED, IN_ARMS):
        read = design_from_yaml(design_to_yaml(design))
        assert (read.design, read.protocol) == (design, None)


def test_a_protocol_that_has_no_name_elsewhere_is_written_into_the_file() -> None:
    protocol = tiny_protocol()
    read = design_from_yaml(design_to_yaml(StudyDesign(protocol="tiny", annotators=("ada",)), protocol))
    assert read.protocol is not None
    assert (read.protocol.digest(), read.design.protocol) == (protocol.digest(), "tiny")


def test_everything_that_is_wrong_is_told_at_once_with_its_line() -> None:
    text = """\
protocol: qa_verification
annotators: [ada, ben, ada]
overlap: 4
smaple: 3
order: sideways
lease_minutes: 0
deadline: 2026-13-01
per: "system,"
overlap: 2
"""
    with pytest.raises(InvalidInput) as refused:
        design_from_yaml(text, "d.yaml")
    lines = {problem.line: f"{problem.problem} {problem.remedy}" for problem in refused.value.problems}
    assert set(lines) == {2, 3, 4, 5, 6, 7, 8, 9}
    assert lines[2] == "The annotator 'ada' is named twice. Name each once."
    assert lines[3] == (
        "An overlap of 4 needs as many different annotators; 2 are named. Lower the overlap or name more annotators."
    )
    assert "Did you mean `sample`?" in lines[4]
    assert "Known: shuffled, own, by_question, by_system, by_category, by_score, given." in lines[5]
    assert "'2026-13-01' is no time" in lines[7]
    assert "on line 3 already" in lines[9]
    assert "d.yaml, line 5:" in str(refused.value)


def test_what_is_wrong_in_a_protocol_within_the_file_has_its_line() -> None:
    protocol = protocol_to_yaml(tiny_protocol()).replace("title: Right", "titel: Right")
    text = "annotators: [ada]\noverlap: 2\nprotocol:\n" + "".join(f"  {line}\n" for line in protocol.splitlines())
    with pytest.raises(InvalidInput) as refused:
        design_from_yaml(text)
    place = next(number for number, line in enumerate(text.splitlines(), 1) if "titel" in line)
    assert refused.value.problems[0].line == 2
    assert place in [problem.line for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("annotators: [ada]\n", "`protocol` is missing"),
        ("protocol: x\n", "at least one annotator"),
        ("- a\n", "a design is a list of fields, beginning like `protocol: qa_verification`"),
        ("protocol: x\nannotators: ada\n", "`annotators` should be a list"),
        ("protocol: x\nannotators: [ada]\nsample: 0\n", "A sample of 0 is empty"),
        ("protocol: x\nannotators: [ada]\ndeadline: 2001-01-01\n", "has passed"),
        ("protocol: x\nannotators: [ada]\nsuggestions: often\n", "says not when suggestions are shown"),
        ("protocol: x\nannotators: [ada]\nrule: mean\n", "'mean' is not a rule for settling"),
    ],
)
def test_a_file_that_is_no_design_says_what_to_do(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        design_from_yaml(text)


def test_the_overlap_is_the_protocols_where_nothing_is_said() -> None:
    protocol = PROTOCOLS.get("qa_verification")
    assert StudyDesign().overlap_of(protocol) == protocol.overlap
    assert StudyDesign(overlap=1).overlap_of(protocol) == 1


def test_what_is_wrong_with_gold_repeats_and_qualification_is_told_by_its_line() -> None:
    text = (
        "protocol: qa_verification\nannotators: [ada, ben, chloe]\ngold:\n  rate: 0.7\n  below: shout\n"
        "repeats:\n  after: 0\n  rate: 0.1\nqualification:\n  mark: 1.5\n  tries: 0\n  file: q.csv\n"
    )
    with pytest.raises(InvalidInput) as raised:
        design_from_yaml(text)
    assert [(problem.line, problem.problem) for problem in raised.value.problems] == [
        (3, "Gold items cannot come in at 0.7: no right labels are given."),
        (4, "A rate of 0.7 for gold is none."),
        (5, "'shout' is nothing that can happen below the mark."),
        (7, "0 items before a repeat are too few."),
        (10, "A mark of 1.5 is no share of right labels."),
        (11, "0 tries cannot be."),
    ]


def test_rates_that_are_more_than_half_together_and_fields_that_are_none_are_told() -> None:
    text = (
        "protocol: qa_verification\nannotators: [ada, ben, chloe]\n"
        "gold: {file: gold.csv, rate: 0.4}\nrepeats: {rate: 0.2}\n"
    )
    with pytest.raises(InvalidInput, match=r"line 4: Gold items at 0.4 and repeats at 0.2 are more than half"):
        design_from_yaml(text)
    with pytest.raises(
        InvalidInput, match=r"`mrk` of `gold` is no field. Did you mean `mark`\? Known: file, labels, from"
    ):
        design_from_yaml(text.replace("rate: 0.4", "mrk: 0.4"))
    with pytest.raises(InvalidInput, match=r"line 4: `rate` of `repeats` is missing"):
        design_from_yaml(text.replace("{rate: 0.2}", "{after: 2}"))


def test_questions_that_are_none_are_named_with_their_line() -> None:
    begun = "protocol: factuality\nannotators: [ada]\noverlap: 1\nphases:\n  before:\n"
    for question, said in (
        (
            "{name: a, titel: Age, kind: text}",
            "line 6: `titel` of entry 1 of `before` of `phases` is no field. Did you",
        ),
        ("{name: a, title: A, target: page, labels: [{value: x}, {value: y}]}", "about the person; leave `target` out"),
        ("{name: a, title: A, kind: number, accept: [1]}", "`accept` is about items; leave it out"),
        ("{name: a, title: A, kind: place}", "is about items"),
    ):
        with pytest.raises(InvalidInput) as refused:
            design_from_yaml(f"{begun}    - {question}\n")
        assert said in str(refused.value), str(refused.value)


def test_numbers_that_nobody_could_draw_by_or_see_are_refused_by_their_lines() -> None:
    text = f"""\
protocol: qa_verification
annotators: [ada]
overlap: 1
seed: -1
sample: {2**53}
repeats: {{rate: 0.1, after: {2**53 + 1}}}
"""
    with pytest.raises(InvalidInput) as refused:
        design_from_yaml(text, "d.yaml")
    lines = {problem.line: f"{problem.problem} {problem.remedy}" for problem in refused.value.problems}
    assert lines == {
        4: "Nothing is drawn by a seed of -1. Give 0 or more.",
        5: "9,007,199,254,740,992 has more digits than a browser shows. Give at most 9,007,199,254,740,991.",
        6: "9,007,199,254,740,993 has more digits than a browser shows. Give at most 9,007,199,254,740,991.",
    }
