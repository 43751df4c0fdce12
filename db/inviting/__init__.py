"""Annotators from outside: the links that invite them, how they come in, and how they end."""
