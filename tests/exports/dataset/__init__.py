"""Tests of the report of a dataset."""
