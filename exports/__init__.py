"""The formats data comes and goes in, and the reports."""
