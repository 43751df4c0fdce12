"""What Potato asks of more than a text: regions of an image, and tuples of which one is best and one is worst.

A user's state holds regions as the page draws them (`static/image-annotation.js` of Potato 2.12): a JSON list of shapes
under the name `_data`, in fractions of the image from its top left corner. Tuples are in no file: Potato draws them
when it starts, and the same again each time (`bws_tuple_generator.py`).
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from annotators.errors import InvalidInput, shown
from exports.reading.addressed import path_of

if TYPE_CHECKING:
    from exports.label_studio.lost import Lost

# Regions of images ----------------------------------------------------------------------------------------------------

REGIONS = "image_annotation"
_DATA = "_data"
_IMAGE_FIELDS = ("image", "image_path", "image_url", "file_name", "filename", "img")
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp")
_MOST_REGIONS = 1_000
_MOST_PLACES = 100
"""Places that a label may have here (`MAX_RATIONALES` of annotators/asking/submissions.py)."""


def image_fields(scheme: Mapping[str, Any], displayed: Sequence[Mapping[str, Any]], text: str) -> list[str]:
    """The fields of an instance in which Potato looks for the image of a scheme, the first that has one counts."""
    shown_as_images = [str(one.get("key")) for one in displayed if one.get("type") == "image"]
    named = [str(scheme["source_field"])] if scheme.get("source_field") else []
    return list(dict.fromkeys([*named, *shown_as_images, *_IMAGE_FIELDS, text]))


def image_in(record: Mapping[str, Any], fields: Sequence[str], text: str) -> str | None:
    """The field that has the image of an instance; the text is one only where it is called as files of images are."""
    for name in fields:
        value = record.get(name)
        if isinstance(value, str) and value and (name != text or _is_image(value)):
            return name
    return None


def _is_image(address: str) -> bool:
    return path_of(address).lower().endswith(_IMAGE_ENDINGS)


def shapes_in(names: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The shapes that somebody drew; None where nothing was said."""
    said = names.get(_DATA)
    if said in (None, ""):
        return None
    try:
        found = orjson.loads(said) if isinstance(said, str) else said
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, dict) and one.get("label") for one in found):
        raise InvalidInput(f"the regions of an image are {shown(said)}, not a list of shapes with a label each")
    if len(found) > _MOST_REGIONS:
        raise InvalidInput(f"an image has {len(found):,} regions; at most {_MOST_REGIONS:,} are read")
    return found


def labels_in(names: Mapping[str, Any]) -> list[str] | None:
    """The labels of the shapes, each once; None where nothing was said, none where nothing was marked."""
    shapes = shapes_in(names)
    return None if shapes is None else list(dict.fromkeys(str(one["label"]) for one in shapes))


def places_in(names: Mapping[str, Any], document: str | None, lost: Lost) -> list[dict[str, Any]]:
    """The boxes of the shapes on the one page of a document, by its key; what is no box is lost, and counted."""
    found: list[dict[str, Any]] = []
    for one in shapes_in(names) or ():
        kind = str(one.get("type"))
        box = _box_of(one)
        if one.get("attributes"):
            lost.add("What is said of single regions (`attributes`)")
        if document is None:
            lost.add("Regions of an image that the data do not name: their labels are kept")
        elif box is None:
            lost.add(f"Regions that are no box ({kind}): their labels are kept")
        elif not (box[0] < box[2] and box[1] < box[3]):
            lost.add("Regions without an area on the image: their labels are kept")
        elif len(found) == _MOST_PLACES:
            lost.add(f"Regions beyond the first {_MOST_PLACES} of an image: their labels are kept")
        else:
            if kind != "bbox":
                lost.add(f"Outlines of regions ({kind}): the box around each is kept")
            found.append({"document": document, "page": 1, "box": box, "text": str(one["label"])})
    return found


