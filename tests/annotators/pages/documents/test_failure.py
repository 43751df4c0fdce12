"""The picture in the place of a page that cannot be shown."""

from __future__ import annotations

import pytest

from annotators.pages import draw_failure
from tests.annotators.pages import makers


@pytest.mark.parametrize("width", [160, 480, 1200, 3600])
def test_a_failure_is_a_picture_of_the_width_asked_for_with_words_inside_it(width: int) -> None:
    reason = f"drawing it took longer than the 20 s that one page may take ({'overlong' * 12})"
    made = makers.shown(draw_failure(reason, width))
    assert made.width == width
    assert made.height >= width * 0.6 - 1
    edge = max(1, width // 300) + 1
    inside = made.crop((edge, edge, width - edge, made.height - edge)).convert("L").point([255] * 160 + [0] * 96)
    words = inside.getbbox()
    assert words is not None
    assert words[0] > 0
    assert words[2] < inside.width
    assert words[3] < inside.height


def test_another_reason_gives_another_picture() -> None:
    assert draw_failure("one reason", 480) != draw_failure("another reason", 480)


def test_absurd_widths_are_bounded() -> None:
    assert makers.shown(draw_failure("why", 0)).width == 120
    assert makers.shown(draw_failure("why", 10**9)).width == 3600
