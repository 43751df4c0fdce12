"""`assay study …` and `status`: studies, and how far they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from annotators.figures import count
from annotators.moments import moment
from app.cli.base import (
    AsJson,
    DryRun,
    ProjectName,
    Resamples,
    Seed,
    StudyName,
    check_names,
    command,
    follows,
    group,
    opened,
    option,
    project_id_of,
    study_id_of,
)
from app.cli.output import emit, needs_in_words, table
from app.cli.protocols import protocol_named
from app.wording import state as in_words

if TYPE_CHECKING:
    from annotators.designing.design import StudyDesign
    from annotators.protocols import Protocol
    from app.cli.base import Here
    from db.designing.drafts import DraftOfStudy
    from db.studies.design import StudyMade, StudyPlan

study = group("study", "Studies: create, start, amend, gold, qualify, recheck, arms.")


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(study)
    command(app, "status", "assay --home ./assay-home status finance verification --json")(status)


@command(
    study,
    "create",
    "assay --home ./assay-home study create finance verification --protocol qa_verification "
    "--annotators ada,ben,chloe --overlap 3 --sample 20 --per system --seed 7",
    "assay --home ./assay-home study create finance tone --protocol tone.yaml --annotators ada,ben --overlap 2",
    "assay --home ./assay-home study create finance tone2 --protocol tone_check@2 --annotators ada,ben --overlap 2",
)
def create(
    context: typer.Context,
    *,
    project: ProjectName,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new study.", show_default=False)],
    design_file: Annotated[
        Path | None,
        option("FILE.yaml", "A design: all that the options say, in a file; then it is the only one.", "--design"),
    ] = None,
    protocol: Annotated[
        str | None,
        option(
            "P[@V]|FILE.yaml",
            "One of `assay protocols --project PROJECT`, a certain version of one, or a protocol file.",
        ),
    ] = None,
    annotators: Annotated[str | None, option("A,B,C", "Names of the annotators, with commas between.")] = None,
    overlap: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="Annotations an item is to have.  [default: the protocol's]", show_default=False
        ),
    ] = None,
    outside: Annotated[
        int, typer.Option(metavar="N", help="So many more come by invitation (`assay study invite`).")
    ] = 0,
    queue: Annotated[
        str,
        typer.Option(metavar="HOW", help="Who gets which item: dynamic (who comes first), or balanced (allotted)."),
    ] = "dynamic",
    quota: Annotated[
        str | None, option("N|A=N,B=N", "So many items at most for each annotator, or for some by name.")
    ] = None,
    part: Annotated[
        float | None, option("SHARE", "So many of the items, as 0.1, have --part-overlap annotations instead.")
    ] = None,
    part_overlap: Annotated[int | None, option("K", "Annotations of the items of the --part.")] = None,
    one_rater: Annotated[
        bool,
        typer.Option(
            "--one-rater",
            help="One annotator an item, three for a drawn tenth: --overlap 1 --part 0.1 --part-overlap 3.",
        ),
    ] = False,
    most_overlap: Annotated[
        int | None, option("K", "Give an item to one more while its annotators disagree, up to so many.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Items to sample (of each stratum, with --per).  [default: all]", show_default=False
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Sample per system, category, anything in the metadata, or several with commas between.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the order.")] = 0,
    order: Annotated[
        str,
        typer.Option(
            help="Order of the items: shuffled, own (an order for each annotator), given (that of --items, else as "
            "imported), by_question, by_system, by_category or by_score."
        ),
    ] = "shuffled",
    order_score: Annotated[
        str | None, option("NAME", "The score that --order by_score goes by; the draw's probabilities are kept.")
    ] = None,
    order_first: Annotated[
        str | None, option("WHICH", "Which scores come first as a rule: high, low, or uncertain (the middle).")
    ] = None,
    rule: Annotated[str, typer.Option(help="What settles an item: unanimous or majority.")] = "unanimous",
    adjudication: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="Who decides what is disputed: single, or double (two, blind to each other, and a third).",
        ),
    ] = "single",
    talk: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What annotators talk about once all have labelled it: never, disputed, or all (norming).",
        ),
    ] = "never",
    review_agreed: Annotated[
        float,
        typer.Option(metavar="SHARE", help="The share of agreed items that adjudicators decide as well, such as 0.1."),
    ] = 0,
    stop_at: Annotated[
        float | None,
        typer.Option(metavar="W", help="The study may end when a mean is known to ±W at every look, such as 0.05."),
    ] = None,
    show_names: Annotated[bool, typer.Option("--show-names", help="Adjudicators see who gave which label.")] = False,
    allow_own_adjudication: Annotated[
        bool,
        typer.Option("--allow-own-adjudication", help="Adjudicators may decide items that they annotated themselves."),
    ] = False,
    own_figures: Annotated[
        str,
        typer.Option(metavar="WHAT", help="What annotators see of their own figures: none, progress, quality or gold."),
    ] = "progress",
    separate_revisers: Annotated[
        bool,
        typer.Option("--separate-revisers", help="Nobody revises an item that they judged, decided or revised before."),
    ] = False,
    lease_minutes: Annotated[
        int | None,
        typer.Option(
            help="Minutes an item is kept for an annotator.  [default: lease_minutes of `assay doctor`]",
            show_default=False,
        ),
    ] = None,
    show_score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCORER", help="Scores that a study about scores is about; repeatable.", show_default=False
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=VALUE",
            help="Only items of which this holds: system=harbour, role=gold, 'score:rouge_l>=0.5'; repeatable.",
            show_default=False,
        ),
    ] = None,
    items: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Only these items: ids, one a line, or a CSV with a column item.", show_default=False
        ),
    ] = None,
    one_per_question: Annotated[
        bool | None,
        typer.Option(
            "--one-per-question/--every-item",
            help="One item of each question, drawn by the seed.  [default: where only the question is shown]",
            show_default=False,
        ),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="The systems whose answers are judged against each other, for a protocol about pairs.",
            show_default=False,
        ),
    ] = None,
    suggestions: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="When models' suggestions are shown: before, after or never.  [default: before, where the protocol "
            "shows suggestions, else never]",
            show_default=False,
        ),
    ] = None,
    suggested_by: Annotated[
        str | None,
        option("JUDGE", "Suggest the labels of this judge, in place of what comes with the items."),
    ] = None,
    ask: Annotated[
        list[str] | None,
        option(
            "WHAT",
            "Asked beside each label: confidence, or same (of 10 others how many will say the same); repeatable.",
        ),
    ] = None,
    deadline: Annotated[
        str | None, option("TIME", "Nobody gets items after it: 2026-12-24, or 2026-12-24T18:00 (local).")
    ] = None,
    gold_file: Annotated[
        Path | None, option("FILE.csv", "Gold items: their right labels, as `assay study gold` takes them.", "--gold")
    ] = None,
    gold_rate: Annotated[
        float | None, option("SHARE", "Share of gold items in what annotators are given.  [default: 0.1 with --gold]")
    ] = None,
    repeat_rate: Annotated[float | None, option("SHARE", "Share of items that come to somebody again.")] = None,
    qualification: Annotated[
        Path | None,
        option("FILE.csv", "Items to qualify with: right labels, as `assay study qualify` takes them."),
    ] = None,
    with_documents: Annotated[
        bool, typer.Option("--with-documents", help="Only items with a document that can be looked at.")
    ] = False,
    keep_lacking: Annotated[
        bool,
        typer.Option(
            "--keep-lacking", help="Also items that lack what they are judged by, such as a reference answer."
        ),
    ] = False,
    drawn: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The items that `assay advice --draw N --json` has drawn.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be made, and which items are left out, without making it.")
    ] = False,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Freeze nothing until `assay study start`; given again, it is changed."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create a study: freeze a protocol and a sample of items, and open a slot for each annotation."""
    if drawn is not None and (sample is not None or per is not None or items is not None or where):
        raise typer.BadParameter(
            "What is drawn is the sample. Leave --sample, --per, --items and --where out.", param_hint="--drawn"
        )
    if one_rater:
        if overlap is not None or part is not None or part_overlap is not None:
            raise typer.BadParameter(
                "It says how many annotators an item has. Leave --overlap, --part and --part-overlap out.",
                param_hint="--one-rater",
            )
        from annotators.designing.design import ONE_RATER

        overlap, part, part_overlap = ONE_RATER
    if design_file is not None:
        if given := _options_given(context):
            raise typer.BadParameter(f"The file says it all. Leave {', '.join(given)} out.", param_hint="--design")
    elif protocol is None or (annotators is None and not outside):
        missing = "--protocol" if protocol is None else "--annotators"
        raise typer.BadParameter(f"Missing option '{missing}' (or --design FILE.yaml).", param_hint=missing)
    wanted = _Wanted(dry_run, draft, as_json)
    with opened(context) as here:
        project_id = project_id_of(here, project)
        if design_file is not None:
            _create_from_file(here, project_id, design_file, name, wanted=wanted)
            return
        from annotators.designing.files import design_of
        from exports.importing.decisions import with_labels

        chosen = protocol_named(protocol or "", here, project_id)
        named = {"items": _listed(items)} if items is not None else {}
        design = design_of(
            name=name,
            annotators=_names(annotators),
            outside=outside,
            queue=queue,
            **_quotas(quota, none=False),
            overlap=overlap,
            part=part,
            part_overlap=part_overlap,
            most_overlap=most_overlap,
            sample=sample,
            per=per,
            seed=seed,
            order=order,
            order_score=order_score,
            order_first=order_first,
            rule=rule,
            adjudication=adjudication,
            review_agreed=review_agreed,
            stop_at=stop_at,
            talk=talk,
            show_names=show_names,
            allow_own_adjudication=allow_own_adjudication,
            own_figures=own_figures,
            separate_revisers=separate_revisers,
            lease_minutes=here.settings.lease_minutes if lease_minutes is None else lease_minutes,
            show_scores=tuple(show_score or ()),
            suggestions=suggestions,
            suggested_by=suggested_by,
            ask=tuple(ask or ()),
            deadline=None if deadline is None else moment(deadline, until=True),
            where=tuple(where or ()),
            one_per_question=one_per_question,
            with_documents=with_documents,
            keep_lacking=keep_lacking,
            pairs=_names(pairs),
            **_known(gold_file, gold_rate, repeat_rate, qualification),
            **(_drawn(drawn) if drawn is not None else named),
        )
        _create(here, project_id, chosen, with_labels(design, Path()), wanted=wanted)


