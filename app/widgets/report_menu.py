"""The menu that takes a report away: HTML with its plots, Markdown and LaTeX in a ZIP with theirs."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from app.server.routes import downloads
from app.worker.reports import Plain, Reports
from exports.drawing.report_files import ReportDocument, report_file, slug


def offer(report: ReportDocument, reports: Reports, key: Hashable, *, name: str) -> None:
    """The menu, as `name` on the page; each file is made when it is asked for, where reports are made.

    `key` says what report it is.
    """
    stem = slug(report.title)
    files = [
        downloads.File(
            label,
            f"{stem}.html" if ending == ".html" else f"{stem}-{label.lower()}.zip",
            "text/html" if ending == ".html" else "application/zip",
            partial(reports.result, (name, key, ending), Plain(report_file, (report, stem, ending))),
        )
        for label, ending in (("HTML", ".html"), ("Markdown", ".md"), ("LaTeX", ".tex"))
    ]
    downloads.menu(name, files, report.title, label="Download the report")
