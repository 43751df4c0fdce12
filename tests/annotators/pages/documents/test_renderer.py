"""The pool of worker processes: what happens when they die, hang, are many, or are no longer needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from annotators.apart.wire import pack
from annotators.errors import InvalidInput
from annotators.pages import Limits, PageNotDrawn, Renderer, Why, drawing_for
from tests.annotators.pages import makers

PDF = "application/pdf"
ROOT = Path(__file__).parents[4]
PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def eventually(true: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


def test_a_worker_killed_in_the_middle_of_a_page_loses_only_that_page(tmp_path: Path) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(workers=1) as renderer, ThreadPoolExecutor(1) as pool:
        renderer.render(usual, PDF, 1, 160)
        (pid,) = makers.worker_pids(renderer)
        drawing = pool.submit(renderer.render, endless, PDF, 1, 160)
        time.sleep(0.5)
        assert not drawing.done()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(PageNotDrawn, match="stopped while it was drawing") as caught:
            drawing.result(timeout=10)
        assert caught.value.why is Why.CRASH
        assert renderer.render(usual, PDF, 1, 160).width == 160


def test_a_worker_killed_while_idle_is_not_noticed(tmp_path: Path) -> None:
    path = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(workers=1) as renderer:
        renderer.render(path, PDF, 1, 160)
        (pid,) = makers.worker_pids(renderer)
        os.kill(pid, signal.SIGSEGV)
        time.sleep(0.2)
        assert renderer.render(path, PDF, 1, 160).width == 160
        assert makers.worker_pids(renderer) != [pid]


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_a_hanging_page_holds_one_worker_and_the_others_go_on(tmp_path: Path) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(Limits(seconds=4.0), workers=2) as renderer, ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(renderer.render, endless, PDF, 1, 160)
        began = time.monotonic()
        for _ in range(5):
            renderer.render(usual, PDF, 1, 160)
        assert time.monotonic() - began < 3.5
        assert not drawing.done()
        with pytest.raises(PageNotDrawn):
            drawing.result(timeout=20)


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_who_draws_heavy_pages_on_three_connections_leaves_a_process_to_others(tmp_path: Path) -> None:
    heavy = [makers.put(tmp_path, f"heavy{depth}.pdf", makers.endless_pdf(depth)) for depth in (9, 10, 11)]
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))

    def greedy(path: Path) -> None:
        with drawing_for("greedy", "theirs"), suppress(PageNotDrawn, RuntimeError):  # at the end it is closed
            renderer.render(path, PDF, 1, 160)

    with ThreadPoolExecutor(3) as pool, Renderer(Limits(seconds=15.0), workers=2) as renderer:
        renderer.render(usual, PDF, 1, 160)
        drawing = [pool.submit(greedy, path) for path in heavy]
        time.sleep(0.5)  # until as many of them are at work as may be
        for _ in range(5):
            with drawing_for("patient", "another"):
                renderer.render(usual, PDF, 1, 160)
        assert not any(future.done() for future in drawing), "who waits for those waits longer"


@pytest.mark.slow
def test_a_request_gives_up_when_no_worker_becomes_free(tmp_path: Path) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    with Renderer(Limits(seconds=3.0, wait_seconds=0.2), workers=1) as renderer, ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(renderer.render, endless, PDF, 1, 160)
        assert eventually(lambda: makers.worker_pids(renderer) != [])
        with pytest.raises(PageNotDrawn, match="too many pages") as caught:
            renderer.render(endless, PDF, 1, 160)
        assert caught.value.why is Why.BUSY
        with pytest.raises(PageNotDrawn, match="longer than"):
            drawing.result(timeout=20)


def test_many_threads_share_few_workers_and_each_gets_its_own_page(tmp_path: Path) -> None:
    path = makers.put(tmp_path, "many.pdf", makers.pdf(*(f"page {number} here" for number in range(1, 41))))
    with Renderer(workers=2) as renderer, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda number: renderer.page_text(path, PDF, number), range(1, 41)))
        assert [text.strip() for text in texts] == [f"page {number} here" for number in range(1, 41)]
        assert len(makers.worker_pids(renderer)) == 2


def test_workers_start_when_needed_and_are_replaced_after_their_share(tmp_path: Path) -> None:
    path = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    with Renderer(workers=1, recycle_after=3) as renderer:
        assert makers.worker_pids(renderer) == []
        renderer.render(path, PDF, 1, 160)
        first = makers.worker_pids(renderer)
        renderer.render(path, PDF, 1, 160)
        assert makers.worker_pids(renderer) == first
        renderer.render(path, PDF, 1, 160)
        second = makers.worker_pids(renderer)
        assert second != first
        assert len(second) == 1
        assert not is_running(first[0])
        assert renderer.render(path, PDF, 1, 160).width == 160


def test_warming_starts_every_worker_at_once() -> None:
    with Renderer(workers=2) as renderer:
        renderer.warm()
        assert len(makers.worker_pids(renderer)) == 2
        renderer.warm()
        assert len(makers.worker_pids(renderer)) == 2


@pytest.mark.parametrize("started", [True, False])
def test_closing_ends_the_workers_even_in_the_middle_of_a_page(tmp_path: Path, started: bool) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    usual = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    renderer = Renderer(workers=2)
    renderer.warm()
    if started:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: renderer.render(usual, PDF, 1, 160), range(2)))
    pids = makers.worker_pids(renderer)
    with ThreadPoolExecutor(1) as pool:
        drawing = pool.submit(renderer.render, endless, PDF, 1, 160)
        while len(renderer._idle) > 1:  # until the drawing has taken its worker, which may still be starting
            time.sleep(0.001)
        renderer.close()
        with pytest.raises(PageNotDrawn, match="server is stopping"):
            drawing.result(timeout=10)
    assert not any(is_running(pid) for pid in pids)
    with pytest.raises(RuntimeError, match="closed"):
        renderer.render(usual, PDF, 1, 160)


@PROC
def test_workers_end_when_the_web_process_is_killed() -> None:
    program = """
        import sys, time
        from annotators.pages import Renderer
        from tests.annotators.pages.makers import worker_pids
        renderer = Renderer(workers=2)
        renderer.warm()
        print(*worker_pids(renderer), flush=True)
        time.sleep(60)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()

    def gone(pid: int) -> bool:
        stat = Path(f"/proc/{pid}/stat")
        # Where nobody reaps orphans, an ended process stays as a zombie.
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"

    assert eventually(lambda: all(gone(pid) for pid in pids))


