"""What the fields of a design take: of the type that they are, however a design comes (a file, options, a notebook)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError


def _word(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers. Give a number.")
    return value


def _truth(value: Any) -> Any:
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value


def _in_order(value: Any) -> Any:
    if not isinstance(value, Sequence):
        raise PydanticCustomError("list_type", "input should be a list")
    return value


Word = Annotated[str, BeforeValidator(_word)]
"""A text; an id or a name that YAML takes for a number is the word that was written."""

Words = Annotated[tuple[Word, ...], BeforeValidator(_in_order)]
"""Texts in an order, which a set has not."""

Whole = Annotated[int, BeforeValidator(_number), Field(strict=True, ge=-(2**63), lt=2**63)]
"""A whole number that a database keeps."""

MOST_SHOWN = 2**53 - 1
"""The greatest whole number that browsers and spreadsheets show exactly."""

Share = Annotated[float, BeforeValidator(_number), Field(strict=True, allow_inf_nan=False)]

Flag = Annotated[bool, BeforeValidator(_truth), Field(strict=True)]
"""True or false, also as the words that they are in a file; `no` and 0 are neither."""
