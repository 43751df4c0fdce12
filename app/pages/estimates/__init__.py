"""The page Fewer labels: all items from few labels, what to label next, and when to stop."""
