"""Submit → next item's text and image shown, in Chromium, beside a naive Streamlit page of the same content.

Run: .venv/bin/python -m tests.bench.bench_browser [--items 100]
Both servers run at the same time and are used in turns, so that what else the machine does meets both. A time is
measured in the browser: from the event of the key (or the click) to the first frame in which the next question is
there and every page picture in sight is complete and decoded. Also prints step to step for a protocol of two steps,
the server's CPU time an item, and the bytes an item sends.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Page, sync_playwright

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.pages import Renderer
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.designing.making import create_study
from db.projects import create_project
from exports.importing.items import import_paths
from exports.sample import write_sample
from tests.e2e.conftest import FLAGS, find_chromium, sign_in
from tests.makers import read_guidelines
from tests.servers import RunningServer, free_port, running_server

WARM_UP = 5
PICTURE_WIDTH = 1200

# Started by the event itself; looks at every frame until what is asked for is there.
CLOCK = """
({ root, question, pictures, event, button }) => {
  window.times = [];
  const scope = () => (root ? document.querySelector(root)?.shadowRoot : document);
  const text = () => scope()?.querySelector(question)?.innerText ?? '';
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight && box.width > 0;
  };
  const all = () => [...(scope()?.querySelectorAll(pictures) ?? [])].filter(seen);
  const shown = () => all().length > 0 && all().every((element) => element.complete && element.naturalWidth > 0);
  const sources = () => all().map((element) => element.currentSrc).join();
  window.addEventListener(event, (pressed) => {
    if (event === 'keydown' && pressed.key !== 'Enter') return;
    const meant = (element) => element.tagName === 'BUTTON' && element.innerText.trim() === button;
    if (button && !pressed.composedPath().some(meant)) return;
    const begun = performance.now(), before = text(), old = sources();
    const look = () => {
      const next = text() && text() !== before && shown();
      if (next && (window.samePictures || sources() !== old)) window.times.push(performance.now() - begun);
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, true);
}
"""


def one_step() -> Protocol:
    """Question, answer, pages, four choices: what the naive page has."""
    labels = [Label(value=value) for value in ("yes", "partly", "no", "cannot_say")]
    shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE, Material.DOCUMENTS]
    return Protocol(
        name="bench",
        title="Bench",
        guidelines="Is the answer right?",
        criteria=[Choice(name="right", title="Is the answer right?", labels=labels)],
        steps=[Step(name="all", title="All", shows=shows, criteria=["right"])],
    )


def make_items(folder: Path, n: int) -> list[dict[str, object]]:
    """n items over the sample's documents, each about another page than the one before."""
    write_sample(folder)
    path = folder / "items.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    pages = sorted({(unit["document"], unit["pages"][0]) for row in rows for unit in row["evidence"]})
    made = []
    for number in range(n):
        document, page = pages[number % len(pages)]
        row = rows[number % len(rows)]
        evidence = [{"key": "e1", "kind": "page", "document": document, "pages": [page], "text": "The page."}]
        question = f"{number}: {row['question']}"
        made.append({"id": f"b{number}", "question": question, "answer": row["answer"], "evidence": evidence})
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return made


@contextmanager
def naive_server(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`streamlit run` of the naive page with Streamlit's own settings."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(Path(__file__).parent / "naive_page.py")]
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(
        [*command, *options], env={**os.environ, "NAIVE_FOLDER": str(folder)}, cwd=folder, stdout=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            if httpx.get(f"{url}/_stcore/health").status_code == 200:
                break
        except httpx.TransportError:
            time.sleep(0.1)
    try:
        yield url, process
    finally:
        process.terminate()
        process.wait(20)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its children, those that have ended included."""

    def own(process_: str, fields: slice) -> float:
        times = Path(f"/proc/{process_}/stat").read_text().rsplit(")", 1)[1].split()[fields]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    # A child is listed under the thread that started it.
    lists = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return own(str(pid), slice(11, 15)) + sum(own(child, slice(11, 13)) for children in lists for child in children)


def start_clock(page: Page, options: dict[str, object]) -> None:
    """Put the clock into every document the page opens, before any script of the document itself."""
    page.add_init_script(f"({CLOCK})({json.dumps(options)})")


def wait_for_times(page: Page, n: int) -> None:
    page.wait_for_function("n => window.times.length >= n", arg=n, timeout=30_000)


def report(name: str, times: list[float]) -> tuple[float, float]:
    steady = sorted(times[WARM_UP:])
    median, tail = statistics.median(steady), steady[int(len(steady) * 0.95)]
    print(f"{name:44} p50 {median:7.1f} ms  p95 {tail:7.1f} ms  n {len(steady)}", flush=True)
    return median, tail


def set_up(server: RunningServer, folder: Path, protocol: Protocol, name: str) -> int:
    project_id = create_project(server.db, server.admin, name)
    documents = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project_id, paths=[folder], format_name="native", data_folder=documents)
    design = StudyDesign(name=name, annotators=("ada",), overlap=1, order="given")
    study_id = create_study(server.db, server.admin, project_id, protocol=protocol, design=design).study_id
    read_guidelines(server.db, study_id)
    return study_id


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100)
    n = parser.parse_args().items
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        made = make_items(folder / "items", n + WARM_UP + 5)
        naive_pictures(folder, made)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        with running_server(folder / "home") as server, naive_server(folder / "naive") as (naive_url, naive):
            server.person("ada", default_role="annotator")
            ours = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            sign_in(ours, server, "ada")
            sent = count_bytes(ours)
            study_id = set_up(server, folder / "items", one_step(), "one step")
            where = {"root": "[data-testid=annotate]", "question": "[data-testid=question]"}
            start_clock(ours, {**where, "pictures": "[data-testid=page] img", "event": "keydown"})
            ours.goto(f"{server.url}/annotate?study={study_id}")
            ours.get_by_test_id("item").wait_for()
            theirs = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            clicks = {"root": None, "question": "[data-testid=stMarkdown]", "event": "pointerdown", "button": "Submit"}
            start_clock(theirs, {**clicks, "pictures": "[data-testid=stImage] img"})
            theirs.goto(naive_url)
            theirs.get_by_text("Question 0").wait_for()
            ours.wait_for_timeout(2000)
            cpu = {"ours": cpu_seconds(server.process.pid), "naive": cpu_seconds(naive.pid)}
            begun_bytes = sent[0]
            for number in range(n + WARM_UP):
                ours.keyboard.press("1")
                ours.keyboard.press("Enter")
                wait_for_times(ours, number + 1)
                theirs.get_by_text("yes", exact=True).click()
                theirs.wait_for_timeout(300)  # a person takes longer; the rerun of the choice must be over
                theirs.get_by_role("button", name="Submit").click()
                wait_for_times(theirs, number + 1)
                theirs.wait_for_timeout(200)
            mine = report("Assay, one step: submit → next item", ours.evaluate("window.times"))
            other = report("naive page: submit → next item", theirs.evaluate("window.times"))
            print(f"ratio p50 {mine[0] / other[0]:.3f}  p95 {mine[1] / other[1]:.3f}  (target: at most 0.25)")
            spent = {"ours": cpu_seconds(server.process.pid), "naive": cpu_seconds(naive.pid)}
            for name, before in cpu.items():
                print(f"server CPU an item, {name}: {1000 * (spent[name] - before) / (n + WARM_UP):.0f} ms")
            print(f"bytes received an item, ours: {(sent[0] - begun_bytes) / (n + WARM_UP) / 1000:.0f} kB")
            stored = server.db.engine.connect().exec_driver_sql("SELECT COUNT(*) FROM annotation").scalar_one()
            assert stored == n + WARM_UP, f"{n + WARM_UP} submits, {stored} stored: keys were lost"
            ours.close()
            second = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            sign_in(second, server, "ada")
            steps(second, server, folder / "items", n)
        browser.close()


def steps(page: Page, server: RunningServer, folder: Path, n: int) -> None:
    """Step to step of qa_verification: the second step's material comes only after the first is committed."""
    study_id = set_up(server, folder, PROTOCOLS.get("qa_verification"), "two steps")
    where = {"root": "[data-testid=annotate]", "question": ".steps .now", "pictures": "[data-testid=page] img"}
    start_clock(page, {**where, "event": "keydown"})
    page.goto(f"{server.url}/annotate?study={study_id}")
    page.get_by_test_id("item").wait_for()
    for number in range(min(n, 50) + WARM_UP):
        page.evaluate("window.samePictures = true")
        page.keyboard.press("1")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        wait_for_times(page, number + 1)
        for key in "1111":
            page.keyboard.press(key)
        page.evaluate("window.kept = window.times; window.times = []")
        page.keyboard.press("Enter")
        page.locator(".steps .now", has_text="Question alone").wait_for()
        page.evaluate("window.times = window.kept")
    report("Assay, two steps: step → its next step", page.evaluate("window.times"))


def count_bytes(page: Page) -> list[int]:
    """Bytes that this page has received, counted by the browser itself."""
    received = [0]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on(
        "Network.loadingFinished", lambda event: received.__setitem__(0, received[0] + int(event["encodedDataLength"]))
    )
    return received


def naive_pictures(folder: Path, made: list[dict[str, object]]) -> None:
    """The same page pictures, drawn beforehand, as files."""
    naive = folder / "naive"
    naive.mkdir()
    items = []
    with Renderer() as renderer:
        for row in made:
            unit = row["evidence"][0]  # type: ignore[index]
            name = f"{unit['document']}-{unit['pages'][0]}.img"
            if not (naive / name).exists():
                path = folder / "items" / "documents" / unit["document"]
                drawn = renderer.render(path, "application/pdf", unit["pages"][0], PICTURE_WIDTH)
                (naive / name).write_bytes(drawn.data)
            items.append({"id": row["id"], "question": row["question"], "answer": row["answer"], "pictures": [name]})
    (naive / "items.json").write_text(json.dumps(items))


if __name__ == "__main__":
    main()
