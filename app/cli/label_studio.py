"""`assay label-studio`: studies as projects of Label Studio, and their labels back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from annotators.errors import InvalidInput
from annotators.figures import count
from app.cli.base import (
    AsJson,
    Here,
    ProjectName,
    StudyName,
    check_names,
    command,
    group,
    opened,
    option,
    study_id_of,
)
from app.cli.output import as_lines, emit, progress, say_aside, working

if TYPE_CHECKING:
    from exports.label_studio.pull import Pulled
    from exports.label_studio.push import Pushed
    from exports.label_studio.server import Server

label_studio = group("label-studio", "Label Studio: a study as its project, and its labels back.")

_SHOWN = 10

Url = Annotated[str | None, option("URL", "Address of the server, such as https://label-studio.example.org.")]
Private = Annotated[bool, typer.Option("--private", help="Let it be a server on this machine or in a private network.")]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    app.add_typer(label_studio)


@command(
    label_studio,
    "push",
    "assay --home ./assay-home label-studio push finance verification --url https://label-studio.example.org",
    "assay --home ./assay-home label-studio push finance verification --to ./for-label-studio",
)
def push(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    url: Url = None,
    to: Annotated[Path | None, option("DIR", "Write config, tasks and pictures into this folder instead.")] = None,
    labelled: Annotated[
        list[Path] | None,
        option("FILE", "With --to: an export (JSON) of what is labelled so far; later steps are written. Repeatable."),
    ] = None,
    predictions: Annotated[
        bool, typer.Option("--predictions", help="Show the annotators there what other raters and judges said.")
    ] = False,
    names: Annotated[bool, typer.Option("--names", help="With --predictions: under their names.")] = False,
    private: Private = False,
    as_json: AsJson = False,
) -> None:
    """Make a study a project of Label Studio, or bring the project that it has there up to date.

    A task holds what its step shows its annotators, and nothing that the study hides. A step that shows more has a
    project of its own, whose tasks are made when the steps before it are labelled: push again. Tasks that are labelled
    there stay as they are. The key comes from ASSAY_LABEL_STUDIO_KEY.
    """
    if (url is None) == (to is None):
        raise typer.BadParameter("Give the address of a server, or --to and a folder.", param_hint="--url")
    if labelled and to is None:
        raise typer.BadParameter("It goes with --to: a server is asked what is labelled.", param_hint="--labelled")
    check_names(context, project, study)
    from annotators.addresses import is_here
    from annotators.pages.documents.renderer import Renderer
    from db.judging.pictures import StoredPictures
    from exports.label_studio.files import push_to_files
    from exports.label_studio.push import push_to_server

    with opened(context) as here, progress("Pushing") as told, Renderer(workers=1) as renderer:
        study_id = study_id_of(here, project, study)
        pictures = StoredPictures(here.db, here.settings.documents_folder, renderer, most=0)
        if to is not None:
            done = push_to_files(
                here.db, here.actor, study_id,
                folder=to, labelled=labelled or (), pictures=pictures,
                predictions=predictions, names=names, progress=told,
            )  # fmt: skip
        else:
            server = _server(here, url, private=private)
            done = push_to_server(
                here.db, here.actor, study_id,
                server=server, leaves=not is_here(server.address), pictures=pictures,
                predictions=predictions, names=names, progress=told,
            )  # fmt: skip
    emit(done.to_json(), lambda: _pushed(done, to), as_json=as_json)


@command(
    label_studio,
    "pull",
    "assay --home ./assay-home label-studio pull finance verification --url https://label-studio.example.org --dry-run",
    "assay --home ./assay-home label-studio pull finance verification --file export.json --person ada@example.org=ada",
)
def pull(
    context: typer.Context,
    *,
    project: ProjectName,
    study: StudyName,
    url: Url = None,
    file: Annotated[
        list[Path] | None, option("FILE", "Take an export of the project (JSON) instead; one for each, repeatable.")
    ] = None,
    person: Annotated[
        list[str] | None, option("EMAIL=NAME", "Who somebody there is here; repeatable.  [default: the address]")
    ] = None,
    private: Private = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out annotations that do not fit; else one stops all.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take the labels of a study's project back, as imported annotations; what is there already adds nothing.

    What was changed there since takes the place of what was taken back before, which is kept. Drafts are left out;
    a task that was skipped is a skip. Annotators that are not known become people without a login. An annotation that
    does not fit stops all of them, or is left out and named with --skip-bad: it comes when it is mended there.
    """
    if (url is None) == (not file):
        raise typer.BadParameter("Give the address of a server, or --file and an export.", param_hint="--url")
    people = dict(map(_pair, person or ()))
    check_names(context, project, study)
    from exports.label_studio.pull import pull_from_files, pull_from_server

    with opened(context) as here, working("Taking the labels back"):
        study_id = study_id_of(here, project, study)
        if file:
            done = pull_from_files(
                here.db, here.actor, study_id, paths=file, people=people, dry_run=dry_run, skip_bad=skip_bad
            )
        else:
            server = _server(here, url, private=private)
            done = pull_from_server(
                here.db, here.actor, study_id, server=server, people=people, dry_run=dry_run, skip_bad=skip_bad
            )
    emit({**done.to_json(), "study": study}, lambda: _pulled(done, study, dry_run=dry_run), as_json=as_json)


