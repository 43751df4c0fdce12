"""Colours are typed once: in the palette, or in the one place that has a colour of its own."""

from __future__ import annotations

import re
from collections import Counter

from app.palette import both_themes, colours, full_screen
from app.server.assets import PALETTE, assets
from tests.conftest import ROOT

HEX = re.compile(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b(?![\w-]*\()")
WIDGETS = ROOT / "app" / "widgets"
STYLED = [path for path in sorted(WIDGETS.rglob("*")) if path.suffix in (".css", ".js")]
DRAWN_BY_PYTHON = [ROOT / "app" / name for name in ("style.py", "server/plain_pages.py", "widgets/blocks.py")]


def test_no_style_sheet_and_no_script_types_a_colour_twice_or_one_of_the_palette() -> None:
    typed = Counter(colour.lower() for path in STYLED for colour in HEX.findall(path.read_text()))
    assert {colour: times for colour, times in typed.items() if times > 1} == {}
    named = {colour for theme in ("light", "dark") for colour in colours(theme).values()} | set(
        HEX.findall(full_screen())
    )
    assert not (named - {"#fff"}) & set(typed)  # white paper is white in either theme


def test_what_python_draws_types_no_colour() -> None:
    for path in DRAWN_BY_PYTHON:
        assert set(HEX.findall(path.read_text())) <= {"#fff"}, path  # white paper is white in either theme


def test_the_full_screen_pages_get_the_colours_of_both_themes_and_of_paper() -> None:
    sheet = assets()[PALETTE].data.decode()
    light, dark = sheet.splitlines()
    assert light.startswith(".assay {")
    assert dark.startswith(".assay[data-theme=dark] {")
    for theme, line in (("light", light), ("dark", dark)):
        for name, colour in colours(theme).items():
            assert f"--{name}: {colour};" in line or name == "line"
    assert f"--paper-accent: {colours('light')['accent']};" in light
    assert "--paper-" not in dark


def test_every_colour_of_a_style_sheet_is_defined() -> None:
    sheets = [path.read_text() for path in STYLED if path.suffix == ".css" and "texts" not in path.parts]
    set_by_scripts = {"--left", "--reading", "--footer", "--pinned", "--raters", "--mark-colour", "--ratio"}
    defined = {name for text in [*sheets, full_screen()] for name in re.findall(r"(--[\w-]+):", text)}
    used = {name for text in sheets for name in re.findall(r"var\((--[\w-]+)", text)}
    assert used <= defined | set_by_scripts
    assert both_themes().count("light-dark(") == len(colours("light"))


def test_reports_are_dark_in_the_colours_of_the_app() -> None:
    report = (ROOT / "exports" / "drawing" / "report_files.py").read_text()
    dark = re.search(r":root \{ color-scheme: dark; ([^}]*)\}", report)
    assert dark is not None
    ours = colours("dark")
    assert dict(re.findall(r"--(\w+): (#\w+);", dark[1])) == {
        name: ours[name] for name in ("ink", "soft", "line", "bg")
    }
