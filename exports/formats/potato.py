"""Potato 2: a project's config, its items, and what each annotator said (`annotation_output/NAME/user_state.json`).

What is written is a project for each kind of target, which Potato starts with, and beside them a folder `key` for our
reader alone: it says which items the instances are, and holds what the study hides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import orjson

from annotators.errors import AssayError, InvalidInput, shown
from annotators.figures import count
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats._fields import item_of_fields, text_of_field
from exports.formats._files import FilesReading
from exports.formats._key import Key, KeyReading
from exports.formats._losing import usual
from exports.formats._potato_media import (
    POSITIONS,
    REGIONS,
    TUPLES,
    Tuples,
    image_fields,
    image_in,
    places_in,
    tuples_of,
)
from exports.formats._records import JSON_ENDING, LINES_ENDING, Record, names_in
from exports.formats._shown import (
    ALONE,
    ANSWERS,
    PAIR,
    PairTask,
    PairTasks,
    ShownItem,
    Together,
    asked_together,
    content_of,
    fields_of_tasks,
)
from exports.formats._stretches import Apart, in_answer
from exports.formats._writing import Files, Given, Items, StudyOut, Written, cell_of
from exports.formats.base import FORMATS, LOST, FileReading, Misnamed
from exports.formats.table import guessed
from exports.label_studio.known import part_key
from exports.reading.addressed import Addressed
from exports.reading.json_files import element_lines, json_file, json_lines
from exports.reading.sources import SourceFile, Sources
from exports.reading.tables import is_table, open_table

if TYPE_CHECKING:
    from annotators.protocols import Protocol
    from exports.formats._potato_schemes import Asked
    from exports.label_studio.lost import Lost

CONFIG, DATA, STATE = "config.yaml", "data.json", "user_state.json"
CONFIG_ENDINGS = (".yaml", ".yml")
STATES = "annotation_output"
SCORER = "imported:potato"
_SAYS_SO = (b"annotation_schemes", b"annotation_task_name")
_LABELS, _SPANS = "instance_id_to_label_to_value", "instance_id_to_span_to_value"
_OTHER_ANSWERS = {
    "phase_to_page_to_label_to_value": "Answers of other phases (consent, instructions, surveys)",
    "instance_id_to_link_to_value": "Links between marked stretches",
    "instance_id_to_event_to_value": "Events made of marked stretches",
}
_HUMAN = "human"


class Potato:
    """An instance is an item, or a unit of one; a user's state gives labels, a machine's is left out."""

    name = "potato"
    names_its_data = True
    takes_pairs = True
    title = "Potato 2 project"
    help = (
        "the folder of a project: its config (.yaml) with the data files that it names, and the users' states under "
        f"{STATES}. What its schemes ask becomes a protocol; each part that cannot is named."
    )
    loses = usual(
        "labels.time",
        "labels.seconds",
        "labels.comment",
        "labels.rationale",
        labels="labels that say that it cannot be judged",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a config, and the state of a user."""
        if file.basename == STATE:
            return None if _LABELS in names_in(file.head()) else f"it has no `{_LABELS}`"
        if not file.basename.endswith(CONFIG_ENDINGS):
            return Misnamed(f"it is no config ({CONFIG_ENDINGS[0]}) and no {STATE}")
        lines = file.head().splitlines()
        return None if any(line.startswith(_SAYS_SO) for line in lines) else "it has no `annotation_schemes`"

    def read(self, sources: Sources) -> FileReading:
        """The items of the projects, with what their users' states say; InvalidInput where there is no config."""
        return _Reading(sources)

    def label_protocol(self) -> Protocol | None:
        """The config says what was asked."""
        return None

    def write(self, items: Items, files: Files) -> Written:
        """Write a project that asks for a note: a project needs a scheme."""
        key = Key(files)
        scheme = {"annotation_type": "text", "name": "note", "description": "Note", "multiline": True}
        files.begin(CONFIG).write(_yaml(_config("Items", "", ["question", "answer"], [scheme], [])))
        files.begin(DATA)
        n = 0
        for item in items():
            key.add(item, item["id"])
            texts = {"question": item["question"], **({"answer": item["answer"]} if item["answer"] else {})}
            files.add(DATA, {"id": item["id"], **texts})
            n += 1
        key.close({})
        return Written(n, 0)

    def write_study(self, study: StudyOut, files: Files) -> Written:
        """Write a project for each kind of target, and for what is asked beside scores that were hidden before.

        Everybody's labels are the states of users.
        """
        out = [_Project(study, asked, files) for asked in asked_together(study.protocol)]
        key, n, pairs = Key(files, study.protocol), 0, PairTasks(study)
        for judged in study.judged():
            instance = study.known_as(judged.item["id"])
            n += 1
            if study.protocol.about_pairs:
                key.add(judged.item, instance)
                for project in out:
                    project.add_pairs(pairs.with_item(judged))
                continue
            of = ShownItem(content_of(judged), study.protocol, judged.pages, judged.scores)
            key.add(judged.item, instance, of.parts)
            for project in out:
                project.add(of, judged.labels, instance)
        people: dict[str, str] = {}
        for project in out:
            people |= project.close()
        key.close(people)
        return Written(n, 0)


