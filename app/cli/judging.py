"""`assay judge`: language models as raters."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.errors import Interrupted
from annotators.figures import money
from app.cli.base import (
    AsJson,
    Here,
    ProjectName,
    SomeStudy,
    command,
    one_of,
    opened,
    option,
    project_id_of,
    study_id_of,
)
from app.cli.output import emit, say_aside, table

if TYPE_CHECKING:
    from annotators.judges.prompts import Prompt
    from annotators.protocols import Protocol
    from db.judging.planning import JudgePlan

# What every command that asks a judge's server takes.
Per = Annotated[str | None, option("F", "Draw --sample of each: system, category, or system,category.")]
Budget = Annotated[str | None, option("LIMIT", "The most that is spent: 5usd, 2e6tokens or 500requests.")]
Concurrency = Annotated[int, typer.Option(min=1, max=256, help="Requests at once.")]
Rate = Annotated[float | None, option("N", "At most so many tokens a minute.")]
ContextLength = Annotated[
    int | None, option("N", "How many tokens the model takes in; longer requests are not sent.", "--context")
]
Timeout = Annotated[float, typer.Option(min=1, help="Seconds that a reply may take.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say how many requests, tokens and how much money; send nothing.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Send the data to the server without asking.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "judge",
        "assay --home ./assay-home judge finance verification --model some-model --base-url http://127.0.0.1:8000/v1",
        "assay --home ./assay-home judge finance --protocol ambiguity --model some-model "
        "--base-url https://api.example.org/v1 --dry-run",
        "assay --home ./assay-home judge finance --protocol answer_grading --name graded --model some-model "
        "--base-url http://127.0.0.1:8000/v1",
        "assay --home ./assay-home judge finance verification --model some-model --base-url "
        "https://api.example.org/v1 --budget 5usd --yes --json",
    )(judge)


def judge(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    model: Annotated[str, option("M", "Name of the model, as its server knows it.")],
    base_url: Annotated[str, option("URL", "Base URL of the server; it often ends in /v1.")],
    study: SomeStudy = None,
    protocol: Annotated[
        str | None, option("NAME", "What is judged: NAME, NAME@VERSION or a file.  [default: the study's]")
    ] = None,
    name: Annotated[
        str | None,
        option("NAME", "What the study that is made for --protocol is called.  [default: PROTOCOL by judges]"),
    ] = None,
    prompt: Annotated[
        str | None, option("NAME", "The prompt: NAME, NAME@VERSION or a file.  [default: what the protocol says]")
    ] = None,
    sample: Annotated[int | None, option("N", "Judge only so many items, drawn by the seed.")] = None,
    per: Per = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw, and of the model.")] = 0,
    samples: Annotated[int, typer.Option(min=1, max=100, metavar="K", help="Replies to each request.")] = 1,
    budget: Budget = None,
    concurrency: Concurrency = 4,
    rate: Rate = None,
    length: ContextLength = None,
    most: Annotated[int, typer.Option(min=16, help="Most tokens of a reply.", metavar="N")] = 1024,
    pictures: Annotated[
        int, typer.Option(min=0, max=64, help="Most pictures of a request; 0 for a model without eyes.")
    ] = 8,
    structured: Annotated[
        str,
        typer.Option(
            metavar="HOW", help="What holds replies to their form: auto, schema (the server), prompt (words)."
        ),
    ] = "auto",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Ask the server how likely each label was (log-probabilities).")
    ] = False,
    timeout: Timeout = 120.0,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Have a language model judge a study's items as a rater.

    It fills in the protocol's criteria, is kept as a rater of kind model, and gets what annotators get, step by
    step. Without a STUDY one without annotators is made for --protocol, called as --name says: results, scores and
    exports find it by that name. The key comes from ASSAY_JUDGE_KEY (for
    OpenAI's own server also from OPENAI_API_KEY); prices are in prices.toml in the home folder. The work is a job:
    killed, it goes on where it stopped and pays nothing twice. A second run adds nothing.
    """
    from annotators.judges.budget import read_limit, read_prices
    from annotators.judges.client import STRUCTURED, plain_address
    from app.cli.protocols import protocol_named
    from app.cli.working import carried_out
    from app.worker.kinds.judge import JUDGE
    from db.judging.judges import JudgeSettings
    from db.judging.planning import plan_judging
    from db.judging.run import Sample

    if budget is not None:
        read_limit(budget)
    server = plain_address(base_url)
    one_of(structured, STRUCTURED, "--structured")
    with opened(context) as here:
        project_id = project_id_of(here, project)
        settings = JudgeSettings(
            model=model,
            server=server,
            prompt=_prompt(prompt, here, project_id),
            samples=samples,
            seed=seed,
            most=most,
            pictures=pictures,
            structured=structured,
            probabilities=probabilities,
        )
        wanted = None if protocol is None else protocol_named(protocol, here, project_id)
        study_id = _study(here, project_id, project, study, wanted, name)
        price = read_prices(here.settings.prices_file).get(model)
        if budget is not None:
            check_price(budget, model, here, known=price is not None)
        plan = plan_judging(
            here.db, here.actor, study_id,
            judge=settings, protocol=wanted, sample=Sample(sample, per, seed), price=price, context=length,
        )  # fmt: skip
        if dry_run:
            emit(plan.to_json(), lambda: planned(plan), as_json=as_json)
            return
        confirm(plan, settings.server, yes=yes)
        given: dict[str, Any] = {"study_id": study_id, "judge": settings.to_json(), "seed": seed}
        more = {
            "sample": sample, "per": per, "budget": budget, "tokens_a_minute": rate, "context": length,
            "concurrency": concurrency, "seconds": timeout,
        }  # fmt: skip
        given |= {name: value for name, value in more.items() if value is not None}
        allowed = replace(here.settings, judge_servers=settings.server)
        found = carried_out(here, project_id, JUDGE, given, settings=allowed)
        emit(found, lambda: _in_words(found), as_json=as_json)
        end(found)


