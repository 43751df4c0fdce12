"""The pages everybody looks at: what a document is, how many pages it has, and a picture of any of them.

Importing this package loads neither MuPDF nor Pillow: documents come from strangers, and only the worker processes of a
`Renderer` open them.
"""

from annotators.pages.documents.cache import WIDTHS, PageCache, snap_width
from annotators.pages.documents.failure import draw_failure
from annotators.pages.documents.kinds import MEDIA_TYPES, sniff
from annotators.pages.documents.renderer import Renderer
from annotators.pages.documents.results import (
    WHOLE,
    Crop,
    DocumentFacts,
    Limits,
    PageNotDrawn,
    RenderedPage,
    Why,
    check_crop,
    too_many,
)
from annotators.pages.documents.turns import drawing_for

__all__ = [
    "MEDIA_TYPES",
    "WHOLE",
    "WIDTHS",
    "Crop",
    "DocumentFacts",
    "Limits",
    "PageCache",
    "PageNotDrawn",
    "RenderedPage",
    "Renderer",
    "Why",
    "check_crop",
    "draw_failure",
    "drawing_for",
    "snap_width",
    "sniff",
    "too_many",
]