def _known(
    gold: Path | None, gold_rate: float | None, repeat_rate: float | None, qualification: Path | None
) -> dict[str, Any]:
    """The fields of a design that options say of items with known labels, and of those that come again."""
    from annotators.designing.known import Gold, Qualification, Repeats

    found: dict[str, Any] = {}
    if gold is not None or gold_rate is not None:
        rate = {} if gold_rate is None else {"rate": gold_rate}
        found["gold"] = Gold(file=None if gold is None else str(gold), **rate)
    if repeat_rate is not None:
        found["repeats"] = Repeats(rate=repeat_rate)
    if qualification is not None:
        found["qualification"] = Qualification(file=str(qualification))
    return found


def _quotas(given: str | None, *, none: bool = True) -> dict[str, Any]:
    """`quota` and `quotas` as an option says them: `50`, or `ada=50,ben=30`; perhaps `none` for a number."""
    found: dict[str, Any] = {"quota": None, "quotas": {}}
    for part in _names(given):
        name, named, number = part.rpartition("=")
        if not (none and number == "none") and not number.isdecimal():
            raise typer.BadParameter(f"{part!r} is no quota. Write 50, or ada=50,ben=30.", param_hint="--quota")
        quota = None if number == "none" else int(number)
        if named:
            found["quotas"][name.strip()] = quota
        else:
            found["quota"] = quota
    return found


