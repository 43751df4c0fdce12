"""Builds the sample documents from their written content and says where everything on them stands."""

from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

import yaml

from annotators.errors import InvalidInput
from exports.sample.canvas import HEIGHT, WIDTH, Box
from exports.sample.flow import Flow, Placed
from exports.sample.textlayer import mupdf

DOCUMENTS = ("harrow-bay", "tern-sound", "corrie-library", "mossgate", "ain-rayhan")

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(name: str) -> Any:
    """The content of ``data/<name>.yaml``."""
    text = files("exports.sample").joinpath("data", f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, the fast one where there is one


@dataclass
class Drawn:
    """A finished document: ``placed`` are its named tables, figures and boxes."""

    key: str
    title: str
    language: str
    data: bytes
    placed: dict[str, Placed]

    @cached_property
    def pages(self) -> list[tuple[str, list[Box]]]:
        """For each page its characters without white space, and the box of each in points."""
        pages = []
        with mupdf.open(stream=self.data, filetype="pdf") as document:
            for page in document:
                chars = [
                    (char["c"], char["bbox"])
                    for block in page.get_text("rawdict", flags=0)["blocks"]
                    for line in block["lines"]
                    for span in line["spans"]
                    for char in span["chars"]
                    if not char["c"].isspace()
                ]
                pages.append(("".join(char for char, _ in chars), [box for _, box in chars]))
        return pages

    def find(self, text: str) -> Placed:
        """Where the passage ``text`` stands. Raises InvalidInput unless it stands in exactly one place."""
        wanted = "".join(text.split())
        hits = [
            (number, start)
            for number, (chars, _) in enumerate(self.pages, start=1)
            for start in range(len(chars))
            if chars.startswith(wanted, start)
        ]
        if len(hits) != 1:
            raise InvalidInput(
                f"{len(hits)} places in {self.key} read “{text}”; quote a passage that stands there once."
            )
        number, start = hits[0]
        boxes = self.pages[number - 1][1][start : start + len(wanted)]
        box = (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )
        return Placed("passage", number, box, text)


def fractions(box: Box) -> list[float]:
    """``box`` (points) as fractions of the page, rounded to four places."""
    return [round(box[0] / WIDTH, 4), round(box[1] / HEIGHT, 4), round(box[2] / WIDTH, 4), round(box[3] / HEIGHT, 4)]


def draw_documents() -> dict[str, Drawn]:
    """Every sample document by its short name. Takes about two seconds."""
    return {name: draw_document(name) for name in DOCUMENTS}


def draw_document(name: str) -> Drawn:
    """The sample document whose content is ``data/<name>.yaml``."""
    content = read_data(name)
    flow = Flow(content)
    flow.run()
    data = flow.canvas.finish(title=content["title"], author=content["author"], date=content["date"])
    return Drawn(content["key"], content["title"], content["language"], data, flow.placed)