FORMATS.register(Potato())


# Reading --------------------------------------------------------------------------------------------------------------


@dataclass
class _Theirs:
    """One project: its config, what its schemes ask, and which fields of its data are what."""

    file: SourceFile
    config: Mapping[str, Any]
    asked: list[Asked]
    id_field: str
    text_field: str
    pair_field: str | None
    lost: Lost
    tuples: Tuples | None
    images: dict[str, list[str]]
    """Scheme that asks of regions → the fields in which its image may be."""

    marked: list[str]
    """The fields of which stretches are marked: the first is meant by a stretch that does not say of which it is."""

    answer: str | None
    """The marked field that is the answer."""

    states: list[SourceFile] = field(default_factory=list)

    @cached_property
    def schemes(self) -> frozenset[str]:
        """The names of all the schemes in the config, of whatever phase."""
        return frozenset(_named_schemes(self.config))

    @property
    def folder(self) -> PurePosixPath:
        return PurePosixPath(self.file.name).parent

    @property
    def spans(self) -> bool:
        return any(one.criterion.scale == "spans" for one in self.asked)

    @property
    def spans_alone(self) -> bool:
        return all(one.criterion.scale == "spans" for one in self.asked)


class _Record(NamedTuple):
    """One instance of the data: where it stands, its id, and what it says."""

    file: str
    line: int
    instance: str
    record: Record


class _Instance(NamedTuple):
    """That there is an instance of this name."""

    name: str


class _State:
    """What one user said: instance → scheme → name → value, and the marked stretches of each scheme.

    `opened` are the instances that Potato itself showed them.
    """

    def __init__(self, user: str, data: Mapping[str, Any]) -> None:
        self.user = user
        self.names: dict[str, dict[str, dict[str, Any]]] = {}
        self.marked: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
        self.seconds: dict[str, float] = {}
        self.times: dict[str, datetime] = {}
        self.opened: set[str] = set()
        for instance, about, value in _entries(data.get(_LABELS)):
            self.names.setdefault(instance, {}).setdefault(str(about["schema"]), {})[str(about.get("name"))] = value
        for instance, about, value in _entries(data.get(_SPANS)):
            spans = self.marked.setdefault(instance, {})
            if about.get("schema") and value is not None:
                spans.setdefault(str(about["schema"]), []).append(about)
        behaviour = data.get("instance_id_to_behavioral_data")
        for instance, of in behaviour.items() if isinstance(behaviour, dict) else ():
            self._note_time(str(instance), of)

    def _note_time(self, instance: str, of: object) -> None:
        if not isinstance(of, dict):
            return
        self.opened.add(instance)
        spent, end = of.get("total_time_ms"), of.get("session_end")
        if isinstance(spent, int | float) and 0 < spent < 1e12:
            self.seconds[instance] = spent / 1000
        if isinstance(end, int | float):
            with suppress(OverflowError, ValueError, OSError):
                self.times[instance] = datetime.fromtimestamp(end, UTC)


def _entries(given: object) -> Iterator[tuple[str, Mapping[str, Any], Any]]:
    """(instance, what is labelled, value) of a map of lists of pairs; an empty list gives (instance, {}, None)."""
    for instance, pairs in given.items() if isinstance(given, dict) else ():
        if not pairs:
            yield str(instance), {"schema": ""}, None
        for pair in pairs if isinstance(pairs, list) else ():
            if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict) and "schema" in pair[0]:
                yield str(instance), pair[0], pair[1]


