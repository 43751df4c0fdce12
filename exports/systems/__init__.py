"""Systems compared by people's labels, of a study or a table: for the page, the command and files alike."""
