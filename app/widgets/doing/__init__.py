"""What one does to something from a page, and what waits for its researcher to do."""
