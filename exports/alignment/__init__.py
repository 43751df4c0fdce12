"""The alignment report: of a study or a table, its sections and plots, for the page, the command and files."""