def _box_of(shape: Mapping[str, Any]) -> list[float] | None:
    """[x0, y0, x1, y1] in fractions of the image, within it; None where the shape has no such box."""
    given, kind = shape.get("coordinates"), shape.get("type")
    if kind == "bbox" and isinstance(given, dict):
        x, y, width, height = (_number(given.get(name)) for name in ("x", "y", "width", "height"))
        corners = [(x, y), (x + width, y + height)]
    elif kind == "ellipse" and isinstance(given, dict) and not _number(given.get("angle", 0)) % 180:
        x, y, rx, ry = (_number(given.get(name)) for name in ("cx", "cy", "rx", "ry"))
        corners = [(x - rx, y - ry), (x + rx, y + ry)]
    elif kind in ("polygon", "polyline") and isinstance(given, list):
        corners = [*map(_point, given)]
    elif kind == "cuboid_2d" and isinstance(given, dict):
        faces = [given.get("front"), given.get("back")]
        corners = [_point(one) for face in faces if isinstance(face, list) for one in face]
    else:
        return None
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    if not corners or not all(map(math.isfinite, [*xs, *ys])):
        return None
    return [round(min(1.0, max(0.0, edge)), 6) for edge in (min(xs), min(ys), max(xs), max(ys))]


def _point(given: Any) -> tuple[float, float]:
    if isinstance(given, dict):
        return _number(given.get("x")), _number(given.get("y"))
    pair = given if isinstance(given, list) and len(given) > 1 else [None, None]
    return _number(pair[0]), _number(pair[1])


def _number(given: Any) -> float:
    try:
        return math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        return math.nan


# Best and worst of a tuple --------------------------------------------------------------------------------------------

TUPLES = "bws"
POSITIONS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_TUPLES = 1_000_000


class Tuples(NamedTuple):
    """How Potato draws the tuples of a project: its `bws_config`."""

    size: int
    n: int | None
    seed: int
    appearances: int

    def of(self, pool: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """The id of each tuple, and what it has of the pool: what Potato's `BwsTupleGenerator.generate` draws.

        InvalidInput where the pool is smaller than a tuple, or where more tuples are asked for than anybody answers.
        """
        if self.size > len(pool):
            raise InvalidInput(f"`bws_config` asks for tuples of {self.size}, and the data have {len(pool)} items.")
        n = self.n or max(1, -(-len(pool) * self.appearances // self.size))
        if n > _MOST_TUPLES:
            raise InvalidInput(f"`bws_config` asks for {n:,} tuples; at most {_MOST_TUPLES:,} are drawn.")
        return self._drawn(pool, n)

    def _drawn(self, pool: Sequence[str], n: int) -> Iterator[tuple[str, list[str]]]:
        draws = random.Random(self.seed)  # noqa: S311 - the same draws as Potato's
        queue: deque[int] = deque()

        def refill() -> None:
            everything = list(range(len(pool)))
            draws.shuffle(everything)
            queue.extend(everything)

        for number in range(1, n + 1):
            chosen: list[int] = []
            while len(chosen) < self.size:
                if not queue:
                    refill()
                pick = next((one for one in queue if one not in chosen), None)
                if pick is None:
                    refill()
                    continue
                queue.remove(pick)
                chosen.append(pick)
            yield f"bws_tuple_{number:04d}", [pool[one] for one in chosen]


def tuples_of(config: Mapping[str, Any]) -> Tuples | None:
    """How a config has tuples drawn, None where it has none; InvalidInput for what Potato would not start with."""
    said = config.get("bws_config")
    if said is None:
        return None
    if not isinstance(said, dict):
        raise InvalidInput(f"`bws_config` is {shown(said)}, which says nothing. Write `tuple_size: 4` below it.")
    size = _whole(said, "tuple_size", 4)
    if not 2 <= size <= len(POSITIONS):
        raise InvalidInput(f"`tuple_size` of `bws_config` is {size}; tuples have from 2 to {len(POSITIONS)} items.")
    n = None if said.get("num_tuples") is None else max(1, _whole(said, "num_tuples", 1))
    return Tuples(size, n, _whole(said, "seed", 42), max(1, _whole(said, "min_item_appearances", 2 * size)))


def _whole(said: Mapping[str, Any], name: str, usual: int) -> int:
    value = said.get(name)
    if value is None:
        return usual
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"`{name}` of `bws_config` is {shown(value)}, which is no whole number.")
    return value
