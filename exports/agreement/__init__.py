"""The agreement report: of a study or a table, its tables and plots, for the page, the command and files."""
