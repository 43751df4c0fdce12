"""Studies: their design, their labels as statistics take them, settling, remarks, labels made elsewhere."""
