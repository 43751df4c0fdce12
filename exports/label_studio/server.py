"""A server of Label Studio, by its makers' SDK (extra `labelstudio`): what of it we ask, and how it fails in words."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from annotators.addresses import is_here, redirected
from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, NotFound, shown
from annotators.figures import count
from annotators.later import Later
from annotators.servers.secret import Secret
from exports.label_studio.addresses import ServerAddress
from exports.label_studio.exported import parsed
from exports.label_studio.known import ITEM

BLANK = "<View></View>"
"""The config of a project that is still being made: pictures can only be put into one that asks nothing."""

OLDEST, NEWEST = (1, 20), (2, 0)
"""The first version that we know how to talk to, and the first that we do not."""

AT_ONCE = 2_000
"""The most tasks of one request."""

AT_LEAST = 500
"""The fewest tasks for which a server that has nothing to do is asked: a request costs it as much as some 200 tasks."""

BYTES_AT_ONCE = 8 << 20
"""Bytes of the tasks of one request."""

PROJECTS_AT_ONCE = 100
"""Projects of one page of their list: the most that the server gives."""

LOOKS = 6
"""How often a list that others change meanwhile is looked at."""

WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds before each further look for what a request made whose answer leaves that open."""

_ONCE = {"max_retries": 0}
"""Has the SDK send a request once. It sends all others again after an answer from 500 on, and after none: a gateway
that answers so may have handed the first one on."""

_LONGEST_TITLE = 50
_SECONDS = 120.0
_WHOLE_SECONDS = 900.0
"""Seconds that a whole answer may take: the export of a large project takes minutes."""

_MOST, _MOST_PACKED = 512 << 20, 128 << 20
"""Bytes that an answer may have, unpacked and as it comes."""

if TYPE_CHECKING:
    from annotators.servers import bounded
else:
    bounded = Later("annotators.servers.bounded")

T = TypeVar("T")


class _IsOpen(Exception):
    """An answer that does not say whether all was taken that was sent."""


@dataclass(frozen=True)
class ProjectThere:
    """A project there: its number, title, config, what its description says, and for how many a task waits."""

    id: int
    title: str
    config: str
    description: str
    annotators: int


