"""The page of one item: the page itself, the tab in which a researcher revises it, and how it is ended by hand."""
