"""`assay panel` and `assay judge check`: what judges are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.base import (
    AsJson,
    Here,
    Level,
    PeopleNamed,
    ProjectName,
    ReportFile,
    Resamples,
    Seed,
    StudyName,
    check_names,
    command,
    one_of,
    opened,
    option,
    project_id_of,
    study_id_of,
)
from app.cli.judging import (
    Budget,
    Concurrency,
    ContextLength,
    DryRun,
    Per,
    Rate,
    Timeout,
    Yes,
    check_price,
    confirm,
    end,
    planned,
)
from app.cli.output import emit, progress, say_aside, working
from exports.checks import check_report as check_file

if TYPE_CHECKING:
    from annotators.judges.trust.panel import Rule
    from annotators.judges.trust.trials import Trial
    from db.judging.planning import JudgePlan
    from exports.judging.check import CheckReport
    from exports.judging.data import PeopleBy
    from exports.judging.panel import PanelReport

RULES: tuple[Rule, ...] = ("majority", "mean", "dawid_skene")
LABELS: tuple[PeopleBy, ...] = ("majority", "settled")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    command(
        app,
        "judge check",
        'assay --home ./assay-home judge check finance verification --judge "some-model plain@1"',
        'assay --home ./assay-home judge check finance verification --judge "some-model plain@1" --flips --repeats 3 '
        "--sample 100 --dry-run",
        'assay --home ./assay-home judge check finance verification --judge "some-model plain@1" '
        "--labels settled --json",
    )(check)
    command(
        app,
        "panel",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule majority",
        "assay --home ./assay-home panel finance verification --judges A,B,C --rule dawid_skene --json",
    )(panel)


def check(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judge: Annotated[str, option("J", "The judge, by its name as `assay agreement --judges` has it.")],
    labels: Annotated[
        str, typer.Option(metavar="L", help="People's label: that of their majority, or the settled one.")
    ] = "majority",
    epsilon: Annotated[
        float, typer.Option(metavar="E", help="What an annotator's cost is worth in the alternative annotator test.")
    ] = 0.2,
    family: Annotated[
        str | None,
        option("WORD,WORD", "Words in the names of systems of its own family.  [default: the first of its model]"),
    ] = None,
    flips: Annotated[
        bool,
        typer.Option(
            "--flips", help="Ask again with answers, evidence and labels reordered, and with injected evidence."
        ),
    ] = False,
    repeats: Annotated[
        int | None, option("K", "Have K replies to the same calls, with the one that there is.", min=2, max=100)
    ] = None,
    prompts: Annotated[
        str | None,
        option("A,B", "Ask again with these prompts: names, NAME@VERSION or files."),
    ] = None,
    sample: Annotated[int | None, option("N", "Ask about so many judged items, drawn by the seed.", min=1)] = None,
    per: Per = None,
    budget: Budget = None,
    concurrency: Concurrency = 4,
    rate: Rate = None,
    length: ContextLength = None,
    timeout: Timeout = 120.0,
    dry_run: DryRun = False,
    yes: Yes = False,
    names: PeopleNamed = False,
    report: ReportFile = None,
    level: Level = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples behind the intervals, and of the draw.")] = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Say whether a judge may be trusted.

    Agreement as one more rater, the alternative annotator test, confusions, errors by length, family and system,
    flips, calibration, what it saves and costs; each with an interval, or the reason why not. From what is stored; with
    --flips, --repeats or --prompts the judge's server is asked first, as by `assay judge`, and what it says then is no
    label of the study.
    """
    by = one_of(labels, LABELS, "--labels")
    asks = flips or repeats is not None or prompts is not None
    about_asking = {
        "--sample": sample, "--per": per, "--budget": budget, "--rate": rate, "--context": length,
        "--dry-run": dry_run or None, "--yes": yes or None,
    }  # fmt: skip
    for name, given in about_asking.items():
        if given is not None and not asks:
            raise typer.BadParameter("Nothing is asked without --flips, --repeats or --prompts.", param_hint=name)
    check_names(context, project, study)
    if report is not None:
        check_file(report)
    if budget is not None:
        from annotators.judges.budget import read_limit

        read_limit(budget)
    from annotators.intervals.bootstrap import Resampling

    asked = Resampling(resamples, seed, level)
    with opened(context) as here:
        study_id, done = study_id_of(here, project, study), None
        if asks:
            given_limits = {
                "sample": sample, "per": per, "budget": budget, "tokens_a_minute": rate, "context": length,
            }  # fmt: skip
            limits: dict[str, Any] = {name: value for name, value in given_limits.items() if value is not None}
            limits |= {"seed": seed, "concurrency": concurrency, "seconds": timeout}
            project_id = project_id_of(here, project)
            trials = _trials(here, project_id, flips=flips, repeats=repeats, prompts=prompts)
            asking = _Asking(here, project_id, study_id, judge, trials, limits)
            plan, server = asking.plan()
            if dry_run:
                emit(plan.to_json(), lambda: planned(plan), as_json=as_json)
                return
            confirm(plan, server, yes=yes)
            done = asking.done(server)
            if done["stopped"] == "cancelled":
                emit({"asked": done}, lambda: "\n".join(_asked_in_words(done)), as_json=as_json)
                end(done)
        from exports.judging.check import check_report

        with progress("Measuring") as move:
            found = check_report(
                here.db, here.actor, study_id,
                judge=judge, by=by, epsilon=epsilon, family=_names(family or ""), asked=asked, named=names,
                progress=move,
            )  # fmt: skip
    _write(found, report)
    document = found.to_json() | ({} if done is None else {"asked": done})
    emit(document, lambda: _check_in_words(found, done), as_json=as_json)


