"""What a document is, told from its bytes."""

from __future__ import annotations

import pytest

from annotators.errors import InvalidInput
from annotators.pages import sniff
from tests.annotators.pages import makers


@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (makers.pdf("one"), "report.pdf", "application/pdf"),
        (b"\xef\xbb\xbf" + makers.pdf("one"), "report.pdf", "application/pdf"),
        (makers.picture("PNG"), "scan.png", "image/png"),
        (makers.picture("JPEG"), "scan.jpg", "image/jpeg"),
        (makers.picture("WEBP"), "scan.webp", "image/webp"),
        (makers.tiff((10, 10)), "scan.tif", "image/tiff"),
        (b"Plain words, and %PDF-1.4 mentioned.", "notes.txt", "text/plain"),
        (b"A PDF begins: %PDF-1.4, then has 1 0 obj in it.", "notes.txt", "text/plain"),
        (b"junk__%PDF-1.7\n1 0 obj\n<<>>\nendobj\nstartxref\n0\n%%EOF", "a.pdf", "application/pdf"),
        (b"BMW sold more cars.", "notes", "text/plain"),
        ("Größe".encode(), "notes.text", "text/plain"),
        ("Größe".encode("utf-16"), "notes.txt", "text/plain"),
        (b"# Heading", "NOTES.MD", "text/markdown"),
    ],
)
def test_the_bytes_decide_the_media_type(data: bytes, name: str, media_type: str) -> None:
    assert sniff(data, name) == media_type


def test_a_wrong_ending_does_not_hide_a_supported_document() -> None:
    assert sniff(makers.picture("PNG"), "really-a-picture.pdf") == "image/png"


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (b"", "empty.pdf", "is empty"),
        (b"not a PDF at all", "fake.pdf", "not a PDF, although its name says so"),
        (b"text", "fake.png", "not a PNG picture"),
        (b"PK\x03\x04 the rest", "report.docx", "export it as PDF"),
        (b"GIF89a\x01\x00\x01\x00", "moving.gif", "save it as PNG"),
        (b"BM\x46\x00\x00\x00\x00\x00\x00\x00", "old.bmp", "save it as PNG"),
        (b"<!DOCTYPE html><html><body>x</body></html>", "page.html", "print it to PDF"),
        ("Größe".encode("latin-1"), "old.txt", "save it as UTF-8"),
        (b"a\x00b\x01c", "data.bin", "control characters"),
        (b" \n\t\n", "blank.txt", "nothing but white space"),
        (b"word " * 1_000_001, "long.txt", "split it into several"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_its_name_and_a_remedy(data: bytes, name: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says) as caught:
        sniff(data, name)
    assert name in str(caught.value)