class Server:
    """A server, asked with a key. The key is kept out of every message and of `repr`."""

    def __init__(self, address: ServerAddress, key: str) -> None:
        if not key:
            raise InvalidInput(
                "There is no key for Label Studio. Copy the token of your account there (Account & Settings) into "
                "ASSAY_LABEL_STUDIO_KEY."
            )
        if not key.isascii() or not key.isprintable():
            raise InvalidInput(
                "The key in ASSAY_LABEL_STUDIO_KEY has characters that no key has. Copy the token of your account "
                "there (Account & Settings) anew."
            )
        self.address = address.url
        try:
            sdk = importlib.import_module("label_studio_sdk")
        except ImportError:
            raise InvalidInput(
                "Talking to a server of Label Studio needs its SDK: pip install 'assay[labelstudio]'. Files can be "
                "taken in and out without it (--file, --to)."
            ) from None
        self._failure: Any = importlib.import_module("label_studio_sdk.core.api_error").ApiError
        self._httpx: Any = importlib.import_module("httpx")
        with self._asking():
            self._client: Any = sdk.LabelStudio(
                base_url=address.url,
                api_key=key,
                timeout=_SECONDS,
                follow_redirects=False,
                httpx_client=_http_client(address, key),
            )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """What the server says no to, and what it does not say at all, in words."""
        try:
            yield
        except AssayError:
            raise
        except Exception as error:
            raise self._in_words(error) from None

    def _in_words(self, error: Exception) -> Exception:
        status = getattr(error, "status_code", None)
        if isinstance(error, self._failure) and status is not None:
            if status == 401:
                return NotAllowed(
                    f"Label Studio at {self.address} does not take the key. Set ASSAY_LABEL_STUDIO_KEY to the token of "
                    "an account there that may work on the project."
                )
            if status == 403:
                return NotAllowed(
                    f"Label Studio at {self.address} takes the key, but does not let its account do this (403: "
                    f"{_said(error)}). Set ASSAY_LABEL_STUDIO_KEY to the token of an account there that may work on "
                    "the project."
                )
            if status == 404:
                return NotFound(f"There is no such thing at {self.address}. Check that it is a server of Label Studio.")
            if status < 300:
                return InvalidInput(
                    f"There is no Label Studio at {self.address}: another server answers. Check the address."
                )
            if status < 400:
                headers = {name.lower(): value for name, value in (getattr(error, "headers", None) or {}).items()}
                return InvalidInput(redirected(self.address, status, headers.get("location")))
            return InvalidInput(f"Label Studio at {self.address} refuses ({status}): {_said(error)}")
        if type(error).__module__.partition(".")[0] in ("httpx", "httpcore", "json", "pydantic_core", "orjson", "jwt"):
            return InvalidInput(
                f"There is no Label Studio at {self.address} that answers ({type(error).__name__}). Check the address, "
                "and that it runs."
            )
        if isinstance(error, AttributeError | KeyError | IndexError | TypeError | ValueError):
            # The SDK takes any JSON for what it asked for, and fails when it looks into it; so do we.
            return InvalidInput(
                f"There is no Label Studio at {self.address}: what answers does not say what one says "
                f"({type(error).__name__}). Check the address."
            )
        return error

    def _once(self, make: Callable[[], T], look: Callable[[], T | None], what: str) -> T:
        """What a request makes that must not be there twice: it is sent again only where it was certainly not taken.

        Where its answer leaves that open, it is looked for, a minute long. Conflict where it is not there then: the
        server may still be at it.
        """
        for wait in (*WAITS, None):
            try:
                return make()
            except Exception as error:
                if wait is not None and self._was_not_taken(error):
                    time.sleep(wait)
                    continue
                if not self._leaves_open(error):
                    raise self._in_words(error) from None
                said = getattr(error, "status_code", None) or type(error).__name__.strip("_")
                break
        for wait in (0.0, *WAITS):
            time.sleep(wait)
            try:
                found = look()
            except InvalidInput:  # no answer at all: the next one may come
                continue
            if found is not None:
                return found
        raise Conflict(
            f"Label Studio at {self.address} leaves open whether it took {what} (its answer: {said}), and that is not "
            f"there after {sum(WAITS):.0f} s. Wait until the server is at rest, and push again: that adds what "
            "is missing, and nothing twice."
        )

    def _was_not_taken(self, error: Exception) -> bool:
        """Whether a request reached nobody, or was too much for a server that counts them."""
        return isinstance(error, self._httpx.ConnectError) or getattr(error, "status_code", None) == 429

    def _leaves_open(self, error: Exception) -> bool:
        status = getattr(error, "status_code", None)
        if isinstance(error, self._failure) and status is not None:
            return bool(status >= 500 or status in (408, 409))
        unsent = (self._httpx.ConnectError, self._httpx.ConnectTimeout, self._httpx.PoolTimeout)
        return isinstance(error, self._httpx.TransportError | _IsOpen) and not isinstance(error, unsent)

    def check_version(self) -> str:
        """The version of the server; Conflict for one that is not known to work."""
        with self._asking():
            found = self._client.versions.get()
        release = str(getattr(found, "release", "") or "")
        numbers = re.match(r"(\d+)\.(\d+)", release)
        if numbers is None:
            raise NotFound(f"What answers at {self.address} is no Label Studio. Check the address.")
        if not OLDEST <= (int(numbers[1]), int(numbers[2])) < NEWEST:
            raise Conflict(
                f"Label Studio at {self.address} has version {release}. This program knows those from "
                f"{'.'.join(map(str, OLDEST))} on that are older than {'.'.join(map(str, NEWEST))}. Take one of these, "
                "or go by files (--to, --file)."
            )
        return release

    def project(self, number: int) -> ProjectThere:
        """The project of this number."""
        with self._asking():
            return _project(self._client.projects.get(id=number))

    def find(self, marks: Sequence[str]) -> list[ProjectThere | None]:
        """For each of these marks the project whose description has it as a word; Conflict where several have."""
        there = {number: said.split() for number, said in self._descriptions().items()}
        found: list[ProjectThere | None] = []
        for mark in marks:
            ids = [number for number, words in there.items() if mark in words]
            if len(ids) > 1:
                numbers = ", ".join(map(str, ids))
                raise Conflict(
                    f"Projects {numbers} there are both of this study. Delete the one that is not wanted there."
                )
            found.append(self.project(ids[0]) if ids else None)
        return found

    def _descriptions(self) -> dict[int, str]:
        """Number of each project there → its description.

        Between two pages of the list others may make and delete projects, so that one is passed over: a list of more
        than a page holds when two looks in a row say the same. InvalidInput where that does not come about.
        """
        before: dict[int, str] | None = None
        for _ in range(LOOKS):
            found, n_pages, total = self._look_at_projects()
            if len(found) == total and (n_pages == 1 or found == before):
                return found
            before = found
        raise InvalidInput(
            f"Label Studio at {self.address} says that it has {count(total, 'project')}, and lists {len(found):,} of "
            f"them, or others each time, in {LOOKS} looks. Try again when nobody makes or deletes projects there; "
            "where that does not help, have its list mended."
        )

    def _look_at_projects(self) -> tuple[dict[int, str], int, int]:
        """Number → description of the projects that the pages of their list have, how many pages, and how many it says
        there are.
        """
        # Without `include` it counts the tasks and annotations of every project there.
        params = {"include": "id,description", "ordering": "id", "page_size": str(PROJECTS_AT_ONCE)}
        found: dict[int, str] = {}
        page, total, is_more = 0, 0, True
        while is_more:
            page += 1
            try:
                answer = self._request("GET", "api/projects/", params={**params, "page": str(page)})
            except NotFound:  # the last one was deleted since
                if page == 1:
                    raise
                break
            with self._asking():
                said = orjson.loads(answer.content)
                total, results = int(said["count"]), said["results"]
                found |= {int(one["id"]): one.get("description") or "" for one in results}
                is_more = bool(results) and said.get("next") is not None
        return found, page, total

    def create(self, title: str, description: str, config: str, guidelines: str, annotators: int) -> ProjectThere:
        """A new project that asks this. Its title there may be shorter; its description ends with its mark."""

        def make() -> ProjectThere:
            made = self._client.projects.create(
                title=title[:_LONGEST_TITLE],
                description=description,
                label_config=config,
                expert_instruction=guidelines,
                show_instruction=bool(guidelines),
                show_skip_button=True,
                maximum_annotations=annotators,
                request_options=_ONCE,
            )
            return _project(made)

        mark = description.rpartition(" ")[2]
        return self._once(make, lambda: self.find([mark])[0], f"the new project {title!r}")

    def ask_as_many(self, project: int, annotators: int) -> None:
        """Have the tasks of a project wait for so many annotators; where some wait for more than one, these alone."""
        with self._asking():
            self._client.projects.update(id=project, maximum_annotations=annotators)

    def ask_of(self, task: Mapping[str, Any], annotators: int) -> None:
        """Have a task of `listed` wait for so many annotators.

        The server itself counts anew whether it is labelled only with its next annotation.
        """
        labelled = int(task.get("total_annotations") or 0) >= annotators
        asked = {"overlap": annotators, "is_labeled": labelled}
        self._request("PATCH", f"api/tasks/{int(task['id'])}/", json=asked)

    def configure(self, project: int, config: str) -> None:
        """Have a project ask this."""
        with self._asking():
            self._client.projects.update(id=project, label_config=config)

    def pictures(self, project: int) -> dict[str, str]:
        """Name of each picture that was put into the project → its address there."""
        with self._asking():
            found = self._client.files.list(id=project, all_=True)
        return dict(_address(one.file) for one in found)

    def add_picture(self, project: int, name: str, data: bytes, media_type: str) -> str:
        """Put a picture into a project that is blank; its address there."""

        def make() -> str:
            answer = self._sent(
                "POST", f"api/projects/{project}/import",
                params={"commit_to_project": "false"}, files={"file": (name, data, media_type)},
            )  # fmt: skip
            [number] = answer.json()["file_upload_ids"]
            return _address(self._client.files.get(id=number).file)[1]

        return self._once(make, lambda: self.pictures(project).get(name), f"the picture {name}")

    def tasks(self, project: int) -> list[dict[str, Any]]:
        """All tasks of the project with their annotations, as its export has them."""
        with self._asking():
            try:
                chunks = self._client.projects.exports.download_sync(
                    id=project, export_type="JSON", download_all_tasks=True
                )
                content = b"".join(chunks)
            except self._failure as error:
                if error.status_code != 500:
                    raise
                raise InvalidInput(
                    f"Label Studio at {self.address} fails to export project {project} (500). Export it there as JSON: "
                    "where that fails too, a text there may have what no file can hold, such as half of an emoji. Take "
                    "it out of the annotation there, and try again."
                ) from None
        try:
            found = parsed(content)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, list):
            raise InvalidInput(
                f"What {self.address} gives for the export of project {project} is no list of tasks, but "
                f"{shown(content[:200])}. Try again; where that does not help, export it there as JSON (--file)."
            )
        return found

    def listed(self, project: int) -> Iterator[dict[str, Any]]:
        """All tasks of the project: id, data, for how many annotators they wait, how many labelled them, or skipped.

        However few the server gives at once (`TASK_API_PAGE_SIZE_MAX` there), each page is asked for from the last
        number on: so none is passed over where others delete tasks meanwhile. InvalidInput where it gives fewer than
        it says there are. That takes the server a fifth of the time of `tasks`.
        """
        last, n, is_more = 0, 0, True
        while is_more:
            for wait in (0.0, WAITS[0]):
                time.sleep(wait)
                tasks, n_left = self._tasks_after(project, last)
                if tasks or not n_left:
                    break
            else:
                raise InvalidInput(
                    f"Label Studio at {self.address} says that project {project} has {count(n + n_left, 'task')}, and "
                    f"lists {n:,} of them. Try again; where that does not help, have its list of tasks mended: nothing "
                    "is pushed to a project whose tasks are not known."
                )
            yield from tasks
            n += len(tasks)
            is_more = len(tasks) < n_left
            last = int(tasks[-1]["id"]) if tasks else last

    def _tasks_after(self, project: int, last: int) -> tuple[list[dict[str, Any]], int]:
        """The next tasks of a project from behind this number on, and how many it says there are from there on."""
        behind = {"filter": "filter:tasks:id", "operator": "greater", "type": "Number", "value": last}
        query = {"filters": {"conjunction": "and", "items": [behind]}, "ordering": ["tasks:id"]}
        params = {
            "project": str(project),
            "page_size": str(AT_ONCE),
            "include": "id,data,overlap,total_annotations,cancelled_annotations",
            "query": orjson.dumps(query).decode(),
        }
        answer = self._request("GET", "api/tasks/", params=params)
        with self._asking():
            found = orjson.loads(answer.content)
            tasks = [task for task in found["tasks"] if int(task["id"]) > last]
            return sorted(tasks, key=lambda task: int(task["id"])), int(found["total"])

    def is_begun(self, task: Mapping[str, Any]) -> bool:
        """Whether somebody has labelled or skipped a task of `listed`, or has a draft of it."""
        if task.get("total_annotations") or task.get("cancelled_annotations"):
            return True
        with self._asking():
            return bool(orjson.loads(self._request("GET", f"api/tasks/{int(task['id'])}/drafts").content))

    def add_tasks(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Add tasks. They are sent as they are: the SDK looks through all that is in them, which takes longer."""
        wanted = {task["data"][ITEM] for task in tasks}

        def make() -> int:
            content, headers = orjson.dumps(tasks), {"Content-Type": "application/json"}
            answer = self._sent("POST", f"api/projects/{project}/import", content=content, headers=headers)
            said = _body(answer)
            if not isinstance(said, Mapping) or said.get("task_count") != len(tasks):
                raise _IsOpen
            return len(tasks)

        def look() -> int | None:
            there = {task["data"].get(ITEM) for task in self.listed(project)}
            return len(tasks) if wanted <= there else None

        self._once(make, look, f"{count(len(tasks), 'task')} of project {project}")

    def predicted(self, project: int) -> set[tuple[int, str]]:
        """Task and model version of each prediction of the project."""
        answer = self._request("GET", "api/predictions/", params={"project": str(project)})
        with self._asking():
            return {(int(one["task"]), str(one["model_version"])) for one in orjson.loads(answer.content)}

    def add_prediction(self, project: int, task: int, prediction: Mapping[str, Any]) -> None:
        """Add a prediction to a task of a project, the first of its rater.

        Of many at once the server leaves out, without a word, those about a Repeater.
        """
        mark = task, str(prediction["model_version"])

        def make() -> bool:
            self._sent("POST", "api/predictions/", json={"task": task, **prediction})
            return True

        self._once(make, lambda: mark in self.predicted(project) or None, f"a prediction for task {task}")

    def change_task(self, task: int, data: Mapping[str, Any]) -> None:
        """Give a task other data."""
        with self._asking():
            self._client.tasks.update(id=str(task), data=dict(data))

    def people(self) -> dict[int, str]:
        """Number of each person there → the address they sign in with."""
        try:
            return {one.id: one.email for one in self._client.users.list()}
        except Exception as error:
            if getattr(error, "status_code", None) == 403:
                raise NotAllowed(
                    f"The key may not list the users of Label Studio at {self.address}, so that it is not known whose "
                    "annotations are: they say numbers alone. Set ASSAY_LABEL_STUDIO_KEY to the token of an account "
                    "there that may list them, or export the projects there and pull the files (--file), with "
                    "--person NUMBER=NAME for each annotator."
                ) from None
            raise self._in_words(error) from None

    def fetch(self, path: str) -> bytes:
        """A file that the server itself keeps, by the path of its address there."""
        content: bytes = self._request("GET", path.lstrip("/")).content
        return content

    def _request(self, method: str, path: str, **given: Any) -> Any:
        """The answer to a request that may be sent twice, and that the SDK has no call for, or a slow one."""
        with self._asking():
            return self._sent(method, path, **given)

    def _sent(self, method: str, path: str, **given: Any) -> Any:
        """The answer to a request, which is sent once where it makes something; what fails is raised as it comes."""
        once = {"request_options": _ONCE} if method == "POST" else {}
        answer = self._client._client_wrapper.httpx_client.request(
            path, base_url=self.address, method=method, **once, **given
        )
        if answer.status_code >= 300:
            headers = dict(answer.headers)
            raise self._failure(status_code=answer.status_code, headers=headers, body=_body(answer))
        return answer


def _http_client(address: ServerAddress, key: str) -> Any:
    """A client that asks the addresses which were checked, and a server on this machine without a proxy.

    What it gets is bounded, and has no key in it.
    """
    httpx = importlib.import_module("httpx")
    transport = None
    if address.checked and not is_here(address.url):
        pinned = importlib.import_module("exports.label_studio.pinned")
        transport = pinned.PinnedTransport(address.host, address.checked)
    client = httpx.Client(
        transport=transport, trust_env=not is_here(address.url), timeout=_SECONDS, follow_redirects=False
    )
    bounds = bounded.Bounds(_WHOLE_SECONDS, _MOST, _MOST_PACKED)
    return bounded.bounded(client, bounds, Secret(key))


def _project(found: Any) -> ProjectThere:
    return ProjectThere(
        int(found.id),
        found.title or "",
        found.label_config or BLANK,
        found.description or "",
        found.maximum_annotations or 1,
    )


def _address(file: str) -> tuple[str, str]:
    """(our name, address) of a file that is kept as `upload/7/1a2b3c4d-NAME`."""
    return file.rpartition("/")[2].partition("-")[2], f"/data/{file}"


def _body(answer: Any) -> Any:
    """What an answer says, as an object where it is one."""
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError:
        return answer.text


def _said(error: Exception) -> str:
    """What the server said, without what only a program reads."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        said = body.get("validation_errors") or body.get("detail") or body
        return str(said)[:500]
    return str(body)[:500]
