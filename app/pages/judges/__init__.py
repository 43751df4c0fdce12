"""Judges: who has judged a study, what that cost, the form that runs one, and whether one may be trusted."""
