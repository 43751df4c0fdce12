"""Running a judge: who is asked, in which words, how much; what leaves the machine and costs is shown before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotators.asking.versioned import VersionedName
from annotators.errors import InvalidInput
from annotators.judges.budget import Price, read_limit, read_prices
from annotators.judges.client import STRUCTURED, models_of
from annotators.judges.prompts import PROMPTS, Prompt, default_prompt
from annotators.protocols import PROTOCOLS, Protocol
from app import ui, wording
from app.pages.judges import sending
from app.state import app_state
from app.widgets import blocks
from app.worker import jobs
from app.worker.kinds.judge import JUDGE, JudgeParameters
from db.jobs import JobRow, job_facts
from db.judging.judges import JudgeSettings, list_judges
from db.judging.library import list_prompts
from db.judging.planning import JudgePlan, plan_judging, study_for_judges
from db.judging.run import Sample
from db.projects import ProjectRow
from db.studies.design import StudyRow, protocol_of, study_facts
from db.studies.library import list_protocols

_SAID = "judges-said"
_PLAN = "judges-plan"
_LISTED_FOR, _LISTS_WITHIN = 300.0, 3.0
"""Seconds for which the list of a server's models is kept, and for which it is waited for."""

_OF_ALL = 0
_PER = {
    "": "the study’s items",
    "system": "each system",
    "category": "each category",
    "system,category": "each system and category",
}
_UNITS = {"usd": "money", "tokens": "tokens", "requests": "requests"}
_HOW = {
    "auto": "schema and words",
    "schema": "the server’s schema alone",
    "prompt": "words alone",
}


_Ends = tuple[int, int | None]


@dataclass(frozen=True)
class _Given:
    """What the form says."""

    judge: JudgeSettings
    sample: Sample
    budget: str | None
    concurrency: int
    rate: float | None
    context: int | None
    seconds: float

    def parameters(self, study_id: int) -> JudgeParameters:
        """The job that does it."""
        return JudgeParameters(
            study_id=study_id,
            judge=self.judge.to_json(),
            sample=self.sample.n,
            per=self.sample.per,
            seed=self.sample.seed,
            budget=self.budget,
            concurrency=self.concurrency,
            tokens_a_minute=self.rate,
            context=self.context,
            seconds=self.seconds,
        )


# Runs that have ended -------------------------------------------------------------------------------------------------


def left_over(job: JobRow) -> bool:
    """Whether a run came to its end with items still to be done."""
    return bool(job.result and (job.result.get("left") or job.result.get("stopped")))


def why_not_done(job: JobRow) -> str:
    """Why a run that has ended has not judged every item, in words; nothing where it has."""
    found = job.result or {}
    if job.state in ("failed", "cancelled"):
        why = job.message or ("It failed." if job.state == "failed" else "It was cancelled.")
        return f"{why}\nWhat was paid for is kept; nothing is asked twice."
    if found.get("stopped") == "budget":
        limit = job.parameters.get("budget")
        return f"It stopped at its budget of {limit}. What was paid for is kept; a further run goes on with the rest."
    if found.get("left"):
        items = wording.count(int(found["left"]), "item")
        return f"{items} could not be judged: the server did not answer. A further run asks for them again."
    return ""


def said() -> None:
    """What starting came to, on the page that opens after it."""
    if words := st.session_state.pop(_SAID, None):
        st.success(ui.plain(words))


# The form -------------------------------------------------------------------------------------------------------------


def draw(project: ProjectRow, studies: Sequence[StudyRow]) -> None:
    """The form, and beside it what the run would send."""
    ui.heading("Run a judge", "It gets what annotators get, step by step, and nothing of what others said.")
    blocks.links(blocks.to("All judges", "judges", project=project.project_id, study=ui.integer_parameter("study")))
    servers = app_state().settings.judges
    if not servers:
        _nobody_to_ask()
        return
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        study = _study(project, studies)
        if study is None:
            return
        given = _form(project, study, servers, _before(project))
    with right:
        if given is None:
            ui.empty("What it would send stands here.", "Name the model first.")
            return
        plan, price = _plan(study, given)
        sending.shown(plan, given.judge.server, price, given.budget)
        _start(project, study, plan, given)


