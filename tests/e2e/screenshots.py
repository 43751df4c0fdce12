"""Pictures of every page of the sample project, light and dark, for a look at them and for the README.

    python -m tests.e2e.screenshots [FOLDER]
    python -m tests.e2e.screenshots --real [FOLDER]

The folder is tests/artefacts/pages unless another is named; the README's pictures are among them and are copied to
docs/pictures. With `--real` the pages are those of real data (../shared/data), in the widths of a laptop, a small
one, a tablet and a phone, and no picture is copied.
"""

from __future__ import annotations

import itertools
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from app.navigation import ENTRIES
from app.sample.project import ANNOTATOR, PROJECT, make_sample_project
from db.people.accounts import set_password
from db.projects import find_project
from db.studies.design import list_studies
from tests.conftest import ROOT, SHARED
from tests.e2e.conftest import ARTEFACTS, FLAGS, find_chromium, sign_in
from tests.e2e.real_project import RealProjects, make_real_projects
from tests.e2e.scene import say_that_the_guidelines_are_read
from tests.servers import PASSWORD, RunningServer, running_server

PICTURES = ROOT / "docs" / "pictures"
README_PICTURES = {
    "annotate.png": "annotate-evidence-light.png",
    "annotate-dark.png": "annotate-evidence-dark.png",
    "agreement.png": "agreement-top-light.png",
    "adjudicate.png": "adjudicate-light.png",
}

STUDY_PAGES = {"study": "verification", "agreement": "verification", "adjudicate": "verification"}
"""Pages about one study, and which study is shown on them."""


def addresses(server: RunningServer) -> dict[str, str]:
    """Page → its address, with the project and study that it is about."""
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    studies = {row.name: row.study_id for row in list_studies(server.db, server.admin, project_id)}
    found = {}
    for entry in ENTRIES:
        if entry.name not in ("annotate", "item"):
            study = STUDY_PAGES.get(entry.name)
            about = f"&study={studies[study]}" if study else ""
            path = "" if entry.name == "home" else entry.name
            found[entry.name] = f"{server.url}/{path}?project={project_id}{about}"
    found["annotate"] = f"{server.url}/annotate?project={project_id}&study={studies['practice']}"
    return found


def take(browser: Browser, server: RunningServer, folder: Path, *, dark: bool) -> None:
    """Visit every page as the first administrator, and the annotator's as an annotator."""
    tone = "dark" if dark else "light"
    for name, who in (("admin", "admin"), ("annotator", ANNOTATOR)):
        context = browser.new_context(
            viewport={"width": 1440, "height": 900}, color_scheme="dark" if dark else "light", device_scale_factor=1
        )
        page = context.new_page()
        sign_in(page, server, who)
        for place, address in addresses(server).items():
            if (place == "annotate") == (name == "annotator"):
                visit(page, address)
                if place == "annotate":
                    say_that_the_guidelines_are_read(page)
                page.screenshot(path=folder / f"{place}-{tone}.png", full_page=place != "annotate")
                if place == "annotate":
                    take_second_step(page, folder / f"annotate-evidence-{tone}.png")
                if place == "agreement":
                    page.screenshot(path=folder / f"agreement-top-{tone}.png")
        context.close()


def take_second_step(page: Page, path: Path) -> None:
    """The page with the answer and the evidence, one criterion labelled."""
    page.get_by_test_id("item").wait_for()
    for key in ("1", "1", "Enter"):
        page.keyboard.press(key)
    page.locator('[data-testid="page"] img').first.wait_for()
    page.keyboard.press("1")
    page.wait_for_timeout(2000)
    page.screenshot(path=path)


SIZES = {"laptop": (1366, 768), "narrow": (1024, 768), "tablet": (820, 1180), "phone": (390, 844)}


def take_real(browser: Browser, server: RunningServer, made: RealProjects, folder: Path) -> None:
    """Every page about real data in every size, light and dark."""
    metrics = f"project={made.fathoms}&study={made.metrics}"
    verification = f"project={made.reports}&study={made.verification}"
    listed = [entry.name for entry in ENTRIES if entry.name != "item"]
    for (size, (width, height)), dark in itertools.product(SIZES.items(), (False, True)):
        for who in ("admin", "ada", "dora"):
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            page = context.new_page()
            sign_in(page, server, who)
            if who == "admin":
                names = {name: f"{'' if name == 'home' else name}?{metrics}" for name in listed if name != "annotate"}
                names |= {"agreement-verification": f"agreement?{verification}"}
            elif who == "ada":
                names = {"ada-home": "", "my-work": "my_work"}
                names |= {
                    "annotate-metrics": f"annotate?{metrics}",
                    "annotate-verification": f"annotate?{verification}",
                }
            else:
                names = {"dora-home": "", "adjudicate-list": f"adjudicate?project={made.reports}"}
                names |= {"adjudicate-verification": f"adjudicate?{verification}"}
            for name, address in names.items():
                visit(page, f"{server.url}/{address}")
                picture = f"{size}-{'dark' if dark else 'light'}.png"
                if name.startswith("annotate"):
                    before = folder / f"{name}-guidelines-{picture}"
                    say_that_the_guidelines_are_read(page, partial(page.screenshot, path=before))
                    page.wait_for_timeout(1000)
                page.screenshot(path=folder / f"{name}-{picture}")
            context.close()


def visit(page: Page, address: str) -> None:
    """Go there and wait until nothing moves any more."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)


def main(folder: Path, *, real: bool) -> None:
    """Make the sample project or those of real data, serve them, and take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, running_server(Path(home)) as server, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        if real:
            made = make_real_projects(server, SHARED / "data", Path(home) / "reports")
            take_real(browser, server, made, folder)
        else:
            make_sample_project(server.db, server.admin, Path(home) / "sample", Path(home) / "data" / "documents")
            set_password(server.db, server.admin, ANNOTATOR, password=PASSWORD)
            for dark in (False, True):
                take(browser, server, folder, dark=dark)
        browser.close()
    if not real:
        PICTURES.mkdir(exist_ok=True)
        for name, of in README_PICTURES.items():
            shutil.copy(folder / of, PICTURES / name)
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--real"]
    main(Path(given[0]) if given else ARTEFACTS / "pages", real="--real" in sys.argv)
