"""Gold items and the qualification of a study: what was asked, and how annotators stood."""

from __future__ import annotations

from annotators.asking.planting import Planting
from annotators.asking.qualifying import Qualifying
from annotators.figures import count
from annotators.figures import percent as percent_of
from db.models import Purpose, StudyItem
from db.query import pick
from exports.agreement.quality import AnnotatorQuality
from exports.dataset.base import Numbers, OfStudy, Part, Source
from exports.drawing.figures import percent
from exports.drawing.report_files import Section
from exports.drawing.tables import TextTable


def quality(source: Source, of: OfStudy) -> Part:
    """Gold, repeats and qualification; nothing of a study that has none of them."""
    settings = of.study.settings
    planting, asked = Planting.of(settings), Qualifying.of(settings)
    gold, qualifying = _n(of, Purpose.GOLD), _n(of, Purpose.QUALIFICATION)
    numbers: Numbers = {source.named("gold.items", of): gold, source.named("qualification.items", of): qualifying}
    facts: list[tuple[str, str]] = []
    if gold:
        facts += [
            ("Gold items", f"{gold:,}"),
            ("Gold items came in at a rate of", percent_of(planting.gold_rate)),
            ("Share of gold labels that has to be right", percent_of(planting.mark)),
        ]
    if planting.repeat_rate:
        facts.append(("Items came again at a rate of", percent_of(planting.repeat_rate)))
    if qualifying:
        facts += [
            ("Items of the qualification", f"{qualifying:,}"),
            ("Share of their labels that has to be right", percent_of(asked.mark)),
            ("Tries", f"{asked.tries:,}"),
        ]
    tables = [TextTable.of("What was asked", ("What", "Number"), facts)] if facts else []
    rows = [row for one in sorted(of.team, key=lambda one: one.member.person_id) if (row := _row(of, one)) is not None]
    if rows:
        columns = ("Annotator", "Gold right", "Share", "With themselves", "Qualification", "Tries")
        tables.append(TextTable.of("Annotators on gold, repeats and the qualification", columns, rows))
    right = sum(one.gold.hits for one in of.team if one.gold)
    total = sum(one.gold.n for one in of.team if one.gold)
    if total:
        numbers |= {source.named("gold.labels", of): total, source.named("gold.right", of): right}
    limits = []
    if not gold and not qualifying and of.is_labelled:
        limits.append(
            f"Study {of.name} has no gold items and no qualification: how well single annotators do is known "
            "only from their agreement."
        )
    failed = [one for one in of.team if one.qualification is not None and one.qualification.state == "failed"]
    if failed:
        limits.append(f"{count(len(failed), 'person', 'people')} did not pass the qualification of study {of.name}.")
    if let_in := sum(one.qualification is not None and one.qualification.state == "let_in" for one in of.team):
        were = "person was" if let_in == 1 else "people were"
        limits.append(f"{let_in:,} {were} let into study {of.name} without passing its qualification.")
    sections = (
        [Section(source.titled("Gold and qualification", of), tables, name=f"gold-{of.study_id}")] if tables else []
    )
    return Part(sections, numbers, limits)


def _n(of: OfStudy, purpose: Purpose) -> int:
    with of.db.read() as session:
        query = pick(StudyItem.id).where(StudyItem.study_id == of.study_id, StudyItem.purpose == purpose)  # type: ignore[arg-type]
        return len(session.execute(query).all())


def _row(of: OfStudy, one: AnnotatorQuality) -> list[str] | None:
    if one.gold is None and one.self_agreement is None and one.qualification is None:
        return None
    gold, again, qualified = one.gold, one.self_agreement, one.qualification
    return [
        of.called.get(one.member.person_id, "somebody without submissions"),
        "" if gold is None else f"{gold.hits:,} of {gold.n:,}",
        "" if gold is None or gold.value is None else percent(gold),
        "" if again is None else percent(again) if again.value is not None else f"{again.hits:,} of {again.n:,}",
        "" if qualified is None else qualified.state.replace("_", " "),
        "" if qualified is None else f"{qualified.tries:,}",
    ]