def _nobody_to_ask() -> None:
    ui.empty(
        "No server of judges is allowed here yet.",
        "An administrator lists the base URLs that may be asked, and get the key and the data, in ASSAY_JUDGE_SERVERS, "
        "or as judge_servers in assay.toml in the home folder, and starts the server again:",
    )
    st.code('judge_servers = "http://127.0.0.1:8000/v1, https://api.example.org/v1"', language="toml")
    st.caption(
        "The key comes from ASSAY_JUDGE_KEY in the environment of the server. On the command line `assay judge` asks "
        "any server."
    )


def _before(project: ProjectRow) -> Mapping[str, Any]:
    """The parameters of the run that is to be run again; empty for a new one."""
    job = ui.integer_parameter("run")
    if job is None:
        return {}
    found = job_facts(ui.db(), ui.actor(), project.project_id, job_id=job)
    return found.parameters if found.kind == JUDGE.name else {}


def _study(project: ProjectRow, studies: Sequence[StudyRow]) -> StudyRow | None:
    """The study that is judged; None as long as one of judges alone has to be made first."""
    by_id = {row.study_id: row for row in studies}
    wanted = ui.integer_parameter("study")
    ids = [*by_id, _OF_ALL]
    of = st.selectbox(
        "Judges the items of",
        ids,
        index=ids.index(wanted) if wanted in by_id else max(0, len(by_id) - 1),
        format_func=lambda of: f"{by_id[of].name} ({by_id[of].protocol})" if of else "All items, in a study of judges",
        key=f"judges-run-study-{project.project_id}-{wanted}",
    )
    if of:
        return by_id[of]
    protocol = _protocol(project)
    st.caption("A study without annotators is made of all items that the protocol can be asked of, or found again.")
    called = st.text_input(
        "Called", key="judges-run-called", placeholder=f"{protocol.name} by judges",
        help="Results, scores, alignment and exports find it by this name.",
    )  # fmt: skip
    if st.button("Make the study", type="primary", key="judges-make"):
        with ui.problems():
            made = study_for_judges(
                ui.db(), ui.actor(), project.project_id, protocol=protocol, called=called.strip() or None
            )
            ui.go("judges", run="new", study=made, project=project.project_id)
    return None


def _protocol(project: ProjectRow) -> Protocol:
    own = {
        str(VersionedName(entry.kept.name, entry.kept.version)): entry.kept
        for entry in list_protocols(ui.db(), ui.actor(), project.project_id)
    }
    known = {**own, **{name: PROTOCOLS.get(name) for name in PROTOCOLS.names()}}
    return known[st.selectbox("Protocol", list(known), key="judges-run-protocol")]