def _trials(here: Here, project_id: int, *, flips: bool, repeats: int | None, prompts: str | None) -> list[Trial]:
    """What is to be tried: every flip, repeats, and a trial for each other prompt."""
    from annotators.judges.prompts import judging
    from annotators.judges.trust.trials import FLIPS, Trial
    from app.cli.prompts import prompt_named

    named = _names(prompts or "")
    if prompts is not None and not named:
        raise typer.BadParameter("Name prompts: `assay prompts` lists them.", param_hint="--prompts")
    return [
        *(Trial(name) for name in FLIPS if flips),
        *([Trial("repeats", samples=repeats)] if repeats is not None else []),
        *(Trial("prompt", judging(prompt_named(name, here, project_id))) for name in named),
    ]


@dataclass(frozen=True)
class _Asking:
    """A judge of a study that is to be asked once more: with which trials, within which limits."""

    here: Here
    project_id: int
    study_id: int
    judge: str
    trials: Sequence[Trial]
    limits: Mapping[str, Any]

    def plan(self) -> tuple[JudgePlan, str]:
        """What is sent at the most, and to which server."""
        from annotators.judges.budget import read_prices
        from db.judging.judges import find_judge
        from db.judging.run import Sample
        from db.judging.trying import plan_trials

        here, limits = self.here, self.limits
        about: dict[str, Any] = {"sample": Sample(limits.get("sample"), limits.get("per"), limits["seed"])}
        about |= {"judge": self.judge, "trials": self.trials, "context": limits.get("context")}
        plan = plan_trials(here.db, here.actor, self.study_id, **about)  # says what is wrong with the judge's name
        asked = find_judge(here.db, here.actor, self.project_id, name=self.judge)
        price = read_prices(here.settings.prices_file).get(asked.model)
        if limits.get("budget") is not None:
            check_price(limits["budget"], asked.model, here, known=price is not None)
        cost = None if price is None else price.of(plan.tokens_in, plan.tokens_out)
        return replace(plan, cost=cost), asked.server

    def done(self, server: str) -> dict[str, Any]:
        """Have the job done; what it asked, and what that cost."""
        from app.cli.working import carried_out
        from app.worker.kinds.judge_check import JUDGE_CHECK

        trials = [trial.to_json() for trial in self.trials]
        given = {"study_id": self.study_id, "judge": self.judge, "trials": trials, **self.limits}
        allowed = replace(self.here.settings, judge_servers=server)
        return carried_out(self.here, self.project_id, JUDGE_CHECK, given, settings=allowed)


def _names(given: str) -> list[str]:
    """What stands between commas."""
    return [name.strip() for name in given.split(",") if name.strip()]


def _write(found: CheckReport, report: Path | None) -> None:
    """Write the report, where one is wanted."""
    if report is None:
        return
    from exports.drawing.report_files import write_report

    written = write_report(found, report)
    say_aside(f"Report: {', '.join(str(path) for path in written)}")


def _asked_in_words(done: Mapping[str, Any]) -> list[str]:
    cost = "no price known" if done["cost"] is None else f"{done['cost']:,.4f}"
    tried = ", ".join(f"{one['trial']} ({one['items']:,} items)" for one in done["trials"])
    lines = [f"Tried: {tried}. {done['requests']:,} requests, {done['cached']:,} more known; cost: {cost}."]
    if done["left"]:
        lines.append(f"{done['left']:,} items are still to be tried: give the command again.")
    if done["stopped"]:
        lines.append(f"Stopped: {done['stopped']}. What was paid for is kept.")
    return lines


def _check_in_words(found: CheckReport, done: Mapping[str, Any] | None) -> str:
    from exports.drawing.tables import as_text

    lines = []
    if done is not None:
        lines += [*_asked_in_words(done), ""]
    for section in found.sections():
        lines += [f"# {section.title}", ""]
        for table in section.tables:
            lines += [table.caption, as_text(table), ""]
    return "\n".join([*lines, *found.notes, *found.warnings])


def panel(  # noqa: PLR0917 - the command's options
    context: typer.Context,
    project: ProjectName,
    study: StudyName,
    judges: Annotated[str, option("A,B,C", "The judges that are combined, with commas between them.")],
    rule: Annotated[
        str, typer.Option(metavar="R", help="How they are combined: majority, mean or dawid_skene.")
    ] = "majority",
    level: Level = 0.95,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    as_json: AsJson = False,
) -> None:
    """Combine several judges, and hold them against people.

    By majority, by the mean of ordered labels, or by a model of raters that weighs each judge by its confusions. Two
    judges have no majority that says more than either: take the mean, or name a third. The panel is compared with its
    best member, which is chosen on other units than those it is counted on.
    """
    which = one_of(rule, RULES, "--rule")
    check_names(context, project, study)
    from annotators.intervals.bootstrap import Resampling
    from exports.judging.panel import panel_report

    with opened(context) as here, working("Measuring"):
        found = panel_report(
            here.db, here.actor, study_id_of(here, project, study),
            judges=_names(judges), rule=which, asked=Resampling(resamples, seed, level),
        )  # fmt: skip
    emit(found.to_json(), lambda: _panel_in_words(found), as_json=as_json)


def _panel_in_words(found: PanelReport) -> str:
    from exports.drawing.tables import as_text
    from exports.judging.panel import panel_table

    made = panel_table(found)
    return "\n".join([made.caption, as_text(made) if made.rows else "Nothing is combined.", *found.notes])
