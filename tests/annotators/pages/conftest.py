"""One real renderer for the tests that only need pages drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotators.pages import Renderer


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    with Renderer(workers=1) as made:
        yield made
