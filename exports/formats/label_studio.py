"""Label Studio: an export of a project (tasks with annotations) beside its labelling config; items as tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import AssayError, InvalidInput, shown
from annotators.figures import count, some
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._files import FilesReading
from exports.formats._records import JSON_ENDING, lacking, names_in
from exports.formats._writing import Files, Items, Written
from exports.formats.base import FORMATS, LOST, NAME_A_STUDY, FileReading, Misnamed
from exports.label_studio.known import ITEM, NOBODYS, STUDY, called_of, changed_at, lead_time, name_of
from exports.label_studio.lost import Lost
from exports.label_studio.theirs.displayed import Display, Displayed
from exports.label_studio.theirs.flat import FLAT, controls_in, tasks_of
from exports.label_studio.xml import Tag, read_config
from exports.naming import distinct
from exports.reading.json_files import element_lines, json_file
from exports.reading.sources import SourceFile, Sources
from exports.reading.tables import heading_of, open_table

if TYPE_CHECKING:
    from annotators.protocols import Protocol
    from exports.label_studio.theirs.asked import Theirs

CONFIG_ENDING = ".xml"
_FLAT_TABLES = (".csv", ".tsv")
SCORER = "imported:label_studio"

OURS = "assay"
"""The field of a task in which an item stands that was written here."""

_NO_CONTROL = "None"
"""What stands for the control of a result that is of none, such as a relation."""

_PLAIN = Displayed(question=Display("question", "$question"), answer=Display("answer", "$answer"))
"""What is taken for question and answer where no config says what is shown."""

_OF_TASKS = ("annotations", "predictions", "drafts", "total_annotations", OURS, ITEM)


class LabelStudio:
    """Tasks with their annotations, and the labelling config that says what these mean."""

    name = "label_studio"
    title = "Label Studio"
    help = (
        "The JSON export of a project (tasks with `data` and `annotations`) with its labelling config as .xml beside "
        "it. What its controls ask becomes a protocol; each part that cannot is named."
    )

    takes_over = ("native", "ragas", "deepeval", "trulens")

    def refusal(self, file: SourceFile) -> str | None:
        """A list of tasks, or a config, which begins with a view."""
        if file.basename.endswith(CONFIG_ENDING):
            return None if b"<View" in file.head()[:2_000] else "it does not begin with <View>"
        if file.basename.endswith(_FLAT_TABLES):
            is_flat = set(heading_of(file.head())) >= FLAT
            return None if is_flat else "it is no CSV of Label Studio: it lacks id, annotation_id or annotator"
        if not file.basename.endswith(JSON_ENDING):
            return Misnamed(f"it ends neither with {JSON_ENDING} nor with {CONFIG_ENDING}")
        if not file.beginning().startswith(b"["):
            return "it does not begin with a list […]"
        there = names_in(file.head())
        if there >= FLAT and not there & {"data", "annotations"}:
            return None
        if (missing := lacking(there, ("data",))) is not None:
            return missing
        return None if there & set(_OF_TASKS) else "its records lack `annotations`"

    def read(self, sources: Sources) -> FileReading:
        """The tasks as items; InvalidInput where there are none, or more than one config."""
        return _Reading(sources)

    def label_protocol(self) -> Protocol | None:
        """None: it is that of the config beside the tasks, which the reading knows."""
        return None

    def write(self, items: Items, files: Files) -> Written:
        """Each item as a task that shows its question and answer and holds all of it, and a config that asks nothing.

        A study is pushed with what it asks: `assay label-studio push`.
        """
        files.begin("config.xml").write(_SHOWS.written().encode())
        return Written.records(items, files, _task, lambda _item: "tasks.json")


_SHOWS = Tag("View")
for _name in ("question", "answer"):
    _SHOWS.add("Header", value=_name.capitalize(), size="4")
    _SHOWS.add("Text", name=_name, value=f"${_name}")


def _task(item: Normal) -> dict[str, Any]:
    return {"data": {"question": item["question"], "answer": item.get("answer", ""), OURS: item}}


class _Reading(FilesReading):
    """One project's tasks."""

    format = "label_studio"

    def __init__(self, sources: Sources) -> None:
        tasks = [file for file in sources.files if file.basename.endswith(JSON_ENDING)]
        tasks += [
            file
            for file in sources.files
            if file.basename.endswith(_FLAT_TABLES) and set(heading_of(file.head())) >= FLAT
        ]
        configs = [file for file in sources.files if file.basename.endswith(CONFIG_ENDING)]
        super().__init__(sources, tasks)
        if len(configs) > 1:
            names = ", ".join(file.name for file in configs)
            raise InvalidInput(f"There are several labelling configs: {names}. Leave the one of this project.")
        if not tasks:
            raise InvalidInput(f"{sources.description}: there are no tasks beside the config. Export them as JSON.")
        self._theirs: Theirs | None = None
        self._controls: dict[str, str] = {}
        if configs:
            from exports.label_studio.theirs.asked import read_theirs  # noqa: PLC0415 - a file is recognised without it

            text = configs[0].path.read_text("utf-8-sig", errors="replace")
            name = configs[0].path.stem if configs[0].path.stem != "config" else "Label Studio"
            config = read_config(text, configs[0].name)
            self._theirs = read_theirs(config, name, self.addressed)
            self._controls = controls_in(config)
        self._begin()

    def _begin(self) -> None:
        """Forget what was counted."""
        self._labels = self._skipped = self._ours = self._none = self._drafts = self._predicted = 0
        self._earlier = self._bare = self._turned_down = self._truths = 0
        self._numbers: set[str] = set()

    def label_protocol(self) -> Protocol:
        """What the project asks, as far as it can be asked here."""
        if self._theirs is None:
            raise InvalidInput(
                "What the labels mean is in the project's labelling config. Copy it (Settings → Labeling Interface → "
                f"Code) into a file that ends with {CONFIG_ENDING}, beside the tasks."
            )
        if self._theirs.protocol is None:
            raise InvalidInput(
                "\n".join(["Nothing that the project asks can be asked here.", *self._theirs.lost.lines()])
            )
        return self._theirs.protocol

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """An item a task, or two where two texts are compared."""
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._begin()
        if self._theirs is not None:
            self._theirs.of_tasks = Lost()
        for file in self.files:
            data = self._flat_table(file) if file.basename.endswith(_FLAT_TABLES) else json_file(file)
            self.meter.done += file.size
            if isinstance(data, Rejected):
                yield data
                continue
            if not isinstance(data, list):
                yield Rejected(file.name, 1, "the file is no list of tasks. Export the project as JSON.")
                continue
            lines = element_lines(file, None, len(data))
            rows = list(data) if isinstance(data, _Rows) else list(zip(lines, data, strict=True))
            if self._is_flat(data):
                if self._theirs is None:
                    yield Rejected(file.name, 1, _NEEDS_CONFIG)
                    continue
                rows = tasks_of(rows, self._controls)
            for number, (line, task) in enumerate(rows, 1):
                yield from self._taken(file, line, number, task)

    def _taken(self, file: SourceFile, line: int, number: int, task: Any) -> Iterator[ParsedItem | Rejected]:
        """The items of a task with the labels that are good, and what is bad in it."""
        self._bad: list[str] = []
        try:
            found = list(self._task(file.name, line, task))
        except (AssayError, RecursionError) as error:
            yield Rejected(file.name, line, f"task {number}: {error}")
            return
        for reason in self._bad:
            yield Rejected(file.name, line, f"task {number}: {reason}")
        yield from found

    @staticmethod
    def _is_flat(data: Any) -> bool:
        """Whether these are rows of an annotation each, as JSON-MIN and CSV have them, and no tasks."""
        if isinstance(data, _Rows):
            return True
        first = data[0] if isinstance(data, list) and data else None
        return isinstance(first, dict) and set(first) >= FLAT and "data" not in first

    def _flat_table(self, file: SourceFile) -> _Rows | Rejected:
        rows = _Rows()
        try:
            table = open_table(file.path)
            for line, cells in table.rows:
                if isinstance(cells, str):
                    return Rejected(file.name, line, cells)
                rows.append(
                    (line, {name: cell for name, cell in zip(table.columns, cells, strict=True) if cell is not None})
                )
        except InvalidInput as error:
            return Rejected(file.name, 1, str(error))
        return rows

    def notes(self) -> Sequence[str]:
        """What of the project cannot be said here, and whether there are labels."""
        found = []
        if self._labels:
            found.append(f"{count(self._labels, 'annotation')} of people. {NAME_A_STUDY}")
        if self._numbers:
            found.append(
                f"Annotators are known by their numbers there alone: {some(sorted(self._numbers), 5)}. `assay "
                "label-studio fetch` has their addresses; under both names they would be two."
            )
        if self._none:
            found.append(
                f"{count(self._none, 'time')} nothing was ticked or marked where nothing needs to be: that counts as "
                "none of the labels."
            )
        found += self._said_of_annotations()
        if self._bare:
            found.append(
                f"{count(self._bare, 'task has', 'tasks have')} no question: the number of the task stands for it."
            )
        if self._ours:
            found.append(
                f"{count(self._ours, 'task')} of a study that was pushed from here: take its labels back with `assay "
                "label-studio pull --file`."
            )
        if self._theirs is None:
            found.append(
                f"There is no labelling config ({CONFIG_ENDING}) beside the tasks: what people said is left out."
            )
        else:
            if words := self._theirs.displayed.in_words():
                found.insert(0, f"Tasks are read with {words}.")
            lost = [*self._theirs.lost.lines(), *self._theirs.of_tasks.lines()]
            found += [f"{LOST}{line}." for line in lost]
        return found

    def _said_of_annotations(self) -> list[str]:
        """Which annotations are left out, and why."""
        found = []
        if self._skipped:
            found.append(f"{count(self._skipped, 'annotation')} skipped there: left out.")
        if self._turned_down:
            found.append(
                f"{count(self._turned_down, 'annotation')} that the last review there rejected: left out, as nobody "
                "stands by them."
            )
        if self._truths:
            found.append(
                f"{count(self._truths, 'annotation')} marked there as ground truth: counted as what their annotators "
                "said, as any other."
            )
        if self._earlier:
            found.append(
                f"{count(self._earlier, 'annotation')} of somebody who changed it in another: the last counts."
            )
        if self._drafts:
            found.append(f"{count(self._drafts, 'draft')} that nobody submitted there: left out.")
        if self._predicted:
            found.append(f"{count(self._predicted, 'prediction')} of models: no person's labels, so they are left out.")
        return found

    def _task(self, file: str, line: int, task: Any) -> Iterator[ParsedItem]:
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            raise InvalidInput("it has no `data`. Export the project as JSON.")
        if isinstance(data.get(OURS), dict):
            item = read_item(data[OURS], scorer=SCORER)
            yield ParsedItem(file, line, item, tuple(self._said(file, line, task, [item.id], data)))
            return
        self._ours += STUDY in data
        self._drafts += _how_many(task.get("drafts"))
        self._predicted += _how_many(task.get("predictions"))
        key = str(data.get(ITEM) or task.get("id") or line)
        items = [read_item(row, scorer=SCORER) for row in self._rows(key, data, task)]
        labels = tuple(self._said(file, line, task, [item.id for item in items], data))
        for item in items:
            yield ParsedItem(file, line, item, labels if item is items[0] else ())

    def _rows(self, key: str, data: Mapping[str, Any], task: Mapping[str, Any]) -> Iterator[Normal]:
        """The normal form of the item or the two items of a task."""
        displayed = _PLAIN if self._theirs is None else self._theirs.displayed
        shown = (displayed.question, displayed.answer, *(displayed.sides or ()), *displayed.contexts)
        images = [*displayed.images, *displayed.references]
        taken = {one.field for one in (*shown, *images) if one is not None} - {None}
        question = _text(displayed.question, data)
        if not question.strip():
            question = key
            self._bare += 1
        sides = displayed.sides
        answers = [_text(one, data) for one in sides] if sides else [_text(displayed.answer, data)]
        references = [text for one in displayed.references if (text := _text(one, data))]
        evidence, taken_keys = list[Normal](), set[str]()
        for one in (part for display in displayed.images for part in display.parts(data)):
            for name, address in one.pages(data):
                key_of_it = distinct(name, taken_keys) if one.of_part else name
                taken_keys.add(key_of_it)
                document = self.addressed.key(address)
                evidence.append({"key": key_of_it, "kind": "page", "document": document, "pages": [1]})
        for one in (part for display in displayed.contexts for part in display.parts(data)):
            if text := _text(one, data):
                key_of_it = distinct(one.key, taken_keys)
                taken_keys.add(key_of_it)
                evidence.append({"key": key_of_it, "text": text})
        ranked = [one for shown in displayed.ranked for one in _ranked(shown.of(data))]
        rest = {name: value for name, value in data.items() if name not in taken}
        meta = {
            "label_studio": {**({"data": rest} if rest else {}), **({"meta": task["meta"]} if task.get("meta") else {})}
        }
        for side, answer in zip(("left", "right") if sides else ("",), answers, strict=True):
            yield {
                "id": f"{key}:{side}" if side else key,
                "question_key": key,
                "question": question,
                "answer": answer,
                **({"system": side} if side else {}),
                **({"references": references} if references else {}),
                **({"evidence": evidence} if evidence else {}),
                **({"images": ranked} if ranked else {}),
                **({"metadata": meta} if meta["label_studio"] else {}),
            }

    def _said(
        self, file: str, line: int, task: Mapping[str, Any], items: Sequence[str], data: Mapping[str, Any]
    ) -> Iterator[ForeignLabel]:
        theirs = self._theirs
        annotations = task.get("annotations")
        latest: dict[str, Mapping[str, Any]] = {}
        for one in annotations if isinstance(annotations, list) else ():
            try:
                who = self._counted(one, theirs)
                if who is None:
                    continue
                when = _when(one)
                if who in latest:
                    self._earlier += 1
                    if when < _when(latest[who]):
                        continue
                latest[who] = one
            except InvalidInput as error:
                self._bad.append(str(error).rstrip("."))
        if theirs is None:
            self._labels += len(latest)
            return
        for who, one in latest.items():
            at, seconds = _changed_at(one), lead_time(one.get("lead_time"))
            try:
                values = list(self._values(theirs, one, data))
            except InvalidInput as error:
                self._bad.append(f"annotation {shown(one.get('id'))} by {who!r}: {str(error).rstrip('.')}")
                continue
            self._labels += 1
            self._truths += bool(one.get("ground_truth"))
            for criterion, target, value, rationale in values:
                yield ForeignLabel(
                    line,
                    items[0],
                    who,
                    criterion,
                    target,
                    value,
                    at,
                    None,
                    items[1] if len(items) > 1 else None,
                    file,
                    seconds,
                    rationale,
                )

    def _counted(self, one: Any, theirs: Theirs | None) -> str | None:
        """Who made an annotation that counts; None where it does not. InvalidInput for what is none."""
        if not isinstance(one, dict):
            raise InvalidInput(f"an annotation is {shown(one)}, not an object")
        if one.get("was_cancelled"):
            self._skipped += 1
            return None
        if _is_turned_down(one):
            self._turned_down += 1
            return None
        if one.get("completed_by") is None:
            if theirs is not None:
                theirs.of_tasks.add(NOBODYS)
            return None
        called = called_of(one["completed_by"])[0]
        who = name_of(called)
        if called != who:
            self._numbers.add(who)
        return who

    def _values(
        self, theirs: Theirs, annotation: Mapping[str, Any], data: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, str, list[dict[str, Any]] | None]]:
        """Criterion, target, value as it is written, and rationale of each label of an annotation."""
        from annotators.asking.submissions import GivenLabel, check_kept  # noqa: PLC0415 - a file is recognised without it
        from annotators.criteria.base import written  # noqa: PLC0415
        from exports.label_studio.theirs.asked import Said  # noqa: PLC0415

        results = annotation.get("result")
        by_name: dict[str, list[Mapping[str, Any]]] = {}
        for result in results if isinstance(results, list) else ():
            if isinstance(result, dict):
                by_name.setdefault(str(result.get("from_name")), []).append(result)
        self._add_lost(theirs, by_name)
        # Where something was given to a control that this config does not have, nothing says what was left empty.
        of_another_config = any(theirs.control_of(name) is None for name in by_name.keys() - {_NO_CONTROL})
        decided: dict[tuple[str, str], GivenLabel] = {}
        for asked in theirs.asked:
            given = by_name.get(asked.name, [])
            if not given and (of_another_config or not asked.none_of(decided)):
                continue
            self._none += not given
            for target, of_target in asked.by_target(given, data):
                said = asked.read(of_target, data) if of_target else Said([])
                if said is None:
                    continue
                value = asked.criterion.check(said.value)
                check_kept(value, repr(asked.name))
                decided[asked.criterion.name, target] = GivenLabel(asked.criterion.name, target, value)
                yield asked.criterion.name, target, written(value), said.rationale

    def _add_lost(self, theirs: Theirs, by_name: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Name what an annotation gave to controls that nothing here is like, or that the config does not have."""
        asked = {one.name for one in theirs.asked}
        for name in (name for name in by_name if name not in asked):
            if name == _NO_CONTROL:
                relations = sum(one.get("type") == "relation" for one in by_name[name])
                theirs.of_tasks.add("Relations between marked regions", relations)
            elif (control := theirs.control_of(name)) is not None:
                theirs.of_tasks.add(f"What was given to {control!r}, which cannot be asked here")
            else:
                theirs.of_tasks.add(f"What was given to {name!r}, which the config does not have")


class _Rows(list[tuple[int, dict[str, Any]]]):
    """Rows of a flat table with their lines."""


_NEEDS_CONFIG = (
    "this is Label Studio's JSON-MIN or CSV, one row an annotation. What its columns mean is in the labelling config: "
    f"copy it (Settings → Labeling Interface → Code) into a file that ends with {CONFIG_ENDING}, beside this one, or "
    "export the project as JSON."
)


def _is_turned_down(one: Mapping[str, Any]) -> bool:
    """Whether the last review of an annotation rejected it; without reviews, whether that was last done to it."""
    reviews = [review for review in _listed(one.get("reviews")) if isinstance(review, dict)]
    if reviews:
        return reviews[-1].get("accepted") is False and not reviews[-1].get("fixed_annotation_history")
    return one.get("last_action") == "rejected"


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []


_NEVER = datetime.min.replace(tzinfo=UTC)


def _changed_at(annotation: Mapping[str, Any]) -> datetime | None:
    return changed_at(annotation, whose="an annotation's")


def _when(annotation: Mapping[str, Any]) -> datetime:
    return _changed_at(annotation) or _NEVER


def _how_many(listed: object) -> int:
    return len(listed) if isinstance(listed, list) else 0


def _ranked(listed: Any) -> Iterator[Normal]:
    """The entries of a list that is put in order, as images that have no picture."""
    from exports.label_studio.theirs.asked import ranked_keys  # noqa: PLC0415 - a file is recognised without it

    keys = ranked_keys(listed)
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and str(one.get("id")) in keys:
            yield {"key": keys[str(one["id"])], "caption": str(one.get("title") or one.get("body") or one["id"])}


def _text(display: Display | None, data: Mapping[str, Any]) -> str:
    """What is shown, as a text: a conversation a turn a paragraph, what is no text as JSON."""
    value = None if display is None else display.of(data)
    if display is None or value is None:
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    speaker, words = display.turns
    if isinstance(value, list) and value and all(isinstance(one, dict) and words in one for one in value):
        return "\n\n".join(f"{one.get(speaker, '')}: {one[words]}".removeprefix(": ") for one in value)
    return orjson.dumps(value).decode()


FORMATS.register(LabelStudio())
