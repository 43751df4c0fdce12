"""Designs of studies before and after they are made: drafts, and the design of a study that is there."""
