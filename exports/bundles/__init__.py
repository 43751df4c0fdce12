"""Exports: one folder of one moment with a manifest, and whether it is still what was exported."""
