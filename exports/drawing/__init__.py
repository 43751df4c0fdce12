"""How reports look: figures, tables, charts, and the files they become."""
