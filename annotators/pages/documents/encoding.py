"""How the picture of a page is encoded: sharp, small, and quick to make. Runs in a worker.

Measured on 53 pages of eleven real papers and reports, 1200 pixels wide, medians of one run on a machine that others
used too (MuPDF itself took 6–8 ms a page): take the ratios.

    pages with colour (41)             ms    kB     pages in greys only (12)           ms    kB
    JPEG q88 4:4:4                     10   356     JPEG q88 4:4:4                     12   394
    JPEG q85 4:2:0                      7   301     JPEG q88, one channel               5   365
    WebP q80 method 0                  49   192     WebP q80 method 0                  70   224
    WebP lossless method 0             58   353     PNG, one channel, level 1          28   202
    PNG level 1                        54   310     PNG, 16 greys, level 1             19   129
    MuPDF's PNG                        55   275     MuPDF's PNG                        67   324

So: a page of black text becomes a PNG of 16 greys, which has no ringing around letters and a third of the bytes; a page
with colour becomes a JPEG with full colour resolution (red text stays sharp, which WebP's 4:2:0 does not give); a page
that is mostly a photograph or a scan becomes a JPEG q85 4:2:0. WebP halves the bytes of a colour page but costs five
times the time, which the person in front of the page waits for.
"""

from __future__ import annotations

import io

from PIL import Image, ImageChops

_GREYS = [value for level in range(16) for value in (level * 17,) * 3]
_TO_GREY = [(value * 15 + 127) // 255 for value in range(256)]
# Letters cover little of a page and their soft edges less; a photograph is mostly middle tones.
_MOST_MIDDLE_TONES = 0.15


def encode(picture: Image.Image, *, photographic: bool) -> tuple[bytes, str]:
    """The encoded picture and its media type.

    picture: mode RGB or L. photographic: most of it is a photograph or a scan.
    """
    grey = _as_grey(picture)
    out = io.BytesIO()
    if grey is not None and _is_like_text(grey):
        levels = grey.point(_TO_GREY)
        levels.putpalette(_GREYS)
        levels.save(out, "PNG", bits=4, compress_level=1)
        return out.getvalue(), "image/png"
    shown = picture if grey is None else grey
    if photographic:
        shown.save(out, "JPEG", quality=85)
    else:
        shown.save(out, "JPEG", quality=88, subsampling=0)
    return out.getvalue(), "image/jpeg"


def is_blank(picture: Image.Image) -> bool:
    """Whether every pixel has the same value."""
    extrema = picture.getextrema()
    bands = extrema if isinstance(extrema[0], tuple) else (extrema,)
    return all(low == high for low, high in bands)


def _as_grey(picture: Image.Image) -> Image.Image | None:
    """The one channel of a picture without colour, or None."""
    if picture.mode == "L":
        return picture
    red, green, blue = picture.split()
    if ImageChops.difference(red, green).getbbox() or ImageChops.difference(green, blue).getbbox():
        return None
    return red


def _is_like_text(grey: Image.Image) -> bool:
    counts = grey.histogram()
    return sum(counts[32:224]) <= _MOST_MIDDLE_TONES * sum(counts)
