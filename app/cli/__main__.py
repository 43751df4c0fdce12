"""`python -m app.cli`: the command line from a checkout that is not installed."""

from app.program import run

run()
