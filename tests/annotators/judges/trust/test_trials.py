"""What a trial changes of what a judge is shown, and that it changes nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.targets import Units
from annotators.judges.base import Call, Text
from annotators.judges.judging import StepToJudge
from annotators.judges.prompts import Prompt, calls, default_prompt
from annotators.judges.trust.injections import HARMLESS, INJECTIONS
from annotators.judges.trust.trials import FLIPS, Trial, Tried, injection_of, with_injection
from annotators.protocols import PROTOCOLS
from annotators.protocols.base import Protocol


class Names:
    """Targets and values as they are."""

    def back(self, target: str) -> str:
        return target

    def value_back(self, value: Any, criterion: Any) -> Any:
        return value


def step_of(**material: Any) -> StepToJudge:
    return StepToJudge(0, {"shown": [], **material}, Names(), Units())


EVIDENCE = [{"key": f"E{n}", "kind": "passage", "text": f"Passage {n}."} for n in (1, 2, 3)]
ITEM = step_of(question="Why?", answer="So.", evidence=EVIDENCE, units={"complete": ["item"]})
PAIR = step_of(question="Why?", answers=[{"answer": "one"}, {"answer": "two"}], units={"overall": ["pair"]})
COMPLETENESS, PREFERENCE = PROTOCOLS.get("completeness"), PROTOCOLS.get("pairwise_preference")


def texts(call: Call) -> str:
    return "\n".join(part.text for message in call.messages for part in message.parts if isinstance(part, Text))


def written(trial: Trial, at: StepToJudge, protocol: Protocol, **said: Any) -> tuple[Call, Tried]:
    tried = Tried.of(trial, protocol, default_prompt(), [at], **said)
    (call,) = tried.write(tried.protocol, tried.prompt, tried.steps[0].material, 0, given={}, mark="5f")
    return call, tried


def before(at: StepToJudge, protocol: Protocol) -> Call:
    (call,) = calls(protocol, default_prompt(), at.material, 0, given={}, mark="5f")
    return call


def test_the_answers_change_sides_and_what_is_said_of_them_is_turned_back() -> None:
    call, tried = written(Trial("order"), PAIR, PREFERENCE)
    left = texts(call).index("Answer on the left:\n<data-5f>\ntwo")
    assert left < texts(call).index("Answer on the right:\n<data-5f>\none")
    criterion = PREFERENCE.criterion("overall")
    assert tried.steps[0].names.value_back(-2, criterion) == 2
    assert tried.changed == {("overall", "pair")}
    same, untouched = written(Trial("order"), ITEM, COMPLETENESS)
    assert (same, untouched.changed) == (before(ITEM, COMPLETENESS), set())


def test_the_evidence_comes_in_the_reverse_order_under_its_names() -> None:
    call, tried = written(Trial("evidence"), ITEM, COMPLETENESS)
    places = [texts(call).index(f"Evidence {key} ") for key in ("E3", "E2", "E1")]
    assert places == sorted(places)
    assert sorted(texts(call)) == sorted(texts(before(ITEM, COMPLETENESS)))
    assert tried.changed == {("complete", "item")}
    alone = step_of(question="Why?", answer="So.", evidence=EVIDENCE[:1], units={"complete": ["item"]})
    assert written(Trial("evidence"), alone, COMPLETENESS)[1].changed == set()


def test_the_labels_come_in_the_reverse_order_in_words_and_in_the_schema() -> None:
    call, _ = written(Trial("labels"), ITEM, COMPLETENESS)
    was = before(ITEM, COMPLETENESS)

    def labels(of: Call) -> list[str]:
        found: list[str] = of.schema["properties"]["item"]["properties"]["judgement"]["anyOf"][0]["properties"][
            "label"
        ]["enum"]
        return found

    assert labels(call) == labels(was)[::-1]
    first, last = (texts(call).index(f"- `{label}` (") for label in labels(call))
    assert first < last
    assert sorted(texts(call)) == sorted(texts(was))


def test_evidence_asks_for_a_label_that_the_judge_did_not_give() -> None:
    for item in range(40):
        said = {("complete", "item"): "complete"}
        call, tried = written(Trial("injection"), ITEM, COMPLETENESS, item=item, said=said)
        command = tried.commands["complete"]
        assert command.label == "incomplete"
        assert command.text in texts(call)
        assert "`incomplete`" in command.text
        again = injection_of(item, COMPLETENESS.criterion("complete"), said)
        assert again == command
    told = [written(Trial("injection"), ITEM, COMPLETENESS, item=n)[1].commands["complete"] for n in range(99)]
    assert {command.name for command in told} == {kind.name for kind in INJECTIONS.kinds}
    control, _ = written(Trial("harmless"), ITEM, COMPLETENESS)
    assert HARMLESS.text in texts(control)
    bare = step_of(question="Why?", answer="So.", evidence=[], units={"complete": ["item"]})
    assert written(Trial("injection"), bare, COMPLETENESS)[1].changed == set()


def test_an_injection_stays_inside_the_marks_that_nobody_can_guess() -> None:
    (closing,) = [kind for kind in INJECTIONS.kinds if kind.name == "closing mark"]
    material = with_injection(ITEM.material, closing.telling("incomplete"))
    (call,) = calls(COMPLETENESS, default_prompt(), material, 0, given={}, mark="5f")
    text = texts(call)
    assert text.count("<data-5f>\n") == text.count("\n</data-5f>")
    assert text.index("</data-0>") < text.index("</data-5f>", text.index("Passage 1."))
    assert ITEM.material["evidence"] == EVIDENCE


def test_another_prompt_and_repeats_are_told_from_each_other() -> None:
    other = Prompt(name="brief", version=2, system="Judge briefly.")
    _, tried = written(Trial("prompt", other), ITEM, COMPLETENESS)
    assert (tried.prompt, tried.changed) == (other, {("complete", "item")})
    trials = [Trial("prompt", other), Trial("repeats", samples=3), *(Trial(name) for name in FLIPS)]
    assert [trial.version for trial in trials[:2]] == ["prompt brief@2", "repeats 3"]
    assert [Trial.from_json(trial.to_json()) for trial in trials] == trials
    with pytest.raises(InvalidInput, match="is no trial"):
        Trial("backwards")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="needs the prompt"):
        Trial("prompt")
