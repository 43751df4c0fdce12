"""Processes that work beside the server: jobs, and reports that are measured."""
