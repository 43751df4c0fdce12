"""Figures of all items from few labels, of a study or a table: for the page, the commands and files."""
