"""The colours of the two themes, each typed once: here, or in streamlit_config/config.toml where Streamlit needs it."""

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

_ADDED = {
    "on-accent": ("#fff", "#10202c"),
    "box": ("#d55e00", "#d55e00"),  # around a passage on a page, which is white in either theme
}
"""What Streamlit has no name for: light, dark."""

_FULL_SCREEN = {
    "line": ("#e4e1db", "#30363d"),  # more lines are drawn, and fainter ones
    "edge": ("#8b8f96", "#737c87"),
    "accent-bg": ("#e8f0f6", "#22323f"),
    "warn-bg": ("#fbf1e9", "#33271f"),
    "key-on": ("#ffffff24", "#00000025"),
    "mark": ("#ffd86a99", "#d9a92166"),
    "shade": ("#00000022", "#00000066"),
    "gold": ("#d9a400", "#d9a921"),
    "blue": ("#6f8fb0", "#86a5c5"),
}
"""The same for the full-screen pages of annotators and adjudicators."""


@cache
def colours(theme: str) -> dict[str, str]:
    """The colours of a theme (`light` or `dark`) by what they are for: `bg`, `panel`, `ink` and so on."""
    options = streamlit_options()
    named = {name: options[f"theme.{theme}.{option}"] for name, option in _OPTIONS.items()}
    return named | _of(_ADDED, theme)


@cache
def both_themes() -> str:
    """Declarations like `--assay-ink: light-dark(…, …);`: a colour follows the colour scheme of where it is used."""
    dark = colours("dark")
    return " ".join(f"--assay-{name}: light-dark({light}, {dark[name]});" for name, light in colours("light").items())


def full_screen() -> str:
    """The style sheet with the colours of the full-screen pages; `--paper-…` are the light ones, in either theme."""
    light, dark = (colours(theme) | _of(_FULL_SCREEN, theme) for theme in ("light", "dark"))
    paper = {f"paper-{name}": colour for name, colour in light.items()}
    return f".assay {{ {_declared(light | paper)} }}\n.assay[data-theme=dark] {{ {_declared(dark)} }}\n"


def _of(named: dict[str, tuple[str, str]], theme: str) -> dict[str, str]:
    return {name: pair[theme == "dark"] for name, pair in named.items()}


def _declared(named: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in named.items())
