"""The page Alignment: the page itself and what it draws of a report."""