def _form(project: ProjectRow, study: StudyRow, servers: Sequence[str], before: Mapping[str, Any]) -> _Given | None:
    """The fields, filled with those of the run `before`; None as long as no model is named."""
    judge: Mapping[str, Any] = before.get("judge", {})
    kept = f"-{ui.integer_parameter('run') or 'new'}-{study.study_id}"
    first, second = st.columns(2)
    server = first.selectbox(
        "Server", servers, index=_place(servers, judge.get("server")), key=f"judges-server{kept}",
        help="Those that the administrator allows (ASSAY_JUDGE_SERVERS).",
    )  # fmt: skip
    listed = _models_of(server)
    models = list(dict.fromkeys([*_models(project, server), *listed]))
    model = second.selectbox(
        "Model", models, index=_place(models, judge.get("model"), None), key=f"judges-model{kept}",
        accept_new_options=True, placeholder="Its name on the server",
        help=(f"The server lists {wording.count(len(listed), 'model')}" if listed else "The server lists no models")
        + "; any other name may be typed.",
    )  # fmt: skip
    prompts = _prompts(project, study, judge)
    first, second = st.columns(2)  # a row each: Tab goes along it, as the eye does
    named = first.selectbox(
        "Prompt", list(prompts), key=f"judges-prompt{kept}",
        help="Those that fit the study’s protocol; the page Prompts has them in full.",
    )  # fmt: skip
    n = second.number_input(
        "Items", 1, None, before.get("sample"), key=f"judges-n{kept}", placeholder="All",
        help="Judge only so many, drawn by the seed; of each stratum, if one is chosen.",
    )  # fmt: skip
    first, second = st.columns(2)
    per = first.selectbox(
        "Drawn of", list(_PER), index=_place(list(_PER), before.get("per") or ""), format_func=lambda per: _PER[per],
        key=f"judges-per{kept}", disabled=n is None,
    )  # fmt: skip
    with second:
        budget = _budget(kept, before.get("budget"))
    with st.expander("More"):
        more = _more(kept, judge, before)
    if not model or not str(model).strip():
        return None
    settings = JudgeSettings(
        model=str(model).strip(), server=server, prompt=prompts[named], samples=more["samples"], seed=more["seed"],
        most=more["most"], pictures=more["pictures"], structured=more["structured"],
        probabilities=more["probabilities"],
    )  # fmt: skip
    return _Given(
        settings, Sample(None if n is None else int(n), (per or None) if n else None, more["seed"]), budget,
        more["concurrency"], more["rate"], more["context"], more["seconds"],
    )  # fmt: skip


