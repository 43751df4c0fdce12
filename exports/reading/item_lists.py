"""Lists of items that a study is made of: a file with an id a line, or a table with a column of them."""

from __future__ import annotations

from pathlib import Path

from annotators.items.conditions import item_ids
from exports.reading.uploaded import reads_uploads


@reads_uploads
def listed_items(path: Path) -> tuple[str, ...]:
    """The ids that a file names, in its order; raises InvalidInput as `item_ids`."""
    return item_ids(path.read_text(encoding="utf-8", errors="replace"), path.name)
