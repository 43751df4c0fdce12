"""Two texts as one, with what is gone struck out and what is new underlined, word by word."""

from __future__ import annotations

from html import escape

from annotators.items.differing import marked


def difference_html(before: str, after: str) -> str:
    """The two texts as one paragraph of HTML; `<del>` is only in the first, `<ins>` only in the second."""
    shown = "".join(f"<{tag}>{escape(words)}</{tag}>" if tag else escape(words) for tag, words in marked(before, after))
    return f'<p class="assay-text assay-difference" dir="auto">{shown}</p>'