def _more(kept: str, judge: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What has a default that most runs keep."""

    def whole(where: DeltaGenerator, label: str, ends: _Ends, value: float | None, about: str) -> int | None:
        name = label.lower().replace(" ", "-")
        given = None if value is None else int(value)
        found = where.number_input(label, *ends, given, step=1, key=f"judges-{name}{kept}", help=about)
        return None if found is None else int(found)

    def some(where: DeltaGenerator, label: str, ends: _Ends, value: float, about: str) -> int:
        return whole(where, label, ends, value, about) or ends[0]

    eyes = "Most of a request; 0 for a model without eyes."
    sure = "Replies to each request; several show how sure it is."
    takes = "Tokens that the model takes in; longer requests are not sent."
    first, second, third = st.columns(3)
    found: dict[str, Any] = {
        "pictures": some(first, "Pictures", (0, 64), judge.get("pictures", 8), eyes),
        "samples": some(second, "Samples", (1, 100), judge.get("samples", 1), sure),
        "seed": some(third, "Seed", (0, None), before.get("seed", 0), "Of the draw, and of the model."),
    }
    first, second, third = st.columns(3)
    found |= {
        "concurrency": some(first, "At once", (1, 256), before.get("concurrency", 4), "Requests under way together."),
        "most": some(second, "Reply tokens", (16, None), judge.get("most", 1024), "Most tokens of a reply."),
        "context": whole(third, "Context", (1, None), before.get("context"), takes),
    }
    first, second, third = st.columns(3)
    found |= {
        "rate": whole(first, "Tokens a minute", (1, None), before.get("tokens_a_minute"), "Empty for no limit."),
        "seconds": float(some(second, "Seconds", (1, None), before.get("seconds", 120), "That a reply may take.")),
        "structured": third.selectbox(
            "Form held by",
            STRUCTURED,
            index=_place(STRUCTURED, judge.get("structured")),
            format_func=_HOW.__getitem__,
            key=f"judges-structured{kept}",
            help="What makes replies keep their form; some servers know no schemas.",
        ),
        "probabilities": third.checkbox(
            "Probabilities",
            bool(judge.get("probabilities")),
            key=f"judges-probabilities{kept}",
            help="Ask the server how likely each label was, which says how sure the judge is; not every server does.",
        ),
    }
    return found


def _place(values: Sequence[Any], wanted: Any, otherwise: int | None = 0) -> Any:
    return values.index(wanted) if wanted in values else otherwise


def _budget(kept: str, before: str | None) -> str | None:
    """The most that is spent, as `assay judge --budget` takes it; None without a limit."""
    limit = None if before is None else read_limit(before)
    left, right = st.columns([1.2, 1], vertical_alignment="bottom")
    amount = left.number_input(
        "Budget", 0.0, None, None if limit is None else limit.amount, format="%g", key=f"judges-budget{kept}",
        placeholder="No limit", help="The run stops before a request that might pass it; what was paid for is kept.",
    )  # fmt: skip
    units = list(_UNITS)
    unit = right.selectbox(
        "in", units, index=_place(units, None if limit is None else limit.unit), format_func=lambda unit: _UNITS[unit],
        key=f"judges-unit{kept}", label_visibility="collapsed",
    )  # fmt: skip
    return None if not amount else f"{amount:g}{unit}"


@st.cache_data(ttl=_LISTED_FOR, max_entries=50, show_spinner="Asking the server for its models …")
def _models_of(server: str) -> list[str]:
    """The models that a server lists, asked every few minutes; nothing of the project is sent."""
    return models_of(server, app_state().settings.key_for(server), seconds=_LISTS_WITHIN)


def _models(project: ProjectRow, server: str) -> list[str]:
    """Models that judged here before, and those that have a price."""
    judges = [row.model for row in list_judges(ui.db(), ui.actor(), project.project_id) if row.server == server]
    return list(dict.fromkeys([*judges, *read_prices(app_state().settings.prices_file)]))


def _prompts(project: ProjectRow, study: StudyRow, judge: Mapping[str, Any]) -> dict[str, Prompt]:
    """The prompts that fit the study's protocol, that of the run before first, else what the protocol alone says."""
    protocol = protocol_of(study_facts(ui.db(), ui.actor(), study.study_id))
    before = [JudgeSettings.from_json(dict(judge)).prompt] if judge else []
    own = [entry.kept for entry in list_prompts(ui.db(), ui.actor(), project.project_id)]
    fit = [
        prompt
        for prompt in (*before, default_prompt(), *own, *PROMPTS)
        if isinstance(prompt, Prompt) and not prompt.faults(protocol)
    ]
    found: dict[str, Prompt] = {}
    for prompt in fit:
        title = f"{prompt.title}, " if prompt.title else ""
        found.setdefault(f"{title}{prompt.name}@{prompt.version}", prompt)
    return found


# What it would send ---------------------------------------------------------------------------------------------------


def _plan(study: StudyRow, given: _Given) -> tuple[JudgePlan, Price | None]:
    """What the run would send, looked at once as long as nothing is changed."""
    settings = app_state().settings
    price = read_prices(settings.prices_file).get(given.judge.model)
    if given.budget is not None and given.budget.endswith("usd") and price is None:
        raise InvalidInput(
            f"{settings.prices_file.name} in the home folder has no price of {given.judge.model!r}. Have it entered "
            "there, or give the budget in tokens or requests."
        )
    key = (study.study_id, repr(given), price)
    known = st.session_state.get(_PLAN)
    if known is None or known[0] != key:
        plan = plan_judging(
            ui.db(), ui.actor(), study.study_id,
            judge=given.judge, sample=given.sample, price=price, context=given.context,
        )  # fmt: skip
        st.session_state[_PLAN] = known = (key, plan)
    return known[1], price


def _start(project: ProjectRow, study: StudyRow, plan: JudgePlan, given: _Given) -> None:
    """The confirmation of what leaves the machine, and the button that starts the run."""
    key = f"judges-confirmed-{hash((study.study_id, repr(given)))}"
    confirmed = sending.confirmed(plan, given.judge.server, key)
    if st.button("Start", type="primary", key="judges-start", disabled=not confirmed):
        with ui.problems():
            jobs.queue(ui.db(), ui.actor(), project.project_id, JUDGE, given.parameters(study.study_id))
            named = f"{given.judge.model} with {given.judge.prompt_name}"
            st.session_state[_SAID] = f"{named} judges {study.name}. The run goes on when this page is closed."
            ui.go("judges", study=study.study_id, project=project.project_id)
