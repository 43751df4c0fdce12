"""The menu that takes a report away: HTML with its plots, Markdown and LaTeX in a ZIP with theirs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from app.server.routes import downloads
from app.worker.reports import Reports, Task
from exports.drawing.report_files import slug


def offer(
    title: str, made_by: Callable[[str], Task], reports: Reports, key: Hashable, *, name: str, stem: str = ""
) -> None:
    """The menu, as `name` on the page; each file is made when it is asked for, where reports are made.

    `made_by` gives what makes the file with an ending, and `key` says what report it is.
    Files are called by `stem`, else by the title.
    """
    stem = stem or slug(title)
    files = [
        downloads.File(
            label,
            f"{stem}.html" if ending == ".html" else f"{stem}-{label.lower()}.zip",
            "text/html" if ending == ".html" else "application/zip",
            partial(reports.result, (name, key, ending), made_by(ending)),
        )
        for label, ending in (("HTML", ".html"), ("Markdown", ".md"), ("LaTeX", ".tex"))
    ]
    downloads.menu(name, files, title, label="Download the report")
