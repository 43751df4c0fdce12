"""Who judges, and how judgements are compared: protocols, scorers, judges, agreement, alignment."""
