"""The page of one study."""
