"""The menu that takes the agreement report away: HTML with its plots, Markdown and LaTeX in a zip with theirs."""

from __future__ import annotations

import io
import zipfile
from functools import partial

from app import downloads
from exports.agreement_report import Report
from exports.report_files import report_html, report_latex, report_markdown, slug


def offer(report: Report) -> None:
    """The menu; each report is made when it is asked for."""
    name = slug(report.title)
    files = [
        downloads.File("HTML", f"{name}.html", "text/html", partial(_html, report)),
        downloads.File("Markdown", f"{name}-markdown.zip", "application/zip", partial(_zipped, report, name, ".md")),
        downloads.File("LaTeX", f"{name}-latex.zip", "application/zip", partial(_zipped, report, name, ".tex")),
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
