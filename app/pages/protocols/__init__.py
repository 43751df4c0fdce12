"""Protocols: the built-in ones and the project's own, looked at, tried on an item, and written by form and YAML."""