class _Reading(FilesReading):
    """The projects of one source. Where our key lies beside them, it has the items, and the projects give labels."""

    format = Potato.name

    def __init__(self, sources: Sources) -> None:
        from exports.label_studio.lost import Lost  # noqa: PLC0415 - a file is recognised without it

        configs = [
            file
            for file in sources.files
            if file.basename.endswith(CONFIG_ENDINGS) and any(name in file.head() for name in _SAYS_SO)
        ]
        if not configs:
            raise InvalidInput(
                f"{sources.description}: there is no config of Potato in it (.yaml with `annotation_schemes`). What "
                "the states of users mean stands there: put it beside them."
            )
        super().__init__(sources, configs)
        self._lost = Lost()
        self._of_configs = Lost()
        self._projects = [_project_of(file, self._of_configs) for file in configs]
        for file in sources.files:
            if file.basename == STATE:
                near = [one for one in self._projects if PurePosixPath(file.name).is_relative_to(one.folder)]
                if near:
                    max(near, key=lambda one: len(one.folder.parts)).states.append(file)
        self._key = KeyReading(sources)
        self._machines: Counter[str] = Counter()
        self._unknown = 0

    def label_protocol(self) -> Protocol:
        """What the projects ask: as our protocol in the key says, else as far as their schemes can be asked here."""
        if self._key.protocol is not None:
            return self._key.protocol
        if not any(one.asked for one in self._projects):
            raise InvalidInput(
                "\n".join(["Nothing that the project asks can be asked here.", *self._of_configs.lines()])
            )
        return _protocol(next(one for one in self._projects if one.asked))

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """An item an instance, or two where two texts are compared."""
        self._machines.clear()
        self._unknown, self._lost = 0, type(self._lost)()
        data = [(project, file) for project in self._projects for file in self._data_files(project)]
        self.meter.done, self.meter.of = 0, sum(file.size for _, file in data if isinstance(file, SourceFile))
        if self._key.there:
            yield from self._own()
            return
        for project in self._projects:
            states = [*self._states(project)]
            yield from (state for state in states if isinstance(state, Rejected))
            said = [state for state in states if isinstance(state, _State)]
            known: set[str] = set()
            for row in self._of_project(project, [file for one, file in data if one is project], said):
                if isinstance(row, _Instance):
                    known.add(row.name)
                else:
                    yield row
            self._unknown += sum(len({*state.names, *state.marked} - known) for state in said)

    def notes(self) -> Sequence[str]:
        """What of the projects cannot be said here, and whose states are left out."""
        found = self._key.notes()
        if self._machines:
            names = ", ".join(sorted(self._machines)[:5])
            found.append(f"{count(len(self._machines), 'state')} of machines ({names}) are no person's: left out.")
        if self._unknown:
            found.append(
                f"{count(self._unknown, 'labelled instance is', 'labelled instances are')} not in the data: left out."
            )
        return [*found, *(f"{LOST}{line}." for line in (*self._of_configs.lines(), *self._lost.lines()))]

    # Items -----------------------------------------------------------------------------------------------------------

    def _own(self) -> Iterator[ParsedItem | Rejected]:
        """The items of our key, with what the states of all projects say of them and their units."""
        said: dict[str, list[ForeignLabel]] = {}
        for project in self._projects:
            of_instance: dict[str, tuple[str, str, str | None]] = {}
            for file in self._data_files(project):
                if isinstance(file, Rejected):
                    yield file
                    continue
                for _, record in _records(file):
                    if isinstance(record, dict) and isinstance(record.get("item"), str):
                        other = record.get("other")
                        of_instance[str(record.get("id"))] = (
                            self._key.item_of(record["item"]),
                            str(record.get("target") or ALONE),
                            self._key.item_of(other) if isinstance(other, str) and other else None,
                        )
            for state in self._states(project):
                if isinstance(state, Rejected):
                    yield state
                    continue
                for instance in {**state.names, **state.marked}:
                    if instance not in of_instance:
                        self._unknown += 1
                        continue
                    item, target, other = of_instance[instance]
                    try:
                        for label in self._said(project, state, _Record(project.file.name, 1, instance, {})):
                            of = self._key.target_of(label.criterion, target) if other else target
                            about = label._replace(item=item, target=of, other=other)
                            said.setdefault(item, []).append(self._key.by_own_names(about))
                    except AssayError as error:
                        yield Rejected(project.file.name, 1, str(error))
        yield from self._key.items(said, self._spans())

    def _of_project(
        self, project: _Theirs, files: Sequence[SourceFile | Rejected], states: Sequence[_State]
    ) -> Iterator[ParsedItem | Rejected | _Instance]:
        """The items of a project's instances, after each instance that is in its data."""
        pool: dict[str, str] = {}
        for file in files:
            if isinstance(file, Rejected):
                yield file
                continue
            for line, record in _records(file):
                if isinstance(record, str):
                    yield Rejected(file.name, line, record)
                    continue
                try:
                    instance = _instance(project, record)
                    if project.tuples is None:
                        yield _Instance(instance)
                        yield from self._item(project, _Record(file.name, line, instance, record), states)
                    else:
                        text = record.get(project.text_field)
                        pool[instance] = "" if text is None else text_of_field(text)
                except AssayError as error:
                    yield Rejected(file.name, line, str(error))
            self.meter.done += file.size
        if project.tuples is not None:
            yield from self._of_tuples(project, project.tuples, pool, states)

    def _of_tuples(
        self, project: _Theirs, tuples: Tuples, pool: Mapping[str, str], states: Sequence[_State]
    ) -> Iterator[ParsedItem | Rejected | _Instance]:
        """An item a tuple that Potato draws of the instances: their texts, one below the other, are the answer."""
        where = project.file.name
        try:
            for instance, drawn in tuples.of(list(pool)):
                positions = dict(zip(POSITIONS, drawn, strict=False))
                answer = "\n\n".join(f"{position}. {pool[name]}" for position, name in positions.items())
                record = {"answer": answer, "positions": positions}
                yield _Instance(instance)
                try:
                    yield from self._item(project, _Record(where, 1, instance, record), states)
                except AssayError as error:
                    yield Rejected(where, 1, f"{instance}: {error}")
        except AssayError as error:
            yield Rejected(where, 1, str(error))

    def _item(self, project: _Theirs, of: _Record, states: Sequence[_State]) -> Iterator[ParsedItem]:
        rows = [*_rows(project, of.instance, of.record, self.addressed)]
        items = [read_item(row, scorer=SCORER) for row in rows]
        other = items[1].id if len(items) > 1 else None
        labels = tuple(
            in_answer(label._replace(item=items[0].id, other=other), items[0].answer, self._spans())
            for state in states
            for label in self._said(project, state, of, items[0].answer)
        )
        for item in items:
            yield ParsedItem(of.file, of.line, item, labels if item is items[0] else ())

    def _said(self, project: _Theirs, state: _State, of: _Record, answer: str | None = None) -> Iterator[ForeignLabel]:
        """What somebody said of an instance. With its `answer`, places in what Potato shows of it are places in it."""
        instance = of.instance
        names, marked = state.names.get(instance, {}), state.marked.get(instance)
        for scheme in names.keys() - project.schemes:
            self._lost.add(f"What was given to the scheme {scheme!r}, which the config does not have")
        for asked in project.asked:
            of_scheme = names.get(asked.scheme, {})
            if asked.criterion.scale == "spans" and not self._looked_for_spans(project, asked, state, instance):
                continue
            stretches = (marked or {}).get(asked.scheme, ()) if asked.criterion.scale == "spans" else ()
            of_image = asked.scheme in project.images
            kept = self._of_answer(project, stretches, answer) if stretches else ()
            if stretches and not kept:
                self._lost.add("Labels of which no stretch is left, as nothing marked would be another label")
                continue
            try:
                value = asked.read(of_scheme, kept)
                if value is None and not of_image and (names or marked is not None) and self._may_be_empty(asked):
                    value = []
                if value is None:
                    continue
                asked.criterion.check(value)
            except AssayError as error:
                raise InvalidInput(f"{state.user} gave {asked.scheme!r} of {instance}: {error}") from None
            places = None
            if of_image:
                image = image_in(of.record, project.images[asked.scheme], project.text_field)
                document = None if image is None else self.addressed.key(of.record[image])
                places = places_in(of_scheme, document, self._lost) or None
            yield ForeignLabel(
                of.line,
                instance,
                self._key.person(state.user),
                asked.criterion.name,
                asked.criterion.target.value,
                cell_of(value),
                state.times.get(instance),
                None,
                None,
                None,
                state.seconds.get(instance),
                places,
            )

    def _spans(self) -> set[str]:
        """The criteria whose labels are stretches."""
        asked = (one.criterion for project in self._projects for one in project.asked)
        return {criterion.name for criterion in asked if criterion.scale == "spans"}

    def _looked_for_spans(self, project: _Theirs, asked: Asked, state: _State, instance: str) -> bool:
        """Whether somebody said which stretches there are, or that there is none.

        Potato keeps nothing of an instance in which nobody marked anything: whoever answered something else of it while
        it was open there found none. Of our own labels, which were not opened there, those without an entry are none.
        """
        names, marked = state.names.get(instance, {}), state.marked.get(instance)
        if marked is not None:
            return self._key.there or bool(names) or any(marked.values()) or project.spans_alone
        free = asked.criterion.when is None and (self._key.there or not asked.criterion.required)
        return bool(names) and free and (not self._key.there or instance in state.opened)

    def _may_be_empty(self, asked: Asked) -> bool:
        """Whether somebody who answered something of an instance said, with no label of this, that none fits."""
        criterion = asked.criterion
        if criterion.scale != "set" or criterion.when is not None or asked.says_none:
            return False
        if self._key.protocol is None:
            return not criterion.required
        ours = {one.name: one for one in self._key.protocol.criteria}
        return criterion.name in ours and ours[criterion.name].required

    def _of_answer(
        self, project: _Theirs, marked: Sequence[Mapping[str, Any]], answer: str | None
    ) -> list[Mapping[str, Any]]:
        """The stretches of the text that is the answer; one that overlaps another, or is in parts, is lost."""
        kept: list[Mapping[str, Any]] = []
        apart = Apart()
        places: Sequence[int] | None = None
        if answer is not None:
            places = range(len(answer)) if _displayed(project.config) else _places_shown(answer)
        for one in marked:
            start, end = one.get("start"), one.get("end")
            if (one.get("target_field") or project.marked[0]) != project.answer:
                self._lost.add("Stretches of another text than the answer")
            elif not _is_place(start) or not _is_place(end) or "name" not in one:
                self._lost.add("Marked places that are no stretch of a text")
            elif one.get("additional_parts"):
                self._lost.add("Stretches that have several parts")
            elif places is not None and (start >= end or end > len(places)):
                self._lost.add("Stretches that end beyond the answer")
            elif not apart.takes(start, end):
                self._lost.add("Stretches that overlap others: the first is kept")
            else:
                kept.append(one)
        if places is None:
            return kept
        return [{**one, "start": places[one["start"]], "end": places[one["end"] - 1] + 1} for one in kept]

    # Files -----------------------------------------------------------------------------------------------------------

    def _states(self, project: _Theirs) -> Iterator[_State | Rejected]:
        """The states of a project's people; those of machines are counted and left out."""
        for file in project.states:
            data = json_file(file)
            if isinstance(data, Rejected):
                yield data
                continue
            if not isinstance(data, dict):
                yield Rejected(file.name, 1, "it is no state of a user, which is an object. Leave it out.")
                continue
            user = data.get("user_id")
            name = user if isinstance(user, str) and user else PurePosixPath(file.name).parent.name
            origin = data.get("origin")
            if isinstance(origin, dict) and origin.get("kind", _HUMAN) != _HUMAN:
                self._machines[name] += 1
                continue
            for of, what in _OTHER_ANSWERS.items():
                given = data.get(of)
                self._lost.add(what, len(given) if isinstance(given, dict) else 0)
            yield _State(name, data)

    def _data_files(self, project: _Theirs) -> Iterator[SourceFile | Rejected]:
        """The files of items that a config names, among those of the source: no other one is ever opened."""
        named = project.config.get("data_files")
        listed = named if isinstance(named, list) else []
        names = [one.get("path") if isinstance(one, dict) else one for one in listed if one]
        if not names:
            yield Rejected(project.file.name, 1, "it names no `data_files`. Write them there, and put them beside it.")
        for name in names:
            path = PurePosixPath(str(name).replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or ":" in str(name):
                reason = f"`data_files` names {shown(name)}, which lies outside of the folder. Put the file into it."
                yield Rejected(project.file.name, 1, reason)
                continue
            there = [file for file in self.sources.files if PurePosixPath(file.name).is_relative_to(project.folder)]
            parts = path.parts
            fitting = [file for file in there if PurePosixPath(file.name).parts[-len(parts) :] == parts]
            if fitting:
                yield min(fitting, key=lambda file: len(PurePosixPath(file.name).parts))
            else:
                reason = f"`data_files` names {shown(name)}, which is not there. Put it into the folder of the config."
                yield Rejected(project.file.name, 1, reason)


def _is_place(given: object) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


def _project_of(file: SourceFile, lost: Lost) -> _Theirs:
    from annotators.asking.yaml_files import YamlFile  # noqa: PLC0415 - a file is recognised without it
    from exports.formats._potato_schemes import read_schemes  # noqa: PLC0415 - loads pydantic

    with file.path.open("rb") as opened:
        text = opened.read(1 << 20).removeprefix(b"\xef\xbb\xbf")
    try:
        said = text.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{file.name} is not in UTF-8. Save it as UTF-8.") from None
    try:
        config = YamlFile(file.name, kind="config of Potato", begins="annotation_task_name: My task").read(said)
    except RecursionError:
        raise InvalidInput(f"{file.name} is nested too deeply. Write a plainer one.") from None
    properties = config.get("item_properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    schemes = [*_schemes(config, lost)]
    pair = next((one for one in schemes if isinstance(one, dict) and one.get("annotation_type") == "pairwise"), None)
    text_field = str(fields.get("text_key") or "text")
    pair_field = None if pair is None else str(pair.get("items_key") or text_field)
    if config.get("bws_config") is None:
        for one in schemes:
            if isinstance(one, dict) and one.get("annotation_type") == TUPLES:
                lost.add(f"{TUPLES} {one.get('name')!r}: its tuples are made while people answer, and are in no file")
        schemes = [one for one in schemes if not isinstance(one, dict) or one.get("annotation_type") != TUPLES]
    images = {
        str(one.get("name")): image_fields(one, _displayed(config), text_field)
        for one in schemes
        if isinstance(one, dict) and one.get("annotation_type") == REGIONS
    }
    marked = _marked(config, schemes, text_field)
    answer = _marked_answer(config, marked)
    for one in schemes:
        if _marks_another(one, answer):
            lost.add(f"{one['annotation_type']} {one.get('name')!r}: it marks another text than the answer")
    asked = read_schemes([one for one in schemes if not _marks_another(one, answer)], lost, pairs=pair is not None)
    id_field = str(fields.get("id_key") or "id")
    tuples = tuples_of(config)
    return _Theirs(file, config, asked, id_field, text_field, pair_field, lost, tuples, images, marked, answer)


def _schemes(config: Mapping[str, Any], lost: Lost) -> Iterator[object]:
    """The schemes of the annotation itself; those of other phases are lost."""
    own = config.get("annotation_schemes")
    yield from own if isinstance(own, list) else ()
    phases = config.get("phases")
    for name, phase in phases.items() if isinstance(phases, dict) else ():
        if isinstance(phase, dict):
            given = phase.get("annotation_schemes")
            if phase.get("type") == "annotation" and isinstance(given, list):
                yield from given
            elif name != "order":
                lost.add(f"The phase {str(name)!r} ({phase.get('type', 'of no type')})")


def _named_schemes(config: object) -> Iterator[str]:
    if isinstance(config, dict):
        if "annotation_type" in config:
            yield str(config.get("name"))
        config = list(config.values())
    for inner in config if isinstance(config, list) else ():
        yield from _named_schemes(inner)


def _marked(config: Mapping[str, Any], schemes: Iterable[object], text_field: str) -> list[str]:
    """The fields that are marked: those that the display or a scheme says, else the text."""
    of_display = [str(one.get("key")) for one in _displayed(config) if one.get("span_target")]
    of_schemes = [str(one["target_field"]) for one in schemes if _marks(one) and one.get("target_field")]
    return list(dict.fromkeys([*of_display, *of_schemes])) or [text_field]


def _marks(scheme: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(scheme, dict) and scheme.get("annotation_type") in ("span", "highlight")


def _marks_another(scheme: object, answer: str | None) -> TypeGuard[Mapping[str, Any]]:
    """Whether a scheme is about stretches of no text that is the answer."""
    return _marks(scheme) and (answer is None or str(scheme.get("target_field") or answer) != answer)


def _marked_answer(config: Mapping[str, Any], marked: Sequence[str]) -> str | None:
    """Which of the marked fields is the answer: the one that is called so, else the first that is not the question."""
    known = guessed([*(str(one.get("key")) for one in _displayed(config)), *marked])
    [question], [answer] = known.get("question", [None]), known.get("answer", [None])
    return answer if answer in marked else next((name for name in marked if name != question), None)


def _places_shown(text: str) -> list[int]:
    """Of each character of a text that Potato shows its place in the text: spaces are one there, and none at the ends.

    What `normalize_display_text` of Potato does, which shows the text of an instance where no display is configured.
    """
    kept: list[int] = []
    for place, sign in enumerate(text):
        if (sign < " " and sign != "\n") or sign == "\x7f" or (sign == " " and kept and text[kept[-1]] == " "):
            continue
        kept.append(place)
    while kept and text[kept[0]].isspace():
        del kept[0]
    while kept and text[kept[-1]].isspace():
        kept.pop()
    return kept


def _displayed(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    display = config.get("instance_display")
    fields = display.get("fields") if isinstance(display, dict) else None
    return [one for one in fields if isinstance(one, dict)] if isinstance(fields, list) else []


def _instance(project: _Theirs, record: Record) -> str:
    name = record.get(project.id_field)
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise InvalidInput(f"its id (`{project.id_field}`) is {shown(name)}. Write a word or a number.")
    return str(name)


def _rows(project: _Theirs, instance: str, record: Record, documents: Addressed) -> Iterator[Normal]:
    """The normal form of the item, or of the two items, of an instance."""
    task = str(project.config.get("annotation_task_name") or "Potato")
    if project.tuples is not None:
        metadata = {"positions": record["positions"]}
        yield {"id": instance, "question": task, "answer": record["answer"], "metadata": metadata}
        return
    rest = {name: value for name, value in record.items() if name != project.id_field}
    sides = rest.pop(project.pair_field, None) if project.pair_field else None
    if project.pair_field and isinstance(sides, list) and len(sides) == 2:
        row = item_of_fields(rest, None, {})
        row.setdefault("question", task)
        for side, text in zip("AB", sides, strict=True):
            yield {
                **row,
                "id": f"{instance}:{side}",
                "question_key": instance,
                "answer": text_of_field(text),
                "system": side,
            }
        return
    if sides is not None:
        raise InvalidInput(f"`{project.pair_field}` is {shown(sides)}, not a list of two texts that are compared.")
    pictures = {
        image: rest.pop(image)
        for fields in project.images.values()
        for image in [image_in(rest, fields, project.text_field)]
        if image is not None
    }
    row = item_of_fields(rest, None, _said_of_text(project, rest))
    row.setdefault("question", task)
    metadata = {**row.pop("metadata", {}), **pictures}
    pages = [
        {"key": part_key(image), "kind": "page", "document": documents.key(address), "pages": [1]}
        for image, address in pictures.items()
    ]
    evidence = [*row.pop("evidence", ()), *pages]
    yield (
        {**row, "id": instance}
        | ({"metadata": metadata} if metadata else {})
        | ({"evidence": evidence} if evidence else {})
    )


def _said_of_text(project: _Theirs, record: Record) -> dict[str, str]:
    """Which field of ours the text of an instance is: none where it is called as one, or the record has both."""
    if project.spans and project.answer is not None:
        return {"answer": project.answer}
    text, known = project.text_field, guessed(list(record))
    if [text] in (known.get("question"), known.get("answer")):
        return {}
    if "question" not in known:
        return {"question": text}
    return {} if "answer" in known else {"answer": text}


def _records(file: SourceFile) -> Iterator[tuple[int, Record | str]]:
    """(line, record, or why there is none) of a file of items: a JSON list, JSON lines, or a table."""
    if is_table(file.basename):
        try:
            table = open_table(file.path)
            for line, cells in table.rows:
                yield line, cells if isinstance(cells, str) else dict(zip(table.columns, cells, strict=True))
        except AssayError as error:
            yield 1, str(error)
        return
    rows: Iterator[tuple[int, Any] | Rejected]
    if file.basename.endswith(LINES_ENDING) or not file.beginning().startswith(b"["):
        rows = json_lines(file)
    elif file.basename.endswith(JSON_ENDING):
        data = json_file(file)
        listed = data if isinstance(data, list) else []
        lines = element_lines(file, None, len(listed))
        rows = iter([data]) if isinstance(data, Rejected) else zip(lines, listed, strict=True)
    else:
        rows = iter([Rejected(file.name, 1, "items are JSON, JSON lines or a table. Save the file as one of these.")])
    for row in rows:
        if isinstance(row, Rejected):
            yield row.line, row.reason
        else:
            yield row[0], row[1] if isinstance(row[1], dict) else "it is no object. Write one {…} an item."


def _protocol(project: _Theirs) -> Protocol:
    from annotators.asking.inferred_protocols import criterion_name  # noqa: PLC0415 - loads pydantic
    from annotators.protocols import ALL_FALLS  # noqa: PLC0415
    from annotators.protocols import Protocol as Of  # noqa: PLC0415

    task = " ".join(str(project.config.get("annotation_task_name") or "Potato").split())
    try:
        name = criterion_name(task)
    except InvalidInput:
        name = "potato"
    said = project.config.get("annotation_instructions")
    return Of.model_validate(
        {
            "name": name,
            "title": task,
            "summary": "A project of Potato.",
            "guidelines": str(said or "A project of Potato; its instructions are not part of its config."),
            "criteria": [one.criterion for one in project.asked],
            "steps": [
                {
                    "name": "all",
                    "title": "All",
                    "shows": ["question", "answer", *(["evidence"] if project.images else [])],
                    "criteria": [one.criterion.name for one in project.asked],
                }
            ],
            "overlap": 1,
            "invalidates": ALL_FALLS,
        }
    )


# Writing --------------------------------------------------------------------------------------------------------------


def _config(
    title: str, instructions: str, fields: Sequence[str], schemes: Sequence[Mapping[str, Any]], users: Sequence[str]
) -> dict[str, Any]:
    marked = {scheme["target_field"] for scheme in schemes if "target_field" in scheme}
    display: list[dict[str, Any]] = [
        {"key": name, "type": "text", "label": name.capitalize(), **({"span_target": True} if name in marked else {})}
        for name in fields
        if name != ANSWERS
    ]
    if ANSWERS in fields:
        display.append(
            {"key": ANSWERS, "type": "pairwise", "label": "Answers", "display_options": {"labels": ["A", "B"]}}
        )
    config: dict[str, Any] = {
        "annotation_task_name": title,
        "task_dir": ".",
        "output_annotation_dir": f"{STATES}/",
        "data_files": [DATA],
        "item_properties": {"id_key": "id", "text_key": next(iter(sorted(marked)), fields[0])},
        "instance_display": {"fields": display},
        "site_dir": "default",
        "require_password": False,
        "user_config": {"allow_all_users": not users, "users": [*users]},
    }
    if instructions:
        config["annotation_instructions"] = instructions
    return {**config, "annotation_schemes": [*schemes]}


def _yaml(config: Mapping[str, Any]) -> bytes:
    import yaml  # noqa: PLC0415 - formats are listed without it

    written: str = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=100)
    return written.encode()


class _Project:
    """One project under way: its config, its instances, and the states of its users, which are written at the end."""

    def __init__(self, study: StudyOut, asked: Together, files: Files) -> None:
        from exports.formats._potato_schemes import scheme_of  # noqa: PLC0415 - loads pydantic

        self._study, self._asked, self._files = study, asked, files
        self._fields = fields_of_tasks(study.protocol, scores=asked.scores)
        if asked.kind == PAIR:
            self._fields = [*(name for name in self._fields if name != "answer"), ANSWERS]
        marked = "answer" if "answer" in self._fields else None
        self._schemes = {criterion.name: scheme_of(criterion, marked) for criterion in asked.criteria}
        if asked.kind not in (ALONE, PAIR):
            self._fields = [*self._fields, "unit"]
        self._labels: dict[str, list[bytes]] = {}
        self._spans: dict[str, list[bytes]] = {}
        self._order: dict[str, list[str]] = {}
        self._users: dict[str, str] = {}
        files.begin(f"{asked.folder}/{DATA}")

    def add(self, of: ShownItem, labels: Iterable[Given], item: str) -> None:
        """The instances of an item, and what everybody said of them."""
        said: dict[str, dict[str, list[tuple[str, Any]]]] = {}
        for label in of.said(labels, self._asked.criteria):
            said.setdefault(label.target, {}).setdefault(label.annotator, []).append((label.criterion, label.value))
        for task in of.tasks(self._asked, said):
            instance = self._asked.task_id(item, task.target)
            texts = task.texts if self._asked.kind == ALONE else {**task.texts, "unit": task.unit}
            record = {"id": instance, "item": item, "target": task.target, **dict.fromkeys(self._fields, ""), **texts}
            self._files.add(f"{self._asked.folder}/{DATA}", record)
            for annotator, given in said.get(task.target, {}).items():
                self._add_labels(annotator, instance, given)

    def add_pairs(self, pairs: Iterable[PairTask]) -> None:
        """The instances of pairs of items, and what everybody said of them."""
        for task in pairs:
            left, right = self._study.known_as(task.left), self._study.known_as(task.right)
            instance = f"{left}|{right}"
            texts = {name: task.texts.get(name, "") for name in self._fields if name != ANSWERS}
            about = {"id": instance, "item": left, "other": right, "target": PAIR}
            self._files.add(f"{self._asked.folder}/{DATA}", {**about, **texts, ANSWERS: list(task.answers)})
            said: dict[str, list[tuple[str, Any]]] = {}
            for label in task.said:
                said.setdefault(label.annotator, []).append((label.criterion, label.value))
            for annotator, labels in said.items():
                self._add_labels(annotator, instance, labels)

    def _add_labels(self, annotator: str, instance: str, labels: Sequence[tuple[str, Any]]) -> None:
        from exports.formats._potato_schemes import entries_of, stretches_of  # noqa: PLC0415 - loads pydantic

        entries, stretches, marks = [], [], False
        for criterion, value in labels:
            scheme = self._schemes[criterion]
            entries += entries_of(scheme, value)
            marks = marks or scheme["annotation_type"] == "span"
            stretches += stretches_of(scheme, value)
        user = self._users.setdefault(annotator, self._files.named("user", annotator, ""))
        of = orjson.dumps(instance)
        self._order.setdefault(user, []).append(instance)
        if entries:
            self._labels.setdefault(user, []).append(of + b": " + orjson.dumps(entries))
        if marks:
            self._spans.setdefault(user, []).append(of + b": " + orjson.dumps(stretches))

    def close(self) -> dict[str, str]:
        """Write config and states; user → annotator."""
        protocol = self._study.protocol
        title = protocol.title if self._asked.folder == ALONE else f"{protocol.title}: {self._asked.folder}"
        users = [*self._users.values()]
        config = _config(title, protocol.guidelines, self._fields, [*self._schemes.values()], users)
        self._files.begin(f"{self._asked.folder}/{CONFIG}").write(_yaml(config))
        for user in users:
            about = {
                "user_id": user,
                "instance_id_ordering": self._order[user],
                "current_instance_index": 0,
                "current_phase_and_page": ["annotation", title],
                "completed_phase_and_pages": [],
                "max_assignments": -1,
            }
            head = orjson.dumps(about).removesuffix(b"}")
            out = self._files.begin(f"{self._asked.folder}/{STATES}/{user}/{STATE}", head, b"}\n")
            for name, held in ((_LABELS, self._labels), (_SPANS, self._spans)):
                out.write(f',\n"{name}": {{\n'.encode() + b",\n".join(held.get(user, ())) + b"\n}")
        roster = b"".join(orjson.dumps({"username": user}, option=orjson.OPT_APPEND_NEWLINE) for user in users)
        if users:
            self._files.begin(f"{self._asked.folder}/{STATES}/user_config.json", roster, b"")
        return {user: annotator for annotator, user in self._users.items()}
