"""The page Scores: the page itself and its sections."""