class _Wanted(NamedTuple):
    """Whether a study is only to be planned, or kept as a draft, and how that is told."""

    dry_run: bool
    draft: bool
    as_json: bool


def _options_given(context: typer.Context) -> list[str]:
    """The options of the command line that say something of the design."""
    apart = {"project", "name", "design_file", "dry_run", "draft", "as_json"}
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in apart
        and parameter.name is not None
        and (source := context.get_parameter_source(parameter.name)) is not None
        and source.name == "COMMANDLINE"
    ]


def _create_from_file(here: Here, project_id: int, path: Path, name: str, *, wanted: _Wanted) -> None:
    """Make the study that a design file describes; what is wrong with it is told with the lines of the file."""
    from annotators.designing.design import about
    from annotators.designing.files import design_from_yaml
    from annotators.errors import Conflict, InvalidInput, NotFound
    from exports.importing.decisions import with_labels

    if not path.is_file():
        raise NotFound(f"There is no design file {str(path)!r}. Check the path.")
    read = design_from_yaml(path.read_text(encoding="utf-8", errors="replace"), path.name)
    design = read.design.model_copy(update={"name": name})
    if "lease_minutes" not in design.model_fields_set:
        design = design.model_copy(update={"lease_minutes": here.settings.lease_minutes})
    try:
        with about("protocol"):
            of_file = design.protocol.lower().endswith((".yaml", ".yml"))
            beside = str(path.parent / design.protocol) if of_file else design.protocol
            chosen = read.protocol or protocol_named(beside, here, project_id)
        design = with_labels(design, path.parent)
        _create(here, project_id, chosen, design, wanted=wanted)
    except (InvalidInput, NotFound, Conflict) as error:
        if all(problem.path in ((), ("name",)) for problem in error.problems):
            raise  # about the name that was given with the command
        raise read.refused(error) from None


