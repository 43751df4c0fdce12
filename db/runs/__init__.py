"""What is computed over a project's items in blocks, whoever computes it: carried out, resumed, stored once."""
