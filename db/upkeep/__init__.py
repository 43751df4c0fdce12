"""Copies, checks and the two exceptions to append-only."""
