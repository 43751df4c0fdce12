"""The page Agreement: the page itself and its sections."""
