"""A server of Label Studio, by its makers' SDK (extra `labelstudio`): what of it we ask, and how it fails in words."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from annotators.addresses import is_here, redirected
from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, NotFound, shown
from exports.label_studio.addresses import ServerAddress

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

_LONGEST_TITLE = 50
_SECONDS = 120.0


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
        with self._asking():
            self._client: Any = sdk.LabelStudio(
                base_url=address.url,
                api_key=key,
                timeout=_SECONDS,
                follow_redirects=False,
                httpx_client=_http_client(address),
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
            if status in (401, 403):
                return NotAllowed(
                    f"Label Studio at {self.address} does not take the key. Set ASSAY_LABEL_STUDIO_KEY to the token of "
                    "an account there that may work on the project."
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
                f"{'.'.join(map(str, OLDEST))} up to {NEWEST[0]}. Take one of these, or go by files (--to, --file)."
            )
        return release

    def project(self, number: int) -> ProjectThere:
        """The project of this number."""
        with self._asking():
            return _project(self._client.projects.get(id=number))

    def find(self, marks: Sequence[str]) -> list[ProjectThere | None]:
        """For each of these marks the project whose description has it as a word; Conflict where several have."""
        with self._asking():
            # Without `include` it counts the tasks and annotations of every project there.
            listed = self._client.projects.list(include="id,description")
            there = [(one.id, (one.description or "").split()) for one in listed]
        found: list[ProjectThere | None] = []
        for mark in marks:
            ids = [number for number, words in there if mark in words]
            if len(ids) > 1:
                numbers = ", ".join(map(str, ids))
                raise Conflict(
                    f"Projects {numbers} there are both of this study. Delete the one that is not wanted there."
                )
            found.append(self.project(ids[0]) if ids else None)
        return found

    def create(self, title: str, description: str, config: str, guidelines: str, annotators: int) -> ProjectThere:
        """A new project that asks this. Its title there may be shorter."""
        with self._asking():
            made = self._client.projects.create(
                title=title[:_LONGEST_TITLE],
                description=description,
                label_config=config,
                expert_instruction=guidelines,
                show_instruction=bool(guidelines),
                show_skip_button=True,
                maximum_annotations=annotators,
            )
            return _project(made)

    def ask_as_many(self, project: int, annotators: int) -> None:
        """Have each task of a project wait for so many annotators."""
        with self._asking():
            self._client.projects.update(id=project, maximum_annotations=annotators)

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
        answer = self._request(
            "POST", f"api/projects/{project}/import",
            params={"commit_to_project": "false"}, files={"file": (name, data, media_type)},
        )  # fmt: skip
        with self._asking():
            [number] = answer.json()["file_upload_ids"]
            return _address(self._client.files.get(id=number).file)[1]

    def tasks(self, project: int) -> list[dict[str, Any]]:
        """All tasks of the project with their annotations, as its export has them."""
        with self._asking():
            chunks = self._client.projects.exports.download_sync(
                id=project, export_type="JSON", download_all_tasks=True
            )
            content = b"".join(chunks)
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, list):
            raise InvalidInput(
                f"What {self.address} gives for the export of project {project} is no list of tasks, but "
                f"{shown(content[:200])}. Try again; where that does not help, export it there as JSON (--file)."
            )
        return found

    def listed(self, project: int) -> Iterator[dict[str, Any]]:
        """All tasks of the project: id, data, and how many annotations they have, and have that were skipped.

        That takes the server a fifth of the time of `tasks`.
        """
        fields = "id,data,total_annotations,cancelled_annotations"
        page, total = 1, 1
        while (page - 1) * AT_ONCE < total:
            params = {"project": str(project), "page": str(page), "page_size": str(AT_ONCE), "include": fields}
            answer = self._request("GET", "api/tasks/", params=params)
            with self._asking():
                found = orjson.loads(answer.content)
                total = int(found["total"])
                yield from found["tasks"]
            page += 1

    def is_begun(self, task: Mapping[str, Any]) -> bool:
        """Whether somebody has labelled or skipped a task of `listed`, or has a draft of it."""
        if task.get("total_annotations") or task.get("cancelled_annotations"):
            return True
        with self._asking():
            return bool(orjson.loads(self._request("GET", f"api/tasks/{int(task['id'])}/drafts").content))

    def add_tasks(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Add tasks. They are sent as they are: the SDK looks through all that is in them, which takes longer."""
        headers = {"Content-Type": "application/json"}
        self._request("POST", f"api/projects/{project}/import", content=orjson.dumps(tasks), headers=headers)

    def predicted(self, project: int) -> set[tuple[int, str]]:
        """Task and model version of each prediction of the project."""
        answer = self._request("GET", "api/predictions/", params={"project": str(project)})
        with self._asking():
            return {(int(one["task"]), str(one["model_version"])) for one in orjson.loads(answer.content)}

    def add_prediction(self, task: int, prediction: Mapping[str, Any]) -> None:
        """Add a prediction to a task. Of many at once the server leaves out, without a word, those about a Repeater."""
        self._request("POST", "api/predictions/", json={"task": task, **prediction})

    def change_task(self, task: int, data: Mapping[str, Any]) -> None:
        """Give a task other data."""
        with self._asking():
            self._client.tasks.update(id=str(task), data=dict(data))

    def people(self) -> dict[int, str]:
        """Number of each person there → the address they sign in with."""
        with self._asking():
            return {one.id: one.email for one in self._client.users.list()}

    def fetch(self, path: str) -> bytes:
        """A file that the server itself keeps, by the path of its address there."""
        content: bytes = self._request("GET", path.lstrip("/")).content
        return content

    def _request(self, method: str, path: str, **given: Any) -> Any:
        """The answer to a request that the SDK has no call for, or a slow one."""
        with self._asking():
            answer = self._client._client_wrapper.httpx_client.request(
                path, base_url=self.address, method=method, **given
            )
            if answer.status_code >= 300:
                headers = dict(answer.headers)
                raise self._failure(status_code=answer.status_code, headers=headers, body=_body(answer))
        return answer


def _http_client(address: ServerAddress) -> Any:
    """A client that asks the addresses which were checked, and a server on this machine without a proxy.

    None where neither is to be kept to, so that the SDK makes its own.
    """
    httpx = importlib.import_module("httpx")
    if is_here(address.url):
        return httpx.Client(trust_env=False, timeout=_SECONDS, follow_redirects=False)
    if not address.checked:
        return None
    transport = importlib.import_module("exports.label_studio.pinned").PinnedTransport(address.host, address.checked)
    return httpx.Client(transport=transport, timeout=_SECONDS, follow_redirects=False)


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
