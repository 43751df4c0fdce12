"""How long pages take: drawn in a worker, found on disk, and drawn by plain PyMuPDF in one process for comparison.

    python tests/bench/bench_pages.py [--width 1200] [PDF …]

Without documents it uses those in ../shared/data, and a made one where there are none. Times are milliseconds.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotators.pages import PageCache, Renderer  # noqa: E402 - runs from anywhere

PDF = "application/pdf"


def milliseconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def show(name: str, times: list[float], plain: float) -> None:
    ordered = sorted(times)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    print(f"{name:<44} {p50:8.2f} {p95:8.2f} {p50 / plain:8.2f} ×")


def plain_page(document: Any, number: int, width: int) -> bytes:
    """What PyMuPDF and Pillow alone take for the same picture as JPEG q88 4:4:4."""
    page = document[number]
    scale = width / page.rect.width
    pixels = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), alpha=False)
    picture = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=88, subsampling=0)
    return out.getvalue()


def documents(given: list[Path], folder: Path) -> list[Path]:
    found = given or sorted((ROOT.parent / "shared" / "data" / "mmlongbench" / "documents").glob("*.pdf"))
    if found:
        return found
    made = pymupdf.open()
    for number in range(40):
        page = made.new_page()
        for line in range(50):
            page.insert_text((72, 72 + 14 * line), f"Page {number}, line {line}: words to be drawn again and again.")
    path = folder / "made.pdf"
    path.write_bytes(made.tobytes())
    return [path]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--width", type=int, default=1200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        paths = documents(arguments.documents, Path(temporary))
        hashes = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
        with Renderer(workers=1) as renderer:
            first = milliseconds(lambda: renderer.render(paths[0], PDF, 1, arguments.width))
        with Renderer(workers=1) as renderer:
            cache = PageCache(Path(temporary) / "cache", renderer)
            renderer.render(paths[0], PDF, 1, 160)
            plain, cold, warm, hit, sizes = [], [], [], [], []
            for path in paths:
                with pymupdf.open(path) as document:
                    # In turns, so that a busy moment of the machine falls on all of them.
                    for number in range(1, len(document) + 1):
                        alone = partial(plain_page, document, number - 1, arguments.width)
                        cached = partial(cache.get, hashes[path], path, PDF, number, arguments.width)
                        worker = partial(renderer.render, path, PDF, number, arguments.width)
                        alone()
                        plain.append(milliseconds(alone))
                        cold.append(milliseconds(cached))
                        warm.append(milliseconds(worker))
                        hit.extend(milliseconds(cached) for _ in range(5))
                        sizes.append(len(cached().data) / 1000)
    base = statistics.median(plain)
    print(f"{len(plain)} pages, {len(paths)} documents, {arguments.width} px wide, {statistics.median(sizes):.0f} kB")
    print(f"{'':<44} {'p50 ms':>8} {'p95 ms':>8} {'to plain':>8}")
    show("plain PyMuPDF + JPEG, this process, 2nd time", plain, base)
    show("uncached: worker draws it, 1st time, and keeps", cold, base)
    show("worker draws it again", warm, base)
    show("from the cache", hit, base)
    print(f"{'very first page, worker not yet started':<44} {first:8.2f}")


if __name__ == "__main__":
    main()
