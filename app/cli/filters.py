"""`assay prompt sample`, `checked`, `examples`: people check a judge's decisions, and the next prompt learns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count
from app.cli.base import AsJson, ProjectName, StudyName, command, opened, option, project_id_of, study_id_of
from app.cli.output import emit, table
from app.cli.prompts import prompt

if TYPE_CHECKING:
    from db.judging.decisions import CheckedDecision

JudgeName = Annotated[str, option("J", "The judge, by its name.")]
OneCriterion = Annotated[str | None, option("C", "The criterion.  [default: the first that has one label an item]")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    del app  # they are of the group `prompt`
    command(
        prompt,
        "sample",
        'assay --home ./assay-home prompt sample finance filtered --judge "some-model plain@1" --n 20 '
        "--annotators ada,ben --json",
    )(sample)
    command(
        prompt,
        "checked",
        'assay --home ./assay-home prompt checked finance "filtered, checked" --judge "some-model plain@1" --json',
    )(checked)
    command(
        prompt,
        "examples",
        'assay --home ./assay-home prompt examples finance query_reviewer "filtered, checked" --items q3,q17 --json',
    )(examples)


def sample(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judge: JudgeName,
    annotators: Annotated[str, option("A,B", "Who checks.")],
    n: Annotated[int, typer.Option("--n", min=1, metavar="N", help="Items of each decision.")] = 20,
    criterion: OneCriterion = None,
    name: Annotated[str | None, option("NAME", "Name of the new study.  [default: STUDY, checked]")] = None,
    overlap: Annotated[int | None, option("K", "Annotators an item.  [default: the protocol's]")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Have people check a drawn sample of each decision that a judge made in a study.

    It makes a study by the same protocol. What the judge said is not shown.
    """
    from annotators.designing.files import design_of

    people = tuple(one.strip() for one in annotators.split(",") if one.strip())
    with opened(context) as here:
        from db.judging.decisions import study_of_decisions

        design = design_of(name=name or f"{study}, checked", annotators=people, overlap=overlap)
        study_id = study_id_of(here, project, study)
        drawn = study_of_decisions(
            here.db, here.actor, study_id, judge=judge, criterion=criterion, per=n, seed=seed, design=design
        )
    document = {
        "study": design.name,
        "id": drawn.study.study_id,
        "criterion": drawn.criterion,
        "seed": seed,
        "decisions": [
            {"decision": said, "decided": decided, "drawn": drawn.drawn.get(said, 0)}
            for said, decided in drawn.decided.items()
        ],
    }
    rows = [[said, decided, drawn.drawn.get(said, 0)] for said, decided in drawn.decided.items()]
    words = f"Made the study {design.name!r} of {count(sum(drawn.drawn.values()), 'item')}.\n\n"
    emit(document, lambda: words + table(["decision", "items", "drawn"], rows), as_json=as_json)


def checked(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judge: JudgeName,
    criterion: OneCriterion = None,
    as_json: AsJson = False,
) -> None:
    """How many of each decision of a judge people settled alike, with an interval."""
    with opened(context) as here:
        from db.judging.decisions import checked_decisions

        study_id = study_id_of(here, project, study)
        found = checked_decisions(here.db, here.actor, study_id, judge=judge, criterion=criterion)
    document = {"study": study, "judge": judge, "decisions": [one.to_json() for one in found]}
    emit(document, lambda: _in_words(found), as_json=as_json)


def _in_words(found: list[CheckedDecision]) -> str:
    from annotators.figures import percent

    rows: list[list[Any]] = [
        [
            one.decision, one.decided, one.drawn, one.n, one.right,
            "–" if one.share is None else percent(one.share),
            one.reason or f"{percent(one.low)} to {percent(one.high)}",
        ]
        for one in found
    ]  # fmt: skip
    text = table(["decision", "items", "drawn", "settled", "right", "share right", "95 % interval"], rows)
    wrong = [f"  {item}: {one.decision}, settled as {label}" for one in found for item, label in one.wrong.items()]
    return "\n".join([text, *(["", "Not right:", *wrong] if wrong else [])])


def examples(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    name: Annotated[str, typer.Argument(metavar="PROMPT", help="NAME or NAME@V.", show_default=False)],
    study: StudyName,
    items: Annotated[str, option("ID,ID", "Settled items of the study that become examples.")],
    criterion: OneCriterion = None,
    to: Annotated[
        str | None, option("NAME", "Name of the prompt that gets them.  [default: PROMPT, or my_PROMPT]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the next version of a prompt, with settled items of a study as examples.

    Judges with it are not asked about the questions of these items: `assay judge` leaves them out, and names them.
    """
    wanted = [one.strip() for one in items.split(",") if one.strip()]
    with opened(context) as here:
        from annotators.judges.prompts import PROMPTS, judging
        from app.cli.prompts import prompt_named
        from db.judging.examples import prompt_with_examples
        from db.judging.library import add_prompt, list_prompts

        project_id = project_id_of(here, project)
        before = judging(prompt_named(name, here, project_id))
        own = {entry.kept.name for entry in list_prompts(here.db, here.actor, project_id)}
        built_in = before.name in PROMPTS.names() and before.name not in own
        called = to or (f"my_{before.name}" if built_in else before.name)
        study_id = study_id_of(here, project, study)
        new = prompt_with_examples(
            here.db, here.actor, study_id, prompt=before, criterion=criterion, items=wanted
        ).model_copy(update={"name": called})
        on = before.version if called == before.name else None
        added = add_prompt(here.db, here.actor, project_id, prompt=new, on=on)
    taken = [{"item": one.item, "label": one.label} for one in new.examples if one.item in wanted]
    named = f"{added.kept.name}@{added.kept.version}"
    document = {
        "prompt": added.kept.name,
        "version": added.kept.version,
        "hash": added.hash,
        "examples": taken,
    }
    words = (
        f"Added {named}, with {count(len(taken), 'item')} as examples." if added.new else f"{named} has them already."
    )
    emit(document, words, as_json=as_json)