def _prompt(given: str | None, here: Here, project_id: int) -> Prompt:
    """The prompt of a file, or of this name: the project's own or built in."""
    from annotators.judges.prompts import default_prompt, judging
    from app.cli.prompts import prompt_named

    return default_prompt() if given is None else judging(prompt_named(given, here, project_id))


def _study(  # noqa: PLR0917 - the command's options
    here: Here, project_id: int, project: str, study: str | None, protocol: Protocol | None, name: str | None
) -> int:
    """The study that is judged: the one that is named, or the one of judges for the protocol."""
    from db.judging.planning import study_for_judges

    if study is not None:
        if name is not None:
            raise typer.BadParameter(
                f"{study!r} has a name already. Leave --name out, or the STUDY to have one made.", param_hint="--name"
            )
        return study_id_of(here, project, study)
    if protocol is None:
        raise typer.BadParameter("Name a STUDY, or a protocol for a study of judges.", param_hint="--protocol")
    return study_for_judges(here.db, here.actor, project_id, protocol=protocol, called=name)


def check_price(budget: str, model: str, here: Here, *, known: bool) -> None:
    """BadParameter for a budget in money where the model has no price."""
    from annotators.judges.budget import read_limit

    if read_limit(budget).unit == "usd" and not known:
        raise typer.BadParameter(
            f"{here.settings.prices_file} has no price of {model!r}. Enter it there (docs/judges.md), or give the "
            "budget in tokens or requests.",
            param_hint="--budget",
        )


def confirm(plan: JudgePlan, server: str, *, yes: bool) -> None:
    """Say what leaves this machine, and go on only when somebody agrees."""
    leaves = plan.leaves(server)
    if leaves is None:
        return
    if yes:
        say_aside(f"{leaves}.")
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter(f"{leaves}. Say that they may with --yes.", param_hint="--yes")
    if not typer.confirm(f"{leaves}. Go on?", err=True):
        raise typer.Abort


def planned(plan: JudgePlan) -> str:
    """What a run would have, and its first request, in words."""
    rows = [
        ["items", f"{plan.items:,}"],
        ["requests", f"{plan.requests:,}"],
        ["tokens sent, about", f"{plan.tokens_in:,}"],
        ["tokens received, about", f"{plan.tokens_out:,}"],
        ["tokens, at most", f"{plan.most_tokens:,}"],
        ["cost, about", money(plan.cost)],
        ["leaves this machine", ", ".join(plan.shows) or "nothing"],
    ]
    return table(["a run would have", ""], rows) + f"\n\nThe first request:\n\n{plan.first_prompt}"


def end(found: Mapping[str, Any]) -> None:
    """Leave with the exit code of what was interrupted, where it was."""
    if found["stopped"] == "cancelled":
        raise typer.Exit(Interrupted.exit_code)


def _in_words(found: dict[str, Any]) -> str:
    rows = [
        ["judge", found["judge"]],
        ["items", f"{found['items']:,}"],
        ["labels", f"{found['labels']:,}"],
        ["cannot judge", f"{found['cannot_judge']:,}"],
        *[[f"unscored: {one['reason']}", f"{one['n']:,}"] for one in found["unscored"]],
        ["requests", f"{found['requests']:,} ({found['cached']:,} more known, {found['retries']:,} tried again)"],
        ["tokens", f"{found['tokens']['in']:,} sent, {found['tokens']['out']:,} received"],
        ["cost", money(found["cost"])],
    ]
    if found["left"]:
        rows.append(["items still to be done", f"{found['left']:,}: give the command again"])
    if found["stopped"]:
        rows.append(["stopped", f"{found['stopped']}: what was paid for is kept"])
    return table([f"run {found['run'] or '–'}", found["protocol"]], rows)