def _create(here: Here, project_id: int, chosen: Protocol, design: StudyDesign, *, wanted: _Wanted) -> None:
    """Make the study, keep it as a draft, or say what would be made."""
    from db.designing.drafts import save_draft
    from db.designing.making import create_study, plan_study

    about: dict[str, Any] = {"project_id": project_id, "protocol": chosen, "design": design}
    document: dict[str, Any] = {"study": design.name}
    made: StudyMade | StudyPlan
    if wanted.dry_run:
        made = plan_study(here.db, here.actor, **about)
        begun = f"Would create study {design.name}"
        document |= {"dry_run": True, "order": design.order}
    elif wanted.draft:
        made = save_draft(here.db, here.actor, **about)
        begun = f"Kept the draft {design.name}, which nobody gets items of until `assay study start`"
        document["state"] = "draft"
    else:
        created = made = create_study(here.db, here.actor, **about)
        begun = f"Created study {design.name}"
        document["id"] = created.study_id
    _emit_made(document, made, begun, chosen, as_json=wanted.as_json)


def _emit_made(
    document: dict[str, Any], made: StudyMade | StudyPlan, begun: str, protocol: Protocol, *, as_json: bool
) -> None:
    from annotators.items.sampling import ORDERS

    document |= {
        "protocol": protocol.name,
        "items": made.n_items,
        "slots": made.n_slots,
        "protocol_hash": protocol.digest(),
        "sample_hash": made.sample_hash,
        "left_out": made.left_out,
        "left_out_by": made.reasons,
        **({"suggestions": made.suggestions} if made.suggestions != "never" else {}),
        "notes": list(made.notes),
    }
    if made.arms:
        document["arms"] = [
            {"arm": arm.name, "id": arm.study_id, "items": arm.n_items, "slots": arm.n_slots} for arm in made.arms
        ]
        begun += f" in {count(len(made.arms), 'arm')} ({', '.join(arm.name for arm in made.arms)})"
    size = f"{count(made.n_items, protocol.noun)}, {count(made.n_slots, 'slot')}"
    order = [f"{ORDERS[document['order']]}."] if "order" in document else []
    emit(document, "\n".join([f"{begun}: {protocol.title}, {size}.", *order, *made.notes]), as_json=as_json)


def _listed(path: Path) -> tuple[str, ...]:
    """The ids of items that a file lists."""
    from annotators.errors import NotFound
    from exports.reading.item_lists import listed_items

    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    return listed_items(path)


def _drawn(path: Path) -> dict[str, Any]:
    """The fields of a design that a draw says: its items and their probabilities; InvalidInput for no such file."""
    from annotators.errors import InvalidInput, NotFound

    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        chances = {str(item["item"]): float(item["probability"]) for item in found["drawn"]}
        others, seed = tuple(str(item) for item in found["not_drawn_from"]), int(found["seed"])
    except (ValueError, KeyError, TypeError, RecursionError):
        chances, others, seed = {}, (), 0
    if not chances or not all(0 < chance <= 1 for chance in chances.values()):
        raise InvalidInput(f"{path.name} holds no draw. Make one with `assay advice … --draw N --json`.")
    return {"items": tuple(chances), "drawn_with": chances, "not_drawn_from": others, "draw_seed": seed}


