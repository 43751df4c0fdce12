"""The colours of the two themes, read from streamlit_config/config.toml, for what Streamlit does not draw itself."""

from __future__ import annotations

from functools import cache

from app.settings import streamlit_options

_OPTIONS = {
    "bg": "backgroundColor",
    "panel": "secondaryBackgroundColor",
    "ink": "textColor",
    "soft": "grayTextColor",
    "line": "borderColor",
    "accent": "primaryColor",
    "ok": "greenTextColor",
    "warn": "orangeTextColor",
    "key": "codeBackgroundColor",
}


@cache
def colours(theme: str) -> dict[str, str]:
    """The colours of a theme (`light` or `dark`) by what they are for: `bg`, `panel`, `ink` and so on."""
    options = streamlit_options()
    return {name: options[f"theme.{theme}.{option}"] for name, option in _OPTIONS.items()}


@cache
def both_themes() -> str:
    """Declarations like `--assay-ink: light-dark(…, …);`: a colour follows the colour scheme of where it is used."""
    light, dark = colours("light"), colours("dark")
    return " ".join(f"--assay-{name}: light-dark({light[name]}, {dark[name]});" for name in _OPTIONS)
