"""The buttons that take the agreement report away: HTML with its plots, Markdown and LaTeX in a zip with theirs."""

from __future__ import annotations

import io
import zipfile
from functools import partial

import streamlit as st

from exports.agreement_report import Report
from exports.report_files import report_html, report_latex, report_markdown, slug


def offer(report: Report) -> None:
    """The three buttons; each report is made when its button is pressed."""
    name = slug(report.title)
    made = (
        ("Report (HTML)", partial(_html, report), f"{name}.html", "text/html"),
        ("Markdown", partial(_zipped, report, name, ".md"), f"{name}-markdown.zip", "application/zip"),
        ("LaTeX", partial(_zipped, report, name, ".tex"), f"{name}-latex.zip", "application/zip"),
    )
    with st.container(horizontal=True, gap="small", key="downloads-agreement-report"):
        for label, data, file_name, media_type in made:
            st.download_button(
                label,
                data=data,
                file_name=file_name,
                mime=media_type,
                on_click="ignore",
                key=f"download-{file_name}",
            )


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