@command(study, "list", "assay --home ./assay-home study list finance")
def list_all(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List a project's studies, and how far each is."""
    from db.designing.drafts import drafts_of
    from db.studies.design import list_studies

    with opened(context) as here:
        project_id = project_id_of(here, project)
        rows = list_studies(here.db, here.actor, project_id)
        document: list[dict[str, Any]] = [
            {
                "study": row.name,
                "id": row.study_id,
                "state": row.state,
                "protocol": row.protocol,
                "items": row.n_items,
                "overlap": row.overlap,
                "slots": row.slots,
                "submitted": row.submitted,
                "disputed": row.disputed,
            }
            for row in rows
        ]
        document += [
            {"study": draft.design.name, "id": None, "state": "draft", "protocol": draft.protocol.title}
            for draft in drafts_of(here.db, here.actor, project_id)
        ]
        headers = ("study", "state", "protocol", "items", "overlap", "slots", "submitted", "disputed")
        lines = ([row.get(name) for name in headers] for row in document)
        emit(document, lambda: table(headers, lines), as_json=as_json)


@command(study, "show", "assay --home ./assay-home study show finance verification --json")
def show(context: typer.Context, project: ProjectName, study: StudyName, as_json: AsJson = False) -> None:
    """Show a study's state, its design, and its amendments with their reasons."""
    from annotators.designing.files import design_data
    from db.annotating.amendments import amendments_of
    from db.designing.arms import arms_of
    from db.designing.drafts import find_draft
    from db.designing.written import written_design
    from db.quality.omissions import omissions_of
    from db.studies.design import study_facts

    with opened(context) as here:
        draft = find_draft(here.db, here.actor, project_id_of(here, project), name=study)
        if draft is not None:
            _show_draft(draft, as_json=as_json)
            return
        study_id = study_id_of(here, project, study)
        facts = study_facts(here.db, here.actor, study_id)
        amendments = [row.to_json() for row in amendments_of(here.db, here.actor, study_id)]
        found = written_design(here.db, here.actor, study_id)
        design = design_data(found.design, found.protocol, whole=True)
        hashes = {"protocol": facts.protocol_hash, "sample": facts.sample_hash}
        about = {"study": facts.name, "state": facts.state, "items": facts.n_items}
        arms = [row.to_json() for row in arms_of(here.db, here.actor, study_id)]
        left_out = [row.to_json() for row in omissions_of(here.db, here.actor, study_id)]
        document = {**about, "design": design, "amendments": amendments, "left_out": left_out, "hashes": hashes}
        document |= {"arms": arms} if arms else {}

        def words() -> str:
            lines = [f"{facts.name}: {facts.state}"]
            lines += _design_in_words(design)
            if arms:
                lines.append(f"  arms, with {arms[0]['allot']} dealt out: {', '.join(arm['study'] for arm in arms)}")
            lines += [f"  SHA-256 of {name}: {digest}" for name, digest in hashes.items()]
            headers = ("at", "by", "what", "before", "after", "reason")
            rows = [[_plain(row[name]) for name in headers] for row in amendments]
            lines += ["", table(headers, rows) if rows else "No amendments."]
            if left_out:
                about_labels = ("at", "by", "annotator", "from", "reason")
                lines += ["", table(about_labels, [[_plain(row[name]) for name in about_labels] for row in left_out])]
            return "\n".join(lines)

        emit(document, words, as_json=as_json)


def _show_draft(draft: DraftOfStudy, *, as_json: bool) -> None:
    from annotators.designing.files import design_data

    named = draft.design.model_copy(update={"protocol": draft.protocol.name})
    design = design_data(named, draft.protocol, whole=True)
    hashes = {"protocol": draft.protocol.digest()}
    about: dict[str, Any] = {
        "study": draft.design.name,
        "state": "draft",
        "items": None,
        "design": design,
        "amendments": [],
    }
    lines = [f"{draft.design.name}: draft"]
    lines += _design_in_words(design)
    emit({**about, "amendments": [], "left_out": [], "hashes": hashes}, "\n".join(lines), as_json=as_json)


def _design_in_words(design: dict[str, Any]) -> list[str]:
    from annotators.designing.files import said_of

    return [f"  {name.replace('_', ' ')}: {said_of(name, value)}" for name, value in design.items() if _said(value)]


def _said(value: object) -> bool:
    """Whether a design says something by this value: in words what was not asked for is left out."""
    return value is not None and value is not False and value != []


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_plain(part)}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


Why = Annotated[str, option("TEXT", "Why; it is kept, and a study's exports say it.")]


def _set_state(context: typer.Context, project: str, study: str, state: str, *, reason: str, as_json: bool) -> None:
    from db.annotating.amendments import set_state
    from db.models import StudyState

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        changed = set_state(here.db, here.actor, study_id, state=StudyState(state), reason=reason)
        words = f"Study {study} is {state}" + ("." if changed else " already; nothing was changed.")
        emit({"study": study, "state": state, "changed": changed}, words, as_json=as_json)


