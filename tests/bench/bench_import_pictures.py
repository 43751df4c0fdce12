"""Importing 2,000 pictures with an item each, against reading, hashing and copying the same files.

    python -m tests.bench.bench_import_pictures [PICTURES]

Half are PNG, half JPEG, a tenth turned by EXIF; 640 × 480, a photograph on white. The baseline reads every file once,
hashes it and writes it into a folder; it neither opens the pictures nor waits for the disk. Target: at most 6 times the
baseline, or 800 pictures a second.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
from pathlib import Path

import orjson
from PIL import Image

from exports.importing.items import import_paths
from tests.bench.bench_import import fresh
from tests.makers import make_person, make_project

TARGET = 6.0
TARGET_RATE = 800


def write_pictures(folder: Path, n: int) -> None:
    """n different pictures, and items.jsonl with an item for each."""
    chance = random.Random(7)
    base = Image.new("RGB", (640, 480), "white")
    photograph = Image.frombytes("RGB", (32, 24), chance.randbytes(32 * 24 * 3)).resize((160, 120))
    base.paste(photograph, (240, 180))
    turned = Image.Exif()
    turned[0x0112] = 6
    with (folder / "items.jsonl").open("wb") as file:
        for number in range(n):
            name = f"picture-{number:05}.{'png' if number % 2 else 'jpg'}"
            picture = base.copy()
            picture.putpixel((number % 640, number // 640), (255, number % 256, number // 256))
            picture.paste((number % 256, number // 256, 9), (0, 0, 16, 16))
            extra = {"exif": turned} if number % 10 == 0 else {}
            picture.save(folder / name, **({"compress_level": 1} if number % 2 else {"quality": 80}), **extra)
            row = {"id": f"i{number}", "question": f"What is on picture {number}?", "images": [{"document": name}]}
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def plain(folder: Path, to: Path) -> float:
    """Seconds to read, hash and copy the pictures."""
    to.mkdir()
    began = time.perf_counter()
    for path in sorted(folder.glob("picture-*")):
        data = path.read_bytes()
        (to / hashlib.sha256(data).hexdigest()).write_bytes(data)
    return time.perf_counter() - began


def main(n: int = 2_000) -> bool:
    """Print times, rate and ratio; whether the target is met."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        (folder / "pictures").mkdir()
        write_pictures(folder / "pictures", n)
        database = fresh(folder, "assay.db")
        project, actor = make_project(database), make_person(database, admin=True)
        theirs = plain(folder / "pictures", folder / "copied")
        began = time.perf_counter()
        report = import_paths(database, actor, project, paths=[folder / "pictures"], data_folder=folder / "documents")
        ours = time.perf_counter() - began
        assert (report.added, report.supplied, report.rejected) == (n, n, [])
        database.dispose()
        size = sum(path.stat().st_size for path in (folder / "pictures").glob("picture-*")) / n
    print(f"pictures of {size / 1000:.0f} kB on average")
    print(f"import of {n:,} pictures:  {ours:.2f} s ({n / ours:,.0f} pictures/s)")
    print(f"read, hash and copy:      {theirs:.2f} s ({n / theirs:,.0f} pictures/s)")
    print(f"ratio:                    {ours / theirs:.1f} (target: at most {TARGET:g}, or {TARGET_RATE} a second)")
    return ours / theirs <= TARGET or n / ours >= TARGET_RATE


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
