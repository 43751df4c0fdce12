"""Who annotated, under pseudonyms: what they did, how well, how long it took, and what they said of themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from annotators.criteria import Criterion
from annotators.designing.phases import AFTER, BEFORE, CONSENT, phases_of
from annotators.figures import count, duration
from annotators.figures import percent as percent_of
from db.phases.answers import answers_in
from db.studies.ratings import CriterionRatings
from exports.agreement.quality import ShareRight
from exports.dataset.base import Numbers, OfStudy, Part, Source
from exports.drawing.figures import percent
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable

MOST_ANSWERS = 30
"""Different answers to one question that are listed."""

FEWEST = 2
"""People who gave an answer below which it is not listed by itself: it would say who somebody is."""


def people(source: Source, of: OfStudy) -> Part:
    """The annotators of a study, their time, and what they said of themselves where they were asked."""
    found = of.labels.found
    called, given = of.called, found.annotations
    who = sorted({int(person) for person in given.person.tolist()}, key=lambda person: called.get(person, ""))
    tables = [table for table in [_team(of)] if table.rows]
    time, numbers = _time(source, of)
    if time is not None:
        tables.append(time)
    numbers[source.named("annotators", of)] = len(who)
    numbers[source.named("annotations", of)] = len(given.item)
    numbers[source.named("labels", of)] = sum(len(column.unit) for column in _asked(of))
    numbers[source.named("cannot_judge", of)] = sum(column.cannot_judge for column in _asked(of))
    words = [] if tables else ["Nobody has labelled anything yet."]
    if not len(given.item) and any(one.member.submitted for one in of.team):
        words = ["No label counts: what was given is withdrawn or left out."]
    if any("[" in cell for table in tables for row in table.rows for cell in row):
        words.append("Intervals of these shares are Wilson's at 95 %.")
    title = source.titled("Annotators, time and effort", of)
    sections = [Section(title, tables, words=words, name=f"people-{of.study_id}")]
    answers = list(_answers(of))
    if answers:
        words = [f"Answers of fewer than {FEWEST} people, and free texts, are counted together."]
        sections.append(
            Section(source.titled("What annotators said of themselves", of), answers, words=words,
                    name=f"answers-{of.study_id}")
        )  # fmt: skip
    return Part(sections, numbers, list(_limits(of, len(who))))


def _asked(of: OfStudy) -> list[CriterionRatings]:
    """The labels that somebody gave: nothing that is derived from them."""
    names = {criterion.name for criterion in of.labels.found.protocol.criteria}
    return [column for column in of.labels.found.criteria if column.criterion.name in names]


def _team(of: OfStudy) -> TextTable:
    rows = []
    for one in of.team:
        name = of.called.get(one.member.person_id)
        if name is None:
            continue  # they have submitted nothing
        rows.append(
            [
                name,
                f"{one.member.submitted:,}",
                duration(one.member.seconds_per_item, tenths=True),
                _share(one.with_rest),
                "" if one.self_agreement is None else _share(one.self_agreement),
                "" if one.gold is None else f"{one.gold.hits:,} of {one.gold.n:,}",
                one.member.state.replace("_", " "),
            ]
        )
    rows.sort(key=lambda row: (row[0][:1], len(row[0]), row[0]))
    what = "Pairs" if of.about_pairs else "Items"
    columns = ("Annotator", what, "Time an item", "With most of the rest", "With themselves", "Gold right", "State")
    return TextTable.of("Annotators", columns, rows, words=("State",)).without_empty()


def _share(found: ShareRight) -> str:
    if found.value is None:
        return f"– ({count(found.n, 'label')})"
    return percent(found)


def _time(source: Source, of: OfStudy) -> tuple[TextTable | None, Numbers]:
    """Seconds of annotations by annotator; nothing where nobody measured them."""
    given = of.labels.found.annotations
    known = ~np.isnan(given.seconds)
    numbers: Numbers = {}
    if not known.any():
        return None, numbers
    rows = []

    def add(name: str, seconds: np.ndarray) -> None:
        low, middle, high = (float(value) for value in np.percentile(seconds, (25, 50, 75)))
        total = float(seconds.sum())
        rows.append(
            [name, f"{len(seconds):,}", *(duration(value, tenths=True) for value in (low, middle, high, total))]
        )

    for person in sorted(set(given.person[known].tolist()), key=lambda who: of.called.get(who, "")):
        add(of.called.get(person, "?"), given.seconds[known & (given.person == person)])
    rows.sort(key=lambda row: (row[0][:1], len(row[0]), row[0]))
    everything = given.seconds[known]
    add("all", everything)
    numbers |= {
        source.named("hours", of): float(everything.sum()) / 3600,
        source.named("seconds.median", of): float(np.median(everything)),
        source.named("annotations.timed", of): int(known.sum()),
    }
    columns = ("Annotator", "Annotations", "Lower quartile", "Median", "Upper quartile", "In all")
    return TextTable.of("Time of an annotation", columns, rows), numbers


def _answers(of: OfStudy) -> Iterator[TextTable]:
    """A table for each question that annotators answered: background and pay are here, where a study asked for them."""
    phases = phases_of(of.study.settings)
    with of.db.read() as session:
        given = answers_in(session, of.study)
    by_question: dict[tuple[str, str, str], dict[int, object]] = defaultdict(dict)
    for answer in given:
        by_question[answer.phase, answer.question, answer.title][answer.person_id] = answer.value
    questions: dict[tuple[str, str], Criterion] = {
        (phase, asked.name): asked for phase in (BEFORE, AFTER) for asked in getattr(phases, phase)
    }
    for (phase, question, title), values in by_question.items():
        counts: Counter[str] = Counter()
        for value in values.values():
            counts.update(map(str, value) if isinstance(value, list) else [str(value)])
        asked = questions.get((phase, question))
        free = asked is not None and asked.kind == "text"
        kept = {value: n for value, n in counts.items() if n >= FEWEST and not free} if phase != CONSENT else counts
        # One person alone among others is known by what the rest said: the rarest answer goes with them.
        while kept and 0 < sum(counts.values()) - sum(kept.values()) < FEWEST and phase != CONSENT:
            kept.pop(min(kept, key=lambda value: (kept[value], value)))
        often = sorted(kept, key=lambda value: (-kept[value], value))[:MOST_ANSWERS]
        in_order = often if asked is None else asked.in_order(often)
        rows = [[value, f"{kept[value]:,}", percent_of(kept[value] / len(values))] for value in in_order]
        others = sum(counts.values()) - sum(kept.values())
        if others:
            rows.append(["free texts" if free else "others", f"{others:,}", ""])
        yield TextTable.of(f"{title} ({phase})", ("Answer", "People", "Share"), rows, words=("Answer",))


def _limits(of: OfStudy, n: int) -> Iterator[str]:
    name = of.name
    if not n:
        yield f"Nobody has labelled anything in study {name} yet."
        return
    if n < 3:
        yield f"Study {name} has {count(n, 'annotator')}."
    out = [one for one in of.team if one.member.state == "left_out"]
    if out:
        yield f"The labels of {count(len(out), 'annotator')} of study {name} are left out from some moment on."
    warned = [one for one in of.team if one.remarks]
    if warned:
        were = "was" if len(warned) == 1 else "were"
        yield f"{len(warned):,} of {n:,} annotators of study {name} {were} remarked on (pace, runs of one label, gold)."
    cannot = sum(column.cannot_judge for column in _asked(of))
    if cannot:
        yield f"In study {name} “cannot judge” was given {count(cannot, 'time')}; it counts in no coefficient."
    given = of.labels.found.annotations
    untimed = int(np.isnan(given.seconds).sum())
    if untimed:
        yield f"How long {untimed:,} of {len(given.seconds):,} annotations of study {name} took is not known."
    undated = int(np.isnan(given.time).sum())
    if undated:
        yield f"When {undated:,} of {len(given.time):,} annotations of study {name} were made is not known."
    if of.study.settings.get("foreign"):
        yield f"The labels of study {name} were made elsewhere and imported: what annotators saw is not known here."
    if not phases_of(of.study.settings).before:
        yield f"Study {name} did not ask its annotators for their background or what they were paid."
