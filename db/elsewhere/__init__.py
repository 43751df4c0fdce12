"""Studies that are labelled in another program: what of them is handed over, and what comes back;
and the mappings by which tables come in."""
