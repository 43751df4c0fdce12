"""The page of one item: the page itself and the tab in which a researcher revises it."""
