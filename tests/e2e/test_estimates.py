"""The page Fewer labels in a browser: figures, charts, a draw, the stop rule, in both themes and with Arabic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.protocols import Material, Step
from db.engine import Database
from db.models import Assignment, StudyItem
from db.query import pick
from tests.db.designing.test_by_score import scored
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.makers import StudyInUse, tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NAMES = {"complete": "Answer is complete", "factual": "الإجابة صحيحة", "human": "Human-like"}
LABELS = [Label(value="yes"), Label(value="no")]
PROTOCOL = tiny_protocol(
    criteria=[Choice(name=name, title=title, labels=LABELS) for name, title in NAMES.items()],
    steps=[Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=list(NAMES))],
)


def made(db: Database, n: int, labelled: int, stop_at: float | None) -> StudyInUse:
    """n items in three categories with two scores, `labelled` of them labelled; the scores go with two criteria."""
    rng = np.random.default_rng(3)
    latent = rng.normal(size=n)
    noise = np.where(np.arange(n) % 3 == 2, 2.5, 0.5)  # figures are predicted badly
    values = (latent + noise * rng.normal(size=n)).tolist()
    study = StudyInUse(
        db, items=n, annotators=1, overlap=1, protocol=PROTOCOL, order="shuffled", stop_at=stop_at,
        categories=("text", "table", "figure"), prepare=lambda db: scored(db, values),
    )  # fmt: skip
    with db.read() as session:
        items = pick(StudyItem.id, StudyItem.item_version_id).where(StudyItem.study_id == study.study_id)
        version = {row[0]: row[1] for row in session.execute(items)}
    first = min(version.values())
    for _ in range(labelled):
        item = study.work(0)["items"][0]
        with db.read() as session:
            place = version[session.get_one(Assignment, item["assignment"]).study_item_id] - first
        said = {"complete": latent[place] > -0.6, "factual": latent[place] > -1.3, "human": rng.random() > 0.1}
        study.submit(0, item, {name: "yes" if yes else "no" for name, yes in said.items()})
    return study


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("estimates")) as running:
        yield running


@pytest.fixture(scope="module")
def study(server: RunningServer) -> StudyInUse:
    return made(server.db, 240, 90, 0.12)


def opened(page: Page, server: RunningServer, study: StudyInUse, **more: str) -> None:
    sign_in(page, server, "admin")
    about = "".join(f"&{name}={value}" for name, value in more.items())
    page.goto(f"{server.url}/estimates?project={study.project_id}&study={study.study_id}{about}")
    settled(page)


def settled(page: Page) -> None:
    expect(page.get_by_role("heading", name="What to label next")).to_be_visible(timeout=30_000)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_estimate_while_labelling(server: RunningServer, study: StudyInUse, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark, width=1366, height=768)
    tone = "dark" if dark else "light"
    opened(page, server, study)
    expect(page.locator(".stVegaLiteChart canvas, .stVegaLiteChart svg")).to_have_count(2)
    for words in ("With predictions", "Effective sample size", "Stop rule ±0.12"):
        expect(page.get_by_text(words, exact=True)).to_be_visible()
    screenshot(page, f"estimates-{tone}")
    page.locator(".assay-criteria a").filter(has_text="الإجابة صحيحة").click()
    settled(page)
    expect(page.locator(".assay-tiles").get_by_text("reached", exact=True)).to_be_visible()
    expect(page.locator(".assay-criteria a[aria-current]")).to_contain_text("stop reached")
    screenshot(page, f"estimates-reached-{tone}")


def test_a_draw_and_a_study_without_labels(server: RunningServer, new_page: NewPage) -> None:
    empty = made(server.db, 30, 1, None)
    page = new_page(width=1366, height=768)
    opened(page, server, empty)
    expect(page.get_by_text("only 1 labelled unit; at least 2 are needed").first).to_be_visible()
    screenshot(page, "estimates-one-label")
    beyond = page.locator(".assay-next").evaluate(
        "table => [table, ...table.querySelectorAll('th')].filter((one) => one.scrollWidth > one.clientWidth).length "
        "+ (table.getBoundingClientRect().right > table.parentElement.getBoundingClientRect().right + 1)"
    )
    assert beyond == 0, "no column of figures is cut"
    page.get_by_role("button", name="Label these 20 items next").click()
    expect(page.get_by_text("They come before all others.")).to_be_visible()
    expect(page.get_by_text("draw 2 of this study")).to_be_visible()
