"""Prompts: the built-in ones and the project's own, looked at, compared, changed, and what they send of an item."""
