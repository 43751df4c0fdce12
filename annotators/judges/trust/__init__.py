"""May a judge be trusted: its contradictions, errors and sureness; panels. Labels in, figures out."""
