"""Documents that a worker has open: the sizes, text and pictures of their pages. Only workers import this."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pymupdf
from PIL import Image

from annotators.errors import InvalidInput
from annotators.pages.documents import kinds, typeset
from annotators.pages.documents.encoding import encode, is_blank
from annotators.pages.documents.extract import words_on
from annotators.pages.documents.results import WHOLE, Crop, DocumentFacts, PageNotDrawn, RenderedPage, Why
from annotators.pages.documents.words import pack_words

MAX_PAGES = 10_000
# A4 at the widest step is 18.3 million pixels; a taller page is drawn smaller.
MAX_DRAWN_PIXELS = 20_000_000
MAX_DRAWN_SIDE = 16_000
# How large the whole page may become when a part of it is drawn: letters of 1 point are then 30 pixels high.
MAX_ENLARGED_WIDTH = 20_000
MAX_ENLARGED_SIDE = 40_000
# A1 at 400 dots an inch. Pillow keeps 4 bytes a pixel, so decoding one takes 600 MB.
MAX_PICTURE_PIXELS = 150_000_000
_LOOKED_AT_FOR_TEXT = 64
_MOSTLY_PICTURES = 0.5
_LETTER = (612.0, 792.0)

# What MuPDF says while it draws on regardless. Complaints about fonts and syntax are common and harmless.
_MISSING_PARTS = (
    "library error",
    "system error",
    "limit error",
    "cannot load content stream",
    "premature end of data",
    "ignoring error",
    "malloc",
)
_NO_MEMORY = ("malloc", "calloc", "exceeds system limits")
_PART_MISSING = "A part of this page could not be read and is missing from the picture."

# The library has no types.
mupdf: Any = pymupdf

# EXIF tag 274: what turns the picture upright, and the values whose width and height change places.
_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = {5, 6, 7, 8}

mupdf.TOOLS.mupdf_display_errors(False)
mupdf.TOOLS.mupdf_display_warnings(False)
Image.MAX_IMAGE_PIXELS = MAX_PICTURE_PIXELS
warnings.simplefilter("error", Image.DecompressionBombWarning)


class Opened(Protocol):
    """A document that is open. Page numbers begin at 1 and have been checked against n_pages."""

    n_pages: int

    def facts(self) -> DocumentFacts:
        """See DocumentFacts."""

    def text(self, page_number: int) -> str:
        """The page's text in reading order as far as the document gives one; empty for a picture."""

    def words(self, page_number: int) -> bytes:
        """The page's words with their places, packed (`words.PageWords`); without any for a picture."""

    def draw(self, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        """The part of the page as displayed, width_px wide unless its area or its own resolution asks for less."""

    def close(self) -> None:
        """Release what is held."""


def open_document(path: Path, media_type: str) -> Opened:
    """Open a document of one of `kinds.MEDIA_TYPES`; raises PageNotDrawn with the reason when it cannot be opened."""
    if media_type in kinds.PICTURES:
        return PictureDocument(path, media_type)
    if media_type in kinds.TEXTS:
        try:
            text = kinds.decode_text(path.read_bytes(), "the document")
        except InvalidInput as error:
            raise PageNotDrawn(Why.BROKEN, str(error)) from error
        laid_out = mupdf.open(stream=typeset.to_html(text, media_type), filetype="html")
        laid_out.layout(rect=mupdf.Rect(0, 0, *typeset.PAGE_SIZE), fontsize=typeset.FONT_SIZE)
        return MupdfDocument(laid_out)
    if media_type == kinds.PDF:
        try:
            pdf = mupdf.open(path, filetype="pdf")
        except (mupdf.FileDataError, mupdf.mupdf.FzErrorFormat) as error:
            raise PageNotDrawn(Why.BROKEN, "the file is not a PDF that can be read, not even in part") from error
        if pdf.needs_pass:
            raise PageNotDrawn(Why.PASSWORD, "the PDF is protected with a password")
        return MupdfDocument(pdf)
    raise PageNotDrawn(Why.BROKEN, f"documents of type {media_type} are not supported")


def _check_page_count(n_pages: int) -> int:
    if n_pages < 1:
        raise PageNotDrawn(Why.BROKEN, "the document has no pages that can be read")
    if n_pages > MAX_PAGES:
        raise PageNotDrawn(
            Why.SIZE, f"the document has {n_pages:,} pages, more than the {MAX_PAGES:,} that one may have"
        )
    return n_pages


class MupdfDocument:
    """A PDF, or text that MuPDF laid out."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.n_pages = _check_page_count(document.page_count)
        # The page of which a part was drawn last, and what it draws.
        self._listed: tuple[int, Any] = (-1, None)

    def facts(self) -> DocumentFacts:
        """See `Opened`."""
        sizes = []
        for number in range(self.n_pages):
            try:
                rect = self._document[number].rect
                sizes.append((float(rect.width), float(rect.height)))
            except (RuntimeError, ValueError, mupdf.mupdf.FzErrorBase):
                sizes.append(_LETTER)
        step = -(-self.n_pages // _LOOKED_AT_FOR_TEXT)
        has_text = any(self._has_text(number) for number in range(0, self.n_pages, step))
        note = ""
        if self._document.is_pdf and self._document.is_repaired:
            note = "The PDF is damaged (cut off, or badly written): pages may be incomplete."
        return DocumentFacts(self.n_pages, sizes, has_text, note)

    def _has_text(self, number: int) -> bool:
        try:
            return bool(self._document[number].get_text().strip())
        except (RuntimeError, ValueError, mupdf.mupdf.FzErrorBase):
            return False

    def text(self, page_number: int) -> str:
        """See `Opened`."""
        return typeset.without_breaks(self._document[page_number - 1].get_text())

    def words(self, page_number: int) -> bytes:
        """See `Opened`."""
        page = self._document[page_number - 1]
        return pack_words(words_on(page), aspect=page.rect.width / page.rect.height)

    def draw(self, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        """See `Opened`."""
        page = self._document[page_number - 1]
        mupdf.TOOLS.reset_mupdf_warnings()
        if crop == WHOLE:
            scale = _scale(page.rect.width, page.rect.height, width_px)
            pixels = page.get_pixmap(matrix=mupdf.Matrix(scale, scale), colorspace=mupdf.csRGB, alpha=False)
        else:
            pixels = self._draw_part(page, width_px, crop)
        picture = Image.frombuffer(
            "RGB", (pixels.width, pixels.height), pixels.samples_mv, "raw", "RGB", pixels.stride, 1
        )
        note = ""
        said = mupdf.TOOLS.mupdf_warnings().lower()
        if any(sign in said for sign in _MISSING_PARTS):
            if is_blank(picture) and any(sign in said for sign in _NO_MEMORY):
                raise MemoryError
            if is_blank(picture) and crop == WHOLE:
                raise PageNotDrawn(Why.BROKEN, "the page is damaged: nothing of it can be read")
            note = _PART_MISSING
        data, media_type = encode(picture, photographic=self._picture_share(page) > _MOSTLY_PICTURES)
        return RenderedPage(data, media_type, pixels.width, pixels.height, note)

    def _draw_part(self, page: Any, width_px: int, crop: Crop) -> Any:
        """The pixels of a part, from what the page draws, which is kept for the next part of the same page."""
        width, height = float(page.rect.width), float(page.rect.height)
        part = mupdf.Rect(crop[0] * width, crop[1] * height, crop[2] * width, crop[3] * height)
        scale = min(_scale(part.width, part.height, width_px), MAX_ENLARGED_WIDTH / width, MAX_ENLARGED_SIDE / height)
        if self._listed[0] != page.number:
            self._listed = (page.number, page.get_displaylist())
        return self._listed[1].get_pixmap(matrix=mupdf.Matrix(scale, scale), colorspace=mupdf.csRGB, alpha=0, clip=part)

    def _picture_share(self, page: Any) -> float:
        """How much of the page pictures cover, counting overlaps twice (0 without looking when it has none)."""
        if not self._document.is_pdf or not page.get_images(full=True):
            return 0.0
        covered = 0.0
        for found in page.get_image_info():
            shown = mupdf.Rect(found["bbox"]) & page.rect
            if found["bpc"] > 1 and not shown.is_empty:
                covered += float(shown.get_area())
        return covered / float(page.rect.get_area())

    def close(self) -> None:
        """See `Opened`."""
        self._document.close()


class PictureDocument:
    """A PNG, JPEG or WebP (one page, the first frame), or a TIFF (a page a frame)."""

    def __init__(self, path: Path, media_type: str) -> None:
        formats = {kinds.PNG: ["PNG"], kinds.JPEG: ["JPEG", "MPO"], kinds.WEBP: ["WEBP"], kinds.TIFF: ["TIFF"]}
        self._path, self._formats, self._media_type = path, formats[media_type], media_type
        with self._frame(1) as picture:
            frames = int(getattr(picture, "n_frames", 1)) if media_type == kinds.TIFF else 1
            self._first = self._size_in_points(picture)
        self.n_pages = _check_page_count(frames)

    @contextlib.contextmanager
    def _frame(self, page_number: int) -> Iterator[Image.Image]:
        try:
            with Image.open(self._path, formats=self._formats) as picture:
                if self._media_type == kinds.TIFF and page_number > 1:
                    picture.seek(page_number - 1)
                yield picture
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            # Pillow looks again when it decodes: a frame may be larger than its file said at first.
            most = MAX_PICTURE_PIXELS // 1_000_000
            raise PageNotDrawn(Why.SIZE, f"the picture has more than {most} million pixels") from error

    def facts(self) -> DocumentFacts:
        """See `Opened`."""
        sizes = [self._first]
        for page_number in range(2, self.n_pages + 1):
            with self._frame(page_number) as picture:
                sizes.append(self._size_in_points(picture))
        return DocumentFacts(self.n_pages, sizes, has_text=False)

    def _size_in_points(self, picture: Image.Image) -> tuple[float, float]:
        """The size as displayed; read off the head of the file, without its pixels."""
        width, height = picture.size
        across, down = _resolution(picture)
        if self._orientation(picture) in _SIDEWAYS:
            width, height, across, down = height, width, down, across
        return width * 72 / across, height * 72 / down

    def _orientation(self, picture: Image.Image) -> int:
        if self._media_type == kinds.TIFF:  # Pillow turns it by itself, its size included
            return 1
        if self._media_type == kinds.PNG and not _says_more_behind_its_pixels(self._path):
            # Pillow's own way for PNG decodes all pixels to get at what may follow them.
            return int(Image.Image.getexif(picture).get(0x0112) or 1)
        return int(picture.getexif().get(0x0112) or 1)

    def _size_as_displayed(self, picture: Image.Image) -> tuple[int, int]:
        width, height = picture.size
        return (height, width) if self._orientation(picture) in _SIDEWAYS else (width, height)

    def text(self, page_number: int) -> str:
        """See `Opened`."""
        return ""

    def words(self, page_number: int) -> bytes:
        """See `Opened`."""
        return pack_words([])

    def draw(self, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        """See `Opened`."""
        with self._frame(page_number) as picture:
            width, height = self._size_as_displayed(picture)
            part = _pixels_of(crop, width, height)
            across, down = part[2] - part[0], part[3] - part[1]
            share = min(1.0, _scale(across, down, width_px))
            drawn = (max(1, round(across * share)), max(1, round(down * share)))
            orientation = self._orientation(picture)
            lossless = picture.format == "PNG"
            if crop == WHOLE:
                shown = _flat(picture, drawn[::-1] if orientation in _SIDEWAYS else drawn)
            else:
                shown = _flat(picture, picture.size)
        if orientation in _UPRIGHT:
            shown = shown.transpose(_UPRIGHT[orientation])
        if crop != WHOLE:
            shown = shown.resize(drawn, Image.Resampling.LANCZOS, box=part, reducing_gap=2.0)
        data, media_type = encode(shown, photographic=not lossless)
        return RenderedPage(data, media_type, shown.width, shown.height)

    def close(self) -> None:
        """See `Opened`: nothing stays open between two pages."""


_PNG_SAYS = frozenset({b"eXIf", b"tEXt", b"zTXt", b"iTXt"})
"""Chunks of a PNG in which its orientation may stand."""


def _says_more_behind_its_pixels(path: Path) -> bool:
    """Whether a PNG has a chunk behind the first of its pixels that may turn it; what is damaged may have anything."""
    with path.open("rb") as file:
        file.seek(8)
        in_pixels = False
        while len(header := file.read(8)) == 8:
            kind = header[4:]
            if in_pixels and kind in _PNG_SAYS:
                return True
            if kind == b"IEND":
                return False
            in_pixels = in_pixels or kind == b"IDAT"
            file.seek(int.from_bytes(header[:4], "big") + 4, 1)
    return True


def _scale(width: float, height: float, width_px: int) -> float:
    """How much to enlarge what is so wide and high, for width_px pixels across or the most that may be drawn."""
    return min(width_px / width, math.sqrt(MAX_DRAWN_PIXELS / (width * height)), MAX_DRAWN_SIDE / height)


def _pixels_of(crop: Crop, width: int, height: int) -> tuple[int, int, int, int]:
    """The pixels that the part covers, at least one."""
    left, top = min(int(crop[0] * width), width - 1), min(int(crop[1] * height), height - 1)
    return left, top, max(left + 1, math.ceil(crop[2] * width)), max(top + 1, math.ceil(crop[3] * height))


def _resolution(picture: Image.Image) -> tuple[float, float]:
    """Dots an inch across and down as stored; 96 where the picture says nothing believable."""
    declared = picture.info.get("dpi", (96.0, 96.0))
    try:
        across, down = float(declared[0]), float(declared[1])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return 96.0, 96.0
    # 72 is what programs write, and Pillow assumes beside EXIF data, when nobody knows.
    if not (36 <= across <= 2400 and 36 <= down <= 2400) or across == down == 72:
        return 96.0, 96.0
    return across, down


def _flat(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture in mode RGB or L, no larger than size (width, height as stored), on white where transparent."""
    picture.draft("RGB", size)
    if picture.mode.startswith("I;16"):
        # 16 bits a pixel: converting to 8 would cut everything above 255 off.
        flat = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    elif picture.mode in {"I", "F"}:
        low, high = picture.getextrema()
        span = max(float(high) - float(low), 1e-9)  # type: ignore[arg-type]
        flat = picture.point(lambda value: value * (255 / span) - low * (255 / span)).convert("L")  # type: ignore[operator]
    elif picture.mode == "1":
        flat = picture.convert("L")
    elif picture.has_transparency_data:
        clear = picture.convert("RGBA")
        clear.thumbnail(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
        flat = Image.new("RGB", clear.size, "white")
        flat.paste(clear, mask=clear.getchannel("A"))
    elif picture.mode in {"L", "RGB"}:
        picture.load()
        flat = picture
    else:
        flat = picture.convert("RGB")
    if flat.width > size[0] or flat.height > size[1]:
        flat = flat.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    return flat
