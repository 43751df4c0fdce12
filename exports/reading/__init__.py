"""Reading files from strangers: folders, archives, JSON, columns."""
