"""Figures (`annotators/figures.py`), times and sentences as every page writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from annotators import figures

if TYPE_CHECKING:
    from db.items.imports import ImportReport
    from db.quality.omissions import Decided
    from db.releasing.story import Chapter

NO_REASON = "no reason given"
_CODE = re.compile(r"(`[^`\n]+`)")
THIN = "\N{NARROW NO-BREAK SPACE}"


def number(value: float | None, digits: int = 2, *, reason: str | None = None) -> str:
    """`0.72`; an undefined value in words: `not defined: no page was rated twice`."""
    return figures.number(value, digits, grouped=True, reason=reason)


def interval(
    value: float | None, low: float | None, high: float | None, digits: int = 2, *, reason: str | None = None
) -> str:
    """`0.72 [0.64, 0.79]`; without an interval only the value, and the reason when that is not defined either."""
    shown = number(value, digits, reason=reason)
    return shown if value is None else shown + figures.ends(low, high, digits, grouped=True)


def percent(share: float | None, digits: int = 1, *, reason: str | None = None) -> str:
    """A share from 0 to 1 as `96.8 %`."""
    return figures.percent(share, digits, space=THIN, reason=reason)


def count(n: int, noun: str, plural: str | None = None) -> str:
    """`1 item`, `1,200 items`, `no items`."""
    return figures.count(n, noun, plural, nothing="no")


def at_least(numbers: Iterable[int], noun: str = "", *, most: int) -> str:
    """A sum of what is counted up to `most` each: `12 items`, or `1,000+ items` where some count stopped there."""
    found = list(numbers)
    if all(n < most for n in found):
        return count(sum(found), noun) if noun else f"{sum(found):,}"
    return f"{sum(found):,}+ {noun}s" if noun else f"{sum(found):,}+"


def state(name: str) -> str:
    """The state of an item, as JSON has it (`in_study`), in words."""
    return name.replace("_", " ")


def said_of_lacks(holds: Mapping[str, Sequence[str]], left_out: Mapping[str, Sequence[str]]) -> list[str]:
    """What is said of the items that a release has or leaves out though they lack something, a sentence each."""
    from db.releasing.releases import lack_in_words  # noqa: PLC0415 - most pages and commands need nothing of releases

    said = [(f"It has {count(len(items), 'item')} {lack_in_words(lack)}", items) for lack, items in holds.items()]
    said += [
        (f"Left out: {count(len(items), 'accepted item')} {lack_in_words(lack)}", items)
        for lack, items in left_out.items()
    ]
    return [f"{words}: {figures.some(items, 5)}." for words, items in said]


def fallen_verdicts(n: int) -> str:
    """What is said of so many verdicts that a revision leaves to the earlier version."""
    falls = "falls: it is" if n == 1 else "fall: they are"
    return f"{count(n, 'verdict')} that came with the item {falls} on what is edited."


def chapter(row: Chapter) -> str:
    """One chapter of an item's story as a sentence: `rosa revised it to version 2 (answer): the year was wrong.`"""
    who = row.who or "Somebody"
    about, study = row.details, f" in {row.study}" if row.study else ""
    fields = ", ".join(about.get("fields", ()))
    match row.did:
        case "imported":
            words = f"Imported as version {row.version}" + (f" from {about['source']}" if "source" in about else "")
        case "taken into a study":
            words = f"Taken into the study {row.study}, in version {row.version}"
        case "disputed":
            words = f"Disputed{study}: {count(about['units'], 'unit')}"
        case "labelled" | "rechecked" | "corrected":
            kind = f", as {state(about['kind'])}" if "kind" in about else ""
            words = f"{who} {row.did} version {row.version}{study}{kind}"
        case "adjudicated":
            words = f"{who} adjudicated version {row.version}{study}"
        case "revised":
            words = f"{who} revised it to version {row.version} ({fields})"
        case "revision proposed":
            words = f"{about['source']} has it otherwise ({fields}): a proposed revision"
        case "proposal declined":
            words = f"{who} declined the revision that {about['source']} proposed ({fields})"
        case "released":
            words = f"Version {row.version} went into the release {about['release']}"
        case "import withdrawn" | "import reinstated":
            words = f"{who}: {row.did}, batch {about['batch']}"
        case _:
            words = f"{who}: {row.did}" + (f", version {row.version}" if row.version else "")
    falls = [f"{', '.join(criteria)} in {of}" for of, criteria in about.get("falls", {}).items()]
    fell = f"; labels fall: {'; '.join(falls)}" if falls else ""
    return words + (f": {row.reason.rstrip('.')}" if row.reason else "") + fell


def decided(found: Decided, did: str) -> str:
    """What leaving out or restoring somebody's labels has done, in sentences."""
    words = f"{figures.count(found.annotations, 'annotation')} {did}, of {figures.count(found.items, 'item')}."
    if found.surplus:
        words += f" {found.surplus:,} of them surplus."
    if found.short:
        needs = figures.count(found.short, "annotator")
        words += f" The overlap needs {needs} more than are left: amend the study's design."
    return words


