"""Accounts, roles, sign-in, preferences, and what annotators are called."""
