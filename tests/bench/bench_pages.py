"""How long pages and their words take, beside what plain PyMuPDF takes for the same in one process and the same run.

    python tests/bench/bench_pages.py [--width 1200] [PDF …]

Pages drawn in a worker, found on disk, and parts of them; words of a page; a search over 500 pages; the phrases of an
item. Without documents it uses those in ../shared/data, and a made one where there are none. Times are milliseconds.
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
from annotators.pages.documents.words import PageWords  # noqa: E402
from annotators.pages.finding.matching import Searchable  # noqa: E402
from annotators.pages.finding.phrases import find_phrases  # noqa: E402
from annotators.pages.finding.search import search_document  # noqa: E402
from annotators.pages.words.index import Source, WordIndex  # noqa: E402

PDF = "application/pdf"
PAGES = 500
QUERIES = ["the", "language model", "percent", "qqqq", "12", "annual report of the"]
HEADER = f"{'':<44} {'p50 ms':>8} {'p95 ms':>8} {'to plain':>8}"


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


def drawing(paths: list[Path], folder: Path, width: int) -> None:
    """Pages: cold, warm, cached, and a part of each."""
    hashes = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    with Renderer(workers=1) as renderer:
        first = milliseconds(lambda: renderer.render(paths[0], PDF, 1, width))
    with Renderer(workers=1) as renderer:
        cache = PageCache(folder / "cache", renderer)
        renderer.render(paths[0], PDF, 1, 160)
        plain, cold, warm, hit, part, sizes = [], [], [], [], [], []
        for path in paths:
            with pymupdf.open(path) as document:
                # In turns, so that a busy moment of the machine falls on all of them.
                for number in range(1, len(document) + 1):
                    alone = partial(plain_page, document, number - 1, width)
                    cached = partial(cache.get, hashes[path], path, PDF, number, width)
                    worker = partial(renderer.render, path, PDF, number, width)
                    quarter = partial(renderer.render, path, PDF, number, width, (0.25, 0.25, 0.5, 0.5))
                    alone()
                    plain.append(milliseconds(alone))
                    cold.append(milliseconds(cached))
                    warm.append(milliseconds(worker))
                    part.append(milliseconds(quarter))
                    hit.extend(milliseconds(cached) for _ in range(5))
                    sizes.append(len(cached().data) / 1000)
    base = statistics.median(plain)
    print(f"{len(plain)} pages, {len(paths)} documents, {width} px wide, {statistics.median(sizes):.0f} kB")
    print(HEADER)
    show("plain PyMuPDF + JPEG, this process, 2nd time", plain, base)
    show("uncached: worker draws it, 1st time, and keeps", cold, base)
    show("worker draws it again", warm, base)
    show("a sixteenth of it, as wide (400 % zoom)", part, base)
    show("from the cache", hit, base)
    print(f"{'very first page, worker not yet started':<44} {first:8.2f}")


def words(paths: list[Path], folder: Path) -> None:
    """Words of a page, a search over 500 pages, and the phrases of an item on five of them."""
    with pymupdf.open() as joined:
        while len(joined) < PAGES:
            for path in paths:
                with pymupdf.open(path) as document:
                    joined.insert_pdf(document, to_page=min(len(document), PAGES - len(joined)) - 1)
                if len(joined) >= PAGES:
                    break
        path = folder / "joined.pdf"
        path.write_bytes(joined.tobytes(garbage=1))
    source = Source(hashlib.sha256(path.read_bytes()).hexdigest(), path, PDF)
    pages = range(1, PAGES + 1)
    with pymupdf.open(path) as document:
        plain_words = [milliseconds(partial(document[number].get_text, "words")) for number in range(0, PAGES, 5)]
        plain_search = [
            milliseconds(lambda query=query: [document[number].search_for(query) for number in range(PAGES)])  # type: ignore[misc]
            for query in QUERIES[:2]
        ]
    with Renderer(workers=1) as renderer:
        renderer.render(path, PDF, 1, 160)
        fresh = WordIndex(folder / "one", folder / "ocr", renderer)
        single = [milliseconds(partial(fresh.get, source, [number])) for number in pages[::5]]
        index = WordIndex(folder / "index", folder / "ocr", renderer)
        building = milliseconds(lambda: index.get(source, pages))
        first_search = milliseconds(
            lambda: search_document(
                WordIndex(folder / "index", folder / "ocr", renderer), source, pages, "the", seconds=9
            )
        )
        searches = [
            milliseconds(lambda query=query: search_document(index, source, pages, query, seconds=9))  # type: ignore[misc]
            for query in QUERIES * 5
        ]
        found = {number: page for number, page in index.get(source, pages).items() if isinstance(page, PageWords)}
        kept = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
    evidence = [(number, found[number].normal) for number in (3, 4, 40, 41, 42) if number in found]
    everywhere = [(number, page.normal) for number, page in found.items()]
    answer = (
        " ".join(" ".join(found[number].texts[40:70]) for number in (3, 41) if number in found) + " In 2024, 12.5 %."
    )
    few, many = [], []
    for _ in range(10):
        few.append(milliseconds(lambda: find_phrases(answer, [["and the", "12.5 %"]], Searchable(evidence))))
        many.append(milliseconds(lambda: find_phrases(answer, [["and the", "12.5 %"]], Searchable(everywhere))))
    print(f"\n{PAGES} pages with {sum(page.n for page in found.values()):,} words; index {kept / 1e6:.1f} MB on disk")
    print(HEADER)
    base = statistics.median(plain_words)
    show("plain PyMuPDF: words of a page", plain_words, base)
    show("words of a page, not in the index", single, base)
    base = statistics.median(plain_search)
    show("plain PyMuPDF: search_for over all pages", plain_search, base)
    show("search, index not yet in memory", [first_search], base)
    show("search", searches, base)
    print(f"{'making the index of all pages':<44} {building:8.0f} {'':>8} {building / base:8.2f} ×")
    show("phrases of an item, on 5 pages", few, base)
    show("phrases of an item, on all pages", many, base)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--width", type=int, default=1200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        paths = documents(arguments.documents, Path(temporary))
        drawing(paths, Path(temporary), arguments.width)
        words(paths, Path(temporary))


if __name__ == "__main__":
    main()