def test_a_worker_whose_renderer_is_gone_ends_itself_in_the_middle_of_a_page(tmp_path: Path) -> None:
    endless = makers.put(tmp_path, "endless.pdf", makers.endless_pdf())
    # A worker waits ten seconds longer than its renderer: here 10 - 9 = 1 s.
    worker = subprocess.Popen(
        [sys.executable, "-m", "annotators.pages.documents.worker", "-9", str(2 << 30)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert worker.stdin is not None
    request = {"operation": "render", "path": str(endless), "media_type": PDF, "page": 1, "width": 160}
    worker.stdin.write(pack(request))
    worker.stdin.flush()
    assert worker.wait(20) == -signal.SIGALRM
    worker.stdin.close()


@PROC
def test_a_worker_sees_none_of_the_servers_secrets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", "postgresql://assay:hush@db/assay")
    with Renderer(workers=1) as renderer:
        renderer.render(makers.put(tmp_path, "usual.pdf", makers.pdf("usual")), PDF, 1, 160)
        (pid,) = makers.worker_pids(renderer)
        assert b"hush" not in Path(f"/proc/{pid}/environ").read_bytes()


@PROC
def test_a_worker_is_under_its_memory_limit(tmp_path: Path) -> None:
    with Renderer(Limits(memory_bytes=1 << 30), workers=1) as renderer:
        renderer.render(makers.put(tmp_path, "usual.pdf", makers.pdf("usual")), PDF, 1, 160)
        (pid,) = makers.worker_pids(renderer)
        limits = Path(f"/proc/{pid}/limits").read_text()
    (line,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert line.split()[3:5] == [str(1 << 30), str(1 << 30)]


def test_the_web_process_loads_no_library_that_reads_documents(tmp_path: Path) -> None:
    path = makers.put(tmp_path, "usual.pdf", makers.pdf("usual"))
    program = f"""
        import sys
        from pathlib import Path
        from annotators.pages import Renderer, sniff
        path = Path({str(path)!r})
        with Renderer(workers=1) as renderer:
            renderer.inspect(path, sniff(path.read_bytes(), "usual.pdf"))
        heavy = {{"pymupdf", "PIL", "numpy", "streamlit", "sentence_transformers", "torch"}}
        print(sorted(heavy & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_renderer_without_workers_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1 worker"):
        Renderer(workers=0)


def test_an_unreferenced_renderer_leaves_no_process(tmp_path: Path) -> None:
    renderer = Renderer(workers=1)
    renderer.render(makers.put(tmp_path, "usual.pdf", makers.pdf("usual")), PDF, 1, 160)
    (pid,) = makers.worker_pids(renderer)
    threads = threading.active_count()
    del renderer
    assert eventually(lambda: not is_running(pid))
    assert threading.active_count() == threads
