"""Documents made for the tests: ordinary ones, damaged ones, and hostile ones."""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image

from annotators.pages import Renderer

mupdf: Any = pymupdf

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def worker_pids(renderer: Renderer) -> list[int]:
    """The process ids of the workers there are now."""
    return [worker.process.pid for worker in renderer._all]


def pdf(
    *texts: str,
    size: tuple[float, float] = (300, 400),
    rotate: int = 0,
    crop: tuple[float, float, float, float] | None = None,
) -> bytes:
    """A PDF with one page a text; each page has a red square of 60 points in its unrotated top left corner."""
    document = mupdf.open()
    for text in texts:
        page = document.new_page(width=size[0], height=size[1])
        page.draw_rect(mupdf.Rect(0, 0, 60, 60), color=None, fill=(1, 0, 0))
        page.insert_text((20, 120), text, fontsize=14)
        if crop is not None:
            page.set_cropbox(mupdf.Rect(crop))
        page.set_rotation(rotate)
    return bytes(document.tobytes())


def grey_pdf(text: str) -> bytes:
    document = mupdf.open()
    document.new_page(width=300, height=400).insert_text((20, 120), text, fontsize=14)
    return bytes(document.tobytes())


def encrypted_pdf(user_password: str) -> bytes:
    document = mupdf.open()
    document.new_page().insert_text((72, 72), "sealed")
    return bytes(document.tobytes(encryption=mupdf.PDF_ENCRYPT_AES_256, owner_pw="the owner's", user_pw=user_password))


def raw_pdf(
    content: bytes,
    *,
    box: str = "0 0 600 800",
    more: Sequence[bytes] = (),
    resources: bytes = b"",
    packed: bool = False,
) -> bytes:
    """A PDF of one page written by hand, without a cross-reference table; objects 5, 6, … are `more`."""
    filtered = b"/Filter/FlateDecode" if packed else b""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<<%s>>>>" % (box.encode(), resources),
        b"<<%s/Length %d>>stream\n%s\nendstream" % (filtered, len(content), content),
        *more,
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, made) for number, made in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R>>\n"


def endless_pdf(depth: int = 9) -> bytes:
    """A page that takes practically for ever: forms that draw the next one ten times, 10^depth marks in all."""
    forms = []
    for level in range(depth):
        content = b"/F Do " * 10 if level + 1 < depth else b"0 0 9 9 re f " * 10
        below = b"/Resources<</XObject<</F %d 0 R>>>>" % (6 + level) if level + 1 < depth else b""
        forms.append(
            b"<</Type/XObject/Subtype/Form/BBox[0 0 600 800]%s/Length %d>>stream\n%s\nendstream"
            % (below, len(content), content)
        )
    return raw_pdf(b"/F Do", resources=b"/XObject<</F 5 0 R>>", more=forms)


def pdf_with_damaged_content() -> bytes:
    """A PDF whose only page has a content stream that cannot be unpacked."""
    packed = bytearray(zlib.compress(b"0 0 300 300 re f " * 500))
    packed[4:] = bytes(len(packed) - 4)
    return raw_pdf(bytes(packed), packed=True)


def picture(media: str, size: tuple[int, int] = (80, 40), *, orientation: int = 1, **save: Any) -> bytes:
    """A picture whose left half is red and whose right half is blue, as stored."""
    made = Image.new("RGB", size, RED)
    made.paste(BLUE, (size[0] // 2, 0, size[0], size[1]))
    if orientation != 1 and media == "TIFF":
        save["tiffinfo"] = {0x0112: orientation}
    elif orientation != 1:
        exif = Image.Exif()
        exif[0x0112] = orientation
        save["exif"] = exif
    return saved(made, media, **save)


def saved(made: Image.Image, media: str, **save: Any) -> bytes:
    out = io.BytesIO()
    made.save(out, media, **save)
    return out.getvalue()


def tiff(*sizes: tuple[int, int]) -> bytes:
    """A TIFF with one frame a size, white, with a red square of a quarter in the top left corner."""
    frames = []
    for width, height in sizes:
        frame = Image.new("RGB", (width, height), WHITE)
        frame.paste(RED, (0, 0, width // 2, height // 2))
        frames.append(frame)
    return saved(frames[0], "TIFF", save_all=True, append_images=frames[1:], compression="tiff_lzw")


def png_bomb(side: int) -> bytes:
    """A small PNG that claims side × side pixels and keeps the claim (one bit a pixel, all the same)."""
    return saved(Image.new("1", (side, side)), "PNG")


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def shown(data: bytes) -> Image.Image:
    """The picture that a browser would show, as RGB."""
    return Image.open(io.BytesIO(data)).convert("RGB")


def is_near(pixel: Any, colour: tuple[int, int, int], within: int = 12) -> bool:
    return all(abs(channel - other) <= within for channel, other in zip(pixel, colour, strict=True))
