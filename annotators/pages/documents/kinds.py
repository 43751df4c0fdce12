"""Which kinds of document there are, and how the bytes tell which one a document is."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePath

from annotators.errors import InvalidInput

PDF = "application/pdf"
PNG = "image/png"
JPEG = "image/jpeg"
WEBP = "image/webp"
TIFF = "image/tiff"
TEXT = "text/plain"
MARKDOWN = "text/markdown"

# Each media type with the ending that its documents usually have.
MEDIA_TYPES: dict[str, str] = {
    PDF: "pdf",
    PNG: "png",
    JPEG: "jpg",
    WEBP: "webp",
    TIFF: "tif",
    TEXT: "txt",
    MARKDOWN: "md",
}
PICTURES = frozenset({PNG, JPEG, WEBP, TIFF})
TEXTS = frozenset({TEXT, MARKDOWN})

MAX_TEXT_BYTES = 5_000_000

_SUPPORTED = "Assay shows PDF, PNG, JPEG, WebP, TIFF, plain text and Markdown"
_BY_ENDING = {
    ".pdf": PDF,
    ".png": PNG,
    ".jpg": JPEG,
    ".jpeg": JPEG,
    ".webp": WEBP,
    ".tif": TIFF,
    ".tiff": TIFF,
}
_MARKDOWN_ENDINGS = frozenset({".md", ".markdown", ".mdown", ".mkd"})
# Kinds people try, by their first bytes, each with what to do instead.
_KNOWN_OTHERS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a ZIP archive or an Office document", "export it as PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Office document", "export it as PDF"),
    (b"{\\rtf", "a rich-text document", "export it as PDF"),
    (b"%!PS", "a PostScript document", "convert it to PDF"),
    (b"AT&TFORM", "a DjVu document", "convert it to PDF"),
    (b"GIF87a", "a GIF picture", "save it as PNG"),
    (b"GIF89a", "a GIF picture", "save it as PNG"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture", "save it as PNG"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it first"),
)
_MARKUP = re.compile(r"\s*<(?:!doctype\s+html|html|\?xml|svg)[\s>]", re.IGNORECASE)
_BINARY = re.compile(r"[\x00-\x06\x0e-\x1a]")


def sniff(data: bytes, name: str) -> str:
    """The media type of a document, from its bytes.

    The name decides only between plain text and Markdown, and catches a document whose bytes are not what its ending
    promises. A PDF is recognised by its header; whether it opens is for `Renderer.inspect` to say.

    data: the whole document. name: its file name, used in messages.
    Raises InvalidInput, naming the document and the remedy, for anything that is not one of `MEDIA_TYPES`.
    """
    if not data:
        raise InvalidInput(f"{name} is empty (0 bytes): supply the document again.")
    ending = PurePath(name).suffix.lower()
    found = _binary_kind(data)
    if found is not None:
        return found
    if ending in _BY_ENDING:
        raise InvalidInput(
            f"{name} is not {_called(_BY_ENDING[ending])}, although its name says so "
            f"(it begins with {data[:12]!r}): supply the document again, or correct its name."
        )
    for start, called, remedy in _KNOWN_OTHERS:
        if data.startswith(start):
            raise InvalidInput(f"{name} is {called}: {remedy}. {_SUPPORTED}.")
    if data.startswith(b"BM") and data[6:10] == b"\x00\x00\x00\x00":
        raise InvalidInput(f"{name} is a BMP picture: save it as PNG. {_SUPPORTED}.")
    if data[4:12] in {b"ftypheic", b"ftypheix", b"ftypmif1", b"ftypavif"}:
        raise InvalidInput(f"{name} is a HEIC or AVIF picture: save it as JPEG or PNG. {_SUPPORTED}.")
    text = decode_text(data, name)
    if _MARKUP.match(text[:400]):
        raise InvalidInput(f"{name} is a web page or XML, which is not shown as pages: print it to PDF. {_SUPPORTED}.")
    return MARKDOWN if ending in _MARKDOWN_ENDINGS else TEXT


def decode_text(data: bytes, name: str) -> str:
    """The text of a plain-text or Markdown document: UTF-8, or UTF-16 with a byte-order mark; lines end with \\n.

    Raises InvalidInput when the bytes are not text, are in another encoding, are only white space, or are more than
    `MAX_TEXT_BYTES`.
    """
    if len(data) > MAX_TEXT_BYTES:
        raise InvalidInput(
            f"{name} has {len(data):,} bytes of text, more than the {MAX_TEXT_BYTES:,} that one document may have: "
            "split it into several documents."
        )
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{name} is neither a supported document nor text in UTF-8 (byte {error.start:,} is "
            f"0x{data[error.start]:02x}): save it as UTF-8 text or as PDF. {_SUPPORTED}."
        ) from error
    if _BINARY.search(text):
        raise InvalidInput(f"{name} holds control characters that text does not have: save it as PDF. {_SUPPORTED}.")
    if not text.strip():
        raise InvalidInput(f"{name} holds nothing but white space: supply the document again.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _binary_kind(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    if data.startswith((b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")):
        return TIFF
    # Readers accept a header within the first kilobyte, whatever stands before it (some servers prepend a line or a
    # byte-order mark, some programs a few bytes). A text that merely mentions "%PDF-" has no object in it, and one that
    # explains the format in the middle of a line does not end as a PDF does.
    head = data[:1024]
    at = head.find(b"%PDF-")
    of_its_own = head[at - 1 : at] in {b"\n", b"\r", b"\x00", b"\xbf"} or b"startxref" in data[-2048:]
    if at == 0 or (at > 0 and of_its_own and b" obj" in data):
        return PDF
    return None


def _called(media_type: str) -> str:
    return {PDF: "a PDF", PNG: "a PNG picture", JPEG: "a JPEG picture", WEBP: "a WebP picture"}.get(
        media_type, "a TIFF picture"
    )
