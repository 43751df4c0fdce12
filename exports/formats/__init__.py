"""One file a format: what data comes in and goes out as. `FORMATS.get(name)` finds one."""

from exports.formats.base import FORMATS, Format, recognise

__all__ = ["FORMATS", "Format", "recognise"]
