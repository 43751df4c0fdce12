"""The phases around the work of a study: what annotators answered, and which phase is open to whom."""
