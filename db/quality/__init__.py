"""How well annotators do, and what is decided of it: labels that are left out, gold, repeats."""