@command(
    label_studio,
    "fetch",
    "assay --home ./assay-home label-studio fetch 7 --url https://label-studio.example.org --to ./their-project",
)
def fetch(
    context: typer.Context,
    *,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the project there.", show_default=False)],
    url: Annotated[str, option("URL", "Address of the server.")],
    to: Annotated[Path, option("DIR", "The new folder.")],
    private: Private = False,
    as_json: AsJson = False,
) -> None:
    """Write a project of a server into a folder, to be imported: `assay import PROJECT DIR --labels-into STUDY`.

    Its config, its tasks with annotations, and the pictures that were put into it. The key comes from
    ASSAY_LABEL_STUDIO_KEY.
    """
    from exports.label_studio.theirs.fetch import fetch_project

    with opened(context) as here, working("Fetching the project"):
        server = _server(here, url, private=private)
        files, n, lost = fetch_project(here.db, here.actor, server=server, number=number, folder=to)
    words = as_lines([f"{count(n, 'task')} in {to}.", *(f"Lost: {line}." for line in lost.lines())])
    emit({"files": files, "tasks": n, "lost": lost.to_json()}, words, as_json=as_json)


@command(
    label_studio,
    "config",
    "assay label-studio config qa_verification",
    "assay label-studio config my_protocol.yaml --json",
)
def config(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A protocol: its name, or a YAML file.", show_default=False)
    ],
    step: Annotated[int, option("N", "Of which of its projects there; those after 1 are of steps that show more.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Print the labelling config that a protocol becomes, and on standard error what of it is lost."""
    from app.cli.protocols import protocol_named
    from exports.label_studio.labelling import labellings_of

    configs = labellings_of(protocol_named(name))
    if not 1 <= step <= len(configs):
        raise typer.BadParameter(f"It has {count(len(configs), 'project')} there.", param_hint="--step")
    found = configs[step - 1]
    if not as_json:
        for line in found.lost.lines():
            say_aside(f"Lost: {line}.")
    emit(
        {"config": found.config, "steps": len(configs), "lost": found.lost.to_json()},
        found.config.rstrip,
        as_json=as_json,
        is_file=True,
    )


def _server(here: Here, url: str | None, *, private: bool) -> Server:
    from exports.label_studio.addresses import server_address
    from exports.label_studio.server import Server

    allowed = private or here.settings.label_studio_private == "yes"
    return Server(server_address(url or "", private=allowed), here.settings.label_studio_key)


def _pair(text: str) -> tuple[str, str]:
    email, equals, name = text.partition("=")
    if not equals or not email.strip() or not name.strip():
        raise InvalidInput(f"{text!r} names nobody. Write EMAIL=NAME, such as ada@example.org=ada.")
    return email.strip(), name.strip()


def _pushed(done: Pushed, to: Path | None) -> str:
    lines = []
    for one in done.steps:
        where = f"{to}" if to else f"project {one.project} ({one.title})" if one.project else one.title
        if one.tasks or one is done.steps[0]:
            lines.append(
                f"{count(one.created, 'task')} made in {where}; {one.unchanged:,} there already, {one.updated:,} "
                f"brought up to date, {one.kept:,} labelled there and kept as they are."
            )
        if one.waiting:
            lines.append(
                f"{count(one.waiting, 'task')} of the step “{one.step}” wait until the steps before it are labelled "
                "there: push again then."
            )
    if done.predictions:
        lines.append(f"{count(done.predictions, 'prediction')} of raters sent along.")
    return as_lines([*lines, *(f"Lost: {line}." for line in done.lost.lines())])


def _pulled(done: Pulled, study: str, *, dry_run: bool) -> str:
    came = done.came
    lines = [
        f"{'Would take' if dry_run else 'Took'} {count(came.new, 'new annotation')} into {study}; "
        f"{came.changed:,} changed there, {came.unchanged:,} there already, {count(came.skipped, 'skip')}."
    ]
    if came.stored:
        lines.append(f"{count(came.stored.labels, 'label')} (batch {came.stored.batch}).")
    lines += came.not_counted.notes()
    if came.problems:
        left_out = "Would leave out" if dry_run else "Left out"
        n = count(len(came.problems), "annotation that does", "annotations that do")
        lines.append(f"{left_out} {n} not fit; what came before in their place counts as it did:")
        lines += [f"  {one}" for one in came.problems]
    if came.waiting:
        lines.append(
            f"{count(came.waiting, 'annotation')} with a later step that is not labelled yet: they come when it is."
        )
    if came.gone:
        named = ", ".join(f"{item} by {annotator}" for item, annotator in came.gone[:_SHOWN])
        more = f", and {len(came.gone) - _SHOWN:,} more" if len(came.gone) > _SHOWN else ""
        lines.append(
            f"{count(len(came.gone), 'annotation is', 'annotations are')} not there any more, or not with all steps: "
            f"{named}{more}. What came before counts as it did; `assay withdraw` takes back all that one pull brought."
        )
    if came.new_people:
        lines.append(f"People without a login: {', '.join(came.new_people)}.")
    return as_lines([*lines, *came.left, *(f"Lost: {line}." for line in done.lost.lines())])
