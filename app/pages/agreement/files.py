"""The menu that takes the agreement report away: HTML with its plots, Markdown and LaTeX in a zip with theirs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Hashable
from functools import partial

from app.server.routes import downloads
from app.worker.reports import Plain, Reports
from exports.agreement.report import Report
from exports.drawing.report_files import report_html, report_latex, report_markdown, slug


def offer(report: Report, reports: Reports, key: Hashable) -> None:
    """The menu; each file is made when it is asked for, where reports are made; `key` says what report it is."""
    name = slug(report.title)

    def made(ending: str, function: Callable[..., bytes], *given: object) -> Callable[[], bytes]:
        return partial(reports.result, ("agreement file", key, ending), Plain(function, given))

    files = [
        downloads.File("HTML", f"{name}.html", "text/html", made(".html", _html, report)),
        *(
            downloads.File(
                label, f"{name}-{label.lower()}.zip", "application/zip", made(ending, _zipped, report, name, ending)
            )
            for label, ending in (("Markdown", ".md"), ("LaTeX", ".tex"))
        ),
    ]
    downloads.menu("agreement-report", files, report.title, label="Download the report")


def _html(report: Report) -> bytes:
    return report_html(report).encode()


def _zipped(report: Report, name: str, ending: str) -> bytes:
    text, files = (report_markdown if ending == ".md" else report_latex)(report, name)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}{ending}", text)
        for path, content in files.items():
            archive.writestr(path, content)
    return held.getvalue()
