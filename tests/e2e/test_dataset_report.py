"""The report of a dataset in the browser: one file that shows everything with the network off, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.intervals.bootstrap import Resampling
from db.engine import Database
from exports.dataset.document import dataset_report
from tests.e2e.conftest import NewPage
from tests.exports.judged import make_judged
from tests.makers import first_administrator


@pytest.mark.slow
def test_the_html_report_opens_with_the_network_off(
    new_page: NewPage, sqlite_database: Database, tmp_path: Path
) -> None:
    actor = first_administrator(sqlite_database)
    made = make_judged(sqlite_database, actor, tmp_path / "files", questions=6, labelled=5)
    report = dataset_report(sqlite_database, actor, made.project_id, study_id=made.study_id, asked=Resampling(0))
    [file] = report.write(tmp_path / "report", ["html"])
    page = new_page(fresh=True, width=1366, height=768)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.set_offline(True)
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert page.get_by_role("heading", name="Known limits").is_visible()
    assert page.locator("figure svg").first.is_visible()
    assert page.locator("script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366

    def drawn(which: str) -> str:
        return str(page.evaluate(which))

    paper, words = "getComputedStyle(document.body).backgroundColor", "getComputedStyle(document.body).color"
    ground = "getComputedStyle(document.querySelector('figure svg > [fill=white]')).fill"
    label = "getComputedStyle(document.querySelector('figure svg text')).fill"
    light = "rgb(255, 255, 255)"
    assert (drawn(paper), drawn(ground), drawn(label)) == (light, light, "rgb(0, 0, 0)")
    page.emulate_media(color_scheme="dark")
    assert drawn(paper) == drawn(ground) == "rgb(22, 25, 29)"
    assert drawn(words) == drawn(label) == "rgb(231, 233, 236)"
    page.emulate_media(color_scheme="dark", media="print")
    assert (drawn(paper), drawn(ground), drawn(label)) == (light, light, "rgb(0, 0, 0)")
