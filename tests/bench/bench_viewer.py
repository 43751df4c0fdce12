"""The evidence viewer on a document of 500 pages, in Chromium, and ten annotators paging through it at once.

Run: .venv/bin/python -m tests.bench.bench_viewer [--turns 30]
Times are measured in the browser, from the key press to the first frame in which the page asked for shows a complete
picture (sharp: with as many pixels as the screen has there). *Cold* pages have never been drawn; *cached* ones are on
the server's disk but new to the browser. For comparison the same pictures are shown by `st.image` on a page of
Streamlit's own, by a click on its button. The browser's own PDF viewer is compared in bench_pdf_viewer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pymupdf
from playwright.sync_api import Browser, Page, sync_playwright

from annotators.designing.design import StudyDesign
from annotators.pages import Renderer
from db.designing.making import create_study
from tests.bench.bench_browser import count_bytes, cpu_seconds
from tests.e2e.conftest import FLAGS, find_chromium, sign_in
from tests.e2e.viewer_scene import ROOT, make_viewer_scene, one_step, table
from tests.servers import PASSWORD, RunningServer, free_port, memory_mb, running_server

PAGES = 500
WORDS = ("station", "converter", "harbour", "winter", "delivery", "contract", "turbine", "water", "pump", "oil")

# Looks at every frame, from the next key on, until `done` holds; the times are kept in window.times.
CLOCK = f"""
window.times = [];
window.arm = (condition, event) => {{ window.armed = {{ event, done: new Function('root', 'return ' + condition) }}; }};
for (const event of ['keydown', 'input', 'pointerdown']) {{
  window.addEventListener(event, () => {{
    if (window.armed?.event !== event) return;
    const {{ done }} = window.armed, begun = performance.now();
    window.armed = null;
    const look = () => (done({ROOT}) ? window.times.push(performance.now() - begun) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  }}, true);
}}
"""


def long_document(folder: Path) -> bytes:
    """Pages like those of a report: a heading, forty lines, and a chart of vector graphics."""
    document = pymupdf.open()
    for number in range(1, PAGES + 1):
        page = document.new_page()
        page.insert_text((60, 70), f"Section {number} of the report", fontsize=18)
        for line in range(40):
            words = " ".join(WORDS[(number * 7 + line * 3 + at) % len(WORDS)] for at in range(11))
            page.insert_text((60, 110 + 12 * line), f"{words} {number * 40 + line}", fontsize=10)
        shape = page.new_shape()
        for bar in range(60):
            height = (bar * number) % 90
            shape.draw_rect(pymupdf.Rect(60 + 8 * bar, 790 - height, 66 + 8 * bar, 790))
            shape.finish(fill=(0.4, 0.5, 0.7), color=None)
        shape.commit()
    data: bytes = document.tobytes()
    (folder / "long.pdf").write_bytes(data)
    return data


def report(name: str, times: list[float], unit: str = "ms") -> float:
    steady = sorted(times)
    median, tail = statistics.median(steady), steady[min(len(steady) - 1, int(len(steady) * 0.95))]
    print(f"{name:58} p50 {median:8.1f} {unit}  p95 {tail:8.1f} {unit}  n {len(steady)}", flush=True)
    return median


def timed(page: Page, condition: str, press: Callable[[], None], event: str = "keydown") -> float:
    """Milliseconds from the first such event to the first frame in which the condition holds."""
    page.evaluate("([condition, event]) => { window.times = []; window.arm(condition, event); }", [condition, event])
    press()
    page.wait_for_function("window.times.length > 0", timeout=60_000)
    return float(page.evaluate("window.times[0]"))


def shown(number: int) -> str:
    own = f"root.querySelector('[data-testid=page][data-page=\"{number}\"] .picture img')"
    return f"{own}?.complete && {own}.naturalWidth > 0"


SHARP = """(() => {
  const view = root.querySelector('.pages').getBoundingClientRect();
  const dense = (element) => element.naturalWidth >= 0.98 * element.getBoundingClientRect().width * devicePixelRatio;
  return [...root.querySelectorAll('[data-testid=page]')].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > view.top && box.top < view.bottom;
  }).every((element) => {
    const tiles = [...element.querySelectorAll('.tiles img')], own = element.querySelector('.picture img');
    return own && (dense(own) || (tiles.length > 0 && tiles.every(dense)));
  });
})()"""


def open_viewer(browser: Browser, server: RunningServer, study_id: int, name: str = "ada") -> Page:
    page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
    page.add_init_script(CLOCK)
    sign_in(page, server, name)
    page.goto(f"{server.url}/annotate?study={study_id}")
    page.locator('[data-testid="page"] img').first.wait_for()
    page.wait_for_timeout(1500)
    return page


def jump(page: Page, number: int) -> float:
    """To a page by its number, as a person types it."""
    field = page.get_by_test_id("page-number")
    field.fill(str(number))
    time_of = timed(page, shown(number), lambda: field.press("Enter"))
    page.wait_for_timeout(250)
    return time_of


def turn(page: Page) -> float:
    """To the next page, whose neighbours are fetched ahead."""
    number = int(page.get_by_test_id("page-number").input_value()) + 1
    time_of = timed(page, shown(number), lambda: page.keyboard.press("]"))
    page.wait_for_timeout(400)
    return time_of


def zoom(page: Page, steps: int) -> float:
    """From the last of so many presses of + to a sharp picture of what is in view."""
    percent = f"{round(100 * 1.2**steps)} %"
    for _ in range(steps - 1):
        page.keyboard.press("+")
    there = f"root.querySelector('[data-testid=zoom]').textContent === '{percent}'"
    return timed(page, f"{there} && {SHARP}", lambda: page.keyboard.press("+"))


def search(page: Page, number: int) -> float:
    """From the last letter typed to the hit; the search begins after a pause of 220 ms."""
    page.keyboard.press("/")
    condition = f"/^1 of 1 · page {number}$/.test(root.querySelector('[data-testid=search-state]').textContent)"
    fill = page.get_by_test_id("search-field").fill
    time_of = timed(page, condition, lambda: fill(f"Section {number} of the report"), event="input")
    page.keyboard.press("Escape")
    return time_of


def wait_for_index(page: Page) -> None:
    """Until all words of the document are known, which is under way from the first phrase or search on."""
    first = time.monotonic()
    asked = "fetch('/page-search/1?q=Section+499').then((answer) => answer.json()).then((answer) => answer.complete)"
    while not page.evaluate(asked):
        time.sleep(0.2)
    print(f"index of {PAGES} pages complete {time.monotonic() - first:.1f} s after this was asked")


def measure_jumps(browser: Browser, server: RunningServer, study_id: int, turns: int) -> None:
    """What a jump asks for and costs: nobody has seen the page, somebody has, and jumps in quick succession."""
    numbers = [25 + 13 * at for at in range(turns)]
    for what, name, stay in (("cold", "ada", 2000), ("cached", "ben", 2000), ("passed over", "chloe", 100)):
        page = open_viewer(browser, server, study_id, name)
        if what == "cold":
            wait_for_index(page)
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: request.url.startswith("http") and asked.append(request.url))
        received = count_bytes(page)
        cpu = cpu_seconds(server.process.pid)
        for number in numbers:
            field_ = page.get_by_test_id("page-number")
            field_.fill(str(number))
            field_.press("Enter")
            page.wait_for_timeout(stay)
        page.wait_for_timeout(2000)
        spent = 1000 * (cpu_seconds(server.process.pid) - cpu) / turns
        print(
            f"a jump, {what} (stay of {stay} ms): {len(asked) / turns:.1f} requests, "
            f"{received[0] / turns / 1000:.0f} kB, server CPU {spent:.0f} ms",
            flush=True,
        )
        page.context.close()


def measure_viewer(browser: Browser, server: RunningServer, study_id: int, turns: int) -> dict[str, float]:
    found = {}
    page = open_viewer(browser, server, study_id)
    received = count_bytes(page)
    numbers = [20 + 13 * at for at in range(turns)]
    found["cold"] = report("first sight of a page, cold", [jump(page, number) for number in numbers])
    print(f"bytes a page seen for the first time: {received[0] / turns / 1000:.0f} kB (with neighbours and words)")
    other = open_viewer(browser, server, study_id, "ben")
    before = cpu_seconds(server.process.pid)
    found["cached"] = report("first sight of a page, on the server's disk", [jump(other, number) for number in numbers])
    print(f"server CPU a cached page: {1000 * (cpu_seconds(server.process.pid) - before) / turns:.0f} ms")
    jump(page, 2)
    page.wait_for_timeout(800)
    found["turn"] = report("page turn (neighbours fetched ahead)", [turn(page) for _ in range(turns)])
    for steps, words in ((3, "a wider picture"), (8, "tiles")):
        times = []
        for number in numbers[: max(6, turns // 2)]:
            jump(page, number + steps)
            page.wait_for_timeout(500)
            times.append(zoom(page, steps))
            page.keyboard.press("w")
            page.wait_for_timeout(300)
        report(f"zoom to {round(100 * 1.2**steps)} % until sharp ({words})", times)
    times = [search(page, number) for number in range(101, 101 + turns)]
    report("search over 500 pages, typed to shown (pause 220 ms)", times)
    page.context.close()
    other.context.close()
    return found


@contextmanager
def st_image_server(folder: Path) -> Iterator[str]:
    """A page of Streamlit's own that shows picture after picture."""
    script = folder / "shown.py"
    script.write_text(
        "import streamlit as st\nfrom pathlib import Path\n"
        "n = st.session_state.setdefault('n', 0)\n"
        "st.button('Next', on_click=lambda: st.session_state.update(n=st.session_state.n + 1))\n"
        "st.write(f'Picture {st.session_state.n}')\n"
        f"st.image(str(sorted(Path({str(folder)!r}).glob('*.img'))[st.session_state.n]))\n"
    )
    port = free_port()
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=dict(os.environ))
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                if httpx.get(f"{url}/_stcore/health").status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def measure_st_image(browser: Browser, folder: Path, turns: int) -> float:
    """The same pictures at the same width, drawn beforehand: cached pages."""
    folder.mkdir()
    with Renderer() as renderer:
        for number in range(turns + 1):
            drawn = renderer.render(folder.parent / "long.pdf", "application/pdf", 20 + 13 * number, 800)
            (folder / f"{number:03}.img").write_bytes(drawn.data)
    with st_image_server(folder) as url:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.add_init_script(CLOCK.replace(ROOT, "document"))
        page.goto(url)
        page.get_by_text("Picture 0").wait_for()
        times = []
        for number in range(turns):
            image = "root.querySelector('[data-testid=stImage] img')"
            page.evaluate("window.before = document.querySelector('[data-testid=stImage] img')?.currentSrc")
            condition = f"{image}?.complete && {image}.currentSrc !== window.before && {image}.naturalWidth > 0"
            press = page.get_by_role("button", name="Next").click
            times.append(timed(page, condition, press, event="pointerdown"))
            page.get_by_text(f"Picture {number + 1}").wait_for()
            page.wait_for_timeout(700)  # the run of the script is over
        page.context.close()
    return report("the same pictures by st.image", times)


