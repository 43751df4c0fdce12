"""Whether annotators of one item talk about it once all have labelled it, and about which items."""

NEVER, DISPUTED, ALL = TALKS = ("never", "disputed", "all")
"""Never; about what they disagree on, to resolve it together; about every item, as in norming."""
