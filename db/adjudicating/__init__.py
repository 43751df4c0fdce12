"""What annotators disagree on: the queue of disputes, and what adjudicators decide."""