@dataclass
class Seen:
    """What ten annotators met."""

    pictures: list[float] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


async def leaf(server: RunningServer, name: str, study_id: int, *, first: int, until: float, seen: Seen) -> None:
    """One annotator, who turns a page a second: what the browser asks for then, in its order."""
    headers = {"Origin": server.url}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
        await client.post("/sign-in", data={"name": name, "password": PASSWORD})
        work = (await client.get(f"/api/studies/{study_id}/work")).json()
        document = work["items"][0]["documents"][0]

        async def ask(address: str, times: list[float]) -> bytes:
            begun = time.monotonic()
            try:
                answer = await client.get(address)
            except httpx.HTTPError as error:
                seen.errors.append(repr(error))
                return b""
            times.append(1000 * (time.monotonic() - begun))
            if answer.status_code != 200 or "x-assay-page-failure" in answer.headers:
                seen.errors.append(f"{answer.status_code} {address}")
            return answer.content

        def picture(page: int | str, width: int) -> str:
            return str(document["url"]).replace("{page}", str(page)).replace("{width}", str(width))

        page = first
        while time.monotonic() < until:
            begun = time.monotonic()
            await ask(picture(page, 800), seen.pictures)
            await ask(picture(page + 1, 800), seen.pictures)  # fetched ahead
            await ask(f"/page-words/{document['id']}/{page}?v=b", seen.words)
            if page % 10 == 1:  # the strip has moved
                drawn = await ask(picture(f"{page}-{page + 9}", 160), [])
                for small in range(page, page + 10) if not drawn else ():
                    await ask(picture(small, 160), [])
            page = page % (PAGES - 11) + 1
            await asyncio.sleep(max(0.0, 1 - (time.monotonic() - begun)))


