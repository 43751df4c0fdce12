"""Studies: their design, how far they are, what was labelled, settled, adjudicated and remarked."""
