"""What the checklists of questions have in common: checks that an item passes or fails."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.material import Material


def check(name: str, title: str, *, asks: str, passes: str, fails: str, judged_by: Sequence[Material] = ()) -> Choice:
    """A check of the whole item; `passes` and `fails` define its two labels."""
    return Choice(
        name=name,
        title=title,
        help=asks,
        judged_by=list(judged_by),
        labels=[
            Label(value="pass", title="Pass", definition=passes),
            Label(value="fail", title="Fail", definition=fails),
        ],
        accept=["pass"],
        positive="pass",
    )