def import_counts(report: ImportReport) -> list[tuple[str, int]]:
    """What an import of items would count (a preview) or has counted: the same things in the same words.

    What there is nothing of is left out: eight zeros beside one count hide it.
    """
    labels = [("labels in a study", report.labels.n)] if report.labels.study else []
    counted = [
        ("items added", report.added),
        ("items there already", report.unchanged),
        ("items there with other content", len(report.revisions)),
        ("bad rows", len(report.rejected)),
        ("documents added", report.documents),
        ("documents given their bytes", report.supplied),
        ("documents marked to stay here", report.kept),
        ("scores added to items there", report.scores),
        *labels,
    ]
    return [(words, n) for words, n in counted if n]


MOST_NAMED = 20
"""Documents without a file that are named in a sentence; --json has more."""


def without_file(report: ImportReport) -> str:
    """What is said of documents that items name and nobody has: they are named; nothing where there are none."""
    if not report.only_named:
        return ""
    is_one = report.only_named == 1
    named = figures.some(report.without_file, MOST_NAMED)
    documents = count(report.only_named, "document")
    if is_one:
        return (
            f"{documents} that items name is neither in the project nor among the files: {named}. Without a file its "
            "pages cannot be shown: import it as well, under this name."
        )
    return (
        f"{documents} that items name are neither in the project nor among the files: {named}. Without a file their "
        "pages cannot be shown: import them as well, under these names."
    )


def ago(at: datetime | None, now: datetime | None = None) -> str:
    """`just now`, `12 minutes ago`, `3 days ago`; nothing for None. `now` is this moment unless another is given."""
    if at is None:
        return ""
    seconds = ((now or datetime.now(UTC)) - at).total_seconds()
    for size, noun in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{count(int(seconds // size), noun)} ago"
    return "just now"


def moment(at: datetime | None, zone: str | None = None) -> str:
    """`18 Nov 2026, 14:02` in the reader's time zone (an IANA name; None: this machine's); nothing for None."""
    if at is None:
        return ""
    try:
        local = at.astimezone(ZoneInfo(zone) if zone else None)
    except (ZoneInfoNotFoundError, ValueError):
        local = at.astimezone()
    return f"{local.day} {local:%b %Y, %H:%M}"


def plain(text: str) -> str:
    """A text for Streamlit's Markdown that shows as it is written."""
    return re.sub(r"([\\`*_{}\[\]()#+\-!|<>~$:])", r"\\\1", text)


def markdown(sentence: str) -> str:
    """A sentence for Streamlit's Markdown that shows as it is written; what stands in backticks is code."""
    return "".join(part if at % 2 else plain(part) for at, part in enumerate(_CODE.split(sentence)))


def html(sentence: str) -> str:
    """A sentence for HTML that shows as it is written; what stands in backticks is code."""
    parts = enumerate(_CODE.split(sentence))
    return "".join(f"<code>{escape(part[1:-1])}</code>" if at % 2 else escape(part) for at, part in parts)


# Reports --------------------------------------------------------------------------------------------------------------

MEASURE_AGAIN = "Measure again"


def measuring(seconds: float, *, more: bool) -> str:
    """What a page says while a report is made, as HTML: for how long, and with `more` that some of it is there."""
    words = "The rest follows" if more else "Measuring"
    return f'<p class="assay-soft" role="status">{words} … {seconds:.0f}{THIN}s</p>'


_FIELDS_OF_PAGE = (
    (re.compile(r"\(--map 'criteria=Answer\.\*'\)"), "(a row is one rating, a column a criterion)"),
    (re.compile(r"with --map (\w+)=COLUMN"), r"as \1 under *Columns*"),
    (re.compile(r"--map (\w+)=COLUMN"), r"\1 under *Columns*"),
    (re.compile(r"--format (\w+)"), r"the format \1"),
    (re.compile(r"--missing[ =]'?([^'.]+?)'?(?=[ .;]|$)"), r"*Words for a missing value*: \1"),
    (re.compile(r"--empty (\w+)"), r"*What an empty cell says*: \1"),
    (re.compile(r"--delimiter '?([^' ]+)'?"), r"*Between the parts of a set*: \1"),
    (re.compile(r"--leave-out COLUMN=([^.]+)"), r"*Rows left out*: the column, =, \1"),
    (re.compile(r"--fold-case(?![\w-])"), "*Labels that differ only in case are one*"),
    (re.compile(r"--encoding(?![\w-])"), "*Encoding*"),
    (re.compile(r"--sheet(?![\w-])"), "*Sheet*"),
    (re.compile(r"--records(?![\w-])"), "*Where the rows are*"),
    (re.compile(r"--each(?![\w-])"), "*Lists of which each element is a row*"),
    (re.compile(r"--map(?![\w-])"), "*Columns*"),
    (re.compile(r"--infer(?![\w-])"), "*A new study, made from the table*"),
    (re.compile(r"--unit(?![\w-])"), "item under *Columns*"),
    (re.compile(r"--rater(?![\w-])"), "annotator under *Columns*"),
)
"""What messages about tables say of options → the fields of a page that stand for them."""
_FIELD = re.compile(r"\*([A-Z][^*\n]+)\*")


def on_page(message: str) -> str:
    """A message about a table with the page's fields in the place of a command's options."""
    for option, words in _FIELDS_OF_PAGE:
        message = option.sub(words, message)
    return _FIELD.sub("\u201c\\1\u201d", message)
