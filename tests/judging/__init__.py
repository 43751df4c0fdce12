"""Servers that judges are tried against, over real HTTP: scripted ones, and one whose errors are known."""
