"""What annotators do in a study: slots, drafts, what they are shown, and committing a step."""
