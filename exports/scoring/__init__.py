"""Scoring without a database: files in, files out, here or on a cluster."""
