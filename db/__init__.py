"""The tables and every operation on them, named by what is done."""