@command(study, "start", 'assay --home ./assay-home study start finance verification --reason "new guidelines"')
def start(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    reason: Annotated[str | None, option("TEXT", "Why it is started again; a draft needs none.")] = None,
    as_json: AsJson = False,
) -> None:
    """Freeze a draft into a study, or give out items again in a study that is paused or closed."""
    from db.designing.drafts import find_draft, start_draft

    with opened(context) as here:
        project_id = project_id_of(here, project)
        draft = find_draft(here.db, here.actor, project_id, name=study)
        if draft is not None:
            made = start_draft(here.db, here.actor, project_id, name=study)
            document = {"study": study, "state": "running", "changed": True, "id": made.study_id}
            _emit_made(document, made, f"Started study {study}", draft.protocol, as_json=as_json)
            return
        study_id_of(here, project, study)
    if reason is None:
        raise typer.BadParameter("Missing option '--reason': the study has been started before.", param_hint="--reason")
    _set_state(context, project, study, "running", reason=reason, as_json=as_json)


@command(study, "delete", "assay --home ./assay-home study delete finance pilot2")
def delete(context: typer.Context, project: ProjectName, study: StudyName, as_json: AsJson = False) -> None:
    """Delete a draft; a study that was started stays, and can be closed."""
    from db.designing.drafts import delete_draft

    with opened(context) as here:
        delete_draft(here.db, here.actor, project_id_of(here, project), name=study)
        emit({"study": study, "deleted": True}, f"Deleted the draft {study}.", as_json=as_json)


@command(study, "pause", 'assay --home ./assay-home study pause finance verification --reason "the guidelines change"')
def pause(
    context: typer.Context, *, project: ProjectName, study: StudyName, reason: Why, as_json: AsJson = False
) -> None:
    """Give out no items for now; annotators read the reason, and what they still submit counts."""
    _set_state(context, project, study, "paused", reason=reason, as_json=as_json)


@command(study, "close", 'assay --home ./assay-home study close finance verification --reason "enough labels"')
def close(
    context: typer.Context, *, project: ProjectName, study: StudyName, reason: Why, as_json: AsJson = False
) -> None:
    """End the labelling: what is still submitted is surplus; adjudication goes on."""
    _set_state(context, project, study, "closed", reason=reason, as_json=as_json)


Names = option("A,B", "Names of annotators, with commas between.")


