"""Tables as columns: what their cells say, which column is what, and which rows belong together."""