async def measure_ten(server: RunningServer, project_id: int, seconds: float) -> None:
    """Ten annotators at once, paging through the 500 pages, each from another page on."""
    names = tuple(f"annotator {number}" for number in range(10))
    for name in names:
        server.person(name, default_role="annotator")
    design = StudyDesign(name="Ten", annotators=names, overlap=len(names))
    study_id = create_study(server.db, server.admin, project_id, protocol=one_step(), design=design).study_id
    seen = Seen()
    pid = server.process.pid
    memory, cpu = memory_mb(pid), cpu_seconds(pid)
    until = time.monotonic() + seconds
    await asyncio.gather(
        *(leaf(server, name, study_id, first=45 * at + 1, until=until, seen=seen) for at, name in enumerate(names))
    )
    report("ten annotators paging: a picture", seen.pictures)
    report("ten annotators paging: the words of a page", seen.words)
    share = 100 * (cpu_seconds(pid) - cpu) / seconds
    print(
        f"errors {len(seen.errors)} {seen.errors[:3]}; web process {memory:.0f} → {memory_mb(pid):.0f} MB; "
        f"server CPU {share:.0f} % of a core, drawing included"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30, help="how long ten annotators page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        data = long_document(folder)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        units = [table(1, "long.pdf", 1, [0.1, 0.8, 0.9, 0.95])]
        rows = [{"answer": "The converter failed in 2023.", "documents": ["long.pdf"], "evidence": units}]
        with running_server(folder / "home") as server:
            scene = make_viewer_scene(server, folder / "items", rows, {"long.pdf": data}, overlap=3)
            measure_jumps(browser, server, scene.study_id, min(20, options.turns))
            found = measure_viewer(browser, server, scene.study_id, options.turns)
            with ThreadPoolExecutor(1) as thread:  # Playwright's own loop runs in this one
                thread.submit(asyncio.run, measure_ten(server, scene.project_id, options.seconds)).result()
        naive = measure_st_image(browser, folder / "pictures", options.turns)
        print(f"ratio to st.image: cached page {found['cached'] / naive:.2f}, page turn {found['turn'] / naive:.2f}")
        browser.close()


if __name__ == "__main__":
    main()