@command(
    study,
    "amend",
    'assay --home ./assay-home study amend finance verification --overlap 3 --add dana --reason "too few agree"',
    'assay --home ./assay-home study amend finance verification --remove ben --overlap 2 --reason "Ben has left"',
    'assay --home ./assay-home study amend finance verification --quota 60 --reason "more is left than we thought"',
)
def amend(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    reason: Why,
    overlap: Annotated[int | None, option("K", "Annotations wanted of each item from now on.")] = None,
    add: Annotated[str | None, Names] = None,
    remove: Annotated[str | None, Names] = None,
    deadline: Annotated[
        str | None, option("TIME", "Nobody gets items after it: 2026-12-24, 2026-12-24T18:00 (local), or none.")
    ] = None,
    hand_on: Annotated[
        str | None, option("A,B", "Give the open items that are allotted to these people to the others.")
    ] = None,
    quota: Annotated[
        str | None, option("N|A=N,B=none", "So many items at most for each annotator, or for some by name, or none.")
    ] = None,
    own_figures: Annotated[
        str | None, option("WHAT", "What annotators see of their own figures: none, progress, quality or gold.")
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Change the annotators, the overlap, the deadline or the quotas of a study that is under way."""
    from db.annotating.amendments import StudyChange, amend_study

    change = StudyChange(
        overlap=overlap,
        add=_names(add),
        remove=_names(remove),
        deadline=None if deadline in (None, "none") else moment(deadline, until=True),
        no_deadline=deadline == "none",
        hand_on=_names(hand_on),
        no_quota="none" in _names(quota),
        own_figures=own_figures,
        **_quotas(quota),
    )
    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        if dry_run:
            from db.releasing.consequences import if_amended

            follows(if_amended(here.db, here.actor, study_id, change=change), as_json=as_json)
            return
        changes = amend_study(here.db, here.actor, study_id, change=change, reason=reason)
        emit({"study": study, "changes": changes}, f"Study {study}: {'; '.join(changes)}.", as_json=as_json)


def _names(given: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


@command(
    study,
    "gold",
    "assay --home ./assay-home study gold finance verification gold.csv --rate 0.1",
    "assay --home ./assay-home study gold finance verification --from pilot --repeat-rate 0.05 --below pause",
)
def gold(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.csv",
            help="Right labels: columns item, criterion, value, and perhaps target, explanation, other_item.",
            show_default=False,
        ),
    ] = None,
    settled_in: Annotated[
        str | None, typer.Option("--from", metavar="STUDY", help="Take what another study has settled as gold.")
    ] = None,
    rate: Annotated[
        float | None, option("SHARE", "Share of gold items in what annotators are given.  [default: 0.1 at first]")
    ] = None,
    repeat_rate: Annotated[float | None, option("SHARE", "Share of items that come to somebody again.")] = None,
    repeat_after: Annotated[int | None, option("N", "Items at least between an item and its repeat.")] = None,
    mark: Annotated[float | None, option("SHARE", "Share of right gold labels that is asked for.")] = None,
    mark_after: Annotated[int | None, option("N", "Gold items before the mark counts.")] = None,
    below: Annotated[str | None, option("WHAT", "Below the mark: warn, pause or stop.")] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")] = "gold items and repeats",
    as_json: AsJson = False,
) -> None:
    """Put gold items with known labels, and repeats, among what annotators are given, unannounced."""
    from exports.importing.decisions import import_gold

    given = {
        "gold_rate": rate,
        "repeat_rate": repeat_rate,
        "repeat_after": repeat_after,
        "mark": mark,
        "mark_after": mark_after,
        "below": below,
    }
    rates = {name: value for name, value in given.items() if value is not None}
    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        other = None if settled_in is None else study_id_of(here, project, settled_in)
        done = import_gold(here.db, here.actor, study_id, path=file, settled_in=other, rates=rates, reason=reason)
        planting = done.planting
        words = (
            f"Study {study}: {count(done.added, 'gold item')} added ({count(done.labels, 'label')}), "
            f"{done.items:,} in all. Gold items come in at {planting.gold_rate:g}, repeats at "
            f"{planting.repeat_rate:g}; below {planting.mark:g} of right labels: {planting.below}."
        )
        emit({"study": study, **done.to_json()}, words, as_json=as_json)


@command(
    study,
    "qualify",
    "assay --home ./assay-home study qualify finance verification qualification.csv --mark 0.8 --tries 2",
    "assay --home ./assay-home study qualify sample grading --sample",
)
def qualify(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE.csv",
            help="Right labels: columns item, criterion, value, and perhaps target, explanation, other_item.",
            show_default=False,
        ),
    ] = None,
    mark: Annotated[
        float | None, option("SHARE", "Share of right labels with which one passes.  [default: 0.8 at first]")
    ] = None,
    tries: Annotated[int | None, option("N", "How often one may try.  [default: 2 at first]")] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="The items that the sample project has for the study's protocol.")
    ] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")] = "qualification",
    as_json: AsJson = False,
) -> None:
    """Ask annotators to qualify first: items with right labels, an answer to each, a mark and tries."""
    from exports.importing.decisions import import_qualification

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        done = import_qualification(
            here.db, here.actor, study_id, path=file, mark=mark, tries=tries, reason=reason, sample=sample
        )
        asked = done.qualifying
        words = (
            f"Study {study}: {count(done.added, 'qualification item')} added ({count(done.labels, 'label')}), "
            f"{asked.items:,} in all. One passes with {asked.mark:g} of the labels right, in at most "
            f"{count(asked.tries, 'try', 'tries')}."
        )
        emit({"study": study, **done.to_json()}, words, as_json=as_json)


@command(
    study,
    "recheck",
    "assay --home ./assay-home study recheck finance verification --dry-run",
    'assay --home ./assay-home study recheck finance verification --reason "answers were rewritten" --json',
)
def recheck(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    items: Annotated[str | None, option("ID,ID", "Only these items.  [default: all that can come back]")] = None,
    overlap: Annotated[
        int | None, typer.Option(metavar="K", help="How many are asked again.  [default: the study's overlap]")
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; it is kept.")] = "revised",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what fell, and send nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask again what fell with revisions, of the later versions, from annotators who know no earlier one."""
    from db.releasing.recheck import send_to_recheck, to_recheck

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        if dry_run:
            found = to_recheck(here.db, here.actor, study_id)
        else:
            names = _names(items)
            found = send_to_recheck(here.db, here.actor, study_id, items=names, overlap=overlap, reason=reason)
        rows = [row.to_json() for row in found]
        pair = ("other_item", "other_from", "other_to") if any("other_item" in row for row in rows) else ()
        headers = ("item", "from", "to", *pair, "criteria", "fresh", "waits")

        def words() -> str:
            if not rows:
                return "No label of the study fell with a revision and waits to be asked again."
            lines = ([_plain(row[name]) for name in headers] for row in rows)
            said = f"{'Fell with revisions' if dry_run else 'Sent back'}: {count(len(rows), 'item')}."
            return f"{said}\n{table(headers, lines)}"

        emit({"study": study, "items": rows}, words, as_json=as_json)


@command(study, "arms", 'assay --home ./assay-home study arms finance "tone / a" --json')
def arms(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Set a study beside its other arms: the share of each label, agreement, and the differences with intervals."""
    from annotators.errors import Conflict
    from db.designing.arms import arms_of
    from db.studies.ratings import ratings
    from exports.agreement.arms import ABOUT, beside

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        listed = arms_of(here.db, here.actor, study_id)
        if not listed:
            raise Conflict(f"Study {study!r} has no arms. Name `arms` in a design to make some.")
        mine = ratings(here.db, here.actor, study_id)
        found = [
            row
            for other in listed
            if other.study_id != study_id
            for row in beside(
                mine,
                ratings(here.db, here.actor, other.study_id),
                (study, other.study),
                resamples=resamples,
                seed=seed,
            )
        ]
        document = {
            "study": study,
            "arms": [row.to_json() for row in listed],
            "criteria": [row.to_json() for row in found],
        }

        def words() -> str:
            tables = [row.table() for row in found if row.labels]
            shown = [f"{made.caption}\n{table(made.columns, made.rows)}" for made in tables]
            shown += [f"{row.title} in {' and '.join(row.names)}: {row.reason}." for row in found if row.reason]
            return "\n\n".join([*shown, ABOUT] if tables else shown)

        emit(document, words, as_json=as_json)


def status(context: typer.Context, project: ProjectName, study: StudyName, as_json: AsJson = False) -> None:
    """Show how far a study, its annotators and its items are."""
    check_names(context, project, study)
    from db.adjudicating.threads import what_waits
    from db.annotating.status import study_status
    from db.needs.of_studies import needs_of
    from db.releasing.counts import study_stages

    with opened(context) as here:
        study_id = study_id_of(here, project, study)
        found = study_status(here.db, here.actor, study_id) | study_stages(here.db, here.actor, study_id).to_json()
        found["waiting"] = what_waits(here.db, here.actor, study_id)
        found["needs_researcher"] = [need.to_json() for need in needs_of(here.db, here.actor, study_id)]
        emit(found, lambda: _status_in_words(found), as_json=as_json)


def _status_in_words(found: dict[str, Any]) -> str:
    states = ", ".join(f"{n:,} {state}" for state, n in found["states"].items() if n) or "no assignments"
    noun = "pair" if found["pairs"] else "item"
    headers = ["annotator", "submitted", "open", "skipped", "surplus", "seconds_per_item", "guidelines_read"]
    if any(annotator["phase"] for annotator in found["annotators"]):
        headers.append("phase")
    rows = ([annotator[name] for name in headers] for annotator in found["annotators"])
    return "\n".join(
        [
            f"{found['study']} ({found['protocol']}): {count(found['items'], noun)}, "
            + ("finished" if found["finished"] else "not finished")
            + ("" if found["state"] == "running" else f", {found['state']}")
            + (f", deadline {found['deadline']}" if found["deadline"] else ""),
            f"assignments: {states}; {count(found['disputed'], f'disputed {noun}')}",
            *(
                [f"{count(n, 'annotation')} of people who are not in the study"]
                if (n := found["made_elsewhere"])
                else []
            ),
            *([f"{count(n, noun)} that nobody of the team can annotate any more"] if (n := found["stuck"]) else []),
            *([f"{count(n, noun)} to be resolved together"] if (n := found["waiting"]["together"]) else []),
            f"{noun}s: {_stages(found['item_states'])}",
            "",
            table([name.replace("_", " ").replace("item", noun) for name in headers], rows, decimals=1),
            *needs_in_words(found["needs_researcher"]),
        ]
    )


def _stages(states: dict[str, int]) -> str:
    return ", ".join(f"{n:,} {in_words(state)}" for state, n in states.items() if n) or "none that ends"
