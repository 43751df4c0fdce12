"""Metric or judge against people."""
